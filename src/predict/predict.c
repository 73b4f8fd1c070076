#include "predict/predict.h"

#include <elf.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "backend/engine/events.h"
#include "engine/x86/vector.h"
#include "base/file.h"
#include "base/order.h"
#include "base/vec.h"
#include "engine/x86/decode.h"
#include "symbol/places.h"

enum { FILE_BYTES_MOST = 1 << 30 };

struct predictor {
	struct prediction *out;
	struct symbols *symbols;
	const struct exact_event **events;
	const uint8_t *bytes; /* of the file */
	size_t length;
	struct error *err;
	VEC(uint64_t) leaders; /* offsets at which a block begins, sorted */
	VEC(struct predicted_block) blocks;
};

static bool no_memory(struct predictor *p) { return error_no_memory(p->err); }

/* Does control not simply go on behind it? Calls and system calls come back. */
static bool ends_block(const struct x86_insn *insn)
{
	switch (insn->flow) {
	case X86_FLOW_NONE:
	case X86_FLOW_CALL:
	case X86_FLOW_CALL_REG:
	case X86_FLOW_CALL_MEM:
	case X86_FLOW_CALL_FAR:
	case X86_FLOW_SYSCALL:
	case X86_FLOW_SYSENTER:
	case X86_FLOW_INT:
	case X86_FLOW_INT3:
	case X86_FLOW_INT1:
	case X86_FLOW_XEND: return false;
	default: return true;
	}
}

static enum predicted_end end_of(const struct x86_insn *insn)
{
	switch (insn->flow) {
	case X86_FLOW_JCC:
	case X86_FLOW_LOOP:
	case X86_FLOW_JRCXZ:
	case X86_FLOW_XBEGIN: return PREDICTED_BRANCH;
	case X86_FLOW_JMP: return PREDICTED_JUMP;
	case X86_FLOW_RET:
	case X86_FLOW_RET_FAR:
	case X86_FLOW_IRET:
	case X86_FLOW_UIRET: return PREDICTED_RETURN;
	case X86_FLOW_UD:
	case X86_FLOW_HLT: return PREDICTED_STOP;
	default: return ends_block(insn) ? PREDICTED_INDIRECT : PREDICTED_ON;
	}
}

static bool is_call(const struct x86_insn *insn)
{
	return insn->flow == X86_FLOW_CALL || insn->flow == X86_FLOW_CALL_REG || insn->flow == X86_FLOW_CALL_MEM ||
	       insn->flow == X86_FLOW_CALL_FAR;
}

/* What the instruction is; the range's end does not cut it short. */
static bool decode(struct predictor *p, uint64_t offset, struct x86_insn *insn)
{
	if (offset < p->length && x86_decode(p->bytes + offset, p->length - offset, insn) == X86_DECODE_OK &&
	    !(insn->class & X86_CLASS_UNKNOWN))
		return true;
	error_set(p->err, ERROR_UNSUPPORTED,
		  "the bytes at offset 0x%llx of the file are not an instruction that tare knows",
		  (unsigned long long)offset);
	return error_hint(p->err, "does the place hold data, or does it begin inside an instruction?");
}

static bool is_leader(const struct predictor *p, uint64_t offset)
{
	return p->leaders.count > 0 &&
	       bsearch(&offset, p->leaders.items, p->leaders.count, sizeof offset, order_uint64) != NULL;
}

static bool find_leaders(struct predictor *p, const struct region_range *range)
{
	struct x86_insn insn;
	for (uint64_t at = range->low; at < range->high; at += insn.length) {
		if (!decode(p, at, &insn))
			return false;
		if (x86_flow_has_target(insn.flow) && !is_call(&insn) &&
		    !vec_push(&p->leaders, at + insn.length + (uint64_t)(int64_t)insn.target_rel))
			return no_memory(p);
	}
	return true;
}

/* The place's ranges, each decoded once before: 0 … NULL. */
static bool inside(const struct region_asked *place, uint64_t offset)
{
	for (size_t i = 0; i < place->n_ranges; i++)
		if (offset >= place->ranges[i].low && offset < place->ranges[i].high)
			return true;
	return false;
}

/* Line and file of a block: those of its instructions that are of the first one's file. */
static bool add_line(struct predictor *p, struct predicted_block *block, uint64_t offset)
{
	const struct symbol_code *code = symbols_code(p->symbols, block->module, offset, p->err);
	if (!code)
		return false;
	if (!block->function) {
		block->function = arena_strdup(&p->out->arena, code->function);
		block->file = code->file ? arena_strdup(&p->out->arena, code->file) : NULL;
		if (!block->function || (code->file && !block->file))
			return no_memory(p);
	}
	if (!code->line || !code->file || !block->file || strcmp(code->file, block->file) != 0)
		return true;
	if (!block->first_line || code->line < block->first_line)
		block->first_line = code->line;
	if (code->line > block->last_line)
		block->last_line = code->line;
	return true;
}

