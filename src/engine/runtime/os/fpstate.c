/*
 * The program's floating-point, vector and tile registers: in signal frames, and for models, which also use them.
 *
 * What always holds:
 *  1. They are in the processor all the time: the runtime uses none of them (tools/check-freestanding).
 *  2. A handler begins with Linux's initial state (arch/x86/kernel/fpu/core.c, fpu__clear_user_states): MXCSR
 *     0x1f80, x87 control 0x37f, an empty x87 stack, everything else 0; the protection keys are those that the
 *     kernel gives the engine's own handler.
 *  3. A frame holds what the kernel's would (signal.c there): the thread's components, AMX tiles among them only
 *     when the thread has used them, and its header always names x87 and SSE, so that what a handler writes for
 *     them counts.
 */
#include "engine/runtime/entry.h"
#include "engine/runtime/os/state.h"
#include "engine/runtime/record/record.h"
#include "engine/runtime/runtime.h"
#include "engine/runtime/thread.h"
#include "engine/x86/served.h"

#define MAGIC1 0x46505853u
#define MAGIC2 0x46505845u
#define SOFTWARE_AT 464u /* of the legacy area: struct _fpx_sw_bytes */
#define FX_BYTES 512u
#define AREA_MOST 16384u
#define X87_AND_SSE (X86_STATE_BIT(X86_STATE_X87) | X86_STATE_BIT(X86_STATE_SSE))
#define PKRU_INITIAL 0x55555554u

struct software {
	uint32_t magic1, extended_bytes;
	uint64_t features;
	uint32_t bytes, unused[7];
};
_Static_assert(sizeof(struct software) == 48, "the kernel's layout");

static void cpuid(uint32_t leaf, uint32_t sub, uint32_t out[4])
{
	__asm__ volatile("cpuid" : "=a"(out[0]), "=b"(out[1]), "=c"(out[2]), "=d"(out[3]) : "0"(leaf), "2"(sub));
}

static uint64_t xgetbv(uint32_t which)
{
	uint32_t low, high;
	__asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(which));
	return (uint64_t)high << 32 | low;
}

void fp_look(void)
{
	uint32_t r[4];
	cpuid(1, 0, r);
	if (r[2] >> 27 & 1) /* OSXSAVE */
		x86_xstate_describe(&rt.xstate, xgetbv(0), cpuid);
	rt.fp_features = rt.xstate.enabled & ~X86_STATE_BIT(X86_STATE_TILES);
	rt.fp_bytes = rt.fp_features ? x86_xstate_bytes(&rt.xstate, rt.fp_features) : FX_BYTES;
	rt.pkru = PKRU_INITIAL;
}

uint64_t fp_in_use(void) { return rt.xstate.knows_in_use ? xgetbv(1) : rt.xstate.enabled; }

/* ---- frames ---- */

/* What the kernel's frames say where there is no xsave: kernels since 5.16 also have the magic word there. */
static struct software legacy_software;

void fp_learn(struct thread *t, uint64_t frame)
{
	struct software sw;
	if (!frame)
		return;
	if (!rt.fp_features) {
		memcpy(&legacy_software, (const void *)(frame + SOFTWARE_AT), sizeof legacy_software);
		return;
	}
	if (rt.xstate.enabled & X86_STATE_BIT(X86_STATE_PKRU))
		__asm__ volatile(".byte 0x0f, 0x01, 0xee" : "=a"(rt.pkru) : "c"(0) : "rdx"); /* rdpkru */
	memcpy(&sw, (const void *)(frame + SOFTWARE_AT), sizeof sw);
	if (sw.magic1 != MAGIC1)
		return;
	t->fp_features = sw.features;
	t->fp_bytes = sw.bytes;
}

static uint64_t features_of(const struct thread *t)
{
	uint64_t features = t->fp_features ? t->fp_features : rt.fp_features;
	if (rt.xstate.enabled & ~features & X86_STATE_BIT(X86_STATE_TILES) && rt.xstate.knows_in_use)
		features |= fp_in_use() & X86_STATE_BIT(X86_STATE_TILES); /* used since its last frame */
	if (!rt.served || rt.exceeds)                                     /* os/served.c */
		return features;
	return rt.served == SERVED_V2 ? 0 : features & rt.shown_state;
}

