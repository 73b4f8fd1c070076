/* A second file of a program instrumented for libhpm: it stops what the other one started. */
#include <tare_hpm.h>

void stop_elsewhere(int number);

void stop_elsewhere(int number)
{
	hpmStop(number);
}
