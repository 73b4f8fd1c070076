/* The commit of a working tree, from git's files alone: gitrepository-layout(5), gitglossary(7) "symref". */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file.h"
#include "base/str.h"
#include "session/surroundings.h"

enum {
	REF_MOST_BYTES = 4096,
	PACKED_MOST_BYTES = 32 << 20,
	SYMREFS_MOST = 5, /* as git's SYMREF_MAXDEPTH */
	SHA1_DIGITS = 40,
	SHA256_DIGITS = 64,
};

static bool is_commit(const char *text, size_t length)
{
	return (length == SHA1_DIGITS || length == SHA256_DIGITS) && strspn(text, "0123456789abcdef") >= length;
}

/* A file below a folder, whole and trimmed; NULL. The caller frees it. */
static char *read_below(const char *folder, const char *name, size_t most)
{
	struct str path = {0};
	struct stat status;
	char *text = NULL;
	str_appendf(&path, "%s/%s", folder, name);
	/* a pipe or a device of that name is not waited for */
	if (!path.failed && stat(path.text, &status) == 0 && S_ISREG(status.st_mode))
		text = file_read(path.text, most, NULL, NULL);
	str_free(&path);
	if (text) {
		char *trimmed = str_trim(text);
		memmove(text, trimmed, strlen(trimmed) + 1);
	}
	return text;
}

/* name, where it is relative, seen from folder. The caller frees it. */
static char *join(const char *folder, const char *name)
{
	struct str path = {0};
	str_appendf(&path, "%s%s%s", *name == '/' ? "" : folder, *name == '/' ? "" : "/", name);
	return str_take(&path);
}

/* The repository's folder around a directory: .git, or where a file .git says. NULL: none. */
static char *find_git_folder(const char *directory)
{
	char *at = strdup(directory);
	char *found = NULL;
	while (at && !found) {
		struct stat status;
		char *git = join(at, ".git");
		if (git && stat(git, &status) == 0) {
			char *text = S_ISREG(status.st_mode) ? read_below(at, ".git", REF_MOST_BYTES) : NULL;
			if (S_ISDIR(status.st_mode))
				found = strdup(git);
			else if (text && strncmp(text, "gitdir: ", 8) == 0)
				found = join(at, text + 8);
			free(text);
			free(git);
			break;
		}
		free(git);
		char *slash = strrchr(at, '/');
		if (!slash || (slash == at && !at[1]))
			break;
		slash[slash == at] = '\0';
	}
	free(at);
	return found;
}

/* "COMMIT REF" lines. */
static char *find_packed(const char *common, const char *ref)
{
	char *text = read_below(common, "packed-refs", PACKED_MOST_BYTES), *commit = NULL;
	size_t length = strlen(ref);
	for (char *line = text; line && *line && !commit;) {
		size_t digits = strcspn(line, " \n");
		char *name = line + digits + 1;
		if (line[digits] == ' ' && is_commit(line, digits) && strncmp(name, ref, length) == 0 &&
		    (name[length] == '\n' || name[length] == '\0'))
			commit = strndup(line, digits);
		line = strchr(line, '\n');
		line += line != NULL;
	}
	free(text);
	return commit;
}

/* Follows a reference to its commit. */
static char *resolve(const char *git, const char *common)
{
	char *text = read_below(git, "HEAD", REF_MOST_BYTES), *commit = NULL;
	for (int i = 0; text && i < SYMREFS_MOST; i++) {
		if (is_commit(text, strlen(text))) {
			commit = text;
			text = NULL;
			break;
		}
		if (strncmp(text, "ref: refs/", 10) != 0 || strstr(text, ".."))
			break;
		char *ref = text + 5;
		/* branches are all worktrees' */
		char *next = read_below(common, ref, REF_MOST_BYTES);
		if (!next)
			commit = find_packed(common, ref);
		free(text);
		text = next;
	}
	free(text);
	return commit;
}

const char *surroundings_git_commit(struct arena *arena, const char *directory)
{
	char *git = find_git_folder(directory), *commit = NULL;
	const char *kept = NULL;
	if (git) {
		char *text = read_below(git, "commondir", REF_MOST_BYTES);
		char *common = text ? join(git, text) : strdup(git);
		commit = common ? resolve(git, common) : NULL;
		free(text);
		free(common);
	}
	if (commit)
		kept = arena_strdup(arena, commit);
	free(commit);
	free(git);
	return kept;
}
