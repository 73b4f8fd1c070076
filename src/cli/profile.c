/* tare profile: where a program's events take place. From the command line to the report and the exit status. */
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/str.h"
#include "base/wait_status.h"
#include "cli/command.h"
#include "cli/export_options.h"
#include "cli/page_output.h"
#include "cli/profile_data.h"
#include "cli/profile_keep.h"
#include "cli/progress_line.h"
#include "cli/profile_options.h"
#include "cli/say.h"
#include "cli/store_options.h"
#include "session/interrupt.h"
#include "session/profile.h"
#include "session/replicates.h"
#include "session/trusting.h"

enum {
	HELP,
	EVENT,
	ON,
	PERIOD,
	RATE,
	GAPS,
	SWITCH_TIMEOUT,
	SKID,
	SEED,
	REDRAW,
	STACKS,
	CALL_GRAPH,
	PID,
	TID,
	ALL_CPUS,
	CPUS,
	CGROUP,
	OWN_CGROUP,
	NO_CHILDREN,
	DELAY,
	RUNS,
	EXPERIMENT,
	CONTROL,
	CHECK,
	REGION,
	BEGIN,
	END,
	FOR,
	TIMEOUT,
	OUTPUT,
};

const struct option_row profile_option_rows[] = {
	{.help = "Events"},
	{'e', "event", "EVENT,...",
	 "sample these events; may be repeated. EVENT@GAP sets the gap of one. Default: cycles, or the CPU clock "
	 "where cycles cannot be sampled",
	 EVENT},
	{0, "switch-timeout", "MS",
	 "each -e is a set, and the sets take turns of MS milliseconds of the program's CPU time; counts are "
	 "scaled",
	 SWITCH_TIMEOUT},
	{0, "on", "BACKEND",
	 "perf (default) samples. exact and model:MACHINE count each instruction that the program executes, "
	 "without sampling error",
	 ON},
	{0, "exp", "EXPERIMENT",
	 "one of SpeedShop's experiments: usertime, pcsamp, fpcsamp, cy_hwc, fcy_hwc, …, prof_hwc, ideal; kept in "
	 "PROGRAM.NAME.mPID",
	 EXPERIMENT},
	{.help = "Sampling"},
	{'c', "period", "GAP", "take a sample each GAP events on average (nanoseconds, of clocks)", PERIOD},
	{'F', "rate", "N", "take about N samples a second; the kernel adjusts the gap", RATE},
	{0, "gaps", "exponential|jitter|prime|fixed",
	 "how far samples are apart (default exponential, which gives each share an interval)", GAPS},
	{0, "skid", "N",
	 "with -c and --on model: a sample is found N instructions after its event, as on hardware (default 0)",
	 SKID},
	{0, "seed", "N", "seed of random gaps (default 1)", SEED},
	{0, "redraw", "N", "draw a new gap after N samples (default 3)", REDRAW},
	{'g', "stacks", NULL,
	 "also record call stacks, by frame pointers; with --on exact: follow every call and return", STACKS},
	{0, "call-graph", "fp|dwarf|exact|none", "record call stacks in this way", CALL_GRAPH},
	{0, "delay", "SECONDS", "begin this long after the program; -1: when --control says enable", DELAY},
	{.help = "Where"},
	{0, "region", "PLACE",
	 "only while a thread is in this place, with what it calls: FUNCTION, FILE:FIRST-LAST, 0xLOW-0xHIGH, "
	 "LIBRARY!PLACE; may be repeated",
	 REGION},
	{0, "begin", "PLACE", "begin when the program comes to this place; may be repeated", BEGIN},
	{0, "end", "PLACE", "… and end when it comes to this one", END},
	{.help = "Several runs"},
	{'r', "repeat", "N", "run the program N times; intervals are by how much the runs differ", RUNS},
	{0, "check", NULL,
	 "run it with two gaps in turn, three times each (or -r), and show which lines have the same share at "
	 "both",
	 CHECK},
	{0, "control", "[fifo:]FILE[,FILE]|fd:N[,M]",
	 "take orders while it runs: enable, disable, snapshot, ping (perf record's words)", CONTROL},
	{.help = "Targets (instead of a program; -a, -C and --cgroup also with one)"},
	{'p', "pid", "PID,...", "running processes, with all their threads", PID},
	{'t', "tid", "TID,...", "running threads", TID},
	{'a', "all-cpus", NULL, "everything on all CPUs", ALL_CPUS},
	{'C', "cpu", "CPU,...", "everything on these CPUs: 0,2-3", CPUS},
	{0, "cgroup", "GROUP",
	 "the processes of this control group and of those below it, on all CPUs or those of -C: a path below the "
	 "hierarchy's mount (system.slice/ssh.service), or a whole one",
	 CGROUP},
	{0, "own-cgroup", NULL,
	 "run the program in a control group of its own, and sample that: short processes are sampled as long "
	 "ones "
	 "are, and gaps stay random",
	 OWN_CGROUP},
	{0, "for", "SECONDS", "without a program: stop after this time (default: until they end, or Ctrl-C)", FOR},
	{0, "timeout", "SECONDS",
	 "end the program after this time (SIGTERM, 2 s later SIGKILL), and exit with 124", TIMEOUT},
	{0, "no-children", NULL, "do not follow child processes", NO_CHILDREN},
	{.help = "Report"},
	{'o', "output", "FILE", "keep the profile in this file; 'tare report FILE' shows it", OUTPUT},
	SHOW_OPTION_ROWS,
	EXPORT_OPTION_ROWS,
	STORE_OPTION_ROWS,
	{.help = "Other"},
	{'h', "help", NULL, "show this help", HELP},
	{0},
};

