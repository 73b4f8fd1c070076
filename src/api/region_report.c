/* The report of regions at the end of a program that TARE_EVENTS asked for.
 *
 * Rows: for each region its total over the threads ("all"), then each thread's part, threads in order of their
 * first regions; in each an entry for every event. A count that is none is "-" in text and empty in CSV, never 0.
 * Regions that were never entered or left are not in it. Counts are net where a calibration allows it
 * (calibration.h); TARE_GROSS=1 shows gross and tare beside them, CSV always has them. Text:
 *
 *     # tare 0.1.0: regions of process 4711; 2 threads
 *     region sort
 *       thread      entries        exits             count  event
 *       all              10           10            123456  page-faults:u
 *       0 (4711)          6            6             70000  page-faults:u
 *     # warning: region 'load' was entered 2 times and left 1 time: …
 *     # ± is of the reading alone: … (where an event with ± has the kernel's part)
 *     # 0 readings without a system call, 0 of them checked; 20 by read(2): an event that the kernel counts … */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "api/calibration.h"

static const char *plural(uint64_t n) { return n == 1 ? "" : "s"; }

/* Printable ASCII stays; a backslash is doubled. CSV's quotes are doubled (RFC 4180). */
static void put_name(FILE *out, const struct tare_region *region, bool csv)
{
	for (size_t i = 0; i < region->name_bytes; i++) {
		unsigned char byte = (unsigned char)region->name[i];
		if (byte == '\\')
			fputs("\\\\", out);
		else if (byte == '"' && csv)
			fputs("\"\"", out);
		else if (byte >= ' ' && byte < 0x7f)
			fputc(byte, out);
		else
			fprintf(out, "\\x%02x", byte);
	}
}

/* What a report is made from. */
struct reporting {
	FILE *out;
	const struct region_set *r;
	struct region_tare *tare;
	/* of each thread, by its place in the list: regions that it entered, and its page faults */
	uint64_t *known, *faults;
};

static const char *state_text(const struct tare_reading *reading, const struct net_count *net)
{
	switch (reading->state) {
	case TARE_COUNTED: return net->state == NET_REFUSED ? "refused" : "counted";
	case TARE_PARTLY: return "partly";
	default: return "not counted";
	}
}

/* The net count, or the gross one when nothing is taken off. False: there is none. */
static bool net_value(const struct tare_reading *reading, const struct net_count *net, double *value)
{
	if (net->state == NET_REFUSED || !tare_scaled(reading, value))
		return false;
	if (net->state == NET_SUBTRACTED)
		*value = net->s.net;
	return true;
}

static void put_csv(const struct reporting *to, const struct tare_region *region, const char *thread,
		    const struct region_sums *sums, uint64_t others)
{
	FILE *out = to->out;
	const struct tare_counters *model = to->r->model;
	for (size_t e = 0; e < model->events.count; e++) {
		const struct tare_reading *reading = &sums->readings[e];
		struct net_count net;
		double value;
		region_net(to->tare, region, e, sums, others, &net);
		fputc('"', out);
		put_name(out, region, true);
		fprintf(out, "\",%s,%" PRIu64 ",%" PRIu64 ",\"%s\",%s,%s,", thread, sums->passes.entries,
			sums->passes.exits, tare_event_name(model, e), tare_event_unit(model, e),
			state_text(reading, &net));
		if (tare_scaled(reading, &value))
			fprintf(out, "%" PRIu64, reading->count);
		fputc(',', out);
		if (net_value(reading, &net, &value))
			fprintf(out, "%.0f", value);
		fprintf(out, ",%" PRIu64 ",%" PRIu64 ",", reading->enabled_ns, reading->running_ns);
		if (net.state != NET_GROSS)
			fprintf(out, "%.1f,%.1f", net.s.tare, net.s.half_width);
		else
			fputc(',', out);
		fputc(',', out);
		if (net.bounded)
			fprintf(out, "%.0f", net.bound);
		fprintf(out, ",%.8s\n", net.state != NET_GROSS || net.bounded ? to->tare->calibration.id : "");
	}
}

