/* Names in files of other tools. See profile_append_escaped() for what is escaped everywhere: control
 * characters, bytes that are not UTF-8, changes of the direction of writing. */
#ifndef TARE_REPORT_EXPORT_NAMES_H
#define TARE_REPORT_EXPORT_NAMES_H

#include <stddef.h>

#include "base/str.h"
#include "result/named_profile.h"

/* As XML has it, in text and in quoted attributes. `most`: of the escaped text's bytes before it is XML; a
 * longer one is cut in the middle; 0: no limit. */
void export_append_markup(struct str *out, const char *text, size_t most);

/* Escaped, then cut in its middle to at most so many bytes; 0: no limit. */
void export_append_cut(struct str *out, const char *text, size_t most);

/* "samples", or the unit of what was counted. */
const char *export_unit(const struct profile_event *event);

/* The command as one line, or the target; escaped. */
void export_append_command(struct str *out, const struct profile *profile);

/* "cycles:u: samples, one for each 1,000,003 cycles on average"; escaped. */
void export_append_event(struct str *out, const struct profile_event *event);

#endif
