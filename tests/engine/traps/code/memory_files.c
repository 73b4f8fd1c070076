/* fact: code that is written through /proc/PID/mem runs as written, by whatever path that file was opened */
#include "trap.h"
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/uio.h>

static char *code;
static int value;

static long write_at(int memory, const void *bytes, int way)
{
	struct iovec from = { (void *)bytes, 6 };
	return way ? syscall(328 /* pwritev2 */, memory, &from, 1, (long)code, 0L, 0) : pwrite(memory, bytes, 6, (long)code);
}

static void runs_as_written_by(int memory, const char *text, int way)
{
	long wrong = memory < 0;
	for (int i = 0; i < 3 && !wrong; i++) {
		char bytes[16];
		write_return(bytes, ++value);
		wrong += write_at(memory, bytes, way) != 6 || call_code(code) != value;
	}
	fact(!wrong, text);
	close(memory);
}

static void runs_as_written(int memory, const char *text) { runs_as_written_by(memory, text, 0); }

static int opened_by_openat2(void)
{
	uint64_t how[3] = { O_RDWR, 0, 0 }; /* struct open_how */
	return (int)syscall(437, AT_FDCWD, "/proc/self/mem", how, sizeof how);
}

int main(int argc, char **argv)
{
	(void)argc;
	char path[256] = "/proc/self/", link[] = "/tmp/trap-memory-XXXXXX", name[64];
	code = map_anywhere(4096, PROT_READ | PROT_WRITE | PROT_EXEC);
	write_return(code, value);
	if (mprotect(code, 4096, PROT_READ | PROT_EXEC) || call_code(code) != value || !mkdtemp(link))
		return 2;
	/* a way that the engine does not see must not be hidden by one that it saw before: each is a process of its own */
	const char *way = argv[1];
	if (!way) {
		static const char *const ways[] = { "folder", "current", "long", "link", "openat2", "pwritev2", "filter" };
		rmdir(link);
		for (unsigned i = 0; i < sizeof ways / sizeof *ways; i++) {
			int status = -1;
			pid_t child = fork();
			if (!child) {
				execl("/proc/self/exe", argv[0], ways[i], (char *)NULL);
				_exit(90);
			}
			if (waitpid(child, &status, 0) != child || status)
				trap_failed = 1;
		}
		return trap_done();
	}
	if (!strcmp(way, "folder"))
		runs_as_written(openat(open("/proc/self", O_PATH | O_DIRECTORY), "mem", O_RDWR), "by a folder's descriptor");
	else if (!strcmp(way, "current")) {
		if (chdir("/proc/self"))
			return 2;
		runs_as_written(open("mem", O_RDWR), "by the current folder");
	} else if (!strcmp(way, "long")) {
		while (strlen(path) < 200)
			strcat(path, "./");
		runs_as_written(open(strcat(path, "mem"), O_RDWR), "by a long path");
	} else if (!strcmp(way, "link")) {
		snprintf(name, sizeof name, "%s/link", link);
		if (symlink("/proc/self/mem", name))
			return 2;
		runs_as_written(open(name, O_RDWR), "by a symbolic link of another name");
		unlink(name);
	} else if (!strcmp(way, "openat2")) {
		int memory = opened_by_openat2();
		if (memory < 0 && errno == ENOSYS)
			fact(true, "by openat2");
		else
			runs_as_written(memory, "by openat2");
	}
	else if (!strcmp(way, "pwritev2"))
		runs_as_written_by(open("/proc/self/mem", O_RDWR), "written by pwritev2", 1);
	else if (!strcmp(way, "filter")) {
		struct sock_filter allow = { BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ALLOW };
		struct sock_fprog filter = { 1, &allow };
		if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter))
			return 2;
		runs_as_written(open("/proc/self/mem", O_RDWR), "under a seccomp filter");
	}
	rmdir(link);
	return trap_done();
}
