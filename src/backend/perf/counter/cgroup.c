#include "backend/perf/counter/cgroup.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/file.h"

enum { MOUNTINFO_MOST_BYTES = 16 << 20, FIELDS_MOST = 64 };

struct mount_field {
	const char *at;
	size_t length;
};

static bool is(struct mount_field f, const char *word)
{
	return f.length == strlen(word) && memcmp(f.at, word, f.length) == 0;
}

/* Has a comma-separated list this word? */
static bool lists(struct mount_field f, const char *word)
{
	for (const char *at = f.at, *end = f.at + f.length; at < end;) {
		const char *comma = memchr(at, ',', (size_t)(end - at));
		if (is((struct mount_field){at, (size_t)((comma ? comma : end) - at)}, word))
			return true;
		at = comma ? comma + 1 : end;
	}
	return false;
}

/* "\040" is a space: so the kernel writes names with what separates fields (seq_path()). False: it is too long. */
static bool unescape(struct mount_field f, char *out, size_t size)
{
	size_t n = 0;
	for (size_t i = 0; i < f.length; i++) {
		const char *s = f.at + i;
		bool octal = *s == '\\' && f.length - i >= 4 && s[1] >= '0' && s[1] <= '3' && s[2] >= '0' &&
			     s[2] <= '7' && s[3] >= '0' && s[3] <= '7';
		if (n + 1 >= size)
			return false;
		out[n++] = octal ? (char)((s[1] - '0') << 6 | (s[2] - '0') << 3 | (s[3] - '0')) : *s;
		i += octal ? 3 : 0;
	}
	out[n] = '\0';
	return true;
}

/* proc(5): "31 23 0:28 / /sys/fs/cgroup rw,relatime … - TYPE SOURCE OPTIONS" */
static void look_at(const char *line, size_t length, struct cgroup_mount *out)
{
	struct mount_field fields[FIELDS_MOST];
	size_t n = 0, dash = 0;
	for (const char *at = line, *end = line + length; at < end && n < FIELDS_MOST;) {
		const char *space = memchr(at, ' ', (size_t)(end - at)), *stop = space ? space : end;
		fields[n++] = (struct mount_field){at, (size_t)(stop - at)};
		at = stop + 1;
	}
	for (size_t i = 6; i < n && !dash; i++)
		if (is(fields[i], "-"))
			dash = i;
	if (!dash || dash + 3 >= n)
		return;
	int version = is(fields[dash + 1], "cgroup2")                                           ? 2
		      : is(fields[dash + 1], "cgroup") && lists(fields[dash + 3], "perf_event") ? 1
												: 0;
	/* a controller that is mounted by itself is not in version 2 */
	if (!version || (out->path[0] && version > out->version) || (out->path[0] && version == out->version))
		return;
	char path[sizeof out->path], root[sizeof out->root];
	if (!unescape(fields[4], path, sizeof path) || path[0] != '/' || !unescape(fields[3], root, sizeof root))
		return;
	memcpy(out->path, path, sizeof path);
	memcpy(out->root, root, sizeof root);
	out->version = version;
}

void cgroup_mount_find(const char *mountinfo, size_t length, struct cgroup_mount *out)
{
	*out = (struct cgroup_mount){0};
	for (const char *at = mountinfo, *end = mountinfo + length; at < end;) {
		const char *newline = memchr(at, '\n', (size_t)(end - at)), *stop = newline ? newline : end;
		look_at(at, (size_t)(stop - at), out);
		at = stop + 1;
	}
}

static bool is_cgroup(const char *path)
{
	struct statfs about;
	return statfs(path, &about) == 0 && ((unsigned long)about.f_type == CGROUP2_SUPER_MAGIC ||
					     (unsigned long)about.f_type == CGROUP_SUPER_MAGIC);
}

/* With version 1, each controller has groups of its own. */
static bool is_of(const struct cgroup_mount *mount, int fd)
{
	struct stat root, group;
	return stat(mount->path, &root) == 0 && fstat(fd, &group) == 0 && root.st_dev == group.st_dev;
}

static int open_folder(const char *name, const char *path, const struct cgroup_mount *mount, struct error *err)
{
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd >= 0 && is_cgroup(path) && is_of(mount, fd))
		return fd;
	int why = errno;
	if (fd >= 0) {
		close(fd);
		error_set(err, ERROR_USAGE,
			  is_cgroup(path) ? "'%s' is a group of another controller: it cannot be counted"
					  : "'%s' is not a control group but an ordinary folder",
			  path);
	} else if (why == ENOENT || why == ENOTDIR) {
		error_set(err, ERROR_NOT_FOUND, "there is no control group '%s'", name);
	} else {
		error_set_errno(err, why == EACCES ? ERROR_PERMISSION : ERROR_SYSTEM, why,
				"cannot open the control group '%s'", name);
	}
	error_hint(err, "groups are folders in '%s' (version %d); /proc/PID/cgroup names the group of a process",
		   mount->path, mount->version);
	return -1;
}

static bool find_mount(const char *name, struct cgroup_mount *mount, struct error *err)
{
	size_t length;
	char *text = file_read("/proc/self/mountinfo", MOUNTINFO_MOST_BYTES, &length, err);
	if (!text)
		return false;
	cgroup_mount_find(text, length, mount);
	free(text);
	if (mount->path[0])
		return true;
	error_set(err, ERROR_UNSUPPORTED,
		  "cannot count the control group '%s': no hierarchy that can be counted is mounted", name);
	return error_hint(err, "as root: mount -t cgroup2 none /sys/fs/cgroup");
}

