/* A kernel of four FP lanes (SSE single precision): a polynomial and a quotient for each element. Its loop has about twenty
   instructions: one of six (a[i] = a[i] * x + b[i]) runs at one round a cycle natively and shows the counter's own latency instead. */
#ifndef ROUNDS
#define ROUNDS 100000
#endif
typedef float lanes __attribute__((vector_size(16)));
int main(void)
{
	static lanes a[1024];
	for (int i = 0; i < 1024; i++)
		a[i] = (lanes){1, 2, 3, 4} + (float)i;
	for (int round = 0; round < ROUNDS; round++) {
		for (int i = 0; i < 1024; i++) {
			lanes x = a[i] * 0.001f;
			lanes p = ((((x * 0.2f + 0.3f) * x + 0.5f) * x + 0.7f) * x + 0.11f) * x + 0.13f;
			a[i] = p / (x * x + 1.5f) + (lanes){4, 3, 2, 1};
		}
		__asm__ volatile("" : : "r"(a) : "memory");
	}
	return a[5][1] == 12345.0f;
}
