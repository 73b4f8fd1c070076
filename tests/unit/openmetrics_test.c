/* Counts as text for Prometheus, of results made by hand: every byte is known beforehand. What a client may ask. Counts so far, of
 * counters that share their registers. */
#include <stdlib.h>
#include <unistd.h>

#include "cli/count_openmetrics.h"
#include "report/openmetrics.h"
#include "session/scrape.h"
#include "tap.h"

static struct estimate counted(const char *event, const char *unit, double value)
{
	return (struct estimate){.event = event,
				 .unit = unit,
				 .level = "user",
				 .known = true,
				 .value = value,
				 .source = SOURCE_OS,
				 .cpu = -1};
}

static struct estimate missing(const char *event, const char *why)
{
	return (struct estimate){.event = event, .unit = "events", .level = "user", .why = why, .cpu = -1};
}

static char *text_of(const struct result *r, enum metrics_dialect dialect)
{
	char *text = NULL;
	size_t length;
	FILE *out = open_memstream(&text, &length);
	if (!out || !report_openmetrics(out, r, dialect) || fclose(out) != 0)
		abort();
	return text;
}

static void is_text(const struct result *r, enum metrics_dialect dialect, const char *expected, const char *fact)
{
	char *text = text_of(r, dialect), *begin = strstr(text, "} 1\n");
	/* the first family is what counts, and where */
	begin = begin ? begin + 4 : text;
	if (strcmp(begin, expected) != 0)
		printf("# is:\n%s# expected:\n%s", begin, expected);
	ok(strcmp(begin, expected) == 0, "%s", fact);
	free(text);
}

static struct result of(struct estimate *rows, size_t n)
{
	return (struct result){.estimates = rows, .n_estimates = n, .repetitions = 1, .target = "all CPUs"};
}

