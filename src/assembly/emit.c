/* What annotate() inserts, for each machine. See annotate.h.
 *
 * x86-64: the 128 bytes below the stack pointer may be in use (System V ABI, 3.2.2): lea steps over them and
 * leaves the flags alone. The call goes through the GOT, which is filled when a program is loaded: a lazily bound
 * PLT entry would run the dynamic linker the first time, which changes r11 and the flags. arm64: what the call
 * needs for itself (x16, x17, x30) is kept on the stack; there is no such area below it. */
#include <inttypes.h>
#include <string.h>

#include "assembly/annotate.h"

static const char *which(bool begin) { return begin ? "begin" : "end"; }

/* A comment's text: one line of printable bytes. */
static void put_comment(struct str *out, const char *mark, bool begin, const char *name)
{
	char text[64];
	str_escape_to(text, sizeof text, name);
	str_appendf(out, "\t%s tare: %s %s\n", mark, which(begin), text);
}

/* The directive that turned Intel syntax on says whether registers have prefixes. */
static void put_intel(struct str *out, const struct assembly *a, int intel)
{
	if (intel == NONE)
		return;
	const struct statement *s = &a->statements.items[intel];
	str_append_char(out, '\t');
	str_append_bytes(out, a->text + s->whole.at, s->whole.end - s->whole.at);
	str_append_char(out, '\n');
}

static void put_x86_call(struct str *out, const struct assembly *a, const struct statement *at, bool begin,
			 unsigned number, const char *name)
{
	bool frame = at->frame != NONE && at->frame_of_stack;
	if (at->intel != NONE)
		str_append(out, "\t.att_syntax prefix\n");
	str_append(out, "\tleaq\t-128(%rsp), %rsp");
	put_comment(out, "#", begin, name);
	if (frame)
		str_append(out, "\t.cfi_adjust_cfa_offset 128\n");
	str_appendf(out, "\tcall\t*tare_asm_%s_%u@GOTPCREL(%%rip)\n\tleaq\t128(%%rsp), %%rsp\n", which(begin),
		    number);
	if (frame)
		str_append(out, "\t.cfi_adjust_cfa_offset -128\n");
	put_intel(out, a, at->intel);
}

static void put_arm_call(struct str *out, const struct statement *at, bool begin, unsigned number,
			 const char *name)
{
	/* otherwise the frame is known by x29, and x30 is kept in it */
	bool frame = at->frame != NONE && at->frame_of_stack;
	if (frame)
		str_append(out, "\t.cfi_remember_state\n");
	str_append(out, "\tsub\tsp, sp, #32");
	put_comment(out, "//", begin, name);
	if (frame)
		str_append(out, "\t.cfi_adjust_cfa_offset 32\n");
	str_append(out, "\tstp\tx16, x17, [sp]\n\tstr\tx30, [sp, #16]\n");
	/* in the middle of a function that keeps it, x30 is not a return address */
	if (frame && !at->return_kept)
		str_append(out, "\t.cfi_rel_offset x30, 16\n");
	str_appendf(out,
		    "\tadrp\tx16, :got:tare_asm_%s_%u\n\tldr\tx16, [x16, #:got_lo12:tare_asm_%s_%u]\n\tblr\tx16\n",
		    which(begin), number, which(begin), number);
	str_append(out, "\tldr\tx30, [sp, #16]\n\tldp\tx16, x17, [sp]\n\tadd\tsp, sp, #32\n");
	if (frame)
		str_append(out, "\t.cfi_restore_state\n");
}

void annotate_put_call(struct str *out, const struct assembly *a, const struct statement *at, bool begin,
		       unsigned number, const char *name)
{
	if (a->machine == MACHINE_X86_64)
		put_x86_call(out, a, at, begin, number, name);
	else
		put_arm_call(out, at, begin, number, name);
}

void annotate_put_jump(struct str *out, const struct assembly *a, const char *label)
{
	str_appendf(out, "\t%s\t%s\n", a->machine == MACHINE_X86_64 ? "jmp" : "b", label);
}

static void put_string(struct str *out, const char *text)
{
	str_append(out, "\t.string\t\"");
	for (; *text; text++) {
		unsigned char byte = (unsigned char)*text;
		if (byte >= ' ' && byte < 0x7f && byte != '"' && byte != '\\')
			str_append_char(out, (char)byte);
		else
			str_appendf(out, "\\%03o", byte);
	}
	str_append(out, "\"\n");
}

/* A number's name is also a symbol: two files of a program with the same number do not link. */
void annotate_put_names(struct str *out, const struct assembly *a, const char *const *names, size_t n,
			unsigned number)
{
	bool x86 = a->machine == MACHINE_X86_64;
	int intel = a->statements.count ? a->statements.items[a->statements.count - 1].intel : NONE;
	const char *type = x86 ? "@" : "%";
	if (intel != NONE)
		str_append(out, "\t.att_syntax prefix\n");
	str_appendf(out, "\t.pushsection .rodata.tare_asm_names, \"a\", %sprogbits\n", type);
	for (size_t i = 0; i < n; i++) {
		unsigned of = number + (unsigned)i;
		str_appendf(out,
			    "\t.globl\ttare_asm_number_%u\n\t.hidden\ttare_asm_number_%u\ntare_asm_number_%u:\n",
			    of, of, of);
		put_string(out, names[i]);
	}
	str_appendf(out,
		    "\t.popsection\n\t.pushsection .text.startup, \"ax\", %sprogbits\n\t.p2align 2\n"
		    "\t.type\t.Ltare%u_names, %sfunction\n.Ltare%u_names:\n\t.cfi_startproc\n",
		    type, number, type, number);
	str_append(out, x86 ? "\tendbr64\n\tsubq\t$8, %rsp\n\t.cfi_adjust_cfa_offset 8\n"
			    : "\thint\t#34\n\tstp\tx29, x30, [sp, #-16]!\n\t.cfi_def_cfa_offset 16\n"
			      "\t.cfi_offset x29, -16\n\t.cfi_offset x30, -8\n");
	for (size_t i = 0; i < n; i++) {
		unsigned of = number + (unsigned)i;
		if (x86)
			str_appendf(out,
				    "\tmovl\t$%u, %%edi\n\tleaq\ttare_asm_number_%u(%%rip), %%rsi\n\txorl\t%%edx, "
				    "%%edx\n"
				    "\tcall\t*tare_asm_name@GOTPCREL(%%rip)\n",
				    of, of);
		else
			str_appendf(
				out,
				"\tmov\tw0, #%u\n\tadrp\tx1, tare_asm_number_%u\n"
				"\tadd\tx1, x1, :lo12:tare_asm_number_%u\n\tmov\tx2, #0\n\tbl\ttare_asm_name\n",
				of, of, of);
	}
	str_append(out, x86 ? "\taddq\t$8, %rsp\n\t.cfi_adjust_cfa_offset -8\n\tret\n"
			    : "\tldp\tx29, x30, [sp], #16\n\t.cfi_def_cfa_offset 0\n\t.cfi_restore x29\n"
			      "\t.cfi_restore x30\n\tret\n");
	str_appendf(out,
		    "\t.cfi_endproc\n\t.popsection\n\t.pushsection .init_array, \"aw\"\n\t.p2align 3\n"
		    "\t.%s\t.Ltare%u_names\n\t.popsection\n",
		    x86 ? "quad" : "xword", number);
	put_intel(out, a, intel);
}
