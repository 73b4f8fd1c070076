/* What an execution's own account explains, beside the count: a counter that counts one more for each tick
 * of the timer (what is too much grows with the CPU time), or what the kernel executes, too (it grows with
 * interrupts and faults). See verdict.h.
 *
 * Least squares over all executions, y − x = o + r·T: a tick more or less is by chance, at every size
 * alike. */
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

/* ---- what the kernel executes ---- */

enum { ALIKE_LEAST = 5, POINTS_LEAST = 4 };

static const double KERNEL_LEAST =
	10; /* events of one entry into the kernel: a counter that is one too high has another name */
static const double EXPLAINED = 0.8;     /* of what is too much, by interrupts and faults */
static const double SLOPES_APART = 0.3;  /* from their mean: entries into the kernel differ */
static const double POINTS_SHARE = 0.75; /* of the points at which interrupts vary */

/* One size: what is too much (d) against interrupts (u). Executions of a size have all else alike. */
struct kernel_line {
	double slope, explained;
	bool varies; /* u does */
};

static struct kernel_line line_of(const struct judged_point *p)
{
	double u = 0, d = 0, uu = 0, ud = 0, dd = 0, n = (double)p->n;
	bool varies = false;
	for (size_t k = 0; k < p->n; k++) {
		varies |= p->interrupts[k] != p->interrupts[0];
		u += p->interrupts[k] / n;
		d += (p->observed[k] - p->predicted) / n;
	}
	if (!varies || p->n < ALIKE_LEAST)
		return (struct kernel_line){0};
	for (size_t k = 0; k < p->n; k++) {
		double du = p->interrupts[k] - u, off = p->observed[k] - p->predicted - d;
		uu += du * du, ud += du * off, dd += off * off;
	}
	return (struct kernel_line){ud / uu, dd > 0 ? ud * ud / (uu * dd) : 0, true};
}

/* At nearly all sizes, each for itself: of all together, what grows with the count would look alike. */
bool shape_kernel(const struct fit *fit, struct verdict *v)
{
	double sum = 0;
	size_t varying = 0, told = 0;
	for (int pass = 0; pass < 2; pass++)
		for (size_t i = 0; i < fit->n; i++) {
			const struct judged_point *p = &fit->event->points[fit->points[i].index];
			if (!p->interrupts || fit->points[i].least < p->predicted)
				return false;
			struct kernel_line line = line_of(p);
			if (pass == 0)
				varying += line.varies, sum += line.slope;
			else if (line.varies)
				told += line.explained >= EXPLAINED &&
					fabs(line.slope * (double)varying - sum) <= SLOPES_APART * sum;
		}
	double each = varying ? sum / (double)varying : 0;
	if (!(each >= KERNEL_LEAST) || told < POINTS_LEAST || (double)told < POINTS_SHARE * (double)varying)
		return false;
	v->shape = SHAPE_KERNEL;
	v->factor = each;
	return true;
}
