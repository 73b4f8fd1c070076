#include "engine/inject/injection.h"

#include <cpuid.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <linux/futex.h>
#include <time.h>
#include <unistd.h>

#include "base/end_process.h"
#include "base/test_option.h"
#include "engine/inject/attendant.h"
#include "engine/inject/fold.h"
#include "engine/wire/calls.h"
#include "engine/inject/own.h"
#include "engine/inject/privileges.h"
#include "engine/inject/takeover.h"
#include "engine/wire/kept.h"
#include "engine/wire/question.h"
#include "engine/wire/region.h"
#include "engine/wire/start.h"

extern const unsigned char engine_image[], engine_image_end[];

struct injection {
	struct takeover how;
	uint64_t file_bytes;
	const unsigned char *whole; /* the file, mapped at once for reading; NULL where address space is limited */
	pid_t attendant;
	injection_fold *fold;
	injection_answer *answer;
	void *answer_context;
	injection_functions *functions;
	void *functions_context;
	const void *fold_context;
	uint64_t whole_blocks;
	unsigned *holds;
	/* where the attendant tells of records that processes have made for themselves; -1 */
	int own_socket;
	struct {
		struct injection *session;
		const struct injection *parent;
		uint32_t index;
	} * own;
	size_t n_own;
};

static uint64_t whole_pages(uint64_t bytes) { return (bytes + RECORD_PAGE - 1) & ~(uint64_t)(RECORD_PAGE - 1); }

/* A file-size limit counts for memory files too, and going beyond it is a signal. */
static uint64_t largest_file(void)
{
	struct rlimit limit;
	if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur < RECORD_FILE_BYTES)
		return (uint64_t)limit.rlim_cur & ~(uint64_t)(RECORD_PAGE - 1);
	return RECORD_FILE_BYTES;
}

/* Three quarters of it are zeros: memory that the file need not hold, and pages of tare's that need not be
   read. */
static bool write_image(int fd, size_t bytes)
{
	uint64_t filled;
	memcpy(&filled, engine_image + START_FILLED_AT, sizeof filled);
	if (filled > bytes)
		filled = bytes;
	return pwrite(fd, engine_image, filled, 0) == (ssize_t)filled;
}

/* Where the bytes are in the image's file; 0 on failure. */
static uint64_t append_image(struct injection *session, const void *bytes, size_t n)
{
	uint64_t offset = session->how.image_bytes;
	session->how.image_bytes += whole_pages(n);
	bool done = ftruncate(session->how.image_fd, (off_t)session->how.image_bytes) == 0 &&
		    pwrite(session->how.image_fd, bytes, n, (off_t)offset) == (ssize_t)n;
	return done ? offset : 0;
}

/* Linux refuses F_SEAL_WRITE with EBUSY where it cannot tell within 150 ms that no page is in use elsewhere
 * (mm/memfd.c, memfd_wait_for_pins), which a busy machine is enough for. Nobody has mapped the image for writing,
 * so that F_SEAL_FUTURE_WRITE (5.1), which does not wait, forbids the same. */
static bool seal(int fd)
{
	const int size = F_SEAL_GROW | F_SEAL_SHRINK | F_SEAL_SEAL;
	if (fcntl(fd, F_ADD_SEALS, F_SEAL_WRITE | size) == 0)
		return true;
	return errno == EBUSY && fcntl(fd, F_ADD_SEALS, F_SEAL_FUTURE_WRITE | size) == 0;
}

/* From now on nobody can change what programs begin with. */
static bool seal_image(struct injection *session)
{
	session->how.token = session->how.record->token;
	session->how.setup_offset = append_image(session, session->how.record, sizeof *session->how.record);
	return session->how.setup_offset && seal(session->how.image_fd);
}

