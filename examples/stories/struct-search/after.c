/* before.c with a shadow array: the numbers that the search reads stand side by side. */
#include <stdio.h>

enum { WORKERS = 20000, SHIFTS = 50 };

struct worker {
	int grade;
	char record[156]; /* name, hours, skills: not read by the search */
};

static struct worker workers[WORKERS] __attribute__((aligned(4096)));
static int grades[WORKERS] __attribute__((aligned(4096))); /* the same as workers[i].grade */

static __attribute__((noipa)) void hire(void)
{
	for (int i = 0; i < WORKERS; i++)
		grades[i] = i % 90;
	grades[WORKERS - 1] = 99;
	for (int i = 0; i < WORKERS; i++)
		workers[i].grade = i % 90;
	workers[WORKERS - 1].grade = 99;
}

static __attribute__((noipa)) int find(int grade)
{
	for (int i = 0; i < WORKERS; i++)
		if (grades[i] == grade)
			return i;
	return -1;
}

int main(void)
{
	long sum = 0;
	hire();
	for (int shift = 0; shift < SHIFTS; shift++) {
		int worker = find(99);
		workers[worker].record[shift]++;
		sum += worker;
	}
	printf("%ld\n", sum);
	return 0;
}
