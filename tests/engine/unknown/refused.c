/* What no processor of today executes raises SIGILL, at its own address, once: the handler goes on behind it. Each in its own words. */
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>

static const unsigned char *at;
static unsigned length, wrong, times;

static void handler(int signo, siginfo_t *info, void *context)
{
	ucontext_t *c = context;
	times++;
	wrong += signo != SIGILL || info->si_addr != at || c->uc_mcontext.gregs[REG_RIP] != (long long)at || c->uc_mcontext.gregs[REG_TRAPNO] != 6;
	c->uc_mcontext.gregs[REG_RIP] += length;
}

int main(void)
{
	static const struct { unsigned char bytes[16]; unsigned length; } all[] = {
		{{0x06}, 1}, {{0x0f, 0x39, 0xc0}, 3}, {{0xea, 0, 0, 0, 0, 0, 0}, 7}, {{0x0f, 0x04, 0xc0}, 3}, {{0xf0, 0x90}, 2},
		{{0xf0, 0x0f, 0xd4, 0xc0}, 4}, {{0x66, 0xc5, 0xf9, 0xd4, 0xc0}, 5}, {{0xc4, 0xe2, 0x7f, 0xf8, 0xc0}, 5},
		{{0xc4, 0xe4, 0x7f, 0xf8, 0xc0}, 5}, {{0x62, 0xf7, 0x7f, 0x08, 0x02, 0xc0, 0, 0, 0, 0}, 10}, {{0x62, 0xf0, 0x7f, 0x08, 0xf8, 0xc0}, 6},
		{{0x65, 0x0f, 0x3a, 0xff, 0x04, 0x25, 0, 0, 0, 0, 1}, 11}, {{0x65, 0xc4, 0xe2, 0x7f, 0xf8, 0x00}, 6}, {{0x0f, 0xae, 0xff & 0xd1}, 3},
	};
	unsigned char *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct sigaction action = {.sa_sigaction = handler, .sa_flags = SA_SIGINFO};
	sigaction(SIGILL, &action, NULL);
	sigaction(SIGSEGV, &action, NULL);
	for (unsigned i = 0; i < sizeof all / sizeof *all; i++) {
		unsigned char *code = page + 64 * i;
		memcpy(code, all[i].bytes, all[i].length);
		code[all[i].length] = 0xc3;
		at = code, length = all[i].length, times = wrong = 0;
		__asm__ volatile("call *%0" : : "r"(code) : "memory", "cc", "rax");
		printf("%u: %u signals, %u wrong\n", i, times, wrong);
	}
	return 0;
}
