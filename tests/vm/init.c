/* The first process of the test guest: mounts what tests need, runs every program of /tests, says so on the
 * console, and powers the machine off.
 *
 * What the host sees (tests/vm/run reads it): a line `@begin NAME`, the test's output, a line `@end NAME STATUS`,
 * and at the very end `@done`. STATUS is the exit status, or 128 + the signal. The kernel's command line may name
 * the tests to run: `tests=a,b`. */
#include <dirent.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/reboot.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* For one test, on the guest's clock: a test that waits for nothing ends here, one that computes takes longer
 * outside. */
enum { TIME_OUT_S = 120 };

static int by_name(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Is name in the comma list of `tests=` (or is there no such list)? The kernel hands unknown options with '=' to
 * the first process as environment. */
static bool wanted(const char *name)
{
	const char *list = getenv("tests");
	if (!list || !*list)
		return true;
	size_t length = strlen(name);
	for (const char *at = list; at; at = strchr(at, ',')) {
		at += *at == ',';
		if (strncmp(at, name, length) == 0 && (at[length] == ',' || !at[length]))
			return true;
	}
	return false;
}

static void run(const char *name)
{
	char path[300];
	snprintf(path, sizeof path, "/tests/%s", name);
	printf("@begin %s\n", name);
	fflush(stdout);
	pid_t child = fork();
	if (child == 0) {
		setsid();
		alarm(TIME_OUT_S); /* survives exec */
		execl(path, path, (char *)NULL);
		perror(path);
		_exit(127);
	}
	int status = -1;
	/* Orphans that a test left are reaped here too. */
	for (pid_t ended; (ended = wait(&status)) != child;)
		if (ended < 0)
			break;
	fflush(stdout);
	printf("\n@end %s %d\n", name, WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status));
	fflush(stdout);
}

int main(void)
{
	mount("none", "/dev", "devtmpfs", 0, NULL);
	int console = open("/dev/console", O_RDWR);
	for (int fd = 0; fd < 3; fd++)
		dup2(console, fd);
	mount("none", "/proc", "proc", 0, NULL);
	mount("none", "/sys", "sysfs", 0, NULL);
	mount("none", "/sys/kernel/tracing", "tracefs", 0, NULL);
	mkdir("/tmp", 01777);
	chmod("/tmp", 01777);
	setenv("PATH", "/bin:/usr/bin", 1);
	setenv("TARE_IN_GUEST", "1", 1);
	setenv("TARE", "/bin/tare", 1);
	setenv("TARE_STORE", "none", 1);
	setenv("TARE_KERNELS", "/kernels", 1);
	setenv("TARE_SPINNERS", "/bin/spinners", 1);
	setenv("TARE_IRREGULAR", "/bin/irregular", 1);
	setenv("TARE_REGIONS_COUNTED", "/bin/regions_counted", 1);

	/* The kernel's own default; Debian's is 3, at which an unprivileged user may count nothing. */
	FILE *paranoid = fopen("/proc/sys/kernel/perf_event_paranoid", "w");
	if (paranoid) {
		fputs("2\n", paranoid);
		fclose(paranoid);
	}

	char *names[256];
	size_t n = 0;
	DIR *tests = opendir("/tests");
	for (struct dirent *entry; tests && (entry = readdir(tests));)
		if (entry->d_name[0] != '.' && wanted(entry->d_name) && n < sizeof names / sizeof *names)
			names[n++] = strdup(entry->d_name);
	qsort(names, n, sizeof *names, by_name);
	for (size_t i = 0; i < n; i++)
		run(names[i]);
	printf("@done\n");
	fflush(stdout);
	sync();
	reboot(RB_POWER_OFF);
	return 1;
}
