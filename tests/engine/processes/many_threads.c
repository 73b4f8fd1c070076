/* many_threads N: N threads that wait, with small stacks; prints how many there are, and why not more. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void *wait_here(void *arg)
{
	pause();
	return arg;
}

int main(int argc, char **argv)
{
	int wanted = argc > 1 ? atoi(argv[1]) : 1, n = 0, error = 0;
	pthread_attr_t small;
	pthread_attr_init(&small);
	pthread_attr_setstacksize(&small, 16384);
	for (pthread_t t; n < wanted && !error; n += !error)
		error = pthread_create(&t, &small, wait_here, NULL);
	printf("%d %s\n", n, error ? strerror(error) : "all");
	return 0;
}
