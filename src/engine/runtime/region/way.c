/*
 * The way to a call of libtare's. What led there was executed in one context and belongs to the other: the call
 * itself, what put its arguments there directly in front of it, and the jumps of a PLT.
 *
 *     … | add, mov | mov rdi, call name@plt | jmp *got | tare_region_end:
 *         `before`   `after`                  `inside`   `at`
 *
 * The call's block is counted once less, and its two parts once more; each block of the PLT once less inside, and
 * once more outside. The newest records of the access stream are divided in the same way. A way that was found is
 * kept (find_way, way_known).
 */
#include "engine/runtime/cache/cache.h"
#include "engine/runtime/record/record.h"
#include "engine/runtime/region/passes.h"
#include "engine/runtime/runtime.h"
#include "engine/runtime/thread.h"
#include "engine/runtime/translate/translation.h"

/* In front of a stub's call. */
static const uint8_t red_zone_below[5] = {0x48, 0x8d, 0x64, 0x24, 0x80}; /* lea rsp, [rsp - 128] */

/* The way from the call to the end of a region, as blocks: they were executed inside, and belong outside. */
#define WAY_MOST 6u
#define WAY_VALUES 24u
struct way {
	uint64_t back, at;         /* behind the call; where it led */
	uint32_t from, to;         /* contexts */
	uint32_t last, generation; /* last: the jump or call that was executed last */
	/* the call's block; its instructions that stay (NONE: there are none); those that do not */
	uint32_t call, before, after;
	uint32_t n;
	uint32_t inside[WAY_MOST], outside[WAY_MOST];
	/* of the access stream: the record of `call` is to be one of `before` and one of `after` */
	bool divides;
	uint32_t arguments; /* what puts these registers' values there in front of the call is the call's */
	uint8_t before_words, after_words, n_early, n_late;
	int64_t sp; /* what rsp grew by from `after`'s beginning to where it led */
	struct {
		uint8_t from, to, words;
		int64_t more;
	} early[WAY_VALUES]; /* before's, from call's */
	/* after's, from registers: numbers plus one; 0: none */
	struct {
		uint8_t to, a, b, scale;
		int64_t constant;
	} late[WAY_VALUES];
};
#define WAYS 256u

/* under rt.lock: of a block that is divided, and of one of its parts or of what is counted instead */
static struct translation whole_block, part_block;

static void decode_for_plan(struct translation *tr, uint64_t pc, const uint8_t *bytes, unsigned length,
			    unsigned insns, uint32_t context)
{
	memcpy(tr->decoded.bytes, bytes, length);
	tr->decoded.pc = pc;
	tr->decoded.checked = false;
	tr->decoded.context = context;
	tr->decoded.most = LENGTH_MAX;
	decode_bytes(tr, length, insns);
	stream_plan(tr);
}

uint32_t region_block(uint64_t pc, const uint8_t *bytes, unsigned length, unsigned insns, uint32_t context)
{
	uint32_t id = record_block_begin(pc);
	rt.blocks[id] = (struct block){.pc = pc,
				       .incoming = NONE,
				       .exit = {NONE, NONE},
				       .page_next = NONE,
				       .tail_from = NONE,
				       .length = (uint16_t)length,
				       .insns = (uint16_t)insns,
				       .follows = NONE,
				       .follower = NONE,
				       .context = context};
	rt.blocks[id].bytes = record_block_end(id, bytes, length, insns, false, NONE);
	if (rt.trace) {
		decode_for_plan(&part_block, pc, bytes, length, insns, context);
		stream_template(&part_block, id, record_block_module(id));
	}
	return id;
}

static uint64_t executed(const struct thread *t, uint32_t id)
{
	return rt.blocks[id].follows == NONE ? *counter_of(t, id * 2) : 0;
}

