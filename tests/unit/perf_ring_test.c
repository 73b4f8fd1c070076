/* The ring buffer's reader and the decoder of samples, on planted buffers: no kernel is needed. */
#include <stdlib.h>

#include "backend/perf/ring/ring.h"
#include "backend/perf/sample/gaps.h"
#include "backend/perf/sample/record.h"
#include "backend/perf/sample/window.h"
#include "tap.h"

enum { BYTES = 4096 };

static struct perf_event_mmap_page page;
static uint64_t data[BYTES / 8], joined[65536 / 8];

static struct ring planted(uint64_t tail)
{
	memset(data, 0xa5, sizeof data);
	page = (struct perf_event_mmap_page){.data_head = tail, .data_tail = tail};
	return (struct ring){.page = &page, .data = (uint8_t *)data, .bytes = BYTES, .joined = (uint8_t *)joined};
}

/* As the kernel writes: around the end. */
static void plant(const void *record, size_t bytes)
{
	for (size_t i = 0; i < bytes; i++)
		((uint8_t *)data)[(page.data_head + i) % BYTES] = ((const uint8_t *)record)[i];
	page.data_head += bytes;
}

static void plant_words(uint32_t type, uint16_t misc, const uint64_t *words, size_t n)
{
	uint64_t record[512];
	struct perf_event_header header = {.type = type, .misc = misc, .size = (uint16_t)(8 + 8 * n)};
	memcpy(record, &header, 8);
	memcpy(record + 1, words, 8 * n);
	plant(record, 8 + 8 * n);
}

static void test_ring(void)
{
	uint64_t words[100];
	for (int i = 0; i < 100; i++)
		words[i] = (uint64_t)i * 0x0101010101010101u;
	/* every place of the end within a record, and many turns */
	struct ring ring = planted(0);
	bool same = true, all = true;
	for (int turn = 0; turn < 2000; turn++) {
		size_t n = (size_t)(turn * 7 % 100);
		plant_words(PERF_RECORD_SAMPLE, 0, words, n);
		plant_words(77, 0, words, 1);
		ring_begin(&ring);
		const struct perf_event_header *record = ring_next(&ring);
		same = same && record && record->size == 8 + 8 * n && memcmp(record + 1, words, 8 * n) == 0;
		record = ring_next(&ring);
		all = all && record && record->type == 77 && record->size == 16 && !ring_next(&ring);
		ring_end(&ring);
		all = all && page.data_tail == page.data_head;
	}
	ok(same, "records are whole wherever the buffer's end is in them");
	ok(all && !ring.broken, "a record of an unknown type is a record, and nothing is behind the last one");

	ring = planted(BYTES - 8);
	plant_words(PERF_RECORD_SAMPLE, 0, words, 3);
	ring_begin(&ring);
	ok(ring_next(&ring) && page.data_tail == BYTES - 8, "what is read stays the reader's");
	ring_end(&ring);
	equal_u64(page.data_tail, page.data_head, "until it gives it back");

	static const uint16_t bad[] = {0, 7, 4, 12, 15, 65528};
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		struct perf_event_header header = {.type = PERF_RECORD_SAMPLE, .size = bad[i]};
		ring = planted(64);
		plant_words(PERF_RECORD_SAMPLE, 0, words, 1);
		plant(&header, 8);
		ring_begin(&ring);
		bool first = ring_next(&ring) != NULL;
		ok(first && !ring_next(&ring) && ring.broken,
		   "a length of %u breaks the ring behind the records before it", bad[i]);
		ring_end(&ring);
		plant_words(PERF_RECORD_SAMPLE, 0, words, 1);
		ring_begin(&ring);
		ok(!ring_next(&ring), "and for good");
	}
	ring = planted(0);
	page.data_head = BYTES + 8;
	ring_begin(&ring);
	ok(!ring_next(&ring) && ring.broken, "so does more than the buffer holds");
}

/* ---- records ---- */

static uint64_t pair(uint32_t low, uint32_t high) { return (uint64_t)high << 32 | low; }

/* A record as the kernel writes it, by value; at most 4 KB. */
struct planted_record {
	struct perf_event_header header;
	uint64_t words[500];
};