struct profile_request {
	struct str events;      /* of all -e, joined */
	VEC(const char *) sets; /* each -e */
	VEC(size_t) set_ends;
	const char *on;
	struct profiling profiling;
	struct replicates replicates; /* runs 0: one */
	VEC(const char *) inside, begin, end;
	const char *control_text; /* NULL: no orders */
	struct profile_control control;
	const char *experiment_name; /* NULL: none */
	struct experiment experiment;
	struct arena arena; /* the experiment's */
	bool has_gaps, has_rate, has_on, has_stacks, all_cpus, own_cgroup, no_children, help, wants_stacks;
	struct number_list pids, tids, cpus;
	const char *cgroup; /* NULL: none */
	const char *output; /* the profile's file, or with --as the other tool's */
	struct show_request show;
	struct export_request export;
	struct keeping keeping;
	char *const *command;
};

static bool parse_gaps(struct profile_request *r, const char *value, struct error *err)
{
	static const struct {
		const char *name;
		enum profile_gaps gaps;
	} words[] = {{"exponential", GAPS_EXPONENTIAL},
		     {"jitter", GAPS_JITTER},
		     {"prime", GAPS_FIXED},
		     {"fixed", GAPS_FIXED}};
	for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
		if (strcmp(words[i].name, value) != 0)
			continue;
		r->profiling.gaps = words[i].gaps;
		r->profiling.prime = value[0] == 'p';
		return r->has_gaps = true;
	}
	return error_set(err, ERROR_USAGE, "'%s' is not exponential, jitter, prime or fixed", value);
}

static bool parse_stacks(struct profile_request *r, const char *value, struct error *err)
{
	if (strcmp(value, "fp") == 0)
		r->profiling.stacks = STACKS_FRAME_POINTER;
	else if (strcmp(value, "dwarf") == 0)
		r->profiling.stacks = STACKS_DWARF;
	else if (strcmp(value, "exact") == 0)
		r->profiling.stacks = STACKS_EXACT;
	else if (strcmp(value, "none") == 0)
		r->profiling.stacks = STACKS_NONE;
	else
		return error_set(err, ERROR_USAGE, "'%s' is not fp, dwarf, exact or none", value);
	r->wants_stacks = false;
	return true;
}

