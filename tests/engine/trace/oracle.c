/*
 * trace_oracle [--dump] PROGRAM ARGS: every data access of a static program, in order, by two ways that share the decoder only:
 *
 *     single steps    registers before each instruction → the addresses of the operands that the decoder names
 *     the engine      the stream that its thread's buffer holds when it exits, by the templates in the record
 *
 * They must be the same: instruction, address, bytes, kind (see same_place). The buffer is so large that it is run when fs's base changes and at the exit
 * only; so what is compared is what came after the last change of fs's base (all, without a libc): the ends of the two are aligned.
 * Prints `compared N accesses` or the first difference; ends with 0 or 1.
 */
#include <cpuid.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <elf.h>
#include <unistd.h>

#include "../held.h"
#include "engine/inject/session.h"
#include "engine/wire/trace.h"
#include "engine/x86/decode.h"

#define BUFFER_BYTES (512u << 20)
extern const size_t trace_start_offset, trace_ran_offset, fs_base_offset;

struct access { uint64_t pc, address; uint16_t bytes; uint8_t write, prefetch; };
struct list { struct access *at; size_t n, room; };

static void add(struct list *list, uint64_t pc, uint64_t address, unsigned bytes, bool write, bool prefetch)
{
	if (list->n == list->room) {
		list->room = list->room ? list->room * 2 : 1 << 16;
		list->at = realloc(list->at, list->room * sizeof *list->at);
		if (!list->at)
			exit(2);
	}
	list->at[list->n++] = (struct access){pc, address, (uint16_t)bytes, write, prefetch};
}

/* ---- single steps ------------------------------------------------------------------------------ */

struct state { struct user_regs_struct r; uint8_t x[16384]; bool has_x; pid_t pid; };

static uint64_t gpr(const struct user_regs_struct *r, unsigned n)
{
	const unsigned long long v[16] = {r->rax, r->rcx, r->rdx, r->rbx, r->rsp, r->rbp, r->rsi, r->rdi, r->r8, r->r9, r->r10, r->r11, r->r12,
		r->r13, r->r14, r->r15};
	return v[n];
}

static unsigned component(unsigned n)
{
	unsigned a, b, c, d;
	__cpuid_count(13, n, a, b, c, d);
	return b;
}

static void vector(struct state *s, unsigned n, uint8_t out[64])
{
	if (!s->has_x) {
		struct iovec io = {s->x, sizeof s->x};
		ptrace(PTRACE_GETREGSET, s->pid, NT_X86_XSTATE, &io);
		s->has_x = true;
	}
	if (n < 16) {
		memcpy(out, s->x + 160 + 16 * n, 16);
		memcpy(out + 16, s->x + component(2) + 16 * n, 16);
		memcpy(out + 32, s->x + component(6) + 32 * n, 32);
	} else {
		memcpy(out, s->x + component(7) + 64 * (n - 16), 64);
	}
}

static void lanes(struct state *s, struct list *list, const struct x86_insn *in, const struct x86_memory *m, uint64_t base, bool write)
{
	uint8_t index[64], mask[64];
	uint64_t bits = 0;
	unsigned n = write ? in->data_writes : in->data_reads, index_bytes = in->opcode & 1 ? 8 : 4;
	vector(s, m->index, index);
	if (in->encoding == X86_EVEX)
		memcpy(&bits, s->x + component(5) + 8 * in->opmask, 8);
	else
		vector(s, in->vvvv, mask);
	for (unsigned i = 0; i < n; i++) {
		int64_t wide = 0;
		int32_t narrow;
		if (in->encoding == X86_EVEX ? !(bits >> i & 1) : !(mask[(i + 1) * m->width - 1] & 0x80))
			continue;
		if (index_bytes == 8) {
			memcpy(&wide, index + 8 * i, 8);
		} else {
			memcpy(&narrow, index + 4 * i, 4);
			wide = narrow;
		}
		add(list, s->r.rip, base + (uint64_t)wide * m->scale, m->width, write, false);
	}
}

