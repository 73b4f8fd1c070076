/* Stubs: names of their regions, and what they do when all registers are saved. See stubs.h. */
#include "api/stubs.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "api/regions.h"

#if defined(__aarch64__)
#include <asm/hwcap.h>
#include <sys/auxv.h>

/* Before any region can be counted. */
__attribute__((constructor(101))) static void find_sve(void) { stub_sve = (getauxval(AT_HWCAP) & HWCAP_SVE) != 0; }
#endif

/* The region of a number that has no other name. */
static struct tare_region *numbered(unsigned number)
{
	char name[16];
	snprintf(name, sizeof name, "asm_%u", number);
	return tare_region(name, NULL);
}

static struct tare_region *region_of(unsigned number)
{
	struct tare_region *region = atomic_load_explicit(&stub_regions[number], memory_order_acquire),
			   *none = NULL;
	if (region || !(region = numbered(number)))
		return region;
	if (!atomic_compare_exchange_strong(&stub_regions[number], &none, region))
		region = none;
	return region;
}

bool stub_slow(unsigned id)
{
	int kept_errno = errno;
	bool again = false;
	if (id == STUB_INIT) {
		stubs_bind();
		for (unsigned number = 0; number < TARE_ASM_REGIONS; number++)
			region_of(number);
	} else if (id % 2 == 0) {
		again = region_enter_slowly(region_of(id / 2));
	} else {
		region_leave_slowly(region_of(id / 2));
	}
	errno = kept_errno;
	return again;
}

/* Two names for one number are two regions that are counted as one: its name says so from here on. */
static bool second_name(unsigned number, const struct tare_region *first, const char *name,
			struct tare_error *error)
{
	char both[512];
	int prefix = snprintf(both, sizeof both, "asm_%u: ", number);
	if (strncmp(first->name, both, (size_t)prefix) != 0) {
		snprintf(both + prefix, sizeof both - (size_t)prefix, "%.200s, %.200s", first->name, name);
		struct tare_region *region = tare_region(both, NULL);
		if (region)
			atomic_store_explicit(&stub_regions[number], region, memory_order_release);
	}
	return api_fail_text(error, TARE_ERROR_USAGE, "the number has another name already",
			     "give every region of the program a number of its own");
}

bool tare_asm_name(unsigned number, const char *name, struct tare_error *error)
{
	struct tare_region *had, *region;
	if (number >= TARE_ASM_REGIONS)
		return api_fail_text(error, TARE_ERROR_USAGE, "the number is more than 99", "");
	if (!(region = tare_region(name, error)))
		return false;
	had = atomic_load_explicit(&stub_regions[number], memory_order_acquire);
	while (!had || had == numbered(number))
		if (atomic_compare_exchange_strong(&stub_regions[number], &had, region))
			return true;
	return had == region || second_name(number, had, name, error);
}
