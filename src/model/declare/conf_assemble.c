/*
 * Values into a machine: each into its component's struct (conf_keys.c), then what is implied: the fourth of size,
 * ways, line and sets, the order of the levels, which of them is first. check.c has the last word; every fault is
 * put down to a line of a file.
 */
#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/nearest.h"
#include "model/declare/check.h"
#include "model/declare/conf_reader.h"

/* ---- components ---- */

/* Where a fault of a stanza's key is: its line, else that of a key that it follows from, else the stanza's last
 * word. */
static const struct machine_value *culprit(const struct conf_reader *r, const char *stanza, const char *key)
{
	static const char *const instead[] = {"size", "entries", "btb_entries", "ways", "btb_ways"};
	const struct machine_value *value = conf_value_of(r, stanza, key);
	for (size_t i = 0; !value && i < sizeof instead / sizeof *instead; i++)
		value = conf_value_of(r, stanza, instead[i]);
	for (size_t i = 0; !value && i < r->values.count; i++)
		if (strcmp(r->values.items[i].stanza, stanza) == 0)
			value = &r->values.items[i];
	return value;
}

static bool blame(const struct conf_reader *r, const char *stanza, const char *key, const char *what, ...)
	__attribute__((format(printf, 4, 5)));

static bool blame(const struct conf_reader *r, const char *stanza, const char *key, const char *what, ...)
{
	char text[400];
	const struct machine_value *value = culprit(r, stanza, key);
	va_list list;
	va_start(list, what);
	vsnprintf(text, sizeof text, what, list);
	va_end(list);
	return conf_wrong(r, value ? value->file : r->layers[0].text.shown, value ? value->line : 1, "[%s] %s",
			  stanza, text);
}

static struct component *component_named(struct conf_reader *r, const char *name, enum conf_stanza kind)
{
	for (size_t i = 0; i < r->n_components; i++)
		if (r->components[i].kind == kind && strcmp(r->components[i].name, name) == 0)
			return &r->components[i];
	return NULL;
}

static uint8_t holds_by_name(const char *name)
{
	if (strstr(name, "ITLB") || name[strlen(name) - 1] == 'I')
		return MACHINE_INSTRUCTIONS;
	if (strstr(name, "DTLB") || name[strlen(name) - 1] == 'D')
		return MACHINE_DATA;
	return MACHINE_INSTRUCTIONS | MACHINE_DATA;
}

static struct component *new_component(struct conf_reader *r, const struct machine_value *value,
				       enum conf_stanza kind)
{
	if (r->n_components == COMPONENTS_MAX) {
		conf_wrong(r, value->file, value->line, "more than %d caches and TLBs", COMPONENTS_MAX);
		return NULL;
	}
	struct component *c = &r->components[r->n_components++];
	*c = (struct component){.name = value->stanza, .kind = kind, .place = MACHINE_NONE};
	snprintf(c->cache.cache.name, sizeof c->cache.cache.name, "%s", value->stanza);
	snprintf(c->tlb.tlb.name, sizeof c->tlb.tlb.name, "%s", value->stanza);
	c->cache.cache.holds = c->tlb.tlb.holds = holds_by_name(value->stanza);
	c->cache.cache.write_allocate = 1;
	c->cache.cache.rrip_bits = 2;
	c->cache.cache.prefetch_degree = 1;
	c->cache.cache.prefetch_entries = 16;
	c->tlb.tlb.pages_per_entry = 1;
	return c;
}

static bool read_value(struct conf_reader *r, const struct machine_value *value)
{
	enum conf_stanza kind = conf_stanza_of(value->stanza);
	const struct conf_key *key = conf_key_named(kind, value->key);
	void *into = kind == STANZA_MACHINE    ? (void *)&r->machine
		     : kind == STANZA_BRANCHES ? (void *)&r->branches
					       : (void *)&r->targets;
	if (kind == STANZA_CACHE || kind == STANZA_TLB) {
		struct component *c = component_named(r, value->stanza, kind);
		if (!c && !(c = new_component(r, value, kind)))
			return false;
		into = kind == STANZA_CACHE ? (void *)&c->cache : (void *)&c->tlb;
	}
	char why[300];
	return conf_value(key, value->text, into, why, sizeof why) ||
	       conf_wrong(r, value->file, value->line, "[%s] %s: %s", value->stanza, value->key, why);
}

/* ---- geometry ---- */

/* The key was given, and as 0: which stands for "not given" everywhere below. */
static bool has_zero(const struct conf_reader *r, const char *stanza, const char *key, uint64_t value)
{
	return value == 0 && conf_value_of(r, stanza, key);
}

