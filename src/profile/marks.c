#include "profile/marks.h"

#include <stdlib.h>
#include <string.h>

#include "base/marks.h"
#include "base/str.h"
#include "base/vec.h"

static const char BEGIN[] = "begin:", END[] = "end:";

static const char *region_of(const char *text, bool *end)
{
	*end = strncmp(text, END, sizeof END - 1) == 0;
	if (!*end && strncmp(text, BEGIN, sizeof BEGIN - 1) != 0)
		return NULL;
	const char *region = text + (*end ? sizeof END : sizeof BEGIN) - 1;
	return *region ? region : NULL;
}

bool profile_mark_is_name(const char *text)
{
	bool end;
	return region_of(text, &end) != NULL;
}

/* ---- reading ---- */

static int by_time(const void *a, const void *b)
{
	const struct profile_mark *left = a, *right = b;
	if (left->time_ns != right->time_ns)
		return left->time_ns < right->time_ns ? -1 : 1;
	return left->end - right->end; /* qsort(3) is not stable, and a begin does not come after its end */
}

bool profile_marks_parse(const void *bytes, size_t n_bytes, struct profile *profile, bool *left_out)
{
	const char *at = bytes, *end = at + n_bytes;
	VEC(struct profile_mark) marks = {0};
	bool done = true;
	*left_out = false;
	while (done && (size_t)(end - at) >= sizeof(struct mark_head)) {
		struct mark_head head;
		memcpy(&head, at, sizeof head);
		at += sizeof head;
		if (head.kind > MARK_LAST || head.name_bytes > MARK_NAME_MOST ||
		    head.name_bytes > (size_t)(end - at) || memchr(at, 0, head.name_bytes))
			break;
		*left_out |= head.kind == MARK_LAST;
		if (head.kind != MARK_LAST) {
			struct profile_mark mark = {head.time_ns, head.thread, head.kind == MARK_END,
						    arena_strndup(&profile->arena, at, head.name_bytes)};
			done = mark.region && vec_push(&marks, mark);
		}
		at += head.name_bytes;
	}
	size_t size = marks.count * sizeof *marks.items;
	if (done && size && (done = (profile->marks = arena_alloc(&profile->arena, size)) != NULL)) {
		memcpy(profile->marks, marks.items, size);
		qsort(profile->marks, marks.count, sizeof *marks.items, by_time);
		profile->n_marks = marks.count;
	}
	vec_free(&marks);
	return done;
}

/* ---- finding ---- */

/* The n-th; NULL and in *seen how many there are. */
static const struct profile_mark *nth(const struct profile *p, const char *region, size_t length, bool end,
				      unsigned long long n, unsigned long long *seen)
{
	*seen = 0;
	for (size_t i = 0; i < p->n_marks; i++) {
		const struct profile_mark *mark = &p->marks[i];
		if (mark->end == end && strncmp(mark->region, region, length) == 0 && !mark->region[length] &&
		    ++*seen == n)
			return mark;
	}
	return NULL;
}

void profile_marks_list(const struct profile *p, struct str *out)
{
	enum { SHOWN = 5 };
	size_t shown = 0;
	unsigned long long seen;
	for (size_t i = 0; i < p->n_marks; i++) {
		const char *region = p->marks[i].region;
		const struct profile_mark *first = nth(p, region, strlen(region), false, 1, &seen);
		if (first != &p->marks[i])
			continue;
		nth(p, region, strlen(region), false, p->n_marks + 1, &seen);
		if (shown++ == SHOWN) {
			str_append(out, ", …");
			return;
		}
		str_appendf(out, "%s'%s' (%llu)", shown > 1 ? ", " : "", region, seen);
	}
}

static bool none(const struct profile *p, const char *name, unsigned long long seen, struct error *err)
{
	struct str known = {0};
	if (!p->n_marks) {
		error_set(err, ERROR_USAGE, "there is no mark '%s': the program marked no region", name);
		return error_hint(err,
				  "a program with libtare's tare_region_begin() and …_end() marks its regions");
	}
	profile_marks_list(p, &known);
	error_set(err, ERROR_USAGE, "there is no mark '%s'%s", name, seen ? ": the region has fewer passes" : "");
	error_hint(err, "regions, and how often each begins: %s", known.failed ? "" : known.text);
	str_free(&known);
	return false;
}

bool profile_marks_find(const struct profile *p, const char *name, uint64_t *time_ns, struct error *err)
{
	bool end;
	unsigned long long n = 1, seen = 0, passes = 0;
	const char *region = region_of(name, &end), *colon = region ? strrchr(region, ':') : NULL;
	const struct profile_mark *mark = region ? nth(p, region, strlen(region), end, 1, &seen) : NULL;
	/* a region's own name may end in a number */
	if (!mark && colon && str_to_u64(colon + 1, &n) && n)
		mark = nth(p, region, (size_t)(colon - region), end, n, &passes);
	if (!mark)
		return none(p, name, passes, err);
	*time_ns = mark->time_ns;
	return true;
}
