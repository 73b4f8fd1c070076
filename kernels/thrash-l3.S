/* n sweeps that write 40 words, each 4 MiB from the next: they fall into few sets of every level. */
#define WORDS 40
#define STRIDE 4194304
#define STORES
#include "thrash.h"
