/* What two commands cost as whole processes, children included, taking turns:
 *
 *     start ROUNDS OUTPUT command a… -- command b…        runs with stdin, stdout and stderr on OUTPUT
 *
 * One line a command: median CPU time (us), median peak memory (KiB), median elapsed time (us), and the lowest and
 * highest decile of the CPU time. Small and in C, because the kernel counts the memory that a process had before
 * its exec into its peak: a launcher that is large hides what is launched. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

struct cost {
	double *cpu_us, *peak_kib, *elapsed_us;
};

static double now_us(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec * 1e6 + (double)now.tv_nsec / 1e3;
}

static int run(char **argv, int output, struct cost *cost, int at)
{
	struct rusage usage;
	int status;
	double begin = now_us();
	pid_t pid = fork();
	if (pid == 0) {
		dup2(output, 0);
		dup2(output, 1);
		dup2(output, 2);
		execvp(argv[0], argv);
		_exit(127);
	}
	if (pid < 0 || wait4(pid, &status, 0, &usage) != pid || !WIFEXITED(status) || WEXITSTATUS(status) != 0)
		return 0;
	if (at < 0)
		return 1;
	cost->elapsed_us[at] = now_us() - begin;
	cost->cpu_us[at] = (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1e6 +
			   (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
	cost->peak_kib[at] = (double)usage.ru_maxrss;
	return 1;
}

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;
	return (x > y) - (x < y);
}

int main(int argc, char **argv)
{
	struct cost costs[2];
	char **commands[2] = {argv + 3, NULL};
	int rounds = argc > 1 ? atoi(argv[1]) : 0;
	for (int i = 3; i < argc && !commands[1]; i++)
		if (strcmp(argv[i], "--") == 0 && i > 3) {
			argv[i] = NULL;
			commands[1] = argv + i + 1;
		}
	if (rounds < 1 || !commands[1] || !commands[1][0]) {
		fprintf(stderr, "usage: start ROUNDS OUTPUT command… -- command…\n");
		return 2;
	}
	int output = open(argv[2], O_RDWR | O_CLOEXEC);
	if (output < 0) {
		perror(argv[2]);
		return 1;
	}
	for (int c = 0; c < 2; c++)
		costs[c] = (struct cost){calloc((size_t)rounds, sizeof(double)),
					 calloc((size_t)rounds, sizeof(double)),
					 calloc((size_t)rounds, sizeof(double))};
	for (int round = -3; round < rounds; round++) /* the first ones warm up */
		for (int c = 0; c < 2; c++)
			/* who comes first changes from round to round */
			if (!run(commands[(round ^ c) & 1], output, &costs[(round ^ c) & 1], round)) {
				fprintf(stderr, "start: '%s' failed\n", commands[(round ^ c) & 1][0]);
				return 1;
			}
	for (int c = 0; c < 2; c++) {
		size_t n = (size_t)rounds;
		qsort(costs[c].cpu_us, n, sizeof(double), compare);
		qsort(costs[c].peak_kib, n, sizeof(double), compare);
		qsort(costs[c].elapsed_us, n, sizeof(double), compare);
		printf("%.0f\t%.0f\t%.0f\t%.0f\t%.0f\n", costs[c].cpu_us[n / 2], costs[c].peak_kib[n / 2],
		       costs[c].elapsed_us[n / 2], costs[c].cpu_us[n / 10], costs[c].cpu_us[n * 9 / 10]);
	}
	return 0;
}
