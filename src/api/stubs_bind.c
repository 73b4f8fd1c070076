/* Stubs and calls of counters that a program reaches through its procedure linkage table: bound when libtare is
 * loaded.
 *
 * x86-64 programs bind lazily where their linker was not told otherwise: the first call of each function goes
 * through the dynamic linker, which preserves what arguments may be in, but neither r10, r11 nor the flags (glibc,
 * sysdeps/x86_64/dl-trampoline.h). A stub may change none of them, not even once. So what the dynamic linker would
 * write into those entries at the first call is written here before any. arm64 has a mark for such functions
 * (STO_AARCH64_VARIANT_PCS; asm_aarch64.S), which makes the dynamic linker do it.
 *
 * The dynamic linker's work would also be counted by the call that ends what is counted (tare_stop()): some
 * thousand instructions, under tare's engine in a count that is exact otherwise.
 *
 * Objects that are opened later are bound by tare_asm_init(). */
#include "api/stubs.h"

#if defined(__x86_64__) && !defined(__ILP32__)

#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>

/* asm_x86_64.S: offsets from itself to tare_asm_begin_0, tare_asm_end_0, tare_asm_begin_1, …, tare_asm_init. */
extern const int32_t stub_table[STUB_INIT + 1] STUB_HIDDEN;

struct linkage {
	const ElfW(Rela) * entries;
	size_t n;
	const ElfW(Sym) * symbols;
	const char *strings;
	bool bound; /* by the dynamic linker, at the start */
	bool of_us; /* the object says that it needs libtare */
};

/* glibc has put addresses into the dynamic section; others leave offsets there. */
static const void *pointer_of(const struct dl_phdr_info *object, ElfW(Addr) value)
{
	return (const void *)(value < object->dlpi_addr ? object->dlpi_addr + value : value);
}

/* libtare.so…, libtare-perfex.so… */
static bool is_libtare(const char *name)
{
	static const char prefix[] = "libtare";
	size_t bytes = sizeof prefix - 1;
	return strncmp(name, prefix, bytes) == 0 && (name[bytes] == '.' || name[bytes] == '-');
}

static struct linkage linkage_of(const struct dl_phdr_info *object, const ElfW(Dyn) * dynamic)
{
	struct linkage linkage = {0};
	for (const ElfW(Dyn) *d = dynamic; d->d_tag != DT_NULL; d++) {
		switch (d->d_tag) {
		case DT_JMPREL: linkage.entries = pointer_of(object, d->d_un.d_ptr); break;
		case DT_PLTRELSZ: linkage.n = d->d_un.d_val / sizeof(ElfW(Rela)); break;
		case DT_SYMTAB: linkage.symbols = pointer_of(object, d->d_un.d_ptr); break;
		case DT_STRTAB: linkage.strings = pointer_of(object, d->d_un.d_ptr); break;
		case DT_BIND_NOW: linkage.bound = true; break;
		case DT_FLAGS: linkage.bound |= (d->d_un.d_val & DF_BIND_NOW) != 0; break;
		case DT_FLAGS_1: linkage.bound |= (d->d_un.d_val & DF_1_NOW) != 0; break;
		default: break;
		}
	}
	for (const ElfW(Dyn) *d = dynamic; linkage.strings && d->d_tag != DT_NULL; d++)
		if (d->d_tag == DT_NEEDED && is_libtare(linkage.strings + d->d_un.d_val))
			linkage.of_us = true;
	return linkage;
}

/* The stub of this name; NULL: there is none. */
static void *stub_named(const char *name)
{
	static const char *const kinds[] = {"begin_", "end_"};
	size_t id = STUB_INIT + 1;
	if (strcmp(name, "init") == 0)
		id = STUB_INIT;
	for (size_t k = 0; k < 2; k++) {
		size_t bytes = strlen(kinds[k]);
		if (strncmp(name, kinds[k], bytes) == 0)
			id = 2 * strtoul(name + bytes, NULL, 10) + k;
	}
	return id <= STUB_INIT ? (char *)stub_table + stub_table[id] : NULL;
}

/* The function that the dynamic linker would find, if it is a call of counters (counters_call.h); else NULL. */
static void *call_named(const char *name)
{
	static const unsigned char nop[] = {0x66, 0x0f, 0x1f, 0x84, 0x00, 0x08, 0x52, 0x41, 0x54};
	static const char *const begins[] = {"tare_", "PAPI_", "start_counters", "read_counters"};
	bool ours = false;
	for (size_t i = 0; i < sizeof begins / sizeof *begins; i++)
		ours |= strncmp(name, begins[i], strlen(begins[i])) == 0;
	void *found = ours ? dlsym(RTLD_DEFAULT, name) : NULL;
	return found && memcmp(found, nop, sizeof nop) == 0 ? found : NULL;
}

static int bind_object(struct dl_phdr_info *object, size_t size, void *context)
{
	static const char prefix[] = "tare_asm_";
	const ElfW(Dyn) *dynamic = NULL;
	(void)size;
	(void)context;
	for (size_t i = 0; i < object->dlpi_phnum; i++)
		if (object->dlpi_phdr[i].p_type == PT_DYNAMIC)
			dynamic = (const void *)(object->dlpi_addr + object->dlpi_phdr[i].p_vaddr);
	if (!dynamic)
		return 0;
	struct linkage linkage = linkage_of(object, dynamic);
	if (linkage.bound || !linkage.of_us || !linkage.entries || !linkage.symbols)
		return 0;
	for (size_t i = 0; i < linkage.n; i++) {
		const ElfW(Rela) *entry = &linkage.entries[i];
		const char *name = linkage.strings + linkage.symbols[ELF64_R_SYM(entry->r_info)].st_name;
		if (ELF64_R_TYPE(entry->r_info) != R_X86_64_JUMP_SLOT)
			continue;
		void **place = (void **)(object->dlpi_addr + entry->r_offset);
		if (strncmp(name, prefix, sizeof prefix - 1) != 0) {
			void *call = call_named(name);
			if (call)
				__atomic_store_n(place, call, __ATOMIC_RELAXED);
			continue;
		}
		void *stub = stub_named(name + sizeof prefix - 1), *seen = dlsym(RTLD_DEFAULT, name);
		/* another library's function of that name goes first, as it would then */
		if (stub && (!seen || seen == stub))
			__atomic_store_n(place, stub, __ATOMIC_RELAXED);
	}
	return 0;
}

__attribute__((constructor(101))) void stubs_bind(void) { dl_iterate_phdr(bind_object, NULL); }

#else

void stubs_bind(void) {}

#endif
