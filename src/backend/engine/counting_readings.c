/* The record of an execution as readings: of the whole program, its processes and its threads. */
#include <stdio.h>
#include <string.h>

#include "backend/engine/counting_internal.h"
#include "backend/engine/inputs.h"

bool counting_look(const struct counting *c, bool still_running, struct view **view, struct tally **tally,
		   struct execution_regions **regions, struct error *err)
{
	struct tally_options options = {.children = c->children,
					.still_running = still_running,
					.machines = c->machines,
					.sampled = c->models.sampled};
	*tally = NULL;
	for (size_t i = 0; i < c->n; i++) {
		const struct exact_event *exact = c->events[i].exact;
		options.blocks |= exact && exact_event_uses(exact, COUNT_BASIC_BLOCKS);
		options.code_lines |= exact && (exact_event_uses(exact, COUNT_CODE_LINES) ||
						exact_event_uses(exact, COUNT_CODE_PAGES));
	}
	if (!view_new(c->injection, view, err) ||
	    (regions && !regions_new(*view, c->n_asked, c->children, c->machines, regions, err)))
		return false;
	options.regions = regions ? *regions : NULL;
	return tally_new(*view, &options, tally, err);
}

/* row: NULL for all of them. why: what is wrong with the event's counts, lives as long as the reading has to; or
 * NULL. */
static struct reading reading_of(const struct counting *c, const struct execution_event *event,
				 const struct tally *tally, const struct tally_row *row, const char *why,
				 uint64_t ns, struct arena *arena)
{
	struct reading r = {
		.state = READING_COUNTED, .source = SOURCE_EXACT, .enabled_ns = ns, .running_ns = ns, .cpu = -1};
	if (!event->exact && !event->modelled)
		return counting_failed("the engine does not count it");
	if (why)
		return counting_failed(why);
	if (counting_is_left_out(c, event))
		return counting_failed(
			"sets of caches are sampled, and it needs every access; count it without --sampled");
	if (event->exact)
		return exact_event_value(event->exact, row ? row->count : tally->total, &r.count_raw)
			       ? r
			       : counting_failed("the count does not fit in 64 bits");
	const struct model_counts *counts = row ? row->models : tally->models;
	r.source = SOURCE_MODEL;
	r.machine = c->models.name(c->models.context, event->machine);
	if (c->models.estimate)
		return c->models.estimate(c->models.context, event->modelled, event->machine, counts, arena, &r,
					  &why)
			       ? r
			       : counting_failed(why);
	return c->models.value(c->models.context, event->modelled, &counts[event->machine], &r.count_raw, &why)
		       ? r
		       : counting_failed(why);
}

/* Of a program that has not ended, or not between two instructions: what it has done at least. *r: the reading,
 * which is not known; counts: of all of it, or of a row. */
static void add_least(const struct execution_event *event, const struct tally *tally, const uint64_t *counts,
		      struct reading *r)
{
	uint64_t value, uncertain, sum = 0;
	if (!event->exact || event->exact->why_not || exact_event_unknown(event->exact, tally) ||
	    !exact_event_value(event->exact, counts, &value))
		return;
	for (unsigned i = 0; i < COUNTS; i++) {
		if (!exact_event_uses(event->exact, (enum exact_count)i))
			continue;
		if (!tally_uncertain(tally, (enum exact_count)i, &uncertain) ||
		    __builtin_add_overflow(sum, uncertain, &sum))
			return;
	}
	r->has_least = value > sum;
	r->count_raw = value > sum ? value - sum : 0;
	r->source = SOURCE_EXACT;
}

static const struct tally_row *row_of(const struct tally *tally, const struct reading *r)
{
	for (size_t i = 0; i < tally->n_rows; i++)
		if (tally->rows[i].pid == (uint32_t)r->pid && tally->rows[i].tid == (uint32_t)r->tid)
			return &tally->rows[i];
	return NULL;
}

/* An unfinished entry without a number may be that process, going on in a record of its own. */
static bool has_ended(const struct view *view, uint32_t pid)
{
	for (size_t i = 0; i < view->n_processes; i++) {
		const struct view_process *p = &view->processes[i];
		if (p->unfinished && (p->record->pid == pid || !p->record->pid))
			return false;
	}
	return true;
}

/* Others have not ended, or not between two instructions: what this row's process executed is known if it has.
 * readings: of each event. */
