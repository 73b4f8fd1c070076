/*
 * Where passes of a region begin and end, by a look at the code.
 *
 * FUNCTION: from its first instruction to a return of the same frame; jumps out of it are followed to the returns
 * there. CODE: the functions that the spans are in are read from begin to end. A pass begins at an instruction of
 * a span that control reaches from outside (on from the instruction before, by a jump, as a function's first), and
 * ends at one outside that it reaches from inside, at a return inside, or by a jump inside whose register points
 * outside. Instructions that nothing is seen to lead to (a landing pad of exceptions, a place that an address is
 * taken of) are reached from anywhere.
 *
 * The frame of an instruction is known by the unwind table (.eh_frame: DWARF 5, 6.4). Without it a region that
 * calls cannot be told from itself coming again, and is not probed.
 */
#include <dwarf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "symbol/flow.h"
#include "symbol/places_inside.h"

enum { BODIES_MOST = 64, STEPS_MOST = 400000, EDGES_MOST = 2000, TABLE_MOST = 4096 };

struct body { /* a function's code */
	uint64_t low, high;
	bool own;
	size_t first, count; /* of steps */
};

struct step {
	uint64_t address;
	struct flow flow;
	bool ends;  /* a call that does not come back */
	bool twice; /* a call that may come back twice */
	bool start; /* the first of a function */
	bool inside;
	bool targeted;                  /* a direct branch leads here … */
	bool from_inside, from_outside; /* … or the step before; from where */
	bool landed;                    /* or an exception or a longjmp, from anywhere */
};

struct look {
	struct module *m;
	struct naming *naming;
	const struct spans *spans;
	unsigned machine;
	VEC(struct body) bodies;
	VEC(struct step) steps;
	VEC(struct region_edge) edges;
	VEC(uint64_t) addresses; /* of edges, as linked */
	const char *module_path;
	Dwarf_CFI *cfi;
	bool function; /* the region is one */
	bool calls;    /* the region does */
	bool failed;   /* memory ran out */
	char why[256]; /* it cannot be probed */
};

static void refuse(struct look *l, const char *format, const char *name, uint64_t address)
{
	if (!l->why[0])
		snprintf(l->why, sizeof l->why, format, name, (unsigned long long)address);
}

static bool is_inside(const struct look *l, uint64_t address)
{
	for (size_t i = 0; i < l->spans->all.count; i++)
		if (address >= l->spans->all.items[i].low && address < l->spans->all.items[i].high)
			return true;
	return false;
}

/* ---- reading functions ---- */

/* The bounds of the function that has the address; false: nothing is known of it. */
static bool bounds_of(struct look *l, uint64_t address, uint64_t *low, uint64_t *high)
{
	const struct range *piece = ranges_find(&l->m->code, address);
	if (!piece)
		return false;
	*low = piece->low, *high = piece->high;
	if (piece->item != NO_ITEM && l->m->functions.items[piece->item].bytes) {
		*low = l->m->functions.items[piece->item].address;
		*high = *low + l->m->functions.items[piece->item].bytes;
	}
	return true;
}

static const char *name_at(struct look *l, uint64_t address)
{
	const struct range *piece = ranges_find(&l->m->code, address);
	return piece && piece->item != NO_ITEM ? l->m->functions.items[piece->item].name : NULL;
}

/* "f.cold", "f.cold.3" of "f". */
static bool is_fragment(const char *name, const char *of, size_t length)
{
	return strncmp(name, of, length) == 0 && strncmp(name + length, ".cold", 5) == 0;
}

static size_t stem_of(const char *name)
{
	const char *cold = strstr(name, ".cold");
	return cold ? (size_t)(cold - name) : strlen(name);
}

static const char *section_name(const struct look *l, uint64_t address)
{
	for (size_t i = 0; i < l->m->sections.count; i++) {
		const struct section *s = &l->m->sections.items[i];
		if (address >= s->address && address - s->address < s->bytes)
			return s->name;
	}
	return "";
}