static void put_gross(FILE *out, const struct tare_reading *reading, const struct net_count *net)
{
	double value;
	if (tare_scaled(reading, &value))
		fprintf(out, "%20.0f", value);
	else
		fprintf(out, "%20s", "-");
	if (net->state != NET_GROSS)
		fprintf(out, " %16.0f ", net->s.tare);
	else
		fprintf(out, " %16s ", "-");
}

static void put_text(const struct reporting *to, const struct tare_region *region, const char *thread,
		     const struct region_sums *sums, uint64_t others)
{
	FILE *out = to->out;
	for (size_t e = 0; e < to->r->model->events.count; e++) {
		const struct tare_reading *reading = &sums->readings[e];
		struct net_count net;
		double value;
		region_net(to->tare, region, e, sums, others, &net);
		fprintf(out, "  %-12s %12" PRIu64 " %12" PRIu64 " ", thread, sums->passes.entries,
			sums->passes.exits);
		if (to->tare->gross)
			put_gross(out, reading, &net);
		if (net_value(reading, &net, &value))
			fprintf(out, "%20.0f", value);
		else
			fprintf(out, "%20s", "-");
		fprintf(out, "  %s", tare_event_name(to->r->model, e));
		if (reading->state == TARE_PARTLY)
			fprintf(out, " (extrapolated: counted %.1f%% of the time)",
				100.0 * (double)reading->running_ns / (double)reading->enabled_ns);
		else if (reading->flags & TARE_LOST_COUNTS)
			fputs(" (not counted: the counters were taken away)", out);
		else if (reading->state == TARE_NOT_COUNTED)
			fputs(" (not counted)", out);
		else if (net.state == NET_REFUSED)
			fputs(" (too small to measure)", out);
		else if (net.state == NET_SUBTRACTED && net.s.half_width >= 0.5)
			fprintf(out, " (\u00b1 %.0f)", net.s.half_width);
		fputc('\n', out);
	}
}

/* What is to be known of a region's counts as a whole. */
static void remark(const struct reporting *to, const struct tare_region *region, const struct region_sums *sums,
		   uint64_t others)
{
	FILE *out = to->out;
	for (size_t e = 0; e < to->r->model->events.count; e++) {
		const char *unit = tare_event_unit(to->r->model, e), *event = tare_event_name(to->r->model, e);
		struct net_count net;
		char text[400];
		region_net(to->tare, region, e, sums, others, &net);
		if (net.state == NET_REFUSED) {
			/* the name goes in front of it, whatever bytes it has */
			subtraction_refusal(&net.s, "'", unit, (double)sums->passes.exits,
					    region_of_stub(region)
						    ? "regions inside it are most of that: count fewer of them, "
						      "or with 'tare count --on exact'"
						    : "regions inside it are most of that: count fewer of them, "
						      "by stubs, or with 'tare count --on exact'",
					    text, sizeof text);
			fputs("# region '", out);
			put_name(out, region, false);
			fprintf(out, "%s (%s)\n", text, event);
		}
		if (net.bounded && net.bound > 0) {
			fputs("# region '", out);
			put_name(out, region, false);
			fprintf(out, "': up to %.0f of its %s may be the measuring itself (%s)\n", net.bound, unit,
				event);
		}
	}
}

static void warn(FILE *out, const struct tare_region *region, const struct region_sums *sums)
{
	if (sums->passes.unbalanced) {
		fputs("# warning: region '", out);
		put_name(out, region, false);
		fprintf(out,
			"' was entered %" PRIu64 " time%s and left %" PRIu64 " time%s; not balanced in %" PRIu64
			" of %" PRIu64 " thread%s\n",
			sums->passes.entries, plural(sums->passes.entries), sums->passes.exits,
			plural(sums->passes.exits), sums->passes.unbalanced, sums->passes.threads,
			plural(sums->passes.threads));
	}
	if (sums->unread) {
		fputs("# warning: region '", out);
		put_name(out, region, false);
		fprintf(out, "' is not counted: the counters could not be read %" PRIu64 " time%s\n", sums->unread,
			plural(sums->unread));
	}
}

