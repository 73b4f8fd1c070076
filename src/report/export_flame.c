/*
 * A flame graph (Gregg 2013) as one SVG file that works without a network: flame.js in it zooms and searches,
 * flame.css has its look. Of two profiles it is differential (red: more of its own than before, blue: less;
 * widths are the later profile's).
 *
 *     tree ──► frames in order of names ──► the widest ones that fit into FRAMES_BYTES ──► SVG
 *
 * What always holds:
 *  1. A frame's width is its part of the event's sum. Frames thinner than 0.1 of the drawing's 1200 units are
 *     left out, and the thinnest ones of a drawing that would be too large; how many is written on it.
 *  2. The file has at most FRAMES_BYTES (in a page: EMBEDDED_BYTES) of frames and names, and some 20 kB more.
 *  3. Frames come by depth, from left to right: flame.js finds parents by that.
 */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/embedded.h"
#include "report/export.h"
#include "report/export_flame.h"
#include "report/export_names.h"
#include "report/export_tree.h"
#include "report/number.h"
#include "report/profile_rows.h"
#include "stats/stats.h"

enum {
	WIDTH = 1200,
	PAD = 8,
	ROW = 17,
	FRAME_HEIGHT = 16,
	TOP = 112, /* of the first row of frames */
	FRAMES_BYTES = 1400000,
	EMBEDDED_BYTES = 900000, /* likewise in a page, which has tables as well */
	NAME_BYTES = 400,        /* of a name that is shown */
	LETTER = 7,
	LABEL_LEAST = 3 * LETTER,
};
static const double THINNEST = 0.1;

struct drawn_frame {
	const char *name, *module;
	bool plain;            /* no module to be coloured by */
	uint32_t rank, number; /* in order of names; in the file, UINT32_MAX: not yet */
};

struct flame_drawing {
	FILE *out;
	const struct named_profile *named;
	const struct export_options *options;
	struct export_tree tree;
	struct drawn_frame *frames;
	size_t n_frames;
	uint64_t *left;  /* [tree.n] */
	uint32_t *order; /* tree nodes, by depth and from left to right */
	bool *shown;     /* [tree.n] */
	size_t n_shown, n_left_out, depth;
	uint32_t n_numbers;
	bool intervals, embedded; /* in a page, which has the look and the script */
	size_t bytes_most;
	double scale, most_change; /* counts before × scale compare with those after */
};

/* ---- frames ---- */

static bool add_frame(struct flame_drawing *f, struct hash_index *index, const struct named_function *function,
		      bool by_name, uint32_t *frame)
{
	uint64_t hash = hash_text(HASH_BEGIN, function->name);
	struct hash_search search = hash_find(index, hash);
	for (uint32_t i; by_name && hash_next(&search, &i);)
		if (strcmp(f->frames[i].name, function->name) == 0) {
			*frame = i;
			return true;
		}
	*frame = (uint32_t)f->n_frames;
	f->frames[f->n_frames++] = (struct drawn_frame){
		.name = function->name, .module = profile_base_name(function->module), .number = UINT32_MAX};
	f->frames[f->n_frames - 1].plain = !function->module[0] || function->module[0] == '[';
	return hash_add(index, hash, *frame);
}

/* Of two profiles, functions of one name are one frame: their files' paths and addresses differ. */
static bool take_functions(struct flame_drawing *f)
{
	const struct named_profile *profiles[] = {f->named, f->options->before};
	bool two = f->options->before != NULL, done = true;
	size_t n = f->named->n_functions + (two ? f->options->before->n_functions : 0);
	struct hash_index index = {0};
	if (!(f->frames = calloc(n + 1, sizeof *f->frames)))
		return false;
	for (int c = 0; done && c < 1 + two; c++) {
		const struct named_profile *named = profiles[c];
		uint32_t *frame_of = calloc(named->n_functions + 1, sizeof *frame_of);
		done = frame_of != NULL;
		for (size_t i = 0; done && i < named->n_functions; i++)
			done = add_frame(f, &index, &named->functions[i], two, &frame_of[i]);
		done = done && export_tree_add(&f->tree, named, c ? f->options->event_before : f->options->event,
					       c, frame_of);
		free(frame_of);
	}
	hash_free(&index);
	return done;
}

static int by_name(const void *a, const void *b)
{
	const struct drawn_frame *x = *(struct drawn_frame *const *)a, *y = *(struct drawn_frame *const *)b;
	int names = strcmp(x->name, y->name);
	if (!names)
		names = strcmp(x->module, y->module);
	return names ? names : x < y ? -1 : x > y; /* of the same array */
}

