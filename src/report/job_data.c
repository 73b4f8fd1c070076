/* Results of several processes as CSV and JSON; docs/job.schema.json says what may stand where. */
#include <math.h>
#include <string.h>
#include <sys/wait.h>

#include "report/csv_columns.h"
#include "report/job.h"
#include "report/json_writer.h"
#include "report/number.h"

/* ---- CSV (RFC 4180) ---- */

static void member(FILE *out, const struct job *job, size_t i)
{
	if (job->members[i].has_rank)
		fprintf(out, ",%zu", job->members[i].rank);
	else
		csv_text(out, job->members[i].name);
}

static void sources(FILE *out, unsigned set)
{
	const char *between = ",";
	if (!set)
		fputs(",none", out);
	for (int s = SOURCE_HW; s <= SOURCE_SAMPLED; s++)
		if (set & 1u << s) {
			fprintf(out, "%s%s", between, source_name((enum source)s));
			between = "+";
		}
}

static void csv_row(FILE *out, const struct job *job, const struct job_row *row)
{
	fputs(row->is_metric ? "1,metric" : "1,event", out);
	csv_text(out, row->region);
	csv_text(out, row->event);
	csv_text(out, row->unit);
	csv_text(out, row->level);
	csv_number(out, row->sum.known, row->sum.value);
	csv_number(out, row->sum.has_interval, row->sum.low);
	csv_number(out, row->sum.has_interval, row->sum.high);
	csv_number(out, row->sum.has_least && !row->sum.known, row->sum.least);
	csv_number(out, row->least.known, row->least.value);
	if (row->n_known)
		member(out, job, row->least_member);
	else
		fputc(',', out);
	csv_number(out, row->mean.known, row->mean.value);
	csv_number(out, row->most.known, row->most.value);
	if (row->n_known)
		member(out, job, row->most_member);
	else
		fputc(',', out);
	csv_number(out, true, row->imbalance);
	fprintf(out, ",%zu,%zu", row->n_known, job->n_members);
	sources(out, row->sources);
	csv_text(out, trust_name(row->sum.trust));
	csv_text(out, row->sum.known ? "" : row->sum.why);
	fputs(",,,\r\n", out);
}

static void csv_cell(FILE *out, const struct job *job, const struct job_row *row, size_t i)
{
	const struct job_cell *cell = &row->cells[i];
	const struct job_member *m = &job->members[i];
	fputs("1,rank", out);
	csv_text(out, row->region);
	csv_text(out, row->event);
	csv_text(out, row->unit);
	csv_text(out, row->level);
	csv_number(out, cell->known, cell->value);
	csv_number(out, cell->has_interval, cell->low);
	csv_number(out, cell->has_interval, cell->high);
	csv_number(out, cell->has_least, cell->least);
	fprintf(out, ",,,,,,,%d,1,%s,%s", cell->known, source_name((enum source)cell->source),
		trust_name((enum trust)cell->trust));
	csv_text(out, cell->known ? "" : cell->why);
	member(out, job, i);
	csv_text(out, m->host);
	if (m->pid)
		fprintf(out, ",%lld\r\n", (long long)m->pid);
	else
		fputs(",\r\n", out);
}

void report_job_csv(FILE *out, const struct job *job, bool per_rank)
{
	fputs("tare,kind,region,event,unit,level,sum,low,high,at_least,min,min_in,mean,max,max_in,imbalance,"
	      "counted,"
	      "of,source,trust,why,rank,host,pid\r\n",
	      out);
	for (size_t r = 0; r < job->rows.count; r++) {
		csv_row(out, job, &job->rows.items[r]);
		for (size_t i = 0; i < job->n_members && per_rank; i++)
			csv_cell(out, job, &job->rows.items[r], i);
	}
}

/* ---- JSON ---- */

static void json_exit(struct json *json, const struct job_member *m)
{
	if (!m->has_exit) {
		json_write_null(json, "exit");
		return;
	}
	json_write_open(json, "exit", '{');
	if (WIFSIGNALED(m->wait_status))
		json_write_integer(json, "signal", WTERMSIG(m->wait_status));
	else
		json_write_integer(json, "status", WEXITSTATUS(m->wait_status));
	json_write_close(json, '}');
}

static void json_member(struct json *json, const struct job_member *m)
{
	json_write_open(json, NULL, '{');
	if (m->has_rank)
		json_write_integer(json, "rank", (int64_t)m->rank);
	if (m->name)
		json_write_text(json, "file", m->name);
	json_write_text(json, "state", member_state_name(m->state));
	if (m->why)
		json_write_text(json, "why", m->why);
	json_write_text(json, "host", m->host);
	if (m->pid)
		json_write_integer(json, "pid", m->pid);
	if (m->command)
		json_write_text(json, "command", m->command);
	if (m->target)
		json_write_text(json, "target", m->target);
	json_write_bool(json, "interrupted", m->interrupted);
	json_exit(json, m);
	json_write_close(json, '}');
}

static void json_extreme(struct json *json, const char *key, const struct job_row *row, const struct estimate *e,
			 size_t at)
{
	if (!row->n_known) {
		json_write_null(json, key);
		return;
	}
	json_write_open(json, key, '{');
	json_write_number(json, "value", e->value);
	json_write_integer(json, "member", (int64_t)at);
	json_write_close(json, '}');
}

