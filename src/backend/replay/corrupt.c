#include "backend/replay/corrupt.h"

#include "base/random.h"

enum { SAMPLES_MOST = 1000000 }; /* of more, the share that is left is not by chance */

static uint64_t times(uint64_t a, uint64_t b)
{
	uint64_t product;
	return __builtin_mul_overflow(a, b, &product) || product > INT64_MAX ? INT64_MAX : product;
}

static uint64_t plus(uint64_t a, uint64_t b) { return a > INT64_MAX - b ? INT64_MAX : a + b; }

/* The same for an execution and an event, whatever else is read. */
static struct random chance(size_t execution, size_t event)
{
	struct random r = {execution * 1000003u + event};
	random_u64(&r);
	return r;
}

static uint64_t interrupts_of(const struct run *run)
{
	return run->minor_faults + run->major_faults + run->voluntary_switches + run->involuntary_switches;
}

/* A clock that runs on its own: where it stands at the beginning is by chance. */
static uint64_t ticks_of(const struct run *run, uint64_t rate, struct random r)
{
	double seconds = (double)(run->user_ns + run->system_ns) / 1e9;
	return (uint64_t)(seconds * (double)rate + random_unit(&r));
}

static uint64_t dropped(uint64_t count, const struct corruption *c, struct random r)
{
	uint64_t left = 0;
	if (count / c->by > SAMPLES_MOST)
		return count / c->by / 100 * c->percent * c->by;
	for (uint64_t sample = count / c->by; sample > 0; sample--)
		left += random_below(&r, 100) < c->percent;
	return left * c->by;
}

static uint64_t corrupted(uint64_t count, const struct corruption *c, const struct run *run, size_t execution,
			  corrupt_recorded *recorded, const void *context)
{
	struct random r = chance(execution, c->event);
	switch (c->kind) {
	case CORRUPT_TIMES: return times(count, c->by);
	case CORRUPT_DIVIDE: return count / c->by;
	case CORRUPT_INTERRUPTS: return plus(count, times(c->by, interrupts_of(run)));
	case CORRUPT_TICKS: return plus(count, ticks_of(run, c->by, r));
	case CORRUPT_DROP: return dropped(count, c, r);
	case CORRUPT_WRAP: return count % c->by;
	case CORRUPT_STUCK: return c->by;
	case CORRUPT_SWAP: return recorded(context, c->with);
	case CORRUPT_THROTTLE: return count > c->from ? c->from + (count - c->from) / c->by : count;
	case CORRUPT_SATURATE: return count < c->by ? count : c->by;
	case CORRUPT_ADD: return plus(count, recorded(context, c->with));
	case CORRUPT_SOMETIMES: return random_below(&r, 100) < c->percent ? times(count, c->by) : count;
	}
	return count;
}

uint64_t corrupt_count(const struct corruption *corruptions, size_t n, size_t event, uint64_t count,
		       const struct run *run, size_t execution, corrupt_recorded *recorded, const void *context)
{
	for (size_t i = 0; i < n; i++) {
		const struct corruption *c = &corruptions[i];
		if (c->event == event)
			count = corrupted(count, c, run, execution, recorded, context);
		else if (c->kind == CORRUPT_SWAP && c->with == event)
			count = recorded(context, c->event);
	}
	return count;
}
