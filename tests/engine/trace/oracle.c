/*
 * trace_oracle [--dump] PROGRAM ARGS: every data access of a static program, in order, by two ways that share the decoder only:
 *
 *     single steps    registers before each instruction → the addresses of the operands that the decoder names
 *     the engine      the stream that its thread's buffer holds when it exits, by the templates in the record
 *
 * They must be the same, all of them: instruction, address, bytes, kind (see same_place). The buffer is so large that it is run when fs's base
 * changes and at the exit only: it is read at each of these. A system call filter holds the runtime at its first call (arch_prctl) until it is traced.
 * Prints `compared N accesses` or the first difference; ends with 0 or 1, 77 with the reason where the filter cannot be had.
 */
#include <cpuid.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <elf.h>
#include <unistd.h>

#include "../held.h"
#include "engine/inject/injection.h"
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

static void get_xstate(struct state *s)
{
	struct iovec io = {s->x, sizeof s->x};
	if (!s->has_x)
		ptrace(PTRACE_GETREGSET, s->pid, NT_X86_XSTATE, &io);
	s->has_x = true;
}

static void vector(struct state *s, unsigned n, uint8_t out[64])
{
	get_xstate(s);
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

/* ---- areas of processor state: from the manual, and what the kernel says of the registers ---- */

static unsigned component_bytes(unsigned n)
{
	unsigned a, b, c, d;
	__cpuid_count(13, n, a, b, c, d);
	return n == 63 ? 0 : a;
}

static bool zeros(const uint8_t *at, size_t n)
{
	while (n && !at[n - 1])
		n--;
	return !n;
}

/* Of x87, SSE, masks and the upper registers: what holds anything; of others what the kernel found in use. */
static uint64_t in_use(struct state *s)
{
	static const uint8_t begins[8] = {0x7f, 3};
	uint64_t used;
	get_xstate(s);
	memcpy(&used, s->x + 512, 8);
	if (!memcmp(s->x, begins, 8) && zeros(s->x + 8, 16) && zeros(s->x + 32, 128))
		used &= ~1ull;
	if (zeros(s->x + 160, 256))
		used &= ~2ull;
	for (unsigned i = 5; i < 8; i += 2)
		if (used >> i & 1 && zeros(s->x + component(i), component_bytes(i)))
			used &= ~(1ull << i);
	return used;
}

static void run_of(struct list *list, uint64_t pc, uint64_t *from, uint64_t *to, uint64_t at, uint64_t bytes, bool write)
{
	if (*to != at && *to != *from)
		add(list, pc, *from, (unsigned)(*to - *from), write, false);
	if (*to != at)
		*from = at;
	*to = at + bytes;
}

static void state_area(struct state *s, struct list *list, const struct x86_insn *in, uint64_t at)
{
	unsigned extension = in->modrm >> 3 & 7, low, high;
	bool compacts = in->opcode == 0xc7, restores = !compacts && extension == 5;
	uint64_t header[8] = {0}, moved, layout = 0, from = 0, to = 0, place = at + 576;
	__asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
	uint64_t asked = (s->r.rdx << 32 | (uint32_t)s->r.rax) & ((uint64_t)high << 32 | low);
	struct iovec local = {header, 64}, remote = {(void *)(at + 512), 64};
	uint32_t mxcsr;
	get_xstate(s);
	memcpy(&mxcsr, s->x + 24, 4);
	if (restores)
		process_vm_readv(s->pid, &local, 1, &remote, 1, 0);
	moved = asked & (restores ? header[0] : compacts || extension == 6 ? in_use(s) : ~0ull);
	if (compacts && asked & 2 && mxcsr != 0x1f80)
		moved |= 2;
	layout = restores ? header[1] : compacts ? 1ull << 63 | asked : 0;
	if (!compacts)
		add(list, s->r.rip, at + 512, restores ? layout >> 63 ? 64 : 24 : 8, false, false);
	if (moved & 1)
		run_of(list, s->r.rip, &from, &to, at, 24, !restores);
	if (layout >> 63 ? moved & 2 : asked & 6)
		run_of(list, s->r.rip, &from, &to, at + 24, restores ? 4 : 8, !restores);
	if (moved & 1)
		run_of(list, s->r.rip, &from, &to, at + 32, 128, !restores);
	if (moved & 2)
		run_of(list, s->r.rip, &from, &to, at + 160, 256, !restores);
	if (!restores)
		run_of(list, s->r.rip, &from, &to, at + 512, compacts ? 16 : 8, true);
	for (unsigned i = 2; i < 63; i++) {
		unsigned a, b, c, d, bytes = component_bytes(i);
		__cpuid_count(13, i, a, b, c, d);
		if (layout >> 63 && c & 2)
			place = (place + 63) & ~63ull;
		if (moved >> i & 1)
			run_of(list, s->r.rip, &from, &to, layout >> 63 ? place : at + b, bytes, !restores);
		if (layout >> i & 1)
			place += bytes;
	}
	run_of(list, s->r.rip, &from, &to, 0, 0, !restores);
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
	if (in->special == X86_SPECIAL_XSAVE) {
		if (width) /* fxsave, fxrstor: the last 96 bytes are left alone */
			add(list, s->r.rip, address, 416, write, false);
		else if (write || !(m->flags & X86_MEM_WRITE)) /* once, with what it reads */
			state_area(s, list, in, address);
		return;
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
		if (item->kind == TRACE_SPANS_READ || item->kind == TRACE_SPANS_WRITE)
			continue; /* a mark says them */
		if (item->kind == TRACE_GATHER || item->kind == TRACE_SCATTER)
			expand_lanes(list, b, item, values, address);
		else
			add(list, b->pc + item->offset, address, item->bytes, item->kind == TRACE_WRITE, item->kind == TRACE_PREFETCH);
	}
}

static void parse(const struct injection *injection, const uint64_t *words, size_t n, uint64_t fs, struct list *list)
{
	const struct record_process *p = injection_process(injection, 0);
	const struct trace_block *blocks = injection_map(injection, p->templates.offset, (p->templates.count + 1) * sizeof *blocks);
	const struct trace_item *items = injection_map(injection, p->items.offset, (p->items.count + 1) * sizeof *items);
	const struct trace_block *last = NULL;
	for (size_t i = 0; i < n;) {
		unsigned done = 0xff;
		if (words[i] & TRACE_MARK) {
			enum trace_mark_kind kind = trace_mark_kind(words[i]);
			if (kind == TRACE_SPANS && last) {
				const struct trace_item *item = &items[trace_mark_argument(words[i])];
				for (uint64_t k = 0; k < words[i + 1]; k++)
					add(list, last->pc + item->offset, words[i + 2 + 2 * k], words[i + 3 + 2 * k] & TRACE_SPAN_BYTES,
					    item->kind == TRACE_SPANS_WRITE, false);
				i += 2 + 2 * words[i + 1];
				continue;
			}
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
		const struct trace_block *b = last = &blocks[words[i]];
		expand(list, b, items, words + i + 1, done, fs);
		i += 1u + b->values;
	}
}

/* The program, held as held() does, and a filter that stops arch_prctl(ARCH_SET_GS): the runtime's first, before any instruction of the program's. */
struct filtered { pid_t pid; int release, notices; };

static int listener(void)
{
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_arch_prctl, 0, 3),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[0])),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0x1001, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_USER_NOTIF),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = {sizeof filter / sizeof *filter, filter};
	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	return (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_NEW_LISTENER, &program);
}