static bool parse_rate(struct profile_request *r, const char *value, struct error *err)
{
	if (!str_to_double(value, &r->profiling.rate) || !(r->profiling.rate >= 1) || r->profiling.rate > 1e6)
		return error_set(err, ERROR_USAGE, "'%s' is not a number of samples a second from 1 to 1000000",
				 value);
	return r->has_rate = true;
}

static bool apply(void *context, int id, const char *value, struct error *err)
{
	struct profile_request *r = context;
	unsigned long long number;
	switch (id) {
	case HELP: r->help = true; return true;
	case EVENT:
		str_appendf(&r->events, "%s%s", r->events.length ? "," : "", value);
		return vec_push(&r->sets, value) || error_no_memory(err);
	case SWITCH_TIMEOUT:
		if (!options_number(value, 1, 3600000, &number, err))
			return false;
		r->profiling.turn_ns = number * 1000000;
		return true;
	case ON: r->on = strcmp(value, "auto") == 0 ? "perf" : value; return r->has_on = true;
	case EXPERIMENT: r->experiment_name = value; return true;
	case RATE: return parse_rate(r, value, err);
	case GAPS: return parse_gaps(r, value, err);
	case STACKS: r->wants_stacks = true; return r->has_stacks = true;
	case CALL_GRAPH: r->has_stacks = true; return parse_stacks(r, value, err);
	case PID: return options_number_list(value, "a process id", false, 1, &r->pids, err);
	case TID: return options_number_list(value, "a thread id", false, 1, &r->tids, err);
	case CPUS: return options_number_list(value, "a CPU or a range of CPUs", true, 0, &r->cpus, err);
	case ALL_CPUS: r->all_cpus = true; return true;
	case CGROUP: r->cgroup = value; return true;
	case OWN_CGROUP: return r->own_cgroup = true;
	case NO_CHILDREN: r->no_children = true; return true;
	case CHECK: r->replicates.check = true; return true;
	case RUNS:
		if (!options_number(value, 2, REPLICATES_MOST, &number, err))
			return false;
		r->replicates.runs = number;
		return true;
	case REGION: return vec_push(&r->inside, value) || error_no_memory(err);
	case BEGIN: return vec_push(&r->begin, value) || error_no_memory(err);
	case END: return vec_push(&r->end, value) || error_no_memory(err);
	case CONTROL: r->control_text = value; return true;
	case DELAY:
		if (strcmp(value, "-1") == 0)
			return r->profiling.disabled = true;
		return options_seconds(value, &r->profiling.delay_ns, err);
	case TIMEOUT: return options_seconds(value, &r->profiling.timeout_ns, err);
	case FOR: return options_seconds(value, &r->profiling.for_ns, err);
	case OUTPUT: r->output = value; return true;
	case PERIOD:
		if (!options_number(value, 1, 1000000000000000, &number, err))
			return false;
		r->profiling.gap = number;
		return true;
	case SKID:
		if (!options_number(value, 0, 1000000, &number, err))
			return false;
		r->profiling.skid = (uint32_t)number;
		return true;
	case SEED:
		if (!options_number(value, 0, UINT64_MAX, &number, err))
			return false;
		r->profiling.seed = number;
		return true;
	case REDRAW:
		if (!options_number(value, 1, 1000000, &number, err))
			return false;
		r->profiling.redraw = (uint32_t)number;
		return true;
	default:
		if (store_apply(&r->keeping, id, value))
			return true;
		return id > EXPORT_BASE ? export_apply(&r->export, id, value, err)
					: show_apply(&r->show, id, value, err);
	}
}

