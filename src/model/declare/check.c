#include "model/declare/check.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum {
	WAYS_MAX = 65536,
	PLRU_WAYS_MAX = 64, /* a set's tree is a 64-bit word */
	LINES_MAX = 1 << 24,
	SETS_MAX = 1 << 24,
	VICTIM_LINES_MAX = 1024,
	TLB_ENTRIES_MAX = 1 << 20,
	TABLE_ENTRIES_MAX = 1 << 24,
	BTB_ENTRIES_MAX = 1 << 20,
	BTB_WAYS_MAX = 256, /* core/predict/targets.c keeps places of ways in bytes */
	HISTORY_BITS_MAX = 32,
	HISTORY_BITS_MOST = 63, /* perceptron */
	LOCAL_HISTORY_BITS_MAX = 16,
	LONG_HISTORY_MAX = 1024, /* TAGE */
};

static bool power_of_two(uint64_t n) { return n && (n & (n - 1)) == 0; }

static bool fault(struct machine_fault *f, const char *stanza, const char *key, const char *why, ...)
	__attribute__((format(printf, 4, 5)));

static bool fault(struct machine_fault *f, const char *stanza, const char *key, const char *why, ...)
{
	va_list list;
	f->stanza = stanza;
	f->key = key;
	f->hint[0] = '\0';
	va_start(list, why);
	vsnprintf(f->why, sizeof f->why, why, list);
	va_end(list);
	return false;
}

static bool advise(struct machine_fault *f, const char *hint)
{
	snprintf(f->hint, sizeof f->hint, "%s", hint);
	return false;
}

static bool in_range(struct machine_fault *f, const char *stanza, const char *key, uint64_t value, uint64_t low,
		     uint64_t high)
{
	return (value >= low && value <= high) ||
	       fault(f, stanza, key, "%s = %llu: it can be %llu to %llu", key, (unsigned long long)value,
		     (unsigned long long)low, (unsigned long long)high);
}

static bool in_powers(struct machine_fault *f, const char *stanza, const char *key, uint64_t value, uint64_t low,
		      uint64_t high)
{
	if (!in_range(f, stanza, key, value, low, high))
		return false;
	return power_of_two(value) ||
	       fault(f, stanza, key, "%s = %llu: it can be a power of two only", key, (unsigned long long)value);
}

static bool is_name(const char *name, size_t size) { return name[0] && memchr(name, '\0', size); }

/* ---- caches ---- */

static bool geometry(const struct machine_cache *c, struct machine_fault *f)
{
	if (!in_powers(f, c->name, "line", c->line_bytes, 4, 4096))
		return false;
	if (c->ways == 0)
		return fault(f, c->name, "ways", "0 ways: a cache without room for a line") ||
		       advise(f, "write 'ways = 1' for a direct-mapped cache, 'ways = full' for a fully "
				 "associative one, "
				 "'drop = yes' for none");
	if (c->ways > WAYS_MAX)
		return fault(f, c->name, "ways", "%u ways: at most %d", c->ways, WAYS_MAX);
	if (c->sets == 0)
		return fault(f, c->name, "sets", "0 sets: a cache without room for a line");
	if (c->sets > SETS_MAX)
		return fault(f, c->name, "sets", "%u sets: at most %d", c->sets, SETS_MAX);
	uint64_t lines = (uint64_t)c->sets * c->ways;
	if (lines > LINES_MAX)
		return fault(f, c->name, "size", "%llu lines: at most %d", (unsigned long long)lines, LINES_MAX);
	if (lines * c->line_bytes > UINT64_C(4) << 30)
		return fault(f, c->name, "size", "more than 4 GiB");
	return true;
}

static bool replacement(const char *name, unsigned policy, unsigned ways, struct machine_fault *f)
{
	if (policy > REPLACE_BRRIP)
		return fault(f, name, "replacement", "no such replacement");
	if (policy == REPLACE_PLRU && (!power_of_two(ways) || ways > PLRU_WAYS_MAX))
		return fault(f, name, "replacement", "plru with %u ways: the ways can be 1, 2, 4 … %d", ways,
			     PLRU_WAYS_MAX) ||
		       advise(f, "use lru, or another number of ways");
	return true;
}

