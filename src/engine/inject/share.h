/*
 * Translations that processes of one run share: of a program that was executed often, later processes begin with
 * what an earlier one has executed (docs/kept-translations.md).
 *
 *     images of a program end ──► a maker (fork) translates its files, in a process that executes nothing ──► a new engine image, sealed
 *                                                                                                       │
 *     later execs ◄───────────────────────────────── the attendant's takeover ◄──────────────────────────┘
 *
 * What always holds:
 *  1. One maker at a time, and each program is made once. Nobody waits for it, but with the test option
 *     TARE_SHARE: "wait" makes a program as soon as one image of it has ended, "ten" when as many have as usual.
 *  2. An image is sealed before the attendant has it, and processes that have the one before it keep that.
 *  3. Whatever fails, the image stays as it was.
 *
 * For attendant.c only.
 */
#ifndef TARE_ENGINE_INJECT_SHARE_H
#define TARE_ENGINE_INJECT_SHARE_H

#include "engine/inject/takeover.h"

/* In a process of its own: of what these entries executed, an image beside that of `how`; its fields in *fresh.
 * False: there is none. */
typedef bool share_make(void *arg, const struct takeover *how, const uint32_t *entries, size_t n,
			struct takeover *fresh);

#define SHARE_PROGRAMS 64u
#define SHARE_WATCHED 16u /* more than have to end: some stay, as the shell whose script starts the others */

struct share_program {
	char path[sizeof((struct record_process *)0)->path];
	uint32_t entries[SHARE_WATCHED], n; /* its first images */
	bool made;                          /* … or was tried */
};

struct share {
	struct share_program programs[SHARE_PROGRAMS];
	uint32_t n, scanned; /* programs; entries of the record that were looked at */
	int socket;          /* of the maker at work; -1 */
};

/* A process is about to execute a program: takes what a maker has finished into *how, and starts one if there is
 * something to be made. */
void share_look(struct share *share, struct takeover *how, share_make *make, void *arg);

#endif