/* An experiment says what is sampled, and how far apart. */
static bool apply_experiment(struct profile_request *r, struct error *err)
{
	struct experiment *e = &r->experiment;
	if (!experiment_find(r->experiment_name, &r->arena, e, err))
		return false;
	if (e->event && (r->events.length || r->profiling.gap || r->has_gaps || r->has_rate)) {
		error_set(err, ERROR_USAGE, "--exp %s sets the event and the gap itself", e->name);
		return error_hint(err, "remove -e, -c, -F and --gaps, or take --exp prof_hwc -e EVENT -c GAP");
	}
	if (!e->event && !r->events.length) {
		error_set(err, ERROR_USAGE, "--exp %s samples the event that you name, and none is named",
			  e->name);
		return error_hint(err, "-e EVENT -c GAP");
	}
	if (!r->command)
		return error_set(err, ERROR_USAGE, "--exp profiles a program that tare starts, and none is given");
	if (r->replicates.runs || r->replicates.check)
		return error_set(err, ERROR_USAGE, "--exp keeps one run: remove -r and --check");
	if (e->event)
		str_append(&r->events, e->event);
	if (!r->has_on && e->on)
		r->on = e->on;
	if (e->gap)
		r->profiling.gap = e->gap;
	if (!r->has_gaps && !r->has_rate)
		r->profiling.gaps = GAPS_FIXED;
	if (!r->has_stacks && e->stacks == STACKS_FRAME_POINTER)
		r->wants_stacks = true;
	else if (!r->has_stacks)
		r->profiling.stacks = e->stacks;
	if (!r->output)
		r->profiling.experiment = e;
	return !r->events.failed || error_no_memory(err);
}

/* What is of samples alone, of a backend that counts. */
static bool check_counting(const struct profile_request *r, struct error *err)
{
	const char *option = r->profiling.delay_ns || r->profiling.disabled         ? "--delay"
			     : r->has_rate                                          ? "-F"
			     : r->profiling.redraw                                  ? "--redraw"
			     : r->has_gaps && r->profiling.gaps == GAPS_JITTER      ? "--gaps jitter"
			     : r->has_gaps && r->profiling.gaps == GAPS_EXPONENTIAL ? "--gaps exponential"
										    : NULL;
	if (!option)
		return true;
	error_set(err, ERROR_USAGE, "%s is for sampling, and '%s' counts", option, r->on);
	return error_hint(err, "leave out %s, or --on %s", option, r->on);
}

/* What has no meaning for data. */
static bool check_data(const struct profile_request *r, struct error *err)
{
	const struct profiling *p = &r->profiling;
	const char *option = r->replicates.check                                 ? "--check"
			     : r->replicates.runs                                ? "-r"
			     : p->gap || r->has_gaps || p->skid                  ? "-c, --gaps and --skid"
			     : r->has_stacks                                     ? "-g and --call-graph"
			     : r->inside.count || r->begin.count || r->end.count ? "--region, --begin and --end"
			     : r->experiment_name                                ? "--exp"
			     : r->show.annotate || r->show.disassemble           ? "--annotate and --dis"
			     : r->show.butterfly || r->show.browse               ? "--butterfly and --browse"
										 : NULL;
	if (option)
		return error_set(err, ERROR_USAGE, "--by data lists data, for which %s has no meaning", option);
	if (strcmp(r->on, "perf") == 0) {
		error_set(err, ERROR_USAGE,
			  "--by data needs each access of the program, and samples do not have it");
		return error_hint(err, "add --on model:host (misses), or --on exact (reads and writes)");
	}
	if (r->output && !profile_data_format(r->export.format)) {
		error_set(err, ERROR_USAGE, "a data profile is written by --as json, csv or html to -o FILE");
		return error_hint(err, "'tare report @last' shows the kept run again");
	}
	return true;
}

/* Sets that take turns. */
static bool check_sets(const struct profile_request *r, struct error *err)
{
	if (!r->profiling.turn_ns)
		return true;
	if (r->sets.count < 2) {
		error_set(err, ERROR_USAGE, "--switch-timeout is for two sets of events or more: each -e is one");
		return error_hint(err, "-e page-faults -e context-switches --switch-timeout 10");
	}
	const char *option = strcmp(r->on, "perf") != 0                  ? r->on
			     : r->experiment_name                        ? "--exp"
			     : r->replicates.runs || r->replicates.check ? "-r and --check"
									 : NULL;
	if (!option)
		return true;
	error_set(err, ERROR_USAGE, "--switch-timeout does not go with %s", option);
	return error_hint(err, "remove one of the two");
}

