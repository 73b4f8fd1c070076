#include "cli/list_machines.h"

#include <stdio.h>
#include <string.h>

#include "base/arena.h"
#include "base/str.h"
#include "cli/words.h"
#include "measure/measure.h"
#include "model/declare/draw.h"
#include "model/declare/machines.h"
#include "report/machine_json.h"
#include "report/table.h"

enum { NAME_COLUMNS = 15, TEXT_AT = 2 + NAME_COLUMNS + 2 };

static const char host[] = "host";

/* ---- JSON ---- */

static void json_caches(struct json *json, const struct machine *m)
{
	json_write_open(json, "caches", '[');
	for (unsigned i = 0; i < m->n_caches; i++) {
		const struct machine_cache *c = &m->caches[i];
		json_write_open(json, NULL, '{');
		json_write_text(json, "name", c->name);
		json_write_text(json, "holds", machine_holds_name(c->holds));
		json_write_integer(json, "bytes", (int64_t)c->sets * c->ways * c->line_bytes);
		json_write_integer(json, "ways", c->ways);
		json_write_integer(json, "sets", c->sets);
		json_write_integer(json, "line_bytes", c->line_bytes);
		json_write_text(json, "replacement", machine_replacement_name(c->replacement));
		json_write_bool(json, "write_back", c->write == WRITE_BACK);
		json_write_bool(json, "write_allocate", c->write_allocate);
		json_write_text(json, "inclusion", machine_inclusion_name(c->inclusion));
		json_write_bool(json, "shared", c->shared);
		json_write_text(json, "prefetch", machine_prefetch_name(c->prefetch));
		json_write_integer(json, "victim_lines", c->victim_lines);
		json_write_text(json, "next", c->next < m->n_caches ? m->caches[c->next].name : NULL);
		json_write_close(json, '}');
	}
	json_write_close(json, ']');
	json_write_open(json, "tlbs", '[');
	for (unsigned i = 0; i < m->n_tlbs; i++) {
		const struct machine_tlb *t = &m->tlbs[i];
		json_write_open(json, NULL, '{');
		json_write_text(json, "name", t->name);
		json_write_text(json, "holds", machine_holds_name(t->holds));
		json_write_integer(json, "entries", (int64_t)t->sets * t->ways);
		json_write_integer(json, "ways", t->ways);
		json_write_integer(json, "pages_per_entry", t->pages_per_entry);
		if (t->page_bytes)
			json_write_integer(json, "page_bytes", t->page_bytes);
		else
			json_write_null(json, "page_bytes");
		json_write_text(json, "replacement", machine_replacement_name(t->replacement));
		json_write_text(json, "next", t->next < m->n_tlbs ? m->tlbs[t->next].name : NULL);
		json_write_close(json, '}');
	}
	json_write_close(json, ']');
}

/* The machine as its file has it: every value with its text, place and source. */
static void json_values(struct json *json, const struct machine_description *d)
{
	json_write_open(json, "values", '[');
	for (size_t i = 0; i < d->n_values; i++) {
		const struct machine_value *v = &d->values[i];
		json_write_open(json, NULL, '{');
		json_write_text(json, "component", v->stanza);
		json_write_text(json, "key", v->key);
		json_write_text(json, "value", v->text);
		json_write_text(json, "source", v->source);
		json_write_text(json, "file", v->file);
		json_write_integer(json, "line", v->line);
		json_write_close(json, '}');
	}
	json_write_close(json, ']');
}

static void json_machine(struct json *json, const char *name, const struct machine_description *d,
			 const struct error *why, const struct machine_facts *facts, bool values)
{
	const struct machine *m = &d->machine;
	json_write_open(json, NULL, '{');
	json_write_text(json, "machine", name);
	json_write_text(json, "title", why ? NULL : m->title);
	json_write_text(json, "why", why ? why->text : NULL);
	if (facts)
		machine_json(json, facts);
	if (!why) {
		struct str text = {0};
		json_write_integer(json, "cores", m->cores);
		json_write_integer(json, "fetch_bytes", m->fetch_bytes);
		json_write_integer(json, "page_bytes", m->page_bytes);
		json_write_bool(json, "coherent", m->coherent);
		json_caches(json, m);
		json_write_text(json, "predictor", machine_predictor_name(m->direction.kind));
		json_write_integer(json, "btb_entries", (int64_t)m->targets.btb_sets * m->targets.btb_ways);
		json_write_integer(json, "return_entries", m->targets.return_entries);
		json_write_integer(json, "indirect_entries", m->targets.indirect_entries);
		machine_summary(m, &text);
		json_write_text(json, "summary", text.failed ? NULL : text.text);
		str_free(&text);
	}
	if (!why && values)
		json_values(json, d);
	json_write_close(json, '}');
}

/* ---- text ---- */

