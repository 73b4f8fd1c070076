#include "report/job.h"

#include <math.h>
#include <string.h>
#include <sys/wait.h>

#include "base/str.h"
#include "report/build.h"
#include "report/columns.h"
#include "report/number.h"
#include "report/table.h"

enum {
	COLUMN_NAME,
	COLUMN_SUM,
	COLUMN_MIN,
	COLUMN_MAX,
	COLUMN_IMBALANCE,
	COLUMN_IN,
	COLUMN_SOURCE,
	COLUMNS_OF_TABLE,
};
enum { MEMBERS_NAMED = 8, HOSTS_NAMED = 4, LABEL_COLUMNS = 40, TABLE_INDENT = 2, GAP_COLUMNS = 2 };

struct building {
	struct document *d;
	const struct job *job;
	bool per_rank;
	enum job_digits digits;
};

static bool same(const char *a, const char *b) { return a == b || (a && b && strcmp(a, b) == 0); }

/* ---- cells ---- */

static const char *number_text(const struct building *b, const struct estimate *e, bool is_metric,
			       const struct number_units *units, bool short_text)
{
	char number[NUMBER_BYTES];
	struct number_scale scale = number_scale_in(units, e, is_metric);
	double shown = e->value * scale.factor;
	if (short_text && !is_metric && fabs(shown) >= 1e5)
		number_compact(number, shown);
	else
		number_group(number, shown, scale.decimals);
	if (is_metric) /* its name has the unit */
		return document_printf(b->d, "%s", number);
	return document_printf(b->d, "%s%s%s", number, scale.unit[0] ? " " : "", scale.unit);
}

/* A sum that some did not add to: it is this or more. */
static const char *sum_text(const struct building *b, const struct job_row *row, const struct number_units *units)
{
	struct estimate e = row->sum;
	if (row->is_metric)
		return "";
	if (!e.known && !e.has_least)
		return "-";
	e.value = e.known ? e.value : e.least;
	const char *text = number_text(b, &e, false, units, b->digits == JOB_SHORT);
	return row->sum.known || !text ? text : document_printf(b->d, "\u2265 %s", text);
}

static const char *sources_text(struct document *d, unsigned sources)
{
	struct str text = {0};
	for (int s = SOURCE_HW; s <= SOURCE_SAMPLED; s++)
		if (sources & 1u << s)
			str_appendf(&text, "%s%s", text.length ? "+" : "", source_name((enum source)s));
	const char *shown = document_str(d, &text);
	return shown ? shown : "none";
}

/* "3", "host-a", "ci/a.json". */
static const char *member_text(struct document *d, const struct job *job, size_t i)
{
	const struct job_member *m = &job->members[i];
	if (m->has_rank)
		return document_printf(d, "%zu", m->rank);
	struct str shown = {0};
	columns_shorten(&shown, document_escaped(d, m->name ? m->name : m->host ? m->host : "?"), LABEL_COLUMNS);
	return document_str(d, &shown);
}

static const char *imbalance_text(struct document *d, double imbalance)
{
	char number[NUMBER_BYTES];
	if (!isfinite(imbalance))
		return "";
	number_group(number, imbalance, imbalance < 100 ? 2 : 0);
	return document_printf(d, "%s", number);
}

/* ---- rows ---- */

static void push(struct building *b, struct columns *columns, const struct columns_row *row)
{
	if (!vec_push(&columns->rows, *row))
		b->d->failed = true;
}

static void add_members(struct building *b, struct columns *columns, const struct job_row *row,
			const struct number_units *units)
{
	const struct job *job = b->job;
	for (size_t i = 0; i < job->n_members; i++) {
		const struct job_member *m = &job->members[i];
		const struct job_cell *cell = &row->cells[i];
		struct columns_row line = {0};
		const char *host = m->has_rank && m->host ? document_escaped(b->d, m->host) : NULL;
		line.cells[COLUMN_NAME] = document_printf(b->d, "  %s%s%s%s%s", m->has_rank ? "rank " : "",
							  member_text(b->d, job, i), host ? " (" : "",
							  host ? host : "", host ? ")" : "");
		if (cell->known) {
			struct estimate e = row->least;
			e.value = e.low = e.high = cell->value;
			e.has_interval = false;
			line.cells[COLUMN_SUM] = number_text(b, &e, row->is_metric, units, b->digits == JOB_SHORT);
			line.cells[COLUMN_SOURCE] = document_printf(
				b->d, "%s%s", source_name((enum source)cell->source),
				trust_mark((enum trust)cell->trust, (enum source)cell->source));
		} else {
			line.cells[COLUMN_SUM] = "-";
			line.cells[COLUMN_SOURCE] = document_escaped(b->d, cell->why);
		}
		push(b, columns, &line);
	}
}