/* What is to be done with the access stream. */
static bool set_trace(struct injection *session, const struct injection_options *options)
{
	struct record_session *record = session->how.record;
	size_t bytes = options->machine_count * options->machine_bytes;
	if (options->trace)
		record->flags |= RECORD_TRACE | (options->watch_count ? RECORD_SITES : 0) |
				 (options->watch_count && options->objects ? RECORD_OBJECTS : 0);
	if (options->calls)
		record->flags |= RECORD_TRACE | RECORD_CALLS | RECORD_NOT_INLINE |
				 (options->trace ? RECORD_ACCESSES : 0) |
				 (options->calls_alone ? RECORD_CALLS_ALONE : 0);
	if (options->exclusive)
		record->flags |= RECORD_EXCLUSIVE;
	record->call_event_count = (uint32_t)options->call_event_count;
	if (options->call_event_count)
		memcpy(record->call_events, options->call_events,
		       options->call_event_count * sizeof *options->call_events);
	const char *plain = test_option("TARE_CALLS_PLAIN");
	if (plain && !strcmp(plain, "1"))
		record->flags |= RECORD_CALLS_PLAIN;
	const char *inlined = test_option("TARE_MODEL_INLINE");
	if (inlined && !strcmp(inlined, "0"))
		record->flags |= RECORD_NOT_INLINE;
	if (options->overflow_period)
		record->flags |= RECORD_NOT_INLINE;
	record->overflow_period = options->overflow_period;
	record->overflow_skid = options->overflow_skid;
	record->trace_bytes = options->trace_bytes;
	record->watch_count = (uint32_t)options->watch_count;
	if (options->watch_count)
		memcpy(record->watches, options->watches, options->watch_count * sizeof *options->watches);
	record->machine_count = (uint32_t)options->machine_count;
	if (bytes == 0)
		return true;
	return (record->machines = append_image(session, options->machines, bytes)) != 0;
}

/* The regions that are counted apart. */
static bool set_regions(struct injection *session, const struct injection_options *options)
{
	struct record_session *record = session->how.record;
	size_t bytes = options->region_ranges * sizeof(struct record_region_range);
	record->region_ranges = (uint32_t)options->region_ranges;
	record->region_count = (uint32_t)options->region_count;
	if (bytes == 0)
		return true;
	return (record->regions = append_image(session, options->regions, bytes)) != 0;
}

/* Pieces that may be used: they are looked at where they cannot change any more. Of what cannot be had, or is not
 * right, nobody is told: the file's bytes are there for nothing then. */
static void take_pieces(struct injection *session, const struct injection_options *options)
{
	enum { PART_BYTES = 128 << 10 };
	int fd = session->how.image_fd;
	size_t n = options->kept_bytes, at = 0;
	uint64_t offset = session->how.image_bytes;
	char *part = malloc(PART_BYTES);
	if (!part || ftruncate(fd, (off_t)(offset + whole_pages(n)))) {
		free(part);
		return;
	}
	session->how.image_bytes += whole_pages(n);
	while (at < n) {
		ssize_t got = read(options->kept_fd, part, n - at < PART_BYTES ? n - at : PART_BYTES);
		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0 || pwrite(fd, part, (size_t)got, (off_t)(offset + at)) != got)
			break;
		at += (size_t)got;
	}
	free(part);
	/* private: a file that is mapped shared cannot be sealed */
	void *copy = at == n ? mmap(NULL, n, PROT_READ, MAP_PRIVATE, fd, (off_t)offset) : MAP_FAILED;
	if (copy == MAP_FAILED)
		return;
	if (options->kept_right(options->kept_context, copy, n))
		session->how.record->kept = offset, session->how.record->kept_bytes = n;
	munmap(copy, n);
}

/* Translations: those that are kept, and what some are to be made of. */
static bool set_kept(struct injection *session, const struct injection_options *options)
{
	struct record_session *record = session->how.record;
	size_t modules = options->make_modules * sizeof *options->make,
	       hints = options->make_hint_count * sizeof *options->make_hints;
	if (options->kept_bytes)
		take_pieces(session, options);
	if (!modules)
		return true;
	char *both = malloc(modules + hints);
	if (!both)
		return false;
	memcpy(both, options->make, modules);
	memcpy(both + modules, options->make_hints, hints);
	record->make_modules = (uint32_t)options->make_modules;
	record->make_hints = (uint32_t)options->make_hint_count;
	record->make = append_image(session, both, modules + hints);
	free(both);
	return record->make != 0;
}

/* A lock of the file's first byte: it ends with the process that has it, whatever happens to that. */
static void lock_record(const struct injection *session, short type)
{
	struct flock lock = {.l_type = type, .l_whence = SEEK_SET, .l_start = 0, .l_len = 1};
	while (fcntl(session->how.fd, F_SETLKW, &lock) && errno == EINTR)
		continue;
}

