/* fact: code that ends with a page beside unmapped memory runs; what runs over the end faults there, precisely
 * Also an instruction cut by the end, and lengths of 15 and 16 bytes. */
#include "trap.h"

static long at_rip, at_addr, at_code, faults;
static char *code;
static int repair;
static void handler(int signal, siginfo_t *info, void *context)
{
	long long *r = trap_registers(context);
	(void)signal;
	at_rip = r[REG_RIP], at_addr = (long)info->si_addr, at_code = info->si_code;
	faults++;
	if (repair)
		mprotect(code + 4096, 4096, PROT_READ | PROT_EXEC);
	else {
		r[REG_RIP] = *(long *)r[REG_RSP]; /* as if it returned */
		r[REG_RSP] += 8;
	}
}

int main(void)
{
	code = map_anywhere(8192, PROT_READ | PROT_WRITE | PROT_EXEC);
	munmap(code + 4096, 4096);
	on_signal(SIGSEGV, handler, 0);
	write_return(code + 4090, 123);
	long wrong = 0;
	for (int i = 0; i < 100; i++)
		wrong += call_code(code + 4090) != 123;
	fact(wrong == 0 && faults == 0, "ret as the page's last byte");
	code[4094] = (char)0xff, code[4095] = (char)0xc0; /* inc %eax, then nothing */
	call_code(code + 4094);
	fact(faults == 1 && at_rip == (long)code + 4096 && at_addr == (long)code + 4096,
	     "code that runs over the end faults at the next page");
	code[4093] = (char)0xb8, code[4094] = 1, code[4095] = 0; /* mov $imm32, cut */
	call_code(code + 4093);
	fact(faults == 2 && at_rip == (long)code + 4093 && at_addr == (long)code + 4096,
	     "an instruction cut by the end faults with its own rip and the next page's address");
	memset(code + 100, 0x66, 14);
	code[114] = (char)0x90, code[115] = (char)0xc3; /* fifteen bytes */
	call_code(code + 100);
	fact_equal(faults, 2, "an instruction of fifteen bytes runs");
	memset(code + 200, 0x66, 15);
	code[215] = (char)0x90, code[216] = (char)0xc3; /* sixteen */
	call_code(code + 200);
	fact(faults == 3 && at_rip == (long)code + 200 && at_code == SI_KERNEL,
	     "one of sixteen is a general protection fault at it");
	/* the second page appears while the instruction waits */
	mmap(code + 4096, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
	write_return(code + 4093, 70000);
	mprotect(code + 4096, 4096, PROT_NONE);
	repair = 1;
	fact(call_code(code + 4093) == 70000 && faults == 4, "and goes on when the page is repaired");
	/* a good block that runs into a bad instruction: what is before it runs first */
	static const unsigned char text[] = { 0xb8, 9, 0, 0, 0, 0x89, 0x07, 0x0f, 0x0b };
	int value = 0;
	pid_t child = fork();
	if (child == 0) {
		memcpy(code + 300, text, sizeof text);
		((void (*)(int *))(code + 300))(&value);
	}
	fact_equal(end_of(child), 1000 + SIGILL, "a bad instruction at a block's end ends by SIGILL");
	return trap_done();
}
