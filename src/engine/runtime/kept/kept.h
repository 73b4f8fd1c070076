/* Translations kept between runs (wire/kept.h). make.c: a process that makes them; install.c: one that uses
 * them. */
#ifndef TARE_ENGINE_RUNTIME_KEPT_KEPT_H
#define TARE_ENGINE_RUNTIME_KEPT_KEPT_H

#include "engine/runtime/cache/memory.h"
#include "engine/runtime/runtime.h"
#include "engine/runtime/translate/emit.h"
#include "engine/wire/kept.h"

#pragma GCC visibility push(hidden)

/* make.c, under rt.lock but for kept_make, which ends the process. rt.making: relocations are noted */
void kept_make(struct thread *t) __attribute__((noreturn));
void kept_note_at(const uint8_t *at, enum kept_relocation kind);
void kept_note_return(const uint8_t *at, uint64_t pc);
void kept_refuse(void); /* the module has what a piece cannot hold */

/* install.c, under rt.lock: whether blocks of the mapping at pc were put into the cache */
bool kept_install(uint64_t pc);

#pragma GCC visibility pop

static inline void kept_note(const struct emit *e, const uint8_t *at, enum kept_relocation kind)
{
	if (rt.making && !e->probe)
		kept_note_at(at, kind);
}

/* What cannot be kept is emitted. */
static inline void kept_cannot(const struct emit *e)
{
	if (rt.making && !e->probe)
		kept_refuse();
}

/* A block's counter, whose place is its number's. */
static inline void counter_load(struct emit *e, unsigned reg, uint32_t offset)
{
	gs_load(e, reg, offset);
	kept_note(e, e->p - 4, KEPT_COUNTER);
}

static inline void counter_store(struct emit *e, unsigned reg, uint32_t offset)
{
	gs_store(e, reg, offset);
	kept_note(e, e->p - 4, KEPT_COUNTER);
}

#endif
