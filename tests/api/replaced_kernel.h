/* The kernel of tests on replaced registers (user_access_replaced.h): a counter's page, and an interrupt that
 * comes at a load of a register and changes page and registers before the load is done. Included by one file of a
 * program. */
#ifndef TARE_TESTS_REPLACED_KERNEL_H
#define TARE_TESTS_REPLACED_KERNEL_H

#include <linux/perf_event.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

enum { PAGES_MOST = 64, PAGE = 4096 };

uint64_t *replaced_registers;
uint64_t replaced_clock;
bool replaced_closed;

static struct perf_event_mmap_page *pages[PAGES_MOST];
static size_t n_pages;
static struct perf_event_mmap_page page_begins; /* what a page is when it is mapped */
static bool map_fails;

/* The page's register is its number + 1. */
void *replaced_map(int fd)
{
	(void)fd;
	if (map_fails || n_pages == PAGES_MOST)
		return MAP_FAILED;
	struct perf_event_mmap_page *page = aligned_alloc(PAGE, PAGE);
	*page = page_begins;
	page->index = (uint32_t)n_pages + 1;
	pages[n_pages++] = page;
	return page;
}

static unsigned unmapped;
void replaced_unmap(void *page)
{
	unmapped++;
	free(page);
}

/* ---- the interrupt ---- */

static void (*interrupt)(unsigned time); /* what the kernel does, the time-th time */
static unsigned interrupts, interrupts_most;

static void protect(bool away)
{
	mprotect(replaced_registers, PAGE, away ? PROT_NONE : PROT_READ | PROT_WRITE);
}

/* One instruction, and then on_trap(). */
static void trap(ucontext_t *context, bool on)
{
#if defined(__x86_64__)
	const greg_t trap_flag = 0x100;
	greg_t *flags = &context->uc_mcontext.gregs[REG_EFL];
	*flags = on ? *flags | trap_flag : *flags & ~trap_flag;
#else
	(void)context;
	(void)on;
#endif
}

static void on_fault(int signal, siginfo_t *info, void *context)
{
	(void)signal;
	if ((char *)info->si_addr < (char *)replaced_registers ||
	    (char *)info->si_addr >= (char *)replaced_registers + PAGE)
		abort();
	protect(false);
	interrupt(interrupts++);
	if (interrupts < interrupts_most)
		trap((ucontext_t *)context, true);
}

static void on_trap(int signal, siginfo_t *info, void *context)
{
	(void)signal;
	(void)info;
	trap((ucontext_t *)context, false);
	protect(true);
}

/* At the next loads of a register. */
static void interrupt_next(void (*with)(unsigned), unsigned most)
{
	interrupt = with;
	interrupts = 0;
	interrupts_most = most;
	protect(true);
}

/* The kernel folds the register into the offset, and goes on in another register; the old one counts something
 * else. */
static void moved_by(struct perf_event_mmap_page *page, uint64_t counted, uint64_t register_begins)
{
	page->lock++;
	static uint64_t other = 999999999;
	replaced_registers[page->index] = other;
	other += 1000;
	page->index ^= 8;
	page->offset = (int64_t)(counted - register_begins);
	replaced_registers[page->index] = register_begins;
	page->lock++;
}

static void set_values(size_t page, uint64_t offset, uint64_t value)
{
	pages[page]->offset = (int64_t)offset;
	replaced_registers[pages[page]->index] = value;
}

static struct perf_event_mmap_page *interrupted;
static unsigned move_at; /* the load at which */
static void move_at_load(unsigned time)
{
	if (time == move_at)
		moved_by(interrupted, 5000, 42);
}

static void kernel_begins(void)
{
	struct sigaction faults = { .sa_sigaction = on_fault, .sa_flags = SA_SIGINFO };
	struct sigaction stepped = { .sa_sigaction = on_trap, .sa_flags = SA_SIGINFO };
	sigaction(SIGSEGV, &faults, NULL);
	sigaction(SIGTRAP, &stepped, NULL);
	replaced_registers = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	page_begins = (struct perf_event_mmap_page){
		.pmc_width = 48, .time_mult = 1, .cap_user_rdpmc = 1, .cap_user_time = 1
	};
}

#endif
