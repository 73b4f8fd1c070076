#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <linux/perf_event.h>

#include "backend/perf/counter.h"
#include "backend/perf/state.h"

/* One encoding; *answer is filled. */
static void try_encoding(struct backend *backend, struct answer *answer)
{
	struct availability *out = &answer->availability;
	struct counter_request request = { .encoding = &answer->encoding, .levels = answer->levels };
	int fd = counter_open(&request, COUNTER_SELF, COUNTER_ANY_CPU);
	if (fd < 0) {
		struct error reason;
		struct attempt attempt = { .event = answer->text, .levels = answer->levels, .cpu = -1,
					   .type = answer->encoding.type, .how = answer->how };
		failure_explain(errno, &attempt, machine_state(backend), &reason);
		out->state = reason.code == ERROR_PERMISSION ? READING_DENIED : READING_UNSUPPORTED;
		snprintf(out->why, sizeof out->why, "%.255s", reason.text);
		snprintf(out->remedy, sizeof out->remedy, "%.255s", reason.hint);
		return;
	}
	close(fd);
	out->state = READING_COUNTED;
	out->source = answer->encoding.type == PERF_TYPE_SOFTWARE ? SOURCE_OS : SOURCE_HW;
}

static void ask(struct backend *backend, const struct event *event, struct answer *answer)
{
	struct availability *out = &answer->availability;
	bool any = false;
	out->state = READING_UNSUPPORTED;
	for (size_t i = 0;; i++) {
		struct error reason;
		struct event_encoding encoding;
		if (!event_encode(event, &backend->machine, i, &encoding, &reason)) {
			if (reason.code == ERROR_UNSUPPORTED && i < 64) {
				if (!any)
					snprintf(out->why, sizeof out->why, "%.255s", reason.text);
				continue;
			}
			if (!any && !out->why[0])
				snprintf(out->why, sizeof out->why, "%.255s", reason.text);
			return;
		}
		any = true;
		answer->encoding = encoding;
		snprintf(answer->how, sizeof answer->how, "%s", encoding.how ? encoding.how : "");
		answer->encoding.how = answer->how;
		try_encoding(backend, answer);
		if (out->state == READING_COUNTED)
			return;
	}
}

const struct answer *answer_find(struct backend *backend, const struct event *event)
{
	for (size_t i = 0; i < backend->answers.count; i++) {
		struct answer *known = backend->answers.items[i];
		if (known->levels == event->levels && strcmp(known->text, event->text) == 0)
			return known;
	}
	struct answer *answer = calloc(1, sizeof *answer);
	if (!answer)
		return NULL;
	answer->levels = event->levels;
	answer->text = strdup(event->text);
	if (!answer->text || !vec_push(&backend->answers, answer)) {
		free(answer->text);
		free(answer);
		return NULL;
	}
	ask(backend, event, answer);
	return answer;
}

void answers_free(struct backend *backend)
{
	for (size_t i = 0; i < backend->answers.count; i++) {
		free(backend->answers.items[i]->text);
		free(backend->answers.items[i]);
	}
	vec_free(&backend->answers);
}

void perf_available(struct backend *backend, const struct event *event, struct availability *out)
{
	const struct answer *answer = answer_find(backend, event);
	if (answer)
		*out = answer->availability;
	else
		*out = (struct availability){ .state = READING_FAILED, .why = "out of memory" };
}

bool perf_fits(struct backend *backend, const struct event *const *events, size_t n)
{
	(void)backend;
	(void)events;
	(void)n;
	return true;
}