static bool of_cpus(const struct profile_request *r)
{
	return r->all_cpus || r->cpus.numbers.count || r->cgroup || r->own_cgroup;
}

/* What contradicts itself. */
static bool check(struct profile_request *r, struct error *err)
{
	bool cpus = of_cpus(r);
	int targets = cpus + (r->pids.numbers.count > 0) + (r->tids.numbers.count > 0);
	if (r->events.failed)
		return error_no_memory(err);
	if (r->all_cpus && r->cpus.numbers.count)
		return error_set(err, ERROR_USAGE, "choose -a (all CPUs) or -C (some CPUs), not both");
	if (r->own_cgroup && (!r->command || targets > 1 || r->all_cpus || r->cpus.numbers.count || r->cgroup))
		return error_set(
			err, ERROR_USAGE,
			"--own-cgroup is for a program that tare starts: remove -p, -t, -a, -C and --cgroup");
	if (r->own_cgroup && r->no_children)
		return error_set(err, ERROR_USAGE,
				 "choose --own-cgroup or --no-children: a group has all that a program starts");
	if (targets > 1)
		return error_set(err, ERROR_USAGE, "choose one of -p, -t, and -a, -C or --cgroup");
	if (r->cgroup && !*r->cgroup)
		return error_set(err, ERROR_USAGE, "--cgroup: the control group's name is empty");
	if (r->command && targets && !cpus) {
		error_set(err, ERROR_USAGE, "remove the program: -p and -t profile processes that already run");
		return error_hint(err, "--for SECONDS ends it after a time, as 'sleep' does for perf");
	}
	if (!r->command && !targets) {
		error_set(err, ERROR_USAGE, "nothing to profile: no program is given");
		return error_hint(
			err, "'tare profile PROGRAM ARGS...', or -p, -t, -a, -C, --cgroup; 'tare profile --help'");
	}
	if (r->command && r->profiling.for_ns) {
		error_set(err, ERROR_USAGE, "--for does not apply to a program that tare starts");
		return error_hint(err, "--timeout SECONDS ends the program");
	}
	if (!r->command && r->profiling.timeout_ns) {
		error_set(err, ERROR_USAGE, "--timeout ends a program that tare starts, and none is given");
		return error_hint(err, "--for SECONDS ends the profiling of what already runs");
	}
	if (r->profiling.timeout_ns && (r->replicates.runs || r->replicates.check))
		return error_set(err, ERROR_USAGE, "--timeout is for one run: remove -r and --check");
	if (r->profiling.skid && strcmp(r->on, "perf") == 0) {
		error_set(err, ERROR_USAGE, "--skid is of a simulated counter; hardware has its own");
		return error_hint(err, "add --on model:MACHINE");
	}
	if (r->profiling.skid && !r->profiling.gap)
		return error_set(err, ERROR_USAGE, "--skid needs a period: give -c");
	if (strcmp(r->on, "perf") != 0 && !check_counting(r, err))
		return false;
	if (r->show.by == PROFILE_BY_DATA && !check_data(r, err))
		return false;
	if (!check_sets(r, err))
		return false;
	if (r->has_rate && (r->profiling.gap || r->has_gaps))
		return error_set(err, ERROR_USAGE, "choose -F, or -c and --gaps, not both");
	r->profiling.places = (struct profile_places){.inside = r->inside.items,
						      .begin = r->begin.items,
						      .end = r->end.items,
						      .n_inside = r->inside.count,
						      .n_begin = r->begin.count,
						      .n_end = r->end.count};
	if (r->experiment_name && !apply_experiment(r, err))
		return false;
	if (r->profiling.disabled && !r->control_text)
		return error_set(err, ERROR_USAGE,
				 "--delay -1 waits for an enable of --control, which is not given");
	if (r->control_text && strcmp(r->on, "perf") != 0)
		return error_set(err, ERROR_USAGE, "--control is for sampling, and '%s' counts", r->on);
	if (r->control_text && !profile_control_open(r->control_text, &r->control, err))
		return false;
	r->profiling.control = r->control_text ? &r->control : NULL;
	if (r->export.format && !r->output)
		return error_set(err, ERROR_USAGE, "--as writes a file: give -o FILE");
	if (!show_check(&r->show, stderr, r->export.format != NULL, err))
		return false;
	if (!export_check(&r->export, r->output != NULL, stderr, err))
		return false;
	if (r->has_rate)
		r->profiling.gaps = GAPS_RATE;
	if (r->replicates.check && !r->replicates.runs)
		r->replicates.runs = CHECK_RUNS;
	if (r->command && !r->command[0][0])
		return error_set(err, ERROR_USAGE, "the program's name is empty");
	return true;
}

