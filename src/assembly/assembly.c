/* Reading assembly: lines, comments, statements; sections, functions and unwinding at each. See assembly.h. */
#include "assembly/assembly.h"

#include <ctype.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { SECTIONS_DEEP = 32, FRAMES_DEEP = 64, MACROS_DEEP = 64 };

bool slice_is(const struct assembly *a, struct text_slice slice, const char *text)
{
	size_t bytes = strlen(text);
	return slice.end - slice.at == bytes && strncasecmp(a->text + slice.at, text, bytes) == 0;
}

static bool slice_begins(const struct assembly *a, struct text_slice slice, const char *text)
{
	size_t bytes = strlen(text);
	return slice.end - slice.at >= bytes && strncmp(a->text + slice.at, text, bytes) == 0;
}

static bool name_byte(char c)
{
	return isalnum((unsigned char)c) || c == '_' || c == '.' || c == '$' || (unsigned char)c >= 0x80;
}

/* ---- which machine ---- */

/* Registers as only one of the two writes them. */
static enum assembly_machine machine_of(const char *text, size_t bytes)
{
	static const char *const x86[] = {"%r", "%e", "%x", "%y", "%a", ".intel_syntax", "rsp", "rax"},
				 *const arm[] = {"[sp",  "[x",     " x0",   "\tx0", " w0",
						 "\tw0", "sp, sp", "armv8", "x29",  "x30"};
	size_t counts[2] = {0};
	for (size_t k = 0; k < sizeof x86 / sizeof *x86; k++)
		for (const char *at = text; (at = memmem(at, (size_t)(text + bytes - at), x86[k], strlen(x86[k])));
		     at++)
			counts[0]++;
	for (size_t k = 0; k < sizeof arm / sizeof *arm; k++)
		for (const char *at = text; (at = memmem(at, (size_t)(text + bytes - at), arm[k], strlen(arm[k])));
		     at++)
			counts[1]++;
	if (counts[0] == counts[1])
		return MACHINE_UNKNOWN;
	return counts[0] > counts[1] ? MACHINE_X86_64 : MACHINE_ARM64;
}

/* ---- statements ---- */

struct assembly_section {
	bool code;
	int statement; /* index of its directive, or NONE */
};

struct assembly_reader {
	struct assembly *a;
	size_t at;
	unsigned line;
	struct assembly_section section, before, stack[SECTIONS_DEEP];
	size_t sections;
	unsigned macros; /* how deep in bodies */
	int intel, function, frame;
	struct frame_state {
		bool of_stack, return_kept;
	} now, remembered[FRAMES_DEEP];
	size_t frames;
	VEC(struct text_slice) functions; /* names that .type and .globl gave */
};

/* Past white space and comments, and over the ends of lines inside comments. At a line's end or a separator:
 * stays.
 */
static bool skip_space(struct assembly_reader *r, bool line_start, struct error *err)
{
	struct assembly *a = r->a;
	for (;;) {
		while (r->at < a->bytes && a->text[r->at] != '\n' && isspace((unsigned char)a->text[r->at]))
			r->at++;
		if (r->at >= a->bytes)
			return true;
		const char *c = a->text + r->at;
		bool two = r->at + 1 < a->bytes;
		if (two && c[0] == '/' && c[1] == '*') {
			const char *end = memmem(c + 2, a->bytes - r->at - 2, "*/", 2);
			struct text_slice comment = {r->at, 0};
			if (!end)
				return error_set(err, ERROR_SYNTAX, "line %u: the comment has no end",
						 r->line + 1);
			comment.end = r->at = (size_t)(end + 2 - a->text);
			if (memchr(c, '\n', (size_t)(end - c)) && !vec_push(&a->comments, comment))
				return error_no_memory(err);
			for (; c < end; c++)
				r->line += *c == '\n';
			continue;
		}
		bool rest = a->machine == MACHINE_X86_64
				    ? c[0] == '#' || (line_start && c[0] == '/')
				    : (two && c[0] == '/' && c[1] == '/') || (line_start && c[0] == '#');
		if (!rest)
			return true;
		const char *end = memchr(c, '\n', a->bytes - r->at);
		r->at = end ? (size_t)(end - a->text) : a->bytes;
	}
}

