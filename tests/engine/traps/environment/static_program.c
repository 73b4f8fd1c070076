/* fact: a static program with threads and thread-locals runs
 * build: -static */
#include "trap.h"
static _Thread_local int mine = 3;
static void *body(void *unused)
{
	mine++;
	return unused;
}
int main(void)
{
	pthread_t thread;
	for (int i = 0; i < 20; i++) {
		pthread_create(&thread, NULL, body, NULL);
		pthread_join(thread, NULL);
	}
	fact(mine == 3, "thread-locals are apart");
	fact(fopen("/nonexistent", "r") == NULL && errno == ENOENT, "errno works");
	return trap_done();
}
