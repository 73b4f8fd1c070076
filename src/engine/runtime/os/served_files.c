/*
 * Files that describe the machine, which programs and their libraries read: opened, they are a file in memory with
 * another text, the same on every machine. libselinux reads /proc/filesystems in each `ls`, for one.
 *
 * What always holds:
 *  1. Only what is opened for reading alone, by one of these paths, is another file. The real one is opened
 *     first: what cannot be opened stays so.
 *  2. The descriptor is the one that the real file would have, close-on-exec likewise; it can only be read.
 */
#include "engine/runtime/entry.h"
#include "engine/runtime/os/served.h"
#include "engine/runtime/runtime.h"
#include "engine/runtime/thread.h"

enum { O_ACCMODE_ = 3, AT_FDCWD_ = -100, NR_dup3 = 292, MFD_CLOEXEC_ = 1 };
#define PATH_MOST 64u

/* What is written behind the text. No functions: the image has no relocations. */
enum rest { NOTHING, VECTOR, MAPS, UUID, FEATURES };

static const struct {
	char path[PATH_MOST], text[400];
	enum rest rest;
} files[] = {
	{"/proc/self/auxv", "", VECTOR},
	{"/proc/self/maps", "", MAPS},
	{"/proc/sys/kernel/random/uuid", "", UUID},
	{"/proc/sys/kernel/random/boot_id", "00000000-7461-4265-8000-000000000000\n", NOTHING},
	{"/sys/devices/system/cpu/online", "0\n", NOTHING},
	{"/sys/devices/system/cpu/possible", "0\n", NOTHING},
	{"/sys/devices/system/cpu/present", "0\n", NOTHING},
	{"/proc/filesystems",
	 "nodev\tsysfs\nnodev\ttmpfs\nnodev\tproc\nnodev\tdevtmpfs\nnodev\tpipefs\nnodev\tdevpts\n\text4\n",
	 NOTHING},
	{"/proc/loadavg", "0.00 0.00 0.00 1/100 1000\n", NOTHING},
	{"/proc/uptime", "1000.00 1000.00\n", NOTHING},
	{"/proc/version", "Linux version 6.1.0 (tare) #1 SMP PREEMPT_DYNAMIC\n", NOTHING},
	{"/proc/sys/kernel/osrelease", "6.1.0\n", NOTHING},
	{"/proc/sys/kernel/hostname", "localhost\n", NOTHING},
	{"/proc/sys/vm/overcommit_memory", "0\n", NOTHING},
	{"/sys/kernel/mm/transparent_hugepage/enabled", "always [madvise] never\n", NOTHING},
	{"/proc/meminfo",
	 "MemTotal:        4194304 kB\nMemFree:         2097152 kB\nMemAvailable:    2097152 kB\n"
	 "Buffers:               0 kB\nCached:                0 kB\nSwapTotal:             0 kB\n"
	 "SwapFree:              0 kB\nHugePages_Total:       0\nHugepagesize:       2048 kB\n",
	 NOTHING},
	{"/proc/stat",
	 "cpu  0 0 0 0 0 0 0 0 0 0\ncpu0 0 0 0 0 0 0 0 0 0 0\nintr 0\nctxt 0\nbtime 1999999000\nprocesses 100\n"
	 "procs_running 1\nprocs_blocked 0\n",
	 NOTHING},
	{"/proc/sys/kernel/pid_max", "4194304\n", NOTHING},
	{"/proc/sys/kernel/threads-max", "30000\n", NOTHING},
	{"/proc/sys/kernel/cap_last_cap", "40\n", NOTHING},
	{"/proc/sys/kernel/ngroups_max", "65536\n", NOTHING},
	{"/proc/sys/vm/max_map_count", "65530\n", NOTHING},
	{"/sys/kernel/mm/transparent_hugepage/hpage_pmd_size", "2097152\n", NOTHING},
	{"/sys/devices/system/node/online", "0\n", NOTHING},
	{"/proc/cpuinfo",
	 "processor\t: 0\nvendor_id\t: GenuineIntel\ncpu family\t: 6\nmodel name\t: shown by tare\n"
	 "physical id\t: 0\nsiblings\t: 1\ncore id\t\t: 0\ncpu cores\t: 1\nflags\t\t: fpu tsc cx8 cmov "
	 "mmx fxsr sse sse2 syscall nx lm pni ssse3 cx16 sse4_1 sse4_2 popcnt lahf_lm",
	 FEATURES},
};
enum { FILES = sizeof files / sizeof *files };

