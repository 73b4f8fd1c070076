/* fact: what a system call gives back is written into a page whose code has run, and the call is made once
 * libs: -lrt
 *
 * Each fact has a page of its own, writable and executable, whose code runs just before the call; the result lies in the same page.
 */
#include "trap.h"
#include <linux/aio_abi.h>
#include <linux/futex.h>
#include <mqueue.h>
#include <poll.h>
#include <sched.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <sys/ioctl.h>
#include <sys/msg.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/sendfile.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <sys/time.h>
#include <sys/times.h>
#include <sys/uio.h>
#include <sys/un.h>

#define OUTPUT 1024

/* A page whose code has just run; results go to OUTPUT and behind. */
static char *hot(void)
{
	char *page = map_anywhere(8192, PROT_READ | PROT_WRITE | PROT_EXEC); /* the second half keeps pages apart */
	mprotect(page + 4096, 4096, PROT_NONE);
	write_return(page, 7);
	memset(page + OUTPUT, 0x55, 2048);
	if (call_code(page) != 7)
		_exit(96);
	return page + OUTPUT;
}

static pid_t ended_child(void)
{
	pid_t child = fork();
	if (child == 0)
		_exit(9);
	siginfo_t info;
	if (child < 0 || syscall(SYS_waitid, P_PID, child, &info, WEXITED | WNOWAIT, NULL)) /* it has ended, and is still there */
		_exit(95);
	return child;
}

static void waiting(void)
{
	pid_t child = ended_child();
	int *status = (int *)hot();
	fact(wait4(child, status, 0, NULL) == child && WIFEXITED(*status) && WEXITSTATUS(*status) == 9, "wait4: the status");
	child = ended_child();
	struct rusage *usage = (struct rusage *)hot();
	usage->ru_maxrss = -1;
	fact(wait4(child, NULL, 0, usage) == child && usage->ru_maxrss > 0, "wait4: the resources");
	child = ended_child();
	siginfo_t *info = (siginfo_t *)hot();
	fact(waitid(P_PID, (id_t)child, info, WEXITED) == 0 && info->si_pid == child && info->si_status == 9, "waitid: what happened");
	child = ended_child();
	usage = (struct rusage *)hot();
	usage->ru_maxrss = -1;
	fact(syscall(SYS_waitid, P_PID, child, NULL, WEXITED, usage) == 0 && usage->ru_maxrss > 0, "waitid: the resources");
}

