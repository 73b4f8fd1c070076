/* Processes that the program starts: followed, or not. */
#include "tap.h"
#include "vm/counted.h"

static double count(const char *follow, const char *argument)
{
	struct counted *c = follow ? tare_run("count", follow, "-e", "instructions:u", kernel("children"),
					      argument, NULL)
				   : tare_run("count", "-e", "instructions:u", kernel("children"), argument, NULL);
	double value = event_row(c, "instructions:u").value;
	if (isnan(value))
		printf("# status %d: %s\n", c->status, c->said);
	counted_free(c);
	return value;
}

int main(void)
{
	if (no_pmu()) {
		skip(no_pmu(), "children are counted, or not");
		return done();
	}
	static const struct {
		const char *argument;
		uint64_t n;
	} cases[] = {{"1", 1}, {"1000", 1000}, {"500000", 500000}};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		double with = count(NULL, cases[i].argument), without = count("--no-children", cases[i].argument);
		double all = (double)predicted("children", "instructions", cases[i].n);
		double self = (double)predicted("children", "instructions-self", cases[i].n);
		if (!ok(agrees(with, all), "a child's %s iterations are counted with its parent",
			cases[i].argument))
			printf("# is %.0f, predicted %.0f\n", with, all);
		if (!ok(agrees(without, self), "--no-children counts the parent alone (%s)", cases[i].argument))
			printf("# is %.0f, predicted %.0f\n", without, self);
	}
	return done();
}