static bool rank_names(struct flame_drawing *f)
{
	struct drawn_frame **sorted = calloc(f->n_frames + 1, sizeof *sorted);
	if (!sorted)
		return false;
	for (size_t i = 0; i < f->n_frames; i++)
		sorted[i] = &f->frames[i];
	qsort(sorted, f->n_frames, sizeof *sorted, by_name);
	for (size_t i = 0; i < f->n_frames; i++)
		sorted[i]->rank = (uint32_t)i;
	free(sorted);
	return true;
}

/* ---- where they are ---- */

struct placing { /* qsort has no context */
	uint64_t key, key2;
	uint32_t node;
};

static int by_keys(const void *a, const void *b)
{
	const struct placing *x = a, *y = b;
	if (x->key != y->key)
		return x->key < y->key ? -1 : 1;
	if (x->key2 != y->key2)
		return x->key2 < y->key2 ? -1 : 1;
	return x->node < y->node ? -1 : x->node > y->node;
}

/* Children from left to right by name; what a function has of its own is right of them. */
static void place_nodes(struct flame_drawing *f, struct placing *all, uint64_t *cursor)
{
	struct export_tree *t = &f->tree;
	for (size_t i = 1; i < t->n; i++)
		all[i - 1] = (struct placing){t->nodes[i].parent, f->frames[t->nodes[i].frame].rank, (uint32_t)i};
	qsort(all, t->n - 1, sizeof *all, by_keys);
	for (size_t i = 0; i + 1 < t->n; i++) { /* a parent's number is below its children's: it has its place */
		const struct export_node *node = &t->nodes[all[i].node];
		f->left[all[i].node] = cursor[all[i].node] = cursor[node->parent];
		cursor[node->parent] += node->total[0];
	}
}

static double width_of(const struct flame_drawing *f, uint32_t node)
{
	return (double)(WIDTH - 2 * PAD) * (double)f->tree.nodes[node].total[0] /
	       (double)f->tree.nodes[0].total[0];
}

/* ---- one frame ---- */

/* Of its own counts, those above the ones before; 0 of the root. */
static double change_of(const struct flame_drawing *f, const struct export_node *node)
{
	return node->depth ? (double)node->self[0] - (double)node->self[1] * f->scale : 0;
}

/* The class of its colour: c0…c107 by module and name, cp without a module, r1…r8 and b1…b8 of a difference. */
static void append_class(const struct flame_drawing *f, struct str *out, const struct export_node *node)
{
	if (f->options->before) {
		double part = f->most_change > 0 ? change_of(f, node) / f->most_change : 0;
		int step = (int)ceil(fabs(part) * 8);
		if (step)
			str_appendf(out, "%c%d", part > 0 ? 'r' : 'b', step > 8 ? 8 : step);
		else
			str_append(out, "cp");
		return;
	}
	const struct drawn_frame *frame = node->depth ? &f->frames[node->frame] : NULL;
	if (!frame || frame->plain)
		str_append(out, "cp");
	else
		str_appendf(out, "c%u", flame_colour(frame->module, frame->name));
}

static void append_label(const struct flame_drawing *f, struct str *out, const struct export_node *node, double x,
			 int y, double width)
{
	size_t room = width < LABEL_LEAST ? 0 : (size_t)((width - 6) / LETTER);
	if (room < 3)
		return;
	str_appendf(out, "<text x=\"%.1f\" y=\"%d\">", x + 3, y + 12);
	export_append_markup(out, node->depth ? f->frames[node->frame].name : "all", room);
	str_append(out, "</text>");
}

/* As the file has it; number: its name's. */
static void append_frame(const struct flame_drawing *f, struct str *out, uint32_t at, uint32_t number)
{
	const struct export_node *node = &f->tree.nodes[at];
	const struct export_node *root = &f->tree.nodes[0];
	double x = PAD + (double)(WIDTH - 2 * PAD) * (double)f->left[at] / (double)root->total[0];
	double width = width_of(f, at);
	size_t row = f->options->inverted ? node->depth : f->depth - node->depth;
	int y = TOP + ROW * (int)row;
	struct interval interval;
	str_appendf(out, "<rect x=\"%.1f\" y=\"%d\" width=\"%.2f\" height=\"%d\" class=\"", x, y, width,
		    FRAME_HEIGHT);
	append_class(f, out, node);
	str_appendf(out, "\" data-d=\"%u\" data-f=\"%u,%" PRIu64 ",%" PRIu64 ",%" PRIu64, node->depth, number,
		    f->left[at], node->total[0], node->self[0]);
	if (f->intervals && at && stats_share(node->total[0], root->total[0], f->named->confidence, &interval))
		str_appendf(out, ",%.2f,%.2f", 100 * interval.low, 100 * interval.high);
	else if (f->options->before)
		str_append(out, ",,");
	if (f->options->before)
		str_appendf(out, ",%.0f,%.0f", (double)node->total[1] * f->scale,
			    (double)node->self[1] * f->scale);
	str_append(out, "\"/>");
	append_label(f, out, node, x, y, width);
	str_append_char(out, '\n');
}