/* Where the block's last instruction led, the registers being as it left them. */
static bool next_of(const struct thread *t, uint32_t id, uint64_t *next)
{
	const struct block *b = &rt.blocks[id];
	struct x86_insn in;
	uint64_t pc = last_instruction(b, &in);
	*next = b->pc + b->length;
	switch (in.flow) {
	case X86_FLOW_NONE: return pc != 0;
	case X86_FLOW_JMP_ABS: *next = (uint64_t)in.immediate; return pc != 0;
	case X86_FLOW_JMP:
	case X86_FLOW_CALL: *next += (uint64_t)(int64_t)in.target_rel; return pc != 0;
	case X86_FLOW_JMP_REG:
	case X86_FLOW_JMP_MEM: return pc && branch_operand(t, &in, pc, t->reg[X86_RSP], next);
	case X86_FLOW_CALL_REG:
	case X86_FLOW_CALL_MEM: return pc && branch_operand(t, &in, pc, t->reg[X86_RSP] + 8, next);
	default: return false;
	}
}

static bool same_value(const struct stream_value *v, const struct stream_value *u)
{
	bool followed = v->kind <= CAPTURE_SUM && v->a + v->b;
	return v->kind == u->kind && v->a == u->a && v->b == u->b && v->scale == u->scale &&
	       v->words == u->words && (followed || (v->insn == u->insn && v->reg == u->reg));
}

/* How the values of the part before the call are had from those of the call's whole block. */
static bool divide_before(struct way *w, const struct stream_plan *whole, const struct stream_plan *before)
{
	w->before_words = (uint8_t)before->words;
	if (before->n_values > WAY_VALUES || before->words > STREAM_TAIL_WORDS / 2)
		return false;
	for (unsigned i = 0, k; i < before->n_values; i++) {
		const struct stream_value *v = &before->values[i];
		for (k = 0; k < whole->n_values && !same_value(v, &whole->values[k]); k++)
			continue;
		if (k == whole->n_values)
			return false;
		w->early[w->n_early].from = whole->values[k].index, w->early[w->n_early].to = v->index,
		w->early[w->n_early].words = v->words;
		w->early[w->n_early++].more = v->constant - whole->values[k].constant;
	}
	return true;
}

static unsigned written(struct translation *tr, uint32_t id)
{
	const struct block *b = &rt.blocks[id];
	unsigned registers = 0;
	decode_for_plan(tr, b->pc, b->bytes, b->length, b->insns, b->context);
	for (unsigned k = 0; k < tr->decoded.count; k++)
		registers |= tr->decoded.insn[k].gpr_written;
	return registers;
}

/* How the values of the part behind it are had from registers, should nothing on the way change them. */
static bool divide_after(struct way *w, const struct translation *after)
{
	const struct stream_register *sp = &after->plan.state[after->decoded.count][X86_RSP];
	w->after_words = (uint8_t)after->plan.words;
	w->sp = sp->constant;
	if (after->plan.n_values > WAY_VALUES || sp->origin != ORIGIN_START + X86_RSP)
		return false;
	for (unsigned i = 0; i < after->plan.n_values; i++) {
		const struct stream_value *v = &after->plan.values[i];
		if (v->kind > CAPTURE_SUM || !(v->a + v->b) || v->a >= ORIGIN_NEW || v->b >= ORIGIN_NEW)
			return false;
		w->late[w->n_late].to = v->index, w->late[w->n_late].a = (uint8_t)v->a,
		w->late[w->n_late].b = (uint8_t)v->b;
		w->late[w->n_late].scale = v->scale;
		w->late[w->n_late++].constant = v->constant;
	}
	return true;
}

/* Does it do nothing but give an argument of a call? Behind the call nobody looks at those registers (System V
 * ABI, 3.2.1). Of a call of counters, a mov from memory may also do it: a handle from its variable. */
