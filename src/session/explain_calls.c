/* System calls by the time that they took: one execution under the engine, which reads the time stamp counter
 * around each call. It needs no privilege, and no event of the kernel's. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "session/explain_inside.h"

/* Lines "call TAB count TAB seconds" below a line of column names (backend/backend.h); seconds may be empty. */
static bool take_calls(struct explanation *e, const char *text)
{
	for (const char *line = strchr(text, '\n'); line && line[1]; line = strchr(line + 1, '\n')) {
		size_t name = strcspn(line + 1, "\t");
		char *end;
		struct explained_call call = {.seconds = NAN};
		call.name = arena_printf(&e->arena, "%.*s", (int)name, line + 1);
		call.count = strtoull(line + 1 + name + 1, &end, 10);
		if (end[0] == '\t' && end[1] != '\n')
			e->calls_s += call.seconds = strtod(end + 1, NULL);
		if (!call.name || !vec_push(&e->calls, call))
			return false;
	}
	return true;
}

/* What is said of their times. */
static bool take_notes(struct explaining *x, const struct result *result, struct error *err)
{
	bool done = true;
	for (size_t i = 0; done && i < result->n_notes; i++)
		if (strstr(result->notes[i].text, "system calls"))
			done = explaining_note(x->e, result->notes[i].rank,
					       arena_strdup(&x->e->arena, result->notes[i].text), err);
	return done;
}

bool explaining_calls(struct explaining *x, struct error *err)
{
	const struct explain_asked *asked = x->asked;
	struct session_target target = {.kind = TARGET_COMMAND, .program = asked->program, .times_calls = true};
	struct measure_options options = {
		.size = sizeof options,
		.repetitions = 1,
		.confidence = asked->confidence,
		.program_output = OUTPUT_NONE,
		.interrupt = asked->interrupt,
		.want_system_calls = true,
	};
	struct command command = {.argv = asked->program, .stdin_fd = -1, .stdout_fd = -1, .stderr_fd = -1};
	struct error own = {0};
	struct session s;
	bool silent, opened = session_open(&s, &target, "exact", NULL, 0, &own) &&
			      session_add_events(&s, "system-calls:u", &own);
	bool done = opened && explaining_next(x, &command, &silent, err);
	if (done) {
		s.command.environment = asked->environment;
		s.command.stdin_fd = command.stdin_fd;
		done = session_measure(&s, &options, err);
	}
	if (done && s.result->interrupted)
		done = error_set(err, ERROR_SYSTEM, "interrupted");
	if (done && s.result->system_calls) {
		x->e->has_calls = true;
		done = take_calls(x->e, s.result->system_calls) || error_no_memory(err);
		done = done && take_notes(x, s.result, err);
	} else if (done || !opened) { /* it cannot be counted here, which is told */
		const char *why = !opened ? own.text : s.result->blocks_why;
		x->e->why_no_calls = arena_strdup(&x->e->arena, why ? why : "the engine counted nothing");
		done = x->e->why_no_calls || error_no_memory(err);
	}
	session_close(&s);
	return done;
}
