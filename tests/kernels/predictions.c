/* Prints what tare's kernels must count, for the tests that compare it with counts:
 *
 *     predictions                        a line each: NAME INTERFACE EVENT moves|still (does it depend on n?)
 *     predictions NAME N [MACHINE]       a line each: INTERFACE EVENT VALUE (of a known machine what asks for one, too) */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/declare/machines.h"
#include "trust/kernel_formula.h"
#include "trust/kernel_machine.h"

static const char *const ways[] = { "command", "region" };

static int fail(const char *why)
{
	fprintf(stderr, "%s\n", why);
	return 1;
}

static void print(const struct kernel *k, uint64_t n, const struct kernel_machine *machine)
{
	for (size_t i = 0; i < k->n_predictions; i++)
		for (unsigned way = 0; way < KERNEL_INTERFACES; way++) {
			const struct kernel_prediction *row = &k->predictions[i];
			struct error err;
			double value;
			if (!(row->interfaces & 1U << way))
				continue;
			if (kernel_prediction_value(row, (enum kernel_interface)way, n, machine, &value, &err))
				printf("%s %s%s %.0f\n", ways[way], row->event,
				       row->beyond_start    ? "-more"
				       : row->first_process ? "-self"
							    : "",
				       value);
			else if (err.code == ERROR_LIMIT)
				printf("%s %s broken: %s\n", ways[way], row->event, err.text);
		}
}

static void print_all(const struct kernels *kernels)
{
	for (size_t i = 0; i < kernels->count; i++)
		for (size_t r = 0; r < kernels->all[i].n_predictions; r++) {
			const struct kernel_prediction *row = &kernels->all[i].predictions[r];
			for (unsigned way = 0; way < KERNEL_INTERFACES; way++)
				if (row->interfaces & 1U << way)
					printf("%s %s %s %s\n", kernels->all[i].name, ways[way], row->event,
					       kernel_formula_names(row->formula, "n") ? "moves" : "still");
		}
}

int main(int argc, char **argv)
{
	struct kernels kernels;
	struct error err;
	struct machine machine;
	struct kernel_machine known = { .name = "none" };
	if (!kernels_load(NULL, &kernels, &err))
		return fail(err.text);
	if (argc == 1) {
		print_all(&kernels);
	} else {
		const struct kernel *k = kernels_find(&kernels, argv[1]);
		if (!k || argc < 3)
			return fail("usage: predictions [NAME N [MACHINE]]");
		if (k->why_not)
			printf("skip %s\n", k->why_not);
		if (argc > 3) {
			if (!machine_find(argv[3], &machine, &err))
				return fail(err.text);
			kernel_machine_of(&machine, &known);
		}
		print(k, strtoull(argv[2], NULL, 10), argc > 3 ? &known : NULL);
	}
	kernels_free(&kernels);
	return 0;
}
