/*
 * fuzz SEED [timer]: generates code, runs it, changes it by every way that a program has, and compares what it returns with interpret.h,
 * which also counts its instructions. Prints the last line `code N instructions`: what runs in the areas, children included.
 *
 * What always holds:
 *  1. The same seed gives the same output and the same N. timer: signals come at any moment besides, which must not matter.
 *  2. A slot (a function) calls only slots of a higher level: every call ends. Its first two instructions are arithmetic with a
 *     4-byte operand, whatever follows: what other code stores into it is that operand, or one of three opcodes.
 *  3. Threads that run at the same time have slots of their own, in the same pages; or they take turns, with everybody's.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "interpret.h"

enum kind { ANON_RWX, ANON_FLIP, DUAL, SHARED_RWX, FILE_RX, FILE_RWX, KINDS };
enum { PAGES = 4, PAGE = 4096, BYTES = PAGES * PAGE, SLOTS_MOST = 60, AREAS = 3, LEVELS = 4, THREADS_MOST = 3, STEPS = 240, FIELDS = 40, ALL_BY_FILE = 13 };

struct slot { uint32_t at, room; unsigned level, owner; };

struct area {
	uint64_t base;
	enum kind kind;
	int fd;
	uint8_t *alias;               /* a second mapping of the file */
	uint8_t shadow[BYTES + 32], file[BYTES];
	bool own[PAGES];              /* of a private mapping of a file: the page is a copy */
	struct slot slots[SLOTS_MOST];
	unsigned n_slots;
};

struct outcome { uint64_t insns, digest, calls, wrong; };

struct worker {
	uint64_t random;
	unsigned owner, owners;       /* its slots; owners 1: all */
	bool alone;                   /* nobody else runs: what changes whole mappings may be done */
	bool filling;                 /* the first code of all goes into the files, so that they hold some whatever is given up */
	struct outcome out;
};

static struct area area[AREAS];
static unsigned areas, mode;
static struct outcome *childs; /* shared with children */

static uint64_t next_random(struct worker *w)
{
	uint64_t z = w->random += 0x9e3779b97f4a7c15;
	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
	z = (z ^ z >> 27) * 0x94d049bb133111eb;
	return z ^ z >> 31;
}

static unsigned below(struct worker *w, unsigned n) { return (unsigned)(next_random(w) % n); }

_Noreturn static void fail(const char *what)
{
	perror(what);
	exit(5);
}

static void must(bool holds, const char *what)
{
	if (!holds)
		fail(what);
}

/* ---- what the memory is to hold ---------------------------------------------------------------- */

static bool of_file(const struct area *a) { return a->kind == FILE_RX || a->kind == FILE_RWX; }
static bool can_store(const struct area *a) { return a->kind == ANON_RWX || a->kind == SHARED_RWX || a->kind == FILE_RWX; }

static struct area *area_of(uint64_t address)
{
	for (unsigned i = 0; i < areas; i++)
		if (address - area[i].base < BYTES)
			return &area[i];
	fprintf(stderr, "fuzz: the interpreter is at 0x%llx\n", (unsigned long long)address);
	exit(4);
}

static const uint8_t *shadow_at(uint64_t address)
{
	const struct area *a = area_of(address);
	return a->shadow + (address - a->base);
}

/* By this process, through the mapping. */
static void shadow_store(struct area *a, uint32_t at, const void *bytes, uint32_t n)
{
	for (uint32_t page = at / PAGE; page <= (at + n - 1) / PAGE; page++)
		a->own[page] = true;
	memcpy(a->shadow + at, bytes, n);
}

/* Into the file. */
static void shadow_file(struct area *a, uint32_t at, const void *bytes, uint32_t n)
{
	memcpy(a->file + at, bytes, n);
	for (uint32_t i = 0; i < n; i++)
		if (!of_file(a) || !a->own[(at + i) / PAGE])
			a->shadow[at + i] = ((const uint8_t *)bytes)[i];
}

static void stored(uint64_t address, const void *bytes, unsigned n)
{
	struct area *a = area_of(address);
	shadow_store(a, (uint32_t)(address - a->base), bytes, n);
}

/* ---- the ways to write ------------------------------------------------------------------------- */

