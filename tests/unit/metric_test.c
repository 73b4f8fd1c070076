/* Derived metrics: the rows of data/metrics/, the formulas' grammar, and the error carried through. */
#include <stdlib.h>

#include "event/event.h"
#include "event/metric.h"
#include "tap.h"

static struct metric_table *table;
static struct event_table *events;

static bool add_formula(const char *formula, struct error *err)
{
	char text[1024];
	int length = snprintf(text, sizeof text, "[t]\ndefinition = D.\nunit = u\nformula = %s\n", formula);
	return metric_table_add(table, text, (size_t)length, "my.metrics", err);
}

/* The formula's value and interval; inputs in order of first use. */
static bool evaluate(const char *formula, const struct metric_input *inputs, struct metric_input *out,
		     struct error *err)
{
	if (!add_formula(formula, err))
		return false;
	return metric_evaluate(metric_find(table, "t", NULL), inputs, out, err);
}

static struct metric_input exactly(double value) { return (struct metric_input){true, value, value, value}; }

static void computes(const char *formula, double a, double b, double c, double expected)
{
	struct metric_input inputs[] = {exactly(a), exactly(b), exactly(c)}, out = {0};
	struct error err = {0};
	bool done = evaluate(formula, inputs, &out, &err);
	if (!done || out.value != expected)
		printf("# is %.17g (%s)\n", out.value, err.text);
	ok(done && out.known && out.value == expected && out.low == expected && out.high == expected,
	   "'%s' of %g, %g, %g is %g", formula, a, b, c, expected);
}

static void refuses(const char *formula, const char *message)
{
	struct error err = {0};
	bool done = add_formula(formula, &err);
	if (done || !strstr(err.text, message))
		printf("# %s: %s\n", done ? "accepted" : "refused", err.text);
	ok(!done && err.code == ERROR_SYNTAX && strstr(err.text, message), "'%.60s' is refused: %s", formula,
	   message);
}

static void test_arithmetic(void)
{
	computes("a / b", 6, 4, 0, 1.5);
	computes("a - b - c", 10, 3, 2, 5);
	computes("a - (b - c)", 10, 3, 2, 9);
	computes("a / b / c", 24, 4, 3, 2);
	computes("a + b * c", 1, 2, 3, 7);
	computes("(a + b) * c", 1, 2, 3, 9);
	computes("-a + b", 1, 5, 0, 4);
	computes("a * -b", 2, 5, 0, -10);
	computes("100 * (1 - a/b)", 1, 4, 0, 75);
	computes("1e3*a", 2, 0, 0, 2000);
	computes(".5 * a", 2, 0, 0, 1);
	computes("2.5e-1 * a", 8, 0, 0, 2);
	computes("l1d-load-misses - L1:u", 7, 3, 0, 4);
	computes("a + a + b", 1, 5, 0, 7);

	refuses("a /", "column 4: the formula ends where a value is expected");
	refuses("a b", "column 3: expected an operator");
	refuses("(a + b", "expected ')'");
	refuses("a + b)", "column 6: expected an operator");
	refuses("a + * b", "column 5: expected a number, an event or '('");
	refuses("a- b", "a name cannot end in '-'");
	refuses("2a", "a name cannot begin with a digit");
	refuses("1.2.3", "not a number");
	refuses("1e999 * a", "not a number");
	refuses("a % b", "expected an operator");
	refuses("a ---b", "column 5: expected a number");
	computes("a - -b", 1, 2, 0, 3);

	char deep[1000] = "";
	for (int i = 0; i < 400; i++)
		strcat(deep, "(");
	strcat(deep, "a");
	refuses(deep, "too deep");
	/* a value that waits for each of 40 more */
	char tall[400] = "";
	for (int i = 0; i < 31; i++)
		strcat(tall, "a+(");
	strcat(tall, "a+a*(a)");
	for (int i = 0; i < 31; i++)
		strcat(tall, ")");
	refuses(tall, "too deep");
	char wide[1000] = "a";
	for (int i = 0; i < 200; i++)
		strcat(wide, "+ a");
	refuses(wide, "too long");
	char many[1000] = "a0";
	for (int i = 1; i < 40; i++)
		sprintf(many + strlen(many), " + a%d", i);
	refuses(many, "too many events");
}

