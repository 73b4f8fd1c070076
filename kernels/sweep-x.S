/* A sweep over an n x n x n grid of doubles, along its rows. */
#include "sweep.h"
