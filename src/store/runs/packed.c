#include "store/runs/packed.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

static const char magic[8] = {'T', 'A', 'R', 'E', 'P', 'A', 'C', 'K'};

enum {
	HEAD_BYTES = 16,
	LEVEL = 1,               /* of 84 profiles 3.8 : 1, in about 10 ms a megabyte */
	LENGTH_MOST = 256 << 20, /* what tare profile keeps */
	RATIO_MOST = 1040,       /* zlib's own limit is 1032 : 1 (zlib.net/zlib_tech.html) */
};

bool packed_make(const void *bytes, size_t n, void **out, size_t *out_bytes, struct error *err)
{
	uLongf room = compressBound(n);
	uint64_t length = n;
	unsigned char *packed = malloc(HEAD_BYTES + room);
	*out = NULL;
	if (n > LENGTH_MOST) {
		free(packed);
		return error_set(err, ERROR_LIMIT, "the profile has %zu bytes, and at most %d are kept", n,
				 LENGTH_MOST);
	}
	if (!packed)
		return error_no_memory(err);
	memcpy(packed, magic, sizeof magic);
	memcpy(packed + sizeof magic, &length, sizeof length);
	if (compress2(packed + HEAD_BYTES, &room, bytes, n, LEVEL) != Z_OK) {
		free(packed);
		return error_no_memory(err);
	}
	*out = packed;
	*out_bytes = HEAD_BYTES + room;
	return true;
}

bool packed_open(const void *packed, size_t n, struct arena *arena, const void **out, size_t *out_bytes,
		 struct error *err)
{
	bool is_packed = n >= HEAD_BYTES && memcmp(packed, magic, sizeof magic) == 0;
	uint64_t length = n;
	if (is_packed)
		memcpy(&length, (const char *)packed + sizeof magic, sizeof length);
	if (is_packed && (length > LENGTH_MOST || length / RATIO_MOST > n))
		return error_set(err, ERROR_SYNTAX, "damaged: a profile cannot have the length that it says");
	uLongf got = length;
	unsigned char *bytes = arena_alloc(arena, length + 1);
	if (!bytes)
		return error_no_memory(err);
	if (!is_packed && n)
		memcpy(bytes, packed, n);
	if (is_packed &&
	    (uncompress(bytes, &got, (const Bytef *)packed + HEAD_BYTES, n - HEAD_BYTES) != Z_OK || got != length))
		return error_set(err, ERROR_SYNTAX, "damaged: a profile cannot be unpacked");
	*out = bytes;
	*out_bytes = length;
	return true;
}
