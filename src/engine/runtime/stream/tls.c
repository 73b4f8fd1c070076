/*
 * Thread-local variables: where each thread has them (static TLS, variant II; Drepper, "ELF Handling For
 * Thread-Local Storage", 3.4.2 and 3.4.6; psABI for x86-64, 3.4.6).
 *
 *     a module's block:   thread pointer (fs base) - below ………… of every thread at the same distance
 *
 * The main program's distance is fixed by the linker. Another module's is the dynamic loader's choice, and stands
 * in what it writes into the module itself: a word of R_X86_64_TPOFF64 is a variable's place by the thread
 * pointer, one of R_X86_64_DTPMOD64 the module's number in the thread's vector of blocks. Only relocations of the
 * module's own variables are looked at.
 *
 * What always holds:
 *  1. A module whose distance is not known, or overlaps another's, has none: its variables stay part of the memory
 *     that they lie in.
 *  2. A block that is not at one distance in all threads (a library that was opened later: dynamic TLS) is a block
 *     of the heap, whose stack leads to the access for which it was made (__tls_get_addr).
 */
#include "engine/runtime/entry.h"
#include "engine/runtime/runtime.h"
#include "engine/runtime/stream/elf.h"
#include "engine/runtime/stream/stream.h"
#include "model/core/objects/objects.h"

#define MODULES_MOST 64u
#define WORDS_MOST 4u
#define R_DTPMOD64 16u
#define R_TPOFF64 18u
#define STB_LOCAL 0u
#define BELOW_MOST (1ull << 20) /* of the bytes below the thread pointer that are looked at */

static struct tls_module {
	char path[232];
	uint64_t bias, bytes, below; /* below 0: not known yet */
	unsigned n_words;
	/* of the variable that it is about, in the block */
	struct {
		uint64_t address;
		int64_t value;
		uint32_t type;
	} word[WORDS_MOST];
} modules[MODULES_MOST];
static uint32_t module_count;

static uint64_t round_up(uint64_t value, uint64_t to) { return (value + to - 1) & ~(to - 1); }

static bool is_program(const struct elf_view *elf)
{
	char exe[256];
	long n = sys3(SYS_readlink, "/proc/self/exe", exe, sizeof exe - 1);
	if (failed(n))
		return false;
	exe[n] = 0;
	return text_length(elf->path) == (size_t)n && !memcmp(exe, elf->path, (size_t)n);
}

/* Words about variables that no other module can define come first; the others are there for want of such. */
static void find_words(const struct elf_view *elf, const struct elf_section *relocations, struct tls_module *m)
{
	const struct elf_section *table = relocations->link < elf->n_sections ? &elf->sections[relocations->link]
									      : NULL;
	if (!elf_holds(elf, relocations) || !table || !elf_holds(elf, table))
		return;
	const struct relocation *r = (const struct relocation *)(elf->file + relocations->offset);
	for (unsigned own = 2; own--;)
		for (uint64_t i = 0; i < relocations->size / sizeof *r && m->n_words < WORDS_MOST; i++) {
			if (r[i].type != R_TPOFF64 && r[i].type != R_DTPMOD64)
				continue;
			if (r[i].symbol >= table->size / sizeof(struct elf64_symbol))
				continue;
			const struct elf64_symbol *s = (const struct elf64_symbol *)(elf->file + table->offset) +
						       r[i].symbol;
			bool named = r[i].symbol != 0,
			     local = !named || s->info >> 4 == STB_LOCAL || (s->other & 3);
			if (local != own || (named && !s->section))
				continue;
			m->word[m->n_words].address = elf->bias + r[i].offset;
			m->word[m->n_words].value = (int64_t)(named ? s->value : 0) + r[i].addend;
			m->word[m->n_words++].type = r[i].type;
		}
}

