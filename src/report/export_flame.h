/* A flame graph's colours: the hue is the module's, its lightness the function's, so that both are the same in
 * every run and file. */
#ifndef TARE_REPORT_EXPORT_FLAME_H
#define TARE_REPORT_EXPORT_FLAME_H

#include <stdbool.h>
#include <stdio.h>

#include "base/embedded.h"
#include "base/str.h"
#include "report/export.h"

/* 0 to 107: the number of the class c0 … c107. */
unsigned flame_colour(const char *module, const char *function);

/* Rules of CSS for all of them, or for r1 … r8 (red) and b1 … b8 (blue), and for cp (grey); light and dark. */
void flame_write_colours(FILE *out, bool differential);

/* For a page whose look has --flame-s (saturation) and --flame-0 … --flame-2 (lightness). */
void flame_write_page_colours(struct str *out);

/* The script's file in flame_files. */
extern const struct embedded_file flame_files[]; /* flame.css, flame.js */

/* The drawing as an element <svg id="flame"> of a page that has flame.js. */
bool export_flame_embedded(FILE *out, const struct named_profile *named, const struct export_options *options,
			   struct error *err);

#endif
