/*
 * A signal at each place of a stub (src/engine/runtime/inline/out.c) where the stack is the runtime's, or what was not found is made already: the
 * program goes on, and what counts itself is counted once. Prints TAP.
 *
 *     stubs TARE FOLDER        runs TARE count … -- stubs --walk FILE, and traces that: a breakpoint in each stub, at which a signal is sent
 *
 * Signals by time seldom come there: a stub takes some cycles. Nothing here is timed: the program waits until it is traced, and it passes more stubs than
 * are asked for.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#define STUBS_MOST 200000
#define EACH 20 /* signals at each place */

/* ---- the program ---- */

static char memory[1 << 20], copy[4096];
static volatile int go;

static void handler(int signo) { (void)signo; }

static __attribute__((noinline)) uint64_t walk(uint64_t n, uint64_t at)
{
	uint64_t sum = 0, carries = 0;
	__asm__ volatile("1:\n\t"
			 "mov %1, -64(%%rsp)\n\t"
			 "imul $0x5851f42d, %2, %2\n\t"
			 "add $0x14057b7, %2\n\t"
			 "mov %2, %%rax\n\t"
			 "and $0xfffc0, %%eax\n\t"
			 "mov 16(%4,%%rax), %%rcx\n\t"
			 "add %2, %0\n\t"
			 "mov 3(%4,%%rax), %%rdx\n\t"
			 "adc $0, %3\n\t"
			 "add %%rdx, %0\n\t"
			 "mov %%rdx, 33(%4,%%rax)\n\t"
			 "sub $1, %1\n\t"
			 "mov -64(%%rsp), %%rdx\n\t"
			 "lea -1(%%rdx), %%rdx\n\t"
			 "cmp %%rdx, %1\n\t"
			 "jne 2f\n\t"
			 "test %1, %1\n\t"
			 "jnz 1b\n\t"
			 "2:" : "+&r"(sum), "+&r"(n), "+&r"(at), "+&r"(carries) : "r"(memory) : "rax", "rcx", "rdx", "memory", "cc");
	return sum + carries * 3 + n;
}

static __attribute__((noinline)) uint64_t strings(uint64_t at)
{
	void *to = copy + 5, *from = memory + 64 * at + 3;
	uint64_t n = 40, bit = 8 * at % 4096, set = 0;
	__asm__ volatile("rep movsq" : "+D"(to), "+S"(from), "+c"(n) : : "memory");
	__asm__ volatile("btcq %1, %2\n\tadc $0, %0" : "+r"(set) : "r"(bit), "m"(*(long *)(copy + 9)) : "memory", "cc");
	return set + (uint64_t)copy[at % 300 + 5];
}

static int program(const char *ready)
{
	struct sigaction action = {.sa_handler = handler, .sa_flags = SA_RESTART};
	uint64_t sum = 0;
	sigaction(SIGUSR1, &action, NULL);
	for (unsigned i = 0; i < sizeof memory; i++)
		memory[i] = (char)(i * 7);
	for (uint64_t i = 0; i < 40; i++)
		sum += walk(20, i) + strings(i);
	FILE *file = fopen(ready, "w");
	if (!file)
		return 1;
	/* as many digits in each run: what prints the number is counted, too */
	char pid[] = "0000000";
	for (int rest = getpid(), i = sizeof pid - 2; i >= 0; i--, rest /= 10)
		pid[i] = (char)('0' + rest % 10);
	fprintf(file, "%s %p\n", pid, (void *)&go);
	fclose(file);
	while (!go)
		usleep(1000);
	for (uint64_t i = 0; i < 20000; i++)
		sum += walk(20, i) + strings(i % 100);
	printf("%lx\n", (unsigned long)sum);
	return 0;
}

/* ---- its tracer ---- */

enum where { CALL, BEHIND_IT, JUMP };
static const char *const names[] = {"the call", "behind the call", "the jump back"};

