/* A convolution by a 3 x 3 mask, for masks of any size, and with the mask's loops unrolled, as the paper's compiler made it after its
 * switches were changed (Zagha et al. 1996, section 4.4).   blur N [unrolled]: N x N points */
#include <stdlib.h>
#include <string.h>

#include "text.h"

enum { MOST = 512 };

/* not static: what the compiler knows of them it would not compute */
extern float image[], blurred[], mask[];
float image[(MOST + 2) * (MOST + 2)], blurred[(MOST + 2) * (MOST + 2)], mask[9] = {1, 2, 1, 2, 4, 2, 1, 2, 1};

void convolve(long n, long width, int rows, int columns);
void convolve_unrolled(long n, long width);

/* Each loop tests at its bottom, as the paper's compiler made them. */
KERNEL_FUNCTION convolve(long n, long width, int rows, int columns)
{
	long y = 0;
	do {
		long x = 0;
		do {
			float sum = 0;
			int j = 0;
			do {
				int i = 0;
				do
					sum += image[(y + j) * width + x + i] * mask[j * columns + i];
				while (++i < columns);
			} while (++j < rows);
			blurred[y * width + x] = sum / 16;
		} while (++x < n);
	} while (++y < n);
}

KERNEL_FUNCTION convolve_unrolled(long n, long width)
{
	long y = 0;
	do {
		long x = 0;
		do {
			const float *at = image + y * width + x, *next = at + width, *last = next + width;
			blurred[y * width + x] = (at[0] + 2 * at[1] + at[2] + 2 * next[0] + 4 * next[1] + 2 * next[2] + last[0] +
						  2 * last[1] + last[2]) /
						 16;
		} while (++x < n);
	} while (++y < n);
}

int main(int argc, char **argv)
{
	long n = argc > 1 ? atol(argv[1]) : 0;
	if (n < 1 || n > MOST)
		return 2;
	if (argc > 2 && strcmp(argv[2], "unrolled") == 0)
		convolve_unrolled(n, n + 2);
	else
		convolve(n, n + 2, 3, 3);
	return 0;
}
