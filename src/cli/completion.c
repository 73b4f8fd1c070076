/* tare completion: a completion script for a shell, written from the same tables as --help; so it cannot fall
 * behind. Names of events and metrics are asked of tare itself when the user presses the key. */
#include <stdio.h>
#include <string.h>

#include "cli/command.h"
#include "cli/topic.h"
#include "cli/options.h"
#include "cli/say.h"

/* Other tools' spellings have no help, and are not offered. */
static bool is_option(const struct option_row *row) { return row->name != NULL && row->help[0]; }

/* What an argument can be: words of a shell's own language, see the scripts below. */
enum meaning { ANYTHING, WORDS, A_FILE, AN_EVENT, A_METRIC, A_PID, A_BACKEND };

static enum meaning meaning_of(const struct option_row *row)
{
	static const struct {
		const char *start;
		enum meaning meaning;
	} starts[] = {{"FILE", A_FILE},
		      {"EVENT", AN_EVENT},
		      {"METRIC", A_METRIC},
		      {"PID", A_PID},
		      {"BACKEND", A_BACKEND}};
	if (strchr(row->argument, '|'))
		return strstr(row->argument, "FILE") ? A_FILE : WORDS;
	for (size_t i = 0; i < sizeof starts / sizeof *starts; i++)
		if (strncmp(row->argument, starts[i].start, strlen(starts[i].start)) == 0)
			return starts[i].meaning;
	return ANYTHING;
}

