#include <time.h>

#include "report/export_names.h"
#include "report/number.h"
#include "report/origin.h"

static void add_fact(struct document *document, const char *name, const char *value)
{
	if (value && value[0])
		document_add(document, BLOCK_FACT, name, value);
}

static const char *time_text(struct document *document, uint64_t unix_seconds)
{
	time_t seconds = (time_t)unix_seconds;
	struct tm parts;
	char text[64];
	if (!unix_seconds || !gmtime_r(&seconds, &parts) ||
	    !strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S UTC", &parts))
		return NULL;
	return document_printf(document, "%s", text);
}

static void add_machine(struct document *document, const struct machine_facts *machine)
{
	add_fact(document, "machine", machine->hostname);
	if (machine->cpu)
		add_fact(document, "CPU", document_printf(document, "%s, %d in all", machine->cpu, machine->cpus));
	if (machine->hypervisor && machine->hypervisor[0])
		add_fact(document, "guest of", machine->hypervisor);
	add_fact(document, "PMU", machine->pmu);
	add_fact(document, "kernel", machine->kernel);
}

void build_origin(struct document *document, const struct machine_facts *machine, uint64_t started_unix,
		  const struct report_origin *origin)
{
	if (origin->run)
		add_fact(document, "run",
			 origin->name ? document_printf(document, "%s (%s)", origin->run, origin->name)
				      : origin->run);
	add_fact(document, "measured by",
		 origin->tare_version ? document_printf(document, "tare %s", origin->tare_version) : NULL);
	add_fact(document, "begun", time_text(document, started_unix));
	add_fact(document, "directory", origin->directory);
	add_fact(document, "git commit", origin->git_commit);
	add_machine(document, machine);
	add_fact(document, "microcode", origin->microcode);
	add_fact(document, "CPU features", origin->cpu_features);
	add_fact(document, "calibration", origin->calibration);
	for (const char *const *variable = origin->environment; variable && *variable; variable++)
		add_fact(document, "environment", *variable);
}

/* ---- sources ---- */

static const struct {
	enum source source;
	const char *label, *text;
} sources[] = {
	{SOURCE_HW, "hw:",
	 "counted by a hardware counter, which ran all the time that the program did. It counts what the "
	 "processor's "
	 "manual says of the event, as far as the processor has no error there"},
	{SOURCE_SCALED, "scaled:",
	 "counted by a hardware counter that ran for a part of the time (ran), and extrapolated to all of it: the "
	 "interval includes what that can be off by"},
	{SOURCE_OS,
	 "os:", "counted or timed by the kernel. It also depends on what else the machine did meanwhile"},
	{SOURCE_EXACT, "exact:",
	 "counted by tare's engine, instruction by instruction, in user mode: what the kernel executed for the "
	 "program is not in it"},
	{SOURCE_MODEL, "model:",
	 "computed by a model of a declared machine from each memory access and branch of the program: a real "
	 "machine's count is another one"},
	{SOURCE_SAMPLED, "sampled:",
	 "estimated by a model of a declared machine from some of its caches' sets: the interval includes what "
	 "the "
	 "others can differ by"},
};

static bool has_source(const struct estimate *estimates, size_t n, enum source source)
{
	for (size_t i = 0; i < n; i++)
		if (estimates[i].known && estimates[i].source == source)
			return true;
	return false;
}

static bool result_has(const struct result *result, enum source source)
{
	if (has_source(result->estimates, result->n_estimates, source) ||
	    has_source(result->metrics, result->n_metrics, source))
		return true;
	for (size_t i = 0; i < result->n_regions; i++)
		if (has_source(result->regions[i].estimates, result->regions[i].n_estimates, source))
			return true;
	return false;
}

static bool has_interval(const struct result *result)
{
	for (size_t i = 0; i < result->n_estimates; i++)
		if (result->estimates[i].known && result->estimates[i].has_interval &&
		    result->estimates[i].n_runs > 1)
			return true;
	return false;
}

void build_sources(struct document *document, const struct result *const *results, size_t n)
{
	bool interval = false;
	for (size_t s = 0; s < sizeof sources / sizeof *sources; s++) {
		bool any = false;
		for (size_t i = 0; i < n; i++)
			any |= result_has(results[i], sources[s].source);
		if (any)
			document_note(document, NOTE_DETAIL, sources[s].label, sources[s].text);
	}
	for (size_t i = 0; i < n; i++)
		interval |= has_interval(results[i]);
	if (interval)
		document_note(
			document, NOTE_DETAIL, "\u00b1:",
			"the interval of the mean over the repetitions (Student's t; where a counter was scaled, "
			"also what that can be off by)");
}
