/* What the runtime reads of ELF files (System V gABI; 64 bits, little endian): names of allocation functions,
   thread-local storage. A file may have them anywhere: the structs are of no alignment. */
#ifndef TARE_ENGINE_RUNTIME_STREAM_ELF_H
#define TARE_ENGINE_RUNTIME_STREAM_ELF_H

#include <stdbool.h>
#include <stdint.h>

struct __attribute__((packed)) header {
	uint8_t ident[16];
	uint16_t type, machine;
	uint32_t version;
	uint64_t entry, phoff, shoff;
	uint32_t flags;
	uint16_t ehsize, phentsize, phnum, shentsize, shnum, shstrndx;
};
struct __attribute__((packed)) elf_segment {
	uint32_t type, flags;
	uint64_t offset, address, physical, file_bytes, bytes, align;
};
struct __attribute__((packed)) elf_section {
	uint32_t name, type;
	uint64_t flags, address, offset, size;
	uint32_t link, info;
	uint64_t align, entry_size;
};
struct __attribute__((packed)) elf64_symbol {
	uint32_t name;
	uint8_t info, other;
	uint16_t section;
	uint64_t value, size;
};
struct __attribute__((packed)) relocation {
	uint64_t offset;
	uint32_t type, symbol;
	int64_t addend;
};

/* A file that is mapped; its program and section headers lie within it, nothing else is known to. */
struct elf_view {
	const uint8_t *file;
	uint64_t bytes;
	const struct elf_segment *segments;
	const struct elf_section *sections;
	unsigned n_segments, n_sections;
	uint16_t type;
	uint64_t bias; /* what the loader added to the file's addresses */
	const char *path;
};

static inline bool elf_holds(const struct elf_view *elf, const struct elf_section *s)
{
	return s->offset <= elf->bytes && s->size <= elf->bytes - s->offset;
}

#endif
