/* The search of search.S after tuning: the keys are in an array of their own, 4 bytes each. */
#define ELEMENT 4
#include "search.h"
