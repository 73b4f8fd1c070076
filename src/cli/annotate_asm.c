/* tare annotate-asm: a compiler's assembly with calls of libtare's stubs around ranges of its lines, so that
 * libtare counts them as regions (Safford 1997, 5.4, by hand there). */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "assembly/annotate.h"
#include "cli/command.h"
#include "cli/options.h"
#include "cli/say.h"

enum { HELP, REGION, OUTPUT, NUMBER, MACHINE };

/* More than any compiler writes in one go, and less than what would not fit. */
enum { ASSEMBLY_BYTES_MOST = 1 << 30 };

const struct option_row annotate_asm_option_rows[] = {
	{.help = "Regions"},
	{'r', "region", "NAME=FIRST-LAST",
	 "lines FIRST to LAST of the file are region NAME; also NAME=LINE; may be given several times, also with "
	 "the "
	 "same name",
	 REGION},
	{0, "number", "N",
	 "the first name gets stub number N, the next N+1 and so on (default: 0); each file of one program needs "
	 "its own numbers",
	 NUMBER},
	{.help = "Options"},
	{'o', "output", "FILE", "write to this file instead of standard output", OUTPUT},
	{0, "machine", "x86-64|arm64", "the machine of the assembly (default: detected from the text)", MACHINE},
	{'h', "help", NULL, "show this help", HELP},
	{0},
};

struct annotate_asked {
	bool help;
	VEC(struct annotate_region) regions; /* names are the caller's to free */
	unsigned number;
	enum assembly_machine machine;
	const char *output;
};

static bool line_number(const char *text, unsigned *line)
{
	unsigned long long number;
	if (!str_to_u64(text, &number) || !number || number > 1u << 31)
		return false;
	*line = (unsigned)number;
	return true;
}

/* NAME may have '=' in it: the last one counts. */
static bool add_region(struct annotate_asked *asked, const char *value, struct error *err)
{
	struct annotate_region region = {0};
	char lines[48];
	const char *equals = strrchr(value, '=');
	bool good = equals && equals > value && strlen(equals + 1) < sizeof lines;
	if (good) {
		strcpy(lines, equals + 1);
		char *dash = strchr(lines, '-');
		if (dash)
			*dash = '\0';
		good = line_number(lines, &region.first) && line_number(dash ? dash + 1 : lines, &region.last) &&
		       region.first <= region.last;
	}
	if (!good) {
		error_set(err, ERROR_USAGE, "'%s' is not NAME=FIRST-LAST", value);
		return error_hint(err, "lines are numbers from 1: --region loop=12-30");
	}
	region.name = strndup(value, (size_t)(equals - value));
	if (region.name && vec_push(&asked->regions, region))
		return true;
	free((char *)region.name);
	return error_no_memory(err);
}

static bool apply(void *context, int id, const char *value, struct error *err)
{
	struct annotate_asked *asked = context;
	unsigned long long number;
	switch (id) {
	case REGION: return add_region(asked, value, err);
	case NUMBER:
		if (!options_number(value, 0, 99, &number, err))
			return false;
		asked->number = (unsigned)number;
		return true;
	case MACHINE:
		if (strcmp(value, "x86-64") == 0)
			asked->machine = MACHINE_X86_64;
		else if (strcmp(value, "arm64") == 0)
			asked->machine = MACHINE_ARM64;
		else
			return error_set(err, ERROR_USAGE, "'%s' is neither 'x86-64' nor 'arm64'", value);
		return true;
	case OUTPUT: asked->output = value; return true;
	default: asked->help = true; return true;
	}
}

static void warn(void *context, const char *text) { say_warning("%s: %s", (const char *)context, text); }

/* Errors in the text get the file's name in front: FILE: line 12: … */
static bool annotate_text(const struct annotate_asked *asked, const char *file, struct str *out, struct error *err)
{
	struct assembly a;
	struct error inner = {0};
	struct annotate_request request = {asked->regions.items, asked->regions.count, asked->number, warn,
					   (char *)file};
	size_t bytes;
	char *text = file_read(file, ASSEMBLY_BYTES_MOST, &bytes, err);
	if (!text)
		return false;
	bool done = assembly_read(&a, text, bytes, asked->machine, &inner);
	if (done) {
		done = annotate(&a, &request, out, &inner);
		assembly_free(&a);
	}
	free(text);
	if (!done) {
		error_set(err, inner.code, "%s: %s", file, inner.text);
		error_hint(err, "%s", inner.hint);
	}
	return done;
}

static bool write_output(const struct annotate_asked *asked, const struct str *text, struct error *err)
{
	FILE *out = file_create_shared(asked->output ? asked->output : "-", err);
	if (!out)
		return false;
	fwrite(text->text ? text->text : "", 1, text->length, out);
	return file_finish(out, asked->output ? asked->output : "standard output", err);
}

static int show_help(void)
{
	options_help("usage: tare annotate-asm FILE.s --region NAME=FIRST-LAST [OPTIONS]\n"
		     "\n"
		     "Writes the assembly with calls to libtare's stubs around the lines. The stubs\n"
		     "change no register and no flag. Jumps into and out of the lines also pass a\n"
		     "stub.\n"
		     "  gcc -S -O2 program.c\n"
		     "  tare annotate-asm program.s --region loop=12-30 -o counted.s\n"
		     "  gcc counted.s -ltare && TARE_EVENTS=instructions:u ./a.out\n",
		     annotate_asm_option_rows,
		     "\nexit status: 0 done; 2 wrong usage, or lines that cannot be a region; 3 cannot\nread or "
		     "write a "
		     "file.\n");
	return say_end_output();
}

int command_annotate_asm(int argc, char **argv)
{
	struct annotate_asked asked = {0};
	struct error err = {0};
	struct str out = {0};
	const char *file = NULL;
	int code = TARE_DONE, rest = argc, at = 0;
	say_begin_output();
	/* the file may stand before the options, as it does in the manual */
	while (argc - at > 1) {
		if (!options_parse(annotate_asm_option_rows, argc - at, argv + at, apply, &asked, &rest, &err)) {
			code = say_failed(&err, TARE_USAGE);
			goto out;
		}
		at += rest;
		if (at >= argc)
			break;
		if (file) {
			error_set(&err, ERROR_USAGE, "'annotate-asm' takes one file: '%s'", argv[at]);
			code = say_failed(&err, TARE_USAGE);
			goto out;
		}
		file = argv[at];
	}
	if (asked.help) {
		code = show_help();
		goto out;
	}
	if (!file || !asked.regions.count) {
		error_set(&err, ERROR_USAGE,
			  file ? "'annotate-asm' needs a region" : "'annotate-asm' needs a file");
		error_hint(&err, "tare annotate-asm FILE.s --region NAME=FIRST-LAST");
		code = say_failed(&err, TARE_USAGE);
	} else if (!annotate_text(&asked, file, &out, &err)) {
		code = err.code == ERROR_SYNTAX || err.code == ERROR_LIMIT ? say_failed(&err, TARE_USAGE)
									   : say_failure(&err);
	} else if (!write_output(&asked, &out, &err)) {
		code = say_failure(&err);
	}
out:
	str_free(&out);
	for (size_t i = 0; i < asked.regions.count; i++)
		free((char *)asked.regions.items[i].name);
	vec_free(&asked.regions);
	return code;
}
