/* The words of perfex (IRIX perfex(1); Zagha, Appendix C) and run_p5mon (Safford, 4.3, 5.2) become those of `tare
 * count`:
 *
 *     perfex -e 15 -e 21 -o FILE a.out      count --compat perfex -e 15 -e 21 -o FILE -- a.out
 *     run_p5mon -P FILE -Fcommand=a.out     count --compat p5mon -P FILE -F command=a.out -o -
 *
 * What perfex can and tare cannot do is an error that says so: no option is passed over. */
#include <stdbool.h>

#include "cli/paper_tools.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/vec.h"
#include "cli/command.h"
#include "cli/perfex_costs.h"
#include "cli/say.h"

struct tool_words {
	VEC(char *) all;
	bool no_memory;
	bool done; /* what was asked for is done: there is nothing to count */
};

static void add(struct tool_words *w, const char *word)
{
	char *copy = strdup(word);
	if (!copy || !vec_push(&w->all, copy)) {
		free(copy);
		w->no_memory = true;
	}
}

static int run(struct tool_words *w, bool done, struct error *err)
{
	int code = TARE_USAGE;
	if (done && w->no_memory)
		done = error_no_memory(err);
	if (!done)
		code = say_failure(err);
	else if (w->done)
		code = 0;
	else if (vec_push(&w->all, NULL))
		code = command_count((int)w->all.count - 1, w->all.items);
	for (size_t i = 0; i < w->all.count; i++)
		free(w->all.items[i]);
	vec_free(&w->all);
	return code;
}

/* ---- perfex ---- */

static const char perfex_usage[] =
	"usage: perfex [-a | -e EVENT [-e EVENT]] [-k] [-x] [-mp] [-s] [-y] [-c FILE]\n"
	"              [-o FILE] COMMAND [ARGS...]\n"
	"       perfex -t | -T [-c FILE]\n\n"
	"Counts a program's events by the R10000's event numbers, with tare.\n\n"
	"  -a          all events, each in the lines of its counter\n"
	"  -e EVENT    an event: 0 to 15 of counter 0, 16 to 31 of counter 1, or a name\n"
	"              of tare's; at most two (default: T5_EVENT0 and T5_EVENT1, else 0\n"
	"              and 16: cycles)\n"
	"  -k          also count at kernel level\n"
	"  -x          also count while exceptions are handled: Linux does that at\n"
	"              kernel level, so -x counts what -k counts\n"
	"  -mp         also list the counts of each thread\n"
	"  -s          count from SIGUSR1 to SIGUSR2, sent to perfex\n"
	"  -y          also show times (counts times costs) and statistics\n"
	"  -c FILE     take the costs from FILE, not the machine's own\n"
	"  -t          print the costs as a file for -c\n"
	"  -T          print the costs by event\n"
	"  -o FILE     write the report there (default: standard error)\n"
	"  -h, --help  show this help\n\n"
	"TARE_ON in the environment is tare's backend: exact, model:r10000, ...\n"
	"(default: auto). Not here: -p; see perfex(1).\n";

/* What perfex has and tare has not: the reason, and what to do. */
static const struct {
	const char *option, *why, *hint;
} missing[] = {
	{"-p", "tare does not count processes that are not waited for apart", "use 'tare count --per-process'"},
	{"-pp", "tare does not count processes that are not waited for apart", "use 'tare count --per-process'"},
};

static bool refuse(const char *option, struct error *err)
{
	for (size_t i = 0; i < sizeof missing / sizeof *missing; i++)
		if (strcmp(missing[i].option, option) == 0) {
			error_set(err, ERROR_UNSUPPORTED, "perfex: option '%s': %s", option, missing[i].why);
			return error_hint(err, "%s", missing[i].hint);
		}
	error_set(err, ERROR_USAGE, "perfex: unknown option '%s'", option);
	return error_hint(err, "'perfex --help' lists the options");
}

static bool needs(const char *option, const char *value, struct error *err)
{
	return value || error_set(err, ERROR_USAGE, "perfex: option '%s' needs a value", option);
}

/* Without any, those of the environment, else cycles on both counters. */
static void add_events(struct tool_words *w, const char *events[2], int n, bool kernel)
{
	const char *variables[] = {getenv("T5_EVENT0"), getenv("T5_EVENT1")};
	static const char *const cycles[] = {"0", "16"};
	for (int i = 0; i < (n ? n : 2); i++) {
		char word[300];
		const char *event = n ? events[i] : variables[i] && *variables[i] ? variables[i] : cycles[i];
		bool number = event[0] && !event[strspn(event, "0123456789")];
		snprintf(word, sizeof word, "%.250s%s", event, kernel && number ? ":uk" : "");
		add(w, "-e");
		add(w, word);
	}
}

