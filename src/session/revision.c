#include "session/revision.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/str.h"

enum { ANSWER_MOST = 8192, FOLDERS_OPEN = 16 };

/* Runs git; what it writes to standard output (answer) or says (told) is cut to ANSWER_MOST. False: it failed. */
static bool git(const char *const *arguments, char answer[ANSWER_MOST], char told[ANSWER_MOST], struct error *err)
{
	int status = 0, said = -1, out = memfd_create("tare-git", MFD_CLOEXEC);
	bool done = false;
	answer[0] = told[0] = '\0';
	said = memfd_create("tare-git", MFD_CLOEXEC);
	if (out < 0 || said < 0) {
		error_set_errno(err, ERROR_SYSTEM, errno, "cannot start git");
		goto close;
	}
	pid_t pid = fork();
	if (pid == 0) {
		int nothing = open("/dev/null", O_RDONLY);
		dup2(nothing, STDIN_FILENO);
		dup2(out, STDOUT_FILENO);
		dup2(said, STDERR_FILENO);
		setenv("LC_ALL", "C", 1);
		execvp("git", (char *const *)arguments);
		_exit(127);
	}
	if (pid < 0) {
		error_set_errno(err, ERROR_SYSTEM, errno, "cannot start git");
		goto close;
	}
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			break;
	ssize_t got = pread(out, answer, ANSWER_MOST - 1, 0), heard = pread(said, told, ANSWER_MOST - 1, 0);
	answer[got > 0 ? got : 0] = '\0';
	told[heard > 0 ? heard : 0] = '\0';
	answer[strcspn(answer, "\n")] = '\0';
	told[strcspn(told, "\n")] = '\0';
	done = WIFEXITED(status) && WEXITSTATUS(status) == 0;
	if (!done && WIFEXITED(status) && WEXITSTATUS(status) == 127)
		error_set(err, ERROR_NOT_FOUND, "cannot execute 'git': install it to compare revisions");
	else if (!done)
		error_set(err, ERROR_SYSTEM, "git %s failed: %.300s", arguments[1], told);
close:
	if (out >= 0)
		close(out);
	if (said >= 0)
		close(said);
	return done;
}

bool repository_here(struct arena *arena, struct repository *out, struct error *err)
{
	static const char *const top[] = {"git", "rev-parse", "--show-toplevel", NULL}, *const prefix[] = {
												"git", "rev-parse",
												"--show-prefix",
												NULL};
	char answer[ANSWER_MOST], told[ANSWER_MOST];
	struct error own = {0};
	if (!git(top, answer, told, &own)) {
		if (own.code == ERROR_NOT_FOUND) {
			if (err)
				*err = own;
			return false;
		}
		error_set(err, ERROR_NOT_FOUND, "--git: this directory is in no git work tree: %.300s", told);
		return error_hint(err, "change to the project's directory first");
	}
	if (!(out->top = arena_strdup(arena, answer)))
		return error_no_memory(err);
	if (!git(prefix, answer, told, err))
		return false;
	return (out->prefix = arena_strdup(arena, answer)) || error_no_memory(err);
}

bool revision_check_out(const struct repository *repository, const char *revision, const char *folder,
			struct error *err)
{
	char answer[ANSWER_MOST], told[ANSWER_MOST], commit[ANSWER_MOST];
	struct str asked = {0};
	str_appendf(&asked, "%s^{commit}", revision);
	if (asked.failed)
		return error_no_memory(err);
	const char *const parse[] = {"git",      "-C",      repository->top,    "rev-parse",
				     "--verify", "--quiet", "--end-of-options", asked.text,
				     NULL};
	bool found = git(parse, commit, told, NULL);
	str_free(&asked);
	if (!found) {
		error_set(err, ERROR_USAGE, "'%s' is not a commit of '%s'", revision, repository->top);
		return error_hint(err, "'git log --oneline' lists commits");
	}
	const char *const clone[] = {"git", "clone",         "--quiet", "--shared", "--no-checkout",
				     "--",  repository->top, folder,    NULL},
			  *const check_out[] = {"git",     "-C",       folder, "checkout",
						"--quiet", "--detach", commit, NULL};
	return git(clone, answer, told, err) && git(check_out, answer, told, err);
}

static int remove_one(const char *path, const struct stat *status, int kind, struct FTW *place)
{
	(void)status;
	(void)kind;
	(void)place;
	return remove(path) == 0 ? 0 : 1;
}

/* A build may leave folders that are not to be written. */
static int allow_one(const char *path, const struct stat *status, int kind, struct FTW *place)
{
	(void)place;
	if (kind == FTW_D || kind == FTW_DNR)
		chmod(path, (status->st_mode & 07777) | S_IRWXU);
	return 0;
}

bool folder_remove(const char *folder)
{
	nftw(folder, allow_one, FOLDERS_OPEN, FTW_PHYS);
	return nftw(folder, remove_one, FOLDERS_OPEN, FTW_DEPTH | FTW_PHYS) == 0;
}