static void fold(void *arg)
{
	struct injection *session = arg;
	lock_record(session, F_WRLCK);
	fold_parts(session, session->fold, session->whole_blocks);
	lock_record(session, F_UNLCK);
}

/* The path of a module of a process's call graph; false: there is none. */
static bool called_module(const struct injection *session, const struct record_process *process, uint32_t number,
			  char path[256])
{
	struct record_calls head;
	struct record_module module;
	off_t at = (off_t)process->calls;
	if (!at || pread(session->how.fd, &head, sizeof head, at) != sizeof head || number >= head.n_modules ||
	    number >= RECORD_CALL_MODULES || head.modules > RECORD_FILE_BYTES)
		return false;
	at += (off_t)(head.modules + number * sizeof module);
	if (pread(session->how.fd, &module, sizeof module, at) != sizeof module)
		return false;
	memcpy(path, module.path, sizeof module.path);
	path[sizeof module.path] = '\0';
	return path[0] != '\0';
}

/* In the attendant. */
static void find_functions(void *arg, uint32_t index)
{
	struct injection *session = arg;
	struct record_process *process = &session->how.processes[index];
	struct record_function *all = NULL;
	char path[256];
	size_t n = 0;
	process->functions = 0;
	if (!session->functions || !called_module(session, process, process->ask_module, path) ||
	    !session->functions(session->functions_context, path, &all, &n))
		return;
	struct record_functions head = {.n = n};
	uint64_t bytes = sizeof head + n * sizeof *all, offset = session_reserve(session->how.record, bytes);
	if (offset && pwrite(session->how.fd, &head, sizeof head, (off_t)offset) == sizeof head &&
	    pwrite(session->how.fd, all, n * sizeof *all, (off_t)(offset + sizeof head)) ==
		    (ssize_t)(n * sizeof *all)) {
		process->functions_bytes = bytes;
		process->functions = offset;
	}
	free(all);
}

static void answer(void *arg, uint32_t index)
{
	struct injection *session = arg;
	uint64_t offset = session->how.processes[index].question;
	struct question *question = session_copy(session, offset, sizeof *question);
	if (!question || question->bytes != sizeof *question || question->n > QUESTION_EVENTS) {
		free(question);
		return;
	}
	session->own_socket = -1; /* of this process's copy: the attendant has closed it */
	session->answer(session->answer_context, session, index, question);
	question->answered = 1;
	if (pwrite(session->how.fd, question, sizeof *question, (off_t)offset) != (ssize_t)sizeof *question)
		question->answered = 0; /* as the record's copy says */
	free(question);
}

uint64_t session_reserve(struct record_session *record, uint64_t bytes)
{
	uint64_t offset = __atomic_fetch_add(&record->next_offset, whole_pages(bytes), __ATOMIC_ACQ_REL);
	bool sound = offset % RECORD_PAGE == 0 && offset >= RECORD_SPACE_OFFSET && offset <= RECORD_FILE_BYTES &&
		     bytes <= RECORD_FILE_BYTES - offset;
	return sound ? offset : 0;
}

const void *injection_fold_context(const struct injection *session) { return session->fold_context; }

/* A file in memory that is never executed as a program; that it is mapped executable is another matter. */
static int memory_file(const char *name)
{
	int fd = memfd_create(
		name, MFD_CLOEXEC | 0x8 /* MFD_NOEXEC_SEAL: Linux 6.3, and demanded where vm.memfd_noexec is 2 */);
	return fd >= 0 || errno != EINVAL ? fd : memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING);
}

