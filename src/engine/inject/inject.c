/*
 * The host side: stops the program at its first user instruction, maps the runtime and the record into it by
 * borrowed system calls, starts the runtime there and detaches. The kernel has loaded the program, so auxv, brk,
 * vdso and /proc/self/exe are what they would be natively.
 */
#include "engine/inject/inject.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/personality.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include "engine/wire/record.h"
#include "engine/wire/start.h"

#define STACK_BYTES (256u << 10)

extern const unsigned char engine_image[], engine_image_end[];
extern char **environ;

struct engine_run {
	pid_t pid;
	int image_fd, record_fd;
	unsigned char *record;
	struct user_regs_struct regs; /* at the first user instruction */
};

/* Runs one system call in the stopped program, with the two bytes at its first instruction borrowed. */
static long borrowed_call(struct engine_run *run, long nr, uint64_t a, uint64_t b, uint64_t c, uint64_t d, uint64_t e)
{
	struct user_regs_struct r = run->regs;
	int status;
	r.rax = (unsigned long)nr, r.orig_rax = (unsigned long)-1;
	r.rdi = a, r.rsi = b, r.rdx = c, r.r10 = d, r.r8 = e, r.r9 = 0;
	errno = 0;
	long word = ptrace(PTRACE_PEEKTEXT, run->pid, (void *)r.rip, NULL);
	if (errno || ptrace(PTRACE_POKETEXT, run->pid, (void *)r.rip, (void *)((word & ~0xffffL) | 0x050f)) ||
	    ptrace(PTRACE_SETREGS, run->pid, NULL, &r) || ptrace(PTRACE_SINGLESTEP, run->pid, NULL, NULL) ||
	    waitpid(run->pid, &status, 0) < 0 || !WIFSTOPPED(status) || ptrace(PTRACE_GETREGS, run->pid, NULL, &r) ||
	    ptrace(PTRACE_POKETEXT, run->pid, (void *)run->regs.rip, (void *)word))
		return -EIO;
	return (long)r.rax;
}

static int take_over(struct engine_run *run, size_t image_bytes)
{
	uint64_t image, record, stack;
	if (ptrace(PTRACE_GETREGS, run->pid, NULL, &run->regs))
		return -1;
	image = (uint64_t)borrowed_call(run, SYS_mmap, 0, image_bytes, 7, MAP_PRIVATE, (uint64_t)run->image_fd);
	record = (uint64_t)borrowed_call(run, SYS_mmap, 0, RECORD_BYTES, 3, MAP_SHARED | MAP_NORESERVE, (uint64_t)run->record_fd);
	stack = (uint64_t)borrowed_call(run, SYS_mmap, 0, STACK_BYTES, 3, MAP_PRIVATE | MAP_ANONYMOUS, (uint64_t)-1);
	if (image > (uint64_t)-4096 || record > (uint64_t)-4096 || stack > (uint64_t)-4096)
		return -1;
	borrowed_call(run, SYS_close, (uint64_t)run->image_fd, 0, 0, 0, 0);
	borrowed_call(run, SYS_close, (uint64_t)run->record_fd, 0, 0, 0, 0);

	uint64_t top = stack + STACK_BYTES - sizeof(struct start);
	struct start start = {record, top & ~63ull, run->regs.rip, run->regs.rsp};
	for (size_t i = 0; i < sizeof start / 8; i++)
		if (ptrace(PTRACE_POKEDATA, run->pid, (void *)(top + 8 * i), (void *)((uint64_t *)&start)[i]))
			return -1;
	struct user_regs_struct r = run->regs;
	r.rip = image, r.rdi = top, r.rsp = top & ~63ull, r.orig_rax = (unsigned long)-1;
	return ptrace(PTRACE_SETREGS, run->pid, NULL, &r) || ptrace(PTRACE_DETACH, run->pid, NULL, NULL) ? -1 : 0;
}

