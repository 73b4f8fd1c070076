/* fact: execveat by descriptor and folder, #! scripts with arguments, and failing execs behave as the kernel's */
#include "trap.h"
#include <sys/stat.h>

extern char **environ;
static char folder[] = "/tmp/tare-trap-XXXXXX", *self;
static char *path_of(const char *name)
{
	static char path[4][256];
	static int turn;
	turn = (turn + 1) % 4;
	snprintf(path[turn], 256, "%s/%s", folder, name);
	return path[turn];
}
static void make(const char *name, const char *text, mode_t mode)
{
	int file = open(path_of(name), O_CREAT | O_WRONLY | O_TRUNC, 0700);
	if (write(file, text, strlen(text)) < 0)
		_exit(90);
	fchmod(file, mode);
	close(file);
}
static void by_descriptor(void)
{
	int file = open(self, O_RDONLY);
	syscall(SYS_execveat, file, "", (char *[]){ "named", "by-descriptor", NULL }, environ, 0x1000);
	_exit(99);
}
static void by_folder(void)
{
	int file = open("/bin", O_RDONLY | O_DIRECTORY);
	syscall(SYS_execveat, file, "true", (char *[]){ "true", NULL }, environ, 0);
	_exit(99);
}
static void by_fexecve(void)
{
	int file = open(self, O_RDONLY | O_CLOEXEC);
	fexecve(file, (char *[]){ "named", "by-descriptor", NULL }, environ);
	_exit(99);
}
static void script(void)
{
	execl(path_of("script"), "script", "x y", NULL), _exit(99);
}
static void script_of_script(void)
{
	execl(path_of("second"), "second", "x y", NULL), _exit(99);
}
static void own_script(void)
{
	execl(path_of("own"), "own", "last", NULL), _exit(99);
}
static void missing(void)
{
	execl("/nonexistent", "x", NULL), _exit(errno);
}
static void no_right(void)
{
	execl(path_of("plain"), "x", NULL), _exit(errno);
}
static void no_format(void)
{
	execl(path_of("garbage"), "x", NULL), _exit(errno);
}
static void no_interpreter(void)
{
	execl(path_of("lost"), "x", NULL), _exit(errno);
}
static void is_folder(void)
{
	execl("/tmp", "x", NULL), _exit(errno);
}
static void a_loop(void)
{
	execl(path_of("loop"), "x", NULL), _exit(errno);
}
static void not_folder(void)
{
	execl("/etc/passwd/x", "x", NULL), _exit(errno);
}
static void too_big(void)
{
	char *big = malloc(200000);
	memset(big, 'a', 199999);
	big[199999] = 0;
	execl("/bin/true", "true", big, NULL);
	_exit(errno);
}
static void goes_on(void)
{
	for (int i = 0; i < 20; i++)
		execl("/nonexistent", "x", NULL);
	pid_t child = fork();
	if (child == 0)
		execl("/bin/true", "true", NULL);
	_exit(end_of(child) == 0 ? 21 : 1);
}

int main(int count, char **argument)
{
	if (count == 2 && !strcmp(argument[1], "by-descriptor"))
		return strcmp(argument[0], "named") == 0 ? 11 : 12;
	if (count == 4 && !strcmp(argument[1], "one two"))
		return !strcmp(argument[3], "last") && strstr(argument[2], "/own") ? 13 : 14;
	self = realpath(argument[0], NULL);
	if (!mkdtemp(folder))
		return 2;
	char text[600];
	make("script", "#!/bin/sh\n[ \"$1\" = 'x y' ] && exit 15\n", 0700);
	snprintf(text, sizeof text, "#!%s\n", path_of("script"));
	make("second", "#!/usr/bin/env -S sh -e\n[ \"$1\" = 'x y' ] && exit 16\n", 0700);
	snprintf(text, sizeof text, "#! %s one two\n", self);
	make("own", text, 0700);
	make("plain", "#!/bin/sh\n", 0600);
	make("garbage", "\177ELFnonsense", 0700);
	make("lost", "#!/nonexistent/interpreter\n", 0700);
	snprintf(text, sizeof text, "#!%s\n", path_of("loop"));
	make("loop", text, 0700);
	fact_equal(end_in_child(by_descriptor), 11, "execveat of a descriptor with an empty path");
	fact_equal(end_in_child(by_folder), 0, "execveat below a folder");
	fact_equal(end_in_child(by_fexecve), 11, "fexecve of a descriptor that closes on exec");
	fact_equal(end_in_child(script), 15, "a #! script");
	fact_equal(end_in_child(script_of_script), 16, "a #! script by env -S");
	fact_equal(end_in_child(own_script), 13, "a #! line with an argument of two words is one argument");
	fact_equal(end_in_child(missing), ENOENT, "a missing program is ENOENT");
	fact_equal(end_in_child(no_right), EACCES, "a file without the right is EACCES");
	fact_equal(end_in_child(no_format), ENOEXEC, "a broken ELF file is ENOEXEC");
	fact_equal(end_in_child(no_interpreter), ENOENT, "a missing interpreter is ENOENT");
	fact_equal(end_in_child(is_folder), EACCES, "a folder is EACCES");
	fact_equal(end_in_child(a_loop), ELOOP, "a script that is its own interpreter is ELOOP");
	fact_equal(end_in_child(not_folder), ENOTDIR, "a path through a file is ENOTDIR");
	fact_equal(end_in_child(too_big), E2BIG, "an argument of 200000 bytes is E2BIG");
	fact_equal(end_in_child(goes_on), 21, "a program goes on after failed execs");
	if (system(NULL)) {
		char command[300];
		snprintf(command, sizeof command, "rm -r %s", folder);
		fact_equal(system(command), 0, "cleaned");
	}
	return trap_done();
}
