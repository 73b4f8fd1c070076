/*
 * What lies on the program's stack when it begins, where it is chosen what the program sees of the machine.
 *
 *     arguments' and environment's text      as the kernel has put it
 *     16 random bytes, "x86_64"              served; from here on down all is written anew
 *     auxiliary vector                       SLOTS entries in one order, whichever the kernel has
 *     environment, arguments, their number   ◄── the stack pointer
 *
 * Kernels differ in how many entries they give and in what order, so that the stack pointer also differed. Entries
 * that are not in the list below are left out; what a kernel does not have is AT_IGNORE. The vdso is withheld
 * (AT_SYSINFO_EHDR): clocks are read by system calls then. The host has unmapped it (inject/takeover.c).
 */
#include "engine/runtime/os/served.h"
#include "engine/runtime/runtime.h"

enum { /* of the auxiliary vector */
       AT_NULL = 0,
       AT_IGNORE = 1,
       AT_EXECFD = 2,
       AT_PHDR = 3,
       AT_PHENT = 4,
       AT_PHNUM = 5,
       AT_PAGESZ = 6,
       AT_BASE = 7,
       AT_FLAGS = 8,
       AT_ENTRY = 9,
       AT_UID = 11,
       AT_EUID = 12,
       AT_GID = 13,
       AT_EGID = 14,
       AT_PLATFORM = 15,
       AT_HWCAP = 16,
       AT_CLKTCK = 17,
       AT_SECURE = 23,
       AT_RANDOM = 25,
       AT_HWCAP2 = 26,
       AT_EXECFN = 31,
       AT_MINSIGSTKSZ = 51
};

struct auxiliary {
	uint64_t type, value;
};

static const uint8_t order[] = {AT_MINSIGSTKSZ, AT_HWCAP,  AT_PAGESZ, AT_CLKTCK, AT_PHDR,     AT_PHENT, AT_PHNUM,
				AT_BASE,        AT_FLAGS,  AT_ENTRY,  AT_UID,    AT_EUID,     AT_GID,   AT_EGID,
				AT_SECURE,      AT_RANDOM, AT_HWCAP2, AT_EXECFN, AT_PLATFORM, AT_EXECFD};
enum { SLOTS = sizeof order + 1, ENTRIES_MOST = 64 };
#define PLATFORM "x86_64"
#define RANDOM_BYTES 16u
/* of a signal's frame with AVX-512 and protection keys, as Linux says it where there is no AMX: enough for all */
#define SIGNAL_FRAME 3632u

static struct auxiliary shown[SLOTS];

static uint64_t value_of(const struct auxiliary *given, unsigned n, uint64_t type, bool *there)
{
	*there = false;
	for (unsigned i = 0; i < n; i++)
		if (given[i].type == type) {
			*there = true;
			return given[i].value;
		}
	return 0;
}

static struct auxiliary served_entry(const struct auxiliary *given, unsigned n, uint64_t type, uint64_t random,
				     uint64_t platform)
{
	bool there;
	struct auxiliary e = {type, value_of(given, n, type, &there)};
	uint32_t features[4];
	switch (type) {
	case AT_RANDOM: e.value = random; return e;
	case AT_PLATFORM: e.value = platform; return e;
	case AT_HWCAP2: e.value = 0; return e; /* no fsgsbase */
	case AT_MINSIGSTKSZ: e.value = SIGNAL_FRAME; return e;
	case AT_HWCAP:
		if (rt.served > SERVED_HOST) {
			x86_served_cpuid(rt.served, 1, 0, NULL, features);
			e.value = features[3];
		}
		return e;
	}
	if (!there)
		e = (struct auxiliary){AT_IGNORE, 0};
	return e;
}

static void move_words(uint64_t *to, const uint64_t *from, uint64_t n)
{
	if (to < from)
		for (uint64_t i = 0; i < n; i++)
			to[i] = from[i];
	else
		while (n--)
			to[n] = from[n];
}

uint64_t served_start(uint64_t rsp)
{
	const uint64_t *words = (const uint64_t *)rsp;
	struct auxiliary given[ENTRIES_MOST];
	uint64_t n = words[0] + 2; /* the number, the arguments, their end */
	unsigned entries = 0;
	while (words[n++]) /* the environment, its end */
		continue;
	const struct auxiliary *vector = (const struct auxiliary *)(words + n);
	while (entries < ENTRIES_MOST && vector[entries].type != AT_NULL) {
		given[entries] = vector[entries];
		entries++;
	}
	if (!words[0])
		return rsp; /* no text to go by */
	uint64_t random = (words[1] & ~15ull) - RANDOM_BYTES, platform = random - 16;
	for (unsigned i = 0; i < SLOTS - 1; i++)
		shown[i] = served_entry(given, entries, order[i], random, platform);
	uint64_t at = platform - sizeof shown, start = (at - n * 8) & ~15ull;
	move_words((uint64_t *)start, words, n);
	/* directly behind the environment's end */
	memcpy((void *)(start + n * 8), shown, sizeof shown);
	memset((void *)(start + n * 8 + sizeof shown), 0, platform - (start + n * 8 + sizeof shown));
	memset((void *)platform, 0, 16);
	memcpy((void *)platform, PLATFORM, sizeof PLATFORM);
	uint64_t numbers[2] = {served_random(), served_random()};
	memcpy((void *)random, numbers, sizeof numbers);
	/* limits of the stack's size move what the kernel places */
	served_saw(RECORD_SAW_ADDRESS, start);
	served_saw(RECORD_SAW_ADDRESS, value_of(given, entries, AT_BASE, &(bool){false}));
	return start;
}

uint64_t served_vector(const void **vector)
{
	*vector = shown;
	return sizeof shown;
}