static struct planted_record make(uint32_t type, uint16_t misc, const uint64_t *words, size_t n)
{
	struct planted_record r = {.header = {.type = type, .misc = misc, .size = (uint16_t)(8 + 8 * n)}};
	memcpy(r.words, words, 8 * n);
	return r;
}

static void test_samples(void)
{
	struct record_layout plain = {.sample_type = RECORD_COMMON | PERF_SAMPLE_IP};
	struct record r;
	uint64_t words[64] = {42, 0x401000, pair(7, 8), 123456, pair(3, 0)};
	struct planted_record sample = make(PERF_RECORD_SAMPLE, PERF_RECORD_MISC_USER, words, 5);
	ok(record_decode(&sample.header, &plain, &r) && r.kind == RECORD_SAMPLE && r.id == 42 &&
		   r.sample.address == 0x401000 && r.sample.pid == 7 && r.sample.tid == 8 &&
		   r.sample.time_ns == 123456 && r.sample.cpu == 3 && !r.sample.kernel && r.sample.gap == 0,
	   "a sample says where, who and when");
	equal_u64(record_id(&sample.header), 42, "a sample's id is its first word");
	equal_u64(record_time(&sample.header), 123456, "and its time is found without its layout");
	sample.header.misc = PERF_RECORD_MISC_KERNEL;
	ok(record_decode(&sample.header, &plain, &r) && r.sample.kernel, "the kernel's samples are marked");

	struct record_layout full = {.sample_type = RECORD_COMMON | PERF_SAMPLE_IP | PERF_SAMPLE_ADDR |
						    PERF_SAMPLE_PERIOD | PERF_SAMPLE_CALLCHAIN};
	// clang-format off: a table, a row a line
	uint64_t more[] = {42,       0x401000,  pair(7, 8),
			   123456,   0xdead000, pair(3, 0),
			   1000,     3,         (uint64_t)PERF_CONTEXT_USER,
			   0x401000, 0x402000};
	// clang-format on
	size_t n = sizeof more / sizeof *more;
	sample = make(PERF_RECORD_SAMPLE, PERF_RECORD_MISC_USER, more, n);
	ok(record_decode(&sample.header, &full, &r) && r.sample.data_address == 0xdead000 &&
		   r.sample.gap == 1000 && r.sample.n_callers == 3 && r.sample.callers[2] == 0x402000,
	   "with data address, period and callers");
	bool torn = true;
	for (size_t cut = 0; cut < n; cut++) {
		sample = make(PERF_RECORD_SAMPLE, 0, more, cut);
		torn = torn && !record_decode(&sample.header, &full, &r);
	}
	ok(torn, "a sample that is cut short anywhere is refused");
	more[7] = UINT64_MAX;
	sample = make(PERF_RECORD_SAMPLE, 0, more, n);
	ok(!record_decode(&sample.header, &full, &r), "and one with more callers than it holds");

	struct record_layout dwarf = {.sample_type = RECORD_COMMON | PERF_SAMPLE_IP | PERF_SAMPLE_REGS_USER |
						     PERF_SAMPLE_STACK_USER,
				      .registers = record_registers()};
	size_t at = 5, registers = (size_t)__builtin_popcountll(dwarf.registers);
	words[at++] = PERF_SAMPLE_REGS_ABI_64;
	for (size_t i = 0; i < registers; i++)
		words[at++] = 100 + i;
	words[at++] = 16; /* the stack's size, its bytes, how many are good */
	words[at++] = 0x1111;
	words[at++] = 0x2222;
	words[at++] = 8;
	sample = make(PERF_RECORD_SAMPLE, 0, words, at);
	bool got = record_decode(&sample.header, &dwarf, &r);
#if defined(__x86_64__)
	/* the kernel's order: ax bx cx dx si di bp sp ip … r8 … r15 */
	ok(got && r.sample.registers && r.sample.registers[0] == 100 && r.sample.registers[7] == 107 &&
		   r.sample.registers[16] == 108 && r.sample.registers[8] == 109 && r.sample.registers[15] == 116,
	   "registers are in the order of struct sample");
	ok(got && r.sample.stack_bytes == 8 && r.sample.stack[0] == 0x11, "of the stack the good bytes are");
#endif
	words[at - 1] = 17;
	sample = make(PERF_RECORD_SAMPLE, 0, words, at);
	ok(!record_decode(&sample.header, &dwarf, &r), "more good bytes than bytes are refused");
	uint64_t none[] = {42, 0x401000, pair(7, 8), 123456, pair(3, 0), PERF_SAMPLE_REGS_ABI_NONE, 0};
	sample = make(PERF_RECORD_SAMPLE, 0, none, 7);
	(void)got;
	ok(record_decode(&sample.header, &dwarf, &r) && !r.sample.registers && !r.sample.stack,
	   "a kernel thread's sample has neither");
}

