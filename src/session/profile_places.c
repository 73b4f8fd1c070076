#include "session/profile_places.h"

#include <stdio.h>
#include <string.h>

#include "base/str.h"

bool profile_places_find(struct session *s, const struct profile_places *asked, struct found_places *out,
			 struct error *err)
{
	const char *texts[PROFILE_PLACES_MOST];
	char executable[64];
	char *words[] = {executable, NULL};
	struct command running = {.argv = words, .stdin_fd = -1, .stdout_fd = -1, .stderr_fd = -1};
	size_t n = 0;
	*out = (struct found_places){0};
	if (profile_places_count(asked) > PROFILE_PLACES_MOST)
		return error_set(err, ERROR_USAGE, "more than %d places are given", PROFILE_PLACES_MOST);
	for (size_t i = 0; i < asked->n_inside; i++)
		texts[n++] = asked->inside[i];
	for (size_t i = 0; i < asked->n_begin; i++)
		texts[n++] = asked->begin[i];
	for (size_t i = 0; i < asked->n_end; i++)
		texts[n++] = asked->end[i];
	if (!s->target.command && !s->target.n_pids) {
		error_set(err, ERROR_USAGE,
			  "--region, --begin and --end are places of a program, and none is given");
		return error_hint(err, "name the program, or -p PID");
	}
	if (!s->target.command)
		snprintf(executable, sizeof executable, "/proc/%d/exe", (int)s->target.pids[0]);
	if (!session_regions_find(&out->regions, texts, n, s->target.command ? s->target.command : &running, err))
		return false;
	if (out->regions.patterns) {
		error_set(err, ERROR_USAGE,
			  "a pattern names several places, and samples are taken in places that are "
			  "named one by one");
		return error_hint(err, "name each function with a --region of its own; --on exact takes patterns");
	}
	out->places = (struct sampling_places){out->regions.asked, asked->n_inside, asked->n_begin, asked->n_end};
	return true;
}

bool profile_places_add(struct session *s, const struct profile_places *asked, bool call_graph, struct error *err)
{
	const char *name = s->operations->name;
	if (asked->n_begin || asked->n_end) {
		error_set(err, ERROR_USAGE, "--begin and --end are for samples, and '%s' counts", name);
		return error_hint(err, "--region PLACE works with --on %s", name);
	}
	if (asked->n_inside && call_graph) {
		error_set(err, ERROR_USAGE,
			  "'%s' follows the calls of the whole program: there is no call graph of a region", name);
		return error_hint(err, "leave out -g, or --region");
	}
	session_regions_free(&s->regions); /* of a run before */
	s->target.locations_inside = asked->n_inside > 0;
	return session_add_regions(s, asked->inside, asked->n_inside, err);
}

static void append_names(struct str *text, const char *const *names, size_t n)
{
	for (size_t i = 0; i < n; i++)
		str_appendf(text, "%s%s", i ? ", " : "", names[i]);
}

static void append_times(struct str *text, uint64_t times)
{
	if (times == 1)
		str_append(text, "once");
	else
		str_appendf(text, "%llu times", (unsigned long long)times);
}

static void append_inside(struct str *text, const struct profile_places *asked,
			  const struct sampling_bounds_account *a)
{
	append_names(text, asked->inside, asked->n_inside);
	if (!a->entries) {
		str_append(text, ": never entered, so that nothing was sampled");
		return;
	}
	str_append(text, ": entered ");
	append_times(text, a->entries);
}

static void append_between(struct str *text, const struct profile_places *asked,
			   const struct sampling_bounds_account *a)
{
	if (asked->n_begin) {
		str_append(text, a->begins ? "sampling began at " : "");
		append_names(text, asked->begin, asked->n_begin);
		if (a->begins)
			str_append(text, " "), append_times(text, a->begins);
		else
			str_append(text, ": never reached, so that nothing was sampled");
	}
	if (asked->n_end && (a->begins || !asked->n_begin)) {
		str_append(text, asked->n_begin ? ", and ended at " : a->ends ? "sampling ended at " : "");
		append_names(text, asked->end, asked->n_end);
		if (a->ends)
			str_append(text, " "), append_times(text, a->ends);
		else
			str_append(text, asked->n_begin ? " never: it went on to the program's end"
							: ": never reached, so that sampling did not end there");
	}
}

bool profile_places_note(struct collector *c, const struct profile_places *asked,
			 const struct sampling_bounds_account *a, uint64_t elapsed_ns, struct error *err)
{
	struct str text = {0};
	if (a->lost_hits || a->without_registers)
		return true; /* each event says it */
	if (asked->n_inside)
		append_inside(&text, asked, a);
	if (asked->n_inside && (asked->n_begin || asked->n_end))
		str_append(&text, "; ");
	append_between(&text, asked, a);
	str_appendf(&text, "; %llu sample%s elsewhere %s left out", (unsigned long long)a->left_out,
		    a->left_out == 1 ? "" : "s", a->left_out == 1 ? "is" : "are");
	if (a->doubtful)
		str_appendf(&text,
			    "; %llu sample%s of passes that did not end by a return (the program ended, or jumped "
			    "out: longjmp, an exception), and may be of code after that",
			    (unsigned long long)a->doubtful, a->doubtful == 1 ? " is" : "s are");
	if (a->above)
		str_appendf(&text,
			    "; %llu of the samples left out followed a jump out of it, or were in a signal "
			    "handler on another stack",
			    (unsigned long long)a->above);
	/* a trap into the kernel takes some microseconds */
	if (elapsed_ns && a->hits > elapsed_ns / 100000)
		str_appendf(
			&text,
			"; the program came to these places %llu times, and each time is a trap into the kernel: "
			"it ran slower, and the kernel's work for it is in the profile (:u leaves it out)",
			(unsigned long long)a->hits);
	bool done = text.failed ? error_no_memory(err) : collector_note(c, text.text, err);
	str_free(&text);
	return done;
}

bool profile_places_counted(const struct session *s, struct profile *p)
{
	const struct result *result = s->result;
	struct str text = {0};
	if (!s->target.locations_inside)
		return true;
	for (size_t i = 0; i < s->target.n_regions && i < result->n_regions; i++) {
		const struct region_row *region = &result->regions[i];
		str_appendf(&text, "%s%s: ", i ? "; " : "", region->name);
		if (region->why)
			str_appendf(&text, "how often it was entered is not known: %s", region->why);
		else if (!region->entries)
			str_append(&text, "never entered");
		else
			str_append(&text, "entered "), append_times(&text, region->entries);
		if (!region->why && region->entries != region->exits)
			str_append(&text, " and left "), append_times(&text, region->exits),
				str_append(&text, " (the program ended in it)");
	}
	str_append(&text, "; what was executed elsewhere is left out");
	for (size_t i = 0; i < result->n_estimates && p->n_events == 1 && !p->events[0].why; i++)
		if (result->estimates[i].known && result->estimates[i].source == p->events[0].source &&
		    result->estimates[i].value > 0 && strcmp(result->estimates[i].event, p->events[0].label) == 0)
			str_appendf(&text, ": this is %.1f %% of the program's %s",
				    100 * (double)p->events[0].total / result->estimates[i].value,
				    p->events[0].label);
	bool done = !text.failed && profile_add_note(p, arena_strdup(&p->arena, text.text));
	str_free(&text);
	return done;
}
