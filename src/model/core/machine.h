/*
 * A declared machine: caches, TLBs, branch prediction, as plain data without a pointer. data/machines/NAME.conf
 * says the same in text (src/model/declare/conf.h reads it); the core of the models runs by it, inside the
 * measured program.
 *
 * What always holds after machine_is_sound() said yes: every number is in the range that its comment gives; next
 * and holds form trees that end in memory; names are unique.
 */
#ifndef TARE_MODEL_CORE_MACHINE_H
#define TARE_MODEL_CORE_MACHINE_H

#include <stdint.h>

#define MACHINE_CACHES 8
#define MACHINE_TLBS 6
#define MACHINE_TABLES 16 /* tagged tables of a TAGE */
#define MACHINE_NONE 0xff /* the next level is memory; no such component */

/* whose counters stand behind the generic names: "l1d-load-misses", "branch-misses" … */
enum machine_family {
	FAMILY_OTHER, /* nobody's: they mean what tare's own definition says */
	FAMILY_INTEL,
	FAMILY_GOLDEN_COVE /* Intel's since 2021 */,
	FAMILY_AMD,
	FAMILY_ARMV8,
	FAMILY_MIPS,
	FAMILY_R12000,
	FAMILY_POWER4,
};

enum machine_holds { MACHINE_INSTRUCTIONS = 1, MACHINE_DATA = 2 };

enum machine_replacement {
	REPLACE_LRU,
	REPLACE_PLRU, /* tree: ways a power of two */
	REPLACE_FIFO,
	REPLACE_RANDOM, /* xorshift64* of the machine's seed, drawn at replacements only */
	REPLACE_SRRIP,  /* rrip_bits; insert at 2^bits - 2, hit: 0 (Jaleel et al. 2010) */
	REPLACE_BRRIP,  /* insert at 2^bits - 1 but for one in 32 */
};

enum machine_write { WRITE_BACK, WRITE_THROUGH };

enum machine_inclusion {                      /* of what the levels in front of it hold */
			 INCLUSION_NONE,      /* filled with them, then each for itself */
			 INCLUSION_INCLUSIVE, /* what it evicts they lose */
			 INCLUSION_EXCLUSIVE, /* filled by what they evict; a hit moves the line to them */
};

/* brings lines into this cache; triggered by its demand misses and first hits on prefetched lines */
enum machine_prefetch {
	PREFETCH_NONE,
	PREFETCH_NEXT_LINE, /* degree lines that follow */
	/* per instruction (prefetch_entries, by item): after two equal strides, degree strides ahead */
	PREFETCH_STRIDE,
};

struct machine_cache {
	char name[8];        /* "L1I", "L1D", "L2", "L3" */
	uint32_t line_bytes; /* power of two, 4 … 4096 */
	uint32_t sets;       /* 1 … 2^24; index = line number modulo sets */
	uint32_t ways;       /* 1 … 65536 (plru: 1, 2, 4 … 64); sets × ways × line_bytes ≤ 4 GiB */
	uint8_t holds;       /* enum machine_holds */
	uint8_t shared;      /* 1: one of the machine, 0: every core has its own */
	uint8_t replacement, write, write_allocate, inclusion;
	uint8_t next;                      /* index of the cache behind it, > its own; or MACHINE_NONE */
	uint8_t rrip_bits;                 /* 1 … 7 */
	uint8_t prefetch, prefetch_degree; /* 1 … 16 */
	uint16_t prefetch_entries;
	uint16_t victim_lines; /* fully associative LRU victim buffer behind it (Jouppi 1990); 0: none */
	uint8_t subblocks;     /* reserved: 0 */
	uint8_t unused[5];
};

struct machine_tlb {
	char name[8];        /* "DTLB", "ITLB", "STLB" */
	uint32_t sets, ways; /* entries = sets × ways */
	/* the machine's own size, or 2097152: only translations of pages of that size; 0: of any size */
	uint32_t page_bytes;
	uint8_t pages_per_entry; /* 1; R12000: 2, an aligned pair */
	uint8_t holds, replacement;
	uint8_t next; /* index, > its own, or MACHINE_NONE: a walk */
	uint8_t unused[4];
};

