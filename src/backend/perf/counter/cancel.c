#include "backend/perf/counter/cancel.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/xattr.h>
#include <unistd.h>

/* Are the bits and capabilities of the file looked at? mnt_may_suid() and task_no_new_privs(). */
static bool gives_rights(const char *path)
{
	struct statvfs mount;
	return prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) != 1 &&
	       !(statvfs(path, &mount) == 0 && (mount.f_flag & ST_NOSUID));
}

const char *exec_cancels(const char *path)
{
	struct stat facts;
	if (stat(path, &facts) != 0)
		return NULL;
	if (faccessat(AT_FDCWD, path, R_OK, AT_EACCESS) != 0)
		return "the kernel does not count programs that their user may not read";
	if (!gives_rights(path))
		return NULL;
	bool other_user = (facts.st_mode & S_ISUID) && facts.st_uid != geteuid();
	bool other_group = (facts.st_mode & (S_ISGID | S_IXGRP)) == (S_ISGID | S_IXGRP) &&
			   facts.st_gid != getegid();
	if (other_user || other_group)
		return "the kernel does not count programs that change their user (set-user-ID)";
	/* to the super-user a file's capabilities add nothing */
	if (geteuid() != 0 && getxattr(path, "security.capability", NULL, 0) > 0)
		return "the kernel does not count programs that are given capabilities";
	return NULL;
}
