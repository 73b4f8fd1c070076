/* The key `corrupt` of a recording: docs/recording.md. */
#include <string.h>

#include "backend/replay/read_values.h"

/* A drop of single samples of large counts would take as many steps. */
enum { CORRUPTIONS_MOST = 64 };

/* in the order of enum corruption_kind; what each needs besides */
static const char *const kinds[] = {"times", "divide",   "interrupts", "ticks", "drop",      "wrap", "stuck",
				    "swap",  "throttle", "saturate",   "add",   "sometimes", NULL};
enum { NEEDS_BY = 1, NEEDS_FROM = 2, NEEDS_PERCENT = 4, NEEDS_WITH = 8 };
static const unsigned needs[] = {
	[CORRUPT_TIMES] = NEEDS_BY,
	[CORRUPT_DIVIDE] = NEEDS_BY,
	[CORRUPT_INTERRUPTS] = NEEDS_BY,
	[CORRUPT_TICKS] = NEEDS_BY,
	[CORRUPT_DROP] = NEEDS_BY | NEEDS_PERCENT,
	[CORRUPT_WRAP] = NEEDS_BY,
	[CORRUPT_STUCK] = NEEDS_BY,
	[CORRUPT_SWAP] = NEEDS_WITH,
	[CORRUPT_THROTTLE] = NEEDS_BY | NEEDS_FROM,
	[CORRUPT_SATURATE] = NEEDS_BY,
	[CORRUPT_ADD] = NEEDS_WITH,
	[CORRUPT_SOMETIMES] = NEEDS_BY | NEEDS_PERCENT,
};

static bool check_needs(struct recording_reader *r, const json_t *value, const struct json_place *place,
			enum corruption_kind kind)
{
	static const char *const keys[] = {"by", "from", "percent", "with"};
	for (unsigned i = 0; i < 4; i++) {
		bool given = json_object_get(value, keys[i]) != NULL, needed = needs[kind] & 1U << i;
		if (given != needed)
			return read_refuse(r, place, needed ? "'%s' needs '%s'" : "'%s' has no '%s'", kinds[kind],
					   keys[i]);
	}
	return true;
}

static bool read_event_name(struct recording_reader *r, const json_t *value, const struct json_place *place,
			    const char *key, size_t *event)
{
	const char *name = NULL;
	struct json_place where = read_member(place, key);
	if (!read_text(r, value, place, key, &name))
		return false;
	return !name || read_find_event(r->out, name, event) ||
	       read_refuse(r, &where, "'%s' is not one of the recording's events", name);
}

static bool read_corruption(struct recording_reader *r, const json_t *value, const struct json_place *place,
			    struct corruption *c)
{
	static const char *const keys[] = {"event", "how", "by", "from", "percent", "with", NULL};
	unsigned kind = CORRUPT_TIMES;
	struct json_place by = read_member(place, "by");
	if (!read_is_object(r, value, place, keys) || !read_event_name(r, value, place, "event", &c->event) ||
	    !read_event_name(r, value, place, "with", &c->with) ||
	    !read_choice(r, value, place, "how", kinds, &kind) ||
	    !read_u64(r, value, place, "by", INT64_MAX, &c->by) ||
	    !read_u64(r, value, place, "from", INT64_MAX, &c->from) ||
	    !read_u64(r, value, place, "percent", 100, &c->percent))
		return false;
	if (!json_object_get(value, "event") || !json_object_get(value, "how"))
		return read_refuse(r, place, "a corruption needs 'event' and 'how'");
	c->kind = (enum corruption_kind)kind;
	if (!check_needs(r, value, place, c->kind))
		return false;
	bool divides = kind == CORRUPT_DIVIDE || kind == CORRUPT_WRAP || kind == CORRUPT_THROTTLE ||
		       kind == CORRUPT_DROP;
	return !divides || c->by > 0 || read_refuse(r, &by, "'%s' by 0 has no meaning", kinds[kind]);
}

bool read_corruptions(struct recording_reader *r, const json_t *root, const struct json_place *top)
{
	const json_t *array;
	size_t n;
	struct json_place list = read_member(top, "corrupt");
	if (!read_array(r, root, top, "corrupt", CORRUPTIONS_MOST, &array, &n))
		return false;
	struct corruption *corruptions = read_room(r, n, sizeof *corruptions);
	if (!corruptions)
		return false;
	memset(corruptions, 0, n * sizeof *corruptions);
	r->out->corruptions = corruptions;
	for (size_t i = 0; i < n; i++) {
		struct json_place where = read_item(&list, i);
		if (!read_corruption(r, json_array_get(array, i), &where, &corruptions[i]))
			return false;
		r->out->n_corruptions = i + 1;
	}
	return true;
}