static void add_row(struct building *b, struct columns *columns, const struct job_row *row,
		    const struct number_units *units)
{
	struct document *d = b->d;
	bool short_text = b->digits != JOB_ALL_DIGITS;
	struct columns_row line = {.cells = {[COLUMN_NAME] = document_escaped(d, row->event)},
				   .emphasis = b->per_rank};
	if (row->is_metric)
		line.cells[COLUMN_NAME] = document_printf(d, "%s (%s)", line.cells[COLUMN_NAME],
							  document_escaped(d, row->unit));
	if (!row->n_known) {
		line.cells[COLUMN_SUM] = "-";
		line.cells[COLUMN_SOURCE] = "not counted";
	} else {
		line.cells[COLUMN_SUM] = sum_text(b, row, units);
		line.cells[COLUMN_MIN] = number_text(b, &row->least, row->is_metric, units, short_text);
		line.cells[COLUMN_MAX] = number_text(b, &row->most, row->is_metric, units, short_text);
		line.cells[COLUMN_IMBALANCE] = imbalance_text(d, row->imbalance);
		line.cells[COLUMN_IN] = row->least.value < row->most.value
						? member_text(d, b->job, row->most_member)
						: "";
		line.cells[COLUMN_SOURCE] = document_printf(d, "%s%s", sources_text(d, row->sources),
							    trust_mark(row->sum.trust, row->sum.source));
	}
	push(b, columns, &line);
	if (b->per_rank && row->n_known)
		add_members(b, columns, row, units);
}

static struct columns *begin_table(struct building *b, bool metrics)
{
	struct columns *columns = document_add_columns(b->d, COLUMNS_OF_TABLE);
	if (!columns)
		return NULL;
	columns->headings[COLUMN_NAME] = metrics ? "metric" : "event";
	columns->headings[COLUMN_SUM] = metrics ? "" : "sum";
	columns->headings[COLUMN_MIN] = "min";
	columns->headings[COLUMN_MAX] = "max";
	columns->headings[COLUMN_IMBALANCE] = "max/mean";
	columns->headings[COLUMN_IN] = "in";
	columns->headings[COLUMN_SOURCE] = "source";
	columns->left[COLUMN_NAME] = columns->left[COLUMN_IN] = columns->left[COLUMN_SOURCE] = true;
	columns->flexible = COLUMN_NAME;
	return columns;
}

static void add_region_title(struct building *b, const struct job_region *region)
{
	struct document *d = b->d;
	const char *name = document_escaped(d, region->name);
	if (!region->n_known)
		document_add(d, BLOCK_SUBTITLE, "region", document_printf(d, "%s (entries not known)", name));
	else if (region->entries_least == region->entries_most)
		document_add(d, BLOCK_SUBTITLE, "region",
			     document_printf(d, "%s (%llu entr%s, %llu in each)", name,
					     (unsigned long long)region->entries,
					     region->entries == 1 ? "y" : "ies",
					     (unsigned long long)region->entries_least));
	else
		document_add(d, BLOCK_SUBTITLE, "region",
			     document_printf(d, "%s (%llu entries, %llu to %llu in each)", name,
					     (unsigned long long)region->entries,
					     (unsigned long long)region->entries_least,
					     (unsigned long long)region->entries_most));
}

