/*
 * The runtime is put in by system calls that the stopped process makes for us ("borrowed"): its stack, then the
 * record and the image out of a descriptor each, which is closed again. The kernel has loaded the program, so
 * auxv, brk, vdso and /proc/self/exe are what they would be natively.
 *
 * What always holds:
 *  1. The borrowed calls run at the program's first instruction: two bytes of it are replaced by `syscall`
 *     meanwhile; the bytes, the registers and the signal mask are put back before the process runs anything else.
 *  2. No descriptor is left in the process.
 *  3. All blockable signals are held back meanwhile; a stop signal is passed on at the end.
 */
#include "engine/inject/takeover.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/test_option.h"
#include "engine/inject/descriptor.h"
#include "engine/inject/injection.h"
#include "engine/wire/start.h"
#include "engine/x86/encode.h"

#define STACK_BYTES (256u << 10)
#define MODULES_ROOM 4096u /* entries; sparse */

struct borrower {
	const struct takeover *how;
	pid_t pid;
	struct user_regs_struct regs; /* at the first user instruction */
	uint64_t words[2], at;        /* the program's own bytes there, from `at` on */
	bool two_words;
	uint64_t mask;              /* the program's */
	int stop_signal;            /* to be passed on at the end; 0 */
	bool ended;                 /* killed meanwhile */
	struct record_area modules; /* as fill_modules() left them */
};