static int protection(const struct area *a) { return can_store(a) ? PROT_READ | PROT_WRITE | PROT_EXEC : PROT_READ | PROT_EXEC; }
static void *at_of(const struct area *a, uint32_t at) { return (void *)(a->base + at); }
static void protect(const struct area *a, int how) { must(!mprotect(at_of(a, 0), BYTES, how), "mprotect"); }

static void by_pipe(struct area *a, uint32_t at, const void *bytes, uint32_t n)
{
	int ends[2];
	must(!pipe(ends) && write(ends[1], bytes, n) == (ssize_t)n, "pipe");
	must(read(ends[0], at_of(a, at), n) == (ssize_t)n, "read");
	close(ends[0]), close(ends[1]);
}

static void by_vector(struct area *a, uint32_t at, const void *bytes, uint32_t n)
{
	struct iovec from = {(void *)bytes, n}, to = {at_of(a, at), n};
	must(process_vm_writev(getpid(), &from, 1, &to, 1, 0) == (ssize_t)n, "process_vm_writev");
}

static void into_file(struct area *a, uint32_t at, const void *bytes, uint32_t n, bool by_call)
{
	if (by_call)
		must(pwrite(a->fd, bytes, n, at) == (ssize_t)n, "pwrite");
	else
		memcpy(a->alias + at, bytes, n);
}

static void await(pid_t child)
{
	int status;
	while (waitpid(child, &status, 0) < 0)
		must(errno == EINTR, "waitpid");
	if (!WIFEXITED(status) || WEXITSTATUS(status)) {
		fprintf(stderr, "fuzz: a child ended with 0x%x\n", (unsigned)status);
		exit(6);
	}
}

static void by_child(struct area *a, uint32_t at, const void *bytes, uint32_t n, unsigned how)
{
	pid_t child = fork();
	must(child >= 0, "fork");
	if (!child) {
		if (a->kind == SHARED_RWX)
			memcpy(at_of(a, at), bytes, n);
		else
			into_file(a, at, bytes, n, how);
		_exit(0);
	}
	await(child);
}

/* Through the file all of it is seen, or nothing: not where one page of two is a copy. */
static bool through_file(const struct area *a, uint32_t at, uint32_t n, unsigned how)
{
	if (a->kind == DUAL || !of_file(a))
		return a->kind == DUAL;
	return a->own[at / PAGE] == a->own[(at + n - 1) / PAGE] && (how == ALL_BY_FILE || (a->kind == FILE_RX ? how & 3 : how & 1));
}

static void write_code(struct worker *w, struct area *a, uint32_t at, const void *bytes, uint32_t n)
{
	unsigned how = w->filling ? ALL_BY_FILE : below(w, 12);
	bool file = through_file(a, at, n, how);
	if (file) {
		if (how < 2 && w->owners == 1)
			by_child(a, at, bytes, n, how & 1);
		else
			into_file(a, at, bytes, n, how & 4);
		shadow_file(a, at, bytes, n);
		return;
	}
	if (a->kind == SHARED_RWX && how < 2 && w->owners == 1) {
		by_child(a, at, bytes, n, 0);
		shadow_store(a, at, bytes, n);
		return;
	}
	if (!can_store(a))
		protect(a, PROT_READ | PROT_WRITE);
	if (how == 2)
		by_pipe(a, at, bytes, n);
	else if (how == 3)
		by_vector(a, at, bytes, n);
	else
		memcpy(at_of(a, at), bytes, n);
	if (!can_store(a))
		protect(a, PROT_READ | PROT_EXEC);
	shadow_store(a, at, bytes, n);
}

/* ---- generated code ---------------------------------------------------------------------------- */

struct code {
	uint8_t bytes[256];
	unsigned n;
	unsigned field[FIELDS], fields, opcode[FIELDS], opcodes; /* where operands of 4 bytes, and opcodes that may be exchanged, are */
	unsigned store[FIELDS], stores;                          /* where the displacement is of a store into itself, and */
	unsigned store_end[FIELDS];
	bool store_opcode[FIELDS];
	uint64_t pc;
	struct area *area;
};

static const uint8_t exchangeable[] = {0x05, 0x2d, 0x35}; /* add, sub, xor eax, imm32 */

static void put(struct code *c, const void *bytes, unsigned n)
{
	memcpy(c->bytes + c->n, bytes, n);
	c->n += n;
}

