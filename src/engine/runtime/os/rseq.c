/*
 * Restartable sequences.
 *
 * glibc registers an area and reads the processor's number from it, which works as it is. A critical section does
 * not: the kernel compares rip with the program's addresses. A program that says to have some is answered as by an
 * older kernel.
 */
#include "engine/runtime/entry.h"
#include "engine/runtime/os/calls.h"
#include "engine/runtime/os/syscall_internal.h"
#include "engine/runtime/record/record.h"
#include "engine/runtime/runtime.h"

/* Whether the file says that it has restartable sequences: a section named __rseq_cs. One that cannot be read may
 * have. */
static bool has_rseq_sections(long fd)
{
	static char names[16384];
	struct {
		uint8_t ident[16];
		uint16_t type, machine;
		uint32_t version;
		uint64_t entry, phoff, shoff;
		uint32_t flags;
		uint16_t ehsize, phentsize, phnum, shentsize, shnum, shstrndx;
	} elf;
	struct {
		uint32_t name, type;
		uint64_t flags, addr, offset, size;
		uint32_t link, info;
		uint64_t align, entsize;
	} section;
	bool result = false;
	long header = failed(fd) ? fd : sys4(SYS_pread64, fd, &elf, sizeof elf, 0);
	if (failed(header))
		return true;
	if (header == (long)sizeof elf && !memcmp(elf.ident, "\177ELF", 4)) {
		if (elf.shoff && elf.shstrndx &&
		    sys4(SYS_pread64, fd, &section, sizeof section,
			 elf.shoff + (uint64_t)elf.shstrndx * sizeof section) == (long)sizeof section) {
			long n = sys4(SYS_pread64, fd, names,
				      section.size < sizeof names ? section.size : sizeof names, section.offset);
			for (long i = 0; i + 9 < n; i++)
				if (!memcmp(names + i, "__rseq_cs", 9))
					result = true;
		}
	}
	return result;
}

static bool program_has_rseq_sections(void)
{
	long fd = sys3(SYS_open, "/proc/self/exe", O_CLOEXEC_, 0);
	bool result = has_rseq_sections(fd);
	if (!failed(fd))
		sys1(SYS_close, fd);
	return result;
}

/*
 * A library with such sections. The kernel would end one that it interrupts; here it sees an address of the cache,
 * takes the section for left and forgets it, perhaps before rseq_watch() looks.
 */
void rseq_library(long fd)
{
	if (rt.rseq_sections == 2 || rt.calls_denied || fd < 0 || !has_rseq_sections(fd))
		return;
	rt.rseq_sections = 2;
	if (rt.rseq_given)
		inexact("a library uses restartable sequences, which do not restart under the engine");
}

long rseq_call(struct thread *t, uint64_t nr)
{
	uint64_t area = t->reg[X86_RDI];
	if (!rt.rseq_sections)
		rt.rseq_sections = program_has_rseq_sections() ? 2 : 1;
	/* once it has one thread's area, a libc ends the program if it does not get the next one's */
	if (rt.rseq_sections == 2 && !rt.rseq_given)
		return -ENOSYS_;
	long result = call_make(t, nr);
	if (result == 0) {
		t->rseq = t->reg[X86_RDX] & 1 ? 0 : area;
		rt.rseq_given = 1;
	}
	return result;
}

void rseq_watch(struct thread *t)
{
	uint64_t section = 0;
	if (t->rseq && safe_copy(&section, (const void *)(t->rseq + 8), 8) && section)
		inexact("the program uses restartable sequences, which do not restart under the engine");
}
