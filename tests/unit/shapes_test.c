/* What instructions add by their shapes, beside what exact_vector_add() says of their records: a random walk of shapes
   and numbers, and what this program's own libraries are made of. */
#include <dlfcn.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>

#include "backend/engine/shapes.h"
#include "tap.h"

enum { RANDOM_STRINGS = 500000, SHAPES_MET = 300, NUMBERS_EACH = 50 };

struct counted {
	struct shapes shapes;
	uint64_t instructions, found, wrong, missed;
};

static uint64_t random_state = 0x9e3779b97f4a7c15u;

static uint64_t random_next(void)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	return random_state ^= random_state << 17;
}

/* The vectors, and that no bit says 0 of what is none. */
static bool same(const struct exact_vector *truth, const struct sparse_vector *vector)
{
	for (unsigned i = 0; i < COUNT_STATIC; i++)
		if (vector->dense.of[i] != truth->of[i] ||
		    (truth->of[i] != 0) != (vector->moved[i >> 6] >> (i & 63) & 1))
			return false;
	return true;
}

/* Of the instruction at code, with `available` bytes: how long it is; 0: it is none. */
static unsigned compare(struct counted *c, const uint8_t *code, size_t available)
{
	struct x86_insn insn;
	struct exact_each each;
	struct exact_vector truth = {0};
	struct sparse_vector by_shape = {0};
	enum x86_decode_status status = x86_decode(code, available, &insn);
	const struct shape *shape = shapes_find(&c->shapes, code, available);
	c->instructions += status == X86_DECODE_OK;
	if (shape) {
		c->found++;
		shape_add(shape, &by_shape);
		if (status == X86_DECODE_OK)
			exact_vector_add(&truth, &insn, &each);
		c->wrong += status != X86_DECODE_OK || each.unit || insn.length != shape->length ||
			    !same(&truth, &by_shape);
	} else if (status == X86_DECODE_OK) {
		struct exact_each again;
		shapes_learn(&c->shapes, code, &insn, &by_shape, &each, NULL);
		exact_vector_add(&truth, &insn, &again);
		c->wrong += !same(&truth, &by_shape) || each.unit != again.unit;
	}
	return status == X86_DECODE_OK ? insn.length : 0;
}

static void random_strings(struct counted *c)
{
	for (int i = 0; i < RANDOM_STRINGS; i++) {
		uint64_t words[2] = {random_next(), random_next()};
		uint8_t code[16];
		memcpy(code, words, sizeof code);
		if (i & 1)
			code[0] = (uint8_t)(0x48 | (code[0] & 7)); /* half of them with a REX */
		compare(c, code, 1 + random_next() % 15);
	}
}

/* Each shape with other numbers behind it, and cut off anywhere. */
static void other_numbers(struct counted *c)
{
	for (int i = 0; i < SHAPES_MET; i++) {
		uint8_t code[16];
		uint64_t words[2] = {random_next(), random_next()};
		memcpy(code, words, sizeof code);
		struct x86_insn insn;
		if (x86_decode(code, sizeof code, &insn) != X86_DECODE_OK)
			continue;
		unsigned numbers = insn.displacement_size ? insn.displacement_offset
				   : insn.immediate_size  ? insn.immediate_offset
							  : insn.length;
		for (int k = 0; k < NUMBERS_EACH; k++) {
			for (unsigned at = numbers; at < insn.length; at++)
				code[at] = (uint8_t)random_next();
			compare(c, code, sizeof code);
			compare(c, code, (unsigned)k % insn.length);
		}
	}
}

static int sweep(struct dl_phdr_info *info, size_t size, void *arg)
{
	struct counted *c = arg;
	(void)size;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *part = &info->dlpi_phdr[i];
		if (part->p_type != PT_LOAD || !(part->p_flags & PF_X) || !info->dlpi_name[0])
			continue;
		const uint8_t *code = (const uint8_t *)(info->dlpi_addr + part->p_vaddr);
		for (size_t at = 0, step; at < part->p_filesz; at += step ? step : 1)
			step = compare(c, code + at, part->p_filesz - at);
	}
	return 0;
}

/* int and enter: the number is what they do. */
static void numbers_that_matter(void)
{
	static const uint8_t system_call[] = {0xcd, 0x80}, trap[] = {0xcd, 0x81}, flat[] = {0xc8, 0, 0, 0},
			     nested[] = {0xc8, 0, 0, 3}, repeated[] = {0xf3, 0xa4};
	static const struct {
		const uint8_t *code;
		size_t bytes;
		const char *name;
	} row[] = {{system_call, 2, "int 0x80"},
		   {trap, 2, "int 0x81"},
		   {flat, 4, "enter 0, 0"},
		   {nested, 4, "enter 0, 3"},
		   {repeated, 2, "rep movsb"}};
	struct counted *c = calloc(1, sizeof *c);
	for (unsigned i = 0; i < sizeof row / sizeof *row; i++) {
		compare(c, row[i].code, row[i].bytes);
		ok(!shapes_find(&c->shapes, row[i].code, row[i].bytes), "%s is decoded each time", row[i].name);
	}
	ok(!c->wrong, "and adds what it should");
	free(c);
}

int main(void)
{
	struct counted *c = calloc(1, sizeof *c);
	random_strings(c);
	other_numbers(c);
	ok(!c->wrong, "of %llu random instructions, %llu by a shape met before, all add what their records say",
	   (unsigned long long)c->instructions, (unsigned long long)c->found);
	ok(c->found > c->instructions / 20, "shapes are found among random ones");
	*c = (struct counted){0};
	dl_iterate_phdr(sweep, c);
	ok(!c->wrong,
	   "of %llu instructions of libraries, %llu by a shape met before, all add what their records say",
	   (unsigned long long)c->instructions, (unsigned long long)c->found);
	ok(c->found > c->instructions / 2, "most instructions of libraries have a shape that was met before");
	free(c);
	numbers_that_matter();
	return done();
}
