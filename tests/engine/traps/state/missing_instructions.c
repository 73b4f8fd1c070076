/* fact: instructions that the engine does itself are SIGILL where the processor has none: those behind APX's prefix, and gs's base */
#include "trap.h"

static const unsigned char *at;
static unsigned length;
static volatile int signals, wrong;
static void handler(int signal, siginfo_t *info, void *context)
{
	long long *r = trap_registers(context);
	(void)signal;
	signals++;
	wrong += info->si_addr != at || r[REG_RIP] != (long)at || r[REG_TRAPNO] != 6;
	r[REG_RIP] += length;
}

int main(void)
{
	/* where there is APX each goes on behind itself, too */
	static const struct {
		const char *name;
		unsigned char bytes[16];
		unsigned length;
	} all[] = {
		{ "ret", { 0xd5, 0x0a, 0xc3 }, 3 },
		{ "ret imm16", { 0xd5, 0x00, 0xc2, 0, 0 }, 5 },
		{ "jmpabs", { 0xd5, 0x00, 0xa1, 0, 0, 0, 0, 0, 0, 0, 0 }, 11 },
		{ "jmp", { 0xd5, 0x00, 0xeb, 0 }, 4 },
		{ "jcc", { 0xd5, 0x00, 0x74, 0 }, 4 },
		{ "long jcc", { 0xd5, 0x80, 0x85, 0, 0, 0, 0 }, 7 },
		{ "call", { 0xd5, 0x00, 0xe8, 0, 0, 0, 0 }, 7 },
		{ "syscall", { 0xd5, 0x80, 0x05 }, 3 },
		{ "ud2", { 0xd5, 0x80, 0x0b }, 3 },
		{ "rdgsbase", { 0xf3, 0x0f, 0xae, 0xc8 }, 4 },
		{ "wrgsbase", { 0xf3, 0x41, 0x0f, 0xae, 0xd8 }, 5 },
		{ "mov", { 0xd5, 0x00, 0x89, 0xc0 }, 4 },
	};
	on_signal(SIGILL, handler, 0);
	char *page = map_anywhere(4096, PROT_READ | PROT_WRITE | PROT_EXEC);
	for (unsigned i = 0; i < sizeof all / sizeof *all; i++) {
		unsigned char *code = (unsigned char *)page + 64 * i;
		memcpy(code, all[i].bytes, all[i].length);
		code[all[i].length] = 0xc3;
		if (all[i].bytes[2] == 0xa1)
			*(uint64_t *)(code + 3) = (uint64_t)(code + 11);
		at = code, length = all[i].length, signals = wrong = 0;
		asm volatile("mov $39, %%eax; xor %%r8d, %%r8d; sub $128, %%rsp; call *%0; add $128, %%rsp" : : "r"(code) : "rax", "rcx", "r8", "r11", "memory", "cc");
		dprintf(1, "%s: %d signals, %s\n", all[i].name, signals, wrong ? "elsewhere" : "there");
	}
	fact(signals <= 1, "and the program goes on");
	return trap_done();
}
