/*
 * Making plans: see plan.h.
 *
 * Equals   the order of run_block() of run.c, written down as records
 * For      as plan.h
 * Test     tests/model/run_test.c, tests/model/branches_test.c
 */
#include "model/core/fast/plan.h"

/* What slots without a plan lead to: the plan of no block. */
#define NOTHING_UNITS (uint32_t)(sizeof(struct block_plan) / 8)

void plans_init(struct plans *plans, struct model_memory *arena)
{
	plans->words = arena_take(arena, PLAN_SLOTS * sizeof *plans->words);
	plans->at = arena_take(arena, PLAN_SLOTS * sizeof *plans->at);
	/* what is read eight at a time may lie behind the last one */
	plans->memory = arena_take(arena, PLAN_BYTES + 64);
	plans->heads = arena_take(arena, PLAN_SLOTS * sizeof *plans->heads);
	plans->places = arena_take(arena, HEAD_IDS * sizeof *plans->places);
	plans->ids = 0;
	plans->used = NOTHING_UNITS;
	if (arena->base)
		*(struct block_plan *)plans->memory = (struct block_plan){.header = UINT64_MAX};
}

static void forget_all(struct plans *plans)
{
	for (uint32_t slot = 0; slot < PLAN_SLOTS; slot++) {
		if (plans->at[slot])
			plans->heads[slot].where = 0; /* not of all: what was never written takes no memory */
		plans->at[slot] = plans->words[slot] = 0;
	}
	plans->used = NOTHING_UNITS;
	if (plans->ids > HEAD_IDS / 2) {
		__builtin_memset(plans->places, 0, HEAD_IDS * sizeof *plans->places);
		plans->ids = 0;
	}
}

void plans_forget(struct model *model)
{
	if (model->plans)
		forget_all(model->plans);
}

static struct block_plan *take(struct plans *plans, unsigned records, bool large)
{
	uint64_t bytes = sizeof(struct block_plan) +
			 records * (sizeof(int64_t) + sizeof(struct plan_items) + (large ? 3 : 0));
	uint32_t units = (uint32_t)((bytes + 7) / 8);
	struct block_plan *plan;
	if (plans->used + units > PLAN_BYTES / 8 || plans->ids > HEAD_IDS - HEAD_IDS / 4)
		forget_all(plans);
	plan = (struct block_plan *)(plans->memory + plans->used);
	plans->used += units;
	return plan;
}

static uint64_t three(uint64_t a, uint64_t b, uint64_t c) { return a | b << PLAN_FIELD | c << 2 * PLAN_FIELD; }

static uint64_t units(uint64_t first, uint64_t last, unsigned shift)
{
	return (last >> shift) - (first >> shift) + 1;
}

/* ---- a block's records ---- */

/* One that is being made. */
struct draft {
	int64_t displacement;
	uint64_t record;
	uint32_t value, misaligned;
	struct plan_items items;
};

struct drafts {
	struct block_plan *plan; /* NULL: they are counted only */
	unsigned n, of;          /* of: how many there will be */
	bool open;               /* the last one is an access that others may join */
	struct draft last;
};

static void put(struct drafts *drafts)
{
	const struct draft *d = &drafts->last;
	struct block_plan *plan = drafts->plan;
	unsigned r = drafts->n - 1;
	uint16_t how = (uint16_t)(d->record >> 57 | (uint64_t)d->misaligned << 10);
	if (!drafts->n || !plan)
		return;
	plan->displacement[r] = d->displacement;
	((struct plan_items *)plan_items(plan))[r] = d->items;
	if (plan->flags & PLAN_LARGE) {
		((uint16_t *)plan_hows(plan))[r] = (uint16_t)(how | (d->value & 7) << 7);
		((uint8_t *)(plan_hows(plan) + plan->records))[r] = (uint8_t)d->value;
	} else {
		plan->how[r] = (uint16_t)(how | d->value << 7);
	}
}

static void begin(struct drafts *drafts, struct draft draft)
{
	put(drafts);
	drafts->last = draft;
	drafts->n++;
	drafts->open = false;
}

static void fetch_record(struct drafts *drafts, uint64_t number, uint64_t address, uint64_t type)
{
	begin(drafts, (struct draft){.displacement = (int64_t)(address - number), .record = HIT_SIMPLE | type});
}

static bool simple(const struct trace_item *item)
{
	return item->kind <= TRACE_WRITE && !(item->flags & (TRACE_FS | TRACE_BIT)) && item->bytes &&
	       !(item->bytes & (item->bytes - 1)) && item->value != TRACE_NO_VALUE - 1;
}

static bool string(const struct trace_item *item)
{
	return item->kind == TRACE_REP_READ || item->kind == TRACE_REP_WRITE;
}

static int64_t displacement_of(const struct trace_item *item, uint32_t number)
{
	return item->displacement - (item->value == TRACE_NO_VALUE ? (int64_t)number : 0);
}

