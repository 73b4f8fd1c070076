/*
 * mix BLOCKS [THREADS] [ended]: every thread writes and runs about BLOCKS basic blocks that never were before, as a generator with a seed of its own gives
 * them: loads, stores, conditional branches both ways, short loops, calls and returns, jumps through a register, push and pop, accesses that
 * are misaligned or cross lines, rep movsb. Same arguments, same code at the same places: memory is taken
 * before the threads begin, and each has its own. ended: what the first one touches was read by a thread before that has ended.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { REGION = 65536, DATA = 262144, MARGIN = 256, THREADS_MOST = 16 };

struct worker {
	uint64_t seed;
	long blocks;
	unsigned char *code, *data, *at;
};

static uint32_t draw(struct worker *w, uint32_t below)
{
	w->seed ^= w->seed << 13, w->seed ^= w->seed >> 7, w->seed ^= w->seed << 17;
	return (uint32_t)(w->seed >> 32) % below;
}

static void put(struct worker *w, const char *bytes, unsigned n)
{
	memcpy(w->at, bytes, n);
	w->at += n;
}

static void put32(struct worker *w, uint32_t value)
{
	memcpy(w->at, &value, 4);
	w->at += 4;
}

#define PUT(w, bytes) put(w, bytes, sizeof bytes - 1)

/* rdi: the data. Returns how many blocks it is. */
static unsigned piece(struct worker *w)
{
	uint32_t where = draw(w, DATA - 128);
	switch (draw(w, 9)) {
	case 0: /* mov rax, [rdi + where]; add eax, n */
		PUT(w, "\x48\x8b\x87"), put32(w, where & ~7u);
		PUT(w, "\x05"), put32(w, draw(w, 1 << 30));
		return 0;
	case 1: /* mov [rdi + where], rax: anywhere */
		PUT(w, "\x48\x89\x87"), put32(w, where);
		return 0;
	case 2: /* test eax, bit; jne over a nop */
		PUT(w, "\xa9"), put32(w, 1u << draw(w, 31));
		PUT(w, "\x75\x01\x90");
		return 2;
	case 3: /* call over a jump to: ret */
		PUT(w, "\xe8\x02\x00\x00\x00" "\xeb\x01" "\xc3");
		return 3;
	case 4: /* lea rdx, [rip + 3]; jmp rdx over a byte */
		PUT(w, "\x48\x8d\x15\x03\x00\x00\x00" "\xff\xe2" "\xcc");
		return 1;
	case 5: /* push rax; pop rdx */
		PUT(w, "\x50\x5a");
		return 0;
	case 6: /* mov ecx, 2 … 5; add [rdi + where], ecx; dec ecx; jne back */
		PUT(w, "\xb9"), put32(w, 2 + draw(w, 4));
		PUT(w, "\x01\x8f"), put32(w, where & ~3u);
		PUT(w, "\xff\xc9\x75\xf6");
		return 2;
	case 7: /* mov r8, rdi; lea rsi, [rdi + where]; mov ecx, n; rep movsb; mov rdi, r8 */
		PUT(w, "\x49\x89\xf8\x48\x8d\xb7"), put32(w, where);
		PUT(w, "\xb9"), put32(w, draw(w, 100));
		PUT(w, "\xf3\xa4\x4c\x89\xc7");
		return 1;
	default: /* movzx eax, word [rdi + the last byte of a line]; cmp eax, n; jb over a nop */
		PUT(w, "\x0f\xb7\x87"), put32(w, where | 63);
		PUT(w, "\x3d"), put32(w, draw(w, 65536));
		PUT(w, "\x72\x01\x90");
		return 2;
	}
}

static void *work(void *arg)
{
	struct worker *w = arg;
	for (long made = 0; made < w->blocks;) {
		if (mprotect(w->code, REGION, PROT_READ | PROT_WRITE))
			abort();
		w->at = w->code;
		while (w->at < w->code + REGION - MARGIN && made < w->blocks)
			made += piece(w);
		*w->at = 0xc3;
		if (mprotect(w->code, REGION, PROT_READ | PROT_EXEC))
			abort();
		unsigned char *data = w->data;
		__asm__ volatile("call *%1" : "+D"(data) : "r"(w->code) : "memory", "cc", "rax", "rdx", "rcx", "rsi", "r8");
	}
	return NULL;
}

static void *look(void *arg)
{
	const volatile unsigned char *data = ((struct worker *)arg)->data;
	for (int i = 0; i < DATA; i += 64)
		(void)data[i];
	return NULL;
}

int main(int argc, char **argv)
{
	static struct worker workers[THREADS_MOST];
	pthread_t made[THREADS_MOST];
	int threads = argc > 2 ? atoi(argv[2]) : 1;
	if (threads < 1 || threads > THREADS_MOST)
		return 2;
	for (int i = 0; i < threads; i++) {
		struct worker *w = &workers[i];
		w->seed = 88172645463325252ull + (unsigned)i;
		w->blocks = argc > 1 ? atol(argv[1]) : 1000;
		w->code = mmap(NULL, REGION, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		w->data = mmap(NULL, DATA, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		if (w->code == MAP_FAILED || w->data == MAP_FAILED)
			return 1;
	}
	if (argc > 3 && !strcmp(argv[3], "ended") && (pthread_create(&made[0], NULL, look, &workers[0]) || pthread_join(made[0], NULL)))
		return 1;
	for (int i = 1; i < threads; i++)
		if (pthread_create(&made[i], NULL, work, &workers[i]))
			return 1;
	work(&workers[0]);
	for (int i = 1; i < threads; i++)
		pthread_join(made[i], NULL);
	puts("done");
	return 0;
}
