/* Which files raise rights at an exec: execve(2), capabilities(7). Under no_new_privs, and on a file system
 * mounted nosuid, none does; and the kernel withholds none from what a tracer with CAP_SYS_PTRACE traces. */
#include "engine/inject/privileges.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/xattr.h>

#define CAPABILITY_SYS_PTRACE 19u

/* A field of /proc/pid/status in that base; `none` when it is not there. */
static unsigned long long status_field(pid_t pid, const char *field, int base, unsigned long long none)
{
	char path[64], line[256];
	unsigned long long value = none;
	if (pid)
		snprintf(path, sizeof path, "/proc/%d/status", (int)pid);
	FILE *file = fopen(pid ? path : "/proc/self/status", "re");
	while (file && fgets(line, sizeof line, file))
		if (!strncmp(line, field, strlen(field)))
			value = strtoull(line + strlen(field), NULL, base);
	if (file)
		fclose(file);
	return value;
}

int privileges_has(unsigned capability) { return status_field(0, "CapEff:", 16, 0) >> capability & 1; }

const char *privileges_of_file(const char *path, pid_t pid)
{
	struct stat st;
	struct statvfs system;
	const char *why = NULL;
	if (stat(path, &st))
		return NULL;
	if (st.st_mode & S_ISUID)
		why = "it is a set-user-ID program";
	else if ((st.st_mode & (S_ISGID | S_IXGRP)) == (S_ISGID | S_IXGRP))
		why = "it is a set-group-ID program";
	else if (getxattr(path, "security.capability", NULL, 0) > 0)
		why = "its file grants capabilities";
	if (!why || privileges_has(CAPABILITY_SYS_PTRACE))
		return NULL;
	if (statvfs(path, &system) == 0 && (system.f_flag & ST_NOSUID))
		return NULL;
	return status_field(pid, "NoNewPrivs:", 10, 0) ? NULL : why;
}