static void writer(void)
{
	struct estimate rows[] = {counted("page-faults:u", "faults", 17),
				  missing("cycles:u", "no \"PMU\"\nhere \\"),
				  counted("major-faults:u", "faults", 0)};
	struct result r = of(rows, 3);
	is_text(&r, METRICS_OPEN,
		"# TYPE tare_major_faults counter\n"
		"# HELP tare_major_faults major-faults, in faults\n"
		"tare_major_faults_total{event=\"major-faults\",level=\"user\",source=\"os\"} 0\n"
		"# TYPE tare_page_faults counter\n"
		"# HELP tare_page_faults page-faults, in faults\n"
		"tare_page_faults_total{event=\"page-faults\",level=\"user\",source=\"os\"} 17\n"
		"# TYPE tare_event_counted gauge\n"
		"# HELP tare_event_counted 1: the event is counted; 0: it is not, and why\n"
		"tare_event_counted{event=\"cycles\",level=\"user\",source=\"none\",why=\"no \\\"PMU\\\"\\nhere "
		"\\\\\"} 0\n"
		"tare_event_counted{event=\"major-faults\",level=\"user\",source=\"os\"} 1\n"
		"tare_event_counted{event=\"page-faults\",level=\"user\",source=\"os\"} 1\n"
		"# EOF\n",
		"a count, a count of 0, and what is not counted, which has no sample: OpenMetrics");
	is_text(&r, METRICS_TEXT_004,
		"# TYPE tare_major_faults_total counter\n"
		"# HELP tare_major_faults_total major-faults, in faults\n"
		"tare_major_faults_total{event=\"major-faults\",level=\"user\",source=\"os\"} 0\n"
		"# TYPE tare_page_faults_total counter\n"
		"# HELP tare_page_faults_total page-faults, in faults\n"
		"tare_page_faults_total{event=\"page-faults\",level=\"user\",source=\"os\"} 17\n"
		"# TYPE tare_event_counted gauge\n"
		"# HELP tare_event_counted 1: the event is counted; 0: it is not, and why\n"
		"tare_event_counted{event=\"cycles\",level=\"user\",source=\"none\",why=\"no \\\"PMU\\\"\\nhere "
		"\\\\\"} 0\n"
		"tare_event_counted{event=\"major-faults\",level=\"user\",source=\"os\"} 1\n"
		"tare_event_counted{event=\"page-faults\",level=\"user\",source=\"os\"} 1\n",
		"the same in the format 0.0.4: the families of counters end in _total, and there is no EOF");

	struct estimate times[] = {counted("task-clock:u", "ns", 2500000000.),
				   counted("peak-memory", "bytes", 4096)};
	struct result with_units = of(times, 2);
	char *text = text_of(&with_units, METRICS_OPEN);
	ok(strstr(text, "# UNIT tare_task_clock_seconds seconds\n") &&
		   strstr(text, "tare_task_clock_seconds_total{event=\"task-clock\",level=\"user\",source=\"os\"} "
				"2.5\n"),
	   "a time is in seconds");
	ok(strstr(text, "# TYPE tare_peak_memory_bytes gauge\n") && strstr(text, "\ntare_peak_memory_bytes{"),
	   "a peak is a gauge");
	free(text);

	struct estimate cpus[] = {counted("page-faults:u", "faults", 30), counted("page-faults:u", "faults", 10),
				  counted("page-faults:u", "faults", 20)};
	cpus[1].cpu = 0;
	cpus[2].cpu = 1;
	struct result with_cpus = of(cpus, 3);
	text = text_of(&with_cpus, METRICS_OPEN);
	ok(strstr(text, "cpu=\"0\",source=\"os\"} 10\n") && strstr(text, "cpu=\"1\",source=\"os\"} 20\n") &&
		   !strstr(text, "} 30\n"),
	   "the total is left out beside its CPUs: their sum is it");
	free(text);

	struct estimate odd[] = {
		counted("cpu/event=0x1/:u", "events", 1), counted("CPU-Event 0x1:u", "events", 2),
		counted("event-counted:u", "events", 3),  counted("metric_x_total:u", "events", 4),
		counted("\xff\xc3\xa4:u", "events", 5),   counted("page-faults:u", "faults", 6),
		counted("page-faults:u", "faults", 6)};
	struct result with_odd = of(odd, 7);
	text = text_of(&with_odd, METRICS_OPEN);
	char *head = strstr(text, "# TYPE tare_cpu_event_0x1 counter\n");
	ok(head && !strstr(head + 1, "# TYPE tare_cpu_event_0x1 ") && strstr(head, "{event=\"cpu/event=0x1/\",") &&
		   strstr(head, "{event=\"CPU-Event 0x1\","),
	   "two events whose names become the same are one family, told apart by a label");
	ok(strstr(text, "tare_named_event_counted_total{") && strstr(text, "tare_named_metric_x_total{"),
	   "a user's event does not take a name of tare's own");
	ok(strstr(text, "tare_unnamed_total{event=\"\xef\xbf\xbd\xc3\xa4\","),
	   "what is not UTF-8 is replaced, in labels alone");
	char *sample = strstr(text, "tare_page_faults_total{");
	ok(sample && !strstr(sample + 1, "tare_page_faults_total{"),
	   "an event that was asked for twice has one sample");
	free(text);

	struct estimate share[] = {counted("l1d-miss-ratio", "%", 12.5)};
	struct estimate part[] = {counted("page-faults:u", "faults", 3)};
	struct region_row region = {.name = "so\"lve", .estimates = part, .n_estimates = 1};
	struct result all = {
		.metrics = share, .n_metrics = 1, .regions = &region, .n_regions = 1, .repetitions = 1};
	text = text_of(&all, METRICS_OPEN);
	ok(strstr(text, "# UNIT tare_metric_l1d_miss_ratio ratio\n") &&
		   strstr(text, "\ntare_metric_l1d_miss_ratio{") && strstr(text, "} 0.125\n"),
	   "a share is a ratio, and its unit is not said twice");
	ok(strstr(text, "\ntare_region_page_faults_total{event=\"page-faults\",level=\"user\",region="
			"\"so\\\"lve\",source=\"os\"} 3\n"),
	   "a region's counts are a family of their own");
	free(text);

	rows[0].trust = TRUST_REFUTED;
	rows[2].value = HUGE_VAL;
	text = text_of(&r, METRICS_OPEN);
	ok(!strstr(text, "tare_page_faults") && !strstr(text, "tare_major_faults") &&
		   strstr(text, "why=\"refuted: "),
	   "a refuted count and one without end have no sample");
	free(text);
	rows[0].trust = TRUST_UNVERIFIED;
	r.repetitions = 5;
	text = text_of(&r, METRICS_OPEN);
	ok(strstr(text, "# TYPE tare_page_faults gauge\n") && strstr(text, "mean of the repetitions\n"),
	   "a mean of repetitions is a gauge, and says so");
	free(text);
}

