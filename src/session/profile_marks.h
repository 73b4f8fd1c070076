/* The regions that a profiled program enters and leaves, as marks in the time of its samples (profile/marks.h). */
#ifndef TARE_SESSION_PROFILE_MARKS_H
#define TARE_SESSION_PROFILE_MARKS_H

#include "base/arena.h"
#include "base/error.h"
#include "result/profile.h"
#include "session/session.h"

struct region_marks {
	struct arena arena;
	const char *path;      /* NULL: there is no file */
	char *const *restored; /* the session's environment as it was */
	struct session *session;
};

/* Makes the file, and has the command's environment name it; nothing for what runs already. Without a file the
 * program runs without marks. False: memory ran out. */
bool region_marks_open(struct region_marks *marks, struct session *s);

/* When the program has ended: to profile->marks, with a note that names the regions. False: memory ran out. */
bool region_marks_take(const struct region_marks *marks, struct profile *profile);

/* Removes the file. Also of one that is {0}, and after a failure. */
void region_marks_close(struct region_marks *marks);

#endif
