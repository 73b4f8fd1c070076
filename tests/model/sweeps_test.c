/*
 * The closed forms of Zagha's tuning stories (docs/closed-forms.md 1.14 to 1.16), as closed_forms_test.c has those of
 * the kernels.
 */
#include "closed_forms.h"

/* ---- 14: ADI sweeps over N³ doubles ---- */

enum sweep { SWEEP_X, SWEEP_Y, SWEEP_Z, SWEEP_Z_INTERCHANGED };

static struct machine adi_machine(void)
{
	struct machine m = one_cache(64, 64, 8, MACHINE_DATA);
	add_tlb(&m, 1, 64, MACHINE_DATA);
	return m;
}

/* One line of the recurrence: the value before is in a register. */
static void sweep_line(uint64_t address, uint64_t n, uint64_t stride)
{
	for (uint64_t i = 0; i < n; i++) {
		load(address + i * stride, 8);
		if (i)
			store(address + i * stride, 8);
	}
}

/* plane: bytes from one k to the next, 8N² unless padded */
static void adi(enum sweep sweep, uint64_t n, uint64_t plane)
{
	uint64_t row = 8 * n;
	for (uint64_t a = 0; a < n; a++)
		for (uint64_t b = 0; b < n; b++)
			switch (sweep) {
			case SWEEP_X: sweep_line(a * plane + b * row, n, 8); break;
			case SWEEP_Y: sweep_line(a * plane + b * 8, n, row); break;
			case SWEEP_Z: sweep_line(a * row + b * 8, n, plane); break;
			case SWEEP_Z_INTERCHANGED: /* j, then k, i innermost: the value before is memory's */
				for (uint64_t i = 0; i < n; i++) {
					if (b)
						load(a * row + (b - 1) * plane + 8 * i, 8);
					load(a * row + b * plane + 8 * i, 8);
					if (b)
						store(a * row + b * plane + 8 * i, 8);
				}
				break;
			}
}

static uint64_t sum_over_planes(uint64_t n, uint64_t plane, uint64_t unit)
{
	uint64_t sum = 0;
	for (uint64_t k = 0; k < n; k++)
		sum += U(k * plane, 8 * n * n, unit);
	return sum;
}

static void adi_sweeps(unsigned step)
{
	struct form x = {"14: the X sweep misses U(0,8N³,L) and U(0,8N³,P), N = 8 … 130; loads N³, stores (N-1)N²",
			 0, 0};
	struct form y = {"14: the Y sweep's misses are compulsory if an N² slice fits", 0, 0};
	struct form rows = {"14: the Y sweep of larger slices with rows of whole lines: U(all) if N <= A·q, N³ if "
			    "⌊N/q⌋ > A, q = S/gcd(S, 8N/L)",
			    0, 0};
	struct form z = {"14: the Z sweep: TLB misses U(all), ΣU(plane), N³; L1 by its capacity A·S/gcd(S, 8N²/L)",
			 0, 0};
	struct machine m = adi_machine();
	for (uint64_t n = 8; n <= 130; n += step) {
		uint64_t all = 8 * n * n * n, plane = 8 * n * n;
		on(&m);
		adi(SWEEP_X, n, plane);
		check(&x, cache_misses(0, 0), U(0, all, 64), "L1 misses", n, 0, 0, 0);
		check(&x, tlb_misses(0), U(0, all, 4096), "TLB misses", n, 0, 0, 0);
		check(&x, sim.counts[0]->stream[STREAM_READS], n * n * n, "loads", n, 0, 0, 0);
		check(&x, sim.counts[0]->stream[STREAM_WRITES], (n - 1) * n * n, "stores", n, 0, 0, 0);
		x.cases++;
		off();

		on(&m);
		adi(SWEEP_Y, n, plane);
		if (plane / 64 + 2 <= 512) { /* however it lies */
			check(&y, cache_misses(0, 0), U(0, all, 64), "L1 misses", n, 0, 0, 0);
			y.cases++;
		} else if (8 * n % 64 == 0) {
			uint64_t q = 64 / gcd(64, 8 * n / 64);
			if (n <= 8 * q || n / q > 8) {
				check(&rows, cache_misses(0, 0), n <= 8 * q ? U(0, all, 64) : n * n * n,
				      "L1 misses", n, q, 0, 0);
				rows.cases++;
			}
		}
		check(&y, tlb_misses(0), U(0, all, 4096), "TLB misses", n, 0, 0, 0); /* 8 · 130² is 34 pages */
		off();

		on(&m);
		adi(SWEEP_Z, n, plane);
		check(&z, tlb_misses(0),
		      U(0, all, 4096) <= 64 ? U(0, all, 4096)
		      : n <= 64             ? sum_over_planes(n, plane, 4096)
					    : n * n * n,
		      "TLB misses", n, 0, 0, 0);
		if (plane % 64 == 0) {
			uint64_t capacity = 8 * 64 / gcd(64, plane / 64);
			check(&z, cache_misses(0, 0),
			      U(0, all, 64) <= 512 ? U(0, all, 64)
			      : n <= capacity      ? sum_over_planes(n, plane, 64)
						   : n * n * n,
			      "L1 misses", n, 0, 0, 0);
		}
		z.cases++;
		off();
	}
	conclude(&x);
	conclude(&y);
	conclude(&rows);
	conclude(&z);
}

