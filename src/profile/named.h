/*
 * Gives a profile's places their names, and sums up by function and by line.
 *
 * What always holds:
 *  1. Each unique place is looked up once.
 *  2. By function: machine code's functions, so that what was inlined counts where it runs; by line: where it was
 *     written. Inlined functions are in the places' frames.
 *  3. Names are of the file that was profiled: of one whose build ID is another now, places are named by their
 *     offsets, and a note says so. Likewise of the kernel, and of code that a JIT compiler made.
 *  4. A line is its file's path without "." and "..", so that a line that was compiled from several directories is
 *     one row.
 */
#ifndef TARE_PROFILE_NAMED_H
#define TARE_PROFILE_NAMED_H

#include <stdbool.h>

#include "base/error.h"
#include "base/str.h"
#include "result/named_profile.h"
#include "symbol/symbol.h"

struct named_options {
	/* The profile is of this machine since it was started: the running kernel's names are its names, and the
	 * map files of JIT compilers are its processes'. */
	bool here;
	/* Of files that have less than this share of each event's count, lines and inlined functions are left out
	 * (lines_left_out in named_row): to read them takes longer than to name the rest, and a listing of
	 * functions hardly shows them. Not of samples. 0: of none. */
	double lines_from_share;
};

/* options may be NULL. *out is the caller's, to be freed by named_profile_free() and free(). The profile is
 * borrowed for as long as it lives; nothing of the symbols is. */
bool named_profile_new(const struct profile *profile, struct symbols *symbols, const struct named_options *options,
		       struct named_profile **out, struct error *err);

/* Takes ".", ".." and doubled slashes out of a path, in place: of "a/./b/../c" "a/c" is left. */
void named_normalise_path(char *path);

/* Appends the source file's path: a relative one is of the compiler's directory (NULL: not known); one that begins
 * with that has it already. Without detours, as in rows. */
void named_source_path(struct str *out, const char *file, const char *directory);

/* Is the module's file another one now than when it was profiled? */
bool named_is_other_file(struct symbols *symbols, const struct profile_module *module);

#endif
