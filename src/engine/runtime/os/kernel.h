/* Numbers of the kernel's interface for x86-64 programs, by the names that its headers give them (asm/unistd_64.h,
   asm/signal.h, asm-generic/siginfo.h, asm/prctl.h, linux/prctl.h). Those headers are not used: older ones
   lack new calls. An underscore is behind names that hosted tests have as macros. */
#ifndef TARE_ENGINE_RUNTIME_OS_KERNEL_H
#define TARE_ENGINE_RUNTIME_OS_KERNEL_H

enum {
	SYS_read = 0,
	SYS_write = 1,
	SYS_open = 2,
	SYS_close = 3,
	SYS_poll = 7,
	SYS_lseek = 8,
	SYS_mmap = 9,
	SYS_mprotect = 10,
	SYS_munmap = 11,
	SYS_brk = 12,
	SYS_rt_sigaction = 13,
	SYS_rt_sigprocmask = 14,
	SYS_rt_sigreturn = 15,
	SYS_ioctl = 16,
	SYS_pread64 = 17,
	SYS_pwrite64 = 18,
	SYS_readv = 19,
	SYS_writev = 20,
	SYS_select = 23,
	SYS_sched_yield = 24,
	SYS_mremap = 25,
	SYS_mincore = 27,
	SYS_madvise = 28,
	SYS_shmat = 30,
	SYS_dup2 = 33,
	SYS_pause = 34,
	SYS_nanosleep = 35,
	SYS_getpid = 39,
	SYS_recvfrom = 45,
	SYS_getsockopt = 55,
	SYS_clone = 56,
	SYS_fork = 57,
	SYS_vfork = 58,
	SYS_execve = 59,
	SYS_exit = 60,
	SYS_wait4 = 61,
	SYS_kill = 62,
	SYS_shmdt = 67,
	SYS_truncate = 76,
	SYS_creat = 85,
	SYS_readlink = 89,
	SYS_getrlimit = 97,
	SYS_ptrace = 101,
	SYS_getppid = 110,
	SYS_rt_sigpending = 127,
	SYS_rt_sigtimedwait = 128,
	SYS_rt_sigsuspend = 130,
	SYS_sigaltstack = 131,
	SYS_personality = 135,
	SYS_mlockall = 151,
	SYS_modify_ldt = 154,
	SYS_prctl = 157,
	SYS_arch_prctl = 158,
	SYS_setrlimit = 160,
	SYS_gettid = 186,
	SYS_futex = 202,
	SYS_io_setup = 206,
	SYS_io_submit = 209,
	SYS_remap_file_pages = 216,
	SYS_set_tid_address = 218,
	SYS_clock_nanosleep = 230,
	SYS_exit_group = 231,
	SYS_epoll_wait = 232,
	SYS_tgkill = 234,
	SYS_waitid = 247,
	SYS_openat = 257,
	SYS_pselect6 = 270,
	SYS_ppoll = 271,
	SYS_set_robust_list = 273,
	SYS_epoll_pwait = 281,
	SYS_signalfd = 282,
	SYS_signalfd4 = 289,
	SYS_preadv = 295,
	SYS_pwritev = 296,
	SYS_rt_tgsigqueueinfo = 297,
	SYS_prlimit64 = 302,
	SYS_process_vm_writev = 311,
	SYS_seccomp = 317,
	SYS_memfd_create = 319,
	SYS_execveat = 322,
	SYS_userfaultfd = 323,
	SYS_preadv2 = 327,
	SYS_pwritev2 = 328,
	SYS_pkey_mprotect = 329,
	SYS_pkey_alloc = 330,
	SYS_io_pgetevents = 333,
	SYS_rseq = 334,
	SYS_io_uring_setup = 425,
	SYS_io_uring_enter = 426,
	SYS_clone3 = 435,
	SYS_openat2 = 437,
	SYS_process_madvise = 440,
	SYS_epoll_pwait2 = 441,
	SYS_futex_waitv = 449,
	SYS_futex_requeue = 456,
	SYS_mseal = 462,
};

