/*
 * callgrind's format (valgrind manual, "Callgrind Format Specification"), which KCachegrind and
 * callgrind_annotate read: each function's lines with the events in them, and its calls with what took place in
 * them.
 *
 * Of samples nobody knows how often a function was called: the number of calls is then that of the stacks'
 * samples. A call within the same call's recursion is not added again.
 */
#include <stdlib.h>
#include <string.h>

#include "report/profile.h"
#include "report/profile_rows.h"

struct cost_line {                 /* what took place in a line of a function, or in a call from there */
	uint32_t function, callee; /* callee: UINT32_MAX: its own */
	const char *file;
	unsigned line;
	uint32_t node; /* whose costs these are */
};

struct callgrind {
	FILE *out;
	const struct named_profile *named;
	uint64_t *self, *below; /* [n_nodes * n_events] */
	struct cost_line *lines;
	size_t n;
};

static void put_name(FILE *out, const char *name)
{
	struct str text = {0};
	profile_append_escaped(&text, name);
	fputs(text.text && !text.failed ? text.text : "?", out);
	str_free(&text);
}

static int compare_text(const char *a, const char *b) { return strcmp(a ? a : "", b ? b : ""); }

static int by_place(const void *a, const void *b)
{
	const struct cost_line *x = a, *y = b;
	if (x->function != y->function)
		return x->function < y->function ? -1 : 1;
	if (x->callee != y->callee)
		return x->callee > y->callee ? -1 : 1; /* its own lines first */
	int files = compare_text(x->file, y->file);
	if (files)
		return files;
	return x->line < y->line ? -1 : x->line > y->line;
}

static const struct named_frame *frame_of(const struct named_profile *n, uint32_t node, bool innermost)
{
	const struct named_place *p = &n->places[n->place_of_node[node]];
	return &n->frames[p->first_frame + (innermost ? 0 : p->n_frames - 1)];
}

static uint32_t function_of(const struct named_profile *n, uint32_t node)
{
	return frame_of(n, node, false)->function;
}

/* Is the same call on the stack above already? */
static bool is_recursive(const struct named_profile *n, uint32_t node)
{
	const struct profile_node *nodes = n->profile->nodes;
	uint32_t callee = function_of(n, node), caller = function_of(n, nodes[node].parent);
	for (uint32_t at = nodes[node].parent; nodes[at].parent; at = nodes[at].parent)
		if (function_of(n, at) == callee && function_of(n, nodes[at].parent) == caller)
			return true;
	return false;
}

static bool add_costs(struct callgrind *c)
{
	const struct profile *p = c->named->profile;
	size_t events = p->n_events;
	c->self = calloc(p->n_nodes * events + 1, sizeof *c->self);
	c->below = calloc(p->n_nodes * events + 1, sizeof *c->below);
	c->lines = calloc(2 * p->n_nodes + 1, sizeof *c->lines);
	if (!c->self || !c->below || !c->lines)
		return false;
	for (size_t i = 0; i < p->n_cells; i++)
		c->self[p->cells[i].node * events + p->cells[i].event] += p->cells[i].count;
	memcpy(c->below, c->self, p->n_nodes * events * sizeof *c->self);
	for (size_t i = p->n_nodes; i-- > 1;)
		for (size_t e = 0; e < events; e++)
			c->below[p->nodes[i].parent * events + e] += c->below[i * events + e];
	for (uint32_t i = 1; i < p->n_nodes; i++) {
		const struct named_frame *frame = frame_of(c->named, i, true);
		uint32_t parent = p->nodes[i].parent;
		c->lines[c->n++] = (struct cost_line){function_of(c->named, i), UINT32_MAX, frame->file,
						      frame->line, i};
		if (!parent || is_recursive(c->named, i))
			continue;
		frame = frame_of(c->named, parent, true);
		c->lines[c->n++] = (struct cost_line){function_of(c->named, parent), function_of(c->named, i),
						      frame->file, frame->line, i};
	}
	qsort(c->lines, c->n, sizeof *c->lines, by_place);
	return true;
}

