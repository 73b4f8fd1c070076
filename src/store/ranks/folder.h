/*
 * Where the ranks of one job leave their results for each other: files in a private folder, and locks.
 *
 *     ranks_join ──► ranks_put ──► ranks_take_chair ──► ranks_look, ranks_get ──► ranks_over ──► ranks_leave
 *                                  (one rank has it)
 *
 *     BASE/tare-ranks-UID/JOB/   0700, of this user alone
 *         lock                   bytes of it are locked, see below
 *         ROUND.RANK.begun       the rank is there: its process and host
 *         ROUND.RANK.json        its result, whole (renamed into place)
 *         ROUND.over             the round has its report
 *
 * A round is one `tare count` of all ranks; a job may have several, one after the other.
 *
 * What always holds:
 *  1. Folders that are another user's, links, or open to others are refused: nobody else reads or plants results.
 *  2. A rank that is alive holds its byte of `lock` (POSIX record locks: the kernel releases them when a process
 *     ends, however it ends, and NFS also has them). So "at work" and "killed" are told apart.
 *  3. A result is there whole or not at all. Its rank lets go of its byte only when the result is there.
 *  4. Only the process that has the chair looks, reports and clears away. When it is killed, the kernel gives the
 *     chair to another that waits for it. A round that has `over` is not reported again.
 *  5. The last to clear away takes the job's folder along, if no other round has begun.
 */
#ifndef TARE_STORE_RANKS_FOLDER_H
#define TARE_STORE_RANKS_FOLDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "result/job.h"

struct ranks_folder;

/* Makes the folders where they are not there, and begins this rank's next round. base: an existing folder. job:
 * any text. On success *out is the caller's, to be left by ranks_leave(). ERROR_PERMISSION: a folder is another
 * user's. */
bool ranks_join(const char *base, const struct rank_place *place, const char *host, struct ranks_folder **out,
		struct error *err);
/* NULL is nothing. The locks are released. */
void ranks_leave(struct ranks_folder *folder);

/* Leaves this rank's result. */
bool ranks_put(struct ranks_folder *folder, const char *text, size_t length, struct error *err);

/* The names of the round's results, as a shell's pattern; to be freed. NULL: out of memory. */
char *ranks_pattern(const struct ranks_folder *folder);

enum ranks_chair { CHAIR_MINE, CHAIR_ANOTHERS, CHAIR_OVER /* the round was reported */ };
/* Does not wait. */
enum ranks_chair ranks_take_chair(struct ranks_folder *folder);
void ranks_leave_chair(struct ranks_folder *folder);

enum rank_state { RANK_NEVER_BEGAN, RANK_AT_WORK, RANK_GONE /* without a result */, RANK_DONE };
/* states[size]; by the rank that has the chair. */
bool ranks_look(struct ranks_folder *folder, unsigned char *states, struct error *err);

/* A rank's result, to be freed; NULL: it cannot be read. */
char *ranks_get(struct ranks_folder *folder, size_t rank, size_t *length, struct error *err);
/* Of a rank that began. host has at least 256 bytes. */
void ranks_begun(struct ranks_folder *folder, size_t rank, char *host, size_t host_bytes, int64_t *pid);

/* The report is out: nobody is to make another one, and the round's files go; stay: for a day, they do not. By the
 * rank that has the chair. */
void ranks_over(struct ranks_folder *folder, bool stay);

#endif
