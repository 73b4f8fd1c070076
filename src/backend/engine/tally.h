/*
 * A record turned into counts: each block is decoded once, its vector multiplied by how often it ran; or, where
 * one thread alone has it and nothing but sums is wanted, its instructions are summed by shapes (shape_sums.h).
 *
 * What always holds:
 *  1. The sum over rows is the whole; a row is a thread of a process. A process that went on in other parts is its
 *     head's.
 *  2. Arithmetic is checked: what does not fit in 64 bits makes the tally inexact, as does everything in the
 *     record that does not add up (a block whose bytes do not decode to its instruction count, a correction of
 *     nothing). A rep instruction without a counter makes unknown only what depends on its iterations.
 *  3. If an instruction that the decoder does not know was executed, what depends on the kind of instructions is
 *     unknown, and nothing of the access stream is used.
 *  4. The access stream is checked by the instructions that it holds: where they are not those that were counted,
 *     thread by thread, nothing of it is used.
 *  5. why is set before a count may be wrong, and then no count of the tally may be reported.
 */
#ifndef TARE_BACKEND_ENGINE_TALLY_H
#define TARE_BACKEND_ENGINE_TALLY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "backend/engine/regions.h"
#include "engine/x86/vector.h"
#include "base/error.h"
#include "engine/inject/view.h"
#include "model/core/counts.h"

struct knowledge;

/* The counts that the access stream has, each with the stream's own; [TALLY_STREAMS], all of them. */
enum { TALLY_STREAMS = COUNT_STREAM_END - COUNT_STREAM };
struct tally_stream {
	enum exact_count count;
	enum model_stream_count stream;
};
extern const struct tally_stream tally_streams[TALLY_STREAMS];

struct tally_row {
	uint32_t process; /* index in the view */
	uint32_t pid, tid;
	uint32_t next;   /* of the same process: index of a row plus one; 0 */
	uint32_t folded; /* threads beyond the first whose counts are in it */
	uint64_t count[COUNTS];
	struct model_counts *models; /* [tally_options.machines]; NULL when that is 0 */
};

struct tally {
	struct tally_row *rows; /* in order of processes and of threads' starts */
	size_t n_rows;
	uint64_t total[COUNTS];      /* code lines and pages: distinct ones of each process, summed */
	struct model_counts *models; /* likewise, of all rows; those of each row follow */
	const char *models_why; /* no count of the access stream can be used, and why; NULL. Also set if why is */
	const char *why;        /* not exact: the reason; NULL */
	/* of still_running: so many instructions of the counts may not have been executed yet */
	uint64_t uncertain_insns;
	const char *unknown[COUNTS]; /* why this one count is not known, the others being exact; NULL */
	char why_text[320], unknown_text[320], models_text[320];
	char strange_text[320]; /* which instruction of no table the record has */
};

struct tally_options {
	bool children;   /* also count processes that were forked */
	bool blocks;     /* COUNT_BASIC_BLOCKS is wanted (it takes longer) */
	bool code_lines; /* COUNT_CODE_LINES and COUNT_CODE_PAGES are wanted */
	/* the view is of one part (view_part): its rows, and those of the totals before it. With still_running of
	 * one process */
	bool part;
	size_t sampled; /* of machines, so many at the end are sampled groups' (model/core/sample.h) */
	/* struct model_counts of each thread that are to be read; 1 for the access stream alone */
	size_t machines;
	struct execution_regions *regions; /* to which what was counted in each is added; NULL: not wanted */
	bool still_running;                /* a look while programs run: their not having ended is not a fault */
	/* one of regions->all: what was executed elsewhere is in no count, of rows and regions; NULL: all */
	const struct counted_region *only;
	/* what is known of blocks by their bytes, from earlier tallies (it `keeps`), and for later ones; NULL */
	struct knowledge *knowledge;
};

/* On success *out is the caller's. A record that is inexact is not a failure: see why. */
bool tally_new(const struct view *view, const struct tally_options *options, struct tally **out,
	       struct error *err);
/* The rows of a process's threads become one, or, with `threads`, those of one thread number: what a process or
 * thread executes after an exec is also its own. False when a sum does not fit. */
bool tally_join(struct tally *tally, bool threads, size_t machines);
/* False when a sum does not fit. */
bool tally_add_models(struct model_counts *to, const struct model_counts *from, size_t machines);
void tally_free(struct tally *tally);

/* At most so much of a count is of instructions that were not executed: of tally->uncertain_insns. False: no bound
 * is known. */
bool tally_uncertain(const struct tally *tally, enum exact_count count, uint64_t *most);

#endif
