/* Zagha et al. 1996, section 4.2: the sweeps of an alternating direction implicit method over a grid of N x N x N.
   grid[k][j][i] is i + NX*j + NX*NY*k, as Fortran's grid(i,j,k). */
#include <stdio.h>

#ifndef N
#define N 100
#endif
#ifndef PAD
#define PAD 0 /* elements that nobody uses behind each row, and rows behind each plane */
#endif

static double grid[N][N + PAD][N + PAD] __attribute__((aligned(4096)));

static __attribute__((noipa)) void x_sweep(void)
{
	for (int k = 0; k < N; k++)
		for (int j = 0; j < N; j++) {
			double last = grid[k][j][0];
			for (int i = 1; i < N; i++)
				grid[k][j][i] = last = grid[k][j][i] + 0.5 * last;
		}
}

static __attribute__((noipa)) void y_sweep(void)
{
	for (int k = 0; k < N; k++)
		for (int i = 0; i < N; i++) {
			double last = grid[k][0][i];
			for (int j = 1; j < N; j++)
				grid[k][j][i] = last = grid[k][j][i] + 0.5 * last;
		}
}

static __attribute__((noipa)) void z_sweep(void)
{
	for (int j = 0; j < N; j++)
		for (int i = 0; i < N; i++) {
			double last = grid[0][j][i];
			for (int k = 1; k < N; k++)
				grid[k][j][i] = last = grid[k][j][i] + 0.5 * last;
		}
}

int main(void)
{
	grid[0][0][0] = 1;
	x_sweep();
	y_sweep();
	z_sweep();
	printf("%.6f\n", grid[1][1][1]);
	return 0;
}
