#include <stdio.h>
#include <stdlib.h>
double sum(const double *table, int n)
{
	double sum = 0;
	for (int column = 0; column < n; column++)
		for (int row = 0; row < n; row++)
			sum += table[row * n + column];
	return sum;
}
int main(void)
{
	int n = 1000;
	double *table = malloc(sizeof *table * n * n);
	for (int i = 0; i < n * n; i++)
		table[i] = i % 7;
	printf("%g\n", sum(table, n));
	free(table);
	return 0;
}
