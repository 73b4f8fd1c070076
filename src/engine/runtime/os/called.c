/*
 * Where system calls are made (wire/called.h): the thread's stack, walked by the rules of call frame information.
 * The host gives the rule of each place once.
 *
 * What always holds:
 *  1. rt.lock is held where stacks, modules or rules are added.
 *  2. Modules have numbers of their own, and are never forgotten: parts of the record and unloaded libraries
 *     change none. A module is known by its place, its file, and its part of that file.
 *  3. A thread's call_place is that of the call that it is making; 0: of none.
 *  4. How many modules and stacks there are is also kept in this process's own memory. A forked child's numbers
 *     are those of the moment of the fork: its parent's record goes on.
 */
#include "engine/wire/called.h"

#include "engine/runtime/entry.h"
#include "engine/runtime/os/calls.h"
#include "engine/runtime/record/record.h"
#include "engine/runtime/runtime.h"
#include "engine/runtime/thread.h"

#define RULES 16384u /* of a table: a power of two */
#define PROBES 8u

/* struct rt_sigframe without its first word, which the handler's return has taken: struct ucontext, whose
 * registers begin behind flags, link and stack (arch/x86/include/uapi/asm/sigcontext.h) */
enum { FRAME_RBP = 40 + 10 * 8, FRAME_RSP = 40 + 15 * 8, FRAME_RIP = 40 + 16 * 8 };

static struct record_called *called;
static uint32_t *slots; /* hash of stacks: numbers + 1; twice most_stacks, a power of two */
static struct known_rule {
	uint64_t at; /* 0: none */
	uint32_t module;
	struct record_caller rule;
} * rules;
static uint32_t imported; /* of the record's modules, by its numbers */
static uint32_t n_modules, n_stacks;
static bool modules_lost; /* there was no room for one: stacks have no frames any more */

static struct record_module *modules_of(struct record_called *c)
{
	return (struct record_module *)((uint8_t *)c + c->modules);
}

static struct record_stack *stacks_of(struct record_called *c)
{
	return (struct record_stack *)((uint8_t *)c + c->stacks);
}

static bool overlap(const struct record_module *a, const struct record_module *b)
{
	return a->address - b->address < b->length || b->address - a->address < a->length;
}

/* Code that is where other code was has other rules. */
static void add_module(const struct record_module *module)
{
	struct record_module *all = modules_of(called);
	bool replaces = false;
	for (uint32_t i = n_modules; i > 0 && !replaces; i--) {
		if (!memcmp(&all[i - 1], module, sizeof *module))
			return;
		replaces = overlap(&all[i - 1], module);
	}
	if (n_modules == RECORD_CALLED_MODULES) {
		modules_lost = true;
		return;
	}
	if (replaces)
		memset(rules, 0, RULES * sizeof *rules);
	all[n_modules] = *module;
	__atomic_store_n(&called->n_modules, ++n_modules, __ATOMIC_RELEASE);
}

/* What a forked child has from its parent it has also imported. */
static void import(void)
{
	for (; imported < rt.areas[AREA_MODULES].count; imported++)
		if (imported >= rt.modules_inherited)
			add_module(&rt.record_modules[imported - rt.modules_inherited]);
}

static uint32_t module_at(uint64_t at)
{
	uint32_t n = n_modules;
	while (n && at - modules_of(called)[n - 1].address >= modules_of(called)[n - 1].length)
		n--;
	return n - 1; /* 0 - 1: RECORD_NONE */
}

static void ask(uint32_t module, uint64_t at, struct record_caller *out)
{
	struct record_process *process = rt.process;
	const struct record_module *m = &modules_of(called)[module];
	struct {
		int64_t seconds, ns;
	} wait = {0, 100000000};
	*out = (struct record_caller){RECORD_CALLER_UNKNOWN, 0, 0, 0, 0, 0, 0};
	if (!m->path[0] || !attendant_lives())
		return;
	process->ask_module = module;
	process->ask_offset = at - m->address + m->file_offset;
	process->caller[0] = process->caller[1] = 0;
	__atomic_store_n(&process->ask, RECORD_ASK_CALLER, __ATOMIC_RELEASE);
	request(process);
	while (__atomic_load_n(&process->ask, __ATOMIC_ACQUIRE) == RECORD_ASK_CALLER) {
		if (!attendant_lives())
			return;
		sys4(SYS_futex, &process->ask, FUTEX_WAIT_, RECORD_ASK_CALLER, &wait);
	}
	_Static_assert(sizeof *out == sizeof process->caller, "the answer's words");
	memcpy(out, process->caller, sizeof *out);
}

static uint64_t mix(uint64_t hash, uint64_t word)
{
	hash = (hash ^ word) * 0x9e3779b97f4a7c15ull;
	return hash ^ hash >> 29;
}

static const struct known_rule *rule_of(uint64_t at)
{
	uint64_t hash = mix(0, at);
	struct known_rule *known = &rules[hash % RULES];
	for (uint32_t i = 0; i < PROBES; i++) {
		known = &rules[(hash + i) % RULES];
		if (known->at == at)
			return known;
		if (!known->at)
			break;
	}
	uint32_t module = module_at(at); /* the place of the last one is taken where all are */
	*known = (struct known_rule){.at = at, .module = module};
	if (module == RECORD_NONE)
		known->at = 0; /* it may become one */
	else
		ask(module, at, &known->rule);
	return known;
}

/* Where a thread of the program's may have to bring the page nothing is read: rt.lock is held. */
static bool read_word(uint64_t at, uint64_t *out)
{
	return !rt.user_faults && safe_copy(out, (const void *)at, 8);
}

