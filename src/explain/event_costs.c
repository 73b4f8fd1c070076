#include "explain/event_costs.h"

#include <math.h>

#include "event/perfex_event.h"

/* perfex's number of an event, and the operation that each of it costs. The R12000's numbers are the same here. */
static const struct {
	unsigned event;
	enum cost_operation operation;
} costed[] = {
	{15, OPERATION_INSTRUCTION}, {17, OPERATION_INSTRUCTION}, {9, OPERATION_L2_HIT},
	{25, OPERATION_L2_HIT},      {10, OPERATION_MEMORY},      {26, OPERATION_MEMORY},
	{23, OPERATION_TLB_WALK},    {24, OPERATION_BRANCH_MISS},
};

struct perfex_times perfex_times_of(const struct costs *costs, unsigned event)
{
	struct perfex_times times = {NAN, NAN, NAN};
	if (event == 0 || event == PERFEX_PER_COUNTER) { /* cycles */
		double each = costs->clock_hz > 0 ? 1 / costs->clock_hz : NAN;
		return (struct perfex_times){each, each, each};
	}
	for (size_t i = 0; i < sizeof costed / sizeof *costed; i++) {
		const struct cost *cost = &costs->of[costed[i].operation];
		if (costed[i].event == event && cost->known)
			times = (struct perfex_times){cost->typical, cost->least, cost->most};
	}
	return times;
}
