/* before.c without the branches that nobody can predict: what a character is stands in a table, and adding 0 or 1 needs no branch. */
#include <stdio.h>

static long lines, words, characters;
static const unsigned char is_space[256] = {[' '] = 1, ['\n'] = 1, ['\t'] = 1};

static __attribute__((noipa)) void count(FILE *file)
{
	int c, after_space = 1;
	while ((c = getc_unlocked(file)) != EOF) {
		int space = is_space[c];
		characters++;
		lines += c == '\n';
		words += after_space & !space;
		after_space = space;
	}
}

int main(void)
{
	count(stdin);
	printf("%ld %ld %ld\n", lines, words, characters);
	return 0;
}
