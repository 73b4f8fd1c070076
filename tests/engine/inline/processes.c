/* fork, vfork and exec, in turns with the parent. */
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

static long work(long n)
{
	static long table[4096];
	for (long i = 0; i < n; i++)
		table[i * 17 % 4096] += i;
	return table[5];
}

int main(int argc, char **argv)
{
	int status;
	long sum = work(3000);
	pid_t pid;
	if (argc > 1)
		return (int)(work(500) & 7);
	for (int i = 0; i < 3; i++) {
		char *const arguments[] = {argv[0], "child", NULL};
		if (!(pid = fork())) {
			sum = work(1000);
			if (i == 2)
				execv(argv[0], arguments);
			_exit((int)sum & 3);
		}
		waitpid(pid, &status, 0);
		sum += work(1000) + status;
		posix_spawn(&pid, argv[0], NULL, NULL, arguments, environ);
		waitpid(pid, &status, 0);
		sum += work(1000) + status;
		if (!(pid = vfork()))
			_exit(i);
		waitpid(pid, &status, 0);
		sum += work(700);
	}
	printf("%ld\n", sum);
	return 0;
}
