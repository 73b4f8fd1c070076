/* The records of a profile's file. The insides of this folder only. */
#ifndef TARE_STORE_PROFILE_RECORD_H
#define TARE_STORE_PROFILE_RECORD_H

#include <stddef.h>
#include <stdint.h>

#include "base/hash.h"

#define PROFILE_FILE_MAGIC "TAREPROF"

enum { PROFILE_FILE_VERSION = 1, PROFILE_FILE_HEAD = 16, PROFILE_BLOCK_HEAD = 8 };

/* Numbers are LEB128 unless said otherwise; a text is its length and its bytes; ± is zigzag. A record begins with
 * its kind, a byte. */
enum profile_record {
	/* tare, cpu, kernel, hostname, architecture, cpus, pmu, hypervisor, started (s), stacks; target (text;
	 * "": none); n + 1 of the command's words (0: no command), words; n events: label, unit, machine, source,
	 * gaps, gap, rate in micro-samples a second, redraw, seed. First record, and the only one of its kind */
	RECORD_HEADER = 1,
	RECORD_MODULE = 2, /* kind, pid, build ID (text of bytes), path */
	RECORD_TASK = 3,   /* pid, tid */
	RECORD_NAME = 4,   /* task, name */
	RECORD_NODE = 5,   /* own index - parent's, module, ± offset - offset of the node before */
	/* ± time - time of the sample before (ns), node, event, gap; task and cpu as the sample's before */
	RECORD_SAMPLE = 6,
	RECORD_SAMPLE_ELSEWHERE = 7, /* the same, then task, cpu */
	RECORD_CELL = 8,             /* node, task, event, count */
	/* 1 + caller module (0: none), caller offset, callee module, callee offset, calls, inclusive of each
	 * event */
	RECORD_ARC = 9,
	/* event; why ("": none), samples, lost, throttled, redraw, 1 + total (0: none; UINT64_MAX - 1 is the
	 * largest) */
	RECORD_ACCOUNT = 10,
	RECORD_NOTE = 11, /* text */
	RECORD_END = 12,  /* first and last ns, user ns, system ns, wait status */
	RECORD_COST = 13, /* event; a sample's CPU time in ps */
	/* event; part of the time and samples of a turn (both in 10^-9), 0 or 1: scaled follows: value, low,
	 * 1 + high (0: none) */
	RECORD_TURNS = 14,
	/* ± time - time of the mark before (ns), thread, 0 begin or 1 end, region (text) */
	RECORD_MARK = 15,
	RECORD_CLOCK = 16, /* kHz; behind the header */
};

enum { PROFILE_DEPTH_MOST = 4096 }; /* of nodes: more are not a stack of calls that anybody collected */

static inline uint32_t profile_checksum(const uint8_t *bytes, size_t n)
{
	uint64_t hash = hash_bytes(HASH_BEGIN, bytes, n);
	return (uint32_t)(hash ^ hash >> 32);
}

#endif
