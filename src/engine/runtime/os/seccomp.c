/*
 * Seccomp filters of the program's: they are for the program's system calls, and the kernel asks them about the
 * engine's as well. So a filter gets a few instructions in front that allow what is called from the engine's
 * image, but for the places where the program's own calls are made.
 *
 *     address in the image?  ──no──►  the program's filter
 *        └─yes─► one of the program's calls? ──yes──► the program's filter
 *                                            └─no──►  allowed
 *
 * What always holds:
 *  1. Code of the program's never runs in the image: a jump there is translated like any other, and its calls are
 *     the program's.
 *  2. The image is at START_IMAGE_PLACE in every program of the record, so that what an exec inherits still knows
 *     it. Where it could not be put there, or the filter is too long, or in strict mode, the engine makes as few
 *     calls as it can (rt.calls_denied).
 */
#include "engine/runtime/entry.h"
#include "engine/runtime/os/calls.h"
#include "engine/runtime/runtime.h"
#include "engine/runtime/thread.h"

enum { SET_MODE_FILTER = 1, PR_SET_SECCOMP_ = 22, MODE_STRICT = 1, MODE_FILTER = 2, MOST = 4096 };
enum { LOAD = 0x20, LOAD_CONSTANT = 0x00, EQUAL = 0x15, AT_LEAST = 0x35, RETURN = 0x06 };
#define ALLOW 0x7fff0000u
#define ADDRESS_AT 8u /* of struct seccomp_data: behind the `syscall` */

struct instruction {
	uint16_t code;
	uint8_t yes, no;
	uint32_t k;
};
struct program {
	uint16_t count;
	uint16_t pad[3];
	uint64_t at;
};
_Static_assert(sizeof(struct instruction) == 8 && sizeof(struct program) == 16, "the kernel's layout");

#define PLACES 5u
#define FRONT (PLACES + 7u)

static struct instruction filter[MOST]; /* under rt.lock */

static void write_front(void)
{
	const uint64_t low = rt.image, high = rt.image + rt.image_bytes;
	const uint64_t programs[PLACES] = {(uint64_t)&runtime_syscall_end, (uint64_t)&runtime_program_end,
					   (uint64_t)&runtime_int80_end, (uint64_t)&runtime_clone_end,
					   (uint64_t)&runtime_final_end};
	unsigned n = 0;
	filter[n++] = (struct instruction){LOAD, 0, 0, ADDRESS_AT + 4};
	filter[n++] = (struct instruction){EQUAL, 0, FRONT - 3, (uint32_t)(low >> 32)};
	filter[n++] = (struct instruction){LOAD, 0, 0, ADDRESS_AT};
	filter[n++] = (struct instruction){AT_LEAST, 0, FRONT - 5, (uint32_t)low};
	filter[n++] = (struct instruction){AT_LEAST, FRONT - 6, 0, (uint32_t)high};
	for (unsigned i = 0; i < PLACES; i++, n++)
		filter[n] = (struct instruction){EQUAL, (uint8_t)(FRONT - 2 - n), 0, (uint32_t)programs[i]};
	filter[n++] = (struct instruction){RETURN, 0, 0, ALLOW};
	filter[n++] = (struct instruction){LOAD_CONSTANT, 0, 0, 0}; /* the program's begins with a zero there */
}

static bool wanted(uint64_t at, struct program *program)
{
	return rt.image == START_IMAGE_PLACE && safe_copy(program, (const void *)at, sizeof *program) &&
	       program->count && program->count <= MOST - FRONT &&
	       safe_copy(filter + FRONT, (const void *)program->at, program->count * sizeof *filter);
}

/* The filter is in args[which]. */
static long install(uint64_t nr, const uint64_t program_args[6], unsigned which)
{
	struct program own;
	uint64_t args[6];
	memcpy(args, program_args, sizeof args);
	lock();
	if (wanted(args[which], &own)) {
		write_front();
		own.count = (uint16_t)(own.count + FRONT);
		own.at = (uint64_t)filter;
		args[which] = (uint64_t)&own;
	}
	long result = runtime_app_syscall((long)nr, args);
	if (!failed(result) && args[which] == program_args[which])
		rt.calls_denied = 1;
	unlock();
	return result;
}

/* False: no filter is installed by it. Else *result is the call's. */
bool filter_call(struct thread *t, uint64_t nr, long *result)
{
	const uint64_t *r = t->reg,
		       args[6] = {r[X86_RDI], r[X86_RSI], r[X86_RDX], r[X86_R10], r[X86_R8], r[X86_R9]};
	bool strict = nr == SYS_seccomp ? (uint32_t)args[0] == 0
					: (uint32_t)args[0] == PR_SET_SECCOMP_ && args[1] == MODE_STRICT;
	bool filters = nr == SYS_seccomp ? (uint32_t)args[0] == SET_MODE_FILTER
					 : (uint32_t)args[0] == PR_SET_SECCOMP_ && args[1] == MODE_FILTER;
	if (strict || filters)
		rt.no_tsc = 1;
	if (strict)
		rt.calls_denied = 1;
	if (!filters)
		return false;
	*result = install(nr, args, 2);
	return true;
}
