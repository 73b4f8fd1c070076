/* before.c with open addresses: the entries stand in the table itself, no wider than what is looked for, and the next one to look at is the one
 * behind. What else the user stored would be in an array of its own, which no search reads. */
#include <stdint.h>
#include <stdio.h>

enum { ENTRIES = 1 << 17, KEYS = 100000, LOOKUPS = 200000 };

struct entry {
	uint32_t key, value; /* key: one more than the user's; 0 is free */
};

static struct entry table[ENTRIES] __attribute__((aligned(4096)));

static uint64_t scatter(uint64_t n)
{
	n *= 0x9e3779b97f4a7c15;
	return n ^ n >> 29;
}

static void insert(uint64_t key)
{
	uint64_t at = scatter(key) % ENTRIES;
	while (table[at].key)
		at = (at + 1) % ENTRIES;
	table[at] = (struct entry){key + 1, key / 3};
}

static __attribute__((noipa)) uint64_t find(uint64_t key)
{
	for (uint64_t at = scatter(key) % ENTRIES; table[at].key; at = (at + 1) % ENTRIES)
		if (table[at].key == key + 1)
			return table[at].value;
	return 0;
}

int main(void)
{
	uint64_t sum = 0;
	for (uint64_t key = 0; key < KEYS; key++)
		insert(key);
	for (uint64_t i = 0; i < LOOKUPS; i++)
		sum += find(scatter(i) % KEYS);
	printf("%ld\n", (long)sum);
	return 0;
}
