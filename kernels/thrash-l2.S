/* The sweeps of thrash.S over 64 words, each 64 KiB from the next: they also fall into few sets of a second level. */
#define WORDS 64
#define STRIDE 65536
#include "thrash.h"
