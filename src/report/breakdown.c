#include "report/breakdown.h"

#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "report/number.h"
#include "report/report.h"

struct sorted_row {
	const struct breakdown_row *row;
	uint64_t count, then;
};

static int by_count(const void *a, const void *b)
{
	const struct sorted_row *x = a, *y = b;
	if (x->count != y->count)
		return x->count > y->count ? -1 : 1;
	if (x->then != y->then)
		return x->then > y->then ? -1 : 1;
	return x->row < y->row ? -1 : x->row > y->row; /* of one array */
}

const struct breakdown_row **breakdown_sorted(const struct breakdown *b, size_t event, bool inclusive, size_t *n)
{
	struct sorted_row *sorted = calloc(b->n_rows + 1, sizeof *sorted);
	const struct breakdown_row **rows = calloc(b->n_rows + 1, sizeof *rows);
	*n = 0;
	if (!sorted || !rows) {
		free(sorted);
		free(rows);
		return NULL;
	}
	for (size_t i = 0; i < b->n_rows; i++) {
		const struct breakdown_row *row = &b->rows[i];
		uint64_t own = row->counts[event], all = row->inclusive ? row->inclusive[event] : own;
		if (own || all)
			sorted[(*n)++] = inclusive ? (struct sorted_row){row, all, own}
						   : (struct sorted_row){row, own, all};
	}
	qsort(sorted, *n, sizeof *sorted, by_count);
	for (size_t i = 0; i < *n; i++)
		rows[i] = sorted[i].row;
	free(sorted);
	return rows;
}

double breakdown_share(uint64_t count, uint64_t sum) { return sum ? (double)count / (double)sum : 0; }

/* ---- tab-separated ---- */

static void field(FILE *out, const char *text)
{
	fputc('\t', out);
	for (; text && *text; text++)
		switch (*text) {
		case '\t': fputs("\\t", out); break;
		case '\n': fputs("\\n", out); break;
		case '\\': fputs("\\\\", out); break;
		default: fputc(*text, out);
		}
}

/* count: NULL: not known */
static void tsv_inclusive(FILE *out, const uint64_t *count, uint64_t sum)
{
	char shown[NUMBER_BYTES];
	if (count)
		number_exact(shown, breakdown_share(*count, sum));
	if (count)
		fprintf(out, "\t%llu\t%s", (unsigned long long)*count, shown);
	else
		fputs("\t\t", out);
}

void breakdown_append_frames(struct str *text, const struct breakdown_row *row)
{
	for (size_t i = 0; i < row->n_frames; i++) {
		const struct breakdown_frame *f = &row->frames[i];
		str_appendf(text, "%s%s (%s", i ? " < " : "", f->function, f->module[0] ? f->module : "[memory]");
		if (f->file)
			str_appendf(text, ":%s:%u", f->file, f->line);
		str_append_char(text, ')');
	}
}

static void tsv_row(FILE *out, const struct breakdown *b, size_t event, const struct breakdown_row *row,
		    uint64_t before)
{
	const struct breakdown_event *e = &b->events[event];
	char shown[NUMBER_BYTES];
	/* the event is a column like others: no leading tab */
	for (const char *c = e->label; *c; c++)
		fputc(*c == '\t' || *c == '\n' ? ' ' : *c, out);
	field(out, e->machine);
	fprintf(out, "\t%llu\t", (unsigned long long)row->counts[event]);
	number_exact(shown, breakdown_share(row->counts[event], e->sum));
	fprintf(out, "%s\t", shown);
	number_exact(shown, breakdown_share(before + row->counts[event], e->sum));
	fputs(shown, out);
	field(out, row->kind ? row->kind : breakdown_by_name(b->by));
	field(out, row->name);
	field(out, row->module);
	field(out, row->file);
	fputc('\t', out);
	if (row->line)
		fprintf(out, "%u", row->line);
	if (row->bytes)
		fprintf(out, "\t%llu\t%llu", (unsigned long long)row->blocks, (unsigned long long)row->bytes);
	else
		fputs("\t\t", out);
	struct str stack = {0};
	breakdown_append_frames(&stack, row);
	field(out, stack.text);
	str_free(&stack);
	if (b->inclusive)
		tsv_inclusive(out, row->inclusive ? &row->inclusive[event] : NULL, e->sum);
	fputc('\n', out);
}

