#include "backend/model/events.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "event/formula.h"

_Static_assert((int)MODEL_INPUTS_MOST == (int)FORMULA_INPUTS_MOST, "every formula's inputs have room");

/* Families from the narrowest to the widest that a machine belongs to; the kernel's tables of their generic names
 * say what is counted. */
static const char *const families[][3] = {
	[FAMILY_OTHER] = {NULL},
	[FAMILY_INTEL] = {"intel"},
	[FAMILY_GOLDEN_COVE] = {"golden-cove", "intel"},
	[FAMILY_AMD] = {"amd"},
	[FAMILY_ARMV8] = {"armv8"},
	[FAMILY_MIPS] = {"mips"},
	[FAMILY_R12000] = {"r12000", "mips"},
	[FAMILY_POWER4] = {"power4"},
};

const char *model_family(const struct machine *machine)
{
	return machine->family < sizeof families / sizeof *families ? families[machine->family][0] : NULL;
}

static const struct formula *formula_on(const struct event_definition *definition, const struct machine *machine)
{
	const char *const *of =
		families[machine->family < sizeof families / sizeof *families ? machine->family : FAMILY_OTHER];
	for (size_t i = 0; of[i]; i++)
		for (const struct event_model *m = definition->models; m && m->family; m++)
			if (!strcmp(m->family, of[i]))
				return m->formula;
	return definition->model;
}

bool model_event_bind(const struct event_definition *definition, const struct machine *machine,
		      struct model_event *out, char *why, size_t size)
{
	const struct formula *formula = definition ? formula_on(definition, machine) : NULL;
	*out = (struct model_event){.definition = definition, .formula = formula};
	if (!formula) {
		snprintf(why, size, "%s",
			 definition && definition->no_model ? definition->no_model : "no machine model counts it");
		return false;
	}
	for (size_t i = 0; i < formula->n_inputs; i++)
		if (!component_find(machine, formula->inputs[i], &out->places[i], why, size))
			return false;
	return true;
}

bool model_event_uses(const struct model_event *event, enum model_component component)
{
	for (size_t i = 0; i < event->formula->n_inputs; i++)
		if (!event->places[i].constant && event->places[i].component == component)
			return true;
	return false;
}

/* Does it use one of these counts of a cache? */
static bool uses_counts(const struct model_event *event, unsigned from, unsigned to)
{
	for (size_t i = 0; i < event->formula->n_inputs; i++) {
		const struct component_place *p = &event->places[i];
		if (!p->constant && p->component == MODEL_CACHE && p->count >= from && p->count <= to)
			return true;
	}
	return false;
}

bool model_event_classifies(const struct model_event *event)
{
	return uses_counts(event, CACHE_COMPULSORY, CACHE_CONFLICT);
}

bool model_event_orders(const struct model_event *event)
{
	return uses_counts(event, CACHE_ORDERED, CACHE_ORDERED_MISSES);
}

bool model_event_shares(const struct model_event *event)
{
	return uses_counts(event, CACHE_INVALIDATIONS, CACHE_FALSE_SHARING_MISSES);
}

static const double EXACT_MOST = 9007199254740992.0; /* 2^53: up to there a double holds every integer */

bool model_event_value(const struct model_event *event, const struct model_counts *counts, uint64_t *out,
		       const char **why)
{
	const struct formula *formula = event->formula;
	struct metric_input inputs[MODEL_INPUTS_MOST] = {0}, result;
	if (counts->filter[FILTER_PAGES_UNKNOWN] && model_event_uses(event, MODEL_TLB)) {
		*why = "not modelled: the process has pages larger than 4 KiB in more areas than the model of its "
		       "TLBs can hold";
		return false;
	}
	for (size_t i = 0; i < formula->n_inputs; i++) {
		uint64_t count = component_value(&event->places[i], counts);
		double value = (double)count;
		if (value >= EXACT_MOST) {
			*why = "a count of the model is too large to be exact";
			return false;
		}
		inputs[i] = (struct metric_input){true, value, value, value};
	}
	if (!formula_evaluate(formula, inputs, &result, NULL)) {
		*why = "the event's formula over the model's counts has no value";
		return false;
	}
	if (!(result.value >= 0 && result.value < EXACT_MOST) || result.value != floor(result.value)) {
		*why = "the event's formula over the model's counts is negative or not an integer: a defect of "
		       "tare";
		return false;
	}
	*out = (uint64_t)result.value;
	return true;
}

size_t model_event_watches(const struct model_event *event, struct model_watch *out, size_t most, uint8_t *minus)
{
	const struct formula *formula = event->formula;
	struct metric_input inputs[MODEL_INPUTS_MOST] = {0}, result;
	size_t n = formula->n_inputs;
	double sum = 0;
	*minus = 0;
	if (n > most || n > 8)
		return 0;
	/* a sum of its inputs is what is 1 (subtracted: 1 less) where one of them alone is 1 more, and all of
	 * these where all are */
	static const double base = 16;
	double at_base = 0;
	for (size_t one = 0; one <= n + 1; one++) {
		for (size_t i = 0; i < n; i++) {
			double value = base + (one == n + 1 || i + 1 == one);
			inputs[i] = (struct metric_input){true, value, value, value};
		}
		if (!formula_evaluate(formula, inputs, &result, NULL))
			return 0;
		double more = result.value - at_base;
		if (one == 0)
			at_base = result.value;
		else if (one == n + 1 ? more != sum : more != 1 && more != -1)
			return 0;
		else if (one <= n && more < 0)
			*minus |= (uint8_t)(1u << (one - 1));
		if (one && one <= n)
			sum += more;
	}
	if (at_base != base * sum)
		return 0;
	size_t watches = 0;
	uint8_t subtracted = *minus;
	*minus = 0;
	for (size_t i = 0; i < n; i++) {
		const struct component_place *p = &event->places[i];
		if (p->constant)
			return 0;
		for (unsigned twin = 0; twin <= p->twinned; twin++) {
			if (watches == most || watches == 8)
				return 0;
			*minus |= (uint8_t)((subtracted >> i & 1) << watches);
			out[watches++] = (struct model_watch){p->component, twin ? p->twin : p->index, p->count,
							      0};
		}
	}
	return watches;
}
