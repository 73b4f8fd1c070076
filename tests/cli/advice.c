/* Programs that each have one fault that `tare explain` has a rule for, and the same mended: advice NAME. */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define KEEP(value) __asm__ volatile("" : "+r"(value))

static uint64_t state = 88172645463325252u;

static uint64_t next_random(void)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state;
}

/* ---- rows that are a way of L1 apart, or 64 bytes more: a column is in one set, or each row in another ---- */

enum { ROWS = 64, COLUMNS = 8, SWEEPS = 200 };

__attribute__((noinline)) static void columns(size_t row_bytes)
{
	char *rows = aligned_alloc(4096, ROWS * 8192);
	uint64_t sum = 0;
	memset(rows, 1, ROWS * 8192);
	for (int sweep = 0; sweep < SWEEPS; sweep++)
		for (size_t column = 0; column < COLUMNS; column++)
			for (size_t row = 0; row < ROWS; row++)
				sum += *(uint64_t *)(rows + row * row_bytes + column * 8); /* columns */
	printf("%llu\n", (unsigned long long)sum);
	free(rows);
}

/* ---- a matrix along its columns, or along its rows ---- */

enum { SIDE = 2048, USED = 64 };

__attribute__((noinline)) static void matrix(int interchanged)
{
	/* 8 more a row: no way of a cache apart */
	double *of = malloc((size_t)SIDE * (SIDE + 8) * sizeof *of), sum = 0;
	memset(of, 0, (size_t)SIDE * (SIDE + 8) * sizeof *of);
	if (interchanged) {
		for (size_t i = 0; i < SIDE; i++)
			for (size_t j = 0; j < USED; j++)
				sum += of[i * (SIDE + 8) + j]; /* along the rows */
	} else {
		for (size_t j = 0; j < USED; j++)
			for (size_t i = 0; i < SIDE; i++)
				sum += of[i * (SIDE + 8) + j]; /* along the columns */
	}
	printf("%g\n", sum);
	free(of);
}

/* ---- one field of a large struct, or an array of it ---- */

struct large {
	uint32_t key, rest[63];
};
enum { RECORDS = 40000, LOOKS = 5 };

__attribute__((noinline)) static void structs(void)
{
	struct large *all = calloc(RECORDS, sizeof *all);
	for (uint32_t i = 0; i < RECORDS; i++)
		all[i].key = i;
	unsigned found = 0;
	for (uint32_t look = 0; look < LOOKS; look++)
		for (uint32_t i = 0; i < RECORDS; i++)
			found += all[i].key == RECORDS + look; /* the struct */
	printf("%u\n", found);
	free(all);
}

__attribute__((noinline)) static void shadow(void)
{
	uint32_t *all = calloc(RECORDS, sizeof *all);
	for (uint32_t i = 0; i < RECORDS; i++)
		all[i] = i;
	unsigned found = 0;
	for (uint32_t look = 0; look < LOOKS; look++)
		for (uint32_t i = 0; i < RECORDS; i++)
			found += all[i] == RECORDS + look; /* the shadow */
	printf("%u\n", found);
	free(all);
}

/* ---- a chase in no order ---- */

__attribute__((noinline)) static void chase(void)
{
	enum { LINES = 60000 };
	size_t *all = malloc((size_t)LINES * 64), at = 0;
	for (size_t i = 0; i < LINES; i++)
		all[i * 8] = i;
	for (size_t i = LINES - 1; i > 0; i--) {
		size_t j = next_random() % i, kept = all[i * 8];
		all[i * 8] = all[j * 8];
		all[j * 8] = kept;
	}
	for (size_t i = 0; i < LINES * 4; i++)
		at = all[at * 8]; /* the chase */
	printf("%zu\n", at);
	free(all);
}

/* ---- a loop of 2 to 5 turns, unrolled, and random branches ---- */

__attribute__((noinline)) static void loops(void)
{
	uint64_t sum = 0;
	for (int i = 0; i < 100000; i++) {
		unsigned turns = 2 + (unsigned)(next_random() >> 40 & 3);
		for (unsigned turn = 0; turn < turns; turn++) { /* the loop */
			sum += turn;
			KEEP(sum);
		}
	}
	printf("%llu\n", (unsigned long long)sum);
}

__attribute__((noinline)) static void coins(void)
{
	uint64_t heads = 0, tails = 0;
	for (int i = 0; i < 200000; i++) {
		if (next_random() >> 40 & 1) { /* the coin */
			heads++;
			KEEP(heads);
		} else {
			tails++;
			KEEP(tails);
		}
	}
	printf("%d\n", heads > tails);
}

