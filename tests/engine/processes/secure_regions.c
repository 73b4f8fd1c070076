/* A region of libtare's: with TARE_EVENTS and TARE_OUTPUT set, a file appears, but not where another user's rights would write it. */
#include "tare.h"

int main(void)
{
	TARE_REGION_BEGIN("region");
	TARE_REGION_END("region");
	return 0;
}
