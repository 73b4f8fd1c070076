/*
 * Files whose bytes are code, and which may be written while they are: a private mapping shows what is written
 * into the file, by whomever, in every page that is not a copy yet. No fault tells of it.
 *
 *     opened for writing ─┐
 *                         ├──► region.written: its code is compared before each execution (memory_watch)
 *     mapped executable ──┘
 *
 * What always holds (under rt.lock):
 *  1. rt.opened has the files that this process, or one that it was forked from, has opened for writing last. A
 *     library that a program has written and closed before it maps it is as good as any.
 *  2. Who finds that such a file is code says so to the processes that were forked from the same one, by the
 *     session: they look behind their next system call. So says who opens a file for writing that has contents,
 *     or had, and may be executed: other programs may have it mapped. Of others nobody hears who did not write them.
 */
#include "engine/runtime/cache/memory.h"
#include "engine/runtime/runtime.h"
#include "engine/runtime/thread.h"

enum {
	SYS_fstat = 5,
	SYS_stat = 4,
	SYS_fcntl = 72,
	SYS_fstatfs = 138,
	SYS_getdents64 = 217,
	PROC_MAGIC = 0x9fa0,
	F_GETFL_ = 3,
	ACCESS_MODE = 3,
	TRUNCATES = 01000,
	FILE_KIND = 0170000,
	REGULAR_FILE = 0100000,
	EXECUTABLE_BY_ANY = 0111
};

struct status {
	uint64_t device, inode, links;
	uint32_t mode, user, group, unused;
	uint64_t special, bytes;
	uint8_t rest[88];
}; /* struct stat, 144 bytes */
_Static_assert(sizeof(struct status) == 144, "the kernel's layout");

/* maps says of some file systems another device than stat does: then the path decides. */
static bool same_file(const struct code_file *file, uint64_t device, uint64_t inode, const char *path)
{
	struct status named;
	if (!inode || file->inode != inode)
		return false;
	return file->device == device || failed(sys2(SYS_stat, path, &named)) ||
	       (named.inode == inode && named.device == file->device);
}

/* Can a descriptor of this process write into it? */
static bool open_now(const struct code_file *file)
{
	/* of struct linux_dirent64: the name, a number, is 19 bytes behind the beginning */
	static uint8_t entries[4096];
	struct status status;
	bool found = false;
	long folder = sys3(SYS_open, "/proc/self/fd", O_DIRECTORY_ | O_CLOEXEC_, 0), n;
	if (failed(folder))
		return true;
	while (!found && (n = sys3(SYS_getdents64, folder, entries, sizeof entries)) > 0)
		for (long at = 0; at < n && !found;) {
			long fd = 0;
			uint16_t length;
			for (const uint8_t *c = entries + at + 19; *c >= '0' && *c <= '9'; c++)
				fd = fd * 10 + (*c - '0');
			memcpy(&length, entries + at + 16, 2);
			at += length;
			long flags = sys3(SYS_fcntl, fd, F_GETFL_, 0);
			found = !failed(flags) && (flags & ACCESS_MODE) && !failed(sys2(SYS_fstat, fd, &status)) &&
				status.inode == file->inode && status.device == file->device;
		}
	sys1(SYS_close, folder);
	return found;
}

bool file_written(uint64_t device, uint64_t inode, const char *path)
{
	uint32_t n = rt.opened_count < OPENED_MAX ? rt.opened_count : OPENED_MAX;
	for (uint32_t i = 0; inode && i < n; i++)
		if (same_file(&rt.opened[i], device, inode, path) &&
		    (rt.opened[i].mapped || rt.has_forked || open_now(&rt.opened[i])))
			return true;
	return false;
}

/* Tells the other processes. */
static void post(const struct code_file *file)
{
	struct record_head *s = rt.record;
	uint32_t at = __atomic_fetch_add(&s->code_file_claims, 1, __ATOMIC_ACQ_REL);
	struct record_code_file *place = &s->code_files[at % RECORD_CODE_FILES];
	place->device = file->device;
	__atomic_store_n(&place->inode, file->inode, __ATOMIC_RELEASE);
	__atomic_fetch_add(&s->code_file_count, 1, __ATOMIC_ACQ_REL);
}

/* It is among the last that were told: each process has heard of it, or will, or finds that it missed some. */
static bool is_posted(const struct code_file *file)
{
	for (uint32_t i = 0; i < RECORD_CODE_FILES; i++) {
		const struct record_code_file *place = &rt.record->code_files[i];
		if (__atomic_load_n(&place->inode, __ATOMIC_ACQUIRE) == file->inode &&
		    place->device == file->device)
			return true;
	}
	return false;
}

/* In place of a file's device: what stands for the inode is a process, whose memory another one writes to. */
#define MEMORY_OF_PROCESS (~0ull)

void files_post_memory(uint32_t pid) { post(&(struct code_file){MEMORY_OF_PROCESS, pid, false}); }