static bool prefetcher(const struct machine_cache *c, struct machine_fault *f)
{
	if (c->prefetch > PREFETCH_STRIDE)
		return fault(f, c->name, "prefetch", "no such prefetcher");
	if (!in_range(f, c->name, "prefetch_degree", c->prefetch_degree, c->prefetch != PREFETCH_NONE, 16))
		return false;
	return c->prefetch != PREFETCH_STRIDE ||
	       in_powers(f, c->name, "prefetch_entries", c->prefetch_entries, 1, 32768);
}

/* The levels in front of cache i. */
static bool fits_those_in_front(const struct machine *m, unsigned i, struct machine_fault *f)
{
	const struct machine_cache *c = &m->caches[i];
	bool any = false;
	for (unsigned k = 0; k < i; k++) {
		const struct machine_cache *front = &m->caches[k];
		if (front->next != i)
			continue;
		any = true;
		if (front->holds & ~c->holds)
			return fault(f, front->name, "next", "'%s' holds what '%s' behind it does not",
				     front->name, c->name) ||
			       advise(f, "'holds' of the level behind must have all that the level in front has");
		if (front->shared && !c->shared)
			return fault(f, c->name, "shared", "'%s' is each core's own, and behind the shared '%s'",
				     c->name, front->name);
		if (c->inclusion == INCLUSION_EXCLUSIVE && front->line_bytes != c->line_bytes)
			return fault(f, c->name, "inclusion",
				     "exclusive needs lines as long as those of '%s': %u, not %u bytes",
				     front->name, front->line_bytes, c->line_bytes);
	}
	if (!any && c->inclusion != INCLUSION_NONE)
		return fault(f, c->name, "inclusion",
			     "there is no level in front of '%s' that it could include or exclude", c->name);
	return true;
}

static bool cache_is_sound(const struct machine *m, unsigned i, struct machine_fault *f)
{
	const struct machine_cache *c = &m->caches[i];
	if (!is_name(c->name, sizeof c->name))
		return fault(f, "machine", "name", "cache %u has no name", i);
	if (c->holds < 1 || c->holds > 3)
		return fault(f, c->name, "holds", "neither instructions nor data");
	if (c->shared > 1)
		return fault(f, c->name, "shared", "neither yes nor no");
	if (c->write > WRITE_THROUGH)
		return fault(f, c->name, "write", "neither back nor through");
	if (c->write_allocate > 1)
		return fault(f, c->name, "write_allocate", "neither yes nor no");
	if (c->inclusion > INCLUSION_EXCLUSIVE)
		return fault(f, c->name, "inclusion", "no such inclusion");
	if (c->subblocks)
		return fault(f, c->name, "size", "blocks within lines are not modelled");
	if (c->next != MACHINE_NONE && (c->next <= i || c->next >= m->n_caches))
		return fault(f, c->name, "next", "a level leads to one behind it, or to memory");
	if (c->victim_lines > VICTIM_LINES_MAX)
		return fault(f, c->name, "victim_lines", "%u lines: at most %d", c->victim_lines,
			     VICTIM_LINES_MAX);
	bool rrip = c->replacement == REPLACE_SRRIP || c->replacement == REPLACE_BRRIP;
	return geometry(c, f) && replacement(c->name, c->replacement, c->ways, f) &&
	       in_range(f, c->name, "rrip_bits", c->rrip_bits, rrip, 7) && prefetcher(c, f) &&
	       fits_those_in_front(m, i, f);
}

/* Marks what is reached from a first level. */
static unsigned reached_caches(const struct machine *m)
{
	unsigned reached = 0;
	for (unsigned first = 0; first < 2; first++)
		for (unsigned at = first ? m->first_data : m->first_instruction; at < m->n_caches;
		     at = m->caches[at].next)
			reached |= 1u << at;
	return reached;
}

static unsigned reached_tlbs(const struct machine *m)
{
	unsigned reached = 0;
	for (unsigned first = 0; first < 2; first++)
		for (unsigned at = first ? m->first_data_tlb : m->first_instruction_tlb; at < m->n_tlbs;
		     at = m->tlbs[at].next)
			reached |= 1u << at;
	return reached;
}