static void add_table(struct building *b, const struct job_region *region, bool metrics)
{
	struct number_units units = {0};
	struct columns *columns = NULL;
	const char *name = region ? region->name : NULL;
	const struct job *job = b->job;
	for (size_t i = 0; i < job->rows.count; i++) {
		const struct job_row *row = &job->rows.items[i];
		if (row->is_metric != metrics || !same(row->region, name) || !row->n_known)
			continue;
		number_units_add(&units, &row->least);
		number_units_add(&units, &row->most);
	}
	for (size_t i = 0; i < job->rows.count; i++) {
		const struct job_row *row = &job->rows.items[i];
		if (row->is_metric != metrics || !same(row->region, name))
			continue;
		if (!columns) {
			document_add(b->d, BLOCK_GAP, NULL, NULL);
			if (region)
				add_region_title(b, region);
			if (!(columns = begin_table(b, metrics)))
				return;
		}
		add_row(b, columns, row, &units);
	}
}

/* ---- which ranks, where ---- */

/* "on 2 hosts (a, b)" */
static void append_hosts(struct str *text, struct document *d, const struct job *job)
{
	enum { DISTINCT_MOST = 256 }; /* each is looked for among all before it */
	size_t hosts[DISTINCT_MOST], n = 0;
	bool more = false;
	for (size_t i = 0; i < job->n_members && !more; i++) {
		bool known = !job->members[i].host;
		for (size_t j = 0; j < n && !known; j++)
			known = same(job->members[hosts[j]].host, job->members[i].host);
		if (known)
			continue;
		more = n == DISTINCT_MOST;
		if (!more)
			hosts[n++] = i;
	}
	if (!n)
		return;
	str_appendf(text, " on %s%zu host%s (", more ? "more than " : "", n, n == 1 ? "" : "s");
	for (size_t j = 0; j < n && j < HOSTS_NAMED; j++)
		str_appendf(text, "%s%s", j ? ", " : "", document_escaped(d, job->members[hosts[j]].host));
	str_append(text, n > HOSTS_NAMED ? ", \u2026)" : ")");
}

static const char *command_of(const struct job *job, bool *differ)
{
	const char *first = NULL;
	*differ = false;
	for (size_t i = 0; i < job->n_members; i++) {
		const char *one = job->members[i].command ? job->members[i].command : job->members[i].target;
		if (job->members[i].state != MEMBER_REPORTED || !one)
			continue;
		*differ |= first && strcmp(first, one) != 0;
		first = first ? first : one;
	}
	return first;
}

static void add_title(struct building *b)
{
	const struct job *job = b->job;
	struct str text = {0};
	bool differ;
	const char *command = command_of(job, &differ);
	document_add(b->d, BLOCK_GAP, NULL, NULL);
	if (job->launcher)
		str_appendf(&text, "%zu rank%s of %s", job->n_members, job->n_members == 1 ? "" : "s",
			    document_escaped(b->d, job->launcher));
	else
		str_appendf(&text, "%zu result%s", job->n_members, job->n_members == 1 ? "" : "s");
	append_hosts(&text, b->d, job);
	if (command)
		str_appendf(&text, ": %s%s", document_escaped(b->d, command), differ ? ", and others" : "");
	document_add_str(b->d, BLOCK_TITLE, "tare count:", &text, "");
}

/* "rank 3 (host a, process 71)" */
static void append_member(struct str *text, struct document *d, const struct job *job, size_t i)
{
	const struct job_member *m = &job->members[i];
	str_appendf(text, "%s%s", m->has_rank ? "rank " : "", member_text(d, job, i));
	if (m->host && m->pid)
		str_appendf(text, " (host %s, process %lld)", document_escaped(d, m->host), (long long)m->pid);
	else if (m->host && (m->has_rank || m->name))
		str_appendf(text, " (host %s)", document_escaped(d, m->host));
}

/* Members of one kind: the first ones by name, then how many more. */
struct member_naming {
	struct str text;
	size_t n;
};

static void name_member(struct member_naming *naming, struct document *d, const struct job *job, size_t i)
{
	if (naming->n < MEMBERS_NAMED) {
		str_append(&naming->text, naming->n ? ", " : "");
		append_member(&naming->text, d, job, i);
	}
	naming->n++;
}

