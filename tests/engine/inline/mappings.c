/*
 * Pages that were accessed, and then may not be: a line of theirs that was not is not accessed, where a handler jumps away from the fault. Each way a
 * program has to change that; and pages that the engine itself protects, as they have code.
 */
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/shm.h>
#include <unistd.h>

static sigjmp_buf back;
static int faults;

static void handler(int signo)
{
	(void)signo;
	faults++;
	siglongjmp(back, 1);
}

static void touch(volatile char *page)
{
	for (int i = 0; i < 8; i++)
		page[i * 64] += 1;
}

/* A line that was not touched: read, and another one written. */
static void fault(volatile char *page, int line)
{
	if (!sigsetjmp(back, 1))
		(void)page[line * 64];
	if (!sigsetjmp(back, 1))
		page[line * 64 + 64] = 1;
}

static char *fresh(void) { return mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0); }

static void changes(int line)
{
	char *page = fresh(), *to;
	touch(page);
	mprotect(page, 4096, PROT_NONE);
	fault(page, line);
	mprotect(page, 4096, PROT_READ | PROT_WRITE);
	touch(page);
	mprotect(page, 4096, PROT_READ);
	fault(page, line);
	munmap(page, 4096);
	fault(page, line);

	page = fresh();
	touch(page);
	to = mremap(page, 4096, 4096, MREMAP_MAYMOVE | MREMAP_FIXED, mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
	fault(page, line);
	munmap(to, 4096);

	page = fresh();
	touch(page);
	if (!madvise(page, 4096, 102)) /* MADV_GUARD_INSTALL, Linux 6.13 */
		fault(page, line);
	munmap(page, 4096);

	sbrk((long)(-(unsigned long)sbrk(0) & 4095));
	page = sbrk(4096);
	touch(page);
	sbrk(-4096);
	fault(page, line);

	int id = shmget(IPC_PRIVATE, 4096, 0600);
	page = shmat(id, NULL, 0);
	touch(page);
	shmdt(page);
	shmctl(id, IPC_RMID, NULL);
	fault(page, line);

	FILE *file = tmpfile();
	if (!file || ftruncate(fileno(file), 4096))
		return;
	page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fileno(file), 0);
	touch(page);
	if (!ftruncate(fileno(file), 0))
		fault(page, line);
	munmap(page, 4096);
	fclose(file);
}

/* lea 1(%rdi), %eax; ret, written anew between calls, a misaligned word beside it, too */
static long code(void)
{
	static const unsigned char text[] = {0x8d, 0x47, 0x01, 0xc3};
	unsigned char *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	long sum = 0;
	int (*volatile call)(int) = (int (*)(int))page;
	memcpy(page, text, sizeof text);
	for (int i = 0; i < 6; i++) {
		page[2] = (unsigned char)i;
		sum += call(i);
		*(volatile int *)(page + 64 * i + 65) = i;
		sum += call(i);
	}
	return sum;
}

int main(void)
{
	struct sigaction action = {.sa_handler = handler};
	long sum = 0;
	sigaction(SIGSEGV, &action, NULL);
	sigaction(SIGBUS, &action, NULL);
	for (int i = 0; i < 6; i++) {
		changes(9 + i * 8);
		sum += code();
	}
	printf("%d %ld\n", faults, sum);
	return 0;
}