static bool caches_are_sound(const struct machine *m, struct machine_fault *f)
{
	if (m->n_caches > MACHINE_CACHES)
		return fault(f, "machine", "extends", "%u caches: at most %d", m->n_caches, MACHINE_CACHES);
	for (unsigned i = 0; i < m->n_caches; i++) {
		if (!cache_is_sound(m, i, f))
			return false;
		for (unsigned k = 0; k < i; k++)
			if (strcmp(m->caches[k].name, m->caches[i].name) == 0)
				return fault(f, m->caches[i].name, "size", "two caches of this name");
	}
	const uint8_t firsts[] = {m->first_instruction, m->first_data};
	for (unsigned i = 0; i < 2; i++) {
		unsigned holds = i ? MACHINE_DATA : MACHINE_INSTRUCTIONS;
		if (firsts[i] == MACHINE_NONE)
			continue;
		if (firsts[i] >= m->n_caches)
			return fault(f, "machine", "extends", "the first level is not a cache");
		if (!(m->caches[firsts[i]].holds & holds))
			return fault(f, m->caches[firsts[i]].name, "holds",
				     "the first level for %s does not hold them", i ? "data" : "instructions");
	}
	unsigned reached = reached_caches(m);
	for (unsigned i = 0; i < m->n_caches; i++)
		if (!(reached & 1u << i))
			return fault(f, m->caches[i].name, "holds", "nothing leads to '%s'", m->caches[i].name) ||
			       advise(f, "name it as 'next' of the level in front of it, or drop it");
	return true;
}

/* ---- TLBs ---- */

static bool tlb_is_sound(const struct machine *m, unsigned i, struct machine_fault *f)
{
	const struct machine_tlb *t = &m->tlbs[i];
	if (!is_name(t->name, sizeof t->name))
		return fault(f, "machine", "name", "TLB %u has no name", i);
	if (t->holds < 1 || t->holds > 3)
		return fault(f, t->name, "holds", "neither instructions nor data");
	if (t->ways == 0 || t->sets == 0)
		return fault(f, t->name, t->ways ? "sets" : "ways", "0 %s: a TLB without an entry",
			     t->ways ? "sets" : "ways");
	if (t->ways > WAYS_MAX || t->sets > TLB_ENTRIES_MAX || (uint64_t)t->ways * t->sets > TLB_ENTRIES_MAX)
		return fault(f, t->name, "entries", "more than %d ways, or than %d entries", WAYS_MAX,
			     TLB_ENTRIES_MAX);
	uint32_t own = m->page_bytes ? m->page_bytes : 4096;
	if (t->page_bytes != 0 && t->page_bytes != own && t->page_bytes != 2u << 20)
		return fault(f, t->name, "page", "pages of %uK: programs on this machine have pages of %uK and 2M",
			     t->page_bytes >> 10, own >> 10) ||
		       advise(f, "leave the line out for a TLB that holds pages of any size; 'page' in [machine] "
				 "says which pages the machine has");
	if (!in_powers(f, t->name, "pages_per_entry", t->pages_per_entry, 1, 64))
		return false;
	if (t->replacement == REPLACE_SRRIP || t->replacement == REPLACE_BRRIP)
		return fault(f, t->name, "replacement", "a TLB has lru, plru, fifo or random");
	if (!replacement(t->name, t->replacement, t->ways, f))
		return false;
	if (t->next == MACHINE_NONE)
		return true;
	if (t->next <= i || t->next >= m->n_tlbs)
		return fault(f, t->name, "next", "a TLB leads to one behind it, or to a walk");
	if (t->holds & ~m->tlbs[t->next].holds)
		return fault(f, t->name, "next", "'%s' holds what '%s' behind it does not", t->name,
			     m->tlbs[t->next].name);
	return true;
}

static bool tlbs_are_sound(const struct machine *m, struct machine_fault *f)
{
	if (m->n_tlbs > MACHINE_TLBS)
		return fault(f, "machine", "extends", "%u TLBs: at most %d", m->n_tlbs, MACHINE_TLBS);
	for (unsigned i = 0; i < m->n_tlbs; i++) {
		if (!tlb_is_sound(m, i, f))
			return false;
		for (unsigned k = 0; k < i; k++)
			if (strcmp(m->tlbs[k].name, m->tlbs[i].name) == 0)
				return fault(f, m->tlbs[i].name, "entries", "two TLBs of this name");
	}
	const uint8_t firsts[] = {m->first_instruction_tlb, m->first_data_tlb};
	for (unsigned i = 0; i < 2; i++) {
		unsigned holds = i ? MACHINE_DATA : MACHINE_INSTRUCTIONS;
		if (firsts[i] == MACHINE_NONE)
			continue;
		if (firsts[i] >= m->n_tlbs)
			return fault(f, "machine", "extends", "the first TLB is not a TLB");
		if (!(m->tlbs[firsts[i]].holds & holds))
			return fault(f, m->tlbs[firsts[i]].name, "holds",
				     "the first TLB for %s does not hold them", i ? "data" : "instructions");
	}
	unsigned reached = reached_tlbs(m);
	for (unsigned i = 0; i < m->n_tlbs; i++)
		if (!(reached & 1u << i))
			return fault(f, m->tlbs[i].name, "holds", "nothing leads to '%s'", m->tlbs[i].name) ||
			       advise(f, "name it as 'next' of the TLB in front of it, or drop it");
	return true;
}

