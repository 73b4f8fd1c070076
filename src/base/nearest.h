/* "Did you mean": the names nearest to one that is unknown. */
#ifndef TARE_BASE_NEAREST_H
#define TARE_BASE_NEAREST_H

#include <stddef.h>

enum { NEAREST_MOST = 3 };

struct nearest {
	const char *names[NEAREST_MOST]; /* borrowed, best first; NULL where there are fewer */
	unsigned distances[NEAREST_MOST];
};

/* Considers one candidate (borrowed: must outlive *found). Distance: optimal string alignment
 * (insert, delete, replace, swap of neighbours), letters compared without case, '-' and '_' alike; a
 * candidate that begins with the wanted text, or holds it, counts as near. Starts from a zeroed struct. */
void nearest_consider(struct nearest *found, const char *wanted, const char *candidate);

#endif
