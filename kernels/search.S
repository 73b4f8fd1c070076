/* Looks through n structures of 80 bytes for a key (Zagha, 4.1): one word of each is read. shadow.S is the same with the keys
 * in an array of their own. */
#define ELEMENT 80
#include "search.h"