/* The caller's registers. False: there is none, or it is not known. */
static bool step(const struct record_caller *rule, uint64_t *pc, uint64_t *sp, uint64_t *frame, bool *has_frame)
{
	uint64_t old = *sp;
	if (rule->kind == RECORD_CALLER_SIGNAL)
		return (*has_frame = read_word(old + FRAME_RIP, pc) && read_word(old + FRAME_RBP, frame) &&
				     read_word(old + FRAME_RSP, sp));
	if (rule->kind != RECORD_CALLER_FOUND || (rule->by_frame && !*has_frame))
		return false;
	uint64_t cfa = (rule->by_frame ? *frame : old) + (uint64_t)(int64_t)rule->cfa;
	if (cfa <= old || !read_word(cfa + (uint64_t)(int64_t)rule->returns, pc))
		return false;
	if (rule->frame == RECORD_FRAME_SAVED)
		*has_frame = read_word(cfa + (uint64_t)(int64_t)rule->saved, frame);
	else if (rule->frame == RECORD_FRAME_LOST)
		*has_frame = false;
	*sp = cfa;
	return true;
}

static void walk(const struct thread *t, struct record_stack *out)
{
	uint64_t pc = t->pc, sp = t->reg[X86_RSP], frame = t->reg[X86_RBP];
	bool has_frame = true, next = true; /* pc is executed next: it is not a return address */
	for (out->frames = 0; out->frames < RECORD_STACK_FRAMES && !modules_lost;) {
		uint64_t at = next ? pc : pc - 1;
		const struct known_rule *known = at >= ADDRESS_LEAST ? rule_of(at) : NULL;
		if (!known || (out->frames && known->module == RECORD_NONE))
			return; /* what was never executed has called nothing */
		out->at[out->frames] = at;
		out->module[out->frames++] = known->module;
		next = known->rule.kind == RECORD_CALLER_SIGNAL;
		if (!step(&known->rule, &pc, &sp, &frame, &has_frame))
			return;
	}
}

static bool same(const struct record_stack *a, const struct record_stack *b)
{
	if (a->number != b->number || a->frames != b->frames)
		return false;
	for (uint32_t i = 0; i < a->frames; i++)
		if (a->at[i] != b->at[i] || a->module[i] != b->module[i])
			return false;
	return true;
}

/* Its number plus one; 0: there is no room. */
static uint32_t stack_of(const struct record_stack *wanted)
{
	uint64_t hash = mix(wanted->number, wanted->frames);
	for (uint32_t i = 0; i < wanted->frames; i++)
		hash = mix(hash, wanted->at[i]);
	uint32_t mask = 2 * called->most_stacks - 1;
	uint32_t slot = (uint32_t)hash & mask;
	for (; slots[slot]; slot = (slot + 1) & mask)
		if (same(&stacks_of(called)[slots[slot] - 1], wanted))
			return slots[slot];
	if (n_stacks == called->most_stacks)
		return 0;
	stacks_of(called)[n_stacks] = *wanted;
	__atomic_store_n(&called->n_stacks, ++n_stacks, __ATOMIC_RELEASE);
	return slots[slot] = n_stacks;
}

void called_from(struct thread *t, uint64_t nr)
{
	struct record_stack stack = {.number = (uint32_t)nr};
	t->call_place = 0;
	if (!called || nr >= RECORD_SYSCALLS || !calls_are_timed())
		return;
	lock();
	import();
	walk(t, &stack);
	t->call_place = stack_of(&stack);
	unlock();
}

void called_took(struct thread *t, uint64_t ticks)
{
	if (!called)
		return;
	struct record_stack *stack = t->call_place ? &stacks_of(called)[t->call_place - 1] : NULL;
	__atomic_fetch_add(stack ? &stack->calls : &called->lost_calls, 1, __ATOMIC_RELAXED);
	__atomic_fetch_add(stack ? &stack->ticks : &called->lost_ticks, ticks, __ATOMIC_RELAXED);
}

static struct record_called *fresh(struct record_process *process)
{
	struct record_called layout = {0};
	record_called_lay_out(&layout, rt.limited);
	uint64_t offset = record_reserve(layout.bytes);
	struct record_called *c = record_map(offset, layout.bytes, NULL);
	if (c) {
		*c = layout;
		process->called = offset;
	}
	return c;
}

bool called_open(struct record_process *process)
{
	if (!(rt.setup->flags & RECORD_CALLED))
		return true;
	if (!(called = fresh(process)))
		return false;
	slots = memory_private(2 * called->most_stacks * sizeof *slots);
	rules = memory_private(RULES * sizeof *rules);
	return true;
}

void called_fork(void)
{
	if (called)
		import();
}

/* Numbers of stacks stay what they are: threads may be in a call. */
bool called_reopen(struct record_process *process)
{
	struct record_called *old = called;
	if (!old)
		return true;
	if (!(called = fresh(process)))
		return false;
	memcpy(modules_of(called), modules_of(old), n_modules * sizeof *modules_of(old));
	for (uint32_t i = 0; i < n_stacks; i++) {
		stacks_of(called)[i] = stacks_of(old)[i];
		stacks_of(called)[i].calls = stacks_of(called)[i].ticks = 0;
	}
	called->n_modules = n_modules, called->n_stacks = n_stacks;
	imported = 0; /* in a record of its own modules are numbered anew */
	sys2(SYS_munmap, old, old->bytes);
	return true;
}

void called_part(struct record_process *old, struct record_process *fresh_part)
{
	fresh_part->called = old->called;
	old->called = 0;
	imported = 0; /* modules are numbered anew */
}

void called_orphan(void) { called = NULL; }
