/* Counters that are taken away after tare_add(): by prctl(2), which any kernel has, and by planted readings, as a
 * hypervisor gives them that takes the counters for itself. */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "api/user_read.h"
#include "api/watched.h"
#include "faults.h"
#include "tap.h"
#include "tare.h"

enum { PAGES = 100 };

static void take_away(void) { prctl(PR_TASK_PERF_EVENTS_DISABLE); }
static void give_back(void) { prctl(PR_TASK_PERF_EVENTS_ENABLE); }

static struct tare_counters *set_of(const char *events)
{
	struct tare_counters *c = NULL;
	struct tare_error error = {0};
	if (!tare_open(NULL, &c, &error) || !tare_add(c, events, &error)) {
		printf("Bail out! %s\n", error.text);
		exit(1);
	}
	return c;
}

static bool is_lost(const struct tare_reading *r)
{
	double value = 4711;
	return r->state == TARE_NOT_COUNTED && (r->flags & TARE_LOST_COUNTS) && !tare_scaled(r, &value) &&
	       value == 4711;
}

static bool is_counted(const struct tare_reading *r) { return r->state == TARE_COUNTED && r->flags == 0; }

/* ---- sets ---- */

static void test_sets(void)
{
	struct tare_counters *c = set_of("page-faults:u");
	struct tare_reading stopped, r, first;
	touch(1);
	tare_start(c, NULL);
	touch(PAGES);
	ok(tare_stop(c, &stopped, NULL) && is_counted(&stopped) && stopped.count >= PAGES,
	   "a set that nobody disturbs is counted");
	touch(PAGES);
	ok(tare_read(c, &r, NULL) && memcmp(&r, &stopped, sizeof r) == 0, "a stopped set stays as it was");

	tare_reset(c, NULL);
	tare_start(c, NULL);
	touch(PAGES);
	take_away();
	touch(PAGES);
	ok(tare_stop(c, &r, NULL) && is_lost(&r), "counters that are taken away while they count: no count at the end");
	ok(tare_read(c, &r, NULL) && is_lost(&r), "nor later");
	give_back();
	ok(tare_reset(c, NULL) && tare_start(c, NULL) && (touch(PAGES), tare_stop(c, &r, NULL)) && is_counted(&r) &&
		   r.count >= PAGES,
	   "tare_reset() begins anew");

	tare_reset(c, NULL);
	tare_start(c, NULL);
	tare_read(c, &first, NULL);
	take_away();
	tare_read(c, &r, NULL);
	touch(PAGES);
	ok(is_counted(&first) && tare_read(c, &r, NULL) && is_lost(&r),
	   "the second reading after it finds that nothing is counted any more");
	tare_difference(&first, &r, 1, &r);
	ok(is_lost(&r), "there is no difference to one from before");
	give_back();
	tare_stop(c, NULL, NULL);
	tare_close(c);
}

/* ---- planted readings ---- */

struct planted {
	uint64_t count, enabled_ns, running_ns;
};

static const struct event_definition instructions = {.name = "instructions"}, misses = {.name = "l1d-misses"};

/* What read(2) will give of a counter; the last one again and again, at the end none. */
static int plant(const struct planted *readings, size_t n)
{
	int fd = memfd_create("planted", MFD_CLOEXEC);
	enum { AGAIN = 1 << 17 };
	struct planted *all = malloc((n + AGAIN) * sizeof *all);
	for (size_t i = 0; i < n + AGAIN; i++)
		all[i] = readings[i < n ? i : n - 1];
	bool written = write(fd, all, (n + AGAIN) * sizeof *all) == (ssize_t)((n + AGAIN) * sizeof *all);
	free(all);
	if (!written || lseek(fd, 0, SEEK_SET) != 0) {
		printf("Bail out! no memory for readings\n");
		exit(1);
	}
	return fd;
}

struct planted_set {
	struct tare_counters set;
	struct user_reads user;
	struct counted_event events[3];
	struct counter_group groups[3];
	int fds[3];
};

static void plant_event(struct planted_set *p, const struct event_definition *definition, enum source source,
			const struct planted *readings, size_t n)
{
	size_t e = p->set.events.count++;
	p->set.groups.count++;
	p->fds[e] = plant(readings, n);
	p->events[e] = (struct counted_event){.event = {.definition = definition, .levels = LEVEL_USER},
					      .source = source,
					      .scale = 1,
					      .kinds = 1,
					      .n_fds = 1,
					      .fds = &p->fds[e]};
	p->groups[e] = (struct counter_group){.first = e, .n = 1};
	p->set.events.items = p->events;
	p->set.groups.items = p->groups;
	p->set.user = &p->user;
}