/* ---- two threads' counters in one line, or each in its own ---- */

static struct {
	_Alignas(128) volatile uint64_t of[64];
} counters;

static void *count_up(void *mine)
{
	volatile uint64_t *of = mine;
	for (int i = 0; i < 300000; i++)
		++*of; /* the counter */
	return NULL;
}

__attribute__((noinline)) static void share(size_t apart)
{
	pthread_t threads[2];
	for (size_t i = 0; i < 2; i++)
		pthread_create(&threads[i], NULL, count_up, (void *)&counters.of[i * apart]);
	for (size_t i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
}

/* ---- memory that is touched for the first time in each turn, or once ---- */

__attribute__((noinline)) static void buffers(int reused)
{
	enum { BYTES = 4 << 20, TURNS = 30 };
	volatile char *buffer = NULL;
	for (int turn = 0; turn < TURNS; turn++) {
		if (!buffer)
			buffer = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		for (size_t i = 0; i < BYTES; i += 4096)
			buffer[i] = 1; /* the touch */
		if (!reused) {
			munmap((void *)buffer, BYTES);
			buffer = NULL;
		}
	}
	/* how much memory it had is seen by looks at the running program, each millisecond */
	usleep(300000);
}

/* ---- memory that is read before it is written, or never written ---- */

__attribute__((noinline)) static void zeroes(const char *name)
{
	enum { BYTES = 64 << 20 };
	size_t page = (size_t)sysconf(_SC_PAGESIZE), grows = strcmp(name, "grows") == 0 ? BYTES / 16 : BYTES;
	unsigned sum = 0;
	for (size_t at = 0; at < BYTES; at += grows) {
		char *buffer = mmap(NULL, grows, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		madvise(buffer, grows, MADV_NOHUGEPAGE);
		for (size_t i = 0; i < grows; i += page)
			sum += ((volatile char *)buffer)[i];
		for (size_t i = 0; i < grows && strcmp(name, "only-read") != 0; i += page)
			((volatile char *)buffer)[i] = 1;
	}
	printf("%u\n", sum);
	usleep(300000);
}

/* ---- memory that the C library touches, for the program's own line ---- */

__attribute__((noinline)) static void cleared(void)
{
	enum { BYTES = 16 << 20 };
	char *buffer = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	madvise(buffer, BYTES, MADV_NOHUGEPAGE);
	memset(buffer, 1, BYTES); /* the clearing */
	KEEP(buffer);
	usleep(300000);
}

/* ---- a lock for each turn: its instructions are the C library's ---- */

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static volatile uint64_t turns;

__attribute__((noinline)) static void take_turn(void)
{
	pthread_mutex_lock(&mutex);
	turns++;
	pthread_mutex_unlock(&mutex);
}

static void *take_turns(void *unused)
{
	for (int i = 0; i < 300000; i++)
		take_turn(); /* the turn */
	return unused;
}

__attribute__((noinline)) static void locks(void)
{
	pthread_t thread;
	pthread_create(&thread, NULL, take_turns, NULL);
	pthread_join(thread, NULL);
	printf("%llu\n", (unsigned long long)turns);
}

int main(int argc, char **argv)
{
	const char *name = argc > 1 ? argv[1] : "";
	if (strcmp(name, "thrash") == 0)
		columns(4096);
	else if (strcmp(name, "padded") == 0)
		columns(4096 + 64);
	else if (strcmp(name, "matrix") == 0)
		matrix(0);
	else if (strcmp(name, "interchanged") == 0)
		matrix(1);
	else if (strcmp(name, "structs") == 0)
		structs();
	else if (strcmp(name, "shadow") == 0)
		shadow();
	else if (strcmp(name, "chase") == 0)
		chase();
	else if (strcmp(name, "loops") == 0)
		loops();
	else if (strcmp(name, "coins") == 0)
		coins();
	else if (strcmp(name, "shared") == 0)
		share(1);
	else if (strcmp(name, "apart") == 0)
		share(16);
	else if (strcmp(name, "buffers") == 0)
		buffers(0);
	else if (strcmp(name, "reused") == 0)
		buffers(1);
	else if (strcmp(name, "cleared") == 0)
		cleared();
	else if (strcmp(name, "locks") == 0)
		locks();
	else if (strcmp(name, "only-read") == 0 || strcmp(name, "read-written") == 0 || strcmp(name, "grows") == 0)
		zeroes(name);
	else
		return 9;
	return 0;
}
