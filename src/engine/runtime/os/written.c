/*
 * Which memory a system call may write, so that the kernel never meets a page that the engine has write-protected.
 *
 *     written_begin: ranges published ──► pages among them released ──► the call ──► written_end: ranges withdrawn
 *
 * What always holds:
 *  1. While a thread's ranges are published, no page among them becomes protected: code that is translated from it
 *     meanwhile is compared with memory before each execution (memory_watch, PAGE_OPEN). So a call is made once,
 *     and no result is lost.
 *  2. The ranges may be larger than what is written, never smaller. A call that is not in the table may write
 *     anywhere. What must only be writable counts as written (a shared futex that is waited for), and so does what
 *     must be one mapping (mremap).
 *  3. Where the kernel writes after the call (a thread's end, restartable sequences), the range is the thread's as
 *     long as that can be.
 *
 * The table has the calls of Linux 6.18 (arch/x86/entry/syscalls/syscall_64.tbl). What each copies out is as its
 * manual page has it; what no page says is EVERYTHING. tests/engine/traps/code/kernel_outputs.c tries the calls.
 */
#include "engine/runtime/cache/memory.h"
#include "engine/runtime/entry.h"
#include "engine/runtime/os/calls.h"
#include "engine/runtime/runtime.h"
#include "engine/runtime/thread.h"

#define SLACK 8 /* msgrcv's type in front of its text, a bit set's last word */
#define IOV_MOST 1024u
#define ALL_OF_MEMORY (~0ull >> 17)

enum how {
	EVERYTHING, /* or what is not known */
	NOTHING,
	PLACES,
	VECTOR,   /* an iovec at argument 2, entries: argument 3 */
	MESSAGE,  /* struct msghdr at argument 2 */
	MESSAGES, /* struct mmsghdr at argument 2, entries: argument 3; a timespec at 5 */
	DEPENDS,  /* see depends() */
};

/* bytes × (times: an argument's value, from 1 on; 0: once; with AT: the 32-bit number that it points to) from an
 * argument on */
enum { AT = 8 };
struct written_range {
	uint32_t bytes;
	uint8_t argument, times;
};
#define PLACES_MOST 4
struct writes {
	uint8_t how;
	struct written_range place[PLACES_MOST];
};

/* clang-format off */
#define TO(argument, bytes) {bytes, argument, 0}
#define N_TO(argument, times, bytes) {bytes, argument, times}
#define PUT(...) {PLACES, {__VA_ARGS__}}
#define NO {NOTHING, {{0, 0, 0}}}
/* clang-format on */

