/* Scalar and, by the compiler, vector floating point; divisions, roots, conversions. */
#include <math.h>
int main(void)
{
	volatile double x = 1.5;
	volatile float f = 0.25f;
	double sum = 0;
	for (int i = 1; i < 300; i++) {
		sum += sqrt(x * i) / (i + 0.5);
		f = f * 0.99f + (float)sum;
		sum += (int)(f * 1e-6f) & 7;
	}
	return !(sum > 0);
}
