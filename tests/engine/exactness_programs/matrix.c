/* A product of matrices, vectorised by the compiler. */
int main(void)
{
	static float a[24][24], b[24][24], c[24][24];
	for (int i = 0; i < 24; i++)
		for (int j = 0; j < 24; j++)
			a[i][j] = (float)(i + j), b[i][j] = (float)(i - j);
	for (int i = 0; i < 24; i++)
		for (int k = 0; k < 24; k++)
			for (int j = 0; j < 24; j++)
				c[i][j] += a[i][k] * b[k][j];
	return c[3][4] == 0.125f;
}
