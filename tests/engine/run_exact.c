/*
 * run_exact [--fixed] [--processes] [--quiet] PROGRAM ARGS: runs a program under the exact engine with no other layer, for the trap
 * tests and the engine's author; what the record holds goes to stderr. Ends as the program ended.
 */
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/personality.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "engine/inject/session.h"

static void release(void *arg) { close(*(int *)arg); }

/* Blocks of a process, own and inherited, with the sum of its threads' counters. */
static uint64_t instructions_of(struct session *session, uint32_t index, uint64_t *blocks)
{
	const struct record_process *p = session_process(session, index);
	uint64_t sum = 0, n = p->blocks.count;
	for (uint64_t t = p->first_thread; t;) {
		const struct record_thread *thread = session_map(session, t, sizeof *thread + RECORD_PAGE);
		uint64_t bytes = thread->counters_most * 8ull;
		const uint64_t *counters = session_map(session, thread->counters, bytes);
		for (const struct record_process *owner = p;; owner = session_process(session, owner->parent)) {
			uint32_t own = owner->blocks.count - owner->blocks.inherited;
			const struct record_block *b = session_map(session, owner->blocks.offset, (own + 1ull) * sizeof *b);
			for (uint32_t i = 0; b && i < own && i + owner->blocks.inherited < n; i++)
				sum += counters[b[i].counter] * b[i].insns;
			session_unmap(b, (own + 1ull) * sizeof *b);
			n = owner->blocks.inherited;
			if (!owner->forked || owner->parent == RECORD_NONE)
				break;
		}
		n = p->blocks.count;
		session_unmap(counters, bytes);
		t = thread->next;
		session_unmap(thread, sizeof *thread + RECORD_PAGE);
	}
	*blocks = n;
	return sum;
}

int main(int argc, char **argv)
{
	struct session *session;
	struct error err = {0};
	bool fixed = false, processes = false, quiet = false;
	int i = 1, hold[2], status;
	for (; i < argc && argv[i][0] == '-'; i++) {
		fixed |= !strcmp(argv[i], "--fixed");
		processes |= !strcmp(argv[i], "--processes");
		quiet |= !strcmp(argv[i], "--quiet");
	}
	if (i >= argc)
		return 2;
	if (!session_new(NULL, &session, &err) || pipe(hold)) {
		fprintf(stderr, "run_exact: %s\n", err.text);
		return 3;
	}
	pid_t pid = fork();
	if (pid == 0) {
		char byte;
		close(hold[1]);
		if (fixed)
			personality(ADDR_NO_RANDOMIZE);
		if (read(hold[0], &byte, 1) < 0)
			_exit(126);
		close(hold[0]);
		execvp(argv[i], argv + i);
		_exit(errno == ENOENT ? 127 : 126);
	}
	close(hold[0]);
	enum session_taken taken = session_take(session, pid, release, &hold[1], &err);
	if (taken != SESSION_TAKEN) {
		fprintf(stderr, "run_exact: %s\n", taken == SESSION_FAILED ? err.text : "cannot execute the program");
		session_free(session);
		return 3;
	}
	signal(SIGINT, SIG_IGN), signal(SIGQUIT, SIG_IGN);
	while (waitpid(pid, &status, 0) < 0)
		;
	uint64_t total = 0, blocks = 0, all_blocks = 0;
	const char *reason = NULL;
	for (uint32_t p = 0; p < session_record(session)->process_count; p++) {
		const struct record_process *process = session_process(session, p);
		if (process->state == RECORD_FREE)
			continue;
		uint64_t n = instructions_of(session, p, &blocks);
		total += n, all_blocks += blocks;
		if (process->inexact && !reason)
			reason = process->reason;
		if (!reason && process->state <= RECORD_RUNNING)
			reason = process->state == RECORD_RUNNING ? "a process was ended in the middle, or still runs" : "a process did not start";
		if (processes)
			fprintf(stderr, "process %u of %d pid %u state %u threads %u instructions %" PRIu64 " %s %s%s\n", p, (int)process->parent,
			        process->pid, process->state, process->thread_count, n, process->path, process->inexact ? "INEXACT: " : "",
			        process->inexact ? process->reason : "");
	}
	if (!quiet)
		fprintf(stderr, "instructions %" PRIu64 " blocks %" PRIu64 "\n%s%s\n", total, all_blocks, reason ? "NOT EXACT: " : "exact",
		        reason ? reason : "");
	session_free(session);
	if (WIFSIGNALED(status)) {
		struct rlimit none = {0, 0};
		setrlimit(RLIMIT_CORE, &none);
		signal(WTERMSIG(status), SIG_DFL);
		kill(getpid(), WTERMSIG(status));
	}
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
