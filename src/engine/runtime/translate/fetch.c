/* The program's bytes for one block, and what they say. What always holds: bytes of a writable page are read after
   the page was write-protected (memory_watch), and decoded from a copy, so that nobody changes them meanwhile. */
#include "engine/runtime/cache/cache.h"
#include "engine/runtime/cache/memory.h"
#include "engine/runtime/entry.h"
#include "engine/runtime/os/served.h"
#include "engine/runtime/region/region.h"
#include "engine/runtime/runtime.h"
#include "engine/runtime/translate/code.h"
#include "engine/runtime/translate/translation.h"

/* The last instruction of a block begins at LENGTH_MAX - 1 at most; what is behind it may make it a mark. */
#define LENGTH_READ (LENGTH_MAX + 15 + REGION_MARK_BYTES)
_Static_assert(LENGTH_READ <= sizeof((struct decoded *)0)->bytes, "it fits");

static bool ends_block(const struct x86_insn *in)
{
	return in->flow != X86_FLOW_NONE || (in->class & (X86_CLASS_REP | X86_CLASS_UNKNOWN)) ||
	       stores_x87_address(in) || x86_state_kind(in) || (rt.places && stack_loaded(in)) || is_served(in);
}

/* What libtare asks the engine for: it stands at a block's beginning, or, where the program goes on, at its
 * end. */
static uint32_t asks(const struct x86_insn *in, const uint8_t *code)
{
	return in->length == REGION_CALL_BYTES ? region_magic(code) : 0;
}

/* Decodes from decoded.bytes, available bytes of them. */
void decode_bytes(struct translation *tr, unsigned available, unsigned most)
{
	tr->decoded.count = tr->decoded.length = 0;
	tr->decoded.available = available;
	tr->decoded.truncated = tr->decoded.invalid = tr->decoded.event = false;
	unsigned gathers = 0;
	while (tr->decoded.count < most && tr->decoded.length < tr->decoded.most) {
		struct x86_insn *in = &tr->decoded.insn[tr->decoded.count];
		enum x86_decode_status status = x86_decode(tr->decoded.bytes + tr->decoded.length,
							   available - tr->decoded.length, in);
		if (status == X86_DECODE_TRUNCATED)
			tr->decoded.truncated = true;
		if (status == X86_DECODE_INVALID)
			tr->decoded.invalid = true;
		if (status != X86_DECODE_OK)
			return;
		if (unlike_processors(in)) {
			tr->decoded.invalid = true;
			return;
		}
		/* alone in its block, which is made when it is to be executed (unknown.c) */
		if ((in->class & X86_CLASS_UNKNOWN) && tr->decoded.count)
			return;
		uint32_t magic = asks(in, tr->decoded.bytes + tr->decoded.length);
		if (!magic) {
			bool unseen;
			magic = mark_behind(in, tr->decoded.bytes + tr->decoded.length,
					    available - tr->decoded.length, &unseen);
			if (unseen && tr->decoded.more) {
				tr->decoded.truncated = true;
				return;
			}
		}
		if (magic && magic != (REGION_CALL_MAGIC | REGION_CALL_PRESENT)) {
			tr->decoded.event = !tr->decoded.count;
			return;
		}
		tr->decoded.count++;
		tr->decoded.length += in->length;
		if (rt.served && !rt.exceeds && x86_served_lacks(in, rt.served)) {
			rt.exceeds = 1;
			served_saw(RECORD_SAW_EXCEEDS, 0);
		}
		gathers += (in->class & (X86_CLASS_GATHER | X86_CLASS_SCATTER)) != 0;
		if (rt.trace && stream_ends_block(in, gathers))
			return;
		if (magic || ends_block(in) || (tr->decoded.checked && (in->class & X86_CLASS_STORE)))
			return;
	}
}

