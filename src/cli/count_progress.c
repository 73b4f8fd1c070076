#include "cli/count_progress.h"

#include <stdio.h>

#include "base/str.h"

/* Shorter work is over before a line could be read. */
static const double QUIET_SECONDS = 1;

static void tell(const struct progress *p, const struct measure_progress *now)
{
	if (now->warm_up)
		fprintf(stderr, "tare: warm-up (execution %zu of %zu)", now->execution, now->executions);
	else if (p->verbose == 1)
		fprintf(stderr, "tare: repetition %zu of %zu", now->repetition + 1, p->repetitions);
	else
		fprintf(stderr, "tare: execution %zu of %zu (repetition %zu, group %zu of %zu)", now->execution,
			now->executions, now->repetition + 1, now->pass + 1, now->passes);
	if (p->verbose > 1) {
		fputs(": ", stderr);
		for (size_t i = 0; i < now->n_events; i++) {
			char label[256];
			str_escape_to(label, sizeof label, now->events[i]->label);
			fprintf(stderr, "%s%s", i ? ", " : "", label);
		}
		if (now->n_events == 0)
			fputs("no counters", stderr);
	}
	fputc('\n', stderr);
}

void progress_show(void *context, const struct measure_progress *now)
{
	struct progress *p = context;
	if (p->verbose > 1 || (p->verbose == 1 && (now->warm_up || now->pass == 0))) {
		tell(p, now);
		return;
	}
	if (p->verbose || !p->line || now->executions < 2)
		return;
	if (now->elapsed_seconds + (now->left_seconds > 0 ? now->left_seconds : 0) < QUIET_SECONDS)
		return;
	/* the first one may be writing to the terminal */
	if (now->execution == 1)
		return;
	progress_line_show(&p->on_terminal, "execution", now->execution, now->executions, now->left_seconds,
			   p->name);
}

void progress_end(struct progress *p) { progress_line_end(&p->on_terminal); }
