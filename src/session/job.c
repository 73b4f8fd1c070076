#include "session/job.h"

#include <math.h>
#include <string.h>
#include <sys/wait.h>

#include "base/hash.h"
#include "base/str.h"
#include "base/wait_status.h"

struct job_builder {
	struct job *job;
	struct hash_index index; /* of texts */
	VEC(const char *) texts;
	struct hash_index note_index;
	size_t n_cells;
};

struct job *job_new(size_t n_members)
{
	struct job *job = calloc(1, sizeof *job);
	if (job)
		job->members = arena_alloc(&job->arena, (n_members + 1) * sizeof *job->members);
	if (!job || !job->members) {
		free(job);
		return NULL;
	}
	job->n_members = n_members;
	return job;
}

void job_free(struct job *job)
{
	if (!job)
		return;
	for (size_t i = 0; i < job->rows.count; i++)
		free(job->rows.items[i].cells);
	for (size_t i = 0; i < job->notes.count; i++)
		vec_free(&job->notes.items[i].members);
	vec_free(&job->rows);
	vec_free(&job->regions);
	vec_free(&job->notes);
	arena_free(&job->arena);
	free(job);
}

struct job_builder *job_begin(struct job *job)
{
	struct job_builder *builder = calloc(1, sizeof *builder);
	if (builder)
		builder->job = job;
	return builder;
}

void job_builder_free(struct job_builder *builder)
{
	if (!builder)
		return;
	hash_free(&builder->index);
	hash_free(&builder->note_index);
	vec_free(&builder->texts);
	free(builder);
}

/* ---- texts: 4,096 members say mostly the same ---- */

/* False when memory ran out. NULL stays NULL. */
static bool keep_text(struct job_builder *b, const char *text, const char **out)
{
	*out = NULL;
	if (!text)
		return true;
	uint64_t hash = hash_text(HASH_BEGIN, text);
	struct hash_search search = hash_find(&b->index, hash);
	for (uint32_t i; hash_next(&search, &i);)
		if (strcmp(b->texts.items[i], text) == 0) {
			*out = b->texts.items[i];
			return true;
		}
	const char *copy = arena_strdup(&b->job->arena, text);
	if (!copy || !vec_push(&b->texts, copy) || !hash_add(&b->index, hash, (uint32_t)b->texts.count - 1))
		return false;
	*out = copy;
	return true;
}

static bool keep_note(struct job_builder *b, const char *text, size_t member)
{
	struct job *job = b->job;
	uint64_t hash = hash_text(HASH_BEGIN, text);
	struct hash_search search = hash_find(&b->note_index, hash);
	for (uint32_t i; hash_next(&search, &i);) {
		struct job_note *note = &job->notes.items[i];
		if (strcmp(note->text, text) != 0)
			continue;
		bool known = note->members.count && note->members.items[note->members.count - 1] == member;
		return known || vec_push(&note->members, member);
	}
	struct job_note note = {0};
	return keep_text(b, text, &note.text) && vec_push(&note.members, member) && vec_push(&job->notes, note) &&
	       hash_add(&b->note_index, hash, (uint32_t)job->notes.count - 1);
}

/* ---- rows ---- */

static bool same(const char *a, const char *b) { return a == b || (a && b && strcmp(a, b) == 0); }

static bool is_row_of(const struct job_row *row, const char *region, const struct estimate *e, bool is_metric,
		      size_t occurrence)
{
	return row->is_metric == is_metric && row->occurrence == occurrence && same(row->region, region) &&
	       strcmp(row->event, e->event) == 0 && strcmp(row->unit, e->unit) == 0 &&
	       strcmp(row->level, e->level) == 0 && same(row->machine, e->machine);
}

/* The event is the n-th of this description in estimates. */
static size_t occurrence_of(const struct estimate *estimates, size_t i)
{
	size_t n = 0;
	for (size_t j = 0; j < i; j++)
		n += estimate_is_total(&estimates[j]) && strcmp(estimates[j].event, estimates[i].event) == 0 &&
		     strcmp(estimates[j].level, estimates[i].level) == 0 &&
		     same(estimates[j].machine, estimates[i].machine) &&
		     strcmp(estimates[j].unit, estimates[i].unit) == 0;
	return n;
}