/* All events; with sets, which are of which. */
static bool add_events(struct profile_request *r, struct session *session, struct error *err)
{
	if (!r->profiling.turn_ns)
		return session_add_profile_events(session, r->events.text, err);
	for (size_t i = 0; i < r->sets.count; i++) {
		size_t before = session->selection.events.count, asked = session->selection.asked.count;
		if (!session_add_profile_events(session, r->sets.items[i], err))
			return false;
		size_t after = session->selection.events.count;
		if (after - before != session->selection.asked.count - asked)
			return error_set(err, ERROR_USAGE,
					 "set %zu, '%s', has an event that is there already: an event is in "
					 "one set",
					 i + 1, r->sets.items[i]);
		if (!vec_push(&r->set_ends, after))
			return error_no_memory(err);
	}
	r->profiling.set_ends = r->set_ends.items;
	r->profiling.n_sets = r->set_ends.count;
	return true;
}

static int show_help(void)
{
	say_begin_output();
	options_help("usage: tare profile [OPTIONS] [--] PROGRAM [ARGS...]\n"
		     "       tare profile [OPTIONS] -p PID | -t TID | -a | -C CPUS | --cgroup GROUP\n"
		     "\n"
		     "Shows in which functions and lines a program's events take place.\n"
		     "The program keeps its input, output and exit status; the report goes to\n"
		     "standard error.\n",
		     profile_option_rows,
		     "\nexit status: the program's own (128+N when signal N ended it); 2 wrong usage;\n"
		     "3 cannot profile, or cannot write the report; 124 --timeout ended the program.\n"
		     "See also tare-profile(1).\n");
	return say_end_output();
}

static struct session_target target_of(const struct profile_request *r)
{
	bool cpus = of_cpus(r);
	const struct number_list *ids = cpus ? &r->cpus : r->pids.numbers.count ? &r->pids : &r->tids;
	return (struct session_target){
		.kind = session_target_kind(cpus, r->pids.numbers.count > 0, r->tids.numbers.count > 0),
		.program = r->command,
		.cgroup = r->cgroup,
		.own_cgroup = r->own_cgroup,
		.ids = ids->numbers.items,
		.n_ids = ids->numbers.count,
		.no_children = r->no_children};
}

/* -g is what the backend can do; a way that it cannot go is an error. */
static bool choose_stacks(struct profile_request *r, const struct session *s, struct error *err)
{
	bool samples = s->operations->sampling != NULL;
	enum profile_stacks *stacks = &r->profiling.stacks;
	if (r->wants_stacks)
		*stacks = samples ? STACKS_FRAME_POINTER : STACKS_EXACT;
	if (samples && *stacks == STACKS_EXACT) {
		error_set(err, ERROR_USAGE, "the backend '%s' samples: it does not follow calls",
			  s->operations->name);
		return error_hint(err, "use --on exact, or --call-graph fp or dwarf");
	}
	if (!samples && *stacks != STACKS_NONE && *stacks != STACKS_EXACT) {
		error_set(err, ERROR_USAGE, "the backend '%s' records no stacks: it follows every call and return",
			  s->operations->name);
		return error_hint(err, "use -g, or --call-graph exact");
	}
	return true;
}

struct runs_progress {
	struct progress_steps steps;
	const char *name;
};

static void show_progress(void *context, size_t done, size_t of)
{
	struct runs_progress *p = context;
	progress_steps_show(&p->steps, "run", done, of, p->name);
}