static const struct writes table[] = {
	[0 /* read */] = PUT(N_TO(2, 3, 1)),
	[1 /* write */] = NO,
	[2 /* open */] = NO,
	[3 /* close */] = NO,
	[4 /* stat */] = PUT(TO(2, 144)),
	[5 /* fstat */] = PUT(TO(2, 144)),
	[6 /* lstat */] = PUT(TO(2, 144)),
	[7 /* poll */] = PUT(N_TO(1, 2, 8)),
	[8 /* lseek */] = NO,
	[9 /* mmap */] = NO,
	[10 /* mprotect */] = NO,
	[11 /* munmap */] = NO,
	[12 /* brk */] = NO,
	[13 /* rt_sigaction */] = PUT(TO(3, 32)),
	[14 /* rt_sigprocmask */] = PUT(TO(3, 8)),
	[15 /* rt_sigreturn */] = NO,
	[16 /* ioctl */] = {.how = DEPENDS},
	[17 /* pread64 */] = PUT(N_TO(2, 3, 1)),
	[18 /* pwrite64 */] = NO,
	[19 /* readv */] = {.how = VECTOR},
	[20 /* writev */] = NO,
	[21 /* access */] = NO,
	[22 /* pipe */] = PUT(TO(1, 8)),
	[23 /* select */] = PUT(N_TO(2, 1, 1), N_TO(3, 1, 1), N_TO(4, 1, 1), TO(5, 16)),
	[24 /* sched_yield */] = NO,
	[25 /* mremap: of one mapping, which protecting splits */] = PUT(N_TO(1, 2, 1)),
	[26 /* msync */] = NO,
	[27 /* mincore: a byte a page */] = PUT(N_TO(3, 2, 1)),
	[28 /* madvise */] = {.how = DEPENDS},
	[29 /* shmget */] = NO,
	[30 /* shmat */] = NO,
	[31 /* shmctl */] = PUT(TO(3, 112)),
	[32 /* dup */] = NO,
	[33 /* dup2 */] = NO,
	[34 /* pause */] = NO,
	[35 /* nanosleep */] = PUT(TO(2, 16)),
	[36 /* getitimer */] = PUT(TO(2, 32)),
	[37 /* alarm */] = NO,
	[38 /* setitimer */] = PUT(TO(3, 32)),
	[39 /* getpid */] = NO,
	[40 /* sendfile */] = PUT(TO(3, 8)),
	[41 /* socket */] = NO,
	[42 /* connect */] = NO,
	[43 /* accept */] = PUT(N_TO(2, AT | 3, 1), TO(3, 4)),
	[44 /* sendto */] = NO,
	[45 /* recvfrom */] = PUT(N_TO(2, 3, 1), N_TO(5, AT | 6, 1), TO(6, 4)),
	[46 /* sendmsg */] = NO,
	[47 /* recvmsg */] = {.how = MESSAGE},
	[48 /* shutdown */] = NO,
	[49 /* bind */] = NO,
	[50 /* listen */] = NO,
	[51 /* getsockname */] = PUT(N_TO(2, AT | 3, 1), TO(3, 4)),
	[52 /* getpeername */] = PUT(N_TO(2, AT | 3, 1), TO(3, 4)),
	[53 /* socketpair */] = PUT(TO(4, 8)),
	[54 /* setsockopt */] = NO,
	[55 /* getsockopt */] = {.how = DEPENDS},
	[56 /* clone: thread.c adds its */] = NO,
	[57 /* fork */] = NO,
	[58 /* vfork */] = NO,
	[59 /* execve */] = NO,
	[60 /* exit: written_last() */] = NO,
	[61 /* wait4 */] = PUT(TO(2, 4), TO(4, 144)),
	[62 /* kill */] = NO,
	[63 /* uname */] = PUT(TO(1, 390)),
	[64 /* semget */] = NO,
	[65 /* semop */] = NO,
	[66 /* semctl: GETALL, as many as SEMMSL can be */] = PUT(TO(4, 131072)),
	[67 /* shmdt */] = NO,
	[68 /* msgget */] = NO,
	[69 /* msgsnd */] = NO,
	[70 /* msgrcv */] = PUT(N_TO(2, 3, 1)),
	[71 /* msgctl */] = PUT(TO(3, 120)),
	[72 /* fcntl */] = PUT(TO(3, 32)),
	[73 /* flock */] = NO,
	[74 /* fsync */] = NO,
	[75 /* fdatasync */] = NO,
	[76 /* truncate */] = NO,
	[77 /* ftruncate */] = NO,
	[78 /* getdents */] = PUT(N_TO(2, 3, 1)),
	[79 /* getcwd */] = PUT(N_TO(1, 2, 1)),
	[80 /* chdir */] = NO,
	[81 /* fchdir */] = NO,
	[82 /* rename */] = NO,
	[83 /* mkdir */] = NO,
	[84 /* rmdir */] = NO,
	[85 /* creat */] = NO,
	[86 /* link */] = NO,
	[87 /* unlink */] = NO,
	[88 /* symlink */] = NO,
	[89 /* readlink */] = PUT(N_TO(2, 3, 1)),
	[90 /* chmod */] = NO,
	[91 /* fchmod */] = NO,
	[92 /* chown */] = NO,
	[93 /* fchown */] = NO,
	[94 /* lchown */] = NO,
	[95 /* umask */] = NO,
	[96 /* gettimeofday */] = PUT(TO(1, 16), TO(2, 8)),
	[97 /* getrlimit */] = PUT(TO(2, 16)),
	[98 /* getrusage */] = PUT(TO(2, 144)),
	[99 /* sysinfo */] = PUT(TO(1, 112)),
	[100 /* times */] = PUT(TO(1, 32)),
	[101 /* ptrace */] = {.how = EVERYTHING},
	[102 /* getuid */] = NO,
	[103 /* syslog */] = PUT(N_TO(2, 3, 1)),
	[104 /* getgid */] = NO,
	[105 /* setuid */] = NO,
	[106 /* setgid */] = NO,
	[107 /* geteuid */] = NO,
	[108 /* getegid */] = NO,
	[109 /* setpgid */] = NO,
	[110 /* getppid */] = NO,
	[111 /* getpgrp */] = NO,
	[112 /* setsid */] = NO,
	[113 /* setreuid */] = NO,
	[114 /* setregid */] = NO,
	[115 /* getgroups */] = PUT(N_TO(2, 1, 4)),
	[116 /* setgroups */] = NO,
	[117 /* setresuid */] = NO,
	[118 /* getresuid */] = PUT(TO(1, 4), TO(2, 4), TO(3, 4)),
	[119 /* setresgid */] = NO,
	[120 /* getresgid */] = PUT(TO(1, 4), TO(2, 4), TO(3, 4)),
	[121 /* getpgid */] = NO,
	[122 /* setfsuid */] = NO,
	[123 /* setfsgid */] = NO,
	[124 /* getsid */] = NO,
	[125 /* capget */] = PUT(TO(1, 8), TO(2, 24)),
	[126 /* capset: the version that it would have */] = PUT(TO(1, 8)),
	[127 /* rt_sigpending */] = PUT(N_TO(1, 2, 1)),
	[128 /* rt_sigtimedwait */] = PUT(TO(2, 128)),
	[129 /* rt_sigqueueinfo */] = NO,
	[130 /* rt_sigsuspend */] = NO,
	[131 /* sigaltstack */] = PUT(TO(2, 24)),
	[132 /* utime */] = NO,
	[133 /* mknod */] = NO,
	[134 /* uselib */] = NO,
	[135 /* personality */] = NO,
	[136 /* ustat */] = PUT(TO(2, 32)),
	[137 /* statfs */] = PUT(TO(2, 120)),
	[138 /* fstatfs */] = PUT(TO(2, 120)),
	[139 /* sysfs: a name */] = PUT(TO(3, 4096)),
	[140 /* getpriority */] = NO,
	[141 /* setpriority */] = NO,
	[142 /* sched_setparam */] = NO,
	[143 /* sched_getparam */] = PUT(TO(2, 4)),
	[144 /* sched_setscheduler */] = NO,
	[145 /* sched_getscheduler */] = NO,
	[146 /* sched_get_priority_max */] = NO,
	[147 /* sched_get_priority_min */] = NO,
	[148 /* sched_rr_get_interval */] = PUT(TO(2, 16)),
	[149 /* mlock */] = NO,
	[150 /* munlock */] = NO,
	[151 /* mlockall */] = NO,
	[152 /* munlockall */] = NO,
	[153 /* vhangup */] = NO,
	[154 /* modify_ldt */] = PUT(N_TO(2, 3, 1)),
	[155 /* pivot_root */] = NO,
	[156 /* _sysctl */] = NO,
	[157 /* prctl */] = {.how = DEPENDS},
	[158 /* arch_prctl */] = PUT(TO(2, 8)),
	[159 /* adjtimex */] = PUT(TO(1, 208)),
	[160 /* setrlimit */] = NO,
	[161 /* chroot */] = NO,
	[162 /* sync */] = NO,
	[163 /* acct */] = NO,
	[164 /* settimeofday */] = NO,
	[165 /* mount */] = NO,
	[166 /* umount2 */] = NO,
	[167 /* swapon */] = NO,
	[168 /* swapoff */] = NO,
	[169 /* reboot */] = NO,
	[170 /* sethostname */] = NO,
	[171 /* setdomainname */] = NO,
	[172 /* iopl */] = NO,
	[173 /* ioperm */] = NO,
	[174 /* create_module … */] = NO,
	[175 /* init_module */] = NO,
	[176 /* delete_module */] = NO,
	[177] = NO,
	[178] = NO,
	[179 /* quotactl */] = {.how = EVERYTHING},
	[180 /* nfsservctl … tuxcall: none */] = NO,
	[181] = NO,
	[182] = NO,
	[183] = NO,
	[184] = NO,
	[185 /* security */] = NO,
	[186 /* gettid */] = NO,
	[187 /* readahead */] = NO,
	[188 /* setxattr */] = NO,
	[189 /* lsetxattr */] = NO,
	[190 /* fsetxattr */] = NO,
	[191 /* getxattr */] = PUT(N_TO(3, 4, 1)),
	[192 /* lgetxattr */] = PUT(N_TO(3, 4, 1)),
	[193 /* fgetxattr */] = PUT(N_TO(3, 4, 1)),
	[194 /* listxattr */] = PUT(N_TO(2, 3, 1)),
	[195 /* llistxattr */] = PUT(N_TO(2, 3, 1)),
	[196 /* flistxattr */] = PUT(N_TO(2, 3, 1)),
	[197 /* removexattr */] = NO,
	[198 /* lremovexattr */] = NO,
	[199 /* fremovexattr */] = NO,
	[200 /* tkill */] = NO,
	[201 /* time */] = PUT(TO(1, 8)),
	[202 /* futex */] = {.how = DEPENDS},
	[203 /* sched_setaffinity */] = NO,
	[204 /* sched_getaffinity */] = PUT(N_TO(3, 2, 1)),
	[205] = NO,
	[206 /* io_setup */] = PUT(TO(2, 8)),
	[207 /* io_destroy */] = NO,
	[208 /* io_getevents */] = PUT(N_TO(4, 3, 32)),
	[209 /* io_submit: syscall.c */] = {.how = EVERYTHING},
	[210 /* io_cancel */] = PUT(TO(3, 32)),
	[211] = NO,
	[212 /* lookup_dcookie */] = PUT(N_TO(2, 3, 1)),
	[213 /* epoll_create */] = NO,
	[214] = NO,
	[215] = NO,
	[216 /* remap_file_pages */] = NO,
	[217 /* getdents64 */] = PUT(N_TO(2, 3, 1)),
	[218 /* set_tid_address: the thread's */] = NO,
	[219 /* restart_syscall: written by the call it restarts */] = {.how = EVERYTHING},
	[220 /* semtimedop */] = NO,
	[221 /* fadvise64 */] = NO,
	[222 /* timer_create */] = PUT(TO(3, 4)),
	[223 /* timer_settime */] = PUT(TO(4, 32)),
	[224 /* timer_gettime */] = PUT(TO(2, 32)),
	[225 /* timer_getoverrun */] = NO,
	[226 /* timer_delete */] = NO,
	[227 /* clock_settime */] = NO,
	[228 /* clock_gettime */] = PUT(TO(2, 16)),
	[229 /* clock_getres */] = PUT(TO(2, 16)),
	[230 /* clock_nanosleep */] = PUT(TO(4, 16)),
	[231 /* exit_group */] = NO,
	[232 /* epoll_wait */] = PUT(N_TO(2, 3, 12)),
	[233 /* epoll_ctl */] = NO,
	[234 /* tgkill */] = NO,
	[235 /* utimes */] = NO,
	[236 /* vserver */] = NO,
	[237 /* mbind */] = NO,
	[238 /* set_mempolicy */] = NO,
	[239 /* get_mempolicy */] = PUT(TO(1, 4), N_TO(2, 3, 1)),
	[240 /* mq_open */] = NO,
	[241 /* mq_unlink */] = NO,
	[242 /* mq_timedsend */] = NO,
	[243 /* mq_timedreceive */] = PUT(N_TO(2, 3, 1), TO(4, 4)),
	[244 /* mq_notify */] = NO,
	[245 /* mq_getsetattr */] = PUT(TO(3, 64)),
	[246 /* kexec_load */] = NO,
	[247 /* waitid */] = PUT(TO(3, 128), TO(5, 144)),
	[248 /* add_key */] = NO,
	[249 /* request_key */] = NO,
	[250 /* keyctl */] = {.how = EVERYTHING},
	[251 /* ioprio_set */] = NO,
	[252 /* ioprio_get */] = NO,
	[253 /* inotify_init */] = NO,
	[254 /* inotify_add_watch */] = NO,
	[255 /* inotify_rm_watch */] = NO,
	[256 /* migrate_pages */] = NO,
	[257 /* openat */] = NO,
	[258 /* mkdirat */] = NO,
	[259 /* mknodat */] = NO,
	[260 /* fchownat */] = NO,
	[261 /* futimesat */] = NO,
	[262 /* newfstatat */] = PUT(TO(3, 144)),
	[263 /* unlinkat */] = NO,
	[264 /* renameat */] = NO,
	[265 /* linkat */] = NO,
	[266 /* symlinkat */] = NO,
	[267 /* readlinkat */] = PUT(N_TO(3, 4, 1)),
	[268 /* fchmodat */] = NO,
	[269 /* faccessat */] = NO,
	[270 /* pselect6 */] = PUT(N_TO(2, 1, 1), N_TO(3, 1, 1), N_TO(4, 1, 1), TO(5, 16)),
	[271 /* ppoll */] = PUT(N_TO(1, 2, 8), TO(3, 16)),
	[272 /* unshare */] = NO,
	[273 /* set_robust_list: the thread's */] = NO,
	[274 /* get_robust_list */] = PUT(TO(2, 8), TO(3, 8)),
	[275 /* splice */] = PUT(TO(2, 8), TO(4, 8)),
	[276 /* tee */] = NO,
	[277 /* sync_file_range */] = NO,
	[278 /* vmsplice */] = {.how = VECTOR},
	[279 /* move_pages */] = PUT(N_TO(5, 2, 4)),
	[280 /* utimensat */] = NO,
	[281 /* epoll_pwait */] = PUT(N_TO(2, 3, 12)),
	[282 /* signalfd */] = NO,
	[283 /* timerfd_create */] = NO,
	[284 /* eventfd */] = NO,
	[285 /* fallocate */] = NO,
	[286 /* timerfd_settime */] = PUT(TO(4, 32)),
	[287 /* timerfd_gettime */] = PUT(TO(2, 32)),
	[288 /* accept4 */] = PUT(N_TO(2, AT | 3, 1), TO(3, 4)),
	[289 /* signalfd4 */] = NO,
	[290 /* eventfd2 */] = NO,
	[291 /* epoll_create1 */] = NO,
	[292 /* dup3 */] = NO,
	[293 /* pipe2 */] = PUT(TO(1, 8)),
	[294 /* inotify_init1 */] = NO,
	[295 /* preadv */] = {.how = VECTOR},
	[296 /* pwritev */] = NO,
	[297 /* rt_tgsigqueueinfo */] = NO,
	[298 /* perf_event_open: the size it knows */] = PUT(TO(1, 136)),
	[299 /* recvmmsg */] = {.how = MESSAGES},
	[300 /* fanotify_init */] = NO,
	[301 /* fanotify_mark */] = NO,
	[302 /* prlimit64 */] = PUT(TO(4, 16)),
	[303 /* name_to_handle_at */] = PUT(TO(3, 136), TO(4, 8)),
	[304 /* open_by_handle_at */] = NO,
	[305 /* clock_adjtime */] = PUT(TO(2, 208)),
	[306 /* syncfs */] = NO,
	[307 /* sendmmsg: the lengths */] = PUT(N_TO(2, 3, 64)),
	[308 /* setns */] = NO,
	[309 /* getcpu */] = PUT(TO(1, 4), TO(2, 4)),
	[310 /* process_vm_readv */] = {.how = VECTOR},
	[311 /* process_vm_writev: syscall.c */] = NO,
	[312 /* kcmp */] = NO,
	[313 /* finit_module */] = NO,
	[314 /* sched_setattr: the size it knows */] = PUT(TO(2, 8)),
	[315 /* sched_getattr */] = PUT(N_TO(2, 3, 1)),
	[316 /* renameat2 */] = NO,
	[317 /* seccomp: sizes of notifications */] = PUT(TO(3, 8)),
	[318 /* getrandom */] = PUT(N_TO(1, 2, 1)),
	[319 /* memfd_create */] = NO,
	[320 /* kexec_file_load */] = NO,
	[321 /* bpf */] = {.how = EVERYTHING},
	[322 /* execveat */] = NO,
	[323 /* userfaultfd */] = NO,
	[324 /* membarrier */] = NO,
	[325 /* mlock2 */] = NO,
	[326 /* copy_file_range */] = PUT(TO(2, 8), TO(4, 8)),
	[327 /* preadv2 */] = {.how = VECTOR},
	[328 /* pwritev2 */] = NO,
	[329 /* pkey_mprotect */] = NO,
	[330 /* pkey_alloc */] = NO,
	[331 /* pkey_free */] = NO,
	[332 /* statx */] = PUT(TO(5, 256)),
	[333 /* io_pgetevents */] = PUT(N_TO(4, 3, 32)),
	[334 /* rseq: the thread's */] = PUT(N_TO(1, 2, 1)),
	[335 /* uretprobe */] = NO,
	[336 /* uprobe */] = NO,
	[424 /* pidfd_send_signal */] = NO,
	[425 /* io_uring_setup */] = PUT(TO(2, 120)),
	[426 /* io_uring_enter: all is compared by then */] = NO,
	[427 /* io_uring_register */] = {.how = EVERYTHING},
	[428 /* open_tree */] = NO,
	[429 /* move_mount */] = NO,
	[430 /* fsopen */] = NO,
	[431 /* fsconfig */] = NO,
	[432 /* fsmount */] = NO,
	[433 /* fspick */] = NO,
	[434 /* pidfd_open */] = NO,
	[435 /* clone3: thread.c adds its */] = NO,
	[436 /* close_range */] = NO,
	[437 /* openat2 */] = NO,
	[438 /* pidfd_getfd */] = NO,
	[439 /* faccessat2 */] = NO,
	[440 /* process_madvise */] = NO,
	[441 /* epoll_pwait2 */] = PUT(N_TO(2, 3, 12)),
	[442 /* mount_setattr */] = NO,
	[443 /* quotactl_fd */] = {.how = EVERYTHING},
	[444 /* landlock_create_ruleset */] = NO,
	[445 /* landlock_add_rule */] = NO,
	[446 /* landlock_restrict_self */] = NO,
	[447 /* memfd_secret */] = NO,
	[448 /* process_mrelease */] = NO,
	[449 /* futex_waitv */] = {.how = DEPENDS},
	[450 /* set_mempolicy_home_node */] = NO,
	[451 /* cachestat */] = PUT(TO(3, 40)),
	[452 /* fchmodat2 */] = NO,
	[453 /* map_shadow_stack */] = NO,
	[454 /* futex_wake */] = PUT(TO(1, 8)),
	[455 /* futex_wait */] = PUT(TO(1, 8)),
	[456 /* futex_requeue */] = {.how = DEPENDS},
	[457 /* statmount */] = PUT(N_TO(2, 3, 1)),
	[458 /* listmount */] = PUT(N_TO(2, 3, 8)),
	[459 /* lsm_get_self_attr */] = PUT(N_TO(2, AT | 3, 1), TO(3, 4)),
	[460 /* lsm_set_self_attr */] = NO,
	[461 /* lsm_list_modules */] = PUT(N_TO(1, AT | 2, 1), TO(2, 4)),
	[462 /* mseal */] = NO,
	[463 /* setxattrat */] = NO,
	[464 /* getxattrat: by a structure */] = {.how = EVERYTHING},
	[465 /* listxattrat */] = PUT(N_TO(4, 5, 1)),
	[466 /* removexattrat */] = NO,
	[467 /* open_tree_attr */] = NO,
	[468 /* file_getattr */] = PUT(N_TO(3, 4, 1)),
	[469 /* file_setattr */] = NO,
};
#define TABLE_COUNT (sizeof table / sizeof *table)

