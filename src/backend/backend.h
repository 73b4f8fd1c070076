/* The one contract between counting and measuring.
 *
 * A backend counts events of a target from its start to its end:
 *
 *     prepare ──► go ──► (read_running)* ──► stop ──► close
 *
 * 1. prepare() holds a command's process before its first instruction, or leaves its start to go(); nothing of it
 *    is counted before go(). A program that cannot be executed is reported by prepare() or go() and counts
 *    nothing.
 * 2. The caller waits for the process (waitpid) and owns signals; the backend never waits for it.
 * 3. Whether an event works is decided by counting something known (available()), never by errno alone.
 * 4. Every event asked for has a reading at the end; a counter that failed says why. */
#ifndef TARE_BACKEND_BACKEND_H
#define TARE_BACKEND_BACKEND_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "backend/sampling.h"
#include "base/error.h"
#include "base/str.h"
#include "event/event.h"
#include "result/locations.h"
#include "result/region.h"
#include "result/result.h"

/* A program to execute. All borrowed. */
struct command {
	char *const *argv;                  /* NULL-terminated; argv[0] is searched in PATH */
	char *const *environment;           /* NULL: tare's own */
	int stdin_fd, stdout_fd, stderr_fd; /* -1: tare's own */
	/* Each execution alike: no address-space randomisation, an environment padded to a fixed size (so that the
	 * stack begins at the same address), one CPU. */
	bool reproducible;
	/* Under the engine also: what the program sees of the machine, which is then a processor of this level
	 * ("x86-64-v3") or "host", and a clock, random numbers and the like of the engine's choice. NULL: the
	 * machine as it is. */
	const char *cpu;
	pid_t group; /* the process group to be in, for which tare leaves its session; 0: tare's */
};

enum target_kind { TARGET_COMMAND, TARGET_PROCESSES, TARGET_THREADS, TARGET_CPUS };

/* Where functions begin and end in a program's files: asked to follow calls, in a process of its own. */
struct function_range { /* offsets in the file: [low, high) is code of the function that begins at `begins` */
	uint64_t begins, low, high;
};
struct function_finder {
	void *context;
	/* In ascending order, none overlapping; *out is freed with free(). False: they are not known. */
	bool (*find)(void *context, const char *path, struct function_range **out, size_t *n);
};

/* Where the caller of a place in code goes on (call frame information): asked likewise. */
enum caller_kind { CALLER_UNKNOWN, CALLER_OUTERMOST, CALLER_FOUND, CALLER_SIGNAL };
enum caller_frame { CALLER_FRAME_KEPT, CALLER_FRAME_SAVED, CALLER_FRAME_LOST };
struct caller_rule {                           /* offsets are from the CFA, which becomes the stack pointer */
	uint8_t kind, by_frame, frame, unused; /* by_frame: the CFA is the frame pointer + cfa, not the stack's */
	int32_t cfa, returns, saved;           /* saved: where the frame pointer is, if that is SAVED */
};
struct caller_finder {
	void *context;
	/* offset: in the file. False: it is not known */
	bool (*find)(void *context, const char *path, uint64_t offset, struct caller_rule *out);
};

struct target {
	enum target_kind kind;
	const struct command *command; /* COMMAND; with CPUS: the program whose end ends the counting, or NULL */
	const pid_t *pids;             /* PROCESSES (all their threads), THREADS */
	size_t n_pids;
	const int *cpus; /* CPUS; n_cpus = 0 means all online ones */
	size_t n_cpus;
	/* CPUS: of what runs there, the tasks of this control group (cgroups(7)) and those below it; NULL: all */
	const char *cgroup;
	/* CPUS, with a command: that alone and what it starts, in a control group of its own; sampling only */
	bool own_cgroup;
	bool turned;          /* turn() will be called */
	bool begins_off;      /* not counted before that */
	unsigned sampled;     /* of modelled caches, one in so many groups of sets (model/core/sample.h); 0: all */
	uint64_t sample_seed; /* … which ones */
	bool keep;            /* translations of the engine's, for the next run, and those of the last */
	bool no_sharing;      /* each process translates for itself, instead of taking what others have */
	bool follow_children; /* count what the target forks and clones */
	bool per_thread;      /* a row of readings per thread (PROCESSES, THREADS); threads that start
	                                  later are in the row of the one that started them … */
	bool per_cpu;         /* … or per CPU (CPUS) */
	bool per_process;     /* … or per process (COMMAND), where the backend can tell them apart */
	enum locations_of locations; /* COMMAND: locations() will be asked for, where the backend knows them */
	bool locations_inside;       /* … of what was executed in the regions below alone; OF_CODE */
	/* … of each overflow_period-th event alone, found overflow_skid instructions later: samples of one event
	 * (locations->period); 0: each event */
	uint64_t overflow_period;
	uint32_t overflow_skid;
	bool times_calls; /* COMMAND: system_calls() has times, where the backend can take them … */
	const struct caller_finder *callers; /* … and where the calls were made; borrowed. NULL: it has not */
	/* … with the call graph (locations->arcs); functions: borrowed, NULL: not known */
	bool call_graph;
	const struct function_finder *functions;
	/* COMMAND: count these apart as well (run->regions); borrowed. A backend that cannot says so at prepare()
	 * (operations->regions) */
	const struct region_asked *regions;
	size_t n_regions;
	/* … and of each, as another that follows them all, what took place outside of those entered in it */
	bool exclusive;
};

struct availability {
	/* READING_COUNTED: it works, by trial; READING_UNPROVEN: it can be counted, but see there */
	enum reading_state state;
	enum source source;
	char why[256];    /* of all but COUNTED */
	char remedy[256]; /* the one step that would allow it; "" when there is none */
	/* this backend counts it, but for what `why` says of this machine, this user or its limits */
	bool prevented;
	/* of UNSUPPORTED: its counter opens and runs, and stayed at 0 for work that must move it (`why` has it) */
	bool silent;
};

