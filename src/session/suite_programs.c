#include "session/suite_programs.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/random.h"

/* Programs of Debian that compute for some tenths of a second, alone and without threads, the same each time.
 * @text and the like: the inputs. */
static const struct suite_row {
	const char *name;
	const char *words[SUITE_WORDS_MOST];
	bool quick; /* one of the few that stand for all */
} rows[] = {
	{"gzip", {"gzip", "-9", "-c", "@text"}, true},
	{"xz", {"xz", "-T1", "-1", "-c", "@small"}},
	{"bzip2", {"bzip2", "-9", "-c", "@text"}},
	{"sha256sum", {"sha256sum", "@text", "@text", "@text", "@text", "@text", "@text", "@text", "@text"}},
	{"sort", {"sort", "--parallel=1", "-f", "@text"}, true},
	{"wc", {"wc", "-w", "-L", "@text", "@text", "@text", "@text", "@text", "@text", "@text"}},
	{"grep", {"grep", "-E", "-c", "(.)(.)\\2\\1.*e", "@text"}},
	{"sed", {"sed", "-E", "s/([a-e])([f-z]+)/\\2\\1/g", "@small"}},
	{"awk",
	 {"awk", "{ for (i = 1; i <= NF; i++) n[$i]++ } END { for (w in n) s += n[w] * length(w); print s }",
	  "@small"}},
	{"python3",
	 {"python3", "-S", "-E", "-c",
	  "s = 0\nfor i in range(1200000):\n    s = (s * 31 + i) % 1000003\n    if s % 7 == 0:\n        s += "
	  "1\nprint(s)"}},
	{"perl",
	 {"perl", "-e",
	  "my ($s, @a) = (0); for my $i (0 .. 900000) { $s = ($s * 31 + $i) % 1000003; $a[$s % 1000] += $s; } "
	  "print $s"}},
	{"sqlite3",
	 {"sqlite3", ":memory:",
	  "with recursive c(x, y) as (select 1, 1 union all select x + 1, (y * 31 + x) % 1000003 from c where x < "
	  "250000) select y % 100 as k, count(*), sum(y) from c group by k order by 3 limit 5"}},
	{"gcc", {"gcc", "-O2", "-S", "-o", "/dev/null", "@source"}, true},
	{"bc", {"bc", "-q", "@numbers"}, true},
	{"od", {"od", "-A", "x", "-t", "x1z", "@small"}},
	{"openssl",
	 {"openssl", "dgst", "-sha3-256", "@text", "@text", "@text", "@text", "@text", "@text", "@text"}},
	{"lua", {"lua", "-e", "local s = 0 for i = 1, 12000000 do s = (s * 31 + i) % 1000003 end print(s)"}},
};
enum { ROWS = sizeof rows / sizeof *rows };
_Static_assert((int)ROWS <= (int)SUITE_MOST, "the header says how many there can be");

/* ---- inputs ---- */

static const struct {
	const char *word, *file;
} inputs[] = {{"@text", "text"}, {"@small", "small"}, {"@source", "source.c"}, {"@numbers", "numbers.bc"}};
enum { INPUTS = sizeof inputs / sizeof *inputs };

/* Words of letters whose frequencies fall, some more common than others, in lines */
static void write_text(FILE *out, size_t bytes)
{
	struct random random = {.state = 2009};
	size_t line = 0;
	for (size_t n = 0; n < bytes; n++, line++) {
		uint64_t r = random_below(&random, 1000);
		int letter = 'a' + (int)(r * r / 38462); /* 26 letters, 'a' the most frequent */
		fputc(line > 60 && r < 200 ? '\n' : r % 6 == 0 ? ' ' : letter, out);
		if (line > 60 && r < 200)
			line = 0;
	}
	fputc('\n', out);
}