static void write_header(struct callgrind *c)
{
	const struct profile *p = c->named->profile;
	fputs("# callgrind format\nversion: 1\ncreator: tare\n", c->out);
	if (p->command) {
		fputs("cmd:", c->out);
		for (size_t i = 0; p->command[i]; i++) {
			fputc(' ', c->out);
			put_name(c->out, p->command[i]);
		}
		fputc('\n', c->out);
	}
	fputs("positions: line\nevents:", c->out);
	for (size_t e = 0; e < p->n_events; e++) {
		fputc(' ', c->out);
		/* a name is one word of letters, digits and _ there */
		for (const char *at = p->events[e].label; *at; at++)
			fputc((*at >= 'a' && *at <= 'z') || (*at >= 'A' && *at <= 'Z') ||
					      (*at >= '0' && *at <= '9')
				      ? *at
				      : '_',
			      c->out);
	}
	fputs("\nsummary:", c->out);
	for (size_t e = 0; e < p->n_events; e++)
		fprintf(c->out, " %llu", (unsigned long long)c->named->sums[e]);
	fputs("\n", c->out);
}

/* The sum over lines of one place; *last: behind the last of them. False: all are 0. */
static bool sum_lines(const struct callgrind *c, size_t first, size_t *last, uint64_t *sums)
{
	size_t events = c->named->profile->n_events;
	bool any = false;
	memset(sums, 0, events * sizeof *sums);
	for (*last = first; *last < c->n && by_place(&c->lines[first], &c->lines[*last]) == 0; (*last)++) {
		const struct cost_line *line = &c->lines[*last];
		const uint64_t *costs = line->callee == UINT32_MAX ? c->self : c->below;
		for (size_t e = 0; e < events; e++) {
			sums[e] += costs[line->node * events + e];
			any |= sums[e] != 0;
		}
	}
	return any;
}

static void write_costs(struct callgrind *c, unsigned line, const uint64_t *sums)
{
	fprintf(c->out, "%u", line);
	for (size_t e = 0; e < c->named->profile->n_events; e++)
		fprintf(c->out, " %llu", (unsigned long long)sums[e]);
	fputc('\n', c->out);
}

static void write_position(struct callgrind *c, const char *prefix, const struct named_function *f)
{
	fprintf(c->out, "%sob=", prefix);
	put_name(c->out, f->module);
	fprintf(c->out, prefix[0] ? "\n%sfi=" : "\n%sfl=", prefix);
	put_name(c->out, f->file ? f->file : "???");
	fprintf(c->out, "\n%sfn=", prefix);
	put_name(c->out, f->name);
	fputc('\n', c->out);
}

static void write_lines(struct callgrind *c, uint64_t *sums)
{
	uint32_t function = UINT32_MAX;
	const char *file = NULL;
	for (size_t i = 0, last; i < c->n; i = last) {
		const struct cost_line *line = &c->lines[i];
		if (!sum_lines(c, i, &last, sums))
			continue;
		const struct named_function *f = &c->named->functions[line->function];
		if (line->function != function) {
			fputc('\n', c->out);
			write_position(c, "", f);
			function = line->function;
			file = f->file;
		}
		if (compare_text(line->file, file) != 0) { /* inlined from another file, and back */
			file = line->file;
			fputs(compare_text(file, f->file) == 0 ? "fe=" : "fi=", c->out);
			put_name(c->out, file ? file : "???");
			fputc('\n', c->out);
		}
		if (line->callee != UINT32_MAX) {
			const struct named_function *callee = &c->named->functions[line->callee];
			write_position(c, "c", callee);
			fprintf(c->out, "calls=%llu %u\n", (unsigned long long)sums[0], callee->line);
		}
		write_costs(c, line->line, sums);
	}
}

bool report_profile_callgrind(FILE *out, const struct named_profile *named)
{
	struct callgrind c = {.out = out, .named = named};
	uint64_t *sums = calloc(named->profile->n_events + 1, sizeof *sums);
	bool done = sums && add_costs(&c);
	if (done) {
		write_header(&c);
		write_lines(&c, sums);
	}
	free(sums);
	free(c.self);
	free(c.below);
	free(c.lines);
	return done;
}