uint32_t fp_frame_bytes(const struct thread *t)
{
	uint64_t features = features_of(t);
	if (!features)
		return FX_BYTES;
	return features == t->fp_features ? t->fp_bytes : x86_xstate_bytes(&rt.xstate, features);
}

uint32_t fp_frame_room(const struct thread *t) { return fp_frame_bytes(t) + (features_of(t) ? 4 : 0); }

bool fp_frame_write(const struct thread *t, uint64_t at)
{
	static const uint8_t zeros[64];
	uint32_t bytes = fp_frame_bytes(t), magic2 = MAGIC2;
	uint64_t features = features_of(t), present;
	const struct software sw = {
		.magic1 = MAGIC1, .extended_bytes = bytes + 4, .features = features, .bytes = bytes};
	if (!safe_copy((void *)at, zeros, 64))
		return false;
	if (!features)
		return fp_save((void *)at, 0) && safe_copy((void *)(at + SOFTWARE_AT - 16), zeros, 16) &&
		       safe_copy((void *)(at + SOFTWARE_AT), &legacy_software, sizeof legacy_software);
	if (!safe_copy((void *)(at + FX_BYTES), zeros, 64) || !fp_save((void *)at, features) ||
	    !safe_copy(&present, (const void *)(at + X86_XSTATE_HEADER), 8))
		return false;
	present |= X87_AND_SSE;
	return safe_copy((void *)(at + X86_XSTATE_HEADER), &present, 8) &&
	       safe_copy((void *)(at + SOFTWARE_AT), &sw, sizeof sw) &&
	       safe_copy((void *)(at + bytes), &magic2, 4);
}

void fp_initial(void)
{
	static const struct {
		uint16_t control;
		uint8_t unused[22];
		uint32_t mxcsr;
		uint8_t rest[X86_XSTATE_LEAST - 28];
	} initial __attribute__((aligned(64))) = {.control = 0x37f, .mxcsr = X86_MXCSR_INITIAL};
	fp_restore(&initial, rt.xstate.enabled & ~X86_STATE_BIT(X86_STATE_PKRU));
	if (rt.xstate.enabled & X86_STATE_BIT(X86_STATE_PKRU))
		/* wrpkru */
		__asm__ volatile(".byte 0x0f, 0x01, 0xef" : : "a"(rt.pkru), "c"(0), "d"(0) : "memory");
}

/* Is it a whole one? The kernel takes the legacy area alone of any other (check_xstate_in_sigframe). */
static bool is_extended(const struct thread *t, uint64_t at, const struct software *sw, bool *readable)
{
	uint32_t magic2 = 0;
	*readable = true;
	if (!rt.fp_features || sw->magic1 != MAGIC1 || sw->bytes < X86_XSTATE_LEAST ||
	    sw->bytes > fp_frame_bytes(t) || sw->bytes > AREA_MOST || sw->bytes > sw->extended_bytes)
		return false;
	*readable = safe_copy(&magic2, (const void *)(at + sw->bytes), 4);
	return *readable && magic2 == MAGIC2;
}

bool fp_frame_read(const struct thread *t, uint64_t at)
{
	uint8_t area[AREA_MOST] __attribute__((aligned(64)));
	uint64_t header[8] = {X87_AND_SSE};
	struct software sw;
	bool readable;
	if (!at) {
		fp_initial();
		return true;
	}
	if (!safe_copy(area, (const void *)at, FX_BYTES))
		return false;
	memcpy(&sw, area + SOFTWARE_AT, sizeof sw);
	if (is_extended(t, at, &sw, &readable)) {
		if (!safe_copy(area + FX_BYTES, (const void *)(at + FX_BYTES), sw.bytes - FX_BYTES))
			return false;
		memcpy(header, area + X86_XSTATE_HEADER, sizeof header);
		header[0] &= sw.features; /* what the frame does not hold goes to its initial state */
	}
	memcpy(area + X86_XSTATE_HEADER, header, sizeof header);
	return readable && fp_restore(area, features_of(t));
}

/* ---- for the models ---- */

void *fp_area_new(void) { return memory_private(rt.fp_bytes); }