/* "L1 32K + 48K, L2 2M": what tells machines apart at a glance. */
static void sizes(const struct machine *m, struct str *text)
{
	const unsigned first[] = {m->first_instruction, m->first_data};
	bool split = first[0] != first[1] && first[0] < m->n_caches && first[1] < m->n_caches;
	for (unsigned i = 0; i < m->n_caches; i++) {
		const struct machine_cache *c = &m->caches[i];
		unsigned long long bytes = (unsigned long long)c->sets * c->ways * c->line_bytes;
		if (split && i == first[1])
			continue;
		str_appendf(text, "%s%.*s ", text->length ? ", " : "", split && i == first[0] ? 2 : 7, c->name);
		machine_size_text(bytes, text);
		if (split && i == first[0]) {
			const struct machine_cache *d = &m->caches[first[1]];
			str_append(text, " + ");
			machine_size_text((unsigned long long)d->sets * d->ways * d->line_bytes, text);
		}
	}
}

static void row(const struct machine_listing *l, const char *name, const struct machine_description *d,
		const struct error *why, const struct machine_facts *facts)
{
	struct str text = {0}, caches = {0};
	if (why)
		str_append(&text, why->text);
	else if (l->verbose)
		machine_summary(&d->machine, &caches);
	else
		sizes(&d->machine, &caches);
	if (!why)
		str_appendf(&text, "%s: %s", d->machine.title, caches.failed || !caches.text ? "" : caches.text);
	if (facts)
		str_appendf(&text, "; %d CPU%s, %s, %s, hardware counters: %s", facts->cpus,
			    facts->cpus == 1 ? "" : "s", facts->architecture, facts->kernel, facts->pmu);
	printf("  %-*s  ", NAME_COLUMNS, name);
	text_wrap(stdout, text.failed || !text.text ? "" : text.text, TEXT_AT, TEXT_AT, l->width);
	str_free(&text);
	str_free(&caches);
}

static void draw(const struct machine_listing *l, const struct machine_description *d)
{
	struct str text = {0};
	machine_draw(&d->machine, l->width, &text);
	str_append(&text, "\nsources\n");
	machine_draw_sources(d, l->width, &text);
	str_append(&text, "\n");
	fputs(text.failed || !text.text ? "" : text.text, stdout);
	str_free(&text);
	char name[512]; /* a path may hold anything */
	str_escape_to(name, sizeof name, l->words[0]);
	printf("'tare count --on model:%s COMMAND' counts with it.\n", name);
}

/* ---- all ---- */

static bool is_name(const char *word)
{
	if (strchr(word, '/') || *word == '.' ||
	    (strlen(word) > 5 && strcmp(word + strlen(word) - 5, ".conf") == 0))
		return true;
	for (const char *const *name = machine_names(); *name; name++)
		if (strcmp(*name, word) == 0)
			return true;
	return false;
}

static bool show_one(const struct machine_listing *l, const struct machine_facts *facts, struct error *err)
{
	struct machine_description d;
	const char *name = l->words[0];
	if (!machine_describe(name, &d, err))
		return false;
	if (l->names)
		puts(d.machine.name);
	else if (l->json)
		json_machine(l->json, d.machine.name, &d, NULL, strcmp(name, host) == 0 ? facts : NULL, true);
	else
		draw(l, &d);
	machine_description_free(&d);
	return true;
}

static void show_row(const struct machine_listing *l, const char *name, const struct machine_facts *facts,
		     size_t *shown)
{
	struct machine_description d;
	struct error why = {0};
	bool known = machine_describe(name, &d, &why); /* a host may say too little of itself */
	const char *texts[] = {name,
			       known ? d.machine.title : "",
			       facts ? facts->cpu : "",
			       facts ? facts->hostname : "",
			       facts ? facts->architecture : "",
			       NULL};
	if (has_words(l->words, l->n_words, texts)) {
		++*shown;
		if (l->names)
			puts(name);
		else if (l->json)
			json_machine(l->json, name, &d, known ? NULL : &why, facts, l->verbose);
		else
			row(l, name, &d, known ? NULL : &why, facts);
	}
	if (known)
		machine_description_free(&d);
}

bool list_machines(const struct machine_listing *l, size_t *shown, struct error *err)
{
	struct arena arena = {0};
	struct machine_facts facts;
	bool done = true;
	if (!measure_machine_facts(&arena, &facts)) {
		arena_free(&arena);
		return error_set(err, ERROR_SYSTEM, "cannot identify this machine");
	}
	if (l->n_words == 1 && is_name(l->words[0])) {
		done = show_one(l, &facts, err);
		*shown += done;
		goto out;
	}
	for (const char *const *name = machine_names(); *name; name++)
		show_row(l, *name, strcmp(*name, host) == 0 ? &facts : NULL, shown);
	/* a single word that nothing has is most likely a name with a slip in it */
	if (*shown == 0 && l->n_words == 1)
		done = machine_find(l->words[0], &(struct machine){0}, err);
out:
	arena_free(&arena);
	return done;
}
