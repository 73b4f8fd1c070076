#include "session/explain.h"

#include <math.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>

#include "explain/by_place.h"
#include "session/explain_inside.h"

static void tell(const struct explaining *x, const char *what)
{
	if (x->asked->progress)
		x->asked->progress(x->asked->progress_context, what);
}

bool explaining_note(struct explanation *e, enum note_rank rank, const char *text, struct error *err)
{
	return (text && vec_push(&e->notes, ((struct result_note){text, rank}))) || error_no_memory(err);
}

/* ---- running ---- */

void explain_input_close(struct explain_input *input)
{
	if (input->opened)
		streams_close(&input->streams);
	*input = (struct explain_input){0};
}

/* Does the program run more often than once, here or in another explanation? */
static bool runs_again(const struct explain_asked *asked)
{
	return asked->here || asked->by || asked->wants_advice || asked->wants_waits || asked->wants_calls ||
	       asked->input;
}

/* two executions, if the program's input can be given again; how many there will be, counting by place shows */
static bool open_input(struct explaining *x, struct error *err)
{
	if (!x->input->opened)
		x->input->opened = streams_open(&x->input->streams, &x->session.command, x->asked->program_output,
						runs_again(x->asked) ? 2 : 1, x->asked->interrupt, err);
	return x->input->opened;
}

bool explaining_next(struct explaining *x, struct command *command, bool *silent, struct error *err)
{
	return streams_next(&x->input->streams, x->input->executions++, command, silent, err);
}

static bool run_native(struct explaining *x, struct error *err)
{
	bool silent;
	struct command command = x->session.command;
	command.reproducible = false;
	tell(x, "running the program");
	return explaining_next(x, &command, &silent, err) &&
	       native_run(&command, x->asked->interrupt, &x->native, &x->e->wait_status, err);
}

static bool count(struct explaining *x, struct error *err)
{
	const struct explain_asked *asked = x->asked;
	struct measure_options options = {
		.size = sizeof options,
		.repetitions = 1,
		.confidence = asked->confidence,
		.program_output = asked->here ? OUTPUT_NONE : asked->program_output,
		.interrupt = asked->interrupt,
	};
	if (runs_again(asked)) {
		bool silent;
		struct command command = x->session.command;
		if (!explaining_next(x, &command, &silent, err))
			return false;
		x->session.command.stdin_fd = command.stdin_fd;
		if (silent)
			options.program_output = OUTPUT_NONE;
	}
	tell(x, "counting");
	if (!session_measure(&x->session, &options, err))
		return false;
	if (!asked->here)
		x->e->wait_status = x->session.result->wait_status;
	x->e->result = x->session.result;
	x->session.result = NULL;
	if (x->e->result->interrupted)
		return error_set(err, ERROR_SYSTEM, "interrupted");
	return true;
}

/* What threads take from each other is in the counts of misses only if they take turns, as they do when that is
 * asked for: else one may have ended before the next begins. */
static bool keep_in_step(struct explaining *x, struct error *err)
{
	return (x->asked->here && x->native.threads_most <= 1) ||
	       session_add_events(&x->session, "false-sharing-misses:u", err);
}

static bool run(struct explaining *x, struct error *err)
{
	const struct explain_asked *asked = x->asked;
	struct session_target target = {
		.kind = TARGET_COMMAND, .program = asked->program, .reproducible = asked->by != BREAKDOWN_NONE};
	struct str events = {0};
	causes_events(asked->levels, asked->costs, &events);
	bool done = (!events.failed || error_no_memory(err)) &&
		    session_open(&x->session, &target, asked->on, NULL, 0, err) &&
		    session_add_events(&x->session, events.text, err);
	str_free(&events);
	x->session.command.environment = asked->environment;
	return done && open_input(x, err) && (!asked->here || run_native(x, err)) && keep_in_step(x, err) &&
	       count(x, err);
}

/* ---- by place ---- */

bool explaining_pass(struct explaining *x, const struct explaining_pass *pass, struct error *err)
{
	const struct explain_asked *asked = x->asked;
	struct session_target target = {.kind = TARGET_COMMAND, .program = asked->program, .reproducible = true};
	struct session s;
	bool silent;
	struct command command = {.argv = asked->program, .stdin_fd = -1, .stdout_fd = -1, .stderr_fd = -1};
	struct measure_options options = {
		.size = sizeof options,
		.repetitions = 1,
		.confidence = asked->confidence,
		.program_output = OUTPUT_NONE,
		.interrupt = asked->interrupt,
		.locations = pass->by == BREAKDOWN_BY_OBJECT ? LOCATIONS_OF_DATA : LOCATIONS_OF_CODE,
	};
	tell(x, "counting by place");
	bool done = session_open(&s, &target, pass->on, NULL, 0, err) &&
		    session_add_events(&s, pass->events, err) && explaining_next(x, &command, &silent, err);
	if (done) {
		s.command.environment = asked->environment;
		s.command.stdin_fd = command.stdin_fd;
		const struct breakdown none = {.by = pass->by};
		done = pass->inclusive ? session_measure_calls(&s, &options, err)
				       : session_measure(&s, &options, err);
		bool any = done && (s.result->locations || s.result->locations_why || !pass->if_any);
		done = done && (!any || session_break_down(&s, pass->by, pass->inclusive, err)) &&
		       (pass->take(pass->context, any ? s.result->breakdown : &none) || error_no_memory(err));
		if (done && s.result->interrupted)
			done = error_set(err, ERROR_SYSTEM, "interrupted");
	}
	session_close(&s);
	return done;
}