bool injection_new(const struct injection_options *options, struct injection **out, struct error *err)
{
	struct injection *session = calloc(1, sizeof *session);
	size_t image_bytes = (size_t)(engine_image_end - engine_image);
	*out = NULL;
	if (!session || !(session->holds = calloc(1, sizeof *session->holds))) {
		free(session);
		return error_no_memory(err);
	}
	int sockets[2] = {-1, -1};
	session->own_socket = -1;
	session->how = (struct takeover){
		.fd = -1, .image_fd = -1, .own_socket = -1, .image_bytes = whole_pages(image_bytes)};
	session->file_bytes = largest_file();
	session->how.fd = memory_file("tare-record");
	session->how.image_fd = memory_file("tare-engine");
	if (session->how.fd < 0 || session->how.image_fd < 0) {
		error_set_errno(err, ERROR_SYSTEM, errno, "cannot create the engine's record (memfd_create(2))");
		goto fail;
	}
	if (session->file_bytes < (1u << 30)) {
		error_set(err, ERROR_LIMIT,
			  "the limit on file sizes (ulimit -f) is too small for the engine's record");
		error_hint(err, "run 'ulimit -f unlimited'");
		goto fail;
	}
	if (ftruncate(session->how.fd, (off_t)session->file_bytes)) {
		error_set_errno(err, ERROR_SYSTEM, errno, "cannot size the engine's record (ftruncate(2))");
		goto fail;
	}
	if (lseek(session->how.fd, 0, SEEK_DATA) < 0 && errno != ENXIO) {
		error_set_errno(err, ERROR_SYSTEM, errno, "cannot search the engine's record for data (lseek(2))");
		goto fail;
	}
	/* whoever gets hold of the file may write to it, but not take pages from under those who have it mapped */
	fcntl(session->how.fd, F_ADD_SEALS, F_SEAL_GROW | F_SEAL_SHRINK | F_SEAL_SEAL);
	if (ftruncate(session->how.image_fd, (off_t)session->how.image_bytes) ||
	    !write_image(session->how.image_fd, image_bytes)) {
		error_set_errno(err, ERROR_SYSTEM, errno, "cannot make the engine's image (pwrite(2))");
		goto fail;
	}
	void *memory = mmap(NULL, RECORD_SPACE_OFFSET, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE,
			    session->how.fd, 0);
	if (memory == MAP_FAILED) {
		error_set_errno(err, ERROR_LIMIT, errno, "cannot map the engine's record");
		goto fail;
	}
	struct record_session *record = memory;
	session->how.record = record;
	session->how.processes = (struct record_process *)((char *)memory + RECORD_PROCESSES_OFFSET);
	record->magic = RECORD_MAGIC;
	if (getrandom(&record->token, sizeof record->token, GRND_NONBLOCK) != sizeof record->token)
		record->token = (uint64_t)time(NULL) << 32 | (uint64_t)getpid();
	record->flags = RECORD_FOLLOW;
	record->cache_bytes = options ? options->cache_bytes : 0;
	record->blocks_most = options ? options->blocks_most : 0;
	record->served = session->how.served = options ? options->served : 0;
	session->fold = options ? options->fold : NULL;
	session->fold_context = options ? options->fold_context : NULL;
	session->functions = options ? options->functions : NULL;
	session->functions_context = options ? options->functions_context : NULL;
	session->answer = options ? options->answer : NULL;
	session->answer_context = options ? options->answer_context : NULL;
	session->whole_blocks = options && options->whole_blocks ? options->whole_blocks : WHOLE_BLOCKS;
	record->next_offset = RECORD_SPACE_OFFSET;
	if (options &&
	    !(set_trace(session, options) && set_regions(session, options) && set_kept(session, options))) {
		error_set_errno(err, ERROR_SYSTEM, errno,
				"cannot write the machines, regions and translations into the engine's image");
		goto fail;
	}
	if (options && options->alone)
		record->flags &= ~(uint32_t)RECORD_FOLLOW;
	if (!seal_image(session)) {
		error_set_errno(err, ERROR_SYSTEM, errno, "cannot seal the engine's image (fcntl(2))");
		goto fail;
	}
	void *whole = mmap(NULL, session->file_bytes, PROT_READ, MAP_SHARED | MAP_NORESERVE, session->how.fd, 0);
	session->whole = whole == MAP_FAILED ? NULL : whole;
	if (options && options->alone) {
		*out = session;
		return true;
	}
	if (!own_sockets(sockets)) {
		error_set_errno(err, ERROR_SYSTEM, errno, "cannot make the attendant's sockets");
		goto fail;
	}
	session->how.own_socket = sockets[0], session->own_socket = sockets[1];
	const struct attendant_duties duties = {.fold = session->fold ? fold : NULL,
						.functions = find_functions,
						.answer = session->answer ? answer : NULL,
						.arg = session};
	session->attendant = attendant_start(&session->how, &duties);
	if (session->attendant < 0) {
		error_set_errno(err, ERROR_SYSTEM, errno, "cannot start the engine's attendant");
		goto fail;
	}
	record->attendant_pid = (uint32_t)session->attendant;
	close(session->how.own_socket); /* its end */
	session->how.own_socket = -1;
	*out = session;
	return true;
fail:
	injection_free(session);
	return false;
}

