/*
 * What the access stream does not say about data objects: the program's mappings, its stacks, and where allocation
 * functions are.
 *
 * What always holds:
 *  1. rt.models_lock is held where the objects change, and what the thread did before was run through the models:
 *     an access is of the object that was there when it was made. (Of other threads: up to a buffer's length
 *     later.)
 *  2. Allocation functions are known before their code is translated, so that a block's plan does not depend on
 *     when it was made.
 */
#include "engine/runtime/cache/memory.h"
#include "engine/runtime/record/record.h"
#include "engine/runtime/runtime.h"
#include "engine/runtime/stream/elf.h"
#include "engine/runtime/stream/stream.h"
#include "engine/runtime/thread.h"
#include "model/core/model.h"
#include "model/core/objects/objects.h"

#define POOL_BYTES (16ull << 30)
#define POOL_BYTES_LIMITED (64ull << 20)
#define FUNCTIONS_MOST 512u

static struct objects *objects;
static struct record_objects *record;
static struct object_calls *calls[MODEL_CORES_MAX];
static uint64_t break_end;
static struct {
	uint64_t pc, bytes;
	uint32_t kind;
} functions[FUNCTIONS_MOST];
static uint32_t function_count;

static bool open_record(struct record_process *process)
{
	struct record_objects layout = {0};
	record_objects_lay_out(&layout, rt.setup->watch_count);
	uint64_t offset = record_reserve(layout.bytes);
	struct record_objects *fresh = record_map(offset, layout.bytes, NULL);
	if (!fresh)
		return false;
	*fresh = layout;
	process->objects = offset;
	if (record) {
		objects_move(objects, fresh);
		sys2(SYS_munmap, record, layout.bytes);
	}
	record = fresh;
	return true;
}

/* ---- what is there at the start ---- */

static bool same_text(const char *a, const char *b)
{
	size_t n = text_length(a);
	return text_length(b) == n && !memcmp(a, b, n);
}

static bool is_elf(long fd)
{
	char magic[4] = {0};
	return sys4(SYS_pread64, fd, magic, 4, 0) == 4 && !memcmp(magic, "\177ELF", 4);
}

static enum record_object_file file_kind(bool elf, bool writable)
{
	return !elf ? OBJECT_FILE_OTHER : writable ? OBJECT_FILE_WRITABLE : OBJECT_FILE_READ;
}

static uint64_t stack_bytes(void)
{
	uint64_t limit[2] = {8 << 20, 0};
	sys2(SYS_getrlimit, RLIMIT_STACK_, limit);
	return limit[0] < 1ull << 30 ? limit[0] : 1ull << 30;
}

/* The program whose mapping was met last: its image may have gaps, and zeroed memory behind one (a segment without
 * bytes in the file). */
static struct {
	uint64_t end;
	char path[232];
} image;

static void image_of(long fd, const struct mapping *m)
{
	struct header h;
	uint64_t bias = 0, end = 0;
	bool found = false;
	if (sys4(SYS_pread64, fd, &h, sizeof h, 0) != sizeof h || h.phentsize != sizeof(struct elf_segment) ||
	    text_length(m->path) >= sizeof image.path)
		return;
	for (unsigned i = 0; i < h.phnum; i++) {
		struct elf_segment s;
		if (sys4(SYS_pread64, fd, &s, sizeof s, h.phoff + i * sizeof s) != sizeof s)
			return;
		if (s.type != 1)
			continue;
		if (s.file_bytes && !found && (s.offset & ~4095ull) <= m->offset &&
		    m->offset < s.offset + s.file_bytes) {
			bias = m->start - (s.address - s.offset + m->offset);
			found = true;
		}
		if (s.address + s.bytes > end)
			end = s.address + s.bytes;
	}
	if (!found)
		return;
	image.end = bias + end;
	memcpy(image.path, m->path, text_length(m->path) + 1);
}

