#include "model/declare/draw.h"

#include <stdio.h>
#include <string.h>

#include "model/declare/conf_keys.h"

enum { BOX_LINES = 7, BOX_TEXT = 80 };

/* A cache or TLB as lines of text. */
struct box {
	char lines[BOX_LINES][BOX_TEXT];
	size_t n;
};

/* The two ways through a hierarchy, apart until the first component that both have. */
struct paths {
	struct box left[MACHINE_CACHES], right[MACHINE_CACHES], common[MACHINE_CACHES];
	size_t n_left, n_right, n_common;
	const char *left_title, *right_title, *end;
};

void machine_size_text(unsigned long long bytes, struct str *out)
{
	static const char units[] = "KMG";
	unsigned unit = 0;
	unsigned long long divisor = 1;
	while (unit < 3 && bytes >= divisor << 10)
		divisor <<= 10, unit++;
	/* a whole number of the smaller unit says more than a rounded one of the larger: 1920K, not 1.9M */
	while (unit && bytes % divisor && (bytes * 2) % divisor)
		divisor >>= 10, unit--;
	if (bytes % divisor)
		str_appendf(out, "%.1f%c", (double)bytes / (double)divisor, units[unit - 1]);
	else
		str_appendf(out, "%llu", bytes / divisor);
	if (unit && bytes % divisor == 0)
		str_append_char(out, units[unit - 1]);
}

const char *machine_replacement_name(unsigned replacement)
{
	return conf_word_for(conf_replacements, replacement);
}

const char *machine_inclusion_name(unsigned inclusion) { return conf_word_for(conf_inclusions, inclusion); }

const char *machine_prefetch_name(unsigned prefetch) { return conf_word_for(conf_prefetches, prefetch); }

const char *machine_predictor_name(unsigned kind) { return conf_word_for(conf_predictors, kind); }

const char *machine_holds_name(unsigned holds) { return conf_word_for(conf_holds, holds); }

static const char *size_of(unsigned long long bytes, char text[32])
{
	struct str s = {0};
	machine_size_text(bytes, &s);
	snprintf(text, 32, "%s", s.failed || !s.text ? "?" : s.text);
	str_free(&s);
	return text;
}

/* "1-way" is direct-mapped, one set is fully associative. */
static const char *ways_of(unsigned ways, unsigned sets, char text[32])
{
	if (sets == 1 && ways > 1)
		return "fully associative";
	if (ways == 1)
		return "direct-mapped";
	snprintf(text, 32, "%u-way", ways);
	return text;
}

static char *line_of(struct box *box) { return box->lines[box->n < BOX_LINES - 1 ? box->n++ : box->n]; }

/* ---- boxes ---- */

static void cache_box(const struct machine_cache *c, struct box *box)
{
	char size[32], ways[32], rrip[32] = "";
	*box = (struct box){0};
	snprintf(line_of(box), BOX_TEXT, "%s  %s%s", c->name,
		 size_of((unsigned long long)c->sets * c->ways * c->line_bytes, size),
		 c->shared ? ", shared by the cores" : "");
	snprintf(line_of(box), BOX_TEXT, "%s, %u B lines", ways_of(c->ways, c->sets, ways), c->line_bytes);
	snprintf(line_of(box), BOX_TEXT, "%u set%s", c->sets, c->sets == 1 ? "" : "s");
	if (c->replacement == REPLACE_SRRIP || c->replacement == REPLACE_BRRIP)
		snprintf(rrip, sizeof rrip, " (%u bits)", c->rrip_bits);
	if (c->holds & MACHINE_DATA)
		snprintf(line_of(box), BOX_TEXT, "%s%s, write-%s%s", machine_replacement_name(c->replacement),
			 rrip, conf_word_for(conf_writes, c->write), c->write_allocate ? "" : ", no allocation");
	else
		snprintf(line_of(box), BOX_TEXT, "%s%s", machine_replacement_name(c->replacement), rrip);
	if (c->inclusion != INCLUSION_NONE)
		snprintf(line_of(box), BOX_TEXT, "%s", machine_inclusion_name(c->inclusion));
	if (c->prefetch != PREFETCH_NONE)
		snprintf(line_of(box), BOX_TEXT, "prefetches: %s, degree %u", machine_prefetch_name(c->prefetch),
			 c->prefetch_degree);
	if (c->victim_lines)
		snprintf(line_of(box), BOX_TEXT, "victim buffer: %u lines", c->victim_lines);
}