static void put_byte(struct code *c, unsigned byte) { c->bytes[c->n++] = (uint8_t)byte; }
static void put_word(struct code *c, uint64_t word) { put(c, &word, 4); }

static void put_field(struct worker *w, struct code *c)
{
	if (c->fields < FIELDS)
		c->field[c->fields++] = c->n;
	put_word(c, next_random(w));
}

static void arithmetic(struct worker *w, struct code *c)
{
	if (c->opcodes < FIELDS)
		c->opcode[c->opcodes++] = c->n;
	put_byte(c, exchangeable[below(w, 3)]);
	put_field(w, c);
}

static void plain(struct worker *w, struct code *c)
{
	switch (below(w, 6)) {
	case 0: put(c, "\x69\xc0", 2), put_field(w, c); break;
	case 1: put(c, "\xc1\xc0", 2), put_byte(c, 1 + below(w, 31)); break;
	case 2: put(c, "\x8d\x80", 2), put_field(w, c); break;
	case 3: put(c, below(w, 2) ? "\x0f\x1f\x40\x00" : "\x66\x90\x66\x90", 4); break;
	default: arithmetic(w, c);
	}
}

/* A slot that this one may call; NULL. */
static const struct slot *callee(struct worker *w, const struct slot *s, struct area **in)
{
	for (int tries = 0; tries < 12; tries++) {
		struct area *a = tries < 6 ? *in : &area[below(w, areas)];
		const struct slot *to = &a->slots[below(w, a->n_slots)];
		if (to->level > s->level && to->owner == s->owner && (a == *in || a->kind != SHARED_RWX)) {
			*in = a;
			return to;
		}
	}
	return NULL;
}

static void transfer(struct worker *w, struct code *c, const struct slot *s, bool call)
{
	struct area *a = c->area;
	const struct slot *to = callee(w, s, &a);
	if (!to)
		return;
	uint64_t target = a->base + to->at;
	if (a == c->area && below(w, 3)) {
		put_byte(c, call ? 0xe8 : 0xe9);
		put_word(c, target - (c->pc + c->n + 4));
		return;
	}
	put(c, "\x48\xba", 2);
	put(c, &target, 8);
	put(c, call ? "\xff\xd2" : "\xff\xe2", 2);
}

/* Into itself, to be settled when it is whole; or into the first two instructions of a slot of its owner's. */
static void store(struct worker *w, struct code *c)
{
	bool opcode = below(w, 3) == 0;
	if (!can_store(c->area))
		return;
	put(c, opcode ? "\xc6\x05" : "\xc7\x05", 2);
	unsigned at = c->n;
	put_word(c, 0);
	if (opcode)
		put_byte(c, exchangeable[below(w, 3)]);
	else
		put_word(c, next_random(w));
	c->store[c->stores] = at;
	c->store_end[c->stores] = c->n;
	c->store_opcode[c->stores++] = opcode;
}

static void settle_stores(struct worker *w, struct code *c, unsigned owner)
{
	for (unsigned i = 0; i < c->stores; i++) {
		uint64_t target = 0;
		for (int tries = 0; tries < 6 && !target; tries++) {
			const struct slot *s = &c->area->slots[below(w, c->area->n_slots)];
			if (s->owner == owner)
				target = c->area->base + s->at + (below(w, 2) ? 5 : 0) + !c->store_opcode[i];
		}
		if (!target || below(w, 2))
			target = c->pc + (c->store_opcode[i] ? c->opcode[below(w, c->opcodes)] : c->field[below(w, c->fields)]);
		uint32_t distance = (uint32_t)(target - (c->pc + c->store_end[i]));
		memcpy(c->bytes + c->store[i], &distance, 4);
	}
}

/* rep movsb of four bytes, from one operand of it to another */
static void copy(struct worker *w, struct code *c)
{
	if (!can_store(c->area))
		return;
	for (int i = 0; i < 2; i++) {
		put(c, i ? "\x48\x8d\x35" : "\x48\x8d\x3d", 3);
		put_word(c, (uint64_t)c->field[below(w, c->fields)] - (c->n + 4));
	}
	put(c, "\xb9\x04\x00\x00\x00\xf3\xa4", 7);
}

