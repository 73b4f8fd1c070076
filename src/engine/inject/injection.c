#include "engine/inject/injection.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <linux/futex.h>
#include <time.h>
#include <unistd.h>

#include "base/end_process.h"
#include "engine/inject/attendant.h"
#include "engine/inject/fold.h"
#include "engine/inject/injection_internal.h"
#include "engine/inject/own.h"
#include "engine/inject/privileges.h"
#include "engine/wire/called.h"
#include "engine/wire/calls.h"
#include "engine/wire/question.h"

/* A file-size limit counts for memory files too, and going beyond it is a signal. */
static uint64_t largest_file(void)
{
	struct rlimit limit;
	if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur < RECORD_FILE_BYTES)
		return (uint64_t)limit.rlim_cur & ~(uint64_t)(RECORD_PAGE - 1);
	return RECORD_FILE_BYTES;
}

static void fold(void *arg)
{
	struct injection *injection = arg;
	record_lock(injection, F_WRLCK);
	fold_parts(injection, injection->fold, injection->whole_blocks);
	record_lock(injection, F_UNLCK);
}

/* The path of a module of a process's call graph; false: there is none. */
static bool called_module(const struct injection *injection, const struct record_process *process, uint32_t number,
			  char path[256])
{
	struct record_calls head;
	struct record_module module;
	off_t at = (off_t)process->calls;
	if (!at || pread(injection->how.fd, &head, sizeof head, at) != sizeof head || number >= head.n_modules ||
	    number >= RECORD_CALL_MODULES || head.modules > RECORD_FILE_BYTES)
		return false;
	at += (off_t)(head.modules + number * sizeof module);
	if (pread(injection->how.fd, &module, sizeof module, at) != sizeof module)
		return false;
	memcpy(path, module.path, sizeof module.path);
	path[sizeof module.path] = '\0';
	return path[0] != '\0';
}

/* In the attendant. */
static void find_functions(void *arg, uint32_t index)
{
	struct injection *injection = arg;
	struct record_process *process = &injection->how.processes[index];
	struct record_function *all = NULL;
	char path[256];
	size_t n = 0;
	process->functions = 0;
	if (!injection->functions || !called_module(injection, process, process->ask_module, path) ||
	    !injection->functions(injection->functions_context, path, &all, &n))
		return;
	struct record_functions head = {.n = n};
	uint64_t bytes = sizeof head + n * sizeof *all, offset = injection_reserve(injection->how.record, bytes);
	if (offset && pwrite(injection->how.fd, &head, sizeof head, (off_t)offset) == sizeof head &&
	    pwrite(injection->how.fd, all, n * sizeof *all, (off_t)(offset + sizeof head)) ==
		    (ssize_t)(n * sizeof *all)) {
		process->functions_bytes = bytes;
		process->functions = offset;
	}
	free(all);
}

/* Likewise, of a module of the record of calls. */
static void find_caller(void *arg, uint32_t index)
{
	struct injection *injection = arg;
	struct record_process *process = &injection->how.processes[index];
	struct record_called head;
	struct record_module module;
	struct record_caller rule = {0};
	char path[sizeof module.path + 1];
	off_t at = (off_t)process->called;
	uint32_t number = process->ask_module;
	if (!at || at > (off_t)RECORD_FILE_BYTES ||
	    pread(injection->how.fd, &head, sizeof head, at) != sizeof head || number >= head.n_modules ||
	    number >= RECORD_CALLED_MODULES || head.modules > RECORD_FILE_BYTES)
		return;
	at += (off_t)(head.modules + number * sizeof module);
	if (pread(injection->how.fd, &module, sizeof module, at) != sizeof module)
		return;
	memcpy(path, module.path, sizeof module.path);
	path[sizeof module.path] = '\0';
	if (path[0] && injection->caller(injection->caller_context, path, process->ask_offset, &rule))
		memcpy(process->caller, &rule, sizeof rule);
}

static void answer(void *arg, uint32_t index)
{
	struct injection *injection = arg;
	uint64_t offset = injection->how.processes[index].question;
	struct question *question = injection_copy(injection, offset, sizeof *question);
	if (!question || question->bytes != sizeof *question || question->n > QUESTION_EVENTS) {
		free(question);
		return;
	}
	injection->own_socket = -1; /* of this process's copy: the attendant has closed it */
	injection->answer(injection->answer_context, injection, index, question);
	question->answered = 1;
	if (pwrite(injection->how.fd, question, sizeof *question, (off_t)offset) != (ssize_t)sizeof *question)
		question->answered = 0; /* as the record's copy says */
	free(question);
}

