/* tare count, after the measurement: net counts in the order of asking, and what they are judged by. */
#include "cli/count.h"
#include "cli/say.h"
#include "cli/store_options.h"
#include "session/trusting.h"

static void tell_missing(void *context, const struct error *missing)
{
	(void)context;
	say_error(missing);
}

/* The program's own error comes first, then what cannot be told, then what holds. */
static int judge_conditions(const struct count_command *count, int code)
{
	const struct count_request *r = &count->request;
	bool holds = false, unknown = false;
	struct arena arena = {0};
	for (size_t i = 0; i < r->conditions.count; i++) {
		const char *reason = NULL;
		struct error err = {0};
		enum gate_outcome outcome = gate_condition(&r->conditions.items[i], count->session.result, &arena,
							   &reason);
		if (outcome == GATE_PASSED)
			continue;
		holds |= outcome == GATE_FAILED;
		unknown |= outcome == GATE_UNDECIDED;
		error_set(&err, ERROR_UNSUPPORTED,
			  outcome == GATE_FAILED ? "--fail-if '%s' holds: %s"
						 : "--fail-if '%s' cannot be told: %s",
			  r->conditions.items[i].text, reason ? reason : "out of memory");
		say_error(&err);
	}
	arena_free(&arena);
	return code != TARE_DONE ? code : unknown ? TARE_CANNOT_MEASURE : holds ? TARE_FOUND_WRONG : code;
}

int count_finish(struct count_command *count, int code)
{
	const struct count_request *r = &count->request;
	struct error err = {0};
	/* the papers' tools leave the tare to their readers */
	if (!session_take_off(&count->session, r->compat != COMPAT_NONE))
		say_warning(r->compat == COMPAT_NONE
				    ? "out of memory: the overhead is not subtracted from the counts"
				    : "out of memory: the overhead of the probes is not subtracted from the "
				      "regions' counts");
	if (!session_cut_short(&count->session, r->timeout_ns)) {
		error_no_memory(&err);
		return say_failure(&err);
	}
	if (!session_trust(&count->session, &r->keeping))
		say_warning("out of memory: not all that is verified is marked");
	size_t missing = session_missing(&count->session, r->strict, tell_missing, NULL);
	if (missing && code == TARE_DONE)
		code = TARE_CANNOT_MEASURE;
	if (!session_order_rows(&count->session, r->format == FORMAT_TEXT && r->compat == COMPAT_NONE))
		say_warning("out of memory: rows are shown in the order of measuring");
	code = judge_conditions(count, code);
	if (r->by && !session_break_down(&count->session, r->by, r->inclusive, &err))
		code = say_failed(&err, TARE_CANNOT_MEASURE);
	return code;
}

void count_keep(const struct count_command *count)
{
	const struct count_request *r = &count->request;
	struct kept_run run = {.kind = KEPT_COUNT,
			       .shown = (r->verbose ? SHOWN_VERBOSE : 0) | (r->quiet ? SHOWN_QUIET : 0) |
					(r->all_repetitions ? SHOWN_ALL_REPETITIONS : 0) |
					(r->gross ? SHOWN_GROSS : 0) | (r->statistics ? SHOWN_STATISTICS : 0) |
					(count->session.selection.defaults ? SHOWN_STANDARD_SET : 0),
			       .result = count->session.result};
	store_keep(&r->keeping, &run, r->verbose > 0);
}