static struct filtered filtered(char **argv)
{
	struct filtered f = {.notices = -1};
	int hold[2], say[2], number = -1;
	if (pipe(hold) || pipe(say))
		exit(2);
	f.pid = fork();
	if (f.pid == 0) {
		int null = open("/dev/null", O_RDWR | O_CLOEXEC), fd;
		char byte;
		close(hold[1]);
		personality(ADDR_NO_RANDOMIZE);
		dup2(null, 1);
		fd = listener();
		if (write(say[1], &fd, sizeof fd) != sizeof fd || read(hold[0], &byte, 1) < 0)
			_exit(126);
		close(hold[0]), close(say[0]), close(say[1]), close(null);
		execvp(argv[0], argv);
		_exit(126);
	}
	close(hold[0]);
	f.release = hold[1];
	if (read(say[0], &number, sizeof number) == sizeof number && number >= 0)
		f.notices = (int)syscall(SYS_pidfd_getfd, (int)syscall(SYS_pidfd_open, f.pid, 0), number, 0);
	close(say[0]), close(say[1]);
	return f;
}

static void go_on(const struct filtered *f)
{
	struct seccomp_notif notice = {0};
	struct seccomp_notif_resp answer = {.flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE};
	if (ioctl(f->notices, SECCOMP_IOCTL_NOTIF_RECV, &notice))
		exit(2);
	answer.id = notice.id;
	ioctl(f->notices, SECCOMP_IOCTL_NOTIF_SEND, &answer);
}

/* Stops it in the call that the filter holds, and lets it go on from there: its stops are at system calls from now on. */
static void trace_from_start(const struct filtered *f)
{
	struct seccomp_notif notice = {0};
	int status;
	if (ioctl(f->notices, SECCOMP_IOCTL_NOTIF_RECV, &notice) || ptrace(PTRACE_SEIZE, f->pid, 0, PTRACE_O_TRACEEXIT | PTRACE_O_TRACESYSGOOD) ||
	    ptrace(PTRACE_INTERRUPT, f->pid, 0, 0) || waitpid(f->pid, &status, 0) != f->pid || !WIFSTOPPED(status))
		exit(2);
	/* the call is made again: a stop at its entry, then it is noticed again */
	ptrace(PTRACE_SYSCALL, f->pid, 0, 0);
	if (waitpid(f->pid, &status, 0) != f->pid || !WIFSTOPPED(status))
		exit(2);
	ptrace(PTRACE_SYSCALL, f->pid, 0, 0);
	go_on(f);
}