/* The end of what begins here: at a separator, a comment or the line's end, but not in a string. */
static bool find_end(struct assembly_reader *r, size_t *end, struct error *err)
{
	const struct assembly *a = r->a;
	size_t at = r->at;
	while (at < a->bytes) {
		char c = a->text[at], next = at + 1 < a->bytes ? a->text[at + 1] : '\0';
		if (c == '\n' || c == ';')
			break;
		if (c == '/' && (next == '*' || (next == '/' && a->machine == MACHINE_ARM64)))
			break;
		if (c == '#' && a->machine == MACHINE_X86_64)
			break;
		if (c == '"') {
			for (at++; at < a->bytes && a->text[at] != '"' && a->text[at] != '\n'; at++)
				if (a->text[at] == '\\' && at + 1 < a->bytes && a->text[at + 1] != '\n')
					at++;
			if (at >= a->bytes || a->text[at] != '"')
				return error_set(err, ERROR_SYNTAX, "line %u: the string has no end", r->line + 1);
		} else if (c == '\'' && next != '\0' && next != '\n') {
			/* 'c and 'c', '\\ and ';' */
			at += next == '\\' && at + 2 < a->bytes && a->text[at + 2] != '\n' ? 2 : 1;
		}
		at++;
	}
	*end = at;
	while (*end > r->at && isspace((unsigned char)a->text[*end - 1]))
		--*end;
	r->at = at;
	return true;
}

static struct text_slice word_at(const struct assembly *a, size_t at, size_t end)
{
	struct text_slice word = {at, at};
	if (at < end && a->text[at] == '"') {
		const char *quote = memchr(a->text + at + 1, '"', end - at - 1);
		word.end = quote ? (size_t)(quote + 1 - a->text) : end;
		return word;
	}
	while (word.end < end && name_byte(a->text[word.end]))
		word.end++;
	return word;
}

static size_t past_space(const struct assembly *a, size_t at, size_t end)
{
	while (at < end && isspace((unsigned char)a->text[at]))
		at++;
	return at;
}

/* ---- directives ---- */

static bool named_section_is_code(const struct assembly *a, struct text_slice operands)
{
	struct text_slice name = word_at(a, operands.at, operands.end);
	if (name.at < name.end && a->text[name.at] == '"') {
		name.at++;
		name.end -= name.end > name.at;
	}
	const char *comma = memchr(a->text + operands.at, ',', operands.end - operands.at);
	if (!comma)
		return slice_begins(a, name, ".text") || slice_is(a, name, ".init") || slice_is(a, name, ".fini");
	size_t at = past_space(a, (size_t)(comma + 1 - a->text), operands.end);
	struct text_slice flags = word_at(a, at, operands.end);
	/* .pushsection name, 1: a subsection */
	if (slice_empty(flags) || a->text[flags.at] != '"')
		return slice_begins(a, name, ".text");
	return memchr(a->text + flags.at, 'x', flags.end - flags.at) != NULL;
}

static bool is_section_directive(struct assembly_reader *r, const struct statement *s, int index)
{
	const struct assembly *a = r->a;
	struct assembly_section now = r->section;
	if (slice_is(a, s->word, ".text")) {
		r->section = (struct assembly_section){true, index};
	} else if (slice_is(a, s->word, ".data") || slice_is(a, s->word, ".bss")) {
		r->section = (struct assembly_section){false, index};
	} else if (slice_is(a, s->word, ".section")) {
		r->section = (struct assembly_section){named_section_is_code(a, s->operands), index};
	} else if (slice_is(a, s->word, ".pushsection")) {
		if (r->sections < SECTIONS_DEEP)
			r->stack[r->sections++] = r->section;
		r->section = (struct assembly_section){named_section_is_code(a, s->operands), index};
	} else if (slice_is(a, s->word, ".popsection")) {
		if (r->sections)
			r->section = r->stack[--r->sections];
	} else if (slice_is(a, s->word, ".previous")) {
		r->section = r->before;
	} else {
		return false;
	}
	r->before = now;
	return true;
}

