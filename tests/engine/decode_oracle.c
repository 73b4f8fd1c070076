/*
 * The decoder against Zydis: every instruction of installed programs, and random byte strings.
 *
 *   decode_oracle                 a sample, seconds: for `make check`
 *   decode_oracle --full          every executable section under /usr/bin and /usr/lib, and 10^8 strings
 *   decode_oracle --random N [--seed S]     decode_oracle --files PATH...     parts of it
 *
 * --show N: print up to N disagreements, not 40.
 *
 * Output is TAP; disagreements are diagnostics on stderr; the listed differences and how often they occurred
 * follow the plan as comments.
 */
#define _GNU_SOURCE
#include <elf.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "decode_compare.h"
#include "engine/x86/decode.h"

static struct decode_tally tally = {.show = 40};
static unsigned files_swept, sample_every = 1;
static uint64_t file_limit = ~0ull; /* bytes of code taken from one file */
static unsigned tests, failed;

/* A copy that ends where memory ends, so that a read beyond `available` faults. */
static uint8_t *edge;

static uint64_t random_state;

static uint64_t random64(void)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return random_state * 0x2545f4914f6cdd1dull;
}

static unsigned below(unsigned n) { return (unsigned)(random64() >> 33) % n; }

static void report(bool ok, const char *fact)
{
	printf("%s %u - %s\n", ok ? "ok" : "not ok", ++tests, fact);
	failed += !ok;
}

/* ---- programs ------------------------------------------------------------------------------------ */

static void sweep_code(const uint8_t *code, size_t size)
{
	for (size_t at = 0; at < size;)
		at += decode_compare(code + at, size - at < 32 ? size - at : 32, &tally);
}

static void sweep_file(const char *path)
{
	struct stat st;
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return;
	if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) || (size_t)st.st_size < sizeof(Elf64_Ehdr)) {
		close(fd);
		return;
	}
	size_t size = (size_t)st.st_size;
	const uint8_t *file = mmap(NULL, size, PROT_READ, MAP_PRIVATE, fd, 0);
	close(fd);
	if (file == MAP_FAILED)
		return;
	const Elf64_Ehdr *header = (const void *)file;
	if (memcmp(header->e_ident, ELFMAG, SELFMAG) || header->e_ident[EI_CLASS] != ELFCLASS64 ||
	    header->e_machine != EM_X86_64 || header->e_shoff > size ||
	    (size - header->e_shoff) / sizeof(Elf64_Shdr) < header->e_shnum)
		goto out;
	const Elf64_Shdr *sections = (const void *)(file + header->e_shoff);
	uint64_t left = file_limit;
	for (unsigned i = 0; i < header->e_shnum && left; i++) {
		const Elf64_Shdr *s = &sections[i];
		if (!(s->sh_flags & SHF_EXECINSTR) || s->sh_type == SHT_NOBITS || s->sh_offset > size ||
		    size - s->sh_offset < s->sh_size)
			continue;
		uint64_t take = s->sh_size < left ? s->sh_size : left;
		sweep_code(file + s->sh_offset, take);
		left -= take;
	}
	files_swept++;
out:
	munmap((void *)file, size);
}

static int visit(const char *path, const struct stat *st, int type, struct FTW *where)
{
	static unsigned seen;
	(void)where;
	if (type == FTW_F && st->st_size > 4096 && seen++ % sample_every == 0)
		sweep_file(path);
	return 0;
}

/* ---- random strings ------------------------------------------------------------------------------- */

/* Prefixes that mostly make sense, then an opcode of a map chosen evenly, then anything. */
static void random_code(uint8_t *p)
{
	static const uint8_t legacy[] = {0x66, 0xf2, 0xf3, 0x66, 0xf2, 0xf3, 0x67,
					 0xf0, 0x2e, 0x36, 0x3e, 0x26, 0x64, 0x65};
	uint8_t *end = p + 32;
	for (uint8_t *q = p; q < end; q += 8) {
		uint64_t r = random64();
		memcpy(q, &r, 8);
	}
	if (below(10) == 0)
		return;
	static const uint8_t prefix_count[] = {0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 2, 2, 2, 3, 4};
	unsigned map = below(14);
	for (unsigned n = prefix_count[below(16)]; n; n--)
		/* Vector encodings refuse most prefixes, so there segments and 67 come oftener. */
		*p++ = map >= 5 && below(8) ? legacy[8 + below(6)] : legacy[below(sizeof legacy)];
	switch (map) {
	default: /* one- and two-byte opcodes, 0F 38, 0F 3A */
		if (below(2))
			*p++ = (uint8_t)(0x40 | below(16));
		if (map)
			*p++ = 0x0f;
		if (map == 3 || map == 4)
			*p++ = map == 3 ? 0x38 : 0x3a;
		break;
	case 5: /* 3DNow! */
		*p++ = 0x0f;
		*p++ = 0x0f;
		break;
	case 6:
	case 7:
	case 8: /* VEX */
		if (map == 6) {
			*p++ = 0xc5;
			*p = (uint8_t)(below(2) ? *p | 0x78 : *p);
			p++;
		} else {
			*p++ = 0xc4;
			*p = (uint8_t)((*p & 0xe0) | (below(16) ? 1 + below(3) : below(32)));
			p++;
			*p = (uint8_t)(below(2) ? *p | 0x78 : *p);
			p++;
		}
		break;
	case 9: /* XOP */
		*p++ = 0x8f;
		*p = (uint8_t)((*p & 0xe0) | (8 + below(3)));
		p++;
		*p = (uint8_t)(below(2) ? *p | 0x78 : *p);
		p++;
		break;
	case 10:
	case 11:
	case 12:
	case 13: { /* EVEX */
		static const uint8_t maps[] = {1, 2, 3, 5, 6, 1, 2, 3, 5, 6, 1, 2, 3, 5, 6, 4};
		*p++ = 0x62;
		*p = (uint8_t)((*p & 0xf0) | maps[below(16)]);
		p++;
		*p = (uint8_t)((below(2) ? *p | 0x78 : *p) | 4);
		p++;
		*p = (uint8_t)(below(2) ? (*p & 0x78) | 8 : below(2) ? *p | 8 : *p);
		p++;
		break;
	}
	}
}

