/* tare completion: a completion script for a shell, written from the same tables as --help; so it cannot fall
 * behind. Names of events and metrics are asked of tare itself when the user presses the key. */
#include <stdio.h>
#include <string.h>

#include "base/str.h"
#include "cli/command.h"
#include "cli/options.h"
#include "cli/say.h"
#include "cli/topic.h"
#include "explain/costs.h"
#include "session/experiment.h"

/* Other tools' spellings have no help, and are not offered. */
static bool is_option(const struct option_row *row) { return row->name != NULL && row->help[0]; }

/* What an argument's words are: a command of all three shells that prints them, one a line. */
static const struct argument_words {
	const char *start;   /* of the argument, in the table of options */
	const char *command; /* NULL: made by names_of() */
	bool several;        /* separated by commas */
} kinds[] = {
	{"EVENT", "tare list events --names 2>/dev/null", true},
	{"METRIC", "tare list metrics --names 2>/dev/null", true},
	{"KERNEL", "tare list kernels --names 2>/dev/null", true},
	{"BACKEND",
	 "tare list backends --names 2>/dev/null; tare list machines --names 2>/dev/null | sed \"s/^/model:/\"",
	 false},
	{"PID", "ps -eo pid= | tr -d \" \"", false},
	{"TID", "ps -eLo tid= | tr -d \" \"", false},
	{"INTERFACE", "printf \"%s\\n\" command library library-user stubs", true},
	{"EXPERIMENT", NULL, false},
	{"PLACE", "tare list regions --names 2>/dev/null", false},
};
enum { KINDS = sizeof kinds / sizeof *kinds };

static const struct argument_words *kind_of(const struct option_row *row)
{
	static const char named[] = "[NAME=]";
	const char *argument = row->argument;
	if (strncmp(argument, named, strlen(named)) == 0)
		argument += strlen(named);
	for (size_t i = 0; i < KINDS; i++)
		if (strncmp(argument, kinds[i].start, strlen(kinds[i].start)) == 0)
			return &kinds[i];
	return NULL;
}

static void print_command(const struct argument_words *kind)
{
	struct str names = {0};
	if (kind->command) {
		fputs(kind->command, stdout);
		return;
	}
	experiment_names(" ", &names);
	printf("printf \"%%s\\n\" %s", names.text ? names.text : "");
	str_free(&names);
}

/* "a|b": words; with FILE among them, also files. */
static bool has_words(const struct option_row *row) { return strchr(row->argument, '|') != NULL; }

static bool has_files(const struct option_row *row)
{
	return strncmp(row->argument, "FILE", 4) == 0 || (has_words(row) && strstr(row->argument, "FILE"));
}

/* Of "first|all|none" each word; of "CPU,...|LEVEL" what stands for a level, of "auto|FILE|MACHINE" for a machine
 * with costs: other capitals stand for something else. */