static void test_inputs(void)
{
	struct error err = {0};
	struct metric_input out, inputs[2] = {exactly(5), {false, 0, 0, 0}};
	add_formula("b:u / (a + b:u)", &err);
	const struct metric *m = metric_find(table, "t", &err);
	equal_u64(metric_event_count(m), 2, "an event that a formula names twice is one input");
	equal_text(metric_event(m, 0), "b:u", "inputs are in order of first use, levels included");
	equal_text(metric_event(m, 1), "a", "… each");
	ok(metric_event(m, 2) == NULL, "there is no input behind the last");
	ok(!metric_evaluate(m, inputs, &out, &err) && err.code == ERROR_UNSUPPORTED &&
		   strcmp(err.text, "'a' was not counted") == 0,
	   "a missing input makes the metric not counted, with its name");
	ok(!evaluate("a / b", (struct metric_input[]){exactly(1), exactly(0)}, &out, &err) &&
		   err.code == ERROR_UNSUPPORTED && strcmp(err.text, "'b' is 0 and divides") == 0,
	   "a divisor of 0 makes the metric not counted, with its name");
	ok(!evaluate("0 / a", (struct metric_input[]){exactly(0)}, &out, &err) && strstr(err.text, "'a' is 0"),
	   "0 divided by 0 is not counted either");
	ok(!evaluate("a / (b - c)", (struct metric_input[]){exactly(1), exactly(2), exactly(2)}, &out, &err) &&
		   strcmp(err.text, "'(b - c)' is 0 and divides") == 0,
	   "a divisor that comes to 0 is named by its formula");
	ok(evaluate("a / b", (struct metric_input[]){exactly(0), exactly(4)}, &out, &err) && out.value == 0,
	   "0 that was counted is a value");
	ok(!evaluate("a", (struct metric_input[]){{true, NAN, NAN, NAN}}, &out, &err), "a NaN is no value");
	ok(!evaluate("a", (struct metric_input[]){{true, 1, 2, 3}}, &out, &err),
	   "a value outside of its own interval is refused");
	ok(!evaluate("a * a", (struct metric_input[]){exactly(1e300)}, &out, &err) &&
		   strstr(err.text, "not a finite"),
	   "an overflow is not counted, not infinite");
}

static void carries(const char *formula, struct metric_input a, struct metric_input b, double down, double up)
{
	struct metric_input inputs[] = {a, b}, out = {0};
	struct error err = {0};
	bool done = evaluate(formula, inputs, &out, &err);
	bool holds = done && fabs(out.value - out.low - down) < 1e-9 && fabs(out.high - out.value - up) < 1e-9;
	if (!holds)
		printf("# %.12g -%.12g +%.12g, expected -%.12g +%.12g (%s)\n", out.value, out.value - out.low,
		       out.high - out.value, down, up, err.text);
	ok(holds, "'%s' carries errors -%g +%g and -%g +%g to -%.4g +%.4g", formula, a.value - a.low,
	   a.high - a.value, b.value - b.low, b.high - b.value, down, up);
}

