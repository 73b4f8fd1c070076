/* tare count, up to the measurement: what runs, what is counted, and the files that are written. */
#include <string.h>

#include "cli/count.h"
#include "cli/count_control.h"
#include "cli/count_parameters.h"
#include "cli/count_ranks.h"
#include "cli/page_output.h"
#include "cli/perfex_costs.h"
#include "cli/say.h"
#include "compat/choose.h"

static bool choose_target(struct count_command *c, struct session_target *out, struct error *err)
{
	const struct count_request *r = &c->request;
	bool cpus = r->all_cpus || r->cpus.numbers.count || r->cgroup;
	bool attach = r->pids.numbers.count || r->tids.numbers.count;
	c->program = r->command;
	if (!c->program && !cpus && !attach && c->has_parameters && c->parameters.command[0]) {
		c->program = count_parameters_program(&c->parameters);
		if (!c->program)
			return error_set(err, ERROR_USAGE, "the parameter 'command' is empty");
	}
	if (!c->program && !cpus && !attach) {
		error_set(err, ERROR_USAGE, "nothing to count: no program is given");
		return error_hint(
			err, "'tare count PROGRAM ARGS...', or -p, -t, -a, -C, --cgroup; 'tare count --help'");
	}
	if (c->program && attach)
		return error_set(err, ERROR_USAGE,
				 "remove the program: -p and -t count processes that already run");
	*out = (struct session_target){
		.kind = session_target_kind(cpus, r->pids.numbers.count > 0, r->tids.numbers.count > 0),
		.program = c->program,
		.reproducible = r->reproducible,
		.cpu = r->shown_cpu,
		.group = c->apart.group,
		.keep = r->keep,
		.no_sharing = r->no_sharing,
		.sampled = r->sampled,
		.sample_seed = r->seed ? r->seed : 1,
		.no_children = r->no_children,
		.per_thread = r->per_thread,
		.per_cpu = r->per_cpu,
		.per_process = r->per_process,
		.times_calls = r->system_calls != NULL,
		.cgroup = r->cgroup,
	};
	const struct number_list *ids = cpus ? &r->cpus : r->pids.numbers.count ? &r->pids : &r->tids;
	out->ids = ids->numbers.items;
	out->n_ids = ids->numbers.count;
	return true;
}

/* "auto": of the machine that is counted, or the first one that is modelled. */
static bool find_costs(struct count_command *count, struct error *err)
{
	const struct count_request *r = &count->request;
	bool named = strcmp(r->costs, "auto") != 0;
	const char *machine = perfex_costs_machine(r->on);
	return explain_find_costs(named ? r->costs : NULL, machine ? machine : "host", !machine, r->confidence,
				  !r->quiet, &count->costs, err);
}

static bool choose_events(struct count_command *c, struct error *err)
{
	const struct count_request *r = &c->request;
	struct session *s = &c->session;
	struct perfex_chosen chosen = {{PERFEX_NONE, PERFEX_NONE}};
	bool perfex = r->compat == COMPAT_PERFEX;
	if (s->n_machines > 1 && (c->has_parameters || r->compat != COMPAT_NONE)) {
		error_set(err, ERROR_USAGE, "-P, -F and --compat report on one machine, not on %zu",
			  s->n_machines);
		return error_hint(err, "choose one: --on model:%s", s->machines[0]);
	}
	if (c->has_parameters && !p5mon_choose(s, &c->parameters, r->compat == COMPAT_P5MON, err))
		return false;
	for (size_t i = 0; i < r->event_lists.count; i++) {
		const char *list = r->event_lists.items[i];
		if (!(perfex ? perfex_choose(s, list, &chosen, err) : session_add_events(s, list, err)))
			return false;
	}
	for (size_t i = 0; i < r->required.count; i++)
		if (!session_add_required(s, r->required.items[i], err))
			return false;
	for (size_t i = 0; i < r->metric_lists.count; i++)
		if (!session_add_metrics(s, r->metric_lists.items[i], err))
			return false;
	for (size_t i = 0; i < r->conditions.count; i++)
		if (!session_add_gate(s, &c->request.conditions.items[i], err))
			return false;
	if (perfex && (r->perfex_all || s->selection.rows.count == 0) && !perfex_choose_all(s, err))
		return false;
	if (s->selection.rows.count)
		return true;
	if (r->parameter_file) {
		error_set(err, ERROR_USAGE, "'%s' asks for no event", r->parameter_file);
		return error_hint(err, "set one to yes (count_clocks = yes;), or give -e");
	}
	return session_add_defaults(s, err);
}

static bool open_report(struct count_command *count, struct error *err)
{
	const struct count_request *r = &count->request;
	/* of one report for all ranks, the first one tries the file; the one that writes it opens it */
	if (count->joint) {
		bool done = count->launched.place.rank > 0 || output_open(&count->output, r->output, err);
		output_abandon(&count->output);
		return done;
	}
	return output_open(&count->output, r->output, err);
}

bool count_prepare(struct count_command *count, int *code, struct error *err)
{
	struct count_request *r = &count->request;
	struct session_target target;
	*code = TARE_USAGE;
	if (!count_ranks_find(count, err) || (r->format == FORMAT_HTML && !page_check(r->output, stderr, err)))
		return false;
	if (r->parameter_file || r->overrides.count) {
		parameters_init(&count->parameters);
		count->has_parameters = true;
	}
	if ((count->has_parameters && !count_parameters_read(r, &count->parameters, err)) ||
	    !choose_target(count, &target, err)) {
		if (err->code != ERROR_USAGE && err->code != ERROR_SYNTAX)
			*code = TARE_CANNOT_MEASURE;
		return false;
	}
	*code = TARE_CANNOT_MEASURE;
	if (!session_open(&count->session, &target, r->on, r->event_files.items, r->event_files.count, err)) {
		if (err->code == ERROR_USAGE || err->code == ERROR_SYNTAX)
			*code = TARE_USAGE;
		return false;
	}
	*code = TARE_USAGE; /* what is wrong with a selection is wrong with its names */
	if (!choose_events(count, err)) {
		if (err->code == ERROR_NO_MEMORY || err->code == ERROR_PERMISSION ||
		    err->code == ERROR_UNSUPPORTED)
			*code = TARE_CANNOT_MEASURE;
		return false;
	}
	if (!session_add_regions(&count->session, r->regions.items, r->regions.count, err)) {
		if (err->code != ERROR_USAGE)
			*code = TARE_CANNOT_MEASURE;
		return false;
	}
	if (r->costs && !find_costs(count, err)) {
		*code = err->code == ERROR_NOT_FOUND ? TARE_USAGE : TARE_CANNOT_MEASURE;
		return false;
	}
	if (r->exclusive && !session_ask_exclusive(&count->session, err))
		return false;
	count->control.begins_off = r->begin_off || r->delay_ns;
	count->control.delay_ns = r->delay_ns;
	if (r->control && !control_open(&count->control, r->control, err)) {
		*code = TARE_USAGE;
		return false;
	}
	*code = TARE_CANNOT_MEASURE;
	return open_report(count, err) && (!r->blocks || output_open(&count->blocks, r->blocks, err)) &&
	       (!r->system_calls || output_open(&count->system_calls, r->system_calls, err)) &&
	       (!r->by_file || output_open(&count->by_file, r->by_file, err)) &&
	       openmetrics_open(&count->openmetrics, r->openmetrics, r->interval_ns > 0, &count->session, err) &&
	       count_ranks_begin(count, err);
}