struct stub { uint64_t at; uint8_t byte; };
static struct stub stubs[STUBS_MOST];
static unsigned n_stubs;

static void find_stubs(int pid, int mem)
{
	static const uint8_t load_and_call[] = {0x65, 0x48, 0x8b, 0x24, 0x25, 0x40, 0, 0, 0, 0xe8}; /* mov rsp, gs:[runtime_rsp]; call */
	char path[64], line[512], access[8];
	uint64_t from, to;
	snprintf(path, sizeof path, "/proc/%d/maps", pid);
	FILE *file = fopen(path, "r");
	n_stubs = 0;
	while (file && fgets(line, sizeof line, file)) {
		if (sscanf(line, "%lx-%lx %7s", &from, &to, access) != 3 || strcmp(access, "rwxp") || to - from < 1 << 20)
			continue;
		uint8_t *bytes = malloc(to - from);
		if (pread(mem, bytes, to - from, (off_t)from) == (ssize_t)(to - from))
			for (uint64_t i = 0; i + sizeof load_and_call < to - from && n_stubs < STUBS_MOST; i++)
				if (!memcmp(bytes + i, load_and_call, sizeof load_and_call))
					stubs[n_stubs++].at = from + i + sizeof load_and_call - 1;
		free(bytes);
	}
	fclose(file);
}

static void set_breakpoints(int mem, enum where where)
{
	for (unsigned i = 0; i < n_stubs; i++) {
		uint8_t behind = 0, trap = 0xcc;
		pread(mem, &behind, 1, (off_t)(stubs[i].at + 5));
		bool slot = behind == 0x65; /* mov rsp, gs:[…]: by that byte the runtime knows such a stub */
		if (slot && where == BEHIND_IT) {
			stubs[i].at = 0;
			continue;
		}
		stubs[i].at += where == CALL ? 0 : where == BEHIND_IT ? 5 : slot ? 14 : 8;
		pread(mem, &stubs[i].byte, 1, (off_t)stubs[i].at);
		pwrite(mem, &trap, 1, (off_t)stubs[i].at);
	}
}

static void clear_breakpoints(int mem)
{
	for (unsigned i = 0; i < n_stubs; i++)
		if (stubs[i].at)
			pwrite(mem, &stubs[i].byte, 1, (off_t)stubs[i].at);
}

/* Each stub once, at most `each` of them. False: it ended. */
static bool send_signals(int pid, int mem, unsigned each, unsigned *sent, int *pass_on)
{
	int status;
	while (*sent < each) {
		struct user_regs_struct reg;
		unsigned i = 0;
		if (ptrace(PTRACE_CONT, pid, 0, *pass_on) || waitpid(pid, &status, __WALL) < 0 || !WIFSTOPPED(status))
			return false;
		*pass_on = 0;
		if (status >> 16)
			continue;
		if (WSTOPSIG(status) != SIGTRAP) {
			*pass_on = WSTOPSIG(status);
			continue;
		}
		ptrace(PTRACE_GETREGS, pid, 0, &reg);
		reg.rip--;
		while (i < n_stubs && stubs[i].at != reg.rip)
			i++;
		if (i == n_stubs)
			return false;
		pwrite(mem, &stubs[i].byte, 1, (off_t)stubs[i].at);
		stubs[i].at = 0;
		ptrace(PTRACE_SETREGS, pid, 0, &reg);
		syscall(SYS_tgkill, pid, pid, SIGUSR1);
		++*sent;
	}
	return true;
}

struct result { char output[64]; unsigned long misaligned; unsigned sent[3]; int status; };

