/* wc (Safford 1997, section 5.6): lines, words and characters of n lines of text. What of its counts is the program's own and what is
 * the library's (getc's refills of the buffer, printf) is what the thesis compares; kernel_count is its inner loop (Table 5.7). */
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "text.h"

enum { LINES_MOST = 10 * TEXT_LINES, BUFFER = 4096 };

static char text[10 * TEXT_CHARACTERS + 1], buffer[BUFFER];
static long lines, words, characters;

void kernel_call(uint64_t n);
void kernel_body(FILE *file);
void kernel_count(FILE *file);

KERNEL_FUNCTION kernel_count(FILE *file)
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

KERNEL_FUNCTION kernel_body(FILE *file)
{
	kernel_count(file);
	printf("%ld %ld %ld\n", lines, words, characters);
}

/* The file lies in memory: nothing is written to a disk. */
void kernel_call(uint64_t n)
{
	int fd = n <= LINES_MOST ? memfd_create("text", MFD_CLOEXEC) : -1;
	uint64_t length = text_length(n);
	FILE *file = fd >= 0 ? fdopen(fd, "r") : NULL;
	if (!file)
		exit(2);
	text_write(text, length);
	if (write(fd, text, length) != (ssize_t)length || lseek(fd, 0, SEEK_SET) != 0 ||
	    setvbuf(file, buffer, _IOFBF, BUFFER) != 0)
		exit(2);
	kernel_body(file);
	fclose(file);
}
