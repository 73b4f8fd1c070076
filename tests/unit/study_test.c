/* Sampled profiles judged by the exact one: a simulated PMU that overflows on executed instructions, with a skid that is known. */
#include "profile/study.h"

#include <stdlib.h>

#include "base/random.h"
#include "profile/accuracy.h"
#include "report/study.h"
#include "result/profile_builder.h"
#include "stats/stats.h"
#include "tap.h"

static void need(bool done)
{
	if (done)
		return;
	printf("Bail out! no memory\n");
	exit(1);
}

/* The program: 10 functions of 20 instructions of 4 bytes; in each turn function f runs 10 - f times. */
enum { FUNCTIONS = 10, LENGTH = 20, BYTES = 4, TURN = LENGTH * FUNCTIONS * (FUNCTIONS + 1) / 2, TURNS = 1500 };

static uint64_t offset_at(uint64_t instruction)
{
	uint64_t in_turn = instruction % TURN, run = in_turn / LENGTH;
	unsigned f = 0;
	for (; run >= FUNCTIONS - f; f++)
		run -= FUNCTIONS - f;
	return 0x1000 + BYTES * (LENGTH * f + in_turn % LENGTH);
}

static const struct profile_module program = {.kind = MODULE_FILE, .path = "/bin/program"};

static void add(struct profile_builder *b, const struct profile_module *module, uint64_t offset, uint64_t count)
{
	uint32_t node = profile_builder_node(b, 0, profile_builder_module(b, module), offset);
	need(node != PROFILE_NO_INDEX && profile_builder_add(b, node, profile_builder_task(b, 1, 1), 0, count));
}

static struct profile *finish(struct profile_builder *b, uint64_t lost)
{
	b->out->events = arena_alloc(&b->out->arena, sizeof *b->out->events);
	need(b->out->events);
	*b->out->events = (struct profile_event){.label = "simulated", .unit = "instructions", .lost = lost};
	b->out->n_events = 1;
	struct profile *made = profile_builder_finish(b);
	need(made);
	return made;
}

static void drop(struct profile *p)
{
	profile_free(p);
	free(p);
}

/* Names of an exact profile of the program: one function each LENGTH instructions. What the names are made of is the test's. */
struct names {
	struct named_profile named;
	struct named_function functions[FUNCTIONS];
	struct named_frame frames[FUNCTIONS];
	struct named_row rows[FUNCTIONS];
	struct named_place places[4096];
	uint32_t place_of_node[4096];
};

static struct names *name(const struct profile *exact, uint64_t bytes_of_function)
{
	struct names *n = calloc(1, sizeof *n);
	need(n && exact->n_nodes <= 4096);
	for (uint32_t f = 0; f < FUNCTIONS; f++) {
		n->functions[f].row = FUNCTIONS - 1 - f; /* rows have another order */
		n->frames[f].function = f;
	}
	n->place_of_node[0] = UINT32_MAX;
	for (uint32_t i = 1; i < exact->n_nodes; i++) {
		n->places[i - 1] = (struct named_place){
			.first_frame = (uint32_t)((exact->nodes[i].offset - 0x1000) / bytes_of_function),
			.n_frames = 1};
		n->place_of_node[i] = i - 1;
	}
	n->named = (struct named_profile){.profile = exact,
					  .functions = n->functions,
					  .frames = n->frames,
					  .places = n->places,
					  .place_of_node = n->place_of_node,
					  .by_function = {n->rows, FUNCTIONS}};
	return n;
}

static struct profile *exact_profile(void)
{
	struct profile_builder b;
	need(profile_builder_open(&b));
	for (uint64_t i = 0; i < TURN; i++)
		add(&b, &program, offset_at(i), TURNS);
	return finish(&b, 0);
}

/* Wu and Mencer's gaps. */
static struct profile *sample(uint64_t period, uint64_t skid, uint64_t seed)
{
	struct random r = {.state = seed};
	struct profile_builder b;
	need(profile_builder_open(&b));
	for (uint64_t at = 0;;) {
		at += period + random_below(&r, period / 8 + 1);
		if (at + skid >= (uint64_t)TURN * TURNS)
			break;
		add(&b, &program, offset_at(at + skid), 1);
	}
	return finish(&b, 0);
}

