/* The sweeps of an alternating direction implicit method over N x N x N points (Zagha et al. 1996, section 4.2), and the same after the
 * paper's three changes: rows and planes are padded where N is a power of two, the X and Y sweeps of a plane follow each other, the Z
 * sweep's innermost loop goes along the rows.   adi N [tuned] */
#include <stdlib.h>
#include <string.h>

#include "text.h"

enum { MOST = 130 };

static double grid[MOST * MOST * MOST] __attribute__((aligned(4096)));

void x_sweep(long n, long row, long plane, long k);
void y_sweep(long n, long row, long plane, long k);
void z_sweep(long n, long row, long plane);
void z_sweep_tuned(long n, long row, long plane);

KERNEL_FUNCTION x_sweep(long n, long row, long plane, long k)
{
	for (long j = 0; j < n; j++) {
		double *at = grid + k * plane + j * row, last = at[0];
		for (long i = 1; i < n; i++)
			at[i] = last = at[i] + 0.5 * last;
	}
}

KERNEL_FUNCTION y_sweep(long n, long row, long plane, long k)
{
	for (long i = 0; i < n; i++) {
		double *at = grid + k * plane + i, last = at[0];
		for (long j = 1; j < n; j++)
			at[j * row] = last = at[j * row] + 0.5 * last;
	}
}

KERNEL_FUNCTION z_sweep(long n, long row, long plane)
{
	for (long j = 0; j < n; j++)
		for (long i = 0; i < n; i++) {
			double *at = grid + j * row + i, last = at[0];
			for (long k = 1; k < n; k++)
				at[k * plane] = last = at[k * plane] + 0.5 * last;
		}
}

KERNEL_FUNCTION z_sweep_tuned(long n, long row, long plane)
{
	for (long j = 0; j < n; j++)
		for (long k = 1; k < n; k++) {
			double *at = grid + k * plane + j * row;
			for (long i = 0; i < n; i++)
				at[i] += 0.5 * at[i - plane];
		}
}

int main(int argc, char **argv)
{
	long n = argc > 1 ? atol(argv[1]) : 0;
	int tuned = argc > 2 && strcmp(argv[2], "tuned") == 0;
	long row = n + (tuned && (n & (n - 1)) == 0), plane = row * row;
	if (n < 2 || row >= MOST)
		return 2;
	for (long k = 0; k < n; k++) {
		x_sweep(n, row, plane, k);
		if (tuned)
			y_sweep(n, row, plane, k);
	}
	for (long k = 0; k < n && !tuned; k++)
		y_sweep(n, row, plane, k);
	if (tuned)
		z_sweep_tuned(n, row, plane);
	else
		z_sweep(n, row, plane);
	return 0;
}