static bool count_block(struct predictor *p, struct predicted_block *block, const struct exact_vector *vector)
{
	uint64_t count[COUNTS] = {0};
	for (int i = 0; i < COUNT_STATIC; i++)
		count[i] = vector->of[i];
	block->instructions = count[COUNT_INSTRUCTIONS];
	block->counts = arena_alloc(&p->out->arena, (p->out->n_events + 1) * sizeof *block->counts);
	if (!block->counts)
		return no_memory(p);
	for (size_t i = 0; i < p->out->n_events; i++)
		if (!exact_event_value(p->events[i], count, &block->counts[i]))
			return error_set(p->err, ERROR_SYSTEM, "the count of '%s' does not fit",
					 p->out->events[i]);
	return true;
}

/* A vector's counts are of blocks of at most 65535 instructions. */
enum { BLOCK_INSTRUCTIONS_MOST = 60000 };

/* One block from `at`; its end is in block->high. */
static bool read_block(struct predictor *p, const struct region_asked *place, const struct region_range *range,
		       uint64_t at, struct predicted_block *block)
{
	struct exact_vector vector = {0};
	struct x86_insn insn = {0};
	*block = (struct predicted_block){.low = at, .module = range->module};
	do {
		struct exact_each each = {0};
		if (!decode(p, at, &insn) || !add_line(p, block, at))
			return false;
		exact_vector_add(&vector, &insn, &each);
		block->calls += is_call(&insn);
		block->data_decides |= each.unit ||
				       insn.class & (X86_CLASS_MASKED | X86_CLASS_GATHER | X86_CLASS_SCATTER);
		at += insn.length;
	} while (at < range->high && !ends_block(&insn) && !is_leader(p, at) &&
		 vector.of[COUNT_INSTRUCTIONS] < BLOCK_INSTRUCTIONS_MOST);
	block->high = at;
	block->end = end_of(&insn);
	if (block->end == PREDICTED_BRANCH || block->end == PREDICTED_JUMP) {
		block->target = at + (uint64_t)(int64_t)insn.target_rel;
		block->target_inside = inside(place, block->target);
	}
	return count_block(p, block, &vector);
}

static bool read_range(struct predictor *p, const struct region_asked *place, const struct region_range *range)
{
	struct predicted_block block;
	for (uint64_t at = range->low; at < range->high; at = block.high) {
		if (!read_block(p, place, range, at, &block))
			return false;
		if (!vec_push(&p->blocks, block))
			return no_memory(p);
	}
	return true;
}

/* ---- loops ---- */

static size_t block_at(const struct predictor *p, const struct predicted_block *from, uint64_t offset)
{
	for (size_t i = 0; i < p->blocks.count; i++)
		if (p->blocks.items[i].low == offset && p->blocks.items[i].module == from->module)
			return i;
	return p->blocks.count;
}

/* Can control come from block `from` to block `to`? seen[] and todo[] have room for all blocks. */
static bool reaches(const struct predictor *p, size_t from, size_t to, bool *seen, size_t *todo)
{
	size_t n = 0, count = p->blocks.count;
	memset(seen, 0, count * sizeof *seen);
	for (size_t at = from;; at = todo[--n]) {
		const struct predicted_block *block = &p->blocks.items[at];
		bool goes_on = block->end == PREDICTED_ON || block->end == PREDICTED_BRANCH;
		size_t next[2] = {goes_on && at + 1 < count && block->high == p->blocks.items[at + 1].low ? at + 1
													  : count,
				  block->target_inside ? block_at(p, block, block->target) : count};
		if (at == to)
			return true;
		for (int i = 0; i < 2; i++) {
			if (next[i] < count && !seen[next[i]]) {
				seen[next[i]] = true;
				todo[n++] = next[i];
			}
		}
		if (n == 0)
			return false;
	}
}

/* A jump back from whose target control can return is a loop's; others lead to shared ends of a function. */
static bool find_loops(struct predictor *p)
{
	bool *seen = malloc(p->blocks.count * sizeof *seen + 1);
	size_t *todo = malloc((p->blocks.count + 1) * sizeof *todo);
	bool done = (seen && todo) || no_memory(p);
	for (size_t i = 0; done && i < p->blocks.count; i++) {
		struct predicted_block *block = &p->blocks.items[i];
		size_t target = block->target_inside && block->target < block->high
					? block_at(p, block, block->target)
					: p->blocks.count;
		block->loop = target < p->blocks.count && reaches(p, target, i, seen, todo);
	}
	free(seen);
	free(todo);
	return done;
}