static void sockets(void)
{
	int pair[2], *made = (int *)hot();
	fact(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, made) == 0 && fcntl(made[0], F_GETFD) >= 0 && fcntl(made[1], F_GETFD) >= 0, "socketpair");
	pair[0] = made[0], pair[1] = made[1];

	char *out = hot();
	send(pair[1], "hello", 5, 0);
	struct iovec vector = { out, 16 };
	struct msghdr message = { .msg_iov = &vector, .msg_iovlen = 1 };
	fact(recvmsg(pair[0], &message, MSG_DONTWAIT) == 5 && !memcmp(out, "hello", 5), "recvmsg: the bytes");

	struct msghdr *header = (struct msghdr *)hot();
	char bytes[16] = "";
	vector = (struct iovec){ bytes, 16 };
	*header = (struct msghdr){ .msg_iov = &vector, .msg_iovlen = 1, .msg_flags = 77 };
	call_code((char *)header - OUTPUT);
	send(pair[1], "again", 5, 0);
	fact(recvmsg(pair[0], header, MSG_DONTWAIT) == 5 && !memcmp(bytes, "again", 5) && header->msg_flags != 77, "recvmsg: its header");

	union { struct cmsghdr head; char room[64]; } *control = (void *)hot(), give = { 0 };
	int given = 1;
	struct msghdr handing = { .msg_iov = &vector, .msg_iovlen = 1, .msg_control = &give, .msg_controllen = CMSG_SPACE(sizeof given) };
	give.head = (struct cmsghdr){ .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS, .cmsg_len = CMSG_LEN(sizeof given) };
	memcpy(CMSG_DATA(&give.head), &given, sizeof given);
	sendmsg(pair[1], &handing, 0);
	message = (struct msghdr){ .msg_iov = &vector, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof *control };
	call_code((char *)control - OUTPUT);
	fact(recvmsg(pair[0], &message, MSG_DONTWAIT) > 0 && message.msg_controllen >= CMSG_LEN(sizeof given) &&
	     control->head.cmsg_type == SCM_RIGHTS, "recvmsg: a descriptor");

	struct mmsghdr *several = (struct mmsghdr *)hot();
	char two[2][8] = { "", "" };
	struct iovec each[2] = { { two[0], 8 }, { two[1], 8 } };
	for (int i = 0; i < 2; i++)
		several[i] = (struct mmsghdr){ .msg_hdr = { .msg_iov = &each[i], .msg_iovlen = 1 } };
	call_code((char *)several - OUTPUT);
	send(pair[1], "one", 3, 0);
	send(pair[1], "three", 5, 0);
	fact(recvmmsg(pair[0], several, 2, MSG_DONTWAIT, NULL) == 2 && several[0].msg_len == 3 && several[1].msg_len == 5 &&
	     !memcmp(two[0], "one", 3) && !memcmp(two[1], "three", 5), "recvmmsg: the lengths");
	out = hot();
	each[1] = (struct iovec){ out, 8 };
	struct mmsghdr outside[2] = { { .msg_hdr = { .msg_iov = &each[0], .msg_iovlen = 1 } }, { .msg_hdr = { .msg_iov = &each[1], .msg_iovlen = 1 } } };
	send(pair[1], "one", 3, 0);
	send(pair[1], "three", 5, 0);
	fact(recvmmsg(pair[0], outside, 2, MSG_DONTWAIT, NULL) == 2 && !memcmp(out, "three", 5), "recvmmsg: the bytes of the second");
	several = (struct mmsghdr *)hot();
	for (int i = 0; i < 2; i++)
		several[i] = (struct mmsghdr){ .msg_hdr = { .msg_iov = &each[0], .msg_iovlen = 1 } };
	call_code((char *)several - OUTPUT);
	fact(sendmmsg(pair[1], several, 2, 0) == 2 && several[0].msg_len == 8 && recv(pair[0], bytes, 16, MSG_DONTWAIT) == 8 &&
	     recv(pair[0], bytes, 16, MSG_DONTWAIT) == 8 && recv(pair[0], bytes, 16, MSG_DONTWAIT) < 0, "sendmmsg: the lengths, each sent once");

	int listening = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0);
	struct sockaddr_un any = { .sun_family = AF_UNIX }, *peer;
	socklen_t length = sizeof any;
	if (bind(listening, (void *)&any, sizeof(sa_family_t)) || getsockname(listening, (void *)&any, &length) || listen(listening, 4))
		_exit(94);
	for (int i = 0; i < 3; i++) {
		int client = socket(AF_UNIX, SOCK_STREAM, 0);
		if (bind(client, (void *)&any, sizeof(sa_family_t)) || connect(client, (void *)&any, length))
			_exit(93);
	}
	socklen_t room = sizeof *peer, *room_at;
	peer = (struct sockaddr_un *)hot();
	fact(accept(listening, (void *)peer, &room) >= 0 && peer->sun_family == AF_UNIX && room == length, "accept: the peer's address");
	peer = (struct sockaddr_un *)hot();
	room = sizeof *peer;
	fact(accept4(listening, (void *)peer, &room, 0) >= 0 && peer->sun_family == AF_UNIX, "accept4: the peer's address");
	room_at = (socklen_t *)hot();
	*room_at = sizeof any;
	call_code((char *)room_at - OUTPUT);
	fact(accept(listening, (void *)&any, room_at) >= 0 && *room_at == length, "accept: the address's length");
	peer = (struct sockaddr_un *)hot();
	room = sizeof *peer;
	fact(getsockname(listening, (void *)peer, &room) == 0 && peer->sun_family == AF_UNIX, "getsockname");
}

static void queues(void)
{
	struct { long type; char text[16]; } sent = { 3, "message" }, *got = (void *)hot();
	int queue = msgget(IPC_PRIVATE, 0600);
	if (queue < 0)
		_exit(92);
	msgsnd(queue, &sent, 8, 0);
	fact(msgrcv(queue, got, 16, 0, IPC_NOWAIT) == 8 && got->type == 3 && !strcmp(got->text, "message"), "msgrcv");
	msgctl(queue, IPC_RMID, NULL);
	char name[64], *out = hot();
	snprintf(name, sizeof name, "/tare-trap-%d", (int)getpid());
	struct mq_attr attributes = { .mq_maxmsg = 2, .mq_msgsize = 16 };
	mqd_t posix = mq_open(name, O_CREAT | O_RDWR | O_NONBLOCK, 0600, &attributes);
	if (posix == (mqd_t)-1) {
		fact(true, "mq_receive");
		return;
	}
	mq_unlink(name);
	mq_send(posix, "posix", 5, 1);
	fact(mq_receive(posix, out, 16, NULL) == 5 && !memcmp(out, "posix", 5), "mq_receive");
}

