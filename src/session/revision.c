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
	static const char *const top[] = {"git", "rev-parse", "--show-toplevel", NULL};
	static const char *const prefix[] = {"git", "rev-parse", "--show-prefix", NULL};
	static const char *const objects[] = {"git", "rev-parse", "--git-path", "objects", NULL};
	char answer[ANSWER_MOST], told[ANSWER_MOST];
	struct error own = {0};
	if (!git(top, answer, told, &own)) {
		if (own.code == ERROR_NOT_FOUND) {
			if (err)
				*err = own;
			return false;
		}
		error_set(err, ERROR_NOT_FOUND, "--git: this directory is not in a git work tree: %.300s", told);
		return error_hint(err, "change to the project's directory first");
	}
	if (!(out->top = arena_strdup(arena, answer)))
		return error_no_memory(err);
	if (!git(prefix, answer, told, err))
		return false;
	if (!(out->prefix = arena_strdup(arena, answer)))
		return error_no_memory(err);
	if (!git(objects, answer, told, err))
		return false;
	out->objects = answer[0] == '/' ? arena_strdup(arena, answer)
					: arena_printf(arena, "%s/%s%s", out->top, out->prefix, answer);
	if (!out->objects)
		return error_no_memory(err);
	/* git sets these for its hooks: from now on they would make it work on the user's repository in the
	 * folders */
	static const char *const ours[] = {"GIT_DIR",
					   "GIT_WORK_TREE",
					   "GIT_INDEX_FILE",
					   "GIT_OBJECT_DIRECTORY",
					   "GIT_ALTERNATE_OBJECT_DIRECTORIES",
					   "GIT_COMMON_DIR",
					   "GIT_NAMESPACE",
					   "GIT_PREFIX",
					   "GIT_CEILING_DIRECTORIES"};
	for (size_t i = 0; i < sizeof ours / sizeof *ours; i++)
		unsetenv(ours[i]);
	return true;
}

/* A repository in `folder` whose objects are the user's: what is reachable there from nothing but a remote's
 * branch, or in a shallow clone, is also there. */
static bool borrow(const struct repository *repository, const char *folder, struct error *err)
{
	char answer[ANSWER_MOST], told[ANSWER_MOST], format[ANSWER_MOST + 32], path[ANSWER_MOST];
	const char *const show[] = {"git", "-C", repository->top, "rev-parse", "--show-object-format", NULL};
	if (!git(show, answer, told, err))
		return false;
	snprintf(format, sizeof format, "--object-format=%s", answer);
	const char *const init[] = {"git", "init", "--quiet", format, "--template=", folder, NULL};
	if (!git(init, answer, told, err))
		return false;
	if (snprintf(path, sizeof path, "%s/.git/objects/info", folder) >= (int)sizeof path)
		return error_set(err, ERROR_LIMIT, "the path '%s' is too long", folder);
	mkdir(path, 0700); /* without a template git leaves it out */
	if (snprintf(path, sizeof path, "%s/.git/objects/info/alternates", folder) >= (int)sizeof path)
		return error_set(err, ERROR_LIMIT, "the path '%s' is too long", folder);
	FILE *file = fopen(path, "we");
	if (!file)
		return error_set_errno(err, ERROR_IO, errno, "cannot write '%s'", path);
	fprintf(file, "%s\n", repository->objects);
	return fclose(file) == 0 || error_set_errno(err, ERROR_IO, errno, "cannot write '%s'", path);
}

/* Without the user's hooks. */
static bool check_out_there(const char *folder, const char *commit, struct error *err)
{
	char answer[ANSWER_MOST], told[ANSWER_MOST];
	const char *const check_out[] = {"git",      "-C",      folder,     "-c",   "core.hooksPath=/dev/null",
					 "checkout", "--quiet", "--detach", commit, NULL};
	return git(check_out, answer, told, err);
}

bool revision_check_out(const struct repository *repository, const char *revision, const char *folder,
			struct error *err)
{
	char told[ANSWER_MOST], commit[ANSWER_MOST];
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
	return borrow(repository, folder, err) && check_out_there(folder, commit, err);
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
