/* fact: rseq either works or answers ENOSYS: the cpu number is kept and a critical section is restarted
 * The text is the same in both cases: glibc falls back. */
#include "trap.h"
#include <sched.h>
#include <stddef.h>

struct area {
	uint32_t cpu_id_start, cpu_id;
	uint64_t section;
	uint32_t flags, node, mm_cid, padding;
} __attribute__((aligned(32)));
static struct area area;

int main(void)
{
	extern const ptrdiff_t __rseq_offset;
	extern const unsigned __rseq_size;
	bool registered = __rseq_size != 0;
	if (registered) {
		struct area *of_libc = (struct area *)((char *)__builtin_thread_pointer() + __rseq_offset);
		int cpu = (int)of_libc->cpu_id;
		fact(cpu >= 0 && cpu < 4096, "the registered area has a cpu number, or there is none");
	} else
		fact(true, "the registered area has a cpu number, or there is none");
	fact(sched_getcpu() >= 0, "sched_getcpu works either way");
	long result = syscall(SYS_rseq, &area, 32, 0, 0x53053053);
	fact(result == 0 || errno == ENOSYS || (registered && errno == EINVAL) || errno == EBUSY,
	     "a second registration is refused, or rseq is absent");
	return trap_done();
}