void takeover_inexact(struct record_process *process, const char *format, ...)
{
	char text[sizeof process->reason];
	va_list args;
	uint32_t none = 0;
	va_start(args, format);
	vsnprintf(text, sizeof text, format, args);
	va_end(args);
	/* 2: being written; a reader takes any non-zero value as inexact */
	if (!__atomic_compare_exchange_n(&process->inexact, &none, 2, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
		return;
	memcpy(process->reason, text, sizeof text);
	__atomic_store_n(&process->inexact, 1, __ATOMIC_RELEASE);
}

void takeover_pass(pid_t pid, int status, int call)
{
	int event = status >> 16, signal = WSTOPSIG(status);
	if (event == PTRACE_EVENT_STOP && signal != SIGTRAP)
		ptrace(PTRACE_LISTEN, pid, NULL, NULL); /* a group-stop: until SIGCONT */
	else
		ptrace((enum __ptrace_request)call, pid, NULL,
		       (void *)(long)(event || signal == (SIGTRAP | 0x80) ? 0 : signal));
}

static bool lost(struct borrower *in, struct error *err, const char *what)
{
	return error_set_errno(err, ERROR_SYSTEM, errno, "cannot %s in process %d", what, (int)in->pid);
}

/* Lets it run to the next entry or exit of a system call. */
static bool next_call_stop(struct borrower *in, struct error *err)
{
	for (;;) {
		int status;
		if (ptrace(PTRACE_SYSCALL, in->pid, NULL, NULL))
			return lost(in, err, "continue");
		while (waitpid(in->pid, &status, __WALL) < 0)
			if (errno != EINTR)
				return lost(in, err, "wait");
		if (!WIFSTOPPED(status)) {
			in->ended = true;
			return false;
		}
		if (WSTOPSIG(status) == (SIGTRAP | 0x80))
			return true;
		if (!(status >> 16))
			in->stop_signal = WSTOPSIG(status);
	}
}

static bool poke_first(struct borrower *in, bool ours)
{
	uint8_t bytes[16];
	memcpy(bytes, in->words, sizeof bytes);
	if (ours) {
		uint8_t *first = bytes + (in->regs.rip - in->at);
		encode_syscall(&first);
	}
	for (int i = 0; i < (in->two_words ? 2 : 1); i++) {
		uint64_t word;
		memcpy(&word, bytes + 8 * i, 8);
		if (ptrace(PTRACE_POKETEXT, in->pid, (void *)(in->at + 8 * (unsigned)i), (void *)word))
			return false;
	}
	return true;
}

static bool borrow(struct borrower *in, struct error *err)
{
	in->at = in->regs.rip & ~7ull;
	in->two_words = (in->regs.rip & 7) == 7;
	for (int i = 0; i < (in->two_words ? 2 : 1); i++) {
		errno = 0;
		in->words[i] = (uint64_t)ptrace(PTRACE_PEEKTEXT, in->pid, (void *)(in->at + 8 * (unsigned)i),
						NULL);
		if (errno)
			return lost(in, err, "read the first instruction");
	}
	return poke_first(in, true) || lost(in, err, "borrow the first instruction");
}

/* One system call of the process; the kernel's result, or -EIO when the process was lost. */
static int64_t borrowed_call(struct borrower *in, long nr, uint64_t a, uint64_t b, uint64_t c, uint64_t d,
			     uint64_t e, uint64_t f)
{
	struct user_regs_struct r = in->regs;
	r.rax = (unsigned long)nr, r.orig_rax = (unsigned long)-1;
	r.rdi = a, r.rsi = b, r.rdx = c, r.r10 = d, r.r8 = e, r.r9 = f;
	if (ptrace(PTRACE_SETREGS, in->pid, NULL, &r) || !next_call_stop(in, NULL) || !next_call_stop(in, NULL) ||
	    ptrace(PTRACE_GETREGS, in->pid, NULL, &r))
		return -EIO;
	return (int64_t)r.rax;
}

/* By the call for it or, where a filter refuses that, by the process's file. */
static bool write_memory(struct borrower *in, uint64_t to, const void *bytes, size_t length)
{
	struct iovec local = {(void *)bytes, length}, remote = {(void *)to, length};
	char path[64];
	if (process_vm_writev(in->pid, &local, 1, &remote, 1, 0) == (ssize_t)length)
		return true;
	snprintf(path, sizeof path, "/proc/%d/mem", (int)in->pid);
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	bool done = fd >= 0 && pwrite(fd, bytes, length, (off_t)to) == (ssize_t)length;
	if (fd >= 0)
		close(fd);
	return done;
}

/* A number of /proc/pid/status; -1 when it is not there. */
static long status_number(pid_t pid, const char *field)
{
	char path[64], line[256];
	long number = -1;
	snprintf(path, sizeof path, "/proc/%d/status", (int)pid);
	FILE *file = fopen(path, "re");
	while (file && number < 0 && fgets(line, sizeof line, file))
		if (!strncmp(line, field, strlen(field)))
			number = strtol(line + strlen(field), NULL, 10);
	if (file)
		fclose(file);
	return number;
}

/* Is the process's descriptor that file of ours? A path may name another one where /proc is not ours. */
static bool is_same(struct borrower *in, int64_t fd, int ours_fd)
{
	char path[64];
	struct stat theirs, ours;
	snprintf(path, sizeof path, "/proc/%d/fd/%d", (int)in->pid, (int)fd);
	return fd >= 0 && stat(path, &theirs) == 0 && fstat(ours_fd, &ours) == 0 && theirs.st_dev == ours.st_dev &&
	       theirs.st_ino == ours.st_ino;
}

/* What the process needs in its memory to receive a descriptor; at the start of its new stack. */
struct receiving {
	struct sockaddr_un address;
	int pair[2];
	struct msghdr message;
	struct iovec vector;
	char byte;
	union {
		char room[CMSG_SPACE(sizeof(int))];
		struct cmsghdr align;
	} control;
};

static bool send_descriptor(int peer, int fd) { return descriptor_send(peer, "", 1, fd, MSG_DONTWAIT); }

/* Receives in the process what was sent to its socket; the descriptor there. */
static int64_t receive_descriptor(struct borrower *in, uint64_t scratch, int64_t theirs)
{
	struct receiving r = {0};
	int number;
	r.message.msg_iov = (void *)(scratch + offsetof(struct receiving, vector));
	r.message.msg_iovlen = 1;
	r.message.msg_control = (void *)(scratch + offsetof(struct receiving, control));
	r.message.msg_controllen = sizeof r.control.room;
	r.vector = (struct iovec){(void *)(scratch + offsetof(struct receiving, byte)), 1};
	if (!write_memory(in, scratch, &r, sizeof r))
		return -EIO;
	int64_t result = borrowed_call(in, SYS_recvmsg, (uint64_t)theirs,
				       scratch + offsetof(struct receiving, message), MSG_CMSG_CLOEXEC, 0, 0, 0);
	struct iovec local = {&r, sizeof r}, remote = {(void *)scratch, sizeof r};
	if (result < 0)
		return result;
	if (process_vm_readv(in->pid, &local, 1, &remote, 1, 0) != sizeof r ||
	    r.control.align.cmsg_type != SCM_RIGHTS || r.control.align.cmsg_len != CMSG_LEN(sizeof number))
		return -EMFILE; /* the message came without its descriptor: there is no room for one */
	memcpy(&number, CMSG_DATA(&r.control.align), sizeof number);
	return number;
}

static void close_theirs(struct borrower *in, int64_t fd)
{
	if (fd >= 0)
		borrowed_call(in, SYS_close, (uint64_t)fd, 0, 0, 0, 0, 0);
}

/* By a pair of sockets that the process makes; we take one end: it has no name, so that no namespace
 * cuts it and nobody else can be at its end. Linux 5.6. */
static int64_t by_pair(struct borrower *in, uint64_t scratch, int ours_fd)
{
	int pair[2], ours = -1;
	struct iovec local = {pair, sizeof pair},
		     remote = {(void *)(scratch + offsetof(struct receiving, pair)), sizeof pair};
	int64_t fd = borrowed_call(in, SYS_socketpair, AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0,
				   (uint64_t)remote.iov_base, 0, 0);
	if (fd < 0)
		return fd;
	if (process_vm_readv(in->pid, &local, 1, &remote, 1, 0) != sizeof pair)
		return -EIO;
	int process = (int)syscall(SYS_pidfd_open, in->pid, 0);
	if (process >= 0)
		ours = (int)syscall(SYS_pidfd_getfd, process, pair[0], 0);
	fd = ours < 0 ? -errno : 0;
	close_theirs(in, pair[0]);
	if (ours >= 0 && !send_descriptor(ours, ours_fd))
		fd = -errno;
	if (fd == 0)
		fd = receive_descriptor(in, scratch, pair[1]);
	close_theirs(in, pair[1]);
	if (ours >= 0)
		close(ours);
	if (process >= 0)
		close(process);
	return fd;
}

/* The connection that the process made, whoever else has found the socket's name. */
static int accept_from(int listening, pid_t pid)
{
	for (int tries = 0; tries < 2 * SOMAXCONN; tries++) {
		struct ucred peer;
		socklen_t length = sizeof peer;
		int fd = accept4(listening, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
		if (fd < 0)
			return -1;
		if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &length) == 0 && peer.pid == pid)
			return fd;
		close(fd);
	}
	return -1;
}

/* By a socket with a name, which works in a chroot and as another user, but not in another network namespace. */
static int64_t by_name(struct borrower *in, uint64_t scratch, int ours_fd)
{
	struct sockaddr_un any = {.sun_family = AF_UNIX}, address;
	socklen_t length = sizeof address;
	int64_t theirs = -1, fd = -EIO;
	int peer = -1, listening = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	/* bound to no name: the kernel picks an abstract one */
	if (listening < 0 || bind(listening, (struct sockaddr *)&any, sizeof any.sun_family) ||
	    listen(listening, SOMAXCONN) || getsockname(listening, (struct sockaddr *)&address, &length) ||
	    !write_memory(in, scratch + offsetof(struct receiving, address), &address, sizeof address))
		goto out;
	/* it must not wait behind other processes that fill the queue */
	theirs = borrowed_call(in, SYS_socket, AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, 0, 0, 0);
	fd = theirs < 0 ? theirs
			: borrowed_call(in, SYS_connect, (uint64_t)theirs,
					scratch + offsetof(struct receiving, address), length, 0, 0, 0);
	if (fd < 0)
		goto out;
	peer = accept_from(listening, in->pid);
	fd = peer >= 0 && send_descriptor(peer, ours_fd) ? receive_descriptor(in, scratch, theirs) : -EIO;
out:
	close_theirs(in, theirs);
	if (peer >= 0)
		close(peer);
	if (listening >= 0)
		close(listening);
	return fd;
}

/* A descriptor of ours in the process: by path where that leads there, else by sockets. The test option
 * TARE_HANDOVER names the one way to try. */
static int64_t hand_over(struct borrower *in, uint64_t scratch, int ours_fd, int mode)
{
	const char *only = test_option("TARE_HANDOVER");
	char path[64];
	int64_t fd = -EIO;
	if (!only || !strcmp(only, "path")) {
		int length = snprintf(path, sizeof path, "/proc/%d/fd/%d", (int)getpid(), ours_fd);
		if (!write_memory(in, scratch, path, (size_t)length + 1))
			return -errno;
		fd = borrowed_call(in, SYS_openat, (uint64_t)AT_FDCWD, scratch,
				   (uint64_t)(mode | O_CLOEXEC | O_NONBLOCK), 0, 0, 0);
		if (is_same(in, fd, ours_fd))
			return fd;
		close_theirs(in, fd);
	}
	if (!only || !strcmp(only, "pair"))
		fd = by_pair(in, scratch, ours_fd);
	if (fd < 0 && (!only || !strcmp(only, "name"))) {
		int64_t named = by_name(in, scratch, ours_fd);
		fd = named >= 0 || named != -ECONNREFUSED ? named : fd;
	}
	return fd;
}

/* What of the runtime's mappings the process was refused, and why. */
static const char *refusal(struct borrower *in, bool code, int64_t why)
{
	if (code && (why == -EACCES || why == -EPERM)) {
		if (borrowed_call(in, SYS_prctl, 66 /* PR_GET_MDWE */, 0, 0, 0, 0, 0) > 0)
			return " (PR_SET_MDWE is set: no memory may be writable and executable)";
		return " (no memory may be writable and executable here)";
	}
	return status_number(in->pid, "Seccomp:") > 0 ? " (it has a seccomp filter)" : "";
}

/* place: where it is wished to be, or 0 */
static int64_t map_file(struct borrower *in, uint64_t scratch, int ours_fd, int mode, uint64_t place,
			uint64_t bytes, uint64_t protection, uint64_t flags)
{
	int64_t fd = hand_over(in, scratch, ours_fd, mode);
	if (fd < 0)
		return fd;
	int64_t at = borrowed_call(in, SYS_mmap, place, bytes, protection, flags, (uint64_t)fd, 0);
	close_theirs(in, fd);
	return at;
}

/* Its number as the process itself sees it: the last of NSpid. */
static pid_t own_pid(pid_t pid)
{
	char path[64], line[256];
	long own = pid;
	snprintf(path, sizeof path, "/proc/%d/status", (int)pid);
	FILE *file = fopen(path, "re");
	while (file && fgets(line, sizeof line, file))
		if (!strncmp(line, "NSpid:", 6)) {
			char *last = strrchr(line, '\t');
			own = last ? strtol(last + 1, NULL, 10) : pid;
		}
	if (file)
		fclose(file);
	return (pid_t)own;
}

/* Executable mappings that are there at the start become the first modules. */
static void fill_modules(struct borrower *in, struct record_process *process)
{
	char path[64], line[4400];
	uint64_t bytes = (MODULES_ROOM * sizeof(struct record_module) + RECORD_PAGE - 1) &
			 ~(uint64_t)(RECORD_PAGE - 1);
	uint64_t offset = injection_reserve(in->how->record, bytes);
	if (!offset)
		return;
	struct record_module *modules = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, in->how->fd,
					     (off_t)offset);
	uint32_t count = 0;
	process->modules = in->modules = (struct record_area){.offset = offset, .bytes = bytes};
	if (modules == MAP_FAILED)
		return;
	snprintf(path, sizeof path, "/proc/%d/maps", (int)in->pid);
	FILE *file = fopen(path, "re");
	while (file && fgets(line, sizeof line, file) && count < MODULES_ROOM) {
		uint64_t low, high, file_offset;
		char mode[8];
		int name = 0;
		if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %7s %" SCNx64 " %*s %*s %n", &low, &high, mode,
			   &file_offset, &name) < 4)
			continue;
		if (mode[2] != 'x')
			continue;
		struct record_module *m = &modules[count++];
		*m = (struct record_module){.address = low, .length = high - low, .file_offset = file_offset};
		line[strcspn(line, "\n")] = 0;
		snprintf(m->path, sizeof m->path, "%.*s", (int)sizeof m->path - 1, name ? line + name : "");
	}
	if (file)
		fclose(file);
	munmap(modules, bytes);
	in->modules.count = count;
	__atomic_store_n(&process->modules.count, count, __ATOMIC_RELEASE);
}