/* The DWARF numbers and names of the stack pointer (System V ABI AMD64, figure 3.36; AADWARF64, 4.1). */
static bool is_stack_pointer(const struct assembly *a, struct text_slice operand)
{
	static const char *const x86[] = {"7", "%rsp", "rsp"}, *const arm[] = {"31", "sp", "wsp"};
	const char *const *names = a->machine == MACHINE_X86_64 ? x86 : arm;
	for (size_t i = 0; i < 3; i++)
		if (slice_is(a, operand, names[i]))
			return true;
	return false;
}

static bool is_return_register(const struct assembly *a, struct text_slice operand)
{
	return slice_is(a, operand, "30") || slice_is(a, operand, "x30") || slice_is(a, operand, "lr");
}

static struct text_slice first_operand(const struct assembly *a, struct text_slice operands)
{
	const char *comma = memchr(a->text + operands.at, ',', operands.end - operands.at);
	if (comma)
		operands.end = (size_t)(comma - a->text);
	while (operands.end > operands.at && isspace((unsigned char)a->text[operands.end - 1]))
		operands.end--;
	return operands;
}

static void frame_directive(struct assembly_reader *r, const struct statement *s, int index)
{
	const struct assembly *a = r->a;
	struct text_slice first = first_operand(a, s->operands);
	if (slice_is(a, s->word, ".cfi_startproc")) {
		r->frame = index;
		r->now = (struct frame_state){.of_stack = !slice_is(a, s->operands, "simple")};
		r->frames = 0;
	} else if (slice_is(a, s->word, ".cfi_endproc")) {
		r->frame = NONE;
	} else if (slice_is(a, s->word, ".cfi_def_cfa") || slice_is(a, s->word, ".cfi_def_cfa_register")) {
		r->now.of_stack = is_stack_pointer(a, first);
	} else if (slice_is(a, s->word, ".cfi_escape") &&
		   (slice_is(a, first, "0xf") || slice_is(a, first, "0x0f") || slice_is(a, first, "15"))) {
		r->now.of_stack = false; /* DW_CFA_def_cfa_expression */
	} else if (slice_is(a, s->word, ".cfi_offset") || slice_is(a, s->word, ".cfi_rel_offset")) {
		r->now.return_kept |= is_return_register(a, first);
	} else if (slice_is(a, s->word, ".cfi_restore")) {
		r->now.return_kept &= !is_return_register(a, first);
	} else if (slice_is(a, s->word, ".cfi_remember_state")) {
		if (r->frames < FRAMES_DEEP)
			r->remembered[r->frames++] = r->now;
	} else if (slice_is(a, s->word, ".cfi_restore_state")) {
		if (r->frames)
			r->now = r->remembered[--r->frames];
	}
}

static bool begins_body(const struct assembly *a, struct text_slice word)
{
	return slice_is(a, word, ".macro") || slice_is(a, word, ".rept") || slice_is(a, word, ".irp") ||
	       slice_is(a, word, ".irpc");
}

static bool ends_body(const struct assembly *a, struct text_slice word)
{
	return slice_is(a, word, ".endm") || slice_is(a, word, ".endr");
}

/* Bytes in a section of code that belong to the instruction behind them. */
static bool is_bytes(const struct assembly *a, struct text_slice word)
{
	static const char *const directives[] = {".byte",  ".value", ".word",  ".short",      ".2byte",
						 ".4byte", ".long",  ".hword", ".tlsdesccall"};
	for (size_t i = 0; i < sizeof directives / sizeof *directives; i++)
		if (slice_is(a, word, directives[i]))
			return true;
	return false;
}

