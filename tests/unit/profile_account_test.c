/* What a profile says of an event that had a counter for a part of the time only. */
#include "session/profile_account.h"

#include <stdlib.h>

#include "tap.h"

static struct sampling_account account(enum source source, uint64_t enabled_ns, uint64_t running_ns)
{
	return (struct sampling_account){.state = READING_COUNTED,
					 .source = source,
					 .has_count = true,
					 .count = 1000,
					 .samples = 10,
					 .enabled_ns = enabled_ns,
					 .running_ns = running_ns};
}

static void part_is(enum source source, uint64_t enabled_ns, uint64_t running_ns, double expected,
		    const char *fact)
{
	struct sampling_account a = account(source, enabled_ns, running_ns);
	double part = profile_account_part(&a);
	if (!ok(part > expected - 1e-9 && part < expected + 1e-9, "%s", fact))
		printf("# is %g\n", part);
}

static struct profile *noted(const struct sampling_account *accounts, size_t n)
{
	static const char *const labels[] = {"cycles", "instructions", "cpu-clock"};
	struct collect_options options = {.n_events = n};
	struct collector *c;
	struct error err = {0};
	struct profile *out = NULL;
	if (!collector_new(&options, &c, &err))
		return NULL;
	struct profile *p = collector_profile(c);
	p->events = arena_alloc(&p->arena, n * sizeof *p->events);
	p->n_events = n;
	for (size_t i = 0; i < n; i++)
		p->events[i] = (struct profile_event){
			.label = labels[i], .unit = "", .gaps = GAPS_FIXED, .gap = 100};
	if (!profile_account_take(p, accounts, &err) || !profile_account_note(c, accounts, &err) ||
	    !collector_finish(c, &out, &err))
		printf("Bail out! %s\n", err.text);
	return out;
}

int main(void)
{
	part_is(SOURCE_HW, 1000, 1000, 1, "a counter all the time");
	part_is(SOURCE_HW, 1000, 250, 0.25, "a counter for a quarter of the time");
	part_is(SOURCE_HW, 1000, 1001, 1, "never more than all");
	part_is(SOURCE_HW, 0, 0, 1, "nothing ran");
	part_is(SOURCE_OS, 1000, 250, 1, "the kernel's events need no counter");

	struct sampling_account accounts[] = {account(SOURCE_HW, 1000000, 430000),
					      account(SOURCE_HW, 1000000, 995000),
					      account(SOURCE_OS, 1000000, 500000)};
	struct profile *p = noted(accounts, 3);
	if (!p)
		return 1;
	ok(p->n_notes == 1, "one note: of the event that took turns, not of those that had a counter (%zu)",
	   p->n_notes);
	ok(p->n_notes && strstr(p->notes[0], "cycles: it had a counter for 43.0 % of the time") &&
		   strstr(p->notes[0], "Sample fewer events at once"),
	   "it says which event, for how long, and what to do");
	ok(p->events[0].samples == 10 && p->events[0].has_total && p->events[0].total == 1000 && !p->events[0].why,
	   "its samples and its count are of that part, and are not scaled");
	profile_free(p);
	free(p);

	struct sampling_account alone[] = {account(SOURCE_HW, 100000000, 43000000),
					   account(SOURCE_OS, 1000000, 1)};
	p = noted(alone, 2);
	if (!p)
		return 1;
	ok(!p->events[0].has_total && p->events[0].samples == 10 && !p->events[0].why && p->events[1].has_total,
	   "a hardware counter that takes turns with none of these events was taken away: there is no total");
	ok(p->n_notes == 1 && strstr(p->notes[0], "cycles: its counter was taken away for 57.0 % of the time"),
	   "and a note says for how long");
	profile_free(p);
	free(p);

	alone[0] = account(SOURCE_HW, 1000000, 980000);
	p = noted(alone, 1);
	if (!p)
		return 1;
	ok(p->events[0].has_total, "of a short program the moments of its beginning and end are no loss");
	profile_free(p);
	free(p);

	alone[0] = account(SOURCE_HW, 1000000, 0);
	alone[0].count = alone[0].samples = 0;
	p = noted(alone, 1);
	if (!p)
		return 1;
	ok(!p->events[0].has_total && p->events[0].why && strstr(p->events[0].why, "never"),
	   "one that never ran is not counted, and its 0 is no total");
	profile_free(p);
	free(p);

	accounts[0] = account(SOURCE_HW, 1000000, 0);
	accounts[0].state = READING_FAILED;
	snprintf(accounts[0].why, sizeof accounts[0].why, "it is gone");
	p = noted(accounts, 1);
	if (!p)
		return 1;
	ok(p->n_notes == 0 && p->events[0].why && strcmp(p->events[0].why, "it is gone") == 0 &&
		   !p->events[0].has_total,
	   "an event that failed has its reason instead");
	profile_free(p);
	free(p);
	return done();
}
