/* fact: threads start after files were mapped as code: one too short for a header, and one that says it has restartable sequences
 * libs: -pthread
 * glibc ends a program of whose threads the first got an area and a later one does not. */
#include "trap.h"
#include <elf.h>
#include <pthread.h>
#include <sys/mman.h>

static bool mapped(const void *bytes, size_t n)
{
	int fd = memfd_create("rseq", 0);
	return fd >= 0 && write(fd, bytes, n) == (ssize_t)n && mmap(NULL, n, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0) != MAP_FAILED && close(fd) == 0;
}

static void *run(void *of)
{
	*(int *)of = 1;
	return NULL;
}

static bool thread_runs(void)
{
	pthread_t thread;
	int ran = 0;
	return pthread_create(&thread, NULL, run, &ran) == 0 && pthread_join(thread, NULL) == 0 && ran;
}

int main(void)
{
	static struct {
		Elf64_Ehdr header;
		Elf64_Shdr sections[2];
		char names[16];
	} elf = { .header = { .e_ident = ELFMAG, .e_shoff = sizeof elf.header, .e_shentsize = sizeof *elf.sections, .e_shnum = 2, .e_shstrndx = 1 },
		  .sections[1] = { .sh_offset = sizeof elf.header + sizeof elf.sections, .sh_size = sizeof elf.names },
		  .names = "\0__rseq_cs" };
	fact(mapped("0123456789", 10) && thread_runs(), "a thread starts after a file of 10 bytes was mapped");
	fact(mapped(&elf, sizeof elf) && thread_runs(), "a thread starts after a library with restartable sequences was mapped");
	return trap_done();
}