static void add(struct thread *t, uint64_t at, uint64_t bytes)
{
	uint64_t end = at + bytes;
	if (!at || !bytes || at >= ALL_OF_MEMORY)
		return;
	if (end < at || end > ALL_OF_MEMORY)
		end = ALL_OF_MEMORY;
	if (end + SLACK < ALL_OF_MEMORY)
		end += SLACK;
	if (t->written_count == WRITTEN_MAX) { /* one range around all of them */
		struct written whole = t->written[0];
		for (unsigned i = 1; i < WRITTEN_MAX; i++) {
			whole.start = t->written[i].start < whole.start ? t->written[i].start : whole.start;
			whole.end = t->written[i].end > whole.end ? t->written[i].end : whole.end;
		}
		t->written[0] = whole;
		t->written_count = 1;
	}
	t->written[t->written_count++] = (struct written){at, end};
}

static void add_everything(struct thread *t) { add(t, 1, ALL_OF_MEMORY); }

static void add_vector(struct thread *t, uint64_t at, uint64_t count)
{
	uint64_t entry[2];
	for (uint64_t i = 0;
	     i < count && i < IOV_MOST && safe_copy(entry, (const void *)(at + i * sizeof entry), sizeof entry);
	     i++)
		add(t, entry[0], entry[1]);
}

