/* 10^5 regions, a name of 10^4 bytes that are no UTF-8, and names that CSV and text must quote. For
 * report_sizes_test. */
#include <stdio.h>
#include <string.h>
#include <tare.h>

static void pass(const char *name)
{
	struct tare_region *region = tare_region(name, NULL);
	tare_region_begin(region);
	tare_region_end(region);
}

int main(void)
{
	static char name[10001];
	for (unsigned i = 0; i < 100000; i++) {
		snprintf(name, sizeof name, "many %u", i);
		pass(name);
	}
	memset(name, 0xff, 10000);
	name[10000] = 0;
	pass(name);
	pass("comma, \"quotes\" and \\");
	pass("line\nbreak\ttab");
	pass("# warning: region 'none'");
	return 0;
}
