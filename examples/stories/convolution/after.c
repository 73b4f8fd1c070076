/* before.c as the paper's compiler changed it: the loops over the mask are outside of the loop over the row (interchange), and unrolled into one
   pass of it (unroll and jam); the mask's size is a constant (inter-procedural analysis). */
#include <stdio.h>

enum { WIDTH = 130, HEIGHT = 130 };

static float image[HEIGHT][WIDTH], blurred[HEIGHT][WIDTH];
static const float mask[3][3] = {{1, 2, 1}, {2, 4, 2}, {1, 2, 1}};

static __attribute__((noipa)) void convolve(const float *in, float *out, int width, int height, const float *w)
{
	int y = 0;
	do {
		const float *a = in + y * width, *b = a + width, *c = b + width;
		int x = 0;
		do
			out[y * width + x] = (a[x] * w[0] + a[x + 1] * w[1] + a[x + 2] * w[2] + b[x] * w[3] + b[x + 1] * w[4] + b[x + 2] * w[5] +
					      c[x] * w[6] + c[x + 1] * w[7] + c[x + 2] * w[8]) / 16;
		while (++x <= width - 3);
	} while (++y <= height - 3);
}

int main(void)
{
	for (int y = 0; y < HEIGHT; y++)
		for (int x = 0; x < WIDTH; x++)
			image[y][x] = (x * 7 + y * 3) % 32;
	convolve(image[0], blurred[0], WIDTH, HEIGHT, mask[0]);
	printf("%.4f\n", blurred[64][64]);
	return 0;
}
