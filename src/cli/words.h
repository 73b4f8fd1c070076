/* The words behind `tare list events` and `tare list machines`: a row is shown if it has each of them. */
#ifndef TARE_CLI_WORDS_H
#define TARE_CLI_WORDS_H

#include <stdbool.h>

/* Is each of the words, in any case, a part of one of the texts? texts ends with NULL. No word at all: true. */
bool has_words(char *const *words, int n_words, const char *const *texts);

#endif
