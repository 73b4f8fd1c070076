/* The text that wc and compress read: words of random lengths, letters as frequent as in English, roughly; the same each time.
 * 4036 lines of it have 105,196 characters, as the thesis's input has (Safford 1997, section 5.6). */
#ifndef TARE_KERNELS_TEXT_H
#define TARE_KERNELS_TEXT_H

#include <stddef.h>
#include <stdint.h>

/* a function that stays one: regions are found by its name */
#if defined(__clang__)
#define KERNEL_FUNCTION __attribute__((noinline)) void
#else
#define KERNEL_FUNCTION __attribute__((noipa)) void
#endif

enum { TEXT_LINES = 4036, TEXT_CHARACTERS = 105196 };

/* How many characters n lines have. */
static inline uint64_t text_length(uint64_t lines) { return lines * TEXT_CHARACTERS / TEXT_LINES; }

static inline void text_write(char *text, uint64_t length)
{
	static const char letters[] = "etaoinshrdlucmfwypvbgkqjxz";
	uint32_t random = 1;
	uint64_t line = 0;
	for (uint64_t at = 0; at < length; at++) {
		random = random * 1103515245U + 12345U;
		if (at + 1 == text_length(line + 1)) {
			text[at] = '\n';
			line++;
		} else if ((random >> 16) % 6 == 0) {
			text[at] = ' ';
		} else {
			text[at] = letters[(random >> 20) % 26 * ((random >> 8) % 26) / 26];
		}
	}
}

#endif