static void descriptors(void)
{
	int *ends = (int *)hot(), pair[2];
	fact(pipe2(ends, O_NONBLOCK) == 0 && fcntl(ends[0], F_GETFD) >= 0 && fcntl(ends[1], F_GETFD) >= 0, "pipe2");
	pair[0] = ends[0], pair[1] = ends[1];
	if (write(pair[1], "abcdefghijklmnop", 16) != 16)
		_exit(91);
	char cold[4], *out = hot();
	struct iovec two[2] = { { cold, 4 }, { out, 4 } };
	fact(readv(pair[0], two, 2) == 8 && !memcmp(cold, "abcd", 4) && !memcmp(out, "efgh", 4), "readv: the second part");
	out = hot();
	fact(read(pair[0], out, 4) == 4 && !memcmp(out, "ijkl", 4), "read");
	int *left = (int *)hot();
	fact(ioctl(pair[0], FIONREAD, left) == 0 && *left == 4, "ioctl: FIONREAD");
	struct pollfd *polled = (struct pollfd *)hot();
	*polled = (struct pollfd){ .fd = pair[0], .events = POLLIN };
	call_code((char *)polled - OUTPUT);
	fact(poll(polled, 1, 0) == 1 && polled->revents == POLLIN, "poll");
	fd_set *set = (fd_set *)hot();
	FD_ZERO(set);
	FD_SET(pair[0], set);
	FD_SET(pair[1], set);
	call_code((char *)set - OUTPUT);
	fact(select(pair[1] + 1, set, NULL, NULL, &(struct timeval){ 0 }) == 1 && FD_ISSET(pair[0], set) && !FD_ISSET(pair[1], set), "select");

	int counter = eventfd(5, EFD_NONBLOCK), all = epoll_create1(0);
	struct epoll_event *event = (struct epoll_event *)hot(), wanted = { .events = EPOLLIN | EPOLLONESHOT, .data.u64 = 77 };
	epoll_ctl(all, EPOLL_CTL_ADD, counter, &wanted);
	fact(epoll_wait(all, event, 1, 0) == 1 && event->data.u64 == 77, "epoll_wait, one shot");
	uint64_t *value = (uint64_t *)hot();
	fact(read(counter, value, 8) == 8 && *value == 5, "an eventfd");

	sigset_t blocked;
	sigemptyset(&blocked);
	sigaddset(&blocked, SIGUSR1);
	sigprocmask(SIG_BLOCK, &blocked, NULL);
	int signals = signalfd(-1, &blocked, SFD_NONBLOCK);
	struct signalfd_siginfo *read_info = (struct signalfd_siginfo *)hot();
	raise(SIGUSR1);
	fact(read(signals, read_info, sizeof *read_info) == sizeof *read_info && read_info->ssi_signo == SIGUSR1, "a signalfd");
	siginfo_t *info = (siginfo_t *)hot();
	raise(SIGUSR1);
	fact(sigtimedwait(&blocked, info, &(struct timespec){ 0 }) == SIGUSR1 && info->si_signo == SIGUSR1 && info->si_pid == getpid(),
	     "sigtimedwait");

	int watch = inotify_init1(IN_NONBLOCK);
	struct inotify_event *seen = (struct inotify_event *)hot();
	inotify_add_watch(watch, "/dev/null", IN_OPEN);
	close(open("/dev/null", O_RDONLY));
	fact(read(watch, seen, 64) >= (long)sizeof *seen && seen->mask == IN_OPEN, "an inotify event");

	int file = memfd_create("file", 0);
	if (write(file, "0123456789", 10) != 10)
		_exit(90);
	loff_t *at = (loff_t *)hot();
	*at = 3;
	call_code((char *)at - OUTPUT);
	fact(sendfile(pair[1], file, at, 4) == 4 && *at == 7, "sendfile: the offset");
	at = (loff_t *)hot();
	*at = 1;
	call_code((char *)at - OUTPUT);
	fact(splice(file, at, pair[1], NULL, 2, 0) == 2 && *at == 3, "splice: the offset");
	out = hot();
	struct iovec mine = { out, 4 }, from = { cold, 4 };
	fact(process_vm_readv(getpid(), &mine, 1, &from, 1, 0) == 4 && !memcmp(out, "abcd", 4), "process_vm_readv");
	out = hot();
	fact(vmsplice(pair[0], &(struct iovec){ out, 4 }, 1, SPLICE_F_NONBLOCK) == 4 && !memcmp(out, "mnop", 4), "vmsplice: into memory");
	struct flock *lock = (struct flock *)hot();
	*lock = (struct flock){ .l_type = F_WRLCK, .l_whence = SEEK_SET };
	call_code((char *)lock - OUTPUT);
	fact(fcntl(file, F_GETLK, lock) == 0 && lock->l_type == F_UNLCK, "fcntl: F_GETLK");
}

