#include "measure/intervals.h"

#include <stdlib.h>
#include <string.h>

bool intervals_begin(struct intervals *iv, const struct event *const *events, size_t n, uint64_t now_ns)
{
	iv->events = events;
	iv->n = n;
	iv->began_ns = iv->ended_ns = now_ns;
	iv->next_ns = iv->every_ns ? now_ns + iv->every_ns : UINT64_MAX;
	iv->on = iv->was_on = !iv->begins_off;
	iv->before = calloc(n + 1, sizeof *iv->before);
	iv->counts = calloc(n + 1, sizeof *iv->counts);
	for (size_t i = 0; iv->before && i < n; i++)
		iv->before[i].state = READING_NEVER_RAN;
	return iv->before && iv->counts;
}

void intervals_turned(struct intervals *iv, bool on)
{
	iv->on = on;
	iv->was_on |= on;
}

void intervals_free(struct intervals *iv)
{
	free(iv->before);
	free(iv->counts);
	iv->before = NULL;
	iv->counts = NULL;
}

static uint64_t difference(uint64_t now, uint64_t before) { return now > before ? now - before : 0; }

static struct time_count count_between(const struct reading *before, const struct reading *now)
{
	if (now->state != READING_COUNTED && now->state != READING_NEVER_RAN)
		return (struct time_count){.why = now->why ? now->why : "it was not counted"};
	if (before->state == READING_FAILED)
		return (struct time_count){.why = "what it was before this interval is not known"};
	if (now->state == READING_COUNTED && now->unproven && now->count_raw == 0)
		return (struct time_count){
			.why = "not known to count: it counted 0 so far, and in all of tare's trials"};
	bool counted = now->state == READING_COUNTED;
	uint64_t enabled = difference(now->enabled_ns, before->enabled_ns);
	uint64_t running = counted ? difference(now->running_ns, before->running_ns) : 0;
	double count = counted ? (double)difference(now->count_raw, before->count_raw) : 0;
	bool shared = counted && now->running_ns < now->enabled_ns;
	if (!shared && counted)
		return (struct time_count){true, count, now->source, 1, NULL};
	/* nothing of the program ran: there was nothing to count */
	if (enabled == 0 && counted)
		return (struct time_count){true, 0, now->source, 1, NULL};
	if (running == 0)
		return (struct time_count){.why = "it was on no counter in this interval"};
	double share = running < enabled ? (double)running / (double)enabled : 1;
	return (struct time_count){true, count / share, share < 1 ? SOURCE_SCALED : now->source, share, NULL};
}

void intervals_read(struct intervals *iv, const struct reading *now, uint64_t now_ns, bool last)
{
	while (iv->next_ns <= now_ns)
		iv->next_ns += iv->every_ns;
	if (!iv->tell)
		return;
	if (!now) {
		iv->missed++;
		return;
	}
	for (size_t i = 0; i < iv->n; i++) {
		bool known = now[i].state == READING_COUNTED || now[i].state == READING_NEVER_RAN;
		iv->counts[i] = iv->was_on ? count_between(&iv->before[i], &now[i])
					   : (struct time_count){.why = "counting was off"};
		iv->before[i] = known ? now[i] : (struct reading){.state = READING_FAILED};
	}
	const struct time_interval interval = {.begin_seconds = (double)(iv->ended_ns - iv->began_ns) / 1e9,
					       .end_seconds = (double)(now_ns - iv->began_ns) / 1e9,
					       .events = iv->events,
					       .n = iv->n,
					       .counts = iv->counts,
					       .totals = now,
					       .last = last};
	iv->ended_ns = now_ns;
	iv->was_on = iv->on;
	iv->tell(iv->context, &interval);
}