/* Whether the item was taken into the last record. */
static bool join(struct drafts *drafts, const struct trace_item *item, uint32_t number, bool distinct_writes)
{
	struct draft *d = &drafts->last;
	int64_t displacement = displacement_of(item, number), behind = displacement - d->displacement;
	uint32_t size = d->misaligned + 1;
	bool write = item->kind == TRACE_WRITE;
	if (!drafts->open || !simple(item) || d->value != (item->value == TRACE_NO_VALUE ? 0 : item->value + 1u))
		return false;
	if (distinct_writes && write != !!(d->record & HIT_WRITES))
		return false;
	if (item->bytes <= size && behind >= 0 && behind + item->bytes <= size && !(behind & (item->bytes - 1))) {
		;
	} else if (item->bytes > size && behind <= 0 && -behind + size <= item->bytes &&
		   !(-behind & (int64_t)(size - 1))) {
		d->displacement = displacement;
		d->misaligned = item->bytes - 1u;
	} else {
		return false;
	}
	d->record |= HIT_REPEATS | (write ? HIT_WRITES : 0);
	d->items.n++;
	return true;
}

static void access_record(struct drafts *drafts, const struct trace_item *items, unsigned i, uint32_t number,
			  uint32_t most, bool distinct_writes)
{
	const struct trace_item *item = &items[i];
	bool write = item->kind == TRACE_WRITE;
	if (i && drafts->last.items.n == 1 && string(item) && string(&items[i - 1]) &&
	    item->insn == items[i - 1].insn && drafts->last.items.first == i - 1) {
		drafts->last.items.n++; /* both accesses of a rep instruction go together */
		return;
	}
	if (item->bytes <= most && join(drafts, item, number, distinct_writes))
		return;
	if (!simple(item) || item->bytes > most) {
		/* to the number: an odd address */
		begin(drafts, (struct draft){.displacement = (number & 1) ^ 1,
					     .misaligned = 1,
					     .record = HIT_SIMPLE | HIT_STEPS | HIT_TYPE(HIT_DATA),
					     .items = {(uint8_t)i, 1}});
		return;
	}
	begin(drafts,
	      (struct draft){.displacement = displacement_of(item, number),
			     .value = item->value == TRACE_NO_VALUE ? 0 : item->value + 1u,
			     .misaligned = item->bytes - 1u,
			     .items = {(uint8_t)i, 1},
			     .record = HIT_SIMPLE | HIT_TYPE(write && distinct_writes ? HIT_WRITE : HIT_DATA) |
				       (write ? HIT_WRITES | HIT_WRITES_FIRST : 0)});
	drafts->open = true;
}

/* The block's records, or, with plan NULL, how many they are. *skips: of them, what a block that is reached
 * sequentially leaves out. */
static unsigned make_records(const struct core *core, const struct trace_block *block,
			     const struct trace_item *items, uint32_t number, struct block_plan *plan,
			     uint8_t *skips)
{
	const struct model *model = core->model;
	const struct cache *data = core->first_data;
	/* crossings of 64 bytes are also counted */
	uint32_t most = data && data->is.line_bytes < 64 ? data->is.line_bytes : 64;
	unsigned line_shift = core->first_instruction ? core->first_instruction->line_shift : 6;
	unsigned shift = model->by_units && model->fetch_shift < line_shift ? model->fetch_shift : line_shift;
	uint64_t last = block->pc + block->length - 1, unit = block->pc >> shift;
	bool fetches = core->first_instruction || model->machine.first_instruction_tlb != MACHINE_NONE;
	struct drafts drafts = {.plan = plan};

	*skips = fetches && block->pc & ((1ull << line_shift) - 1);
	if (fetches) {
		fetch_record(&drafts, number, unit << shift, HIT_TYPE(HIT_FETCH));
		/* reached sequentially inside a line it enters no line, but perhaps a unit; else this is the same
		 * once more */
		if (shift < line_shift && *skips && !(block->pc & ((1ull << shift) - 1)))
			fetch_record(&drafts, number, unit << shift, HIT_TYPE(HIT_PAGE) | HIT_REPEATS);
	}
	for (unsigned i = 0; i <= block->items; i++) {
		uint64_t to = i < block->items ? block->pc + items[i].offset : last;
		for (; fetches && unit < to >> shift; unit++) {
			uint64_t next = (unit + 1) << shift;
			fetch_record(&drafts, number, next,
				     HIT_TYPE(next & ((1ull << line_shift) - 1) ? HIT_PAGE : HIT_FETCH));
		}
		if (i < block->items)
			access_record(&drafts, items, i, number, most, model->distinct_writes);
	}
	put(&drafts);
	return drafts.n;
}

/* ---- heads ---- */

/* The number of a place in the program, the same as long as there are heads. Those of a page of code lie together,
 * as far as there is room. */
static uint32_t plan_id(struct plans *plans, uint64_t pc)
{
	uint32_t id = (uint32_t)((pc >> 12) * 0x9e3779b97f4a7c15ull >> 32) << 7 | (uint32_t)(pc >> 5 & 127);
	while (plans->places[id %= HEAD_IDS] && plans->places[id] != pc + 1)
		id++;
	plans->ids += !plans->places[id];
	plans->places[id] = pc + 1;
	return id;
}