static void check_truncation(const uint8_t *code)
{
	struct x86_insn whole, part;
	if (x86_decode(code, X86_MAX_INSN_BYTES, &whole) != X86_DECODE_OK)
		return;
	unsigned keep = below(whole.length);
	memcpy(edge - keep, code, keep);
	if (x86_decode(edge - keep, keep, &part) != X86_DECODE_TRUNCATED)
		tally.disagreements[FACT_TRUNCATION]++;
	memcpy(edge - whole.length, code, whole.length);
	if (x86_decode(edge - whole.length, whole.length, &part) != X86_DECODE_OK || part.length != whole.length)
		tally.disagreements[FACT_TRUNCATION]++;
}

static void random_strings(uint64_t count)
{
	uint8_t code[40];
	for (uint64_t i = 0; i < count; i++) {
		random_code(code);
		decode_compare(code, 32, &tally);
		if (i % 8 == 0)
			check_truncation(code);
	}
}

static void make_edge(void)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	uint8_t *pages = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (pages == MAP_FAILED || mprotect(pages + page, page, PROT_NONE))
		abort();
	edge = pages + page;
}

/* ---- reporting ------------------------------------------------------------------------------------- */

static void report_part(const char *what, const struct decode_tally *before)
{
	char fact[160];
	uint64_t compared = tally.compared - before->compared, valid = tally.valid - before->valid;
	snprintf(fact, sizeof fact, "decoder and Zydis agree on %s: %llu byte strings, %llu instructions", what,
		 (unsigned long long)compared, (unsigned long long)valid);
	report(compared > 0 && decode_tally_failures(&tally) == decode_tally_failures(before), fact);
}

static void print_summary(void)
{
	for (unsigned i = 0; i < FACT_COUNT; i++)
		if (tally.disagreements[i])
			printf("# unlisted, %s: %llu\n", decode_fact_name(i),
			       (unsigned long long)tally.disagreements[i]);
	printf("# listed differences (see decode_differences.h):\n");
	for (unsigned i = 0; i < decode_difference_rows(); i++)
		printf("# %12llu  %.60s: %s\n", (unsigned long long)tally.listed[i], decode_difference_title(i),
		       decode_difference_reason(i));
}

int main(int argc, char **argv)
{
	uint64_t seed = 20260101, strings = 1000000;
	bool full = false, sweep = true;
	int files = 0;
	for (int i = 1; i < argc; i++) {
		if (!strcmp(argv[i], "--full")) {
			full = true;
			strings = 100000000;
		} else if (!strcmp(argv[i], "--random") && i + 1 < argc) {
			strings = strtoull(argv[++i], NULL, 0);
			sweep = false;
		} else if (!strcmp(argv[i], "--seed") && i + 1 < argc) {
			seed = strtoull(argv[++i], NULL, 0);
		} else if (!strcmp(argv[i], "--show") && i + 1 < argc) {
			tally.show = (unsigned)strtoul(argv[++i], NULL, 0);
		} else if (!strcmp(argv[i], "--files")) {
			files = i + 1;
			strings = 0;
			break;
		} else {
			fprintf(stderr, "usage: decode_oracle [--full] [--random N] [--seed S] [--show N] "
					"[--files PATH...]\n");
			return 2;
		}
	}
	make_edge();
	random_state = seed * 2 + 1;
	struct decode_tally before = tally;
	if (files) {
		for (int i = files; i < argc; i++)
			sweep_file(argv[i]);
		report_part("the given files", &before);
	} else if (sweep) {
		if (!full) {
			sample_every = 13; /* prime: not in step with how packages name their files */
			file_limit = 64 << 10;
		}
		nftw("/usr/bin", visit, 32, FTW_PHYS);
		nftw("/usr/lib", visit, 32, FTW_PHYS);
		printf("# %u files\n", files_swept);
		report_part(full ? "every program and library" : "a sample of programs and libraries", &before);
	}
	if (strings) {
		before = tally;
		random_strings(strings);
		report_part("random byte strings", &before);
		report(!tally.disagreements[FACT_TRUNCATION],
		       "an instruction cut short is reported as truncated, and nothing behind it is read");
	}
	if (full && sweep && !files) {
		unsigned unused = 0;
		for (unsigned i = 0; i < decode_difference_rows(); i++)
			unused += !tally.listed[i];
		report(!unused, "every listed difference still occurs");
	}
	printf("1..%u\n", tests);
	print_summary();
	return failed != 0;
}
