/*
 * confine [--docker] [--deny NR]… [--user UID] [--read-only] [--mdwe] PROGRAM ARGS: runs a program confined as a container's is.
 * --docker: what Docker's default seccomp profile does not allow to a container without capabilities is refused, as there with EPERM, clone3
 * with ENOSYS. --deny: this system call is. --user: that user and group, without capabilities, and none to be had (no_new_privs).
 * --read-only: no file system can be written to. Status 77: this process may not confine so.
 */
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

static const short docker_refuses[] = {SYS_bpf, SYS_fanotify_init, 430 /* fsopen */, 431, 432, 433, SYS_lookup_dcookie, SYS_mount, 442 /* mount_setattr */,
	429 /* move_mount */, 428 /* open_tree */, SYS_perf_event_open, SYS_quotactl, 443 /* quotactl_fd */, SYS_setdomainname, SYS_sethostname, SYS_setns,
	SYS_syslog, SYS_umount2, SYS_unshare, SYS_reboot, SYS_chroot, SYS_delete_module, SYS_init_module, SYS_finit_module, SYS_acct, SYS_kcmp,
	438 /* pidfd_getfd */, 440 /* process_madvise */, SYS_iopl, SYS_ioperm, SYS_settimeofday, SYS_clock_settime, SYS_vhangup, SYS_get_mempolicy,
	SYS_mbind, SYS_set_mempolicy, 450, SYS_open_by_handle_at, SYS_add_key, SYS_keyctl, SYS_request_key, SYS_userfaultfd, SYS_uselib, SYS_ustat,
	SYS_sysfs, SYS_pivot_root, SYS_kexec_load, SYS_kexec_file_load, SYS_swapon, SYS_swapoff, SYS_nfsservctl, SYS_move_pages, SYS_migrate_pages,
	425 /* io_uring_setup */, 426, 427};

static struct sock_filter filter[512];
static unsigned length;

static void add(struct sock_filter f) { filter[length++] = f; }

static void load(size_t offset) { add((struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, (unsigned)offset)); }

static void refuse(unsigned nr, int error)
{
	add((struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, nr, 0, 1));
	add((struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (unsigned)error));
}

/* Refused if one bit of the first argument is set. */
static void refuse_flags(unsigned nr, unsigned flags)
{
	add((struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, nr, 0, 4));
	load(offsetof(struct seccomp_data, args));
	add((struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, flags, 0, 1));
	add((struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM));
	load(offsetof(struct seccomp_data, nr));
}

static int not_here(const char *what)
{
	fprintf(stderr, "confine: %s: %s\n", what, strerror(errno));
	return 77;
}

int main(int argc, char **argv)
{
	int i = 1, user = -1;
	load(offsetof(struct seccomp_data, nr));
	for (; i < argc && !strncmp(argv[i], "--", 2); i++) {
		if (!strcmp(argv[i], "--docker")) {
			for (size_t k = 0; k < sizeof docker_refuses / sizeof *docker_refuses; k++)
				refuse((unsigned)docker_refuses[k], EPERM);
			refuse(SYS_clone3, ENOSYS);
			refuse_flags(SYS_clone, 0x7e020000); /* new namespaces */
			refuse_flags(SYS_personality, 0x00040000); /* ADDR_NO_RANDOMIZE, of what it refuses */
		} else if (!strcmp(argv[i], "--deny") && i + 1 < argc) {
			refuse((unsigned)atoi(argv[++i]), EPERM);
		} else if (!strcmp(argv[i], "--user") && i + 1 < argc) {
			user = atoi(argv[++i]);
		} else if (!strcmp(argv[i], "--mdwe")) {
			if (prctl(65 /* PR_SET_MDWE */, 1, 0, 0, 0))
				return not_here("PR_SET_MDWE");
		} else if (!strcmp(argv[i], "--read-only")) {
			struct { unsigned long long set, clear, propagation, userns; } read_only = {1 /* MOUNT_ATTR_RDONLY */, 0, 0, 0};
			if (unshare(CLONE_NEWNS) || mount(NULL, "/", NULL, MS_PRIVATE | MS_REC, NULL) ||
			    syscall(442, AT_FDCWD, "/", 0x8000 /* AT_RECURSIVE */, &read_only, sizeof read_only))
				return not_here("a read-only root");
		}
	}
	if (i >= argc)
		return 2;
	if (user >= 0 && (setgroups(0, NULL) || setgid((gid_t)user) || setuid((uid_t)user)))
		return not_here("another user");
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
		return not_here("no_new_privs");
	add((struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW));
	struct sock_fprog program = {(unsigned short)length, filter};
	if (length > 2 && prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0))
		return not_here("a seccomp filter");
	execvp(argv[i], argv + i);
	return not_here(argv[i]);
}
