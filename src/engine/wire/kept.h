/*
 * Translations that are kept: what is asked for, and what comes of it.
 *
 *     blocks that a run executed ──hints──► a process of tare's own translates the files ──pieces──► the next run's engine image
 *
 * A hint says only where blocks begin; a piece is what the engine's translator made of a file's bytes there, with
 * those bytes. What always holds: a piece is made in a process that runs no code of a measured program, from the
 * file alone; and it is used only where all its bytes are those of the program's memory.
 */
#ifndef TARE_ENGINE_WIRE_KEPT_H
#define TARE_ENGINE_WIRE_KEPT_H

#include <stdint.h>

#define KEPT_EXE 184u
#define KEPT_PATH 232u
#define KEPT_MODULES_MOST 512u
#define KEPT_NONE 0xffffffffu
#define KEPT_ALIGN 64u /* of a piece, and of its code in the cache: displacements lie within cache lines */

/* One executable mapping of a file, with the hints that are about it: [first, first + n). */
struct kept_module {
	uint64_t address, length, file_offset; /* as it was mapped */
	uint32_t first, n;
	char exe[KEPT_EXE], path[KEPT_PATH]; /* of the program, of the file */
};

struct kept_hint {
	uint32_t offset;  /* in the mapping */
	uint32_t follows; /* the module's hint of the block that it follows; KEPT_NONE */
	uint32_t falls;   /* 1: RECORD_BLOCK_COUNTS_FALL */
};

/*
 * Behind the head, in this order: kept_block [blocks], kept_exit [exits], kept_span [spans], uint32_t
 * [relocations] (where in the code; its kind in the upper 4 bits), kept_return [returns], kept_site [sites], the
 * code, the program's bytes in the order of blocks. Numbers of blocks and exits are from the piece's first on.
 */
struct kept_piece {
	uint64_t bytes; /* of the whole, a multiple of KEPT_ALIGN */
	uint64_t length, file_offset;
	uint64_t address; /* where it must be mapped; 0: anywhere but below 2 GB */
	uint32_t blocks, exits, spans, relocations, returns, sites;
	uint32_t code_bytes, program_bytes;
	char exe[KEPT_EXE], path[KEPT_PATH];
};

struct kept_block {
	uint32_t offset; /* in the mapping */
	uint32_t code;   /* where its code begins */
	uint32_t follows, follower, tail_from;
	uint16_t length, insns, code_bytes;
	uint8_t flags, entry_flags_live, conditional, branch;
	uint8_t copy, edge, scratch, depth, no_follower, unused[5];
};

struct kept_exit {
	uint64_t target; /* from the mapping's address on, modulo 2^64 */
	uint32_t patch;  /* plus one; 0: none */
	uint32_t thunk;  /* likewise */
	uint32_t linked; /* block; KEPT_NONE */
	uint32_t block;
	uint8_t kind, of; /* of: of the block's two exits, 2: none any more */
	uint8_t unused[6];
};

struct kept_span {
	uint32_t offset, kind_id;
};

/* push [rip + …]: where the displacement is, and the address that is pushed. */
struct kept_return {
	uint32_t at, offset;
};

struct kept_site {
	uint32_t block;
	uint16_t insn, kind;
};

/* What stands at a relocation, 4 bytes each. */
enum kept_relocation {
	KEPT_COUNTER, /* a counter: 16 for each block before the piece's first is added */
	KEPT_BLOCK,   /* a block's number */
	KEPT_EXIT,    /* an exit's number */
	KEPT_OPERAND, /* a displacement to the module: its address is added, the code's subtracted */
	KEPT_TABLE,   /* an address in the tables of indirect branches, from their beginning on */
};
#define KEPT_KIND_SHIFT 28

/* Where a piece's parts are. */
struct kept_parts {
	const struct kept_piece *piece;
	const struct kept_block *blocks;
	const struct kept_exit *exits;
	const struct kept_span *spans;
	const uint32_t *relocations;
	const struct kept_return *returns;
	const struct kept_site *sites;
	const uint8_t *code, *program;
};

static inline struct kept_parts kept_parts_of(const struct kept_piece *p)
{
	struct kept_parts parts = {.piece = p, .blocks = (const struct kept_block *)(p + 1)};
	parts.exits = (const struct kept_exit *)(parts.blocks + p->blocks);
	parts.spans = (const struct kept_span *)(parts.exits + p->exits);
	parts.relocations = (const uint32_t *)(parts.spans + p->spans);
	parts.returns = (const struct kept_return *)(parts.relocations + p->relocations);
	parts.sites = (const struct kept_site *)(parts.returns + p->returns);
	parts.code = (const uint8_t *)(parts.sites + p->sites);
	parts.program = parts.code + p->code_bytes;
	return parts;
}

/* Whether bytes of a piece hold what its head says; room: how many there are. */
static inline int kept_piece_fits(const struct kept_piece *p, uint64_t room)
{
	uint64_t all = sizeof *p + (uint64_t)p->blocks * sizeof(struct kept_block) +
		       (uint64_t)p->exits * sizeof(struct kept_exit) +
		       (uint64_t)p->spans * sizeof(struct kept_span) + (uint64_t)p->relocations * 4 +
		       (uint64_t)p->returns * sizeof(struct kept_return) +
		       (uint64_t)p->sites * sizeof(struct kept_site) + p->code_bytes + p->program_bytes;
	return p->bytes <= room && p->bytes % KEPT_ALIGN == 0 && all <= p->bytes &&
	       p->code_bytes < 1u << KEPT_KIND_SHIFT && p->exe[KEPT_EXE - 1] == 0 && p->path[KEPT_PATH - 1] == 0;
}

#endif