static void test_errors(void)
{
	struct metric_input a = {true, 100, 97, 103}, b = {true, 50, 46, 54};
	struct metric_input skew_a = {true, 100, 99, 103}, skew_b = {true, 50, 48, 54};
	carries("a + b", a, b, 5, 5);
	carries("a - b", a, b, 5, 5);
	/* ∂/∂a = b = 50, ∂/∂b = a = 100: √(150² + 400²) */
	carries("a * b", a, b, sqrt(150 * 150 + 400 * 400), sqrt(150 * 150 + 400 * 400));
	/* relative errors in quadrature: 2 × √(0.03² + 0.08²) */
	carries("a / b", a, b, 2 * sqrt(0.0009 + 0.0064), 2 * sqrt(0.0009 + 0.0064));
	carries("a + b", skew_a, skew_b, sqrt(1 + 4), sqrt(9 + 16));
	/* b is subtracted: what lowers b raises the result */
	carries("a - b", skew_a, skew_b, sqrt(1 + 16), sqrt(9 + 4));
	/* ∂/∂a = 1/50, ∂/∂b = −100/2500 = −1/25 */
	carries("a / b", skew_a, skew_b, hypot(1 / 50., 4 / 25.), hypot(3 / 50., 2 / 25.));
	carries("-a + b", skew_a, skew_b, hypot(3, 2), hypot(1, 4));
	carries("10 * a + 0 * b", a, b, 30, 30);
	/* one input twice is one error, not two independent ones */
	carries("a + a + 0 * b", a, b, 6, 6);
	carries("a - a + b", a, b, 4, 4);
	carries("a / (a + b)", a, b, hypot(3 * 50 / 22500., 4 * 100 / 22500.),
		hypot(3 * 50 / 22500., 4 * 100 / 22500.));

	struct metric_input out, wide[] = {exactly(3), {true, 2, -INFINITY, INFINITY}};
	ok(evaluate("a * b", wide, &out, NULL) && out.value == 6 && isinf(out.low) && isinf(out.high),
	   "an input of unbounded error gives a result of unbounded error");
	wide[0] = exactly(0);
	ok(evaluate("a * b", wide, &out, NULL) && out.value == 0 && out.low == 0 && out.high == 0,
	   "… unless it does not matter to the first order");
}

static void test_rows(void)
{
	bool sentences = true, known = true, evaluated = true, found = true;
	size_t n = metric_table_count(table);
	for (size_t i = 0; i < n; i++) {
		const struct metric *m = metric_table_at(table, i);
		size_t length = strlen(metric_definition(m));
		sentences &= length > 20 && metric_definition(m)[length - 1] == '.' && *metric_unit(m);
		struct metric_input out, inputs[32];
		for (size_t k = 0; k < metric_event_count(m); k++) {
			struct event event;
			inputs[k] = (struct metric_input){true, 3 + (double)k, 2, 40};
			if (event_parse(events, metric_event(m, k), &event, NULL) && event.definition)
				continue;
			printf("# '%s' of '%s'\n", metric_event(m, k), metric_name(m));
			known = false;
		}
		struct error err;
		if (!metric_evaluate(m, inputs, &out, &err)) {
			printf("# %s: %s\n", metric_name(m), err.text);
			evaluated = false;
		}
		if (metric_find(table, metric_name(m), NULL) != m) {
			printf("# %s\n", metric_name(m));
			found = false;
		}
	}
	ok(n > 50, "there are more than 50 metrics");
	ok(found, "every metric is found by its name, which no other has");
	ok(sentences, "every metric has a sentence and a unit");
	ok(known, "every event that a metric names is a canonical one");
	ok(evaluated, "every metric can be evaluated");

	/* by hand: 3e9 instructions, 2e9 cycles, 1 s */
	struct error err = {0};
	struct metric_input out;
	const struct metric *m = metric_find(table, "ipc", &err);
	ok(m && metric_evaluate(m, (struct metric_input[]){exactly(3e9), exactly(2e9)}, &out, &err) &&
		   out.value == 1.5,
	   "ipc is instructions / cycles");
	m = metric_find(table, "ghz", &err);
	ok(m && metric_evaluate(m, (struct metric_input[]){exactly(2e9), exactly(1e9)}, &out, &err) &&
		   out.value == 2,
	   "2e9 cycles in 1e9 ns are 2 GHz");
	m = metric_find(table, "mips", &err);
	ok(m && metric_evaluate(m, (struct metric_input[]){exactly(3e9), exactly(1e9)}, &out, &err) &&
		   out.value == 3000,
	   "3e9 instructions in 1e9 ns are 3000 MIPS");
	m = metric_find(table, "mflops", &err);
	ok(m && metric_evaluate(m, (struct metric_input[]){exactly(5e8), exactly(1e9)}, &out, &err) &&
		   out.value == 500,
	   "5e8 operations in 1e9 ns are 500 MFLOPS");
	ok(m && metric_caution(m) && strstr(metric_caution(m), "Figure 4"), "MFLOPS comes with its caution");
	m = metric_find(table, "l1d-line-reuse", &err);
	ok(m && metric_evaluate(m, (struct metric_input[]){exactly(60), exactly(40), exactly(4)}, &out, &err) &&
		   out.value == 24,
	   "100 accesses with 4 misses reuse each line 24 times");
	m = metric_find(table, "memory-bandwidth", &err);
	ok(m && metric_evaluate(m, (struct metric_input[]){exactly(1e6), exactly(1e6)}, &out, &err) &&
		   out.value == 64,
	   "a line of 64 bytes each ns is 64 GB/s");

	ok(!metric_find(table, "icp", &err) && err.code == ERROR_USAGE &&
		   strstr(err.text, "unknown metric 'icp'") && strstr(err.hint, "'ipc'"),
	   "an unknown metric is an error with the nearest names");
	ok(!metric_find(table, "x\x1b[0m", &err) && strstr(err.text, "x\\x1b[0m"),
	   "control characters in it are escaped");
}