static void operand(struct state *s, struct list *list, const struct x86_insn *in, const struct x86_memory *m, bool write, bool prefetch)
{
	uint64_t address = (uint64_t)m->displacement;
	unsigned width = m->width;
	if (m->base == X86_RIP)
		address += s->r.rip + in->length;
	else if (m->base < 16)
		address += gpr(&s->r, m->base);
	if (m->index < 16 && !(m->flags & X86_MEM_VECTOR_INDEX))
		address += (m->flags & X86_MEM_INDEX_BYTE ? gpr(&s->r, m->index) & 0xff : gpr(&s->r, m->index)) * m->scale;
	if (in->address_bytes == 4 && !(m->flags & X86_MEM_STACK))
		address &= 0xffffffff;
	if (m->segment == X86_FS)
		address += s->r.fs_base;
	if (m->segment == X86_GS)
		address += s->r.gs_base;
	if (m->flags & X86_MEM_BIT_OFFSET) {
		int64_t bit = (int64_t)gpr(&s->r, in->reg), per = 8 * width;
		bit = in->operand_bytes == 2 ? (int16_t)bit : in->operand_bytes == 4 ? (int32_t)bit : bit;
		address += (uint64_t)((bit < 0 ? -((per - 1 - bit) / per) : bit / per) * width);
	}
	if (!width && !prefetch) {
		unsigned a, b, c, d;
		__cpuid_count(13, 0, a, b, c, d);
		width = in->special != X86_SPECIAL_XSAVE ? 64 : (in->opcode == 0xae && (in->modrm >> 3 & 7) < 2) ? 512 : b;
	}
	if (m->flags & X86_MEM_VECTOR_INDEX)
		lanes(s, list, in, m, address, write);
	else
		add(list, s->r.rip, address, prefetch ? 1 : width, write, prefetch);
}

static void accesses(struct state *s, struct list *list, const struct x86_insn *in)
{
	bool rep = in->class & X86_CLASS_REP;
	if (rep && !(in->address_bytes == 4 ? s->r.rcx & 0xffffffff : s->r.rcx))
		return;
	if (in->encoding == X86_LEGACY && in->map == X86_MAP_0 && in->opcode == 0xc8) { /* enter, from the manual's pseudocode */
		unsigned level = (unsigned)(in->immediate >> 16) & 31;
		uint64_t rsp = s->r.rsp - 8, rbp = s->r.rbp;
		add(list, s->r.rip, rsp, 8, true, false);
		for (unsigned i = 1; i < level; i++) {
			rbp -= 8;
			rsp -= 8;
			add(list, s->r.rip, rbp, 8, false, false);
			add(list, s->r.rip, rsp, 8, true, false);
		}
		if (level)
			add(list, s->r.rip, rsp - 8, 8, true, false);
		return;
	}
	for (int write = 0; write < 2; write++)
		for (unsigned i = 0; i < in->memory_count; i++)
			if (!(in->memory[i].flags & X86_MEM_ADDRESS_ONLY) && (in->memory[i].flags & (write ? X86_MEM_WRITE : X86_MEM_READ)))
				operand(s, list, in, &in->memory[i], write, false);
	if ((in->class & X86_CLASS_PREFETCH) && in->memory_count)
		operand(s, list, in, &in->memory[0], false, true);
}

static void step(char **argv, struct list *list)
{
	int release, status, null = open("/dev/null", O_RDWR | O_CLOEXEC);
	struct state s = {.pid = held(argv, true, null, &release)};
	close(null);
	ptrace(PTRACE_SEIZE, s.pid, 0, PTRACE_O_TRACEEXEC | PTRACE_O_EXITKILL);
	close(release);
	waitpid(s.pid, &status, 0); /* the exec */
	int deliver = 0;
	for (;;) {
		uint8_t code[16] = {0};
		struct x86_insn in;
		struct iovec local = {code, 16}, remote;
		ptrace(PTRACE_GETREGS, s.pid, 0, &s.r);
		s.has_x = false;
		remote = (struct iovec){(void *)s.r.rip, 16};
		ssize_t got = process_vm_readv(s.pid, &local, 1, &remote, 1, 0);
		if (got < 16) { /* the page ends */
			remote.iov_len = local.iov_len = 4096 - (s.r.rip & 4095);
			if (local.iov_len > 16)
				local.iov_len = remote.iov_len = 16;
			got = process_vm_readv(s.pid, &local, 1, &remote, 1, 0);
		}
		size_t before = list->n;
		if (!deliver && got > 0 && x86_decode(code, (size_t)got, &in) == X86_DECODE_OK)
			accesses(&s, list, &in);
		if (ptrace(PTRACE_SINGLESTEP, s.pid, 0, deliver) || waitpid(s.pid, &status, 0) != s.pid || !WIFSTOPPED(status))
			return;
		if (deliver) {
			deliver = 0;
			continue;
		}
		if (WSTOPSIG(status) != SIGTRAP) {
			list->n = before; /* it faulted, and will be restarted or not: not executed */
			deliver = WSTOPSIG(status);
		}
	}
}

