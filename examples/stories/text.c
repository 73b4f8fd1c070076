/* Writes a text of 4036 lines and 105,196 characters (Safford 1997, section 5.6): words of random lengths, the same each time.   text [TIMES] */
#include <stdio.h>
#include <stdlib.h>

enum { LINES = 4036, CHARACTERS = 105196 };

int main(int argc, char **argv)
{
	unsigned random = 1;
	for (int times = argc > 1 ? atoi(argv[1]) : 1; times > 0; times--)
		for (long at = 0, line = 0; at < CHARACTERS; at++) {
			random = random * 1103515245u + 12345u;
			if (at + 1 == (line + 1) * CHARACTERS / LINES) {
				putchar('\n');
				line++;
			} else {
				/* a space after each fifth letter or so; letters as frequent as in English, roughly */
				putchar((random >> 16) % 6 == 0 ? ' ' : "etaoinshrdlucmfwypvbgkqjxz"[(random >> 20) % 26 * ((random >> 8) % 26) / 26]);
			}
		}
	return 0;
}