const void *injection_fold_context(const struct injection *injection) { return injection->fold_context; }

/* In the attendant's maker. */
static bool share(void *arg, const struct takeover *how, const uint32_t *entries, size_t n, struct takeover *fresh)
{
	struct injection *injection = arg;
	size_t bytes = 0;
	injection->own_socket = -1; /* of this process's copy: the attendant has closed it */
	void *pieces = injection->share(injection, entries, n, &bytes);
	bool done = pieces && setup_renew(how, pieces, bytes, fresh);
	free(pieces);
	return done;
}

bool injection_new(const struct injection_options *options, struct injection **out, struct error *err)
{
	struct injection *injection = calloc(1, sizeof *injection);
	*out = NULL;
	if (!injection || !(injection->holds = calloc(1, sizeof *injection->holds))) {
		free(injection);
		return error_no_memory(err);
	}
	int sockets[2] = {-1, -1};
	injection->own_socket = -1;
	injection->how = (struct takeover){
		.fd = -1, .image_fd = -1, .own_socket = -1, .image_bytes = setup_image_bytes()};
	injection->file_bytes = largest_file();
	injection->how.fd = memory_file("tare-record");
	injection->how.image_fd = memory_file("tare-engine");
	if (injection->how.fd < 0 || injection->how.image_fd < 0) {
		error_set_errno(err, ERROR_SYSTEM, errno, "cannot create the engine's record (memfd_create(2))");
		goto fail;
	}
	if (injection->file_bytes < (1u << 30)) {
		error_set(err, ERROR_LIMIT,
			  "the limit on file sizes (ulimit -f) is too small for the engine's record");
		error_hint(err, "run 'ulimit -f unlimited'");
		goto fail;
	}
	if (ftruncate(injection->how.fd, (off_t)injection->file_bytes)) {
		error_set_errno(err, ERROR_SYSTEM, errno, "cannot size the engine's record (ftruncate(2))");
		goto fail;
	}
	if (lseek(injection->how.fd, 0, SEEK_DATA) < 0 && errno != ENXIO) {
		error_set_errno(err, ERROR_SYSTEM, errno, "cannot search the engine's record for data (lseek(2))");
		goto fail;
	}
	/* whoever gets hold of the file may write to it, but not take pages from under those who have it mapped */
	fcntl(injection->how.fd, F_ADD_SEALS, F_SEAL_GROW | F_SEAL_SHRINK | F_SEAL_SEAL);
	if (ftruncate(injection->how.image_fd, (off_t)injection->how.image_bytes) ||
	    !setup_image(injection->how.image_fd)) {
		error_set_errno(err, ERROR_SYSTEM, errno, "cannot make the engine's image (pwrite(2))");
		goto fail;
	}
	void *memory = mmap(NULL, RECORD_SPACE_OFFSET, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE,
			    injection->how.fd, 0);
	if (memory == MAP_FAILED) {
		error_set_errno(err, ERROR_LIMIT, errno, "cannot map the engine's record");
		goto fail;
	}
	struct record_head *record = memory;
	injection->how.record = record;
	injection->how.processes = (struct record_process *)((char *)memory + RECORD_PROCESSES_OFFSET);
	record->magic = RECORD_MAGIC;
	if (getrandom(&record->token, sizeof record->token, GRND_NONBLOCK) != sizeof record->token)
		record->token = (uint64_t)time(NULL) << 32 | (uint64_t)getpid();
	record->flags = RECORD_FOLLOW;
	record->cache_bytes = options ? options->cache_bytes : 0;
	record->blocks_most = options ? options->blocks_most : 0;
	record->served = injection->how.served = options ? options->served : 0;
	injection->fold = options ? options->fold : NULL;
	injection->fold_context = options ? options->fold_context : NULL;
	injection->functions = options ? options->functions : NULL;
	injection->functions_context = options ? options->functions_context : NULL;
	injection->caller = options ? options->caller : NULL;
	injection->caller_context = options ? options->caller_context : NULL;
	injection->share = options ? options->share : NULL;
	injection->answer = options ? options->answer : NULL;
	injection->answer_context = options ? options->answer_context : NULL;
	injection->whole_blocks = options && options->whole_blocks ? options->whole_blocks : WHOLE_BLOCKS;
	record->next_offset = RECORD_SPACE_OFFSET;
	if (options && !setup_options(injection, options)) {
		error_set_errno(err, ERROR_SYSTEM, errno,
				"cannot write the machines, regions and translations into the engine's image");
		goto fail;
	}
	if (options && options->alone)
		record->flags &= ~(uint32_t)RECORD_FOLLOW;
	if (!setup_seal(injection)) {
		error_set_errno(err, ERROR_SYSTEM, errno, "cannot seal the engine's image (fcntl(2))");
		goto fail;
	}
	void *whole = mmap(NULL, injection->file_bytes, PROT_READ, MAP_SHARED | MAP_NORESERVE, injection->how.fd,
			   0);
	injection->whole = whole == MAP_FAILED ? NULL : whole;
	if (options && options->alone) {
		*out = injection;
		return true;
	}
	if (!own_sockets(sockets)) {
		error_set_errno(err, ERROR_SYSTEM, errno, "cannot make the attendant's sockets");
		goto fail;
	}
	injection->how.own_socket = sockets[0], injection->own_socket = sockets[1];
	const struct attendant_duties duties = {.fold = injection->fold ? fold : NULL,
						.functions = find_functions,
						.caller = injection->caller ? find_caller : NULL,
						.answer = injection->answer ? answer : NULL,
						.share = injection->share ? share : NULL,
						.arg = injection};
	injection->attendant = attendant_start(&injection->how, &duties);
	if (injection->attendant < 0) {
		error_set_errno(err, ERROR_SYSTEM, errno, "cannot start the engine's attendant");
		goto fail;
	}
	record->attendant_pid = (uint32_t)injection->attendant;
	close(injection->how.own_socket); /* its end */
	injection->how.own_socket = -1;
	*out = injection;
	return true;
fail:
	injection_free(injection);
	return false;
}

