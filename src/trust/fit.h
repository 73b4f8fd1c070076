/* A line through points by least squares: reported = o + c·B (Nieto, 4.5; docs/closed-forms.md 1.8). */
#ifndef TARE_TRUST_FIT_H
#define TARE_TRUST_FIT_H

#include <stdbool.h>
#include <stddef.h>

struct line_fit {
	double o, o_half_width; /* intercept, and half of its t-interval with n − 2 degrees of freedom */
	double c, c_half_width; /* slope */
	double residual_most;   /* the largest |y − (o + c·x)| */
};

/* False for n < 2 or when all x are the same. With two points the half-widths are NAN: a line through two points
 * says nothing of its error. Weisberg, Applied Linear Regression, ch. 2. */
bool line_fit(const double *x, const double *y, size_t n, double confidence, struct line_fit *out);

#endif
