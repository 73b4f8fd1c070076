/*
 * Files that describe the machine, which programs and their libraries read: opened, they are a file in memory with
 * another text, the same on every machine. libselinux reads /proc/filesystems in each `ls`, for one.
 *
 * What always holds:
 *  1. Only what is opened for reading alone, by one of these paths, is another file. The real one is opened
 *     first: what cannot be opened stays so.
 *  2. The descriptor is the one that the real file would have, close-on-exec likewise; it can only be read.
 */
#include "engine/runtime/runtime.h"

enum { O_ACCMODE_ = 3, O_CLOEXEC_ = 02000000, AT_FDCWD_ = -100, NR_dup3 = 292, MFD_CLOEXEC_ = 1 };
#define PATH_MOST 48u

static const struct {
	char path[PATH_MOST], text[400];
} files[] = {
	{"/sys/devices/system/cpu/online", "0\n"},
	{"/sys/devices/system/cpu/possible", "0\n"},
	{"/sys/devices/system/cpu/present", "0\n"},
	{"/proc/filesystems",
	 "nodev\tsysfs\nnodev\ttmpfs\nnodev\tproc\nnodev\tdevtmpfs\nnodev\tpipefs\nnodev\tdevpts\n\text4\n"},
	{"/proc/loadavg", "0.00 0.00 0.00 1/100 1000\n"},
	{"/proc/uptime", "1000.00 1000.00\n"},
	{"/proc/version", "Linux version 6.1.0 (tare) #1 SMP PREEMPT_DYNAMIC\n"},
	{"/proc/sys/kernel/osrelease", "6.1.0\n"},
	{"/proc/sys/kernel/hostname", "localhost\n"},
	{"/proc/sys/vm/overcommit_memory", "0\n"},
	{"/sys/kernel/mm/transparent_hugepage/enabled", "always [madvise] never\n"},
	{"/proc/meminfo", "MemTotal:        4194304 kB\nMemFree:         2097152 kB\nMemAvailable:    2097152 kB\n"
			  "Buffers:               0 kB\nCached:                0 kB\nSwapTotal:             0 kB\n"
			  "SwapFree:              0 kB\nHugePages_Total:       0\nHugepagesize:       2048 kB\n"},
	{"/proc/cpuinfo",
	 "processor\t: 0\nvendor_id\t: GenuineIntel\ncpu family\t: 6\nmodel name\t: shown by tare\n"
	 "physical id\t: 0\nsiblings\t: 1\ncore id\t\t: 0\ncpu cores\t: 1\nflags\t\t: fpu tsc cx8 cmov "
	 "mmx fxsr sse sse2 syscall nx lm pni ssse3 cx16 sse4_1 sse4_2 popcnt lahf_lm"},
};
enum { FILES = sizeof files / sizeof *files };

#define FLAGS_V3 " fma movbe xsave avx f16c abm bmi1 avx2 bmi2"
#define FLAGS_V4 " avx512f avx512dq avx512cd avx512bw avx512vl xsavec"

static void write_text(uint64_t fd, const char *text) { sys3(SYS_write, fd, text, text_length(text)); }

static void write_file(uint64_t fd, unsigned i)
{
	write_text(fd, files[i].text);
	if (i != FILES - 1)
		return;
	if (rt.served >= SERVED_V3)
		write_text(fd, FLAGS_V3);
	if (rt.served >= SERVED_V4)
		write_text(fd, FLAGS_V4);
	write_text(fd, "\n\n");
}

/* Which of the files it is; FILES: none. */
static unsigned which(const char *path)
{
	unsigned i = 0;
	while (i < FILES && memcmp(path, files[i].path, text_length(files[i].path) + 1))
		i++;
	return rt.served == SERVED_HOST && i == FILES - 1 ? FILES : i;
}

/* The path's beginning; what cannot be read is no path of these. */
static bool path_of(uint64_t at, char path[PATH_MOST])
{
	for (unsigned i = 0; i < PATH_MOST; i++) {
		if (!safe_copy(&path[i], (const void *)(at + i), 1))
			return false;
		if (!path[i])
			return true;
	}
	return false;
}

bool served_file(const struct thread *t, uint64_t nr, long *result)
{
	const uint64_t *r = t->reg;
	uint64_t name = nr == SYS_open ? r[X86_RDI] : r[X86_RSI], flags = nr == SYS_open ? r[X86_RSI] : r[X86_RDX];
	char path[PATH_MOST];
	if (flags & O_ACCMODE_ || !path_of(name, path) || path[0] != '/' || which(path) == FILES)
		return false;
	long real = sys4(SYS_openat, AT_FDCWD_, path, flags, 0), memory, readable;
	*result = real;
	if (failed(real))
		return true;
	memory = sys2(SYS_memfd_create, "shown by tare", MFD_CLOEXEC_);
	if (failed(memory))
		return true;
	write_file((uint64_t)memory, which(path));
	/* a description of its own, that cannot write */
	char link[32] = "/proc/self/fd/";
	unsigned n = 14, number = (unsigned)memory,
		 digits = number > 9999  ? 5
			  : number > 999 ? 4
			  : number > 99  ? 3
			  : number > 9   ? 2
					 : 1;
	for (unsigned i = digits; i-- > 0; number /= 10)
		link[n + i] = (char)('0' + number % 10);
	link[n + digits] = 0;
	readable = sys3(SYS_open, link, O_CLOEXEC_, 0);
	if (!failed(readable)) {
		sys3(NR_dup3, readable, real, flags & O_CLOEXEC_);
		sys1(SYS_close, readable);
	}
	sys1(SYS_close, memory);
	return true;
}
