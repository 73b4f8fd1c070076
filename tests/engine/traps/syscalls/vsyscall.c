/* fact: the vsyscall page can be called (time, gettimeofday, getcpu), where the kernel has it */
#include "trap.h"
#include <sys/time.h>

int main(void)
{
	FILE *maps = fopen("/proc/self/maps", "r");
	char line[300];
	bool there = false;
	while (fgets(line, sizeof line, maps))
		there |= strstr(line, "[vsyscall]") != NULL;
	fclose(maps);
	if (!there)
		skip_trap("the kernel has no vsyscall page");
	long wrong = 0;
	for (int i = 0; i < 100; i++) {
		struct timeval now = { 0, 0 };
		unsigned cpu = 99999, node;
		time_t seconds = time(NULL);
		long result = ((long (*)(struct timeval *, void *))0xffffffffff600000)(&now, NULL);
		wrong += result != 0 || now.tv_sec - seconds > 2 || now.tv_sec < seconds;
		time_t other = 0;
		result = ((long (*)(time_t *))0xffffffffff600400)(&other);
		wrong += result != other || other - seconds > 2;
		result = ((long (*)(unsigned *, unsigned *, void *))0xffffffffff600800)(&cpu, &node, NULL);
		wrong += result != 0 || cpu > 4096;
	}
	fact_equal(wrong, 0, "a hundred calls of each");
	return trap_done();
}
