/* What is behind a PLT entry or a word that the loader fills: the name in the relocation (System V gABI,
 * "Relocation"; psABIs, "PLT"). */
#include <elf.h>
#include <string.h>

#include "symbol/places_inside.h"

const char *linkage_of_slot(struct module *m, uint64_t slot)
{
	Elf *elf = m->file.elf;
	for (Elf_Scn *section = NULL; elf && (section = elf_nextscn(elf, section));) {
		GElf_Shdr header, symbols;
		if (!gelf_getshdr(section, &header) || header.sh_type != SHT_RELA || header.sh_entsize == 0)
			continue;
		Elf_Scn *table = elf_getscn(elf, header.sh_link);
		Elf_Data *data = elf_getdata(section, NULL), *names = table ? elf_getdata(table, NULL) : NULL;
		if (!data || !names || !gelf_getshdr(table, &symbols))
			continue;
		size_t n = data->d_size / header.sh_entsize;
		for (size_t i = 0; i < n && i < INT32_MAX; i++) {
			GElf_Rela rela;
			GElf_Sym symbol;
			if (!gelf_getrela(data, (int)i, &rela) || rela.r_offset != slot)
				continue;
			if (!gelf_getsym(names, (int)GELF_R_SYM(rela.r_info), &symbol))
				return NULL;
			const char *name = elf_strptr(elf, symbols.sh_link, symbol.st_name);
			return name && *name ? name : NULL;
		}
	}
	return NULL;
}

/* x86-64: jmp *slot(%rip), after an endbr64 and a bnd prefix. */
static bool slot_of_x86(const uint8_t *code, size_t n, uint64_t address, uint64_t *slot)
{
	size_t at = n >= 4 && memcmp(code, "\xf3\x0f\x1e\xfa", 4) == 0 ? 4 : 0;
	int32_t displacement;
	if (at < n && code[at] == 0xf2)
		at++;
	if (at + 6 > n || code[at] != 0xff || code[at + 1] != 0x25)
		return false;
	memcpy(&displacement, code + at + 2, 4);
	*slot = address + at + 6 + (uint64_t)(int64_t)displacement;
	return true;
}

/* arm64: (bti c) adrp x16, page; ldr x17, [x16, #offset] */
static bool slot_of_arm64(const uint8_t *code, size_t n, uint64_t address, uint64_t *slot)
{
	uint32_t word[3];
	if (n < sizeof word)
		return false;
	memcpy(word, code, sizeof word);
	size_t first = word[0] == 0xd503245f ? 1 : 0;
	uint32_t adrp = word[first], ldr = word[first + 1];
	if ((adrp & 0x9f00001f) != 0x90000010 || (ldr & 0xffc003ff) != 0xf9400211)
		return false;
	uint64_t page = (uint64_t)(adrp >> 29 & 3) | (uint64_t)(adrp >> 5 & 0x7ffff) << 2;
	page = (page ^ (1u << 20)) - (1u << 20);
	*slot = ((address + 4 * first) & ~0xfffull) + (page << 12) + (uint64_t)(ldr >> 10 & 0xfff) * 8;
	return true;
}

const char *linkage_of_call(struct module *m, uint64_t address)
{
	size_t n;
	uint64_t slot;
	GElf_Ehdr header;
	const uint8_t *code = module_bytes(m, address, &n);
	if (!code || !gelf_getehdr(m->file.elf, &header))
		return NULL;
	bool found = header.e_machine == EM_AARCH64 ? slot_of_arm64(code, n, address, &slot)
						    : slot_of_x86(code, n, address, &slot);
	return found ? linkage_of_slot(m, slot) : NULL;
}
