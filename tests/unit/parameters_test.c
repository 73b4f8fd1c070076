/* run_p5mon's parameter files: syntax, errors with their places, warnings, defaults. */
#include <stdlib.h>

#include "compat/parameters.h"
#include "tap.h"

static bool parse(struct parameters *p, const char *text, struct error *err)
{
	parameters_init(p);
	return parameters_read(p, text, strlen(text), "f", err);
}

static void fails(const char *text, const char *expected, const char *fact)
{
	struct parameters p;
	struct error err = {0};
	bool done = parse(&p, text, &err);
	ok(!done && err.code == ERROR_SYNTAX, "%s: is an error", fact);
	equal_text(err.text, expected, fact);
	parameters_free(&p);
}

static char *text_of(const struct parameters *p, bool warnings)
{
	char *text = NULL;
	size_t length;
	FILE *out = open_memstream(&text, &length);
	if (warnings)
		parameters_warn(p, out);
	else
		parameters_dump(p, out);
	fclose(out);
	return text;
}

static void test_values(void)
{
	struct parameters p;
	struct error err = {0};
	parameters_init(&p);
	ok(p.repetitions == 1 && p.user_events && !p.kernel_events && !p.output_all_results &&
		   !p.confidence_level_99 && !p.use_assembly_regions && p.max_regions == 10 &&
		   !p.skip_initialization_run && p.verbose_level == 0,
	   "the defaults are those of the thesis");
	parameters_free(&p);

	ok(parse(&p,
		 "# a comment\n(Lcode\n  something ;\n  else = (x\n end)\n(p5mon\n"
		 " command = hello world ;\n\trepetitions=5; kernel_events = YES; # five\n conf_level_99 = yes;\n"
		 " IO_read_or_write_cycle = yes; count_clocks = yes;\nend )\n# the end",
		 &err),
	   "a file with comments and another program's section is read");
	equal_text(p.command, "hello world", "a value is trimmed");
	equal_u64(p.repetitions, 5, "several parameters may share a line");
	ok(p.kernel_events, "yes may be written in capitals");
	ok(p.confidence_level_99, "conf_level_99 is confidence_level_99");
	ok(p.events[P5MON_EVENTS - 1] && !p.events[0], "events are switched on one by one");
	parameters_free(&p);

	ok(parse(&p, "(p5mon command = \"a \\\"b\\\"; c \\\\ \\n # d\n2\"; output_file = ; end)", &err),
	   "a value may be quoted");
	equal_text(p.command, "a \"b\"; c \\ \\n # d\n2", "quotes hold semicolons, line feeds and escapes");
	equal_text(p.output_file, "", "a value may be empty");
	parameters_free(&p);

	ok(parse(&p, "(p5mon command = grep # x; end)", &err), "a value may hold '#'");
	equal_text(p.command, "grep # x", "which begins no comment there");
	parameters_free(&p);
}

static void test_errors(void)
{
	fails("", "f:1:1: no section '(p5mon ... end)'", "an empty file");
	fails("# only\n", "f:2:1: no section '(p5mon ... end)'", "a file without the section");
	fails("p5mon", "f:1:1: expected '(' and a section's name, found 'p'", "text outside sections");
	fails("(p5mon\n", "f:1:1: section 'p5mon' has no 'end)'", "a section without end");
	fails("(p5mon repetitions 5; end)", "f:1:20: expected '=' after 'repetitions'", "a missing '='");
	fails("(p5mon\n  repetitions = 5\n user_events = no;\nend)",
	      "f:2:18: expected ';' after the value of 'repetitions'", "a missing ';'");
	fails("(p5mon\n  repetitions = five;\nend)",
	      "f:2:17: 'repetitions' must be a whole number from 1 to 1000000, not 'five'",
	      "a number that is none");
	fails("(p5mon repetitions = 0; end)",
	      "f:1:22: 'repetitions' must be a whole number from 1 to 1000000, not '0'", "no repetitions");
	fails("(p5mon repetitions = 99999999999999999999; end)",
	      "f:1:22: 'repetitions' must be a whole number from 1 to 1000000, not '99999999999999999999'",
	      "an absurd number of repetitions");
	fails("(p5mon max_regions = 101; end)",
	      "f:1:22: 'max_regions' must be a whole number from 0 to 100, not '101'", "more than 100 regions");
	fails("(p5mon verbose_level = 3; end)",
	      "f:1:24: 'verbose_level' must be a whole number from 0 to 2, not '3'", "an unknown verbosity");
	fails("(p5mon\n\n\tuser_events = maybe; end)", "f:3:16: 'user_events' must be yes or no, not 'maybe'",
	      "a switch that is neither");
	fails("(p5mon data_read = 1; end)", "f:1:20: 'data_read' must be yes or no, not '1'",
	      "an event that is neither");
	fails("(p5mon command = \"abc; end)", "f:1:18: the quoted value of 'command' has no end", "an open quote");
	fails("(p5mon command = \"abc\" d; end)", "f:1:24: expected ';' after the value of 'command'",
	      "text after a quoted value");
	fails("(p5mon = 5; end)", "f:1:8: expected a parameter or 'end)', found '='", "a value without a name");
	fails("(p5mon command = x; end", "f:1:24: expected '=' after 'end'", "an end without its bracket");
	fails("(\x01", "f:1:2: expected a section's name, found '\\x01'", "a control character is shown escaped");
	fails("(p5mon aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa = 1; end)",
	      "f:1:8: a parameter or 'end)' of more than 63 characters", "an endless name");

	struct parameters p;
	struct error err = {0};
	parameters_init(&p);
	ok(!parameters_read(&p, "(p5mon\n a\0b", 11, "f", &err), "a zero byte is an error");
	equal_text(err.text, "f:2:3: a zero byte: this is not a text file", "at its place");
	parameters_free(&p);
}

