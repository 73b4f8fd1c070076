#include "profile/code.h"

#include <stdlib.h>
#include <string.h>

#include "profile/named.h"
#include "symbol/disassemble.h"

struct code_fill {
	const struct named_profile *named;
	struct symbols *symbols;
	struct named_code *out;
};

static void add_saturated(uint64_t *sum, uint64_t count)
{
	if (__builtin_add_overflow(*sum, count, sum))
		*sum = UINT64_MAX;
}

static uint32_t row_of_place(const struct named_profile *n, uint32_t place)
{
	const struct named_place *p = &n->places[place];
	return n->functions[n->frames[p->first_frame + p->n_frames - 1].function].row;
}

/* A place of the row; UINT32_MAX: there is none. */
static uint32_t place_of_row(const struct named_profile *n, uint32_t row)
{
	for (uint32_t i = 0; i < n->n_places; i++)
		if (row_of_place(n, i) == row)
			return i;
	return UINT32_MAX;
}

/* Why a module has no code to show; NULL: it may have. */
static const char *why_none(struct code_fill *fill, const struct profile_module *m)
{
	switch (m->kind) {
	case MODULE_FILE:
		return named_is_other_file(fill->symbols, m)
			       ? "its file is another one now than when it was profiled"
			       : NULL;
	case MODULE_VDSO: return NULL;
	case MODULE_KERNEL: return "the kernel's code is in no file that tare reads";
	case MODULE_ANONYMOUS: return "its code was made at run time, and is in no file";
	case MODULE_UNKNOWN: break;
	}
	return "its code is in no file";
}

static bool take_line(struct code_fill *fill, const char *module, struct named_instruction *one, struct error *err)
{
	const struct symbol_code *code = symbols_code(fill->symbols, module, one->offset, err);
	struct str path = {0};
	if (!code)
		return false;
	if (!code->file)
		return true;
	named_source_path(&path, code->file, symbols_directory(fill->symbols, module, one->offset));
	one->file = path.text && !path.failed ? arena_strdup(&fill->out->arena, path.text) : NULL;
	one->line = code->line;
	str_free(&path);
	return one->file || error_no_memory(err);
}

static bool take_instructions(struct code_fill *fill, const char *module, const struct symbol_instruction *from,
			      size_t n, struct error *err)
{
	struct named_code *out = fill->out;
	size_t events = fill->named->profile->n_events + 1;
	out->all = arena_alloc(&out->arena, (n + 1) * sizeof *out->all);
	uint64_t *counts = arena_alloc(&out->arena, (n + 1) * events * sizeof *counts);
	if (!out->all || !counts)
		return error_no_memory(err);
	for (size_t i = 0; i < n; i++) {
		struct named_instruction *one = &out->all[i];
		*one = (struct named_instruction){.offset = from[i].offset,
						  .address = from[i].address,
						  .text = arena_strdup(&out->arena, from[i].text),
						  .counts = counts + i * events};
		if (!one->text || !take_line(fill, module, one, err))
			return one->text ? false : error_no_memory(err);
	}
	out->n = n;
	return true;
}

/* The instruction that begins there; NULL. */
static struct named_instruction *find(struct named_code *code, uint64_t offset)
{
	size_t low = 0, high = code->n;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (code->all[middle].offset < offset)
			low = middle + 1;
		else
			high = middle;
	}
	return low < code->n && code->all[low].offset == offset ? &code->all[low] : NULL;
}

static void take_counts(struct code_fill *fill)
{
	const struct named_profile *named = fill->named;
	const struct profile *p = named->profile;
	for (size_t i = 0; i < p->n_cells; i++) {
		const struct profile_cell *c = &p->cells[i];
		uint32_t place = named->place_of_node[c->node];
		if (place == UINT32_MAX || row_of_place(named, place) != fill->out->row)
			continue;
		struct named_instruction *one = find(fill->out, named->places[place].offset);
		add_saturated(one ? &one->counts[c->event] : &fill->out->elsewhere[c->event], c->count);
	}
}

bool named_code_new(const struct named_profile *named, uint32_t row, struct symbols *symbols,
		    struct named_code *out, struct error *err)
{
	struct code_fill fill = {.named = named, .symbols = symbols, .out = out};
	struct symbol_instruction *instructions = NULL;
	struct error own = {0};
	size_t n = 0;
	*out = (struct named_code){.row = row};
	uint32_t place = place_of_row(named, row);
	const struct profile_module *m = place == UINT32_MAX
						 ? NULL
						 : &named->profile->modules[named->places[place].module];
	out->why = m ? why_none(&fill, m) : "it has no instruction with counts";
	out->elsewhere = arena_alloc(&out->arena, (named->profile->n_events + 1) * sizeof *out->elsewhere);
	bool done = out->elsewhere || error_no_memory(err);
	if (done && !out->why &&
	    !symbols_disassemble(symbols, m->path, named->places[place].offset, &instructions, &n, &own)) {
		out->why = arena_strdup(&out->arena, own.text);
		done = (out->why && own.code != ERROR_NO_MEMORY) || error_no_memory(err);
	}
	done = done && take_instructions(&fill, m ? m->path : "", instructions, n, err);
	if (done)
		take_counts(&fill);
	else
		named_code_free(out);
	free(instructions);
	return done;
}
