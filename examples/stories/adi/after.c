/* before.c with the paper's three changes: rows and planes are padded where N is a power of two; the X and Y sweeps of a
   plane follow each other (fusion); the Z sweep's innermost loop goes along the rows (interchange). */
#include <stdio.h>

#ifndef N
#define N 100
#endif
#define PAD ((N & (N - 1)) == 0)

static double grid[N][N + PAD][N + PAD] __attribute__((aligned(4096)));

static __attribute__((noipa)) void x_sweep(int k)
{
	for (int j = 0; j < N; j++) {
		double last = grid[k][j][0];
		for (int i = 1; i < N; i++)
			grid[k][j][i] = last = grid[k][j][i] + 0.5 * last;
	}
}

static __attribute__((noipa)) void y_sweep(int k)
{
	for (int i = 0; i < N; i++) {
		double last = grid[k][0][i];
		for (int j = 1; j < N; j++)
			grid[k][j][i] = last = grid[k][j][i] + 0.5 * last;
	}
}

static __attribute__((noipa)) void z_sweep(void)
{
	for (int j = 0; j < N; j++)
		for (int k = 1; k < N; k++)
			for (int i = 0; i < N; i++)
				grid[k][j][i] = grid[k][j][i] + 0.5 * grid[k - 1][j][i];
}

int main(void)
{
	grid[0][0][0] = 1;
	for (int k = 0; k < N; k++) {
		x_sweep(k);
		y_sweep(k);
	}
	z_sweep();
	printf("%.6f\n", grid[1][1][1]);
	return 0;
}
