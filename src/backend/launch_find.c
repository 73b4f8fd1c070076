/* The program's file. The search of PATH is that of execvp(3) and env(1): in the PATH that the program will
 * have. */
#include "backend/launch.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

extern char **environ;

static const char *environment_value(char *const *environment, const char *name)
{
	size_t length = strlen(name);
	for (; *environment; environment++)
		if (strncmp(*environment, name, length) == 0 && (*environment)[length] == '=')
			return *environment + length + 1;
	return NULL;
}

/* 0, or why this path cannot be executed. */
static int executable(const char *path)
{
	/* EPERM is a seccomp filter's answer, of one that does not know faccessat2(2): execve(2) will tell */
	struct stat facts;
	if (stat(path, &facts) != 0)
		return errno;
	if (S_ISDIR(facts.st_mode))
		return EISDIR;
	if (!S_ISREG(facts.st_mode))
		return EACCES;
	return faccessat(AT_FDCWD, path, X_OK, AT_EACCESS) == 0 || errno == EPERM ? 0 : errno;
}

bool launch_cannot_execute(struct error *err, const char *name, int os_errno)
{
	switch (os_errno) {
	case ENOENT:
	case ENOTDIR: return error_set_errno(err, ERROR_NOT_FOUND, os_errno, "cannot execute '%s'", name);
	case EISDIR:
		error_set_errno(err, ERROR_PERMISSION, os_errno, "cannot execute '%s'", name);
		return error_hint(err, "name a program in it");
	case EACCES:
		error_set_errno(err, ERROR_PERMISSION, os_errno, "cannot execute '%s'", name);
		return error_hint(err, "make it executable with chmod +x, or name its interpreter before it");
	case ENOEXEC:
		error_set_errno(err, ERROR_PERMISSION, os_errno, "cannot execute '%s'", name);
		return error_hint(err,
				  "not an executable for this machine, and it has no '#!' line: run a shell "
				  "script as: sh %.200s",
				  name);
	case ENOMEM: return error_set_errno(err, ERROR_NO_MEMORY, os_errno, "cannot execute '%s'", name);
	case E2BIG:
		error_set_errno(err, ERROR_LIMIT, os_errno, "cannot execute '%s'", name);
		return error_hint(err, "its arguments and environment exceed the kernel's limit");
	default: return error_set_errno(err, ERROR_SYSTEM, os_errno, "cannot execute '%s'", name);
	}
}

static bool has_word(const char *const *words, const char *name)
{
	for (; *words; words++)
		if (strcmp(*words, name) == 0)
			return true;
	return false;
}

/* What was most likely meant by a name that no program has. */
static void hint_of_name(struct error *err, const char *name)
{
	static const char *const built_in[] = {
		".",       "alias", "bg",    "bind",   "builtin", "case", "cd",    "command", "declare",  "dirs",
		"disown",  "eval",  "exec",  "exit",   "export",  "fc",   "fg",    "for",     "function", "hash",
		"history", "if",    "jobs",  "let",    "local",   "popd", "pushd", "read",    "return",   "select",
		"set",     "shift", "shopt", "source", "time",    "trap", "type",  "typeset", "ulimit",   "umask",
		"unalias", "unset", "until", "wait",   "while",   NULL};
	if (has_word(built_in, name))
		error_hint(err, "the shell does that itself: sh -c '%.100s ...' counts a shell that does it",
			   name);
	else if (strpbrk(name, "|;&<>$`"))
		error_hint(err, "let a shell read the whole line: tare count sh -c '%.150s'", name);
	else if (strchr(name, ' '))
		error_hint(err, "leave out the quotes: the program and its arguments are separate words");
	else if (executable(name) == 0)
		error_hint(err, "there is one in this directory: ./%.200s", name);
}

char *launch_find(const struct command *command, struct error *err)
{
	const char *name = command->argv[0];
	char *const *environment = command->environment ? command->environment : environ;
	char standard[256] = "/bin:/usr/bin";
	int reason = ENOENT, why;
	if (!name || !*name) {
		error_set(err, ERROR_NOT_FOUND, "the program's name is empty");
		return NULL;
	}
	if (strchr(name, '/')) {
		char *path = (why = executable(name)) == 0 ? strdup(name) : NULL;
		if (why) {
			launch_cannot_execute(err, name, why);
			if (why == ENOENT && strchr(name, ' '))
				hint_of_name(err, name);
		} else if (!path)
			error_no_memory(err);
		return path;
	}
	const char *search = environment_value(environment, "PATH");
	if (!search) {
		confstr(_CS_PATH, standard, sizeof standard);
		search = standard;
	}
	char *path = malloc(strlen(search) + strlen(name) + 3);
	if (!path) {
		error_no_memory(err);
		return NULL;
	}
	for (const char *at = search;; at++) {
		size_t length = strcspn(at, ":");
		/* an empty entry is the current directory */
		memcpy(path, length ? at : ".", length ? length : 1);
		size_t used = length ? length : 1;
		path[used] = '/';
		strcpy(path + used + 1, name);
		why = executable(path);
		if (why == 0)
			return path;
		/* one that is there but not executable is what to complain of, if no better one follows; a
		 * directory that this user may not search has nothing for them */
		if (why == EACCES && faccessat(AT_FDCWD, path, F_OK, AT_EACCESS) == 0)
			reason = why;
		at += length;
		if (!*at)
			break;
	}
	if (reason == ENOENT) {
		error_set(err, ERROR_NOT_FOUND, "cannot execute '%s': not found in PATH", name);
		hint_of_name(err, name);
	} else {
		launch_cannot_execute(err, name, reason);
	}
	free(path);
	return NULL;
}
