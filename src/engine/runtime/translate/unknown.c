/*
 * Instructions without a row in the decoder's tables, for a processor may be newer than this file; and those that
 * it executes in another way than the tables say, or not at all, where the engine would hide that.
 *
 *   length sure, operand reached as it is     the bytes are executed as they are: the processor knows whether they are an instruction,
 *                                             and raises #UD itself (x86_decode: X86_CLASS_UNKNOWN)
 *   length not sure, or an operand that would
 *   have to be reached in another way         the processor is asked (processor_knows). It raises #UD: so does the block.
 *                                             Else the program ends with a message that names the bytes
 *   APX's prefix, gs's base, a branch with
 *   16-bit operands (66; Intel's have none)   likewise, where the processor has no APX, no such instruction, such
 *                                             operands: branches and gs are the engine's own
 *
 * What always holds:
 *  1. Nothing of the program's is changed by asking: every register is zero but the mask of signals, and no memory
 *     is near 0.
 *  2. Only bytes that are about to be executed are asked about, hence a block has such an instruction at its
 *     beginning, alone.
 *
 * How the processor is asked: the first n bytes stand at the end of a page behind which nothing can be fetched,
 * for n = 1, 2, … A fault of the fetch behind the page, with rip at the instruction's beginning, says that it is
 * longer.
 */
#include "engine/runtime/record/record.h"
#include "engine/runtime/thread.h"
#include "engine/runtime/translate/code.h"
#include "engine/runtime/translate/translate.h"

#define PAGE 4096u
#define TRAP_UD 6u
#define TRAP_PAGE 14u

/* One trial. Under rt.lock, so there is one at a time. */
static struct processor_trial trial;
struct processor_trial *processor_trial(void) { return &trial; }

enum processor_answer { ANSWER_KNOWN, ANSWER_INVALID, ANSWER_LONGER, ANSWER_NONE };

static enum processor_answer try_bytes(uint8_t *page, const uint8_t *bytes, unsigned n)
{
	uint8_t *at = page + PAGE - n;
	if (failed(sys3(SYS_mprotect, page, PAGE, PROT_READ_ | PROT_WRITE_)))
		return ANSWER_NONE;
	memcpy(at, bytes, n);
	if (failed(sys3(SYS_mprotect, page, PAGE, PROT_READ_ | PROT_EXEC_)))
		return ANSWER_NONE;
	trial.thread = current();
	processor_try(at);
	trial.thread = NULL;
	if (trial.rip == (uint64_t)at && trial.trapno == TRAP_UD)
		return ANSWER_INVALID;
	if (trial.rip == (uint64_t)at && trial.trapno == TRAP_PAGE && trial.cr2 == (uint64_t)page + PAGE)
		return ANSWER_LONGER;
	return ANSWER_KNOWN;
}

/* Whether the processor has an instruction that begins with these bytes. Where it cannot be asked, it has none: so
 * say the manuals. */
static bool processor_knows(const uint8_t *bytes, unsigned available)
{
	long page = sys6(SYS_mmap, memory_place(2 * PAGE), 2 * PAGE, PROT_NONE_, MAP_PRIVATE_ | MAP_ANONYMOUS_,
			 (uint64_t)-1, 0);
	enum processor_answer answer = ANSWER_LONGER;
	if (failed(page))
		return false;
	for (unsigned n = 1; n <= available && n <= X86_MAX_INSN_BYTES && answer == ANSWER_LONGER; n++)
		answer = try_bytes((uint8_t *)page, bytes, n);
	sys2(SYS_munmap, page, 2 * PAGE);
	return answer == ANSWER_KNOWN;
}

/* AMD's: rip gets 16 bits, a return address has so many, and a call's displacement. */
static bool processor_shortens_branches(void)
{
	static const uint8_t short_call[] = {0x66, 0xe8, 0, 0};
	static int8_t answer;
	if (!answer)
		answer = processor_knows(short_call, sizeof short_call) ? 1 : -1;
	return answer > 0;
}

static bool processor_has_rex2(void)
{
	static const uint8_t nop[] = {0xd5, 0, 0x90};
	static int8_t answer;
	if (!answer)
		answer = processor_knows(nop, sizeof nop) ? 1 : -1;
	return answer > 0;
}

/* And the kernel lets programs use it. */
static bool processor_has_gs_base(void)
{
	static const uint8_t rdgsbase[] = {0xf3, 0x0f, 0xae, 0xc8};
	static int8_t answer;
	if (!answer)
		answer = processor_knows(rdgsbase, sizeof rdgsbase) ? 1 : -1;
	return answer > 0;
}

bool unlike_processors(const struct x86_insn *in)
{
	if (in->has_rex2 && !processor_has_rex2())
		return true;
	if (in->special == X86_SPECIAL_RDGSBASE || in->special == X86_SPECIAL_WRGSBASE)
		return !processor_has_gs_base();
	return x86_is_short_branch(in) && processor_shortens_branches();
}

bool processor_refuses(const uint8_t *bytes, unsigned available, const char *why, uint64_t pc)
{
	char text[160];
	unsigned n = 0, most = available < X86_MAX_INSN_BYTES ? available : X86_MAX_INSN_BYTES;
	if (!processor_knows(bytes, available))
		return true;
	for (; why[n] && n < sizeof text - 4 * X86_MAX_INSN_BYTES; n++)
		text[n] = why[n];
	for (unsigned i = 0; i < most; i++) {
		text[n++] = ' ';
		text[n++] = "0123456789abcdef"[bytes[i] >> 4];
		text[n++] = "0123456789abcdef"[bytes[i] & 15];
	}
	text[n] = 0;
	die(text, pc);
}

/* CPUID does not say: where microcode hides them, they abort. */
bool processor_has_transactions(bool probe)
{
	static const uint8_t xbegin[] = {0xc7, 0xf8, 0, 0, 0, 0}; /* to what is behind it */
	static int8_t answer;
	if (!answer && !probe)
		answer = processor_knows(xbegin, sizeof xbegin) ? 1 : -1;
	return answer >= 0;
}

bool unknown_needs_moving(const struct x86_insn *in, uint64_t pc, uint64_t to)
{
	if (in->prefixes & X86_PREFIX_GS)
		return true;
	if (!in->rip_relative)
		return false;
	int64_t distance = (int64_t)(pc + (uint64_t)in->memory[0].displacement - to);
	return distance != (int32_t)distance || (in->prefixes & X86_PREFIX_ADDRSIZE);
}
