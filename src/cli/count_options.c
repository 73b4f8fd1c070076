#include "cli/count_options.h"

#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "cli/command.h"
#include "cli/count_openmetrics.h"
#include "cli/shown_cpu.h"
#include "cli/store_options.h"

enum {
	HELP,
	EVENT,
	METRIC,
	EVENTS_FILE,
	REPETITIONS,
	WARM_UP,
	SEVERAL_RUNS,
	CONFIDENCE,
	ALL_REPETITIONS,
	GROSS,
	STATISTICS,
	ON,
	OUTPUT,
	PROGRAM_OUTPUT,
	JSON,
	CSV,
	HTML,
	VERBOSE,
	QUIET,
	PID,
	TID,
	ALL_CPUS,
	CPUS,
	CGROUP,
	PER_THREAD,
	PER_CPU,
	PER_PROCESS,
	NO_CHILDREN,
	REPRODUCIBLE,
	BLOCKS,
	SYSTEM_CALLS,
	OPENMETRICS,
	FOR,
	TIMEOUT,
	INTERVAL,
	DELAY,
	CONTROL,
	BEGIN_OFF,
	PARAMETERS,
	OVERRIDE,
	COMPAT,
	BY,
	INCLUSIVE,
	EXCLUSIVE,
	BY_FILE,
	COSTS,
	REGION,
	REQUIRE,
	STRICT,
	FAIL_IF,
	RANKS,
	RANKS_FOLDER,
	RANKS_TIMEOUT,
	PER_RANK,
	KEEP_TRANSLATIONS,
	NO_SHARE,
	SAMPLED,
	SEED,
};

enum { RANKS_TIMEOUT_S = 30 };

