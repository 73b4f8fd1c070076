#include "result/profile.h"

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