static void test_tasks(void)
{
	struct record_layout plain = {.sample_type = RECORD_COMMON | PERF_SAMPLE_IP};
	struct record r;
	uint64_t map[] = {pair(7, 8), 0x400000, 0x2000,     0x1000, 0,          0, 0,
			  pair(5, 2), 0,        pair(7, 8), 999,    pair(1, 0), 43};
	memcpy(map + 8, "/bin/x\0", 8);
	((uint8_t *)(map + 4))[0] = 20;
	for (int i = 0; i < 20; i++)
		((uint8_t *)(map + 4))[4 + i] = (uint8_t)(i + 1);
	struct planted_record record = make(PERF_RECORD_MMAP2, 1 << 14, map, 13);
	ok(record_decode(&record.header, &plain, &r) && r.kind == RECORD_MAPPING && r.mapping.pid == 7 &&
		   r.mapping.address == 0x400000 && r.mapping.bytes == 0x2000 && r.mapping.offset == 0x1000 &&
		   strcmp(r.mapping.path, "/bin/x") == 0 && r.mapping.executable &&
		   r.mapping.build_id_bytes == 20 && r.mapping.build_id[19] == 20 && r.id == 43 &&
		   r.mapping.time_ns == 999,
	   "a mapping has its file and build id");
	equal_u64(record_id(&record.header), 43, "the id of other records is their last word");
	equal_u64(record_time(&record.header), 999, "and their time is four words before the end");
	((uint8_t *)(map + 4))[0] = 21;
	record = make(PERF_RECORD_MMAP2, 1 << 14, map, 13);
	ok(!record_decode(&record.header, &plain, &r), "a build id of 21 bytes is refused");
	record = make(PERF_RECORD_MMAP2, 0, map, 13);
	ok(record_decode(&record.header, &plain, &r) && !r.mapping.build_id,
	   "without its mark these words are the file's inode");
	memcpy(map + 8, "/bin/xyz", 8);
	record = make(PERF_RECORD_MMAP2, 0, map, 13);
	ok(!record_decode(&record.header, &plain, &r), "a path without an end is refused");

	uint64_t name[] = {pair(7, 8), 0, pair(7, 8), 5, pair(0, 0), 44};
	memcpy(name + 1, "sh", 3);
	record = make(PERF_RECORD_COMM, PERF_RECORD_MISC_COMM_EXEC, name, 6);
	ok(record_decode(&record.header, &plain, &r) && r.kind == RECORD_NAME && r.tid == 8 &&
		   strcmp(r.task.name, "sh") == 0 && r.task.by_exec,
	   "an exec gives a name");
	uint64_t fork[] = {pair(9, 7), pair(10, 8), 5, pair(7, 8), 5, pair(0, 0), 44};
	record = make(PERF_RECORD_FORK, 0, fork, 7);
	ok(record_decode(&record.header, &plain, &r) && r.kind == RECORD_START && r.pid == 9 && r.tid == 10 &&
		   r.task.parent_pid == 7 && r.task.parent_tid == 8,
	   "a new task has a parent");
	uint64_t lost[] = {45, 12, pair(7, 8), 5, pair(0, 0), 44};
	record = make(PERF_RECORD_LOST, 0, lost, 6);
	ok(record_decode(&record.header, &plain, &r) && r.kind == RECORD_LOST && r.lost == 12 && r.id == 45,
	   "lost records are a number");
	record = make(1234, 0xffff, lost, 6);
	ok(record_decode(&record.header, &plain, &r) && r.kind == RECORD_OTHER,
	   "a record of an unknown type is no error");
	record = make(PERF_RECORD_COMM, 0, lost, 3);
	ok(!record_decode(&record.header, &plain, &r) && record_time(&record.header) == 0,
	   "one without its trailer is");
	record = make(PERF_RECORD_COMM, 0, lost, 0);
	equal_u64(record_id(&record.header), 0, "a bare header is of no event");
}

