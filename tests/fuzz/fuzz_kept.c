/*
 * Pieces of kept translations of any bytes: kept_sound() reads none beyond them, and what it takes leads nowhere but into itself. The
 * first byte chooses: the bytes as they are, or changes of a sound file, which else are too rare to be met.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "engine/inject/kept.h"
#include "engine/wire/kept.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { BLOCKS = 3, EXITS = 4, SPANS = 5, RELOCATIONS = 6, RETURNS = 2, SITES = 1, CODE = 128, PROGRAM = 12 };

struct sound {
	struct kept_piece piece;
	struct kept_block blocks[BLOCKS];
	struct kept_exit exits[EXITS];
	struct kept_span spans[SPANS];
	uint32_t relocations[RELOCATIONS];
	struct kept_return returns[RETURNS];
	struct kept_site sites[SITES];
	uint8_t code[CODE], program[PROGRAM];
	uint8_t room[KEPT_ALIGN];
};

static size_t make(struct sound *s)
{
	size_t bytes = (offsetof(struct sound, room) + KEPT_ALIGN - 1) & ~(size_t)(KEPT_ALIGN - 1);
	memset(s, 0, sizeof *s);
	s->piece = (struct kept_piece){.bytes = bytes,
				       .length = 4096,
				       .blocks = BLOCKS,
				       .exits = EXITS,
				       .spans = SPANS,
				       .relocations = RELOCATIONS,
				       .returns = RETURNS,
				       .sites = SITES,
				       .code_bytes = CODE,
				       .program_bytes = PROGRAM};
	for (uint32_t i = 0; i < BLOCKS; i++)
		s->blocks[i] = (struct kept_block){.offset = 16 * i,
						   .code = 32 * i,
						   .follows = i ? i - 1 : KEPT_NONE,
						   .follower = i + 1 < BLOCKS ? i + 1 : KEPT_NONE,
						   .tail_from = KEPT_NONE,
						   .length = 4,
						   .insns = 2,
						   .code_bytes = 20};
	for (uint32_t i = 0; i < EXITS; i++)
		s->exits[i] = (struct kept_exit){.patch = 10 * i + 1, .linked = i % BLOCKS, .block = i % BLOCKS};
	for (uint32_t i = 0; i < SPANS; i++)
		s->spans[i] = (struct kept_span){.offset = 20 * i, .kind_id = i % BLOCKS};
	for (uint32_t i = 0; i < RELOCATIONS; i++)
		s->relocations[i] = 12 * i | (i % 5) << KEPT_KIND_SHIFT;
	s->sites[0] = (struct kept_site){.block = 1, .insn = 1};
	return bytes;
}

/* What the runtime relies on: engine/runtime/kept/install.c looks at no number again. */
static void follow(const uint8_t *bytes, size_t n)
{
	for (size_t at = 0; at < n;) {
		const struct kept_piece *p = (const struct kept_piece *)(const void *)(bytes + at);
		const struct kept_block *blocks = (const struct kept_block *)(p + 1);
		const struct kept_exit *exits = (const struct kept_exit *)(blocks + p->blocks);
		uint64_t program = 0;
		if (p->bytes > n - at || p->bytes < sizeof *p)
			abort();
		for (uint32_t i = 0; i < p->blocks; i++) {
			program += blocks[i].length;
			if (blocks[i].code + blocks[i].code_bytes > p->code_bytes ||
			    blocks[i].offset >= p->length ||
			    (blocks[i].follows != KEPT_NONE && blocks[i].follows >= i))
				abort();
		}
		for (uint32_t i = 0; i < p->exits; i++)
			if (exits[i].block >= p->blocks ||
			    (exits[i].linked != KEPT_NONE && exits[i].linked >= p->blocks) ||
			    (exits[i].patch && exits[i].patch + 3 > p->code_bytes))
				abort();
		if (program != p->program_bytes)
			abort();
		at += p->bytes;
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct sound sound;
	size_t bytes = make(&sound);
	if (!kept_sound(&sound, bytes))
		abort();
	if (!size)
		return 0;
	if (data[0] & 1) {
		/* place, value: of 4 bytes or of 1 */
		for (size_t i = 1; i + 6 <= size; i += 6) {
			uint16_t at;
			memcpy(&at, data + i, 2);
			size_t room = data[0] & 2 ? 1 : 4;
			if (at + room <= bytes)
				memcpy((char *)&sound + at, data + i + 2, room);
		}
		if (kept_sound(&sound, bytes))
			follow((const uint8_t *)&sound, bytes);
		return 0;
	}
	uint64_t *copy = malloc(size); /* aligned, and no byte behind it is anybody's */
	if (!copy)
		return 0;
	memcpy(copy, data + 1, size - 1);
	if (kept_sound(copy, size - 1))
		follow((const uint8_t *)copy, size - 1);
	free(copy);
	return 0;
}
