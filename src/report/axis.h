/* Where a drawing's linear axis ends. */
#ifndef TARE_REPORT_AXIS_H
#define TARE_REPORT_AXIS_H

/* 1, 2, 4, 5, 6 or 8 times a power of ten, the first that is not below most (rounding aside); 1 where nothing is
 * above 0. A quarter of it, where a tick stands, has at most two digits more. */
double axis_top(double most);

#endif