/* ---- the window ---- */

static void test_window(void)
{
	struct sample_window w = {0};
	static const uint64_t times[] = {50, 10, 30, 30, 20, 70, 60, 40};
	for (uint64_t i = 0; i < 8; i++) {
		struct planted_record record = make(1, 0, &i, 1);
		if (!window_add(&w, times[i], &record.header))
			break;
	}
	window_sort(&w);
	char order[32] = "";
	const struct perf_event_header *record;
	while ((record = window_next(&w, 50)))
		snprintf(order + strlen(order), 4, "%d ", (int)*(const uint64_t *)(const void *)(record + 1));
	equal_text(order, "1 4 2 3 7 ",
		   "records come in the order of time, equal ones in that of coming, up to a time");
	window_drop(&w);
	uint64_t late = 8;
	struct planted_record again = make(1, 0, &late, 1);
	ok(window_add(&w, 55, &again.header), "more are added");
	window_sort(&w);
	order[0] = '\0';
	while ((record = window_next(&w, UINT64_MAX)))
		snprintf(order + strlen(order), 4, "%d ", (int)*(const uint64_t *)(const void *)(record + 1));
	equal_text(order, "0 8 6 5 ", "and stand between those that were left");
	window_drop(&w);
	ok(w.entries.count == 0 && w.used == 0, "nothing is kept");
	window_free(&w);
}

/* ---- gaps ---- */

static int ascending(const void *left, const void *right)
{
	double a = *(const double *)left, b = *(const double *)right;
	return a < b ? -1 : a > b;
}

/* Kolmogorov and Smirnov's distance; 99 % of samples of the distribution have less than 1.628 / sqrt(n). */
static double distance(double *values, size_t n, double (*below)(double x))
{
	double most = 0;
	qsort(values, n, sizeof *values, ascending);
	for (size_t i = 0; i < n; i++) {
		double p = below(values[i]);
		most = fmax(most, fmax(fabs(p - (double)i / (double)n), fabs((double)(i + 1) / (double)n - p)));
	}
	return most * sqrt((double)n);
}

static double exponential(double x) { return x < 0.5 ? 0 : 1 - exp(1 - 2 * x); }
static double jittered(double x) { return fmin(1, fmax(0, (x - 1) * 8)); }

