/* Regions: which a thread is in, and its passes through them. What the files of this folder share, see
 * region/passes.h. */
#ifndef TARE_ENGINE_RUNTIME_REGION_REGION_H
#define TARE_ENGINE_RUNTIME_REGION_REGION_H

#include "engine/runtime/os/sys.h"
#include "engine/wire/region.h"
#include "engine/x86/decode.h"

struct record_pass;
struct record_process;
struct thread;

#pragma GCC visibility push(hidden)

/* region/region.c: under rt.lock. Contexts are sets of regions */
/* no address of a program's has such a bit */
static inline uint64_t context_key(uint32_t context) { return (uint64_t)context << 47; }
static inline uint32_t context_salt(uint32_t context) { return context * 0x85ebca6bu; }
/* it is in ranges at their own level: calls leave for another context */
bool context_calls(uint32_t context);
bool context_named(uint32_t context); /* it is in a region of libtare's */
bool context_has(uint32_t context, uint32_t region);
bool region_is_asked(uint32_t region); /* else it is one of libtare's */
uint32_t context_with(uint32_t context, uint32_t region, bool own_level);
uint32_t context_without(uint32_t context, uint32_t region);
uint32_t context_called(uint32_t context);
uint32_t context_members(uint32_t context, const uint32_t **members);
bool regions_event(uint32_t context, uint64_t pc); /* a pass begins or ends in front of pc */
bool regions_contain(uint32_t region, uint64_t pc);
uint64_t regions_cut(uint64_t pc); /* where a block that begins at pc ends at the latest */
bool regions_start(void);
bool regions_ready(void);  /* makes the record of regions, if there is none */
void regions_mapped(void); /* rt.mappings was read anew */
void regions_unmapped(uint64_t start, uint64_t end);
/* by the address of its name, whose bytes these are if it is not `fixed`; NONE */
uint32_t region_named(uint64_t pointer, const char *fixed);
/* by its name: up to a 0 byte, or `most` bytes without the blanks at their end; NONE */
uint32_t region_of_text(uint64_t text, uint64_t most);
struct record_pass *region_pass(struct thread *t, uint32_t region);
void regions_lost(uint32_t what);
bool regions_child(struct thread *t, struct record_process *process);
bool regions_moved(struct record_process *process);
/* what the models counted since the context began is its regions' */
void regions_counted(struct thread *t);
void regions_recounted(struct thread *t);                /* … begins now, or with other counts */
static inline uint32_t region_magic(const uint8_t *code) /* what libtare asks for there; 0 */
{
	static const uint8_t nop[5] = {0x66, 0x0f, 0x1f, 0x84, 0};
	uint32_t magic;
	memcpy(&magic, code + 5, 4);
	if (memcmp(code, nop, 5))
		return 0;
	return (magic > REGION_CALL_MAGIC && magic <= (REGION_CALL_MAGIC | REGION_CALL_ASK)) ||
			       (magic >= REGION_STUB_MAGIC && magic <= REGION_STUB_INIT)
		       ? magic
		       : 0;
}

/* region/mark.c: the magic of the mark that begins with this instruction; 0. truncated: what comes behind it is
 * not among the bytes */
uint32_t mark_behind(const struct x86_insn *in, const uint8_t *code, unsigned available, bool *truncated);
uint32_t mark_at(const struct thread *t, uint64_t *rdi, uint64_t *behind);

/* region/enter_leave.c: the same; regions_signal and regions_return take it themselves */
void regions_thread(struct thread *t);                              /* a thread begins, in none */
void regions_inherit(struct thread *child, const struct thread *t); /* a vfork's child */
void regions_inherited(struct thread *t);                           /* … runs */
void regions_at(struct thread *t, uint32_t block);                  /* t->pc is where a pass begins or ends */
void regions_call(struct thread *t, uint64_t back);
void regions_branched(struct thread *t); /* t->pc was reached by a branch that may be a return */
/* t->reg's stack pointer is a handler's frame; what it was */
void regions_signal(struct thread *t, uint64_t interrupted);
void regions_return(struct thread *t, uint64_t frame);
void regions_end(struct thread *t);   /* after stream_end */
void regions_stack(struct thread *t); /* rsp was loaded, and was t->stack_left before */

/* region/stacks.c: the same, but for stack_loaded */
bool stack_loaded(const struct x86_insn *in);                   /* it may lead to another stack */
void stacks_thread(struct thread *t, uint64_t sp);              /* a thread begins there */
void stacks_same(struct thread *child, const struct thread *t); /* … on the stack that t is on */
/* a frame, by a longjmp or the like */
void stacks_give_up(uint64_t low, uint64_t top, uint64_t back, uint32_t region);
bool stacks_moved(struct thread *t, uint64_t from, uint64_t to); /* true: to another stack */

#pragma GCC visibility pop
#endif