static void json_cells(struct json *json, const struct job *job, const struct job_row *row)
{
	json_write_open(json, "members", '[');
	for (size_t i = 0; i < job->n_members; i++) {
		const struct job_cell *cell = &row->cells[i];
		json_write_open(json, NULL, '{');
		if (cell->known) {
			json_write_number(json, "value", cell->value);
			if (cell->has_interval) {
				json_write_number(json, "low", cell->low);
				json_write_number(json, "high", cell->high);
			}
		} else {
			json_write_null(json, "value");
			if (cell->has_least)
				json_write_number(json, "at_least", cell->least);
			json_write_text(json, "why", cell->why);
		}
		json_write_text(json, "source", source_name((enum source)cell->source));
		if (cell->known)
			json_write_text(json, "trust", trust_name((enum trust)cell->trust));
		if (cell->note)
			json_write_text(json, "note", cell->note);
		json_write_close(json, '}');
	}
	json_write_close(json, ']');
}

static void json_row(struct json *json, const struct job *job, const struct job_row *row)
{
	json_write_open(json, NULL, '{');
	json_write_text(json, "event", row->event);
	if (row->region)
		json_write_text(json, "region", row->region);
	json_write_text(json, "unit", row->unit);
	if (*row->level)
		json_write_text(json, "level", row->level);
	if (row->machine)
		json_write_text(json, "machine", row->machine);
	if (row->sum.known) {
		json_write_number(json, "sum", row->sum.value);
		if (row->sum.has_interval) {
			json_write_number(json, "low", row->sum.low);
			json_write_number(json, "high", row->sum.high);
		}
	} else {
		json_write_null(json, "sum");
		if (row->sum.has_least)
			json_write_number(json, "at_least", row->sum.least);
		json_write_text(json, "why", row->sum.why);
	}
	json_write_integer(json, "counted", (int64_t)row->n_known);
	json_extreme(json, "min", row, &row->least, row->least_member);
	json_write_number(json, "mean", row->n_known ? row->mean.value : NAN);
	json_extreme(json, "max", row, &row->most, row->most_member);
	json_write_number(json, "imbalance", row->imbalance);
	json_write_open(json, "sources", '[');
	for (int s = SOURCE_HW; s <= SOURCE_SAMPLED; s++)
		if (row->sources & 1u << s)
			json_write_text(json, NULL, source_name((enum source)s));
	json_write_close(json, ']');
	json_write_text(json, "trust", trust_name(row->sum.trust));
	json_cells(json, job, row);
	json_write_close(json, '}');
}

static void json_rows(struct json *json, const char *key, const struct job *job, bool metrics)
{
	json_write_open(json, key, '[');
	for (size_t i = 0; i < job->rows.count; i++)
		if (job->rows.items[i].is_metric == metrics)
			json_row(json, job, &job->rows.items[i]);
	json_write_close(json, ']');
}

static void json_regions(struct json *json, const struct job *job)
{
	json_write_open(json, "regions", '[');
	for (size_t i = 0; i < job->regions.count; i++) {
		const struct job_region *r = &job->regions.items[i];
		json_write_open(json, NULL, '{');
		json_write_text(json, "name", r->name);
		json_write_text(json, "place", r->place);
		json_write_integer(json, "counted", (int64_t)r->n_known);
		if (r->n_known) {
			json_write_integer(json, "entries", (int64_t)r->entries);
			json_write_integer(json, "entries_min", (int64_t)r->entries_least);
			json_write_integer(json, "entries_max", (int64_t)r->entries_most);
		} else {
			json_write_null(json, "entries");
		}
		json_write_close(json, '}');
	}
	json_write_close(json, ']');
}

static void json_notes(struct json *json, const struct job *job)
{
	json_write_open(json, "notes", '[');
	for (size_t i = 0; i < job->notes.count; i++) {
		json_write_open(json, NULL, '{');
		json_write_text(json, "text", job->notes.items[i].text);
		json_write_open(json, "members", '[');
		for (size_t k = 0; k < job->notes.items[i].members.count; k++)
			json_write_integer(json, NULL, (int64_t)job->notes.items[i].members.items[k]);
		json_write_close(json, ']');
		json_write_close(json, '}');
	}
	json_write_close(json, ']');
}

void report_job_json(FILE *out, const struct job *job)
{
	struct json json = {.out = out, .lines = 3};
	json_write_open(&json, NULL, '{');
	json_write_integer(&json, "tare_job", 1);
	json_write_text(&json, "version", TARE_VERSION);
	json_write_text(&json, "launcher", job->launcher);
	json_write_text(&json, "job", job->id);
	json_write_integer(&json, "size", (int64_t)job->n_members);
	json_write_integer(&json, "reported", (int64_t)job->n_reported);
	if (job->confidence > 0)
		json_write_number(&json, "confidence", job->confidence);
	else
		json_write_null(&json, "confidence");
	json_write_open(&json, "members", '[');
	for (size_t i = 0; i < job->n_members; i++)
		json_member(&json, &job->members[i]);
	json_write_close(&json, ']');
	json_rows(&json, "results", job, false);
	json_rows(&json, "metrics", job, true);
	json_regions(&json, job);
	json_notes(&json, job);
	json_write_close(&json, '}');
}
