#include "result/profile.h"

#include <string.h>

const char *profile_gaps_name(enum profile_gaps gaps)
{
	static const char *const names[] = {"none", "fixed", "jitter", "exponential", "rate"};
	return names[gaps];
}

const char *profile_stacks_name(enum profile_stacks stacks)
{
	static const char *const names[] = {"none", "frame pointers", "DWARF", "exact"};
	return names[stacks];
}

bool profile_add_note(struct profile *p, const char *note)
{
	const char **notes = note ? arena_alloc(&p->arena, (p->n_notes + 1) * sizeof *notes) : NULL;
	if (!notes)
		return false;
	if (p->n_notes)
		memcpy(notes, p->notes, p->n_notes * sizeof *notes);
	notes[p->n_notes++] = note;
	p->notes = notes;
	return true;
}
