/*
 * step_regions [--from ADDRESS] [-r NAME:KIND:-:LOW-HIGH[,LOW-HIGH]]… PROGRAM ARGS: counts a single-threaded program's instructions in regions by single-stepping
 * it, from what the regions are (src/result/region.h) and nothing else; addresses are the process's, randomisation is off. Prints as
 * count_regions does, without the counts that it does not have: name, entries, exits, instructions.
 *
 * After each step the instruction that was executed, and where control and the stack pointer went, are known. A pass of a function ends when
 * control is at its return address, or anywhere behind a return or indirect jump, with the stack pointer above where it was entered.
 */
#define _GNU_SOURCE
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/personality.h>
#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#define MOST 64

static struct region {
	const char *name;
	bool function;
	uint64_t low[MOST], high[MOST];
	size_t n;
	bool in, called;          /* called: code, in a call made from the ranges, or in a signal's handler */
	bool handled;             /* the latter */
	uint64_t stack, back;     /* function: at its entry; code: of the call */
	uint64_t entries, exits, instructions;
} regions[MOST];
static size_t n_regions;

static void ask(char *text)
{
	struct region *r = &regions[n_regions++];
	r->name = strtok(text, ":");
	r->function = *strtok(NULL, ":") == 'f';
	strtok(NULL, ":");
	for (char *list = strtok(NULL, ":"), *range = list ? strtok(list, ",") : NULL; range; range = strtok(NULL, ",")) {
		char *end;
		r->low[r->n] = strtoull(range, &end, 0);
		r->high[r->n] = *end ? strtoull(end + 1, NULL, 0) : r->low[r->n] + 1;
		r->n++;
	}
}

static bool contains(const struct region *r, uint64_t pc)
{
	for (size_t i = 0; i < r->n; i++)
		if (r->low[i] <= pc && pc < r->high[i])
			return true;
	return false;
}

enum what { OTHER, CALL, JUMP_ANYWHERE, REP, SIGNAL, SIGNAL_RETURN };

/* What the instruction is, as far as it matters here. */
static enum what what_at(pid_t pid, uint64_t pc)
{
	uint8_t code[16];
	uint64_t words[2];
	bool rep = false;
	for (int i = 0; i < 2; i++)
		words[i] = (uint64_t)ptrace(PTRACE_PEEKTEXT, pid, (void *)(pc + 8 * (uint64_t)i), NULL);
	memcpy(code, words, sizeof code);
	for (int i = 0; i < 14; i++) {
		uint8_t b = code[i], extension = code[i + 1] >> 3 & 7;
		if (b == 0xf2 || b == 0xf3)
			rep = true;
		else if (b != 0x66 && b != 0x67 && b != 0x3e && (b & 0xf0) != 0x40) {
			if (b == 0xe8 || (b == 0xff && extension == 2))
				return CALL;
			if (b == 0xc3 || b == 0xc2 || (b == 0xff && extension == 4))
				return JUMP_ANYWHERE;
			return rep && ((b >= 0xa4 && b <= 0xa7) || (b >= 0xaa && b <= 0xaf)) ? REP : OTHER;
		}
	}
	return OTHER;
}

static void arrive(struct region *r, pid_t pid, enum what what, const struct user_regs_struct *now)
{
	if (r->in && r->function && what == JUMP_ANYWHERE && now->rsp > r->stack) {
		r->in = false;
		r->exits += now->rip == r->back;
	} else if (r->in && !r->function && r->called && r->handled) {
		if (what == SIGNAL_RETURN || (what == JUMP_ANYWHERE && now->rsp > r->stack)) {
			r->called = r->handled = false;
			r->in = contains(r, now->rip);
		}
	} else if (r->in && !r->function && r->called) {
		if (what == JUMP_ANYWHERE && now->rsp > r->stack) {
			r->called = false;
			r->in = contains(r, now->rip);
			r->exits += !r->in && now->rip == r->back;
		}
	} else if (r->in && !r->function) {
		if (what == SIGNAL) {
			r->called = r->handled = true;
			r->stack = now->rsp + 8;
		} else if (what == CALL) {
			r->called = true;
			r->stack = now->rsp;
			r->back = (uint64_t)ptrace(PTRACE_PEEKDATA, pid, (void *)now->rsp, NULL);
		} else if (!contains(r, now->rip)) {
			r->in = false;
			r->exits++;
		}
	}
	if (!r->in && (r->function ? now->rip == r->low[0] : contains(r, now->rip))) {
		r->in = true;
		r->called = false;
		r->entries++;
		r->stack = now->rsp;
		if (r->function)
			r->back = (uint64_t)ptrace(PTRACE_PEEKDATA, pid, (void *)now->rsp, NULL);
	}
}

