#include "model/declare/machines.h"

#include <stdio.h>
#include <string.h>

#include "model/declare/conf_files.h"

enum { STRIDES = 4096 };

static bool is_path(const char *name)
{
	size_t length = strlen(name);
	return strchr(name, '/') || *name == '.' || (length > 5 && strcmp(name + length - 5, ".conf") == 0);
}

bool machine_describe(const char *name, struct machine_description *out, struct error *err)
{
	return is_path(name) ? machine_read_description(name, out, err)
			     : machine_named_description(name, out, err);
}

/* ---- variants ---- */

static void prefetching(struct machine *m)
{
	for (unsigned at = m->first_data; at < m->n_caches; at = m->caches[at].next) {
		m->caches[at].prefetch = PREFETCH_STRIDE;
		m->caches[at].prefetch_degree = 1;
		/* so many that instructions of one loop do not share an entry */
		m->caches[at].prefetch_entries = STRIDES;
	}
}

static void backward_taken(struct machine *m)
{
	m->direction = (struct machine_direction){.kind = PREDICT_BACKWARD_TAKEN};
}

static const struct machine_variant {
	const char *suffix;
	void (*make)(struct machine *m);
} variants[] = {{"+prefetch", prefetching}, {"+backward-taken", backward_taken}};
enum { VARIANTS = sizeof variants / sizeof *variants };

/* Takes the last suffix off name[length]; NULL: it has none. */
static const struct machine_variant *last_variant(const char *name, size_t *length)
{
	for (size_t i = 0; i < VARIANTS; i++) {
		size_t own = strlen(variants[i].suffix);
		if (*length > own && strncmp(name + *length - own, variants[i].suffix, own) == 0) {
			*length -= own;
			return &variants[i];
		}
	}
	return NULL;
}

bool machine_find(const char *name, struct machine *out, struct error *err)
{
	struct machine_description description;
	const struct machine_variant *made[VARIANTS], *next;
	size_t length = strlen(name), n = 0;
	char base[256];
	while (n < VARIANTS && (next = last_variant(name, &length)))
		made[n++] = next;
	if (length >= sizeof base)
		return error_set(err, ERROR_USAGE, "the machine's name '%.40s...' is too long", name);
	snprintf(base, sizeof base, "%.*s", (int)length, name);
	if (!machine_describe(base, &description, err))
		return false;
	*out = description.machine;
	machine_description_free(&description);
	while (n > 0) {
		made[--n]->make(out);
		size_t used = strlen(out->name);
		snprintf(out->name + used, sizeof out->name - used, "%s", made[n]->suffix);
	}
	return true;
}

const char *const *machine_names(void) { return conf_names(); }