static void object_of(const struct mapping *m, void *context)
{
	uint64_t start = m->start, end = m->end, offset = m->offset;
	const char *text = m->path;
	bool writable = (m->protection & PROT_WRITE_) != 0;
	(void)context;
	if (start >= 1ull << 47)
		return;
	if (text[0] == '/' && memcmp(text, "/memfd:", 7)) {
		long fd = sys3(SYS_open, text, O_CLOEXEC_, 0);
		bool elf = !failed(fd) && is_elf(fd);
		objects_file(objects, start, end - start, offset, file_kind(elf, writable), text);
		if (elf)
			image_of(fd, m);
		if (!failed(fd))
			sys1(SYS_close, fd);
		if (m->protection & PROT_EXEC_) /* the host has told of some, of which nobody else would ask */
			stream_objects_module(start, offset, text);
	} else if (same_text(text, "[stack]")) {
		uint64_t bytes = stack_bytes();
		if (bytes < end - start)
			bytes = end - start;
		objects_set(objects, end - bytes, bytes, OBJECT_STACK);
	} else if (same_text(text, "[heap]")) {
		objects_set(objects, start, end - start, OBJECT_ALLOCATOR);
		break_end = end;
	} else if (text[0] == '[') {
		objects_file(objects, start, end - start, offset, OBJECT_FILE_OTHER, text);
	} else if (!text[0]) {
		/* zeroed memory behind a file's; the engine's own memory is none of the program's */
		const struct record_object_segment *before = objects_segment_before(objects, start);
		if (before && before->elf)
			objects_file(objects, start, end - start, RECORD_OBJECT_NO_FILE, OBJECT_FILE_WRITABLE,
				     before->path);
		else if (start < image.end)
			objects_file(objects, start, end - start, RECORD_OBJECT_NO_FILE, OBJECT_FILE_WRITABLE,
				     image.path);
	}
}

bool stream_objects_open(struct record_process *process)
{
	uint64_t bytes = objects_bytes(rt.limited ? POOL_BYTES_LIMITED : POOL_BYTES);
	if (!(rt.setup->flags & RECORD_OBJECTS) || !rt.setup->watch_count)
		return true;
	if (!open_record(process))
		return false;
	objects = objects_init(memory_private(bytes), bytes, record);
	maps_read(object_of, NULL);
	return true;
}

bool stream_objects_reopen(struct record_process *process) { return !objects || open_record(process); }

void stream_objects_core(struct model *model, unsigned core, bool fresh)
{
	if (!objects)
		return;
	if (!calls[core])
		calls[core] = memory_private(object_calls_bytes());
	else if (fresh)
		memset(calls[core], 0, object_calls_bytes());
	model_objects(model, objects);
	model_core_calls(model, core, calls[core]);
}

/* ---- system calls ---- */

static struct object_calls *calls_of(const struct thread *t) { return calls[t->slot % MODEL_CORES_MAX]; }

static void begin_change(struct thread *t)
{
	stream_flush(t);
	lock_word(&rt.models_lock);
}

static void end_change(void) { unlock_word(&rt.models_lock); }

/* The loader maps and unmaps while it brings modules in: what it has placed by now. */
static void end_mapping(const struct thread *t)
{
	stream_tls_look(objects, t->fs_base);
	end_change();
}

void stream_objects_thread(struct thread *t)
{
	if (!objects)
		return;
	begin_change(t);
	stream_tls_thread(objects, t->fs_base);
	end_change();
}

void stream_objects_mapped(struct thread *t, uint64_t start, uint64_t length, uint32_t protection, uint64_t flags,
			   long fd, uint64_t offset)
{
	char link[32] = "/proc/self/fd/", path[232] = "", digits[12];
	if (!objects)
		return;
	length = (length + 4095) & ~4095ull;
	begin_change(t);
	if (flags & MAP_ANONYMOUS_ || fd < 0) {
		const struct record_object_segment *before = flags & MAP_FIXED_
								     ? objects_segment_before(objects, start)
								     : NULL;
		if (before && before->elf)
			objects_file(objects, start, length, RECORD_OBJECT_NO_FILE, OBJECT_FILE_WRITABLE,
				     before->path);
		else
			objects_mapped(objects, calls_of(t), start, length);
	} else {
		unsigned n = 0, at = 14;
		for (long rest = fd; rest || !n; rest /= 10)
			digits[n++] = (char)('0' + rest % 10);
		while (n)
			link[at++] = digits[--n];
		link[at] = 0;
		long got = sys3(SYS_readlink, link, path, sizeof path - 1);
		path[failed(got) ? 0 : got] = 0;
		objects_file(objects, start, length, offset,
			     file_kind(path[0] == '/' && is_elf(fd), protection & PROT_WRITE_), path);
	}
	end_mapping(t);
}

