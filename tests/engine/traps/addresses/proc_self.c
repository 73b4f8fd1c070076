/* fact: /proc/self/exe and maps are the program's: file, text, heap, stack and vdso */
#include "trap.h"
#include <limits.h>
#include <sys/stat.h>

int main(int count, char **argument)
{
	char path[PATH_MAX] = { 0 }, *own = realpath(argument[0], NULL), line[600];
	struct stat one, two;
	(void)count;
	fact(readlink("/proc/self/exe", path, sizeof path - 1) > 0 && !strcmp(path, own),
	     "/proc/self/exe is the program");
	fact(stat("/proc/self/exe", &one) == 0 && stat(own, &two) == 0 && one.st_ino == two.st_ino,
	     "and can be opened");
	snprintf(line, sizeof line, "/proc/%d/exe", getpid());
	memset(path, 0, sizeof path);
	fact(readlink(line, path, sizeof path - 1) > 0 && !strcmp(path, own), "by its number too");
	FILE *maps = fopen("/proc/self/maps", "r");
	int local, text = 0, stack = 0, heap = 0, vdso = 0, libc = 0, own_lines = 0, ordered = 1;
	char *block = malloc(100);
	unsigned long last = 0;
	while (fgets(line, sizeof line, maps)) {
		unsigned long from, to;
		char rights[8];
		sscanf(line, "%lx-%lx %7s", &from, &to, rights);
		ordered &= from >= last;
		last = to;
		bool mine = strstr(line, own) != NULL;
		own_lines += mine;
		text |= mine && (unsigned long)main >= from && (unsigned long)main < to && rights[0] == 'r' &&
			rights[2] == 'x' && rights[1] == '-';
		stack |= strstr(line, "[stack]") && (unsigned long)&local >= from && (unsigned long)&local < to;
		heap |= strstr(line, "[heap]") && (unsigned long)block >= from && (unsigned long)block < to;
		vdso |= strstr(line, "[vdso]") != NULL;
		libc |= strstr(line, "libc") && strstr(line, "r-xp");
	}
	fact(ordered, "maps are in order");
	fact(text, "main lies in a mapping of the program, r-x");
	fact(own_lines >= 4, "the program's segments are named by its file");
	fact(stack, "a local variable lies in [stack]");
	fact(heap, "malloc's block lies in [heap]");
	fact(vdso && libc, "vdso and libc are there");
	return trap_done();
}
