/* The list of subcommands. */
#include <string.h>

#include "cli/command.h"

const struct command_row command_rows[] = {
	{"count", "count events of a program, processes, threads or CPUs", count_option_rows, command_count},
	{"profile", "show where a program's events take place, by function and line", profile_option_rows,
	 command_profile},
	{"explain", "show where the time goes: computing, caches, TLB, waiting, ...", explain_option_rows,
	 command_explain},
	{"compare", "compare commands: what differs, by how much, and how sure that is", compare_option_rows,
	 command_compare},
	{"report", "show a kept run again, or a profile in a file", report_option_rows, command_report},
	{"predict", "count a place's instructions, loads, ... from its code alone", predict_option_rows,
	 command_predict},
	{"verify", "judge this machine's counters, or how well sampling works", verify_option_rows,
	 command_verify},
	{"list", "list events, metrics, backends, machines, kernels, and kept runs", list_option_rows,
	 command_list},
	{"name", "give a kept run a name", name_option_rows, command_name},
	{"export", "write kept runs to a file", export_option_rows, command_export},
	{"import", "add the runs of such a file", import_option_rows, command_import},
	{"prune", "remove kept runs", prune_option_rows, command_prune},
	{"cache", "show or remove the translations that --keep keeps between runs", cache_option_rows,
	 command_cache},
	{"doctor", "show what can be measured here, and how to allow more", doctor_option_rows, command_doctor},
	{"calibrate", "measure the overhead of measuring here, and save it", calibrate_option_rows,
	 command_calibrate},
	{"annotate-asm", "insert the calls that count regions into a compiler's assembly",
	 annotate_asm_option_rows, command_annotate_asm},
	{"completion", "write a completion script for a shell: bash, zsh or fish", NULL, command_completion},
	{"help", "show help, also for one command or topic: tare help numbers", NULL, command_help},
	{"version", "show the version", NULL, command_version},
	{0},
};

const struct command_row *command_find(const char *name)
{
	for (const struct command_row *row = command_rows; row->name; row++)
		if (strcmp(row->name, name) == 0)
			return row;
	return NULL;
}
