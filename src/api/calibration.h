/* What regions' own reading counts, taken off in the report. See trust/rules.h for the arithmetic.
 *
 * 1. Nothing is taken off without a kept calibration of this machine, kernel and version
 *    (store/calibration/calibration.h): it
 * says that the event's overhead is constant here, how far processes differ, and is the evidence that is named.
 * 2. The amount itself is measured in this very process, when it ends: an empty region, an enter and a leave
 * inside a region, with the same events, the same way of reading, the same build of the library. So it is right
 * for any number of events, which one calibration could not be.
 * 3. What a compiler puts around calls from C differs by some instructions: that is the ± of the net count, and
 * what makes a region too small. A stub's call is one instruction, and has none. */
#ifndef TARE_API_CALIBRATION_H
#define TARE_API_CALIBRATION_H

#include "api/regions.h"
#include "store/calibration/calibration.h"
#include "trust/rules.h"

struct event_tare {
	bool subtracts;          /* constant, calibrated, and measured here */
	struct pass_costs calls; /* of tare_region_enter/leave */
	struct pass_costs stubs; /* of the assembly stubs */
	bool has_stubs;
	bool bounded;                                             /* not constant, but calibrated: */
	double bound_first, bound_pass, bound_enter, bound_leave; /* the most that any process counted */
	/* what an interrupt or page fault adds (interrupts.h); 0 with the kernel's part, which has it */
	double interrupt;
};

struct region_tare {
	struct calibration calibration; /* empty when there is none */
	bool here;                      /* it is of this machine */
	char why[256];                  /* otherwise; "" when none was made */
	bool stubs_used, calls_used;    /* by regions of this process */
	bool gross;                     /* TARE_GROSS=1: the report also shows gross and tare */
	struct tare_reads reads;        /* of the process, before the measuring here */
	bool mixed_reads;               /* some readings were user reads, some not */
	struct event_tare events[TARE_EVENTS_MOST];
};

/* One event of one region, or of one thread in it. */
struct net_count {
	enum { NET_GROSS, NET_SUBTRACTED, NET_REFUSED } state; /* GROSS: nothing was taken off */
	struct subtraction s;                                  /* unless GROSS */
	bool bounded;
	double bound; /* so many of the count may be the measuring */
};

/* Loads the calibration, and measures. Makes regions and passes, after which the process's own counts are final.
 * NULL when memory ran out. */
struct region_tare *region_tare_new(const struct region_set *r);
void region_tare_free(struct region_tare *tare);

/* Is it the region of an assembly stub? */
bool region_of_stub(const struct tare_region *region);

/* others: of each thread that entered it, the regions that it entered besides, all added up. */
void region_net(const struct region_tare *tare, const struct tare_region *region, size_t event,
		const struct region_sums *sums, uint64_t others, struct net_count *out);

#endif