void report_breakdown_tsv(FILE *out, const struct breakdown *b)
{
	fputs("event\tmachine\tcount\tshare\tcumulative_"
	      "share\tkind\tname\tmodule\tfile\tline\tblocks\tbytes\tstack",
	      out);
	fputs(b->inclusive ? "\tinclusive\tinclusive_share\n" : "\n", out);
	for (size_t i = 0; i < b->n_events; i++) {
		size_t n;
		uint64_t before = 0;
		const struct breakdown_row **rows = b->events[i].why ? NULL : breakdown_sorted(b, i, false, &n);
		if (!rows)
			continue;
		for (size_t r = 0; r < n; r++) {
			tsv_row(out, b, i, rows[r], before);
			before += rows[r]->counts[i];
		}
		/* what the shares are of */
		for (const char *c = b->events[i].label; *c; c++)
			fputc(*c == '\t' || *c == '\n' ? ' ' : *c, out);
		field(out, b->events[i].machine);
		fprintf(out, "\t%llu\t1\t1\ttotal\t\t\t\t\t\t\t", (unsigned long long)b->events[i].sum);
		if (b->inclusive)
			tsv_inclusive(out, &b->events[i].sum, b->events[i].sum);
		fputc('\n', out);
		free(rows);
	}
}

/* ---- JSON ---- */

static void json_counts(struct json *json, const char *key, const struct breakdown *b, const uint64_t *counts)
{
	json_write_open(json, key, '[');
	for (size_t i = 0; i < b->n_events; i++) {
		if (b->events[i].why)
			json_write_null(json, NULL);
		else
			json_write_integer(json, NULL, (int64_t)counts[i]);
	}
	json_write_close(json, ']');
}

static void json_row(struct json *json, const struct breakdown *b, const struct breakdown_row *row)
{
	json_write_open(json, NULL, '{');
	if (b->by == BREAKDOWN_BY_OBJECT) {
		json_write_text(json, "kind", row->kind);
		json_write_text(json, "object", row->name);
	} else if (b->by == BREAKDOWN_BY_LIBRARY) {
		json_write_text(json, "library", row->name);
	} else if (b->by == BREAKDOWN_BY_FUNCTION || !row->file) {
		json_write_text(json, "function", row->name);
	}
	json_write_text(json, "module", row->module);
	if (b->by != BREAKDOWN_BY_OBJECT && b->by != BREAKDOWN_BY_LIBRARY)
		json_write_text(json, "file", row->file);
	if (b->by == BREAKDOWN_BY_LINE) {
		if (row->line)
			json_write_integer(json, "line", row->line);
		else
			json_write_null(json, "line");
	}
	if (row->bytes) {
		json_write_integer(json, "blocks", (int64_t)row->blocks);
		json_write_integer(json, "bytes", (int64_t)row->bytes);
	}
	if (row->n_frames) {
		json_write_open(json, "stack", '[');
		for (size_t i = 0; i < row->n_frames; i++) {
			json_write_open(json, NULL, '{');
			json_write_text(json, "function", row->frames[i].function);
			json_write_text(json, "module", row->frames[i].module);
			if (row->frames[i].file) {
				json_write_text(json, "file", row->frames[i].file);
				json_write_integer(json, "line", row->frames[i].line);
			}
			json_write_close(json, '}');
		}
		json_write_close(json, ']');
	}
	json_counts(json, "counts", b, row->counts);
	if (b->inclusive && row->inclusive)
		json_counts(json, "inclusive", b, row->inclusive);
	else if (b->inclusive)
		json_write_null(json, "inclusive");
	json_write_close(json, '}');
}

void breakdown_json(struct json *json, const char *key, const struct breakdown *b)
{
	int lines = json->lines;
	json->lines = 3;
	json_write_open(json, key, '{');
	json_write_text(json, "by", breakdown_by_name(b->by));
	if (b->runs > 1)
		json_write_integer(json, "repetition", (int64_t)b->run);
	json_write_open(json, "events", '[');
	for (size_t i = 0; i < b->n_events; i++) {
		const struct breakdown_event *e = &b->events[i];
		json_write_open(json, NULL, '{');
		json_write_text(json, "event", e->label);
		if (e->machine)
			json_write_text(json, "machine", e->machine);
		if (e->why) {
			json_write_null(json, "total");
			json_write_text(json, "why", e->why);
		} else {
			json_write_integer(json, "total", (int64_t)e->total);
		}
		if (e->defect) {
			json_write_integer(json, "sum", (int64_t)e->sum);
			json_write_text(json, "defect", e->defect);
		}
		json_write_close(json, '}');
	}
	json_write_close(json, ']');
	json_write_open(json, "rows", '[');
	for (size_t i = 0; i < b->n_rows; i++)
		json_row(json, b, &b->rows[i]);
	json_write_close(json, ']');
	json_write_open(json, "notes", '[');
	for (size_t i = 0; i < b->n_notes; i++)
		json_write_text(json, NULL, b->notes[i]);
	json_write_close(json, ']');
	json_write_close(json, '}');
	json->lines = lines;
}
