/*
 * Any bytes as a JIT compiler's map file, read in two parts as it grows: an address has the name of the last line that has it, by a second
 * reading of the lines here, and what is read in parts is as what is read at once.
 */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "symbol/jit.h"
#include "symbol/jit_lines.h"

static void check(bool holds, const char *what)
{
	if (holds)
		return;
	fprintf(stderr, "%s\n", what);
	abort();
}

/* The definition: from the last line to the first. */
static const struct jit_line *last_with(const struct jit_lines *lines, uint64_t address)
{
	for (size_t i = lines->all.count; i-- > 0;) {
		const struct jit_line *l = &lines->all.items[i];
		if (address >= l->begins && address - l->begins < l->bytes)
			return l;
	}
	return NULL;
}

static void ask(struct jit_lines *lines, struct jit_names *names, uint64_t address)
{
	struct jit_code code;
	const struct jit_line *line = jit_lines_find(lines, address), *expected = last_with(lines, address);
	check(line == expected, "not the last line that has the address");
	bool found = jit_find(names, address, &code);
	check(found == (line != NULL), "read in parts an address has a name that it has not at once");
	check(!found || (strcmp(code.name, line->name) == 0 && code.begins == line->begins),
	      "read in parts the name is another");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char path[64];
	struct jit_names *names;
	struct jit_lines lines = {0};
	size_t first = size ? data[0] % size : 0;
	snprintf(path, sizeof path, "/tmp/tare-fuzz-jit-%d", (int)getpid());
	int fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
	if (fd < 0 || write(fd, data, first) != (ssize_t)first || !jit_new_file(path, &names, NULL))
		abort();
	check(jit_read(names, false, NULL), "memory ran out");
	jit_trouble(names);
	if (write(fd, data + first, size - first) != (ssize_t)(size - first))
		abort();
	check(jit_read(names, true, NULL), "memory ran out");
	for (const char *at = (const char *)data, *end = at + size; at < end;) {
		const char *newline = memchr(at, '\n', (size_t)(end - at)), *stop = newline ? newline : end;
		check(jit_lines_add(&lines, at, (size_t)(stop - at)), "memory ran out");
		at = stop + 1;
	}
	check(lines.all.count == jit_count(names), "read in parts there are other lines");
	for (size_t i = 0; i < lines.all.count && i < 100; i++) {
		const struct jit_line l = lines.all.items[i];
		ask(&lines, names, l.begins);
		ask(&lines, names, l.begins + l.bytes - 1);
		ask(&lines, names, l.begins + l.bytes);
		ask(&lines, names, l.begins - 1);
	}
	ask(&lines, names, 0);
	ask(&lines, names, UINT64_MAX);
	jit_lines_free(&lines);
	jit_free(names);
	close(fd);
	unlink(path);
	return 0;
}
