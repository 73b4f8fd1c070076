#include "session/experiment.h"

#include <string.h>

#include "base/embedded.h"
#include "base/stanza.h"
#include "base/str.h"

extern const struct embedded_file experiment_files[];

static bool wrong(const char *source, const struct stanza_key *key, struct error *err)
{
	return error_set(err, ERROR_SYNTAX, "%s:%u: '%s = %s' is not known", source, key->line, key->key,
			 key->value);
}

static bool read_number(const char *text, uint64_t *out)
{
	*out = 0;
	for (; *text >= '0' && *text <= '9'; text++)
		*out = *out * 10 + (uint64_t)(*text - '0');
	return *text == '\0';
}

static bool read_key(struct experiment *e, const struct stanza_key *key)
{
	if (strcmp(key->key, "gap") == 0)
		return read_number(key->value, &e->gap);
	if (strcmp(key->key, "stacks") == 0) {
		e->stacks = strcmp(key->value, "dwarf") == 0 ? STACKS_DWARF : STACKS_FRAME_POINTER;
		return true;
	}
	const char **text = strcmp(key->key, "definition") == 0 ? &e->definition
			    : strcmp(key->key, "event") == 0    ? &e->event
			    : strcmp(key->key, "on") == 0       ? &e->on
								: NULL;
	if (text)
		*text = key->value;
	return text != NULL;
}

static bool read_experiment(const struct stanza *stanza, const char *source, struct experiment *out,
			    struct error *err)
{
	*out = (struct experiment){.name = stanza->name};
	for (size_t k = 0; k < stanza->n_keys; k++)
		if (!read_key(out, &stanza->keys[k]))
			return wrong(source, &stanza->keys[k], err);
	return true;
}

void experiment_names(const char *between, struct str *out)
{
	struct arena arena = {0};
	struct error err = {0};
	for (const struct embedded_file *file = experiment_files; file->name; file++) {
		struct stanza *stanzas;
		size_t n;
		if (stanza_parse(file->text, file->length, file->name, &arena, &stanzas, &n, &err))
			for (size_t i = 0; i < n; i++)
				str_appendf(out, "%s%s", out->length ? between : "", stanzas[i].name);
	}
	arena_free(&arena);
}

/* Experiments of SpeedShop's that are other commands here (ssrun(1) of IRIX has them). */
static const struct {
	const char *name, *instead;
} elsewhere[] = {
	{"totaltime", "'tare explain --waits PROGRAM' has the time that threads wait, by stack"},
	{"heap", "'tare profile --by object PROGRAM' counts by variable and allocation"},
	{"io", "'tare explain --calls PROGRAM' has the system calls by the time that they take"},
	{"fpe", "tare does not trace floating-point exceptions"},
};

static const char *found_elsewhere(const char *name)
{
	for (size_t i = 0; i < sizeof elsewhere / sizeof *elsewhere; i++)
		if (strcmp(name, elsewhere[i].name) == 0)
			return elsewhere[i].instead;
	return NULL;
}

bool experiment_find(const char *name, struct arena *arena, struct experiment *out, struct error *err)
{
	bool done = true, found = false;
	for (const struct embedded_file *file = experiment_files; done && !found && file->name; file++) {
		struct stanza *stanzas;
		size_t n;
		done = stanza_parse(file->text, file->length, file->name, arena, &stanzas, &n, err);
		for (size_t i = 0; done && !found && i < n; i++) {
			found = strcmp(stanzas[i].name, name) == 0;
			if (found)
				done = read_experiment(&stanzas[i], file->name, out, err);
		}
	}
	if (done && !found) {
		struct str names = {0};
		const char *instead = found_elsewhere(name);
		experiment_names(", ", &names);
		error_set(err, ERROR_USAGE, "'%s' is not an experiment of SpeedShop's that tare has", name);
		if (instead)
			error_hint(err, "%s", instead);
		else
			error_hint(err, "it has %s", names.text ? names.text : "none");
		str_free(&names);
	}
	return done && found;
}

const char *experiment_file(const struct experiment *experiment, const char *program, int pid, struct arena *arena)
{
	const char *base = strrchr(program, '/');
	struct str text = {0};
	str_appendf(&text, "%s.%s.m%d", base ? base + 1 : program, experiment->name, pid);
	const char *kept = text.failed ? NULL : arena_strdup(arena, text.text);
	str_free(&text);
	return kept;
}
