/* A machine as text: its hierarchy drawn, its TLBs and predictors in a line each, the sources of its values. For
 * reading only; the JSON is the command's. */
#ifndef TARE_MODEL_DECLARE_DRAW_H
#define TARE_MODEL_DECLARE_DRAW_H

#include <stddef.h>

#include "base/str.h"
#include "model/declare/conf.h"

/* One line without newline: "L1I 32K, L1D 32K, L2 1M; TLB 64 pairs; bimodal 512". */
void machine_summary(const struct machine *machine, struct str *out);

/* The hierarchy, lines of at most `width` columns where words allow. */
void machine_draw(const struct machine *machine, size_t width, struct str *out);

/* Every value's source, stanza by stanza. */
void machine_draw_sources(const struct machine_description *description, size_t width, struct str *out);

/* "32K", "1.5M", "48": bytes by the largest unit that divides them, or with one decimal. */
void machine_size_text(unsigned long long bytes, struct str *out);

/* The words that machine files use for the enums of core/machine.h. "?" for what is none */
const char *machine_replacement_name(unsigned replacement);
const char *machine_inclusion_name(unsigned inclusion);
const char *machine_prefetch_name(unsigned prefetch);
const char *machine_predictor_name(unsigned kind);
const char *machine_holds_name(unsigned holds);

#endif
