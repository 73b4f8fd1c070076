/*
 * What cache/lines.c asks of sets of many ways: see linked_lines.c. at: the entry's number, set * ways + way.
 *
 * Equals   lines_find() and the order of lines_touch() and lines_insert() of cache/lines.c, .h
 * For      caches, victim buffers and shadows of more than LINES_SCANNED ways
 * Test     as linked_lines.c
 */
#ifndef TARE_MODEL_CORE_FAST_LINKED_LINES_H
#define TARE_MODEL_CORE_FAST_LINKED_LINES_H

#include "model/core/cache/lines.h"

/* The entry has its line; it was not in the hash, is in it. */
void lines_hash_add(struct lines *lines, uint32_t at);
void lines_hash_remove(struct lines *lines, uint32_t at);
void lines_unlink(struct lines *lines, uint32_t set, uint32_t at);
void lines_link_newest(struct lines *lines, uint32_t set, uint32_t at);

#endif