static void put_region(const struct reporting *to, const struct tare_region *region,
		       struct region_thread *const *threads, size_t n_threads)
{
	FILE *out = to->out;
	const struct region_set *r = to->r;
	struct region_sums all = {0};
	uint64_t others = 0;
	for (size_t t = 0; t < n_threads; t++) {
		const struct slot *slot = slot_find(threads[t], region->id);
		if (slot)
			region_sums_add(&all, threads[t], slot);
		if (slot && slot->entries) {
			others += to->known[t] - 1;
			all.faults += to->faults[t];
		}
	}
	if (!all.passes.threads)
		return;
	region_sums_finish(&all, r);
	if (r->format == REPORT_CSV) {
		put_csv(to, region, "all", &all, others);
	} else {
		fputs("region ", out);
		put_name(out, region, false);
		fprintf(out, "\n  %-12s %12s %12s ", "thread", "entries", "exits");
		if (to->tare->gross)
			fprintf(out, "%20s %16s ", "gross", "tare");
		fprintf(out, "%20s  event\n", to->tare->gross ? "net" : "count");
		put_text(to, region, "all", &all, others);
	}
	for (size_t t = 0; t < n_threads; t++) {
		const struct slot *slot = slot_find(threads[t], region->id);
		struct region_sums one = {0};
		char thread[32];
		if (slot)
			region_sums_add(&one, threads[t], slot);
		one.faults = to->faults[t];
		if (!one.passes.threads)
			continue;
		region_sums_finish(&one, r);
		snprintf(thread, sizeof thread, r->format == REPORT_CSV ? "%u:%d" : "%u (%d)", threads[t]->number,
			 (int)threads[t]->thread);
		if (r->format == REPORT_CSV)
			put_csv(to, region, thread, &one, to->known[t] ? to->known[t] - 1 : 0);
		else
			put_text(to, region, thread, &one, to->known[t] ? to->known[t] - 1 : 0);
	}
	warn(out, region, &all);
	remark(to, region, &all, others);
}

/* How many regions each thread entered, and of which kind any did. */
static void find_kinds(const struct reporting *to, struct tare_region *const *list, size_t n,
		       struct region_thread *const *threads, size_t n_threads)
{
	for (size_t i = 0; i < n; i++) {
		bool entered = false;
		for (size_t t = 0; t < n_threads; t++) {
			const struct slot *slot = slot_find(threads[t], list[i]->id);
			if (slot && slot->entries) {
				to->known[t]++;
				entered = true;
			}
		}
		if (entered)
			*(region_of_stub(list[i]) ? &to->tare->stubs_used : &to->tare->calls_used) = true;
	}
}

/* Is there a ± of a count that has the kernel in it? (Only what is subtracted has one.) */
static bool width_with_kernel(const struct reporting *to)
{
	for (size_t e = 0; e < to->r->model->events.count; e++)
		if ((to->r->model->events.items[e].event.levels & LEVEL_KERNEL) &&
		    (to->tare->events[e].subtracts || to->tare->events[e].has_stubs))
			return true;
	return false;
}

static void put_evidence(const struct reporting *to)
{
	FILE *out = to->out;
	const struct region_tare *tare = to->tare;
	if (width_with_kernel(to))
		fputs("# \u00b1 covers the reading only: counts with the kernel's part also include interrupts in "
		      "a region\n",
		      out);
	if (tare->here)
		fprintf(out,
			"# the overhead of reading is subtracted where it is constant: "
			"calibration %.8s\n",
			tare->calibration.id);
	else
		fprintf(out, "# counts are gross, they include the overhead of reading: %s%s\n",
			*tare->why ? "no calibration valid here: " : "no calibration ('tare calibrate' makes one)",
			tare->why);
}

