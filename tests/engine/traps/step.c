/* An independent witness of exact counts: runs a program by single steps (ptrace) and counts what retires.
 *
 *     step [--quiet] PROGRAM [ARGUMENT...]          prints `event count` lines to stderr, the program's output
 * untouched
 *
 * Rules: 1. a `rep` string instruction is one instruction, a step that stays on it is an iteration of it; where a
 *           fault interrupts it, it goes on behind the handler, and is still the same one;
 *        2. a faulting instruction counts when it completes; 3. the exit system call counts;
 *        4. a block begins at the first instruction, behind and at the target of every control transfer that ran
 *           (jcc, jmp, loop, call, ret); a system call ends none; `blocks` sums the executions of such leaders.
 * Threads and children are not followed. About 30 µs a step. Own, small decoding: opcodes of transfers only.
 */
#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/personality.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

enum kind { OTHER, CONDITIONAL, JUMP, JUMP_INDIRECT, CALL, CALL_INDIRECT, RETURN, REP, SYSCALL, KINDS };
static uint64_t count[KINDS], instructions, taken, iterations;

/* Executions of each address: open addressing, grown at half full. */
struct place {
	uint64_t address, executions;
	bool leader;
};
static struct place *places;
static size_t capacity, used;

static struct place *place_of(uint64_t address)
{
	if (2 * used >= capacity) {
		struct place *old = places;
		size_t old_capacity = capacity;
		capacity = capacity ? 2 * capacity : 1024;
		places = calloc(capacity, sizeof *places);
		used = 0;
		for (size_t i = 0; i < old_capacity; i++)
			if (old[i].address)
				*place_of(old[i].address) = old[i];
		free(old);
	}
	size_t at = address * 0x9e3779b97f4a7c15 >> 20 & (capacity - 1);
	while (places[at].address && places[at].address != address)
		at = (at + 1) & (capacity - 1);
	if (!places[at].address) {
		places[at].address = address;
		used++;
	}
	return &places[at];
}

/* The kind of the instruction in `byte`, and for a conditional jump its length. */
static enum kind kind_of(const uint8_t *byte, int *length)
{
	int at = 0;
	bool rep = false;
	for (; at < 14; at++) {
		uint8_t b = byte[at];
		if (b == 0xf2 || b == 0xf3)
			rep = true;
		else if (b != 0x66 && b != 0x67 && b != 0x2e && b != 0x36 && b != 0x3e && b != 0x26 && b != 0x64 &&
			 b != 0x65 && b != 0xf0)
			break;
	}
	if ((byte[at] & 0xf0) == 0x40)
		at++;
	uint8_t op = byte[at], next = byte[at + 1];
	*length = at + 2;
	if ((op & 0xf0) == 0x70 || (op >= 0xe0 && op <= 0xe3))
		return CONDITIONAL;
	if (op == 0x0f && (next & 0xf0) == 0x80) {
		*length = at + 6;
		return CONDITIONAL;
	}
	if (op == 0xeb || op == 0xe9)
		return JUMP;
	if (op == 0xe8)
		return CALL;
	if (op == 0xc3 || op == 0xc2 || op == 0xcb || op == 0xca || op == 0xcf)
		return RETURN;
	if (op == 0xff && (next >> 3 & 7) >= 2 && (next >> 3 & 7) <= 3)
		return CALL_INDIRECT;
	if (op == 0xff && (next >> 3 & 7) >= 4 && (next >> 3 & 7) <= 5)
		return JUMP_INDIRECT;
	if (op == 0x0f && next == 0x05)
		return SYSCALL;
	if (rep && ((op >= 0xa4 && op <= 0xa7) || (op >= 0xaa && op <= 0xaf) || (op >= 0x6c && op <= 0x6f)))
		return REP;
	return OTHER;
}

