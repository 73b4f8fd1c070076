/* Regions where programs do what is hard on them: threads at once and 3 deep, fork beside other threads, jumps out
 * of handlers, threads that end inside, plugins that go. region_test.c has the plain cases. region_life_test
 * PLUGIN.so */
#include <dlfcn.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "faults.h"
#include "tap.h"
#include "tare.h"

enum { THREADS = 8, ROUNDS = 100, ENTRIES = 1000000, LEVELS = 3 };

struct seen {
	struct tare_region_passes passes;
	struct tare_reading readings[TARE_EVENTS_MOST];
};

static struct seen see(const char *name, int scope)
{
	struct seen seen = {0};
	if (!tare_region_read(tare_region(name, NULL), scope, &seen.passes, seen.readings, NULL))
		seen.passes.entries = UINT64_MAX;
	return seen;
}

static void passes(const char *fact, struct seen seen, uint64_t entries, uint64_t exits, uint64_t unbalanced)
{
	if (!ok(seen.passes.entries == entries && seen.passes.exits == exits &&
			seen.passes.unbalanced == unbalanced,
		"%s", fact))
		printf("# entries %" PRIu64 ", exits %" PRIu64 ", unbalanced %" PRIu64 "\n", seen.passes.entries,
		       seen.passes.exits, seen.passes.unbalanced);
}

static bool is_count(uint64_t count, uint64_t truth) { return OWN_FAULTS ? count >= truth : count == truth; }

/* ---- 8 threads, nested 3 deep ---- */

static const char *const levels[LEVELS] = {"level 1", "level 2", "level 3"};

static void go_deep(struct tare_region *const *regions, size_t level, size_t pages)
{
	if (level == LEVELS)
		return;
	tare_region_begin(regions[level]);
	touch(pages);
	go_deep(regions, level + 1, pages);
	touch(pages);
	tare_region_end(regions[level]);
}

/* Level 1 has 6 × pages a round, level 2 4 ×, level 3 2 ×: each its own and what is inside. */
static void *deep_main(void *of)
{
	size_t pages = *(size_t *)of, right = 0;
	struct tare_region *regions[LEVELS],
		*warm[LEVELS] = {tare_region("warm 1", NULL), tare_region("warm 2", NULL),
				 tare_region("warm 3", NULL)};
	for (size_t i = 0; i < LEVELS; i++) {
		regions[i] = tare_region(levels[i], NULL);
		tare_region_begin(regions[i]); /* its slot is there */
		tare_region_end(regions[i]);
	}
	go_deep(warm, 0, 1);
	for (int round = 0; round < ROUNDS; round++)
		go_deep(regions, 0, pages);
	for (size_t i = 0; i < LEVELS; i++) {
		struct seen seen = see(levels[i], TARE_THREAD);
		right += seen.passes.entries == ROUNDS + 1 && seen.passes.exits == ROUNDS + 1 &&
			 seen.readings[0].state == TARE_COUNTED &&
			 is_count(seen.readings[0].count, ROUNDS * 2 * (LEVELS - i) * pages);
	}
	return (void *)right;
}

static void test_deep(void)
{
	pthread_t threads[THREADS];
	size_t pages[THREADS], right = 0, sum = 0;
	for (size_t i = 0; i < THREADS; i++) {
		pages[i] = i + 1;
		sum += pages[i];
		pthread_create(&threads[i], NULL, deep_main, &pages[i]);
	}
	for (size_t i = 0; i < THREADS; i++) {
		void *levels_right;
		pthread_join(threads[i], &levels_right);
		right += (size_t)levels_right;
	}
	equal_u64(right, THREADS * LEVELS,
		  "8 threads, nested 3 deep: each thread has its own count at each level");
	for (size_t i = 0; i < LEVELS; i++) {
		struct seen all = see(levels[i], TARE_PROCESS);
		ok(is_count(all.readings[0].count, ROUNDS * 2 * (LEVELS - i) * sum) &&
			   all.passes.entries == THREADS * (ROUNDS + 1) && all.passes.unbalanced == 0,
		   "… and %s's total is the sum of all threads'", levels[i]);
	}
}

