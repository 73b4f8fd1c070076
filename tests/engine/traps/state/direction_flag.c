/* fact: the direction flag holds over calls, returns, indirect jumps, system calls and is clear in handlers */
#include "trap.h"

static volatile long df_in_handler, df_in_frame;
static void handler(int signal, siginfo_t *info, void *context)
{
	long flags;
	(void)signal, (void)info;
	asm volatile("pushfq; pop %0" : "=r"(flags));
	df_in_handler += flags >> 10 & 1;
	df_in_frame += trap_registers(context)[REG_EFL] >> 10 & 1;
}

asm(".text\nnothing_at_all: ret");
int main(void)
{
	char from[64], to[64];
	long wrong = 0, flags;
	for (int i = 0; i < 64; i++)
		from[i] = (char)i;
	on_signal(SIGUSR1, handler, 0);
	long tid = syscall(SYS_gettid);
	for (int round = 0; round < 300; round++) {
		char *source = from + 63, *target = to + 63;
		long count = 64;
		memset(to, 0xff, 64);
		asm volatile("sub $256, %%rsp; std; call nothing_at_all; lea nothing_at_all(%%rip), %%rax; call "
			     "*%%rax; lea 1f(%%rip), %%rax; jmp *%%rax; ud2\n1:"
			     "rep movsb; pushfq; pop %3; cld; add $256, %%rsp"
			     : "+S"(source), "+D"(target), "+c"(count), "=&r"(flags)::"rax", "memory", "cc");
		wrong += memcmp(from, to, 64) != 0 || !(flags >> 10 & 1) || count != 0 || target != to - 1;
		asm volatile("sub $256, %%rsp; std; syscall; pushfq; pop %0; cld; add $256, %%rsp"
			     : "=&r"(flags)
			     : "a"(SYS_tgkill), "D"(getpid()), "S"(tid), "d"(SIGUSR1)
			     : "rcx", "r11", "memory", "cc");
		wrong += !(flags >> 10 & 1);
	}
	fact_equal(wrong, 0, "300 rounds backwards");
	fact_equal(df_in_handler, 0, "handlers start with it clear");
	fact_equal(df_in_frame, 300, "the frame has it set");
	return trap_done();
}
