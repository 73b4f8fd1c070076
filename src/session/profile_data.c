#include "session/profile_data.h"

#include "session/selection_inside.h"

/* Of a machine: what is missed, and how often it is touched. Of the engine alone: how it is touched. */
static const char *const modelled[] = {"l1d-misses:u", "l2-misses:u", "data-accesses:u"};
static const char *const counted[] = {"data-reads:u", "data-writes:u"};

static bool is_counted(const struct session *s, const struct event *event)
{
	struct availability answer;
	s->operations->available(s->backend, event, &answer);
	return answer.state == READING_COUNTED;
}

/* Those that are counted here, unless the first one is not. *added: how many. */
static bool add_all(struct session *s, const char *const *names, size_t n, size_t *added, struct error *err)
{
	*added = 0;
	for (size_t i = 0; i < n && (i == 0 || *added); i++) {
		struct event event;
		if (!event_parse(s->events, names[i], &event, err))
			return false;
		if (!is_counted(s, &event))
			continue;
		if (!selection_add_event(s, &event, NULL, false, err))
			return false;
		++*added;
	}
	return true;
}

static bool add_defaults(struct session *s, struct error *err)
{
	size_t added;
	if (!add_all(s, modelled, sizeof modelled / sizeof *modelled, &added, err) ||
	    (!added && !add_all(s, counted, sizeof counted / sizeof *counted, &added, err)))
		return false;
	return added || error_set(err, ERROR_UNSUPPORTED, "the backend '%s' counts no accesses of data here",
				  s->operations->name);
}

bool session_add_data_events(struct session *s, const char *list, struct error *err)
{
	if (!s->operations->locations) {
		error_set(err, ERROR_USAGE, "the backend '%s' does not see which data is touched",
			  s->operations->name);
		return error_hint(err, "add --on model:host (misses), or --on exact (reads and writes)");
	}
	return list ? session_add_events(s, list, err) : add_defaults(s, err);
}

/* Does any event have places? Otherwise there is nothing to show: the first reason says why. */
static bool check_places(const struct breakdown *b, struct error *err)
{
	for (size_t i = 0; i < b->n_events; i++)
		if (!b->events[i].why)
			return true;
	error_set(err, ERROR_UNSUPPORTED, "no data profile of '%s': %s", b->n_events ? b->events[0].label : "",
		  b->n_events ? b->events[0].why : "there is no event");
	return error_hint(err, "-e data-reads,data-writes, or misses with --on model:host: -e l1d-misses");
}

bool session_profile_data(struct session *s, const struct profiling *asked, struct error *err)
{
	struct measure_options options;
	if (!profile_exact_options(s, asked, LOCATIONS_OF_DATA, &options, err))
		return false;
	if (!session_measure(s, &options, err))
		return false;
	if (asked->timed_out)
		*asked->timed_out |= s->result->timed_out;
	return session_break_down(s, BREAKDOWN_BY_OBJECT, false, err) && check_places(s->result->breakdown, err);
}
