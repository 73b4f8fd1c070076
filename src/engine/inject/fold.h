/* For injection.c only, in a process of the injection's own. */
#ifndef TARE_ENGINE_INJECT_FOLD_H
#define TARE_ENGINE_INJECT_FOLD_H

#include "engine/inject/injection.h"

/* Folds what is due. The caller holds the record's lock alone. */
void fold_parts(const struct injection *injection, injection_fold *fold, uint64_t whole_blocks);

#endif