static void asks(const char *head, enum scrape_asked asked, bool openmetrics, bool head_only, const char *fact)
{
	struct scrape_request r = scrape_request_parse(head, strlen(head));
	ok(r.asked == asked && r.openmetrics == openmetrics && r.head_only == head_only, "%s", fact);
}

static void requests(void)
{
	asks("GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n", SCRAPE_METRICS, false, false,
	     "GET /metrics: the older format");
	asks("GET /metrics HTTP/1.1\r\naccept: "
	     "application/openmetrics-text;version=1.0.0,application/openmetrics-text;"
	     "version=0.0.1;q=0.75,text/plain;version=0.0.4;q=0.5,*/*;q=0.1\r\n\r\n",
	     SCRAPE_METRICS, true, false, "what Prometheus 2.42 asks");
	asks("GET /metrics?a=b HTTP/1.0\nAccept: text/plain, application/openmetrics-text\n\n", SCRAPE_METRICS,
	     true, false, "lines that end in a newline alone, and a query");
	asks("GET /metrics HTTP/1.1\r\nAccept: application/openmetrics-text;q=0\r\n\r\n", SCRAPE_METRICS, false,
	     false, "a format of quality 0 is refused");
	asks("GET /metrics HTTP/1.1\r\nAccept: application/openmetrics-text;q=0.05\r\n\r\n", SCRAPE_METRICS, true,
	     false, "and one above it accepted");
	asks("HEAD /metrics HTTP/1.1\r\n\r\n", SCRAPE_METRICS, false, true, "HEAD");
	asks("POST /metrics HTTP/1.1\r\n\r\n", SCRAPE_METHOD, false, false, "POST is refused");
	asks("GET / HTTP/1.1\r\n\r\n", SCRAPE_INDEX, false, false, "the index");
	asks("GET /../etc/passwd HTTP/1.1\r\n\r\n", SCRAPE_ELSEWHERE, false, false, "another path");
	asks("GET /metrics HTTP/1.1\r\nHost: x\r\n", SCRAPE_INCOMPLETE, false, false, "a head without its end");
	asks("GET /metrics\r\n\r\n", SCRAPE_MALFORMED, false, false, "a line without a version");
	asks("GET  /metrics HTTP/1.1\r\n\r\n", SCRAPE_MALFORMED, false, false, "two spaces");
	asks("\r\n\r\n", SCRAPE_MALFORMED, false, false, "nothing");
	asks("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", SCRAPE_MALFORMED, false, false, "HTTP/2");
	ok(scrape_is_address(":9100") && scrape_is_address("localhost:0") && scrape_is_address("[::1]:80"),
	   "addresses");
	ok(!scrape_is_address("-") && !scrape_is_address("a.om") && !scrape_is_address("./x:80") &&
		   !scrape_is_address("x:") && !scrape_is_address("x:80a"),
	   "names of files");
}

/* ---- counts so far ---- */

static void available(struct backend *backend, const struct event *event, struct availability *out)
{
	(void)backend;
	(void)event;
	*out = (struct availability){.state = READING_UNSUPPORTED, .why = "no such counter"};
}

static struct reading reads(uint64_t count, uint64_t enabled, uint64_t running)
{
	return (struct reading){.state = READING_COUNTED,
				.source = SOURCE_HW,
				.count_raw = count,
				.enabled_ns = enabled,
				.running_ns = running,
				.cpu = -1};
}