const struct option_row count_option_rows[] = {
	{.help = "Events"},
	{'e', "event", "EVENT,...",
	 "events; may be repeated. EVENT is NAME[:u|:k|:uk], see 'tare list events'. Default: "
	 "what this machine can count of a standard set",
	 EVENT},
	{'m', "metric", "METRIC,...",
	 "derived metrics, see 'tare list metrics'; tare also counts their events. METRIC:u uses the events at "
	 "user level",
	 METRIC},
	{0, "events-file", "FILE", "more events, in the format of tare's own tables", EVENTS_FILE},
	{0, "on", "BACKEND",
	 "the backend, see 'tare list backends': auto (default: for each event the best that counts it here), "
	 "perf, exact, model:MACHINE,... (misses of declared machines, see 'tare list "
	 "machines'), "
	 "replay:FILE",
	 ON},
	{0, "require", "EVENT,...", "events, as with -e; exit with 3 if one of them is not counted", REQUIRE},
	{0, "fail-if", "EVENT>N",
	 "exit with 1 if this holds of the count (<, <=, > or >=), with 3 if that cannot be told; the program's "
	 "own "
	 "error comes first; may be repeated",
	 FAIL_IF},
	{0, "strict", NULL, "exit with 3 if any requested event is not counted", STRICT},
	{.help = "Targets (instead of a program; -a and -C also with one)"},
	{'p', "pid", "PID,...", "running processes, with all their threads", PID},
	{'t', "tid", "TID,...", "running threads", TID},
	{'a', "all-cpus", NULL, "everything on all CPUs (until the program ends, if there is one)", ALL_CPUS},
	{'C', "cpu", "CPU,...|LEVEL",
	 "everything on these CPUs: 0,2-3. With --reproducible: the CPU that the program sees: x86-64-v2, "
	 "x86-64-v3 (default), x86-64-v4 or host",
	 CPUS},
	{0, "cgroup", "GROUP",
	 "the processes of this control group and of those below it, on all CPUs or those of -C: a path below the "
	 "hierarchy's mount (system.slice/ssh.service), or a whole one",
	 CGROUP},
	{0, "for", "SECONDS",
	 "with -p, -t, -a, -C, --cgroup and no program: stop after this time (default: until "
	 "they end, or Ctrl-C)",
	 FOR},
	{0, "timeout", "SECONDS",
	 "end the program after this time (SIGTERM, 2 s later SIGKILL), report lower bounds, and exit with 124",
	 TIMEOUT},
	{'I', "interval", "MS",
	 "also show the counts of each so many milliseconds, while the program runs (at least 10)", INTERVAL},
	{0, "interval-print", "MS", "", INTERVAL}, /* perf stat */
	{0, "delay", "SECONDS", "begin to count this long after the program", DELAY},
	{0, "control", "FIFO[,FIFO]",
	 "take commands from this FIFO: enable, disable, read, ping; answer each with ack in the second one",
	 CONTROL},
	{0, "begin-off", NULL, "with --control: do not count before the first enable", BEGIN_OFF},
	{0, "per-thread", NULL, "also a row for each thread: with -p, -t, and for what the engine counts",
	 PER_THREAD},
	{0, "per-process", NULL, "also a row for each process of the program, for what the engine counts",
	 PER_PROCESS},
	{0, "per-cpu", NULL, "with -a, -C, --cgroup: also a row for each CPU", PER_CPU},
	{0, "no-children", NULL, "do not count child processes", NO_CHILDREN},
	{0, "region", "[NAME=]PLACE",
	 "also count a part of the program separately; may be repeated. PLACE is FUNCTION or a pattern "
	 "('parse_*': each function that fits), FILE:FIRST-LAST (lines) or 0xLOW-0xHIGH (addresses), in a library "
	 "LIBRARY!PLACE; see tare-count(1)",
	 REGION},
	{0, "exclusive", NULL,
	 "of each region also what took place outside of the regions entered in it (the engine and models)",
	 EXCLUSIVE},
	{.help = "Repetitions"},
	{'r', "repetitions", "N",
	 "run the program N times, and show means with intervals (default 1). Events that do not fit the counters "
	 "at once get separate runs",
	 REPETITIONS},
	{0, "several-runs", NULL, "use separate runs also without -r, instead of multiplexing", SEVERAL_RUNS},
	{0, "warm-up", "N",
	 "runs before those, not counted (default: 1 if the program runs more than once, else 0)", WARM_UP},
	{0, "confidence", "95|99", "confidence level of the intervals, in percent (default 95)", CONFIDENCE},
	{0, "reproducible", NULL,
	 "make all runs alike: no address-space randomisation, an environment of fixed size, one CPU. Under the "
	 "engine the program also sees the same CPU, time and random numbers on every machine; see tare-count(1)",
	 REPRODUCIBLE},
	{0, "repeat", "N", "", REPETITIONS}, /* perf stat */
	{0, "runs", "N", "", REPETITIONS},   /* hyperfine */
	{0, "warmup", "N", "", WARM_UP},
	{.help = "Ranks (of mpirun, srun and the like): one report of all"},
	{0, "per-rank", NULL, "also a row for each rank", PER_RANK},
	{0, "ranks", "auto|off", "off: each rank has a report of its own", RANKS},
	{0, "ranks-dir", "DIR",
	 "where ranks leave their counts for each other; ranks on several hosts need a folder that all of them "
	 "see",
	 RANKS_FOLDER},
	{0, "ranks-timeout", "SECONDS", "how long a rank that has finished waits for the others (default 30)",
	 RANKS_TIMEOUT},
	{.help = "Report"},
	{'o', "output", "FILE",
	 "write the report to this file (default: standard error; - is standard output). %r, %h and %p in its "
	 "name are "
	 "the rank, the host and tare's process",
	 OUTPUT},
	{0, "json", NULL, "as JSON", JSON},
	{0, "csv", NULL, "as CSV", CSV},
	{0, "html", NULL, "as a page for a browser, in one file", HTML},
	{0, "by", "function|line|object|library",
	 "also show where the events took place: by function, source line, variable and allocation, or by the "
	 "program "
	 "and its libraries (needs the engine, or a model)",
	 BY},
	{0, "inclusive", NULL,
	 "with --by function or line: also what took place in all that was called from there (the engine follows "
	 "calls and returns; without -e: of instructions)",
	 INCLUSIVE},
	{0, "by-file", "FILE", "write all places to this file, as tab-separated lines", BY_FILE},
	{0, "blocks", "FILE",
	 "write each executed basic block and its count, as tab-separated lines; with --per-process, --per-thread "
	 "for each one (needs the engine)",
	 BLOCKS},
	{0, "system-calls", "FILE", "write the program's system calls by name, in the same way (needs the engine)",
	 SYSTEM_CALLS},
	{0, "openmetrics", "FILE|[HOST]:PORT",
	 "also write the counts to this file as OpenMetrics text (with -I anew at each interval), or serve the "
	 "counts "
	 "so far to Prometheus at http://HOST:PORT/metrics while counting (default host: 127.0.0.1)",
	 OPENMETRICS},
	{0, "all-repetitions", NULL, "show the value of each repetition", ALL_REPETITIONS},
	{0, "statistics", NULL, "show min, median, max and standard deviation (σ) of the repetitions", STATISTICS},
	{0, "stats", NULL, "", STATISTICS},
	{0, "gross", NULL, "show gross, tare (what the measuring counts) and net of each event", GROSS},
	{0, "program-output", "first|all|none", "which runs' output is shown (default first)", PROGRAM_OUTPUT},
	{'v', "verbose", NULL,
	 "show all notes, the machine, and when each repetition begins; -vv: also each execution, with its events",
	 VERBOSE},
	{'q', "quiet", NULL, "show the numbers alone, and warnings", QUIET},
	STORE_OPTION_ROWS,
	{.help = "Formats of older tools"},
	{'P', "parameters", "FILE", "read run_p5mon's parameters from a file, see tare-parameters(5)", PARAMETERS},
	{'F', "parameter", "KEY=VALUE", "set one parameter, whatever the file says", OVERRIDE},
	{0, "costs", "auto|FILE|MACHINE",
	 "with --compat perfex: also the time of each count, by what events cost on the machine that was counted "
	 "(auto), on "
	 "another one, or by a file (perfex -y)",
	 COSTS},
	{0, "compat", "p5mon|perfex",
	 "report in that tool's format. With perfex, -a means all its events, and -e also takes "
	 "its numbers 0 to 31",
	 COMPAT},
	{.help = "Other"},
	{0, "keep", NULL,
	 "of what the engine counts: keep its translations of the program for later runs, and use those of "
	 "earlier "
	 "ones; see tare-cache(1)",
	 KEEP_TRANSLATIONS},
	{0, "no-share", NULL,
	 "of what the engine counts: every process translates its program itself, also where others of the run "
	 "have "
	 "done so before",
	 NO_SHARE},
	{0, "sampled", "[=1/N]",
	 "of modelled caches: model one in N groups of sets (default 1/8), and estimate the counts, each with a "
	 "95 % interval",
	 SAMPLED},
	{0, "seed", "N", "with --sampled: seed of the groups that are chosen (default 1)", SEED},
	{'h', "help", NULL, "show this help", HELP},
	{0},
};

