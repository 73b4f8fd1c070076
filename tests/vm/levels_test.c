/* User against kernel: what each level counts, and that the two are the whole. */
#include "tap.h"
#include "vm/counted.h"

struct levels {
	double user, kernel, both;
};

static struct levels levels_of(const char *name, const char *argument)
{
	struct counted *c = tare_run("count", "-e", "instructions:u,instructions:k,instructions:uk", kernel(name),
				     argument, NULL);
	struct levels levels = { event_row(c, "instructions:u").value, event_row(c, "instructions:k").value,
		event_row(c, "instructions:uk").value };
	if (isnan(levels.user) || isnan(levels.kernel) || isnan(levels.both))
		printf("# status %d: %s\n", c->status, c->said);
	counted_free(c);
	return levels;
}

int main(void)
{
	if (no_pmu()) {
		skip(no_pmu(), "user and kernel instructions are told apart");
		return done();
	}
	static const char *const arguments[] = { "1000", "2000", "4000", "8000" };
	enum { N = sizeof arguments / sizeof *arguments };
	struct levels at[N];
	bool user_exact = true;
	for (size_t i = 0; i < N; i++) {
		at[i] = levels_of("syscalls", arguments[i]);
		uint64_t n = 1000u << i;
		printf("# %s getpid: %.0f user, %.0f kernel, %.0f both\n", arguments[i], at[i].user, at[i].kernel,
		       at[i].both);
		user_exact &= agrees(at[i].user, (double)predicted("syscalls", "instructions", n));
	}
	ok(user_exact, "system calls change nothing in the user count: it is the predicted one each time");

	/* What a call costs the kernel, from each doubling. Timer interrupts come on top: 250 a second (of 2 ms here). */
	double least = INFINITY, most = 0;
	for (size_t i = 1; i < N; i++) {
		double each = (at[i].kernel - at[i - 1].kernel) / (1000 << (i - 1));
		least = fmin(least, each);
		most = fmax(most, each);
	}
	printf("# the kernel's instructions for a getpid: %.2f to %.2f\n", least, most);
	ok(least > 20 && most < least * 1.10, "the kernel's count grows by the same number for each call, within 10 %%");

	bool whole = true;
	for (size_t i = 0; i < N; i++)
		whole &= at[i].user + at[i].kernel == at[i].both;
	/* They are three counters: started one after the other within exec, which is the kernel's time. */
	for (size_t i = 0; i < N && !whole; i++)
		printf("# %.0f and %.0f are %.0f, not %.0f\n", at[i].user, at[i].kernel, at[i].user + at[i].kernel,
		       at[i].both);
	double gap = 0;
	for (size_t i = 0; i < N; i++)
		gap = fmax(gap, fabs(at[i].user + at[i].kernel - at[i].both));
	ok(gap <= 2000, "user and kernel together are the whole, up to the kernel's own switching of counters (%.0f)", gap);

	struct levels idle = levels_of("loop", "1000000"), more = levels_of("loop", "5000000");
	ok(agrees(more.user - idle.user, 8e6), "a loop's user instructions are exact while the kernel's timer runs");
	ok(more.kernel - idle.kernel < 0.05 * 8e6,
	   "a loop without system calls adds (nearly) nothing to the kernel's count (%.0f)", more.kernel - idle.kernel);

	/* Nothing of tare's own kernel work before exec is in the count: fork, the pipe, opening the counters. */
	struct levels nothing = levels_of("empty", NULL);
	printf("# the empty program: %.0f kernel instructions\n", nothing.kernel);
	ok(nothing.kernel > 0 && nothing.user == 3, "the empty program's kernel count is that of exec's end and exit");
	return done();
}
