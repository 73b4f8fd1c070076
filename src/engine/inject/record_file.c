/*
 * The record's file: opened to be looked at, joined by those that processes made for themselves, locked, mapped
 * and copied.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "engine/inject/injection_internal.h"
#include "engine/inject/own.h"

void record_lock(const struct injection *injection, short type)
{
	struct flock lock = {.l_type = type, .l_whence = SEEK_SET, .l_start = 0, .l_len = 1};
	while (fcntl(injection->how.fd, F_SETLKW, &lock) && errno == EINTR)
		continue;
}

uint64_t injection_reserve(struct record_head *record, uint64_t bytes)
{
	uint64_t offset = __atomic_fetch_add(&record->next_offset, whole_pages(bytes), __ATOMIC_ACQ_REL);
	bool sound = offset % RECORD_PAGE == 0 && offset >= RECORD_SPACE_OFFSET && offset <= RECORD_FILE_BYTES &&
		     bytes <= RECORD_FILE_BYTES - offset;
	return sound ? offset : 0;
}

bool injection_read(int fd, struct injection **out, struct error *err)
{
	struct injection *injection = calloc(1, sizeof *injection);
	struct stat st;
	*out = NULL;
	if (!injection || !(injection->holds = calloc(1, sizeof *injection->holds))) {
		free(injection);
		return error_no_memory(err);
	}
	injection->how.image_fd = injection->how.own_socket = injection->own_socket = -1;
	injection->how.fd = fcntl(fd, F_DUPFD_CLOEXEC, 3);
	if (injection->how.fd < 0 || fstat(fd, &st)) {
		error_set_errno(err, ERROR_IO, errno, "cannot read the engine's record");
		goto fail;
	}
	injection->file_bytes = (uint64_t)st.st_size & ~(uint64_t)(RECORD_PAGE - 1);
	void *whole = injection->file_bytes >= RECORD_SPACE_OFFSET
			      ? mmap(NULL, injection->file_bytes, PROT_READ, MAP_SHARED | MAP_NORESERVE,
				     injection->how.fd, 0)
			      : MAP_FAILED;
	if (whole != MAP_FAILED) {
		injection->whole = whole;
		injection->how.record = whole;
		injection->how.processes = (struct record_process *)((char *)whole + RECORD_PROCESSES_OFFSET);
	}
	if (whole == MAP_FAILED || injection->how.record->magic != RECORD_MAGIC) {
		error_set(err, ERROR_SYNTAX, "the file is not a record of this engine");
		goto fail;
	}
	*out = injection;
	return true;
fail:
	injection_free(injection);
	return false;
}

/* A record that a process made for itself; takes the file. NULL: there is no memory. */
static struct injection *read_own(int fd)
{
	struct injection *injection = calloc(1, sizeof *injection);
	struct stat st = {0};
	void *table = MAP_FAILED;
	if (injection && (injection->holds = calloc(1, sizeof *injection->holds)) && fstat(fd, &st) == 0 &&
	    (uint64_t)st.st_size >= RECORD_SPACE_OFFSET)
		table = mmap(NULL, RECORD_SPACE_OFFSET, PROT_READ, MAP_SHARED | MAP_NORESERVE, fd, 0);
	if (table == MAP_FAILED) {
		if (injection)
			free(injection->holds);
		free(injection);
		close(fd);
		return NULL;
	}
	injection->file_bytes = (uint64_t)st.st_size & ~(uint64_t)(RECORD_PAGE - 1);
	injection->own_socket = -1;
	injection->how = (struct takeover){
		.fd = fd,
		.image_fd = -1,
		.own_socket = -1,
		.record = table,
		.processes = (struct record_process *)((char *)table + RECORD_PROCESSES_OFFSET)};
	return injection;
}

static bool is_file(const struct injection *injection, uint64_t inode)
{
	struct stat st;
	return fstat(injection->how.fd, &st) == 0 && st.st_ino == inode;
}

size_t injection_gather(struct injection *injection)
{
	uint64_t inode;
	uint32_t index;
	for (int fd; injection->own_socket >= 0 && (fd = own_next(injection->own_socket, &inode, &index)) >= 0;) {
		const struct injection *parent = is_file(injection, inode) ? injection : NULL;
		for (size_t i = 0; i < injection->n_own && !parent; i++)
			if (is_file(injection->own[i].injection, inode))
				parent = injection->own[i].injection;
		void *grown = realloc(injection->own, (injection->n_own + 1) * sizeof *injection->own);
		struct injection *own = read_own(fd);
		injection->own = grown ? grown : injection->own;
		if (!grown || !own || !parent) { /* the entry that it continues says that there is one */
			injection_free(own);
			continue;
		}
		injection->own[injection->n_own].injection = own, injection->own[injection->n_own].parent = parent;
		injection->own[injection->n_own++].index = index;
	}
	return injection->n_own;
}

