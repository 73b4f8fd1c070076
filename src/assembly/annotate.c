/* Ways into regions and out of them, and what is inserted there. See annotate.h. */
#include "assembly/annotate.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "assembly/plan.h"

static bool inserts(struct annotate_plan *p, size_t at, size_t until, enum rank rank, struct str *text)
{
	char *taken = str_take(text);
	size_t start = at;
	while (start > 0 && (p->a->text[start - 1] == ' ' || p->a->text[start - 1] == '\t'))
		start--;
	/* lines of their own go before the white space that begins a line */
	if (until == at && (start == 0 || p->a->text[start - 1] == '\n'))
		at = until = start;
	struct insertion insertion = {at, until, rank, p->insertions.count, taken};
	if (taken && vec_push(&p->insertions, insertion))
		return true;
	free(taken);
	return error_no_memory(p->err);
}

/* Where an instruction begins with its prefixes. */
static size_t unit_start(const struct annotate_plan *p, int index)
{
	while (index > 0 && plan_statement(p, index - 1)->kind == STATEMENT_PREFIX)
		index--;
	return plan_statement(p, index)->whole.at;
}

/* ---- calls ---- */

/* The state of unwinding and of the syntax at a place. */
static struct statement state_at(const struct assembly *a, size_t at)
{
	size_t index = plan_statement_at(a, at);
	struct statement none = {.frame = NONE, .function = NONE, .section = NONE, .intel = NONE};
	if (index < a->statements.count)
		return a->statements.items[index];
	if (a->statements.count) {
		none = a->statements.items[a->statements.count - 1];
		none.frame = NONE;
	}
	return none;
}

static void put_call(struct annotate_plan *p, struct str *out, const struct line_range *range, size_t at,
		     bool begin)
{
	const struct assembly *a = p->a;
	size_t index = plan_statement_at(a, at);
	const struct statement *state = NULL;
	struct statement behind_all;
	if (index < a->statements.count) {
		state = &a->statements.items[index];
	} else {
		behind_all = state_at(a, at);
		state = &behind_all;
	}
	annotate_put_call(out, a, state, begin, p->request->number + range->name, range->text);
}

/* Inner regions end first, outer ones begin first. */
static bool is_outer(const struct line_range *x, const struct line_range *y)
{
	return x->begin != y->begin ? x->begin < y->begin : x->end > y->end;
}

static int by_nesting(const void *x, const void *y)
{
	const struct line_range *a = x, *b = y;
	if (is_outer(a, b))
		return -1;
	return is_outer(b, a);
}

/* The calls for a way from one place of the text to another; false when there are none. `to` 0 … or outside of
 * all: `away`. */
static bool put_calls(struct annotate_plan *p, struct str *out, size_t from, size_t to, bool away, size_t state)
{
	bool any = false;
	for (size_t i = p->ranges.count; i--;) {
		const struct line_range *range = &p->ranges.items[i];
		if (range_holds(range, from) && (away || !range_holds(range, to))) {
			put_call(p, out, range, state, false);
			any = true;
		}
	}
	for (size_t i = 0; i < p->ranges.count; i++) {
		const struct line_range *range = &p->ranges.items[i];
		if (!away && !range_holds(range, from) && range_holds(range, to)) {
			put_call(p, out, range, state, true);
			any = true;
		}
	}
	return any;
}

static bool crosses(const struct annotate_plan *p, size_t from, size_t to, bool away)
{
	for (size_t i = 0; i < p->ranges.count; i++)
		if (range_holds(&p->ranges.items[i], from) != (!away && range_holds(&p->ranges.items[i], to)))
			return true;
	return false;
}

static bool in_any(const struct annotate_plan *p, size_t at)
{
	for (size_t i = 0; i < p->ranges.count; i++)
		if (range_holds(&p->ranges.items[i], at))
			return true;
	return false;
}

/* ---- pads ---- */

/* Directives of the frame, as they hold at a statement: all that came before, once more. */
static void put_frame(const struct annotate_plan *p, struct str *out, int index)
{
	const struct assembly *a = p->a;
	const struct statement *s = plan_statement(p, index), *start = plan_statement(p, s->frame);
	str_append(out, "\t.cfi_startproc ");
	str_append_bytes(out, a->text + start->operands.at, start->operands.end - start->operands.at);
	str_append_char(out, '\n');
	for (int i = s->frame + 1; i < index; i++) {
		const struct statement *directive = plan_statement(p, i);
		if (!plan_is_frame_directive(a, directive) || directive->frame != s->frame ||
		    slice_is(a, directive->word, ".cfi_personality") ||
		    slice_is(a, directive->word, ".cfi_lsda") || slice_is(a, directive->word, ".cfi_sections"))
			continue;
		str_append_char(out, '\t');
		str_append_bytes(out, a->text + directive->whole.at, directive->whole.end - directive->whole.at);
		str_append_char(out, '\n');
	}
}

