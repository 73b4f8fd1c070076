/* A profile's bytes as the store keeps them: compressed, to about a quarter.
 *
 *     "TAREPACK" length:u64 zlib's stream (RFC 1950)        length: of the bytes themselves, little-endian */
#ifndef TARE_STORE_RUNS_PACKED_H
#define TARE_STORE_RUNS_PACKED_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/error.h"

/* On success *out is the caller's, to be freed by free(). */
bool packed_make(const void *bytes, size_t n, void **out, size_t *out_bytes, struct error *err);

/* The bytes, in the arena; those that are not packed are copied. A length that the stream does not have, or cannot
 * have, is an error. */
bool packed_open(const void *packed, size_t n, struct arena *arena, const void **out, size_t *out_bytes,
		 struct error *err);

#endif