/* What comes before is in no region, and need not be stepped through. */
static void run_to(pid_t pid, uint64_t address)
{
	struct user_regs_struct r;
	int status;
	uint64_t word = (uint64_t)ptrace(PTRACE_PEEKTEXT, pid, (void *)address, NULL);
	ptrace(PTRACE_POKETEXT, pid, (void *)address, (void *)((word & ~0xffull) | 0xcc));
	ptrace(PTRACE_CONT, pid, NULL, NULL);
	waitpid(pid, &status, 0);
	ptrace(PTRACE_POKETEXT, pid, (void *)address, (void *)word);
	ptrace(PTRACE_GETREGS, pid, NULL, &r);
	r.rip = address;
	ptrace(PTRACE_SETREGS, pid, NULL, &r);
	for (size_t k = 0; k < n_regions; k++)
		arrive(&regions[k], pid, OTHER, &r);
}

int main(int argc, char **argv)
{
	struct user_regs_struct r;
	uint64_t all = 0;
	int status, signal = 0, i = 1;
	uint64_t from = 0;
	for (; i + 1 < argc && argv[i][0] == '-'; i += 2)
		if (!strcmp(argv[i], "--from"))
			from = strtoull(argv[i + 1], NULL, 0);
		else
			ask(argv[i + 1]);
	/* the two run in turn: on one CPU that is faster */
	cpu_set_t one;
	CPU_ZERO(&one);
	CPU_SET(sched_getcpu(), &one);
	sched_setaffinity(0, sizeof one, &one);
	pid_t pid = fork();
	if (pid == 0) {
		personality(ADDR_NO_RANDOMIZE);
		ptrace(PTRACE_TRACEME, 0, NULL, NULL);
		dup2(2, 1);
		execv(argv[i], argv + i);
		_exit(127);
	}
	waitpid(pid, &status, 0);
	if (from)
		run_to(pid, from);
	ptrace(PTRACE_GETREGS, pid, NULL, &r);
	for (;;) {
		uint64_t rip = r.rip;
		static struct { uint64_t pc; enum what what; bool call; } known[65536]; /* the programs' code stays what it is */
		if (known[rip & 65535].pc != rip) {
			known[rip & 65535].pc = rip;
			known[rip & 65535].what = what_at(pid, rip);
			known[rip & 65535].call = (ptrace(PTRACE_PEEKTEXT, pid, (void *)rip, NULL) & 0xffff) == 0x050f;
		}
		enum what what = known[rip & 65535].what;
		if (r.rax == 15 && known[rip & 65535].call)
			what = SIGNAL_RETURN;
		if (signal)
			what = SIGNAL;
		if (ptrace(PTRACE_SINGLESTEP, pid, NULL, (void *)(long)signal))
			break;
		signal = 0;
		waitpid(pid, &status, 0);
		bool ended = !WIFSTOPPED(status);
		if (!ended)
			ptrace(PTRACE_GETREGS, pid, NULL, &r);
		if (!ended && WSTOPSIG(status) != SIGTRAP) { /* its handler is entered by the next step; nothing was executed, or all of what was */
			signal = WSTOPSIG(status);
			if (r.rip == rip)
				continue;
		}
		if (!ended && r.rip == rip && what == REP)
			continue;
		all += what != SIGNAL;
		for (size_t k = 0; k < n_regions; k++) {
			regions[k].instructions += regions[k].in && what != SIGNAL;
			if (!ended)
				arrive(&regions[k], pid, what, &r);
		}
		if (ended)
			break;
	}
	printf("all\t1\t1\t%lu\n", (unsigned long)all);
	for (size_t k = 0; k < n_regions; k++)
		printf("%s\t%lu\t%lu\t%lu\n", regions[k].name, (unsigned long)regions[k].entries, (unsigned long)regions[k].exits,
		       (unsigned long)regions[k].instructions);
	return 0;
}