static enum injection_taken give_up(pid_t pid)
{
	int status;
	if (!end_process(pid))
		return INJECTION_FAILED;
	while (waitpid(pid, &status, __WALL) >= 0 ? !WIFEXITED(status) && !WIFSIGNALED(status) : errno == EINTR)
		continue;
	return INJECTION_FAILED;
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

enum injection_taken injection_take(struct injection *injection, pid_t pid, void (*release)(void *), void *arg,
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
			return INJECTION_NOT_STARTED;
		if (status >> 16 == PTRACE_EVENT_EXEC && !check_program(pid, err))
			return give_up(pid);
		if (status >> 16 == PTRACE_EVENT_EXEC)
			return takeover_at_exec(&injection->how, pid, RECORD_NONE, &entry, err) ? INJECTION_TAKEN
												: give_up(pid);
		takeover_pass(pid, status, PTRACE_CONT);
	}
}

void injection_free(struct injection *injection)
{
	if (!injection)
		return;
	struct record_head *record = injection->how.record;
	for (size_t i = 0; i < injection->n_own; i++)
		injection_free(injection->own[i].injection);
	free(injection->own);
	if (injection->own_socket >= 0)
		close(injection->own_socket);
	if (injection->how.own_socket >= 0)
		close(injection->how.own_socket);
	if (injection->attendant > 0) {
		record->attendant_pid = 0;
		for (uint32_t i = 0; i < record->process_count && i < RECORD_PROCESSES_MAX; i++)
			if (injection->how.processes[i].ask == RECORD_ASK_EXEC)
				syscall(SYS_futex, &injection->how.processes[i].ask, FUTEX_WAKE, 1, NULL, NULL, 0);
	}
	if (injection->attendant > 0) {
		bool ends = end_process(injection->attendant);
		while (ends && waitpid(injection->attendant, NULL, 0) < 0 && errno == EINTR)
			continue;
	}
	bool own_table = record && (const unsigned char *)record != injection->whole;
	if (injection->whole)
		munmap((void *)injection->whole, injection->file_bytes);
	if (own_table)
		munmap(record, RECORD_SPACE_OFFSET);
	if (injection->how.fd >= 0)
		close(injection->how.fd);
	if (injection->how.image_fd >= 0)
		close(injection->how.image_fd);
	free(injection->holds);
	free(injection);
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
