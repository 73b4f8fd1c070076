/* fact: the trap flag single-steps the program through its own instructions, one SIGTRAP each, and one for each iteration of a rep */
#include "trap.h"

static long steps, seen[64];
static void handler(int signal, siginfo_t *info, void *context)
{
	long long *r = trap_registers(context);
	(void)signal;
	if (steps < 64)
		seen[steps] = info->si_code == TRAP_TRACE ? r[REG_RIP] : -1;
	steps++;
}

static void as_expected(char *const *expected, long n, const char *text)
{
	bool right = steps == n + 3; /* pushf, and, popf */
	for (long i = 0; i < n; i++)
		right &= seen[i] == (long)expected[i];
	for (long i = 0; !right && i < steps && i < 64; i++)
		dprintf(2, "# %s %ld: %lx, expected %lx\n", text, i, seen[i], i < n ? (long)expected[i] : 0);
	fact(right, text);
	steps = 0;
}

#define STEPPED(setup, code)                                                                                      \
	asm volatile("sub $128, %%rsp; " setup "; pushfq; orl $0x100, (%%rsp); popfq\n" code                      \
		     "; pushfq; andl $~0x100, (%%rsp); popfq; nop; nop; add $128, %%rsp" ::                        \
			 : "rax", "rbx", "rcx", "rdx", "rsi", "rdi", "r8", "r9", "r10", "r11", "cc", "memory")

char from_area[64], to_area[64];
extern char rep_1[], rep_2[], rep_3[], repe_1[], repe_2[], zero_1[], zero_2[];
static void repeated(void)
{
	STEPPED("lea from_area(%%rip), %%rsi; lea to_area(%%rip), %%rdi; mov $3, %%ecx",
		"nop\nrep_1: rep movsb\nrep_2: nop\nrep_3:");
	as_expected((char *[]){ rep_1, rep_1, rep_1, rep_2, rep_3 }, 5, "a rep shows itself until its last iteration");
	STEPPED("lea from_area(%%rip), %%rsi; lea to_area(%%rip), %%rdi; movb $1, 1(%%rsi); mov $9, %%ecx",
		"nop\nrepe_1: repe cmpsb\nrepe_2:");
	as_expected((char *[]){ repe_1, repe_1, repe_2 }, 3, "also one that ends by what it finds");
	STEPPED("xor %%ecx, %%ecx", "nop\nzero_1: rep stosb\nzero_2:");
	as_expected((char *[]){ zero_1, zero_2 }, 2, "one without an iteration is one step");
}

/* The kernel is left to the instruction behind the call, which is executed before the flag is looked at. Where it is left by FRED's
   instructions (Linux 6.9), the call itself may be a step. */
static bool has_fred(void)
{
	static char text[1 << 16];
	int file = open("/proc/cpuinfo", O_RDONLY);
	ssize_t bytes = file >= 0 ? read(file, text, sizeof text - 1) : 0;
	if (file >= 0)
		close(file);
	return bytes > 0 && strstr(text, " fred ") != NULL;
}

extern char call_1[], call_2[], call_3[], again_1[], again_2[], again_3[];
static void calls(void)
{
	STEPPED("mov $39, %%eax", "nop\ncall_1: syscall; nop\ncall_2: nop\ncall_3:");
	as_expected((char *[]){ call_1, call_2, call_3 }, 3, "a call and what is behind it are one step");
	STEPPED("mov $2, %%ebx", "again_1: mov $39, %%eax\nagain_2: syscall; dec %%ebx\nagain_3: jnz again_1");
	as_expected((char *[]){ again_2, again_3, again_1, again_2, again_3, again_3 + 2 }, 6, "also in a loop");
}

extern char step_1[], step_2[], step_3[], step_4[], step_5[], step_6[];
int main(void)
{
	on_signal(SIGTRAP, handler, 0);
	asm volatile(
	    "sub $128, %%rsp; pushfq; orl $0x100, (%%rsp); popfq\n"
	    "nop\nstep_1: mov $2, %%ecx\nstep_2: dec %%ecx\nstep_3: jnz step_2\nstep_4: call step_6\n"
	    "step_5: jmp 3f\nstep_6: ret\n3: pushfq; andl $~0x100, (%%rsp); popfq; nop; nop; add $128, %%rsp" ::
		: "rcx", "cc", "memory");
	char *expected[] = { step_1, step_2, step_3, step_2, step_3, step_4, step_6, step_5 };
	bool right = true;
	for (int i = 0; i < 8; i++)
		right &= seen[i] == (long)expected[i];
	fact(right, "each step shows the next instruction's address");
	/* after step_5: the jump's target, then pushf, and, popf (its trap is taken by the old flag) */
	fact_equal(steps, 8 + 1 + 3, "one SIGTRAP for each instruction and none afterwards");
	steps = 0;
	repeated();
	if (!has_fred())
		calls();
	return trap_done();
}
