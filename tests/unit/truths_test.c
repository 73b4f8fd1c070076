/* The kernels' truths (trust/kernels.h): formulas in whole numbers, rows by processor and interface, no prediction told
 * apart from 0, and bad files refused with the place. */
#include <stdlib.h>
#include <string.h>

#include "tap.h"
#include "trust/kernel_formula.h"
#include "trust/kernels.h"

#if defined(__x86_64__)
#define HERE "x86-64"
#define ELSEWHERE "aarch64"
#else
#define HERE "aarch64"
#define ELSEWHERE "x86-64"
#endif

static const char START[] = "[" HERE " command]\nloads = 2 + digits # argv\n[" HERE " region]\nloads = 1\n";

static struct arena arena;

static bool read(const char *text, struct kernel *kernel, struct error *err)
{
	struct kernel_text truth = {text, "k.truth", strlen(text)},
			   start = {START, "start.truth", sizeof START - 1};
	return kernel_read(&truth, &start, &arena, kernel, err);
}

static enum kernel_name_answer names(void *context, const char *name, size_t length, int64_t *value)
{
	(void)context;
	*value = 7;
	return length == 1 && *name == 'n' ? KERNEL_NAME_KNOWN
	       : length == 4               ? KERNEL_NAME_LACKING
					   : KERNEL_NAME_UNKNOWN;
}

static void formulas(void)
{
	static const struct {
		const char *text;
		uint64_t value;
		enum error_code code;
	} cases[] = {
		{"2 + 3*n", 23, 0},
		{"n/2 - 1", 2, 0},
		{"(n+1)/2*2", 8, 0},
		{"1 - 2 + 3", 2, 0},
		{"U(1, 8*n, 8)", 8, 0},
		{"U(5, 0, 8)", 0, 0},
		{"U(63, 2, 64)", 2, 0},
		{"ceil(n, 2) + gcd(12, 18) + min(n, 3) + max(n, 3)", 4 + 6 + 3 + 7, 0},
		{"if(n <= 7, 1, 2) + if(n < 7, 10, 20) + if(n = 7, 100, 200) + if(n != 7, 1000, 2000)", 2121, 0},
		{"if(n > 6, if(n >= 8, 1, 2), 3)", 2, 0},
		{"if(n, 4, 1/0)", 4, 0},
		{"if(0, none, 5)", 5, 0},
		{"if(0, line, 5)", 5, 0},
		{"none", 0, ERROR_NOT_FOUND},
		{"if(n, none, 5)", 0, ERROR_NOT_FOUND},
		{"n + line", 0, ERROR_UNSUPPORTED},
		{"n - 8", 0, ERROR_LIMIT},
		{"n/(n - 7)", 0, ERROR_LIMIT},
		{"9223372036854775807 + n", 0, ERROR_LIMIT},
		{"9007199254740993", 0, ERROR_LIMIT},
		{"9223372036854775807*n", 0, ERROR_LIMIT},
		{"99999999999999999999", 0, ERROR_SYNTAX},
		{"", 0, ERROR_SYNTAX},
		{"n +", 0, ERROR_SYNTAX},
		{"n n", 0, ERROR_SYNTAX},
		{"m", 0, ERROR_SYNTAX},
		{"2x", 0, ERROR_SYNTAX},
		{"0.5", 0, ERROR_SYNTAX},
		{"min(n)", 0, ERROR_SYNTAX},
		{"f(n, n)", 0, ERROR_SYNTAX},
		{"if(n, 1)", 0, ERROR_SYNTAX},
		{"(n", 0, ERROR_SYNTAX},
		{"n ! 3", 0, ERROR_SYNTAX},
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct error err = {0};
		uint64_t value = 99;
		bool done = kernel_formula_value(cases[i].text, names, NULL, &value, &err);
		ok(cases[i].code ? !done && err.code == cases[i].code && value == 99
				 : done && value == cases[i].value,
		   "'%s' with n = 7: %s", cases[i].text,
		   cases[i].code ? "an error of its kind, no value" : "its value");
		if (!done != !!cases[i].code)
			printf("# %s; value %llu\n", err.text, (unsigned long long)value);
		ok(kernel_formula_check(cases[i].text, names, NULL, &err) == (cases[i].code != ERROR_SYNTAX),
		   "'%s': its spelling is %s", cases[i].text, cases[i].code == ERROR_SYNTAX ? "refused" : "right");
	}
	char deep[200] = "";
	for (int i = 0; i < 40; i++)
		strcat(deep, "(");
	strcat(deep, "1");
	for (int i = 0; i < 40; i++)
		strcat(deep, ")");
	ok(!kernel_formula_check(deep, names, NULL, NULL), "forty parentheses are too deep");
	ok(kernel_formula_names("2*start", "start") && !kernel_formula_names("restart + starts", "start"),
	   "a name is a whole word");
}

static void value_is(const struct kernel *k, bool region, const char *event, uint64_t n, double expected)
{
	struct error err = {0};
	double value = -1;
	bool done = region ? kernel_predict_region(k, event, n, NULL, &value, &err)
			   : kernel_predict(k, event, n, NULL, &value, &err);
	ok(done && value == expected, "%s of the %s with n = %llu is %g", event, region ? "region" : "command",
	   (unsigned long long)n, expected);
	if (!done)
		printf("# %s\n", err.text);
}