/*
 * Memory that the program itself supplies when it is touched (userfaultfd): the thread that does so may need
 * rt.lock, so the block's pages are waited for without it. The next page only if an instruction goes on there, as
 * the processor would.
 */
void fetch_wait(uint64_t pc)
{
	uint8_t bytes[LENGTH_MAX + 16];
	unsigned rest = 4096 - (unsigned)(pc & 4095), have = rest < sizeof bytes ? rest : sizeof bytes;
	if (wild(pc) || !safe_copy(bytes, (const void *)pc, have))
		return;
	struct x86_insn in;
	for (unsigned at = 0, n = 0; at < have && n < INSNS_MAX; at += in.length, n++) {
		enum x86_decode_status status = x86_decode(bytes + at, have - at, &in);
		if (status == X86_DECODE_TRUNCATED && have == rest)
			safe_read((const void *)(pc + rest));
		if (status != X86_DECODE_OK || ends_block(&in))
			return;
	}
}

/* False: no instruction can be fetched there. */
bool decode_block(struct translation *tr, uint32_t context, uint64_t pc, bool single)
{
	const struct watched_mapping *region = memory_executable(pc);
	if (!region)
		return false;
	tr->decoded.context = context;
	tr->decoded.pc = pc;
	tr->decoded.most = LENGTH_MAX;
	if (rt.places_high > pc || context) { /* regions are asked for */
		if (regions_event(context, pc)) {
			tr->decoded.count = tr->decoded.length = 0;
			tr->decoded.truncated = tr->decoded.invalid = tr->decoded.checked = tr->decoded.sixteen =
				false;
			tr->decoded.event = true;
			return true;
		}
		uint64_t cut = regions_cut(pc) - pc;
		tr->decoded.most = cut < LENGTH_MAX ? (unsigned)cut : LENGTH_MAX;
	}
	if (rt.trace) {
		uint64_t cut = stream_calls_cut(region->module, pc) - pc;
		tr->decoded.most = cut < tr->decoded.most ? (unsigned)cut : tr->decoded.most;
	}
	if (rt.user_faults && tr->decoded.most > 4096 - (pc & 4095))
		tr->decoded.most = 4096 - (unsigned)(pc & 4095);
	uint64_t available = region->end - pc;
	if (available > LENGTH_READ)
		available = LENGTH_READ;
	/* first what is likely and in this page, for reading may have to protect; a second try reads more */
	unsigned rest = 4096 - (unsigned)(pc & 4095);
	for (unsigned want = rest < 128 ? rest : 128;; want = LENGTH_READ) {
		if (want > available)
			want = (unsigned)available;
		tr->decoded.checked = memory_watch(pc, want, region);
		if (!safe_copy(tr->decoded.bytes, (const void *)pc, want)) {
			uint64_t page = 4096 - (pc & 4095);
			if (want <= page || !safe_copy(tr->decoded.bytes, (const void *)pc, page))
				return false;
			available = want = (unsigned)page;
		}
		tr->decoded.pc = pc;
		tr->decoded.more = want < available;
		decode_bytes(tr, want, single ? 1 : INSNS_MAX);
		tr->decoded.more = false;
		tr->decoded.sixteen = want >= 16;
		if (!tr->decoded.truncated || want == available)
			break;
	}
	/* the region may go on in the next one */
	if (tr->decoded.truncated && !tr->decoded.count) {
		unsigned have = (unsigned)available;
		const struct watched_mapping *next = memory_executable(pc + have);
		if (have < 15 && next &&
		    safe_copy(tr->decoded.bytes + have, (const void *)(pc + have), 15 - have)) {
			tr->decoded.checked |= memory_watch(pc + have, 1, next);
			/* as it is now */
			if (!safe_copy(tr->decoded.bytes + have, (const void *)(pc + have), 15 - have))
				return false;
			decode_bytes(tr, 15, 1);
		}
	}
	return tr->decoded.count || tr->decoded.invalid || tr->decoded.event;
}
