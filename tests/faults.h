/* The known event of the tests of libtare: each first touch of a private page is one page fault, on any machine and without a PMU. */
#ifndef TARE_TESTS_FAULTS_H
#define TARE_TESTS_FAULTS_H

#include <dirent.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "tap.h" /* SANITIZED */

/* A sanitizer's shadow has page faults of its own. */
#if defined(SANITIZED) || defined(__SANITIZE_THREAD__)
#define OWN_FAULTS 1
#else
#define OWN_FAULTS 0
#endif

/* Exactly `pages` page faults, and none in the calls around them once these have run before: code, stack and
 * (after a fork) their copies are there then. So everything that is counted to the last fault is done twice, and
 * counted the second time. */
__attribute__((no_sanitize("thread"))) static inline void touch(size_t pages)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	/* by syscall(2): TSan gives what it sees mapped a shadow, which has faults, too */
	volatile char *memory = (volatile char *)syscall(SYS_mmap, NULL, pages * page, PROT_READ | PROT_WRITE,
							 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	madvise((void *)memory, pages * page, MADV_NOHUGEPAGE);
	for (size_t i = 0; i < pages; i++)
		memory[i * page] = 1;
	syscall(SYS_munmap, memory, pages * page);
}

/* Of this process. */
static inline size_t open_files(void)
{
	DIR *folder = opendir("/proc/self/fd");
	size_t n = 0;
	while (folder && readdir(folder))
		n++;
	if (folder)
		closedir(folder);
	return n;
}

#endif