static bool directive(struct assembly_reader *r, struct statement *s, int index, struct error *err)
{
	const struct assembly *a = r->a;
	if (begins_body(a, s->word)) {
		r->macros++;
		s->inside = true;
	} else if (ends_body(a, s->word)) {
		r->macros -= r->macros > 0;
	}
	if (r->macros)
		return true;
	if (slice_is(a, s->word, ".code32") || slice_is(a, s->word, ".code16") ||
	    slice_is(a, s->word, ".code16gcc"))
		return error_set(err, ERROR_UNSUPPORTED, "line %u: 16- and 32-bit code is not supported",
				 s->line + 1);
	if (slice_is(a, s->word, ".intel_syntax"))
		r->intel = index;
	else if (slice_is(a, s->word, ".att_syntax"))
		r->intel = NONE;
	else if (!is_section_directive(r, s, index) && slice_begins(a, s->word, ".cfi_"))
		frame_directive(r, s, index);
	else if (s->code && is_bytes(a, s->word))
		s->kind = STATEMENT_PREFIX;
	return true;
}

/* ---- functions ---- */

/* Names of functions, before labels are looked at: .type comes before or behind its label. */
static bool note_function(struct assembly_reader *r, const struct statement *s, struct error *err)
{
	const struct assembly *a = r->a;
	struct text_slice name = first_operand(a, s->operands);
	if (slice_is(a, s->word, ".type")) {
		const char *text = a->text + name.end;
		size_t rest = s->operands.end - name.end;
		if (!memmem(text, rest, "function", 8) && !memmem(text, rest, "STT_FUNC", 8))
			return true;
	} else if (!slice_is(a, s->word, ".globl") && !slice_is(a, s->word, ".global")) {
		return true;
	}
	return vec_push(&r->functions, name) || error_no_memory(err);
}

static int compare_slices(const char *text, struct text_slice x, struct text_slice y)
{
	size_t xs = x.end - x.at, ys = y.end - y.at;
	int order = memcmp(text + x.at, text + y.at, xs < ys ? xs : ys);
	return order ? order : (xs > ys) - (xs < ys);
}

static int by_slice(const void *x, const void *y, void *text)
{
	return compare_slices(text, *(const struct text_slice *)x, *(const struct text_slice *)y);
}

static int by_name(const void *x, const void *y, void *text)
{
	const struct assembly_symbol *a = x, *b = y;
	int order = compare_slices(text, a->name, b->name);
	return order ? order : (a->statement > b->statement) - (a->statement < b->statement);
}

static bool is_among(const struct text_slice *sorted, size_t n, const char *text, struct text_slice name)
{
	for (size_t low = 0; low < n;) {
		size_t middle = low + (n - low) / 2;
		int order = compare_slices(text, sorted[middle], name);
		if (order == 0)
			return true;
		if (order < 0)
			low = middle + 1;
		else
			n = middle;
	}
	return false;
}

static bool is_number(const struct assembly *a, struct text_slice name)
{
	for (size_t at = name.at; at < name.end; at++)
		if (!isdigit((unsigned char)a->text[at]))
			return false;
	return true;
}

/* Which function each statement is in: from its label to the next function's. */
static bool find_functions(struct assembly_reader *r, struct error *err)
{
	struct assembly *a = r->a;
	int function = NONE;
	for (size_t i = 0; i < a->statements.count; i++)
		if (a->statements.items[i].kind == STATEMENT_DIRECTIVE && !a->statements.items[i].inside &&
		    !note_function(r, &a->statements.items[i], err))
			return false;
	if (r->functions.count)
		qsort_r(r->functions.items, r->functions.count, sizeof *r->functions.items, by_slice,
			(void *)a->text);
	for (size_t i = 0; i < a->statements.count; i++) {
		struct statement *s = &a->statements.items[i];
		if (s->kind == STATEMENT_LABEL && !s->inside) {
			bool known = is_among(r->functions.items, r->functions.count, a->text, s->word);
			struct assembly_symbol symbol = {s->word, (int)i, known && s->code};
			if (is_number(a, s->word) ? !vec_push(&a->numbered, (int)i)
						  : !vec_push(&a->symbols, symbol))
				return error_no_memory(err);
			if (symbol.function)
				function = (int)i;
		}
		s->function = function;
	}
	if (a->symbols.count)
		qsort_r(a->symbols.items, a->symbols.count, sizeof *a->symbols.items, by_name, (void *)a->text);
	return true;
}