static void loop(struct worker *w, struct code *c, const struct slot *s)
{
	put_byte(c, 0xb9);
	put_word(c, 1 + below(w, 5));
	unsigned begin = c->n;
	plain(w, c);
	if (!below(w, 4)) {
		put_byte(c, 0x51);
		transfer(w, c, s, true);
		put_byte(c, 0x59);
	}
	put(c, "\xff\xc9\x75", 3);
	put_byte(c, begin - (c->n + 1));
}

static void generate(struct worker *w, struct area *a, const struct slot *s, struct code *c)
{
	*c = (struct code){.pc = a->base + s->at, .area = a};
	arithmetic(w, c);
	arithmetic(w, c);
	unsigned calls = 0;
	while (c->n + 50 < s->room && below(w, 12)) {
		switch (below(w, 10)) {
		case 0: loop(w, c, s); break;
		case 1:
			if (calls++ < 2)
				transfer(w, c, s, true);
			break;
		case 2:
			put(c, below(w, 2) ? "\x85\xf6\x74\x05" : "\x85\xf6\x75\x05", 4);
			arithmetic(w, c);
			break;
		case 3: put(c, "\xd1\xee", 2); break;
		case 4: put(c, "\xeb\x02\x0f\x0b", 4); break;
		case 5: store(w, c); break;
		case 6:
			if (!below(w, 3))
				copy(w, c);
			break;
		default: plain(w, c);
		}
	}
	if (!below(w, 5))
		transfer(w, c, s, false);
	put_byte(c, 0xc3);
	settle_stores(w, c, s->owner);
}

/* ---- steps ------------------------------------------------------------------------------------- */

static struct slot *own_slot(struct worker *w, struct area *a)
{
	for (;;) {
		struct slot *s = &a->slots[below(w, a->n_slots)];
		if (w->owners == 1 || s->owner == w->owner)
			return s;
	}
}

static void call(struct worker *w, struct area *a)
{
	const struct slot *s = own_slot(w, a);
	struct machine m = {.rax = (uint32_t)next_random(w), .rsi = below(w, 8)};
	uint64_t rax = m.rax, rsi = m.rsi, f = a->base + s->at;
	interpret(&m, f);
	__asm__ volatile("lea -128(%%rsp), %%rsp\n\tcall *%[f]\n\tlea 128(%%rsp), %%rsp"
	                 : "+a"(rax), "+S"(rsi) : [f] "r"(f) : "rcx", "rdx", "rdi", "memory", "cc");
	if ((rax != m.rax || rsi != m.rsi) && !w->out.wrong++)
		dprintf(2, "fuzz: kind %d at 0x%llx, call %llu: is %llx %llx, should be %llx %llx\n", (int)a->kind, (unsigned long long)f,
		        (unsigned long long)w->out.calls, (unsigned long long)rax, (unsigned long long)rsi, (unsigned long long)m.rax, (unsigned long long)m.rsi);
	w->out.calls++;
	w->out.insns += m.insns;
	w->out.digest = (w->out.digest ^ rax) * 0x100000001b3 + rsi;
}

static void regenerate(struct worker *w, struct area *a)
{
	struct slot *s = own_slot(w, a);
	struct code c;
	generate(w, a, s, &c);
	write_code(w, a, s->at, c.bytes, c.n);
}

static void patch(struct worker *w, struct area *a)
{
	const struct slot *s = own_slot(w, a);
	uint32_t word = (uint32_t)next_random(w);
	if (below(w, 2))
		write_code(w, a, s->at + 1 + 5 * below(w, 2), &word, 4);
	else
		write_code(w, a, s->at + 5 * below(w, 2), &exchangeable[below(w, 3)], 1);
}

/* Bytes that are no code, beside it. */
static void data(struct worker *w, struct area *a)
{
	const struct slot *s = own_slot(w, a);
	uint64_t word = next_random(w);
	write_code(w, a, s->at + s->room, &word, 8);
}

static void new_mapping(struct area *a)
{
	int flags = MAP_FIXED | (of_file(a) ? MAP_PRIVATE : a->kind == DUAL ? MAP_SHARED : MAP_PRIVATE | MAP_ANONYMOUS);
	must(mmap(at_of(a, 0), BYTES, protection(a), flags, a->fd, 0) == at_of(a, 0), "mmap");
}

