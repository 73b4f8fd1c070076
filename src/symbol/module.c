#include "symbol/module.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>

#include "symbol/debuginfod.h"

/* Loaded segments; and, against files that lie, as many as any program has. */
enum { SEGMENTS_MOST = 1024 };

static bool read_segments(struct module *m)
{
	size_t n = 0;
	if (elf_getphdrnum(m->file.elf, &n) != 0)
		n = 0;
	for (size_t i = 0; i < n && m->segments.count < SEGMENTS_MOST; i++) {
		GElf_Phdr header;
		if (!gelf_getphdr(m->file.elf, (int)i, &header))
			continue;
		if (header.p_type == PT_TLS)
			m->thread_address = header.p_vaddr, m->thread_bytes = header.p_memsz;
		if (header.p_type != PT_LOAD)
			continue;
		struct segment s = {.offset = header.p_offset,
				    .file_bytes = header.p_filesz,
				    .address = header.p_vaddr,
				    .bytes = header.p_memsz,
				    .writable = header.p_flags & PF_W};
		if (s.offset + s.file_bytes < s.offset || s.address + s.bytes < s.address)
			continue;
		if (!vec_push(&m->segments, s))
			return false;
	}
	return true;
}

static bool read_sections(struct module *m)
{
	size_t names;
	if (elf_getshdrstrndx(m->file.elf, &names) != 0)
		return true;
	for (Elf_Scn *section = NULL; (section = elf_nextscn(m->file.elf, section));) {
		GElf_Shdr header;
		const char *name;
		if (!gelf_getshdr(section, &header) || !(header.sh_flags & SHF_ALLOC) ||
		    header.sh_addr + header.sh_size <= header.sh_addr ||
		    !(name = elf_strptr(m->file.elf, names, header.sh_name)))
			continue;
		struct section s = {.name = name,
				    .address = header.sh_addr,
				    .bytes = header.sh_size,
				    .entry_bytes = header.sh_entsize,
				    .code = header.sh_flags & SHF_EXECINSTR};
		/* .tbss is not memory of the file's own, .tdata is that which is copied */
		if (!(header.sh_flags & SHF_TLS && header.sh_type == SHT_NOBITS) && !vec_push(&m->sections, s))
			return false;
		s.address -= m->thread_address;
		if (header.sh_flags & SHF_TLS && m->thread_bytes && !vec_push(&m->thread_sections, s))
			return false;
	}
	return true;
}

Elf_Scn *module_section(Elf *elf, const char *name, GElf_Shdr *header)
{
	size_t names;
	if (!elf || elf_getshdrstrndx(elf, &names) != 0)
		return NULL;
	for (Elf_Scn *section = NULL; (section = elf_nextscn(elf, section));) {
		const char *found = gelf_getshdr(section, header) ? elf_strptr(elf, names, header->sh_name) : NULL;
		if (found && strcmp(found, name) == 0)
			return section;
	}
	return NULL;
}

/* The kernel's code page, from tare's own memory: every process of this kernel has the same one. */
static bool open_vdso(struct module *m)
{
	const unsigned char *start = (const unsigned char *)getauxval(AT_SYSINFO_EHDR);
	FILE *maps = start ? fopen("/proc/self/maps", "re") : NULL;
	unsigned long from, to, bytes = 0;
	char line[512];
	while (maps && fgets(line, sizeof line, maps))
		if (sscanf(line, "%lx-%lx", &from, &to) == 2 && from == (unsigned long)start)
			bytes = to - from;
	if (maps)
		fclose(maps);
	if (!bytes) {
		snprintf(m->trouble, sizeof m->trouble, "tare itself has no vdso to read the names of");
		return true;
	}
	if (!(m->file.memory = malloc(bytes)))
		return false;
	memcpy(m->file.memory, start, bytes);
	m->file.elf = elf_memory(m->file.memory, bytes);
	return true;
}

static bool has_symbols(Elf *elf, GElf_Word type)
{
	for (Elf_Scn *section = NULL; (section = elf_nextscn(elf, section));) {
		GElf_Shdr header;
		if (gelf_getshdr(section, &header) && header.sh_type == type)
			return true;
	}
	return false;
}

/* The file, whose name may be as /proc/PID/maps writes it: with \\012 for a newline, and no way to tell that from
 * those four characters. */
static bool open_named(struct module *m, struct error *err)
{
	char *name, *to;
	if (elf_file_open(m->path, &m->file, err))
		return true;
	if (!strstr(m->path, "\\012") || !(name = to = strdup(m->path)))
		return false;
	for (const char *from = m->path; (*to = *from); from++, to++)
		if (strncmp(from, "\\012", 4) == 0) {
			*to = '\n';
			from += 3;
		}
	bool opened = elf_file_open(name, &m->file, NULL);
	free(name);
	return opened;
}

