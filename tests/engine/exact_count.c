/*
 * exact_count [--fixed] [--threads] [--plain] PROGRAM ARGS  every event of the exact backend, through the backend's contract; --plain: but those
 *                                                           that need the access stream, which then there is none of
 *   [--keep]                                                and those that are told by where basic blocks begin; translations are kept
 *   [--share]                                               the same; processes of the run share them
 * exact_count [--fixed] --record [--blocks FILE] PROGRAM ARGS   the record itself: system calls by number, sums, basic blocks
 *
 * For the exactness tests: `name value` lines on stderr behind the program's own, `name - reason` for what has no count. Ends as the
 * program did; 3 when it could not be run.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/personality.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "backend/engine/blocks.h"
#include "backend/engine/events.h"
#include "backend/exact/exact.h"
#include "backend/engine/tally.h"
#include "backend/launch.h"
#include "engine/inject/injection.h"

static int fail(const struct error *err)
{
	fprintf(stderr, "exact_count: %s\n%s%s", err->text, err->hint, err->hint[0] ? "\n" : "");
	return 3;
}

static int ended(int status) { return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status); }

static void wait_for(pid_t pid, int *status)
{
	while (waitpid(pid, status, 0) < 0 && errno == EINTR)
		continue;
}

static int through_backend(const struct command *command, bool threads, bool plain, bool keep, bool share)
{
	struct error err = {0};
	struct event_table *table = event_table_new(&err);
	size_t n = exact_event_count(), asked = 0;
	struct event *events = calloc(n, sizeof *events);
	const struct event **pointers = calloc(n, sizeof *pointers);
	struct target target = {.kind = TARGET_COMMAND,
				.command = command,
				.keep = keep,
				.no_sharing = !share,
				.follow_children = true,
				.per_thread = threads};
	struct backend *backend;
	struct counting *counting;
	struct run run = {0};
	int status;
	if (!table || !exact_backend.open(NULL, &backend, &err))
		return fail(&err);
	for (size_t i = 0; i < n; i++) {
		struct availability available;
		char request[100];
		if (plain && exact_event_needs_trace(exact_event_at(i)))
			continue;
		if ((keep || share) && exact_event_uses(exact_event_at(i), COUNT_BASIC_BLOCKS))
			continue;
		snprintf(request, sizeof request, "%s:u", exact_event_at(i)->name);
		if (!event_parse(table, request, &events[asked], &err))
			return fail(&err);
		exact_backend.available(backend, &events[asked], &available);
		if (available.state == READING_COUNTED)
			pointers[asked] = &events[asked], asked++;
		else
			fprintf(stderr, "%s - unsupported: %s\n", exact_event_at(i)->name, available.why);
	}
	if (!exact_backend.prepare(backend, &target, pointers, asked, &counting, &err) ||
	    !exact_backend.go(counting, &err))
		return fail(&err);
	wait_for(exact_backend.process(counting), &status);
	if (!exact_backend.stop(counting, &run, &err))
		return fail(&err);
	for (size_t row = 0; row < run.n_rows; row++)
		for (size_t i = 0; i < run.n_events; i++) {
			const struct reading *r = &run.readings[row * run.n_events + i];
			if (r->tid)
				fprintf(stderr, "%d ", (int)r->tid);
			if (r->state == READING_COUNTED && r->source == SOURCE_EXACT)
				fprintf(stderr, "%s %" PRIu64 "\n", events[i].definition->name, r->count_raw);
			else
				fprintf(stderr, "%s - %s\n", events[i].definition->name, r->why);
		}
	exact_backend.end(counting);
	exact_backend.close(backend);
	run_free(&run);
	event_table_free(table);
	free(events), free(pointers);
	return ended(status);
}

static void release(void *arg) { send(((const struct launch *)arg)->go_fd, "g", 1, MSG_NOSIGNAL); }

static int from_record(const struct command *command, const char *blocks_path)
{
	struct error err = {0};
	struct injection *injection;
	struct launch launch;
	struct view *view;
	struct tally *tally;
	struct tally_options options = {.children = true, .blocks = true, .code_lines = true};
	uint64_t syscalls[RECORD_SYSCALLS] = {0}, other = 0, sum = 0;
	int status;
	if (!injection_new(NULL, &injection, &err) || !launch_hold(command, &launch, &err))
		return fail(&err);
	if (injection_take(injection, launch.pid, release, &launch, &err) == INJECTION_FAILED ||
	    !launch_go(&launch, command, &err))
		return fail(&err);
	wait_for(launch.pid, &status);
	if (!view_new(injection, &view, &err) || !tally_new(view, &options, &tally, &err))
		return fail(&err);
	for (size_t p = 0; p < view->n_processes; p++)
		for (size_t t = 0; t < view->processes[p].n_threads; t++) {
			const struct record_thread *thread = view->processes[p].threads[t].record;
			for (unsigned i = 0; i < RECORD_SYSCALLS; i++)
				syscalls[i] += thread->syscalls[i];
			other += thread->syscalls_other + thread->syscalls_32;
		}
	fprintf(stderr, "instructions %" PRIu64 "\n", tally->total[COUNT_INSTRUCTIONS]);
	for (size_t i = 0; i < tally->n_rows; i++) {
		fprintf(stderr, "thread:%u:%u %" PRIu64 "\n", tally->rows[i].pid, tally->rows[i].tid,
			tally->rows[i].count[COUNT_INSTRUCTIONS]);
		sum += tally->rows[i].count[COUNT_INSTRUCTIONS];
	}
	fprintf(stderr, "threads_sum %" PRIu64 "\n", sum);
	for (unsigned i = 0; i < RECORD_SYSCALLS; i++)
		if (syscalls[i])
			fprintf(stderr, "syscall:%u %" PRIu64 "\n", i, syscalls[i]);
	fprintf(stderr, "syscall:other %" PRIu64 "\nsystem_calls %" PRIu64 "\n", other,
		tally->total[COUNT_SYSTEM_CALLS]);
	fprintf(stderr, "processes %zu\n", view->n_processes);
	for (unsigned i = 0; i < 6; i++) {
		static const char *const names[] = {"translated_insns", "translate_tsc", "dispatches",
						    "lookup_misses",    "flushes",       "cache_bytes"};
		uint64_t all = 0;
		for (size_t p = 0; p < view->n_processes; p++)
			all += view->processes[p].record->stats[i];
		fprintf(stderr, "stat:%s %" PRIu64 "\n", names[i], all);
	}
	if (tally->why)
		fprintf(stderr, "inexact %s\n", tally->why);
	for (enum blocks_groups groups = BLOCKS_TOGETHER; groups <= BLOCKS_BY_THREAD; groups++) {
		struct blocks *blocks;
		struct str text = {0};
		if (!blocks_new(view, true, groups, &blocks, &err))
			return fail(&err);
		fprintf(stderr, "blocks_instructions:%d %" PRIu64 "\n", (int)groups, blocks->instructions);
		blocks_write(blocks, groups, &text);
		FILE *file = blocks_path && groups == BLOCKS_TOGETHER ? fopen(blocks_path, "w") : NULL;
		if (file) {
			fputs(text.text, file);
			fclose(file);
		}
		str_free(&text);
		blocks_free(blocks);
	}
	tally_free(tally);
	view_free(view);
	injection_free(injection);
	return ended(status);
}

int main(int argc, char **argv)
{
	bool record = false, threads = false, fixed = false, plain = false, keep = false, share = false;
	const char *blocks = NULL;
	int i = 1;
	for (; i < argc && argv[i][0] == '-'; i++)
		if (!strcmp(argv[i], "--fixed"))
			fixed = true;
		else if (!strcmp(argv[i], "--record"))
			record = true;
		else if (!strcmp(argv[i], "--threads"))
			threads = true;
		else if (!strcmp(argv[i], "--plain"))
			plain = true;
		else if (!strcmp(argv[i], "--keep"))
			plain = keep = true;
		else if (!strcmp(argv[i], "--share"))
			plain = share = true;
		else if (!strcmp(argv[i], "--blocks") && i + 1 < argc)
			blocks = argv[++i];
		else
			return 2;
	if (i >= argc)
		return 2;
	struct command command = {.argv = argv + i, .stdin_fd = -1, .stdout_fd = -1, .stderr_fd = -1};
	if (fixed)
		personality(
			ADDR_NO_RANDOMIZE); /* inherited; not command.reproducible, as single-stepping does not pad the environment */
	return record ? from_record(&command, blocks) : through_backend(&command, threads, plain, keep, share);
}