/* ---- the engine's stream ----------------------------------------------------------------------- */

static uint64_t bit_offset(const struct trace_item *item, uint64_t value)
{
	int64_t bit = (int64_t)value, per = 8 * item->bytes;
	return (uint64_t)((bit < 0 ? -((per - 1 - bit) / per) : bit / per) * item->bytes);
}

static void expand_lanes(struct list *list, const struct trace_block *b, const struct trace_item *item, const uint64_t *values, uint64_t base)
{
	for (unsigned i = 0; i < item->lanes; i++) {
		const uint8_t *index = (const uint8_t *)&values[item->second], *mask = (const uint8_t *)&values[item->mask_at];
		int64_t wide;
		int32_t narrow;
		if (item->mask == TRACE_MASK_BITS && !(values[item->mask_at] >> i & 1))
			continue;
		if (item->mask == TRACE_MASK_ELEMENTS && !(mask[(i + 1) * item->bytes - 1] & 0x80))
			continue;
		memcpy(&wide, index + 8 * i, item->index_bytes == 8 ? 8 : 0);
		memcpy(&narrow, index + 4 * i, 4);
		add(list, b->pc + item->offset, base + (uint64_t)(item->index_bytes == 8 ? wide : narrow) * item->scale, item->bytes,
		    item->kind == TRACE_SCATTER, false);
	}
}

static void expand_rep(struct list *list, const struct trace_block *b, const struct trace_item *items, unsigned n, const uint64_t *values, uint64_t fs)
{
	int64_t distance = (int64_t)(values[items[0].second] - values[items[0].value]), bytes = items[0].bytes, step = distance < 0 ? -bytes : bytes;
	for (int64_t at = 0; at != distance; at += step)
		for (unsigned i = 0; i < n; i++)
			add(list, b->pc + items[i].offset, values[items[i].value] + (uint64_t)at + (items[i].flags & TRACE_FS ? fs : 0), items[i].bytes,
			    items[i].kind == TRACE_REP_WRITE, false);
}

static void expand(struct list *list, const struct trace_block *b, const struct trace_item *items, const uint64_t *values, unsigned done, uint64_t fs)
{
	for (unsigned i = 0; i < b->items; i++) {
		const struct trace_item *item = &items[b->first_item + i];
		uint64_t address = (item->value == TRACE_NO_VALUE ? 0 : values[item->value]) + (uint64_t)item->displacement;
		bool rep = item->kind == TRACE_REP_READ || item->kind == TRACE_REP_WRITE;
		if (item->insn > done || (item->insn == done && !rep))
			break;
		if (rep) {
			unsigned n = i + 1 < b->items && item[1].insn == item->insn ? 2 : 1;
			expand_rep(list, b, item, n, values, fs);
			i += n - 1;
			continue;
		}
		address += item->flags & TRACE_FS ? fs : 0;
		address += item->flags & TRACE_BIT ? bit_offset(item, values[item->second]) : 0;
		if (item->kind == TRACE_GATHER || item->kind == TRACE_SCATTER)
			expand_lanes(list, b, item, values, address);
		else
			add(list, b->pc + item->offset, address, item->bytes, item->kind == TRACE_WRITE, item->kind == TRACE_PREFETCH);
	}
}

static void parse(const struct session *session, const uint64_t *words, size_t n, uint64_t fs, struct list *list)
{
	const struct record_process *p = session_process(session, 0);
	const struct trace_block *blocks = session_map(session, p->templates.offset, (p->templates.count + 1) * sizeof *blocks);
	const struct trace_item *items = session_map(session, p->items.offset, (p->items.count + 1) * sizeof *items);
	for (size_t i = 0; i < n;) {
		unsigned done = 0xff;
		if (words[i] & TRACE_MARK) {
			enum trace_mark_kind kind = trace_mark_kind(words[i]);
			if (kind != TRACE_PARTIAL) {
				i += kind == TRACE_BREAK ? 2 : kind == TRACE_RETURNED ? 3 : 4;
				continue;
			}
			done = trace_mark_argument(words[i++]);
		}
		if (words[i] >= p->templates.count) {
			printf("word %zu of the stream is %" PRIx64 ": no block\n", i, words[i]);
			exit(1);
		}
		const struct trace_block *b = &blocks[words[i]];
		expand(list, b, items, words + i + 1, done, fs);
		i += 1u + b->values;
	}
}

