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
	struct injection *session = arg;
	record_lock(session, F_WRLCK);
	fold_parts(session, session->fold, session->whole_blocks);
	record_lock(session, F_UNLCK);
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

const void *injection_fold_context(const struct injection *session) { return session->fold_context; }

/* In the attendant's maker. */
static bool share(void *arg, const struct takeover *how, const uint32_t *entries, size_t n, struct takeover *fresh)
{
	struct injection *session = arg;
	size_t bytes = 0;
	session->own_socket = -1; /* of this process's copy: the attendant has closed it */
	void *pieces = session->share(session, entries, n, &bytes);
	bool done = pieces && setup_renew(how, pieces, bytes, fresh);
	free(pieces);
	return done;
}

bool injection_new(const struct injection_options *options, struct injection **out, struct error *err)
{
	struct injection *session = calloc(1, sizeof *session);
	*out = NULL;
	if (!session || !(session->holds = calloc(1, sizeof *session->holds))) {
		free(session);
		return error_no_memory(err);
	}
	int sockets[2] = {-1, -1};
	session->own_socket = -1;
	session->how = (struct takeover){
		.fd = -1, .image_fd = -1, .own_socket = -1, .image_bytes = setup_image_bytes()};
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
	    !setup_image(session->how.image_fd)) {
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
	session->share = options ? options->share : NULL;
	session->answer = options ? options->answer : NULL;
	session->answer_context = options ? options->answer_context : NULL;
	session->whole_blocks = options && options->whole_blocks ? options->whole_blocks : WHOLE_BLOCKS;
	record->next_offset = RECORD_SPACE_OFFSET;
	if (options && !setup_options(session, options)) {
		error_set_errno(err, ERROR_SYSTEM, errno,
				"cannot write the machines, regions and translations into the engine's image");
		goto fail;
	}
	if (options && options->alone)
		record->flags &= ~(uint32_t)RECORD_FOLLOW;
	if (!setup_seal(session)) {
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
						.share = session->share ? share : NULL,
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
