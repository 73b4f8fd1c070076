/* `tare count --openmetrics FILE|[HOST]:PORT`: where the counts go as OpenMetrics text
 * (report/openmetrics.h).
 *
 * 1. A file gets the result at the end. With -I, or at an address, it is what was counted so far: a file is
 *    replaced whole at each interval (so that node_exporter's textfile collector reads no part), a server
 *    answers with what was read last.
 * 2. Counts so far only grow. Of a counter that shared its register, what it missed is added by the share
 *    of time of the interval in which it ran again. They are gross, as rows of -I are.
 * 3. A file whose name ends in .prom has the older text format 0.0.4, others have OpenMetrics.
 */
#ifndef TARE_CLI_COUNT_OPENMETRICS_H
#define TARE_CLI_COUNT_OPENMETRICS_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/error.h"
#include "measure/intervals.h"
#include "session/scrape.h"
#include "session/session.h"

struct grown_count; /* what one event counted so far */

struct openmetrics_output {
	const char *where; /* NULL: nothing of this was asked for; borrowed */
	bool over_time;    /* the file is written at each interval */
	const struct session *session;
	struct scrape_server *server;
	struct grown_count *counts; /* of each event of the session */
	struct machine_facts facts;
	bool failed; /* it was said; what else there is goes on */
	struct arena arena;
};

/* Of --openmetrics: an address, which is served while something is counted? */
bool openmetrics_is_served(const char *where);

/* Begins to serve, and says where; a file is tried. session: borrowed until openmetrics_close(). */
bool openmetrics_open(struct openmetrics_output *out, const char *where, bool over_time,
		      const struct session *session, struct error *err);
/* As interval_tell. */
void openmetrics_interval(struct openmetrics_output *out, const struct time_interval *interval);
/* Writes the result, where that was not written at each interval. False: it was said. */
bool openmetrics_finish(struct openmetrics_output *out, const struct result *result);
void openmetrics_close(struct openmetrics_output *out);

#endif
