#include "report/axis.h"

#include <math.h>
#include <stddef.h>

double axis_top(double most)
{
	static const double steps[] = {1, 2, 4, 5, 6, 8};
	if (!(most > 0))
		return 1;
	double power = pow(10, floor(log10(most)));
	for (size_t i = 0; i < sizeof steps / sizeof *steps; i++)
		if (steps[i] * power >= most * (1 - 1e-9))
			return steps[i] * power;
	return 10 * power;
}
