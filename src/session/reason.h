/* Why events are not counted, told once for all that share the reason. Reasons that differ only in what they quote
 * ("libpfm4 has no encoding of 'A'", "… of 'B'") are one. */
#ifndef TARE_SESSION_REASON_H
#define TARE_SESSION_REASON_H

#include <stddef.h>

#include "base/arena.h"
#include "base/vec.h"

struct reason {
	const char *common; /* with "'…'" for what is quoted; without the event's own name */
	const char *first;  /* as the first event has it */
	size_t events;
};

/* In order of first use. Freed with vec_free(&reasons.items); the texts are the arena's. */
struct reasons {
	VEC(struct reason) items;
};

/* Counts one event more for its reason; returns the reason's number from 1, or 0 when memory ran out. remedy (NULL
 * or "" for none) follows the reason and stays as it is: what it quotes is to be typed. */
size_t reasons_add(struct reasons *reasons, struct arena *arena, const char *why, const char *remedy,
		   const char *name);

/* What to print for a reason: in full for one event, what is common for several. number from 1. */
const char *reasons_text(const struct reasons *reasons, size_t number);

#endif