static void tlb_box(const struct machine_tlb *t, struct box *box)
{
	char ways[32], size[32];
	*box = (struct box){0};
	snprintf(line_of(box), BOX_TEXT, "%s  %u entries%s", t->name, t->sets * t->ways,
		 t->pages_per_entry == 2 ? " of page pairs" : "");
	if (t->pages_per_entry > 2)
		snprintf(line_of(box), BOX_TEXT, "%u pages an entry", t->pages_per_entry);
	snprintf(line_of(box), BOX_TEXT, "%s, %s", ways_of(t->ways, t->sets, ways),
		 machine_replacement_name(t->replacement));
	if (t->page_bytes)
		snprintf(line_of(box), BOX_TEXT, "pages of %s only", size_of(t->page_bytes, size));
}

/* ---- the picture ---- */

static void repeat(struct str *out, char c, size_t n)
{
	while (n--)
		str_append_char(out, c);
}

/* One row of a box `wide` columns wide; row 0 and rows beyond its text are its edges; nothing if it has none
 * there. */
static void draw_row(struct str *out, const struct box *box, size_t row, size_t rows, size_t wide)
{
	if (row == 0 || row == rows + 1) {
		str_append_char(out, '+');
		repeat(out, '-', wide - 2);
		str_append_char(out, '+');
		return;
	}
	const char *text = row <= box->n ? box->lines[row - 1] : "";
	str_appendf(out, "| %-*.*s |", (int)wide - 4, (int)wide - 4, text);
}

static size_t widest(const struct box *boxes, size_t n)
{
	size_t wide = 0;
	for (size_t i = 0; i < n; i++)
		for (size_t k = 0; k < boxes[i].n; k++)
			if (strlen(boxes[i].lines[k]) > wide)
				wide = strlen(boxes[i].lines[k]);
	return wide + 4;
}

static void trim_line(struct str *out)
{
	while (!out->failed && out->length && out->text[out->length - 1] == ' ')
		out->text[--out->length] = '\0';
	str_append_char(out, '\n');
}

static void stem(struct str *out, size_t at, const char *what)
{
	repeat(out, ' ', at);
	str_append(out, what);
	str_append_char(out, '\n');
}

/* Two columns of boxes, then one below both. */
static void draw_paths(const struct paths *p, size_t indent, struct str *out)
{
	enum { GAP = 3 };
	size_t left = widest(p->left, p->n_left), right = widest(p->right, p->n_right),
	       wide = widest(p->common, p->n_common);
	bool split = p->n_left && p->n_right;
	size_t rows_of_columns = p->n_left > p->n_right ? p->n_left : p->n_right;
	if (split && left + GAP + right < wide)
		right = wide - left - GAP;
	size_t all = split ? left + GAP + right : p->n_left ? left : p->n_right ? right : wide;
	if (all < wide)
		all = wide;
	size_t left_stem = indent + left / 2, right_stem = indent + (split ? left + GAP + right / 2 : all / 2),
	       middle = indent + all / 2;

	if (split) {
		repeat(out, ' ', indent);
		str_appendf(out, "%-*s", (int)(left + GAP), p->left_title);
		str_appendf(out, "%s\n", p->right_title);
	} else {
		repeat(out, ' ', indent);
		str_appendf(out, "%s%s%s\n", p->n_left || !p->n_right ? p->left_title : p->right_title,
			    p->n_left || p->n_right ? "" : " and ", p->n_left || p->n_right ? "" : p->right_title);
	}
	for (size_t i = 0; i < rows_of_columns; i++) {
		const struct box *a = split && i < p->n_left ? &p->left[i] : NULL;
		const struct box *b = !split           ? (p->n_left ? &p->left[i] : &p->right[i])
				      : i < p->n_right ? &p->right[i]
						       : NULL;
		size_t rows = a && b && a->n > b->n ? a->n : b ? b->n : a ? a->n : 0;
		for (size_t row = 0; row < rows + 2; row++) {
			repeat(out, ' ', indent);
			if (a)
				draw_row(out, a, row, rows, left);
			else if (split)
				str_appendf(out, "%-*s", (int)left, p->n_left ? "" : ""), (void)0;
			if (split)
				repeat(out, ' ', GAP);
			if (b)
				draw_row(out, b, row, rows, split ? right : all);
			trim_line(out);
		}
		if (split) {
			repeat(out, ' ', left_stem);
			str_append_char(out, '|');
			repeat(out, ' ', right_stem - left_stem - 1);
			str_append(out, "|\n");
		} else {
			stem(out, middle, "|");
		}
	}
	for (size_t i = 0; i < p->n_common; i++) {
		for (size_t row = 0; row < p->common[i].n + 2; row++) {
			repeat(out, ' ', indent);
			draw_row(out, &p->common[i], row, p->common[i].n, all);
			trim_line(out);
		}
		stem(out, middle, "|");
	}
	if (split && p->n_common == 0) {
		repeat(out, ' ', left_stem + 1 > strlen(p->end) / 2 ? left_stem - strlen(p->end) / 2 : 0);
		str_append(out, p->end);
		repeat(out, ' ', right_stem - left_stem - strlen(p->end));
		str_appendf(out, "%s\n", p->end);
	} else {
		stem(out, middle - strlen(p->end) / 2, p->end);
	}
}