/* ---- branches ---- */

static bool counters(struct machine_fault *f, const struct machine_direction *d)
{
	return in_range(f, "branches", "counter_bits", d->counter_bits, 1, 4) &&
	       in_range(f, "branches", "initial", d->initial, 0, (UINT64_C(1) << d->counter_bits) - 1);
}

static bool tage(struct machine_fault *f, const struct machine_direction *d)
{
	if (!in_range(f, "branches", "tables", d->tables, 1, MACHINE_TABLES))
		return false;
	for (unsigned i = 0; i < d->tables; i++) {
		if (!in_powers(f, "branches", "table_entries", d->table_entries[i], 2, 32768) ||
		    !in_range(f, "branches", "table_history", d->table_history[i], 1, LONG_HISTORY_MAX) ||
		    !in_range(f, "branches", "table_tag_bits", d->table_tag_bits[i], 2, 15))
			return false;
		if (i && d->table_history[i] <= d->table_history[i - 1])
			return fault(f, "branches", "table_history",
				     "%u after %u: histories grow from table to table", d->table_history[i],
				     d->table_history[i - 1]);
	}
	for (unsigned i = d->tables; i < MACHINE_TABLES; i++)
		if (d->table_entries[i] || d->table_history[i] || d->table_tag_bits[i])
			return fault(f, "branches",
				     d->table_entries[i]   ? "table_entries"
				     : d->table_history[i] ? "table_history"
							   : "table_tag_bits",
				     "more numbers than there are tables (%u)", d->tables);
	return in_range(f, "branches", "useful_reset", d->useful_reset, 1, UINT32_MAX);
}

static bool direction_is_sound(const struct machine_direction *d, struct machine_fault *f)
{
	static const char *const s = "branches";
	if (d->kind > PREDICT_BTB)
		return fault(f, s, "predictor", "no such predictor");
	if (!in_range(f, s, "address_shift", d->address_shift, 0, 8) ||
	    !in_range(f, s, "history_bits", d->history_bits, 0, HISTORY_BITS_MOST))
		return false;
	switch (d->kind) {
	case PREDICT_BTB: return counters(f, d);
	case PREDICT_BIMODAL:
		return counters(f, d) && in_powers(f, s, "entries", d->entries, 1, TABLE_ENTRIES_MAX);
	case PREDICT_LOCAL:
		return counters(f, d) && in_powers(f, s, "entries", d->entries, 1, TABLE_ENTRIES_MAX) &&
		       in_powers(f, s, "local_entries", d->local_entries, 1, TABLE_ENTRIES_MAX) &&
		       in_range(f, s, "history_bits", d->history_bits, 1, LOCAL_HISTORY_BITS_MAX);
	case PREDICT_GSHARE:
		return counters(f, d) && in_powers(f, s, "entries", d->entries, 1, TABLE_ENTRIES_MAX) &&
		       in_range(f, s, "history_bits", d->history_bits, 1, HISTORY_BITS_MAX);
	case PREDICT_TOURNAMENT:
		return counters(f, d) && in_powers(f, s, "entries", d->entries, 1, TABLE_ENTRIES_MAX) &&
		       in_range(f, s, "history_bits", d->history_bits, 1, HISTORY_BITS_MAX) &&
		       in_powers(f, s, "local_entries", d->local_entries, 1, TABLE_ENTRIES_MAX) &&
		       in_powers(f, s, "local_counters", d->local_counters, 2, 1 << LOCAL_HISTORY_BITS_MAX) &&
		       in_range(f, s, "local_counter_bits", d->local_counter_bits, 1, 4) &&
		       in_powers(f, s, "choice_entries", d->choice_entries, 1, TABLE_ENTRIES_MAX) &&
		       in_range(f, s, "choice_bits", d->choice_bits, 1, 4);
	case PREDICT_PERCEPTRON:
		return in_powers(f, s, "entries", d->entries, 1, TABLE_ENTRIES_MAX) &&
		       in_range(f, s, "history_bits", d->history_bits, 1, HISTORY_BITS_MOST) &&
		       in_range(f, s, "weight_bits", d->weight_bits, 2, 8) &&
		       (d->threshold >= 0 || fault(f, s, "threshold", "below 0"));
	case PREDICT_TAGE:
		return counters(f, d) && in_powers(f, s, "entries", d->entries, 1, TABLE_ENTRIES_MAX) &&
		       tage(f, d);
	default: return true;
	}
}