static bool parse_word(const char *value, const char *const *words, const char *expected, int *out,
		       struct error *err)
{
	for (int i = 0; words[i]; i++) {
		if (strcmp(words[i], value) == 0) {
			*out = i;
			return true;
		}
	}
	return error_set(err, ERROR_USAGE, "'%s' is not %s", value, expected);
}

static bool add_condition(struct count_request *r, const char *value, struct error *err)
{
	struct gate gate;
	if (!gate_parse(value, &gate, err))
		return false;
	if (gate.bound != GATE_VALUE) {
		error_set(err, ERROR_USAGE, "'%s' is a difference, and there is nothing to compare with", value);
		return error_hint(err,
				  "give the count itself: 'instructions>1e9'; 'tare compare --gate' compares");
	}
	return vec_push(&r->conditions, gate) || error_no_memory(err);
}

static bool set_format(struct count_request *r, enum format format, struct error *err)
{
	if (r->format != FORMAT_TEXT && r->format != format)
		return error_set(err, ERROR_USAGE, "a report has one format: --json, --csv or --html");
	r->format = format;
	return true;
}

static bool apply(void *context, int id, const char *value, struct error *err)
{
	static const char *const outputs[] = {"first", "all", "none", NULL};
	static const char *const tools[] = {"p5mon", "perfex", NULL};
	static const char *const levels[] = {"95", "99", NULL};
	static const char *const ranks[] = {"auto", "off", NULL};
	static const char *const places[] = {"function", "line", "object", "library", NULL};
	struct count_request *r = context;
	unsigned long long number;
	int word = 0;
	switch (id) {
	case HELP: r->help = true; return true;
	case EVENT: return vec_push(&r->event_lists, value) || error_no_memory(err);
	case REQUIRE: return vec_push(&r->required, value) || error_no_memory(err);
	case STRICT: r->strict = true; return true;
	case FAIL_IF: return add_condition(r, value, err);
	case METRIC: return vec_push(&r->metric_lists, value) || error_no_memory(err);
	case EVENTS_FILE: return vec_push(&r->event_files, value) || error_no_memory(err);
	case REGION: return vec_push(&r->regions, value) || error_no_memory(err);
	case OVERRIDE: return vec_push(&r->overrides, value) || error_no_memory(err);
	case PARAMETERS: r->parameter_file = value; return true;
	case ON: r->on = value; return true;
	case OUTPUT: r->output = value; return true;
	case SEVERAL_RUNS: r->several_runs = true; return true;
	case ALL_REPETITIONS: r->all_repetitions = true; return true;
	case GROSS: r->gross = true; return true;
	case STATISTICS: r->statistics = true; return true;
	case VERBOSE: r->verbose++; return true;
	case QUIET: r->quiet = true; return true;
	case ALL_CPUS: r->all_cpus = true; return true;
	case PER_THREAD: r->per_thread = true; return true;
	case PER_CPU: r->per_cpu = true; return true;
	case KEEP_TRANSLATIONS: r->keep = true; return true;
	case NO_SHARE: r->no_sharing = true; return true;
	case SAMPLED:
		if (value && (strncmp(value, "1/", 2) != 0 || !options_number(value + 2, 1, 64, &number, NULL) ||
			      number & (number - 1)))
			return error_set(err, ERROR_USAGE,
					 "'%s' is not a share: 1/N with N from 1 to 64, a power of two", value);
		r->sampled = value ? (unsigned)number : 8;
		return true;
	case SEED:
		if (!options_number(value, 1, UINT64_MAX, &number, err))
			return false;
		r->seed = number;
		return true;
	case PER_PROCESS: r->per_process = true; return true;
	case REPRODUCIBLE: r->reproducible = true; return true;
	case BLOCKS: r->blocks = value; return true;
	case SYSTEM_CALLS: r->system_calls = value; return true;
	case CGROUP: r->cgroup = value; return true;
	case OPENMETRICS: r->openmetrics = value; return true;
	case NO_CHILDREN: r->no_children = true; return true;
	case PER_RANK: r->per_rank = true; return true;
	case RANKS:
		if (!parse_word(value, ranks, "auto or off", &word, err))
			return false;
		r->ranks_off = word == 1;
		return true;
	case RANKS_FOLDER: r->ranks_folder = value; return true;
	case RANKS_TIMEOUT: return options_seconds(value, &r->ranks_timeout_ns, err);
	case INTERVAL:
		if (!options_number(value, 10, 86400000, &number, err))
			return false;
		r->interval_ns = number * 1000000;
		return true;
	case DELAY: return options_seconds(value, &r->delay_ns, err);
	case CONTROL: r->control = value; return true;
	case BEGIN_OFF: r->begin_off = true; return true;
	case FOR: return options_seconds(value, &r->for_ns, err);
	case TIMEOUT: return options_seconds(value, &r->timeout_ns, err);
	case PID: return options_number_list(value, "a process id", false, 1, &r->pids, err);
	case TID: return options_number_list(value, "a thread id", false, 1, &r->tids, err);
	case CPUS:
		if (*value == 'x' || *value == 'h')
			return shown_cpu_parse(value, &r->shown_cpu, err);
		return options_number_list(value, "a CPU or a range of CPUs", true, 0, &r->cpus, err);
	case REPETITIONS:
		if (!options_number(value, 1, 1000000, &number, err))
			return false;
		r->repetitions = number;
		return r->has_repetitions = true;
	case WARM_UP:
		if (!options_number(value, 0, 1000000, &number, err))
			return false;
		r->warm_ups = number;
		return r->has_warm_ups = true;
	case CONFIDENCE:
		if (!parse_word(value, levels, "95 or 99", &word, err))
			return false;
		r->confidence = word ? 0.99 : 0.95;
		return r->has_confidence = true;
	case PROGRAM_OUTPUT:
		if (!parse_word(value, outputs, "first, all or none", &word, err))
			return false;
		r->program_output = (enum program_output)word;
		return true;
	case BY:
		if (!parse_word(value, places, "function, line, object or library", &word, err))
			return false;
		r->by = (enum breakdown_by)(BREAKDOWN_BY_FUNCTION + word);
		return true;
	case INCLUSIVE: return r->inclusive = true;
	case EXCLUSIVE: return r->exclusive = true;
	case BY_FILE: r->by_file = value; return true;
	case COSTS: r->costs = value; return true;
	case COMPAT:
		if (!parse_word(value, tools, "p5mon or perfex", &word, err))
			return false;
		r->compat = word ? COMPAT_PERFEX : COMPAT_P5MON;
		return true;
	case JSON:
	case CSV:
	case HTML: return set_format(r, id == JSON ? FORMAT_JSON : id == CSV ? FORMAT_CSV : FORMAT_HTML, err);
	default: return store_apply(&r->keeping, id, value);
	}
}

