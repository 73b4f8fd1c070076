/* measure/ over a backend that is scripted: what becomes of sums over rows, of sources, and of what is missing in a part. */
#include "measure/measure.h"

#include "measure_fake.h"

static const struct event_definition counted = {
	.name = "counted", .unit = "things", .counted_by = COUNTED_BY_PERF};
static const struct event_definition memory = {
	.name = "peak-memory", .unit = "bytes", .counted_by = COUNTED_BY_PROCESS};
static const struct event_definition elapsed = {
	.name = "elapsed-time", .unit = "ns", .kind = EVENT_DURATION, .counted_by = COUNTED_BY_PROCESS};

#define EVENT(text_, row)                                                                                         \
	{                                                                                                         \
		.text = text_, .label = text_, .definition = row, .levels = LEVEL_USER | LEVEL_KERNEL             \
	}

static struct result *measure(struct backend *b, const struct event *events, size_t n, const struct metric *metric,
			      size_t repetitions)
{
	char *const argv[] = {"true", NULL};
	struct command command = {.argv = argv, .stdin_fd = -1, .stdout_fd = -1, .stderr_fd = -1};
	struct target target = {.kind = TARGET_COMMAND, .command = &command};
	struct measure_options options = {.size = sizeof options, .repetitions = repetitions, .confidence = 0.95};
	struct result *result = NULL;
	struct error err;
	if (!measure_count(&fake_operations, b, &target, events, n, &metric, metric != NULL, &options, &result,
			   &err))
		printf("# %s\n", err.text);
	return result;
}

/* The second of two rows lacks b. */
static void lacking(struct backend *backend, size_t execution, const char *event, struct reading *r)
{
	(void)backend, (void)execution;
	if (r->cpu == 1 && strcmp(event, "b") == 0)
		*r = (struct reading){.state = READING_FAILED, .why = "its counter could not be read", .cpu = 1};
}

static void sums(void)
{
	const struct event events[] = {EVENT("a", &counted), EVENT("b", &counted)};
	struct backend b = {.counters = 4, .rows = 2, .read = lacking};
	struct result *r = measure(&b, events, 2, NULL, 1);
	const struct estimate *of_b = NULL;
	for (size_t i = 0; i < r->n_estimates; i++)
		if (estimate_is_total(&r->estimates[i]) && strcmp(r->estimates[i].event, "b") == 0)
			of_b = &r->estimates[i];
	ok(estimate_is_total(&r->estimates[0]) && r->estimates[0].value == 2000, "a total is the sum of its rows");
	ok(of_b && !of_b->known && strstr(of_b->why, "could not be read"),
	   "what is missing in one row is missing in the total, with its reason");
	result_free(r);
}

/* Every other execution counts half of the time; which comes first, both ways. */
static size_t first_half;
static void halves(struct backend *backend, size_t execution, const char *event, struct reading *r)
{
	(void)backend, (void)event;
	if (execution % 2 == first_half)
		r->running_ns = r->enabled_ns / 2;
}

static void sources(void)
{
	const struct event one[] = {EVENT("a", &counted)};
	for (first_half = 0; first_half < 2; first_half++) {
		struct backend b = {.counters = 4, .read = halves};
		struct result *r = measure(&b, one, 1, NULL, 4);
		ok(r->estimates[0].known && r->estimates[0].source == SOURCE_SCALED,
		   "a mean of which some runs were scaled says so, %s",
		   first_half ? "the first among them" : "the first not among them");
		result_free(r);
	}
}

static void always_half(struct backend *backend, size_t execution, const char *event, struct reading *r)
{
	(void)backend, (void)execution, (void)event;
	r->running_ns = r->enabled_ns / 2;
}

static void scaled_metric(void)
{
	const struct event events[] = {EVENT("a", &counted), EVENT("b", &counted)};
	const struct metric ratio = {"ratio", {"a", "b"}};
	struct backend b = {.counters = 4, .read = always_half};
	struct result *r = measure(&b, events, 2, &ratio, 3);
	ok(r->metrics[0].known && r->metrics[0].source == SOURCE_SCALED && r->metrics[0].low < r->metrics[0].value,
	   "a metric of scaled counts has their errors, though its runs are all the same");
	result_free(r);
}

/* Of ten executions the sixth counts so much more. */
static uint64_t more;
static void one_more(struct backend *backend, size_t execution, const char *event, struct reading *r)
{
	(void)backend, (void)event;
	r->count_raw = 1000000000 + (execution == 5 ? more : 0);
}

static void outliers(void)
{
	const struct event events[] = {EVENT("a", &counted)};
	struct backend b = {.counters = 4, .read = one_more};
	more = 400000;
	struct result *r = measure(&b, events, 1, NULL, 10);
	ok(r->n_outliers == 0,
	   "a run that differs by less than a thousandth is no outlier, even where all others are equal");
	result_free(r);
	b = (struct backend){.counters = 4, .read = one_more};
	more = 1000000000;
	r = measure(&b, events, 1, NULL, 10);
	ok(r->n_outliers == 1 && r->outliers[0].repetition == 5 - r->warm_ups, "one that counts twice as much is");
	ok(r->n_outliers == 1 && !strstr(r->outliers[0].cause, "exit status"),
	   "… and that it ended as all others did is no cause");
	result_free(r);
}

static void of_a_model(struct backend *backend, size_t execution, const char *event, struct reading *r)
{
	(void)backend, (void)execution;
	if (strcmp(event, "b") == 0)
		r->source = SOURCE_MODEL, r->machine = "r10000";
	if (strcmp(event, "c") == 0)
		r->source = SOURCE_EXACT;
}

static void weakest(void)
{
	const struct event events[] = {EVENT("a", &counted), EVENT("b", &counted), EVENT("c", &counted),
				       EVENT("elapsed-time", &elapsed)};
	// clang-format off: a table, a row a line
	static const struct {
		struct metric metric;
		enum source source;
	} truths[] = {
		{{"modelled", {"b", "a"}}, SOURCE_MODEL},
		{{"modelled too", {"a", "b"}}, SOURCE_MODEL},
		{{"exact", {"a", "c"}}, SOURCE_EXACT},
		{{"counted", {"a", "a"}}, SOURCE_HW},
	};
	// clang-format on
	for (size_t i = 0; i < sizeof truths / sizeof *truths; i++) {
		struct backend b = {.counters = 8, .read = of_a_model};
		struct result *r = measure(&b, events, 4, &truths[i].metric, 2);
		ok(r->metrics[0].known && r->metrics[0].source == truths[i].source,
		   "%s: a metric's source is the one of its inputs that says least", truths[i].metric.name);
		result_free(r);
	}
	const struct metric rate = {"rate", {"b", "elapsed-time"}};
	struct backend b = {.counters = 8, .read = of_a_model};
	struct result *r = measure(&b, events, 4, &rate, 2);
	ok(!r->metrics[0].known && strstr(r->metrics[0].why, "modelled machine"),
	   "modelled counts are not divided by this machine's time");
	result_free(r);
}

static void bounds(void)
{
	const struct event events[] = {EVENT("peak-memory", &memory)};
	struct backend b = {.counters = 4};
	struct result *r = measure(&b, events, 1, NULL, 1);
	ok(r->estimates[0].known && r->estimates[0].note && strstr(r->estimates[0].note, "upper bound"),
	   "a peak of memory that is not above tare's own is an upper bound, and says so");
	result_free(r);
}

int main(void)
{
	sums();
	sources();
	scaled_metric();
	outliers();
	weakest();
	bounds();
	return done();
}