static void add_naming(struct building *b, struct member_naming *naming, const char *what)
{
	if (naming->n > MEMBERS_NAMED)
		str_appendf(&naming->text, " and %zu more", naming->n - MEMBERS_NAMED);
	str_append(&naming->text, what);
	if (naming->n)
		document_add_str(b->d, BLOCK_NOTE, "!", &naming->text, "");
	str_free(&naming->text);
}

/* Which ranks are missing: every report says it, whatever room there is. */
static void add_missing(struct building *b)
{
	static const char *const what[] = {
		[MEMBER_NEVER_BEGAN] = ": never began to count",
		[MEMBER_DIED] = ": tare was killed there, and left no counts",
		[MEMBER_RUNNING] = ": still at work; what they counted is not in here",
		[MEMBER_NO_FILE] = ": none of the files has the counts",
	};
	const struct job *job = b->job;
	size_t missing = job->n_members - job->n_reported;
	if (!missing)
		return;
	document_add(b->d, BLOCK_GAP, NULL, NULL);
	document_add(
		b->d, BLOCK_NOTE, "!",
		document_printf(b->d,
				"%zu of %zu %s counted: sums are at least what they show (\u2265); min, max and "
				"mean are of those that counted",
				job->n_reported, job->n_members, job->launcher ? "ranks" : "results"));
	for (int state = MEMBER_NEVER_BEGAN; state <= MEMBER_NO_FILE; state++) {
		struct member_naming naming = {0};
		for (size_t i = 0; i < job->n_members; i++) {
			if (job->members[i].state != (enum member_state)state)
				continue;
			if (state == MEMBER_DAMAGED)
				document_add(b->d, BLOCK_NOTE, "!", document_escaped(b->d, job->members[i].why));
			else
				name_member(&naming, b->d, job, i);
		}
		add_naming(b, &naming, state == MEMBER_DAMAGED ? "" : what[state]);
	}
}

/* Programs that ended otherwise than with 0. */
static void add_endings(struct building *b)
{
	const struct job *job = b->job;
	struct member_naming failed = {0}, interrupted = {0};
	for (size_t i = 0; i < job->n_members; i++) {
		const struct job_member *m = &job->members[i];
		bool ended_badly = m->has_exit && m->wait_status != 0;
		struct member_naming *naming = m->interrupted ? &interrupted : &failed;
		if (m->state != MEMBER_REPORTED || !(m->interrupted || ended_badly))
			continue;
		name_member(naming, b->d, job, i);
		if (!ended_badly || naming->n > MEMBERS_NAMED)
			continue;
		if (WIFSIGNALED(m->wait_status))
			str_appendf(&naming->text, " signal %d", WTERMSIG(m->wait_status));
		else
			str_appendf(&naming->text, " exit status %d", WEXITSTATUS(m->wait_status));
	}
	if (failed.n + interrupted.n && job->n_members == job->n_reported)
		document_add(b->d, BLOCK_GAP, NULL, NULL);
	add_naming(b, &failed, ": the program failed");
	add_naming(b, &interrupted, ": interrupted before the end; the counts are of the part that ran");
}

/* ---- notes ---- */

static bool is_missing_event(const struct job_row *row, size_t n_reported) { return row->n_known < n_reported; }

/* Events that members which reported have not counted: why, once for each reason. */
static void add_reasons(struct building *b)
{
	const struct job *job = b->job;
	for (size_t r = 0; r < job->rows.count; r++) {
		const struct job_row *row = &job->rows.items[r];
		size_t first = job->n_members, n = 0;
		if (row->region || !is_missing_event(row, job->n_reported))
			continue;
		for (size_t i = 0; i < job->n_members; i++) {
			if (job->members[i].state != MEMBER_REPORTED || row->cells[i].known)
				continue;
			first = n++ ? first : i;
		}
		if (!n)
			continue;
		struct str text = {0};
		str_appendf(&text, "%s: not counted by ", document_escaped(b->d, row->event));
		if (n == job->n_reported)
			str_append(&text, "any");
		else if (n == 1)
			append_member(&text, b->d, job, first);
		else
			str_appendf(&text, "%zu of %zu", n, job->n_reported);
		str_appendf(&text, " (%s)", document_escaped(b->d, row->cells[first].why));
		document_note(b->d, n == job->n_reported ? NOTE_READ : NOTE_ACT, n == job->n_reported ? "-" : "!",
			      document_str(b->d, &text));
	}
}