static bool refuse_zero(const struct conf_reader *r, const char *stanza, const char *key)
{
	blame(r, stanza, key, "%s = 0", key);
	return error_hint(r->err, "%s; 'drop = yes' takes an extended file's component out",
			  strstr(key, "ways") ? "'ways = 1' is direct-mapped, 'ways = full' is fully associative"
					      : "give a number that is not 0");
}

/* Three of size = ways × line × sets make the fourth; TLBs and BTBs: line = 1. size_key etc. name them in
 * messages. */
struct geometry {
	const char *size_key, *ways_key, *sets_key;
	uint64_t size, ways, line, sets;
	const char *unit; /* of size: "bytes", "entries" */
};

static bool solve(const struct conf_reader *r, const char *stanza, struct geometry *g)
{
	bool full = g->ways == CONF_WAYS_FULL;
	if (full && g->sets == 0)
		g->sets = 1;
	if (full && g->sets != 1)
		return blame(r, stanza, g->sets_key, "%s = full has one set, not %llu", g->ways_key,
			     (unsigned long long)g->sets);
	if (full)
		g->ways = 0;
	if (!g->line || (!g->size + !g->ways + !g->sets) > 1)
		return blame(r, stanza, g->size_key, "too few keys: give any %s",
			     strcmp(g->unit, "bytes") == 0 ? "three of size, ways, line and sets"
							   : "two of entries, ways and sets") ||
		       error_hint(r->err, "'tare list machines r12000' shows what a whole machine looks like");
	/* none is above 2^32 after this, so that products fit; check.c has the real limits */
	const struct {
		const char *key;
		uint64_t value;
	} parts[] = {
		{g->size_key, g->size},
		{g->ways_key, g->ways},
		{"line", g->line},
		{g->sets_key, g->sets},
	};
	for (size_t i = 0; i < 4; i++)
		if (parts[i].value > UINT64_C(1) << 32)
			return blame(r, stanza, parts[i].key, "%s = %llu: more than 4G", parts[i].key,
				     (unsigned long long)parts[i].value);
	if (g->size) {
		const char *key = g->ways ? g->sets ? NULL : g->sets_key : g->ways_key;
		uint64_t known = g->line *
				 (g->ways ? g->ways : 1); /* < 2^64: both ≤ 2^32, and one of them below it */
		if (g->line > UINT32_MAX || (g->ways && g->sets && g->sets > UINT64_MAX / known))
			return blame(r, stanza, g->size_key, "far too large");
		known *= key == g->ways_key ? g->sets : key ? 1 : g->sets;
		if (key && (known == 0 || g->size % known)) {
			blame(r, stanza, g->size_key, "%s = %llu %s is not a multiple of %llu (%s)", g->size_key,
			      (unsigned long long)g->size, g->unit, (unsigned long long)known,
			      key == g->ways_key ? strcmp(g->unit, "bytes") == 0 ? "line × sets" : "sets"
			      : strcmp(g->unit, "bytes") == 0 ? "line × ways"
							      : "ways");
			return error_hint(r->err, "the %s would not be a whole number: correct one of the values",
					  key);
		}
		if (!key && g->size != known)
			return blame(r, stanza, g->size_key, "%s = %llu, but the other keys make %llu",
				     g->size_key, (unsigned long long)g->size, (unsigned long long)known) ||
			       error_hint(r->err, "leave one of them out: three imply the fourth");
		if (!g->ways)
			g->ways = g->size / known;
		else if (!g->sets)
			g->sets = g->size / known;
	}
	if (g->ways > UINT32_MAX || g->sets > UINT32_MAX || g->line > UINT32_MAX)
		return blame(r, stanza, g->size_key, "its size, its sets or its ways exceed 4G");
	return true;
}

static bool solve_cache(const struct conf_reader *r, struct component *c)
{
	struct conf_cache *k = &c->cache;
	struct geometry g = {"size", "ways", "sets", k->size, k->ways, k->line, k->sets, "bytes"};
	static const char *const keys[] = {"size", "ways", "line", "sets"};
	const uint64_t values[] = {k->size, k->ways, k->line, k->sets};
	for (size_t i = 0; i < 4; i++)
		if (has_zero(r, c->name, keys[i], values[i]))
			return refuse_zero(r, c->name, keys[i]);
	if (!solve(r, c->name, &g))
		return false;
	k->cache.ways = (uint32_t)g.ways;
	k->cache.sets = (uint32_t)g.sets;
	k->cache.line_bytes = (uint32_t)g.line;
	return true;
}

