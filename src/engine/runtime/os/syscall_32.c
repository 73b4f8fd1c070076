/*
 * int $0x80 from 64-bit code: only calls that change nothing the engine must know. Numbers are i386's.
 */
#include "engine/runtime/entry.h"
#include "engine/runtime/inline/inline.h"
#include "engine/runtime/os/calls.h"
#include "engine/runtime/os/syscall_internal.h"
#include "engine/runtime/runtime.h"

void system_call_32(struct thread *t, uint32_t block, uint64_t next)
{
	enum { /* asm/unistd_32.h */
	       I386_exit = 1,
	       I386_fork = 2,
	       I386_read = 3,
	       I386_write = 4,
	       I386_open = 5,
	       I386_close = 6,
	       I386_time = 13,
	       I386_lseek = 19,
	       I386_getpid = 20,
	       I386_getuid = 24,
	       I386_alarm = 27,
	       I386_pause = 29,
	       I386_times = 43,
	       I386_getgid = 47,
	       I386_geteuid = 49,
	       I386_getegid = 50,
	       I386_getppid = 64,
	       I386_gettimeofday = 78,
	       I386_uname = 122,
	       I386_readv = 145,
	       I386_writev = 146,
	       I386_getuid32 = 199,
	       I386_getgid32 = 200,
	       I386_geteuid32 = 201,
	       I386_getegid32 = 202,
	       I386_gettid = 224,
	       I386_exit_group = 252,
	       I386_clock_gettime = 265,
	       I386_getrandom = 355,
	       I386_CALLS = 470, /* behind the last that there is */
	};
	static const uint16_t harmless[] = {
		I386_exit,      I386_read,     I386_write,      I386_open,          I386_close,     I386_time,
		I386_lseek,     I386_getpid,   I386_getuid,     I386_alarm,         I386_pause,     I386_getgid,
		I386_geteuid,   I386_getegid,  I386_getppid,    I386_writev,        I386_readv,     I386_gettid,
		I386_getuid32,  I386_getgid32, I386_times,      I386_clock_gettime, I386_getrandom, I386_geteuid32,
		I386_getegid32, I386_uname,    I386_exit_group, I386_gettimeofday};
	uint64_t nr = (uint32_t)t->reg[X86_RAX];
	bool known = false;
	(void)block;
	for (unsigned i = 0; i < sizeof harmless / sizeof *harmless; i++)
		known |= harmless[i] == nr;
	t->record->syscalls_32++;
	inline_unseen();
	t->call_block = NONE;
	if (nr == I386_exit)
		thread_exit(t, t->reg[X86_RBX]);
	if (nr == I386_exit_group)
		process_exit(t, t->reg[X86_RBX]);
	if (nr == I386_fork) {
		uint64_t none[6] = {0};
		t->reg[X86_RAX] = (uint64_t)thread_fork(t, SYS_fork, none);
		t->forked = 0;
		t->reg[X86_R8] = t->reg[X86_R9] = t->reg[X86_R10] = t->reg[X86_R11] = 0;
		t->pc = next;
		return;
	}
	if (!known && nr < I386_CALLS)
		die("a system call by int 0x80 that the engine does not support", next - 2);
	/* the kernel keeps all registers but rax, and clears r8 to r11 */
	call_begin(t, 0xfffffffeu);
	written_begin(t, ~0ull); /* i386's calls have no table */
	t->reg[X86_RAX] = (uint64_t)runtime_app_int80(t->reg);
	written_end(t);
	call_end(t);
	t->reg[X86_R8] = t->reg[X86_R9] = t->reg[X86_R10] = t->reg[X86_R11] = 0;
	t->pc = next;
}