static void times_left(void)
{
	struct itimerval hour = { .it_value = { 3600, 0 } }, two_hours = { .it_value = { 7200, 0 } }, *old = (struct itimerval *)hot();
	setitimer(ITIMER_REAL, &hour, NULL);
	fact(setitimer(ITIMER_REAL, &two_hours, old) == 0 && old->it_value.tv_sec >= 3500 && old->it_value.tv_sec <= 3600, "setitimer: the old value");
	setitimer(ITIMER_REAL, &(struct itimerval){ 0 }, NULL);
	int *made = (int *)hot();
	fact(syscall(SYS_timer_create, CLOCK_MONOTONIC, NULL, made) == 0 && *made != 0x55555555, "timer_create");
	struct itimerspec soon = { .it_value = { 3600, 0 } }, later = { .it_value = { 7200, 0 } }, *before = (struct itimerspec *)hot();
	syscall(SYS_timer_settime, *made, 0, &soon, NULL);
	fact(syscall(SYS_timer_settime, *made, 0, &later, before) == 0 && before->it_value.tv_sec >= 3500 && before->it_value.tv_sec <= 3600,
	     "timer_settime: the old value");
	int descriptor = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK);
	timerfd_settime(descriptor, 0, &soon, NULL);
	before = (struct itimerspec *)hot();
	fact(timerfd_settime(descriptor, 0, &later, before) == 0 && before->it_value.tv_sec >= 3500 && before->it_value.tv_sec <= 3600,
	     "timerfd_settime: the old value");
	struct timespec *now = (struct timespec *)hot();
	now->tv_sec = -1;
	fact(syscall(SYS_clock_gettime, CLOCK_MONOTONIC, now) == 0 && now->tv_sec >= 0, "clock_gettime");
	struct tms *used = (struct tms *)hot();
	used->tms_cutime = -1;
	fact(times(used) != -1 && used->tms_cutime >= 0, "times");
	struct rlimit *limit = (struct rlimit *)hot();
	fact(prlimit(0, RLIMIT_CORE, NULL, limit) == 0 && limit->rlim_cur == 0, "prlimit");
}

static void nothing(int signal, siginfo_t *info, void *context)
{
	(void)signal, (void)info, (void)context;
}

static void own_values(void)
{
	struct sigaction *old = (struct sigaction *)hot(), fresh = { .sa_handler = SIG_IGN };
	on_signal(SIGUSR2, nothing, SA_NODEFER);
	fact(sigaction(SIGUSR2, NULL, old) == 0, "sigaction succeeds");
	fact(old->sa_sigaction == nothing && old->sa_flags & SA_NODEFER, "and gives the program's own handler");
	struct { void *handler; unsigned long flags; void *restorer; uint64_t mask; } *raw = (void *)hot();
	fact(syscall(SYS_rt_sigaction, SIGUSR2, &fresh, raw, 8) != 0 || raw->handler == (void *)nothing, "rt_sigaction that sets one gives the program's own");
	uint64_t *mask = (uint64_t *)hot();
	sigset_t one;
	sigemptyset(&one);
	sigaddset(&one, SIGUSR1);
	sigaddset(&one, SIGSEGV);
	sigprocmask(SIG_SETMASK, &one, NULL);
	call_code((char *)mask - OUTPUT);
	fact(syscall(SYS_rt_sigprocmask, SIG_BLOCK, NULL, mask, 8) == 0 && *mask == (1ull << (SIGUSR1 - 1) | 1ull << (SIGSEGV - 1)), "rt_sigprocmask gives the program's mask");
	sigemptyset(&one);
	sigprocmask(SIG_SETMASK, &one, NULL);
	stack_t *stack = (stack_t *)hot();
	fact(sigaltstack(NULL, stack) == 0 && stack->ss_flags == SS_DISABLE && stack->ss_size == 0, "sigaltstack gives the program's, which has none");
	uint64_t *base = (uint64_t *)hot(), expected = 0;
	fact(syscall(SYS_arch_prctl, 0x1004, base) == 0 && *base == 0, "arch_prctl: the program's gs base, which is none");
	base = (uint64_t *)hot();
	syscall(SYS_arch_prctl, 0x1003, &expected);
	fact(syscall(SYS_arch_prctl, 0x1003, base) == 0 && *base == expected, "arch_prctl: the fs base");
	char *name = hot();
	prctl(PR_SET_NAME, "a name");
	fact(prctl(PR_GET_NAME, name) == 0 && !strcmp(name, "a name"), "prctl: the name");
	uint32_t *word = (uint32_t *)hot(), other = 0;
	*word = 5;
	call_code((char *)word - OUTPUT);
	/* adds 3 to the second word, and compares it with 5 as it was before */
	fact(syscall(SYS_futex, &other, FUTEX_WAKE_OP, 1, (void *)0, word, FUTEX_OP(FUTEX_OP_ADD, 3, FUTEX_OP_CMP_EQ, 5)) == 0 && *word == 8,
	     "futex: a word is added to once");
	char *random = hot();
	memset(random, 0, 64);
	call_code(random - OUTPUT);
	long n = syscall(SYS_getrandom, random, 64, 0), ones = 0;
	for (int i = 0; i < 64; i++)
		ones += random[i] != 0;
	fact(n == 64 && ones > 32, "getrandom");
}

