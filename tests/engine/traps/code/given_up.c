/* fact: code whose pages are given up is not run from memory of it: madvise over a hole, shmdt, process_madvise, a file that is cut off */
#include "trap.h"
#include <sys/shm.h>
#include <sys/uio.h>

static char *code;

static void run_it(void) { _exit(call_code(code)); }

int main(void)
{
	/* first: whoever has forked has all files that it ever wrote looked at */
	char path[] = "/tmp/given-up-XXXXXX", text[16];
	int fd = mkstemp(path);
	write_return(text, 15);
	if (fd < 0 || write(fd, text, 6) != 6 || close(fd))
		return 7;
	fd = open(path, O_RDONLY);
	code = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
	fact_equal(call_code(code), 15, "code in a file that nobody has open for writing");
	if (truncate(path, 0))
		return 8;
	fact_equal(end_in_child(run_it), 1000 + SIGBUS, "which was cut off by its name");
	unlink(path);

	int all = PROT_READ | PROT_WRITE | PROT_EXEC;
	code = map_anywhere(3 * 4096, all);
	munmap(code + 4096, 4096);
	long wrong = 0;
	for (int i = 0; i < 12; i++) {
		for (int page = 0; page < 3; page += 2) {
			write_return(code + page * 4096, i + page);
			wrong += call_code(code + page * 4096) != i + page;
		}
		if (madvise(code, 3 * 4096, MADV_DONTNEED) == 0 || errno != ENOMEM)
			return 2;
		wrong += end_in_child(run_it) != 1000 + SIGSEGV; /* zeros */
	}
	fact_equal(wrong, 0, "madvise over a hole: what is there is given up all the same");

	/* of itself, by its own number: all advice since Linux 6.13 */
	int self = (int)syscall(434 /* pidfd_open */, getpid(), 0);
	char *whole = code;
	code = map_anywhere(4096, all); /* one that the engine has not come to compare */
	write_return(code, 8);
	wrong = call_code(code) != 8;
	struct iovec given = { code, 4096 };
	if (syscall(440 /* process_madvise */, self, &given, 1, MADV_DONTNEED, 0) == 4096)
		wrong += end_in_child(run_it) != 1000 + SIGSEGV;
	code = whole;
	fact_equal(wrong, 0, "process_madvise, where the kernel takes this advice");

	char *ranges = map_anywhere(16 * 4096, PROT_READ | PROT_WRITE);
	unsigned char resident[16];
	wrong = syscall(440, self, ranges, 4096, MADV_DONTNEED, 0) != -1 || mincore(ranges, sizeof resident * 4096, resident);
	for (size_t i = 0; i < sizeof resident; i++)
		wrong += resident[i] & 1;
	fact_equal(wrong, 0, "more ranges than the kernel takes are refused, and nobody reads them");

	int id = shmget(IPC_PRIVATE, 4096, IPC_CREAT | 0700);
	char *shared = shmat(id, NULL, SHM_EXEC);
	if (shared == (void *)-1)
		return 3;
	write_return(shared, 9);
	fact_equal(call_code(shared), 9, "code in a segment");
	write_return(code, 10);
	fact_equal(call_code(code), 10, "and beside it, in a page that the engine watches");
	shmdt(shared);
	write_return(code, 11);
	fact_equal(call_code(code), 11, "which is written behind shmdt");
	char *again = mmap(shared, 4096, all, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
	write_return(again, 12);
	fact_equal(call_code(again), 12, "other code in the segment's place");
	write_return(again, 13);
	fact_equal(call_code(again), 13, "and written again");
	shmctl(id, IPC_RMID, NULL);

	fd = memfd_create("given-up", 0);
	if (fd < 0 || ftruncate(fd, 4096))
		return 4;
	code = mmap(NULL, 4096, all, MAP_SHARED, fd, 0);
	write_return(code, 14);
	fact_equal(call_code(code), 14, "code in a file");
	if (ftruncate(fd, 0))
		return 5;
	fact_equal(end_in_child(run_it), 1000 + SIGBUS, "which was cut off");
	if (ftruncate(fd, 4096))
		return 6;
	fact_equal(end_in_child(run_it), 1000 + SIGSEGV, "and is zeros when it has grown again");
	return trap_done();
}
