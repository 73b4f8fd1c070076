/* What one of perfex's events costs (IRIX perfex(1), -y; Zagha et al. 1996, section 4.1): of its count times a
 * typical, a least and a largest cost come the times that perfex -y and libperfex's print_costs show. */
#ifndef TARE_EXPLAIN_EVENT_COSTS_H
#define TARE_EXPLAIN_EVENT_COSTS_H

#include "explain/costs.h"

/* Seconds that one event takes; NAN: the table does not say. */
struct perfex_times {
	double typical, least, most;
};

/* By perfex's number of the event, 0 to 31. */
struct perfex_times perfex_times_of(const struct costs *costs, unsigned event);

#endif