static void adi_tuned(void)
{
	struct machine m = adi_machine();
	uint64_t before_tlb, before_l1, misses, n = 128;
	on(&m);
	adi(SWEEP_Z, 100, 80000);
	before_tlb = tlb_misses(0);
	before_l1 = cache_misses(0, 0);
	off();
	equal_u64(before_tlb, 1000000, "14: the Z sweep at N = 100 misses the TLB a million times");
	equal_u64(before_l1, 125000, "14: and L1 125,000 times");
	on(&m);
	adi(SWEEP_Z_INTERCHANGED, 100, 80000);
	equal_u64(tlb_misses(0), 11875, "14: interchanged, the TLB 11,875 times");
	equal_u64(cache_misses(0, 0), 130000, "14: and L1 130,000 times: the paper's slight increase");
	off();

	on(&m); /* X and Y, plane by plane */
	misses = 0;
	for (uint64_t k = 0; k < 60; k++) {
		uint64_t x;
		for (uint64_t j = 0; j < 60; j++)
			sweep_line(k * 28800 + j * 480, 60, 8);
		x = cache_misses(0, 0);
		for (uint64_t i = 0; i < 60; i++)
			sweep_line(k * 28800 + i * 8, 60, 480);
		misses += cache_misses(0, 0) - x;
	}
	equal_u64(misses, 0, "14: fused with X, the Y sweep misses nothing");
	equal_u64(cache_misses(0, 0), U(0, 8 * 60 * 60 * 60, 64), "14: both miss once a line");
	off();

	on(&m);
	adi(SWEEP_Z, n, 8 * n * n);
	equal_u64(cache_misses(0, 0), n * n * n, "14: N = 128: every access of the Z sweep misses L1");
	off();
	on(&m);
	adi(SWEEP_Z, n, 8 * n * n + 64);
	equal_u64(cache_misses(0, 0), sum_over_planes(n, 8 * n * n + 64, 64),
		  "14: a line of padding behind each plane, and they miss once a line");
	off();
}

/* ---- 15: a search through structures, and through a shadow array of their keys ---- */

static void search(void)
{
	struct form f = {
		"15: a search misses n times if z >= L, else U(b+off,(n-1)z+4,L); the shadow array U(b,4n,L)", 0,
		0};
	struct form ratio = {"15: whole lines of keys: the shadow array misses L/4 times less", 0, 0};
	struct random r = {15};
	for (; f.cases < 2000; f.cases++) {
		uint32_t line_bytes = random_line(&r);
		struct machine m = one_cache(line_bytes, 1 + (uint32_t)random_below(&r, 64),
					     1 + (uint32_t)random_below(&r, 4), MACHINE_DATA);
		uint64_t z = 4 * (1 + random_below(&r, 100)), offset = 4 * random_below(&r, z / 4),
			 n = 1 + random_below(&r, 500), shadow;
		uint64_t b = 0x800000 + 4 * random_below(&r, 4096),
			 b_shadow = 0x900000 + (random_in(&r, 2) ? 0 : 4 * random_below(&r, 1000));
		bool whole = random_in(&r, 2);
		if (whole)
			n = (1 + n / 16) * (line_bytes / 4);
		on(&m);
		for (uint64_t i = 0; i < n; i++)
			load(b + offset + i * z, 4);
		check(&f, cache_misses(0, 0), z >= line_bytes ? n : U(b + offset, (n - 1) * z + 4, line_bytes),
		      "misses", b + offset, z, n, line_bytes);
		off();
		on(&m);
		for (uint64_t i = 0; i < n; i++)
			load(b_shadow + 4 * i, 4);
		shadow = cache_misses(0, 0);
		check(&f, shadow, U(b_shadow, 4 * n, line_bytes), "shadow array's misses", b_shadow, n, line_bytes,
		      0);
		off();
		if (whole && z >= line_bytes && b_shadow % line_bytes == 0) {
			check(&ratio, shadow * (line_bytes / 4), n, "shadow misses × L/4", n, line_bytes, 0, 0);
			ratio.cases++;
		}
	}
	conclude(&f);
	conclude(&ratio);
}