bool injection_read(int fd, struct injection **out, struct error *err)
{
	struct injection *session = calloc(1, sizeof *session);
	struct stat st;
	*out = NULL;
	if (!session || !(session->holds = calloc(1, sizeof *session->holds))) {
		free(session);
		return error_no_memory(err);
	}
	session->how.image_fd = session->how.own_socket = session->own_socket = -1;
	session->how.fd = fcntl(fd, F_DUPFD_CLOEXEC, 3);
	if (session->how.fd < 0 || fstat(fd, &st)) {
		error_set_errno(err, ERROR_IO, errno, "cannot read the engine's record");
		goto fail;
	}
	session->file_bytes = (uint64_t)st.st_size & ~(uint64_t)(RECORD_PAGE - 1);
	void *whole = session->file_bytes >= RECORD_SPACE_OFFSET
			      ? mmap(NULL, session->file_bytes, PROT_READ, MAP_SHARED | MAP_NORESERVE,
				     session->how.fd, 0)
			      : MAP_FAILED;
	if (whole != MAP_FAILED) {
		session->whole = whole;
		session->how.record = whole;
		session->how.processes = (struct record_process *)((char *)whole + RECORD_PROCESSES_OFFSET);
	}
	if (whole == MAP_FAILED || session->how.record->magic != RECORD_MAGIC) {
		error_set(err, ERROR_SYNTAX, "the file is not a record of this engine");
		goto fail;
	}
	*out = session;
	return true;
fail:
	injection_free(session);
	return false;
}

/* A record that a process made for itself; takes the file. NULL: there is no memory. */
static struct injection *read_own(int fd)
{
	struct injection *session = calloc(1, sizeof *session);
	struct stat st = {0};
	void *table = MAP_FAILED;
	if (session && (session->holds = calloc(1, sizeof *session->holds)) && fstat(fd, &st) == 0 &&
	    (uint64_t)st.st_size >= RECORD_SPACE_OFFSET)
		table = mmap(NULL, RECORD_SPACE_OFFSET, PROT_READ, MAP_SHARED | MAP_NORESERVE, fd, 0);
	if (table == MAP_FAILED) {
		if (session)
			free(session->holds);
		free(session);
		close(fd);
		return NULL;
	}
	session->file_bytes = (uint64_t)st.st_size & ~(uint64_t)(RECORD_PAGE - 1);
	session->own_socket = -1;
	session->how = (struct takeover){
		.fd = fd,
		.image_fd = -1,
		.own_socket = -1,
		.record = table,
		.processes = (struct record_process *)((char *)table + RECORD_PROCESSES_OFFSET)};
	return session;
}

static bool is_file(const struct injection *session, uint64_t inode)
{
	struct stat st;
	return fstat(session->how.fd, &st) == 0 && st.st_ino == inode;
}

size_t session_gather(struct injection *session)
{
	uint64_t inode;
	uint32_t index;
	for (int fd; session->own_socket >= 0 && (fd = own_next(session->own_socket, &inode, &index)) >= 0;) {
		const struct injection *parent = is_file(session, inode) ? session : NULL;
		for (size_t i = 0; i < session->n_own && !parent; i++)
			if (is_file(session->own[i].session, inode))
				parent = session->own[i].session;
		void *grown = realloc(session->own, (session->n_own + 1) * sizeof *session->own);
		struct injection *own = read_own(fd);
		session->own = grown ? grown : session->own;
		if (!grown || !own || !parent) { /* the entry that it continues says that there is one */
			injection_free(own);
			continue;
		}
		session->own[session->n_own].session = own, session->own[session->n_own].parent = parent;
		session->own[session->n_own++].index = index;
	}
	return session->n_own;
}

