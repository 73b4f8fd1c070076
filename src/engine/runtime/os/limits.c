/*
 * RLIMIT_AS and RLIMIT_DATA, when the program itself sets them: they are meant for the program's memory, and the
 * kernel counts the engine's as well. The kernel is given the program's limit and what the engine takes; the
 * program reads back its own.
 *
 *     the program's {soft, hard}  ──►  the kernel's {soft + the engine's bytes, as far beyond hard as it may be}
 *
 * What always holds:
 *  1. A limit from before the program began is the kernel's alone, and the engine has to fit into it
 *     (choose_sizes).
 *  2. The program's view is kept in its entry of the record, from which the next image of an exec has it; a forked
 *     child has it by its memory.
 *  3. The kernel's soft limit follows what the engine maps (memory_place).
 */
#include "engine/runtime/cache/cache.h"
#include "engine/runtime/entry.h"
#include "engine/runtime/os/calls.h"
#include "engine/runtime/runtime.h"
#include "engine/runtime/thread.h"

#define RLIM_INFINITY_ (~0ull)
#define BEYOND (1ull << 40) /* what the engine may come to take */
#define STRIDE_SMALL (16ull << 20)
#define STRIDE_LARGE (1ull << 30)
#define SMALL (8ull << 30)

static const uint32_t resources[RECORD_LIMITS] = {9, 2}; /* RLIMIT_AS, RLIMIT_DATA */

static struct record_limit *limit_of(uint64_t resource)
{
	for (unsigned i = 0; i < RECORD_LIMITS; i++)
		if (resources[i] == resource)
			return &rt.limits[i];
	return NULL;
}

/* The tables of the cache, what is mapped for a moment on the way (record_map), and what memory_place does not
 * round to. */
static uint64_t engine_bytes(void)
{
	return __atomic_load_n(&rt.placed, __ATOMIC_RELAXED) + RECORD_SPACE_OFFSET + rt.image_bytes +
	       ARENAS * rt.arena_bytes + (4ull << 20) + limits_stride();
}

static uint64_t plus(uint64_t limit, uint64_t more)
{
	return limit > RLIM_INFINITY_ - more ? RLIM_INFINITY_ : limit + more;
}

static long tell(uint64_t resource, const struct record_limit *own)
{
	uint64_t soft = plus(own->soft, engine_bytes());
	uint64_t kernels[2] = {soft < own->kernels ? soft : own->kernels, own->kernels};
	return sys4(SYS_prlimit64, 0, resource, kernels, 0);
}

void limits_grew(void)
{
	if (rt.started && current()->process != rt.process && !current()->forked)
		return; /* a vfork's child has limits of its own, and its parent's memory */
	for (unsigned i = 0; i < RECORD_LIMITS; i++)
		if (rt.limits[i].set)
			tell(resources[i], &rt.limits[i]);
}

uint64_t limits_stride(void) { return rt.stride; }

static void choose_stride(uint64_t limit)
{
	uint64_t stride = limit == RLIM_INFINITY_ ? RECORD_FILE_BYTES
			  : limit < SMALL         ? STRIDE_SMALL
						  : STRIDE_LARGE;
	if (!rt.stride || stride < rt.stride)
		rt.stride = stride;
}

bool limits_start(void)
{
	bool small = false;
	memcpy(rt.limits, rt.process->limits, sizeof rt.limits);
	for (unsigned i = 0; i < RECORD_LIMITS; i++) {
		uint64_t limit[2] = {RLIM_INFINITY_, RLIM_INFINITY_};
		sys2(SYS_getrlimit, resources[i], limit);
		if (rt.limits[i].set && rt.limits[i].soft < limit[0])
			limit[0] = rt.limits[i].soft;
		choose_stride(limit[0]);
		small |= limit[0] < SMALL;
	}
	return small;
}

/* The program sets a limit of its own. */
static long set(uint64_t resource, struct record_limit *own, const uint64_t before[2], const uint64_t wanted[2])
{
	uint64_t kernels[2], stride = rt.stride;
	const uint64_t args[6] = {0, resource, 0, (uint64_t)kernels};
	long result = runtime_program_call(SYS_prlimit64, args);
	struct record_limit fresh = {
		.soft = wanted[0], .hard = wanted[1], .kernels = plus(wanted[1], BEYOND), .set = 1};
	if (failed(result))
		return result;
	if (wanted[0] > wanted[1])
		return -EINVAL_;
	/* else the kernel says whether it may be raised */
	if (wanted[1] <= before[1] && fresh.kernels > kernels[1])
		fresh.kernels = kernels[1];
	choose_stride(wanted[0]);
	result = tell(resource, &fresh);
	if (failed(result)) {
		rt.stride = stride;
		return result;
	}
	*own = fresh;
	memcpy(rt.process->limits, rt.limits, sizeof rt.limits);
	return result;
}

/* False: it is nothing that concerns the engine. Else *result is the call's. */
bool limits_call(struct thread *t, uint64_t nr, long *result)
{
	const uint64_t *r = t->reg;
	bool prlimit = nr == SYS_prlimit64;
	uint64_t resource = (uint32_t)(prlimit ? r[X86_RSI] : r[X86_RDI]), new = 0, old = 0, wanted[2];
	struct record_limit *own = limit_of(resource);
	if (!own || t->process != rt.process) /* a vfork's child has limits of its own, and its parent's memory */
		return false;
	if (prlimit && (uint32_t)r[X86_RDI] && (uint32_t)r[X86_RDI] != (uint32_t)sys0(SYS_getpid))
		return false;
	if (prlimit)
		new = r[X86_RDX], old = r[X86_R10];
	else if (nr == SYS_setrlimit)
		new = r[X86_RSI];
	else
		old = r[X86_RSI];
	if (!new && !own->set)
		return false;
	*result = 0;
	lock();
	uint64_t before[2] = {own->soft, own->hard};
	if (!own->set)
		*result = sys4(SYS_prlimit64, 0, resource, 0, before);
	if (new && !safe_copy(wanted, (const void *)new, sizeof wanted))
		*result = -EFAULT_;
	else if (new && !failed(*result))
		*result = set(resource, own, before, wanted);
	unlock();
	if (!failed(*result) && old && !safe_copy((void *)old, before, sizeof before))
		*result = -EFAULT_;
	return true;
}