static bool run(const char *self, const char *tare, const char *folder, unsigned each, struct result *result)
{
	char ready[300], report[300], line[1000], memory_path[64];
	int pid = 0, status, out[2], pass_on = 0;
	unsigned long address = 0;
	snprintf(ready, sizeof ready, "%s/ready", folder);
	snprintf(report, sizeof report, "%s/report", folder);
	unlink(ready);
	unlink(report);
	*result = (struct result){0};
	if (pipe(out))
		return false;
	int child = fork();
	if (!child) {
		dup2(out[1], 1);
		close(out[0]);
		close(out[1]);
		execl(tare, tare, "count", "--reproducible", "--csv", "-o", report, "--on", "model:host", "-e", "l1d-misses,misaligned-accesses", "--", self,
		      "--walk", ready, NULL);
		_exit(127);
	}
	close(out[1]);
	while (!address && waitpid(child, &status, WNOHANG) == 0) {
		FILE *file = fopen(ready, "r");
		if (file && fscanf(file, "%d %lx", &pid, &address) != 2)
			address = 0;
		if (file)
			fclose(file);
		usleep(1000);
	}
	if (address && ptrace(PTRACE_SEIZE, pid, 0, 0)) {
		printf("ok 1 - signals at each place of a stub # SKIP no process may be traced here: %s\n1..1\n", strerror(errno));
		kill(pid, SIGKILL);
		exit(0);
	}
	if (!address || ptrace(PTRACE_INTERRUPT, pid, 0, 0) || waitpid(pid, &status, __WALL) < 0)
		return false;
	snprintf(memory_path, sizeof memory_path, "/proc/%d/mem", pid);
	int mem = open(memory_path, O_RDWR), one = 1;
	pwrite(mem, &one, sizeof one, (off_t)address);
	bool runs = true;
	for (int where = CALL; where <= JUMP && each && runs; where++) {
		find_stubs(pid, mem);
		set_breakpoints(mem, (enum where)where);
		runs = send_signals(pid, mem, each, &result->sent[where], &pass_on);
		clear_breakpoints(mem);
	}
	ptrace(PTRACE_DETACH, pid, 0, pass_on);
	close(mem);
	ssize_t n = read(out[0], result->output, sizeof result->output - 1);
	close(out[0]);
	while (waitpid(child, &status, 0) < 0 && errno == EINTR)
		;
	result->status = status;
	FILE *file = fopen(report, "r");
	while (file && fgets(line, sizeof line, file)) {
		char *at = strstr(line, "misaligned-accesses:u,user,,,,,");
		if (at)
			result->misaligned = strtoul(at + strlen("misaligned-accesses:u,user,,,,,"), NULL, 10);
	}
	if (file)
		fclose(file);
	return n > 0;
}

int main(int argc, char **argv)
{
	struct result without, with;
	int bad = 0, at = 0;
	if (argc == 3 && !strcmp(argv[1], "--walk"))
		return program(argv[2]);
	if (argc != 3)
		return 2;
	bool ran = run(argv[0], argv[1], argv[2], 0, &without), still = run(argv[0], argv[1], argv[2], EACH, &with);
	struct { bool holds; const char *fact; } facts[] = {
		{ran && !without.status && without.misaligned, "the program runs, and is counted"},
		{still && !with.status && !strcmp(with.output, without.output), "with a signal at each place of a stub it computes the same"},
		{with.misaligned == without.misaligned, "what counts itself is counted once"},
	};
	for (unsigned i = 0; i < sizeof facts / sizeof *facts; i++, bad += !facts[at++].holds)
		printf("%sok %u - %s\n", facts[i].holds ? "" : "not ", i + 1, facts[i].fact);
	for (int where = CALL; where <= JUMP; where++, bad += with.sent[where - 1] < EACH)
		printf("%sok %d - %d signals came at %s\n", with.sent[where] < EACH ? "not " : "", where + 4, EACH, names[where]);
	printf("# status %x, output %s, misaligned %lu of %lu; sent %u %u %u\n1..6\n", with.status, strtok(with.output, "\n"), with.misaligned, without.misaligned,
	       with.sent[0], with.sent[1], with.sent[2]);
	return bad > 0;
}