int engine_start(const struct engine_options *options, struct engine_run **out, char *error, size_t error_size)
{
	size_t image_bytes = (size_t)(engine_image_end - engine_image);
	struct engine_run *run = calloc(1, sizeof *run);
	int status;
	*out = NULL;
	if (!run)
		goto fail;
	run->record = MAP_FAILED;
	run->image_fd = memfd_create("tare-runtime", 0);
	run->record_fd = memfd_create("tare-record", 0);
	if (run->image_fd < 0 || run->record_fd < 0 || ftruncate(run->record_fd, (off_t)RECORD_BYTES) ||
	    write(run->image_fd, engine_image, image_bytes) != (ssize_t)image_bytes)
		goto fail;
	run->record = mmap(NULL, RECORD_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, run->record_fd, 0);
	if (run->record == MAP_FAILED || (run->pid = fork()) < 0)
		goto fail;
	if (run->pid == 0) {
		for (int i = 0; i < 3; i++)
			if (options->stdio[i] >= 0 && options->stdio[i] != i)
				dup2(options->stdio[i], i);
		if (options->fixed_addresses)
			personality(ADDR_NO_RANDOMIZE);
		ptrace(PTRACE_TRACEME, 0, NULL, NULL);
		execvpe(options->argv[0], options->argv, options->envp ? options->envp : environ);
		_exit(errno == ENOENT ? 127 : 126);
	}
	if (waitpid(run->pid, &status, 0) < 0)
		goto fail;
	if (!WIFSTOPPED(status)) {
		snprintf(error, error_size, "cannot run '%s'", options->argv[0]);
		run->pid = 0;
		goto out;
	}
	if (take_over(run, image_bytes))
		goto fail;
	close(run->image_fd), close(run->record_fd);
	run->image_fd = run->record_fd = -1;
	*out = run;
	return 0;
fail:
	snprintf(error, error_size, "cannot start '%s' under the engine: %s", options->argv[0], strerror(errno));
out:
	if (run && run->pid > 0) {
		kill(run->pid, SIGKILL);
		waitpid(run->pid, NULL, 0);
	}
	engine_free(run);
	return -1;
}

pid_t engine_pid(const struct engine_run *run) { return run->pid; }

int engine_wait(struct engine_run *run)
{
	int status;
	while (waitpid(run->pid, &status, 0) < 0)
		if (errno != EINTR)
			return -1;
	const struct record_header *header = (const struct record_header *)run->record;
	if (WIFSIGNALED(status) && !header->inexact) {
		/* the block in which the signal came did not end, and its rest is counted */
		struct record_header *mine = (struct record_header *)run->record;
		snprintf(mine->reason, sizeof mine->reason, "ended by signal %d inside a block", WTERMSIG(status));
		mine->inexact = 1;
	}
	return status;
}

const char *engine_inexact(const struct engine_run *run)
{
	const struct record_header *header = (const struct record_header *)run->record;
	if (header->magic != RECORD_MAGIC)
		return "the runtime did not start";
	return header->inexact ? header->reason : NULL;
}

size_t engine_block_count(const struct engine_run *run) { return ((const struct record_header *)run->record)->block_count; }

static const struct record_block *blocks_of(const struct engine_run *run)
{
	return (const struct record_block *)(run->record + RECORD_BLOCKS_OFFSET);
}

static const uint64_t *counters_of(const struct engine_run *run)
{
	return (const uint64_t *)(run->record + RECORD_HEADER_BYTES + RECORD_THREAD_BYTES);
}

void engine_get_totals(const struct engine_run *run, struct engine_totals *out)
{
	*out = (struct engine_totals){0};
	for (size_t i = 0, n = engine_block_count(run); i < n; i++) {
		const struct record_block *b = &blocks_of(run)[i];
		uint64_t count = counters_of(run)[2 * i];
		out->blocks += count;
		out->instructions += count * b->insns;
		out->loads += count * b->loads;
		out->stores += count * b->stores;
		out->branches += count * (b->conditional + b->calls + b->returns + b->jumps);
		out->conditional += count * b->conditional;
		out->calls += count * b->calls;
		out->returns += count * b->returns;
		out->syscalls += count * b->syscall;
		out->taken += counters_of(run)[2 * i + 1];
	}
}

struct engine_block engine_get_block(const struct engine_run *run, size_t i)
{
	const struct record_block *b = &blocks_of(run)[i];
	return (struct engine_block){b->address, counters_of(run)[2 * i], b->length_bytes, b->insns};
}

void engine_free(struct engine_run *run)
{
	if (!run)
		return;
	if (run->record != MAP_FAILED)
		munmap(run->record, RECORD_BYTES);
	if (run->image_fd >= 0)
		close(run->image_fd);
	if (run->record_fd >= 0)
		close(run->record_fd);
	free(run);
}