size_t session_own_count(const struct injection *session) { return session->n_own; }

const struct injection *session_own(const struct injection *session, size_t i, const struct injection **parent,
				    uint32_t *index)
{
	*parent = session->own[i].parent;
	*index = session->own[i].index;
	return session->own[i].session;
}

static enum injection_taken give_up(pid_t pid)
{
	int status;
	if (!end_process(pid))
		return SESSION_FAILED;
	while (waitpid(pid, &status, __WALL) >= 0 ? !WIFEXITED(status) && !WIFSIGNALED(status) : errno == EINTR)
		continue;
	return SESSION_FAILED;
}

/* At its exec, before its first instruction: a traced program has been denied the rights that its file would give
 * it. */
static bool check_program(pid_t pid, struct error *err)
{
	char link[64], name[512] = "the program";
	snprintf(link, sizeof link, "/proc/%d/exe", (int)pid);
	const char *why = injection_refuses(link);
	if (!why)
		return true;
	ssize_t length = readlink(link, name, sizeof name - 1);
	if (length > 0)
		name[length] = 0;
	error_set(err, ERROR_UNSUPPORTED, "cannot count '%s' exactly: %s", name, why);
	return error_hint(err, "use --on perf, or run tare as root if the program's rights are the reason");
}

enum injection_taken injection_take(struct injection *session, pid_t pid, void (*release)(void *), void *arg,
				    struct error *err)
{
	if (ptrace((enum __ptrace_request)PTRACE_SEIZE, pid, NULL,
		   (void *)(long)(TAKEOVER_PTRACE_OPTIONS | PTRACE_O_EXITKILL))) {
		error_set_errno(err, errno == EPERM ? ERROR_PERMISSION : ERROR_SYSTEM, errno,
				"cannot take the program over");
		error_hint(err, "the engine starts programs through ptrace(2): kernel.yama.ptrace_scope must be "
				"below 3, and "
				"tare itself not traced");
		return give_up(pid);
	}
	release(arg);
	for (;;) {
		int status;
		uint32_t entry;
		if (waitpid(pid, &status, __WALL) < 0) {
			if (errno == EINTR)
				continue;
			error_set_errno(err, ERROR_SYSTEM, errno, "cannot wait for the program (wait4(2))");
			return give_up(pid);
		}
		if (!WIFSTOPPED(status))
			return SESSION_NOT_STARTED;
		if (status >> 16 == PTRACE_EVENT_EXEC && !check_program(pid, err))
			return give_up(pid);
		if (status >> 16 == PTRACE_EVENT_EXEC)
			return takeover_at_exec(&session->how, pid, RECORD_NONE, &entry, err) ? SESSION_TAKEN
											      : give_up(pid);
		takeover_pass(pid, status, PTRACE_CONT);
	}
}

struct record_session *injection_record(const struct injection *session) { return session->how.record; }

struct record_process *injection_process(const struct injection *session, uint32_t index)
{
	return &session->how.processes[index];
}

int injection_fd(const struct injection *session) { return session->how.fd; }

const void *injection_map(const struct injection *session, uint64_t offset, uint64_t bytes)
{
	if (offset % RECORD_PAGE || offset > session->file_bytes || bytes > session->file_bytes - offset ||
	    bytes == 0)
		return NULL;
	if (session->whole)
		return session->whole + offset;
	void *address = mmap(NULL, bytes, PROT_READ, MAP_SHARED, session->how.fd, (off_t)offset);
	return address == MAP_FAILED ? NULL : address;
}

