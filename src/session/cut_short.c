/* What a time-out makes of a result: values of a part of the program become lower bounds of the whole. */
#include <math.h>

#include "session/session.h"

/* How much is certain: not what may be the measuring's own, nor what an extrapolation adds. */
static void bound_below(struct estimate *e)
{
	bool upper_bound = e->measuring.state == MEASURING_INCLUDED; /* it also has the probes */
	e->has_least = e->source != SOURCE_SCALED && !upper_bound && !isnan(e->value);
	if (!e->has_least)
		return;
	double certain = fmin(e->value, e->low) - (e->bound > 0 ? e->bound : 0);
	e->least = fmax(0, floor(certain));
	e->least_source = e->source;
}

static void cut(struct estimate *e, const char *why)
{
	bound_below(e);
	e->known = e->has_interval = e->has_tare = false;
	e->why = why;
	e->source = SOURCE_NONE;
	e->value = e->low = e->high = 0;
	e->n_runs = 0;
	e->runs = NULL;
	e->share_running = 0;
	e->note = NULL;
	e->cut_short = false;
}

bool session_cut_short(struct session *s, uint64_t timeout_ns)
{
	struct result *r = s->result;
	if (!r->timed_out)
		return true;
	const char *why = arena_printf(&r->arena, "the program was ended after %g s (--timeout)",
				       (double)timeout_ns / 1e9);
	if (!why)
		return false;
	for (size_t i = 0; i < r->n_estimates; i++)
		if (r->estimates[i].cut_short)
			cut(&r->estimates[i], why);
	for (size_t i = 0; i < r->n_regions; i++)
		for (size_t k = 0; k < r->regions[i].n_estimates; k++)
			if (r->regions[i].estimates[k].cut_short)
				cut(&r->regions[i].estimates[k], why);
	/* a ratio of two parts bounds nothing; of complete repetitions, metrics have those alone */
	for (size_t i = 0; i < r->n_metrics && r->repetitions_done == 0; i++) {
		if (!r->metrics[i].known)
			continue;
		cut(&r->metrics[i], why);
		r->metrics[i].has_least = false;
	}
	return true;
}
