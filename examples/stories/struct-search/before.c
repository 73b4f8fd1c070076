/* Zagha et al. 1996, section 4.1: a search reads one number of each structure, and each structure is larger than a cache line. */
#include <stdio.h>

enum { WORKERS = 20000, SHIFTS = 50 };

struct worker {
	int grade;
	char record[156]; /* name, hours, skills: not read by the search */
};

static struct worker workers[WORKERS] __attribute__((aligned(4096)));

static __attribute__((noipa)) void hire(void)
{
	for (int i = 0; i < WORKERS; i++)
		workers[i].grade = i % 90;
	workers[WORKERS - 1].grade = 99;
}

static __attribute__((noipa)) int find(int grade)
{
	for (int i = 0; i < WORKERS; i++)
		if (workers[i].grade == grade)
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
