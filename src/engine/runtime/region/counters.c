/*
 * Calls of libtare's counters, and what they ask of the host (wire/question.h; wire/region.h has what is counted
 * where).
 *
 *                first call                 the call returns, or a longjmp leaves it
 *     context: ─────────────► with `calls` ────────────────────────────────────────────► with `own`
 *                                  ▲                                                          │
 *                                  └──────────── the next call, by its way (region_cross) ────┘
 *
 * What always holds (under rt.lock):
 *  1. A thread that has an own region is in exactly one of `own` and `calls`. A call inside of a call changes
 *     nothing.
 *  2. A signal handler is outside, whatever it interrupts; its sigreturn goes back to what that was in.
 *  3. Where what led to a call is not known (region_cross), the own region's pass has a stray, and the host
 *     answers nothing of it.
 */
#include "engine/runtime/entry.h"
#include "engine/runtime/record/record.h"
#include "engine/runtime/region/passes.h"
#include "engine/runtime/region/region.h"
#include "engine/runtime/runtime.h"
#include "engine/runtime/stream/stream.h"
#include "engine/runtime/thread.h"
#include "engine/runtime/translate/translate.h"
#include "engine/wire/question.h"

static char *number(char *to, uint64_t n)
{
	char digits[20];
	unsigned k = 0;
	do
		digits[k++] = (char)('0' + n % 10);
	while (n /= 10);
	while (k)
		*to++ = digits[--k];
	return to;
}

static uint32_t process_index(void)
{
	return (uint32_t)(rt.process - (struct record_process *)((uint8_t *)rt.record + RECORD_PROCESSES_OFFSET));
}

/* Names are the process's alone, so that no other's regions are added to these. tid 0: `calls`. */
static uint32_t hidden_region(uint32_t tid)
{
	char name[48] = {REGION_HIDDEN}, *end = number(name + 1, process_index());
	if (tid) {
		*end++ = ':';
		end = number(end, tid);
	}
	return region_of_text((uint64_t)name, (uint64_t)(end - name));
}

static bool has_regions(const struct thread *t) { return t->own_region && rt.calls_region; }

uint32_t counters_outside(const struct thread *t, uint32_t context)
{
	if (!has_regions(t))
		return context;
	return context_with(context_without(context, rt.calls_region - 1), t->own_region - 1, false);
}

static uint32_t inside(const struct thread *t, uint32_t context)
{
	return context_with(context_without(context, t->own_region - 1), rt.calls_region - 1, false);
}

uint32_t counters_as_in(const struct thread *t, uint32_t context, uint32_t as)
{
	if (!has_regions(t))
		return context;
	return context_has(as, rt.calls_region - 1) ? inside(t, context) : counters_outside(t, context);
}

uint32_t counters_none(const struct thread *t, uint32_t context)
{
	if (!has_regions(t))
		return context;
	return context_without(context_without(context, rt.calls_region - 1), t->own_region - 1);
}

void counters_child(struct thread *t)
{
	region_assume(t, counters_none(t, t->context));
	t->own_region = 0;
	rt.calls_region = 0;
	rt.question = NULL;
}

/* False: there is no room for regions. */
static bool make_regions(struct thread *t)
{
	uint32_t region;
	if (!regions_ready())
		return false;
	if (!rt.calls_region && (region = hidden_region(0)) != NONE)
		rt.calls_region = region + 1;
	if (rt.calls_region && !t->own_region && (region = hidden_region(t->tid)) != NONE)
		t->own_region = region + 1;
	return has_regions(t);
}

void counters_called(struct thread *t, uint64_t back)
{
	uint64_t at = t->pc;
	bool first = !t->own_region;
	bool nested = !first && !context_has(t->context, t->own_region - 1);
	if (!nested && make_regions(t)) {
		struct record_pass *pass = region_pass(t, t->own_region - 1);
		if (first)
			region_change(t, inside(t, t->context));
		else if (!region_cross(t, pass, inside(t, t->context), back, at, REGION_ALL_ARGUMENTS))
			pass->strays++;
		region_push_counters(t, back);
	}
	stream_break(t, at); /* where what was executed last led to */
	t->pc = at + REGION_CALL_BYTES;
}

/* ---- questions ---- */

static bool asked_of_host(void)
{
	struct record_process *process = rt.process;
	struct {
		int64_t seconds, ns;
	} wait = {0, 100000000};
	if (!attendant_lives())
		return false;
	process->question = rt.question_offset;
	__atomic_store_n(&process->ask, RECORD_ASK_COUNTS, __ATOMIC_RELEASE);
	request(process);
	while (__atomic_load_n(&process->ask, __ATOMIC_ACQUIRE) == RECORD_ASK_COUNTS) {
		if (!attendant_lives())
			return false;
		sys4(SYS_futex, &process->ask, FUTEX_WAIT_, RECORD_ASK_COUNTS, &wait);
	}
	return rt.question->answered == 1;
}

uint64_t counters_ask(struct thread *t, uint64_t address)
{
	uint32_t bytes;
	if (t->process != rt.process || !safe_copy(&bytes, (const void *)address, sizeof bytes) ||
	    bytes != sizeof(struct question))
		return 0;
	if (!rt.question) {
		rt.question_offset = record_reserve(sizeof(struct question));
		rt.question = record_map(rt.question_offset, sizeof(struct question), NULL);
	}
	if (!rt.question || !safe_copy(rt.question, (const void *)address, sizeof(struct question)))
		return 0;
	if (rt.trace) {
		stream_flush(t);
		regions_counted(t);
	}
	rt.question->answered = 0;
	rt.question->asker = t->tid;
	rt.question->own = t->own_region;
	rt.question->calls = rt.calls_region;
	return asked_of_host() && safe_copy((void *)address, rt.question, sizeof(struct question));
}