/* What happens to whole mappings; nobody else runs. */
static void remap(struct worker *w, struct area *a)
{
	void *elsewhere = (void *)(a->base + 0x8000000);
	unsigned how = below(w, 5);
	bool anonymous = a->kind == ANON_RWX || a->kind == ANON_FLIP;
	if (a->kind == SHARED_RWX || (a->kind == DUAL && how != 2))
		return;
	if (how == 0)
		must(!madvise(at_of(a, 0), BYTES, MADV_DONTNEED), "madvise");
	else if (how == 1)
		new_mapping(a);
	else if (how == 2) {
		must(mremap(at_of(a, 0), BYTES, BYTES, MREMAP_MAYMOVE | MREMAP_FIXED, elsewhere) == elsewhere, "mremap");
		must(mremap(elsewhere, BYTES, BYTES, MREMAP_MAYMOVE | MREMAP_FIXED, at_of(a, 0)) == at_of(a, 0), "mremap");
		return;
	} else {
		protect(a, how == 3 ? PROT_NONE : PROT_READ);
		protect(a, protection(a));
		return;
	}
	memset(a->own, 0, sizeof a->own);
	if (!anonymous) {
		memcpy(a->shadow, a->file, BYTES);
		return;
	}
	if (!can_store(a))
		protect(a, PROT_READ | PROT_WRITE);
	memcpy(at_of(a, 0), a->shadow, BYTES);
	if (!can_store(a))
		protect(a, protection(a));
}

static struct area *any_private(struct worker *w)
{
	for (;;) {
		struct area *a = &area[below(w, areas)];
		if (a->kind != SHARED_RWX)
			return a;
	}
}

/* A child runs the code, and changes what is its own. */
static void in_child(struct worker *w)
{
	pid_t child = fork();
	must(child >= 0, "fork");
	if (!child) {
		w->out = (struct outcome){0};
		for (int i = 0; i < 8; i++) {
			struct area *a = any_private(w);
			if (a->kind == ANON_RWX && !below(w, 2))
				regenerate(w, a);
			call(w, a);
		}
		*childs = w->out;
		_exit(0);
	}
	await(child);
	w->out.insns += childs->insns;
	w->out.wrong += childs->wrong;
	w->out.digest ^= childs->digest;
	next_random(w);
}

static void step(struct worker *w)
{
	struct area *a = &area[below(w, areas)];
	unsigned what = below(w, 100);
	if (what < 60)
		call(w, a);
	else if (what < 78)
		regenerate(w, a);
	else if (what < 90)
		patch(w, a);
	else if (what < 95)
		data(w, a);
	else if (what < 98 && w->alone)
		remap(w, a);
	else if (what < 99 && w->alone)
		in_child(w);
}

/* ---- the program ------------------------------------------------------------------------------- */

static int file_for(unsigned which)
{
	char name[] = "/tmp/code-fuzz-XXXXXX";
	int fd = which & 1 ? memfd_create("code-fuzz", 0) : mkstemp(name);
	must(fd >= 0 && !ftruncate(fd, BYTES), "a file");
	if (!(which & 1))
		unlink(name);
	return fd;
}

static void make_area(struct worker *w, unsigned i, bool together)
{
	static const enum kind shared[] = {ANON_RWX, DUAL, SHARED_RWX};
	struct area *a = &area[i];
	bool low = mode == 7;
	a->kind = together ? shared[below(w, 3)] : i == 0 ? ANON_RWX : below(w, KINDS);
	a->base = low ? 0x30000000 + (uint64_t)i * 0x10000000 : 0x200000000000 + (uint64_t)i * 0x40000000;
	a->fd = -1;
	int flags = MAP_FIXED_NOREPLACE | (a->kind == DUAL || a->kind == SHARED_RWX ? MAP_SHARED : MAP_PRIVATE);
	if (a->kind == DUAL || of_file(a)) {
		a->fd = file_for(below(w, 2));
		a->alias = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, a->fd, 0);
		must(a->alias != MAP_FAILED, "mmap");
	} else {
		flags |= MAP_ANONYMOUS;
	}
	must(mmap(at_of(a, 0), BYTES, protection(a), flags, a->fd, 0) == at_of(a, 0), "mmap");
	for (uint32_t at = below(w, 200); a->n_slots < SLOTS_MOST && at + 420 < BYTES; a->n_slots++) {
		struct slot *s = &a->slots[a->n_slots];
		*s = (struct slot){.at = at, .room = 80 + below(w, 160), .owner = together ? a->n_slots % THREADS_MOST : 0};
		at += s->room + 8 + (below(w, 3) ? 0 : below(w, 160));
		uint32_t end = (at / PAGE + 1) * PAGE - 1 - below(w, 40); /* at the page's very end, or over it */
		if (below(w, 4) == 0 && end > at && end - at < 300)
			at = end;
	}
	for (unsigned k = 0; k < a->n_slots; k++)
		a->slots[k].level = k * LEVELS / a->n_slots;
	for (unsigned k = a->n_slots - 1; k > 0; k--) { /* levels are mixed over the pages */
		unsigned other = below(w, k + 1), level = a->slots[k].level;
		a->slots[k].level = a->slots[other].level;
		a->slots[other].level = level;
	}
}

