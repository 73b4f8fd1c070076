#include "cli/calibrate_costs.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cli/progress_line.h"
#include "cli/say.h"
#include "explain/measure.h"
#include "measure/measure.h"
#include "model/declare/machines.h"
#include "report/costs.h"

/* An odd number has a median that was measured; 13 is the least that the interval of 99 % for another run's median
 * needs, 9 that of 95 %. A busy machine gives fewer sweeps, and wide intervals, but is done within a minute. */
static const struct cost_plan THOROUGH = {.sweeps = 15, .rounds = 3, .pause_s = 1, .least = 9, .most_s = 52},
			      SURE = {.sweeps = 15, .rounds = 3, .pause_s = 1, .least = 13, .most_s = 52},
			      QUICK = {.sweeps = 13, .rounds = 1, .pause_s = 0, .least = 13, .most_s = 52};

/* The data caches and data TLBs that a data access goes through, first to last. */
static void find_geometry(const struct machine *machine, struct cost_geometry *g)
{
	uint64_t *const sizes[] = {&g->l1_bytes, &g->l2_bytes, &g->l3_bytes};
	uint64_t *const entries[] = {&g->first_tlb, &g->second_tlb};
	unsigned at = machine->first_data;
	*g = (struct cost_geometry){.line_bytes = 64, .page_bytes = (uint64_t)sysconf(_SC_PAGESIZE)};
	for (unsigned i = 0; i < 3 && at != MACHINE_NONE; i++, at = machine->caches[at].next) {
		const struct machine_cache *c = &machine->caches[at];
		*sizes[i] = (uint64_t)c->sets * c->ways * c->line_bytes;
		g->line_bytes = c->line_bytes;
	}
	at = machine->first_data_tlb;
	for (unsigned i = 0; i < 2 && at != MACHINE_NONE; i++, at = machine->tlbs[at].next)
		*entries[i] = (uint64_t)machine->tlbs[at].sets * machine->tlbs[at].ways *
			      machine->tlbs[at].pages_per_entry;
}

struct costs_line {
	struct progress_line shown;
	bool terminal;
};

static void show_progress(void *context, size_t done, size_t all)
{
	struct costs_line *line = context;
	if (line->terminal)
		progress_line_show(&line->shown, "sweep", done, all, -1, "costs");
}

static bool describe(struct costs *costs, struct error *err)
{
	struct machine_facts facts;
	if (!measure_machine_facts(&costs->arena, &facts))
		return error_set(err, ERROR_SYSTEM, "cannot identify this machine");
	costs->machine = "host";
	costs->title = costs->cpu = facts.cpu;
	costs->kernel = facts.kernel;
	costs->tare_version = TARE_VERSION;
	costs->made_unix = (uint64_t)time(NULL);
	return true;
}

bool calibrate_costs_take(bool quick, double confidence, struct costs *costs, struct error *err)
{
	struct costs_line line = {.terminal = isatty(STDERR_FILENO)};
	struct cost_times *times = calloc(1, sizeof *times);
	struct cost_geometry geometry;
	struct machine machine;
	if (!times)
		return error_no_memory(err);
	bool done = machine_find("host", &machine, err);
	if (done) {
		find_geometry(&machine, &geometry);
		const struct cost_plan *plan = quick ? &QUICK : confidence > 0.95 ? &SURE : &THOROUGH;
		done = costs_take(&geometry, plan, times, &costs->seconds, show_progress, &line, err) &&
		       costs_derive(times, confidence, costs, err) && describe(costs, err);
	}
	progress_line_end(&line.shown);
	free(times);
	if (!done)
		costs_free(costs);
	return done;
}

static int keep(const struct calibrate_costs_asked *asked, struct costs *costs)
{
	struct error err = {0};
	char *path = asked->output ? strdup(asked->output) : costs_path(&err);
	int code = TARE_DONE;
	if (!path || !costs_save(path, costs, &err))
		code = say_failed(&err, TARE_CANNOT_MEASURE);
	else
		printf("\nSaved as %.8s in %s\n", costs->id, path);
	free(path);
	return code;
}

int calibrate_costs(const struct calibrate_costs_asked *asked)
{
	struct costs costs = {0};
	struct error err = {0};
	int code;
	if (!calibrate_costs_take(asked->quick, asked->confidence, &costs, &err)) {
		code = say_failure(&err);
	} else {
		say_begin_output();
		report_costs_text(
			stdout, &costs,
			&(struct report_options){.colour = say_in_colour(stdout), .width = say_width(stdout)});
		code = asked->dry ? TARE_DONE : keep(asked, &costs);
		int written = say_end_output();
		if (code == TARE_DONE)
			code = written;
	}
	costs_free(&costs);
	return code;
}