static int by_number(const void *a, const void *b)
{
	const struct region_thread *x = *(struct region_thread *const *)a, *y = *(struct region_thread *const *)b;
	return (x->number > y->number) - (x->number < y->number);
}

static void put_all(const struct reporting *to, struct tare_region *const *list, size_t n,
		    struct region_thread **threads, size_t n_threads)
{
	FILE *out = to->out;
	const struct region_set *r = to->r;
	uint64_t lost = atomic_load(&((struct region_set *)r)->lost);
	fprintf(out, "# tare %s: regions of process %d; %zu thread%s\n", tare_version(), (int)getpid(), n_threads,
		n_threads == 1 ? "" : "s");
	if (r->format == REPORT_CSV)
		fputs("region,thread,entries,exits,event,unit,state,count_raw,count,enabled_ns,running_ns,tare,"
		      "half_width,bound,"
		      "calibration\n",
		      out);
	for (size_t i = 0; i < n; i++)
		put_region(to, list[i], threads, n_threads);
	for (size_t t = 0; t < n_threads; t++) {
		char text[128];
		int reason = atomic_load(&threads[t]->os_errno);
		if (reason)
			fprintf(out,
				"# warning: thread %u (%d) is not counted: its counters cannot be opened: %s\n",
				threads[t]->number, (int)threads[t]->thread,
				strerror_r(reason, text, sizeof text));
	}
	put_evidence(to);
	const struct tare_reads reads = to->tare->reads;
	fprintf(out,
		"# %" PRIu64 " reading%s without a system call, %" PRIu64 " of them checked; %" PRIu64
		" by read(2)%s%s\n",
		reads.by_user, plural(reads.by_user), reads.checks, reads.by_call, *reads.why ? ": " : "",
		reads.why);
	if (lost)
		fprintf(out, "# warning: entries and exits are lost: %" PRIu64 " (out of memory)\n", lost);
	if (r->forks)
		fprintf(out, "# %" PRIu64 " forked process%s not in this report\n", r->forks,
			r->forks == 1 ? " is" : "es are");
}

bool region_report(const struct region_set *r, int fd)
{
	struct error err;
	size_t n = 0, n_threads = 0, at = 0;
	struct tare_region **list = regions_listed(&n, &err);
	struct region_thread *newest = atomic_load(&((struct region_set *)r)->threads), **threads = NULL;
	struct reporting to = {.r = r};
	int copy = -1;
	bool done = false;

	region_thread_watch();
	for (struct region_thread *t = newest; t; t = t->next)
		n_threads++;
	if (list && n && n_threads)
		threads = calloc(n_threads, sizeof *threads);
	if (list && (!n || !n_threads)) { /* a program that uses no region says nothing */
		done = true;
		goto out;
	}
	if (!list || !threads) {
		errno = ENOMEM;
		goto out;
	}
	for (struct region_thread *t = newest; t; t = t->next)
		threads[at++] = t;
	qsort(threads, n_threads, sizeof(struct region_thread *), by_number);
	/* the list and the threads are those of before: what this makes is not in the report */
	if (!(to.known = calloc(n_threads, sizeof *to.known)) ||
	    !(to.faults = calloc(n_threads, sizeof *to.faults))) {
		errno = ENOMEM;
		goto out;
	}
	for (size_t t = 0; t < n_threads; t++)
		to.faults[t] = region_thread_faults(threads[t]);
	if (!(to.tare = region_tare_new(r))) {
		errno = ENOMEM;
		goto out;
	}
	find_kinds(&to, list, n, threads, n_threads);
	if ((copy = dup(fd)) < 0 || !(to.out = fdopen(copy, "w"))) {
		if (copy >= 0)
			close(copy);
		goto out;
	}
	put_all(&to, list, n, threads, n_threads);
	done = !ferror(to.out);
	done = fclose(to.out) == 0 && done;
out:
	region_tare_free(to.tare);
	free(to.known);
	free(to.faults);
	free(threads);
	free(list);
	return done;
}
