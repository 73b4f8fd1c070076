#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/vec.h"
#include "store/profile/profile_file.h"
#include "store/profile/record.h"

enum { BLOCK_BYTES = 64 << 10 }; /* a block is written when it has as much */

struct profile_log {
	FILE *file;
	char *path;
	VEC(uint8_t) block;
	bool no_memory;
	size_t modules, tasks, nodes; /* that are in the file */
	VEC(const char *) names;      /* of tasks, as in the file; the profile's */
	uint64_t last_offset, last_time;
	uint32_t last_task, last_cpu;
};

/* ---- records ---- */

static void put_byte(struct profile_log *log, uint8_t byte)
{
	if (!vec_push(&log->block, byte))
		log->no_memory = true;
}

static void put(struct profile_log *log, uint64_t number)
{
	for (; number >= 0x80; number >>= 7)
		put_byte(log, (uint8_t)(number | 0x80));
	put_byte(log, (uint8_t)number);
}

static void put_signed(struct profile_log *log, uint64_t difference)
{
	put(log, difference << 1 ^ (difference >> 63 ? UINT64_MAX : 0));
}

static void put_bytes(struct profile_log *log, const void *bytes, size_t n)
{
	put(log, n);
	for (size_t i = 0; i < n; i++)
		put_byte(log, ((const uint8_t *)bytes)[i]);
}

static void put_text(struct profile_log *log, const char *text)
{
	put_bytes(log, text ? text : "", text ? strlen(text) : 0);
}

static void put_little(uint8_t *out, uint32_t number)
{
	for (int i = 0; i < 4; i++)
		out[i] = (uint8_t)(number >> 8 * i);
}

static bool write_failed(const struct profile_log *log, struct error *err)
{
	return error_set(err, ERROR_IO, "cannot write '%s'", log->path);
}

bool profile_log_flush(struct profile_log *log, struct error *err)
{
	uint8_t head[PROFILE_BLOCK_HEAD];
	if (log->no_memory)
		return error_no_memory(err);
	if (!log->block.count)
		return true;
	put_little(head, (uint32_t)log->block.count);
	put_little(head + 4, profile_checksum(log->block.items, log->block.count));
	if (fwrite(head, sizeof head, 1, log->file) != 1 ||
	    fwrite(log->block.items, log->block.count, 1, log->file) != 1 || fflush(log->file) != 0)
		return write_failed(log, err);
	log->block.count = 0;
	return true;
}

static bool flush_if_full(struct profile_log *log, struct error *err)
{
	return log->no_memory                    ? error_no_memory(err)
	       : log->block.count >= BLOCK_BYTES ? profile_log_flush(log, err)
						 : true;
}

/* ---- the beginning ---- */

static void put_header(struct profile_log *log, const struct profile *p)
{
	size_t words = 0;
	put_byte(log, RECORD_HEADER);
	put_text(log, p->tare_version);
	put_text(log, p->machine.cpu);
	put_text(log, p->machine.kernel);
	put_text(log, p->machine.hostname);
	put_text(log, p->machine.architecture);
	put(log, p->machine.cpus > 0 ? (uint64_t)p->machine.cpus : 0);
	put_text(log, p->machine.pmu);
	put_text(log, p->machine.hypervisor);
	put(log, p->started_unix);
	put(log, p->stacks);
	put_text(log, p->target);
	while (p->command && p->command[words])
		words++;
	put(log, p->command ? words + 1 : 0);
	for (size_t i = 0; i < words; i++)
		put_text(log, p->command[i]);
	put(log, p->n_events);
	for (size_t i = 0; i < p->n_events; i++) {
		const struct profile_event *e = &p->events[i];
		put_text(log, e->label);
		put_text(log, e->unit);
		put_text(log, e->machine);
		put(log, e->source);
		put(log, e->gaps);
		put(log, e->gap);
		put(log, (uint64_t)(e->rate * 1e6));
		put(log, e->redraw);
		put(log, e->seed);
	}
	if (p->clock_mhz > 0 && p->clock_mhz < 1e9) {
		put_byte(log, RECORD_CLOCK);
		put(log, (uint64_t)(p->clock_mhz * 1000 + 0.5));
	}
}

