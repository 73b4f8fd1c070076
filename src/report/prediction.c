#include "report/prediction.h"

#include <string.h>

#include "report/build.h"
#include "report/columns.h"
#include "report/json_writer.h"
#include "report/number.h"
#include "report/profile_rows.h"

enum { VERSION = 1, EVENT_COLUMNS_MOST = COLUMNS_MOST - 3 };

static const char *escaped(struct document *d, const char *text)
{
	struct str shown = {0};
	profile_append_escaped(&shown, text);
	return document_str(d, &shown);
}

static const char *count_cell(struct document *d, uint64_t count)
{
	char number[NUMBER_BYTES];
	number_group(number, (double)count, 0);
	return document_printf(d, "%s", number);
}

/* The number of the block that begins at the offset, from 1; 0: none. */
static size_t number_of(const struct prediction *p, const struct predicted_block *from, uint64_t offset)
{
	for (size_t i = 0; i < p->n_blocks; i++)
		if (p->blocks[i].low == offset && strcmp(p->blocks[i].module, from->module) == 0)
			return i + 1;
	return 0;
}

/* Where control goes behind the block. */
static const char *next_of(struct document *d, const struct prediction *p, const struct predicted_block *block)
{
	size_t number = block->target_inside ? number_of(p, block, block->target) : 0;
	const char *back = block->loop ? "back to " : "to ";
	switch (block->end) {
	case PREDICTED_BRANCH: return number ? document_printf(d, "%s%zu, or on", back, number) : "out, or on";
	case PREDICTED_JUMP: return number ? document_printf(d, "%s%zu", back, number) : "out";
	case PREDICTED_INDIRECT: return "where data says";
	case PREDICTED_RETURN: return "returns";
	case PREDICTED_STOP: return "faults";
	default: return "on";
	}
}

static const char *place_of(struct document *d, const struct predicted_block *block)
{
	const char *slash = block->file ? strrchr(block->file, '/') : NULL;
	const char *file = slash ? slash + 1 : block->file;
	if (!block->first_line)
		return escaped(d, block->function);
	const char *lines = block->first_line == block->last_line
				    ? document_printf(d, "%s:%u", file, block->first_line)
				    : document_printf(d, "%s:%u-%u", file, block->first_line, block->last_line);
	const char *text = document_printf(d, "%s (%s)", block->function, lines);
	return text ? escaped(d, text) : NULL;
}

static const char *marks_of(struct document *d, const struct predicted_block *block)
{
	if (!block->calls && !block->data_decides)
		return "";
	return document_printf(d, "%s%s", block->calls ? "c" : "", block->data_decides ? "d" : "");
}

static void push(struct document *d, struct columns *columns, const struct columns_row *row)
{
	if (!vec_push(&columns->rows, *row))
		d->failed = true;
}

/* Columns: number, marks, the events, next, place. */
static void add_blocks(struct document *d, const struct prediction *p)
{
	size_t n = p->n_events < EVENT_COLUMNS_MOST - 1 ? p->n_events : EVENT_COLUMNS_MOST - 1;
	struct columns *columns = document_add_columns(d, n + 4);
	if (!columns)
		return;
	columns->headings[0] = "block";
	columns->headings[1] = "";
	for (size_t i = 0; i < n; i++)
		columns->headings[i + 2] = p->events[i];
	columns->headings[n + 2] = "then";
	columns->headings[n + 3] = "place";
	columns->left[n + 2] = columns->left[n + 3] = true;
	columns->flexible = n + 3;
	for (size_t b = 0; b < p->n_blocks; b++) {
		const struct predicted_block *block = &p->blocks[b];
		struct columns_row row = {.cells = {document_printf(d, "%zu", b + 1), marks_of(d, block)}};
		for (size_t i = 0; i < n; i++)
			row.cells[i + 2] = count_cell(d, block->counts[i]);
		row.cells[n + 2] = next_of(d, p, block);
		row.cells[n + 3] = place_of(d, block);
		push(d, columns, &row);
	}
	struct columns_row sum = {.cells = {"each once", ""}, .emphasis = true};
	for (size_t i = 0; i < n; i++)
		sum.cells[i + 2] = count_cell(d, p->once[i]);
	push(d, columns, &sum);
}