static bool solve_tlb(const struct conf_reader *r, struct component *c)
{
	struct conf_tlb *k = &c->tlb;
	struct geometry g = {"entries", "ways", "sets", k->entries, k->ways, 1, k->sets, "entries"};
	static const char *const keys[] = {"entries", "ways", "sets"};
	const uint64_t values[] = {k->entries, k->ways, k->sets};
	for (size_t i = 0; i < 3; i++)
		if (has_zero(r, c->name, keys[i], values[i]))
			return refuse_zero(r, c->name, keys[i]);
	if (!solve(r, c->name, &g))
		return false;
	k->tlb.ways = (uint32_t)g.ways;
	k->tlb.sets = (uint32_t)g.sets;
	return true;
}

static bool solve_targets(const struct conf_reader *r, struct conf_targets *k)
{
	struct geometry g = {"btb_entries", "btb_ways", "btb_sets", k->entries, k->ways, 1, k->sets, "entries"};
	bool said = conf_value_of(r, "targets", "btb_entries") || conf_value_of(r, "targets", "btb_ways") ||
		    conf_value_of(r, "targets", "btb_sets");
	/* `btb_entries = 0` is a machine without one, whatever the extended file says of its ways */
	if (!said || has_zero(r, "targets", "btb_entries", k->entries))
		return true;
	if (has_zero(r, "targets", "btb_ways", k->ways))
		return refuse_zero(r, "targets", "btb_ways");
	if (has_zero(r, "targets", "btb_sets", k->sets))
		return refuse_zero(r, "targets", "btb_sets");
	if (!solve(r, "targets", &g))
		return false;
	k->targets.btb_ways = (uint32_t)g.ways;
	k->targets.btb_sets = (uint32_t)g.sets;
	return true;
}

/* ---- the machine ---- */

static const char *next_of(const struct component *c)
{
	const char *next = c->kind == STANZA_CACHE ? c->cache.next : c->tlb.next;
	return next && strcmp(next, c->kind == STANZA_CACHE ? "memory" : "walk") == 0 ? NULL : next;
}

static bool leads_somewhere(struct conf_reader *r, const struct component *c)
{
	const char *next = next_of(c), *end = c->kind == STANZA_CACHE ? "memory" : "walk";
	if (!next && !conf_value_of(r, c->name, "next"))
		return blame(r, c->name, "next", "no 'next': name the level behind it") ||
		       error_hint(r->err, "'next' names the %s behind this one, or is '%s'",
				  c->kind == STANZA_CACHE ? "cache" : "TLB", end);
	if (!next || component_named(r, next, c->kind))
		return true;
	struct nearest found = {0};
	for (size_t i = 0; i < r->n_components; i++)
		if (r->components[i].kind == c->kind)
			nearest_consider(&found, next, r->components[i].name);
	nearest_consider(&found, next, end);
	return blame(r, c->name, "next", "next = '%.40s': there is no such %s", next,
		     c->kind == STANZA_CACHE ? "cache" : "TLB") ||
	       error_hint(r->err, "did you mean '%s'? or '%s'", found.names[0], end);
}

/* A component's place is above those of all that lead to it: next > own index. False: *left leads in a circle. */
static bool place_components(struct conf_reader *r, enum conf_stanza kind, const struct component **left)
{
	uint8_t places = 0;
	for (;;) {
		struct component *ready = NULL;
		*left = NULL;
		for (size_t i = 0; !ready && i < r->n_components; i++) {
			struct component *c = &r->components[i];
			if (c->kind != kind || c->place != MACHINE_NONE)
				continue;
			*left = c;
			bool waits = false;
			for (size_t k = 0; k < r->n_components; k++) {
				const struct component *other = &r->components[k];
				const char *next = other->kind == kind && other->place == MACHINE_NONE
							   ? next_of(other)
							   : NULL;
				waits |= next && strcmp(next, c->name) == 0;
			}
			if (!waits)
				ready = c;
		}
		if (!ready)
			return *left == NULL;
		ready->place = places++;
	}
}

static uint8_t place_of_next(struct conf_reader *r, const struct component *c)
{
	const char *next = next_of(c);
	return next ? component_named(r, next, c->kind)->place : MACHINE_NONE;
}

