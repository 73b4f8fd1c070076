#include "base/nearest.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

enum { LENGTH_MOST = 64 }; /* longer names are compared by their first 64 characters */

static int fold(char c) { return c == '_' ? '-' : tolower((unsigned char)c); }

/* The length of what is compared of the text, folded into compared. */
static size_t fold_all(const char *text, char compared[LENGTH_MOST])
{
	size_t n = strnlen(text, LENGTH_MOST);
	for (size_t i = 0; i < n; i++)
		compared[i] = (char)fold(text[i]);
	return n;
}

/* Optimal string alignment distance, three rows of the table at a time. */
static unsigned distance(const char *wanted, const char *candidate)
{
	char a[LENGTH_MOST], b[LENGTH_MOST];
	size_t na = fold_all(wanted, a), nb = fold_all(candidate, b);
	unsigned rows[3][LENGTH_MOST + 1];
	unsigned *before = rows[0], *previous = rows[1], *current = rows[2];
	for (size_t j = 0; j <= nb; j++)
		previous[j] = (unsigned)j;
	for (size_t i = 1; i <= na; i++) {
		current[0] = (unsigned)i;
		for (size_t j = 1; j <= nb; j++) {
			bool same = a[i - 1] == b[j - 1];
			unsigned best = previous[j - 1] + !same;
			if (previous[j] + 1 < best)
				best = previous[j] + 1;
			if (current[j - 1] + 1 < best)
				best = current[j - 1] + 1;
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] &&
			    before[j - 2] + 1 < best)
				best = before[j - 2] + 1;
			current[j] = best;
		}
		unsigned *oldest = before;
		before = previous;
		previous = current;
		current = oldest;
	}
	return previous[nb];
}

static bool holds(const char *text, const char *part)
{
	size_t n = strlen(part);
	for (; strlen(text) >= n; text++) {
		size_t i = 0;
		while (i < n && fold(text[i]) == fold(part[i]))
			i++;
		if (i == n)
			return true;
	}
	return false;
}

void nearest_consider(struct nearest *found, const char *wanted, const char *candidate)
{
	unsigned far = distance(wanted, candidate);
	/* "miss" should find "cache-misses" before "pids": a part that is there costs at most 2 */
	if (far > 2 && strlen(wanted) >= 3 && holds(candidate, wanted))
		far = 2;
	size_t place = 0;
	while (place < NEAREST_MOST && found->names[place] && found->distances[place] <= far)
		if (strcmp(found->names[place++], candidate) == 0)
			return;
	if (place == NEAREST_MOST)
		return;
	for (size_t i = NEAREST_MOST - 1; i > place; i--) {
		found->names[i] = found->names[i - 1];
		found->distances[i] = found->distances[i - 1];
	}
	found->names[place] = candidate;
	found->distances[place] = far;
}
