/* fact: code that another process writes runs as written: by process_vm_writev, by a thread's number, through /proc/PID/mem */
#include "trap.h"
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/uio.h>

enum { ROUNDS = 20, FILES = 40 };
static char *code, *other, text[2][16];
static int calls[2], answers[2];
static long written;

/* Two pieces: what comes after a first one that may be written is not lost. */
static long write_both(pid_t process, char *second, int value)
{
	char data[4] = "abc";
	write_return(text[0], value);
	struct iovec from[2] = { { data, 3 }, { text[0], 6 } }, to[2] = { { other, 3 }, { second, 6 } };
	return process_vm_writev(process, from, 2, to, 2, 0);
}

/* The child's: a number asks for a code that returns it. */
static void child(int memory, char *target)
{
	int value;
	while (read(calls[0], &value, sizeof value) == (long)sizeof value) {
		write_return(text[0], value);
		written = memory < 0 ? write_both(getppid(), target, value) : pwrite(memory, text[0], 6, (long)target);
		if (write(answers[1], &written, sizeof written) != (long)sizeof written)
			break;
	}
	_exit(0);
}

static pid_t begin(int by_file, char *target)
{
	char path[32];
	if (pipe(calls) || pipe(answers))
		_exit(2);
	snprintf(path, sizeof path, "/proc/%d/mem", (int)getpid());
	pid_t process = fork();
	if (!process) {
		close(calls[1]);
		close(answers[0]);
		child(by_file ? open(path, O_RDWR) : -1, target);
	}
	return process;
}

static void end(pid_t process)
{
	close(calls[1]);
	close(answers[0]);
	waitpid(process, NULL, 0);
	close(calls[0]);
	close(answers[1]);
}

/* Each round another value, in the same place; the parent waits in a read meanwhile. */
static int wrong_rounds(int by_file, char *target, long bytes)
{
	int wrong = 0;
	pid_t process = begin(by_file, target);
	for (int value = 100; value < 100 + ROUNDS; value++) {
		long answer = 0;
		if (write(calls[1], &value, sizeof value) != (long)sizeof value ||
		    read(answers[0], &answer, sizeof answer) != (long)sizeof answer)
			_exit(2);
		wrong += answer != bytes || call_code(target) != value;
	}
	end(process);
	return wrong;
}

static void *by_own_number(void *wrong)
{
	for (int value = 0; value < ROUNDS; value++) {
		write_return(text[1], value);
		struct iovec from = { text[1], 6 }, to = { code, 6 };
		*(int *)wrong += process_vm_writev((pid_t)syscall(SYS_gettid), &from, 1, &to, 1, 0) != 6 ||
				 call_code(code) != value;
	}
	return NULL;
}

/* The engine hears of such files as it does of memory that was written. */
static void then_files(void)
{
	char folder[] = "/tmp/other-process-XXXXXX", path[64];
	code = map_anywhere(4096, PROT_READ | PROT_WRITE | PROT_EXEC);
	write_return(code, 1);
	long wrong = call_code(code) != 1 || !mkdtemp(folder);
	pid_t process = fork();
	if (!process) {
		wrong = write_both(getppid(), code, 2) != 9;
		for (int i = 0; i < FILES; i++) {
			snprintf(path, sizeof path, "%s/%d", folder, i);
			int fd = open(path, O_WRONLY | O_CREAT, 0700);
			wrong += fd < 0 || write(fd, "#", 1) != 1 || close(fd) || close(open(path, O_WRONLY));
		}
		_exit(wrong != 0);
	}
	wrong += end_of(process) != 0;
	wrong += call_code(code) != 2;
	for (int i = 0; i < FILES; i++) {
		snprintf(path, sizeof path, "%s/%d", folder, i);
		unlink(path);
	}
	rmdir(folder);
	_exit((int)wrong);
}

/* Under a filter so long that the engine's calls meet it, too, and that kills whoever calls tgkill. */
static void write_filtered(void)
{
	static struct sock_filter filter[4090];
	struct sock_fprog program = { sizeof filter / sizeof *filter, filter };
	for (unsigned i = 0; i < program.len; i++)
		filter[i] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 0);
	filter[1] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_tgkill, 0, 1);
	filter[2] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL);
	filter[program.len - 1] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	pid_t target = fork();
	if (!target)
		for (;;)
			pause();
	struct iovec from = { text[0], 6 }, to = { other, 6 };
	bool filtered = !prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) && !prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
	long n = process_vm_writev(target, &from, 1, &to, 1, 0);
	kill(target, SIGKILL);
	waitpid(target, NULL, 0);
	_exit(n != 6 || !filtered);
}

int main(void)
{
	int wrong = 0, status;
	char *fixed = map_anywhere(4096, PROT_READ | PROT_WRITE | PROT_EXEC);
	pthread_t thread;
	code = map_anywhere(4096, PROT_READ | PROT_WRITE | PROT_EXEC);
	other = map_anywhere(4096, PROT_READ | PROT_WRITE);
	write_return(fixed, 1);
	if (mprotect(fixed, 4096, PROT_READ | PROT_EXEC) || call_code(fixed) != 1)
		return 2;

	pid_t first = fork();
	if (!first)
		_exit(write_both(getppid(), fixed, 2) < 0 && errno == EPERM);
	waitpid(first, &status, 0);
	if (status)
		skip_trap("a child may not write to its parent's memory");

	fact_equal(end_in_child(then_files), 0, "by a child that opens forty programs for writing behind it");
	/* the same code has run before, so that the engine watches its page */
	for (int value = 0; value < ROUNDS; value++) {
		write_return(code, -1);
		wrong += call_code(code) != -1;
		pid_t process = fork();
		if (!process)
			_exit(write_both(getppid(), code, value) != 9);
		waitpid(process, &status, 0);
		wrong += status != 0 || call_code(code) != value;
	}
	fact_equal(wrong, 0, "by a child that ends, while its parent waits for it");
	code = map_anywhere(4096, PROT_READ | PROT_WRITE | PROT_EXEC);
	fact_equal(wrong_rounds(0, code, 9), 0, "by a child that stays, while its parent reads");
	fact(write_both(getpid(), fixed, 2) == 3 && call_code(fixed) == 1, "what may not be written is not, by itself");
	pid_t process = fork();
	if (!process)
		_exit(write_both(getppid(), fixed, 2) != 3);
	waitpid(process, &status, 0);
	fact(status == 0 && call_code(fixed) == 1, "nor by a child");
	process = fork();
	if (!process)
		_exit(process_vm_writev(getppid(), &(struct iovec){ text[0], 6 }, 1, NULL, 0, 0) != 0);
	fact_equal(end_of(process), 0, "to nowhere nothing is written, and that is no error");
	fact_equal(end_in_child(write_filtered), 0, "by a process whose filter kills it when the engine looks for the other one's threads");

	wrong = 0;
	code = map_anywhere(4096, PROT_READ | PROT_WRITE | PROT_EXEC);
	if (pthread_create(&thread, NULL, by_own_number, &wrong) || pthread_join(thread, NULL))
		return 2;
	fact_equal(wrong, 0, "by a thread that names itself by its own number");
	fact_equal(wrong_rounds(1, code, 6), 0, "by a child, through /proc/PID/mem");
	fact_equal(wrong_rounds(1, fixed, 6), 0, "the same where only that file can write");
	return trap_done();
}
