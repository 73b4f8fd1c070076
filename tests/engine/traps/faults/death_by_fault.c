/* fact: a fault without a handler ends the program by its signal
 * ends: signal 11 */
#include "trap.h"
int main(void)
{
	fact(true, "before the fault");
	*(volatile int *)16 = 1;
	fact(false, "after the fault");
	return 0;
}