void stream_objects_unmapped(struct thread *t, uint64_t start, uint64_t length)
{
	if (!objects)
		return;
	begin_change(t);
	objects_set(objects, start, (length + 4095) & ~4095ull, OBJECT_UNKNOWN);
	end_mapping(t);
}

void stream_objects_moved(struct thread *t, uint64_t from, uint64_t from_bytes, uint64_t to, uint64_t to_bytes)
{
	if (!objects)
		return;
	begin_change(t);
	if (from != to)
		objects_set(objects, from, (from_bytes + 4095) & ~4095ull, OBJECT_UNKNOWN);
	objects_mapped(objects, calls_of(t), to, (to_bytes + 4095) & ~4095ull);
	end_change();
}

void stream_objects_break(struct thread *t, uint64_t end)
{
	if (!objects)
		return;
	begin_change(t);
	if (break_end && end > break_end)
		objects_set(objects, break_end, end - break_end, OBJECT_ALLOCATOR);
	else if (end < break_end)
		objects_set(objects, end, break_end - end, OBJECT_UNKNOWN);
	break_end = end;
	end_mapping(t);
}

/* bytes 0: not said; then what the stack's end is in, up to 64 MB of it. */
void stream_objects_stack(struct thread *t, uint64_t top, uint64_t bytes)
{
	if (!objects || !top)
		return;
	begin_change(t);
	objects_stack(objects, top, bytes);
	end_change();
}

/* ---- allocation functions ---- */

/* A name that ends with * is a beginning. C++'s operators are the ABI's names of new, new[], delete and delete[]
 * (Itanium C++ ABI 5.1.5.3): the block's size, the block come first in all of them. */
static const struct {
	const char name[20];
	uint32_t kind;
} names[] = {
	{"malloc", TRACE_MALLOC},
	{"calloc", TRACE_CALLOC},
	{"realloc", TRACE_REALLOC},
	{"free", TRACE_FREE},
	{"cfree", TRACE_FREE},
	{"free_sized", TRACE_FREE},
	{"free_aligned_sized", TRACE_FREE},
	{"aligned_alloc", TRACE_ALIGNED},
	{"memalign", TRACE_ALIGNED},
	{"posix_memalign", TRACE_POSIX_MEMALIGN},
	{"valloc", TRACE_MALLOC},
	{"pvalloc", TRACE_MALLOC},
	{"_Znwm*", TRACE_MALLOC},
	{"_Znam*", TRACE_MALLOC},
	{"_ZdlPv*", TRACE_FREE},
	{"_ZdaPv*", TRACE_FREE},
};

static void note_function(uint64_t pc, uint64_t bytes, uint32_t kind)
{
	for (uint32_t i = 0; i < function_count; i++)
		if (functions[i].pc == pc)
			return;
	if (function_count < FUNCTIONS_MOST) {
		functions[function_count].pc = pc;
		functions[function_count].bytes = bytes;
		functions[function_count++].kind = kind;
		record->functions = function_count;
	}
}

/* name, zero-terminated somewhere before its end, is that pattern's; a version behind it (@GLIBC_2.2.5) is not
 * part of it. */
static bool is_name(const char *name, const char *pattern)
{
	while (*pattern && *pattern != '*' && *name == *pattern)
		name++, pattern++;
	return *pattern == '*' || (!*pattern && (!*name || *name == '@'));
}

