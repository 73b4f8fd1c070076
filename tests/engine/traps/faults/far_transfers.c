/* fact: transfers that the processor refuses are its faults: bad selectors, kernel instructions, a stack that is nowhere
 *
 * For each: signal, si_code, trap number and error code as natively, and at the instruction.
 */
#include "trap.h"

static volatile long at_signal, at_code, at_trap, at_error, at_offset, after;
static char alternate[65536];

static void handler(int signal, siginfo_t *info, void *context)
{
	long long *r = trap_registers(context);
	at_signal = signal, at_code = info->si_code, at_trap = r[REG_TRAPNO], at_error = r[REG_ERR] & 0xffff, at_offset = r[REG_RIP] - r[REG_R13];
	after = r[REG_RSP];
	r[REG_RIP] = r[REG_R12];
	r[REG_RSP] = r[REG_R14];
}

/* `before` prepares; the fault is to be at the instruction behind it. */
#define TRY(before, instruction)                                                                              \
	do {                                                                                                  \
		at_signal = at_code = at_trap = at_error = at_offset = -1;                                    \
		asm volatile("sub $256, %%rsp; mov %%rsp, %%r14; lea 2f(%%rip), %%r12; lea 1f(%%rip), %%r13; " before "\n1: " instruction \
			     "\n nop; nop; nop; nop; nop\n2: add $256, %%rsp"                                 \
			     ::: "r12", "r13", "r14", "rax", "rbx", "rcx", "rdx", "rbp", "rsi", "rdi", "r11", "memory", "cc"); \
	} while (0)

static void is(long signal, long trap, long error, const char *what)
{
	if (at_signal != signal || at_code != SI_KERNEL || at_trap != trap || at_error != error || at_offset)
		dprintf(2, "# signal %ld code %ld trap %ld error %lx offset %ld: %s\n", at_signal, at_code, at_trap, at_error, at_offset, what);
	fact(at_signal == signal && at_code == SI_KERNEL && at_trap == trap && at_error == error && !at_offset, what);
}

#define PROTECTION(before, instruction, error, what) do { TRY(before, instruction); is(SIGSEGV, 13, error, what); } while (0)
#define STACK(instruction, what) \
	do { TRY("movabs $0x8000000000000000, %%rsp; mov %%rsp, %%rbp; xor %%eax, %%eax", instruction); is(SIGBUS, 12, 0, what); } while (0)
#define FRAME(ss, cs, rip) "push $" #ss "; push %%r14; pushfq; push $" #cs "; " rip
#define HERE "lea 2f(%%rip), %%rax; push %%rax"
#define NOWHERE "movabs $0x8000000000000000, %%rax; push %%rax"

int main(void)
{
	stack_t stack = { .ss_sp = alternate, .ss_size = sizeof alternate };
	sigaltstack(&stack, NULL);
	for (int i = 0; i < 5; i++)
		on_signal((int[]){ SIGILL, SIGSEGV, SIGTRAP, SIGBUS, SIGFPE }[i], handler, SA_ONSTACK);
	PROTECTION("", ".byte 0x0f, 0x07", 0, "sysret");
	PROTECTION("", ".byte 0x48, 0x0f, 0x07", 0, "sysret to 64 bits");
	PROTECTION("", ".byte 0x0f, 0x35", 0, "sysexit");
	PROTECTION("", ".byte 0x48, 0x0f, 0x35", 0, "sysexit to 64 bits");
	PROTECTION(FRAME(0x2b, 0, HERE), "iretq", 0, "iretq without a code segment");
	PROTECTION(FRAME(0x2b, 0x10, HERE), "iretq", 0x10, "iretq to the kernel's code");
	PROTECTION(FRAME(0x2b, 0x2b, HERE), "iretq", 0x28, "iretq to data");
	PROTECTION(FRAME(0x2b, 0x7ff3, HERE), "iretq", 0x7ff0, "iretq behind the table's end");
	PROTECTION(FRAME(0, 0x33, HERE), "iretq", 0, "iretq without a stack segment");
	PROTECTION(FRAME(0x33, 0x33, HERE), "iretq", 0x30, "iretq to a stack segment of code");
	PROTECTION("push $0x10; " HERE, "lretq", 0x10, "a far return to the kernel's code");
	PROTECTION("push $0; " HERE, "lretq", 0, "a far return without a code segment");
	PROTECTION("push $0x33; " NOWHERE, "lretq", 0, "a far return to no address");
	STACK("iretq", "iretq, the stack nowhere");
	STACK("lretq", "a far return, the stack nowhere");
	STACK("push %%rax", "push, the stack nowhere");
	STACK("pop %%rax", "pop, the stack nowhere");
	STACK("pushfq", "pushfq, the stack nowhere");
	STACK("popfq", "popfq, the stack nowhere");
	STACK("call 2f", "call, the stack nowhere");
	STACK("call *%%r12", "an indirect call, the stack nowhere");
	STACK("ret", "ret, the stack nowhere");
	STACK("ret $16", "ret that pops more, the stack nowhere");
	STACK("leave", "leave, the frame nowhere");
	STACK("mov (%%rsp), %%rax", "a load by the stack pointer");
	STACK("mov %%rax, 8(%%rbp)", "a store by the frame pointer");
	STACK("jmp *(%%rsp)", "a jump by way of the stack");
	STACK("call *8(%%rbp)", "a call by way of the frame");
	STACK("addq $1, (%%rsp, %%rax)", "an add with an index");
	STACK("movups 16(%%rsp), %%xmm0", "a vector load by the stack pointer");
	STACK("push (%%r14)", "push of memory, the stack nowhere");
	STACK("pop (%%r14)", "pop to memory, the stack nowhere");
	STACK("enter $16, $0", "enter, the stack nowhere");
	PROTECTION("movabs $0x8000000000000000, %%rax", "mov (%%rax), %%rbx", 0, "a load from nowhere by another register");
	return trap_done();
}
