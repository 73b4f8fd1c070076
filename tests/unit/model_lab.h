/* A model of a machine with its memory and its counts, for tests of the models. */
#ifndef TARE_TESTS_UNIT_MODEL_LAB_H
#define TARE_TESTS_UNIT_MODEL_LAB_H

#include <stdlib.h>
#include <string.h>

#include "model/core/model.h"
#include "tap.h"

#define CORES 3

struct lab {
	struct machine machine;
	struct model_options options;
	struct model *model;
	void *memory, *core_memory[CORES];
	struct model_counts counts[CORES];
};

static void *zeroed(uint64_t bytes)
{
	void *memory = aligned_alloc(4096, bytes);
	return memset(memory, 0, bytes);
}

static void lab_open_with(struct lab *lab, const struct machine *machine, struct model_options options,
			  unsigned cores)
{
	memset(lab, 0, sizeof *lab);
	lab->machine = *machine;
	lab->options = options;
	lab->memory = zeroed(model_bytes(machine, &options));
	lab->model = model_init(lab->memory, machine, &options);
	for (unsigned k = 0; k < cores; k++) {
		lab->core_memory[k] = zeroed(model_core_bytes(machine, &options));
		model_core_init(lab->model, k, lab->core_memory[k], &lab->counts[k]);
	}
}

static void lab_open(struct lab *lab, const struct machine *machine, unsigned cores)
{
	lab_open_with(lab, machine, (struct model_options){0}, cores);
}

static bool conserves(const struct lab *lab)
{
	const char *why;
	for (unsigned k = 0; k < CORES; k++)
		if (!model_conserves(&lab->machine, &lab->options, &lab->counts[k], &why)) {
			printf("# core %u: %s\n", k, why);
			return false;
		}
	return true;
}

static void lab_close(struct lab *lab)
{
	free(lab->memory);
	for (unsigned k = 0; k < CORES; k++)
		free(lab->core_memory[k]);
}

#endif
