/* switch through a table, computed goto. */
int main(void)
{
	static void *const places[] = {&&a, &&b, &&c};
	unsigned x = 1, sum = 0;
	for (int i = 0; i < 500; i++) {
		x = x * 1664525u + 1013904223u;
		switch (x >> 29) {
		case 0: sum += 1; break;
		case 1: sum ^= 5; break;
		case 2: sum -= 3; break;
		case 3: sum *= 3; break;
		case 4: sum += x; break;
		case 5: sum = ~sum; break;
		default: sum <<= 1;
		}
		goto *places[x % 3];
a:		sum++;
		continue;
b:		sum += 2;
		continue;
c:		sum ^= 1;
	}
	return sum == 0x12345;
}
