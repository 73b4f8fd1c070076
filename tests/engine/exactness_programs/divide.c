/* Integer multiplication and division of every width, 128 bits in libgcc. */
int main(void)
{
	volatile unsigned long x = 0xfedcba9876543210ul;
	volatile unsigned char small = 200;
	unsigned long sum = 0;
	for (unsigned long i = 1; i < 200; i++) {
		sum += x / i + x % (i + 7) + small / (unsigned char)(i | 1) + (unsigned)x / (unsigned)i;
		sum += (unsigned long)(((unsigned __int128)x * i) / (i * 3 + 1));
	}
	return sum == 0;
}
