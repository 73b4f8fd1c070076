/* fact: a call's target patched by one thread while another runs it is the old or the new one
 * V8 and the JVM patch a displacement that lies within eight aligned bytes. */
#include "trap.h"

static char *code;
static atomic_int stop, current;
static atomic_long wrong, calls;
static void *runner(void *unused)
{
	while (!stop) {
		int before = current, result = call_code(code);
		if (result < before - 1)
			wrong++;
		calls++;
	}
	return unused;
}

int main(void)
{
	pthread_t thread;
	code = map_anywhere(1 << 16, PROT_READ | PROT_WRITE | PROT_EXEC);
	for (int i = 0; i < 1000; i++)
		write_return(code + 4096 + i * 32, i);
	code[3] = (char)0xe9; /* jmp rel32 at 3: displacement at 4, aligned */
	memset(code, 0x90, 3);
	*(int *)(code + 4) = 4096 - 8;
	pthread_create(&thread, NULL, runner, NULL);
	for (int i = 1; i < 1000; i++) {
		__atomic_store_n((int *)(code + 4), 4096 + i * 32 - 8, __ATOMIC_SEQ_CST);
		/* the serialisation that a cross-modifying JIT asks of the other processors */
		syscall(SYS_membarrier, 64, 0, 0);
		syscall(SYS_membarrier, 32, 0, 0);
		current = i;
		long seen = calls;
		while (calls < seen + 2)
			;
	}
	fact_equal(call_code(code), 999, "the patching thread sees its last patch");
	stop = 1;
	pthread_join(thread, NULL);
	fact_equal(wrong, 0, "the other thread never runs a target older than the last but one");
	return trap_done();
}