/* What `tare doctor` prints, a line each. */
enum finding_state { FINDING_WORKS, FINDING_PARTLY, FINDING_NO };
struct finding {
	enum finding_state state;
	char what[64];    /* "hardware counters" */
	char detail[256]; /* "none: the hypervisor exposes no PMU" */
	char step[256];   /* the one step that would allow more; "" */
};

enum blocks_by { BLOCKS_OF_ALL, BLOCKS_OF_PROCESSES, BLOCKS_OF_THREADS };

/* Why a count of an execution under the engine is not the program's. */
#define UNDER_ENGINE                                                                                              \
	"not reported: it would include the engine's own work; --several-runs, or -r 2, counts it in a separate " \
	"run"

struct backend;  /* an open backend */
struct counting; /* one counting in progress; has a target's process id */

struct backend_operations {
	const char *name;      /* "perf" */
	const char *summary;   /* one line for --help and `tare list` */
	bool starts_only;      /* counts programs that it starts; no running process, no CPU */
	bool regions;          /* counts target->regions apart */
	bool exclusive;        /* … and target->exclusive */
	const char *by_itself; /* the argument to open it with where nobody gave one (auto, doctor); NULL: none */

	/* argument: what follows "name:" in --on (a recording's path for replay), NULL when nothing. */
	bool (*open)(const char *argument, struct backend **out, struct error *err);
	void (*close)(struct backend *backend);

	/* The machines that it models, in the order of asking; an event may be asked of one of them
	 * (event.machine). NULL: this backend models none. */
	const char *const *(*machines)(struct backend *backend, size_t *n);
	/* Whose counters that machine has: "r12000", "intel"; NULL: nobody's. NULL where `machines` is. */
	const char *(*family)(struct backend *backend, size_t machine);

	/* Would a machine model count it, for want of anything better? Answered without trying the model, which
	 * takes a run. NULL: never. */
	bool (*only_modelled)(struct backend *backend, const struct event *event);

	/* By trial; the answer may be kept. Always fills *out. */
	void (*available)(struct backend *backend, const struct event *event, struct availability *out);

	/* Can these n available events count at the same time, each all the time? By trial. */
	bool (*fits)(struct backend *backend, const struct event *const *events, size_t n);

	/* Does an execution that counts these leave the program's times, faults and memory its own? An engine's
	 * does not, and says so in run->under_engine; of n = 0 it must (it then runs the program natively). NULL:
	 * always. */
	bool (*native)(struct backend *backend, const struct event *const *events, size_t n);

	/* readings will be in the order of events; n may be 0 (the operating system's account of the program is
	 * all that is wanted). On failure *out is NULL and no process is left behind. */
	bool (*prepare)(struct backend *backend, const struct target *target, const struct event *const *events,
			size_t n, struct counting **out, struct error *err);
	/* The process to wait for, after go(); 0 for targets that run none. */
	pid_t (*process)(const struct counting *counting);
	bool (*go)(struct counting *counting, struct error *err);

	/* After go(): counts from now on, or not until the next time. NULL: this backend counts from begin to end,
	 * and refuses a target that is `turned`. */
	bool (*turn)(struct counting *counting, bool on, struct error *err);

	/* Readings so far without stopping: readings[n], all rows summed. */
	bool (*read_running)(struct counting *counting, struct reading *readings, struct error *err);

	/* Ends the counting and fills run->readings, n_events and n_rows (in run->arena). The process may
	 * live on (interrupt, attach). What the process used before its exec is tare's doing, and is taken out
	 * of the run's account (times, faults, switches), which the caller has filled in before. */
	bool (*stop)(struct counting *counting, struct run *run, struct error *err);
	/* Between stop() and end(): appends where the program was, basic block by basic block, as tab-separated
	 * lines below a line of column names (the module, its offset, bytes, instructions, how often). NULL: this
	 * backend does not know. False with the reason when the counts are not exact. */
	bool (*blocks)(struct counting *counting, enum blocks_by by, struct str *out, struct error *err);
	/* Likewise the system calls made, by name; with target->times_calls also the time that they took; and with
	 * target->callers, below an empty line, where those that were timed were made: a line for each call and
	 * stack, and below it a line for each frame, the innermost first: TAB, hexadecimal offset, TAB, file. */
	bool (*system_calls)(struct counting *counting, struct str *out, struct error *err);
	/* Likewise what the program was given that may differ from run to run (command->cpu is not NULL): lines
	 * "what<TAB>times<TAB>sum", in which equal sums are equal values. NULL: this backend does not know. */
	bool (*inputs)(struct counting *counting, struct str *out, struct error *err);
	/* Likewise where the events took place, of all processes together; target->locations said so before. *out
	 * is the caller's (locations_free()); of each event only `event` and `why` are filled in. NULL: this
	 * backend does not know. */
	bool (*locations)(struct counting *counting, struct locations *out, struct error *err);
	/* Releases everything; a command's process that was never let go is ended and reaped. */
	void (*end)(struct counting *counting);

	/* NULL: this backend does not sample. */
	const struct sampling_operations *sampling;

	/* Appends to findings[*count] up to most. */
	void (*diagnose)(struct backend *backend, struct finding *findings, size_t most, size_t *count);
};

/* ---- registry.c: the one file that names every backend ---- */
size_t backend_kinds(void);
const struct backend_operations *backend_kind(size_t index);
/* "perf", "replay:recording.json"; unknown: an error that lists them. */
const struct backend_operations *backend_by_name(const char *on, const char **argument, struct error *err);

#endif
