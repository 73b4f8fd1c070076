/* The sweeps of thrash.S, which write. */
#define WORDS 192
#define STRIDE 4096
#define STORES
#include "thrash.h"
