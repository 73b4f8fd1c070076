#include "stats/student.h"

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_errno.h>
#include <math.h>

double student_two_sided(double confidence, double df)
{
	if (!(df > 0) || !(confidence > 0 && confidence < 1))
		return NAN;
	gsl_set_error_handler_off();
	/* the upper tail, because 1 - (1 - c)/2 loses digits where the confidence is near 1 */
	return gsl_cdf_tdist_Qinv((1 - confidence) / 2, df);
}

double student_p_value(double t, double df)
{
	gsl_set_error_handler_off();
	double p = 2 * gsl_cdf_tdist_Q(fabs(t), df);
	return p > 1 ? 1 : p;
}

double normal_quantile(double p)
{
	if (p <= 0)
		return -INFINITY;
	if (p >= 1)
		return INFINITY;
	gsl_set_error_handler_off();
	return gsl_cdf_ugaussian_Pinv(p);
}

double normal_probability(double z)
{
	gsl_set_error_handler_off();
	return gsl_cdf_ugaussian_P(z);
}