static void fill_row(const struct counting *c, const struct view *view, const struct tally *tally,
		     struct reading *readings)
{
	const struct tally_row *row = row_of(tally, readings);
	bool ended = row && has_ended(view, row->pid);
	for (size_t i = 0; row && i < c->n; i++) {
		const struct execution_event *event = &c->events[i];
		struct reading *r = &readings[i];
		uint64_t value;
		if (!event->exact || counting_of_process(event) || exact_event_needs_trace(event->exact) ||
		    exact_event_unknown(event->exact, tally) || r->state != READING_FAILED)
			continue;
		if (!ended) {
			add_least(event, tally, row->count, r);
		} else if (exact_event_value(event->exact, row->count, &value)) {
			r->state = READING_COUNTED;
			r->source = SOURCE_EXACT;
			r->count_raw = value;
			r->why = NULL;
		}
	}
}

/* What has not ended may not have a row: what the rows add up to is not known, whatever they are. */
static void add_rest(const struct counting *c, struct run *run)
{
	struct reading *rest = &run->readings[run->n_rows++ * run->n_events];
	for (size_t i = 0; i < c->n; i++) {
		rest[i] = run->readings[i];
		rest[i].tid = rest[i].pid = 0;
		rest[i].command = NULL;
	}
}

static bool fill_least(const struct counting *c, struct run *run, bool rows, struct error *err)
{
	struct view *view = NULL;
	struct tally *tally = NULL;
	size_t n = run->n_rows;
	bool done = counting_look(c, true, &view, &tally, NULL, err) &&
		    (!rows || tally_join(tally, c->per_thread, c->machines));
	bool known = done && !tally->why && c->n > 0;
	if (known && rows)
		add_rest(c, run);
	for (size_t row = 0; known && rows && row < n; row++)
		fill_row(c, view, tally, &run->readings[row * run->n_events]);
	for (size_t i = 0; known && !rows && i < c->n; i++)
		if (run->readings[i].state == READING_FAILED)
			add_least(&c->events[i], tally, tally->total, &run->readings[i]);
	tally_free(tally);
	view_free(view);
	return done;
}

bool counting_read_running(struct counting *c, struct reading *readings, struct error *err)
{
	struct view *view = NULL;
	struct tally *tally = NULL;
	bool done = c->injection == NULL || counting_look(c, true, &view, &tally, NULL, err);
	for (size_t i = 0; done && c->injection && i < c->n; i++) {
		const struct execution_event *event = &c->events[i];
		/* what runs has not handed in all of its access stream */
		bool unknown = event->exact ? exact_event_unknown(event->exact, tally) ||
						      exact_event_needs_trace(event->exact)
					    : true;
		readings[i] = reading_of(c, event, tally, NULL, unknown ? "not known so far" : NULL,
					 counting_now_ns() - c->began_ns, NULL);
	}
	tally_free(tally);
	view_free(view);
	return done;
}

/* What a row's process executed last, in the arena: processes are in the order of their images. NULL when the
 * record does not say it, or memory ran out. */
static const char *command_of(const struct view *view, const struct tally_row *row, struct arena *arena)
{
	for (size_t i = view->n_processes; i-- > 0;) {
		const struct view_process *p = &view->processes[i];
		if (!p->record || p->record->pid != row->pid || !p->path[0])
			continue;
		const char *slash = strrchr(p->path, '/');
		return arena_strdup(arena, slash && slash[1] ? slash + 1 : p->path);
	}
	return NULL;
}

/* All rows of one event; view: whose names they have. */
static bool fill(const struct counting *c, struct run *run, size_t i, const struct tally *tally,
		 const struct view *view, bool rows, uint64_t ns)
{
	const struct execution_event *event = &c->events[i];
	const char *why = event->exact      ? exact_event_unknown(event->exact, tally)
			  : event->modelled ? tally->models_why
					    : NULL;
	if (why && !(why = arena_strdup(&run->arena, why)))
		return false;
	for (size_t row = 0; row < run->n_rows; row++) {
		struct reading *r = &run->readings[row * run->n_events + i];
		if (rows && counting_of_process(event))
			*r = counting_failed("it is counted for the whole program, not for its parts");
		else
			*r = reading_of(c, event, tally, rows ? &tally->rows[row] : NULL, why, ns, &run->arena);
		if ((r->why && !(r->why = arena_strdup(&run->arena, r->why))) ||
		    (r->machine && !(r->machine = arena_strdup(&run->arena, r->machine))))
			return false;
		r->tid = rows ? (pid_t)tally->rows[row].tid : 0;
		r->pid = rows ? (pid_t)tally->rows[row].pid : 0;
		r->command = rows ? command_of(view, &tally->rows[row], &run->arena) : NULL;
	}
	return true;
}

bool counting_add_remark(struct run *run, enum note_rank rank, const char *text)
{
	struct result_note *lines = arena_alloc(&run->arena, (run->n_remarks + 1) * sizeof *lines);
	if (!lines || !(lines[run->n_remarks].text = arena_strdup(&run->arena, text)))
		return false;
	lines[run->n_remarks].rank = rank;
	if (run->n_remarks)
		memcpy(lines, run->remarks, run->n_remarks * sizeof *lines);
	run->remarks = lines;
	run->n_remarks++;
	return true;
}