/* ---- -s ---- */

static int commands_to = -1; /* for the handler alone */

static void send_command(int number)
{
	int was = errno;
	const char *text = number == SIGUSR1 ? "enable\n" : "disable\n";
	if (write(commands_to, text, strlen(text)) < 0)
		errno = was; /* the command has ended: nobody is told */
	errno = was;
}

/* SIGUSR1 and SIGUSR2 become the commands of a FIFO (--control), which is a pipe to this process itself. */
static bool switch_by_signals(struct tool_words *w, struct error *err)
{
	struct sigaction action = {.sa_handler = send_command, .sa_flags = SA_RESTART};
	char path[64];
	int ends[2];
	if (pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0 ||
	    sigaction(SIGUSR1, (commands_to = ends[1], &action), NULL) != 0 ||
	    sigaction(SIGUSR2, &action, NULL) != 0)
		return error_set_errno(err, ERROR_SYSTEM, errno, "perfex: cannot wait for signals");
	snprintf(path, sizeof path, "/proc/self/fd/%d", ends[0]);
	add(w, "--control");
	add(w, path);
	add(w, "--begin-off");
	return true;
}

/* ---- the options ---- */

struct perfex_options {
	const char *events[3];
	const char *costs, *output;
	int n;
	bool all, kernel, exception, threads, switched, times, print, by_event;
};

static bool perfex_value(struct perfex_options *o, const char *option, const char *value, struct error *err)
{
	if (!needs(option, value, err))
		return false;
	if (option[1] == 'o')
		o->output = value;
	else if (option[1] == 'c')
		o->costs = value;
	else if (o->n < 3)
		o->events[o->n++] = value;
	return true;
}

/* *i: of the first word that is not an option. */
static bool perfex_parse(struct perfex_options *o, int argc, char **argv, int *i, struct error *err)
{
	const struct {
		const char *name;
		bool *on;
	} switches[] = {{"-a", &o->all},      {"-k", &o->kernel}, {"-x", &o->exception}, {"-mp", &o->threads},
			{"-s", &o->switched}, {"-y", &o->times},  {"-t", &o->print},     {"-T", &o->by_event}};
	for (*i = 1; *i < argc && argv[*i][0] == '-' && argv[*i][1]; ++*i) {
		const char *option = argv[*i];
		bool *on = NULL;
		if (strcmp(option, "--") == 0) {
			++*i;
			break;
		}
		for (size_t k = 0; k < sizeof switches / sizeof *switches; k++)
			if (strcmp(option, switches[k].name) == 0)
				on = switches[k].on;
		if (on)
			*on = true;
		else if (strcmp(option, "-e") && strcmp(option, "-o") && strcmp(option, "-c"))
			return refuse(option, err);
		else if (!perfex_value(o, option, ++*i < argc ? argv[*i] : NULL, err))
			return false;
	}
	return true;
}

static bool perfex_check(const struct perfex_options *o, bool command, struct error *err)
{
	if (o->all && o->n)
		return error_set(err, ERROR_USAGE, "perfex: choose -a or -e");
	if (o->all && (o->kernel || o->exception)) {
		error_set(err, ERROR_UNSUPPORTED, "perfex: -a counts at user level only");
		return error_hint(err, "choose events by -e with -k or -x");
	}
	if (o->n > 2)
		return error_set(err, ERROR_USAGE, "perfex: at most two events, one of each counter");
	if ((o->print || o->by_event) && command)
		return error_set(err, ERROR_USAGE, "perfex: -t and -T print costs, and run no command");
	if (o->costs && !o->times && !o->print && !o->by_event)
		return error_set(err, ERROR_USAGE, "perfex: -c goes with -y, -t or -T");
	if (!command && !o->print && !o->by_event) {
		error_set(err, ERROR_USAGE, "perfex: no command is given");
		return error_hint(err, "'perfex -a COMMAND ARGS...'; 'perfex --help'");
	}
	return true;
}

