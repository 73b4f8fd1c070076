/* n sweeps over 192 words, each at the start of a page: they fall into few sets of a cache. */
#define WORDS 192
#define STRIDE 4096
#include "thrash.h"