static void opened(const struct code_file *file, bool tell)
{
	uint32_t n = rt.opened_count < OPENED_MAX ? rt.opened_count : OPENED_MAX, i = 0;
	while (i < n && (rt.opened[i].inode != file->inode || rt.opened[i].device != file->device))
		i++;
	if (i == n)
		rt.opened[i = rt.opened_count++ % OPENED_MAX] = *file;
	rt.opened[i].mapped |= file->mapped;
	if (memory_file_written(file) && tell)
		post(file);
}

bool mapping_is_of(const struct watched_mapping *region, const struct code_file *file)
{
	static const char none[] = "";
	uint32_t own = region->module - rt.modules_inherited;
	bool named = region->module >= rt.modules_inherited && region->module < rt.process->modules.count;
	return same_file(file, region->device, region->inode, named ? rt.record_modules[own].path : none);
}

/* fd: the program's, open for writing, or of a call that failed. emptied: by the call, if it was there before. */
void file_opened(long fd, bool emptied)
{
	struct status status;
	if (failed(fd) || rt.calls_denied || failed(sys2(SYS_fstat, fd, &status)))
		return;
	struct code_file file = {status.device, status.inode, false};
	lock();
	opened(&file, true);
	/* what may run elsewhere counts as written there from now on; not a file that is new */
	if ((status.mode & FILE_KIND) == REGULAR_FILE && (status.mode & EXECUTABLE_BY_ANY) &&
	    (status.bytes || emptied) && !is_posted(&file))
		post(&file);
	unlock();
}

/* Who cut it off may have no descriptor of it. */
void file_truncated(const char *path)
{
	struct status status;
	if (rt.calls_denied || failed(sys2(SYS_stat, path, &status)))
		return;
	lock();
	opened(&(struct code_file){status.device, status.inode, true}, true);
	unlock();
}

/* Whose memory the descriptor is: the process's number, 0 if it is none. By the file itself, not by the path that
 * it was opened by: a link, a folder's descriptor and the current folder also lead there. Where /proc does not
 * tell, it may be this process's. */
uint32_t file_memory_of(long fd, uint64_t flags)
{
	uint64_t system[15]; /* struct statfs, 120 bytes; its type comes first */
	char at[32] = "/proc/self/fd/", path[64];
	char digits[12];
	uint32_t pid = 0, n = 0;
	if (failed(fd) || !(flags & ACCESS_MODE) || failed(sys2(SYS_fstatfs, fd, system)) ||
	    system[0] != PROC_MAGIC)
		return 0;
	size_t end = text_length(at);
	do
		digits[n++] = (char)('0' + fd % 10);
	while (fd /= 10);
	while (n)
		at[end++] = digits[--n];
	at[end] = 0;
	long length = sys3(SYS_readlink, at, path, sizeof path);
	if (failed(length))
		return (uint32_t)sys0(SYS_getpid);
	if (length < 4 || memcmp(path + length - 4, "/mem", 4))
		return 0;
	for (const char *c = path + 6; length > 6 && *c >= '0' && *c <= '9'; c++) /* behind "/proc/" */
		pid = pid * 10 + (uint32_t)(*c - '0');
	return pid ? pid : (uint32_t)sys0(SYS_getpid);
}

void file_opened_how(long fd, uint64_t flags)
{
	if ((flags & ACCESS_MODE) || (flags & TRUNCATES))
		file_opened(fd, flags & TRUNCATES);
}

/* It may have come from elsewhere: by an exec, from another process. Under rt.lock */
void file_mapped(long fd, bool shared)
{
	struct status status;
	if (rt.no_tsc)
		return;
	long flags = sys3(SYS_fcntl, fd, F_GETFL_, 0);
	if (failed(flags) || !(flags & ACCESS_MODE) || failed(sys2(SYS_fstat, fd, &status)))
		return;
	opened(&(struct code_file){status.device, status.inode, shared}, true);
}

/* What other processes have said since. */
void files_look(void)
{
	struct record_head *s = rt.record;
	uint32_t count = __atomic_load_n(&s->code_file_count, __ATOMIC_ACQUIRE);
	if (count == rt.code_files_seen)
		return;
	lock();
	bool written = false;
	for (uint32_t i = 0; i < RECORD_CODE_FILES; i++) {
		struct code_file file = {s->code_files[i].device,
					 __atomic_load_n(&s->code_files[i].inode, __ATOMIC_ACQUIRE), true};
		if (file.device == MEMORY_OF_PROCESS)
			written |= file.inode == rt.process->pid;
		else if (file.inode)
			opened(&file, false);
	}
	/* who writes over a place has claimed it before */
	uint32_t claims = __atomic_load_n(&s->code_file_claims, __ATOMIC_ACQUIRE);
	if (claims - rt.code_files_seen > RECORD_CODE_FILES) { /* some were missed */
		memory_file_written(NULL);                     /* every file's */
		written |= claims - rt.code_files_begun > RECORD_CODE_FILES;
	}
	if (written) {
		memory_foreign();
		cache_drop_range(ADDRESS_LEAST, ADDRESS_END);
	}
	rt.code_files_seen = count;
	unlock();
}
