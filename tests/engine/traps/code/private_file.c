/* fact: code of a private mapping of a file runs as the file is, whoever writes it: pwrite, a shared mapping, a child, a later open, another program
 * A page shows the file until it is written to by way of the mapping: then it is a copy. */
#include "trap.h"

static char path[] = "/tmp/private-file-XXXXXX";
static char text[16];

static void write_file(int fd, int value)
{
	write_return(text, value);
	if (pwrite(fd, text, 6, 0) != 6)
		_exit(3);
}

static char *map_private(int fd, int protection)
{
	char *code = mmap(NULL, 4096, protection, MAP_PRIVATE, fd, 0);
	if (code == MAP_FAILED)
		_exit(4);
	return code;
}

static int opened(int how)
{
	struct { uint64_t flags, mode, resolve; } open_how = { O_WRONLY, 0, 0 };
	int fd = how == 0 ? open(path, O_WRONLY) : how == 1 ? openat(AT_FDCWD, path, O_RDWR) : (int)syscall(437, AT_FDCWD, path, &open_how, sizeof open_how);
	return fd >= 0 ? fd : open(path, O_WRONLY); /* openat2 is younger than some kernels */
}

/* What another program does, which has not the file mapped. */
static int written_by_program(char **argv)
{
	int value = atoi(argv[2]), fd = open(argv[1], O_WRONLY | O_CREAT | (value % 2 ? O_TRUNC : 0), 0700);
	if (value % 4 == 3) { /* emptied once more */
		close(fd);
		fd = creat(argv[1], 0700);
	}
	write_file(fd, value);
	return close(fd);
}

static long by_another_program(void)
{
	char folder[] = "/tmp/private-file-XXXXXX", name[64], value[16], *code = NULL;
	long wrong = !mkdtemp(folder);
	snprintf(name, sizeof name, "%s/code", folder);
	for (int i = 40; i < 44; i++) {
		snprintf(value, sizeof value, "%d", i);
		pid_t child = fork();
		if (!child) {
			execl("/proc/self/exe", "private_file", name, value, (char *)NULL);
			_exit(90);
		}
		wrong += end_of(child) != 0;
		if (!code) {
			int fd = open(name, O_RDONLY);
			code = map_private(fd, PROT_READ | PROT_EXEC);
			close(fd);
		}
		wrong += call_code(code) != i;
	}
	munmap(code, 4096);
	unlink(name);
	rmdir(folder);
	return wrong;
}

int main(int argc, char **argv)
{
	if (argc == 3)
		return written_by_program(argv);
	int fd = mkstemp(path);
	if (fd < 0 || ftruncate(fd, 4096))
		return 2;
	write_file(fd, 1);
	char *code = map_private(fd, PROT_READ | PROT_EXEC), *shared = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	long wrong = 0;
	for (int i = 5; i < 60; i++) {
		write_file(fd, i);
		wrong += call_code(code) != i;
	}
	fact_equal(wrong, 0, "changed by pwrite, 55 times");
	for (int i = 5; i < 60; i++) {
		write_return(shared, i + 100);
		wrong += call_code(code) != i + 100;
	}
	fact_equal(wrong, 0, "changed by a shared mapping");
	for (int i = 0; i < 8; i++) {
		pid_t child = fork();
		if (!child) {
			if (i & 1)
				write_return(shared, i + 200);
			else
				write_file(fd, i + 200);
			_exit(0);
		}
		wrong += end_of(child) != 0 || call_code(code) != i + 200;
	}
	fact_equal(wrong, 0, "changed by a child");
	munmap(shared, 4096);
	munmap(code, 4096);
	close(fd);

	for (int how = 0; how < 6; how++) { /* nobody could write it when it was mapped and ran */
		char name[sizeof path] = "/tmp/private-file-XXXXXX";
		fd = mkstemp(name);
		write_file(fd, 1);
		close(fd);
		unlink(path);
		memcpy(path, name, sizeof path);
		code = map_private(fd = open(path, O_RDONLY), PROT_READ | PROT_EXEC);
		close(fd);
		wrong += call_code(code) != 1;
		pid_t child = how >= 3 ? fork() : 0;
		if (!child) {
			fd = opened(how % 3);
			write_file(fd, 30 + how);
			close(fd);
			if (how >= 3)
				_exit(call_code(code) != 30 + how);
		}
		wrong += how >= 3 && end_of(child) != 0;
		wrong += call_code(code) != 30 + how;
		munmap(code, 4096);
	}
	fact_equal(by_another_program(), 0, "changed by another program, where the file may be executed");
	fact_equal(wrong, 0, "opened for writing after it ran, by this process and by a child");

	fd = open(path, O_RDWR);
	code = map_private(fd, PROT_READ | PROT_WRITE | PROT_EXEC);
	write_file(fd, 70);
	fact_equal(call_code(code), 70, "a writable page that nobody has written is the file's");
	write_return(code, 71);
	write_file(fd, 72);
	fact_equal(call_code(code), 71, "one that was written is a copy");
	madvise(code, 4096, MADV_DONTNEED);
	fact_equal(call_code(code), 72, "and the file's again when the copy is given up");
	unlink(path);
	return trap_done();
}