/* ---- 16: false sharing ---- */

/*
 * p threads, each adds M times to its own word, q times a turn. padded: a line each. Machine: L1D each, a level of
 * all behind.
 */
static void false_sharing(void)
{
	struct form f = {"16: a line of m > 1 threads: mR - 1 interventions and invalidations, 1 cold miss; "
			 "padded: 0, and p cold misses",
			 0, 0};
	struct form kinds = {"16: of their misses mR - m are coherence misses, all by false sharing; of one word "
			     "shared by all, none",
			     0, 0};
	struct random r = {16};
	for (; f.cases < 2000; f.cases++, kinds.cases++) {
		uint32_t line_bytes = 32u << random_below(&r, 3);
		struct machine m = one_cache(line_bytes, 16, 2, MACHINE_DATA);
		uint64_t threads = 2 + random_below(&r, 7), times = 1 + random_below(&r, 40),
			 quantum = 1 + random_below(&r, 10), turns;
		uint64_t layout = random_below(&r, 3),
			 apart = layout == 0   ? 8
				 : layout == 1 ? line_bytes
					       : 0,
			 b = 0x600000 + 8 * random_below(&r, line_bytes / 8);
		uint64_t interventions = 0, invalidations = 0, cold, misses = 0, coherence = 0, of_false = 0,
			 upgrades = 0, lines, behind = 0;
		uint64_t expected_bounces = 0, expected_coherence = 0;
		m.coherent = 1;
		m.caches[0].next = 1;
		m.caches[1] = m.caches[0];
		m.caches[1].shared = 1;
		m.caches[1].next = MACHINE_NONE;
		m.caches[1].sets = 64;
		m.n_caches = 2;
		simulated_make(&sim, &m);
		for (unsigned t = 0; t < threads; t++)
			simulated_core(&sim, t);
		turns = (times + quantum - 1) / quantum;
		for (uint64_t turn = 0; turn < turns; turn++)
			for (unsigned t = 0; t < threads; t++)
				for (uint64_t i = turn * quantum; i < smaller(times, (turn + 1) * quantum); i++) {
					model_access(sim.model, t, b + t * apart, 8, TRACE_READ, 0);
					model_access(sim.model, t, b + t * apart, 8, TRACE_WRITE, 0);
				}
		lines = apart ? U(b, (threads - 1) * apart + 8, line_bytes) : 1;
		for (uint64_t line = b / line_bytes; line < b / line_bytes + lines; line++) {
			uint64_t sharers = 0;
			for (unsigned t = 0; t < threads; t++)
				sharers += (b + t * apart) / line_bytes == line;
			expected_bounces += sharers > 1 ? sharers * turns - 1 : 0;
			expected_coherence += sharers > 1 ? sharers * turns - sharers : 0;
		}
		for (unsigned t = 0; t < threads; t++) {
			interventions += cache_of(t, 0, CACHE_INTERVENTIONS);
			invalidations += cache_of(t, 0, CACHE_INVALIDATIONS);
			upgrades += cache_of(t, 0, CACHE_UPGRADES);
			coherence += cache_of(t, 0, CACHE_COHERENCE_MISSES);
			of_false += cache_of(t, 0, CACHE_FALSE_SHARING_MISSES);
			misses += cache_misses(t, 0);
			behind += cache_misses(t, 1);
		}
		cold = misses - interventions; /* by no other core's copy */
		check(&f, interventions, expected_bounces, "interventions", threads, times, quantum, apart);
		check(&f, invalidations, expected_bounces, "invalidations", threads, times, quantum, apart);
		check(&f, upgrades, expected_bounces, "upgrades", threads, times, quantum, apart);
		check(&f, cold, lines, "cold misses", threads, times, quantum, apart);
		check(&f, behind, lines, "misses of the shared level", threads, times, quantum, apart);
		check(&kinds, coherence, expected_coherence, "coherence misses", threads, times, quantum, apart);
		check(&kinds, of_false, apart ? expected_coherence : 0, "by false sharing", threads, times,
		      quantum, apart);
		off();
	}
	conclude(&f);
	conclude(&kinds);
}

int main(void)
{
#ifdef SANITIZED
	adi_sweeps(11);
#else
	adi_sweeps(1);
#endif
	adi_tuned();
	search();
	false_sharing();
	return done();
}
