/* fact: a program's and its threads' names are its own, in prctl, /proc/self/comm, cmdline and environ */
#include "trap.h"
#include <sys/prctl.h>

static void read_all(const char *path, char *text, size_t size)
{
	memset(text, 0, size);
	int file = open(path, O_RDONLY);
	if (file < 0 || read(file, text, size - 1) < 0)
		text[0] = 0;
	close(file);
}

static void *body(void *unused)
{
	char name[32] = { 0 };
	prctl(PR_GET_NAME, name);
	fact(strcmp(name, "prctl_names") == 0, "a new thread has its creator's name");
	prctl(PR_SET_NAME, "a thread's own name");
	pthread_getname_np(pthread_self(), name, sizeof name);
	fact(strcmp(name, "a thread's own ") == 0, "a name is cut at 15 characters");
	return unused;
}

int main(int count, char **argument)
{
	char name[32] = { 0 }, text[1000];
	prctl(PR_GET_NAME, name);
	fact(strcmp(name, "prctl_names") == 0, "the name is the file's");
	read_all("/proc/self/comm", text, sizeof text);
	fact(strcmp(text, "prctl_names\n") == 0, "in /proc/self/comm too");
	read_all("/proc/self/cmdline", text, sizeof text);
	fact(strcmp(text, argument[0]) == 0 && count == 1 && text[strlen(text) + 1] == 0,
	     "/proc/self/cmdline is the program's arguments");
	read_all("/proc/self/environ", text, sizeof text);
	fact(text[0] && strstr(text, "LD_PRELOAD") == NULL && getenv("LD_PRELOAD") == NULL,
	     "/proc/self/environ and environ have nothing added");
	pthread_t thread;
	pthread_create(&thread, NULL, body, NULL);
	pthread_join(thread, NULL);
	prctl(PR_SET_NAME, "renamed");
	read_all("/proc/self/comm", text, sizeof text);
	fact(strcmp(text, "renamed\n") == 0, "a new name is read back");
	fact(prctl(PR_GET_DUMPABLE) == 1, "the program is dumpable");
	prctl(PR_SET_DUMPABLE, 0);
	fact(prctl(PR_GET_DUMPABLE) == 0, "until it is not");
	return trap_done();
}
