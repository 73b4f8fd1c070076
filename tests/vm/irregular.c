/* A program whose rates change at random, the same way each time for the same seed.
 *
 *     irregular SEED ROUNDS            rounds of 0.1 to 8 million user instructions, then of 0 to about 3 in the
 * kernel
 *
 * Its phases are of the lengths at which counters take turns (milliseconds): the hard case for multiplexing. */
#include <stdint.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

static void loop(uint64_t n)
{
#if defined(__aarch64__)
	__asm__ volatile("1: subs %0, %0, #1\n\tb.ne 1b" : "+r"(n) : : "cc");
#else
	__asm__ volatile("1: sub $1, %0\n\tjnz 1b" : "+r"(n) : : "cc");
#endif
}

/* splitmix64 (Steele, Lea, Flood: Fast splittable pseudorandom number generators, 2014) */
static uint64_t draw(uint64_t *state, uint64_t below)
{
	uint64_t z = *state += 0x9e3779b97f4a7c15;
	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
	z = (z ^ z >> 27) * 0x94d049bb133111eb;
	return (z ^ z >> 31) % below;
}

int main(int argc, char **argv)
{
	static char buffer[4096];
	if (argc < 3)
		return 2;
	uint64_t state = strtoull(argv[1], NULL, 10), rounds = strtoull(argv[2], NULL, 10);
	for (uint64_t i = 0; i < rounds; i++) {
		loop(50000 + draw(&state, 3950000));
		/* some 30,000 instructions of the kernel's ChaCha each */
		for (uint64_t calls = draw(&state, 101); calls; calls--)
			syscall(SYS_getrandom, buffer, sizeof buffer, 0);
	}
	return 0;
}