static bool take_profile(struct profile_request *r, struct session *session, struct profile **profile,
			 struct error *err)
{
	if (!r->replicates.runs)
		return session_profile(session, &r->profiling, profile, err);
	struct runs_progress progress = {progress_steps_begin(), r->command ? r->command[0] : NULL};
	r->replicates.progress = show_progress;
	r->replicates.progress_context = &progress;
	bool done = session_profile_replicates(session, &r->profiling, &r->replicates, profile, err);
	progress_steps_end(&progress.steps);
	return done;
}

/* Returns what to exit with. */
static int run(struct profile_request *r)
{
	struct session session;
	struct session_target target = target_of(r);
	struct profile *profile = NULL;
	struct error err = {0};
	FILE *out = NULL;
	struct profile_keep keep = {.memory = -1};
	int code = TARE_CANNOT_MEASURE;
	bool timed_out = false;
	r->profiling.timed_out = &timed_out;
	r->profiling.interrupt = interrupt_catch();
	if (r->show.by == PROFILE_BY_DATA)
		return profile_data(&(struct profile_data_request){.target = &target,
								   .on = r->on,
								   .events = r->events.text,
								   .profiling = &r->profiling,
								   .show = &r->show,
								   .format = r->export.format,
								   .output = r->output,
								   .keeping = &r->keeping});
	r->profiling.moments = r->export.format && r->export.format->times;
	if (!r->export.format)
		r->profiling.keep = r->output;
	else if (!(out = file_create(r->output, &err)))
		return say_failure(&err);
	profile_keep_begin(&keep, &r->keeping, &r->profiling.keep);
	if (!session_open(&session, &target, r->on, NULL, 0, &err) || !choose_stacks(r, &session, &err) ||
	    !add_events(r, &session, &err)) {
		code = say_failure(&err);
		goto out;
	}
	if (!take_profile(r, &session, &profile, &err)) {
		code = say_failure(&err);
		if (*r->profiling.interrupt)
			code = 128 + abs((int)*r->profiling.interrupt);
		goto out;
	}
	session_trust_profile(profile, &r->keeping);
	code = out ? export_profile(profile, &r->export, r->show.confidence, out, r->output)
		   : show_profile(profile, &r->show, stderr, "standard error");
	out = NULL;
	if (r->profiling.experiment)
		fprintf(stderr, "\nkept in %s\n",
			experiment_file(&r->experiment, r->command[0], profile->pid, &profile->arena));
	if (code == TARE_DONE && timed_out)
		code = TARE_TIMED_OUT;
	else if (code == TARE_DONE && r->command)
		code = wait_status_shell(profile->wait_status);
	profile_keep_end(&keep, &r->keeping, r->profiling.keep, profile, &r->show);
	profile_free(profile);
	free(profile);
out:
	profile_keep_end(&keep, &r->keeping, NULL, NULL, &r->show);
	if (out)
		file_abandon(out, r->output);
	session_close(&session);
	return code;
}

int command_profile(int argc, char **argv)
{
	struct profile_request r = {.on = "perf",
				    .control = {.orders = -1, .answers = -1},
				    .profiling = {.gaps = GAPS_EXPONENTIAL, .seed = 1},
				    .show = {.confidence = 0.95}};
	struct error err = {0};
	int rest, code = TARE_USAGE;
	if (!options_parse(profile_option_rows, argc, argv, apply, &r, &rest, &err)) {
		code = say_failed(&err, TARE_USAGE);
	} else {
		r.command = rest < argc ? argv + rest : NULL;
		code = r.help ? show_help() : check(&r, &err) ? run(&r) : say_failed(&err, TARE_USAGE);
	}
	str_free(&r.events);
	vec_free(&r.sets);
	vec_free(&r.set_ends);
	arena_free(&r.arena);
	profile_control_close(&r.control);
	vec_free(&r.inside);
	vec_free(&r.begin);
	vec_free(&r.end);
	vec_free(&r.pids.numbers);
	vec_free(&r.tids.numbers);
	vec_free(&r.cpus.numbers);
	return code;
}