/* Kernels differ in the vdso's size, by which the libraries lie elsewhere. What cannot be unmapped (sealed) stays:
 * the program is not told of it (runtime/os/served_start.c). */
static void unmap_vdso(struct borrower *in)
{
	char path[64], line[4400];
	struct {
		uint64_t low, high;
	} found[4];
	size_t n = 0;
	snprintf(path, sizeof path, "/proc/%d/maps", (int)in->pid);
	FILE *file = fopen(path, "re");
	while (file && n < sizeof found / sizeof *found && fgets(line, sizeof line, file))
		if ((strstr(line, "[vdso]") || strstr(line, "[vvar")) &&
		    sscanf(line, "%" SCNx64 "-%" SCNx64, &found[n].low, &found[n].high) == 2)
			n++;
	if (file)
		fclose(file);
	while (n--)
		borrowed_call(in, SYS_munmap, found[n].low, found[n].high - found[n].low, 0, 0, 0, 0);
}

static bool new_entry(struct borrower *in, uint32_t parent, uint32_t *entry, struct error *err)
{
	char path[64], exe[sizeof((struct record_process *)0)->path];
	uint32_t index = __atomic_fetch_add(&in->how->record->process_count, 1, __ATOMIC_ACQ_REL);
	if (index >= RECORD_PROCESSES_MAX) {
		__atomic_fetch_sub(&in->how->record->process_count, 1, __ATOMIC_ACQ_REL);
		return error_set(err, ERROR_LIMIT, "more than %u processes were started", RECORD_PROCESSES_MAX);
	}
	struct record_process *process = &in->how->processes[index];
	*process = (struct record_process){
		.state = RECORD_RESERVED, .pid = (uint32_t)own_pid(in->pid), .parent = parent};
	if (parent != RECORD_NONE) {
		memcpy(process->limits, in->how->processes[parent].limits, sizeof process->limits);
		process->clock_ns = in->how->processes[parent].clock_ns;
		process->chance = in->how->processes[parent].chance;
	}
	snprintf(path, sizeof path, "/proc/%d/exe", (int)in->pid);
	ssize_t length = readlink(path, exe, sizeof exe - 1);
	if (length > 0)
		memcpy(process->path, exe, (size_t)length);
	*entry = index;
	/* not before its successor is there to be seen: a look in between must not find all ended */
	if (parent != RECORD_NONE)
		__atomic_store_n(&in->how->processes[parent].state, RECORD_EXECED, __ATOMIC_RELEASE);
	return true;
}