static const char sample[] = "tare_x_total{event=\"x\",level=\"user\",source=\"";

/* The value of x after one more reading; -1: it has no sample. */
static double after(struct openmetrics_output *out, const struct event *event, struct reading reading,
		    const char **source)
{
	static char text[65536];
	const struct time_count count = {.known = reading.state == READING_COUNTED && reading.running_ns > 0,
					 .why = "counting was off"};
	const struct time_interval interval = {.events = &event, .n = 1, .counts = &count, .totals = &reading};
	openmetrics_interval(out, &interval);
	FILE *file = fopen("openmetrics_test.om", "r");
	text[file ? fread(text, 1, sizeof text - 1, file) : 0] = '\0';
	if (file)
		fclose(file);
	ok(strstr(text, "# EOF\n") != NULL, "the file is whole");
	char *at = strstr(text, sample);
	*source = strstr(text, "why=\"");
	if (!at)
		return -1;
	*source = at + strlen(sample);
	at = strstr(at, "} ");
	return at ? strtod(at + 2, NULL) : -1;
}

static void growing(void)
{
	struct event events[] = {{.label = "x:u", .levels = LEVEL_USER}, {.label = "y:u", .levels = LEVEL_USER}};
	struct asked_row rows[] = {
		{.event = 0}, {.event = 1}, {.event = ROW_NO_EVENT, .label = "z", .why = "nothing has it"}};
	static const struct backend_operations operations = {.name = "test", .available = available};
	struct session session = {.operations = &operations};
	struct openmetrics_output out;
	const char *source;
	session.selection.events.items = events;
	session.selection.events.count = 2;
	session.selection.rows.items = rows;
	session.selection.rows.count = 3;
	unlink("openmetrics_test.om");
	if (!ok(openmetrics_open(&out, "openmetrics_test.om", true, &session, NULL),
		"a file that is written at each interval"))
		return;
	struct reading unproven = reads(0, 100, 100);
	unproven.unproven = true;
	ok(after(&out, events, reads(0, 0, 0), &source) == -1 && source &&
		   strncmp(source, "why=\"counting was off\"", 22) == 0,
	   "before it is counted it has no sample");
	ok(after(&out, events, unproven, &source) == -1, "a 0 of a counter that nothing moved is not a count");
	ok(after(&out, events, reads(1000, 200, 200), &source) == 1000 && strncmp(source, "hw\"", 3) == 0,
	   "a counter of its own");
	ok(after(&out, events, reads(1100, 300, 250), &source) == 1200 && strncmp(source, "scaled\"", 7) == 0,
	   "50 of 100 ns: what it missed is added");
	ok(after(&out, events, reads(1100, 500, 250), &source) == 1200, "it did not run: nothing is known yet");
	ok(after(&out, events, reads(1400, 600, 350), &source) == 1200 + 300 * 3.,
	   "then for 100 of 300 ns, of which it missed 200");
	struct reading broken = reads(1500, 700, 450);
	broken.state = READING_FAILED;
	broken.why = "it broke";
	ok(after(&out, events, broken, &source) == -1 && source && strncmp(source, "why=\"it broke\"", 14) == 0,
	   "a counter that broke has no sample any more");
	char text[65536];
	FILE *file = fopen("openmetrics_test.om", "r");
	text[file ? fread(text, 1, sizeof text - 1, file) : 0] = '\0';
	if (file)
		fclose(file);
	ok(strstr(text,
		  "tare_event_counted{event=\"y\",level=\"user\",source=\"none\",why=\"no such counter\"} 0\n") &&
		   strstr(text, "tare_event_counted{event=\"z\",source=\"none\",why=\"nothing has it\"} 0\n"),
	   "what is in no interval says why");
	openmetrics_close(&out);
	unlink("openmetrics_test.om");
}

int main(void)
{
	char folder[] = "/tmp/tare-openmetrics-XXXXXX";
	if (!mkdtemp(folder) || chdir(folder) != 0)
		return 1;
	writer();
	requests();
	growing();
	rmdir(folder);
	return done();
}
