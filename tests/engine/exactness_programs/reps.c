/* rep string instructions of every kind and direction. */
int main(void)
{
	static char a[3000], b[3000];
	for (unsigned long n = 0; n < 2000; n += 333) {
		unsigned long count = n;
		void *to = a;
		const void *from = b;
		__asm__ volatile("rep movsb" : "+c"(count), "+D"(to), "+S"(from) : : "memory");
		count = n / 8, to = a;
		__asm__ volatile("rep stosq" : "+c"(count), "+D"(to) : "a"(0x0101010101010101ul) : "memory");
		count = n + 1, to = a;
		__asm__ volatile("repne scasb" : "+c"(count), "+D"(to) : "a"(0) : "memory", "cc");
		count = n, to = a, from = b;
		__asm__ volatile("repe cmpsb" : "+c"(count), "+D"(to), "+S"(from) : : "memory", "cc");
		count = n / 2, to = a + 2900, from = b + 2900;
		__asm__ volatile("std; rep movsw; cld" : "+c"(count), "+D"(to), "+S"(from) : : "memory");
	}
	return 0;
}
