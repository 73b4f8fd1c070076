#include "cli/count_intervals.h"

#include <string.h>

#include "report/json_writer.h"
#include "report/number.h"

enum { TIME_COLUMNS = 12, VALUE_COLUMNS = 16, TEXT_COLUMNS = 80 };

static int columns_of(const struct event *event)
{
	int label = (int)strlen(event->label);
	return label > VALUE_COLUMNS ? label : VALUE_COLUMNS;
}

static bool fits(const struct interval_rows *rows, const struct time_interval *interval)
{
	int used = TIME_COLUMNS;
	for (size_t i = 0; i < interval->n; i++)
		used += 2 + !!rows->trusts + columns_of(interval->events[i]);
	return used <= (rows->width ? rows->width : TEXT_COLUMNS);
}

static const char NOTHING_HERE[] = "its counter counts nothing here ('tare verify')";

/* A count as it is told: what the interval says of it, and what was verified. */
struct told_count {
	struct time_count count;
	enum trust trust;
	const char *mark;
};

static struct told_count told(const struct interval_rows *rows, const struct event *event,
			      const struct time_count *count)
{
	struct told_count out = {.count = *count, .mark = ""};
	if (count->known &&
	    !session_trusts_of(rows->trusts, event->label, count->source, count->value, &out.trust)) {
		out.count.known = false;
		out.count.why = NOTHING_HERE;
	}
	if (out.count.known)
		out.mark = trust_mark(out.trust, count->source);
	return out;
}

/* "51.20 ms"; with ~ before it when it was not counted all the time. */
static const char *shown(const struct event *event, const struct time_count *count, char out[2 * NUMBER_BYTES])
{
	const struct estimate e = {.event = event->label,
				   .unit = event->definition ? event->definition->unit : "",
				   .level = "",
				   .known = true,
				   .value = count->value,
				   .low = count->value,
				   .high = count->value,
				   .source = count->source};
	char number[NUMBER_BYTES];
	if (!count->known)
		return "not counted";
	struct number_scale scale = number_scale_of(&e, false);
	number_group(number, count->value * scale.factor, scale.decimals);
	snprintf(out, (size_t)2 * NUMBER_BYTES, "%s%s%s%s", count->source == SOURCE_SCALED ? "~" : "", number,
		 *scale.unit ? " " : "", scale.unit);
	return out;
}

static void wide_row(const struct interval_rows *rows, const struct time_interval *interval)
{
	fprintf(rows->out, "%*.3f s", TIME_COLUMNS - 2, interval->end_seconds);
	const char *mark = "";
	for (size_t i = 0; i < interval->n; i++) {
		char text[2 * NUMBER_BYTES];
		struct told_count count = told(rows, interval->events[i], &interval->counts[i]);
		/* the mark before has the column between two counts, which its heading leaves free */
		fprintf(rows->out, "%s  %*s%s", rows->trusts && i && !*mark ? " " : "",
			columns_of(interval->events[i]), shown(interval->events[i], &count.count, text),
			count.mark);
		mark = count.mark;
	}
	fputc('\n', rows->out);
}

static void narrow_rows(const struct interval_rows *rows, const struct time_interval *interval)
{
	for (size_t i = 0; i < interval->n; i++) {
		char text[2 * NUMBER_BYTES];
		struct told_count count = told(rows, interval->events[i], &interval->counts[i]);
		fprintf(rows->out, "%*.3f s  %*s%s%s  %s\n", TIME_COLUMNS - 2, interval->end_seconds,
			VALUE_COLUMNS, shown(interval->events[i], &count.count, text), count.mark,
			rows->trusts && !*count.mark ? " " : "", interval->events[i]->label);
	}
}

static void text_row(struct interval_rows *rows, const struct time_interval *interval)
{
	if (!rows->headed) {
		rows->wide = fits(rows, interval);
		fprintf(rows->out, "%*s", TIME_COLUMNS, "until");
		for (size_t i = 0; rows->wide && i < interval->n; i++)
			fprintf(rows->out, "%s  %*s", rows->trusts && i ? " " : "",
				columns_of(interval->events[i]), interval->events[i]->label);
		fprintf(rows->out, "%s%s\n", rows->wide ? "" : "             count",
			rows->wide     ? ""
			: rows->trusts ? "   event"
				       : "  event");
		rows->headed = true;
	}
	if (rows->wide)
		wide_row(rows, interval);
	else
		narrow_rows(rows, interval);
}

static void json_row(const struct interval_rows *rows, const struct time_interval *interval)
{
	struct json json = {.out = rows->out};
	json_write_open(&json, NULL, '{');
	json_write_text(&json, "kind", "interval");
	json_write_number(&json, "begin_seconds", interval->begin_seconds);
	json_write_number(&json, "end_seconds", interval->end_seconds);
	json_write_open(&json, "counts", '[');
	for (size_t i = 0; i < interval->n; i++) {
		const struct told_count as_told = told(rows, interval->events[i], &interval->counts[i]);
		const struct time_count *count = &as_told.count;
		json_write_open(&json, NULL, '{');
		json_write_text(&json, "event", interval->events[i]->label);
		if (count->known)
			json_write_number(&json, "value", count->value);
		else
			json_write_null(&json, "value");
		json_write_text(&json, "source", source_name(count->known ? count->source : SOURCE_NONE));
		if (count->known)
			json_write_text(&json, "trust", trust_name(as_told.trust));
		if (count->known)
			json_write_number(&json, "share_running", count->share_running);
		else
			json_write_text(&json, "why", count->why);
		json_write_close(&json, '}');
	}
	json_write_close(&json, ']');
	json_write_close(&json, '}');
}

void interval_row(void *context, const struct time_interval *interval)
{
	struct interval_rows *rows = context;
	if (rows->format == FORMAT_JSON)
		json_row(rows, interval);
	else
		text_row(rows, interval);
	fflush(rows->out);
}