static void make_head(struct plans *plans, const struct core *core, const struct block_plan *plan)
{
	struct plan_head *head = &plans->heads[plan->header % PLAN_SLOTS];
	const uint64_t tag = plan_head_tag(plan->header);
	*head = (struct plan_head){0};
	if (!(plan->flags & PLAN_INLINED) || tag >> (32 - HEAD_TAG) || !heads_possible(core))
		return;
	*head = (struct plan_head){.where = (uint32_t)tag << HEAD_TAG,
				   .begins = plan_id(plans, plan->branch.begins),
				   .behind = plan_id(plans, plan->branch.behind),
				   .low = (uint32_t)plan->branch.address,
				   .high = (uint32_t)(plan->branch.address >> 32)};
	for (unsigned i = 0; i < 3; i++)
		head->counted |= (uint32_t)(plan->sums >> i * PLAN_FIELD & 0xff) << 8 * i;
	for (unsigned sequential = 0; sequential < 2; sequential++)
		for (unsigned i = 0; i < 2; i++)
			head->fetched |= (uint32_t)(plan->fetches[sequential] >> i * PLAN_FIELD & 0xff)
					 << (16 * sequential + 8 * i);
	if (core->branches)
		branches_head(core->branches, &plan->branch, &head->counted, &head->high, &head->version,
			      &head->where);
}

/* ---- plans ---- */

const struct block_plan *plans_make(struct plans *plans, const struct core *core,
				    const struct trace_program *program, uint32_t number)
{
	const struct trace_block *block = &program->blocks[number];
	const struct trace_item *items = program->items + block->first_item;
	unsigned line_shift = core->first_instruction ? core->first_instruction->line_shift : 6,
		 unit_shift = core->model->fetch_shift;
	uint64_t last = block->pc + block->length - 1, reads = 0, writes = 0;
	uint64_t lines = units(block->pc, last, line_shift), fetched = units(block->pc, last, unit_shift);
	bool large,
		fits = block->items <= PLAN_MOST && block->insns <= PLAN_MOST && fetched <= PLAN_MOST &&
		       lines <= PLAN_MOST && block->length && block->values < PLAN_MOST,
		inlined = block->flags & TRACE_INLINED;
	struct block_plan *plan;
	unsigned n = 0;
	uint8_t skips = 0;

	/* what names the data objects is looked at step by step: calls, returns and an allocation function's
	 * arguments */
	if (core->calls) {
		fits &= block->ending != TRACE_END_CALL && block->ending != TRACE_END_INDIRECT_CALL &&
			block->ending != TRACE_END_RETURN;
		for (unsigned i = 0; i < block->items; i++)
			fits &= items[i].kind != TRACE_VALUE;
	}
	/* fetch units that are larger than lines would be entered without a record of their own */
	fits &= inlined || !(core->model->by_units && unit_shift > line_shift);
	if (fits && !inlined)
		n = make_records(core, block, items, number, NULL, &skips);
	fits &= n <= PLAN_MOST;
	large = !inlined && (n > 8 || block->values > 7);
	plan = take(plans, fits ? n : 0, large);
	plans->at[number % PLAN_SLOTS] = (uint32_t)((uint64_t *)plan - plans->memory);
	plans->words[number % PLAN_SLOTS] = !fits ? 0 : inlined ? 1 : (uint8_t)(1 + block->values);
	*plan = (struct block_plan){.header = fits ? number : number | PLAN_STEPS};
	plans->heads[number % PLAN_SLOTS].where = 0;
	if (!fits)
		return plan;
	if (core->branches)
		branches_static(core->branches, &plan->branch, block->pc, last + 1 - block->ending_length,
				block->ending_length, (enum trace_ending)block->ending, block->target);
	plan->branch.begins = block->pc;
	plan->branch.behind = last + 1;
	plan->flags = (inlined ? PLAN_INLINED : 0) | (large ? PLAN_LARGE : 0) |
		      (large && block->values > 7 ? PLAN_WIDE : 0);
	plan->records = (uint8_t)n;
	if (inlined)
		inlined_sums(items, block->items, &reads, &writes);
	else
		make_records(core, block, items, number, plan, &plan->skips);
	for (unsigned r = 0; r < n; r++) {
		const struct plan_items *of = &plan_items(plan)[r];
		for (unsigned i = of->first;
		     i < of->first + of->n && !(HOW_RECORD(plan_hows(plan)[r]) & HIT_STEPS); i++) {
			reads += items[i].kind == TRACE_READ;
			writes += items[i].kind == TRACE_WRITE;
		}
	}
	plan->sums = three(block->insns, reads, writes);
	plan->fetches[0] = three(lines, fetched, 1);
	/* a unit that the byte before is in is not entered again */
	plan->fetches[1] = three(lines - !!(block->pc & ((1ull << line_shift) - 1)),
				 fetched - !!(block->pc & ((1ull << unit_shift) - 1)), 1);
	make_head(plans, core, plan);
	return plan;
}
