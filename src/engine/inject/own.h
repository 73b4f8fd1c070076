/*
 * Records of their own: a process that is about to change its user, group, capabilities or namespaces leaves the
 * injection's record for one that it has made itself (runtime/record/own.c), so that neither it nor the processes
 * it leaves can write over the others' counts.
 *
 *     process: makes a file, asks ──► attendant: takes the file from it, checks it ──► tare: reads it as another record
 *                                       └ serves the requests of that record from then on
 *
 * What always holds: the file is one in memory that nobody can cut; the entry that the new record continues was
 * the injection's when the process asked.
 */
#ifndef TARE_ENGINE_INJECT_OWN_H
#define TARE_ENGINE_INJECT_OWN_H

#include "engine/inject/takeover.h"

/* In the attendant: the record that process `index`, whose asking thread is `tid`, has made; tells tare of it. On
 * success *own is as *how, with that record's file and memory, which stay open. */
bool own_take(const struct takeover *how, uint32_t index, pid_t tid, struct takeover *own);

/* In tare: the next record that the attendant told of. *parent: the inode of the record that the process left,
 * *index: its entry there. Returns the file, the caller's; -1: there is none. */
int own_next(int socket, uint64_t *parent, uint32_t *index);

/* The attendant's end and tare's. */
bool own_sockets(int pair[2]);

#endif