static bool gives_argument(const struct x86_insn *in, uint32_t registers)
{
	bool plain = in->encoding == X86_LEGACY && in->map == X86_MAP_0;
	bool loads = registers == REGION_ALL_ARGUMENTS && plain && in->opcode == 0x8b;
	bool zero = plain && (in->opcode == 0x31 || in->opcode == 0x33) && in->reg == in->rm;
	return in->flow == X86_FLOW_NONE && in->gpr_written && !(in->gpr_written & ~registers) &&
	       !(in->class & X86_CLASS_STORE) && (loads || !(in->class & X86_CLASS_LOAD)) &&
	       (in->opcode == 0x8d || zero || !in->flags_written || !in->gpr_read);
}

/* Takes from the instructions in front of the block's call, of which *stay bytes and *n instructions stay, those
 * that give arguments. */
static void take_arguments(const struct block *b, uint32_t registers, unsigned *stay, unsigned *n)
{
	unsigned at = 0, kept_at = 0, kept = 0;
	for (unsigned i = 0; i < *n; i++) {
		struct x86_insn in;
		if (x86_decode(b->bytes + at, b->length - at, &in) != X86_DECODE_OK)
			return;
		at += in.length;
		if (!gives_argument(&in, registers))
			kept_at = at, kept = i + 1;
	}
	*stay = kept_at;
	*n = kept;
}

/* first: the block whose jump or call it was */
static bool find_way_from(const struct thread *t, struct way *w, uint32_t first)
{
	uint32_t id = first;
	uint64_t at;
	w->n = 0;
	if (id >= rt.block_count || rt.blocks[id].context != w->from || !rt.blocks[id].branch || !executed(t, id))
		return false;
	w->call = id;
	if (!next_of(t, id, &at))
		return false;
	while (at != w->at) {
		id = cache_known(w->from, at);
		if (id == NONE || w->n == WAY_MOST || !executed(t, id) || !rt.blocks[id].insns ||
		    !next_of(t, id, &at))
			return false;
		w->inside[w->n++] = id;
	}
	const struct block b = rt.blocks[w->call];
	struct x86_insn in;
	unsigned stay = (unsigned)(last_instruction(&b, &in) - b.pc), n = b.insns - 1u;
	if (n && stay >= sizeof red_zone_below &&
	    !memcmp(b.bytes + stay - sizeof red_zone_below, red_zone_below, sizeof red_zone_below)) {
		stay -= (unsigned)sizeof red_zone_below;
		n--;
	}
	if (w->arguments)
		take_arguments(&b, w->arguments, &stay, &n);
	struct translation *tr = &part_block;
	w->divides = rt.trace;
	w->n_early = w->n_late = 0;
	if (rt.trace && n) {
		decode_for_plan(&whole_block, b.pc, b.bytes, b.length, b.insns, w->from);
		w->divides = whole_block.plan.n_values <= WAY_VALUES;
	}
	w->before = n ? region_block(b.pc, b.bytes, stay, n, w->from) : NONE;
	w->divides = w->divides && (!n || divide_before(w, &whole_block.plan, &tr->plan));
	w->after = region_block(b.pc + stay, b.bytes + stay, b.length - stay, b.insns - n, w->to);
	w->divides = w->divides && divide_after(w, tr);
	for (uint32_t i = 0; i < w->n; i++) {
		const struct block *p = &rt.blocks[w->inside[i]];
		w->outside[i] = region_block(p->pc, p->bytes, p->length, p->insns, w->to);
		unsigned registers = rt.trace ? written(tr, w->inside[i]) : 0;
		for (unsigned k = 0; k < w->n_late; k++)
			for (unsigned r = 0; r < 16; r++)
				w->divides &= !(registers >> r & 1) || (w->late[k].a != ORIGIN_START + r &&
									w->late[k].b != ORIGIN_START + r);
	}
	return true;
}

/* The jump or call that was executed last; or, that not leading there, a jump that may have been of a PLT. */
static bool find_way(const struct thread *t, struct way *w)
{
	return find_way_from(t, w, w->last) || find_way_from(t, w, t->last_linkage);
}

static bool way_known(const struct thread *t, const struct way *w)
{
	bool known = executed(t, w->call) != 0;
	for (uint32_t i = 0; i < w->n; i++)
		known &= executed(t, w->inside[i]) != 0;
	return known;
}

