/*
 * One measurement under the engine, host side: the shared record, and putting the runtime into the first program.
 *
 *     injection_new ──► (caller forks and holds a process) ──► injection_take ──► … ──► injection_free
 *
 * What always holds:
 *  1. The caller traces nothing after injection_take: the engine has detached already. Programs that the first one
 *     execs later are taken over by a process of the injection's own, the attendant (attendant.h).
 *  2. The caller waits for its process; the injection waits for the attendant only.
 *  3. The record may be read at any time; it grows while programs run, and is whole when they have ended.
 */
#ifndef TARE_ENGINE_INJECT_INJECTION_H
#define TARE_ENGINE_INJECT_INJECTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"
#include "engine/wire/record.h"

struct injection;

/* Makes of a finished part what is to be known of it for ever, with the totals of the part that it continues
 * (struct view_process) in it. Called in a process of the injection's own while the program runs. On success
 * *totals is freed with free(); why is a reason for the counts not being exact, or empty. */
typedef bool injection_fold(const struct injection *injection, uint32_t index, void **totals, size_t *bytes,
			    char why[160]);

/* The functions of a module's file, as struct record_functions has them; *out is freed with free(). Called in the
 * injection's attendant. False: they are not known. */
struct record_function;
typedef bool injection_functions(void *context, const char *path, struct record_function **out, size_t *n);

/* The rule of a place in a module's file, as struct record_caller has it. Called in the injection's attendant.
 * False: it is not known. */
struct record_caller;
typedef bool injection_caller(void *context, const char *path, uint64_t offset, struct record_caller *out);

/* Answers a program's question (wire/question.h) of process `index`, of the struct question that is copied. Called
 * in a process of the injection's own while the program runs. */
struct question;
typedef void injection_answer(void *context, struct injection *injection, uint32_t index,
			      struct question *question);

/* Makes pieces (wire/kept.h) of what these entries of the record have executed, in a process of the injection's
 * own while programs run; freed with free(). NULL: there are none. */
typedef void *injection_share(const struct injection *injection, const uint32_t *entries, size_t n, size_t *bytes);

/* Translations that are kept (wire/kept.h) */
struct kept_module;
struct kept_hint;

struct injection_options {
	size_t size;          /* sizeof (struct injection_options) */
	uint64_t cache_bytes; /* largest code cache of one process; 0: the runtime's default */
	bool alone;           /* no program that it execs is followed: no attendant is needed */
	/* the access stream is wanted: run through the machines, or, with none, only counted itself */
	bool trace;
	/* struct model_setup [machine_count] (model/core/options.h), machine_bytes each; copied */
	const void *machines;
	size_t machine_count, machine_bytes;
	uint64_t trace_bytes; /* of a thread's buffer; 0: the runtime's default */
	/* struct record_region_range [region_ranges] (wire/region.h) of region_count regions; copied */
	const void *regions;
	size_t region_ranges, region_count;
	bool exclusive;   /* also what is executed in each region and in none that was entered in it */
	bool times_calls; /* also how long system calls take */
	/* struct model_watch [watch_count]: counted by instruction, on the first machine; at most 8 */
	const uint8_t (*watches)[4];
	size_t watch_count;
	uint64_t overflow_period; /* instead of counts by instruction: a log (wire/record.h); 0 */
	uint32_t overflow_skid;
	bool calls;       /* the call graph is wanted … */
	bool calls_alone; /* … without what a vfork's child calls */
	/* of these events; at most RECORD_CALL_EVENTS */
	const struct record_call_event *call_events;
	size_t call_event_count;
	injection_functions *functions; /* NULL: every call begins a function of its own, and no jump does */
	void *functions_context;
	injection_caller *caller; /* where timed calls are made is also wanted; NULL */
	void *caller_context;
	injection_answer *answer; /* NULL: questions are not answered */
	void *answer_context;     /* … memory as it is when injection_new() is called */
	bool objects;             /* … and by the data object that was touched */
	uint32_t served;          /* enum served_cpu (x86/served.h) */
	/* distinct blocks of one entry of the record; more go on in another (a part); 0: the runtime's default */
	uint32_t blocks_most;
	/* so many of finished parts are kept as they are; the oldest beyond are folded. 0: WHOLE_BLOCKS */
	uint64_t whole_blocks;
	injection_fold *fold;     /* NULL: nothing is folded, and the record grows */
	const void *fold_context; /* injection_fold_context(): memory as it is when injection_new() is called */
	/* so many bytes of a file, from where it stands: pieces that may be used, if kept_right() says so of their
	 * copy (kept_sound()). 0: none */
	int kept_fd;
	size_t kept_bytes;
	bool (*kept_right)(const void *context, const void *bytes, size_t n);
	const void *kept_context;
	/* what processes of the run share of their translations; NULL: nothing */
	injection_share *share;
	/* pieces are made of these before the program begins: injection_made() has them; copied */
	const struct kept_module *make;
	const struct kept_hint *make_hints;
	size_t make_modules, make_hint_count;
};

