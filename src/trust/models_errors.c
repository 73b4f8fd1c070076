#include "trust/models_errors.h"

#include <math.h>
#include <stdlib.h>

#include "base/order.h"

static const double TENTH = 0.1, HALF = 0.5;

void models_pair_judge(struct models_pair *pair)
{
	pair->error = NAN;
	if (pair->state == MODELS_UNKNOWN)
		return;
	pair->state = pair->counter < MODELS_LEAST_EVENTS ? MODELS_TOO_FEW : MODELS_COMPARED;
	if (pair->state == MODELS_COMPARED)
		pair->error = pair->model / pair->counter - 1;
}

static void add(struct models_event *e, const struct models_program *program, const struct models_pair *pair,
		double *errors)
{
	e->too_few += pair->state == MODELS_TOO_FEW;
	e->unknown += pair->state == MODELS_UNKNOWN;
	if (pair->state != MODELS_COMPARED)
		return;
	double off = fabs(pair->model - pair->counter);
	errors[e->compared++] = pair->error;
	e->within_tenth += off <= TENTH * pair->counter;
	e->within_half += off <= HALF * pair->counter;
	e->inside += pair->model >= pair->low && pair->model <= pair->high;
	if (!(pair->error >= e->least)) {
		e->least = pair->error;
		e->least_in = program->name;
	}
	if (!(pair->error <= e->most)) {
		e->most = pair->error;
		e->most_in = program->name;
	}
}

bool models_sum_up(struct models_study *study)
{
	double *errors = calloc(study->n_programs + 1, sizeof *errors);
	if (!errors)
		return false;
	for (size_t i = 0; i < study->n_events; i++) {
		struct models_event *e = &study->events[i];
		*e = (struct models_event){
			.label = e->label, .trust = e->trust, .median = NAN, .least = NAN, .most = NAN};
		for (size_t p = 0; p < study->n_programs; p++)
			if (!study->programs[p].why)
				add(e, &study->programs[p], &study->programs[p].pairs[i], errors);
		qsort(errors, e->compared, sizeof *errors, order_doubles);
		if (e->compared)
			e->median = (errors[(e->compared - 1) / 2] + errors[e->compared / 2]) / 2;
	}
	free(errors);
	return true;
}
