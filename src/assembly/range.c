/* Lines asked for as ranges of the text: where they begin and end exactly, and whether calls can stand there. See
 * annotate.h. */
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "assembly/plan.h"

enum { NUMBERS = 100, EXCLUSIVE_FAR = 64 /* statements between a load-exclusive and its store */ };

void plan_warn(const struct annotate_plan *p, const char *text)
{
	if (p->request->warn)
		p->request->warn(p->request->context, text);
}

/* ---- places in the text ---- */

static size_t line_start(const struct assembly *a, unsigned line)
{
	return line < a->lines.count ? a->lines.items[line] : a->bytes;
}

/* The index of the first statement at or behind the place; the count when there is none. */
size_t plan_statement_at(const struct assembly *a, size_t at)
{
	size_t low = 0, high = a->statements.count;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (a->statements.items[middle].whole.at < at)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* Behind a statement: the next line, or the next statement of the same line. */
size_t plan_behind(const struct assembly *a, size_t index)
{
	const struct statement *s = &a->statements.items[index];
	if (index + 1 < a->statements.count && s[1].line == s->line)
		return s[1].whole.at;
	return line_start(a, s->line + 1);
}

static bool in_comment(const struct assembly *a, size_t at)
{
	for (size_t i = 0; i < a->comments.count; i++)
		if (at > a->comments.items[i].at && at < a->comments.items[i].end)
			return true;
	return false;
}

/* ---- what may not be torn apart ---- */

bool plan_mentions(const struct assembly *a, struct text_slice operands, const char *text)
{
	return memmem(a->text + operands.at, operands.end - operands.at, text, strlen(text)) != NULL;
}

/* The two instructions of a thread-local address that the linker replaces together (ELF Handling For Thread-Local
 * Storage, 5.1). */
static bool begins_pair(const struct assembly *a, const struct statement *s)
{
	return a->machine == MACHINE_X86_64 &&
	       (plan_mentions(a, s->operands, "@tlsgd") || plan_mentions(a, s->operands, "@TLSGD") ||
		plan_mentions(a, s->operands, "@tlsld") || plan_mentions(a, s->operands, "@TLSLD"));
}

static bool is_exclusive(const struct assembly *a, struct text_slice word, bool load)
{
	size_t bytes = word.end - word.at;
	const char *text = a->text + word.at;
	const char *const kinds[2][2] = {{"stx", "stlx"}, {"ldx", "ldax"}};
	for (int i = 0; a->machine == MACHINE_ARM64 && i < 2; i++)
		if (bytes >= strlen(kinds[load][i]) &&
		    strncasecmp(text, kinds[load][i], strlen(kinds[load][i])) == 0)
			return true;
	return false;
}

/* Between a load-exclusive and its store nothing may be inserted: a system call would make every store fail. */
static bool in_exclusive(const struct annotate_plan *p, size_t index)
{
	for (size_t i = index; i--;) {
		const struct statement *s = plan_statement(p, (int)i);
		if (s->kind == STATEMENT_LABEL && s->function == (int)i)
			return false;
		if (s->kind != STATEMENT_INSTRUCTION)
			continue;
		if (is_exclusive(p->a, s->word, false) || s->flow == FLOW_RETURN || s->flow == FLOW_JUMP)
			return false;
		if (is_exclusive(p->a, s->word, true))
			break;
		if (i + EXCLUSIVE_FAR < index)
			return false;
		if (i == 0)
			return false;
	}
	for (size_t i = index; i < p->a->statements.count && i < index + EXCLUSIVE_FAR; i++) {
		const struct statement *s = plan_statement(p, (int)i);
		if (s->kind != STATEMENT_INSTRUCTION)
			continue;
		if (is_exclusive(p->a, s->word, false))
			return true;
		if (s->flow == FLOW_RETURN || s->flow == FLOW_JUMP || is_exclusive(p->a, s->word, true))
			return false;
	}
	return false;
}

/* Can a call stand here? Errors name the line. */
static bool can_insert(struct annotate_plan *p, size_t at, const char *name)
{
	const struct assembly *a = p->a;
	size_t index = plan_statement_at(a, at);
	unsigned line = 0;
	while (line + 1 < a->lines.count && a->lines.items[line + 1] <= at)
		line++;
	line++;
	if (in_comment(a, at))
		return error_set(p->err, ERROR_USAGE,
				 "line %u, region '%s': a comment goes on from the line before", line, name);
	for (size_t i = index; i--;) {
		const struct statement *s = &a->statements.items[i];
		if (s->kind == STATEMENT_PREFIX && index < a->statements.count)
			return error_set(p->err, ERROR_USAGE, "line %u, region '%s': line %u is a prefix of it",
					 line, name, s->line + 1);
		if (s->kind == STATEMENT_INSTRUCTION && begins_pair(a, s) && index < a->statements.count)
			return error_set(p->err, ERROR_USAGE,
					 "line %u, region '%s': the instruction belongs to that of line %u", line,
					 name, s->line + 1);
		if (s->kind != STATEMENT_DIRECTIVE)
			break;
	}
	if (in_exclusive(p, index))
		return error_set(p->err, ERROR_USAGE,
				 "line %u, region '%s': it is between a load-exclusive and its store", line, name);
	return true;
}

/* ---- ranges ---- */

static bool moves_no_frame(const struct assembly *a, const struct statement *s)
{
	return slice_is(a, s->word, ".cfi_startproc") || slice_is(a, s->word, ".cfi_endproc") ||
	       slice_is(a, s->word, ".cfi_remember_state") || slice_is(a, s->word, ".cfi_restore_state");
}

bool plan_is_frame_directive(const struct assembly *a, const struct statement *s)
{
	struct text_slice start = {s->word.at, s->word.at + 5};
	return s->kind == STATEMENT_DIRECTIVE && s->word.end - s->word.at > 5 && slice_is(a, start, ".cfi_");
}

/* What must stay first where an indirect branch arrives, or signs the return address. */
static bool is_landing(const struct assembly *a, const struct statement *s)
{
	static const char *const words[] = {"endbr64", "bti", "paciasp", "pacibsp"};
	for (size_t i = 0; i < sizeof words / sizeof *words; i++)
		if (s->kind == STATEMENT_INSTRUCTION && slice_is(a, s->word, words[i]))
			return true;
	return s->kind == STATEMENT_INSTRUCTION && a->machine == MACHINE_ARM64 && slice_is(a, s->word, "hint");
}

/* A region that begins with a function begins behind its label and what has to follow that. */
static void move_begin(const struct annotate_plan *p, struct line_range *range)
{
	const struct assembly *a = p->a;
	bool label = false, function = false;
	for (size_t i = plan_statement_at(a, range->begin); i < a->statements.count; i++) {
		const struct statement *s = &a->statements.items[i];
		bool starts = (s->kind == STATEMENT_LABEL && s->function == (int)i) ||
			      (s->kind == STATEMENT_DIRECTIVE && slice_is(a, s->word, ".cfi_startproc"));
		function |= starts;
		if (starts || (!label && plan_is_frame_directive(a, s) && !moves_no_frame(a, s)) ||
		    (is_landing(a, s) && (function || !label))) {
			range->begin = plan_behind(a, i);
			continue;
		}
		label |= s->kind == STATEMENT_LABEL && !function;
		if (s->kind == STATEMENT_INSTRUCTION || s->kind == STATEMENT_PREFIX)
			return;
	}
}

/* … and what says where the frame is after the last instruction stays with it. */
static void move_end(const struct annotate_plan *p, struct line_range *range)
{
	const struct assembly *a = p->a;
	for (size_t i = plan_statement_at(a, range->end); i < a->statements.count; i++) {
		const struct statement *s = &a->statements.items[i];
		if (!plan_is_frame_directive(a, s) || moves_no_frame(a, s))
			return;
		range->end = plan_behind(a, i);
	}
}

static bool is_macro(const struct annotate_plan *p, struct text_slice word)
{
	for (size_t i = 0; i < p->macros.count; i++) {
		struct text_slice macro = p->macros.items[i];
		size_t bytes = macro.end - macro.at;
		if (word.end - word.at == bytes && memcmp(p->a->text + word.at, p->a->text + macro.at, bytes) == 0)
			return true;
	}
	return false;
}

static void slice_text(const struct annotate_plan *p, struct text_slice slice, char *out, size_t size)
{
	size_t bytes = slice.end - slice.at < size ? slice.end - slice.at : size - 1;
	memcpy(out, p->a->text + slice.at, bytes);
	out[bytes] = '\0';
}

static void function_name(const struct annotate_plan *p, int function, char *out, size_t size)
{
	if (function == NONE)
		snprintf(out, size, "no function");
	else
		slice_text(p, plan_statement(p, function)->word, out, size);
}

static bool goes_on(const struct statement *s)
{
	return s->flow == FLOW_NEXT || s->flow == FLOW_BRANCH || s->flow == FLOW_SHORT_BRANCH;
}

/* The instructions of the range are of one function. */
static bool check_range(struct annotate_plan *p, struct line_range *range, const struct annotate_region *asked)
{
	const struct assembly *a = p->a;
	const struct statement *first = NULL, *last = NULL;
	bool reached = false; /* a label behind the last instruction */
	for (size_t i = plan_statement_at(a, range->begin); i < a->statements.count; i++) {
		const struct statement *s = &a->statements.items[i];
		char text[2][64];
		if (s->whole.at >= range->end)
			break;
		if (s->inside)
			return error_set(p->err, ERROR_USAGE,
					 "line %u, region '%s': it is in a macro or a repetition", s->line + 1,
					 range->text);
		reached |= p->marks[i] & (MARK_REACHED | MARK_TAKEN);
		if (!s->code || s->kind != STATEMENT_INSTRUCTION)
			continue;
		last = s;
		reached = false;
		if (!first) {
			first = s;
			range->first = (int)i;
		}
		range->last = (int)i;
		if (s->function != first->function) {
			function_name(p, first->function, text[0], sizeof text[0]);
			function_name(p, s->function, text[1], sizeof text[1]);
			error_set(p->err, ERROR_USAGE,
				  "lines %u-%u, region '%s': they are in two functions, '%s' and '%s'",
				  asked->first, asked->last, range->text, text[0], text[1]);
			return error_hint(p->err, "use a region with the same name in each of them");
		}
		if (is_macro(p, s->word)) {
			char message[256];
			slice_text(p, s->word, text[0], sizeof text[0]);
			snprintf(message, sizeof message,
				 "line %u, region '%.64s': jumps in the macro '%s' are not seen", s->line + 1,
				 range->text, text[0]);
			plan_warn(p, message);
		}
	}
	if (!first)
		return error_set(p->err, ERROR_USAGE, "lines %u-%u, region '%s': there is no instruction in them",
				 asked->first, asked->last, range->text);
	range->falls_out = reached || goes_on(last);
	return true;
}

/* A line with statements is in the section of the first, one without in that of the statement before. */
static bool in_code(const struct assembly *a, unsigned line)
{
	size_t i = plan_statement_at(a, line_start(a, line));
	return i < a->statements.count ? a->statements.items[i].code
				       : !a->statements.count || a->statements.items[a->statements.count - 1].code;
}

static bool name_index(struct annotate_plan *p, const char *name, unsigned *index)
{
	for (*index = 0; *index < p->names.count; ++*index)
		if (strcmp(p->names.items[*index], name) == 0)
			return true;
	if (p->request->number + p->names.count >= NUMBERS) {
		error_set(p->err, ERROR_LIMIT, "region '%s' would have number %zu: stubs have 0 to 99", name,
			  p->request->number + p->names.count);
		return false;
	}
	return vec_push(&p->names, name) || error_no_memory(p->err);
}

bool plan_add_range(struct annotate_plan *p, const struct annotate_region *asked)
{
	const struct assembly *a = p->a;
	struct line_range range = {.text = asked->name};
	if (!asked->name[0])
		return error_set(p->err, ERROR_USAGE, "a region has no name");
	if (!asked->first || asked->last < asked->first || asked->last > a->lines.count)
		return error_set(p->err, ERROR_USAGE, "lines %u-%u, region '%s': the file has %zu line%s",
				 asked->first, asked->last, asked->name, a->lines.count,
				 a->lines.count == 1 ? "" : "s");
	for (int last = 0; last < 2; last++)
		if (!in_code(a, (last ? asked->last : asked->first) - 1))
			return error_set(p->err, ERROR_USAGE, "line %u, region '%s': it is in a section of data",
					 last ? asked->last : asked->first, asked->name);
	range.begin = line_start(a, asked->first - 1);
	range.end = line_start(a, asked->last);
	move_begin(p, &range);
	move_end(p, &range);
	if (!name_index(p, asked->name, &range.name) || !check_range(p, &range, asked) ||
	    !can_insert(p, range.begin, range.text) || (range.falls_out && !can_insert(p, range.end, range.text)))
		return false;
	int function = plan_statement(p, range.first)->function;
	if (function == NONE)
		p->ranged = true;
	else
		p->marks[function] |= MARK_RANGED;
	return vec_push(&p->ranges, range) || error_no_memory(p->err);
}