static void none_is(const struct kernel *k, bool region, const char *event, enum error_code code)
{
	struct error err = {0};
	double value = -1;
	bool done = region ? kernel_predict_region(k, event, 5, NULL, &value, &err)
			   : kernel_predict(k, event, 5, NULL, &value, &err);
	ok(!done && value == -1 && err.code == code && err.text[0],
	   "no prediction of %s of the %s is no number, and says why", event, region ? "region" : "command");
}

static void rows(void)
{
	struct kernel k;
	struct error err = {0};
	ok(read("[k]\nabout = a kernel\nmost = 1000\n"
		"[" HERE "]\nloads = start + 3*n # three\nstores = n\nnothing = calls returns # it calls nothing\n"
		"[" ELSEWHERE "]\nloads = 1\nfences = n\n"
		"[all region]\nl1d-misses = U(0, n, l1d.line)\n"
		"[all command]\npage-faults-more = n\ninstructions-self = 4\nfences = if(n > 9, n, none)\n",
		&k, &err),
	   "a truth can be read (%s)", err.text);
	value_is(&k, false, "loads", 5, 2 + 1 + 15);
	value_is(&k, false, "loads", 1000, 2 + 4 + 3000);
	value_is(&k, true, "loads", 5, 1 + 15);
	value_is(&k, true, "stores", 5, 5);
	value_is(&k, false, "calls", 5, 0);
	value_is(&k, false, "page-faults", 5, 5);
	value_is(&k, false, "fences", 10, 10);
	none_is(&k, false, "fences", ERROR_NOT_FOUND);
	none_is(&k, true, "fences", ERROR_NOT_FOUND);
	none_is(&k, false, "branches", ERROR_NOT_FOUND);
	none_is(&k, false, "instructions", ERROR_NOT_FOUND);
	none_is(&k, false, "l1d-misses", ERROR_NOT_FOUND);
	none_is(&k, true, "l1d-misses", ERROR_UNSUPPORTED);

	struct kernel_machine machine = {.name = "mine"};
	double value = 0;
	ok(kernel_machine_set(&machine, "l1d.line", 64) && !kernel_machine_set(&machine, "l1d.lime", 64),
	   "a machine has the parameters that there are");
	ok(kernel_predict_region(&k, "l1d-misses", 65, &machine, &value, &err) && value == 2,
	   "with a machine's line of 64 bytes, 65 bytes are two misses");

	ok(k.n_sizes <= 25 && k.n_quick <= 10 && k.sizes[0] == 1 && k.sizes[k.n_sizes - 1] == 1000 &&
		   k.quick[k.n_quick - 1] == 1000,
	   "sizes go up to the largest argument");
	for (size_t i = 1; i < k.n_sizes; i++)
		if (k.sizes[i] <= k.sizes[i - 1])
			ok(false, "sizes ascend");
}

static void refusals(void)
{
	static const struct {
		const char *text, *where;
	} cases[] = {
		{"", "k.truth"},
		{"[k]\n", "k.truth:1"},
		{"[k]\nabout = x\nabout = y\n", "k.truth:3"},
		{"[k]\nabout = x\nsorts = y\n", "k.truth:3"},
		{"[k]\nabout = x\nmost = 0\n", "k.truth:3"},
		{"[k]\nabout = x\nmost = -3\n", "k.truth:3"},
		{"[k]\nabout = x\nsizes = 1 1\n", "k.truth:3"},
		{"[k]\nabout = x\nsizes = 1 x\n", "k.truth:3"},
		{"[k]\nabout = x\n[sparc]\nloads = 1\n", "k.truth:3"},
		{"[k]\nabout = x\n[all]\nloads = 1 +\n", "k.truth:4"},
		{"[k]\nabout = x\n[all]\nloads = m\n", "k.truth:4"},
		{"[k]\nabout = x\n[all]\nloads = 1\nloads = 2\n", "k.truth:5"},
		{"[k]\nabout = x\n[all]\nloads = 1\n[" HERE " region]\nnothing = loads\n", "k.truth:6"},
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct kernel k;
		struct error err = {0};
		ok(!read(cases[i].text, &k, &err) &&
			   strncmp(err.text, cases[i].where, strlen(cases[i].where)) == 0,
		   "a bad file is refused at %s: %s", cases[i].where, err.text);
	}
}

static void all(void)
{
	struct kernels kernels;
	struct error err = {0};
	if (!ok(kernels_load(NULL, &kernels, &err), "tare's own truths can be read (%s)", err.text))
		return;
	ok(kernels.count >= 18, "there are at least eighteen kernels (%zu)", kernels.count);
	ok(kernels_find(&kernels, "loop") && !kernels_find(&kernels, "start") && !kernels_find(&kernels, "no"),
	   "kernels are found by name; start.truth is none of them");
	size_t without = 0;
	for (size_t i = 0; i < kernels.count; i++)
		without += !kernels.all[i].n_sizes || !kernels.all[i].n_quick || !kernels.all[i].sentence ||
			   (!kernels.all[i].path && !kernels.all[i].why_not);
	ok(without == 0, "each has a sentence, sizes, and a program or why not");
	kernels_free(&kernels);
	ok(!kernels_load("/nonexistent", &kernels, &err) && strstr(err.text, "/nonexistent"),
	   "a folder that is not there is an error that names it");
}

int main(void)
{
	formulas();
	rows();
	refusals();
	all();
	arena_free(&arena);
	return done();
}
