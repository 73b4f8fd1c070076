/* Pages that 'tare help TOPIC' shows: docs/topics, carried inside the command. */
#ifndef TARE_CLI_TOPIC_H
#define TARE_CLI_TOPIC_H

#include <stdbool.h>
#include <stdio.h>

#include "base/embedded.h"

/* The pages in their order; each name ends in ".md". */
extern const struct embedded_file topic_files[];

/* The page of that name ("numbers"); NULL: there is none. */
const struct embedded_file *topic_find(const char *name);

/* The page's name without ".md", and its heading; for a list of them. */
void topic_print_name(FILE *out, const struct embedded_file *topic);

/* Prints a page; lines end before column `width`: headings, paragraphs, lists ("- "), tables and code (between
 * lines of ```) of Markdown. Code is not broken. */
void topic_print(FILE *out, const struct embedded_file *topic, size_t width, bool colour);

#endif
