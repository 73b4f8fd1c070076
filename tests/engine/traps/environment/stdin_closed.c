/* fact: with stdin closed the first file opened is descriptor 0
 * stdin: closed */
#include "trap.h"
int main(void)
{
	fact(fcntl(0, F_GETFD) == -1 && errno == EBADF, "descriptor 0 is not open");
	fact_equal(open("/dev/null", O_RDONLY), 0, "the first file is 0");
	fact_equal(open("/dev/null", O_RDONLY), 3, "the next one is 3");
	return trap_done();
}