/* Calls are followed for few events: the default ones are more. */
static bool choose_followed(struct count_request *r, struct error *err)
{
	if (!r->inclusive || r->event_lists.count || r->metric_lists.count || r->required.count ||
	    r->parameter_file)
		return true;
	return vec_push(&r->event_lists, "instructions") || error_no_memory(err);
}

/* What contradicts itself. */
static bool check(const struct count_request *r, struct error *err)
{
	bool cpus = r->all_cpus || r->cpus.numbers.count || r->cgroup;
	int targets = cpus + (r->pids.numbers.count > 0) + (r->tids.numbers.count > 0);
	if (targets > 1)
		return error_set(err, ERROR_USAGE, "choose one of -p, -t, and -a, -C or --cgroup");
	if (r->cgroup && !*r->cgroup)
		return error_set(err, ERROR_USAGE, "--cgroup: the control group's name is empty");
	if (r->all_cpus && r->cpus.numbers.count)
		return error_set(err, ERROR_USAGE, "choose -a (all CPUs) or -C (some CPUs), not both");
	if (r->compat != COMPAT_NONE && r->format != FORMAT_TEXT)
		return error_set(err, ERROR_USAGE,
				 "choose --compat, --json, --csv or --html: a report has one format");
	const char *lost = !r->compat                                         ? NULL
			   : r->gross                                         ? "--gross"
			   : r->statistics                                    ? "--statistics"
			   : r->per_thread && r->compat == COMPAT_P5MON       ? "--per-thread"
			   : r->per_process                                   ? "--per-process"
			   : r->per_cpu                                       ? "--per-cpu"
			   : r->all_repetitions && r->compat == COMPAT_PERFEX ? "--all-repetitions"
									      : NULL;
	if (lost) {
		error_set(err, ERROR_USAGE, "--compat %s has no %s",
			  r->compat == COMPAT_P5MON ? "p5mon" : "perfex", lost);
		return error_hint(err, "leave out one of them: tare's own report, --json and --csv have it");
	}
	if (r->verbose && r->quiet)
		return error_set(err, ERROR_USAGE, "choose -v (more) or -q (less), not both");
	if (r->per_thread && cpus)
		return error_set(err, ERROR_USAGE,
				 "--per-thread does not go with -a, -C or --cgroup: use --per-cpu");
	if (targets && (r->per_process || r->blocks || r->system_calls || r->by || r->reproducible || r->keep))
		return error_set(err, ERROR_USAGE, "%s is for programs that tare starts",
				 r->blocks         ? "--blocks"
				 : r->system_calls ? "--system-calls"
				 : r->by           ? "--by"
				 : r->per_process  ? "--per-process"
				 : r->keep         ? "--keep"
						   : "--reproducible");
	if (r->seed && !r->sampled) {
		error_set(err, ERROR_USAGE, "--seed needs --sampled");
		return error_hint(err, "it chooses the sets that are modelled");
	}
	if (r->sampled && strncmp(r->on, "model", 5) != 0) {
		error_set(err, ERROR_USAGE, "--sampled needs --on model:MACHINE");
		return error_hint(err, "it is for modelled caches: --on model:host models this machine's");
	}
	const char *whole = !r->sampled             ? NULL
			    : targets               ? "-p, -t, -a, -C and --cgroup"
			    : r->by                 ? "--by"
			    : r->per_process        ? "--per-process"
			    : r->per_thread         ? "--per-thread"
			    : r->regions.count      ? "--region"
			    : r->confidence == 0.99 ? "--confidence 99"
			    : r->compat             ? "--compat"
						    : NULL;
	if (whole) {
		error_set(err, ERROR_USAGE, "--sampled does not go with %s", whole);
		return error_hint(err, "without --sampled all sets are modelled");
	}
	if (r->keep && r->blocks) {
		error_set(err, ERROR_USAGE, "--keep does not go with --blocks");
		return error_hint(err, "run the program once with each");
	}
	if (r->shown_cpu && !r->reproducible) {
		error_set(err, ERROR_USAGE, "--cpu %s needs --reproducible", r->shown_cpu);
		return error_hint(err, "--cpu 0,2-3 counts everything on these CPUs");
	}
	if (r->by_file && !r->by) {
		error_set(err, ERROR_USAGE, "--by-file needs --by");
		return error_hint(err, "--by function, --by line, --by object or --by library");
	}
	if (r->inclusive && r->by != BREAKDOWN_BY_FUNCTION && r->by != BREAKDOWN_BY_LINE) {
		error_set(err, ERROR_USAGE,
			  r->by == BREAKDOWN_BY_OBJECT ? "--inclusive follows calls: an object makes none"
			  : r->by                      ? "--inclusive goes with functions and lines"
						       : "--inclusive needs --by");
		return error_hint(err, "--by function, or --by line");
	}
	if (r->inclusive && r->regions.count) {
		error_set(err, ERROR_USAGE, "--inclusive does not go with --region");
		return error_hint(err, "run the program once with each");
	}
	if (r->by && !r->by_file && (r->format == FORMAT_CSV || r->compat != COMPAT_NONE)) {
		error_set(err, ERROR_USAGE, "this report's format cannot show --by");
		return error_hint(err, "--by-file FILE writes it to a file of its own");
	}
	if (r->costs && r->compat != COMPAT_PERFEX) {
		error_set(err, ERROR_USAGE, "--costs is for --compat perfex");
		return error_hint(err, "'tare explain' shows a program's time by cause");
	}
	if (r->exclusive && targets)
		return error_set(err, ERROR_USAGE, "--exclusive is for programs that tare starts");
	if (r->regions.count && targets)
		return error_set(err, ERROR_USAGE, "--region is for programs that tare starts");
	if (r->per_cpu && !cpus)
		return error_set(err, ERROR_USAGE, "--per-cpu needs -a, -C or --cgroup");
	if (r->command && targets && !cpus) {
		error_set(err, ERROR_USAGE, "remove '%s': -p and -t count processes that already run",
			  r->command[0]);
		return error_hint(err, "to stop after some time use --for SECONDS");
	}
	if (r->command && r->for_ns) {
		error_set(err, ERROR_USAGE, "--for does not apply to a program that tare starts");
		return error_hint(err, "--timeout SECONDS ends the program");
	}
	if (!r->command && r->timeout_ns) {
		error_set(err, ERROR_USAGE, "--timeout ends a program that tare starts, and none is given");
		return error_hint(err, "--for SECONDS ends the counting of what already runs");
	}
	bool served = openmetrics_is_served(r->openmetrics);
	const char *one_run = r->interval_ns ? "-I"
			      : r->control   ? "--control"
			      : served       ? "--openmetrics at an address"
					     : NULL;
	if (one_run && (r->repetitions > 1 || r->several_runs || r->warm_ups > 0)) {
		error_set(err, ERROR_USAGE, "%s does not go with repetitions and warm-ups", one_run);
		return error_hint(err,
				  "it is for one run as it goes on; leave out -r, --several-runs and --warm-up");
	}
	if (r->begin_off && !r->control) {
		error_set(err, ERROR_USAGE, "--begin-off needs --control: else nothing would be counted");
		return error_hint(err, "to begin after some time use --delay SECONDS");
	}
	if ((r->delay_ns || r->control) && r->regions.count)
		return error_set(err, ERROR_USAGE, "%s does not go with --region",
				 r->delay_ns ? "--delay" : "--control");
	/* perfex -s: from one signal to another, with no row in between */
	bool intervals = r->interval_ns || (r->control && r->compat != COMPAT_PERFEX);
	if (intervals && (r->format == FORMAT_CSV || r->format == FORMAT_HTML || r->compat != COMPAT_NONE)) {
		error_set(err, ERROR_USAGE, "this report's format has no intervals");
		return error_hint(err, "%s goes with text and with --json: a JSON object on each line", one_run);
	}
	if (!r->command && targets && (r->repetitions > 1 || r->several_runs || r->warm_ups > 0))
		return error_set(err, ERROR_USAGE, "repetitions and warm-ups need a program to run");
	return true;
}