#define WHOLE_BLOCKS (4u << 20)

/* On success *out is the caller's, to be freed by injection_free(); options may be NULL. */
bool injection_new(const struct injection_options *options, struct injection **out, struct error *err);

const void *injection_fold_context(const struct injection *injection);

/* A record to look at only, from a file of its form, which stays the caller's: no program can be started in it. */
bool injection_read(int fd, struct injection **out, struct error *err);

/* What became of the held process. */
enum injection_taken {
	INJECTION_TAKEN,       /* it runs under the engine, from its first instruction */
	INJECTION_NOT_STARTED, /* the exec failed: the process ended and was reaped; err is not set */
	INJECTION_FAILED,      /* err says why; the process was ended and reaped */
};

/* The process `pid`, a child of the caller, is held before its execve. `release` lets it go and returns at once
 * (it may not wait for the exec: the process is traced). */
enum injection_taken injection_take(struct injection *injection, pid_t pid, void (*release)(void *), void *arg,
				    struct error *err);

/* The record's head, shared with the runtimes. */
struct record_head *injection_record(const struct injection *injection);
struct record_process *injection_process(const struct injection *injection, uint32_t index);

/* Looks for records that processes have made for themselves (own.h); how many there are now. They stay the
 * injection's. */
size_t injection_gather(struct injection *injection);
size_t injection_own_count(const struct injection *injection); /* as injection_gather() found them */
/* The i-th. Its entry 0 continues entry *index of *parent, the injection or an earlier one of these. */
const struct injection *injection_own(const struct injection *injection, size_t i, const struct injection **parent,
				      uint32_t *index);

/* The record's file; stays the injection's. For tests, which write records of their own. */
int injection_fd(const struct injection *injection);

/* Room in the record, as the runtimes take it; 0: a program has written over what says where there is some. */
uint64_t injection_reserve(struct record_head *record, uint64_t bytes);

/* Maps bytes of the record from offset on (a multiple of the page size), readable. NULL when there is no memory or
 * the offset is not in the file. To be released by injection_unmap(). */
const void *injection_map(const struct injection *injection, uint64_t offset, uint64_t bytes);
void injection_unmap(const struct injection *injection, const void *address, uint64_t bytes);

/* A copy of the record's 64-bit words from offset on, up to the last one that was ever written (not counting the
 * zeros of pages never touched behind it): *words of them, at most `most`. Reading a mapping would allocate the
 * untouched pages; this does not. The caller frees it with free(); NULL when memory ran out. */
uint64_t *injection_copy_words(const struct injection *injection, uint64_t offset, uint64_t most, uint64_t *words);

/* A private copy of bytes of the record, which no program can change while it is read. The caller frees it with
 * free(); NULL when memory ran out or the file does not have them. */
void *injection_copy(const struct injection *injection, uint64_t offset, uint64_t bytes);

/* How much of the record's file is in use. An entry of the record that is not damaged claims no more. */
uint64_t injection_data_bytes(const struct injection *injection);

/* The pieces that the first program's process has made; freed with free(). NULL: there are none. */
void *injection_made(const struct injection *injection, size_t *bytes);
/* Tells engines apart, and processors that the same code is translated differently for. */
uint64_t injection_engine_sum(void);

/* While it is held, no part is folded; nests. */
void injection_hold(const struct injection *injection);
void injection_let_go(const struct injection *injection);

/* Ends the attendant and releases the record. Programs that still run go on, uncounted. */
void injection_free(struct injection *injection);

/* Why the program's file cannot be run under the engine ("it is a set-user-ID program", "it is a 32-bit program"),
 * or NULL when it can. path: as found, not searched. */
const char *injection_refuses(const char *path);

#endif
