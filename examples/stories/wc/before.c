/* Safford 1997, section 5.6: wc, which counts the lines, words and characters of its input. */
#include <stdio.h>

static long lines, words, characters;

static __attribute__((noipa)) void count(FILE *file)
{
	int c, in_word = 0;
	while ((c = getc_unlocked(file)) != EOF) {
		characters++;
		if (c == '\n')
			lines++;
		if (c == ' ' || c == '\n' || c == '\t') {
			in_word = 0;
		} else if (!in_word) {
			in_word = 1;
			words++;
		}
	}
}

int main(void)
{
	count(stdin);
	printf("%ld %ld %ld\n", lines, words, characters);
	return 0;
}