/* False: it ended before it could be looked at. */
static bool stream(char **argv, struct list *list)
{
	struct error err = {0};
	struct session *session;
	struct session_options options = {.size = sizeof options, .trace = true, .trace_bytes = BUFFER_BYTES};
	int release, status, null = open("/dev/null", O_RDWR | O_CLOEXEC);
	if (!session_new(&options, &session, &err))
		exit(2);
	pid_t pid = held(argv, true, null, &release);
	close(null);
	if (session_take(session, pid, held_release, &release, &err) != SESSION_TAKEN) {
		printf("not taken: %s\n", err.text);
		exit(2);
	}
	if (ptrace(PTRACE_SEIZE, pid, 0, PTRACE_O_TRACEEXIT)) {
		waitpid(pid, &status, 0);
		session_free(session);
		return false;
	}
	while (waitpid(pid, &status, 0) == pid && WIFSTOPPED(status)) {
		if (status >> 8 == (SIGTRAP | PTRACE_EVENT_EXIT << 8))
			break;
		ptrace(PTRACE_CONT, pid, 0, WSTOPSIG(status));
	}
	if (!WIFSTOPPED(status)) { /* it was behind the stop of its exit when it was seized */
		session_free(session);
		return false;
	}
	struct user_regs_struct r;
	uint64_t start = 0, end = 0, fs = 0;
	ptrace(PTRACE_GETREGS, pid, 0, &r);
	char path[40];
	snprintf(path, sizeof path, "/proc/%d/mem", (int)pid);
	int memory = open(path, O_RDONLY);
	bool read_all = pread(memory, &start, 8, (off_t)(r.gs_base + trace_start_offset)) == 8 &&
	                pread(memory, &end, 8, (off_t)(r.gs_base + trace_ran_offset)) == 8 &&
	                pread(memory, &fs, 8, (off_t)(r.gs_base + fs_base_offset)) == 8;
	uint64_t *words = mmap(NULL, BUFFER_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	size_t bytes = 0;
	for (ssize_t got; read_all && start + bytes < end; bytes += (size_t)got) {
		got = pread(memory, (char *)words + bytes, end - start - bytes < 65536 ? end - start - bytes : 65536, (off_t)(start + bytes));
		if (got <= 0)
			read_all = false;
	}
	if (!read_all) {
		printf("its buffer could not be read\n");
		exit(2);
	}
	ptrace(PTRACE_CONT, pid, 0, 0);
	waitpid(pid, &status, 0);
	parse(session, words, bytes / 8, fs, list);
	session_free(session);
	return true;
}

/* What the kernel places below the stack lies elsewhere in a process that has the engine's mappings, too: there, places within pages count. */
static bool same_place(uint64_t a, uint64_t b)
{
	const uint64_t from = 0x7f0000000000, to = 0x7ffffff00000;
	return a == b || (a >= from && a < to && b >= from && b < to && (a & 4095) == (b & 4095));
}

static void print(const char *side, const struct access *a)
{
	printf("  %s: at %" PRIx64 " %s %u bytes at %" PRIx64 "\n", side, a->pc, a->prefetch ? "prefetch" : a->write ? "write" : "read", a->bytes,
	       a->address);
}

int main(int argc, char **argv)
{
	struct list steps = {0}, streamed = {0};
	bool dump = argc > 1 && !strcmp(argv[1], "--dump");
	argv += 1 + dump;
	if (argc < 2 + dump)
		return 2;
	for (int tries = 0; !stream(argv, &streamed); tries++)
		if (tries == 500) {
			printf("it always ends before it can be looked at\n");
			return 2;
		}
	step(argv, &steps);
	for (size_t i = 0; dump && i < streamed.n; i++)
		print("stream", &streamed.at[i]);
	if (streamed.n > steps.n || (!streamed.n && steps.n)) {
		printf("the stream has %zu accesses, single steps %zu\n", streamed.n, steps.n);
		return 1;
	}
	for (size_t i = 1; i <= streamed.n; i++) {
		const struct access *a = &steps.at[steps.n - i], *b = &streamed.at[streamed.n - i];
		if (same_place(a->pc, b->pc) && same_place(a->address, b->address) && a->bytes == b->bytes && a->write == b->write && a->prefetch == b->prefetch)
			continue;
		printf("access %zu from the end differs\n", i);
		for (size_t k = i > 2 ? i - 2 : 1; k <= i + 3 && k <= streamed.n; k++) {
			print("steps ", &steps.at[steps.n - k]);
			print("stream", &streamed.at[streamed.n - k]);
		}
		return 1;
	}
	printf("compared %zu accesses of %zu\n", streamed.n, steps.n);
	return 0;
}