/* Then each byte that the engine maps is one less for the program. */
static bool has_limited_memory(pid_t pid)
{
	static const int resources[] = {RLIMIT_AS, RLIMIT_DATA};
	struct rlimit limit;
	for (size_t i = 0; i < sizeof resources / sizeof *resources; i++)
		if (prlimit(pid, resources[i], NULL, &limit) != 0 || limit.rlim_cur != RLIM_INFINITY)
			return true;
	return false;
}

static bool map_and_start(struct borrower *in, uint32_t entry, struct error *err)
{
	const struct takeover *how = in->how;
	bool first = how->renewed && has_limited_memory(in->pid);
	uint64_t image_bytes = first ? how->first_bytes : how->image_bytes;
	struct start start = {.process = entry,
			      .image_bytes = image_bytes,
			      .stack_bytes = STACK_BYTES,
			      .pc = in->regs.rip,
			      .rsp = in->regs.rsp};
	if (how->served)
		unmap_vdso(in);
	int64_t stack = borrowed_call(in, SYS_mmap, START_STACK_PLACE, STACK_BYTES, PROT_READ | PROT_WRITE,
				      MAP_PRIVATE | MAP_ANONYMOUS, (uint64_t)-1, 0);
	if (stack < 0 && stack > -4096)
		return error_set_errno(err, ERROR_LIMIT, (int)-stack, "cannot map the engine's stack");
	int64_t record = map_file(in, (uint64_t)stack, how->fd, O_RDWR, START_RECORD_PLACE, RECORD_SPACE_OFFSET,
				  PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE);
	int64_t image = record < 0 ? record
				   : map_file(in, (uint64_t)stack, first ? how->first_fd : how->image_fd, O_RDONLY,
					      START_IMAGE_PLACE, image_bytes, PROT_READ | PROT_WRITE | PROT_EXEC,
					      MAP_PRIVATE);
	if (image < 0) {
		const char *more = refusal(in, record >= 0, image);
		borrowed_call(in, SYS_munmap, (uint64_t)stack, STACK_BYTES, 0, 0, 0, 0);
		if (record >= 0)
			borrowed_call(in, SYS_munmap, (uint64_t)record, RECORD_SPACE_OFFSET, 0, 0, 0, 0);
		return error_set_errno(err, ERROR_LIMIT, (int)-image, "cannot map the engine into the program%s",
				       more);
	}
	how->processes[entry].record_at = (uint64_t)record;
	start.setup = (uint64_t)image + (first ? how->first_setup : how->setup_offset);
	start.modules = in->modules;
	start.record = (uint64_t)record, start.image = (uint64_t)image, start.stack = (uint64_t)stack;
	uint64_t top = ((uint64_t)stack + STACK_BYTES - sizeof start) & ~63ull;
	if (!write_memory(in, top, &start, sizeof start))
		return lost(in, err, "write the engine's start");
	in->regs.rip = (uint64_t)image, in->regs.rdi = top, in->regs.rsp = top;
	return true;
}

