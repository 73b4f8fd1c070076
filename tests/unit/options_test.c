/* The command line of `tare count`: what each way of writing an option means, and what is refused. */
#include <stdlib.h>

#include "cli/command.h"
#include "cli/count_options.h"
#include "tap.h"

enum { WORDS_MOST = 16 };

/* Splits at spaces into argv; words live in the caller's buffer. */
static int split(char *line, char *argv[WORDS_MOST])
{
	int argc = 0;
	for (char *word = strtok(line, " "); word && argc < WORDS_MOST - 1; word = strtok(NULL, " "))
		argv[argc++] = word;
	argv[argc] = NULL;
	return argc;
}

static bool parse(const char *text, struct count_request *r, char line[256], char *argv[WORDS_MOST],
		  struct error *err)
{
	snprintf(line, 256, "count %s", text);
	return count_request_parse(r, split(line, argv), argv, err);
}

static void refused(const char *text, const char *reason)
{
	struct count_request r;
	struct error err = {0};
	char line[256], *argv[WORDS_MOST];
	bool done = parse(text, &r, line, argv, &err);
	if (!ok(!done && err.code == ERROR_USAGE && strstr(err.text, reason), "'%s' is refused: %s", text, reason))
		printf("# is '%s'\n", done ? "accepted" : err.text);
	if (done)
		count_request_free(&r);
}

#define ACCEPTED(words, condition, fact)                                                                          \
	do {                                                                                                      \
		struct count_request r;                                                                           \
		struct error err = {0};                                                                           \
		char line[256], *argv[WORDS_MOST];                                                                \
		bool done = parse(words, &r, line, argv, &err);                                                   \
		if (!ok(done && (condition), "'%s': %s", words, fact) && !done)                                   \
			printf("# refused: %s\n", err.text);                                                      \
		if (done)                                                                                         \
			count_request_free(&r);                                                                   \
	} while (0)

static bool numbers_are(const struct number_list *list, size_t n, const int *numbers)
{
	return list->numbers.count == n && memcmp(list->numbers.items, numbers, n * sizeof *numbers) == 0;
}

static void test_forms(void)
{
	ACCEPTED("-r5 true", r.repetitions == 5, "a letter's argument may stick to it");
	ACCEPTED("-r 5 true", r.repetitions == 5, "or follow");
	ACCEPTED("--repetitions 5 true", r.repetitions == 5, "so may a name's");
	ACCEPTED("--region main true", r.regions.count == 1 && strcmp(r.command[0], "true") == 0,
		 "a part of its argument may be left out, not all of it");
	ACCEPTED("--on model:host --sampled true", r.sampled && strcmp(r.command[0], "true") == 0,
		 "of an option that may stand alone, the next word is none of its own");
	ACCEPTED("--repetitions=5 true", r.repetitions == 5, "or stand after '='");
	ACCEPTED("-r 0x10 true", r.repetitions == 16, "numbers may be hexadecimal");
	ACCEPTED("-vvr3 true", r.verbose == 2 && r.repetitions == 3, "letters may be joined");
	ACCEPTED("-Frepetitions=5 true", strcmp(r.overrides.items[0], "repetitions=5") == 0,
		 "run_p5mon's -F is understood");
	ACCEPTED("-e a,b -e c true", r.event_lists.count == 2 && strcmp(r.event_lists.items[1], "c") == 0,
		 "lists of events are collected");
	ACCEPTED("true -r 5", r.repetitions == 1 && strcmp(r.command[1], "-r") == 0,
		 "options after the program are its own");
	ACCEPTED("-- -x", strcmp(r.command[0], "-x") == 0, "a program's name may begin with '-' after '--'");
	ACCEPTED("- true", strcmp(r.command[0], "-") == 0, "'-' alone is a word");
	ACCEPTED("true",
		 r.repetitions == 1 && r.confidence == 0.95 && r.format == FORMAT_TEXT && !r.has_warm_ups &&
			 r.program_output == OUTPUT_FIRST && strcmp(r.on, "auto") == 0,
		 "the defaults are those of the manual");
	ACCEPTED("", !r.command, "no program is not an error yet: a parameter file may have it");
}

