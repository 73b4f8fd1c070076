/* Distinct lines and pages of code that ran: of each block up to where it ran at all. */
#include <stdlib.h>

#include "backend/engine/decoded.h"
#include "backend/engine/tally_inside.h"
#include "base/order.h"
#include "base/vec.h"

static void measure_insn(void *arg, uint32_t index, uint64_t address, const struct x86_insn *insn)
{
	uint64_t *limits = arg; /* [0] instructions that ran, [1] end address of the last of them */
	if (index < limits[0])
		limits[1] = address + insn->length;
}

/* The end of what ran of a block in a process: corrections may say that it never ran to its end. */
static uint64_t end_of_run(const struct view_process *p, const struct view_process *owner, uint32_t number,
			   const struct record_block *block, uint64_t times)
{
	uint64_t cut = 0, limits[2] = {0, block->address};
	for (uint32_t i = 0; i < p->corrections.own; i++) {
		const struct record_correction *c = (const struct record_correction *)p->corrections.entries + i;
		if (c->block == number && c->times) {
			cut += c->times;
			limits[0] = c->done > limits[0] ? c->done : limits[0];
		}
	}
	if (times > cut)
		return block->address + block->length_bytes;
	decoded_each(owner, block, 0, measure_insn, limits);
	return limits[1];
}

typedef VEC(uint64_t) numbers;

/* The numbers of the lines that ran, repeated. */
static bool lines_of(const struct view_process *p, numbers *lines)
{
	for (uint32_t number = 0; number < p->blocks.count; number++) {
		const struct view_process *owner = view_block_owner(p, number);
		const struct record_block *block = owner ? view_block(owner, number) : NULL;
		uint64_t times = 0;
		for (size_t t = 0; block && t < p->n_threads; t++)
			times += view_entered(&p->threads[t], number);
		if (times == 0)
			continue;
		uint64_t end = end_of_run(p, owner, number, block, times);
		/* a damaged record may have any address, the last ones as well */
		for (uint64_t line = block->address >> 6; end > block->address && line <= (end - 1) >> 6; line++)
			if (!(lines->count && lines->items[lines->count - 1] == line) && !vec_push(lines, line))
				return false;
	}
	return true;
}

bool tally_code(struct tally *t, const struct view_process *head, struct error *err)
{
	numbers lines = {0};
	bool done = false;
	for (const struct view_process *p = head; p; p = p->next_part)
		if (!lines_of(p, &lines)) {
			error_no_memory(err);
			goto out;
		}
	if (lines.count)
		qsort(lines.items, lines.count, sizeof *lines.items, order_uint64);
	for (size_t i = 0; i < lines.count; i++) {
		t->total[COUNT_CODE_LINES] += i == 0 || lines.items[i] != lines.items[i - 1];
		t->total[COUNT_CODE_PAGES] += i == 0 || lines.items[i] >> 6 != lines.items[i - 1] >> 6;
	}
	done = true;
out:
	vec_free(&lines);
	return done;
}
