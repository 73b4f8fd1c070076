#include "kernels/witness.h"

#include <elf.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/personality.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MOST_PROCESSES = 64 };

struct registers {
	uint64_t pc, general[GENERAL_REGISTERS]; /* in the order of the instructions' register numbers */
};

struct process {
	pid_t pid;
	bool started; /* has a step under way, from `before` */
	struct registers before;
	struct instruction instruction;
	struct executed done;
};

struct witness {
	struct process processes[MOST_PROCESSES]; /* the first is the kernel */
	unsigned n, alive;
	char *why;
};

static bool registers_of(pid_t pid, struct registers *out)
{
	struct user_regs_struct r;
	struct iovec io = { &r, sizeof r };
	if (ptrace(PTRACE_GETREGSET, pid, (void *)NT_PRSTATUS, &io))
		return false;
#if defined(__x86_64__)
	*out = (struct registers){ r.rip,
				   { r.rax, r.rcx, r.rdx, r.rbx, r.rsp, r.rbp, r.rsi, r.rdi, r.r8, r.r9, r.r10,
				     r.r11, r.r12, r.r13, r.r14, r.r15 } };
#else
	*out = (struct registers){ .pc = r.pc };
	memcpy(out->general, r.regs, sizeof r.regs); /* x0 to x30 */
	out->general[31] = r.sp;
#endif
	return true;
}

/* The bytes at pc, fewer at a mapping's end. */
static unsigned code_at(pid_t pid, uint64_t pc, uint8_t code[16])
{
	for (unsigned bytes = 16; bytes; bytes--) {
		struct iovec to = { code, bytes }, from = { (void *)(uintptr_t)pc, bytes };
		if (process_vm_readv(pid, &to, 1, &from, 1, 0) == (ssize_t)bytes)
			return bytes;
	}
	return 0;
}

static void account_address(struct process *p)
{
	const struct instruction *i = &p->instruction;
	enum { LINE_BYTES = 64 };
	if (!i->access_bytes)
		return;
	uint64_t address = (uint64_t)i->displacement;
	if (i->base >= 0)
		address += p->before.general[i->base];
	if (i->index >= 0)
		address += p->before.general[i->index] * i->scale;
	unsigned accesses = (unsigned)i->load + (unsigned)i->store;
	if (address % i->access_bytes)
		p->done.misaligned += accesses;
	if (address / LINE_BYTES != (address + i->access_bytes - 1) / LINE_BYTES)
		p->done.line_crossing += accesses;
}

static void account(struct process *p, bool taken)
{
	const struct instruction *i = &p->instruction;
	p->done.instructions++;
	p->done.loads += i->load;
	p->done.stores += i->store;
	p->done.branches += i->branch;
	p->done.conditional_branches += i->conditional;
	p->done.taken_branches += i->branch && taken;
	p->done.conditional_taken += i->conditional && taken;
	p->done.conditional_not_taken += i->conditional && !taken;
	p->done.calls += i->call;
	p->done.returns += i->is_return;
	p->done.system_calls += i->system_call;
	p->done.fp_scalar_single += i->fp_single;
	p->done.fp_scalar_double += i->fp_double;
	p->done.fma_scalar_double += i->fma_double;
	p->done.fp_operations += i->fp_single + i->fp_double + 2 * i->fma_double;
	account_address(p);
}

/* Decodes what comes next and lets the process do it. */
static bool step(struct witness *w, struct process *p)
{
	uint8_t code[16] = { 0 };
	if (!registers_of(p->pid, &p->before)) {
		snprintf(w->why, 256, "the registers cannot be read: %s", strerror(errno));
		return false;
	}
	unsigned bytes = code_at(p->pid, p->before.pc, code);
	if (!instruction_decode(code, bytes, p->before.pc, &p->instruction)) {
		snprintf(w->why, 256, "no known instruction at %#llx", (unsigned long long)p->before.pc);
		return false;
	}
	p->started = true;
	if (ptrace(PTRACE_SINGLESTEP, p->pid, NULL, NULL) == 0)
		return true;
	snprintf(w->why, 256, "no step: %s", strerror(errno));
	return false;
}

