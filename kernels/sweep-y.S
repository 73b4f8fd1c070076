/* A sweep over an n x n x n grid of doubles, along the columns of its planes. */
#define ALONG_Y
#include "sweep.h"