/* The value that a register had where `after` begins; number plus one. */
static uint64_t had(const struct thread *t, const struct way *w, unsigned origin)
{
	if (!origin)
		return 0;
	return t->reg[origin - ORIGIN_START] - (origin == ORIGIN_START + X86_RSP ? (uint64_t)w->sp : 0);
}

/* The newest records of the access stream are the way's: but for what stays they are taken off. False: they cannot
 * be. */
static bool divide_stream(struct thread *t, const struct way *w, struct stream_tail *tail)
{
	uint32_t blocks[1 + WAY_MOST] = {w->call};
	uint64_t words[STREAM_TAIL_WORDS] = {0};
	memcpy(blocks + 1, w->inside, w->n * sizeof *blocks);
	if (!w->divides || !stream_tail(t, blocks, 1 + w->n, tail))
		return false;
	if (w->before == NONE) { /* where the branch in front of it went is known before it is run */
		words[0] = trace_mark(TRACE_BREAK, 1);
		words[1] = rt.blocks[w->after].pc;
		stream_words(t, words, 2);
		return true;
	}
	words[0] = w->before;
	for (unsigned i = 0; i < w->n_early; i++) {
		memcpy(words + 1 + w->early[i].to, tail->words + 1 + w->early[i].from, w->early[i].words * 8);
		words[1 + w->early[i].to] += (uint64_t)w->early[i].more;
	}
	stream_words(t, words, 1u + w->before_words);
	return true;
}

/* … and come back, in the other context. */
static void follow_stream(struct thread *t, const struct way *w, struct stream_tail *tail)
{
	uint64_t words[1 + STREAM_RECORD_WORDS] = {w->after};
	unsigned rest = w->n ? tail->at[1] : 1u + rt.templates[w->call].values;
	for (unsigned i = 0; i < w->n_late; i++)
		words[1 + w->late[i].to] = had(t, w, w->late[i].a) + had(t, w, w->late[i].b) * w->late[i].scale +
					   (uint64_t)w->late[i].constant;
	for (unsigned i = 0; i < w->n; i++)
		tail->words[tail->at[1 + i]] = w->outside[i];
	stream_words(t, words, 1u + w->after_words);
	stream_words(t, tail->words + rest, tail->n - rest);
}

bool region_cross(struct thread *t, struct record_pass *pass, uint32_t to, uint64_t back, uint64_t at,
		  uint32_t arguments)
{
	uint32_t from = t->context;
	struct stream_tail tail;
	static struct way ways[WAYS];
	struct way *w = &ways[(back * 0x9e3779b1u ^ from * 0x85ebca6bu ^ to) >> 4 & (WAYS - 1)];
	bool known = w->back == back && w->at == at && w->from == from && w->to == to &&
		     w->last == t->last_indirect && w->generation == rt.generation && way_known(t, w);
	if (!known) {
		*w = (struct way){.back = back,
				  .at = at,
				  .from = from,
				  .to = to,
				  .last = t->last_indirect,
				  .generation = rt.generation,
				  .arguments = arguments};
		if (!find_way(t, w)) {
			w->back = 0;
			region_change(t, to);
			return false;
		}
	}
	bool divided = rt.trace && divide_stream(t, w, &tail);
	region_change(t, to);
	if (divided)
		follow_stream(t, w, &tail);
	pass->moved += divided ? 0 : rt.blocks[w->after].insns;
	--*counter_of(t, w->call * 2);
	if (w->before != NONE)
		++*counter_of(t, w->before * 2);
	++*counter_of(t, w->after * 2);
	for (uint32_t i = 0; i < w->n; i++) {
		pass->moved += divided ? 0 : rt.blocks[w->inside[i]].insns;
		--*counter_of(t, w->inside[i] * 2);
		++*counter_of(t, w->outside[i] * 2);
	}
	return true;
}
