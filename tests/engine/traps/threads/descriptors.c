/* fact: closing and overwriting every descriptor leaves the program running, and numbers are given as natively */
#include "trap.h"
#include <dirent.h>
#include <sys/resource.h>

static void *body(void *unused)
{
	return unused;
}
static bool works(void)
{
	pthread_t thread;
	pid_t child;
	if (pthread_create(&thread, NULL, body, NULL) || pthread_join(thread, NULL))
		return false;
	if ((child = fork()) == 0) {
		for (int i = 3; i < 8; i++) /* the loader needs a few */
			close(i);
		execl("/bin/true", "true", NULL);
		_exit(1);
	}
	char *code = map_anywhere(4096, PROT_READ | PROT_WRITE | PROT_EXEC);
	write_return(code, 9);
	bool right = call_code(code) == 9;
	munmap(code, 4096);
	return end_of(child) == 0 && right;
}

int main(void)
{
	int first = open("/dev/null", O_RDONLY), second = dup(first);
	fact(first == 3 && second == 4, "the first free descriptors are 3 and 4");
	close(first), close(second);
	struct rlimit limit;
	getrlimit(RLIMIT_NOFILE, &limit);
	int top = limit.rlim_cur > 70000 ? 70000 : (int)limit.rlim_cur;
	int listed = 0;
	DIR *folder = opendir("/proc/self/fd");
	for (struct dirent *entry; (entry = readdir(folder));)
		listed += entry->d_name[0] != '.';
	closedir(folder);
	fact_equal(listed, 4, "/proc/self/fd lists 0, 1, 2 and the folder itself");
	for (int i = 3; i < top; i++)
		if (close(i) == 0)
			fact_equal(i, -1, "no other descriptor is open");
	fact(works(), "everything works after a close of 3 to the limit");
	fact(syscall(SYS_close_range, 3, ~0U, 0) == 0 && works(), "and after close_range(3, ~0)");
	int null = open("/dev/null", O_RDWR), overwritten = 0;
	for (int i = 4; i < top; i++)
		overwritten += dup2(null, i) == i;
	fact_equal(overwritten, top - 4, "dup2 over every number succeeds");
	fact(open("/dev/null", O_RDONLY) == -1 && errno == EMFILE, "then descriptors are used up");
	fact(works(), "and everything works with all of them taken");
	fact(syscall(SYS_close_range, 3, ~0U, 0) == 0 && works(), "and closed again");
	fact(fcntl(1000, F_GETFD) == -1 && errno == EBADF, "descriptor 1000 is not open");
	fact_equal(open("/dev/null", O_RDONLY), 3, "the next one is 3");
	return trap_done();
}
