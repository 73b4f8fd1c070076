/*
 * /proc/PID/status as the process itself reads it: the signals that are blocked, ignored and caught are the
 * program's. The kernel would show the engine's: it catches nearly every signal and blocks no fault's.
 *
 *     SigBlk:  0000000000000000      five lines of 16 digits each: the text stays as long as it is, and only the
 *     SigIgn:  0000000000001000      digits that a call has read are written over
 *     SigCgt:  0000000180004002
 *
 * What always holds:
 *  1. Nothing is looked at before the process has opened a file in /proc, or begun with one as its standard input:
 *     programs that read none pay for one fstatfs an open.
 *  2. /proc/self/fd tells which file a descriptor is of, so that it does not matter how the program got it.
 *     Another process's text stays as it is.
 *  3. The file is read again to find where the digits lie. What the program read is changed only where it equals
 *     that text.
 */
#include "engine/runtime/entry.h"
#include "engine/runtime/os/calls.h"
#include "engine/runtime/runtime.h"
#include "engine/runtime/thread.h"

enum { SYS_fstatfs = 138, PROC_MAGIC = 0x9fa0, SEEK_CUR_ = 1, DIGITS = 16 };

static char text[8192]; /* under rt.lock */

static bool in_proc(uint64_t fd)
{
	uint64_t system[15]; /* struct statfs, 120 bytes; its type comes first */
	return !failed(sys2(SYS_fstatfs, fd, system)) && system[0] == PROC_MAGIC;
}

void own_status_opened(long fd)
{
	if (!rt.reads_proc && !failed(fd) && !rt.calls_denied)
		rt.reads_proc = in_proc((uint64_t)fd);
}

static void write_link(char *at, uint64_t fd)
{
	static const char folder[] = "/proc/self/fd/";
	char digits[20];
	uint32_t n = 0, end = sizeof folder - 1;
	memcpy(at, folder, end);
	do
		digits[n++] = (char)('0' + fd % 10);
	while (fd /= 10);
	while (n)
		at[end++] = digits[--n];
	at[end] = 0;
}

/* The component before *end, as a number, or 0; *end is then before its slash. */
static uint32_t number_before(const char *path, long *end)
{
	uint32_t number = 0, factor = 1;
	long at = *end;
	for (; at > 0 && path[at - 1] >= '0' && path[at - 1] <= '9'; at--, factor *= 10)
		number += (uint32_t)(path[at - 1] - '0') * factor;
	bool whole = at < *end && at > 0 && path[at - 1] == '/';
	*end = at - 1;
	return whole ? number : 0;
}

/* The number of the thread whose status the file is; 0: it is another file. */
static uint32_t thread_of(const char *link, uint64_t fd)
{
	static const char name[] = "/status", task[] = "/task";
	char path[256];
	long end = sys3(SYS_readlink, link, path, sizeof path), task_end;
	if (failed(end) || end < 8 || memcmp(path + end - 7, name, 7))
		return 0;
	end -= 7;
	uint32_t tid = number_before(path, &end), pid = tid;
	task_end = end - 5;
	if (task_end > 0 && !memcmp(path + task_end, task, 5))
		pid = number_before(path, &task_end);
	return pid == (uint32_t)sys0(SYS_getpid) && in_proc(fd) ? tid : 0;
}

/* Of the process's threads the one of that number, NULL: it has ended. */
static const struct thread *thread_named(const struct thread *t, uint32_t tid)
{
	if (t->tid == tid)
		return t;
	for (uint32_t i = 0; i < rt.slots_max && rt.threads[i]; i++)
		if (rt.slot_state[i] && rt.threads[i]->tid == tid && rt.threads[i]->process == t->process)
			return rt.threads[i];
	return NULL;
}

static uint64_t signals_of(const struct thread *t, bool caught)
{
	uint64_t set = 0;
	for (unsigned signo = 1; signo < SIGNALS; signo++)
		if (caught ? t->actions[signo].handler > 1 : t->actions[signo].handler == 1)
			set |= 1ull << (signo - 1);
	return set;
}

struct status_line {
	const char *name; /* 7 characters, and a tab behind them */
	uint64_t set;
	bool adds; /* to what the kernel has */
};

