/*
 * Records that one check decides: in a row, of addresses that are known to lie close together (pushes, pops,
 * fields of one structure).
 *
 *     k:      check of the first record's granule, or of the first's and the last's: all are there ──► touched once
 *                 │ not
 *                 ▼
 *             cold code: each record by itself, in program order, before instruction k (code.c)
 *
 * What always holds:
 *  1. Between the first and the last of them the machine has no other record, and no instruction may fault but by
 *     those accesses: so what is done too early is what the next records would do anyway. A block that is left
 *     between them makes the rest again, which moves nothing.
 *  2. One granule's: all accesses lie in it, aligned, if the lowest and the highest do. Touched once is as touched
 *     by each: nothing of the machine's is touched between, and time is an order only.
 *  3. Two granules', the first's and the last's: whatever lies between them lies in one or the other; the
 *     addresses lie in between in any order. All read or all write. The first record's granule is touched before
 *     the last's is looked for, as it is by the record itself.
 *  4. By themselves they are made as far as the first that will fault.
 *  5. An access that is not aligned is never found by the check, nor is one that crosses a granule's end.
 */
#include "engine/runtime/runtime.h"
#include "engine/runtime/translate/translation.h"

/* one granule is asked for: first bytes so far apart cross a granule's end in one of eight cases */
#define NEAR_BYTES 8
#define PARTS_MOST 16u

struct chain { /* of one machine's records, in program order: indices of sites */
	uint8_t at[PARTS_MOST];
	unsigned n;
};

static const struct trace_item *item_of(const struct inline_site *site)
{
	return &rt.items[rt.templates[site->block].first_item + site->record.item];
}

static bool may_join(const struct inline_site *site)
{
	const struct trace_item *item = item_of(site);
	return !site->record.fetch && !site->record.called &&
	       !(site->flags & (INLINE_FS | INLINE_GS | INLINE_NARROW)) && item->kind <= TRACE_WRITE &&
	       item->bytes <= 8 && !(item->flags & (TRACE_FS | TRACE_BIT));
}

/* Nothing but its accesses, which are records, may fault. */
static bool is_simple(const struct x86_insn *in)
{
	return in->flow == X86_FLOW_NONE && in->special == X86_SPECIAL_NONE && !(in->class & X86_CLASS_REP) &&
	       !(in->class & (X86_CLASS_INT_DIV | X86_CLASS_FP | X86_CLASS_X87 | X86_CLASS_FP_DIV |
			      X86_CLASS_FP_CONVERT | X86_CLASS_FP_INT_CONVERT));
}

static bool follows(const struct translation *tr, const struct inline_site *first,
		    const struct inline_site *before, const struct inline_site *site)
{
	const struct trace_item *a = item_of(first), *b = item_of(site);
	int64_t distance = b->displacement - a->displacement;
	if (!may_join(site) || a->value != b->value || distance <= -64 || distance >= 64)
		return false;
	for (unsigned k = before->record.insn; k < site->record.insn; k++)
		if (!is_simple(&tr->decoded.insn[k]))
			return false;
	return true;
}

/* The records behind site `first` of its machine that may be decided with it. */
static void find_chain(const struct translation *tr, const struct inline_site *sites, unsigned first, unsigned n,
		       struct chain *chain)
{
	chain->at[0] = (uint8_t)first;
	chain->n = 1;
	if (!may_join(&sites[first]))
		return;
	for (unsigned i = first + 1; i < n && chain->n < PARTS_MOST; i++) {
		if (sites[i].machine != sites[first].machine)
			continue;
		if (!follows(tr, &sites[first], &sites[chain->at[chain->n - 1]], &sites[i]))
			return;
		chain->at[chain->n++] = (uint8_t)i;
	}
}

/* Of the chain's first records: */
struct extent {
	int64_t low, high;           /* displacements of first bytes */
	unsigned bytes;              /* of the largest */
	int64_t largest;             /* its displacement */
	bool reads, writes, aligned; /* aligned: all are if the largest is */
	bool equal;                  /* all of as many bytes, and the first and the last are the outermost */
};

static struct extent extent_of(const struct inline_site *sites, const struct chain *chain, unsigned n)
{
	const struct trace_item *first = item_of(&sites[chain->at[0]]), *last = item_of(&sites[chain->at[n - 1]]);
	struct extent s = {
		.low = first->displacement, .high = first->displacement, .aligned = true, .equal = true};
	for (unsigned i = 0; i < n; i++) {
		const struct inline_site *site = &sites[chain->at[i]];
		const struct trace_item *item = item_of(site);
		bool both = site->record.writes && item->kind == TRACE_READ;
		s.low = item->displacement < s.low ? item->displacement : s.low;
		s.high = item->displacement > s.high ? item->displacement : s.high;
		s.reads |= !site->record.writes || both;
		s.writes |= site->record.writes;
		s.equal &= item->bytes == first->bytes;
		if (item->bytes > s.bytes) {
			s.bytes = item->bytes;
			s.largest = item->displacement;
		}
	}
	for (unsigned i = 0; i < n; i++)
		s.aligned &= !((item_of(&sites[chain->at[i]])->displacement - s.largest) &
			       (item_of(&sites[chain->at[i]])->bytes - 1));
	s.equal &= (first->displacement == s.low && last->displacement == s.high) ||
		   (first->displacement == s.high && last->displacement == s.low);
	return s;
}

