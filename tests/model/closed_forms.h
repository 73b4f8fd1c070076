/*
 * What the tests of closed forms share: one core whose caches and TLBs are asked, and forms that are to hold in
 * every case.
 *
 * U(b, n, x): units of x bytes that n bytes from b touch (docs/closed-forms.md).
 */
#ifndef TARE_TESTS_MODEL_CLOSED_FORMS_H
#define TARE_TESTS_MODEL_CLOSED_FORMS_H

#include <stdlib.h>
#include <string.h>

#include "declared.h"
#include "tap.h"

static __attribute__((unused)) uint64_t U(uint64_t b, uint64_t n, uint64_t x)
{
	return n ? (b + n - 1) / x - b / x + 1 : 0;
}

static __attribute__((unused)) uint64_t gcd(uint64_t a, uint64_t b) { return b ? gcd(b, a % b) : a; }

static __attribute__((unused)) uint64_t smaller(uint64_t a, uint64_t b) { return a < b ? a : b; }

/* ---- what is measured ---- */

static struct simulated sim;

static __attribute__((unused)) void on(const struct machine *m)
{
	simulated_make(&sim, m);
	simulated_core(&sim, 0);
}

static __attribute__((unused)) void off(void) { simulated_free(&sim); }

static __attribute__((unused)) void load(uint64_t address, uint32_t bytes)
{
	model_access(sim.model, 0, address, bytes, TRACE_READ, 0);
}

static __attribute__((unused)) void store(uint64_t address, uint32_t bytes)
{
	model_access(sim.model, 0, address, bytes, TRACE_WRITE, 0);
}

static __attribute__((unused)) uint64_t cache_of(unsigned core, unsigned cache, unsigned what)
{
	return sim.counts[core]->cache[cache][what];
}

static __attribute__((unused)) uint64_t cache_misses(unsigned core, unsigned cache)
{
	return cache_of(core, cache, CACHE_READ_MISSES) + cache_of(core, cache, CACHE_WRITE_MISSES) +
	       cache_of(core, cache, CACHE_FETCH_MISSES);
}

static __attribute__((unused)) uint64_t tlb_misses(unsigned tlb)
{
	const uint64_t *t = sim.counts[0]->tlb[tlb];
	return t[TLB_READ_MISSES] + t[TLB_WRITE_MISSES] + t[TLB_FETCH_MISSES];
}

static __attribute__((unused)) void add_tlb(struct machine *m, uint32_t sets, uint32_t ways,
					    enum machine_holds holds)
{
	m->tlbs[m->n_tlbs] = (struct machine_tlb){.name = "TLB",
						  .sets = sets,
						  .ways = ways,
						  .page_bytes = 4096,
						  .pages_per_entry = 1,
						  .holds = (uint8_t)holds,
						  .next = MACHINE_NONE};
	if (holds & MACHINE_DATA)
		m->first_data_tlb = m->n_tlbs;
	if (holds & MACHINE_INSTRUCTIONS)
		m->first_instruction_tlb = m->n_tlbs;
	m->n_tlbs++;
}

/* The first case in which a form did not hold, or that all did. */
struct form {
	const char *fact;
	unsigned cases, wrong;
};

static __attribute__((unused)) void check(struct form *f, uint64_t is, uint64_t expected, const char *what,
					  uint64_t a, uint64_t b, uint64_t c, uint64_t d)
{
	if (is != expected && !f->wrong++)
		printf("# case %u: %s is %llu, the form says %llu (%llu, %llu, %llu, %llu)\n", f->cases, what,
		       (unsigned long long)is, (unsigned long long)expected, (unsigned long long)a,
		       (unsigned long long)b, (unsigned long long)c, (unsigned long long)d);
}

static __attribute__((unused)) void conclude(const struct form *f)
{
	ok(f->cases && !f->wrong, "%s (%u cases)", f->fact, f->cases);
}

static __attribute__((unused)) uint32_t random_line(struct random *r) { return 16u << random_below(r, 5); }

#endif