/* Of a call: does it come back, and how often? */
static void judge_call(struct look *l, struct step *step)
{
	static const char *const end[] = {"__cxa_throw",
					  "__cxa_rethrow",
					  "__cxa_bad_cast",
					  "_Unwind_Resume",
					  "_Unwind_Resume_or_Rethrow",
					  "__cxa_throw_bad_array_new_length",
					  "abort",
					  "exit",
					  "_exit",
					  "_Exit",
					  "__assert_fail",
					  "__stack_chk_fail",
					  "longjmp",
					  "_longjmp",
					  "siglongjmp",
					  "__longjmp_chk",
					  "__cxa_call_terminate",
					  "__clang_call_terminate",
					  "_ZSt9terminatev"};
	if (!step->flow.has_target)
		return;
	bool plt = strncmp(section_name(l, step->flow.target), ".plt", 4) == 0;
	const char *name = plt ? linkage_of_call(l->m, step->flow.target) : name_at(l, step->flow.target);
	if (!name)
		return;
	size_t length = strcspn(name, "@");
	for (size_t i = 0; i < sizeof end / sizeof *end; i++)
		step->ends |= strlen(end[i]) == length && strncmp(name, end[i], length) == 0;
	for (size_t i = 0; i + 6 <= length; i++)
		step->twice |= strncmp(name + i, "setjmp", 6) == 0;
}

/* Reads a function, once. */
static void read_body(struct look *l, uint64_t low, uint64_t high, bool own)
{
	size_t available;
	for (size_t i = 0; i < l->bodies.count; i++)
		if (l->bodies.items[i].low == low)
			return;
	const uint8_t *code = module_bytes(l->m, low, &available);
	if (!code || high <= low || high - low > available) {
		refuse(l, "the code of %s0x%llx is not in the file", "", low);
		return;
	}
	if (l->bodies.count == BODIES_MOST) {
		refuse(l, "it leaves by jumps to more functions than are followed%s, at 0x%llx", "", low);
		return;
	}
	struct body body = {.low = low, .high = high, .own = own, .first = l->steps.count};
	for (uint64_t at = low; at < high;) {
		struct step step = {.address = at, .start = at == low};
		if (!flow_decode(l->machine, code + (at - low), high - at, at, &step.flow)) {
			refuse(l, "%sthere is no instruction at 0x%llx", "", at);
			return;
		}
		step.inside = is_inside(l, at);
		if (step.flow.kind == FLOW_CALL)
			judge_call(l, &step);
		l->calls |= step.inside && step.flow.kind == FLOW_CALL;
		if (l->steps.count == STEPS_MOST) {
			refuse(l, "%sthe functions around 0x%llx are too large to search", "", at);
			return;
		}
		if (!vec_push(&l->steps, step)) {
			l->failed = true;
			return;
		}
		at += step.flow.length;
	}
	body.count = l->steps.count - body.first;
	if (!vec_push(&l->bodies, body))
		l->failed = true;
}

static bool read_machine(struct look *l)
{
	GElf_Ehdr header;
	if (!gelf_getehdr(l->m->file.elf, &header))
		return false;
	l->machine = header.e_machine;
	short reg;
	int64_t offset;
	return header.e_ident[EI_CLASS] == ELFCLASS64 && flow_frame(l->machine, &reg, &offset);
}

/* ---- edges ---- */

static struct region_edge *add_edge(struct look *l, enum region_edge_kind kind, uint64_t address)
{
	struct region_edge edge = {.module = l->module_path,
				   .kind = kind,
				   .frame_register = EDGE_NO_REGISTER,
				   .jump_register = EDGE_NO_REGISTER};
	for (size_t i = 0; i < l->edges.count; i++)
		if (l->addresses.items[i] == address && l->edges.items[i].kind == kind)
			return &l->edges.items[i];
	if (!module_offset(l->m, address, &edge.offset)) {
		refuse(l, "%s0x%llx is not in the file", "", address);
		return NULL;
	}
	if (l->edges.count == EDGES_MOST) {
		refuse(l, "it begins and ends in more than 2000 places%s, the last at 0x%llx", "", address);
		return NULL;
	}
	if (!vec_push(&l->edges, edge) || !vec_push(&l->addresses, address)) {
		l->failed = true;
		return NULL;
	}
	return &l->edges.items[l->edges.count - 1];
}

