/* Translations kept between runs (docs/kept-translations.md): before a run those of its program are read, after it
 * what it has executed beyond them is translated for the next one. Nothing that goes wrong here is more than speed
 * lost. */
#ifndef TARE_BACKEND_ENGINE_KEPT_H
#define TARE_BACKEND_ENGINE_KEPT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/inject/view.h"

struct kept_use {
	char *folder; /* NULL: nothing is kept; all zeros, it may be closed */
	char *program;
	uint64_t maker;
	int fd; /* of the file, at its pieces: [bytes], whose sum is to be `sum`; -1 */
	size_t bytes;
	uint64_t sum;
};

/* folder: NULL: the user's (store/cache/cache.h). argv0: as the program was named. */
void kept_open(struct kept_use *kept, const char *folder, const char *argv0);
/* Says where the pieces are; kept is borrowed until the injection is made. */
struct injection_options;
void kept_offer(const struct kept_use *kept, struct injection_options *options);
/* Pieces of what these entries have executed: injection_share (engine/inject/injection.h). */
void *kept_share(const struct injection *injection, const uint32_t *entries, size_t n, size_t *bytes);
void kept_update(const struct kept_use *kept, const struct view *view);
void kept_close(struct kept_use *kept);

#endif
