/* The ends of linear axes (report/axis.h). */
#include <math.h>

#include "report/axis.h"
#include "tap.h"

int main(void)
{
	static const struct {
		double most, top;
	} rows[] = {{0, 1},     {-3, 1},      {NAN, 1}, {1, 1},       {1.01, 2},    {2, 2},
		    {3.9, 4},   {4.1, 5},     {5.5, 6}, {6.1, 8},     {8.5, 10},    {99, 100},
		    {100, 100}, {0.03, 0.04}, {0.9, 1}, {1e12, 1e12}, {1e-9, 1e-9}, {40 * 1.0000000001, 40}};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		double top = axis_top(rows[i].most);
		ok(fabs(top - rows[i].top) <= 1e-12 * rows[i].top, "an axis for %g ends at %g (%g)", rows[i].most,
		   rows[i].top, top);
	}
	return done();
}
