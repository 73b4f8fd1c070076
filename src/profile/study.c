#include "profile/study.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "profile/accuracy.h"
#include "stats/stats.h"

/* A place of the exact profile as a number: its module's above the offset. Offsets of files are far below. */
enum { OFFSET_BITS = 48, TOP_LIST = 10 };

static uint64_t place_of(uint32_t module, uint64_t offset) { return (uint64_t)module << OFFSET_BITS | offset; }

static int by_place(const void *a, const void *b)
{
	uint64_t x = ((const struct placed_count *)a)->place, y = ((const struct placed_count *)b)->place;
	return (x > y) - (x < y);
}

/* Sorts, and adds up what is at one place. Returns how many are left. */
static size_t merge(struct placed_count *all, size_t n)
{
	size_t merged = 0;
	qsort(all, n, sizeof *all, by_place);
	for (size_t i = 0; i < n; i++)
		if (merged > 0 && all[merged - 1].place == all[i].place)
			all[merged - 1].count += all[i].count;
		else
			all[merged++] = all[i];
	return merged;
}

static bool named_module(const struct profile_module *module)
{
	return module->kind == MODULE_FILE || module->kind == MODULE_VDSO;
}

/* The exact profile's module that is the sampled one's; UINT32_MAX: it has none. */
static uint32_t same_module(const struct profile *exact, const struct profile_module *module)
{
	for (uint32_t m = 0; named_module(module) && m < exact->n_modules; m++)
		if (exact->modules[m].kind == module->kind && strcmp(exact->modules[m].path, module->path) == 0)
			return m;
	return UINT32_MAX;
}

/* Samples at places of modules that the exact profile has, merged; others are counted in *out. */
static bool take_samples(const struct profile *sampled, const struct profile *exact, struct placed_count *all,
			 size_t *n, struct sampling_accuracy *out)
{
	uint32_t *modules = malloc((sampled->n_modules + 1) * sizeof *modules);
	if (!modules)
		return false;
	for (size_t m = 0; m < sampled->n_modules; m++)
		modules[m] = same_module(exact, &sampled->modules[m]);
	*n = 0;
	for (size_t i = 0; i < sampled->n_cells; i++) {
		const struct profile_cell *cell = &sampled->cells[i];
		const struct profile_node *node = &sampled->nodes[cell->node];
		if (cell->event != 0)
			continue;
		if (cell->node == 0 ||
		    (modules[node->module] == UINT32_MAX && !named_module(&sampled->modules[node->module])))
			*(cell->node != 0 && sampled->modules[node->module].kind == MODULE_KERNEL
				  ? &out->kernel
				  : &out->unmapped) += cell->count;
		else if (modules[node->module] == UINT32_MAX || node->offset >> OFFSET_BITS)
			out->elsewhere += cell->count;
		else
			all[(*n)++] = (struct placed_count){place_of(modules[node->module], node->offset),
							    cell->count};
	}
	free(modules);
	*n = merge(all, *n);
	return true;
}

static size_t take_executions(const struct profile *exact, struct placed_count *all)
{
	size_t n = 0;
	for (size_t i = 0; i < exact->n_cells; i++) {
		const struct profile_cell *cell = &exact->cells[i];
		const struct profile_node *node = &exact->nodes[cell->node];
		if (cell->event == 0 && cell->node != 0 && !(node->offset >> OFFSET_BITS))
			all[n++] = (struct placed_count){place_of(node->module, node->offset), cell->count};
	}
	return merge(all, n);
}

/* ---- by instruction ---- */

/* Σ over modules: its part of the samples · the distance within it. */
static bool measure_distance(const struct placed_count *sampled, size_t n_sampled, const struct placed_count *ran,
			     size_t n_ran, struct sampling_accuracy *out)
{
	double *shares = calloc(2 * (n_ran + 1), sizeof *shares), *exact = shares + n_ran + 1;
	uint64_t *at = calloc(n_ran + 1, sizeof *at);
	if (!shares || !at) {
		free(shares);
		free(at);
		return false;
	}
	out->distance = out->judged ? 0 : NAN;
	for (size_t begin = 0, end, s = 0; begin < n_ran; begin = end) {
		uint64_t module = ran[begin].place >> OFFSET_BITS;
		double samples = 0;
		for (end = begin; end < n_ran && ran[end].place >> OFFSET_BITS == module; end++) {
			while (s < n_sampled && sampled[s].place < ran[end].place)
				s++;
			bool here = s < n_sampled && sampled[s].place == ran[end].place;
			shares[end - begin] = here ? (double)sampled[s].count : 0;
			exact[end - begin] = (double)ran[end].count;
			at[end - begin] = ran[end].place;
			samples += shares[end - begin];
		}
		if (samples > 0)
			out->distance += samples / (double)out->judged *
					 accuracy_earth_mover(shares, exact, at, end - begin);
	}
	free(shares);
	free(at);
	return true;
}

