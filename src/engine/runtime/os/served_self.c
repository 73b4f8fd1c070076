/*
 * The files of /proc in which a process reads of itself, where it is chosen what the program sees of the machine:
 *
 *     auxv     the vector that lies on its stack (os/served_start.c)
 *     maps     the program's mappings without the engine's, and without numbers of devices and files
 *
 * What always holds: a mapping of a file has device 00:01 and number 1, all others have zeros. The kernel's page
 * for old system calls ([vsyscall]) is left out: kernels are built with and without it.
 */
#include "engine/runtime/cache/memory.h"
#include "engine/runtime/os/calls.h"
#include "engine/runtime/os/served.h"
#include "engine/runtime/thread.h"

#define PATH_COLUMN 73u /* fs/proc/task_mmu.c */

static uint32_t digits(char *to, uint64_t value, uint32_t least)
{
	uint32_t n = least;
	while (n < 16 && value >> (4 * n))
		n++;
	for (uint32_t i = 0; i < n; i++) {
		uint32_t digit = value >> (4 * (n - 1 - i)) & 15;
		to[i] = (char)(digit < 10 ? '0' + digit : 'a' + digit - 10);
	}
	return n;
}

static bool is_text(const char *a, const char *b) { return !memcmp(a, b, text_length(b) + 1); }

/* Kernels differ in what they call so: it is what ends where the heap ends. */
static bool is_heap(const struct mapping *m) { return m->end == (((uint64_t)sys1(SYS_brk, 0) + 4095) & ~4095ull); }

static void write_line(const struct mapping *m, void *context)
{
	char line[96];
	uint32_t n = 0, path = (uint32_t)text_length(m->path);
	if (path == 6 && is_text(m->path, "[heap]") && !is_heap(m))
		path = 0;
	uint64_t fd = *(const uint64_t *)context;
	if (own_any(m->start, m->end) || (path == 10 && is_text(m->path, "[vsyscall]")))
		return;
	n += digits(line + n, m->start, 8);
	line[n++] = '-';
	n += digits(line + n, m->end, 8);
	line[n++] = ' ';
	line[n++] = m->protection & PROT_READ_ ? 'r' : '-';
	line[n++] = m->protection & PROT_WRITE_ ? 'w' : '-';
	line[n++] = m->protection & PROT_EXEC_ ? 'x' : '-';
	line[n++] = m->shared ? 's' : 'p';
	line[n++] = ' ';
	n += digits(line + n, m->offset, 8);
	memcpy(line + n, m->inode ? " 00:01 1 " : " 00:00 0 ", 9);
	n += 9;
	while (path && n < PATH_COLUMN)
		line[n++] = ' ';
	sys3(SYS_write, fd, line, n);
	sys3(SYS_write, fd, m->path, path);
	sys3(SYS_write, fd, "\n", 1);
}

void served_maps(uint64_t fd)
{
	lock();
	maps_read(write_line, &fd);
	unlock();
}