static bool perfex_words(struct tool_words *w, int argc, char **argv, struct error *err)
{
	struct perfex_options o = {0};
	const char *on = getenv("TARE_ON");
	int i;
	if (!perfex_parse(&o, argc, argv, &i, err) || !perfex_check(&o, i < argc, err))
		return false;
	if (o.print || o.by_event) {
		w->done = perfex_print_costs(o.costs, on, o.by_event, err);
		return w->done;
	}
	add(w, "count");
	add(w, "--compat");
	add(w, "perfex");
	if (o.output) {
		add(w, "-o");
		add(w, o.output);
	}
	if (o.all)
		add(w, "-a");
	else
		add_events(w, o.events, o.n, o.kernel || o.exception);
	if (o.threads)
		add(w, "--per-thread");
	if (o.times) {
		add(w, "--costs");
		add(w, o.costs ? o.costs : "auto");
	}
	if (o.switched && !switch_by_signals(w, err))
		return false;
	if (on && *on) {
		add(w, "--on");
		add(w, on);
	}
	add(w, "--");
	for (; i < argc; i++)
		add(w, argv[i]);
	return true;
}

/* ---- run_p5mon ---- */

static const char p5mon_usage[] =
	"usage: run_p5mon [-P FILE] [-FKEY=VALUE]...\n\n"
	"Counts events of a program as its parameters say, with tare; the report goes to\n"
	"standard output.\n\n"
	"  -P FILE       the parameters (default: STD_PARMS_FILE in the environment,\n"
	"                else ./STD_PARMS)\n"
	"  -FKEY=VALUE   one parameter, whatever the file says\n"
	"  -Ferrata=yes  count misaligned data reads and writes twice, as the Pentium did\n"
	"  -h, --help    show this help\n\n"
	"TARE_ON in the environment is tare's backend: exact, model:pentium, ...\n"
	"(default: auto). See run_p5mon(1) and tare-parameters(5).\n";

static bool p5mon_words(struct tool_words *w, int argc, char **argv, struct error *err)
{
	const char *file = getenv("STD_PARMS_FILE"), *on = getenv("TARE_ON");
	if (!file || !*file)
		file = "./STD_PARMS";
	add(w, "count");
	add(w, "--compat");
	add(w, "p5mon");
	add(w, "-o");
	add(w, "-");
	for (int i = 1; i < argc; i++) {
		const char *word = argv[i];
		if (word[0] != '-' || (word[1] != 'P' && word[1] != 'F')) {
			error_set(err, ERROR_USAGE, "run_p5mon: unknown %s '%s'",
				  word[0] == '-' ? "option" : "word", word);
			return error_hint(err, "the program to run is the parameter 'command': -Fcommand=PROGRAM; "
					       "'run_p5mon --help'");
		}
		const char *value = word[2] ? word + 2 : i + 1 < argc ? argv[++i] : NULL;
		if (!value)
			return error_set(err, ERROR_USAGE, "run_p5mon: option '%s' needs a value", word);
		if (word[1] == 'P') {
			file = value;
			continue;
		}
		add(w, "-F");
		add(w, value);
	}
	if (access(file, F_OK) != 0 && errno == ENOENT) {
		error_set(err, ERROR_NOT_FOUND, "run_p5mon: cannot open '%s': no such file", file);
		return error_hint(err,
				  "write the parameters there (tare-parameters(5)), or name their file: -P FILE");
	}
	add(w, "-P");
	add(w, file);
	if (on && *on) {
		add(w, "--on");
		add(w, on);
	}
	return true;
}

/* ---- both ---- */

static bool asks_help(int argc, char **argv)
{
	return argc > 1 && (strcmp(argv[1], "-h") == 0 || strcmp(argv[1], "--help") == 0);
}

bool paper_tool(int argc, char **argv, int *code)
{
	static const struct {
		const char *name, *usage;
		bool (*words)(struct tool_words *w, int argc, char **argv, struct error *err);
	} tools[] = {{"perfex", perfex_usage, perfex_words}, {"run_p5mon", p5mon_usage, p5mon_words}};
	const char *slash = argc > 0 ? strrchr(argv[0], '/') : NULL;
	const char *name = argc > 0 ? slash ? slash + 1 : argv[0] : "";
	for (size_t i = 0; i < sizeof tools / sizeof *tools; i++) {
		struct tool_words w = {0};
		struct error err = {0};
		if (strcmp(name, tools[i].name) != 0)
			continue;
		if (asks_help(argc, argv)) {
			*code = fputs(tools[i].usage, stdout) < 0 || fflush(stdout) != 0;
			return true;
		}
		*code = run(&w, tools[i].words(&w, argc, argv, &err), &err);
		return true;
	}
	return false;
}
