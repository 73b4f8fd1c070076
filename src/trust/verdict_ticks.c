/* A counter that counts one more for each tick of the timer: what is too much grows with the CPU time, not with
 * the count. See verdict.h.
 *
 * Least squares over all executions, y − x = o + r·T: a tick more or less is by chance, at every size alike. */
#include <math.h>

#include "stats/student.h"
#include "trust/verdict_shapes.h"

enum { EXECUTIONS_LEAST = 30 };

static const double RATE_LEAST = 20, RATE_MOST = 20000; /* a second */
static const double OFF_MOST = 1;                       /* ticks: how far what is left may spread */
static const double TICKS_LEAST = 3;                    /* in one execution */
static const double RATE_KNOWN = 0.1;                   /* so near to one of the kernel's rates it is that rate */

/* CONFIG_HZ, Linux */
static const double rates[] = {100, 250, 300, 1000};

struct tick_sums {
	double n, t, d, tt, td, dd, most;
};

static bool add_up(const struct fit *fit, double mid_t, double mid_d, struct tick_sums *s)
{
	for (size_t i = 0; i < fit->n; i++) {
		const struct judged_point *p = &fit->event->points[fit->points[i].index];
		if (!p->cpu_seconds)
			return false;
		for (size_t k = 0; k < p->n; k++) {
			double t = p->cpu_seconds[k] - mid_t, d = p->observed[k] - p->predicted - mid_d;
			s->n++, s->t += t, s->d += d;
			s->tt += t * t, s->td += t * d, s->dd += d * d;
			s->most = fmax(s->most, p->observed[k] - p->predicted);
			if (p->observed[k] < p->predicted)
				return false;
		}
	}
	return s->n >= EXECUTIONS_LEAST;
}

bool shape_ticks(const struct fit *fit, struct verdict *v)
{
	struct tick_sums raw = {0}, s = {0};
	if (!add_up(fit, 0, 0, &raw) || raw.most < TICKS_LEAST || !add_up(fit, raw.t / raw.n, raw.d / raw.n, &s) ||
	    !(s.tt > 0))
		return false;
	double rate = s.td / s.tt, offset = (raw.d - rate * raw.t) / raw.n;
	double spread = sqrt(fmax(s.dd - rate * s.td, 0) / (s.n - 2)), se = spread / sqrt(s.tt);
	if (!(rate - student_two_sided(1 - VERDICT_ALPHA, s.n - 2) * se > 0) || rate < RATE_LEAST ||
	    rate > RATE_MOST || spread > OFF_MOST || fabs(offset) > 2 * OFF_MOST)
		return false;
	for (size_t i = 0; i < sizeof rates / sizeof *rates; i++)
		if (fabs(rate - rates[i]) < RATE_KNOWN * rates[i])
			rate = rates[i];
	v->shape = SHAPE_TICKS;
	v->factor = rate;
	return true;
}
