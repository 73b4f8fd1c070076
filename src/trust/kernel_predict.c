#include <string.h>

#include "trust/kernel_names.h"
#include "trust/kernels.h"

#define CACHE(name, of)                                                                                           \
	{name ".line", "bytes of a line of the " of}, {name ".sets", "sets of the " of},                          \
		{name ".ways", "ways of the " of}, {name ".lines", "lines of the " of},                           \
		{name ".shared", "1: the cores share the " of},                                                   \
		{name ".allocates", "1: a write that misses fills"},                                              \
		{name ".back", "1: writes back; 0: through"},                                                     \
		{name ".lru", "1: LRU, no prefetch, no victim buffer"},                                           \
		{name ".inclusive", "1: has all that the levels before it have"},                                 \
		{name ".exclusive", "1: has only what the levels before it let go"},                              \
		{name ".ahead", "lines that it fetches beyond one that missed, or that was fetched so"},          \
		{name ".fifo", "1: FIFO, else plain"}, {name ".plru", "1: a tree of bits (PLRU), else plain"},    \
	{                                                                                                         \
		name ".plain", "1: LRU, no prefetch, no victim buffer, not inclusive or exclusive of the levels " \
			       "before it"                                                                        \
	}
#define TLB(name, of)                                                                                             \
	{name ".entries", "entries of the " of}, {name ".ways", "ways of the " of},                               \
		{name ".sets", "sets of the " of},                                                                \
		{name ".reach", "bytes of memory for which an entry of the " of " stands"},                       \
		{name ".fifo", "1: FIFO, else plain"},                                                            \
	{                                                                                                         \
		name ".plain", "1: LRU, entries of the machine's pages"                                           \
	}

static const struct {
	const char *name, *meaning; /* the meaning is for authors of .truth files */
} parameters[] = {
	{"page", "bytes of a page"},
	{"fetch", "bytes of a fetch block"},
	CACHE("l1i", "first-level instruction cache"),
	CACHE("l1d", "first-level data cache"),
	CACHE("l2", "second-level cache"),
	CACHE("l3", "third-level cache"),
	TLB("itlb", "instruction TLB"),
	TLB("dtlb", "data TLB"),
	TLB("stlb", "second-level TLB"),
	{"tlb.levels", "data TLBs, one behind the other"},
	{"levels", "data caches, one behind the other"},
	{"unified", "1: code and data share what is behind the first level"},
	{"coherent", "1: caches of cores are kept coherent"},
	{"private.line", "bytes of a line of the last cache that a core has alone"},
	{"branch.plain", "1: a table of 2-bit counters by address, or the BTB's own counters"},
	{"branch.initial", "state of a new counter: 0 strongly not taken to 3 strongly taken"},
	{"branch.static", "1: predicts taken always, 2: never, 3: backward; 0: it learns"},
	{"btb.entries", "entries of the branch target buffer"},
	{"btb.all", "1: every branch gets an entry of the BTB; 0: taken ones"},
	{"indirect.entries", "entries of the table of indirect jumps' targets; 0: the last target"},
	{"return.entries", "entries of the return stack"},
};
#define PARAMETERS (sizeof parameters / sizeof *parameters)
_Static_assert(PARAMETERS <= (size_t)KERNEL_PARAMETERS_MOST, "struct kernel_machine has room for all");

static bool is_name(const char *name, const char *text, size_t length)
{
	return strlen(name) == length && memcmp(name, text, length) == 0;
}

/* PARAMETERS: none. */
static size_t parameter_at(const char *name, size_t length)
{
	size_t i = 0;
	while (i < PARAMETERS && !is_name(parameters[i].name, name, length))
		i++;
	return i;
}

bool kernel_machine_set(struct kernel_machine *machine, const char *parameter, int64_t value)
{
	size_t at = parameter_at(parameter, strlen(parameter));
	if (at == PARAMETERS)
		return false;
	machine->known[at] = true;
	machine->value[at] = value;
	return true;
}

enum kernel_name_answer kernel_name_check(void *unused, const char *name, size_t length, int64_t *value)
{
	(void)unused;
	(void)value;
	return is_name("n", name, length) || is_name("digits", name, length) || is_name("start", name, length) ||
			       parameter_at(name, length) < PARAMETERS
		       ? KERNEL_NAME_KNOWN
		       : KERNEL_NAME_UNKNOWN;
}

enum kernel_name_answer kernel_name_check_start(void *unused, const char *name, size_t length, int64_t *value)
{
	(void)unused;
	(void)value;
	return is_name("digits", name, length) ? KERNEL_NAME_KNOWN : KERNEL_NAME_UNKNOWN;
}

struct asked {
	uint64_t n;
	int64_t start;
	const struct kernel_machine *machine;
};

static enum kernel_name_answer value_of(void *context, const char *name, size_t length, int64_t *value)
{
	const struct asked *a = context;
	if (is_name("n", name, length)) {
		*value = (int64_t)a->n;
	} else if (is_name("digits", name, length)) {
		*value = 0;
		for (uint64_t rest = a->n; rest; rest /= 10)
			++*value;
	} else if (is_name("start", name, length)) {
		*value = a->start;
	} else {
		size_t at = parameter_at(name, length);
		if (at == PARAMETERS)
			return KERNEL_NAME_UNKNOWN;
		if (!a->machine || !a->machine->known[at])
			return KERNEL_NAME_LACKING;
		*value = a->machine->value[at];
	}
	return KERNEL_NAME_KNOWN;
}

bool kernel_prediction_value(const struct kernel_prediction *row, enum kernel_interface interface, uint64_t n,
			     const struct kernel_machine *machine, double *value, struct error *err)
{
	struct asked asked = {.n = n, .machine = machine};
	uint64_t start = 0, found;
	if (n > INT64_MAX)
		return error_set(err, ERROR_LIMIT, "the argument is too large");
	if (row->start[interface] && !kernel_formula_value(row->start[interface], value_of, &asked, &start, err))
		return false;
	asked.start = (int64_t)start;
	if (!kernel_formula_value(row->formula, value_of, &asked, &found, err))
		return false;
	*value = (double)found;
	return true;
}

static bool predict(const struct kernel *kernel, enum kernel_interface interface, const char *event, uint64_t n,
		    const struct kernel_machine *machine, double *value, struct error *err)
{
	for (size_t i = 0; i < kernel->n_predictions; i++) {
		const struct kernel_prediction *row = &kernel->predictions[i];
		if (!row->first_process && row->interfaces & 1U << interface && strcmp(row->event, event) == 0)
			return kernel_prediction_value(row, interface, n, machine, value, err);
	}
	return error_set(err, ERROR_NOT_FOUND, "the kernel '%s' has no prediction of '%s'", kernel->name, event);
}

bool kernel_predict(const struct kernel *kernel, const char *event, uint64_t n,
		    const struct kernel_machine *machine, double *value, struct error *err)
{
	return predict(kernel, KERNEL_COMMAND, event, n, machine, value, err);
}

bool kernel_predict_region(const struct kernel *kernel, const char *event, uint64_t n,
			   const struct kernel_machine *machine, double *value, struct error *err)
{
	return predict(kernel, KERNEL_REGION, event, n, machine, value, err);
}