static bool is_on_path(const struct machine *m, bool tlbs, unsigned from, unsigned wanted)
{
	unsigned n = tlbs ? m->n_tlbs : m->n_caches;
	for (; from < n; from = tlbs ? m->tlbs[from].next : m->caches[from].next)
		if (from == wanted)
			return true;
	return false;
}

static void collect(const struct machine *m, bool tlbs, struct paths *p)
{
	unsigned n = tlbs ? m->n_tlbs : m->n_caches;
	unsigned first_left = tlbs ? m->first_instruction_tlb : m->first_instruction,
		 first_right = tlbs ? m->first_data_tlb : m->first_data;
	for (unsigned at = first_left; at < n; at = tlbs ? m->tlbs[at].next : m->caches[at].next) {
		bool both = is_on_path(m, tlbs, first_right, at);
		struct box *box = both ? &p->common[p->n_common++] : &p->left[p->n_left++];
		if (tlbs)
			tlb_box(&m->tlbs[at], box);
		else
			cache_box(&m->caches[at], box);
	}
	for (unsigned at = first_right; at < n; at = tlbs ? m->tlbs[at].next : m->caches[at].next) {
		if (is_on_path(m, tlbs, first_left, at))
			break;
		struct box *box = &p->right[p->n_right++];
		if (tlbs)
			tlb_box(&m->tlbs[at], box);
		else
			cache_box(&m->caches[at], box);
	}
}

/* ---- branches ---- */

static void numbers_text(struct str *out, const uint16_t *numbers, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		str_appendf(out, "%s%u", i ? " " : "", numbers[i]);
}

static void direction_text(const struct machine_direction *d, struct str *out)
{
	switch (d->kind) {
	case PREDICT_NONE: str_append(out, "none"); break;
	case PREDICT_TAKEN: str_append(out, "static: taken"); break;
	case PREDICT_NOT_TAKEN: str_append(out, "static: not taken"); break;
	case PREDICT_BACKWARD_TAKEN: str_append(out, "static: backward taken, forward not"); break;
	case PREDICT_BTB: str_appendf(out, "%u-bit counters in the BTB", d->counter_bits); break;
	case PREDICT_BIMODAL: str_appendf(out, "bimodal, %u %u-bit counters", d->entries, d->counter_bits); break;
	case PREDICT_LOCAL:
		str_appendf(out, "local, %u histories of %u bits, %u %u-bit counters", d->local_entries,
			    d->history_bits, d->entries, d->counter_bits);
		break;
	case PREDICT_GSHARE:
		str_appendf(out, "gshare, %u %u-bit counters, %u bits of history", d->entries, d->counter_bits,
			    d->history_bits);
		break;
	case PREDICT_TOURNAMENT:
		str_appendf(out,
			    "tournament: local (%u histories, %u %u-bit counters), global (%u %u-bit counters, %u "
			    "bits of history), "
			    "choice (%u of %u bits)",
			    d->local_entries, d->local_counters, d->local_counter_bits, d->entries,
			    d->counter_bits, d->history_bits, d->choice_entries, d->choice_bits);
		break;
	case PREDICT_PERCEPTRON:
		str_appendf(out, "perceptron, %u of %u weights of %u bits, threshold %d", d->entries,
			    d->history_bits + 1, d->weight_bits, d->threshold);
		break;
	case PREDICT_TAGE:
		str_appendf(out, "TAGE, %u base counters, %u tagged table%s of ", d->entries, d->tables,
			    d->tables == 1 ? "" : "s");
		numbers_text(out, d->table_entries, d->tables);
		str_append(out, " entries, histories ");
		numbers_text(out, d->table_history, d->tables);
		break;
	default: str_append(out, "?"); break;
	}
	if (d->kind >= PREDICT_BIMODAL && d->kind != PREDICT_PERCEPTRON)
		str_appendf(out, "; initially %u", d->initial);
}

static void targets_text(const struct machine_targets *t, struct str *out)
{
	char ways[32];
	if (t->btb_sets)
		str_appendf(out, "BTB %u entries, %s, %s, for %s", t->btb_sets * t->btb_ways,
			    ways_of(t->btb_ways, t->btb_sets, ways), machine_replacement_name(t->btb_replacement),
			    t->btb_allocation == BTB_ALLOCATE_TAKEN ? "taken branches" : "all branches");
	else
		str_append(out, "no BTB: targets of direct branches are known");
	if (t->return_entries)
		str_appendf(out, "; return stack %u", t->return_entries);
	else
		str_append(out, "; no return stack");
	if (t->indirect_entries)
		str_appendf(out, "; indirect %u entries, history of %u targets", t->indirect_entries,
			    t->indirect_history);
}