static void periods(void)
{
	struct profile *exact = exact_profile();
	struct names *names = name(exact, BYTES * LENGTH);
	struct sampling_accuracy found[9] = {0};
	// clang-format off: a table, a row a line
	struct sampling_study study = {.event = "simulated",
				       .unit = "instructions",
				       .seed = 1,
				       .executed = (uint64_t)TURN * TURNS,
				       .periods = found,
				       .n_periods = 9};
	// clang-format on
	for (size_t i = 0; i < 9; i++) {
		found[i].period = (uint64_t)61 << i;
		struct profile *sampled = sample(found[i].period, 0, i);
		need(study_judge(sampled, &names->named, &found[i]));
		drop(sampled);
	}
	study_add_trends(&study);
	for (size_t i = 0; i < 9; i++)
		printf("# %6.0f: %6.0f samples, nrmse %.4f, coverage %.4f, order %.4f, variation %.4f, weight "
		       "%.4f, tau %.4f, top %.4f\n",
		       (double)found[i].period, (double)found[i].judged, found[i].nrmse, found[i].sample_coverage,
		       found[i].order_deviation, found[i].total_variation, found[i].weight_matching,
		       found[i].kendall, found[i].top_chance);
	for (int m = 0; m < STUDY_MEASURES; m++)
		printf("# trend %d: tau %.2f, p %.4f\n", m, study.trends[m].tau, study.trends[m].p_rises);
	ok(found[0].judged > 25000 && found[0].judged < 26000 && found[8].judged < 110,
	   "nine periods, from 25,000 samples to 100");
	ok(found[0].sample_coverage == 1 && found[0].instructions == FUNCTIONS * LENGTH,
	   "the shortest period samples every instruction");
	ok(found[0].overlap > 0.98 && found[0].kendall > 0.95 && found[0].weight_matching > 0.999,
	   "… and finds the functions' shares and order");
	near(found[0].overlap + found[0].total_variation, 1, 1e-12, "total variation is what does not overlap");
	static const enum study_measure rising[] = {STUDY_NRMSE, STUDY_COVERAGE, STUDY_VARIATION, STUDY_TOP};
	static const char *const what[] = {"NRMSE", "what sample coverage leaves out", "total variation",
					   "the chance of a wrong top"};
	for (size_t i = 0; i < 4; i++)
		ok(study.trends[rising[i]].known && study.trends[rising[i]].p_rises < 0.05,
		   "%s rises with the period", what[i]);

	/* 200 instructions in 10 blocks: with many samples they are all sampled, and each has a rank of its own, where its block's
	 * instructions have one; with few samples they tie. So in a small program order deviation falls. */
	ok(study.trends[STUDY_ORDER].known && study.trends[STUDY_ORDER].p_rises > 0.95,
	   "order deviation falls, in a program of so few instructions");

	char *json = NULL, *text = NULL;
	size_t length;
	FILE *out = open_memstream(&json, &length);
	report_study_json(out, &study, (char *[]){"program", "a\nb", NULL});
	fclose(out);
	ok(strstr(json, "\"version\": 1") && strstr(json, "\"a\\nb\"") &&
		   strstr(json, "\"measure\": \"order_deviation\""),
	   "the study is JSON");
	out = open_memstream(&text, &length);
	report_study_text(out, &study, (char *[]){"program", "a\033b", NULL},
			  &(struct report_options){.width = 100});
	fclose(out);
	ok(strstr(text, "tare verify sampling: program") && !strchr(text, '\033'),
	   "… and text without control characters");
	ok(strstr(text, "NRMSE: rises: shown") && strstr(text, "order deviation: rises: the opposite is shown"),
	   "which says for what the rule is shown");
	free(json);
	free(text);
	free(names);
	drop(exact);
}

/* 5000 blocks, whose executions fall as 1/rank: as in Wu and Mencer's programs not all are sampled, and m falls with the period. */
static void many_places(void)
{
	enum { BLOCKS = 5000, PERIODS = 9 };
	static struct placed_count ran[BLOCKS], sampled[BLOCKS];
	static double below[BLOCKS];
	struct random r = {.state = 5};
	double all = 0, orders[PERIODS], places[PERIODS], tau, p;
	for (uint64_t i = 0; i < BLOCKS; i++) {
		ran[i] = (struct placed_count){i, 10000000 / (i + 1)};
		below[i] = all += (double)ran[i].count;
	}
	for (size_t period = 0; period < PERIODS; period++) {
		size_t m = 0;
		uint64_t counts[BLOCKS] = {0};
		for (int sample = 0; sample < 51200 >> period; sample++) {
			double at = random_unit(&r) * all;
			size_t low = 0, high = BLOCKS - 1;
			while (low < high) {
				size_t middle = (low + high) / 2;
				if (below[middle] > at)
					high = middle;
				else
					low = middle + 1;
			}
			counts[low]++;
		}
		for (uint64_t i = 0; i < BLOCKS; i++)
			if (counts[i])
				sampled[m++] = (struct placed_count){i, counts[i]};
		struct wu_mencer three;
		need(accuracy_wu_mencer(sampled, m, ran, BLOCKS, &three));
		orders[period] = three.order_deviation;
		places[period] = -(double)three.places;
		printf("# %d samples at %zu places: order deviation %.4f\n", 51200 >> (int)period, m,
		       orders[period]);
	}
	ok(stats_trend(places, PERIODS, &tau, &p) && tau == 1,
	   "of many blocks fewer are sampled the longer the period");
	ok(stats_trend(orders, PERIODS, &tau, &p) && p < 0.05,
	   "… and order deviation rises, as Wu and Mencer saw");
}

