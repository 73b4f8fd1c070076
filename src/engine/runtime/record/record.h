/* The shared record: areas, blocks, reasons; and going on in another entry of it. */
#ifndef TARE_ENGINE_RUNTIME_RECORD_RECORD_H
#define TARE_ENGINE_RUNTIME_RECORD_RECORD_H

#include "engine/runtime/cache/cache.h"
#include "engine/runtime/os/sys.h"
#include "engine/wire/record.h"

struct thread;

enum area { AREA_CODE, AREA_MODULES, AREA_SITES, AREA_CORRECTIONS, AREAS };

#pragma GCC visibility push(hidden)

/* record/record.c */
void inexact(const char *why);
void inexact_process(struct record_process *process, const char *why);
void inexact_at(const char *why, uint64_t pc);
void die(const char *why, uint64_t pc) __attribute__((noreturn));
bool attendant_lives(void);
void *memory_private(uint64_t bytes);
/* All of it will be written: its pages at once cost less than a fault for each. Only a wish. */
void memory_fill(void *at, uint64_t bytes);
/* It grows from one end, or from both: behind the first megabyte it is in huge pages, which cost a fifth. Only a
   wish. */
void memory_huge(void *at, uint64_t bytes);
uint64_t memory_place(uint64_t bytes);
void *record_map(uint64_t offset, uint64_t bytes, void *at);
void record_near(void); /* what is mapped next, here or in a child, is near by then */
uint64_t record_reserve(uint64_t bytes);
/* modules: that the host has filled, or NULL */
bool record_open(struct record_process *process, const struct record_area *modules);
bool record_is_short(enum area which, uint64_t entry); /* of room for what one exit may translate */
bool record_reopen(struct record_process *process);
bool record_part(struct record_process *process, bool remove);
void record_leave(void *area, uint64_t bytes, bool remove);
void request(struct record_process *process);
uint32_t record_block_begin(uint64_t pc);
const uint8_t *record_block_end(uint32_t id, const uint8_t *bytes, uint32_t length, uint32_t insns,
				bool conditional, uint32_t follows);
uint32_t record_block_module(uint32_t id);
void record_leader(uint32_t id);
void record_edge(uint32_t id, enum edge edge);
void record_site(uint32_t block, uint32_t insn, enum record_site_kind kind, uint32_t counter);
/* bytes; of one that shares its parent's memory */
#define CORRECTIONS_OF_CHILD (4096u * sizeof(struct record_correction))
void record_correct(struct thread *t, uint32_t block, uint32_t done);
void *record_area(struct record_area *area, uint64_t bytes, uint32_t inherited);
uint32_t record_module(uint64_t start, uint64_t length, uint64_t offset, const char *path);

/* record/part.c. part_continue: under rt.lock, where the thread's last exit is settled */
bool part_is_due(const struct thread *t);
void part_continue(struct thread *t);
/* part_exclusively: under rt.lock, in a system call before it is made; false: a child shares the memory. The
 * others: of the thread that closes a part */
bool part_exclusively(struct thread *t, void (*change)(struct thread *t));
void part_ends(struct thread *t);
void part_begins(struct thread *t, struct record_process *old, struct record_process *fresh, bool read);
void part_calls_move(bool away);
/* record/own.c: before a system call of the program, and in a child that a clone put into new namespaces */
void own_record_before(struct thread *t, uint64_t nr);
void own_record_child(struct thread *t);
bool own_record_flags(uint64_t clone_flags);
/* part.c. That system call only waits: a thread that is killed in it has changed nothing by it. */
bool call_only_waits(const struct thread *t, uint64_t nr);
void call_begin(struct thread *t, uint64_t nr);
void call_end(struct thread *t);

#pragma GCC visibility pop
#endif
