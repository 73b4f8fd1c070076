/* fact: thread ids, limits, usage, affinity, auxv and clocks are the program's */
#include "trap.h"
#include <elf.h>
#include <sched.h>
#include <sys/auxv.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/times.h>

extern char __executable_start[], etext[];
int main(int count, char **argument, char **environment)
{
	int word;
	fact_equal(syscall(SYS_gettid), getpid(), "the main thread's id is the process's");
	fact_equal(syscall(SYS_set_tid_address, &word), getpid(), "set_tid_address gives it");
	char **end = environment;
	while (*end)
		end++;
	fact(argument + count + 1 == environment && argument[count] == NULL,
	     "argv and envp are one after the other");
	Elf64_auxv_t *aux = (void *)(end + 1);
	unsigned long entry = 0, headers = 0, random = 0, name = 0, base = 0, page = 0, secure = 1;
	for (; aux->a_type; aux++) {
		unsigned long value = aux->a_un.a_val;
		switch (aux->a_type) {
		case AT_ENTRY: entry = value; break;
		case AT_PHDR: headers = value; break;
		case AT_RANDOM: random = value; break;
		case AT_EXECFN: name = value; break;
		case AT_BASE: base = value; break;
		case AT_PAGESZ: page = value; break;
		case AT_SECURE: secure = value; break;
		}
	}
	fact(entry > (unsigned long)__executable_start && entry < (unsigned long)etext,
	     "AT_ENTRY is in the program's text");
	fact(headers == (unsigned long)__executable_start + 64, "AT_PHDR is the program's");
	fact(random > (unsigned long)argument, "AT_RANDOM is on the stack");
	fact(strcmp((char *)name, argument[0]) == 0, "AT_EXECFN is the program's path");
	fact(base != 0 && !memcmp((char *)base, ELFMAG, 4), "AT_BASE is the loader");
	fact(page == 4096 && secure == 0, "AT_PAGESZ and AT_SECURE");
	struct rlimit stack;
	getrlimit(RLIMIT_STACK, &stack);
	fact(stack.rlim_cur == RLIM_INFINITY || stack.rlim_cur >= 65536, "the stack's limit");
	cpu_set_t set;
	/* which ones is whoever's who started it; the runner compares with native */
	fact(sched_getaffinity(0, sizeof set, &set) == 0 && CPU_COUNT(&set) >= 1, "it may run on a processor");
	dprintf(1, "on %d of %ld\n", CPU_COUNT(&set), sysconf(_SC_NPROCESSORS_ONLN));
	struct rusage usage;
	struct tms times_now;
	fact(getrusage(RUSAGE_SELF, &usage) == 0 && usage.ru_maxrss > 0 && times(&times_now) != -1,
	     "usage can be asked");
	CPU_ZERO(&set);
	CPU_SET(0, &set);
	if (sched_setaffinity(0, sizeof set, &set) == 0)
		fact_equal(sched_getcpu(), 0, "a pinned program runs where it is pinned");
	else
		fact(true, "a pinned program runs where it is pinned");
	fact(umask(022) >= 0 && getpgrp() > 0 && getsid(0) > 0, "process group and session");
	return trap_done();
}
