/*
 * What the files of one counted execution share: counting.c (from the start to the program's first instruction),
 * counting_readings.c (the record as readings), counting_regions.c (those of regions), counting_reports.c (blocks,
 * system calls, inputs and places).
 */
#ifndef TARE_BACKEND_ENGINE_COUNTING_INTERNAL_H
#define TARE_BACKEND_ENGINE_COUNTING_INTERNAL_H

#include "backend/engine/answer.h"
#include "backend/engine/calls.h"
#include "backend/engine/counting.h"
#include "backend/engine/fold.h"
#include "backend/engine/kept.h"
#include "backend/engine/locations.h"
#include "backend/engine/regions.h"
#include "backend/engine/syscalls.h"
#include "backend/engine/tally.h"
#include "backend/launch.h"
#include "engine/inject/injection.h"
#include "engine/wire/calls.h"

struct counting {
	struct launch launch;
	struct command command;      /* its strings are borrowed until stop */
	struct injection *injection; /* NULL: natively */
	struct execution_event *events;
	size_t n;
	struct counting_models models; /* n = 0: none */
	struct location_plan plan;
	struct fold_context fold;
	struct kept_use kept;
	bool keeps_none; /* kept translations were asked for, and are not used for what is counted */
	struct answer_context answer;
	const struct function_finder *functions; /* borrowed until the start */
	bool calls;
	const char *calls_why; /* they were asked for, and are not followed: why; NULL */
	char calls_text[CALLS_WHY_BYTES];
	struct record_call_event call_events[RECORD_CALL_EVENTS];
	size_t machines; /* struct model_counts of each thread; 0: the access stream was not asked for */
	bool children, per_thread, per_process;
	bool inside; /* places are of the regions asked for alone */
	/* borrowed, as target->regions; [n_asked] */
	struct region_name {
		const char *name, *text;
		enum region_kind kind;
	} * asked;
	size_t n_asked;
	uint64_t began_ns;
	/* with times_calls: the time stamp counter then and, from counting_stop() on, what it meant */
	bool times_calls;
	uint64_t began_ticks;
	struct syscall_clock clock;
};

/* Code lines and pages are of processes: a thread has none of its own. */
static inline bool counting_of_process(const struct execution_event *event)
{
	return event->exact && (exact_event_uses(event->exact, COUNT_CODE_LINES) ||
				exact_event_uses(event->exact, COUNT_CODE_PAGES));
}

/* Where sets are sampled, generated code leaves out accesses to others, and what the stream counts of them. */
static inline bool counting_is_left_out(const struct counting *c, const struct execution_event *event)
{
	return c->models.n && c->models.estimate && event->exact && exact_event_needs_trace(event->exact);
}

static inline struct reading counting_failed(const char *why)
{
	return (struct reading){.state = READING_FAILED, .source = SOURCE_NONE, .why = why, .cpu = -1};
}

uint64_t counting_now_ns(void);
uint64_t counting_now_ticks(void);

/* counting_readings.c. regions: those of the view, with what was counted in them; NULL: not wanted. On success
 * *view, *tally and *regions are the caller's. */
bool counting_look(const struct counting *c, bool still_running, struct view **view, struct tally **tally,
		   struct execution_regions **regions, struct error *err);
void counting_cpuid(uint32_t leaf, uint32_t sub, uint32_t out[4]); /* this machine's */
bool counting_add_remark(struct run *run, enum note_rank rank, const char *text);

/* counting_regions.c */
bool counting_fill_regions(const struct counting *c, struct run *run, const struct tally *tally,
			   const struct execution_regions *regions, uint64_t ns);
/* Of one region; alone: of what took place outside of those entered in it. */
struct reading counting_reading_in(const struct counting *c, const struct execution_event *event,
				   const struct tally *tally, const struct execution_regions *regions,
				   const struct counted_region *region, bool alone, uint64_t ns);

#endif