static void add_message(struct thread *t, uint64_t at)
{
	uint64_t head[7]; /* name, its length, iovec, entries, control, its length, flags */
	if (!safe_copy(head, (const void *)at, sizeof head))
		return;
	add(t, at, sizeof head);
	add(t, head[0], (uint32_t)head[1]);
	add(t, head[4], head[5]);
	add_vector(t, head[2], head[3]);
}

static void add_waiters(struct thread *t, uint64_t at, uint64_t count)
{
	uint64_t waiter[3]; /* value, address, flags */
	for (uint64_t i = 0;
	     i < count && i < 128 && safe_copy(waiter, (const void *)(at + i * sizeof waiter), sizeof waiter); i++)
		add(t, waiter[1], 8);
}

/* LOCK_PI, UNLOCK_PI, TRYLOCK_PI, WAKE_OP, LOCK_PI2 and the two that requeue to such a lock */
static bool futex_writes(uint64_t operation) { return (operation >= 5 && operation <= 8) || operation >= 11; }

/* What is written depends on an argument's value. */
static void depends(struct thread *t, uint64_t nr)
{
	const uint64_t *r = t->reg;
	uint64_t a = r[X86_RDI], b = r[X86_RSI], c = r[X86_RDX], d = r[X86_R10], e = r[X86_R8];
	uint32_t length = 0;
	switch (nr) {
	/* a terminal's are flat; others say how long they are, but not what pointers are in them */
	case SYS_ioctl:
		if ((b & 0xffffff00) == 0x5400)
			add(t, c, 256);
		else
			add_everything(t);
		break;
	case SYS_getsockopt:
		if (b == IPPROTO_TCP_ && c == TCP_ZEROCOPY_RECEIVE_) /* it has an address in it */
			add_everything(t);
		if (safe_copy(&length, (const void *)e, 4))
			add(t, d, length);
		add(t, e, 4);
		break;
	case SYS_prctl:
		if (a == PR_GET_AUXV_)
			add(t, b, c);
		add(t, b, 16);
		add(t, c, 8);
		break;
	case SYS_madvise:
		if (c == MADV_POPULATE_WRITE_)
			add(t, a, b);
		break;
	case SYS_futex: /* a shared one must be writable even to wait for it; of private ones some are written */
		if (!(b & FUTEX_PRIVATE_) || futex_writes(b & FUTEX_COMMANDS_))
			add(t, a, 4);
		if (!(b & FUTEX_PRIVATE_) || (b & FUTEX_COMMANDS_) == FUTEX_WAKE_OP_)
			add(t, e, 4);
		break;
	case SYS_futex_waitv: add_waiters(t, a, b); break;
	case SYS_futex_requeue: add_waiters(t, a, 2); break;
	}
}