/* Where the function of a statement ends: behind .cfi_endproc, else before .size; else behind everything, with the
 * section's directive (*section). */
static size_t function_end(const struct annotate_plan *p, int index, bool *section)
{
	const struct assembly *a = p->a;
	const struct statement *s = plan_statement(p, index);
	*section = false;
	for (size_t i = (size_t)index; i < a->statements.count; i++) {
		const struct statement *end = &a->statements.items[i];
		if (end->kind != STATEMENT_DIRECTIVE || end->inside)
			continue;
		if (s->frame != NONE) {
			if (slice_is(a, end->word, ".cfi_endproc"))
				return plan_behind(a, i);
		} else if (s->function != NONE && slice_is(a, end->word, ".size") && end->section == s->section) {
			struct text_slice name = plan_statement(p, s->function)->word;
			if (end->operands.end - end->operands.at > name.end - name.at &&
			    memcmp(a->text + end->operands.at, a->text + name.at, name.end - name.at) == 0)
				return end->whole.at;
		}
	}
	*section = true;
	return a->bytes;
}

static void put_section(const struct annotate_plan *p, struct str *out, const struct statement *s)
{
	const struct assembly *a = p->a;
	const struct statement *directive = s->section == NONE ? NULL : plan_statement(p, s->section);
	str_append(out, "\t.pushsection ");
	if (!directive || slice_is(a, directive->word, ".text"))
		str_append(out, ".text");
	else
		str_append_bytes(out, a->text + directive->operands.at,
				 directive->operands.end - directive->operands.at);
	str_append_char(out, '\n');
}

/* A name for the label that a numbered one (1b, 2f) is: its number means another one elsewhere. */
static bool put_target(struct annotate_plan *p, struct str *jump, struct text_slice target, int label)
{
	char name[64];
	if (label == NONE || (p->a->text[plan_statement(p, label)->word.at] | 0x20) < '0' ||
	    !isdigit((unsigned char)p->a->text[plan_statement(p, label)->word.at])) {
		struct str text = {0};
		str_append_bytes(&text, p->a->text + target.at, target.end - target.at);
		/* a function elsewhere may be reached by the PLT alone */
		if (label == NONE && p->a->machine == MACHINE_X86_64)
			str_append(&text, "@PLT");
		if (text.failed || !text.text) {
			str_free(&text);
			return error_no_memory(p->err);
		}
		annotate_put_jump(jump, p->a, text.text);
		str_free(&text);
		return true;
	}
	snprintf(name, sizeof name, ".Ltare%u_at_%d", p->request->number, label);
	annotate_put_jump(jump, p->a, name);
	if (p->marks[label] & MARK_OWN_LABEL)
		return true;
	struct str text = {0};
	p->marks[label] |= MARK_OWN_LABEL;
	str_appendf(&text, "%s:\n", name);
	return inserts(p, plan_statement(p, label)->whole.at, plan_statement(p, label)->whole.at, RANK_LABEL,
		       &text);
}

static bool retarget(struct annotate_plan *p, int index, const char *label)
{
	const struct statement *s = plan_statement(p, index);
	struct str text = {0};
	str_append(&text, label);
	/* with its @PLT */
	return inserts(p, s->target.at, s->operands.end, RANK_BEFORE, &text);
}

/* Into regions that begin right before the label, and out of none: the begins that stand there serve. */
static bool enters_at_begin(struct annotate_plan *p, size_t from, int label, size_t *begin)
{
	size_t to = plan_statement(p, label)->whole.at;
	bool any = false;
	for (size_t i = 0; i < p->ranges.count; i++) {
		const struct line_range *range = &p->ranges.items[i];
		bool was = range_holds(range, from), is = range_holds(range, to);
		if (was && !is)
			return false;
		if (!was && is) {
			if (any && range->begin != *begin)
				return false;
			any = true;
			*begin = range->begin;
		}
	}
	if (!any)
		return false;
	/* nothing else stands between */
	for (size_t i = 0; i < p->ranges.count; i++) {
		const struct line_range *range = &p->ranges.items[i];
		if (range->begin >= *begin && range->begin <= to && range_holds(range, from))
			return false;
		if (range->end > *begin && range->end <= to)
			return false;
	}
	for (size_t i = plan_statement_at(p->a, *begin); (int)i < label; i++)
		if (plan_statement(p, (int)i)->kind == STATEMENT_INSTRUCTION ||
		    plan_statement(p, (int)i)->kind == STATEMENT_PREFIX)
			return false;
	return *begin <= to;
}

