/* The subcommands: each in a file of its own, each with one option table. */
#ifndef TARE_CLI_COMMAND_H
#define TARE_CLI_COMMAND_H

#include <stdbool.h>

#include "cli/options.h"

struct command_row {
	const char *name;
	const char *summary;              /* one line */
	const struct option_row *options; /* what it parses, shows as help and completes; NULL: none */
	/* argv[0] is the subcommand's name; returns tare's exit code. */
	int (*run)(int argc, char **argv);
};

extern const struct option_row annotate_asm_option_rows[], count_option_rows[], list_option_rows[],
	doctor_option_rows[], calibrate_option_rows[], profile_option_rows[], report_option_rows[],
	verify_option_rows[], compare_option_rows[], name_option_rows[], export_option_rows[],
	import_option_rows[], predict_option_rows[], prune_option_rows[], explain_option_rows[],
	cache_option_rows[];

/* Ends with a NULL name. */
extern const struct command_row command_rows[];
const struct command_row *command_find(const char *name);

int command_count(int argc, char **argv);
int command_profile(int argc, char **argv);
int command_explain(int argc, char **argv);
int command_predict(int argc, char **argv);
int command_report(int argc, char **argv);
int command_compare(int argc, char **argv);
int command_verify(int argc, char **argv);
int command_list(int argc, char **argv);
int command_name(int argc, char **argv);
int command_export(int argc, char **argv);
int command_import(int argc, char **argv);
int command_prune(int argc, char **argv);
int command_cache(int argc, char **argv);
int command_doctor(int argc, char **argv);
int command_calibrate(int argc, char **argv);
int command_annotate_asm(int argc, char **argv);
int command_completion(int argc, char **argv);
int command_help(int argc, char **argv);
int command_version(int argc, char **argv);

#endif
