# Makes the files that the programs read, the same every time: data.sh FOLDER
set -e
mkdir -p "$1"
cd "$1"
[ -s text ] || awk 'BEGIN { x = 1; for (i = 0; i < 60000; i++) { x = (x * 16807) % 2147483647; w = ""; for (j = 0; j < x % 9 + 3; j++) w = w sprintf("%c", 97 + (int(x / (j + 3)) % 26)); printf "%s %d k%d b%dx\n", w, x % 100003, i % 997, x % 11 } }' > text.new && [ -s text ] || mv text.new text
rm -f text.new
cat > source.c <<'C'
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct item {
	struct item *next;
	int key, value;
};
static struct item *bucket[64];

static unsigned long collatz(unsigned long n)
{
	unsigned long steps = 0;
	while (n != 1) {
		n = n % 2 ? 3 * n + 1 : n / 2;
		steps++;
	}
	return steps;
}

static void put(int key, int value)
{
	struct item *item = malloc(sizeof *item);
	item->key = key, item->value = value;
	item->next = bucket[key % 64];
	bucket[key % 64] = item;
}

static int compare(const void *a, const void *b)
{
	return *(const int *)a - *(const int *)b;
}

int main(void)
{
	static int data[5000];
	unsigned long best = 0, sum = 0;
	double x = 0;
	for (unsigned long n = 1; n < 3000; n++)
		if (collatz(n) > best)
			best = collatz(n);
	for (int i = 0; i < 5000; i++) {
		data[i] = i * 7919 % 5003;
		put(data[i], i);
		x = x * 0.99 + data[i] / 3.0;
	}
	qsort(data, 5000, sizeof data[0], compare);
	for (int i = 0; i < 64; i++)
		for (struct item *item = bucket[i]; item; item = item->next)
			sum += (unsigned long)item->value * (unsigned)i;
	printf("%lu %lu %d %.6f\n", best, sum, data[2500], x);
	return 0;
}
C