static bool add_entry(struct annotate_plan *p, int index, size_t begin)
{
	char name[64];
	struct str text = {0};
	snprintf(name, sizeof name, ".Ltare%u_in_%zu", p->request->number, begin);
	bool there = false;
	for (size_t i = 0; i < p->insertions.count; i++)
		there |= p->insertions.items[i].rank == RANK_ENTRY && p->insertions.items[i].at == begin;
	if (!there) {
		str_appendf(&text, "%s:\n", name);
		if (!inserts(p, begin, begin, RANK_ENTRY, &text))
			return false;
	}
	return retarget(p, index, name);
}

static bool add_pad(struct annotate_plan *p, int index, int label)
{
	const struct statement *s = plan_statement(p, index);
	struct str text = {0};
	char name[64];
	size_t to = label == NONE ? 0 : plan_statement(p, label)->whole.at;
	bool section;
	size_t at = function_end(p, index, &section);
	snprintf(name, sizeof name, ".Ltare%u_%u", p->request->number, p->pads++);
	if (section)
		put_section(p, &text, s);
	if (s->frame != NONE)
		put_frame(p, &text, index);
	str_appendf(&text, "%s:\n", name);
	put_calls(p, &text, s->whole.at, to, label == NONE, s->whole.at);
	if (!put_target(p, &text, s->target, label)) {
		str_free(&text);
		return false;
	}
	if (s->frame != NONE)
		str_append(&text, "\t.cfi_endproc\n");
	if (section)
		str_append(&text, "\t.popsection\n");
	return inserts(p, at, at, RANK_PAD, &text) && retarget(p, index, name);
}

/* ---- the ways ---- */

/* Every range is in one function: most functions of a file have none. */
static bool in_ranged(const struct annotate_plan *p, const struct statement *s)
{
	return s->function == NONE ? p->ranged : p->marks[s->function] & MARK_RANGED;
}

static bool add_jump(struct annotate_plan *p, int index)
{
	const struct statement *s = plan_statement(p, index);
	int label = assembly_label(p->a, s->target, index);
	size_t begin = 0;
	bool number = !slice_empty(s->target) && isdigit((unsigned char)p->a->text[s->target.at]);
	if (slice_empty(s->target) || (number && label == NONE)) {
		if (!in_ranged(p, s))
			return true;
		return error_set(p->err, ERROR_USAGE, "line %u: cannot tell where the jump goes: '%.*s'",
				 s->line + 1,
				 (int)(s->whole.end - s->whole.at > 80 ? 80 : s->whole.end - s->whole.at),
				 p->a->text + s->whole.at);
	}
	size_t to = label == NONE ? 0 : plan_statement(p, label)->whole.at;
	if (!in_ranged(p, s) && (label == NONE || !in_ranged(p, plan_statement(p, label))))
		return true;
	if (!crosses(p, s->whole.at, to, label == NONE))
		return true;
	if (s->flow == FLOW_SHORT_BRANCH)
		return error_set(
			p->err, ERROR_USAGE,
			"line %u: '%.*s' crosses a region's border and cannot jump far enough to be led around",
			s->line + 1, (int)(s->word.end - s->word.at), p->a->text + s->word.at);
	if (label != NONE && enters_at_begin(p, s->whole.at, label, &begin))
		return add_entry(p, index, begin);
	return add_pad(p, index, label);
}

static bool add_before(struct annotate_plan *p, int index)
{
	size_t at = unit_start(p, index);
	struct str text = {0};
	if (!put_calls(p, &text, plan_statement(p, index)->whole.at, 0, true, at))
		return true;
	return inserts(p, at, at, RANK_BEFORE, &text);
}

/* ---- jumps through registers ---- */

struct taking {
	struct annotate_plan *p;
	int from;
	bool failed;
};

/* A label of a place in a function, that is not the function's own. */
static void take(void *context, struct text_slice name)
{
	struct taking *taking = context;
	struct annotate_plan *p = taking->p;
	int label = assembly_label(p->a, name, taking->from);
	if (label == NONE || !plan_statement(p, label)->code || plan_statement(p, label)->function == label)
		return;
	if (p->marks[label] & MARK_TAKEN)
		return;
	p->marks[label] |= MARK_TAKEN;
	if (!vec_push(&p->taken, label))
		taking->failed = true;
}