static bool add_up(struct predictor *p)
{
	struct prediction *out = p->out;
	out->n_blocks = p->blocks.count;
	out->blocks = arena_alloc(&out->arena, (out->n_blocks + 1) * sizeof *out->blocks);
	out->once = arena_alloc(&out->arena, (out->n_events + 1) * sizeof *out->once);
	if (!out->blocks || !out->once)
		return no_memory(p);
	memset(out->once, 0, (out->n_events + 1) * sizeof *out->once);
	if (out->n_blocks)
		memcpy(out->blocks, p->blocks.items, out->n_blocks * sizeof *out->blocks);
	out->straight = true;
	for (size_t i = 0; i < out->n_blocks; i++) {
		const struct predicted_block *block = &out->blocks[i];
		bool last = i + 1 == out->n_blocks;
		for (size_t e = 0; e < out->n_events; e++)
			out->once[e] += block->counts[e];
		out->straight &= !block->data_decides && !block->calls &&
				 (block->end == PREDICTED_ON || (last && block->end == PREDICTED_RETURN));
	}
	return true;
}

static bool predict_place(struct predictor *p, const struct region_asked *place)
{
	for (size_t i = 0; i < place->n_ranges; i++)
		if (!find_leaders(p, &place->ranges[i]))
			return false;
	if (p->leaders.count)
		qsort(p->leaders.items, p->leaders.count, sizeof *p->leaders.items, order_uint64);
	for (size_t i = 0; i < place->n_ranges; i++)
		if (!read_range(p, place, &place->ranges[i]))
			return false;
	return find_loops(p) && add_up(p);
}

static bool choose_events(struct predictor *p, const struct event *events, size_t n)
{
	struct arena *arena = &p->out->arena;
	const char **names = arena_alloc(arena, (n + 1) * sizeof *names),
		   **units = arena_alloc(arena, (n + 1) * sizeof *units);
	p->events = arena_alloc(arena, (n + 1) * sizeof *p->events);
	if (!names || !units || !p->events)
		return no_memory(p);
	for (size_t i = 0; i < n; i++) {
		const struct exact_event *event = exact_event_find(&events[i]);
		bool executed = event && (exact_event_needs_trace(event) || exact_event_uses(event, COUNT_TAKEN) ||
					  exact_event_uses(event, COUNT_BASIC_BLOCKS) ||
					  exact_event_uses(event, COUNT_CODE_LINES) ||
					  exact_event_uses(event, COUNT_CODE_PAGES));
		if (!event || event->why_not || executed) {
			error_set(p->err, ERROR_USAGE, "'%s' cannot be predicted from the code: %s",
				  events[i].text,
				  !event           ? "it is not an event of instructions"
				  : event->why_not ? event->why_not
						   : "it depends on how the code is executed");
			return error_hint(p->err,
					  "count it: tare count --on exact --region PLACE -e EVENT -- PROGRAM");
		}
		p->events[i] = event;
		names[i] = arena_strdup(arena, event->name);
		units[i] = events[i].definition ? arena_strdup(arena, events[i].definition->unit) : "events";
		if (!names[i] || !units[i])
			return no_memory(p);
	}
	p->out->events = names;
	p->out->units = units;
	p->out->n_events = n;
	return true;
}

static bool is_x86_64(struct predictor *p, const char *file)
{
	const Elf64_Ehdr *header = (const Elf64_Ehdr *)p->bytes;
	if (p->length >= sizeof *header && memcmp(header->e_ident, ELFMAG, SELFMAG) == 0 &&
	    header->e_ident[EI_CLASS] == ELFCLASS64 && header->e_machine == EM_X86_64)
		return true;
	error_set(p->err, ERROR_UNSUPPORTED, "'%s' is not a program or library for x86-64", file);
	return error_hint(p->err, "counts are predicted from the machine code of x86-64 ELF files alone");
}

static bool find_place(struct predictor *p, const char *file, const char *text, struct region_asked *place)
{
	struct place_spec spec;
	struct arena *arena = &p->out->arena;
	if (!place_parse(text, arena, &spec, p->err) ||
	    !place_find(p->symbols, &spec, &file, 1, arena, place, p->err))
		return false;
	p->out->place = arena_strdup(arena, place->text);
	p->out->note = place->note ? arena_strdup(arena, place->note) : NULL;
	return p->out->place ? true : no_memory(p);
}

bool predict(const char *file, const char *place, const struct event *events, size_t n_events,
	     struct prediction *out, struct error *err)
{
	struct predictor p = {.out = out, .err = err};
	struct region_asked asked = {0};
	char path[PATH_MAX];
	*out = (struct prediction){0};
	if (!realpath(file, path)) {
		error_set_errno(err, ERROR_NOT_FOUND, errno, "cannot find '%s'", file);
		return false;
	}
	char *bytes = file_read(path, FILE_BYTES_MOST, &p.length, err);
	const char *kept = arena_strdup(&out->arena, path);
	p.bytes = (const uint8_t *)bytes;
	bool done = bytes && (kept || no_memory(&p)) && is_x86_64(&p, file) &&
		    choose_events(&p, events, n_events) && symbols_new(NULL, &p.symbols, err) &&
		    find_place(&p, kept, place, &asked) && predict_place(&p, &asked);
	symbols_free(p.symbols);
	vec_free(&p.leaders);
	vec_free(&p.blocks);
	free(bytes);
	if (!done)
		prediction_free(out);
	return done;
}