static void print_words(const char *words)
{
	struct str names = {0};
	for (size_t length; *words; words += length + (words[length] == '|')) {
		length = strcspn(words, "|");
		if (length == 5 && strncmp(words, "LEVEL", 5) == 0)
			fputs("x86-64-v2 x86-64-v3 x86-64-v4 host ", stdout);
		else if (length == 7 && strncmp(words, "MACHINE", 7) == 0)
			costs_names(" ", &names);
		else if (strcspn(words, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") >= length)
			printf("%.*s ", (int)length, words);
	}
	if (names.text)
		printf("%s ", names.text);
	str_free(&names);
}

static void print_names(const struct option_row *rows)
{
	for (; rows && rows->help; rows++)
		if (is_option(rows))
			printf(rows->letter ? "--%s -%c " : "--%s ", rows->name, rows->letter);
}

static void print_case(const struct option_row *row, const char *with)
{
	if (row->letter)
		printf("-%c|", row->letter);
	printf("--%s) %s", row->name, with);
}

/* Of a word of its own; what may be left out is behind '='. */

static void bash_arguments(const struct option_row *rows)
{
	for (; rows && rows->help; rows++) {
		if (!is_option(rows) || !option_needs_argument(rows))
			continue;
		const struct argument_words *kind = kind_of(rows);
		fputs("\t\t", stdout);
		if (has_words(rows)) {
			print_case(rows, "_tare_words \"");
			print_words(rows->argument);
			puts(has_files(rows) ? "\"; _tare_files; return ;;" : "\"; return ;;");
		} else if (has_files(rows)) {
			print_case(rows, "_tare_files; return ;;\n");
		} else if (kind) {
			print_case(rows, kind->several ? "_tare_list '" : "_tare_each '");
			print_command(kind);
			puts("'; return ;;");
		} else {
			print_case(rows, "return ;;\n");
		}
	}
}

/* Behind its options stands a program with its own. */
static bool runs_program(const char *command)
{
	return strcmp(command, "count") == 0 || strcmp(command, "profile") == 0 || strcmp(command, "explain") == 0;
}

static bool takes_runs(const char *command)
{
	return strcmp(command, "name") == 0 || strcmp(command, "export") == 0 || strcmp(command, "compare") == 0;
}

static void print_help_words(void)
{
	for (const struct command_row *row = command_rows; row->name; row++)
		printf("%s ", row->name);
	for (const struct embedded_file *topic = topic_files; topic->name; topic++)
		printf("%.*s ", (int)(strlen(topic->name) - strlen(".md")), topic->name);
}

static void bash(void)
{
	/* bash cuts words at =, : and @; what it inserts replaces what is behind the last = or : */
	fputs("# bash completion of tare, written by 'tare completion bash'\n"
	      "_tare_words() { COMPREPLY+=($(compgen -W \"$1\" -- \"$cur\")); }\n"
	      "# lines of a command's output, as they are: names of kept runs are anybody's\n"
	      "_tare_each() {\n"
	      "\tlocal line\n"
	      "\twhile IFS= read -r line; do [[ $line == \"$cur\"* ]] && COMPREPLY+=(\"$line\"); done < <(eval "
	      "\"$1\")\n"
	      "}\n"
	      "_tare_files() { COMPREPLY+=($(compgen -f -- \"$cur\")); }\n"
	      "# the last name of a comma list\n"
	      "_tare_list() {\n"
	      "\tlocal done=\n"
	      "\t[[ $cur == *,* ]] && done=${cur%,*},\n"
	      "\tCOMPREPLY=($(compgen -P \"$done\" -W \"$(eval \"$1\")\" -- \"${cur##*,}\"))\n"
	      "\tcompopt -o nospace 2>/dev/null\n"
	      "}\n"
	      "_tare_runs() {\n"
	      "\t[[ $cur == @* ]] && compopt +o filenames 2>/dev/null\n"
	      "\t_tare_each 'echo @last; tare list runs --names 2>/dev/null | sed \"s/^/@/\"'\n"
	      "}\n"
	      "_tare() {\n"
	      "\tlocal words=() word glue= cur prev i\n"
	      "\tfor word in \"${COMP_WORDS[@]:0:COMP_CWORD+1}\"; do\n"
	      "\t\tif [[ ( -n $glue || $word == [:=]* ) && ${#words[@]} -gt 1 ]]; then words[-1]+=$word; else "
	      "words+=(\"$word\"); fi\n"
	      "\t\tglue=; [[ $word == *[:=@] ]] && glue=1\n"
	      "\tdone\n"
	      "\tcur=${words[-1]} prev=${words[-2]}\n"
	      "\t[[ $cur == --*=* ]] && prev=${cur%%=*} cur=${cur#*=}\n"
	      "\t_tare_complete \"${words[1]}\" ${#words[@]}\n"
	      "\t[[ $cur == *:* && $COMP_WORDBREAKS == *:* ]] && for i in \"${!COMPREPLY[@]}\"; do\n"
	      "\t\tCOMPREPLY[i]=${COMPREPLY[i]#\"${cur%\"${cur##*:}\"}\"}\n"
	      "\tdone\n"
	      "}\n"
	      "_tare_complete() {\n"
	      "\tlocal command=$1\n"
	      "\tif [ \"$2\" = 2 ]; then _tare_words \"",
	      stdout);
	for (const struct command_row *row = command_rows; row->name; row++)
		printf("%s ", row->name);
	puts("--help --version\"; return; fi\n"
	     "\tcase $command in");
	for (const struct command_row *row = command_rows; row->name; row++) {
		if (!row->options)
			continue;
		printf("\t%s)\n\t\tcase $prev in\n", row->name);
		bash_arguments(row->options);
		fputs("\t\tesac\n\t\t[[ $cur == -* ]] && { _tare_words \"", stdout);
		print_names(row->options);
		puts("\"; return; }");
		if (strcmp(row->name, "list") == 0)
			puts("\t\tcase $prev in machine|machines|kernels) _tare_each \"tare list $prev --names "
			     "2>/dev/null\"; return ;; esac\n"
			     "\t\t_tare_words \"events metrics backends machines kernels runs regions\" ;;");
		else if (runs_program(row->name))
			puts("\t\tCOMPREPLY=($(compgen -c -- \"$cur\")); _tare_files ;;");
		else if (strcmp(row->name, "report") == 0)
			puts("\t\t_tare_runs; _tare_files ;;");
		else if (strcmp(row->name, "verify") == 0)
			puts("\t\t[[ $prev == verify ]] && _tare_words \"models sampling\" || "
			     "COMPREPLY=($(compgen -c -- "
			     "\"$cur\")) ;;");
		else if (takes_runs(row->name))
			puts("\t\t_tare_runs ;;");
		else if (strcmp(row->name, "cache") == 0)
			puts("\t\t_tare_words \"list size clear\" ;;");
		else if (strcmp(row->name, "annotate-asm") == 0 || strcmp(row->name, "import") == 0)
			puts("\t\t_tare_files ;;");
		else
			puts("\t\t;;");
	}
	fputs("\tcompletion) _tare_words \"bash zsh fish\" ;;\n\thelp) _tare_words \"", stdout);
	print_help_words();
	puts("\" ;;\n\tesac\n}\ncomplete -o filenames -F _tare tare");
}

/* Text within the single quotes of zsh's and fish's descriptions: up to the first sentence's end or 70 characters.
 */
static void print_description(const char *text, bool zsh)
{
	size_t length = strcspn(text, ".;(");
	for (size_t i = 0; i < length && i < 70; i++) {
		if (text[i] == '\'')
			fputs(zsh ? "'\\''" : "\\'", stdout);
		else if (zsh && (text[i] == '[' || text[i] == ']' || text[i] == ':'))
			printf("\\%c", text[i]);
		else
			putchar(text[i]);
	}
}

static void zsh(void)
{
	puts("#compdef tare\n"
	     "# zsh completion of tare, written by 'tare completion zsh'\n");
	for (size_t i = 0; i < KINDS; i++) {
		printf("_tare_%s() { %s -- ${(f)\"$(", kinds[i].start,
		       kinds[i].several ? "compset -P '*,'; compadd -S ''" : "compadd");
		print_command(&kinds[i]);
		puts(")\"} }");
	}
	puts("_tare_list_words() { [[ $words[2] == (machine|machines|kernels) ]] && compadd -- ${(f)\"$(tare list "
	     "$words[2] --names 2>/dev/null)\"} }\n"
	     "_tare_runs() { compadd -- @last ${(f)\"$(tare list runs --names 2>/dev/null | sed \"s/^/@/\")\"} }\n"
	     "_tare_runs_and_files() { _tare_runs; _files }\n"
	     "_tare() {\n"
	     "\tif (( CURRENT == 2 )); then\n"
	     "\t\tlocal -a commands=(");
	for (const struct command_row *row = command_rows; row->name; row++) {
		printf("\t\t\t'%s:", row->name);
		print_description(row->summary, true);
		puts("'");
	}
	puts("\t\t)\n\t\t_describe command commands\n\t\treturn\n\tfi\n"
	     "\tlocal command=$words[2]\n\tshift words; (( CURRENT-- ))\n\tcase $command in");
	for (const struct command_row *row = command_rows; row->name; row++) {
		if (!row->options)
			continue;
		printf("\t%s) _arguments -S", row->name);
		for (const struct option_row *option = row->options; option->help; option++) {
			if (!is_option(option))
				continue;
			for (int letter = 0; letter < (option->letter ? 2 : 1); letter++) {
				fputs(" \\\n\t\t'*", stdout);
				if (letter)
					printf("-%c%s[", option->letter, option_needs_argument(option) ? "+" : "");
				else
					printf("--%s%s[", option->name, option_needs_argument(option) ? "=" : "");
				print_description(option->help, true);
				putchar(']');
				if (option_needs_argument(option)) {
					const struct argument_words *kind = kind_of(option);
					if (has_words(option)) {
						printf(has_files(option) ? ":%s:{ _files; compadd -- " : ":%s:(",
						       option->name);
						print_words(option->argument);
						putchar(has_files(option) ? '}' : ')');
					} else if (has_files(option)) {
						fputs(":file:_files", stdout);
					} else if (kind) {
						printf(":%s:_tare_%s", option->name, kind->start);
					} else {
						printf(":%s: ", option->name);
					}
				}
				putchar('\'');
			}
		}
		if (runs_program(row->name))
			fputs(" \\\n\t\t'*::program:_normal'", stdout);
		else if (strcmp(row->name, "list") == 0)
			fputs(" \\\n\t\t'1:what:(events metrics backends machines kernels runs regions)' "
			      "'2:name:_tare_list_words'",
			      stdout);
		else if (strcmp(row->name, "annotate-asm") == 0 || strcmp(row->name, "import") == 0)
			fputs(" \\\n\t\t'1:file:_files'", stdout);
		else if (strcmp(row->name, "report") == 0)
			fputs(" \\\n\t\t'1:run:_tare_runs_and_files'", stdout);
		else if (takes_runs(row->name))
			fputs(" \\\n\t\t'*:run:_tare_runs'", stdout);
		else if (strcmp(row->name, "cache") == 0)
			fputs(" \\\n\t\t'1:what:(list size clear)'", stdout);
		else if (strcmp(row->name, "verify") == 0)
			fputs(" \\\n\t\t'1:what:(models sampling)' '*::program:_normal'", stdout);
		puts(" ;;");
	}
	fputs("\tcompletion) compadd -- bash zsh fish ;;\n\thelp) compadd -- ", stdout);
	print_help_words();
	puts(";;\n\tesac\n}\n_tare \"$@\"");
}

static void fish(void)
{
	puts("# fish completion of tare, written by 'tare completion fish'\n"
	     "complete -c tare -f");
	for (const struct command_row *row = command_rows; row->name; row++) {
		printf("complete -c tare -n __fish_use_subcommand -a %s -d '", row->name);
		print_description(row->summary, false);
		puts("'");
	}
	for (const struct command_row *row = command_rows; row->name; row++) {
		for (const struct option_row *option = row->options; option && option->help; option++) {
			if (!is_option(option))
				continue;
			printf("complete -c tare -n '__fish_seen_subcommand_from %s' -l %s", row->name,
			       option->name);
			if (option->letter)
				printf(" -s %c", option->letter);
			fputs(" -d '", stdout);
			print_description(option->help, false);
			putchar('\'');
			if (option_needs_argument(option)) {
				const struct argument_words *kind = kind_of(option);
				if (has_words(option)) {
					fputs(has_files(option) ? " -r -F -a '" : " -x -a '", stdout);
					print_words(option->argument);
					putchar('\'');
				} else if (has_files(option)) {
					fputs(" -r -F", stdout);
				} else if (kind) {
					fputs(kind->several ? " -x -a '(__fish_append , (" : " -x -a '(", stdout);
					print_command(kind);
					fputs(kind->several ? "))'" : ")'", stdout);
				} else {
					fputs(" -x", stdout);
				}
			}
			putchar('\n');
		}
	}
	puts("complete -c tare -n '__fish_seen_subcommand_from count profile explain' -a "
	     "'(__fish_complete_subcommand "
	     "--fcs-skip=2)'\n"
	     "complete -c tare -n '__fish_seen_subcommand_from annotate-asm report import' -F\n"
	     "complete -c tare -n '__fish_seen_subcommand_from report name export compare' -a '@last (tare list "
	     "runs --names 2>/dev/null | sed \"s/^/@/\")'\n"
	     "complete -c tare -n '__fish_seen_subcommand_from list; and not __fish_seen_subcommand_from "
	     "machines kernels' -a 'events metrics backends machines kernels runs regions'\n"
	     "complete -c tare -n '__fish_seen_subcommand_from list; and __fish_seen_subcommand_from machines' "
	     "-a '(tare list machines --names 2>/dev/null)'\n"
	     "complete -c tare -n '__fish_seen_subcommand_from list; and __fish_seen_subcommand_from kernels' "
	     "-a '(tare list kernels --names 2>/dev/null)'\n"
	     "complete -c tare -n '__fish_seen_subcommand_from verify' -a 'models sampling'\n"
	     "complete -c tare -n '__fish_seen_subcommand_from cache' -a 'list size clear'\n"
	     "complete -c tare -n '__fish_seen_subcommand_from completion' -a 'bash zsh fish'");
	fputs("complete -c tare -n '__fish_seen_subcommand_from help' -a '", stdout);
	print_help_words();
	puts("'");
}

int command_completion(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*write)(void);
	} shells[] = {{"bash", bash}, {"zsh", zsh}, {"fish", fish}};
	struct error err = {0};
	if (argc == 2 && (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0)) {
		say_begin_output();
		fputs("usage: tare completion bash|zsh|fish\n"
		      "\n"
		      "Writes a completion script for that shell. For bash, in ~/.bashrc:\n"
		      "  source <(tare completion bash)\n"
		      "\n"
		      "exit status: 0 done; 2 wrong usage; 3 cannot write the output.\n",
		      stdout);
		return say_end_output();
	}
	for (size_t i = 0; argc == 2 && i < sizeof shells / sizeof *shells; i++) {
		if (strcmp(argv[1], shells[i].name) != 0)
			continue;
		say_begin_output();
		shells[i].write();
		return say_end_output();
	}
	if (argc == 2)
		error_set(&err, ERROR_USAGE, "unknown shell '%s'", argv[1]);
	else
		error_set(&err, ERROR_USAGE, "'completion' takes one shell");
	error_hint(&err, "bash, zsh or fish");
	return say_failure(&err);
}
