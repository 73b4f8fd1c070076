/* System calls by the time that they took: one execution under the engine, which reads the time stamp counter
 * around each call. It needs no privilege, and no event of the kernel's. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "session/explain_inside.h"
#include "symbol/symbol.h"
#include "symbol/unwind.h"

/* "call TAB count TAB seconds"; seconds may be empty. Returns what follows the line. */
static const char *read_call(struct arena *arena, const char *line, struct explained_call *out)
{
	size_t name = strcspn(line, "\t");
	char *end;
	*out = (struct explained_call){.seconds = NAN, .name = arena_printf(arena, "%.*s", (int)name, line)};
	out->count = strtoull(line + name + 1, &end, 10);
	if (end[0] == '\t' && end[1] != '\n')
		out->seconds = strtod(end + 1, &end);
	return end + strcspn(end, "\n") + 1;
}

static bool add_function(struct explaining *x, struct explained_call *call, const char *name)
{
	if (call->n_functions == EXPLAINING_FUNCTIONS)
		return true;
	return (call->functions[call->n_functions++] = arena_strdup(&x->e->arena, name)) != NULL;
}

static bool add_line(struct explaining *x, struct explained_call *call, const char *file, unsigned line)
{
	if (call->file || !file || !line)
		return true;
	call->line = line;
	return (call->file = arena_strdup(&x->e->arena, file)) != NULL;
}

/* One place of the stack, with what is inlined there. */
static bool add_frame(struct explaining *x, struct symbols *symbols, struct explained_call *call,
		      const char *module, uint64_t offset)
{
	struct symbol_frame frames[EXPLAINING_FUNCTIONS];
	bool own = !explaining_is_c_library(module), done = true;
	size_t n = symbols_inlined(symbols, module, offset, frames, EXPLAINING_FUNCTIONS);
	for (size_t i = 0; done && i < n && i < EXPLAINING_FUNCTIONS; i++)
		done = add_function(x, call, frames[i].function) &&
		       (!own || add_line(x, call, frames[i].file, frames[i].line));
	if (n)
		return done;
	const struct symbol_code *code = symbols_code(symbols, module, offset, NULL);
	return code && add_function(x, call, code->function) &&
	       (!own || add_line(x, call, code->file, code->line));
}

static bool same_place(const struct explained_call *a, const struct explained_call *b)
{
	if (strcmp(a->name, b->name) != 0 || a->n_functions != b->n_functions || a->line != b->line ||
	    !a->file != !b->file || (a->file && strcmp(a->file, b->file) != 0))
		return false;
	for (size_t i = 0; i < a->n_functions; i++)
		if (strcmp(a->functions[i], b->functions[i]) != 0)
			return false;
	return true;
}

/* Calls of one line are one row, from whichever of its instructions they are made. */
static bool add_place(struct explanation *e, const struct explained_call *call)
{
	for (size_t i = 0; i < e->call_places.count; i++)
		if (same_place(&e->call_places.items[i], call)) {
			e->call_places.items[i].count += call->count;
			e->call_places.items[i].seconds += call->seconds;
			return true;
		}
	return vec_push(&e->call_places, *call);
}

static int longer(const void *a, const void *b)
{
	const struct explained_call *x = a, *y = b;
	return x->seconds < y->seconds ? 1 : x->seconds > y->seconds ? -1 : 0;
}

/* Stacks, as system_calls() of backend/backend.h has them. */
static bool take_places(struct explaining *x, struct symbols *symbols, const char *text)
{
	struct explanation *e = x->e;
	bool done = true;
	while (done && *text) {
		struct explained_call call;
		text = read_call(&e->arena, text, &call);
		call.functions = arena_alloc(&e->arena, EXPLAINING_FUNCTIONS * sizeof *call.functions);
		done = call.name && call.functions;
		while (done && *text == '\t') {
			char *end;
			uint64_t offset = strtoull(text + 1, &end, 16);
			size_t length = strcspn(end + 1, "\n");
			const char *module = arena_printf(&e->arena, "%.*s", (int)length, end + 1);
			done = module && add_frame(x, symbols, &call, module, offset);
			text = end + 1 + length + 1;
		}
		done = done && add_place(e, &call);
	}
	if (e->call_places.count)
		qsort(e->call_places.items, e->call_places.count, sizeof *e->call_places.items, longer);
	return done;
}

/* Below a line of column names (backend/backend.h). */
static bool take_calls(struct explaining *x, struct symbols *symbols, const char *text)
{
	struct explanation *e = x->e;
	bool done = true;
	for (text += strcspn(text, "\n") + 1; done && *text && *text != '\n';) {
		struct explained_call call;
		text = read_call(&e->arena, text, &call);
		e->calls_s += isnan(call.seconds) ? 0 : call.seconds;
		done = call.name && vec_push(&e->calls, call);
	}
	return done && (*text != '\n' || take_places(x, symbols, text + 1));
}

struct calls_unwinder { /* NULL: not needed yet */
	struct symbols *symbols;
	struct unwinder *unwinder;
};

/* In a process of the backend's own, which ends with the program. */
static bool find_caller(void *context, const char *path, uint64_t offset, struct caller_rule *out)
{
	struct calls_unwinder *own = context;
	if ((!own->symbols && !symbols_new(NULL, &own->symbols, NULL)) ||
	    (!own->unwinder && !unwinder_new(own->symbols, &own->unwinder, NULL)))
		return false;
	const struct unwind_plain_rule rule = unwind_plain_rule(own->unwinder, path, offset);
	static const uint8_t kinds[] = {[PLAIN_UNKNOWN] = CALLER_UNKNOWN,
					[PLAIN_OUTERMOST] = CALLER_OUTERMOST,
					[PLAIN_CALLER] = CALLER_FOUND,
					[PLAIN_SIGNAL] = CALLER_SIGNAL};
	*out = (struct caller_rule){.kind = kinds[rule.kind],
				    .by_frame = rule.by_frame,
				    .frame = rule.frame_saved  ? CALLER_FRAME_SAVED
					     : rule.frame_lost ? CALLER_FRAME_LOST
							       : CALLER_FRAME_KEPT,
				    .cfa = rule.cfa,
				    .returns = rule.returns,
				    .saved = rule.saved};
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
	struct calls_unwinder unwinder = {NULL, NULL};
	const struct caller_finder callers = {.context = &unwinder, .find = find_caller};
	struct symbols *symbols = NULL;
	struct error own = {0};
	struct session s;
	bool silent, opened = session_open(&s, &target, "exact", NULL, 0, &own) &&
			      session_add_events(&s, "system-calls:u", &own);
	bool done = opened && explaining_next(x, &command, &silent, err);
	if (done) {
		s.command.environment = asked->environment;
		s.command.stdin_fd = command.stdin_fd;
		s.target.callers = &callers;
		done = session_measure(&s, &options, err);
	}
	if (done && s.result->interrupted)
		done = error_set(err, ERROR_SYSTEM, "interrupted");
	if (done && s.result->system_calls) {
		x->e->has_calls = true;
		done = symbols_new(NULL, &symbols, err) &&
		       (take_calls(x, symbols, s.result->system_calls) || error_no_memory(err));
		done = done && take_notes(x, s.result, err);
	} else if (done || !opened) { /* it cannot be counted here, which is told */
		const char *why = !opened ? own.text : s.result->blocks_why;
		x->e->why_no_calls = arena_strdup(&x->e->arena, why ? why : "the engine counted nothing");
		done = x->e->why_no_calls || error_no_memory(err);
	}
	symbols_free(symbols);
	session_close(&s);
	return done;
}