/* ---- of a function ---- */

/* A jump to what the loader finds by its name. When the module has one of that name, it is taken to be that: if it
 * is another one's after all, the end of the pass is not seen, and the pass is said to be unbalanced. */
static void leave_by_name(struct look *l, const char *name, uint64_t at)
{
	size_t length = name ? strcspn(name, "@") : 0;
	for (size_t i = 0; length && i < l->m->functions.count; i++) {
		const struct elf_symbol *f = &l->m->functions.items[i];
		if (strncmp(f->name, name, length) == 0 && (!f->name[length] || f->name[length] == '@') &&
		    f->bytes && !f->chosen_at_load) {
			read_body(l, f->address, f->address + f->bytes, false);
			return;
		}
	}
	refuse(l,
	       name ? "it may leave by a jump to '%s' of another module (at 0x%llx), where its return is not seen"
		    : "it may leave by a jump through a pointer%s (at 0x%llx): its return is not seen",
	       name ? name : "", at);
}

/* What leads out of a body of it by a jump. */
static void leave_by_jump(struct look *l, const struct body *body, uint64_t entry, const char *stem,
			  size_t stem_length, uint64_t target, bool *again)
{
	uint64_t low, high;
	if (target >= body->low && target < body->high) {
		*again |= target == entry;
		return;
	}
	if (target == entry)
		*again = true;
	if (strncmp(section_name(l, target), ".plt", 4) == 0) {
		leave_by_name(l, linkage_of_call(l->m, target), target);
	} else if (!bounds_of(l, target, &low, &high)) {
		refuse(l, "it leaves by a jump to an unknown function%s, at 0x%llx", "", target);
	} else {
		const char *name = name_at(l, target);
		bool own = body->own &&
			   (low == entry ||
			    (stem && name && (is_fragment(name, stem, stem_length) || strcmp(name, stem) == 0)));
		read_body(l, low, high, own);
	}
}

static void function_edges(struct look *l, uint64_t entry, uint64_t high)
{
	short sp;
	int64_t offset;
	bool again = false;
	const char *stem = name_at(l, entry);
	size_t stem_length = stem ? stem_of(stem) : 0;
	flow_frame(l->machine, &sp, &offset);
	size_t first_edge = l->edges.count;
	l->bodies.count = l->steps.count = 0;
	read_body(l, entry, high, true);
	for (size_t b = 0; b < l->bodies.count && !l->failed && !l->why[0]; b++) {
		for (size_t i = 0; i < l->bodies.items[b].count; i++) {
			struct body body = l->bodies.items[b]; /* more of them may come, and move */
			struct step step = l->steps.items[body.first + i];
			struct region_edge *edge;
			bool last = i + 1 == body.count;
			switch (step.flow.kind) {
			case FLOW_RETURN:
				if ((edge = add_edge(l, EDGE_LEAVE, step.address)))
					edge->own |= body.own;
				break;
			case FLOW_JUMP_REGISTER:
				if ((edge = add_edge(l, EDGE_JUMP, step.address)))
					edge->jump_register = step.flow.reg;
				break;
			case FLOW_JUMP_SLOT:
				leave_by_name(l, linkage_of_slot(l->m, step.flow.target), step.address);
				break;
			case FLOW_JUMP_MEMORY: leave_by_name(l, NULL, step.address); break;
			case FLOW_JUMP:
			case FLOW_BRANCH:
				leave_by_jump(l, &body, entry, stem, stem_length, step.flow.target, &again);
				if (!last || step.flow.kind == FLOW_JUMP)
					break;
				/* fall through */
			case FLOW_NEXT:
				if (last && !step.flow.filler)
					leave_by_jump(l, &body, entry, stem, stem_length, body.high, &again);
				break;
			default: break;
			}
		}
	}
	struct region_edge *enter = add_edge(l, EDGE_ENTER, entry);
	if (enter)
		enter->again = again;
	for (size_t i = first_edge; i < l->edges.count; i++) {
		struct region_edge *e = &l->edges.items[i];
		e->frame_register = sp; /* of the entry and of returns; of jumps out it is the same */
		e->frame_offset = offset;
		if (e->kind != EDGE_JUMP)
			continue;
		uint64_t address = l->addresses.items[i];
		for (size_t b = 0; b < l->bodies.count; b++) {
			const struct body *body = &l->bodies.items[b];
			uint64_t low, end;
			if (address >= body->low && address < body->high && module_offset(l->m, body->low, &low) &&
			    module_offset(l->m, body->high - 1, &end))
				e->low = low, e->high = end + 1;
		}
	}
}

