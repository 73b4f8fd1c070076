/* Marks in time that a program makes by entering and leaving its regions: SpeedShop's caliper points. */
#ifndef TARE_PROFILE_MARKS_H
#define TARE_PROFILE_MARKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "result/profile.h"

/* Is it the name of a mark, and not a number of seconds: "begin:REGION", "end:REGION", "begin:REGION:3"? */
bool profile_mark_is_name(const char *text);

/* The bytes of a file of marks (base/marks.h), whatever they are, to profile->marks; what is not a mark ends them.
 * *left_out: a process made more than it may. False when memory ran out. */
bool profile_marks_parse(const void *bytes, size_t n_bytes, struct profile *profile, bool *left_out);

/* The time of a mark: the first begin or end of the region, or the third where ":3" follows its name. Marks count
 * in order of time, those of all threads. False with USAGE: there is no such mark, and which there are. */
bool profile_marks_find(const struct profile *profile, const char *name, uint64_t *time_ns, struct error *err);

/* "'load' (2), 'solve' (1)": the first regions by time, and how often they begin. Names are not escaped. */
struct str;
void profile_marks_list(const struct profile *profile, struct str *out);

#endif