static uint64_t argument(const struct thread *t, unsigned n)
{
	static const uint8_t where[] = {X86_RDI, X86_RSI, X86_RDX, X86_R10, X86_R8, X86_R9};
	return t->reg[where[n - 1]];
}

static void add_places(struct thread *t, const struct writes *w)
{
	for (unsigned i = 0; i < PLACES_MOST && w->place[i].argument; i++) {
		const struct written_range *place = &w->place[i];
		uint64_t times = 1;
		uint32_t number = 0;
		if (place->times & AT)
			times = safe_copy(&number, (const void *)argument(t, place->times & 7u), 4) ? number : 0;
		else if (place->times)
			times = argument(t, place->times);
		if (times > ALL_OF_MEMORY / place->bytes)
			times = ALL_OF_MEMORY / place->bytes;
		add(t, argument(t, place->argument), place->bytes * times);
	}
}

void written_add(struct thread *t, uint64_t at, uint64_t bytes) { add(t, at, bytes); }
void written_everything(struct thread *t) { add_everything(t); }

void written_begin(struct thread *t, uint64_t nr)
{
	const struct writes *w = nr < TABLE_COUNT ? &table[nr] : NULL;
	struct {
		uint64_t head[8];
	} message;
	t->written_count = 0;
	switch (w ? w->how : EVERYTHING) {
	case EVERYTHING: add_everything(t); break;
	case PLACES: add_places(t, w); break;
	case VECTOR: add_vector(t, argument(t, 2), argument(t, 3)); break;
	case MESSAGE: add_message(t, argument(t, 2)); break;
	case MESSAGES:
		for (uint64_t i = 0; i < argument(t, 3) && i < IOV_MOST; i++) {
			uint64_t at = argument(t, 2) + i * sizeof message;
			add_message(t, at);
			add(t, at, sizeof message);
		}
		add(t, argument(t, 5), 16);
		break;
	case DEPENDS: depends(t, nr); break;
	}
	written_open(t);
}