static struct process *process_of(struct witness *w, pid_t pid)
{
	for (unsigned i = 0; i < w->n; i++)
		if (w->processes[i].pid == pid)
			return &w->processes[i];
	if (w->n == MOST_PROCESSES)
		return NULL;
	w->alive++;
	w->processes[w->n] = (struct process){ .pid = pid };
	return &w->processes[w->n++];
}

/* One report of waitpid. */
static bool handle(struct witness *w, pid_t pid, int status)
{
	struct process *p = process_of(w, pid);
	if (!p) {
		snprintf(w->why, 256, "more than %d processes", MOST_PROCESSES);
		return false;
	}
	if (WIFEXITED(status) || WIFSIGNALED(status)) {
		w->alive--;
		if (WIFSIGNALED(status) || WEXITSTATUS(status)) {
			snprintf(w->why, 256, "it ended with status %d", status);
			return false;
		}
		account(p, false); /* the exit that did not return */
		return true;
	}
	int signal = WSTOPSIG(status);
	if (signal == SIGTRAP && status >> 16 != 0) /* in the middle of fork: its step is not over */
		return ptrace(PTRACE_SINGLESTEP, pid, NULL, NULL) == 0;
	if (signal == SIGTRAP && p->started) {
		struct registers now;
		if (!registers_of(pid, &now)) {
			snprintf(w->why, 256, "the registers cannot be read: %s", strerror(errno));
			return false;
		}
		if (now.pc != p->before.pc)
			account(p, now.pc != p->before.pc + p->instruction.bytes);
	} else if (signal == SIGCHLD) { /* ignored by kernels; the step was not made */
	} else if (signal != SIGTRAP && !(signal == SIGSTOP && !p->started)) {
		snprintf(w->why, 256, "signal %d at %#llx", signal, (unsigned long long)p->before.pc);
		return false;
	}
	return step(w, p);
}

static void add(struct executed *sum, const struct executed *more)
{
	uint64_t *to = (uint64_t *)sum;
	const uint64_t *from = (const uint64_t *)more;
	for (size_t i = 0; i < sizeof *sum / sizeof *to; i++) /* it has counts only */
		to[i] += from[i];
}

bool witness_run(char *const *argv, struct executed *all, struct executed *self, char why[256])
{
	struct witness w = { .n = 1, .alive = 1, .why = why };
	int status;
	bool done = false;
	why[0] = '\0';
	pid_t child = fork();
	if (child == 0) {
		personality(ADDR_NO_RANDOMIZE);
		ptrace(PTRACE_TRACEME, 0, NULL, NULL);
		execv(argv[0], argv);
		_exit(127);
	}
	w.processes[0].pid = child;
	if (child < 0 || waitpid(child, &status, 0) != child || !WIFSTOPPED(status)) {
		snprintf(why, 256, "'%s' cannot be run", argv[0]);
		return false;
	}
	ptrace(PTRACE_SETOPTIONS, child, NULL, PTRACE_O_EXITKILL | PTRACE_O_TRACEFORK | PTRACE_O_TRACECLONE);
	if (!step(&w, &w.processes[0]))
		goto out;
	while (w.alive) {
		pid_t pid = waitpid(-1, &status, __WALL);
		if (pid < 0) {
			snprintf(why, 256, "waitpid: %s", strerror(errno));
			goto out;
		}
		if (!handle(&w, pid, status))
			goto out;
	}
	*self = w.processes[0].done;
	*all = (struct executed){ 0 };
	for (unsigned i = 0; i < w.n; i++)
		add(all, &w.processes[i].done);
	done = true;
out:
	for (unsigned i = 0; !done && i < w.n; i++)
		kill(w.processes[i].pid, SIGKILL);
	while (!done && waitpid(-1, NULL, __WALL) > 0)
		;
	return done;
}
