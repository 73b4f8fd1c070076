/* System calls and the few string routines that the runtime needs, which has no libc. Nothing here touches memory
   that the caller did not name, nor a vector register. */
#ifndef TARE_ENGINE_RUNTIME_OS_SYS_H
#define TARE_ENGINE_RUNTIME_OS_SYS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	SYS_read = 0,
	SYS_write = 1,
	SYS_open = 2,
	SYS_close = 3,
	SYS_mmap = 9,
	SYS_mprotect = 10,
	SYS_munmap = 11,
	SYS_brk = 12,
	SYS_rt_sigaction = 13,
	SYS_rt_sigprocmask = 14,
	SYS_rt_sigreturn = 15,
	SYS_pread64 = 17,
	SYS_sched_yield = 24,
	SYS_nanosleep = 35,
	SYS_mincore = 27,
	SYS_madvise = 28,
	SYS_mremap = 25,
	SYS_shmat = 30,
	SYS_dup2 = 33,
	SYS_getpid = 39,
	SYS_clone = 56,
	SYS_fork = 57,
	SYS_vfork = 58,
	SYS_execve = 59,
	SYS_exit = 60,
	SYS_shmdt = 67,
	SYS_readlink = 89,
	SYS_getrlimit = 97,
	SYS_setrlimit = 160,
	SYS_prlimit64 = 302,
	SYS_ptrace = 101,
	SYS_rt_sigpending = 127,
	SYS_rt_sigtimedwait = 128,
	SYS_rt_sigsuspend = 130,
	SYS_sigaltstack = 131,
	SYS_personality = 135,
	SYS_prctl = 157,
	SYS_arch_prctl = 158,
	SYS_gettid = 186,
	SYS_readv = 19,
	SYS_futex = 202,
	SYS_epoll_wait = 232,
	SYS_exit_group = 231,
	SYS_tgkill = 234,
	SYS_remap_file_pages = 216,
	SYS_openat = 257,
	SYS_pselect6 = 270,
	SYS_ppoll = 271,
	SYS_epoll_pwait = 281,
	SYS_signalfd = 282,
	SYS_signalfd4 = 289,
	SYS_rt_tgsigqueueinfo = 297,
	SYS_seccomp = 317,
	SYS_execveat = 322,
	SYS_pkey_mprotect = 329,
	SYS_io_pgetevents = 333,
	SYS_rseq = 334,
	SYS_clone3 = 435,
	SYS_epoll_pwait2 = 441,
	SYS_recvfrom = 45,
};

enum { PROT_NONE_ = 0, PROT_READ_ = 1, PROT_WRITE_ = 2, PROT_EXEC_ = 4 };
enum {
	MAP_SHARED_ = 1,
	MAP_PRIVATE_ = 2,
	MAP_FIXED_ = 0x10,
	MAP_ANONYMOUS_ = 0x20,
	MAP_32BIT_ = 0x40,
	MAP_NORESERVE_ = 0x4000,
	MAP_FIXED_NOREPLACE_ = 0x100000
};
enum { EINTR_ = 4, ENOMEM_ = 12, EFAULT_ = 14, EINVAL_ = 22, ENOSYS_ = 38 };

static inline long sys6(long nr, uint64_t a, uint64_t b, uint64_t c, uint64_t d, uint64_t e, uint64_t f)
{
	register uint64_t r10 __asm__("r10") = d, r8 __asm__("r8") = e, r9 __asm__("r9") = f;
	long result;
	__asm__ volatile("syscall"
			 : "=a"(result)
			 : "0"(nr), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
			 : "rcx", "r11", "memory");
	return result;
}

#define sys0(nr) sys6(nr, 0, 0, 0, 0, 0, 0)
#define sys1(nr, a) sys6(nr, (uint64_t)(a), 0, 0, 0, 0, 0)
#define sys2(nr, a, b) sys6(nr, (uint64_t)(a), (uint64_t)(b), 0, 0, 0, 0)
#define sys3(nr, a, b, c) sys6(nr, (uint64_t)(a), (uint64_t)(b), (uint64_t)(c), 0, 0, 0)
#define sys4(nr, a, b, c, d) sys6(nr, (uint64_t)(a), (uint64_t)(b), (uint64_t)(c), (uint64_t)(d), 0, 0)
#define sys5(nr, a, b, c, d, e)                                                                                   \
	sys6(nr, (uint64_t)(a), (uint64_t)(b), (uint64_t)(c), (uint64_t)(d), (uint64_t)(e), 0)

/* An error of the kernel's, as the raw result has it. */
static inline bool failed(long result) { return (uint64_t)result > (uint64_t)-4096; }

void *memset(void *to, int byte, size_t n);
void *memcpy(void *to, const void *from, size_t n);
int memcmp(const void *a, const void *b, size_t n);

static inline size_t text_length(const char *text)
{
	size_t n = 0;
	while (text[n])
		n++;
	return n;
}

#endif