static void test_targets(void)
{
	ACCEPTED("-C 0,2-4,3 true", numbers_are(&r.cpus, 4, (int[]){0, 2, 3, 4}),
		 "CPUs are lists of ranges, each once");
	ACCEPTED("-p 7,9 -p 8", numbers_are(&r.pids, 3, (int[]){7, 9, 8}), "processes keep their order");
	ACCEPTED("-a --for 0.5", r.for_ns == 500000000, "a duration is in seconds");
	ACCEPTED("--compat perfex -a true", r.perfex_all && !r.all_cpus, "perfex's -a means all its events");
	ACCEPTED("-a --compat perfex true", r.perfex_all && !r.all_cpus, "in either order");
	ACCEPTED("-a true", r.all_cpus, "otherwise all CPUs");
	refused("-C 0- true", "'0-' is not a CPU");
	refused("-C 0,,1 true", "'' is not a CPU");
	refused("-C 0-99999999 true", "is not a CPU");
	refused("-C 0-4000000 true", "more than 65536");
	refused("-p 1-3", "'1-3' is not a process id");
	refused("-p -1", "'-1' is not a process id");
	refused("-t 0", "'0' is not a thread id");
	refused("-t 1 -p 2", "choose one of -p, -t");
	refused("-p 1 -a", "choose one of -p, -t");
	refused("--per-thread -a", "use --per-cpu");
	refused("--per-process -p 1", "programs that tare starts");
	refused("--blocks f -a", "programs that tare starts");
	refused("--reproducible -t 1", "programs that tare starts");
	refused("--per-cpu -p 1", "needs -a, -C or --cgroup");
	refused("-p 1 --warm-up 1", "need a program");
	refused("--for 0 -a", "not a number of seconds");
	refused("--for 1e300 -a", "not a number of seconds");
	refused("--for nan -a", "not a number of seconds");
	refused("--for 1e-12 -a", "less than a nanosecond");
}

static void test_refusals(void)
{
	refused("--json --csv true", "one format");
	refused("--json --compat p5mon true", "choose --compat, --json, --csv or --html");
	refused("--repetition 5 true", "unknown option '--repetition'");
	refused("-r5x true", "'5x' is not a whole number");
	refused("-r", "option '--repetitions' needs an argument");
	refused("--json= true", "takes no argument");
	refused("-vZ true", "unknown option '-Z'");
	refused("--confidence 0.95 true", "'0.95' is not 95 or 99");

	struct count_request r;
	struct error err = {0};
	char line[256], *argv[WORDS_MOST];
	parse("--repetition 5 true", &r, line, argv, &err);
	ok(strstr(err.hint, "'--repetitions'"), "an unknown option's hint has the nearest name");
	parse("--for 3 true", &r, line, argv, &err);
	ok(strstr(err.hint, "timeout"), "--for with a program says what to do instead");
}

/* What the tables must hold for parsing, help and completion to be right. */
static void test_tables(void)
{
	bool unique = true, explained = true, spelled = true;
	for (const struct command_row *command = command_rows; command->name; command++) {
		for (const struct option_row *a = command->options; a && a->help; a++) {
			/* another tool's spelling has no text of its own, and what it means comes before it */
			bool other = a->name && !a->help[0], meant = false;
			for (const struct option_row *b = command->options; b != a; b++)
				meant |= b->name && b->help[0] && b->id == a->id;
			explained &= a->help[0] != '\0' || other;
			spelled &= !other || (meant && !a->letter);
			for (const struct option_row *b = a + 1; a->name && b->help; b++)
				unique &= !b->name || (strcmp(a->name, b->name) != 0 &&
						       (!a->letter || a->letter != b->letter) &&
						       (a->id != b->id || !b->help[0]));
		}
	}
	ok(unique, "no two options of a command share a name, a letter or a number");
	ok(spelled, "another tool's spelling stands for an option that is there");
	ok(explained, "every option has a help text");
	ok(command_find("count") && !command_find("coun") && !command_find(""),
	   "commands are found by their whole names");
}

int main(void)
{
	test_forms();
	test_targets();
	test_refusals();
	test_tables();
	return done();
}