/* ---- reading ---- */

static bool add(struct assembly_reader *r, struct statement *s, struct error *err)
{
	if (r->a->statements.count >= INT_MAX)
		return error_set(err, ERROR_LIMIT, "more statements than can be numbered");
	s->line = r->line;
	s->code = r->section.code;
	s->section = r->section.statement;
	s->inside = r->macros > 0;
	s->intel = r->intel;
	s->frame = r->frame;
	s->frame_of_stack = r->now.of_stack;
	s->return_kept = r->now.return_kept;
	if (s->kind == STATEMENT_DIRECTIVE && !directive(r, s, (int)r->a->statements.count, err))
		return false;
	if (s->kind == STATEMENT_INSTRUCTION)
		assembly_flow(r->a, s);
	return vec_push(&r->a->statements, *s) || error_no_memory(err);
}

/* Prefixes before the mnemonic are part of the instruction; alone they are a statement. */
static void split_instruction(const struct assembly *a, struct statement *s)
{
	s->word = word_at(a, s->whole.at, s->whole.end);
	for (;;) {
		size_t next = past_space(a, s->word.end, s->whole.end);
		/* {vex}, {evex} */
		if (next < s->whole.end && a->text[s->word.at] == '{' && slice_empty(s->word)) {
			const char *brace = memchr(a->text + s->word.at, '}', s->whole.end - s->word.at);
			if (!brace)
				break;
			next = past_space(a, (size_t)(brace + 1 - a->text), s->whole.end);
		} else if (!assembly_is_prefix(a, s->word)) {
			break;
		}
		struct text_slice word = word_at(a, next, s->whole.end);
		if (next >= s->whole.end) {
			s->kind = STATEMENT_PREFIX;
			break;
		}
		s->word = word;
		if (slice_empty(word) && a->text[next] != '{')
			break;
	}
	s->operands = (struct text_slice){past_space(a, s->word.end, s->whole.end), s->whole.end};
}

/* A label, or a directive or instruction up to the line's end or a separator. *label: it was one. */
static bool read_statement(struct assembly_reader *r, bool *label, struct error *err)
{
	struct assembly *a = r->a;
	size_t end = r->at, at = r->at;
	unsigned line = r->line;
	*label = false;
	if (!find_end(r, &end, err))
		return false;
	if (at < end) {
		struct statement s = {.function = NONE};
		s.word = word_at(a, at, end);
		size_t colon = past_space(a, s.word.end, end);
		/* not `::`, not a file's `name = x` */
		if (!slice_empty(s.word) && colon < end && a->text[colon] == ':' &&
		    !(colon + 1 < end && (a->text[colon + 1] == ':' || a->text[colon + 1] == '='))) {
			s.kind = STATEMENT_LABEL;
			s.whole = (struct text_slice){at, colon + 1};
			r->at = colon + 1;
			*label = true;
			return add(r, &s, err);
		}
		s.whole = (struct text_slice){at, end};
		s.operands = (struct text_slice){past_space(a, s.word.end, end), end};
		bool assigns = s.operands.at < end && a->text[s.operands.at] == '=';
		s.kind = assigns || a->text[at] == '.' ? STATEMENT_DIRECTIVE : STATEMENT_INSTRUCTION;
		if (s.kind == STATEMENT_INSTRUCTION)
			split_instruction(a, &s);
		if (!add(r, &s, err))
			return false;
	}
	r->line = line;
	return true;
}