static struct job_row *add_row(struct job_builder *b, const char *region, const struct estimate *e, bool is_metric,
			       size_t occurrence, struct error *err)
{
	struct job *job = b->job;
	struct job_row row = {.is_metric = is_metric, .occurrence = occurrence};
	if (job->rows.count >= JOB_ROWS_MOST || b->n_cells + job->n_members > JOB_CELLS_MOST) {
		error_set(err, ERROR_LIMIT, "%zu results with %zu rows each are more than fit", job->n_members,
			  job->rows.count + 1);
		error_hint(err, "merge fewer of them at once, or count fewer events");
		return NULL;
	}
	if (keep_text(b, region, &row.region) && keep_text(b, e->event, &row.event) &&
	    keep_text(b, e->unit, &row.unit) && keep_text(b, e->level, &row.level) &&
	    keep_text(b, e->machine, &row.machine) &&
	    (row.cells = calloc(job->n_members + 1, sizeof *row.cells)) != NULL && vec_push(&job->rows, row)) {
		b->n_cells += job->n_members;
		return &job->rows.items[job->rows.count - 1];
	}
	free(row.cells);
	error_no_memory(err);
	return NULL;
}

/* hint: where it is when this result has the rows of the one before; set to the next. */
static struct job_row *find_row(struct job_builder *b, const char *region, const struct estimate *e,
				bool is_metric, size_t occurrence, size_t *hint, struct error *err)
{
	struct job *job = b->job;
	for (size_t i = 0; i < job->rows.count; i++) {
		size_t at = (*hint + i) % job->rows.count;
		if (!is_row_of(&job->rows.items[at], region, e, is_metric, occurrence))
			continue;
		*hint = at + 1;
		return &job->rows.items[at];
	}
	*hint = job->rows.count + 1;
	return add_row(b, region, e, is_metric, occurrence, err);
}

static bool fill_cell(struct job_builder *b, struct job_cell *cell, const struct estimate *e)
{
	*cell = (struct job_cell){
		.known = e->known,
		.has_interval = e->known && e->has_interval,
		.has_least = !e->known && e->has_least,
		.source = (unsigned char)(e->known ? e->source : SOURCE_NONE),
		.trust = (unsigned char)e->trust,
		.value = e->value,
		.low = e->has_interval ? e->low : e->value,
		.high = e->has_interval ? e->high : e->value,
		.least = e->least,
	};
	return keep_text(b,
			 e->known ? NULL
			 : e->why ? e->why
				  : "not counted",
			 &cell->why) &&
	       keep_text(b, e->note, &cell->note);
}

static bool add_estimates(struct job_builder *b, size_t member, const char *region,
			  const struct estimate *estimates, size_t n, bool is_metric, size_t *hint,
			  struct error *err)
{
	for (size_t i = 0; i < n; i++) {
		const struct estimate *e = &estimates[i];
		if (!estimate_is_total(e))
			continue;
		struct job_row *row = find_row(b, region, e, is_metric, occurrence_of(estimates, i), hint, err);
		if (!row)
			return false;
		if (!fill_cell(b, &row->cells[member], e))
			return error_no_memory(err);
	}
	return true;
}

static bool add_region(struct job_builder *b, const struct region_row *r, struct error *err)
{
	struct job *job = b->job;
	struct job_region *region = NULL;
	for (size_t i = 0; i < job->regions.count && !region; i++)
		if (strcmp(job->regions.items[i].name, r->name) == 0)
			region = &job->regions.items[i];
	if (!region) {
		struct job_region one = {.entries_least = UINT64_MAX};
		if (job->regions.count >= JOB_ROWS_MOST)
			return error_set(err, ERROR_LIMIT, "there are more than %d regions", JOB_ROWS_MOST);
		if (!keep_text(b, r->name, &one.name) || !keep_text(b, r->text, &one.place) ||
		    !vec_push(&job->regions, one))
			return error_no_memory(err);
		region = &job->regions.items[job->regions.count - 1];
	}
	if (r->why)
		return true;
	region->n_known++;
	region->entries += r->entries;
	region->entries_least = r->entries < region->entries_least ? r->entries : region->entries_least;
	region->entries_most = r->entries > region->entries_most ? r->entries : region->entries_most;
	return true;
}

