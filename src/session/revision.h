/* A git revision in a folder of its own. The user's repository is only read: the folder has a repository of its
 * own that borrows the objects (gitrepository-layout(5): objects/info/alternates), and no work tree is
 * registered. */
#ifndef TARE_SESSION_REVISION_H
#define TARE_SESSION_REVISION_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/error.h"

struct repository {
	const char *top;     /* of the work tree that the current directory is in */
	const char *objects; /* of the repository */
	const char *prefix;  /* the current directory below top: "" or "src/" */
};

/* Of the current directory; takes git's own variables (GIT_DIR, …) out of the environment. Strings are the
 * arena's. ERROR_NOT_FOUND: there is no work tree, or no git. */
bool repository_here(struct arena *arena, struct repository *out, struct error *err);

/* Checks `revision` out into `folder`, which does not exist. ERROR_USAGE: it is not a commit there. */
bool revision_check_out(const struct repository *repository, const char *revision, const char *folder,
			struct error *err);

/* Removes a folder and all that is in it, without following links. False: something is left. */
bool folder_remove(const char *folder);

#endif
