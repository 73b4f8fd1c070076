/* What the trap programs share: facts printed one per line, the same text natively and under an engine.
 *
 *   1. Output goes through write(2) at once: no buffer is copied by a fork or lost in a death.
 *   2. A fact that holds prints `yes FACT`, one that does not `NO  FACT`: the exit status is then 1.
 *   3. Status 77 with a last line `SKIP reason` is a machine that lacks what the trap needs.
 */
#ifndef TARE_TRAP_H
#define TARE_TRAP_H

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

static int trap_failed;

__attribute__((unused)) static void fact(bool holds, const char *text)
{
	char line[400];
	int length = snprintf(line, sizeof line, "%s %s\n", holds ? "yes" : "NO ", text);
	if (write(1, line, (size_t)length) != length)
		_exit(99);
	if (!holds)
		trap_failed = 1;
}

/* Prints both values, to stderr, when they differ. */
__attribute__((unused)) static void fact_equal(long is, long expected, const char *text)
{
	if (is != expected)
		dprintf(2, "# is %ld (0x%lx), expected %ld (0x%lx): %s\n", is, is, expected, expected, text);
	fact(is == expected, text);
}

__attribute__((unused, noreturn)) static void skip_trap(const char *reason)
{
	dprintf(1, "SKIP %s\n", reason);
	_exit(77);
}

__attribute__((unused)) static int trap_done(void)
{
	return trap_failed;
}

typedef void trap_handler(int signal, siginfo_t *info, void *context);

__attribute__((unused)) static void on_signal(int signal, trap_handler *handler, int flags)
{
	struct sigaction action = { .sa_sigaction = handler, .sa_flags = SA_SIGINFO | flags };
	sigemptyset(&action.sa_mask);
	if (sigaction(signal, &action, NULL))
		_exit(98);
}

__attribute__((unused)) static long long *trap_registers(void *context)
{
	return ((ucontext_t *)context)->uc_mcontext.gregs;
}

__attribute__((unused)) static void sleep_ms(long ms)
{
	struct timespec pause = { ms / 1000, ms % 1000 * 1000000 };
	while (nanosleep(&pause, &pause) && errno == EINTR)
		;
}

/* How a child ended: its exit status, or 1000 + its signal. */
__attribute__((unused)) static int end_of(pid_t child)
{
	int status = 0;
	while (waitpid(child, &status, 0) < 0)
		if (errno != EINTR)
			return -1;
	return WIFSIGNALED(status) ? 1000 + WTERMSIG(status) : WEXITSTATUS(status);
}

/* How `body` ends in a child of its own. */
__attribute__((unused)) static int end_in_child(void (*body)(void))
{
	pid_t child = fork();
	if (child == 0) {
		body();
		_exit(0);
	}
	return end_of(child);
}

__attribute__((unused)) static void *map_anywhere(size_t bytes, int protection)
{
	void *at = mmap(NULL, bytes, protection, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (at == MAP_FAILED)
		_exit(97);
	return at;
}

/* mov $value, %eax; ret: six bytes. */
__attribute__((unused)) static void write_return(void *code, int value)
{
	unsigned char *byte = code;
	byte[0] = 0xb8;
	memcpy(byte + 1, &value, 4);
	byte[5] = 0xc3;
}

__attribute__((unused)) static int call_code(void *code)
{
	return ((int (*)(void))code)();
}

#endif