struct taking_places {
	struct by_place places;
	bool more;
};

static bool take_places(void *context, const struct breakdown *breakdown)
{
	struct taking_places *t = context;
	return by_place_add(&t->places, breakdown, &t->more);
}

static bool by_place(struct explaining *x, struct error *err)
{
	struct taking_places t = {.more = true};
	bool done = true;
	if (x->asked->by == BREAKDOWN_NONE || !x->asked->costs)
		return true;
	by_place_begin(&t.places, x->e, x->asked->levels, x->asked->costs);
	for (unsigned i = 0; done && t.more && i < PASSES_MOST; i++) {
		struct str events = {0};
		by_place_events(&t.places, &events);
		t.more = events.length > 0;
		done = !events.failed || error_no_memory(err);
		if (done && t.more)
			done = explaining_pass(x,
					       &(struct explaining_pass){.on = x->asked->on,
									 .events = events.text,
									 .by = x->asked->by,
									 .take = take_places,
									 .context = &t},
					       err);
		str_free(&events);
	}
	if (done)
		return by_place_end(&t.places, err);
	by_place_free(&t.places);
	return false;
}

/* ---- what a reader has to know ---- */

static bool status_differs(int a, int b)
{
	return WIFEXITED(a) != WIFEXITED(b) || (WIFEXITED(a) && WEXITSTATUS(a) != WEXITSTATUS(b)) ||
	       (WIFSIGNALED(a) && WIFSIGNALED(b) && WTERMSIG(a) != WTERMSIG(b));
}

/* A signal that comes from outside of the program's own instructions ended it: how far it had come then is another
 * thing in each execution, and under the engine it had done less. */
static bool ended_in_time(int status)
{
	static const int own[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP, SIGABRT, SIGSYS, SIGPIPE};
	for (size_t i = 0; i < sizeof own / sizeof *own; i++)
		if (WIFSIGNALED(status) && WTERMSIG(status) == own[i])
			return false;
	return WIFSIGNALED(status);
}

static bool add_notes(struct explaining *x, struct error *err)
{
	struct explanation *e = x->e;
	bool done = true;
	if (e->why_no_costs)
		done = explaining_note(e, NOTE_ACT, arena_printf(&e->arena, "no costs: %s", e->why_no_costs), err);
	if (x->asked->costs_note)
		done = explaining_note(e, NOTE_READ, arena_strdup(&e->arena, x->asked->costs_note), err);
	if (done && x->asked->here && status_differs(e->wait_status, e->result->wait_status))
		done = explaining_note(
			e, NOTE_ACT,
			"the execution that was counted ended in another way than the one that was timed: counts "
			"and time are of different work",
			err);
	else if (done && x->asked->here && ended_in_time(e->wait_status))
		done = explaining_note(
			e, NOTE_ACT,
			arena_printf(&e->arena,
				     "A signal ended the program (%s): how far it had come differs "
				     "between the execution that was timed and the slower one that was "
				     "counted, so counts and time are of different work.",
				     strsignal(WTERMSIG(e->wait_status))),
			err);
	if (done && e->modelled)
		done = explaining_note(
			e, NOTE_READ,
			"Cache, TLB and branch counts are those of a model of the program's own accesses. It has "
			"no "
			"prefetcher; lines in order have the cost of lines read in order, where one is known.",
			err);
	if (done && x->asked->here && x->native.major_faults > 0)
		done = explaining_note(
			e, NOTE_READ,
			arena_printf(&e->arena,
				     "Page faults that read from a disk: %.0f. Their time is input/output.",
				     x->native.major_faults),
			err);
	if (done && x->asked->here && x->native.no_calls)
		done = explaining_note(e, NOTE_READ,
				       "What some threads waited for may not be read here (/proc/PID/syscall).",
				       err);
	return done;
}

bool explain_run(const struct explain_asked *asked, struct explanation *out, struct error *err)
{
	struct explaining x = {.asked = asked, .e = out};
	x.input = asked->input ? asked->input : &x.own;
	*out = (struct explanation){.confidence = asked->confidence,
				    .command = (const char *const *)asked->program,
				    .on = asked->on,
				    .why_no_costs = asked->why_no_costs};
	if (asked->costs) {
		out->machine = asked->costs->title;
		out->costs_source = asked->costs->measured ? "measured on this machine" : "a table";
	}
	bool done = run(&x, err) &&
		    causes_explain(out, asked->levels, asked->costs, asked->here ? &x.native : NULL, err) &&
		    (!asked->wants_waits || explaining_waits(&x, err));
	/* where waits may not be sampled, calls still tell what they are in */
	if (done && (asked->wants_calls || out->why_no_waits))
		done = explaining_calls(&x, err);
	done = done && explaining_advise(&x, err) && by_place(&x, err);
	done = done && add_notes(&x, err);
	explain_input_close(&x.own);
	session_close(&x.session);
	if (!done)
		explanation_free(out);
	return done;
}
