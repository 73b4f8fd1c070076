/*
 * A folder of the user's own for what can be made again: a file for each program, with bytes that are tare's to
 * understand. Speed is all that is lost with it, so that nothing here is reported but by `tare cache`.
 *
 * What always holds:
 *  1. A file is read only where the folder and it belong to the user and nobody else may write to them or read
 *     them; links are not followed.
 *  2. A file is whole or is not there (rename(2)); its sum tells a damaged one.
 *  3. All files together take CACHE_MOST_BYTES at most: those that were not used for the longest time go.
 */
#ifndef TARE_STORE_CACHE_CACHE_H
#define TARE_STORE_CACHE_CACHE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/vec.h"

#define CACHE_MOST_BYTES (256ull << 20)
#define CACHE_ENTRY_MOST_BYTES (64ull << 20)
#define CACHE_PROGRAM_BYTES 232u

struct cache_entry {
	char program[CACHE_PROGRAM_BYTES]; /* "" : not a file of this tare's form */
	uint64_t maker, bytes;             /* bytes: of the file */
	int64_t used_unix;                 /* when it was written or read last */
};

struct cache_list {
	VEC(struct cache_entry) entries; /* the last used first */
	uint64_t bytes;
};

/* $XDG_CACHE_HOME/tare/translations, or ~/.cache/…; the caller frees it. TARE_CACHE names another folder. NULL
 * with ERROR_NOT_FOUND: there is no place for it, or TARE_CACHE is none; with ERROR_PERMISSION: root's place
 * would be in another user's home. */
char *cache_folder(struct error *err);

/* A file that was written under that name, by a writer of the same number, at the first of its *bytes bytes. Their
 * sum (cache_sum()) is to be *sum. -1: there is none. The caller closes it. */
int cache_open(const char *folder, const char *program, uint64_t maker, size_t *bytes, uint64_t *sum);
uint64_t cache_sum(const void *bytes, size_t n);
/* The same, read and compared; freed with free(). NULL: nothing. */
void *cache_read(const char *folder, const char *program, uint64_t maker, size_t *bytes);
/* False: it is not kept, and what was kept before may be. */
bool cache_write(const char *folder, const char *program, uint64_t maker, const void *bytes, size_t n);

/* So many bytes stay at most; and nothing stays that a writer which was killed has left. */
void cache_trim(const char *folder, uint64_t most);

/* A folder that is not there has no entries. list: freed with vec_free(&list->entries), also on failure. */
bool cache_list(const char *folder, struct cache_list *list, struct error *err);
bool cache_clear(const char *folder, struct cache_list *gone, struct error *err);

#endif