enum {
	PROT_NONE_ = 0,
	PROT_READ_ = 1,
	PROT_WRITE_ = 2,
	PROT_EXEC_ = 4,
	PROT_GROWSDOWN_ = 0x01000000,
	PROT_GROWSUP_ = 0x02000000
};
enum {
	MAP_SHARED_ = 1,
	MAP_PRIVATE_ = 2,
	MAP_FIXED_ = 0x10,
	MAP_ANONYMOUS_ = 0x20,
	MAP_32BIT_ = 0x40,
	MAP_NORESERVE_ = 0x4000,
	MAP_FIXED_NOREPLACE_ = 0x100000
};
enum {
	EPERM_ = 1,
	EINTR_ = 4,
	EAGAIN_ = 11,
	ENOMEM_ = 12,
	EFAULT_ = 14,
	EEXIST_ = 17,
	EINVAL_ = 22,
	ENOSYS_ = 38,
	EOPNOTSUPP_ = 95
};

enum {
	SIGILL_ = 4,
	SIGTRAP_ = 5,
	SIGBUS_ = 7,
	SIGFPE_ = 8,
	SIGKILL_ = 9,
	SIGSEGV_ = 11,
	SIGCHLD_ = 17,
	SIGCONT_ = 18,
	SIGSTOP_ = 19,
	SIGTSTP_ = 20,
	SIGTTIN_ = 21,
	SIGTTOU_ = 22,
	SIGURG_ = 23,
	SIGWINCH_ = 28,
	SIGSYS_ = 31,
};
/* siginfo's code: by the kernel itself; of SIGSEGV: nothing is mapped there, or it is not allowed; of SIGBUS; of
   SIGTRAP */
enum { SI_KERNEL_ = 0x80, SEGV_MAPERR_ = 1, SEGV_ACCERR_ = 2, BUS_ADRERR_ = 2, TRAP_TRACE_ = 2 };
enum { SIG_BLOCK_ = 0, SIG_SETMASK_ = 2 };
enum { MASK_BYTES = 8 }; /* of a set of signals */

enum {
	ARCH_SET_GS_ = 0x1001,
	ARCH_SET_FS_ = 0x1002,
	ARCH_GET_FS_ = 0x1003,
	ARCH_GET_GS_ = 0x1004,
	ARCH_SHSTK_ENABLE_ = 0x5001,
	ARCH_SHSTK_STATUS_ = 0x5005
};
enum {
	PR_GET_TSC_ = 25,
	PR_SET_TSC_ = 26,
	PR_TSC_ENABLE_ = 1,
	PR_GET_AUXV_ = 0x41555856,
	PR_SET_PTRACER_ = 0x59616d61
};
enum { MADV_DONTNEED_ = 4, MADV_REMOVE_ = 9, MADV_HUGEPAGE_ = 14, MADV_POPULATE_WRITE_ = 23 };
enum { MREMAP_MAYMOVE_ = 1, MREMAP_FIXED_ = 2, MREMAP_DONTUNMAP_ = 4 };
enum { RLIMIT_STACK_ = 3 };
enum { SEEK_END_ = 2 };
enum { O_DIRECTORY_ = 0200000, O_CLOEXEC_ = 02000000 };
enum { STDERR_ = 2 };
enum { PTRACE_TRACEME_ = 0, PTRACE_POKETEXT_ = 4, PTRACE_POKEDATA_ = 5 };
enum {
	FUTEX_WAIT_ = 0,
	FUTEX_WAKE_ = 1,
	FUTEX_WAKE_OP_ = 5,
	FUTEX_WAIT_BITSET_ = 9,
	FUTEX_COMMANDS_ = 127,
	FUTEX_PRIVATE_ = 128,
	FUTEX_ALL_WAITERS = 0x7fffffff
};
enum { USERFAULTFD_IOC_NEW_ = 0xaa00 };
/* Addresses of programs: from mmap_min_addr's usual value to the end of their half of all. The kernel's
   TASK_SIZE_MAX is a page less. */
#define ADDRESS_LEAST 0x10000ull
#define ADDRESS_END 0x800000000000ull
#define TASK_SIZE_MAX_ 0x7ffffffff000ull
enum { IPPROTO_TCP_ = 6, TCP_ZEROCOPY_RECEIVE_ = 35 };

#endif
