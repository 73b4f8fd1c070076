/* fact: munmap, mremap, MAP_FIXED and MADV_DONTNEED over code hold for all threads that ran it */
#include "trap.h"

enum { THREADS = 3 };
static char *code;
static pthread_barrier_t barrier;
static atomic_int stop, expected, faulting;
static atomic_long wrong;
static _Thread_local sigjmp_buf back;

static void handler(int signal, siginfo_t *info, void *context)
{
	(void)signal, (void)context;
	siglongjmp(back, info->si_addr == code || info->si_addr == NULL ? 1 : 2);
}

static void check(void)
{
	for (int i = 0; i < 50; i++) {
		int result, caught = sigsetjmp(back, 1);
		if (!caught)
			result = call_code(code);
		if (faulting ? caught != 1 : caught || result != expected)
			wrong++;
	}
}

static void *body(void *unused)
{
	for (;;) {
		pthread_barrier_wait(&barrier);
		if (stop)
			return unused;
		check();
		pthread_barrier_wait(&barrier);
	}
}

/* All threads call the code and must see `value`, or a fault. */
static void all_see(int value, bool fault)
{
	expected = value;
	faulting = fault;
	pthread_barrier_wait(&barrier);
	check();
	pthread_barrier_wait(&barrier);
}

int main(void)
{
	pthread_t thread[THREADS];
	pthread_barrier_init(&barrier, NULL, THREADS + 1);
	on_signal(SIGSEGV, handler, 0);
	for (int i = 0; i < THREADS; i++)
		pthread_create(&thread[i], NULL, body, NULL);
	code = map_anywhere(16384, PROT_READ | PROT_WRITE | PROT_EXEC);
	int file = memfd_create("code", 0);
	char page[4096] = { 0 };
	for (int i = 0; i < 40; i++) {
		write_return(code, i);
		all_see(i, false);
		munmap(code, 4096);
		all_see(0, true);
		mmap(code, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1,
		     0);
		write_return(code, 1000 + i);
		all_see(1000 + i, false);
		write_return(page, 2000 + i);
		if (pwrite(file, page, 4096, 0) != 4096)
			return 2;
		mmap(code, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_FIXED, file, 0); /* over code that ran */
		all_see(2000 + i, false);
		char *other = map_anywhere(4096, PROT_READ | PROT_WRITE | PROT_EXEC);
		write_return(other, 3000 + i);
		if (mremap(other, 4096, 4096, MREMAP_MAYMOVE | MREMAP_FIXED, code) != code)
			return 3;
		all_see(3000 + i, false);
		char *moved = mremap(code, 4096, 4096, MREMAP_MAYMOVE | MREMAP_FIXED, code + 8192);
		all_see(0, true);
		char *was = code;
		code = moved;
		all_see(3000 + i, false);
		code = was;
		mmap(code, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_FIXED, file, 0);
		write_return(code, 4000 + i);
		all_see(4000 + i, false);
		madvise(code, 4096, MADV_DONTNEED); /* the private page goes, the file's is back */
		all_see(2000 + i, false);
		munmap(code, 4096);
		mmap(code, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1,
		     0);
	}
	stop = 1;
	pthread_barrier_wait(&barrier);
	for (int i = 0; i < THREADS; i++)
		pthread_join(thread[i], NULL);
	fact_equal(wrong, 0, "every thread always ran the code that was mapped, or faulted");
	return trap_done();
}
