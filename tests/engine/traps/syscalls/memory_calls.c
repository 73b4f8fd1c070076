/* fact: brk, sbrk, mmap's hints and flags, mremap, mincore and shmat give the program what the kernel gives it */
#include "trap.h"
#include <sys/ipc.h>
#include <sys/shm.h>

extern char end[];
int main(void)
{
	char *start = (char *)syscall(SYS_brk, 0);
	fact(start >= end && start < end + (1L << 36), "the break is behind the program's data");
	char *at = sbrk(100000);
	fact(at != (void *)-1, "sbrk moves it");
	memset(at, 7, 100000);
	fact((char *)sbrk(0) == at + 100000 && at[99999] == 7, "what it gave is memory");
	fact((char *)syscall(SYS_brk, at + (64 << 20)) == at + (64 << 20), "64 MB more by brk");
	at[(64 << 20) - 1] = 1;
	fact((char *)syscall(SYS_brk, at) == at, "and back");
	fact((char *)syscall(SYS_brk, 16) == at, "an impossible break changes nothing");
	void *malloced[200];
	for (int i = 0; i < 200; i++)
		malloced[i] = malloc(1000 * (size_t)i + 1);
	for (int i = 0; i < 200; i++)
		free(malloced[i]);
	char *hinted = mmap((void *)0x200000000000, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	fact(hinted == (void *)0x200000000000, "a free hint is followed");
	fact(mmap(hinted, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0) ==
		     MAP_FAILED &&
		 errno == EEXIST,
	     "MAP_FIXED_NOREPLACE of a mapped page is EEXIST");
	char *low = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_32BIT, -1, 0);
	fact(low != MAP_FAILED && (unsigned long)low < 1UL << 31, "MAP_32BIT is below 2 GB");
	char *lowest = mmap((void *)0x10000, 65536, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
	fact(lowest == (void *)0x10000, "the lowest addresses are free");
	char *huge = mmap(NULL, 1UL << 42, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	fact(huge != MAP_FAILED, "4 TB can be reserved");
	munmap(huge, 1UL << 42);
	fact(mprotect((void *)0x300000000000, 4096, PROT_READ) == -1 && errno == ENOMEM,
	     "mprotect of nothing is ENOMEM");
	char *grown = map_anywhere(4096, PROT_READ | PROT_WRITE);
	grown[5] = 55;
	grown = mremap(grown, 4096, 1 << 20, MREMAP_MAYMOVE);
	fact(grown != MAP_FAILED && grown[5] == 55, "mremap grows a mapping");
	unsigned char in_core[4] = { 0 };
	grown[4096] = 1;
	fact(mincore(grown, 8192, in_core) == 0 && (in_core[0] & 1) && (in_core[1] & 1), "mincore");
	int id = shmget(IPC_PRIVATE, 65536, IPC_CREAT | 0600);
	int *shared = shmat(id, NULL, 0);
	fact(shared != (void *)-1, "shmat");
	pid_t child = fork();
	if (child == 0) {
		shared[100] = 4444;
		_exit(0);
	}
	fact(end_of(child) == 0 && shared[100] == 4444, "memory shared with a child");
	int *second = shmat(id, (void *)0x210000000000, SHM_EXEC);
	fact(second == (void *)0x210000000000, "shmat at an address, executable");
	write_return(second, 321);
	fact_equal(call_code(second), 321, "code in it runs");
	write_return(shared, 322);
	fact_equal(call_code(second), 322, "code written by the other attachment runs");
	fact(shmdt(shared) == 0 && shmdt(second) == 0, "shmdt");
	shmctl(id, IPC_RMID, NULL);
	return trap_done();
}
