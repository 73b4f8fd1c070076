/* Making plans: see plan.h. */
#include "model/core/plan.h"

/* What slots without a plan lead to: the plan of no block. */
#define NOTHING_UNITS (uint32_t)(sizeof(struct plan) / 8)

void plans_init(struct plans *plans, struct arena *arena)
{
	plans->at = arena_take(arena, PLAN_SLOTS * sizeof *plans->at);
	plans->memory = arena_take(arena, PLAN_BYTES);
	plans->used = NOTHING_UNITS;
	if (arena->base)
		*(struct plan *)plans->memory = (struct plan){ .number = UINT32_MAX };
}

static struct plan *take(struct plans *plans, unsigned groups)
{
	uint32_t units = (uint32_t)((sizeof(struct plan) + groups * sizeof(struct plan_group)) / 8);
	struct plan *plan;
	if (plans->used + units > PLAN_BYTES / 8) {
		for (uint32_t slot = 0; slot < PLAN_SLOTS; slot++)
			plans->at[slot] = 0;
		plans->used = NOTHING_UNITS;
	}
	plan = (struct plan *)(plans->memory + plans->used);
	plans->used += units;
	return plan;
}

static bool simple(const struct trace_item *item)
{
	return item->kind <= TRACE_WRITE && !(item->flags & (TRACE_FS | TRACE_BIT)) && item->bytes && !(item->bytes & (item->bytes - 1)) &&
	       item->value != TRACE_NO_VALUE - 1;
}

/* Whether the item can be decided together with the group, whose items all begin at its alignment or above. */
static bool joins(const struct plan_group *group, const struct trace_item *item, uint32_t number, uint32_t line_bytes, bool writes_apart)
{
	bool absolute = item->value == TRACE_NO_VALUE;
	int64_t displacement = item->displacement - (absolute ? (int64_t)number : 0);
	int64_t low = displacement < group->displacement ? displacement : group->displacement;
	int64_t high = group->displacement + group->span, end = displacement + item->bytes - 1;
	unsigned mask = group->misaligned > item->bytes - 1u ? group->misaligned : item->bytes - 1u;
	if (group->flags & GROUP_STEPWISE || !simple(item) || group->value != (absolute ? 0 : item->value + 1))
		return false;
	if (writes_apart && (item->kind == TRACE_WRITE) != (group->flags & GROUP_WRITES))
		return false;
	high = end > high ? end : high;
	/* both are aligned if the lower one is aligned for the larger */
	return high - low < line_bytes && high - low < 256 && !((displacement - group->displacement) & (int64_t)mask);
}

static void join(struct plan_group *group, const struct trace_item *item, uint32_t number)
{
	int64_t displacement = item->displacement - (item->value == TRACE_NO_VALUE ? (int64_t)number : 0);
	int64_t high = group->displacement + group->span, end = displacement + item->bytes - 1;
	if (displacement < group->displacement)
		group->displacement = displacement;
	group->span = (uint8_t)((end > high ? end : high) - group->displacement);
	if (group->misaligned < item->bytes - 1u)
		group->misaligned = (uint8_t)(item->bytes - 1u);
	group->flags |= item->kind == TRACE_WRITE ? GROUP_WRITES : GROUP_READS;
	group->filter = group->flags & GROUP_WRITES ? offsetof(struct filter, write) : offsetof(struct filter, read);
	group->items++;
}

static uint64_t three(uint64_t a, uint64_t b, uint64_t c)
{
	return a | b << PLAN_FIELD | c << 2 * PLAN_FIELD;
}

static uint64_t units(uint64_t first, uint64_t last, unsigned shift)
{
	return (last >> shift) - (first >> shift) + 1;
}

static bool string(const struct trace_item *item)
{
	return item->kind == TRACE_REP_READ || item->kind == TRACE_REP_WRITE;
}