/* A model that breaks a law of its own is a defect of tare: nothing of it is reported. */
static void check_laws(const struct counting *c, struct tally *tally)
{
	const char *why = NULL;
	for (size_t r = 0; r < tally->n_rows && !tally->models_why; r++)
		for (size_t m = 0; m < c->models.n && !tally->models_why; m++)
			if (!c->models.conserves(c->models.context, m, &tally->rows[r].models[m], &why)) {
				snprintf(tally->models_text, sizeof tally->models_text,
					 "the model of '%s' broke a law of its own (%s) in thread %u: a defect of "
					 "tare",
					 c->models.name(c->models.context, m), why, tally->rows[r].tid);
				tally->models_why = tally->models_text;
			}
}

/* Why the counts may be those of this machine or this run alone (--reproducible). */
static bool add_limits(const struct counting *c, const struct view *view, struct run *run)
{
	const char *notes[INPUTS_LIMITS];
	inputs_limits(view, c->children, notes);
	for (size_t i = 0; notes[i]; i++)
		if (!counting_add_remark(run, NOTE_ACT, notes[i]))
			return false;
	struct str seen = {0};
	inputs_seen(view, c->children, &seen);
	bool done = !seen.failed;
	if (done && seen.text) {
		struct str text = {0};
		str_appendf(&text, "the program looked at what other machines may answer otherwise: %s",
			    seen.text);
		done = !text.failed && counting_add_remark(run, NOTE_DETAIL, text.text);
		str_free(&text);
	}
	str_free(&seen);
	return done;
}

static bool add_untimed(const struct counting *c, const struct view *view, struct run *run)
{
	uint64_t untimed = syscalls_untimed(view, c->children);
	if (!syscalls_clock_steady(counting_cpuid) &&
	    !counting_add_remark(
		    run, NOTE_READ,
		    "the system calls' times may be off: this CPU's time stamp counter, by which they "
		    "are taken, may change its rate"))
		return false;
	return !untimed ||
	       counting_add_remark(run, NOTE_READ,
				   arena_printf(&run->arena,
						"%llu system call%s not timed: the program filters its "
						"system calls, or forbids the time stamp counter",
						(unsigned long long)untimed, untimed == 1 ? " was" : "s were"));
}

bool counting_stop(struct counting *c, struct run *run, struct error *err)
{
	struct view *view = NULL;
	struct tally *tally = NULL;
	struct execution_regions *regions = NULL;
	bool done = false;
	uint64_t ns = counting_now_ns() - c->began_ns,
		 ticks = c->times_calls ? counting_now_ticks() - c->began_ticks : 0;
	if (ticks > 0)
		c->clock = (struct syscall_clock){(double)ns / (double)ticks, c->began_ticks + ticks};
	run->under_engine = c->injection != NULL;
	run->n_events = c->n;
	run->n_rows = 1;
	if (c->injection) {
		if (!counting_look(c, false, &view, &tally, &regions, err))
			goto out;
		check_laws(c, tally);
		kept_update(&c->kept, view);
	}
	bool rows = tally && (c->per_thread || c->per_process) && tally->n_rows > 0;
	if (rows && !tally_join(tally, c->per_thread, c->machines)) {
		error_set(err, ERROR_UNSUPPORTED, "a process's or thread's count does not fit in 64 bits");
		goto out;
	}
	if (rows)
		run->n_rows = tally->n_rows;
	/* and room for what is of no row: add_rest() */
	run->readings = arena_alloc(&run->arena, ((run->n_rows + 1) * run->n_events + 1) * sizeof *run->readings);
	done = run->readings != NULL;
	for (size_t i = 0; done && i < c->n; i++)
		done = fill(c, run, i, tally, view, rows, ns);
	if (done && c->models.n && c->models.remark && !tally->models_why)
		done = c->models.remark(c->models.context, view, c->children, run);
	if (done && view)
		done = add_limits(c, view, run);
	if (done && view && c->times_calls)
		done = add_untimed(c, view, run);
	if (done && c->keeps_none)
		done = counting_add_remark(run, NOTE_ACT,
					   "--keep does nothing for models, places, regions, basic blocks and "
					   "--reproducible: count without them, or leave it out");
	if (done && regions)
		done = counting_fill_regions(c, run, tally, regions, ns);
	if (done && tally && tally->why)
		done = fill_least(c, run, rows, err);
	if (!done)
		error_no_memory(err);
out:
	regions_free(regions);
	tally_free(tally);
	view_free(view);
	return done;
}