/* The file of what this one lacks. False when memory ran out. */
static bool find_debug(struct module *m, const struct naming *naming)
{
	GElf_Shdr header;
	char why[256] = "";
	bool named = has_symbols(m->file.elf, SHT_SYMTAB),
	     lines = module_section(m->file.elf, ".debug_info", &header);
	if (named && lines)
		return true;
	if (!elf_file_find_debug(m, naming->debug_directory, &m->debug))
		return false;
	if (!m->debug.elf && naming->servers)
		debug_servers_fetch(naming->servers, m, &m->debug, why);
	if (m->debug.elf)
		return true;
	const char *comma = why[0] ? "; " : "";
	if (!named)
		snprintf(m->trouble, sizeof m->trouble,
			 "it is stripped: only exported names are known, and no debug file was found%s%s", comma,
			 why);
	else if (why[0])
		snprintf(m->trouble, sizeof m->trouble, "it has no source lines, and no debug file was found; %s",
			 why);
	return true;
}

static bool open_file(struct module *m, const struct naming *naming)
{
	static const char deleted[] = " (deleted)";
	struct error err = {0};
	size_t length = strlen(m->path);
	if (m->path[0] == '[') {
		if (strcmp(m->path, "[vdso]") == 0)
			return open_vdso(m);
		snprintf(m->trouble, sizeof m->trouble, "it is not a file");
		return true;
	}
	if (m->path[0] != '/') {
		/* the kernel's names of mappings that are not files: "//anon", "anon_inode:…", "SYSV00000000" */
		snprintf(m->trouble, sizeof m->trouble, "'%.200s' is not a path", m->path);
		return true;
	}
	if (!open_named(m, &err)) {
		bool gone = length >= sizeof deleted &&
			    strcmp(m->path + length - (sizeof deleted - 1), deleted) == 0;
		snprintf(m->trouble, sizeof m->trouble, "%s",
			 gone ? "its file was deleted while it ran" : err.text);
		return true;
	}
	return find_debug(m, naming);
}

bool module_new(const char *path, const struct naming *naming, struct module **out)
{
	struct module *m = *out = calloc(1, sizeof *m);
	if (!m)
		return false;
	m->file.fd = m->debug.fd = -1;
	m->anonymous = path[0] == '\0' || strcmp(path, "[anonymous]") == 0;
	m->path = strdup(path);
	const char *slash = m->path ? strrchr(m->path, '/') : NULL;
	m->base = slash && slash[1] ? m->path + (slash - m->path) + 1 : m->path;
	if (m->path &&
	    (m->anonymous || (open_file(m, naming) && (!m->file.elf || (read_segments(m) && read_sections(m))))))
		return true;
	module_free(m);
	*out = NULL;
	return false;
}

void module_free(struct module *m)
{
	if (!m)
		return;
	lines_free(m);
	dwarf_cfi_end(m->cfi);
	elf_file_close(&m->debug);
	elf_file_close(&m->file);
	vec_free(&m->segments);
	vec_free(&m->sections);
	vec_free(&m->functions);
	vec_free(&m->thread_sections);
	ranges_free(&m->code);
	ranges_free(&m->data.ranges);
	ranges_free(&m->thread_data.ranges);
	free(m->data.all);
	free(m->thread_data.all);
	free(m->section_data);
	free(m->thread_section_data);
	vec_free(&m->answers);
	hash_free(&m->answered);
	free(m->path);
	free(m);
}

bool module_address(const struct module *m, uint64_t offset, uint64_t *address)
{
	for (size_t i = 0; i < m->segments.count; i++) {
		const struct segment *s = &m->segments.items[i];
		if (offset >= s->offset && offset - s->offset < s->file_bytes) {
			*address = s->address + (offset - s->offset);
			return true;
		}
	}
	/* A segment's pages are mapped whole: the file's bytes around it are also in memory. */
	for (size_t i = 0; i < m->segments.count; i++) {
		const struct segment *s = &m->segments.items[i];
		uint64_t from = s->offset & ~4095ull, to = (s->offset + s->file_bytes + 4095) & ~4095ull;
		if (offset >= from && offset < to) {
			*address = s->address + (offset - s->offset);
			return true;
		}
	}
	return false;
}

bool module_mapping(const struct module *m, uint64_t offset, bool writable, uint64_t *address)
{
	for (size_t i = 0; i < m->segments.count; i++) {
		const struct segment *s = &m->segments.items[i];
		uint64_t from = s->offset & ~4095ull, to = (s->offset + s->file_bytes + 4095) & ~4095ull;
		if (s->writable == writable && offset >= from && offset < to) {
			*address = s->address + (offset - s->offset);
			return true;
		}
	}
	return module_address(m, offset, address);
}

bool module_offset(const struct module *m, uint64_t address, uint64_t *offset)
{
	for (size_t i = 0; i < m->segments.count; i++) {
		const struct segment *s = &m->segments.items[i];
		if (address >= s->address && address - s->address < s->file_bytes) {
			*offset = s->offset + (address - s->address);
			return true;
		}
	}
	return false;
}

const uint8_t *module_bytes(const struct module *m, uint64_t address, size_t *available)
{
	size_t file_bytes;
	uint64_t offset;
	const char *file = m->file.elf ? elf_rawfile(m->file.elf, &file_bytes) : NULL;
	*available = 0;
	if (!file || !module_offset(m, address, &offset) || offset >= file_bytes)
		return NULL;
	for (size_t i = 0; i < m->segments.count; i++) {
		const struct segment *s = &m->segments.items[i];
		if (address >= s->address && address - s->address < s->file_bytes)
			*available = s->file_bytes - (address - s->address);
	}
	if (*available > file_bytes - offset)
		*available = file_bytes - offset;
	return (const uint8_t *)file + offset;
}