static void append_name(const struct drawn_frame *frame, struct str *out)
{
	str_append(out, "<text");
	if (frame->module[0]) {
		str_append(out, " data-m=\"");
		export_append_markup(out, frame->module, NAME_BYTES / 4);
		str_append(out, "\"");
	}
	str_append(out, ">");
	export_append_markup(out, frame->name[0] ? frame->name : "[unknown]", NAME_BYTES);
	str_append(out, "</text>\n");
}

/* ---- which ones ---- */

/* The widest first, callers before what they called: so what fits is a tree. */
static bool choose(struct flame_drawing *f, struct placing *all)
{
	struct export_tree *t = &f->tree;
	size_t bytes = 0, n = 0;
	struct str text = {0};
	f->depth = t->depth;
	for (size_t i = 0; i < t->n; i++)
		if (t->nodes[i].total[0])
			all[n++] = (struct placing){UINT64_MAX - t->nodes[i].total[0], t->nodes[i].depth,
						    (uint32_t)i};
	qsort(all, n, sizeof *all, by_keys);
	for (size_t i = 0; i < n; i++) {
		uint32_t at = all[i].node;
		struct drawn_frame *frame = at ? &f->frames[t->nodes[at].frame] : NULL;
		if (at && width_of(f, at) < THINNEST)
			break;
		text.length = 0;
		append_frame(f, &text, at, UINT16_MAX);
		if (frame && frame->number == UINT32_MAX)
			append_name(frame, &text);
		bytes += text.length;
		if (text.failed || (at && bytes > f->bytes_most))
			break;
		if (frame && frame->number == UINT32_MAX)
			frame->number = ++f->n_numbers;
		f->shown[at] = true;
		f->n_shown++;
	}
	f->n_left_out = n - f->n_shown;
	f->depth = 0;
	for (size_t i = 0; i < t->n; i++)
		if (f->shown[i] && t->nodes[i].depth > f->depth)
			f->depth = t->nodes[i].depth;
	bool done = !text.failed;
	str_free(&text);
	return done;
}

static void put_in_order(struct flame_drawing *f, struct placing *all)
{
	size_t n = 0;
	for (size_t i = 0; i < f->tree.n; i++)
		if (f->shown[i])
			all[n++] = (struct placing){f->tree.nodes[i].depth, f->left[i], (uint32_t)i};
	qsort(all, n, sizeof *all, by_keys);
	for (size_t i = 0; i < n; i++)
		f->order[i] = all[i].node;
}

/* What counts before are multiplied with: gaps may differ; where they are not known, shares are compared. */
static void compare(struct flame_drawing *f)
{
	const struct export_options *o = f->options;
	const struct export_node *root = &f->tree.nodes[0];
	f->scale = 1;
	if (!o->before)
		return;
	const struct profile_event *after = &f->named->profile->events[o->event];
	const struct profile_event *before = &o->before->profile->events[o->event_before];
	if ((after->gaps == GAPS_NONE) == (before->gaps == GAPS_NONE) && after->gaps == GAPS_NONE)
		f->scale = 1;
	else if (after->gap && before->gap)
		f->scale = (double)before->gap / (double)after->gap * (after->part > 0 ? after->part : 1) /
			   (before->part > 0 ? before->part : 1);
	else
		f->scale = root->total[1] ? (double)root->total[0] / (double)root->total[1] : 1;
	for (size_t i = 0; i < f->tree.n; i++)
		f->most_change = fmax(f->most_change,
				      f->tree.nodes[i].total[0] ? fabs(change_of(f, &f->tree.nodes[i])) : 0);
}

/* ---- the file ---- */

