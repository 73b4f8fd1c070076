/* Quantiles of Student's t and of the normal distribution: the only door to GSL's inverse functions in this
 * folder. GSL's default error handler ends the process; here trouble is NAN instead. */
#ifndef TARE_STATS_STUDENT_H
#define TARE_STATS_STUDENT_H

/* The factor of a two-sided interval: t((1 + confidence)/2, df). df > 0 need not be whole (Welch).
 * NAN when df <= 0 or confidence is outside (0, 1). */
double student_two_sided(double confidence, double df);

/* The two-sided p-value of t with df degrees of freedom. */
double student_p_value(double t, double df);

double normal_quantile(double p);    /* Φ⁻¹(p), ±INFINITY at 0 and 1 */
double normal_probability(double z); /* Φ(z) */

#endif
