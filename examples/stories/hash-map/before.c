/* A hash map as many libraries have it: a table of pointers, and behind each a list of nodes, allocated one by one. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { BUCKETS = 1 << 17, KEYS = 100000, LOOKUPS = 200000 };

struct node {
	struct node *next;
	uint64_t key, value;
	char rest[40]; /* what the user stored with it */
};

static struct node *table[BUCKETS] __attribute__((aligned(4096)));
static long visited;

static uint64_t scatter(uint64_t n)
{
	n *= 0x9e3779b97f4a7c15;
	return n ^ n >> 29;
}

static void insert(uint64_t key, struct node *node)
{
	struct node **bucket = &table[scatter(key) % BUCKETS];
	*node = (struct node){.next = *bucket, .key = key, .value = key / 3};
	*bucket = node;
}

static __attribute__((noipa)) uint64_t find(uint64_t key)
{
	for (struct node *node = table[scatter(key) % BUCKETS]; node; node = node->next) {
		visited++;
		if (node->key == key)
			return node->value;
	}
	return 0;
}

int main(void)
{
	uint64_t sum = 0;
	struct node *nodes = aligned_alloc(64, KEYS * sizeof *nodes);
	for (uint64_t key = 0; key < KEYS; key++)
		insert(key, &nodes[key]);
	for (uint64_t i = 0; i < LOOKUPS; i++)
		sum += find(scatter(i) % KEYS);
	printf("%ld\n", (long)sum);
	fprintf(stderr, "%ld nodes visited\n", visited);
	return 0;
}