/* ---- of spans ---- */

static struct step *step_at(struct look *l, uint64_t address)
{
	size_t from = 0, to = l->steps.count;
	while (from < to) {
		size_t middle = from + (to - from) / 2;
		if (l->steps.items[middle].address < address)
			from = middle + 1;
		else
			to = middle;
	}
	return from < l->steps.count && l->steps.items[from].address == address ? &l->steps.items[from] : NULL;
}

static int by_address(const void *a, const void *b)
{
	const struct step *x = a, *y = b;
	return x->address < y->address ? -1 : x->address > y->address;
}

static void lead_to(struct look *l, const struct step *from, uint64_t target)
{
	struct step *to = step_at(l, target);
	if (to) {
		to->targeted = true;
		*(from->inside ? &to->from_inside : &to->from_outside) = true;
	} else if (is_inside(l, target)) {
		refuse(l, "a jump leads into the middle of an instruction%s, 0x%llx", "", target);
	} else if (from->inside) {
		/* to another function */
		add_edge(l, EDGE_LEAVE, from->flow.kind == FLOW_JUMP ? from->address : target);
	}
}

/* A jump by a table of addresses (compilers make them for code at fixed addresses): all that point into the
 * functions at hand. */
static void lead_by_table(struct look *l, const struct step *from)
{
	size_t available;
	const uint8_t *table = module_bytes(l->m, from->flow.target, &available);
	for (size_t i = 0; table && i < TABLE_MOST && 8 * (i + 1) <= available; i++) {
		uint64_t target;
		memcpy(&target, table + 8 * i, 8);
		if (!step_at(l, target))
			break;
		lead_to(l, from, target);
	}
}

static bool goes_on(const struct step *s)
{
	return !s->ends && (s->flow.kind == FLOW_NEXT || s->flow.kind == FLOW_CALL || s->flow.kind == FLOW_BRANCH);
}

static void read_around(struct look *l)
{
	for (size_t i = 0; i < l->spans->all.count; i++) {
		const struct address_span *span = &l->spans->all.items[i];
		for (uint64_t at = span->low; at < span->high;) {
			uint64_t low, high;
			if (!bounds_of(l, at, &low, &high)) {
				/* filler between functions */
				const struct range *above = ranges_above(&l->m->code, at);
				if (!above || above->low >= span->high)
					break;
				at = above->low;
				continue;
			}
			read_body(l, low, high, true);
			at = high > at ? high : at + 1;
		}
	}
	if (l->spans->all.count && !l->bodies.count)
		refuse(l, "%sno function is known around 0x%llx", "", l->spans->all.items[0].low);
	/* a function's other part */
	size_t n = l->bodies.count;
	for (size_t b = 0; b < n; b++) {
		const char *name = name_at(l, l->bodies.items[b].low);
		size_t length = name ? stem_of(name) : 0;
		for (size_t i = 0; name && i < l->m->functions.count && !l->failed && !l->why[0]; i++) {
			const struct elf_symbol *f = &l->m->functions.items[i];
			bool part = is_fragment(f->name, name, length) ||
				    (strlen(f->name) == length && strncmp(f->name, name, length) == 0);
			if (part && f->bytes && f->address != l->bodies.items[b].low)
				read_body(l, f->address, f->address + f->bytes, true);
		}
	}
}

