/* Where control groups are mounted, from /proc/self/mountinfo of several systems. */
#include "backend/perf/counter/cgroup.h"
#include "tap.h"

static void is_at(const char *mountinfo, const char *path, int version, const char *fact)
{
	struct cgroup_mount mount;
	cgroup_mount_find(mountinfo, strlen(mountinfo), &mount);
	if (!ok(strcmp(mount.path, path) == 0 && mount.version == version, "%s", fact))
		printf("# is '%s', version %d\n", mount.path, mount.version);
}

static void is_of(const char *groups, const char *mountinfo, const char *path, const char *fact)
{
	struct cgroup_mount mount;
	char found[256] = "";
	cgroup_mount_find(mountinfo, strlen(mountinfo), &mount);
	bool is = cgroup_of_process(groups, strlen(groups), &mount, found, sizeof found);
	if (!ok(is == (path != NULL) && (!path || strcmp(found, path) == 0), "%s", fact))
		printf("# is '%s'\n", found);
}

static void groups_of_processes(void)
{
	const char *second = "30 23 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n",
		   *first = "42 31 0:39 / /c/perf rw - cgroup cgroup rw,net_cls,perf_event\n",
		   *inside = "30 23 0:26 /docker/a1 /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n";
	is_of("0::/user.slice/a.scope\n", second, "/sys/fs/cgroup/user.slice/a.scope",
	      "version 2: the line of number 0");
	is_of("9:net_cls,perf_event:/x\n0::/y\n", first, "/c/perf/x", "version 1: the line that names perf_event");
	is_of("9:name=systemd:/x\n0::/", second, "/sys/fs/cgroup/", "the topmost one; no newline at the end");
	is_of("9:pids:/x\n0::/y\n", first, NULL, "version 1 without such a line");
	is_of("9:name=systemd:/x\n", second, NULL, "version 2 without such a line");
	is_of("0::/docker/a1/b\n", inside, "/sys/fs/cgroup/b",
	      "a container's mount begins at a group: below that");
	is_of("0::/docker/a1\n", inside, "/sys/fs/cgroup", "a container's own group");
	is_of("0::/docker/a12\n", inside, "/sys/fs/cgroup/docker/a12",
	      "a group whose name begins alike is another");
	is_of("", second, NULL, "no text");
	is_of("0:\n:::\n0", second, NULL, "lines that are cut");
}

int main(void)
{
	struct error err = {0};
	is_at("30 23 0:26 / /sys/fs/cgroup rw,nosuid,nodev,noexec,relatime shared:4 - cgroup2 cgroup2 "
	      "rw,nsdelegate,memory_recursiveprot\n",
	      "/sys/fs/cgroup", 2, "systemd's: version 2 alone");
	is_at("31 23 0:28 / /sys/fs/cgroup rw,relatime - tmpfs tmpfs rw,mode=755\n"
	      "32 31 0:29 / /sys/fs/cgroup/cpu rw,relatime - cgroup cgroup rw,cpu\n"
	      "41 31 0:38 / /sys/fs/cgroup/unified rw,relatime - cgroup2 cgroup2 rw\n",
	      "/sys/fs/cgroup/unified", 2, "both versions, and perf_event is no controller of version 1");
	is_at("41 31 0:38 / /sys/fs/cgroup/unified rw,relatime - cgroup2 cgroup2 rw\n"
	      "42 31 0:39 / /sys/fs/cgroup/net_cls,perf_event rw shared:9 master:2 - cgroup cgroup "
	      "rw,net_cls,perf_event\n",
	      "/sys/fs/cgroup/net_cls,perf_event", 1, "both, and perf_event is of version 1, with another");
	is_at("42 31 0:39 / /sys/fs/cgroup/not_perf_event rw - cgroup cgroup rw,perf_event_not\n", "", 0,
	      "another controller of a longer name");
	is_at("30 23 0:26 / /mnt/a\\040b\\134c rw - cgroup2 none rw", "/mnt/a b\\c", 2,
	      "a space and a backslash in its name; no newline at the end");
	is_at("30 23 0:26 / /mnt/tmp rw - tmpfs cgroup2 rw\n", "", 0, "a source of that name is no type");
	is_at("30 23 0:26 / /mnt/tmp rw\n- cgroup2 x rw\n\n \n", "", 0, "lines that are cut");
	is_at("", "", 0, "nothing");
	int fd = cgroup_open("tare/no such group", &err);
	ok(fd < 0 && err.code != ERROR_NONE && err.hint[0] && strstr(err.text, "'tare/no such group'"),
	   "a group that is not there: named, with where it was looked for");
	groups_of_processes();
	return done();
}
