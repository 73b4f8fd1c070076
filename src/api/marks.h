/* Under `tare profile` the begin and the end of each region are marks in time (base/marks.h), unless regions are
 * counted. */
#ifndef TARE_API_MARKS_H
#define TARE_API_MARKS_H

#include <stdbool.h>

#include "base/marks.h"

struct tare_region;

/* When the library is loaded: true when regions are to be marked. */
bool marks_open(void);

/* Nothing where marks are not open. Takes no lock and no memory: signal handlers may mark. False: there will be no
 * more marks of this process. */
bool mark_region(const struct tare_region *region, enum region_mark_kind kind);

#endif
