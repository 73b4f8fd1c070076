/* A profile of several executions: replicates, at one gap or at two in turn. */
#ifndef TARE_SESSION_REPLICATES_H
#define TARE_SESSION_REPLICATES_H

#include "session/profile.h"

enum { REPLICATES_MOST = 1000, CHECK_RUNS = 3 };

struct replicates {
	size_t runs; /* of a check: at each gap; >= 2 */
	/* every other run takes another gap: the golden ratio times the first's, and co-prime to it, so that a
	 * loop in step with one gap, or with a simple fraction of it, is not in step with the other */
	bool check;
	/* before each run but the first, which may write to the terminal: `done` of `of` are done; may be NULL */
	void (*progress)(void *context, size_t done, size_t of);
	void *progress_context;
};

/* Profiles the session's program as often as asked, by samples, each time with the next seed; merges what was
 * seen (profile/merge.h). Of the program's output the first run's is shown, each run reads the same input. The
 * status is the first run's; a note says which runs ended otherwise. profiling->keep has the runs that are done,
 * one after another. When it is interrupted, the runs that were complete are in it. *out is the caller's, as
 * session_profile() has it. */
bool session_profile_replicates(struct session *session, const struct profiling *profiling,
				const struct replicates *asked, struct profile **out, struct error *err);

/* The same of runs that were kept: profiles[n], n > 0, merged, with the notes of what is to be known of them. */
bool session_merge_replicates(const struct profile *const *profiles, size_t n, struct profile **out,
			      struct error *err);

#endif