/* To a multiple of bytes from the largest: where it is aligned so are these. */
static int64_t down(int64_t displacement, const struct extent *s)
{
	return displacement - ((displacement - s->largest) & (s->bytes - 1));
}

static bool as_one(const struct inline_site *site, const struct extent *s, int64_t granule)
{
	if (!s->aligned)
		return false;
	if (site->flags & INLINE_CONSTANT) /* where it is is known */
		return !((s->low ^ s->high) & -granule) && !(s->largest & (s->bytes - 1));
	return s->high - s->low <= NEAR_BYTES && granule >= 2 * NEAR_BYTES;
}

static bool as_two(const struct inline_site *site, const struct extent *s, unsigned n, int64_t granule)
{
	/* where sets are sampled one of the two may not be */
	return !inline_where[site->machine].sampled_entries && n > 2 && s->aligned && s->equal &&
	       !(s->reads && s->writes) && s->high - s->low < granule && !(site->flags & INLINE_CONSTANT);
}

static bool fits(int64_t displacement) { return displacement == (int32_t)displacement; }

/* The check that stands for the first n of the chain; false: none does. */
static bool merged(const struct inline_site *sites, const struct chain *chain, unsigned n, struct inline_site *to)
{
	const struct inline_site *first = &sites[chain->at[0]];
	struct extent s = extent_of(sites, chain, n);
	int64_t granule = 1ll << inline_where[first->machine].shift,
		base = first->displacement - item_of(first)->displacement;
	*to = *first;
	to->parts = (uint8_t)n;
	to->record.writes = s.writes;
	if (!fits(base + s.low - 64) || !fits(base + s.high + 64)) {
		if (!(first->flags & INLINE_CONSTANT))
			return false;
	}
	if (as_one(first, &s, granule)) {
		to->displacement = base + down(s.high, &s);
		to->other = first->flags & INLINE_CONSTANT ? 0 : (int8_t)(down(s.low, &s) - down(s.high, &s));
		to->record.mask = (int32_t)(-granule | (s.bytes - 1));
		return true;
	}
	if (as_two(first, &s, n, granule)) {
		to->two = 1;
		to->other = (int8_t)(item_of(&sites[chain->at[n - 1]])->displacement -
				     item_of(first)->displacement);
		return true;
	}
	return false;
}

/* Sites in program order, *n of them: those that are merged become one, in the first's place, and are themselves
   behind the last, their displacements from that one's. Returns how many those are. */
unsigned inline_merge(const struct translation *tr, struct inline_site *sites, unsigned *n)
{
	static struct inline_site was[INLINE_SITES], parts[INLINE_SITES];
	static uint8_t taken[INLINE_SITES];
	unsigned left = 0, n_parts = 0;
	struct chain chain;
	if (*n > INLINE_SITES)
		return 0;
	memcpy(was, sites, *n * sizeof *was);
	memset(taken, 0, sizeof taken);
	for (unsigned i = 0; i < *n; i++) {
		if (taken[i])
			continue;
		find_chain(tr, was, i, *n, &chain);
		unsigned most = chain.n;
		while (most > 1 && !merged(was, &chain, most, &sites[left]))
			most--;
		if (most > 1) {
			int64_t base = was[i].displacement - item_of(&was[i])->displacement -
				       sites[left].displacement;
			sites[left].part = (uint8_t)n_parts;
			for (unsigned p = 0; p < most; p++, n_parts++) {
				taken[chain.at[p]] = 1;
				parts[n_parts] = was[chain.at[p]];
				parts[n_parts].displacement = base + item_of(&parts[n_parts])->displacement;
			}
		} else {
			sites[left] = was[i];
		}
		left++;
	}
	for (unsigned p = 0; p < n_parts; p++)
		sites[left + p] = parts[p];
	*n = left;
	return n_parts;
}

/* Each part's operand is its check's, and its instruction that one's. */
void inline_place_parts(struct inline_site *sites, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		for (unsigned p = 0; p < sites[i].parts; p++) {
			struct inline_site *part = &sites[n + sites[i].part + p];
			part->base = sites[i].base;
			part->index = sites[i].index;
			part->scale = sites[i].scale;
			part->flags = sites[i].flags;
			part->displacement += sites[i].displacement;
			part->record.insn = sites[i].record.insn;
			part->is_part = 1;
		}
}
