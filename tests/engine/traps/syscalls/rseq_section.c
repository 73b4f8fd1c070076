/* fact: a restartable sequence interrupted by a signal goes to its abort handler, if rseq is there at all
 * Where rseq is absent nothing can be seen, and the text is the same. */
#include "trap.h"
#include <stddef.h>
#include <sys/time.h>

struct area {
	uint32_t cpu_id_start, cpu_id;
	uint64_t section;
	uint32_t flags, padding[3];
};
extern const ptrdiff_t __rseq_offset;
extern const unsigned __rseq_size;
static volatile long signals;
static void handler(int signal, siginfo_t *info, void *context)
{
	(void)signal, (void)info, (void)context, signals++;
}

int main(void)
{
	struct area *area = (struct area *)((char *)__builtin_thread_pointer() + __rseq_offset);
	volatile long aborted = 0, left = 0;
	on_signal(SIGALRM, handler, 0);
	if (__rseq_size) {
		setitimer(ITIMER_REAL, &(struct itimerval){ { 0, 1000 }, { 0, 1000 } }, NULL);
		for (int i = 0; i < 100; i++) {
			long result;
			/* a section that spins until it is aborted */
			asm volatile("lea 3f(%%rip), %%rax; mov %%rax, %1\n1: jmp 1b; 2: nop\n"
				     ".pushsection __rseq_cs, \"aw\"; .balign 32; 3: .long 0, 0; .quad 1b, 2b - "
				     "1b, 4f; .popsection\n"
				     "jmp 5f; .long 0x53053053; 4: mov $1, %0; jmp 6f; 5: mov $2, %0\n6:"
				     : "=&r"(result), "=m"(area->section)::"rax", "memory", "cc");
			aborted += result == 1, left += result == 2;
		}
		setitimer(ITIMER_REAL, &(struct itimerval){ { 0, 0 }, { 0, 0 } }, NULL);
		fact(aborted == 100 && signals > 0, "a hundred sections were aborted, or rseq is absent");
	} else
		fact(true, "a hundred sections were aborted, or rseq is absent");
	return trap_done();
}