int main(int argc, char **argv)
{
	bool quiet = argc > 1 && !strcmp(argv[1], "--quiet");
	argv += 1 + quiet;
	if (!argv[0]) {
		fprintf(stderr, "step: a program is needed: step [--quiet] PROGRAM [ARGUMENT...]\n");
		return 2;
	}
	pid_t child = fork();
	if (child == 0) {
		personality(ADDR_NO_RANDOMIZE);
		ptrace(PTRACE_TRACEME, 0, NULL, NULL);
		execvp(argv[0], argv);
		fprintf(stderr, "step: cannot run '%s': %s\n", argv[0], strerror(errno));
		_exit(127);
	}
	int status;
	if (waitpid(child, &status, 0) != child || !WIFSTOPPED(status))
		return 127;
	ptrace(PTRACE_SETOPTIONS, child, NULL, PTRACE_O_EXITKILL);
	uint64_t last_rep = 0;
	struct user_regs_struct interrupted = { 0 }; /* a rep with iterations behind it, by a fault; rip 0: none */
	long to_deliver = 0;
	bool leader = true;
	for (;;) {
		struct user_regs_struct before, after;
		uint8_t byte[16] = { 0 };
		ptrace(PTRACE_GETREGS, child, NULL, &before);
		for (size_t got = 16; got >= 1; got--) { /* less at a page's end */
			struct iovec to = { byte, got }, from = { (void *)before.rip, got };
			if (process_vm_readv(child, &to, 1, &from, 1, 0) == (ssize_t)got)
				break;
		}
		ptrace(PTRACE_SINGLESTEP, child, NULL, (void *)to_deliver);
		bool delivered = to_deliver != 0;
		to_deliver = 0;
		if (waitpid(child, &status, 0) != child)
			return 127;
		bool ended = WIFEXITED(status) || WIFSIGNALED(status);
		bool step_done = WIFEXITED(status) || (WIFSTOPPED(status) && WSTOPSIG(status) == SIGTRAP);
		if (WIFSTOPPED(status) && WSTOPSIG(status) != SIGTRAP)
			to_deliver = WSTOPSIG(status);
		if (!ended)
			ptrace(PTRACE_GETREGS, child, NULL, &after);
		/* A signal may stop the program before its next step ran: nothing moved. Delivery stops at the
		 * handler's first instruction. */
		if (delivered || !step_done) {
			if (leader && !delivered && !ended)
				place_of(before.rip)->leader =
				    true; /* it faults now and will run without a transfer to it */
			if (delivered)
				leader = true;
			if (!delivered && !ended && after.rip != before.rip)
				step_done =
				    true; /* the instruction completed, then the signal came (kill of itself) */
			else {
				if (!delivered && last_rep == before.rip)
					interrupted = before;
				last_rep = 0;
				if (ended)
					break;
				continue;
			}
		}
		int length;
		enum kind kind = kind_of(byte, &length);
		if (kind == REP && before.rip == interrupted.rip && before.rcx == interrupted.rcx &&
		    before.rsp == interrupted.rsp) {
			last_rep = before.rip;
			interrupted.rip = 0;
		}
		if (kind == REP && before.rcx != 0)
			iterations++;
		if (!(kind == REP && last_rep == before.rip)) {
			instructions++;
			count[kind]++;
			struct place *here = place_of(before.rip);
			here->executions++;
			if (leader)
				here->leader = true;
			leader = kind >= CONDITIONAL && kind <= RETURN;
		}
		last_rep = kind == REP ? before.rip : 0;
		if (ended)
			break;
		if (kind == REP && after.rip != before.rip)
			last_rep = 0;
		if (kind == CONDITIONAL && after.rip != before.rip + (uint64_t)length)
			taken++;
	}
	uint64_t blocks = 0;
	for (size_t i = 0; i < capacity; i++)
		blocks += places[i].leader ? places[i].executions : 0;
	if (!quiet) {
		const char *name[KINDS] = { 0 };
		name[CONDITIONAL] = "conditional", name[JUMP] = "unconditional",
		name[JUMP_INDIRECT] = "jumps_indirect";
		name[CALL] = "calls_direct", name[CALL_INDIRECT] = "calls_indirect", name[RETURN] = "returns";
		name[REP] = "rep_instructions", name[SYSCALL] = "syscalls";
		fprintf(stderr, "instructions %lu\nblocks %lu\ntaken %lu\nnot_taken %lu\nrep_iterations %lu\n",
			instructions, blocks, taken, count[CONDITIONAL] - taken, iterations);
		uint64_t branches = 0;
		for (int i = CONDITIONAL; i <= RETURN; i++)
			branches += count[i];
		fprintf(stderr, "branches %lu\n", branches);
		for (int i = 0; i < KINDS; i++)
			if (name[i])
				fprintf(stderr, "%s %lu\n", name[i], count[i]);
	}
	free(places);
	if (WIFSIGNALED(status)) {
		fprintf(stderr, "step: '%s' ended by signal %d\n", argv[0], WTERMSIG(status));
		return 128 + WTERMSIG(status);
	}
	return WEXITSTATUS(status);
}