static bool section_named(const struct annotate_plan *p, const struct statement *s, const char *text)
{
	return s->section != NONE && plan_mentions(p->a, plan_statement(p, s->section)->operands, text);
}

/* Tables of debuggers and unwinders hold labels that no jump goes to. */
static bool find_taken(struct annotate_plan *p)
{
	const struct assembly *a = p->a;
	for (size_t i = 0; i < a->statements.count; i++) {
		const struct statement *s = &a->statements.items[i];
		struct taking taking = {p, (int)i, false};
		bool data = !s->code && s->kind == STATEMENT_DIRECTIVE && !section_named(p, s, ".debug") &&
			    !section_named(p, s, ".gcc_except_table") && !section_named(p, s, ".eh_frame") &&
			    !section_named(p, s, "__mcount_loc") && !slice_is(a, s->word, ".size");
		bool table = s->code && s->kind == STATEMENT_PREFIX;
		bool address = s->code && s->kind == STATEMENT_INSTRUCTION && s->flow == FLOW_NEXT &&
			       !slice_is(a, s->word, "call") && !slice_is(a, s->word, "callq") &&
			       !slice_is(a, s->word, "bl");
		if (!s->inside && (data || table || address))
			assembly_names(a, s->operands, take, &taking);
		if (taking.failed)
			return error_no_memory(p->err);
	}
	return true;
}

static void find_reached(struct annotate_plan *p)
{
	for (size_t i = 0; i < p->a->statements.count; i++) {
		const struct statement *s = plan_statement(p, (int)i);
		int label = s->kind == STATEMENT_INSTRUCTION ? assembly_label(p->a, s->target, (int)i) : NONE;
		if (label != NONE)
			p->marks[label] |= MARK_REACHED;
	}
}

static bool add_indirect(struct annotate_plan *p, int index)
{
	const struct statement *s = plan_statement(p, index);
	size_t first = 0, last = p->taken.count;
	while (first < last && plan_statement(p, p->taken.items[first])->function != s->function)
		first++;
	while (last > first && plan_statement(p, p->taken.items[last - 1])->function != s->function)
		last--;
	/* no place in this function has its address taken: the jump is a call at the function's end */
	if (first == last)
		return add_before(p, index);
	for (size_t r = 0; r < p->ranges.count; r++) {
		const struct line_range *range = &p->ranges.items[r];
		bool from = range_holds(range, s->whole.at);
		for (size_t i = first; i < last; i++) {
			const struct statement *label = plan_statement(p, p->taken.items[i]);
			if (label->function != s->function || range_holds(range, label->whole.at) == from)
				continue;
			error_set(p->err, ERROR_USAGE,
				  "line %u, region '%.64s': cannot tell whether '%.*s' %s the region: it can go "
				  "to line %u",
				  s->line + 1, range->text,
				  (int)(s->whole.end - s->whole.at > 40 ? 40 : s->whole.end - s->whole.at),
				  p->a->text + s->whole.at, from ? "leaves" : "enters", label->line + 1);
			return error_hint(p->err,
					  "let the region hold the whole switch, or one of its cases' insides");
		}
	}
	return true;
}

static bool add_way(struct annotate_plan *p, int index)
{
	switch (plan_statement(p, index)->flow) {
	case FLOW_JUMP:
	case FLOW_BRANCH:
	case FLOW_SHORT_BRANCH: return add_jump(p, index);
	case FLOW_RETURN:
		return !in_ranged(p, plan_statement(p, index)) || !in_any(p, plan_statement(p, index)->whole.at) ||
		       add_before(p, index);
	case FLOW_INDIRECT: return !in_ranged(p, plan_statement(p, index)) || add_indirect(p, index);
	default: return true;
	}
}

/* From line to line. */
static bool add_borders(struct annotate_plan *p)
{
	for (size_t i = p->ranges.count; i--;) {
		const struct line_range *range = &p->ranges.items[i];
		struct str text = {0};
		if (!range->falls_out)
			continue;
		put_call(p, &text, range, range->end, false);
		if (!inserts(p, range->end, range->end, RANK_END, &text))
			return false;
	}
	for (size_t i = 0; i < p->ranges.count; i++) {
		const struct line_range *range = &p->ranges.items[i];
		struct str text = {0};
		put_call(p, &text, range, range->begin, true);
		if (!inserts(p, range->begin, range->begin, RANK_BEGIN, &text))
			return false;
	}
	return true;
}

