/* fact: all six status flags survive every kind of block exit: AF and OF too
 * For each of 64 combinations: jmp, jcc both ways, call/ret, indirect call, jump, through memory, loop, jrcxz, a
 * page's end. */
#include "trap.h"

asm(".text\nflag_function: ret\nflag_function_2: lea 8(%rsp), %rsp; jmp *-8(%rsp)\n");
long flag_pointer[2];

#define WITH(name, text)                                                                                          \
	static long name(long set)                                                                                \
	{                                                                                                         \
		long after;                                                                                       \
		asm volatile("sub $512, %%rsp; lea 7f(%%rip), %%r8; lea flag_function(%%rip), %%r9; lea "         \
			     "flag_function_2(%%rip), %%r10;"                                                     \
			     "mov %%r8, flag_pointer(%%rip); mov %%r9, flag_pointer+8(%%rip); mov $3, %%ecx;"     \
			     "pushfq; andq $~0x8d5, (%%rsp); or %1, (%%rsp); popfq\n" text                        \
			     "\n9: pushfq; pop %0; add $512, %%rsp"                                               \
			     : "=&r"(after)                                                                       \
			     : "r"(set)                                                                           \
			     : "r8", "r9", "r10", "rcx", "rax", "memory", "cc");                                  \
		return after & 0x8d5;                                                                             \
	}
WITH(direct, "jmp 7f; ud2; 7:")
WITH(taken, "jc 7f; jnc 7f; ud2; 7:")
WITH(taken_2, "jo 7f; jno 7f; ud2; 7:")
WITH(taken_3, "jle 7f; jg 7f; ud2; 7:")
WITH(not_taken, "jc 1f; jc 7f; jmp 2f; 1: jnc 7f; 2: nop; jmp 9f; 7: ud2")
WITH(called, "call flag_function; 7:")
WITH(called_indirectly, "call *%%r9; 7:")
WITH(called_twice, "call *%%r10; 7: call *%%r9; call flag_function_2")
WITH(through_memory, "call *flag_pointer+8(%%rip); jmp *flag_pointer(%%rip); ud2; 7:")
WITH(jumped, "jmp *%%r8; ud2; 7:")
WITH(pushed, "push %%r8; ret; ud2; 7:")
WITH(looped, "7: loop 7b")
WITH(rcx_zero, "7: lea -1(%%rcx), %%rcx; jrcxz 8f; jmp 7b; 8:")
WITH(
    moved,
    "7: lea 1(%%r8), %%r8; xchg %%r8, %%r9; movzbl %%cl, %%ecx; cmovc %%r8, %%r9; setz %%al; bswap %%r8; not %%r8")
WITH(switched, "7: xchg %%rsp, %%r10; jmp 1f; 1: xchg %%rsp, %%r10")

int main(void)
{
	static const int bit[] = { 1, 4, 0x10, 0x40, 0x80, 0x800 };
	static long (*const way[])(
	    long) = { direct,         taken,  taken_2, taken_3, not_taken, called, called_indirectly, called_twice,
		      through_memory, jumped, pushed,  looped,  rcx_zero,  moved,  switched };
	static const char *const name[] = { "jmp",
					    "jc or jnc taken",
					    "jo or jno taken",
					    "jle or jg taken",
					    "jc or jnc not taken",
					    "call and ret",
					    "indirect call",
					    "two indirect calls",
					    "call and jump through memory",
					    "indirect jump",
					    "push and ret",
					    "loop",
					    "jrcxz",
					    "instructions without flags",
					    "a stack switched and back" };
	for (unsigned w = 0; w < sizeof way / sizeof *way; w++) {
		long wrong = 0;
		for (int round = 0; round < 40; round++)
			for (int i = 0; i < 64; i++) {
				long set = 0;
				for (int b = 0; b < 6; b++)
					set |= i >> b & 1 ? bit[b] : 0;
				wrong += way[w](set) != set;
			}
		fact_equal(wrong, 0, name[w]);
	}
	return trap_done();
}