/* Functions with loops and branches, enough for a compiler to work on */
static void write_source(FILE *out)
{
	for (int i = 0; i < 40; i++)
		fprintf(out,
			"int f%d(const int *a, int n)\n{\n\tint s = %d, t = n;\n\tfor (int i = 0; i < n; i++) {\n"
			"\t\tif (a[i] > s)\n\t\t\ts += a[i] * %d;\n\t\telse\n\t\t\tt ^= s >> %d;\n"
			"\t\tswitch (a[i] & 7) {\n\t\tcase 1: s -= t; break;\n\t\tcase 3: s *= 3; break;\n"
			"\t\tcase 6: t += i; break;\n\t\tdefault: t -= a[n - i - 1];\n\t\t}\n\t}\n\treturn s + "
			"t;\n}\n",
			i, i * 7, i + 3, i % 13 + 1);
}

static void write_input(FILE *out, size_t which)
{
	switch (which) {
	case 0: write_text(out, 3000000); break;
	case 1: write_text(out, 700000); break;
	case 2: write_source(out); break;
	default: fputs("x = 1\nfor (i = 0; i < 400000; i++) x = (x * 31 + i) % 1000003\nx\n", out);
	}
}

static bool make_inputs(const char *folder, char paths[INPUTS][PATH_MAX], struct error *err)
{
	for (size_t i = 0; i < INPUTS; i++) {
		snprintf(paths[i], PATH_MAX, "%.3000s/%s", folder, inputs[i].file);
		FILE *file = fopen(paths[i], "we");
		if (!file)
			return error_set_errno(err, ERROR_IO, errno, "cannot write '%s'", paths[i]);
		write_input(file, i);
		if (!file_finish(file, paths[i], err))
			return false;
	}
	return true;
}

static void remove_inputs(const char *folder, char paths[INPUTS][PATH_MAX])
{
	for (size_t i = 0; i < INPUTS; i++)
		if (paths[i][0])
			unlink(paths[i]);
	rmdir(folder);
}

/* ---- programs ---- */

static bool is_installed(const char *name)
{
	const char *at = getenv("PATH");
	char path[PATH_MAX];
	struct stat status;
	for (at = at ? at : "/usr/bin:/bin"; *at;) {
		size_t n = strcspn(at, ":");
		snprintf(path, sizeof path, "%.*s/%s", (int)(n < 3000 ? n : 0), at, name);
		if (n && stat(path, &status) == 0 && S_ISREG(status.st_mode) && access(path, X_OK) == 0)
			return true;
		at += n + (at[n] == ':');
	}
	return false;
}

struct suite_programs {
	char folder[PATH_MAX];
	char paths[INPUTS][PATH_MAX];
};

bool suite_programs_begin(struct suite_programs **out, struct error *err)
{
	const char *temporary = getenv("TMPDIR");
	struct suite_programs *s = calloc(1, sizeof *s);
	*out = NULL;
	if (!s)
		return error_no_memory(err);
	snprintf(s->folder, sizeof s->folder, "%.2000s/tare-suite-XXXXXX",
		 temporary && temporary[0] ? temporary : "/tmp");
	if (!mkdtemp(s->folder)) {
		error_set_errno(err, ERROR_IO, errno, "cannot make the folder '%s'", s->folder);
		free(s);
		return false;
	}
	if (!make_inputs(s->folder, s->paths, err)) {
		suite_programs_end(s);
		return false;
	}
	*out = s;
	return true;
}

void suite_programs_end(struct suite_programs *s)
{
	if (s)
		remove_inputs(s->folder, s->paths);
	free(s);
}

size_t suite_programs_count(void) { return ROWS; }

void suite_programs_at(struct suite_programs *s, size_t index, struct suite_program *out)
{
	const struct suite_row *row = &rows[index];
	*out = (struct suite_program){.name = row->name, .quick = row->quick};
	for (size_t i = 0; i < SUITE_WORDS_MOST && row->words[i]; i++) {
		out->argv[i] = (char *)row->words[i];
		for (size_t k = 0; k < INPUTS; k++)
			if (strcmp(out->argv[i], inputs[k].word) == 0)
				out->argv[i] = s->paths[k];
	}
	if (!is_installed(out->argv[0]))
		out->why = "not installed";
}