size_t injection_own_count(const struct injection *injection) { return injection->n_own; }

const struct injection *injection_own(const struct injection *injection, size_t i, const struct injection **parent,
				      uint32_t *index)
{
	*parent = injection->own[i].parent;
	*index = injection->own[i].index;
	return injection->own[i].injection;
}

struct record_head *injection_record(const struct injection *injection) { return injection->how.record; }

struct record_process *injection_process(const struct injection *injection, uint32_t index)
{
	return &injection->how.processes[index];
}

int injection_fd(const struct injection *injection) { return injection->how.fd; }

const void *injection_map(const struct injection *injection, uint64_t offset, uint64_t bytes)
{
	if (offset % RECORD_PAGE || offset > injection->file_bytes || bytes > injection->file_bytes - offset ||
	    bytes == 0)
		return NULL;
	if (injection->whole)
		return injection->whole + offset;
	void *address = mmap(NULL, bytes, PROT_READ, MAP_SHARED, injection->how.fd, (off_t)offset);
	return address == MAP_FAILED ? NULL : address;
}

void injection_unmap(const struct injection *injection, const void *address, uint64_t bytes)
{
	if (address && !injection->whole)
		munmap((void *)address, bytes);
}

#define COPIED_AT_ONCE (256u << 10) /* to look for holes first costs more */

/* [from, to) of the file. */
static bool read_data(int fd, uint64_t from, uint64_t to, char *copy)
{
	for (uint64_t at = from; at < to;) {
		ssize_t got = pread(fd, copy + (at - from), to - at, (off_t)at);
		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return false;
		at += (uint64_t)got;
	}
	return true;
}

/* The same, but for holes: `copy` is zeros already. */
static bool copy_data(int fd, uint64_t from, uint64_t to, char *copy)
{
	for (off_t at = (off_t)from; (at = lseek(fd, at, SEEK_DATA)) >= 0 && (uint64_t)at < to;) {
		off_t hole = lseek(fd, at, SEEK_HOLE);
		uint64_t end = hole < 0 || (uint64_t)hole > to ? to : (uint64_t)hole;
		if (!read_data(fd, (uint64_t)at, end, copy + ((uint64_t)at - from)))
			return false;
		at = (off_t)end;
	}
	return true;
}

uint64_t *injection_copy_words(const struct injection *injection, uint64_t offset, uint64_t most, uint64_t *words)
{
	int fd = injection->how.fd;
	uint64_t end = most > (injection->file_bytes - offset) / 8 ? injection->file_bytes : offset + most * 8,
		 last = offset;
	*words = 0;
	if (offset > injection->file_bytes)
		return NULL;
	for (off_t at = (off_t)offset; (at = lseek(fd, at, SEEK_DATA)) >= 0 && (uint64_t)at < end;) {
		at = lseek(fd, at, SEEK_HOLE);
		last = at < 0 || (uint64_t)at > end ? end : (uint64_t)at;
		if (at < 0)
			break;
	}
	/* memory from calloc is zero and, where it is large, untouched: holes cost nothing here either */
	uint64_t *copy = calloc(1, last - offset + 8);
	if (copy && !copy_data(fd, offset, last, (char *)copy)) {
		free(copy);
		return NULL;
	}
	*words = copy ? (last - offset) / 8 : 0;
	return copy;
}

void *injection_copy(const struct injection *injection, uint64_t offset, uint64_t bytes)
{
	if (bytes == 0 || offset > injection->file_bytes || bytes > injection->file_bytes - offset)
		return NULL;
	char *copy = calloc(1, bytes);
	bool whole = copy && bytes <= COPIED_AT_ONCE; /* holes read as zeros */
	if (copy && !(whole ? read_data(injection->how.fd, offset, offset + bytes, copy)
			    : copy_data(injection->how.fd, offset, offset + bytes, copy))) {
		free(copy);
		return NULL;
	}
	return copy;
}

void *injection_made(const struct injection *injection, size_t *bytes)
{
	const struct record_process *first = &injection->how.processes[0];
	*bytes = first->kept_bytes;
	return first->kept ? injection_copy(injection, first->kept, first->kept_bytes) : NULL;
}

uint64_t injection_data_bytes(const struct injection *injection)
{
	struct stat st;
	return fstat(injection->how.fd, &st) == 0 ? (uint64_t)st.st_blocks * 512 : 0;
}

void injection_hold(const struct injection *injection)
{
	if ((*injection->holds)++ == 0)
		record_lock(injection, F_RDLCK);
}

void injection_let_go(const struct injection *injection)
{
	if (--*injection->holds == 0)
		record_lock(injection, F_UNLCK);
}
