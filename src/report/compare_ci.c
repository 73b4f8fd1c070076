/* A comparison for CI: a Markdown summary, and JUnit's XML. What came from a program or a command line is
 * escaped. */
#include <math.h>
#include <string.h>

#include "report/compare.h"
#include "report/number.h"

/* ---- Markdown ---- */

/* |, <, &, `, *, _, [, \ mean something. */
static void words(FILE *out, const char *text)
{
	for (; text && *text; text++) {
		unsigned char c = (unsigned char)*text;
		if (strchr("|\\`*_[]<>&~", c))
			fprintf(out, "&#%d;", c);
		else
			fputc(c < ' ' || c == 127 ? ' ' : c, out);
	}
}

static void cell(FILE *out, const char *text)
{
	fputs("| ", out);
	words(out, text);
	fputc(' ', out);
}

static const char *value_text(struct document *d, const struct estimate *e, bool is_metric)
{
	char value[NUMBER_BYTES], half[NUMBER_BYTES];
	if (!e || !e->known)
		return "not counted";
	struct number_scale scale = number_scale_of(e, is_metric);
	number_group(value, e->value * scale.factor, scale.decimals);
	if (!e->has_interval)
		return document_printf(d, "%s%s%s", value, scale.unit[0] ? " " : "", scale.unit);
	double width = fmax(e->high - e->value, e->value - e->low) * scale.factor;
	number_group(half, width, width > 0 ? number_half_width_decimals(width, scale.decimals) : 0);
	return document_printf(d, "%s \u00b1 %s%s%s", value, half, scale.unit[0] ? " " : "", scale.unit);
}

static void markdown_rows(FILE *out, struct document *d, const struct comparison *c)
{
	fputs("| event | command | value | difference | verdict |\n| --- | --- | ---: | ---: | --- |\n", out);
	for (size_t r = 0; r < c->n_rows; r++) {
		const struct comparison_row *row = &c->rows[r];
		for (size_t i = 0; i < c->n; i++) {
			const struct compared *one = &row->commands[i];
			cell(out, i > 0         ? ""
				  : row->region ? document_printf(d, "%s in %s", row->event, row->region)
						: row->event);
			cell(out, c->names[i]);
			cell(out, value_text(d, one->estimate, row->is_metric));
			cell(out, i > 0 ? comparison_difference_text(d, one) : "");
			cell(out, i > 0 ? comparison_verdict_text(d, one) : "baseline");
			fputs("|\n", out);
		}
	}
}

/* Which command each name stands for. */
static void markdown_commands(FILE *out, const struct comparison *c)
{
	for (size_t i = 0; i < c->n; i++) {
		struct str text = {0};
		comparison_append_command(&text, c->results[i]->command);
		fputs("- ", out);
		words(out, c->names[i]);
		fputs(i ? ": " : " (the baseline): ", out);
		words(out, text.text);
		fputc('\n', out);
		str_free(&text);
	}
	fputc('\n', out);
}

void report_comparison_markdown(FILE *out, const struct comparison *c)
{
	struct document d = {0};
	markdown_commands(out, c);
	if (c->n_gates) {
		fputs("| gate | command | outcome | |\n| --- | --- | --- | --- |\n", out);
		for (size_t i = 0; i < c->n_gates; i++) {
			cell(out, c->gates[i].text);
			cell(out, c->names[c->gates[i].command]);
			cell(out, gate_outcome_text(c->gates[i].outcome));
			cell(out, c->gates[i].reason);
			fputs("|\n", out);
		}
		fputc('\n', out);
	}
	markdown_rows(out, &d, c);
	const char *trouble = document_trouble(&d);
	if (trouble)
		fprintf(out, "\n%s\n", trouble);
	document_free(&d);
}

void report_failed_comparison_markdown(FILE *out, const struct error *error)
{
	fputs("**tare compare: nothing was compared**: ", out);
	words(out, error->text);
	if (error->hint[0]) {
		fputs(" (", out);
		words(out, error->hint);
		fputc(')', out);
	}
	fputc('\n', out);
}

/* ---- JUnit ---- */