/* ---- by function ---- */

/* Rows of the exact profile's table: the machine code's function of each instruction. */
struct functions {
	double *sampled, *exact, *weights;
	uint64_t *samples;
	size_t n;
};

static uint32_t row_of(const struct named_profile *named, uint32_t node)
{
	const struct named_place *place = &named->places[named->place_of_node[node]];
	return named->functions[named->frames[place->first_frame + place->n_frames - 1].function].row;
}

static void add_up(const struct named_profile *named, const struct placed_count *sampled, size_t n_sampled,
		   struct functions *f)
{
	const struct profile *exact = named->profile;
	for (size_t i = 0; i < exact->n_cells; i++) {
		const struct profile_cell *cell = &exact->cells[i];
		const struct profile_node *node = &exact->nodes[cell->node];
		if (cell->event != 0 || cell->node == 0 || node->offset >> OFFSET_BITS)
			continue;
		uint32_t row = row_of(named, cell->node);
		struct placed_count key = {.place = place_of(node->module, node->offset)};
		struct placed_count *found = n_sampled ? bsearch(&key, sampled, n_sampled, sizeof key, by_place)
						       : NULL;
		f->exact[row] += (double)cell->count;
		if (found) {
			f->samples[row] += found->count;
			((struct placed_count *)found)->count = 0; /* another task's cell is at the same place */
		}
	}
}

static double top_chance(const struct functions *f)
{
	double most = 0, chance = 0;
	for (size_t i = 0; i < f->n; i++)
		most = fmax(most, f->exact[i]);
	for (size_t i = 0; i < f->n; i++)
		if (f->exact[i] == most)
			chance += stats_top_chance(f->samples, f->n, i);
	return fmin(chance, 1);
}

/* Takes the samples out of sampled[]. */
static bool measure_functions(const struct named_profile *named, const struct placed_count *sampled,
			      size_t n_sampled, struct sampling_accuracy *out)
{
	size_t n = named->by_function.n;
	double *room = calloc(3 * (n + 1), sizeof *room);
	struct functions f = {.sampled = room,
			      .exact = room + n + 1,
			      .weights = room + 2 * (n + 1),
			      .samples = calloc(n + 1, sizeof *f.samples),
			      .n = n};
	bool done = room && f.samples;
	if (done) {
		double executed = 0;
		add_up(named, sampled, n_sampled, &f);
		for (size_t i = 0; i < n; i++)
			executed += f.exact[i];
		for (size_t i = 0; i < n; i++) {
			f.sampled[i] = (double)f.samples[i];
			f.weights[i] = out->judged
					       ? (f.sampled[i] / (double)out->judged + f.exact[i] / executed) / 2
					       : 0;
		}
		out->overlap = accuracy_overlap(f.sampled, f.exact, n);
		out->total_variation = 1 - out->overlap;
		out->weight_matching = accuracy_weight_matching(f.sampled, f.exact, n, TOP_LIST);
		out->key_matching = accuracy_key_matching(f.sampled, f.exact, n, TOP_LIST);
		out->kendall = accuracy_kendall(f.sampled, f.exact, f.weights, n);
		out->top_chance = out->judged ? top_chance(&f) : NAN;
	}
	free(room);
	free(f.samples);
	return done;
}

/* Executions of the most sampled place, as a part of the most. */
static double top_instruction(const struct placed_count *sampled, size_t n_sampled, const struct placed_count *ran,
			      size_t n_ran)
{
	uint64_t most = 0, most_sampled = 0, top = 0;
	for (size_t i = 0; i < n_ran; i++)
		most = ran[i].count > most ? ran[i].count : most;
	for (size_t i = 0; i < n_sampled; i++) {
		const struct placed_count *found = bsearch(&sampled[i], ran, n_ran, sizeof *ran, by_place);
		if (!found || sampled[i].count < most_sampled)
			continue;
		top = sampled[i].count > most_sampled || found->count > top ? found->count : top;
		most_sampled = sampled[i].count;
	}
	return most && most_sampled ? (double)top / (double)most : NAN;
}

