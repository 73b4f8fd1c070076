/* fact: a fault in the middle of a rep shows the registers as far as it came, and goes on when repaired */
#include "trap.h"

static char *area;
static long faults, at_fault[3], rip_is_rep;
extern char rep_movs_here[], rep_stos_here[], rep_cmps_here[];
static char *volatile expected_rip;

static void handler(int signal, siginfo_t *info, void *context)
{
	long long *r = trap_registers(context);
	(void)signal, (void)info;
	at_fault[0] = r[REG_RCX], at_fault[1] = r[REG_RSI], at_fault[2] = r[REG_RDI];
	rip_is_rep += r[REG_RIP] == (long)expected_rip;
	faults++;
	mprotect(area + 4096, 4096, PROT_READ | PROT_WRITE);
}

int main(void)
{
	static char source[8192];
	for (int i = 0; i < 8192; i++)
		source[i] = (char)(i * 7 + 1);
	area = map_anywhere(8192, PROT_READ | PROT_WRITE);
	on_signal(SIGSEGV, handler, 0);

	mprotect(area + 4096, 4096, PROT_NONE);
	char *to = area, *from = source;
	long count = 6000;
	expected_rip = rep_movs_here;
	asm volatile("rep_movs_here: rep movsb" : "+D"(to), "+S"(from), "+c"(count)::"memory");
	fact_equal(at_fault[0], 6000 - 4096, "rcx at the fault of rep movsb is what remains");
	fact_equal(at_fault[1], (long)source + 4096, "rsi at the fault is how far it came");
	fact_equal(at_fault[2], (long)area + 4096, "rdi at the fault is how far it came");
	fact(count == 0 && to == area + 6000 && from == source + 6000, "it ends complete");
	fact(memcmp(area, source, 6000) == 0 && area[6000] == 0, "it copied all and no more");

	mprotect(area + 4096, 4096, PROT_NONE);
	to = area + 8;
	count = 600;
	expected_rip = rep_stos_here;
	asm volatile("rep_stos_here: rep stosq" : "+D"(to), "+c"(count) : "a"(0x0102030405060708) : "memory");
	fact_equal(at_fault[0], 600 - 511, "rcx at the fault of rep stosq is what remains");
	fact(count == 0 && to == area + 4808, "rep stosq ends complete");

	memcpy(area, source, 6000);
	mprotect(area + 4096, 4096, PROT_NONE);
	to = area, from = source, count = 5000;
	unsigned char equal;
	expected_rip = rep_cmps_here;
	asm volatile("rep_cmps_here: repe cmpsb; sete %3"
		     : "+D"(to), "+S"(from), "+c"(count), "=r"(equal)::"memory", "cc");
	fact_equal(at_fault[0], 5000 - 4096, "rcx at the fault of repe cmpsb is what remains");
	fact(equal && count == 0, "repe cmpsb ends complete");
	fact_equal(faults, 3, "three faults");
	fact_equal(rip_is_rep, 3, "rip was the rep instruction's each time");
	return trap_done();
}
