/* An environment of a fixed size, for executions that shall be alike: where the stack begins depends on how many
 * bytes and how many variables the environment has, and where the stack begins changes what programs do
 * (alignment, crossings, conflicts). */
#ifndef TARE_BACKEND_PADDING_H
#define TARE_BACKEND_PADDING_H

enum {
	PADDED_BYTES = 16384,   /* the strings' bytes become a multiple of it … */
	PADDED_VARIABLES = 128, /* … and their number a multiple of this */
};

/* The variables, then fillers (TARE_PAD=…). `_`, by which a shell says what it starts, is `path`, the program: a
 * shell started tare, whose path may be longer elsewhere. The caller frees the array with free(); its strings are
 * borrowed from `environment`, but for those, which live in the same allocation. NULL when memory ran
 * out. */
char **padded_environment(char *const *environment, const char *path);

#endif
