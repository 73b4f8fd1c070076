/* fact: a robust mutex of a thread that died is handed on with EOWNERDEAD */
#include "trap.h"

static pthread_mutex_t *mutex;
static void *dies(void *unused)
{
	pthread_mutex_lock(mutex);
	return unused;
}

int main(void)
{
	pthread_mutexattr_t attributes;
	mutex = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	pthread_mutexattr_init(&attributes);
	pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST);
	pthread_mutexattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
	pthread_mutex_init(mutex, &attributes);
	pthread_t thread;
	for (int i = 0; i < 20; i++) {
		pthread_create(&thread, NULL, dies, NULL);
		pthread_join(thread, NULL);
		if (pthread_mutex_lock(mutex) != EOWNERDEAD)
			fact(false, "a thread's death");
		pthread_mutex_consistent(mutex), pthread_mutex_unlock(mutex);
		pid_t child = fork();
		if (child == 0) {
			pthread_mutex_lock(mutex);
			kill(getpid(), SIGKILL);
		}
		end_of(child);
		if (pthread_mutex_lock(mutex) != EOWNERDEAD)
			fact(false, "a process's death");
		pthread_mutex_consistent(mutex), pthread_mutex_unlock(mutex);
	}
	fact(true, "owners that died are reported twenty times each");
	void *head = NULL;
	size_t size = 0;
	fact(syscall(SYS_get_robust_list, 0, &head, &size) == 0 && head && size == 24, "the list is registered");
	return trap_done();
}
