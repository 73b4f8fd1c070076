/* Regions that the program names: calls of libtare's, the calls of assembly stubs, and marks in the code. */
#include "engine/runtime/entry.h"
#include "engine/runtime/record/record.h"
#include "engine/runtime/region/passes.h"
#include "engine/runtime/runtime.h"
#include "engine/runtime/stream/stream.h"
#include "engine/runtime/thread.h"

/* lea rsp, [rsp + 128]: around a stub's call */
static const uint8_t red_zone_back[8] = {0x48, 0x8d, 0xa4, 0x24, 0x80, 0, 0, 0};

/* The pass ends. What led there is counted in the context behind it. */
static void leave_by_way(struct thread *t, struct record_pass *pass, uint32_t region, uint64_t back, uint64_t at,
			 uint32_t arguments)
{
	if (!context_has(t->context, region))
		return;
	pass->exits++;
	if (!region_cross(t, pass, context_without(t->context, region), back, at, arguments))
		regions_lost(RECORD_LOST_ENDS);
}

static uint32_t region_of_stub(uint32_t number)
{
	uint64_t region = 0, name;
	char fixed[8] = "asm_";
	unsigned n = 4;
	if (rt.stub_regions && safe_copy(&region, (const void *)(rt.stub_regions + number * 8), 8) && region &&
	    safe_copy(&name, (const void *)region, 8))
		return region_named(region, NULL);
	if (number >= 10)
		fixed[n++] = (char)('0' + number / 10);
	fixed[n] = (char)('0' + number % 10);
	return region_named(number + 1, fixed);
}

/* The `lea` behind a stub's call: of the program, before the pass begins. */
static void skip_red_zone(struct thread *t)
{
	uint8_t code[sizeof red_zone_back];
	if (!safe_copy(code, (const void *)t->pc, sizeof code) || memcmp(code, red_zone_back, sizeof code))
		return;
	uint64_t pc = t->pc;
	uint32_t id = rt.red_zone_block[0];
	if (!rt.red_zone_at || rt.red_zone_at != pc || rt.red_zone_block[1] != t->context ||
	    rt.red_zone_generation != rt.generation)
		id = region_block(pc, code, sizeof code, 1, t->context);
	rt.red_zone_at = pc;
	rt.red_zone_block[0] = id;
	rt.red_zone_block[1] = t->context;
	rt.red_zone_generation = rt.generation;
	++*counter_of(t, id * 2);
	stream_block(t, id);
	t->reg[X86_RSP] += 128;
	t->pc += sizeof code;
}

static uint32_t region_of_call(const struct thread *t, uint32_t magic)
{
	if (magic == REGION_STUB_INIT || magic == (REGION_CALL_MAGIC | REGION_CALL_ASK))
		return NONE;
	if (magic >= REGION_STUB_MAGIC)
		return region_of_stub((magic - REGION_STUB_MAGIC) / 2);
	if (magic >= (REGION_CALL_MAGIC | REGION_CALL_ENTER_TEXT))
		return region_of_text(t->reg[X86_RDI], t->reg[X86_RSI]);
	if (magic >= (REGION_CALL_MAGIC | REGION_CALL_ENTER_NAME))
		return region_of_text(t->reg[X86_RDI], ~0ull);
	return region_named(t->reg[X86_RDI], NULL);
}

/* False: it is not the outermost end of a pass */
static bool ends_outermost(struct record_pass *pass)
{
	if (!pass->depth) {
		pass->exits++;
		pass->strays++;
		return false;
	}
	return --pass->depth == 0;
}

static void begin(struct thread *t, struct record_pass *pass, uint32_t region)
{
	if (pass->depth++)
		return;
	pass->entries++;
	region_change(t, context_with(t->context, region, false));
}

bool library_marked(struct thread *t)
{
	uint64_t rdi, behind;
	uint32_t magic = mark_at(t, &rdi, &behind);
	if (!magic)
		return false;
	stream_break(t, t->pc); /* what comes behind the mark is not a consequence of the branch in front of it */
	t->reg[X86_RDI] = rdi;
	t->pc = behind;
	uint32_t region = region_of_call(t, magic);
	if (region == NONE)
		return true;
	struct record_pass *pass = region_pass(t, region);
	if (!region_call_leaves(magic))
		begin(t, pass, region);
	else if (ends_outermost(pass))
		region_leave(t, region);
	return true;
}

bool library_called(struct thread *t, uint32_t magic)
{
	uint64_t back, at = t->pc;
	bool stub = magic >= REGION_STUB_MAGIC, ends = region_call_leaves(magic);
	if (!safe_copy(&back, (const void *)t->reg[X86_RSP], 8))
		return false;
	if (magic == (REGION_CALL_MAGIC | REGION_CALL_COUNTERS)) {
		counters_called(t, back);
		return true;
	}
	if (magic == (REGION_CALL_MAGIC | REGION_CALL_ASK))
		t->reg[X86_RAX] = counters_ask(t, t->reg[X86_RDI]);
	uint32_t region = region_of_call(t, magic);
	struct record_pass *pass = region == NONE ? NULL : region_pass(t, region);
	if (pass && ends && ends_outermost(pass))
		leave_by_way(t, pass, region, back, at,
			     magic == (REGION_CALL_MAGIC | REGION_CALL_LEAVE_TEXT) ? 1u << X86_RDI | 1u << X86_RSI
										   : 0);
	stream_returned(t, at, t->reg[X86_RSP]);
	t->reg[X86_RSP] += 8;
	t->pc = back;
	if (pass && !ends) {
		if (stub && !pass->depth)
			skip_red_zone(t);
		begin(t, pass, region);
	}
	return true;
}