bool profile_log_create(const char *path, const struct profile *header, struct profile_log **out,
			struct error *err)
{
	uint8_t head[PROFILE_FILE_HEAD] = PROFILE_FILE_MAGIC;
	struct profile_log *log = *out = calloc(1, sizeof *log);
	if (!log || !(log->path = strdup(path))) {
		free(log);
		*out = NULL;
		return error_no_memory(err);
	}
	log->nodes = 1; /* the root is in every profile */
	put_little(head + 8, PROFILE_FILE_VERSION);
	put_header(log, header);
	if (!(log->file = file_create(path, err)))
		goto failed;
	if (fwrite(head, sizeof head, 1, log->file) != 1) {
		write_failed(log, err);
		goto failed;
	}
	if (profile_log_flush(log, err))
		return true;
failed:
	profile_log_abandon(log);
	*out = NULL;
	return false;
}

/* ---- what comes ---- */

static void put_new_names(struct profile_log *log, const struct profile *p)
{
	for (size_t i = 0; i < p->n_tasks; i++) {
		if (i == log->names.count && !vec_push(&log->names, "")) {
			log->no_memory = true;
			return;
		}
		if (strcmp(log->names.items[i], p->tasks[i].name) == 0)
			continue;
		put_byte(log, RECORD_NAME);
		put(log, i);
		put_text(log, p->tasks[i].name);
		log->names.items[i] = p->tasks[i].name;
	}
}

/* The names of tasks are looked at when a task is new, and at the end: renaming alone waits until then. */
static void put_new(struct profile_log *log, const struct profile *p)
{
	bool new_task = log->tasks < p->n_tasks;
	for (; log->modules < p->n_modules; log->modules++) {
		const struct profile_module *m = &p->modules[log->modules];
		put_byte(log, RECORD_MODULE);
		put(log, m->kind);
		put(log, m->pid);
		put_bytes(log, m->build_id, m->build_id_bytes);
		put_text(log, m->path);
	}
	for (; log->tasks < p->n_tasks; log->tasks++) {
		put_byte(log, RECORD_TASK);
		put(log, p->tasks[log->tasks].pid);
		put(log, p->tasks[log->tasks].tid);
	}
	if (new_task)
		put_new_names(log, p);
	for (; log->nodes < p->n_nodes; log->nodes++) {
		const struct profile_node *n = &p->nodes[log->nodes];
		put_byte(log, RECORD_NODE);
		put(log, log->nodes - n->parent);
		put(log, n->module);
		put_signed(log, n->offset - log->last_offset);
		log->last_offset = n->offset;
	}
}

bool profile_log_sample(struct profile_log *log, const struct profile *so_far, const struct profile_sample *sample,
			struct error *err)
{
	bool elsewhere = sample->task != log->last_task || sample->cpu != log->last_cpu;
	put_new(log, so_far);
	put_byte(log, elsewhere ? RECORD_SAMPLE_ELSEWHERE : RECORD_SAMPLE);
	put_signed(log, sample->time_ns - log->last_time);
	put(log, sample->node);
	put(log, sample->event);
	put(log, sample->gap);
	if (elsewhere) {
		put(log, sample->task);
		put(log, sample->cpu);
	}
	log->last_time = sample->time_ns;
	log->last_task = sample->task;
	log->last_cpu = sample->cpu;
	return flush_if_full(log, err);
}

/* ---- the end ---- */