static bool read_all(struct assembly_reader *r, struct error *err)
{
	struct assembly *a = r->a;
	bool line_start = true; /* for gas, a line begins anew behind a separator and behind a label */
	if (!vec_push(&a->lines, 0))
		return error_no_memory(err);
	for (size_t at = 0; at < a->bytes; at++)
		if (a->text[at] == '\n' && at + 1 < a->bytes && !vec_push(&a->lines, at + 1))
			return error_no_memory(err);
	while (r->at < a->bytes) {
		if (!skip_space(r, line_start, err))
			return false;
		if (r->at >= a->bytes)
			break;
		char c = a->text[r->at];
		if (c == '\n' || c == ';') {
			r->line += c == '\n';
			r->at++;
			line_start = true;
		} else if (!read_statement(r, &line_start, err)) {
			return false;
		}
	}
	return true;
}

bool assembly_read(struct assembly *a, const char *text, size_t bytes, enum assembly_machine machine,
		   struct error *err)
{
	struct assembly_reader r = {.a = a,
				    .intel = NONE,
				    .function = NONE,
				    .frame = NONE,
				    .section = {true, NONE},
				    .before = {true, NONE}};
	*a = (struct assembly){.text = text, .bytes = bytes, .machine = machine};
	if (bytes > INT_MAX)
		return error_set(err, ERROR_LIMIT, "the assembly is longer than 2 GiB");
	if (memchr(text, '\0', bytes))
		return error_set(err, ERROR_SYNTAX, "not a text file: it has NUL bytes");
	if (!machine && !(a->machine = machine_of(text, bytes))) {
		error_set(err, ERROR_UNSUPPORTED, "cannot tell which machine's assembly this is");
		return error_hint(err, "use --machine x86-64 or --machine arm64");
	}
	bool done = read_all(&r, err) && find_functions(&r, err);
	vec_free(&r.functions);
	if (!done)
		assembly_free(a);
	return done;
}

void assembly_free(struct assembly *a)
{
	vec_free(&a->lines);
	vec_free(&a->comments);
	vec_free(&a->statements);
	vec_free(&a->symbols);
	vec_free(&a->numbered);
}

/* ---- names ---- */

static int numbered_label(const struct assembly *a, struct text_slice name, int from)
{
	struct text_slice digits = {name.at, name.end - 1};
	bool back = a->text[name.end - 1] == 'b';
	int found = NONE;
	for (size_t i = 0; i < a->numbered.count; i++) {
		int statement = a->numbered.items[i];
		if (compare_slices(a->text, a->statements.items[statement].word, digits) != 0)
			continue;
		if (back && statement <= from)
			found = statement;
		if (!back && statement > from)
			return statement;
	}
	return found;
}

int assembly_label(const struct assembly *a, struct text_slice name, int from)
{
	struct text_slice digits = {name.at, name.end - 1};
	if (slice_empty(name))
		return NONE;
	char last = a->text[name.end - 1];
	if ((last == 'b' || last == 'f') && !slice_empty(digits) && is_number(a, digits))
		return numbered_label(a, name, from);
	for (size_t low = 0, high = a->symbols.count; low < high;) {
		size_t middle = low + (high - low) / 2;
		int order = compare_slices(a->text, a->symbols.items[middle].name, name);
		if (order == 0)
			return a->symbols.items[middle].statement;
		if (order < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return NONE;
}

void assembly_names(const struct assembly *a, struct text_slice operands,
		    void (*visit)(void *context, struct text_slice name), void *context)
{
	for (size_t at = operands.at; at < operands.end;) {
		/* $name is an immediate */
		at += a->text[at] == '$';
		struct text_slice word = word_at(a, at, operands.end);
		if (!slice_empty(word))
			visit(context, word);
		at = slice_empty(word) ? word.end + 1 : word.end;
	}
}