static void add_notes(struct building *b)
{
	const struct job *job = b->job;
	for (size_t i = 0; i < job->notes.count; i++) {
		const struct job_note *note = &job->notes.items[i];
		struct str text = {0};
		if (note->members.count < job->n_reported) {
			for (size_t k = 0; k < note->members.count && k < HOSTS_NAMED; k++)
				str_appendf(&text, "%s%s%s", k ? ", " : "",
					    !k && job->launcher ? note->members.count > 1 ? "ranks " : "rank "
								: "",
					    member_text(b->d, job, note->members.items[k]));
			str_append(&text, note->members.count > HOSTS_NAMED ? ", \u2026: "
					  : note->members.count             ? ": "
									    : "");
		}
		str_append(&text, document_escaped(b->d, note->text));
		/* what one of many says has numbers of its own */
		enum note_rank rank = !note->members.count                              ? NOTE_ACT
				      : note->members.count == 1 && job->n_reported > 1 ? NOTE_DETAIL
											: NOTE_READ;
		document_note(b->d, rank, rank == NOTE_ACT ? "!" : "-", document_str(b->d, &text));
	}
}

static void add_legend(struct building *b)
{
	const struct job *job = b->job;
	bool differ;
	command_of(job, &differ);
	if (differ)
		document_note(b->d, NOTE_READ, "-", "the results are of different commands");
	document_note(b->d, NOTE_READ, "-",
		      job->launcher ? "max/mean: 1.00 is balance; in: the rank that has the max"
				    : "max/mean: 1.00 is balance; in: the result that has the max");
	for (size_t i = 0; i < job->rows.count; i++)
		if (job->rows.items[i].sources & (job->rows.items[i].sources - 1)) {
			document_note(b->d, NOTE_READ, "!",
				      "sources with + are several: counts of unlike sources are in one sum");
			break;
		}
	if (b->digits != JOB_ALL_DIGITS)
		document_note(b->d, NOTE_READ, "-",
			      "numbers are rounded to fit; a wider terminal, --csv and --json have all digits");
}

void report_build_job(struct document *d, const struct job *job, bool per_rank, enum job_digits digits)
{
	struct building b = {d, job, per_rank, digits};
	add_title(&b);
	add_table(&b, NULL, false);
	add_table(&b, NULL, true);
	for (size_t i = 0; i < job->regions.count; i++)
		add_table(&b, &job->regions.items[i], false);
	add_missing(&b);
	add_endings(&b);
	add_reasons(&b);
	add_notes(&b);
	add_legend(&b);
}

/* ---- as text ---- */

/* How wide the tables are, without the names of --per-rank rows, which can be shortened. */
static size_t columns_needed(const struct document *d)
{
	size_t most = 0;
	for (size_t i = 0; i < d->blocks.count; i++) {
		const struct columns *t = d->blocks.items[i].columns;
		size_t all = TABLE_INDENT;
		for (size_t c = 0; t && c < t->n; c++) {
			size_t wide = text_columns(t->headings[c] ? t->headings[c] : "");
			for (size_t r = 0; r < t->rows.count; r++) {
				size_t have = text_columns(t->rows.items[r].cells[c] ? t->rows.items[r].cells[c]
										     : "");
				/* a member's reason stands in the last column, and may be long */
				if (c + 1 < t->n || t->rows.items[r].cells[COLUMN_MIN])
					wide = have > wide ? have : wide;
			}
			all += wide + (c + 1 < t->n ? GAP_COLUMNS : 0);
		}
		most = t && all > most ? all : most;
	}
	return most;
}

void report_job_text(FILE *out, const struct job *job, bool per_rank, const struct report_options *options)
{
	for (int digits = JOB_ALL_DIGITS;; digits++) {
		struct document document = {0};
		report_build_job(&document, job, per_rank, (enum job_digits)digits);
		bool fits = digits == JOB_SHORT || columns_needed(&document) <= (size_t)table_width(options);
		if (fits)
			report_document_text(out, &document, options);
		document_free(&document);
		if (fits)
			return;
	}
}