static void put_arc(struct profile_log *log, const struct profile *p, const struct profile_arc *arc)
{
	put_byte(log, RECORD_ARC);
	put(log, arc->caller_module == PROFILE_NO_CALLER ? 0 : arc->caller_module + 1ull);
	put(log, arc->caller_offset);
	put(log, arc->callee_module);
	put(log, arc->callee_offset);
	put(log, arc->calls);
	for (size_t i = 0; i < p->n_events; i++)
		put(log, arc->inclusive[i]);
}

static void put_account(struct profile_log *log, size_t event, const struct profile_event *e)
{
	put_byte(log, RECORD_ACCOUNT);
	put(log, event);
	put_text(log, e->why);
	put(log, e->samples);
	put(log, e->lost);
	put(log, e->throttled);
	put(log, e->redraw);
	put(log, e->has_total ? e->total + (e->total < UINT64_MAX) : 0);
	if (e->cost_ns > 0 && e->cost_ns < 1e12) {
		put_byte(log, RECORD_COST);
		put(log, event);
		put(log, (uint64_t)(e->cost_ns * 1000));
	}
	if (e->part > 0) {
		bool scaled = e->has_scaled && e->scaled < 1e18;
		put_byte(log, RECORD_TURNS);
		put(log, event);
		put(log, (uint64_t)(e->part * 1e9 + 0.5));
		put(log, (uint64_t)(fmin(e->turn_samples, 1e9) * 1e9 + 0.5));
		put(log, scaled);
		if (scaled) {
			put(log, (uint64_t)(e->scaled + 0.5));
			put(log, (uint64_t)(e->scaled_low + 0.5));
			put(log, e->scaled_high < 1e18 ? 1 + (uint64_t)(e->scaled_high + 0.5) : 0);
		}
	}
}

static bool put_counted(struct profile_log *log, const struct profile *p, struct error *err)
{
	put_new(log, p);
	put_new_names(log, p);
	for (size_t i = 0; i < p->n_cells; i++) {
		const struct profile_cell *c = &p->cells[i];
		if (p->events[c->event].gaps != GAPS_NONE)
			continue; /* its samples are in the file */
		put_byte(log, RECORD_CELL);
		put(log, c->node);
		put(log, c->task);
		put(log, c->event);
		put(log, c->count);
		if (!flush_if_full(log, err))
			return false;
	}
	for (size_t i = 0; i < p->n_arcs; i++) {
		put_arc(log, p, &p->arcs[i]);
		if (!flush_if_full(log, err))
			return false;
	}
	return true;
}

static void put_marks(struct profile_log *log, const struct profile *p)
{
	uint64_t before = 0;
	for (size_t i = 0; i < p->n_marks; i++) {
		const struct profile_mark *mark = &p->marks[i];
		put_byte(log, RECORD_MARK);
		put_signed(log, mark->time_ns - before);
		put(log, mark->thread);
		put(log, mark->end);
		put_text(log, mark->region);
		before = mark->time_ns;
	}
}

bool profile_log_finish(struct profile_log *log, const struct profile *p, struct error *err)
{
	bool done = put_counted(log, p, err);
	for (size_t i = 0; i < p->n_events; i++)
		put_account(log, i, &p->events[i]);
	for (size_t i = 0; i < p->n_notes; i++) {
		put_byte(log, RECORD_NOTE);
		put_text(log, p->notes[i]);
	}
	put_marks(log, p);
	put_byte(log, RECORD_END);
	put(log, p->first_ns);
	put(log, p->last_ns);
	put(log, p->user_ns);
	put(log, p->system_ns);
	put(log, (uint32_t)p->wait_status);
	done = done && profile_log_flush(log, err);
	done = file_finish(log->file, log->path, done ? err : NULL) && done;
	log->file = NULL;
	profile_log_abandon(log);
	return done;
}

void profile_log_abandon(struct profile_log *log)
{
	if (!log)
		return;
	if (log->file)
		file_abandon(log->file, log->path);
	vec_free(&log->block);
	vec_free(&log->names);
	free(log->path);
	free(log);
}
