/* fact: a program's gs and fs are its own, per thread, across system calls and signals */
#include "trap.h"
#include <asm/prctl.h>

static long blocks[4][64];
static atomic_long wrong;
static void handler(int signal, siginfo_t *info, void *context)
{
	long value;
	(void)signal, (void)info;
	asm volatile("mov %%gs:8, %0" : "=r"(value));
	if (value != *(long *)trap_registers(context)[REG_R12])
		wrong++;
}

static void *body(void *at)
{
	long *block = at, value, base;
	for (int i = 0; i < 64; i++)
		block[i] = (long)block + i;
	block[1] = (long)block;
	syscall(SYS_arch_prctl, ARCH_SET_GS, block);
	for (int i = 0; i < 300; i++) {
		syscall(SYS_arch_prctl, ARCH_GET_GS, &base);
		wrong += base != (long)block;
		asm volatile("mov %%gs:24, %0" : "=r"(value));
		wrong += value != (long)block + 3;
		asm volatile("mov %%gs:(%1,%2,8), %0" : "=r"(value) : "r"(16L), "r"(2L));
		wrong += value != (long)block + 4;
		asm volatile("addq $2, %%gs:40; lock incq %%gs:40; push %%gs:40; pop %0"
			     : "=&r"(value)::"cc", "memory");
		wrong += value != (long)block + 5 + 3 * (i + 1);
		asm volatile("movups %%gs:64, %%xmm1; movq %%xmm1, %0" : "=r"(value)::"xmm1");
		wrong += value != (long)block + 8;
		asm volatile("lea 4f(%%rip), %%rax; mov %%rax, %%gs:80; jmp *%%gs:80; ud2; 4:" ::
				 : "rax", "memory");
		if (i % 10 == 0)
			asm volatile("lea 8(%4), %%r12; syscall" ::"a"(SYS_tgkill), "D"(getpid()),
				     "S"(syscall(SYS_gettid)), "d"(SIGUSR1), "r"(block)
				     : "rcx", "r11", "r12", "memory");
	}
	return NULL;
}

int main(void)
{
	unsigned long fs, own;
	on_signal(SIGUSR1, handler, 0);
	syscall(SYS_arch_prctl, ARCH_GET_FS, &fs);
	asm volatile("mov %%fs:0, %0" : "=r"(own));
	fact(fs == own, "fs is the thread pointer of libc");
	unsigned long gs = 1;
	syscall(SYS_arch_prctl, ARCH_GET_GS, &gs);
	fact(gs == 0, "gs is 0 at the start");
	pthread_t thread[3];
	for (int i = 0; i < 3; i++)
		pthread_create(&thread[i], NULL, body, blocks[i]);
	body(blocks[3]);
	for (int i = 0; i < 3; i++)
		pthread_join(thread[i], NULL);
	fact_equal(wrong, 0, "four threads with a gs each");
	pid_t child = fork();
	if (child == 0) {
		syscall(SYS_arch_prctl, ARCH_GET_GS, &gs);
		_exit(gs == (unsigned long)blocks[3] ? 0 : 1);
	}
	fact_equal(end_of(child), 0, "a forked child has its parent's gs");
	fact(syscall(SYS_arch_prctl, ARCH_SET_GS, ~0UL) == -1 && errno == EPERM, "a base in the kernel is EPERM");
	/* fs moved and back, without libc in between */
	static long other[8] = { 77, 78 };
	long seen, zero;
	asm volatile("mov $158, %%eax; mov $0x1002, %%edi; mov %2, %%rsi; syscall; mov %%fs:8, %0; mov $158, "
		     "%%eax; mov $0x1002, %%edi; mov %3, %%rsi; syscall"
		     : "=&r"(seen), "=&a"(zero)
		     : "r"(other), "r"(fs)
		     : "rcx", "r11", "rdi", "rsi", "memory");
	fact_equal(seen, 78, "fs can be moved and moved back");
	return trap_done();
}
