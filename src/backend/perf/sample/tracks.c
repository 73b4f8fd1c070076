#include "backend/perf/sample/tracks.h"

#include <stdio.h>
#include <stdlib.h>

#include "backend/perf/sample/trial.h"

static void refuse(struct sampling_account *account, enum reading_state state, const char *why)
{
	account->state = state;
	snprintf(account->why, sizeof account->why, "%s", why);
}

/* Why a request cannot be done, whatever the event; NULL when it can. */
static const char *flaw(const struct sampled_event *asked)
{
	switch (asked->gaps) {
	case GAPS_FIXED:
	case GAPS_JITTER:
	case GAPS_EXPONENTIAL:
		if (asked->gap == 0)
			return "the gap between samples is 0";
		/* so that no gap that is drawn reaches the kernel's limit of 2^63 */
		return asked->gap >> 56 ? "the gap between samples is 2^56 or more" : NULL;
	case GAPS_RATE: return asked->rate >= 1 ? NULL : "the rate is less than 1 sample a second";
	case GAPS_NONE: break;
	}
	return "no gap between samples was asked for";
}

static bool refused(const struct sampled_track *track, const char *remedy, struct error *err)
{
	error_set(err, track->account.state == READING_DENIED ? ERROR_PERMISSION : ERROR_UNSUPPORTED,
		  "cannot sample '%s': %s", track->asked.event->label, track->account.why);
	if (remedy[0])
		error_hint(err, "%s", remedy);
	return false;
}

/* As backend/perf/counter has it: task_clock_event_read() gives the time of the context, and a CPU's never
 * sleeps. */
static const char *not_of_cgroup(const struct answer *answer)
{
	if (answer->variants.whole_cpus)
		return "it counts whole CPUs or packages, and not the tasks of a control group";
	if (answer->encoding.type == PERF_TYPE_SOFTWARE && answer->encoding.config == PERF_COUNT_SW_TASK_CLOCK)
		return "the kernel's task clock of a control group also counts the time in which none of its "
		       "tasks runs";
	return NULL;
}

bool sampling_find_tracks(struct sampling *s, const char *cancelled, struct error *err)
{
	size_t usable = 0;
	s->tracks = calloc(s->request.n_events + 1, sizeof *s->tracks);
	if (!s->tracks)
		return error_no_memory(err);
	for (size_t i = 0; i < s->request.n_events; i++) {
		struct sampled_track *track = &s->tracks[i];
		struct sampling_account *account = &track->account;
		char remedy[256];
		track->asked = s->request.events[i];
		const char *wrong = flaw(&track->asked);
		if (wrong)
			return error_set(err, ERROR_USAGE, "cannot sample '%s': %s", track->asked.event->label,
					 wrong);
		sampling_trial(s->backend, track->asked.event, &track->answer, &account->state, account->why,
			       remedy);
		if (!track->answer)
			return error_no_memory(err);
		account->source = track->answer->availability.source;
		account->has_count = !sampling_is_clock(&track->answer->encoding) ||
				     track->answer->levels == (LEVEL_USER | LEVEL_KERNEL);
		if (account->state == READING_UNPROVEN)
			account->state = READING_COUNTED; /* what it gives is then its trial */
		if (cancelled)
			refuse(account, READING_DENIED, cancelled);
		const char *unfit = s->cgroup >= 0 ? not_of_cgroup(track->answer) : NULL;
		if (unfit) {
			refuse(account, READING_UNSUPPORTED, unfit);
			snprintf(remedy, sizeof remedy, "cpu-clock is the time that the group's tasks run");
		}
		if (account->state != READING_COUNTED)
			refused(track, remedy, err);
		usable += account->state == READING_COUNTED;
		track->redrawn = track->asked.gaps == GAPS_EXPONENTIAL || track->asked.gaps == GAPS_JITTER;
		track->is_clock = sampling_is_clock(&track->answer->encoding);
		if (track->is_clock && track->asked.gap && track->asked.gap < SAMPLING_CLOCK_LEAST_NS) {
			error_set(err, ERROR_USAGE,
				  "cannot sample '%s' each %llu ns: the kernel's least gap of a clock is %d ns",
				  track->asked.event->label, (unsigned long long)track->asked.gap,
				  SAMPLING_CLOCK_LEAST_NS);
			return error_hint(err, "-c %d or more", SAMPLING_CLOCK_LEAST_NS);
		}
		track->bursts = account->source != SOURCE_HW && !track->is_clock;
		track->plan = (struct gap_plan){track->asked.gaps, track->asked.gap, s->request.redraw};
		account->redraw = track->redrawn ? s->request.redraw : 0;
	}
	return usable > 0;
}
