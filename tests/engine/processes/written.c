/* written waits|runs|data|limited: a child writes code into its parent, which waits for it in a system call or executes instructions meanwhile; prints
 * what the code returns then. data: the parent has not executed it before. limited: it waits, and the child may open no file.
 * written programs: it waits, and the child is a program of its own, the second one: written to ADDRESS */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

static void write_return(unsigned char *code, int value)
{
	code[0] = 0xb8; /* mov $value, %eax; ret */
	memcpy(code + 1, &value, sizeof value);
	code[5] = 0xc3;
}

/* /proc/PID/syscall begins with the number of the call that it waits in */
static void until_in(pid_t process, long call)
{
	char path[40], text[40];
	snprintf(path, sizeof path, "/proc/%d/syscall", (int)process);
	for (long now = -1; now != call;) {
		int fd = open(path, O_RDONLY);
		ssize_t n = read(fd, text, sizeof text - 1);
		close(fd);
		if (n <= 0)
			_exit(3); /* not permitted */
		text[n] = 0;
		now = text[0] != 'r' ? strtol(text, NULL, 10) : -1;
	}
}

static int write_to(void *code)
{
	unsigned char next[6];
	struct iovec from = {next, sizeof next}, to = {code, sizeof next};
	write_return(next, 2);
	return process_vm_writev(getppid(), &from, 1, &to, 1, 0) != (ssize_t)sizeof next;
}

static int status_of(char *const *command)
{
	int status = -1;
	pid_t child = fork();
	if (!child) {
		execv("/proc/self/exe", command);
		_exit(127);
	}
	waitpid(child, &status, 0);
	return status;
}

/* The first program ends before the second one begins, which may take over what that has translated. */
static int by_programs(unsigned char *code)
{
	char place[24];
	char *const nothing[] = {"written", "nothing", NULL}, *const to[] = {"written", "to", place, NULL};
	snprintf(place, sizeof place, "%p", (void *)code);
	int before = ((int (*)(void))code)(), first = status_of(nothing), second = status_of(to);
	printf("%d %d %d\n", before, ((int (*)(void))code)(), first | second);
	return 0;
}

int main(int argc, char **argv)
{
	if (argc > 1 && !strcmp(argv[1], "nothing"))
		return 0;
	if (argc > 2 && !strcmp(argv[1], "to")) {
		until_in(getppid(), SYS_wait4);
		return write_to((void *)strtoul(argv[2], NULL, 16));
	}
	int limited = argc > 1 && !strcmp(argv[1], "limited");
	int waits = limited || (argc > 1 && !strcmp(argv[1], "waits")), status = 1;
	unsigned char *code = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	volatile int *done = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	write_return(code, 1);
	if (argc > 1 && !strcmp(argv[1], "programs"))
		return by_programs(code);
	int before = argc > 1 && !strcmp(argv[1], "data") ? 1 : ((int (*)(void))code)();
	pid_t child = fork();
	if (!child) {
		if (waits)
			until_in(getppid(), SYS_wait4);
		else
			while (!*done)
				;
		if (limited)
			setrlimit(RLIMIT_NOFILE, &(struct rlimit){0, 0});
		int failed = write_to(code);
		*done = 2;
		_exit(failed);
	}
	if (!waits) {
		*done = 1;
		while (*done != 2)
			;
	}
	waitpid(child, &status, 0);
	printf("%d %d %d\n", before, ((int (*)(void))code)(), status);
	return 0;
}