static void asynchronous(void)
{
	aio_context_t *context = (aio_context_t *)hot();
	*context = 0;
	call_code((char *)context - OUTPUT);
	if (syscall(SYS_io_setup, 4, context) && errno == ENOSYS) {
		fact(true, "io_setup"), fact(true, "io_submit"), fact(true, "the bytes that it reads"), fact(true, "io_getevents");
		return;
	}
	fact(*context != 0, "io_setup");
	int file = memfd_create("file", 0);
	if (write(file, "asynchronous", 12) != 12)
		_exit(89);
	char *out = hot();
	struct iocb *block = (struct iocb *)hot(), *blocks[1] = { block };
	*block = (struct iocb){ .aio_fildes = (uint32_t)file, .aio_lio_opcode = IOCB_CMD_PREAD, .aio_buf = (uint64_t)out, .aio_nbytes = 12, .aio_data = 78 };
	call_code((char *)block - OUTPUT);
	call_code(out - OUTPUT);
	fact(syscall(SYS_io_submit, *context, 1, blocks) == 1, "io_submit");
	struct io_event *event = (struct io_event *)hot();
	fact(syscall(SYS_io_getevents, *context, 1, 1, event, NULL) == 1 && event->data == 78 && event->res == 12, "io_getevents");
	fact(!memcmp(out, "asynchronous", 12), "the bytes that it reads");
}

static void processes(void)
{
	int *parent = (int *)hot(), *child = (int *)hot(), *descriptor = (int *)hot();
	*parent = *child = 0;
	call_code((char *)parent - OUTPUT);
	call_code((char *)child - OUTPUT);
	long pid = syscall(SYS_clone, CLONE_PARENT_SETTID | CLONE_CHILD_SETTID | SIGCHLD, NULL, parent, child, 0);
	if (pid == 0)
		_exit(*child == syscall(SYS_gettid) ? 3 : 4);
	fact(pid > 0 && *parent == pid, "clone: the child's number in its parent");
	fact(end_of((pid_t)pid) == 3, "and in the child");
	pid = syscall(SYS_clone, CLONE_PIDFD | SIGCHLD, NULL, descriptor, NULL, 0);
	if (pid == 0)
		_exit(0);
	fact(pid > 0 && fcntl(*descriptor, F_GETFD) >= 0, "clone: a descriptor");
	end_of((pid_t)pid);
	struct { uint64_t flags, pidfd, child, parent, signal, stack, size, tls; } args = { 0 };
	int *by_clone3 = (int *)hot(), *second = (int *)hot();
	args.flags = CLONE_PIDFD | CLONE_PARENT_SETTID, args.pidfd = (uint64_t)by_clone3, args.parent = (uint64_t)second, args.signal = SIGCHLD;
	*by_clone3 = -1;
	call_code((char *)by_clone3 - OUTPUT);
	pid = syscall(SYS_clone3, &args, sizeof args);
	if (pid == 0)
		_exit(0);
	fact(pid > 0 && fcntl(*by_clone3, F_GETFD) >= 0 && *second == pid, "clone3: a descriptor and the child's number");
	end_of((pid_t)pid);
}

int main(void)
{
	struct rlimit none = { 0, 0 };
	setrlimit(RLIMIT_CORE, &none);
	waiting();
	sockets();
	queues();
	descriptors();
	times_left();
	own_values();
	asynchronous();
	processes();
	return trap_done();
}