static bool inject(struct borrower *in, struct record_process *process, uint32_t entry, struct error *err)
{
	uint64_t all = ~0ull;
	bool done = false;
	pid_t pid = in->pid;
	/* the stop at the exec is inside the execve; the registers are the new program's at its end */
	if (!next_call_stop(in, err))
		return false;
	if (ptrace(PTRACE_GETREGS, pid, NULL, &in->regs))
		return lost(in, err, "read the registers");
	if (in->regs.cs != 0x33)
		return error_set(err, ERROR_UNSUPPORTED, "'%s' is a 32-bit program", process->path);
	fill_modules(in, process);
	in->regs.orig_rax = (unsigned long)-1;
	struct user_regs_struct own = in->regs;
	if (ptrace(PTRACE_GETSIGMASK, pid, (void *)sizeof in->mask, &in->mask) ||
	    ptrace(PTRACE_SETSIGMASK, pid, (void *)sizeof all, &all))
		return lost(in, err, "hold signals back");
	if (borrow(in, err)) {
		done = map_and_start(in, entry, err);
		if (!poke_first(in, false))
			done = lost(in, err, "give the first instruction back");
	}
	if (ptrace(PTRACE_SETREGS, pid, NULL, done ? &in->regs : &own) ||
	    ptrace(PTRACE_SETSIGMASK, pid, (void *)sizeof in->mask, &in->mask))
		done = lost(in, err, "set the registers");
	if (done && ptrace(PTRACE_DETACH, pid, NULL, (void *)(long)in->stop_signal))
		done = lost(in, err, "let go");
	return done;
}

bool takeover_at_exec(const struct takeover *how, pid_t pid, uint32_t parent, uint32_t *entry, struct error *err)
{
	struct borrower in = {.how = how, .pid = pid};
	int status;
	*entry = RECORD_NONE;
	if (!new_entry(&in, parent, entry, err))
		return false;
	if (inject(&in, &how->processes[*entry], *entry, err))
		return true;
	/* a signal may end it at any moment; then no call on it works any more, and that is not a fault */
	if (in.ended || (waitpid(pid, &status, __WALL | WNOHANG) == pid && !WIFSTOPPED(status)))
		error_set(err, ERROR_NOT_FOUND, "process %d ended while the engine was put into it", (int)pid);
	return false;
}
