/* compress (Safford 1997, section 5.7): codes n characters of text by a table of the strings that it has seen (LZW), codes of up to
 * 16 bits, a hash table of open addresses as compress 4.0 and SPEC95 have it. */
#include <stdint.h>
#include <stdlib.h>

#include "text.h"

enum { MOST = 10000000, BITS = 16, SIZE = 69001, FIRST = 257, LAST = (1 << BITS) - 1, STEP = BITS - 8 };

static char text[MOST];
static unsigned char coded[2 * MOST];
static int32_t keys[SIZE] __attribute__((aligned(4096)));
static uint16_t codes[SIZE] __attribute__((aligned(4096)));

void kernel_call(uint64_t n);
void kernel_body(uint64_t n);

KERNEL_FUNCTION kernel_body(uint64_t n)
{
	unsigned char *out = coded;
	int next = FIRST, prefix = (unsigned char)text[0];
	for (uint64_t i = 1; i < n; i++) {
		int c = (unsigned char)text[i], key = (c << 16) + prefix + 1, at = ((c << STEP) ^ prefix) % SIZE;
		int step = at ? SIZE - at : 1;
		while (keys[at] && keys[at] != key)
			at = at >= step ? at - step : at - step + SIZE;
		if (keys[at]) {
			prefix = codes[at];
			continue;
		}
		*out++ = (unsigned char)prefix;
		*out++ = (unsigned char)(prefix >> 8);
		prefix = c;
		if (next <= LAST) {
			keys[at] = key;
			codes[at] = (uint16_t)next++;
		}
	}
	*out++ = (unsigned char)prefix;
	*out = (unsigned char)(prefix >> 8);
}

void kernel_call(uint64_t n)
{
	if (n > MOST)
		exit(2);
	text_write(text, n);
	kernel_body(n);
}