/* ---- 10^6 entries of one region by 8 threads at once ---- */

static void *enter_main(void *of)
{
	for (size_t i = 0; i < ENTRIES / THREADS; i++) {
		tare_region_begin(of);
		tare_region_end(of);
	}
	return NULL;
}

static void test_many_entries(void)
{
	pthread_t threads[THREADS];
	for (size_t i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, enter_main, tare_region("crowded", NULL));
	/* its counts can be asked for meanwhile */
	struct seen first = see("crowded", TARE_PROCESS), second = see("crowded", TARE_PROCESS);
	ok(first.passes.entries <= second.passes.entries && second.passes.entries <= ENTRIES,
	   "a region that others are in can be read, and its entries only grow");
	for (size_t i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	passes("a million entries by 8 threads at once are a million", see("crowded", TARE_PROCESS), ENTRIES,
	       ENTRIES, 0);
}

/* ---- names asked for by all threads at once ---- */

enum { NAMES = 2000 };

static pthread_barrier_t together;

static void *name_main(void *unused)
{
	char name[32];
	(void)unused;
	for (unsigned i = 0; i < NAMES; i++) {
		snprintf(name, sizeof name, "shared %u", i);
		pthread_barrier_wait(&together);
		struct tare_region *region = tare_region(name, NULL);
		tare_region_begin(region);
		tare_region_end(region);
	}
	return NULL;
}

static void test_names_at_once(void)
{
	pthread_t threads[THREADS];
	size_t right = 0;
	char name[32];
	pthread_barrier_init(&together, NULL, THREADS);
	for (size_t i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, name_main, NULL);
	for (size_t i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	pthread_barrier_destroy(&together);
	for (unsigned i = 0; i < NAMES; i++) {
		snprintf(name, sizeof name, "shared %u", i);
		right += see(name, TARE_PROCESS).passes.entries == THREADS;
	}
	equal_u64(right, NAMES, "2000 names, each made by 8 threads at once, are 2000 regions");
}

/* ---- threads that end ---- */

static void *leave_by_exit(void *of)
{
	tare_region_begin(of);
	touch(1);
	pthread_exit(NULL);
}

/* POSIX's destructors run up to 4 times; TSan has gone before the last. */
#if defined(__SANITIZE_THREAD__)
enum { LATE = 1 };
#else
enum { LATE = 3 };
#endif

static pthread_key_t late;

static void late_region(void *of)
{
	static _Atomic int times;
	tare_region_begin(of);
	tare_region_end(of);
	/* once more after the library's own key, whose destructor has closed the thread's counters */
	if (atomic_fetch_add(&times, 1) < LATE)
		pthread_setspecific(late, of);
}

static void *ends_late(void *of)
{
	tare_region_begin(of);
	tare_region_end(of);
	pthread_setspecific(late, of);
	return NULL;
}

static void test_endings(void)
{
	pthread_t thread;
	size_t before = open_files();
	struct tare_region *region = tare_region("left by pthread_exit", NULL);
	for (int i = 0; i < 200; i++) {
		pthread_create(&thread, NULL, leave_by_exit, region);
		pthread_join(thread, NULL);
	}
	struct seen seen = see("left by pthread_exit", TARE_PROCESS);
	passes("200 threads that end inside have each not left", seen, 200, 0, 200);
	ok(seen.readings[0].state == TARE_NOT_COUNTED, "… so that there is no count");
	ok(open_files() <= before + 2, "… and their counters are closed (%zu files, before %zu)", open_files(),
	   before);

	pthread_key_create(&late, late_region);
	pthread_create(&thread, NULL, ends_late, tare_region("late", NULL));
	pthread_join(thread, NULL);
	passes("regions in a thread's last destructors are entered and left", see("late", TARE_PROCESS), LATE + 2,
	       LATE + 2, 0);
}

/* ---- jumps ---- */

static sigjmp_buf back;

static void jump_out(int signal)
{
	(void)signal;
	tare_region_begin(tare_region("in the handler", NULL));
	siglongjmp(back, 1);
}

static void test_jumps(void)
{
	struct sigaction action = {.sa_handler = jump_out}, before;
	sigaction(SIGUSR2, &action, &before);
	struct tare_region *around = tare_region("around", NULL), *inside = tare_region("jumped over", NULL);
	tare_region("in the handler", NULL); /* not for the first time in a handler */
	tare_region_begin(around);
	if (sigsetjmp(back, 1) == 0) {
		tare_region_begin(inside);
		raise(SIGUSR2);
	}
	tare_region_end(around);
	sigaction(SIGUSR2, &before, NULL);
	passes("siglongjmp out of a handler's region: it was not left", see("in the handler", TARE_THREAD), 1, 0,
	       1);
	passes("… nor was the one that was interrupted", see("jumped over", TARE_THREAD), 1, 0, 1);
	struct seen seen = see("around", TARE_THREAD);
	passes("… and the one around both is whole", seen, 1, 1, 0);
	ok(seen.readings[0].state == TARE_COUNTED, "… and counted");
}

/* ---- fork beside threads ---- */

static _Atomic bool forks_done;

static void *busy_main(void *of)
{
	char name[32];
	for (unsigned i = 0; !atomic_load(&forks_done); i++) {
		tare_region_begin(of);
		/* holds the lock of names now and then */
		snprintf(name, sizeof name, "busy %u", i % 1000);
		tare_region(name, NULL);
		tare_region_end(of);
	}
	return NULL;
}

static void test_fork(void)
{
	enum { FORKS = 50, BUSY = 3 };
	pthread_t threads[BUSY];
	struct tare_region *region = tare_region("forked in", NULL);
	size_t right = 0;
	for (size_t i = 0; i < BUSY; i++)
		pthread_create(&threads[i], NULL, busy_main, tare_region("busy", NULL));
	tare_region_begin(region);
	for (int i = 0; i < FORKS; i++) {
		int status = -1;
		pid_t child = fork();
		if (child == 0) {
			tare_region_end(region);
			tare_region_begin(region);
			struct tare_region *own = tare_region("made in the child", NULL);
			_exit(own && !tare_region_read(own, TARE_PROCESS, NULL, NULL, NULL) ? 0 : 1);
		}
		waitpid(child, &status, 0);
		right += child > 0 && status == 0;
	}
	tare_region_end(region);
	atomic_store(&forks_done, true);
	for (size_t i = 0; i < BUSY; i++)
		pthread_join(threads[i], NULL);
	equal_u64(right, FORKS, "50 forks inside a region, beside threads in others: no child hangs or counts");
	passes("… and the parent's passes are its own", see("forked in", TARE_THREAD), 1, 1, 0);
	ok(see("busy", TARE_PROCESS).passes.unbalanced == 0, "… as are its threads'");
	equal_u64(see("made in the child", TARE_PROCESS).passes.entries, 0, "what a child names is the child's");
}

/* ---- a plugin that goes ---- */

static void test_plugin(const char *path)
{
	for (int i = 0; i < 3; i++) {
		void *plugin = dlopen(path, RTLD_NOW);
		void (*work)(void) = plugin ? (void (*)(void))dlsym(plugin, "plugin_work") : NULL;
		if (!work) {
			printf("# %s\n", dlerror());
			break;
		}
		work();
		dlclose(plugin);
	}
	ok(!dlopen(path, RTLD_NOW | RTLD_NOLOAD), "a plugin with regions goes by dlclose");
	passes("… and its regions outlive it", see("of the plugin", TARE_THREAD), 3, 3, 0);
	passes("… those of the macro, too", see("of the plugin, by macro", TARE_THREAD), 3, 3, 0);
}

int main(int n, char **arguments)
{
	struct tare_error error = {0};
	if (!tare_regions_start("page-faults:u,minor-faults:u", &error)) {
		skip(error.text, "regions count");
		return done();
	}
	test_deep();
	test_many_entries();
	test_names_at_once();
	test_endings();
	test_jumps();
	test_fork();
	if (n > 1)
		test_plugin(arguments[1]);
	return done();
}
