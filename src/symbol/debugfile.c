/* Opens ELF files, and finds the debug file of a stripped one (GDB manual, "Separate Debug Files"). */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/str.h"
#include "symbol/module.h"

/*
 * Files are read, not mapped: one that is cut while it is mapped would be a SIGBUS. And they are read as a whole,
 * with zeros behind: libdw (0.188, dwarf_getsrclines) looks for the end of a name beyond a section's end, if a
 * broken file has none. What is larger than this is left to libelf, section by section.
 */
enum { WHOLE_MOST = 512 << 20, ZEROS = 64 };

/* NULL: no memory, or it cannot be read. */
static void *read_whole(int fd, size_t bytes)
{
	char *memory = malloc(bytes + ZEROS);
	size_t have = 0;
	ssize_t n = 1;
	while (memory && have < bytes && (n = pread(fd, memory + have, bytes - have, (off_t)have)) > 0)
		have += (size_t)n;
	if (memory) /* a file that was cut meanwhile ends in zeros */
		memset(memory + have, 0, bytes + ZEROS - have);
	return memory;
}

static bool open_elf(const char *path, bool whole, struct elf_file *out, struct error *err)
{
	struct stat status;
	*out = (struct elf_file){.fd = -1};
	/* not to hang on a FIFO that took the file's place */
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (fd < 0)
		return error_set_errno(err, errno == ENOENT ? ERROR_NOT_FOUND : ERROR_IO, errno,
				       "cannot open '%s'", path);
	if (fstat(fd, &status) != 0 || !S_ISREG(status.st_mode)) {
		close(fd);
		return error_set(err, ERROR_UNSUPPORTED, "'%s' is not a regular file", path);
	}
	void *memory = NULL;
	Elf *elf = NULL;
	GElf_Ehdr header;
	if (!whole || status.st_size > WHOLE_MOST)
		elf = elf_begin(fd, ELF_C_READ, NULL);
	else if ((memory = read_whole(fd, (size_t)status.st_size)))
		elf = elf_memory(memory, (size_t)status.st_size);
	if (!elf || elf_kind(elf) != ELF_K_ELF || !gelf_getehdr(elf, &header)) {
		elf_end(elf);
		free(memory);
		close(fd);
		return error_set(err, ERROR_UNSUPPORTED, "'%s' is not a valid ELF file", path);
	}
	*out = (struct elf_file){.fd = fd, .elf = elf, .memory = memory};
	return true;
}

bool elf_file_open(const char *path, struct elf_file *out, struct error *err)
{
	return open_elf(path, true, out, err);
}

bool elf_file_glance(const char *path, struct elf_file *out) { return open_elf(path, false, out, NULL); }

void elf_file_close(struct elf_file *file)
{
	elf_end(file->elf);
	if (file->fd >= 0)
		close(file->fd);
	free(file->memory);
	*file = (struct elf_file){.fd = -1};
}

/* CRC-32 of IEEE 802.3, as .gnu_debuglink has it. */
static bool checksum(int fd, uint32_t *out)
{
	uint32_t table[256], crc = 0xffffffff;
	unsigned char buffer[16384];
	off_t at = 0;
	ssize_t n;
	for (uint32_t i = 0; i < 256; i++) {
		uint32_t c = i;
		for (int bit = 0; bit < 8; bit++)
			c = c & 1 ? 0xedb88320u ^ c >> 1 : c >> 1;
		table[i] = c;
	}
	while ((n = pread(fd, buffer, sizeof buffer, at)) > 0) {
		for (ssize_t i = 0; i < n; i++)
			crc = table[(crc ^ buffer[i]) & 0xff] ^ crc >> 8;
		at += n;
	}
	*out = ~crc;
	return n == 0;
}

/* "/.build-id/ab/cdef….debug" */
static void append_build_id(struct str *path, const unsigned char *id, size_t bytes)
{
	str_appendf(path, "/.build-id/%02x/", id[0]);
	for (size_t i = 1; i < bytes; i++)
		str_appendf(path, "%02x", id[i]);
	str_append(path, ".debug");
}

const void *elf_file_build_id(const struct elf_file *file, size_t *bytes)
{
	const void *id;
	ssize_t n = dwelf_elf_gnu_build_id(file->elf, &id);
	*bytes = n > 1 && n <= 64 ? (size_t)n : 0;
	return *bytes ? id : NULL;
}

static bool open_by_build_id(const struct module *m, const char *directory, struct elf_file *out, bool *failed)
{
	size_t bytes, found_bytes;
	const void *id = elf_file_build_id(&m->file, &bytes), *found;
	struct str path = {0};
	bool done = false;
	if (!id)
		return false;
	str_append(&path, directory);
	append_build_id(&path, id, bytes);
	if (path.failed)
		*failed = true;
	else if (elf_file_open(path.text, out, NULL)) {
		found = elf_file_build_id(out, &found_bytes);
		if (!(done = found && found_bytes == bytes && memcmp(found, id, bytes) == 0))
			elf_file_close(out);
	}
	str_free(&path);
	return done;
}

static bool open_by_link(const struct module *m, const char *directory, struct elf_file *out, bool *failed)
{
	GElf_Word crc;
	const char *name = dwelf_elf_gnu_debuglink(m->file.elf, &crc);
	char real[PATH_MAX];
	struct stat module_file, debug_file;
	if (!name || !*name || strchr(name, '/') || !realpath(m->path, real) ||
	    fstat(m->file.fd, &module_file) != 0)
		return false;
	*strrchr(real, '/') = '\0';
	for (int i = 0; i < 3; i++) {
		struct str path = {0};
		uint32_t found;
		bool done = false;
		str_appendf(&path, "%s%s/%s%s", i == 2 ? directory : "", real, i == 1 ? ".debug/" : "", name);
		if (path.failed)
			*failed = true;
		else if (elf_file_open(path.text, out, NULL)) {
			/* a link to itself is not a debug file */
			done = fstat(out->fd, &debug_file) == 0 &&
			       (debug_file.st_ino != module_file.st_ino ||
				debug_file.st_dev != module_file.st_dev) &&
			       checksum(out->fd, &found) && found == crc;
			if (!done)
				elf_file_close(out);
		}
		str_free(&path);
		if (done)
			return true;
	}
	return false;
}

bool elf_file_find_debug(const struct module *module, const char *debug_directory, struct elf_file *out)
{
	bool failed = false;
	*out = (struct elf_file){.fd = -1};
	if (module->file.fd >= 0 && !open_by_build_id(module, debug_directory, out, &failed) && !failed)
		open_by_link(module, debug_directory, out, &failed);
	return !failed;
}