static void test_overrides(void)
{
	struct parameters p;
	struct error err = {0};
	static const char file[] = "(p5mon repetitions = 5; kernel_events = bad; end)";
	parameters_init(&p);
	ok(parameters_override(&p, "repetitions=7", &err) &&
		   parameters_override(&p, " kernel_events = yes ", &err) &&
		   parameters_read(&p, file, strlen(file), "f", &err),
	   "-F before the file is accepted");
	ok(p.repetitions == 7 && p.kernel_events, "and overrides the file, also where that is wrong");
	ok(!parameters_override(&p, "repetition=7", &err) && err.code == ERROR_USAGE,
	   "an unknown key is an error");
	equal_text(err.text, "unknown parameter 'repetition'", "that names the key");
	ok(strstr(err.hint, "'repetitions'"), "and the nearest ones");
	ok(!parameters_override(&p, "repetitions", &err), "so is a key without a value");
	ok(!parameters_override(&p, "=7", &err), "so is a value without a key");
	ok(!parameters_override(&p, "repetitions=0", &err), "values are checked as in a file");
	parameters_free(&p);

	ok(parse(&p, "(p5mon\n use_assembly_regions = yes;\nend)", &err), "regions are understood");
	ok(parameters_check(&p, "auto", &err) && parameters_check(&p, "exact", &err) &&
		   parameters_check(&p, "model:r12000", &err),
	   "and can be had of the engine");
	ok(!parameters_check(&p, "perf", &err) && err.code == ERROR_USAGE,
	   "but not of a backend that does not see them");
	ok(strncmp(err.text, "f:2:2: ", 7) == 0, "with the place");
	ok(parameters_override(&p, "use_assembly_regions=no", &err) && parameters_check(&p, "perf", &err),
	   "an override makes the file usable");
	parameters_free(&p);
}

static void test_warnings(void)
{
	struct parameters p;
	struct error err = {0};
	ok(parse(&p, "(p5mon\n repetitions = 5;\n repetitions = 6; repetition = 7; repetition = 8;\nend)", &err),
	   "twice defined and unknown parameters are no errors");
	equal_u64(p.repetitions, 6, "the last definition holds");
	char *text = text_of(&p, true);
	ok(strstr(text, "f:3:2: parameter 'repetitions' is defined twice, first at 2:2"), "both places are named");
	ok(strstr(text, "f:3:19: parameter 'repetition' is not used (nearest: 'repetitions'"),
	   "with the nearest names");
	ok(!strstr(text, "not defined"), "what is not defined has its default, silently");
	free(text);
	ok(parameters_override(&p, "warn_parm_not_used=no", &err) &&
		   parameters_override(&p, "warn_parm_defined_twice=no", &err),
	   "warnings can be switched off");
	text = text_of(&p, true);
	equal_text(text, "", "then nothing is said");
	free(text);
	ok(parameters_override(&p, "warn_parm_not_defined=yes", &err), "a warning can be switched on");
	text = text_of(&p, true);
	ok(strstr(text, "parameter 'command' is not defined: its default is used") &&
		   !strstr(text, "'repetitions'") && !strstr(text, "'warn_parm_not_defined'"),
	   "it names what neither the file nor -F defines");
	free(text);
	ok(parameters_override(&p, "user_events=no", &err), "both levels can be switched off");
	text = text_of(&p, true);
	ok(strstr(text, "no event is counted"), "which is warned of");
	free(text);
	parameters_free(&p);
}

static void test_dump(void)
{
	struct parameters p, again;
	struct error err = {0};
	ok(parse(&p, "(p5mon command = \" a;\\\"\\\\\n\"; repetitions = 9; flops = yes; output_file = x\\y; end)",
		 &err),
	   "odd values are read");
	char *first = text_of(&p, false);
	ok(parse(&again, first, &err), "what is dumped can be read");
	char *second = text_of(&again, false);
	equal_text(second, first, "and is the same");
	equal_text(again.command, p.command, "to the byte");
	size_t warnings = parameters_warn(&again, stderr);
	equal_u64(warnings, 0, "a dump defines every parameter once");
	free(first);
	free(second);
	parameters_free(&p);
	parameters_free(&again);
}

int main(void)
{
	test_values();
	test_errors();
	test_overrides();
	test_warnings();
	test_dump();
	return done();
}
