/* A sweep over an n x n x n grid of doubles, across its planes. */
#define ALONG_Z
#include "sweep.h"