static void write_text(struct flame_drawing *f, const char *class, int y, const char *text)
{
	struct str markup = {0}, short_one = {0};
	export_append_markup(&markup, text, NAME_BYTES);
	export_append_markup(&short_one, text, (WIDTH - 2 * PAD) / LETTER - 4);
	fprintf(f->out, "<text class=\"%s\" x=\"%d\" y=\"%d\" data-text=\"%s\">%s</text>\n", class, PAD, y,
		markup.text ? markup.text : "", short_one.text ? short_one.text : "");
	str_free(&markup);
	str_free(&short_one);
}

static void write_about(struct flame_drawing *f)
{
	const struct profile_event *event = &f->named->profile->events[f->options->event];
	const char *remark = export_remark(export_find("flamegraph"), f->named);
	char sum[NUMBER_BYTES], count[NUMBER_BYTES];
	struct str title = {0}, about = {0};
	export_append_event(&title, event);
	number_group(sum, (double)f->tree.nodes[0].total[0], 0);
	str_appendf(&about, "%s ", sum);
	profile_append_escaped(&about, export_unit(event));
	if (f->n_left_out) {
		number_group(count, (double)f->n_left_out, 0);
		str_appendf(&about, "; %s frames are too thin to be drawn", count);
	}
	if (f->options->before) {
		number_group(count, (double)f->tree.nodes[0].total[1] * f->scale, 0);
		bool shares = event->gaps != GAPS_NONE &&
			      !(event->gap && f->options->before->profile->events[f->options->event_before].gap);
		str_appendf(&about, shares ? "; before, as shares of as many: %s" : "; before: %s", count);
		str_append(&about, "; red: more of its own, blue: less");
	}
	str_append(&about, "; ");
	export_append_command(&about, f->named->profile);
	write_text(f, "title", 18, title.text ? title.text : "");
	write_text(f, "about", 36, about.text ? about.text : "");
	if (remark)
		write_text(f, "about", 53, remark);
	str_free(&title);
	str_free(&about);
}

static void write_button(FILE *out, const char *id, const char *text, int x, int width)
{
	fprintf(out,
		"<g id=\"%s\" class=\"button\"><rect x=\"%d\" y=\"60\" width=\"%d\" height=\"18\" rx=\"3\"/>"
		"<text x=\"%d\" y=\"73\">%s</text></g>\n",
		id, x, width, x + 6, text);
}

static void write_head(struct flame_drawing *f, int height)
{
	fprintf(f->out,
		"<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
		"<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" viewBox=\"0 0 %d %d\">\n"
		"<title>Flame graph</title>\n"
		"<metadata><meta xmlns=\"http://www.w3.org/1999/xhtml\" name=\"viewport\" " /* phones */
		"content=\"width=device-width\"/></metadata>\n"
		"<style><![CDATA[\n%s",
		WIDTH, height, WIDTH, height, flame_files[0].text);
	flame_write_colours(f->out, f->options->before != NULL);
	fprintf(f->out, "]]></style>\n<rect id=\"page\" class=\"page\" width=\"%d\" height=\"%d\"/>\n", WIDTH,
		height);
}

/* Before the frames in the file would be below them in the drawing: the head comes last, and covers what
 * scrolls. */
static void write_overlay(struct flame_drawing *f)
{
	fprintf(f->out, "<g id=\"head\"><rect id=\"headpage\" class=\"page\" width=\"%d\" height=\"%d\"/>\n",
		WIDTH, TOP - 4);
	write_about(f);
	fputs("<g id=\"buttons\" display=\"none\">\n", f->out);
	write_button(f->out, "search", "Search", PAD, 56);
	write_button(f->out, "reset", "Reset", PAD + 62, 49);
	write_button(f->out, "invert", "Flip", PAD + 117, 42);
	fprintf(f->out,
		"<text id=\"found\" aria-live=\"polite\" x=\"%d\" y=\"73\"></text>\n</g>\n"
		"<text id=\"hover1\" x=\"%d\" y=\"92\"></text><text id=\"hover2\" x=\"%d\" "
		"y=\"106\"></text>\n</g>\n",
		PAD + 167, PAD, PAD);
}

static bool write_names(struct flame_drawing *f)
{
	struct drawn_frame **by_number = calloc(f->n_numbers + 1, sizeof(struct drawn_frame *));
	struct str text = {0};
	if (!by_number)
		return false;
	for (size_t i = 0; i < f->n_frames; i++)
		if (f->frames[i].number != UINT32_MAX)
			by_number[f->frames[i].number] = &f->frames[i];
	str_append(&text, "<g id=\"names\" display=\"none\"><text>all</text>\n");
	for (uint32_t i = 1; i <= f->n_numbers; i++)
		append_name(by_number[i], &text);
	str_append(&text, "</g>\n");
	free(by_number);
	fputs(text.text ? text.text : "", f->out);
	bool done = !text.failed;
	str_free(&text);
	return done;
}

