/* printf of every kind: jump tables, multiplications, writes. */
#include <stdio.h>
int main(void)
{
	printf("%d %x %s %c %.3f %e %p %5.2Lf\n", 42, 255, "text", 'c', 3.14159, 1e-10, (void *)0x1234, 2.5L);
	return 0;
}