static bool targets_are_sound(const struct machine *m, struct machine_fault *f)
{
	static const char *const s = "targets";
	const struct machine_targets *t = &m->targets;
	if ((t->btb_sets == 0) != (t->btb_ways == 0))
		return fault(f, s, t->btb_sets ? "btb_ways" : "btb_sets", "a BTB has sets and ways, or neither");
	if (t->btb_ways > BTB_WAYS_MAX)
		return fault(f, s, "btb_ways", "%u ways: at most %d", t->btb_ways, BTB_WAYS_MAX);
	if ((uint64_t)t->btb_sets * t->btb_ways > BTB_ENTRIES_MAX)
		return fault(f, s, "btb_entries", "more than %d entries", BTB_ENTRIES_MAX);
	if (t->btb_sets && (t->btb_replacement == REPLACE_SRRIP || t->btb_replacement == REPLACE_BRRIP))
		return fault(f, s, "btb_replacement", "a BTB has lru, plru, fifo or random");
	if (t->btb_sets && !replacement(s, t->btb_replacement, t->btb_ways, f)) {
		f->key = "btb_replacement";
		return false;
	}
	if (t->btb_allocation > BTB_ALLOCATE_ALL)
		return fault(f, s, "btb_allocation", "no such allocation");
	if (t->btb_holds_returns > 1)
		return fault(f, s, "btb_holds_returns", "neither yes nor no");
	if (m->direction.kind == PREDICT_BTB && t->btb_sets == 0)
		return fault(f, "branches", "predictor", "the BTB predicts, and there is none") ||
		       advise(f, "give 'btb_entries' and 'btb_ways' in [targets], or another predictor");
	return in_range(f, s, "btb_tag_bits", t->btb_tag_bits, 0, 48) &&
	       in_range(f, s, "return_entries", t->return_entries, 0, 4096) &&
	       (t->indirect_entries == 0 ||
		in_powers(f, s, "indirect_entries", t->indirect_entries, 1, BTB_ENTRIES_MAX)) &&
	       in_range(f, s, "indirect_history", t->indirect_history, 0, 64) &&
	       in_range(f, s, "address_shift", t->address_shift, 0, 8);
}

/* ---- all ---- */

bool machine_is_sound(const struct machine *m, struct machine_fault *f)
{
	*f = (struct machine_fault){.stanza = "machine", .key = "extends"};
	if (!is_name(m->name, sizeof m->name))
		return fault(f, "machine", "name", "the machine has no name");
	if (!memchr(m->title, '\0', sizeof m->title))
		return fault(f, "machine", "title", "the title has no end");
	if (!in_range(f, "machine", "cores", m->cores, 1, 65536) ||
	    !in_powers(f, "machine", "fetch_bytes", m->fetch_bytes, 4, 64))
		return false;
	if (m->page_bytes && !in_powers(f, "machine", "page", m->page_bytes, 4096, 65536))
		return false;
	if (m->family > FAMILY_POWER4)
		return fault(f, "machine", "family", "no such family");
	if (m->seed == 0)
		return fault(f, "machine", "seed", "the seed cannot be 0: xorshift would stay 0");
	if (m->coherent > 1)
		return fault(f, "machine", "coherent", "neither yes nor no");
	if (!caches_are_sound(m, f) || !tlbs_are_sound(m, f) || !direction_is_sound(&m->direction, f) ||
	    !targets_are_sound(m, f))
		return false;
	if (m->n_caches == 0 && m->n_tlbs == 0 && m->direction.kind == PREDICT_NONE)
		return fault(f, "machine", "extends", "nothing in it: no cache, no TLB, no branch prediction") ||
		       advise(f,
			      "begin with '[machine]' and 'extends = r10000', or with a stanza such as '[L1D]'");
	bool private = false;
	for (unsigned i = 0; i < m->n_caches; i++)
	private |= !m->caches[i].shared;
	if (m->coherent && !private)
		return fault(f, "machine", "coherent",
			     "no core has a cache of its own that could be coherent with others'");
	return true;
}
