/* fact: code on a page that another thread supplies when it is fetched runs, and each page is asked for when it is reached (userfaultfd) */
#include "trap.h"
#include <linux/userfaultfd.h>
#include <poll.h>
#include <sys/ioctl.h>

enum { PAGES = 6 };
static char *code;
static char source[4096] __attribute__((aligned(4096)));
static int uffd;
static volatile int asked[64], count;

/* Page N: mov $N, %eax; ret at its beginning; at 2048 a jump to the next page; at its end an instruction that goes on in the next. */
static void fill(int page)
{
	memset(source, 0x90, sizeof source);
	write_return(source, page);
	memcpy(source + 2048, "\xe9\xfb\x07\x00\x00", 5);
	if (page == 3)
		memcpy(source + 4094, "\xb8\x21", 2); /* mov $0x…21, %eax */
	if (page == 4)
		memcpy(source, "\x03\x00\x00\xc3", 4);
}

static void *supply(void *unused)
{
	struct uffd_msg message;
	while (read(uffd, &message, sizeof message) == sizeof message) {
		int page = (int)((message.arg.pagefault.address - (uint64_t)code) / 4096);
		asked[count++ & 63] = page;
		fill(page);
		struct uffdio_copy copy = { .dst = (uint64_t)code + (uint64_t)page * 4096, .src = (uint64_t)source, .len = 4096 };
		if (ioctl(uffd, UFFDIO_COPY, &copy))
			_exit(5);
	}
	return unused;
}

int main(void)
{
	pthread_t thread;
	uffd = (int)syscall(SYS_userfaultfd, O_CLOEXEC | 1 /* UFFD_USER_MODE_ONLY */);
	if (uffd < 0)
		skip_trap("userfaultfd is not allowed here");
	struct uffdio_api api = { .api = UFFD_API };
	code = map_anywhere(PAGES * 4096, PROT_READ | PROT_WRITE | PROT_EXEC);
	struct uffdio_register area = { .range = { (uint64_t)code, PAGES * 4096 }, .mode = UFFDIO_REGISTER_MODE_MISSING };
	if (ioctl(uffd, UFFDIO_API, &api) || ioctl(uffd, UFFDIO_REGISTER, &area) || pthread_create(&thread, NULL, supply, NULL))
		skip_trap("userfaultfd does not work here");
	fact_equal(call_code(code), 0, "the first page");
	fact_equal(count, 1, "which alone was asked for");
	fact_equal(call_code(code + 2048), 1, "a jump to the second");
	fact_equal(count, 2, "which was asked for then");
	fact_equal(call_code(code + 3 * 4096 + 4094), 0x321, "an instruction on two pages");
	fact(count == 4 && asked[2] == 3 && asked[3] == 4, "both were asked for, in order");
	madvise(code, 4096, MADV_DONTNEED);
	fact_equal(call_code(code), 0, "the first page, given up and asked for again");
	fact_equal(count, 5, "once");
	return trap_done();
}