/* ---- members ---- */

/* "./app 'two words'"; cut, for it stands in a title. */
static const char *command_text(struct job_builder *b, const char *const *command, const char **out)
{
	enum { SHOWN_BYTES = 400 };
	struct str text = {0};
	*out = NULL;
	for (size_t i = 0; command && command[i] && text.length < SHOWN_BYTES; i++) {
		bool plain = command[i][0] && !command[i][strcspn(command[i], " \t\n\"'\\$&|;<>*?()")];
		str_appendf(&text, plain ? "%s%.400s" : "%s'%.400s'", i ? " " : "", command[i]);
	}
	bool done = !text.failed && keep_text(b, text.text, out);
	str_free(&text);
	return done ? "" : NULL;
}

bool job_add(struct job_builder *b, size_t at, const struct result *result, const struct rank_place *place,
	     const char *name, struct error *err)
{
	struct job *job = b->job;
	struct job_member *m = &job->members[at];
	size_t hint = 0;
	*m = (struct job_member){.state = MEMBER_REPORTED,
				 .has_rank = place->launcher != NULL,
				 .rank = place->rank,
				 .pid = place->pid,
				 .has_exit = result->command &&
					     (WIFEXITED(result->wait_status) || WIFSIGNALED(result->wait_status)),
				 .wait_status = result->wait_status,
				 .interrupted = result->interrupted};
	if (!keep_text(b, name, &m->name) || !keep_text(b, result->machine.hostname, &m->host) ||
	    !command_text(b, result->command, &m->command) || !keep_text(b, result->target, &m->target))
		return error_no_memory(err);
	job->confidence = job->n_reported == 0 || job->confidence == result->confidence ? result->confidence : 0;
	job->n_reported++;
	if (!add_estimates(b, at, NULL, result->estimates, result->n_estimates, false, &hint, err) ||
	    !add_estimates(b, at, NULL, result->metrics, result->n_metrics, true, &hint, err))
		return false;
	for (size_t i = 0; i < result->n_regions; i++) {
		const struct region_row *r = &result->regions[i];
		if (!add_region(b, r, err) ||
		    !add_estimates(b, at, r->name, r->estimates, r->n_estimates, false, &hint, err))
			return false;
	}
	for (size_t i = 0; i < result->n_notes; i++)
		if (!keep_note(b, result->notes[i].text, at))
			return error_no_memory(err);
	return true;
}

bool job_lose(struct job_builder *b, size_t at, enum member_state state, const char *host, int64_t pid,
	      const char *name, const char *why)
{
	struct job_member *m = &b->job->members[at];
	bool has_rank = m->has_rank;
	size_t rank = m->rank;
	*m = (struct job_member){.state = state, .has_rank = has_rank, .rank = rank, .pid = pid};
	return keep_text(b, host, &m->host) && keep_text(b, name, &m->name) && keep_text(b, why, &m->why);
}

/* ---- sums ---- */

static struct estimate estimate_of(const struct job_row *row)
{
	return (struct estimate){.event = row->event,
				 .unit = row->unit,
				 .level = row->level,
				 .machine = row->machine,
				 .run_min = NAN,
				 .run_median = NAN,
				 .run_max = NAN,
				 .run_sd = NAN,
				 .bound = NAN,
				 .cpu = -1};
}

static struct estimate of_cell(const struct job_row *row, const struct job_cell *cell, double confidence)
{
	struct estimate e = estimate_of(row);
	e.known = cell->known;
	e.value = cell->value;
	e.low = cell->low;
	e.high = cell->high;
	e.has_interval = cell->has_interval && confidence > 0;
	e.confidence = confidence;
	e.source = (enum source)cell->source;
	e.trust = (enum trust)cell->trust;
	e.share_running = cell->known;
	e.why = cell->why;
	e.note = cell->note;
	e.has_least = cell->has_least;
	e.least = cell->least;
	return e;
}

