/* SHA-256 (FIPS 180-4), for names of contents: a page's own script and style are named by their sums in its
 * Content-Security-Policy. Not for secrets. */
#ifndef TARE_BASE_SHA256_H
#define TARE_BASE_SHA256_H

#include <stddef.h>
#include <stdint.h>

enum { SHA256_BYTES = 32, SHA256_BASE64 = 45 };

void sha256(const void *data, size_t bytes, uint8_t out[SHA256_BYTES]);

/* The same in base64 (RFC 4648), NUL-terminated. */
void sha256_base64(const void *data, size_t bytes, char out[SHA256_BASE64]);

#endif