static bool write_frames(struct flame_drawing *f)
{
	struct str text = {0}, unit = {0};
	const struct profile_event *event = &f->named->profile->events[f->options->event];
	export_append_markup(&unit, export_unit(event), NAME_BYTES);
	fprintf(f->out,
		"<g id=\"frames\" data-unit=\"%s\" data-top=\"%d\" data-depth=\"%zu\" data-level=\"%g\" "
		"data-inverted=\"%d\">\n",
		unit.text ? unit.text : "", TOP, f->depth, 100 * f->named->confidence, f->options->inverted);
	for (size_t i = 0; i < f->n_shown; i++) {
		uint32_t at = f->order[i];
		text.length = 0;
		append_frame(f, &text, at, at ? f->frames[f->tree.nodes[at].frame].number : 0);
		fputs(text.text ? text.text : "", f->out);
	}
	fputs("</g>\n", f->out);
	bool done = !text.failed && !unit.failed;
	str_free(&text);
	str_free(&unit);
	return done;
}

static bool write_embedded(struct flame_drawing *f)
{
	int height = TOP + ROW * (int)(f->depth + 1) + PAD;
	fprintf(f->out,
		"<svg id=\"flame\" class=\"flame\" role=\"group\" aria-label=\"Flame graph\" width=\"%d\" "
		"height=\"%d\" "
		"viewBox=\"0 0 %d %d\">\n<rect id=\"page\" class=\"page\" width=\"%d\" height=\"%d\"/>\n",
		WIDTH, height, WIDTH, height, WIDTH, height);
	bool done = write_frames(f);
	write_overlay(f);
	done = done && write_names(f);
	fputs("</svg>\n", f->out);
	return done;
}

static bool write_all(struct flame_drawing *f)
{
	if (f->embedded)
		return write_embedded(f);
	write_head(f, TOP + ROW * (int)(f->depth + 1) + PAD);
	bool done = write_frames(f);
	write_overlay(f);
	done = done && write_names(f);
	fprintf(f->out, "<script><![CDATA[\n%s]]></script>\n</svg>\n", flame_files[1].text);
	return done;
}

static bool draw(FILE *out, const struct named_profile *named, const struct export_options *options, bool embedded,
		 size_t bytes_most, struct error *err)
{
	struct flame_drawing f = {
		.out = out, .named = named, .options = options, .embedded = embedded, .bytes_most = bytes_most};
	struct placing *all = NULL;
	uint64_t *cursor = NULL;
	f.intervals = named->profile->events[options->event].gaps == GAPS_EXPONENTIAL && named->confidence > 0;
	bool done = take_functions(&f) && rank_names(&f);
	if (done) {
		export_tree_total(&f.tree);
		all = calloc(f.tree.n + 1, sizeof *all);
		cursor = calloc(f.tree.n + 1, sizeof *cursor);
		f.left = calloc(f.tree.n + 1, sizeof *f.left);
		f.order = calloc(f.tree.n + 1, sizeof *f.order);
		f.shown = calloc(f.tree.n + 1, sizeof *f.shown);
		done = all && cursor && f.left && f.order && f.shown;
	}
	if (done && !f.tree.nodes[0].total[0]) {
		done = error_set(err, ERROR_UNSUPPORTED, "a flame graph of '%s' would be empty: it has no counts",
				 named->profile->events[options->event].label);
	} else if (done) {
		compare(&f);
		place_nodes(&f, all, cursor);
		done = choose(&f, all);
		if (done)
			put_in_order(&f, all);
		done = (done && write_all(&f)) || error_no_memory(err);
	} else {
		error_no_memory(err);
	}
	free(all);
	free(cursor);
	free(f.left);
	free(f.order);
	free(f.shown);
	free(f.frames);
	export_tree_free(&f.tree);
	return done;
}

bool export_flame(FILE *out, const struct named_profile *named, const struct export_options *options,
		  struct error *err)
{
	return draw(out, named, options, false, FRAMES_BYTES, err);
}

bool export_flame_embedded(FILE *out, const struct named_profile *named, const struct export_options *options,
			   struct error *err)
{
	return draw(out, named, options, true, EMBEDDED_BYTES, err);
}
