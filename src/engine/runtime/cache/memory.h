/* What of the program's memory is executable, and what has changed it; the files that it was mapped from. */
#ifndef TARE_ENGINE_RUNTIME_CACHE_MEMORY_H
#define TARE_ENGINE_RUNTIME_CACHE_MEMORY_H

#include "engine/runtime/os/sys.h"

struct thread;

struct page {
	uint64_t number;
	uint32_t first;
	uint8_t state, faults;
	uint16_t pad;
};
enum page_state {
	PAGE_CLEAN,
	PAGE_PROTECTED,
	PAGE_CHECKED,
	PAGE_OPEN /* as checked, while the kernel may write there */
};

/* What may write code unseen. ANY: writable code is compared; MEMORY: /proc/PID/mem is open for writing; RING:
 * there is an io_uring */
enum { FOREIGN_ANY = 1, FOREIGN_MEMORY = 2, FOREIGN_RING = 4 };

/* written: see cache/files.c */
struct watched_mapping {
	uint64_t start, end;
	uint32_t protection, shared, module, written;
	uint64_t device, inode;
	uint32_t kept, unused; /* it was looked whether translations of it are kept: kept/install.c */
};
#define MAPPINGS_MAX 16384u

#define OPENED_MAX 256u
struct code_file {
	uint64_t device, inode;
	bool mapped; /* shared, from a descriptor that may write: no descriptor is needed any more */
};

#pragma GCC visibility push(hidden)

/* cache/memory.c: under rt.lock */
void memory_start(void);
void memory_modules_unknown(void);
bool memory_rescan(void); /* false: /proc cannot be read */
/* by mremap; stays: the old place is mapped, too, if empty */
void memory_moved(uint64_t from, uint64_t from_bytes, uint64_t to, uint64_t bytes, bool stays);
void memory_all_changed(void); /* protections anywhere; no page is write-protected by the engine */
const struct watched_mapping *memory_executable(uint64_t pc);
void memory_mapped(uint64_t start, uint64_t length, uint32_t protection, bool shared, long fd, uint64_t offset);
void memory_forgotten(uint64_t start, uint64_t length);
bool memory_any(uint64_t start, uint64_t length); /* something there is executable, or shared */
/* NULL: any may be. True: it was code, and not known to be written */
bool memory_file_written(const struct code_file *file);
void memory_forked(void); /* the child has not all that its parent has */
void memory_unmapped(uint64_t start, uint64_t length);
void memory_protected(uint64_t start, uint64_t length, uint32_t protection);
/* before its bytes are read. True: to be checked instead */
bool memory_watch(uint64_t pc, uint64_t length, const struct watched_mapping *region);
bool memory_write_fault(struct thread *t, uint64_t address);
void memory_foreign(void); /* from now on writable code is always compared */
/* before the kernel writes there. True: something was protected */
bool memory_release(uint64_t start, uint64_t length);
void memory_pin(uint64_t at, uint64_t bytes); /* no page there is protected from now on */
/* True: nothing writes there any more, and what was translated meanwhile is gone */
bool memory_settle(uint64_t pc, uint64_t length);

/* cache/files.c; not under rt.lock but for file_mapped and file_written */
void file_opened(long fd, bool emptied);
void file_truncated(const char *path);            /* the program's */
void file_opened_how(long fd, uint64_t flags);    /* as open(2) has them */
uint32_t file_memory_of(long fd, uint64_t flags); /* the number of the process whose memory it is, or 0 */
void file_mapped(long fd, bool shared);
bool file_written(uint64_t device, uint64_t inode, const char *path);
bool mapping_is_of(const struct watched_mapping *region, const struct code_file *file);
void files_look(void);
void files_post_memory(uint32_t pid); /* that process's engine is to take its code for changed */

/* os/maps.c, under rt.lock. False: there is no /proc */
struct mapping {
	uint64_t start, end, offset, device, inode;
	uint32_t protection, shared;
	const char *path;
};
bool maps_read(void (*each)(const struct mapping *m, void *context), void *context);

#pragma GCC visibility pop
#endif
