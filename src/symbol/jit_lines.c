#include "symbol/jit_lines.h"

#include <stdlib.h>
#include <string.h>

#include "symbol/jit.h"

/* Of one piece of code: more than any compiler writes at once. A line that says more would hide all others. */
#define CODE_MOST (1ull << 30)

/* Digits up to a blank; *at is behind them. */
static bool parse_hex(const char **at, const char *end, uint64_t *out)
{
	const char *p = *at;
	uint64_t value = 0;
	if (end - p > 2 && p[0] == '0' && (p[1] == 'x' || p[1] == 'X')) /* Java's have it, perf's own do not */
		p += 2;
	const char *first = p;
	for (; p < end && *p != ' ' && *p != '\t'; p++) {
		unsigned digit = *p >= '0' && *p <= '9'   ? (unsigned)(*p - '0')
				 : *p >= 'a' && *p <= 'f' ? (unsigned)(*p - 'a') + 10
				 : *p >= 'A' && *p <= 'F' ? (unsigned)(*p - 'A') + 10
							  : 16;
		if (digit == 16 || value >> 60)
			return false;
		value = value << 4 | digit;
	}
	*at = p, *out = value;
	return p > first;
}

static void skip_blanks(const char **at, const char *end)
{
	while (*at < end && (**at == ' ' || **at == '\t'))
		++*at;
}

static bool parse(const char *text, size_t length, struct jit_line *out, const char **name, size_t *name_length)
{
	const char *at = text, *end = text + length;
	if (end > at && end[-1] == '\r')
		end--;
	if (!parse_hex(&at, end, &out->begins))
		return false;
	skip_blanks(&at, end);
	if (!parse_hex(&at, end, &out->bytes) || at == end)
		return false;
	*name = ++at;
	*name_length = (size_t)(end - at) < JIT_NAME_MOST ? (size_t)(end - at) : JIT_NAME_MOST;
	return *name_length > 0 && !memchr(at, '\0', *name_length) && out->bytes <= CODE_MOST &&
	       out->begins + out->bytes >= out->begins;
}

bool jit_lines_add(struct jit_lines *lines, const char *text, size_t length)
{
	struct jit_line line;
	const char *name;
	size_t name_length;
	lines->line_number++;
	if (length == 0)
		return true;
	if (!parse(text, length, &line, &name, &name_length)) {
		if (!lines->n_wrong++)
			lines->first_wrong = lines->line_number;
		return true;
	}
	if (line.bytes == 0) /* no code: python's and node's placeholders */
		return true;
	if (lines->all.count == UINT32_MAX - 1)
		return false;
	line.name = arena_strndup(&lines->arena, name, name_length);
	lines->flat = false;
	return line.name && vec_push(&lines->all, line);
}

/* ---- the later line wins ---- */

struct line_edge {
	uint64_t at;
	uint32_t line;
	bool begins;
};

static int by_place(const void *a, const void *b)
{
	const struct line_edge *x = a, *y = b;
	return x->at != y->at ? (x->at < y->at ? -1 : 1) : x->line < y->line ? -1 : x->line > y->line;
}

/* A heap, the latest line on top. */
struct open_lines {
	VEC(uint32_t) all;
};

static bool open_add(struct open_lines *open, uint32_t line)
{
	if (!vec_push(&open->all, line))
		return false;
	for (size_t i = open->all.count - 1; i && open->all.items[(i - 1) / 2] < line; i = (i - 1) / 2) {
		open->all.items[i] = open->all.items[(i - 1) / 2];
		open->all.items[(i - 1) / 2] = line;
	}
	return true;
}

static void open_drop(struct open_lines *open)
{
	uint32_t *items = open->all.items, last = items[--open->all.count];
	size_t n = open->all.count, i = 0;
	for (size_t child; (child = 2 * i + 1) < n; i = child) {
		if (child + 1 < n && items[child + 1] > items[child])
			child++;
		if (items[child] <= last)
			break;
		items[i] = items[child];
	}
	if (n)
		items[i] = last;
}

static bool add_piece(struct ranges *pieces, uint64_t low, uint64_t high, uint32_t line)
{
	struct range *before = pieces->all.count ? &pieces->all.items[pieces->all.count - 1] : NULL;
	struct range piece = {.low = low, .high = high, .item = line};
	if (before && before->item == line && before->high == low) {
		before->high = high;
		return true;
	}
	return vec_push(&pieces->all, piece);
}

static bool flatten(struct jit_lines *lines)
{
	size_t n = lines->all.count;
	struct line_edge *edges = calloc(2 * n + 1, sizeof *edges);
	struct open_lines open = {0};
	bool done = edges;
	for (size_t i = 0; done && i < n; i++) {
		const struct jit_line *l = &lines->all.items[i];
		edges[2 * i] = (struct line_edge){.at = l->begins, .line = (uint32_t)i, .begins = true};
		edges[2 * i + 1] = (struct line_edge){.at = l->begins + l->bytes, .line = (uint32_t)i};
	}
	if (done)
		qsort(edges, 2 * n, sizeof *edges, by_place);
	lines->pieces.all.count = 0;
	for (size_t i = 0; done && i < 2 * n;) {
		uint64_t at = edges[i].at;
		for (; done && i < 2 * n && edges[i].at == at; i++)
			done = !edges[i].begins || open_add(&open, edges[i].line);
		/* what ended leaves when it comes to the top */
		while (open.all.count) {
			const struct jit_line *top = &lines->all.items[open.all.items[0]];
			if (top->begins + top->bytes > at)
				break;
			open_drop(&open);
		}
		if (done && open.all.count) /* its end is an edge, too, so there is a next one */
			done = add_piece(&lines->pieces, at, edges[i].at, open.all.items[0]);
	}
	free(edges);
	vec_free(&open.all);
	return lines->flat = done;
}

const struct jit_line *jit_lines_find(struct jit_lines *lines, uint64_t address)
{
	const struct range *piece = lines->flat || flatten(lines) ? ranges_find(&lines->pieces, address) : NULL;
	return piece ? &lines->all.items[piece->item] : NULL;
}

void jit_lines_free(struct jit_lines *lines)
{
	arena_free(&lines->arena);
	vec_free(&lines->all);
	ranges_free(&lines->pieces);
}