static void warn_exceptions(struct annotate_plan *p)
{
	for (size_t r = 0; r < p->ranges.count; r++) {
		const struct line_range *range = &p->ranges.items[r];
		int frame = plan_statement(p, range->first)->frame;
		for (int i = frame; frame != NONE && i < range->first; i++)
			if (slice_is(p->a, plan_statement(p, i)->word, ".cfi_lsda")) {
				char message[256];
				snprintf(message, sizeof message,
					 "region '%.64s': an exception that leaves it, or is caught in it, passes "
					 "no stub; the "
					 "report will say that entries and exits differ",
					 range->text);
				plan_warn(p, message);
				break;
			}
	}
}

/* ---- writing ---- */

static int by_place(const void *x, const void *y)
{
	const struct insertion *a = x, *b = y;
	if (a->at != b->at)
		return a->at < b->at ? -1 : 1;
	if (a->rank != b->rank)
		return a->rank < b->rank ? -1 : 1;
	return a->order < b->order ? -1 : a->order > b->order;
}

static void write_all(const struct annotate_plan *p, struct str *out)
{
	const struct assembly *a = p->a;
	size_t written = 0;
	for (size_t i = 0; i < p->insertions.count; i++) {
		const struct insertion *insertion = &p->insertions.items[i];
		str_append_bytes(out, a->text + written, insertion->at - written);
		written = insertion->until;
		/* lines stand alone, a jump's target in its line */
		bool lines = insertion->until == insertion->at;
		if (lines && out->length && out->text[out->length - 1] != '\n')
			str_append_char(out, '\n');
		str_append(out, insertion->text);
	}
	str_append_bytes(out, a->text + written, a->bytes - written);
	if (out->length && out->text && out->text[out->length - 1] != '\n')
		str_append_char(out, '\n');
	annotate_put_names(out, a, p->names.items, p->names.count, p->request->number);
}

static bool find_macros(struct annotate_plan *p)
{
	const struct assembly *a = p->a;
	for (size_t i = 0; i < a->statements.count; i++) {
		const struct statement *s = &a->statements.items[i];
		struct text_slice name = s->operands;
		if (s->kind != STATEMENT_DIRECTIVE || !slice_is(a, s->word, ".macro"))
			continue;
		for (name.end = name.at; name.end < s->operands.end && !strchr(" \t,", a->text[name.end]);)
			name.end++;
		if (!vec_push(&p->macros, name))
			return error_no_memory(p->err);
	}
	return true;
}

static bool check_fresh(struct annotate_plan *p)
{
	char name[64];
	snprintf(name, sizeof name, ".Ltare%u_names", p->request->number);
	for (size_t i = 0; i < p->a->symbols.count; i++)
		if (slice_is(p->a, p->a->symbols.items[i].name, name)) {
			error_set(p->err, ERROR_USAGE,
				  "the file has been annotated before, with numbers from %u on",
				  p->request->number);
			return error_hint(p->err, "give the next number that is free with --number");
		}
	return true;
}

static bool make_plan(struct annotate_plan *p)
{
	const struct assembly *a = p->a;
	p->marks = calloc(a->statements.count + 1, sizeof *p->marks);
	if (!p->marks)
		return error_no_memory(p->err);
	if (!check_fresh(p) || !find_macros(p) || !find_taken(p))
		return false;
	find_reached(p);
	for (size_t i = 0; i < p->request->n; i++)
		if (!plan_add_range(p, &p->request->regions[i]))
			return false;
	if (p->ranges.count)
		qsort(p->ranges.items, p->ranges.count, sizeof *p->ranges.items, by_nesting);
	if (!add_borders(p))
		return false;
	for (size_t i = 0; i < a->statements.count; i++) {
		const struct statement *s = &a->statements.items[i];
		if (s->code && s->kind == STATEMENT_INSTRUCTION && !s->inside && !add_way(p, (int)i))
			return false;
	}
	warn_exceptions(p);
	if (p->insertions.count)
		qsort(p->insertions.items, p->insertions.count, sizeof *p->insertions.items, by_place);
	return true;
}

bool annotate(const struct assembly *a, const struct annotate_request *request, struct str *out, struct error *err)
{
	struct annotate_plan p = {.a = a, .request = request, .err = err};
	bool done = make_plan(&p);
	if (done)
		write_all(&p, out);
	if (done && out->failed)
		done = error_no_memory(err);
	for (size_t i = 0; i < p.insertions.count; i++)
		free(p.insertions.items[i].text);
	vec_free(&p.insertions);
	vec_free(&p.ranges);
	vec_free(&p.names);
	vec_free(&p.taken);
	vec_free(&p.macros);
	free(p.marks);
	return done;
}