static pthread_mutex_t turn_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t turn_over = PTHREAD_COND_INITIALIZER;
static unsigned turn;

static void *work(void *arg)
{
	struct worker *w = arg;
	for (int i = 0; i < STEPS / 2; i++)
		step(w);
	return NULL;
}

static void *work_in_turn(void *arg)
{
	struct worker *w = arg;
	for (int i = 0; i < STEPS / 2; i++) {
		unsigned a = 0, b, c = 0, d;
		pthread_mutex_lock(&turn_lock);
		while (turn % THREADS_MOST != w->owner)
			pthread_cond_wait(&turn_over, &turn_lock);
		__asm__ volatile("cpuid" : "+a"(a), "=b"(b), "+c"(c), "=d"(d) : : "memory"); /* what others wrote is fetched anew */
		step(w);
		turn++;
		pthread_cond_broadcast(&turn_over);
		pthread_mutex_unlock(&turn_lock);
	}
	return NULL;
}

static void ticked(int signo) { (void)signo; }

static void start_timer(void)
{
	struct sigaction action = {.sa_handler = ticked, .sa_flags = SA_RESTART};
	struct itimerval every = {{0, 300}, {0, 300}};
	sigaction(SIGALRM, &action, NULL);
	setitimer(ITIMER_REAL, &every, NULL);
}

int main(int argc, char **argv)
{
	static struct worker main_worker, worker[THREADS_MOST];
	pthread_t thread[THREADS_MOST];
	struct worker *w = &main_worker;
	uint64_t seed = argc > 1 ? strtoull(argv[1], NULL, 0) : 0;
	*w = (struct worker){.random = seed * 0x2545f4914f6cdd1d, .owners = 1, .alone = true, .filling = true};
	mode = (unsigned)(seed % 8); /* 5: threads at the same time, 6: in turn, 7: addresses below 2 GB */
	areas = 1 + below(w, AREAS);
	for (unsigned i = 0; i < areas; i++)
		make_area(w, i, mode == 5);
	childs = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	for (unsigned i = 0; i < areas; i++)
		for (unsigned k = 0; k < area[i].n_slots; k++) {
			struct code c;
			generate(w, &area[i], &area[i].slots[k], &c);
			write_code(w, &area[i], area[i].slots[k].at, c.bytes, c.n);
		}
	w->filling = false;
	if (argc > 2)
		start_timer();
	for (int i = 0; i < STEPS && mode != 5; i++)
		step(w);
	for (unsigned i = 0; i < THREADS_MOST && (mode == 5 || mode == 6); i++) {
		worker[i] = (struct worker){.random = seed + i * 1000003, .owner = i, .owners = mode == 5 ? THREADS_MOST : 1, .alone = mode == 6};
		must(!pthread_create(&thread[i], NULL, mode == 5 ? work : work_in_turn, &worker[i]), "pthread_create");
	}
	for (unsigned i = 0; i < THREADS_MOST && (mode == 5 || mode == 6); i++) {
		pthread_join(thread[i], NULL);
		w->out.insns += worker[i].out.insns;
		w->out.calls += worker[i].out.calls;
		w->out.wrong += worker[i].out.wrong;
		w->out.digest = w->out.digest * 31 + worker[i].out.digest;
	}
	printf("calls %llu digest %016llx wrong %llu\ncode %llu instructions\n", (unsigned long long)w->out.calls, (unsigned long long)w->out.digest,
	       (unsigned long long)w->out.wrong, (unsigned long long)w->out.insns);
	return w->out.wrong != 0;
}