#define FLAGS_V3 " fma movbe xsave avx f16c abm bmi1 avx2 bmi2"
#define FLAGS_V4 " avx512f avx512dq avx512cd avx512bw avx512vl xsavec"

static void write_text(uint64_t fd, const char *text) { sys3(SYS_write, fd, text, text_length(text)); }

static void write_auxv(uint64_t fd)
{
	const void *vector;
	uint64_t bytes = served_vector(&vector);
	sys3(SYS_write, fd, vector, bytes);
}

static void write_cpuinfo(uint64_t fd)
{
	if (rt.served >= SERVED_V3)
		write_text(fd, FLAGS_V3);
	if (rt.served >= SERVED_V4)
		write_text(fd, FLAGS_V4);
	write_text(fd, "\n\n");
}

/* Of random numbers: version 4 (RFC 9562). Another one each time that the file is opened. */
static void write_uuid(uint64_t fd)
{
	char text[] = "00000000-0000-4000-8000-000000000000\n";
	uint64_t number = 0;
	for (unsigned i = 0; i < 36; i++) {
		if (i % 12 == 0)
			number = served_random();
		if (text[i] == '0')
			text[i] = "0123456789abcdef"[number & 15];
		number >>= 4;
	}
	write_text(fd, text);
	served_saw(RECORD_SAW_RANDOM, 0);
}

static bool is_text(const char *a, const char *b) { return !memcmp(a, b, text_length(b) + 1); }

/* Which of the files it is; FILES: none. */
static unsigned which(const char *path)
{
	unsigned i = 0;
	while (i < FILES && !is_text(path, files[i].path))
		i++;
	return i < FILES && rt.served == SERVED_HOST && files[i].rest == FEATURES ? FILES : i;
}

static void write_file(uint64_t fd, unsigned i)
{
	write_text(fd, files[i].text);
	switch (files[i].rest) {
	case NOTHING: break;
	case VECTOR: write_auxv(fd); break;
	case MAPS: served_maps(fd); break;
	case UUID: write_uuid(fd); break;
	case FEATURES: write_cpuinfo(fd); break;
	}
}

/* The path's beginning; what cannot be read is not one of these paths. */
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

/* /proc/thread-self and /proc/PID, of this process, are /proc/self. */
static void own_path(char path[PATH_MOST])
{
	static const char front[] = "/proc/", self[] = "/proc/self/", thread[] = "/proc/thread-self/";
	unsigned n = sizeof front - 1;
	uint64_t id = 0;
	if (memcmp(path, front, n))
		return;
	if (!memcmp(path, thread, sizeof thread - 1))
		n = sizeof thread - 2;
	else if (path[n] >= '1' && path[n] <= '9') {
		for (; path[n] >= '0' && path[n] <= '9' && id >> 32 == 0; n++)
			id = id * 10 + (uint64_t)(path[n] - '0');
		if (path[n] != '/' || id != (uint64_t)sys0(SYS_getpid))
			return;
	} else
		return;
	char name[PATH_MOST];
	memcpy(name, path + n + 1, PATH_MOST - n - 1);
	unsigned length = (unsigned)text_length(name) + 1;
	if (length > PATH_MOST - (sizeof self - 1))
		return;
	memcpy(path, self, sizeof self - 1);
	memcpy(path + sizeof self - 1, name, length);
}

bool served_file(const struct thread *t, uint64_t nr, long *result)
{
	const uint64_t *r = t->reg;
	uint64_t name = nr == SYS_open ? r[X86_RDI] : r[X86_RSI], flags = nr == SYS_open ? r[X86_RSI] : r[X86_RDX];
	char path[PATH_MOST];
	if (flags & O_ACCMODE_ || !path_of(name, path) || path[0] != '/')
		return false;
	own_path(path);
	unsigned i = which(path);
	if (i == FILES)
		return false;
	long real = sys4(SYS_openat, AT_FDCWD_, path, flags, 0), memory, readable;
	*result = real;
	if (failed(real))
		return true;
	memory = sys2(SYS_memfd_create, "shown by tare", MFD_CLOEXEC_);
	if (failed(memory))
		return true;
	write_file((uint64_t)memory, i);
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
