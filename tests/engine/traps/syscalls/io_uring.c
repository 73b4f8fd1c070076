/* fact: io_uring works, including a read and a poll queue thread of the kernel */
#include "trap.h"
#include <linux/io_uring.h>

static unsigned *sq_tail, *sq_mask, *sq_array, *cq_head, *cq_tail, *cq_mask;
static struct io_uring_sqe *entries;
static struct io_uring_cqe *completions;
static int ring;
static int one(struct io_uring_sqe sqe)
{
	unsigned tail = *sq_tail, index = tail & *sq_mask;
	entries[index] = sqe;
	sq_array[index] = index;
	__atomic_store_n(sq_tail, tail + 1, __ATOMIC_RELEASE);
	if (syscall(SYS_io_uring_enter, ring, 1, 1, IORING_ENTER_GETEVENTS, NULL, 0) != 1)
		return -999;
	unsigned head = *cq_head;
	while (head == __atomic_load_n(cq_tail, __ATOMIC_ACQUIRE))
		;
	int result = completions[head & *cq_mask].res;
	__atomic_store_n(cq_head, head + 1, __ATOMIC_RELEASE);
	return result;
}

int main(void)
{
	struct io_uring_params p = { 0 };
	ring = (int)syscall(SYS_io_uring_setup, 8, &p);
	if (ring < 0)
		skip_trap("the kernel has no io_uring");
	char *sq = mmap(NULL, p.sq_off.array + p.sq_entries * 4, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE,
			ring, IORING_OFF_SQ_RING);
	char *cq = mmap(NULL, p.cq_off.cqes + p.cq_entries * sizeof *completions, PROT_READ | PROT_WRITE,
			MAP_SHARED, ring, IORING_OFF_CQ_RING);
	entries =
	    mmap(NULL, p.sq_entries * sizeof *entries, PROT_READ | PROT_WRITE, MAP_SHARED, ring, IORING_OFF_SQES);
	sq_tail = (unsigned *)(sq + p.sq_off.tail), sq_mask = (unsigned *)(sq + p.sq_off.ring_mask),
	sq_array = (unsigned *)(sq + p.sq_off.array);
	cq_head = (unsigned *)(cq + p.cq_off.head), cq_tail = (unsigned *)(cq + p.cq_off.tail),
	cq_mask = (unsigned *)(cq + p.cq_off.ring_mask);
	completions = (struct io_uring_cqe *)(cq + p.cq_off.cqes);
	long wrong = 0;
	for (int i = 0; i < 200; i++)
		wrong += one((struct io_uring_sqe){ .opcode = IORING_OP_NOP }) != 0;
	fact_equal(wrong, 0, "200 empty operations");
	char text[16] = { 0 };
	int file = open("/proc/self/comm", O_RDONLY);
	int got = one(
	    (struct io_uring_sqe){ .opcode = IORING_OP_READ, .fd = file, .addr = (unsigned long)text, .len = 15 });
	fact(got == 9 && strcmp(text, "io_uring\n") == 0, "a read");
	/* the kernel writes code */
	int ends[2];
	char *code = map_anywhere(4096, PROT_READ | PROT_WRITE | PROT_EXEC);
	if (pipe(ends))
		return 2;
	wrong = 0;
	for (int i = 0; i < 50; i++) {
		write_return(text, i);
		wrong += write(ends[1], text, 6) != 6;
		wrong +=
		    one((struct io_uring_sqe){
			.opcode = IORING_OP_READ, .fd = ends[0], .addr = (unsigned long)code, .len = 6 }) != 6;
		wrong += call_code(code) != i;
	}
	fact_equal(wrong, 0, "code read by io_uring runs as read");
	/* where only that file can write */
	int memory = open("/proc/self/mem", O_RDWR);
	wrong = mprotect(code, 4096, PROT_READ | PROT_EXEC) != 0;
	for (int i = 100; i < 110; i++) {
		write_return(text, i);
		wrong += one((struct io_uring_sqe){ .opcode = IORING_OP_WRITE, .fd = memory, .addr = (unsigned long)text, .len = 6, .off = (unsigned long)code }) != 6;
		wrong += call_code(code) != i;
	}
	fact_equal(wrong, 0, "code that it writes through /proc/self/mem runs as written");
	return trap_done();
}
