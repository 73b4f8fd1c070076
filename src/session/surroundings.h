/*
 * What a run's numbers may depend on besides its command: the directory and its git commit, the environment, the
 * processor's features and microcode. It is kept with the run.
 *
 * Of the environment only what a list allows is taken: words that programs, libraries and the loader are steered
 * by. What may hold a secret (tokens, passwords, names of users, options for virtual machines) is not on it.
 */
#ifndef TARE_SESSION_SURROUNDINGS_H
#define TARE_SESSION_SURROUNDINGS_H

#include <stdbool.h>

#include "base/arena.h"

struct surroundings {
	const char *directory; /* NULL: not known, as all of these */
	const char *git_commit;
	const char *const *environment; /* "NAME=value" in order of names, ended by NULL */
	const char *cpu_features; /* names as in /proc/cpuinfo, of those that compilers and libraries choose by */
	const char *microcode;
};

/* Texts are the arena's. */
void surroundings_find(struct arena *arena, struct surroundings *out);

/* The commit that the working tree around a directory is at, in hexadecimal digits: read from .git (also of
 * worktrees and submodules) without running git, whose configuration could run programs. NULL: none, or it is kept
 * in a way that this does not read (reftable). */
const char *surroundings_git_commit(struct arena *arena, const char *directory);

/* May the variable of this name be kept? */
bool surroundings_allow(const char *name, size_t length);

#endif