/* The frame by the unwind table; false: it is not said, or not by one register. */
static bool frame_at(struct look *l, uint64_t address, short *reg, int64_t *offset)
{
	Dwarf_Frame *frame = NULL;
	Dwarf_Op *ops;
	size_t n = 0;
	bool found = false;
	if (!l->cfi || dwarf_cfi_addrframe(l->cfi, address, &frame) != 0)
		return false;
	if (dwarf_frame_cfa(frame, &ops, &n) == 0 && n == 1) {
		if (ops[0].atom >= DW_OP_breg0 && ops[0].atom <= DW_OP_breg31) {
			*reg = (short)(ops[0].atom - DW_OP_breg0);
			*offset = (int64_t)ops[0].number;
			found = true;
		} else if (ops[0].atom == DW_OP_bregx && ops[0].number < 32) {
			*reg = (short)ops[0].number;
			*offset = (int64_t)ops[0].number2;
			found = true;
		}
	}
	free(frame);
	short sp;
	int64_t entry;
	flow_frame(l->machine, &sp, &entry);
	short fp = sp == 7 ? 6 : 29;
	return found && (*reg == sp || *reg == fp);
}

static void code_edges(struct look *l)
{
	read_around(l);
	if (l->failed || l->why[0])
		return;
	qsort(l->steps.items, l->steps.count, sizeof *l->steps.items, by_address);
	for (size_t i = 0; i < l->spans->all.count; i++) {
		uint64_t low, high;
		if (bounds_of(l, l->spans->all.items[i].low, &low, &high) &&
		    !step_at(l, l->spans->all.items[i].low))
			refuse(l, "%s0x%llx is in the middle of an instruction", "", l->spans->all.items[i].low);
		if (bounds_of(l, l->spans->all.items[i].high, &low, &high) && low != l->spans->all.items[i].high &&
		    !step_at(l, l->spans->all.items[i].high) && step_at(l, low))
			refuse(l, "%s0x%llx is in the middle of an instruction", "", l->spans->all.items[i].high);
	}
	/* what leads where */
	for (size_t i = 0; i < l->steps.count && !l->why[0]; i++) {
		struct step *s = &l->steps.items[i];
		if (s->flow.kind == FLOW_BRANCH || s->flow.kind == FLOW_JUMP)
			lead_to(l, s, s->flow.target);
		if (s->flow.kind == FLOW_JUMP_TABLE)
			lead_by_table(l, s);
	}
	for (size_t i = 0; i < l->steps.count && !l->why[0]; i++) {
		struct step *s = &l->steps.items[i];
		/* filler behind a jump is not executed, but that before the head of a loop is */
		bool reached = !s->flow.filler || s->start || s->from_inside || s->from_outside;
		if (!goes_on(s) || !reached)
			continue;
		struct step *next = i + 1 < l->steps.count &&
						    l->steps.items[i + 1].address == s->address + s->flow.length
					    ? s + 1
					    : NULL;
		if (next && !(next->start && s->flow.kind == FLOW_CALL))
			*(s->inside ? &next->from_inside : &next->from_outside) = true;
		if (s->twice && next)
			next->landed = true;
	}
	for (size_t i = 0; i < l->steps.count && !l->why[0]; i++) {
		struct step *s = &l->steps.items[i];
		struct region_edge *edge;
		bool orphan = !s->start && !s->from_inside && !s->from_outside && !s->flow.filler;
		if (s->start && s->inside)
			s->from_outside = true;
		s->landed |= orphan;
		if (s->inside && (s->from_outside || s->landed) && (edge = add_edge(l, EDGE_ENTER, s->address)))
			edge->again = s->from_inside || s->landed;
		if (!s->inside && (s->from_inside || s->landed) && (edge = add_edge(l, EDGE_LEAVE, s->address)))
			edge->lost = !s->from_inside;
		if (s->inside && (s->flow.kind == FLOW_RETURN || s->flow.kind == FLOW_JUMP_SLOT ||
				  s->flow.kind == FLOW_JUMP_MEMORY))
			add_edge(l, EDGE_LEAVE, s->address);
		if (s->flow.kind == FLOW_JUMP_REGISTER && (edge = add_edge(l, EDGE_JUMP, s->address))) {
			edge->jump_register = s->flow.reg;
			edge->again = s->inside;
		}
	}
	for (size_t i = 0; i < l->edges.count && !l->why[0]; i++) {
		struct region_edge *e = &l->edges.items[i];
		if (!frame_at(l, l->addresses.items[i], &e->frame_register, &e->frame_offset) && l->calls)
			refuse(l, "it has calls, and the unwind table does not say%s where the frame is at 0x%llx",
			       "", l->addresses.items[i]);
	}
	/* with some frames known and some not, none could be compared */
	bool all = true;
	for (size_t i = 0; i < l->edges.count; i++)
		all &= l->edges.items[i].frame_register != EDGE_NO_REGISTER;
	for (size_t i = 0; i < l->edges.count && !all; i++)
		l->edges.items[i].frame_register = EDGE_NO_REGISTER;
}