/* Several sources have no name in common: what produced a part of it is in row->sources. */
static enum source only_source(unsigned sources)
{
	for (int s = SOURCE_NONE; s <= SOURCE_SAMPLED; s++)
		if (sources == 1u << s)
			return (enum source)s;
	return SOURCE_NONE;
}

/* Why a member has no count; never NULL for one that has none. */
static const char *why_not(const struct job_member *m, const struct job_cell *cell)
{
	if (m->state != MEMBER_REPORTED)
		return member_state_name(m->state);
	return cell->why ? cell->why : "this result does not have the event";
}

static bool sum_row(struct job *job, struct job_row *row)
{
	/* of long doubles (64 bits): counts of 2^53 and more add up to the unit before the last rounding */
	long double sum = 0, low = 0, high = 0, least = 0;
	const struct job_cell *smallest = NULL, *largest = NULL;
	bool intervals = true;
	enum trust weakest = TRUST_VERIFIED;
	size_t missing = 0, first_missing = 0;
	for (size_t i = 0; i < job->n_members; i++) {
		struct job_cell *c = &row->cells[i];
		if (job->members[i].state != MEMBER_REPORTED || !c->known) {
			c->why = why_not(&job->members[i], c);
			least += c->has_least ? c->least : 0;
			first_missing = missing++ ? first_missing : i;
			continue;
		}
		row->n_known++;
		row->sources |= 1u << c->source;
		sum += c->value;
		low += c->low;
		high += c->high;
		intervals &= c->has_interval;
		weakest = trust_weakest(weakest, (enum trust)c->trust);
		if (!smallest || c->value < smallest->value)
			smallest = c;
		if (!largest || c->value > largest->value)
			largest = c;
	}
	row->sum = row->mean = row->least = row->most = estimate_of(row);
	row->imbalance = NAN;
	if (!row->n_known) {
		row->sum.why = row->n_known + missing ? row->cells[first_missing].why : "there are no results";
		row->mean.why = row->least.why = row->most.why = row->sum.why;
		return true;
	}
	row->least = of_cell(row, smallest, job->confidence);
	row->most = of_cell(row, largest, job->confidence);
	row->least_member = (size_t)(smallest - row->cells);
	row->most_member = (size_t)(largest - row->cells);
	row->mean = of_cell(row, smallest, 0);
	row->mean.value = (double)(sum / row->n_known);
	row->mean.low = row->mean.high = row->mean.value;
	row->mean.source = only_source(row->sources);
	row->mean.note = NULL;
	if (row->mean.value > 0)
		row->imbalance = row->most.value / row->mean.value;
	row->sum.trust = row->mean.trust = weakest;
	row->sum.source = only_source(row->sources);
	if (row->is_metric) {
		row->sum.why = "a ratio has no sum";
		return true;
	}
	if (missing) {
		row->sum.has_least = true;
		row->sum.least = (double)(sum + least);
		row->sum.least_source = row->sum.source;
		row->sum.why = arena_printf(&job->arena, "%zu of %zu counted it", row->n_known, job->n_members);
		row->sum.source = SOURCE_NONE;
		return row->sum.why != NULL;
	}
	row->sum.known = true;
	row->sum.value = (double)sum;
	row->sum.has_interval = intervals && job->confidence > 0;
	row->sum.low = row->sum.has_interval ? (double)low : row->sum.value;
	row->sum.high = row->sum.has_interval ? (double)high : row->sum.value;
	row->sum.confidence = job->confidence;
	row->sum.share_running = 1;
	return true;
}

bool job_sum(struct job_builder *b)
{
	for (size_t i = 0; i < b->job->rows.count; i++)
		if (!sum_row(b->job, &b->job->rows.items[i]))
			return false;
	return true;
}

int job_worst_status(const struct job *job)
{
	int worst = 0;
	for (size_t i = 0; i < job->n_members; i++) {
		const struct job_member *m = &job->members[i];
		int status = m->has_exit ? wait_status_shell(m->wait_status) : 0;
		worst = status > worst ? status : worst;
	}
	return worst;
}