bool study_judge(const struct profile *sampled, const struct named_profile *named, struct sampling_accuracy *out)
{
	const struct profile *exact = named->profile;
	struct placed_count *samples = malloc((sampled->n_cells + 1) * sizeof *samples);
	struct placed_count *ran = malloc((exact->n_cells + 1) * sizeof *ran);
	struct wu_mencer three;
	size_t n_samples = 0, n_ran;
	bool done = false;
	*out = (struct sampling_accuracy){.period = out->period};
	if (!samples || !ran || !take_samples(sampled, exact, samples, &n_samples, out))
		goto out;
	n_ran = take_executions(exact, ran);
	if (!accuracy_wu_mencer(samples, n_samples, ran, n_ran, &three))
		goto out;
	out->judged = three.samples;
	out->elsewhere += three.apart;
	out->instructions = three.places;
	out->top_instruction = top_instruction(samples, n_samples, ran, n_ran);
	out->nrmse = three.nrmse;
	out->sample_coverage = three.sample_coverage;
	out->order_deviation = three.order_deviation;
	if (sampled->n_events > 0) {
		out->lost = sampled->events[0].lost;
		out->throttled = sampled->events[0].throttled;
	}
	done = measure_distance(samples, n_samples, ran, n_ran, out) &&
	       measure_functions(named, samples, n_samples, out);
out:
	free(samples);
	free(ran);
	return done;
}

/* ---- places ---- */

static int most_samples_first(const void *a, const void *b)
{
	const struct placed_count *x = a, *y = b;
	return x->count != y->count ? (x->count > y->count ? -1 : 1)
				    : (x->place > y->place) - (x->place < y->place);
}

/* "function+0x12", of the machine code's function */
static void name_place(const struct named_profile *named, uint64_t place, struct study_place *out)
{
	uint64_t offset = place & ((UINT64_C(1) << OFFSET_BITS) - 1);
	for (size_t i = 0; i < named->n_places; i++) {
		const struct named_place *p = &named->places[i];
		if (p->module != place >> OFFSET_BITS || p->offset != offset)
			continue;
		const struct named_function *f =
			&named->functions[named->frames[p->first_frame + p->n_frames - 1].function];
		/* one without a symbol is named by its offset in the module already */
		if (f->begins && f->begins <= offset)
			snprintf(out->name, sizeof out->name, "%.60s+0x%llx", f->name,
				 (unsigned long long)(offset - f->begins));
		else
			snprintf(out->name, sizeof out->name, "%.79s", f->name);
		return;
	}
}

size_t study_places(const struct profile *sampled, const struct named_profile *named, struct study_place *out)
{
	const struct profile *exact = named->profile;
	struct placed_count *samples = malloc((sampled->n_cells + 1) * sizeof *samples);
	struct placed_count *ran = malloc((exact->n_cells + 1) * sizeof *ran);
	struct sampling_accuracy ignored = {0};
	size_t n_samples = 0, n = SIZE_MAX;
	if (samples && ran && take_samples(sampled, exact, samples, &n_samples, &ignored)) {
		size_t n_ran = take_executions(exact, ran);
		double all = 0, executed = 0;
		for (size_t i = 0; i < n_samples; i++)
			all += (double)samples[i].count;
		for (size_t i = 0; i < n_ran; i++)
			executed += (double)ran[i].count;
		qsort(samples, n_samples, sizeof *samples, most_samples_first);
		for (n = 0; n < n_samples && n < STUDY_PLACES_MOST; n++) {
			const struct placed_count *found = bsearch(&samples[n], ran, n_ran, sizeof *ran, by_place);
			out[n] = (struct study_place){.sampled = (double)samples[n].count / all,
						      .executed = found ? (double)found->count / executed : 0};
			name_place(named, samples[n].place, &out[n]);
		}
	}
	free(samples);
	free(ran);
	return n;
}

/* ---- trends ---- */

/* Errors that differ by less than 1e-6 are equal: P(top) of 1 - 1e-9 and 1 - 2e-9 are the same to everybody. */
static const double STEPS = 1e6;

double study_error(const struct sampling_accuracy *a, enum study_measure measure)
{
	switch (measure) {
	case STUDY_NRMSE: return a->nrmse;
	case STUDY_COVERAGE: return -a->sample_coverage;
	case STUDY_ORDER: return a->order_deviation;
	case STUDY_VARIATION: return a->total_variation;
	case STUDY_WEIGHT: return -a->weight_matching;
	case STUDY_KEY: return -a->key_matching;
	case STUDY_KENDALL: return -a->kendall;
	case STUDY_TOP: return -a->top_chance;
	case STUDY_MEASURES: break;
	}
	return NAN;
}

void study_add_trends(struct sampling_study *study)
{
	double *errors = malloc((study->n_periods + 1) * sizeof *errors);
	for (int measure = 0; measure < STUDY_MEASURES; measure++) {
		struct study_trend *trend = &study->trends[measure];
		*trend = (struct study_trend){0};
		size_t n = 0;
		for (size_t i = 0; errors && i < study->n_periods; i++) {
			double error = study_error(&study->periods[i], measure);
			/* without samples there is no error, which is not an error of 0 */
			if (study->periods[i].judged > 0 && !isnan(error))
				errors[n++] = round(error * STEPS) / STEPS;
		}
		trend->known = errors && stats_trend(errors, n, &trend->tau, &trend->p_rises);
	}
	free(errors);
}
