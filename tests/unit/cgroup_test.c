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
	return done();
}
