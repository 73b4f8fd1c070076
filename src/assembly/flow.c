/* Where control goes after an instruction. See assembly.h. */
#include <ctype.h>
#include <string.h>

#include "assembly/assembly.h"

static bool one_of(const struct assembly *a, struct text_slice word, const char *const *words)
{
	for (; *words; words++)
		if (slice_is(a, word, *words))
			return true;
	return false;
}

bool assembly_is_prefix(const struct assembly *a, struct text_slice word)
{
	static const char *const prefixes[] = {
		"lock",     "rep",      "repe", "repz", "repne", "repnz", "bnd", "notrack", "data16", "addr32",
		"xacquire", "xrelease", "cs",   "ds",   "es",    "fs",    "gs",  "ss",      "rex64",  NULL};
	static const char *const rex = "rex";
	if (a->machine != MACHINE_X86_64)
		return false;
	return one_of(a, word, prefixes) ||
	       (word.end - word.at >= 3 && strncasecmp(a->text + word.at, rex, 3) == 0 &&
		(word.end - word.at == 3 || a->text[word.at + 3] == '.'));
}

static bool name_byte(char c)
{
	return isalnum((unsigned char)c) || c == '_' || c == '.' || c == '$' || (unsigned char)c >= 0x80;
}

/* The operand's name, when it is a name alone: `foo`, `foo@PLT`, `"foo"`, `1f`. Empty otherwise. */
static struct text_slice name_alone(const struct assembly *a, struct text_slice operand)
{
	struct text_slice none = {operand.at, operand.at}, name = operand;
	size_t at = operand.at;
	if (at < operand.end && a->text[at] == '"') {
		const char *quote = memchr(a->text + at + 1, '"', operand.end - at - 1);
		if (!quote)
			return none;
		at = (size_t)(quote + 1 - a->text);
	} else {
		while (at < operand.end && name_byte(a->text[at]))
			at++;
	}
	name.end = at;
	if (at < operand.end && a->text[at] == '@')
		for (at++; at < operand.end && isalnum((unsigned char)a->text[at]);)
			at++;
	return at == operand.end && name.end > name.at ? name : none;
}

static struct text_slice last_operand(const struct assembly *a, struct text_slice operands)
{
	for (size_t at = operands.end; at > operands.at; at--)
		if (a->text[at - 1] == ',') {
			operands.at = at;
			break;
		}
	while (operands.at < operands.end && isspace((unsigned char)a->text[operands.at]))
		operands.at++;
	return operands;
}

/* Intel syntax has no `*`: a register's name or brackets are an indirect jump. */
static bool intel_indirect(const struct assembly *a, struct text_slice operands)
{
	static const char *const registers[] = {"rax", "rcx", "rdx", "rbx", "rsp", "rbp", "rsi", "rdi", "r8",
						"r9",  "r10", "r11", "r12", "r13", "r14", "r15", NULL};
	return memchr(a->text + operands.at, '[', operands.end - operands.at) || one_of(a, operands, registers);
}

static void x86_flow(const struct assembly *a, struct statement *s)
{
	static const char *const jumps[] = {"jmp", "jmpq", "ljmp", "jmpl", "jmp.d32", "jmp.d8", NULL};
	static const char *const shorts[] = {"jrcxz", "jecxz",  "jcxz",   "loop",  "loope",
					     "loopz", "loopne", "loopnz", "loopq", NULL};
	static const char *const returns[] = {"ret",   "retq",  "retl",   "retw",    "lret",    "lretq", "iret",
					      "iretq", "iretd", "sysret", "sysretq", "sysexit", NULL};
	static const char *const stops[] = {"ud2", "ud1", "ud0", "hlt", NULL};
	const char *word = a->text + s->word.at;
	if (one_of(a, s->word, jumps)) {
		bool star = !slice_empty(s->operands) && a->text[s->operands.at] == '*';
		s->flow = star || (s->intel != NONE && intel_indirect(a, s->operands)) ? FLOW_INDIRECT : FLOW_JUMP;
	} else if (one_of(a, s->word, shorts)) {
		s->flow = FLOW_SHORT_BRANCH;
	} else if (tolower((unsigned char)word[0]) == 'j' || slice_is(a, s->word, "xbegin")) {
		s->flow = FLOW_BRANCH;
	} else if (one_of(a, s->word, returns)) {
		s->flow = FLOW_RETURN;
	} else if (one_of(a, s->word, stops)) {
		s->flow = FLOW_STOP;
	}
}

static void arm_flow(const struct assembly *a, struct statement *s)
{
	static const char *const compares[] = {"cbz", "cbnz", "tbz", "tbnz", NULL};
	static const char *const indirect[] = {"br", "braa", "brab", "braaz", "brabz", NULL};
	static const char *const returns[] = {"ret", "retaa", "retab", "eret", NULL};
	static const char *const conditions[] = {"eq", "ne", "cs", "hs", "cc", "lo", "mi", "pl", "vs",
						 "vc", "hi", "ls", "ge", "lt", "gt", "le", "al", NULL};
	struct text_slice condition = s->word;
	size_t bytes = s->word.end - s->word.at;
	const char *word = a->text + s->word.at;
	if (slice_is(a, s->word, "b")) {
		s->flow = FLOW_JUMP;
	} else if (one_of(a, s->word, compares)) {
		s->flow = FLOW_BRANCH;
	} else if (one_of(a, s->word, indirect)) {
		s->flow = FLOW_INDIRECT;
	} else if (one_of(a, s->word, returns)) {
		s->flow = FLOW_RETURN;
	} else if (slice_is(a, s->word, "udf") || slice_is(a, s->word, "brk") || slice_is(a, s->word, "hlt")) {
		s->flow = FLOW_STOP;
	} else if (bytes >= 3 && tolower((unsigned char)word[0]) == 'b') {
		/* b.eq, bc.eq, beq */
		condition.at = s->word.end - 2;
		bool dotted = bytes == 4 && word[1] == '.';
		bool hinted = bytes == 5 && tolower((unsigned char)word[1]) == 'c' && word[2] == '.';
		if ((bytes == 3 || dotted || hinted) && one_of(a, condition, conditions))
			s->flow = FLOW_BRANCH;
	}
}

void assembly_flow(const struct assembly *a, struct statement *s)
{
	s->flow = FLOW_NEXT;
	s->target = (struct text_slice){s->operands.at, s->operands.at};
	if (a->machine == MACHINE_X86_64)
		x86_flow(a, s);
	else
		arm_flow(a, s);
	bool jump = s->flow == FLOW_JUMP || s->flow == FLOW_BRANCH || s->flow == FLOW_SHORT_BRANCH;
	if (jump && s->operands.at > s->word.end)
		s->target = name_alone(a, last_operand(a, s->operands));
}
