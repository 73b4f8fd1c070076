/* A sweep as JSON and CSV: each point is an explanation as report/explanation.h writes it. */
#include <math.h>

#include "report/explained_sweep.h"
#include "report/explanation_data.h"

enum { VERSION = 1 };

void report_sweep_json(FILE *out, const struct explained_sweep *sweep)
{
	struct json json = {.out = out, .lines = 4};
	json_write_open(&json, NULL, '{');
	json_write_integer(&json, "tare_explained_sweep", VERSION);
	json_write_text(&json, "name", sweep->name);
	json_write_text(&json, "variable", sweep->variable);
	json_write_text(&json, "per", sweep->per);
	json_write_open(&json, "command", '[');
	for (const char *const *word = sweep->command; *word; word++)
		json_write_text(&json, NULL, *word);
	json_write_close(&json, ']');
	json_write_open(&json, "points", '[');
	for (size_t i = 0; i < sweep->n; i++) {
		json_write_open(&json, NULL, '{');
		json_write_text(&json, "value", sweep->points[i].value);
		json_write_number(&json, "work", sweep->points[i].work);
		json_write_number(&json, "speedup", sweep->threads ? explained_sweep_speedup(sweep, i) : NAN);
		explanation_write_json(&json, "explanation", &sweep->points[i].explanation);
		json_write_close(&json, '}');
	}
	json_write_close(&json, ']');
	json_write_close(&json, '}');
	fputc('\n', out);
}

void report_sweep_csv(FILE *out, const struct explained_sweep *sweep)
{
	explanation_write_csv_head(out, true);
	for (size_t i = 0; i < sweep->n; i++)
		explanation_write_csv(out, &sweep->points[i].explanation, sweep->points[i].value);
}