void injection_unmap(const struct injection *session, const void *address, uint64_t bytes)
{
	if (address && !session->whole)
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

uint64_t *injection_copy_words(const struct injection *session, uint64_t offset, uint64_t most, uint64_t *words)
{
	int fd = session->how.fd;
	uint64_t end = most > (session->file_bytes - offset) / 8 ? session->file_bytes : offset + most * 8,
		 last = offset;
	*words = 0;
	if (offset > session->file_bytes)
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

void *session_copy(const struct injection *session, uint64_t offset, uint64_t bytes)
{
	if (bytes == 0 || offset > session->file_bytes || bytes > session->file_bytes - offset)
		return NULL;
	char *copy = calloc(1, bytes);
	bool whole = copy && bytes <= COPIED_AT_ONCE; /* holes read as zeros */
	if (copy && !(whole ? read_data(session->how.fd, offset, offset + bytes, copy)
			    : copy_data(session->how.fd, offset, offset + bytes, copy))) {
		free(copy);
		return NULL;
	}
	return copy;
}

void *injection_made(const struct injection *session, size_t *bytes)
{
	const struct record_process *first = &session->how.processes[0];
	*bytes = first->kept_bytes;
	return first->kept ? session_copy(session, first->kept, first->kept_bytes) : NULL;
}

/* FNV-1a, by words: not against those who mean harm. */
uint64_t injection_engine_sum(void)
{
	uint64_t sum = 0xcbf29ce484222325u, filled, word;
	uint32_t r[8] = {0};
	memcpy(&filled, engine_image + START_FILLED_AT, sizeof filled);
	if (filled > (size_t)(engine_image_end - engine_image))
		filled = (size_t)(engine_image_end - engine_image);
	for (uint64_t at = 0; at + 8 <= filled; at += 8) {
		memcpy(&word, engine_image + at, 8);
		sum = (sum ^ word) * 0x100000001b3u;
	}
	__cpuid_count(0, 0, r[0], r[1], r[2], r[3]); /* the vendor: sysenter */
	__cpuid_count(7, 0, r[4], r[5], r[6], r[7]); /* BMI2 */
	return (((sum ^ r[1]) * 0x100000001b3u) ^ r[5]) * 0x100000001b3u;
}

uint64_t session_data_bytes(const struct injection *session)
{
	struct stat st;
	return fstat(session->how.fd, &st) == 0 ? (uint64_t)st.st_blocks * 512 : 0;
}

void injection_hold(const struct injection *session)
{
	if ((*session->holds)++ == 0)
		lock_record(session, F_RDLCK);
}

void injection_let_go(const struct injection *session)
{
	if (--*session->holds == 0)
		lock_record(session, F_UNLCK);
}

void injection_free(struct injection *session)
{
	if (!session)
		return;
	struct record_session *record = session->how.record;
	for (size_t i = 0; i < session->n_own; i++)
		injection_free(session->own[i].session);
	free(session->own);
	if (session->own_socket >= 0)
		close(session->own_socket);
	if (session->how.own_socket >= 0)
		close(session->how.own_socket);
	if (session->attendant > 0) {
		record->attendant_pid = 0;
		for (uint32_t i = 0; i < record->process_count && i < RECORD_PROCESSES_MAX; i++)
			if (session->how.processes[i].ask == RECORD_ASK_EXEC)
				syscall(SYS_futex, &session->how.processes[i].ask, FUTEX_WAKE, 1, NULL, NULL, 0);
	}
	if (session->attendant > 0) {
		bool ends = end_process(session->attendant);
		while (ends && waitpid(session->attendant, NULL, 0) < 0 && errno == EINTR)
			continue;
	}
	bool own_table = record && (const unsigned char *)record != session->whole;
	if (session->whole)
		munmap((void *)session->whole, session->file_bytes);
	if (own_table)
		munmap(record, RECORD_SPACE_OFFSET);
	if (session->how.fd >= 0)
		close(session->how.fd);
	if (session->how.image_fd >= 0)
		close(session->how.image_fd);
	free(session->holds);
	free(session);
}

const char *injection_refuses(const char *path)
{
	Elf64_Ehdr head;
	const char *why = NULL;
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 && errno == EACCES) /* of such a process the kernel lets nobody but root see anything */
		return "its file may be executed, but not read";
	ssize_t got = fd >= 0 ? read(fd, &head, sizeof head) : -1;
	why = privileges_of_file(path, 0);
	if (!why && got == sizeof head && !memcmp(head.e_ident, ELFMAG, SELFMAG) && head.e_machine != EM_X86_64)
		why = "it is not an x86-64 program";
	if (!why && got == sizeof head && !memcmp(head.e_ident, ELFMAG, SELFMAG) &&
	    head.e_ident[EI_CLASS] != ELFCLASS64)
		why = "it is an x32 program";
	if (fd >= 0)
		close(fd);
	return why;
}