/* rt.lock is held */
void stream_tls_module(const struct elf_view *elf)
{
	const struct elf_segment *tls = NULL;
	for (unsigned i = 0; i < elf->n_segments; i++)
		if (elf->segments[i].type == 7 && elf->segments[i].bytes) /* PT_TLS */
			tls = &elf->segments[i];
	for (uint32_t i = 0; i < module_count; i++)
		if (modules[i].bias == elf->bias &&
		    !memcmp(modules[i].path, elf->path, text_length(elf->path) + 1))
			return;
	if (!tls || tls->bytes > BELOW_MOST || module_count == MODULES_MOST ||
	    text_length(elf->path) >= sizeof modules[0].path)
		return;
	uint64_t align = tls->align ? tls->align : 1;
	struct tls_module *m = &modules[module_count];
	memset(m, 0, sizeof *m);
	m->bias = elf->bias;
	m->bytes = tls->bytes;
	for (unsigned i = 0; elf->path[i] && i < sizeof m->path - 1; i++)
		m->path[i] = elf->path[i];
	if (is_program(elf)) {
		if (align & (align - 1) || tls->address & (align - 1))
			return;
		m->below = round_up(tls->bytes, align);
	} else {
		for (unsigned i = 0; i < elf->n_sections; i++)
			if (elf->sections[i].type == 4) /* SHT_RELA */
				find_words(elf, &elf->sections[i], m);
		if (!m->n_words)
			return;
	}
	module_count++;
}

/* How far below the thread pointer the block begins, by one of its words; 0: it does not say. */
static uint64_t below_by(const struct tls_module *m, unsigned i, uint64_t pointer)
{
	uint64_t word = 0, vector = 0, block = 0;
	if (!safe_copy(&word, (const void *)m->word[i].address, 8) || !word)
		return 0;
	if (m->word[i].type == R_TPOFF64)
		return (uint64_t)m->word[i].value - word;
	/* glibc and musl: the vector's address is the second word of what the pointer points to; glibc's entries
	 * have two words */
	if (word > 4096 || !safe_copy(&vector, (const void *)(pointer + 8), 8) ||
	    !safe_copy(&block, (const void *)(vector + 16 * word), 8))
		return 0;
	return pointer - block;
}

static bool fits(const struct tls_module *m, uint64_t below)
{
	if (below < m->bytes || below > BELOW_MOST)
		return false;
	for (uint32_t i = 0; i < module_count; i++)
		if (&modules[i] != m && modules[i].below && below > modules[i].below - modules[i].bytes &&
		    modules[i].below > below - m->bytes)
			return false;
	return true;
}

static void place(struct objects *objects, const struct tls_module *m, uint64_t pointer)
{
	if (m->below && pointer && !(pointer & 7) && pointer > m->below)
		objects_thread_local(objects, pointer, m->below, m->bytes);
}

/* The program's own block, and those that the loader has placed by now, of all threads. models_lock is held */
void stream_tls_look(struct objects *objects, uint64_t pointer)
{
	for (uint32_t i = 0; i < module_count && pointer; i++) {
		struct tls_module *m = &modules[i];
		uint64_t below = 0;
		for (unsigned w = 0; w < m->n_words && !m->below && !below; w++) {
			below = below_by(m, w, pointer);
			if (!fits(m, below))
				below = 0;
		}
		if (!below)
			continue;
		m->below = below;
		objects_thread_module(objects, m->below, m->bytes, m->path);
		for (uint32_t n = 0; n < rt.slots_max && rt.threads[n]; n++)
			if (rt.slot_state[n])
				place(objects, m, rt.threads[n]->fs_base);
	}
}

/* A thread begins, or has its pointer elsewhere. models_lock is held */
void stream_tls_thread(struct objects *objects, uint64_t pointer)
{
	static bool told[MODULES_MOST]; /* the program's own */
	for (uint32_t i = 0; i < module_count; i++) {
		if (modules[i].below && !modules[i].n_words && !told[i]) {
			objects_thread_module(objects, modules[i].below, modules[i].bytes, modules[i].path);
			told[i] = true;
		}
		place(objects, &modules[i], pointer);
	}
}
