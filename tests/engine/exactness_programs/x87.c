/* long double: the x87. */
int main(void)
{
	volatile long double x = 1.0L, sum = 0;
	for (int i = 1; i < 200; i++)
		sum += x / i;
	return !(sum > 5.8L && sum < 5.9L);
}
