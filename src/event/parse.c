/* Requests: the grammar of event.h, and which naming a name belongs to.
 *
 * In this order: a row's name (canonical, alias, PAPI's, a paper's); "pmu/terms/" (sysfs); "r" and hexadecimal
 * digits (raw); a name with "::", or one that libpfm4 knows for some PMU. Anything else is unknown. */
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "event/request.h"
#include "event/sysfs.h"
#include "event/table.h"

/* "did you mean …", with as many names as there are. */
static bool unknown(const struct event_table *table, const char *name, struct error *err)
{
	struct nearest found = {0};
	/* what is longer than any name by far is not one that was mistyped */
	if (err && strlen(name) <= 80)
		event_table_nearest(table, name, &found);
	error_set(err, ERROR_USAGE, "unknown event '%s'", name);
	const char *const *n = found.names;
	if (n[2])
		return error_hint(err, "the nearest names are '%s', '%s' and '%s'; 'tare list' shows all", n[0],
				  n[1], n[2]);
	return error_hint(err, "'tare list' shows the events");
}

/* "instructions:up" and "cycles:x" are known events with something behind them that is not a level. */
static bool bad_level(const struct event_table *table, const char *name, struct error *err)
{
	char before[REQUEST_LENGTH_MOST + 1];
	struct event_match match;
	const char *colon = strrchr(name, ':');
	if (!colon || colon == name)
		return false;
	memcpy(before, name, (size_t)(colon - name));
	before[colon - name] = '\0';
	if (!event_table_match(table, before, &match))
		return false;
	error_set(err, ERROR_USAGE, "'%s' is not a level, in '%s'", colon + 1, name);
	error_hint(err, "write ':u' for user, ':k' for kernel, ':uk' or nothing for both");
	return true;
}

/* "r12000::l1d-misses": a row that a model counts, of a machine. What libpfm4 has under the name goes before
 * ("perf::branches"). */
static bool match_of_machine(const struct event_table *table, const char *name, struct event_match *match)
{
	const char *colons = strstr(name, "::");
	return colons && colons > name && !pfm_has_pmu(name, (size_t)(colons - name)) &&
	       event_table_match(table, colons + 2, match) && (match->row->counted_by & COUNTED_BY_MODEL);
}

static const char *level_suffix(unsigned levels)
{
	return levels == LEVEL_USER ? ":u" : levels == LEVEL_KERNEL ? ":k" : ":uk";
}

/* The request is text[length]; what stays of it is copied into the table's arena. */
static bool parse(struct event_table *table, const char *text, struct event *out, struct error *err)
{
	struct request request;
	struct event_match match;
	struct event event = {0};
	uint64_t config;
	if (!request_split(text, &request, err))
		return false;
	char name[REQUEST_LENGTH_MOST + 1];
	memcpy(name, text, request.name_length);
	name[request.name_length] = '\0';

	const char *shown = name;
	if (event_table_match(table, name, &match)) {
		event.definition = match.row;
		event.naming = match.naming;
		/* one vocabulary in reports, but PAPI's and the papers' names are answered in kind */
		if (match.alias)
			shown = match.row->name;
	} else if (match_of_machine(table, name, &match)) {
		event.definition = match.row;
		event.naming = match.naming;
		event.machine = arena_strndup(&table->arena, name, (size_t)(strstr(name, "::") - name));
		shown = arena_printf(&table->arena, "%s::%s", event.machine,
				     match.alias ? match.row->name : strstr(name, "::") + 2);
		if (!event.machine || !shown)
			return error_no_memory(err);
	} else if (strchr(name, '/')) {
		event.naming = NAMED_SYSFS;
		if (!sysfs_check_form(name, err))
			return false;
	} else if (request_is_raw(name, &config)) {
		event.naming = NAMED_RAW;
	} else if (pfm_has_form(name)) {
		event.naming = NAMED_PFM;
	} else {
		if (!table->pfm_names_collected && !pfm_names_collect(&table->pfm_names, err))
			return false;
		table->pfm_names_collected = true;
		if (!pfm_names_has(&table->pfm_names, name))
			return bad_level(table, name, err) ? false : unknown(table, name, err);
		event.naming = NAMED_PFM;
	}
	event.levels = request.levels;
	event.period = request.period;
	event.text = arena_strdup(&table->arena, text);
	event.label = arena_printf(&table->arena, "%s%s", shown,
				   request.levels_given ? level_suffix(request.levels) : "");
	if (!event.text || !event.label)
		return error_no_memory(err);
	*out = event;
	return true;
}

bool event_parse(struct event_table *table, const char *request, struct event *out, struct error *err)
{
	return parse(table, request, out, err);
}

static bool is_pmu_character(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
	       c == '-' || c == '.';
}

/* Where the request that begins at text ends: the next comma that is not inside "pmu/…/". A slash begins
 * such a part only behind a PMU's name: papers' names have slashes too ("Load/prefetch/sync issued" is
 * behind "r10000:"). */
static const char *request_end(const char *text)
{
	const char *c = text + strspn(text, " \t\n");
	const char *name = c;
	while (is_pmu_character(*c))
		c++;
	if (c > name && *c == '/') {
		const char *close = strchr(c + 1, '/');
		if (close)
			c = close + 1;
	}
	return c + strcspn(c, ",");
}

bool event_parse_list(struct event_table *table, const char *list, struct event **events, size_t *count,
		      struct error *err)
{
	VEC(struct event) parsed = {0};
	bool done = false;
	for (const char *at = list;;) {
		const char *end = request_end(at);
		char text[REQUEST_LENGTH_MOST + 64];
		size_t length = (size_t)(end - at);
		struct event event;
		if (*count + parsed.count >= EVENT_LIST_MOST) {
			error_set(err, ERROR_LIMIT, "more than %d events in one list", EVENT_LIST_MOST);
			error_hint(err, "count them in several runs");
			goto out;
		}
		/* one too long for the buffer is cut, and still too long for event_parse() */
		if (length >= sizeof text)
			length = sizeof text - 1;
		memcpy(text, at, length);
		text[length] = '\0';
		char *request = str_trim(text);
		if (!*request) {
			error_set(err, ERROR_USAGE, "an empty name in the list of events '%.60s'", list);
			goto out;
		}
		if (!parse(table, request, &event, err))
			goto out;
		if (!vec_push(&parsed, event)) {
			error_no_memory(err);
			goto out;
		}
		if (!*end)
			break;
		at = end + 1;
	}
	struct event *grown = realloc(*events, (*count + parsed.count) * sizeof **events);
	if (!grown) {
		error_no_memory(err);
		goto out;
	}
	memcpy(grown + *count, parsed.items, parsed.count * sizeof *parsed.items);
	*events = grown;
	*count += parsed.count;
	done = true;
out:
	vec_free(&parsed);
	return done;
}
