#include <string.h>

#include "event/metric.h"
#include "session/compare.h"

/* "r12000::l1d-miss-rate:u" is l1d-miss-rate. */
static const struct metric *metric_of(const struct metric_table *metrics, const char *label)
{
	const char *machine = strstr(label, "::"), *name = machine ? machine + 2 : label;
	for (size_t i = 0; i < metric_table_count(metrics); i++) {
		const struct metric *m = metric_table_at(metrics, i);
		size_t length = strlen(metric_name(m));
		if (strncmp(name, metric_name(m), length) == 0 && (!name[length] || name[length] == ':'))
			return m;
	}
	return NULL;
}

/* Is the command slower: by a time that differs, and by none that says the opposite? */
static bool is_slower(const struct comparison *c, size_t command)
{
	static const char *const times[] = {"elapsed-time", "task-clock", "user-time", "cycles", "cycles:u"};
	bool slower = false;
	for (size_t i = 0; i < c->n_rows; i++)
		for (size_t k = 0; k < sizeof times / sizeof *times; k++) {
			if (c->rows[i].region || c->rows[i].is_metric || strcmp(c->rows[i].event, times[k]) != 0)
				continue;
			if (c->rows[i].commands[command].verdict == COMPARISON_LESS)
				return false;
			slower |= c->rows[i].commands[command].verdict == COMPARISON_MORE;
		}
	return slower;
}

bool session_mark_misleading(struct comparison *c, struct error *err)
{
	struct metric_table *metrics = metric_table_new(err);
	if (!metrics)
		return false;
	for (size_t i = 0; i < c->n_rows; i++) {
		const struct metric *m = c->rows[i].is_metric ? metric_of(metrics, c->rows[i].event) : NULL;
		enum metric_better better = m ? metric_better(m) : BETTER_NEITHER;
		for (size_t k = 1; k < c->n && better != BETTER_NEITHER; k++) {
			struct compared *one = &c->rows[i].commands[k];
			one->misleading = one->verdict ==
						  (better == BETTER_HIGHER ? COMPARISON_MORE : COMPARISON_LESS) &&
					  is_slower(c, k);
			c->shows_misleading |= one->misleading;
		}
	}
	metric_table_free(metrics);
	return true;
}