/* The first two readings are compared; what follows is read when one stands still. */
static bool moves(struct planted_set *p, bool *lost)
{
	struct tare_reading first[3], second[3];
	memset(lost, 0, 3 * sizeof *lost);
	bool moved = counters_read_raw(&p->set, first) && counters_read_raw(&p->set, second) &&
		     watched_moves(&p->set, first, second, lost);
	for (size_t e = 0; e < p->set.events.count; e++)
		close(p->fds[e]);
	return moved;
}

#define READINGS(...) (const struct planted[]){__VA_ARGS__}, sizeof(const struct planted[]){__VA_ARGS__} / sizeof(struct planted)

static void test_planted(void)
{
	bool lost[3];
	struct planted_set all = {0};
	plant_event(&all, &misses, SOURCE_HW, READINGS({5, 1000, 1000}, {6, 2000, 2000}));
	plant_event(&all, &instructions, SOURCE_HW, READINGS({700, 1000, 1000}, {700, 2000, 2000}, {700, 3000, 3000}));
	plant_event(&all, NULL, SOURCE_OS, READINGS({1, 1000, 1000}, {1, 2000, 2000}));
	ok(!moves(&all, lost) && lost[0] && lost[1] && !lost[2],
	   "instructions stand still while their time goes on: all hardware counters are lost, no other");

	struct planted_set late = {0};
	plant_event(&late, &instructions, SOURCE_HW, READINGS({700, 1000, 1000}, {700, 2000, 2000}, {701, 3000, 3000}));
	ok(moves(&late, lost), "one that moves when it is read once more is none that is lost");

	struct planted_set off = {0};
	plant_event(&off, &instructions, SOURCE_HW, READINGS({700, 1000, 1000}, {700, 2000, 1200}));
	ok(moves(&off, lost), "one that was not on its counter all the time waits for its turn");

	struct planted_set none = {0};
	plant_event(&none, &misses, SOURCE_HW, READINGS({700, 1000, 1000}, {700, 2000, 2000}));
	ok(moves(&none, lost), "an event that a program need not have may stand still");

	struct planted_set kernel = {0};
	plant_event(&kernel, &instructions, SOURCE_HW, READINGS({700, 1000, 1000}, {700, 2000, 2000}));
	kernel.events[0].event.levels = LEVEL_KERNEL;
	ok(moves(&kernel, lost), "so may instructions of the kernel alone");

	struct planted_set ticks = {0};
	plant_event(&ticks, &misses, SOURCE_HW, READINGS({7, 1000, 1000}, {7, 1000, 1000}, {7, 1000, 1000}, {7, 5000, 5000}));
	ok(moves(&ticks, lost), "a clock that goes by ticks is no loss");

	struct planted_set stands = {0};
	plant_event(&stands, &misses, SOURCE_HW, READINGS({7, 1000, 1000}, {7, 1000, 1000}));
	plant_event(&stands, NULL, SOURCE_OS, READINGS({7, 1000, 1000}, {7, 2000, 2000}));
	ok(!moves(&stands, lost) && lost[0] && !lost[1], "one that does not go on is");
}

/* ---- regions ---- */

static void lose_a_region(void)
{
	struct tare_region *region = tare_region("r", NULL);
	tare_region_begin(region);
	touch(PAGES);
	tare_region_end(region);
	take_away();
	tare_region_begin(region);
	touch(PAGES);
	tare_region_end(region);
}

static void test_regions(const char *self)
{
	struct tare_reading before, r;
	struct tare_region *region = tare_region("r", NULL);
	tare_regions_start("page-faults:u", NULL);
	tare_region_begin(region);
	touch(PAGES);
	tare_region_end(region);
	bool read = tare_region_read(region, TARE_THREAD, NULL, &before, NULL);
	lose_a_region();
	ok(read && is_counted(&before) && tare_region_read(region, TARE_PROCESS, NULL, &r, NULL) && is_lost(&r),
	   "a region's counts are none when the thread's counters have been taken away");
	give_back();

	char text[4096] = "", command[512];
	snprintf(command, sizeof command, "TARE_EVENTS=page-faults:u TARE_OUTPUT= TARE_FORMAT= '%s' region 2>&1", self);
	FILE *report = popen(command, "r");
	size_t length = report ? fread(text, 1, sizeof text - 1, report) : 0;
	text[length] = '\0';
	ok(report && pclose(report) == 0 && strstr(text, "(not counted: the counters were taken away)"),
	   "and the report says so");
	if (!strstr(text, "taken away"))
		printf("# %s\n", text);
}

int main(int argc, char **argv)
{
	if (argc > 1) {
		lose_a_region();
		return 0;
	}
	test_sets();
	test_planted();
	test_regions(argv[0]);
	return done();
}
