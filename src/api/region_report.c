/* The report of regions at the end of a program that TARE_EVENTS asked for.
 *
 * Rows: for each region its total over the threads ("all"), then each thread's part, threads in order of their
 * first regions; in each an entry for every event. A count that is none is "-" in text and empty in CSV, never 0.
 * Regions that were never entered or left are not in it. Text:
 *
 *     # tare 0.1.0: regions of process 4711; 2 threads
 *     region sort
 *       thread      entries        exits             count  event
 *       all              10           10            123456  page-faults:u
 *       0 (4711)          6            6             70000  page-faults:u
 *     # warning: region 'load' was entered 2 times and left 1 time: …
 *     # 0 readings without a system call, 0 of them checked; 20 by read(2): an event that the kernel counts … */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "api/regions.h"

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

static const char *state_text(const struct tare_reading *reading)
{
	switch (reading->state) {
	case TARE_COUNTED: return "counted";
	case TARE_PARTLY: return "partly";
	default: return "not counted";
	}
}

static void put_csv(FILE *out, const struct regions *r, const struct tare_region *region, const char *thread,
		    const struct region_sums *sums)
{
	for (size_t e = 0; e < r->model->events.count; e++) {
		const struct tare_reading *reading = &sums->readings[e];
		double value;
		fputc('"', out);
		put_name(out, region, true);
		fprintf(out, "\",%s,%" PRIu64 ",%" PRIu64 ",\"%s\",%s,%s,", thread, sums->passes.entries,
			sums->passes.exits, tare_event_name(r->model, e), tare_event_unit(r->model, e),
			state_text(reading));
		if (tare_scaled(reading, &value))
			fprintf(out, "%" PRIu64 ",%.0f", reading->count, value);
		else
			fputc(',', out);
		fprintf(out, ",%" PRIu64 ",%" PRIu64 "\n", reading->enabled_ns, reading->running_ns);
	}
}

static void put_text(FILE *out, const struct regions *r, const char *thread, const struct region_sums *sums)
{
	for (size_t e = 0; e < r->model->events.count; e++) {
		const struct tare_reading *reading = &sums->readings[e];
		double value;
		fprintf(out, "  %-12s %12" PRIu64 " %12" PRIu64 " ", thread, sums->passes.entries,
			sums->passes.exits);
		if (tare_scaled(reading, &value))
			fprintf(out, "%20.0f", value);
		else
			fprintf(out, "%20s", "-");
		fprintf(out, "  %s", tare_event_name(r->model, e));
		if (reading->state == TARE_PARTLY)
			fprintf(out, " (extrapolated: counted %.1f%% of the time)",
				100.0 * (double)reading->running_ns / (double)reading->enabled_ns);
		else if (reading->state == TARE_NOT_COUNTED)
			fputs(" (not counted)", out);
		fputc('\n', out);
	}
}

static void warn(FILE *out, const struct tare_region *region, const struct region_sums *sums)
{
	if (sums->passes.unbalanced) {
		fputs("# warning: region '", out);
		put_name(out, region, false);
		fprintf(out,
			"' was entered %" PRIu64 " times and left %" PRIu64 " times; not balanced in %" PRIu64
			" of %" PRIu64 " threads\n",
			sums->passes.entries, sums->passes.exits, sums->passes.unbalanced, sums->passes.threads);
	}
	if (sums->unread) {
		fputs("# warning: region '", out);
		put_name(out, region, false);
		fprintf(out, "' is not counted: the counters could not be read %" PRIu64 " times\n", sums->unread);
	}
}

static void put_region(FILE *out, const struct regions *r, const struct tare_region *region,
		       struct region_thread *const *threads, size_t n_threads)
{
	struct region_sums all = { 0 };
	for (size_t t = 0; t < n_threads; t++) {
		const struct slot *slot = slot_find(threads[t], region->id);
		if (slot)
			region_sums_add(&all, threads[t], slot);
	}
	if (!all.passes.threads)
		return;
	region_sums_finish(&all, r);
	if (r->format == REPORT_CSV) {
		put_csv(out, r, region, "all", &all);
	} else {
		fputs("region ", out);
		put_name(out, region, false);
		fprintf(out, "\n  %-12s %12s %12s %20s  event\n", "thread", "entries", "exits", "count");
		put_text(out, r, "all", &all);
	}
	for (size_t t = 0; t < n_threads; t++) {
		const struct slot *slot = slot_find(threads[t], region->id);
		struct region_sums one = { 0 };
		char thread[32];
		if (slot)
			region_sums_add(&one, threads[t], slot);
		if (!one.passes.threads)
			continue;
		region_sums_finish(&one, r);
		snprintf(thread, sizeof thread, r->format == REPORT_CSV ? "%u:%d" : "%u (%d)", threads[t]->number,
			 (int)threads[t]->thread);
		if (r->format == REPORT_CSV)
			put_csv(out, r, region, thread, &one);
		else
			put_text(out, r, thread, &one);
	}
	warn(out, region, &all);
}

static int by_number(const void *a, const void *b)
{
	const struct region_thread *x = *(struct region_thread *const *)a, *y = *(struct region_thread *const *)b;
	return (x->number > y->number) - (x->number < y->number);
}

static void put_all(FILE *out, const struct regions *r, struct tare_region *const *list, size_t n,
		    struct region_thread **threads, size_t n_threads)
{
	uint64_t lost = atomic_load(&((struct regions *)r)->lost);
	fprintf(out, "# tare %s: regions of process %d; %zu thread%s\n", tare_version(), (int)getpid(), n_threads,
		n_threads == 1 ? "" : "s");
	if (r->format == REPORT_CSV)
		fputs("region,thread,entries,exits,event,unit,state,count_raw,count,enabled_ns,running_ns\n", out);
	for (size_t i = 0; i < n; i++)
		put_region(out, r, list[i], threads, n_threads);
	for (size_t t = 0; t < n_threads; t++) {
		char text[128];
		int reason = atomic_load(&threads[t]->os_errno);
		if (reason)
			fprintf(
			    out, "# warning: thread %u (%d) is not counted: its counters cannot be opened: %s\n",
			    threads[t]->number, (int)threads[t]->thread, strerror_r(reason, text, sizeof text));
	}
	struct tare_reads reads;
	tare_region_reads(TARE_PROCESS, &reads);
	fprintf(out, "# %" PRIu64 " readings without a system call, %" PRIu64 " of them checked; %" PRIu64 " by read(2)%s%s\n",
		reads.by_user, reads.checks, reads.by_call, *reads.why ? ": " : "", reads.why);
	if (lost)
		fprintf(out, "# warning: %" PRIu64 " entries and exits are lost: out of memory\n", lost);
	if (r->forks)
		fprintf(out, "# %" PRIu64 " forked processes are not in this report\n", r->forks);
}

bool region_report(const struct regions *r, int fd)
{
	struct error err;
	size_t n = 0, n_threads = 0, at = 0;
	struct tare_region **list = regions_listed(&n, &err);
	struct region_thread *newest = atomic_load(&((struct regions *)r)->threads), **threads = NULL;
	FILE *out = NULL;
	int copy = -1;
	bool done = false;

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
	if ((copy = dup(fd)) < 0 || !(out = fdopen(copy, "w"))) {
		if (copy >= 0)
			close(copy);
		goto out;
	}
	put_all(out, r, list, n, threads, n_threads);
	done = !ferror(out);
	done = fclose(out) == 0 && done;
out:
	free(threads);
	free(list);
	return done;
}
