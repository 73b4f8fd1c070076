/* Zagha et al. 1996, section 4.4: a convolution for masks of any size, applied to a 3 x 3 mask that blurs an image. */
#include <stdio.h>

enum { WIDTH = 130, HEIGHT = 130 };

static float image[HEIGHT][WIDTH], blurred[HEIGHT][WIDTH];
static const float mask[3][3] = {{1, 2, 1}, {2, 4, 2}, {1, 2, 1}};

/* Each loop tests at its bottom, as the paper's compiler made them. */
static __attribute__((noipa)) void convolve(const float *in, float *out, int width, int height, const float *weights, int rows, int columns)
{
	int y = 0;
	do {
		int x = 0;
		do {
			float sum = 0;
			int j = 0;
			do {
				int i = 0;
				do
					sum += in[(y + j) * width + x + i] * weights[j * columns + i];
				while (++i < columns);
			} while (++j < rows);
			out[y * width + x] = sum / 16;
		} while (++x <= width - columns);
	} while (++y <= height - rows);
}

int main(void)
{
	for (int y = 0; y < HEIGHT; y++)
		for (int x = 0; x < WIDTH; x++)
			image[y][x] = (x * 7 + y * 3) % 32;
	convolve(image[0], blurred[0], WIDTH, HEIGHT, mask[0], 3, 3);
	printf("%.4f\n", blurred[64][64]);
	return 0;
}
