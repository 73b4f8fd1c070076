/* Safford 1997, section 5.7: compress, which codes its input by a table of the strings that it has seen (LZW, with a hash table of open
   addresses). -DBITS=12 is compress -b 12: codes of up to 12 bits, and a table for as many. */
#include <stdio.h>

#ifndef BITS
#define BITS 16
#endif
enum { SIZE = BITS == 16 ? 69001 : 9001, FIRST = 257, LAST = (1 << BITS) - 1, STEP = BITS - 8 };

static int keys[SIZE] __attribute__((aligned(4096)));
static unsigned short codes[SIZE] __attribute__((aligned(4096)));
static long input, bits;

static __attribute__((noipa)) void compress(FILE *file)
{
	int c, next = FIRST, prefix = getc_unlocked(file);
	input = prefix != EOF;
	while ((c = getc_unlocked(file)) != EOF) {
		int key = (c << 16) + prefix + 1, at = ((c << STEP) ^ prefix) % SIZE, step = at ? SIZE - at : 1;
		input++;
		while (keys[at] && keys[at] != key)
			at = at >= step ? at - step : at - step + SIZE;
		if (keys[at]) {
			prefix = codes[at];
			continue;
		}
		bits += BITS;
		prefix = c;
		if (next <= LAST) {
			keys[at] = key;
			codes[at] = next++;
		}
	}
}

int main(void)
{
	compress(stdin);
	printf("%ld bytes become %ld\n", input, (bits + BITS + 7) / 8);
	return 0;
}