/* Straight code, and its samples so many instructions later. */
static void skid(void)
{
	struct profile_builder b, s;
	need(profile_builder_open(&b) && profile_builder_open(&s));
	for (uint64_t i = 0; i < 1050; i++)
		add(&b, &program, 0x1000 + BYTES * i, i < 1000 ? 1000 : 1); /* what follows hardly runs */
	for (uint64_t i = 0; i < 1000; i++)
		add(&s, &program, 0x1000 + BYTES * (i + 5), 1);
	struct profile *exact = finish(&b, 0), *sampled = finish(&s, 7);
	struct names *names = name(exact, BYTES * 110);
	struct sampling_accuracy found = {.period = 1};
	need(study_judge(sampled, &names->named, &found));
	near(found.distance, 5 * BYTES, 0.2, "a skid of five instructions is found by the earth mover's distance");
	ok(found.lost == 7 && found.period == 1 && found.judged == 1000, "lost samples are told");
	free(names);
	drop(exact);
	drop(sampled);
}

static void apart(void)
{
	struct profile *exact = exact_profile();
	struct names *names = name(exact, BYTES * LENGTH);
	struct profile_builder b;
	need(profile_builder_open(&b));
	struct sampling_accuracy before = {.period = 97}, after = {.period = 97};
	struct profile *sampled = sample(97, 0, 3);
	need(study_judge(sampled, &names->named, &before));
	for (size_t i = 0; i < sampled->n_cells; i++)
		add(&b, &program, sampled->nodes[sampled->cells[i].node].offset, sampled->cells[i].count);
	add(&b, &(struct profile_module){.kind = MODULE_KERNEL, .path = "[kernel]"}, 0x1000, 11);
	add(&b, &(struct profile_module){.kind = MODULE_UNKNOWN, .path = "[unknown]"}, 0x1000, 13);
	add(&b, &(struct profile_module){.kind = MODULE_ANONYMOUS, .path = "", .pid = 1}, 0x1000, 17);
	add(&b, &(struct profile_module){.kind = MODULE_FILE, .path = "/lib/other"}, 0x1000, 19);
	add(&b, &program, 0x1002, 23); /* in the middle of an instruction */
	struct profile *more = finish(&b, 0);
	need(study_judge(more, &names->named, &after));
	ok(after.kernel == 11 && after.unmapped == 30 && after.elsewhere == 42 && after.judged == before.judged,
	   "samples elsewhere are apart: kernel, unmapped, not executed");
	ok(after.nrmse == before.nrmse && after.order_deviation == before.order_deviation &&
		   after.overlap == before.overlap && after.distance == before.distance,
	   "… and change no measure");
	struct profile_builder none;
	need(profile_builder_open(&none));
	struct profile *empty = finish(&none, 0);
	need(study_judge(empty, &names->named, &after));
	ok(after.judged == 0 && isnan(after.overlap) && isnan(after.top_chance) && isnan(after.distance),
	   "no samples: no shares, rather than 0");
	free(names);
	drop(exact);
	drop(sampled);
	drop(more);
	drop(empty);
}

/* Two files with two instructions each, 4 and 100 bytes apart: 3 of 4 samples in the first, all at its second instruction. */
static void two_files(void)
{
	struct profile_builder b, s;
	const struct profile_module library = {.kind = MODULE_FILE, .path = "/lib/library"};
	need(profile_builder_open(&b) && profile_builder_open(&s));
	add(&b, &program, 0x1000, 1000);
	add(&b, &program, 0x1004, 1000);
	add(&b, &library, 0x1000, 500);
	add(&b, &library, 0x1064, 500);
	add(&s, &library, 0x1000, 1);
	add(&s, &library, 0x1064, 1);
	add(&s, &program, 0x1004, 6);
	struct profile *exact = finish(&b, 0), *sampled = finish(&s, 0);
	struct names *names = name(exact, BYTES * LENGTH);
	struct sampling_accuracy found = {0};
	need(study_judge(sampled, &names->named, &found));
	/* in the program half of the samples are 4 bytes too far: 2; in the library none */
	near(found.distance, 0.75 * 2, 1e-12, "distances are within each file, and weigh as its samples");
	free(names);
	drop(exact);
	drop(sampled);
}

static void no_samples_no_trend(void)
{
	// clang-format off: a table, a row a line
	struct sampling_accuracy found[] = {{.judged = 9, .nrmse = 0.1},
					    {.judged = 8, .nrmse = 0.2},
					    {.judged = 7, .nrmse = 0.3},
					    {.judged = 0, .nrmse = 0}};
	// clang-format on
	struct sampling_study study = {.periods = found, .n_periods = 4};
	study_add_trends(&study);
	ok(study.trends[STUDY_NRMSE].known && study.trends[STUDY_NRMSE].tau == 1,
	   "a period without samples has no error in the trend, rather than 0");
	for (size_t i = 0; i < 3; i++)
		found[i].top_chance = 1 - 1e-9 * (double)i;
	study_add_trends(&study);
	ok(!study.trends[STUDY_TOP].known, "chances that differ by 1e-9 are equal");
	ok(!study.trends[STUDY_COVERAGE].known, "values that are all equal have no trend");
}

int main(void)
{
	two_files();
	no_samples_no_trend();
	periods();
	many_places();
	skid();
	apart();
	return done();
}