/* The component that holds `what` and is behind no other that does. */
static bool first_level(struct conf_reader *r, enum conf_stanza kind, unsigned what, uint8_t *first)
{
	const struct component *found = NULL;
	for (size_t i = 0; i < r->n_components; i++) {
		const struct component *c = &r->components[i];
		unsigned holds = kind == STANZA_CACHE ? c->cache.cache.holds : c->tlb.tlb.holds;
		bool behind = false;
		if (c->kind != kind || !(holds & what))
			continue;
		for (size_t k = 0; k < r->n_components; k++) {
			const struct component *other = &r->components[k];
			unsigned other_holds = kind == STANZA_CACHE ? other->cache.cache.holds
								    : other->tlb.tlb.holds;
			const char *next = other->kind == kind && (other_holds & what) ? next_of(other) : NULL;
			behind |= next && strcmp(next, c->name) == 0;
		}
		if (behind)
			continue;
		if (found)
			return blame(r, c->name, "holds", "'%s' and '%s' would both be the first to get %s",
				     found->name, c->name, what == MACHINE_DATA ? "data" : "instructions") ||
			       error_hint(r->err, "one should be the other's 'next', or say 'holds = %s'",
					  what == MACHINE_DATA ? "instructions" : "data");
		found = c;
	}
	*first = found ? found->place : MACHINE_NONE;
	return true;
}

static bool assemble_components(struct conf_reader *r, struct machine *m)
{
	static const enum conf_stanza kinds[] = {STANZA_CACHE, STANZA_TLB};
	for (size_t i = 0; i < r->n_components; i++) {
		struct component *c = &r->components[i];
		if (!(c->kind == STANZA_CACHE ? solve_cache(r, c) : solve_tlb(r, c)) || !leads_somewhere(r, c))
			return false;
	}
	for (size_t i = 0; i < 2; i++) {
		const struct component *left;
		if (!place_components(r, kinds[i], &left))
			return blame(r, left->name, "next", "the chain of 'next' is circular") ||
			       error_hint(r->err, "the last level's is '%s'",
					  kinds[i] == STANZA_CACHE ? "memory" : "walk");
	}
	for (size_t i = 0; i < r->n_components; i++) {
		struct component *c = &r->components[i];
		uint8_t limit = c->kind == STANZA_CACHE ? MACHINE_CACHES : MACHINE_TLBS;
		if (c->place >= limit)
			return blame(r, c->name, "size", "more than %d %s", limit,
				     c->kind == STANZA_CACHE ? "caches" : "TLBs");
		if (c->kind == STANZA_CACHE) {
			c->cache.cache.next = place_of_next(r, c);
			m->caches[c->place] = c->cache.cache;
			m->n_caches++;
		} else {
			c->tlb.tlb.next = place_of_next(r, c);
			m->tlbs[c->place] = c->tlb.tlb;
			m->n_tlbs++;
		}
	}
	return first_level(r, STANZA_CACHE, MACHINE_INSTRUCTIONS, &m->first_instruction) &&
	       first_level(r, STANZA_CACHE, MACHINE_DATA, &m->first_data) &&
	       first_level(r, STANZA_TLB, MACHINE_INSTRUCTIONS, &m->first_instruction_tlb) &&
	       first_level(r, STANZA_TLB, MACHINE_DATA, &m->first_data_tlb);
}

/* Names go into file names, tables and --on model:A,model:B. */
static bool put_name(const struct conf_reader *r, struct machine *m)
{
	const char *name = r->layers[0].text.name;
	size_t length = strlen(name);
	for (size_t i = 0; i < length; i++)
		if (!isalnum((unsigned char)name[i]) && !strchr("-_.", name[i]))
			length = 0;
	if (length == 0 || length >= sizeof m->name)
		return error_set(r->err, ERROR_USAGE, "%.200s: '%.100s' cannot be a machine's name",
				 r->layers[0].text.shown, name) ||
		       error_hint(r->err,
				  "rename the file: letters, digits, '-', '_' and '.', at most 31 of them");
	memcpy(m->name, name, length + 1);
	const char *title = r->machine.title ? r->machine.title : name;
	if (strlen(title) >= sizeof m->title)
		return blame(r, "machine", "title", "a title of %zu bytes: at most %zu", strlen(title),
			     sizeof m->title - 1);
	snprintf(m->title, sizeof m->title, "%s", title);
	return true;
}

bool conf_assemble(struct conf_reader *r, struct machine *m)
{
	r->machine.machine = (struct machine){.cores = 1, .fetch_bytes = 16, .page_bytes = 4096, .seed = 1};
	r->branches.direction = (struct machine_direction){.counter_bits = 2, .initial = 1};
	for (size_t i = 0; i < r->values.count; i++)
		if (!read_value(r, &r->values.items[i]))
			return false;
	*m = r->machine.machine;
	if (!put_name(r, m) || !assemble_components(r, m) || !solve_targets(r, &r->targets))
		return false;
	m->direction = r->branches.direction;
	m->targets = r->targets.targets;
	struct machine_fault fault;
	if (machine_is_sound(m, &fault))
		return true;
	blame(r, fault.stanza, fault.key, "%s", fault.why);
	return fault.hint[0] ? error_hint(r->err, "%s", fault.hint) : false;
}