static void add_notes(struct document *d, const struct prediction *p)
{
	bool calls = false, decides = false, loops = false;
	for (size_t i = 0; i < p->n_blocks; i++) {
		calls |= p->blocks[i].calls > 0;
		decides |= p->blocks[i].data_decides;
		loops |= p->blocks[i].loop;
	}
	document_add(d, BLOCK_GAP, NULL, NULL);
	if (p->note)
		document_add(d, BLOCK_NOTE, "-", p->note);
	if (p->straight)
		document_add(
			d, BLOCK_NOTE, "-",
			"Nothing in this code decides: each pass from its begin to its end counts exactly this.");
	else
		document_add(d, BLOCK_NOTE, "-",
			     "A count is the sum over the blocks of how often each is executed, times its row.");
	if (loops)
		document_add(d, BLOCK_NOTE, "-",
			     "Where a block goes back, one more iteration adds the rows of the blocks that it "
			     "executes from "
			     "there to here.");
	if (calls)
		document_add(d, BLOCK_NOTE, "-", "c: the block calls; what is called counts on top.");
	if (decides)
		document_add(
			d, BLOCK_NOTE, "-",
			"d: data decides what an instruction in it accesses (rep, masks, gathers): iterations of "
			"rep count on top, and of masked elements all are in the row.");
}

void report_prediction_text(FILE *out, const struct prediction *p, const char *file,
			    const struct report_options *options)
{
	struct document d = {0};
	struct str title = {0};
	profile_append_escaped(&title, file);
	str_append(&title, " ");
	profile_append_escaped(&title, p->place);
	document_add(&d, BLOCK_GAP, NULL, NULL);
	document_add_str(&d, BLOCK_TITLE, "tare predict:", &title, "");
	document_add(&d, BLOCK_GAP, NULL, NULL);
	add_blocks(&d, p);
	add_notes(&d, p);
	report_document_text(out, &d, options);
	document_free(&d);
}

/* ---- JSON ---- */

static const char *const ends[] = {"on", "branch", "jump", "indirect", "return", "stop"};

static void write_counts(struct json *json, const struct prediction *p, const char *key, const uint64_t *counts)
{
	json_write_open(json, key, '{');
	for (size_t i = 0; i < p->n_events; i++)
		json_write_integer(json, p->events[i], (int64_t)counts[i]);
	json_write_close(json, '}');
}

static void write_block(struct json *json, const struct prediction *p, const struct predicted_block *block)
{
	json_write_open(json, NULL, '{');
	json_write_integer(json, "offset", (int64_t)block->low);
	json_write_integer(json, "bytes", (int64_t)(block->high - block->low));
	json_write_text(json, "module", block->module);
	json_write_text(json, "function", block->function);
	json_write_text(json, "file", block->first_line ? block->file : NULL);
	json_write_integer(json, "first_line", block->first_line);
	json_write_integer(json, "last_line", block->last_line);
	write_counts(json, p, "counts", block->counts);
	json_write_integer(json, "calls", (int64_t)block->calls);
	json_write_bool(json, "data_decides", block->data_decides);
	json_write_text(json, "end", ends[block->end]);
	if (block->end == PREDICTED_BRANCH || block->end == PREDICTED_JUMP)
		json_write_integer(json, "target_offset", (int64_t)block->target);
	json_write_bool(json, "loop", block->loop);
	json_write_close(json, '}');
}

void report_prediction_json(FILE *out, const struct prediction *p, const char *file)
{
	struct json json = {.out = out, .lines = 2};
	json_write_open(&json, NULL, '{');
	json_write_integer(&json, "version", VERSION);
	json_write_text(&json, "file", file);
	json_write_text(&json, "place", p->place);
	json_write_text(&json, "note", p->note);
	json_write_bool(&json, "straight", p->straight);
	write_counts(&json, p, "once", p->once);
	json_write_open(&json, "blocks", '[');
	for (size_t i = 0; i < p->n_blocks; i++)
		write_block(&json, p, &p->blocks[i]);
	json_write_close(&json, ']');
	json_write_close(&json, '}');
	fputc('\n', out);
}
