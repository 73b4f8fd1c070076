/* Processor state saved and restored, by components: of an area whose lines are in no cache any more, and of one whose are. */
#include <cpuid.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

static unsigned char areas[3][16384] __attribute__((aligned(4096)));
static char other[1 << 20];

static void xsave(void *to, unsigned mask) { __asm__ volatile("xsave64 (%0)" : : "r"(to), "a"(mask), "d"(0) : "memory"); }
static void xsavec(void *to, unsigned mask) { __asm__ volatile("xsavec64 (%0)" : : "r"(to), "a"(mask), "d"(0) : "memory"); }
static void xsaveopt(void *to, unsigned mask) { __asm__ volatile("xsaveopt64 (%0)" : : "r"(to), "a"(mask), "d"(0) : "memory"); }
static void xrstor(void *from, unsigned mask) { __asm__ volatile("xrstor64 (%0)" : : "r"(from), "a"(mask), "d"(0) : "memory"); }

static void handler(int signo) { (void)signo; }

int main(void)
{
	static const unsigned masks[] = {0, 1, 2, 3, 4, 7, 0xe0, 0xee, 0xff & ~0x18u};
	unsigned a = 0, b = 0, c = 0, d = 0;
	__get_cpuid(1, &a, &b, &c, &d);
	if (!(c >> 27 & 1)) {
		for (int i = 0; i < 100; i++)
			__asm__ volatile("fxsave (%0); fxrstor (%0)" : : "r"(areas[i % 3]) : "memory");
		puts("no xsave");
		return 0;
	}
	__cpuid_count(13, 1, a, b, c, d);
	signal(SIGUSR1, handler);
	long sum = 0;
	for (int turn = 0; turn < 200; turn++) {
		unsigned mask = masks[turn % (sizeof masks / sizeof *masks)];
		unsigned char *area = areas[turn % 3];
		memset(area + 512, 0, 64);
		xsave(area, mask);
		xrstor(area, mask);
		memset(area + 512, 0, 64);
		if (a & 1)
			xsaveopt(area + 4096 - 64 * (turn % 9), mask);
		if (a & 2) {
			xsavec(area, mask);
			xrstor(area, mask);
		}
		sum += other[turn * 4999 % (int)sizeof other];
		if (turn % 20 == 3)
			raise(SIGUSR1);
		if (turn % 50 == 49)
			memset(other, turn, sizeof other);
	}
	printf("%ld\n", sum);
	return 0;
}
