/*
 * Records in a row of addresses close together: at every distance from the ends of lines and pages, of all widths, misaligned, with flags and rax
 * alive around them; of lines that are only read, or only written; and such that the second or a later one faults, or an instruction between them does. What they compute is checked.
 */
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

static char large[1 << 19] __attribute__((aligned(4096)));
static char *area; /* four pages; the third may be read only, the fourth not at all */
static sigjmp_buf out;
static volatile unsigned faults;

static void handler(int signal)
{
	(void)signal;
	faults++;
	siglongjmp(out, 1);
}

/* Six pushes and pops with the stack anywhere; add and sub of rsp around them, whose flags nobody reads, and a cmp whose flags are read. */
static uint64_t stack_at(char *top)
{
	uint64_t sum = 1;
	__asm__ volatile("mov %%rsp, %%r11\n\t"
			 "mov %1, %%rsp\n\t"
			 "mov $3, %%ecx\n\t"
			 "1: push %%rax\n\tpush %%rcx\n\tpush %%rdx\n\tpush %%rsi\n\tpush %%rdi\n\tpush %%r11\n\t"
			 "sub $24, %%rsp\n\t"
			 "mov %%rcx, 8(%%rsp)\n\tmov %%rcx, 16(%%rsp)\n\tmov %%ecx, (%%rsp)\n\t"
			 "cmp $2, %%rcx\n\t"
			 "mov 8(%%rsp), %%rdx\n\tmov 16(%%rsp), %%rsi\n\tmov (%%rsp), %%edi\n\t"
			 "lea (%%rdx, %%rsi), %%rdx\n\t"
			 "lea (%%rdx, %%rdi), %%rdx\n\t"
			 "cmovb %%rsi, %%rdx\n\t"
			 "lea (%0, %%rdx), %0\n\t"
			 "add $24, %%rsp\n\t"
			 "pop %%r11\n\tpop %%rdi\n\tpop %%rsi\n\tpop %%rdx\n\tpop %%rcx\n\tpop %%rax\n\t"
			 "dec %%ecx\n\t"
			 "jnz 1b\n\t"
			 "mov %%r11, %%rsp"
			 : "+r"(sum)
			 : "r"(top)
			 : "rax", "rcx", "rdx", "rsi", "rdi", "r11", "memory", "cc");
	return sum;
}

/* Fields, by rax, with the carry alive across them. */
static uint64_t fields_at(char *p)
{
	uint64_t sum = 0, base = (uint64_t)p;
	__asm__ volatile("mov $5, %%ecx\n\t"
			 "1: cmp $3, %%ecx\n\t"
			 "mov (%%rax), %%rdx\n\t"
			 "mov 8(%%rax), %%esi\n\t"
			 "movzwl 12(%%rax), %%edi\n\t"
			 "adc %%rdx, %0\n\t"
			 "mov %%rsi, 16(%%rax)\n\t"
			 "mov %%rdx, 24(%%rax)\n\t"
			 "mov %%rdi, 40(%%rax)\n\t"
			 "addl $1, 4(%%rax)\n\t"
			 "addl $1, (%%rax)\n\t"
			 "adc %%rsi, %0\n\t"
			 "movb $7, 13(%%rax)\n\t"
			 "mov 12(%%rax), %%dl\n\t"
			 "mov 13(%%rax), %%dh\n\t"
			 "xor %%rdx, %0\n\t"
			 "dec %%ecx\n\t"
			 "jnz 1b"
			 : "+r"(sum), "+a"(base)
			 :
			 : "rcx", "rdx", "rsi", "rdi", "memory", "cc");
	return sum;
}

static uint64_t fields_again(char *p)
{
	uint64_t sum = 0;
	volatile uint64_t *q = (volatile uint64_t *)p;
	for (unsigned i = 0; i < 4; i++)
		sum = sum * 3 + q[0] + q[2] * 5 + q[1] + q[4] + q[3];
	return sum;
}

/* One line is only read, the next one only written, or the other way round; both are there the second time. */
static void spread_at(char *p)
{
	for (unsigned i = 0; i < 2; i++) {
		__asm__ volatile("mov (%0), %%rdx\n\tmov 16(%0), %%rsi\n\tmov %%rdx, 32(%0)" : : "r"(p) : "rdx", "rsi", "memory");
		__asm__ volatile("mov %0, 128(%0)\n\tmov 144(%0), %%rsi\n\tmov 160(%0), %%rdx" : : "r"(p) : "rdx", "rsi", "memory");
	}
}

static void write_across(char *p) /* the later ones into a page that is read only, or not there */
{
	__asm__ volatile("mov %0, (%0)\n\tmov %0, 8(%0)\n\tmov %0, 16(%0)\n\tmov %0, 24(%0)" : : "r"(p) : "memory");
}

static void read_and_write(char *p)
{
	__asm__ volatile("mov (%0), %%rdx\n\tmov %%rdx, 8(%0)\n\tmov 16(%0), %%rdx\n\tmov %%rdx, (%0)" : : "r"(p) : "rdx", "memory");
}

static void divide_between(char *p)
{
	__asm__ volatile("mov (%0), %%rsi\n\txor %%eax, %%eax\n\txor %%edx, %%edx\n\txor %%ecx, %%ecx\n\tdiv %%rcx\n\tmov %%rsi, 8(%0)\n\tmov 48(%0), %%rsi"
			 :
			 : "r"(p)
			 : "rax", "rcx", "rdx", "rsi", "memory", "cc");
}

static void try(void (*what)(char *), char *p)
{
	if (!sigsetjmp(out, 1))
		what(p);
}

int main(void)
{
	uint64_t sum = 0;
	struct sigaction action = {.sa_handler = handler};
	sigaction(SIGSEGV, &action, NULL);
	sigaction(SIGFPE, &action, NULL);
	area = mmap(NULL, 4 * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	memset(area, 1, 4 * 4096);
	for (unsigned i = 0; i < 160; i++) {
		sum += stack_at(area + 4096 + 512 - 8 * (i % 16) - (i > 100 ? i % 8 : 0));
		sum += stack_at(area + 8192 + 64 - 8 * (i % 16) - (i > 100 ? i % 8 : 0));
		sum += fields_at(area + 256 + i);
		sum += fields_at(area + 4096 - 80 + i % 96);
		sum += fields_again(area + 8192 - 80 + i % 96);
	}
	for (unsigned i = 0; i + 256 < sizeof large; i += 256)
		spread_at(large + i + 40);
	mprotect(area + 8192, 4096, PROT_READ);
	mprotect(area + 12288, 4096, PROT_NONE);
	for (unsigned i = 0; i < 40; i++) {
		try(write_across, area + 4096 - 32 + i);
		if (i % 8) { /* aligned ones may be found, as the page may be read: see engine/runtime/inline/inline.h, 6 */
			try(write_across, area + 8192 - 32 + i);
			try(read_and_write, area + 8192 - 24 + i);
			try(read_and_write, area + 12288 - 24 + i);
			try(write_across, area + 12288 - 32 + i);
		}
		try(divide_between, area + 4096 - 40 + i);
		sum += fields_again(area + 8192 - 64 + i);
	}
	printf("%llx %u\n", (unsigned long long)sum, faults);
	return 0;
}
