/* Putting the runtime into a process that ptrace has stopped at its exec. For injection_internal.h and attendant.c
 * only. */
#ifndef TARE_ENGINE_INJECT_TAKEOVER_H
#define TARE_ENGINE_INJECT_TAKEOVER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"
#include "engine/wire/record.h"

#define TAKEOVER_PTRACE_OPTIONS (PTRACE_O_TRACEEXEC | PTRACE_O_TRACESYSGOOD)

struct takeover {
	struct record_head *record;
	struct record_process *processes;
	int fd;                /* the record's, in the process that calls takeover_at_exec() */
	int image_fd;          /* the runtime's flat image, sealed against writing */
	uint64_t image_bytes;  /* with what lies behind it: the setup, machines, regions */
	uint64_t setup_offset; /* in it: struct record_head */
	/* the image before the first one with translations (share.h), for processes whose memory is limited */
	bool renewed;
	int first_fd;
	uint64_t first_bytes, first_setup;
	int own_socket;  /* the attendant's, to tell tare of records; -1: there is none */
	uint32_t served; /* enum served_cpu (x86/served.h) */
	uint64_t token;  /* the record's, as it was: processes may have written over that one */
};

/* The process is at PTRACE_EVENT_EXEC and was traced with TAKEOVER_PTRACE_OPTIONS. Makes it a new entry (parent:
 * an index or RECORD_NONE), maps runtime and record, and detaches with the runtime about to run. On failure the
 * process is stopped where the program would begin, still traced, its memory and registers as the kernel left
 * them, but for mappings more. *entry is the new entry's index whenever there is one. ERROR_NOT_FOUND: the process
 * was killed meanwhile, and waited for. */
bool takeover_at_exec(const struct takeover *how, pid_t pid, uint32_t parent, uint32_t *entry, struct error *err);

/* Marks the entry; the first reason stays. */
void takeover_inexact(struct record_process *process, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* What waitpid reported is a stop that belongs to the program: passes the signal on, or stays in the group-stop.
 * call: the ptrace request that lets it run. */
void takeover_pass(pid_t pid, int status, int call);

#endif