/* A page is protected only after it has been announced (rt.protected_pages) and the ranges have been looked at:
   one of the two sees the other. */
void written_open(struct thread *t)
{
	if (!t->written_count)
		return;
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	if (!__atomic_load_n(&rt.protected_pages, __ATOMIC_SEQ_CST))
		return;
	lock();
	for (unsigned i = 0; i < t->written_count; i++)
		memory_release(t->written[i].start, t->written[i].end - t->written[i].start);
	unlock();
}

void written_end(struct thread *t) { __atomic_store_n(&t->written_count, 0, __ATOMIC_RELEASE); }

static bool meets(uint64_t at, uint64_t bytes, uint64_t start, uint64_t end)
{
	return at && at < end && at + bytes > start;
}

/* Under rt.lock. */
bool written_now(uint64_t start, uint64_t end)
{
	for (uint32_t i = 0; i < rt.slots_max && rt.threads[i]; i++) {
		const struct thread *t = rt.threads[i];
		if (!rt.slot_state[i])
			continue;
		for (unsigned k = 0, n = __atomic_load_n(&t->written_count, __ATOMIC_SEQ_CST); k < n; k++)
			if (t->written[k].start < end && t->written[k].end > start)
				return true;
		if (meets(t->clear_tid, 4, start, end) || meets(t->rseq, 64, start, end))
			return true;
	}
	return false;
}

/* Before a thread ends: the kernel clears its number, and gives up the locks of its robust list, when no thread is
   there any more to say so. */
void written_last(struct thread *t)
{
	uint64_t head[3], entry;
	lock();
	memory_pin(t->clear_tid, 4);
	if (t->robust_list && safe_copy(head, (const void *)t->robust_list, sizeof head)) {
		memory_pin(head[2] & ~1ull ? (head[2] & ~1ull) + head[1] : 0, 4);
		entry = head[0] & ~1ull;
		/* as far as the kernel goes: ROBUST_LIST_LIMIT */
		for (unsigned i = 0; i < 2048 && entry != t->robust_list; i++) {
			memory_pin(entry + head[1], 4);
			if (!safe_copy(&entry, (const void *)entry, 8))
				break;
			entry &= ~1ull;
		}
	}
	unlock();
}