int cgroup_open(const char *name, struct error *err)
{
	struct cgroup_mount mount;
	char *path = NULL;
	if (!find_mount(name, &mount, err))
		return -1;
	size_t under = strlen(mount.path);
	bool whole = strncmp(name, mount.path, under) == 0 && (name[under] == '/' || !name[under]);
	/* a whole path elsewhere: the same hierarchy mounted twice, or nothing that can be counted */
	struct stat about;
	bool below = name[0] == '/' && asprintf(&path, "%s%s", mount.path, name) >= 0 && stat(path, &about) == 0;
	free(path);
	path = NULL;
	whole |= name[0] == '/' && !below && stat(name, &about) == 0;
	if ((whole ? asprintf(&path, "%s", name) : asprintf(&path, "%s/%s", mount.path, name)) < 0) {
		error_no_memory(err);
		return -1;
	}
	int fd = open_folder(name, path, &mount, err);
	free(path);
	return fd;
}

/* ---- a group of tare's own ---- */

/* proc(5): "0::/a" of version 2, "4:perf_event:/a" of version 1 */
static bool is_group_line(struct mount_field line, int version, struct mount_field *path)
{
	const char *end = line.at + line.length, *first = memchr(line.at, ':', line.length);
	const char *second = first ? memchr(first + 1, ':', (size_t)(end - first - 1)) : NULL;
	if (!second)
		return false;
	const struct mount_field number = {line.at, (size_t)(first - line.at)},
				 controllers = {first + 1, (size_t)(second - first - 1)};
	*path = (struct mount_field){second + 1, (size_t)(end - second - 1)};
	return version == 2 ? is(number, "0") && controllers.length == 0 : lists(controllers, "perf_event");
}

bool cgroup_of_process(const char *text, size_t length, const struct cgroup_mount *mount, char *out, size_t size)
{
	size_t root = strcmp(mount->root, "/") == 0 ? 0 : strlen(mount->root);
	for (const char *at = text, *end = text + length; at < end;) {
		const char *newline = memchr(at, '\n', (size_t)(end - at)), *stop = newline ? newline : end;
		struct mount_field path;
		if (is_group_line((struct mount_field){at, (size_t)(stop - at)}, mount->version, &path)) {
			bool below = path.length >= root && memcmp(path.at, mount->root, root) == 0 &&
				     (path.length == root || path.at[root] == '/');
			size_t skip = below ? root : 0;
			int n = snprintf(out, size, "%s%.*s", mount->path, (int)(path.length - skip),
					 path.at + skip);
			return n > 0 && (size_t)n < size;
		}
		at = stop + 1;
	}
	return false;
}

static bool find_own(char *out, size_t size, struct error *err)
{
	struct cgroup_mount mount;
	size_t length;
	if (!find_mount("of tare itself", &mount, err))
		return false;
	char *text = file_read("/proc/self/cgroup", MOUNTINFO_MOST_BYTES, &length, err);
	if (!text)
		return false;
	bool found = cgroup_of_process(text, length, &mount, out, size);
	free(text);
	return found || error_set(err, ERROR_UNSUPPORTED, "tare's own control group is not known");
}

bool own_cgroup_make(struct own_cgroup *own, int *fd, struct error *err)
{
	*fd = -1;
	own->path[0] = '\0';
	if (!find_own(own->above, sizeof own->above, err))
		return false;
	int n = snprintf(own->path, sizeof own->path, "%s/tare-%d", own->above, (int)getpid());
	bool made = n > 0 && (size_t)n < sizeof own->path && (rmdir(own->path), mkdir(own->path, 0755) == 0);
	if (!made) {
		error_set_errno(
			err, errno == EACCES || errno == EPERM || errno == EROFS ? ERROR_PERMISSION : ERROR_SYSTEM,
			errno, "cannot make a control group in '%s'", own->above);
		own->path[0] = '\0';
		return error_hint(err, "this takes root, or a group that belongs to the user");
	}
	*fd = open(own->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (*fd >= 0)
		return true;
	error_set_errno(err, ERROR_SYSTEM, errno, "cannot open the control group '%s'", own->path);
	own_cgroup_end(own);
	return false;
}

static bool put(const char *folder, pid_t pid)
{
	char path[4200], number[16];
	int n = snprintf(number, sizeof number, "%d", (int)pid);
	snprintf(path, sizeof path, "%s/cgroup.procs", folder);
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	bool done = fd >= 0 && write(fd, number, (size_t)n) == n;
	int why = errno;
	if (fd >= 0)
		close(fd);
	errno = why;
	return done;
}

bool own_cgroup_put(const struct own_cgroup *own, pid_t pid, struct error *err)
{
	return put(own->path, pid) ||
	       error_set_errno(err, errno == EACCES || errno == EPERM ? ERROR_PERMISSION : ERROR_SYSTEM, errno,
			       "cannot put the program into the control group '%s'", own->path);
}

void own_cgroup_end(struct own_cgroup *own)
{
	enum { ATTEMPTS = 100 }; /* what is moved may have forked meanwhile */
	for (int i = 0; own->path[0] && i < ATTEMPTS && rmdir(own->path) != 0 && errno == EBUSY; i++) {
		char path[4200];
		int pid;
		snprintf(path, sizeof path, "%s/cgroup.procs", own->path);
		FILE *file = fopen(path, "re");
		while (file && fscanf(file, "%d", &pid) == 1)
			put(own->above, pid);
		if (file)
			fclose(file);
	}
	own->path[0] = '\0';
}