static void refuses_row(const char *text, const char *message)
{
	struct error err = {0};
	size_t before = metric_table_count(table);
	bool done = metric_table_add(table, text, strlen(text), "my.metrics", &err);
	if (done || !strstr(err.text, message))
		printf("# %s: %s\n", done ? "accepted" : "refused", err.text);
	ok(!done && strstr(err.text, message) && metric_table_count(table) == before, "refused: %s", message);
}

static void test_adding(void)
{
	struct error err = {0};
	static const char row[] =
		"[mine]\ndefinition = D.\nunit = u\nformula = cycles /\n  instructions\nbetter = lower\n"
		"papers = none\ncaution = C\n";
	size_t before = metric_table_count(table);
	ok(metric_table_add(table, row, sizeof row - 1, "my.metrics", &err) &&
		   metric_table_count(table) == before + 1,
	   "a metric of the user's is added");
	const struct metric *m = metric_find(table, "mine", &err);
	ok(m && strcmp(metric_formula(m), "cycles / instructions") == 0 && strcmp(metric_caution(m), "C") == 0 &&
		   strcmp(metric_unit(m), "u") == 0 && strcmp(metric_definition(m), "D.") == 0,
	   "its keys are in the row, a continued line too");
	ok(metric_table_add(table, row, sizeof row - 1, "my.metrics", &err) &&
		   metric_table_count(table) == before + 1 && metric_find(table, "mine", NULL) != m &&
		   strcmp(metric_name(m), "mine") == 0,
	   "a known name is replaced, and the row that was handed out stays");
	refuses_row("[x]\nunit = u\nformula = a\n", "'x' has no definition");
	refuses_row("[x]\ndefinition = D.\nunit = u\n", "'x' has no formula");
	refuses_row("[x]\ndefinition = D.\nunit = u\nformula = a +\n",
		    "my.metrics:1: the formula of 'x', column 4");
	refuses_row("[x]\nbetter = maybe\n", "my.metrics:2: not higher, lower or neither: 'maybe'");
	refuses_row("[x]\ncolour = red\n", "unknown key 'colour'");
	refuses_row("[x y]\ndefinition = D.\n", "not a name");
	refuses_row("[good]\ndefinition = D.\nunit = u\nformula = a\n[x]\n", "'x' has no definition");
	ok(!metric_find(table, "good", NULL), "a text with one bad row adds none");
}

int main(void)
{
	struct error err = {0};
	table = metric_table_new(&err);
	events = table ? event_table_new(&err) : NULL;
	if (!events) {
		ok(false, "the embedded tables parse");
		printf("# %s\n", err.text);
		metric_table_free(table);
		return done();
	}
	test_rows();
	test_arithmetic();
	test_inputs();
	test_errors();
	test_adding();
	metric_table_free(table);
	event_table_free(events);
	return done();
}