/* ---- all ---- */

/* Text from column `at` on, later lines indented to it, broken at spaces. */
static void wrap(struct str *out, const char *text, size_t at, size_t width)
{
	size_t column = at;
	bool first = true;
	while (*text) {
		size_t word = strcspn(text, " ");
		if (!first && column + 1 + word > width) {
			str_append_char(out, '\n');
			repeat(out, ' ', at);
			column = at;
		} else if (!first) {
			str_append_char(out, ' ');
			column++;
		}
		str_append_bytes(out, text, word);
		column += word;
		first = false;
		text += word;
		text += strspn(text, " ");
	}
	str_append_char(out, '\n');
}

static void labelled(struct str *out, const char *label, struct str *text, size_t width)
{
	str_appendf(out, "  %-9s", label);
	wrap(out, text->failed || !text->text ? "" : text->text, 11, width);
	str_free(text);
}

void machine_draw(const struct machine *m, size_t width, struct str *out)
{
	struct paths caches = {.left_title = "instructions", .right_title = "data", .end = "memory"};
	struct paths tlbs = {.left_title = "instructions' pages", .right_title = "data's pages", .end = "walk"};
	struct str text = {0};
	collect(m, false, &caches);
	collect(m, true, &tlbs);
	str_appendf(&text, "%s: %s; %u core%s%s; fetches %u bytes at a time; pages of %uK", m->name, m->title,
		    m->cores, m->cores == 1 ? "" : "s", m->coherent ? ", coherent (MESI)" : "", m->fetch_bytes,
		    m->page_bytes >> 10);
	wrap(out, text.failed || !text.text ? m->name : text.text, 0, width);
	str_free(&text);
	str_append_char(out, '\n');
	if (m->n_caches)
		draw_paths(&caches, 2, out);
	if (m->n_tlbs) {
		str_append_char(out, '\n');
		draw_paths(&tlbs, 2, out);
	}
	str_append_char(out, '\n');
	direction_text(&m->direction, &text);
	labelled(out, "branches", &text, width);
	text = (struct str){0};
	targets_text(&m->targets, &text);
	labelled(out, "targets", &text, width);
	text = (struct str){0};
	str_append(&text, "no latencies: the model shows which events happen, not how long they take");
	labelled(out, "time", &text, width);
}

void machine_draw_sources(const struct machine_description *d, size_t width, struct str *out)
{
	for (size_t i = 0; i < d->n_values;) {
		const struct machine_value *v = &d->values[i];
		struct str text = {0};
		bool new_stanza = i == 0 || strcmp(d->values[i - 1].stanza, v->stanza) != 0;
		str_appendf(out, "  %-9s", new_stanza ? v->stanza : "");
		/* neighbours with the same source share a line */
		const char *source = v->source;
		for (size_t first = i; i < d->n_values && strcmp(d->values[i].stanza, v->stanza) == 0; i++) {
			const char *other = d->values[i].source;
			if (other != source && (!other || !source || strcmp(other, source) != 0))
				break;
			str_appendf(&text, "%s%s", i > first ? ", " : "", d->values[i].key);
		}
		char file[300]; /* a path may hold anything */
		str_escape_to(file, sizeof file, v->file);
		str_appendf(&text, ": %s (%s:%u)", source ? source : "no source given", file, v->line);
		wrap(out, text.failed ? "" : text.text, 11, width);
		str_free(&text);
	}
}

void machine_summary(const struct machine *m, struct str *out)
{
	size_t before = out->length;
	for (unsigned i = 0; i < m->n_caches; i++) {
		const struct machine_cache *c = &m->caches[i];
		str_appendf(out, "%s%s ", i ? ", " : "", c->name);
		machine_size_text((unsigned long long)c->sets * c->ways * c->line_bytes, out);
	}
	for (unsigned i = 0; i < m->n_tlbs; i++)
		str_appendf(out, "%s%s %u%s",
			    i                      ? ", "
			    : out->length > before ? "; "
						   : "",
			    m->tlbs[i].name, m->tlbs[i].sets * m->tlbs[i].ways,
			    m->tlbs[i].pages_per_entry == 2 ? " pairs" : "");
	if (m->direction.kind != PREDICT_NONE)
		str_appendf(out, "%s%s", out->length > before ? "; " : "",
			    machine_predictor_name(m->direction.kind));
}