struct buffer { uint64_t *words; size_t n; };

/* What the runtime has run of its buffer, and says so no more. Returns the thread's fs base. */
static uint64_t take_part(pid_t pid, struct buffer *part)
{
	struct user_regs_struct r;
	uint64_t start = 0, end = 0, fs = 0, none = 0;
	char path[40];
	ptrace(PTRACE_GETREGS, pid, 0, &r);
	snprintf(path, sizeof path, "/proc/%d/mem", (int)pid);
	int memory = open(path, O_RDWR);
	bool read_all = pread(memory, &start, 8, (off_t)(r.gs_base + trace_start_offset)) == 8 &&
	                pread(memory, &end, 8, (off_t)(r.gs_base + trace_ran_offset)) == 8 &&
	                pread(memory, &fs, 8, (off_t)(r.gs_base + fs_base_offset)) == 8;
	size_t bytes = 0;
	for (ssize_t got; read_all && start + bytes < end; bytes += (size_t)got) {
		got = pread(memory, (char *)part->words + bytes, end - start - bytes < 65536 ? end - start - bytes : 65536, (off_t)(start + bytes));
		if (got <= 0)
			read_all = false;
	}
	if (!read_all || pwrite(memory, &none, 8, (off_t)(r.gs_base + trace_ran_offset)) != 8) {
		printf("its buffer could not be read\n");
		exit(2);
	}
	close(memory);
	part->n = bytes / 8;
	return fs;
}

/* The runtime asks for the fs base behind each change, when what came before it is run. */
static bool asks_for_fs(pid_t pid)
{
	struct __ptrace_syscall_info info;
	return ptrace(PTRACE_GET_SYSCALL_INFO, pid, sizeof info, &info) > 0 && info.op == PTRACE_SYSCALL_INFO_ENTRY && info.entry.nr == SYS_arch_prctl &&
	       info.entry.args[0] == 0x1003;
}

static void stream(char **argv, struct list *list)
{
	struct error err = {0};
	struct injection *injection;
	struct injection_options options = {.size = sizeof options, .trace = true, .trace_bytes = BUFFER_BYTES};
	struct buffer part = {mmap(NULL, BUFFER_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0), 0};
	int status;
	if (part.words == MAP_FAILED || !injection_new(&options, &injection, &err))
		exit(2);
	struct filtered f = filtered(argv);
	if (f.notices < 0) {
		printf("no system call filter that notifies: %s\n", strerror(errno));
		kill(f.pid, SIGKILL);
		exit(77);
	}
	if (injection_take(injection, f.pid, held_release, &f.release, &err) != INJECTION_TAKEN) {
		printf("not taken: %s\n", err.text);
		exit(2);
	}
	trace_from_start(&f);
	while (waitpid(f.pid, &status, 0) == f.pid && WIFSTOPPED(status)) {
		bool event = status >> 16, call = WSTOPSIG(status) == (SIGTRAP | 0x80), exits = status >> 16 == PTRACE_EVENT_EXIT;
		if (exits || (call && asks_for_fs(f.pid))) {
			uint64_t fs = take_part(f.pid, &part);
			parse(injection, part.words, part.n, fs, list);
		}
		ptrace(exits ? PTRACE_CONT : PTRACE_SYSCALL, f.pid, 0, event || call ? 0 : WSTOPSIG(status));
	}
	munmap(part.words, BUFFER_BYTES);
	injection_free(injection);
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

static bool compare(const struct list *steps, const struct list *streamed)
{
	for (size_t i = 0; i < streamed->n && i < steps->n; i++) {
		const struct access *a = &steps->at[i], *b = &streamed->at[i];
		if (same_place(a->pc, b->pc) && same_place(a->address, b->address) && a->bytes == b->bytes && a->write == b->write && a->prefetch == b->prefetch)
			continue;
		printf("access %zu differs\n", i);
		for (size_t k = i > 2 ? i - 2 : 0; k <= i + 3 && k < streamed->n && k < steps->n; k++) {
			print("steps ", &steps->at[k]);
			print("stream", &streamed->at[k]);
		}
		return false;
	}
	if (streamed->n != steps->n)
		printf("the stream has %zu accesses, single steps %zu\n", streamed->n, steps->n);
	return streamed->n == steps->n;
}

int main(int argc, char **argv)
{
	struct list steps = {0}, streamed = {0};
	bool dump = argc > 1 && !strcmp(argv[1], "--dump");
	argv += 1 + dump;
	if (argc < 2 + dump)
		return 2;
	stream(argv, &streamed);
	step(argv, &steps);
	for (size_t i = 0; dump && i < streamed.n; i++)
		print("stream", &streamed.at[i]);
	bool equal = compare(&steps, &streamed);
	if (equal)
		printf("compared %zu accesses\n", streamed.n);
	free(steps.at);
	free(streamed.at);
	return !equal;
}