/* The groups that the items fall into; as many as are asked for are written. */
static unsigned group_items(const struct core *core, const struct trace_block *block, const struct trace_item *items, uint32_t number,
			    struct plan_group *groups)
{
	const struct cache *data = core->first_data;
	uint32_t line_bytes = data ? data->is.line_bytes : 4096;
	uint32_t most = line_bytes < 64 ? line_bytes : 64; /* crossings of 64 bytes are counted, too */
	bool writes_apart = data && data->is.write != WRITE_BACK;
	struct plan_group group = { .flags = GROUP_STEPWISE };
	unsigned n = 0;
	for (unsigned i = 0; i < block->items; i++) {
		bool again = i && string(&items[i]) && string(&items[i - 1]) && items[i].insn == items[i - 1].insn && group.items < 2;
		if (again) /* both accesses of a rep instruction go together */
			group.items++;
		else if (i && items[i].bytes <= most && joins(&group, &items[i], number, line_bytes, writes_apart)) {
			join(&group, &items[i], number);
		} else {
			if (n && groups)
				groups[n - 1] = group;
			n++;
			group = (struct plan_group){ .first = (uint8_t)i, .items = 1, .flags = GROUP_STEPWISE, .misaligned = 1 };
			group.displacement = (number & 1) ^ 1; /* to the number: odd */
			if (simple(&items[i]) && items[i].bytes <= most) {
				bool absolute = items[i].value == TRACE_NO_VALUE;
				group.value = (uint8_t)(absolute ? 0 : items[i].value + 1);
				group.displacement = items[i].displacement - (absolute ? (int64_t)number : 0);
				group.span = group.misaligned = (uint8_t)(items[i].bytes - 1);
				group.flags = items[i].kind == TRACE_WRITE ? GROUP_WRITES | GROUP_WRITES_FIRST : GROUP_READS;
				group.filter = group.flags & GROUP_WRITES ? offsetof(struct filter, write) : offsetof(struct filter, read);
			}
		}
	}
	if (n && groups)
		groups[n - 1] = group;
	return n;
}

static uint32_t filter_at(const struct cache *cache, uint64_t address)
{
	return (uint32_t)((address >> cache->line_shift & cache->filter_mask) * sizeof(struct filter));
}

const struct plan *plans_make(struct plans *plans, const struct core *core, const struct trace_program *program, uint32_t number)
{
	const struct trace_block *block = &program->blocks[number];
	const struct trace_item *items = program->items + block->first_item;
	unsigned line_shift = core->first_instruction ? core->first_instruction->line_shift : 6, unit_shift = core->model->fetch_shift;
	uint64_t last = block->pc + block->length - 1, reads = 0, writes = 0;
	uint64_t lines = units(block->pc, last, line_shift), fetched = units(block->pc, last, unit_shift);
	bool fits = block->items <= PLAN_MOST && block->insns <= PLAN_MOST && fetched <= PLAN_MOST && lines <= PLAN_MOST && block->length;
	/* what names the data objects is looked at step by step: calls, returns and an allocation function's arguments */
	if (core->calls) {
		fits &= block->ending != TRACE_END_CALL && block->ending != TRACE_END_INDIRECT_CALL && block->ending != TRACE_END_RETURN;
		for (unsigned i = 0; i < block->items; i++)
			fits &= items[i].kind != TRACE_VALUE;
	}
	unsigned groups = fits ? group_items(core, block, items, number, NULL) : 0;
	struct plan *plan;
	bool one_tlb;

	if (core->branches)
		branches_drain(core->branches); /* sites in plans that may have to make room */
	plan = take(plans, groups);
	plans->at[number % PLAN_SLOTS] = (uint64_t)((uint64_t *)plan - plans->memory) | (uint64_t)(1 + block->values) << 32;
	*plan = (struct plan){ .pc = block->pc, .last = last, .target = block->target, .number = number, .groups = (uint8_t)groups,
		.ending = block->ending, .ending_length = block->ending_length, .values = block->values };
	if (core->branches)
		branches_site(core->branches, &plan->site, last + 1 - block->ending_length, block->ending_length,
			      (enum trace_ending)block->ending, block->target);
	if (!fits) {
		plan->flags = PLAN_NONE;
		return plan;
	}
	group_items(core, block, items, number, plan->group);
	for (unsigned g = 0; g < groups; g++)
		for (unsigned i = 0; i < plan->group[g].items && !(plan->group[g].flags & GROUP_STEPWISE); i++) {
			bool write = items[plan->group[g].first + i].kind == TRACE_WRITE;
			reads += !write;
			writes += write;
		}
	if (core->first_instruction) {
		plan->code_at[0] = filter_at(core->first_instruction, block->pc);
		plan->code_at[1] = filter_at(core->first_instruction, last);
	}
	plan->page_at = (uint32_t)((block->pc >> core->pages[TLB_FETCH].shift & core->pages[TLB_FETCH].mask) * sizeof(uint64_t));
	plan->sums = three(block->insns, reads, writes);
	plan->fetches[0] = three(lines, fetched, 1);
	/* a unit that the byte before is in is not entered again */
	plan->fetches[1] = three(lines - !!(block->pc & ((1ull << line_shift) - 1)), fetched - !!(block->pc & ((1ull << unit_shift) - 1)), 1);
	one_tlb = core->pages[TLB_DATA].pages == core->pages[TLB_FETCH].pages && core->pages[TLB_DATA].pages;
	plan->flags = lines == 1 && (fetched == 1 || !one_tlb) ? PLAN_ONE_LINE : 0;
	if (block->ending != TRACE_END_NONE && block->ending != TRACE_END_SYSTEM)
		plan->flags |= PLAN_BRANCHES;
	if (lines > 2 || block->pc >> 12 != last >> 12)
		plan->flags |= PLAN_MANY;
	return plan;
}
