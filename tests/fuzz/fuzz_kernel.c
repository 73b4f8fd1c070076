/*
 * Any bytes as /proc/kallsyms and /proc/modules: what an address is called stands in the file, begins at or below the address, and is the same
 * when its begin is asked for.
 */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "symbol/kernel.h"

static void check(bool holds, const char *what)
{
	if (holds)
		return;
	fprintf(stderr, "%s\n", what);
	abort();
}

static void write_file(const char *folder, const char *name, const uint8_t *bytes, size_t n)
{
	char path[128];
	snprintf(path, sizeof path, "%s/%s", folder, name);
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	check(fd >= 0 && write(fd, bytes, n) == (ssize_t)n, "no file");
	close(fd);
}

static void ask(const struct kernel_names *names, uint64_t address, const uint8_t *data, size_t size)
{
	struct kernel_code code, again;
	if (!kernel_find(names, address, &code))
		return;
	check(code.begins != 0 && code.begins <= address, "a function begins above its address, or at 0");
	check(code.function && code.function[0] && code.module && code.module[0] == '[',
	      "a function without a name or a module");
	check(memmem(data, size, code.function, strlen(code.function)) != NULL, "a name that no line has");
	check(kernel_find(names, code.begins, &again) && again.begins == code.begins &&
		      strcmp(again.function, code.function) == 0,
	      "a function's begin is in another one");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char folder[64];
	const char *hint;
	struct kernel_names *names;
	size_t split = size ? data[0] * size / 256 : 0;
	snprintf(folder, sizeof folder, "/tmp/tare-fuzz-kernel-%d", (int)getpid());
	mkdir(folder, 0700);
	write_file(folder, "kallsyms", data, split);
	write_file(folder, "modules", data + split, size - split);
	check(kernel_new(folder, &names, NULL), "memory ran out");
	kernel_trouble(names, &hint);
	/* every number that stands in it, and its neighbours */
	for (size_t at = 0, n = 0; at < split && n < 200; at++) {
		uint64_t address = 0;
		size_t digits = 0;
		for (; at < split && digits < 16; at++, digits++) {
			int c = data[at] | 0x20, value = c >= '0' && c <= '9'   ? c - '0'
							 : c >= 'a' && c <= 'f' ? c - 'a' + 10
										: -1;
			if (value < 0)
				break;
			address = address << 4 | (unsigned)value;
		}
		for (int step = -1; digits && step <= 1; step++, n++)
			ask(names, address + (uint64_t)(int64_t)step, data, split);
	}
	ask(names, 0, data, split);
	ask(names, UINT64_MAX, data, split);
	kernel_free(names);
	return 0;
}