static void read_symbols(const struct elf_view *elf, const struct elf_section *table,
			 const struct elf_section *strings)
{
	const uint8_t *file = elf->file;
	if (!elf_holds(elf, table) || !elf_holds(elf, strings) || !strings->size ||
	    file[strings->offset + strings->size - 1])
		return;
	for (uint64_t i = 0; i < table->size / sizeof(struct elf64_symbol); i++) {
		const struct elf64_symbol *s = (const struct elf64_symbol *)(file + table->offset) + i;
		if ((s->info & 15) != 2 || !s->section || s->name >= strings->size) /* STT_FUNC */
			continue;
		const char *name = (const char *)file + strings->offset + s->name;
		for (unsigned k = 0; k < sizeof names / sizeof *names; k++)
			if (is_name(name, names[k].name))
				note_function(s->value + elf->bias, s->size, names[k].kind);
	}
}

/* The file's bytes, at least a header, as a mapping at start from offset on. Any bytes:
 * tests/fuzz/fuzz_runtime_elf.c. */
static void read_module(const uint8_t *file, uint64_t bytes, uint64_t start, uint64_t offset, const char *path)
{
	const struct header *h = (const struct header *)file;
	struct elf_view elf = {.file = file, .bytes = bytes, .type = h->type, .path = path};
	bool found = false;
	if (!memcmp(h->ident, "\177ELF\2\1", 6) && h->phentsize == sizeof(struct elf_segment) &&
	    h->phoff < elf.bytes && h->phnum * sizeof(struct elf_segment) <= elf.bytes - h->phoff) {
		elf.segments = (const struct elf_segment *)(elf.file + h->phoff);
		elf.n_segments = h->phnum;
	}
	for (unsigned i = 0; i < elf.n_segments && !found; i++) {
		const struct elf_segment *s = &elf.segments[i];
		found = s->type == 1 && s->flags & 1 && (s->offset & ~4095ull) <= offset &&
			offset < s->offset + s->file_bytes;
		elf.bias = start - (s->address + (offset - s->offset));
	}
	if (found && h->shentsize == sizeof(struct elf_section) && h->shoff < elf.bytes &&
	    h->shnum * sizeof(struct elf_section) <= elf.bytes - h->shoff) {
		elf.sections = (const struct elf_section *)(elf.file + h->shoff);
		elf.n_sections = h->shnum;
	}
	for (unsigned i = 0; i < elf.n_sections; i++)
		/* SHT_SYMTAB, SHT_DYNSYM */
		if ((elf.sections[i].type == 2 || elf.sections[i].type == 11) &&
		    elf.sections[i].link < elf.n_sections)
			read_symbols(&elf, &elf.sections[i], &elf.sections[elf.sections[i].link]);
	if (found)
		stream_tls_module(&elf);
}

void stream_objects_module(uint64_t start, uint64_t offset, const char *path)
{
	long fd = objects && path[0] == '/' ? sys3(SYS_open, path, O_CLOEXEC_, 0) : -1;
	if (failed(fd))
		return;
	long size = sys3(SYS_lseek, fd, 0, SEEK_END_), at;
	at = size < (long)sizeof(struct header)
		     ? -1
		     : sys6(SYS_mmap, 0, (uint64_t)size, PROT_READ_, MAP_PRIVATE_, (uint64_t)fd, 0);
	sys1(SYS_close, fd);
	if (failed(at))
		return;
	read_module((const uint8_t *)at, (uint64_t)size, start, offset, path);
	sys2(SYS_munmap, at, size);
}

int stream_objects_function(uint64_t pc)
{
	for (uint32_t i = 0; i < function_count; i++)
		if (functions[i].pc == pc)
			return (int)functions[i].kind;
	return -1;
}

bool stream_objects_stores(uint64_t pc)
{
	for (uint32_t i = 0; i < function_count; i++)
		if (functions[i].kind == TRACE_POSIX_MEMALIGN && pc - functions[i].pc < functions[i].bytes)
			return true;
	return false;
}

bool stream_objects_wanted(void) { return objects != NULL; }
