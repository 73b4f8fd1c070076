/* Advice of `tare explain`: the executions that count by line what its rules need. */
#include <math.h>

#include "base/str.h"
#include "explain/advice.h"
#include "session/explain_inside.h"

struct gathering {
	struct evidence_rows rows;
	enum breakdown_by by;
	bool variant, more;
};

static bool take(void *context, const struct breakdown *breakdown)
{
	struct gathering *g = context;
	return evidence_add(&g->rows, g->variant, breakdown, &g->more);
}

/* Of the machine, or of its variant: executions until no more comes. */
static bool gather(struct explaining *x, struct gathering *g, struct error *err)
{
	struct str on = {0};
	bool done = true;
	str_appendf(&on, "model:%s%s", x->asked->advice_on, g->variant ? "+prefetch+backward-taken" : "");
	g->more = true;
	for (unsigned i = 0; done && g->more && i < PASSES_MOST; i++) {
		struct str events = {0};
		evidence_events(&g->rows, g->variant, &events);
		g->more = events.length > 0;
		done = (!events.failed && !on.failed) || error_no_memory(err);
		if (done && g->more)
			done = explaining_pass(x,
					       &(struct explaining_pass){.on = on.text,
									 .events = events.text,
									 .by = g->by,
									 .if_any = true,
									 .take = take,
									 .context = g},
					       err);
		str_free(&events);
	}
	str_free(&on);
	return done;
}

bool explaining_advise(struct explaining *x, struct error *err)
{
	const struct explain_asked *asked = x->asked;
	struct advice_facts facts = asked->facts;
	struct gathering g = {.by = BREAKDOWN_BY_LINE}, functions = {.by = BREAKDOWN_BY_FUNCTION};
	if (!asked->advice_on || !asked->costs)
		return true;
	facts.costs = asked->costs;
	facts.levels = asked->levels;
	facts.memory = x->native.memory;
	if (!asked->here || x->native.several_processes)
		facts.memory.faults = NAN;
	struct evidence_wish wish = advice_wish(x->e, asked->levels);
	bool done = true;
	if (asked->wants_advice) {
		evidence_want(&g.rows, &wish);
		done = gather(x, &g, err);
		g.variant = true;
		done = done && gather(x, &g, err);
		evidence_want_functions(&functions.rows, &wish);
		done = done && gather(x, &functions, err) && explaining_find_lines(x, &g.rows, &facts, err);
	} else {
		facts.waiting.why_none = facts.faulting.why_none = "--advice looks for it";
	}
	if (!asked->wants_advice && (wish.caches || wish.tlb || wish.branches || wish.sharing || wish.computing)) {
		done = explaining_note(
			x->e, NOTE_READ,
			"--advice looks for the lines behind this, and for what to change, in a few "
			"more executions.",
			err);
	}
	done = done && advice_give(x->e, &g.rows, &functions.rows, &facts, err);
	evidence_free(&g.rows);
	evidence_free(&functions.rows);
	return done;
}