static void test_gaps(void)
{
	enum { N = 100000 };
	static double values[N];
	struct random random = {7};
	double sum = 0;
	for (int i = 0; i < N; i++)
		sum += values[i] = (double)gap_draw(&random, GAPS_EXPONENTIAL, 1000000) / 1e6;
	near(sum / N, 1, 2.576 * 0.5 / sqrt(N), "exponential gaps have their mean, at 99 %");
	double ks = distance(values, N, exponential);
	ok(values[0] >= 0.5, "and are never less than half of it");
	ok(ks < 1.628, "half is fixed, half exponential (Kolmogorov-Smirnov %.3f)", ks);
	/* independent of the one before: the correlation of neighbours (before sorting) is drawn anew */
	struct random other = {8};
	double products = 0, last = 0;
	for (int i = 0; i < N; i++) {
		double now = (double)gap_draw(&other, GAPS_EXPONENTIAL, 1000000) / 1e6 - 1;
		products += now * last;
		last = now;
	}
	ok(fabs(products / N) < 2.576 * 0.25 / sqrt(N), "neighbours do not depend on each other (%.4f)",
	   products / N);

	uint64_t least = UINT64_MAX, most = 0;
	for (int i = 0; i < N; i++) {
		uint64_t gap = gap_draw(&random, GAPS_JITTER, 800000);
		least = gap < least ? gap : least;
		most = gap > most ? gap : most;
		values[i] = (double)gap / 800000;
	}
	ks = distance(values, N, jittered);
	ok(ks < 1.628, "jittered gaps are uniform on gap … gap + gap/8 (%.3f)", ks);
	ok(least >= 800000 && most <= 900000 && most > 899900, "both ends included");
	bool ends[9] = {false};
	for (int i = 0; i < 1000; i++)
		ends[gap_draw(&random, GAPS_JITTER, 64) - 64] = true;
	ok(ends[0] && ends[8], "as small gaps show");

	struct random a = {99}, b = {99};
	bool same = true, positive = true;
	for (int i = 0; i < 1000; i++)
		same = same && gap_draw(&a, GAPS_EXPONENTIAL, 500) == gap_draw(&b, GAPS_EXPONENTIAL, 500);
	ok(same, "a seed gives the same gaps again");
	for (int i = 0; i < 100000; i++)
		positive = positive && gap_draw(&a, GAPS_EXPONENTIAL, 1) >= 1 &&
			   gap_draw(&a, GAPS_EXPONENTIAL, UINT64_MAX) <= 1ull << 62;
	ok(positive, "no gap is 0 or beyond what the kernel takes");
	equal_u64(gap_draw(&a, GAPS_FIXED, 12345), 12345, "a fixed gap is fixed");
	equal_u64(gap_mean(GAPS_JITTER, 1600), 1700, "a jittered sample stands for 17/16 of the gap");
}

/* A program spends 30 % of its time in one function, in turns of so many mean gaps. How often does Wilson's interval of
 * that share hold the truth? */
static double coverage(struct random *random, double turn, uint32_t redraw, bool poisson)
{
	enum { TRIALS = 1000, SAMPLES = 400 };
	const double share = 0.3, z = 1.959964, n = SAMPLES;
	int covered = 0;
	for (int trial = 0; trial < TRIALS; trial++) {
		double at = random_unit(random) * turn, gap = 1, hits = 0;
		for (uint32_t i = 0; i < SAMPLES; i++) {
			if (poisson)
				gap = random_exponential(random);
			else if (i % redraw == 0)
				gap = (double)gap_draw(random, GAPS_EXPONENTIAL, 1000000) / 1e6;
			at += gap;
			hits += at / turn - floor(at / turn) < share;
		}
		double p = hits / n, scale = 1 + z * z / n, middle = (p + z * z / 2 / n) / scale;
		double half = z * sqrt(p * (1 - p) / n + z * z / 4 / n / n) / scale;
		covered += fabs(share - middle) <= half;
	}
	return (double)covered / TRIALS;
}

static void test_coverage(void)
{
	static const double turns[] = {0.01, 0.1, 0.5, 1, 2, 4, 8, 16};
	struct random random = {3};
	double least = 1;
	for (size_t i = 0; i < sizeof turns / sizeof *turns; i++)
		least = fmin(least, coverage(&random, turns[i], GAP_REDRAW, false));
	/* the interval itself covers 93.5 % here and there; and 3.3 standard deviations of 1000 trials, eight times */
	ok(least > 0.935 - 3.3 * sqrt(0.935 * 0.065 / 1000),
	   "intervals of 95 %% hold the truth whatever the program's rhythm (least %.3f)", least);
	/* in long turns what matters is how the number of samples in a turn varies: as with a Poisson process */
	double ours = coverage(&random, 100, GAP_REDRAW, false), poisson = coverage(&random, 100, 1, true);
	ok(ours > poisson - 2.576 * sqrt(2 * 0.1 * 0.9 / 1000),
	   "in long turns as often as with a Poisson process (%.3f, %.3f)", ours, poisson);
	ok(coverage(&random, 100, 64, false) < poisson - 0.1, "and much less often if gaps were drawn rarely");
}

int main(void)
{
	test_coverage();
	test_ring();
	test_samples();
	test_tasks();
	test_window();
	test_gaps();
	return done();
}
