/* fact: the exit system call ends a thread, exit_group the process, whatever the other threads do */
#include "trap.h"

static void *spins(void *unused)
{
	for (;;)
		asm volatile("");
	return unused;
}
static void *groups(void *unused)
{
	syscall(SYS_exit_group, 33);
	return unused;
}
static void *ends_thread(void *unused)
{
	syscall(SYS_exit, 44);
	return unused;
}
static void group_from_thread(void)
{
	pthread_t thread;
	pthread_create(&thread, NULL, spins, NULL);
	pthread_create(&thread, NULL, groups, NULL);
	for (;;)
		pause();
}
static void exit_of_thread(void)
{
	pthread_t thread;
	pthread_create(&thread, NULL, ends_thread, NULL);
	sleep_ms(50);
	_exit(22);
}
static void main_exit_syscall(void)
{
	syscall(SYS_exit, 55);
}
static void abort_with_threads(void)
{
	pthread_t thread;
	pthread_create(&thread, NULL, spins, NULL);
	abort();
}
static void at_exit_writes(void)
{
	_exit(66);
}
static void handlers_run(void)
{
	atexit(at_exit_writes);
	exit(1);
}

int main(void)
{
	for (int i = 0; i < 5; i++) {
		fact_equal(end_in_child(group_from_thread), 33, "exit_group from a thread ends all");
		fact_equal(end_in_child(exit_of_thread), 22, "exit in a thread ends it alone");
	}
	fact_equal(end_in_child(main_exit_syscall), 55, "exit of the only thread gives the process's status");
	fact_equal(end_in_child(abort_with_threads), 1000 + SIGABRT, "abort beside a spinning thread");
	fact_equal(end_in_child(handlers_run), 66, "atexit's functions run");
	fact_equal(end_in_child(group_from_thread), 33, "once more");
	return trap_done();
}
