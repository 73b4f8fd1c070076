/* Profiles that were kept, read back: of one run, or of several that stand one after another (profile -r). */
#ifndef TARE_SESSION_PROFILE_READ_H
#define TARE_SESSION_PROFILE_READ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "result/profile.h"

struct profile_part {
	uint64_t from_ns, to_ns; /* samples of this time after the first one, of each run; to_ns 0: to the end */
	/* … and from this mark on, up to this one (profile/marks.h), of each run; NULL: none */
	const char *from_mark, *to_mark;
	bool moments; /* with the time of each sample; not where there are several runs */
};

/* Is it the name of a mark (begin:REGION), and not a number of seconds? */
bool session_is_mark(const char *text);

/* Of a file that session_profile() or session_profile_replicates() kept; part NULL: all of it. *out is the
 * caller's, to be freed by profile_free() and free(). */
bool session_read_profile(const char *path, const struct profile_part *part, struct profile **out,
			  struct error *err);

/* The same of the bytes of such a file; name is for messages. */
bool session_parse_profile(const void *bytes, size_t n_bytes, const char *name, const struct profile_part *part,
			   struct profile **out, struct error *err);

#endif
