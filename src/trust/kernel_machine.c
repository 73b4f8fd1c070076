#include "trust/kernel_machine.h"

#include <stdio.h>

static void set(struct kernel_machine *out, const char *component, const char *property, int64_t value)
{
	char name[32];
	snprintf(name, sizeof name, "%s%s%s", component, *component ? "." : "", property);
	kernel_machine_set(out, name, value);
}

/* Nothing but this policy decides what is in it. */
static bool is_plain(const struct machine *machine, const struct machine_cache *cache, int policy)
{
	bool plain = cache->replacement == policy && cache->prefetch == PREFETCH_NONE && !cache->victim_lines &&
		     cache->inclusion == INCLUSION_NONE;
	for (uint8_t at = cache->next; at != MACHINE_NONE; at = machine->caches[at].next)
		plain &= machine->caches[at].inclusion != INCLUSION_INCLUSIVE;
	return plain;
}

static void set_cache(struct kernel_machine *out, const char *name, const struct machine *machine, uint8_t at)
{
	const struct machine_cache *cache = &machine->caches[at];
	set(out, name, "line", cache->line_bytes);
	set(out, name, "sets", cache->sets);
	set(out, name, "ways", cache->ways);
	set(out, name, "lines", (int64_t)cache->sets * cache->ways);
	set(out, name, "shared", cache->shared);
	set(out, name, "allocates", cache->write_allocate);
	set(out, name, "back", cache->write == WRITE_BACK);
	set(out, name, "lru",
	    cache->replacement == REPLACE_LRU && cache->prefetch == PREFETCH_NONE && !cache->victim_lines);
	set(out, name, "inclusive", cache->inclusion == INCLUSION_INCLUSIVE);
	set(out, name, "exclusive", cache->inclusion == INCLUSION_EXCLUSIVE);
	set(out, name, "ahead", cache->prefetch == PREFETCH_NEXT_LINE ? cache->prefetch_degree : 0);
	set(out, name, "plain", is_plain(machine, cache, REPLACE_LRU));
	set(out, name, "fifo", is_plain(machine, cache, REPLACE_FIFO));
	set(out, name, "plru", is_plain(machine, cache, REPLACE_PLRU));
}

static void set_tlb(struct kernel_machine *out, const char *name, const struct machine *machine, uint8_t at)
{
	const struct machine_tlb *tlb = &machine->tlbs[at];
	int64_t page = machine->page_bytes ? machine->page_bytes : 4096;
	set(out, name, "sets", tlb->sets);
	set(out, name, "ways", tlb->ways);
	set(out, name, "entries", (int64_t)tlb->sets * tlb->ways);
	set(out, name, "reach", page * tlb->pages_per_entry);
	bool ordinary = tlb->page_bytes == 0 || tlb->page_bytes == page;
	set(out, name, "plain", tlb->replacement == REPLACE_LRU && ordinary);
	set(out, name, "fifo", tlb->replacement == REPLACE_FIFO && ordinary);
}

static void set_branches(struct kernel_machine *out, const struct machine *machine)
{
	const struct machine_direction *d = &machine->direction;
	const struct machine_targets *t = &machine->targets;
	set(out, "branch", "static",
	    d->kind == PREDICT_TAKEN            ? 1
	    : d->kind == PREDICT_NOT_TAKEN      ? 2
	    : d->kind == PREDICT_BACKWARD_TAKEN ? 3
						: 0);
	set(out, "branch", "plain",
	    (d->kind == PREDICT_BIMODAL || d->kind == PREDICT_BTB) && d->counter_bits == 2);
	if (d->kind == PREDICT_BIMODAL)
		set(out, "branch", "initial", d->initial);
	set(out, "btb", "entries", (int64_t)t->btb_sets * t->btb_ways);
	if (t->btb_sets)
		set(out, "btb", "all", t->btb_allocation == BTB_ALLOCATE_ALL);
	set(out, "indirect", "entries", t->indirect_entries);
	set(out, "return", "entries", t->return_entries);
}

void kernel_machine_of(const struct machine *machine, struct kernel_machine *out)
{
	static const char *const levels[] = {"l1d", "l2", "l3"};
	uint8_t i = machine->first_instruction, d = machine->first_data;
	int64_t n = 0;
	*out = (struct kernel_machine){.name = machine->name};
	set(out, "", "page", machine->page_bytes ? machine->page_bytes : 4096);
	set(out, "", "fetch", machine->fetch_bytes);
	set(out, "", "coherent", machine->coherent);
	if (i != MACHINE_NONE)
		set_cache(out, "l1i", machine, i);
	if (i != MACHINE_NONE && d != MACHINE_NONE)
		set(out, "", "unified", machine->caches[i].next == machine->caches[d].next);
	for (; d != MACHINE_NONE; d = machine->caches[d].next, n++) {
		if (n < 3)
			set_cache(out, levels[n], machine, d);
		if (!machine->caches[d].shared)
			set(out, "private", "line", machine->caches[d].line_bytes);
	}
	set(out, "", "levels", n);
	if (machine->first_instruction_tlb != MACHINE_NONE)
		set_tlb(out, "itlb", machine, machine->first_instruction_tlb);
	set(out, "tlb", "levels", 0);
	if (machine->first_data_tlb != MACHINE_NONE) {
		set_tlb(out, "dtlb", machine, machine->first_data_tlb);
		uint8_t next = machine->tlbs[machine->first_data_tlb].next;
		if (next != MACHINE_NONE)
			set_tlb(out, "stlb", machine, next);
		set(out, "tlb", "levels", next != MACHINE_NONE ? 2 : 1);
	}
	if (machine->direction.kind != PREDICT_NONE)
		set_branches(out, machine);
}