bool count_request_parse(struct count_request *request, int argc, char **argv, struct error *err)
{
	int rest;
	*request = (struct count_request){.on = "auto",
					  .repetitions = 1,
					  .confidence = 0.95,
					  .ranks_timeout_ns = RANKS_TIMEOUT_S * UINT64_C(1000000000)};
	if (options_parse(count_option_rows, argc, argv, apply, request, &rest, err)) {
		request->command = rest < argc ? argv + rest : NULL;
		/* perfex's -a is its own: all events, of a program */
		if (request->compat == COMPAT_PERFEX && request->all_cpus) {
			request->all_cpus = false;
			request->perfex_all = true;
		}
		if (request->help)
			return true;
		if (request->reproducible && !request->shown_cpu)
			request->shown_cpu = SHOWN_CPU;
		if (request->command && !request->command[0][0])
			error_set(err, ERROR_USAGE, "the program's name is empty");
		else if (check(request, err) && choose_followed(request, err))
			return true;
	}
	count_request_free(request);
	return false;
}

void count_request_free(struct count_request *request)
{
	vec_free(&request->event_lists);
	vec_free(&request->required);
	for (size_t i = 0; i < request->conditions.count; i++)
		gate_free(&request->conditions.items[i]);
	vec_free(&request->conditions);
	vec_free(&request->event_files);
	vec_free(&request->metric_lists);
	vec_free(&request->overrides);
	vec_free(&request->regions);
	vec_free(&request->pids.numbers);
	vec_free(&request->tids.numbers);
	vec_free(&request->cpus.numbers);
}
