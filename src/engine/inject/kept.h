/* Pieces of translations (wire/kept.h) that come from a file. */
#ifndef TARE_ENGINE_INJECT_KEPT_H
#define TARE_ENGINE_INJECT_KEPT_H

#include <stdbool.h>
#include <stddef.h>

/* Whether bytes are whole pieces, each of which leads nowhere but into itself: the runtime looks at no number
 * again. That their code is what a translator made, nobody can tell: a file that the user alone can write has
 * it. */
bool kept_sound(const void *bytes, size_t n);

#endif
