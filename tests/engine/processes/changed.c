/*
 * changed HOW over|rest: works, has a child that works, makes the call HOW and works again, and works until the child has ended. With "over" the child then
 * writes random words over every byte of the engine's record that it can reach, wherever /proc/self/maps shows that it is mapped.
 * HOW: a call by name; "none" calls something harmless. Prints what the child did. Status 77: the call is not permitted.
 * changed HOW vfork: the child shares its parent's memory, and then executes `changed reaches`, which prints how many parts of a record are mapped into it.
 */
#define _GNU_SOURCE
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static const struct call { const char *name; long nr, a, b, c; } calls[] = {
	{"none", SYS_getuid, 0, 0, 0}, {"setuid", SYS_setuid, 65534, 0, 0}, {"setgid", SYS_setgid, 65534, 0, 0}, {"setresuid", SYS_setresuid, 65534, 65534, 65534},
	{"setgroups", SYS_setgroups, 0, 0, 0}, {"user", SYS_unshare, CLONE_NEWUSER, 0, 0}, {"mount", SYS_unshare, CLONE_NEWNS, 0, 0},
	{"chroot", SYS_chroot, (long)"/", 0, 0}, {"drop", SYS_prctl, PR_CAPBSET_DROP, 0, 0},
};

/* As many instructions, whatever they do. */
static uint64_t work(uint64_t n)
{
	uint64_t x = n;
	for (uint64_t i = 0; i < n; i++)
		__asm__ volatile("imul $0x5851f42d, %0, %0; add $12345, %0" : "+r"(x));
	return x;
}

/* Raw: nothing that a signal or a lock of libc's could be in. */
static void write_over(void)
{
	static char text[1 << 18];
	FILE *file = fopen("/proc/self/maps", "re");
	uint64_t x = 88172645463325252u;
	size_t n = file ? fread(text, 1, sizeof text - 1, file) : 0;
	text[n] = 0;
	for (char *line = text, *next; *line; line = next) {
		unsigned long low, high;
		char mode[8];
		next = strchr(line, '\n');
		next = next ? next + 1 : line + strlen(line);
		if (sscanf(line, "%lx-%lx %7s", &low, &high, mode) != 3 || mode[1] != 'w' || mode[3] != 's')
			continue;
		for (uint64_t *at = (uint64_t *)low; at < (uint64_t *)high; at += 16) { /* 8 bytes of each 128: all that is in use, in time */
			if ((uint64_t)at - low > 8u << 20)
				break;
			x ^= x << 13, x ^= x >> 7, x ^= x << 17;
			*at = x;
		}
	}
}

static int reaches(void)
{
	char line[4096];
	int parts = 0;
	FILE *file = fopen("/proc/self/maps", "re");
	while (file && fgets(line, sizeof line, file))
		parts += strstr(line, "tare-record") != NULL;
	printf("reaches %d\n", parts);
	return file ? 0 : 3;
}

static pid_t vfork_and_execute(const struct call *call)
{
	pid_t child = vfork();
	if (child == 0) {
		if (syscall(call->nr, call->a, call->b, call->c) < 0)
			_exit(77);
		execl("/proc/self/exe", "changed", "reaches", NULL);
		_exit(3);
	}
	return child;
}

/* A region of its own. */
__attribute__((noinline)) static long around(const struct call *call)
{
	work(10);
	long result = syscall(call->nr, call->a, call->b, call->c);
	work(20);
	return result;
}

int main(int argc, char **argv)
{
	const struct call *call = NULL;
	if (argc == 2 && !strcmp(argv[1], "reaches"))
		return reaches();
	int status = 0, ready[2], go[2];
	char byte = 0;
	for (size_t i = 0; argc > 1 && i < sizeof calls / sizeof *calls; i++)
		if (!strcmp(calls[i].name, argv[1]))
			call = &calls[i];
	if (!call || argc != 3 || pipe(ready) || pipe(go))
		return 2;
	work(1000);
	bool shares = !strcmp(argv[2], "vfork");
	pid_t child = shares ? vfork_and_execute(call) : fork();
	if (child == 0) {
		work(2000);
		if (around(call) < 0)
			_exit(77);
		work(3000);
		if (write(ready[1], &byte, 1) != 1 || read(go[0], &byte, 1) != 1)
			_exit(3);
		if (!strcmp(argv[2], "over"))
			write_over();
		work(4000);
		_exit(0);
	}
	close(ready[1]);
	if (!shares && read(ready[0], &byte, 1) == 1 && write(go[1], &byte, 1) != 1)
		return 3;
	waitpid(child, &status, 0);
	printf("%s\n", WIFEXITED(status) && WEXITSTATUS(status) == 0 ? "done" : WIFEXITED(status) && WEXITSTATUS(status) == 77 ? "refused" : "ended early");
	fflush(stdout);
	work(5000);
	return WIFEXITED(status) && WEXITSTATUS(status) == 77 ? 77 : 0;
}