static unsigned digit_value(char digit) { return (unsigned)(digit <= '9' ? digit - '0' : digit - 'a' + 10); }

/* Where the digits of the line that begins so are; 0: there is none. */
static uint32_t digits_at(const char *name, uint32_t length)
{
	for (uint32_t i = 0; i + 9 + DIGITS <= length; i++)
		if (text[i] == '\n' && !memcmp(text + i + 1, name, 7) && text[i + 8] == '\t')
			return i + 9;
	return 0;
}

/* bytes at `at` are those of the text from `from` on. */
static void write_digits(const struct status_line *field, uint32_t place, uint64_t at, uint64_t from,
			 uint64_t bytes)
{
	uint64_t set = field->set;
	for (uint32_t i = 0; i < DIGITS; i++) {
		char digit = text[place + i], now;
		unsigned value = (unsigned)(set >> (4 * (DIGITS - 1 - i))) & 15;
		if (field->adds)
			value |= digit_value(digit);
		if (place + i < from || place + i >= from + bytes)
			continue;
		void *where = (void *)(at + (place + i - from));
		now = (char)(value < 10 ? '0' + value : 'a' + value - 10);
		char is;
		if (now != digit && safe_copy(&is, where, 1) && is == digit)
			safe_copy(where, &now, 1);
	}
}

/* The file's whole text, from a descriptor of its own: the program's keeps its place and what it has in store. */
static uint32_t read_text(const char *link)
{
	long fd = sys3(SYS_open, link, O_CLOEXEC_, 0), n;
	uint32_t length = 0;
	if (failed(fd))
		return 0;
	while (length < sizeof text && (n = sys3(SYS_read, fd, text + length, sizeof text - length)) > 0)
		length += (uint32_t)n;
	sys1(SYS_close, fd);
	return length;
}

/* A call has read `bytes` of the text from `from` on: into one place, or into several (readv). */
static void correct(const struct thread *t, uint64_t nr, const struct status_line fields[5], uint64_t from,
		    uint64_t bytes, uint32_t length)
{
	const uint64_t *r = t->reg;
	struct {
		uint64_t at, bytes;
	} piece = {r[X86_RSI], bytes};
	bool vector = nr != SYS_read && nr != SYS_pread64;
	for (uint64_t i = 0; bytes; i++) {
		if (vector && (i == r[X86_RDX] ||
			       !safe_copy(&piece, (const void *)(r[X86_RSI] + i * sizeof piece), sizeof piece)))
			return;
		uint64_t n = piece.bytes < bytes ? piece.bytes : bytes;
		for (unsigned f = 0; f < 5; f++) {
			uint32_t place = digits_at(fields[f].name, length);
			if (place)
				write_digits(&fields[f], place, piece.at, from, n);
		}
		from += n, bytes -= n;
	}
}

/* Behind a read that gave `result`. */
void own_status_read(const struct thread *t, uint64_t nr, long result)
{
	const uint64_t *r = t->reg;
	char link[40];
	if (failed(result) || result <= 0 || rt.calls_denied)
		return;
	write_link(link, (uint32_t)r[X86_RDI]);
	uint32_t tid = thread_of(link, r[X86_RDI]);
	if (!tid)
		return;
	bool placed = nr == SYS_pread64 || ((nr == SYS_preadv || nr == SYS_preadv2) && r[X86_R10] != ~0ull);
	uint64_t from = placed ? r[X86_R10] : (uint64_t)(sys3(SYS_lseek, r[X86_RDI], 0, SEEK_CUR_) - result);
	lock();
	const struct thread *named = thread_named(t, tid);
	uint64_t blocked = !named ? 0 : named->has_temporary ? named->temporary_mask : named->mask;
	const struct status_line fields[5] = {{"SigPnd:", named ? named->held : 0, true},
					      {"ShdPnd:", rt.held, true},
					      {"SigBlk:", blocked, !named},
					      {"SigIgn:", signals_of(t, false), false},
					      {"SigCgt:", signals_of(t, true), false}};
	uint32_t length = read_text(link);
	correct(t, nr, fields, from, (uint64_t)result, length);
	unlock();
}