/* The instructions' classes, and whether the region has the one that is its last. */
static void classify(struct look *l)
{
	for (size_t i = 0; i < l->edges.count; i++) {
		size_t available;
		struct flow flow;
		struct region_edge *e = &l->edges.items[i];
		const uint8_t *code = module_bytes(l->m, l->addresses.items[i], &available);
		if (!code || !flow_decode(l->machine, code, available, l->addresses.items[i], &flow))
			continue;
		e->class = flow.class;
		e->counts = e->kind == EDGE_JUMP ||
			    (e->kind == EDGE_LEAVE && (l->function || is_inside(l, l->addresses.items[i])));
	}
}

bool place_edges(struct module *m, struct naming *naming, const struct spans *spans, struct arena *arena,
		 struct region_asked *out)
{
	struct look l = {.m = m,
			 .naming = naming,
			 .spans = spans,
			 .module_path = out->ranges[0].module,
			 .function = out->kind == REGION_FUNCTION};
	bool done = false;
	if (!table_functions(m))
		return false;
	if (!read_machine(&l)) {
		refuse(&l, "tare cannot decode branches of this machine's code%s", "", 0);
	} else if (out->kind == REGION_FUNCTION) {
		for (size_t i = 0; i < spans->all.count && !l.failed && !l.why[0]; i++)
			function_edges(&l, spans->all.items[i].low, spans->all.items[i].high);
	} else {
		l.cfi = dwarf_getcfi_elf(m->file.elf);
		code_edges(&l);
	}
	classify(&l);
	if (l.failed)
		goto out;
	if (l.why[0]) {
		done = (out->no_edges = arena_strdup(arena, l.why)) != NULL;
		goto out;
	}
	struct region_edge *edges = arena_alloc(arena, (l.edges.count + 1) * sizeof *edges);
	if (!edges)
		goto out;
	memcpy(edges, l.edges.items, l.edges.count * sizeof *edges);
	out->edges = edges;
	out->n_edges = l.edges.count;
	done = true;
out:
	if (l.cfi)
		dwarf_cfi_end(l.cfi);
	vec_free(&l.bodies);
	vec_free(&l.steps);
	vec_free(&l.edges);
	vec_free(&l.addresses);
	return done;
}
