/* fact: with all three streams closed files get 0, 1 and 2, and nobody else writes into them
 * streams: closed
 * ends: status 42 */
#include "trap.h"
#include <sys/stat.h>
int main(void)
{
	char name[] = "/tmp/tare-trap-XXXXXX";
	struct stat status;
	int a = mkstemp(name), b = open(name, O_RDWR), c = open(name, O_RDWR);
	unlink(name);
	for (volatile int i = 0; i < 100000; i++)
		;
	return a == 0 && b == 1 && c == 2 && fstat(0, &status) == 0 && status.st_size == 0 ? 42 : 1;
}