/* Bytes of the UTF-8 character that begins here; 0: none does, or one that XML does not have. */
static size_t character(const char *text)
{
	const unsigned char *b = (const unsigned char *)text;
	size_t n = b[0] < 0x80                   ? 1
		   : b[0] >= 0xc2 && b[0] < 0xe0 ? 2
		   : (b[0] & 0xf0) == 0xe0       ? 3
		   : b[0] >= 0xf0 && b[0] < 0xf5 ? 4
						 : 0;
	for (size_t i = 1; i < n; i++)
		if ((b[i] & 0xc0) != 0x80)
			return 0;
	/* longer than needed, a surrogate, U+FFFE and U+FFFF, beyond the last */
	if (n == 3 && ((b[0] == 0xe0 && b[1] < 0xa0) || (b[0] == 0xed && b[1] >= 0xa0) ||
		       (b[0] == 0xef && b[1] == 0xbf && b[2] >= 0xbe)))
		return 0;
	return n == 4 && ((b[0] == 0xf0 && b[1] < 0x90) || (b[0] == 0xf4 && b[1] >= 0x90)) ? 0 : n;
}

/* XML 1.0 has no control characters, not even escaped; what is not UTF-8 becomes U+FFFD. */
static void xml(FILE *out, const char *text)
{
	for (; text && *text; text++) {
		unsigned char c = (unsigned char)*text;
		if (c >= 0x80) {
			size_t n = character(text);
			if (n)
				fwrite(text, 1, n, out);
			else
				fputs("\ufffd", out);
			text += n ? n - 1 : 0;
			continue;
		}
		switch (c) {
		case '<': fputs("&lt;", out); break;
		case '>': fputs("&gt;", out); break;
		case '&': fputs("&amp;", out); break;
		case '"': fputs("&quot;", out); break;
		default: fputc(c < ' ' || c == 127 ? ' ' : c, out);
		}
	}
}

static void begin_suite(FILE *out, size_t tests, size_t failed, size_t undecided)
{
	fprintf(out,
		"<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuite name=\"tare compare\" tests=\"%zu\" "
		"failures=\"%zu\" errors=\"%zu\">\n",
		tests, failed, undecided);
}

/* A test is known by these two from one job to the next: they are the same when the comparison fails. */
static void begin_case(FILE *out, const char *command, const char *gate)
{
	fputs("  <testcase classname=\"tare", out);
	if (command) {
		fputc('.', out);
		xml(out, command);
	}
	fputs("\" name=\"", out);
	xml(out, gate);
	fputs("\">", out);
}

void report_comparison_junit(FILE *out, const struct comparison *c)
{
	size_t failed = 0, undecided = 0;
	for (size_t i = 0; i < c->n_gates; i++) {
		failed += c->gates[i].outcome == GATE_FAILED;
		undecided += c->gates[i].outcome == GATE_UNDECIDED;
	}
	begin_suite(out, c->n_gates, failed, undecided);
	for (size_t i = 0; i < c->n_gates; i++) {
		const struct gate_result *gate = &c->gates[i];
		begin_case(out, c->names[gate->command], gate->text);
		if (gate->outcome != GATE_PASSED) {
			const char *element = gate->outcome == GATE_FAILED ? "failure" : "error";
			fprintf(out, "<%s message=\"", element);
			xml(out, gate->reason);
			fputs("\"/>", out);
		} else {
			fputs("<system-out>", out);
			xml(out, gate->reason);
			fputs("</system-out>", out);
		}
		fputs("</testcase>\n", out);
	}
	fputs("</testsuite>\n", out);
}

void report_failed_comparison_junit(FILE *out, const char *const *names, size_t n_names, const char *const *gates,
				    size_t n_gates, const struct error *error)
{
	size_t n = n_gates ? n_gates : 1, times = n_gates && n_names > 1 ? n_names - 1 : 1;
	begin_suite(out, n * times, 0, n * times);
	for (size_t i = 0; i < n * times; i++) {
		begin_case(out, n_gates && n_names > 1 ? names[1 + i % times] : NULL,
			   n_gates ? gates[i / times] : "the comparison");
		fputs("<error message=\"", out);
		xml(out, error->text);
		fputs("\"/></testcase>\n", out);
	}
	fputs("</testsuite>\n", out);
}