enum machine_predictor {
	PREDICT_NONE,
	PREDICT_TAKEN,
	PREDICT_NOT_TAKEN,
	PREDICT_BACKWARD_TAKEN, /* static: backward taken, forward not */
	PREDICT_BIMODAL,        /* table of counters by address */
	/* two-level, PAg: history_bits of the branch's own history index a shared table */
	PREDICT_LOCAL,
	PREDICT_GSHARE,     /* (McFarling 1993) */
	PREDICT_TOURNAMENT, /* local and global, chosen by a global-history table (Alpha 21264) */
	PREDICT_PERCEPTRON, /* (Jiménez & Lin 2001) */
	PREDICT_TAGE,       /* (Seznec & Michaud 2006) */
	/* the Pentium's: the two bits are the BTB entry's; a branch not in it is predicted not taken */
	PREDICT_BTB,
};

struct machine_direction {
	uint8_t kind;         /* enum machine_predictor */
	uint8_t counter_bits; /* 1 … 4 */
	uint8_t initial;      /* of every counter; 2 bits: 0 strongly not taken … 3 strongly taken */
	/* of global history (gshare, tournament; perceptron: its length), or of a local one */
	uint8_t history_bits;
	uint32_t entries;        /* of the (first) table; a power of two */
	uint32_t local_entries;  /* histories; a power of two */
	uint32_t local_counters; /* a power of two */
	uint32_t choice_entries;
	uint8_t local_counter_bits, choice_bits, address_shift; /* index = (pc >> address_shift) % entries */
	uint8_t tables;                                         /* TAGE: tagged tables, 1 … MACHINE_TABLES */
	uint16_t table_entries[MACHINE_TABLES];                 /* powers of two */
	uint16_t table_history[MACHINE_TABLES];                 /* ascending, ≤ 1024 */
	uint8_t table_tag_bits[MACHINE_TABLES];                 /* ≤ 15 */
	uint32_t useful_reset; /* TAGE: branches after which the useful bits age */
	int16_t threshold;     /* perceptron */
	uint8_t weight_bits;
	uint8_t unused;
};

enum machine_btb_allocation { BTB_ALLOCATE_TAKEN, BTB_ALLOCATE_ALL }; /* which branches get an entry */

struct machine_targets {
	uint32_t btb_sets, btb_ways; /* sets 0: no BTB, targets of direct branches are known; ways ≤ 256 */
	uint8_t btb_replacement, btb_allocation, btb_tag_bits /* 0: whole */, btb_holds_returns;
	uint32_t return_entries;   /* 0: no return stack: returns as indirect branches */
	uint32_t indirect_entries; /* a table by address xor target history; 0: the BTB's last target */
	uint8_t indirect_history;  /* targets */
	uint8_t address_shift;
	uint8_t unused[2];
};

struct machine {
	char name[32];
	char title[96];
	uint32_t cores; /* of the real one; informative: each thread has a core of its own */
	/* a fetch block: L1I accesses by fetch block are counted in these; power of two, 4 … 64 */
	uint32_t fetch_bytes;
	uint64_t seed; /* of random replacement; not 0 */
	uint8_t n_caches, n_tlbs;
	/* caches[] that fetches and data accesses go to first; MACHINE_NONE */
	uint8_t first_instruction, first_data;
	uint8_t first_instruction_tlb, first_data_tlb;
	uint8_t coherent; /* MESI between cores on the last private level's lines */
	uint8_t family;   /* enum machine_family */
	/* of memory that the process does not map in larger pages; 0: 4096, else 4096 … 65536 */
	uint32_t page_bytes;
	struct machine_cache caches[MACHINE_CACHES];
	struct machine_tlb tlbs[MACHINE_TLBS];
	struct machine_direction direction;
	struct machine_targets targets;
};

#endif
