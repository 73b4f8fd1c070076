/* Text on a terminal: how many columns it takes. UTF-8; a byte that is not takes one column. */
#ifndef TARE_BASE_TEXT_COLUMNS_H
#define TARE_BASE_TEXT_COLUMNS_H

#include <stddef.h>

/* Two a wide character (CJK, most emoji), none a combining mark. */
size_t text_columns(const char *text);

/* The bytes that fit into n columns, with the marks of the last character. */
size_t text_fitting(const char *text, size_t n);

/* The byte at which the first character begins that is at column n or behind it: what follows takes no more than
 * the text's columns less n. */
size_t text_behind(const char *text, size_t n);

#endif