/* Of "first|all|none" each word; of "CPU,...|LEVEL" what stands for a level: capitals stand for something else. */
static void print_words(const char *words)
{
	for (size_t length; *words; words += length + (words[length] == '|')) {
		length = strcspn(words, "|");
		if (length == 5 && strncmp(words, "LEVEL", 5) == 0)
			fputs("x86-64-v2 x86-64-v3 x86-64-v4 host ", stdout);
		else if (strcspn(words, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") >= length)
			printf("%.*s ", (int)length, words);
	}
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

static void bash_arguments(const struct option_row *rows)
{
	for (; rows && rows->help; rows++) {
		if (!is_option(rows) || !rows->argument)
			continue;
		fputs("\t\t", stdout);
		switch (meaning_of(rows)) {
		case WORDS:
			print_case(rows, "_tare_words \"");
			print_words(rows->argument);
			puts("\"; return ;;");
			break;
		case A_FILE: print_case(rows, "COMPREPLY=($(compgen -f -- \"$cur\")); return ;;\n"); break;
		case AN_EVENT: print_case(rows, "_tare_list events; return ;;\n"); break;
		case A_METRIC: print_case(rows, "_tare_list metrics; return ;;\n"); break;
		case A_BACKEND:
			print_case(rows, "_tare_words \"$(tare list backends --names 2>/dev/null) $(tare list "
					 "machines --names "
					 "2>/dev/null | sed s/^/model:/)\"; return ;;\n");
			break;
		case A_PID: print_case(rows, "_tare_words \"$(ps -eo pid=)\"; return ;;\n"); break;
		case ANYTHING: print_case(rows, "return ;;\n"); break;
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
	return strcmp(command, "name") == 0 || strcmp(command, "export") == 0;
}

static void bash(void)
{
	fputs("# bash completion of tare, written by 'tare completion bash'\n"
	      "_tare_words() { COMPREPLY=($(compgen -W \"$1\" -- \"$cur\")); }\n"
	      "# the last name of a comma list\n"
	      "_tare_list() {\n"
	      "\tlocal done=\n"
	      "\t[[ $cur == *,* ]] && done=${cur%,*},\n"
	      "\tCOMPREPLY=($(compgen -P \"$done\" -W \"$(tare list \"$1\" --names 2>/dev/null)\" -- "
	      "\"${cur##*,}\"))\n"
	      "\tcompopt -o nospace 2>/dev/null\n"
	      "}\n"
	      "_tare_runs() { _tare_words \"@last $(tare list runs --names 2>/dev/null)\"; }\n"
	      "_tare() {\n"
	      "\tlocal cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} command=${COMP_WORDS[1]} i\n"
	      "\tif [ \"$COMP_CWORD\" = 1 ]; then _tare_words \"",
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
			puts("\t\t[[ $prev == machine?(s) ]] && { _tare_words \"$(tare list machines --names "
			     "2>/dev/null)\"; return; }\n"
			     "\t\t_tare_words \"events metrics backends machines kernels runs\" ;;");
		else if (runs_program(row->name))
			puts("\t\tCOMPREPLY=($(compgen -c -- \"$cur\") $(compgen -f -- \"$cur\")) ;;");
		else if (strcmp(row->name, "report") == 0)
			puts("\t\t_tare_runs; COMPREPLY+=($(compgen -f -- \"$cur\")) ;;");
		else if (takes_runs(row->name))
			puts("\t\t_tare_runs ;;");
		else if (strcmp(row->name, "annotate-asm") == 0 || strcmp(row->name, "import") == 0)
			puts("\t\tCOMPREPLY=($(compgen -f -- \"$cur\")) ;;");
		else
			puts("\t\t;;");
	}
	fputs("\tcompletion) _tare_words \"bash zsh fish\" ;;\n\thelp) _tare_words \"", stdout);
	for (const struct command_row *row = command_rows; row->name; row++)
		printf("%s ", row->name);
	for (const struct embedded_file *topic = topic_files; topic->name; topic++)
		printf("%.*s ", (int)(strlen(topic->name) - strlen(".md")), topic->name);
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
	     "# zsh completion of tare, written by 'tare completion zsh'\n"
	     "_tare_events() { _values -s , event ${(f)\"$(tare list events --names 2>/dev/null)\"} }\n"
	     "_tare_metrics() { _values -s , metric ${(f)\"$(tare list metrics --names 2>/dev/null)\"} }\n"
	     "_tare_backends() { compadd -- ${(f)\"$(tare list backends --names 2>/dev/null)\"} "
	     "model:${^${(f)\"$(tare list machines --names 2>/dev/null)\"}} }\n"
	     "_tare_list_words() { [[ $words[2] == machine(|s) ]] && compadd -- ${(f)\"$(tare list machines "
	     "--names 2>/dev/null)\"} }\n"
	     "_tare_runs() { compadd -- @last ${(f)\"$(tare list runs --names 2>/dev/null)\"} }\n"
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
					printf("-%c%s[", option->letter, option->argument ? "+" : "");
				else
					printf("--%s%s[", option->name, option->argument ? "=" : "");
				print_description(option->help, true);
				putchar(']');
				if (option->argument) {
					switch (meaning_of(option)) {
					case WORDS:
						printf(":%s:(", option->name);
						print_words(option->argument);
						putchar(')');
						break;
					case A_FILE: fputs(":file:_files", stdout); break;
					case AN_EVENT: fputs(":events:_tare_events", stdout); break;
					case A_METRIC: fputs(":metrics:_tare_metrics", stdout); break;
					case A_BACKEND: fputs(":backend:_tare_backends", stdout); break;
					case A_PID: fputs(":process:_pids", stdout); break;
					case ANYTHING: printf(":%s: ", option->name); break;
					}
				}
				putchar('\'');
			}
		}
		if (runs_program(row->name))
			fputs(" \\\n\t\t'*::program:_normal'", stdout);
		else if (strcmp(row->name, "list") == 0)
			fputs(" \\\n\t\t'1:what:(events metrics backends machines kernels runs)' "
			      "'2:name:_tare_list_words'",
			      stdout);
		else if (strcmp(row->name, "annotate-asm") == 0 || strcmp(row->name, "import") == 0)
			fputs(" \\\n\t\t'1:file:_files'", stdout);
		else if (strcmp(row->name, "report") == 0)
			fputs(" \\\n\t\t'1:run:_tare_runs_and_files'", stdout);
		else if (takes_runs(row->name))
			fputs(" \\\n\t\t'*:run:_tare_runs'", stdout);
		puts(" ;;");
	}
	puts("\tcompletion) _values shell bash zsh fish ;;\n\tesac\n}\n_tare \"$@\"");
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
			if (option->argument) {
				switch (meaning_of(option)) {
				case WORDS:
					fputs(" -x -a '", stdout);
					print_words(option->argument);
					putchar('\'');
					break;
				case A_FILE: fputs(" -r -F", stdout); break;
				case AN_EVENT:
					fputs(" -x -a '(__fish_append , (tare list events --names 2>/dev/null))'",
					      stdout);
					break;
				case A_METRIC:
					fputs(" -x -a '(__fish_append , (tare list metrics --names 2>/dev/null))'",
					      stdout);
					break;
				case A_BACKEND:
					fputs(" -x -a '(tare list backends --names 2>/dev/null) "
					      "model:(tare list machines --names 2>/dev/null)'",
					      stdout);
					break;
				case A_PID: fputs(" -x -a '(__fish_complete_pids)'", stdout); break;
				case ANYTHING: fputs(" -x", stdout); break;
				}
			}
			putchar('\n');
		}
	}
	puts("complete -c tare -n '__fish_seen_subcommand_from count profile explain' -a "
	     "'(__fish_complete_subcommand "
	     "--fcs-skip=2)'\n"
	     "complete -c tare -n '__fish_seen_subcommand_from annotate-asm report import' -F\n"
	     "complete -c tare -n '__fish_seen_subcommand_from report name export' -a '@last (tare list runs "
	     "--names "
	     "2>/dev/null)'\n"
	     "complete -c tare -n '__fish_seen_subcommand_from list; and not __fish_seen_subcommand_from "
	     "machines' "
	     "-a 'events metrics backends machines kernels runs'\n"
	     "complete -c tare -n '__fish_seen_subcommand_from list; and __fish_seen_subcommand_from machines' "
	     "-a '(tare list machines --names 2>/dev/null)'\n"
	     "complete -c tare -n '__fish_seen_subcommand_from completion' -a 'bash zsh fish'");
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
