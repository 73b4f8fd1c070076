/* Kept calibrations: written and read back, damaged, of another machine, replaced. */
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/random.h"
#include "store/calibration/calibration.h"
#include "tap.h"

static const struct calibrated_machine here = {
	.cpu = "A CPU", .architecture = "x86_64", .kernel = "Linux 6.1.0", .tare_version = "0.1.0", .cpus = 2};

static void fill(struct calibration *c)
{
	*c = (struct calibration){.tare_version = here.tare_version,
				  .cpu = here.cpu,
				  .architecture = here.architecture,
				  .kernel = here.kernel,
				  .cpus = here.cpus,
				  .made_unix = 1700000000,
				  .processes = 100,
				  .confidence = 0.95,
				  .floor_command = "phases 300"};
	struct overhead o = {.event = "instructions:u",
			     .unit = "instructions",
			     .interface = INTERFACE_LIBRARY_USER,
			     .part = OVERHEAD_ENTER,
			     .constant = true,
			     .n = 100,
			     .mean = 1.0 / 3 + 139,
			     .half_width = 0.1,
			     .sd = 1e-3,
			     .median = 139,
			     .least = -2.5,
			     .most = 1e15};
	vec_push(&c->overheads, o);
	o.event = "cpu/event=0x3c,umask=0x1/u"; /* native names are longer */
	o.interface = INTERFACE_COMMAND;
	o.part = OVERHEAD_PROGRAM;
	o.constant = false;
	vec_push(&c->overheads, o);
	o.event = "instructions:u";
	o.interface = INTERFACE_STUBS;
	o.part = OVERHEAD_REGION;
	o.cold = true;
	vec_push(&c->overheads, o);
	struct overhead_fit f = {.event = "instructions:u",
				 .interface = INTERFACE_LIBRARY_READ,
				 .n = 600,
				 .o = 139.5,
				 .o_half_width = 0.25,
				 .c = 30,
				 .c_half_width = 1e-9,
				 .residual_most = 2,
				 .block = 30};
	vec_push(&c->fits, f);
	f.event = "calls";
	f.block = NAN;
	vec_push(&c->fits, f);
	vec_push(&c->floors, ((struct noise_floor){"task-clock", "ns", 50, 2.75e6, 0.04, 0.001, 0.0157}));
}

static bool same_overhead(const struct overhead *a, const struct overhead *b)
{
	return strcmp(a->event, b->event) == 0 && strcmp(a->unit, b->unit) == 0 && a->interface == b->interface &&
	       a->part == b->part && a->cold == b->cold && a->constant == b->constant && a->n == b->n &&
	       a->mean == b->mean && a->half_width == b->half_width && a->sd == b->sd && a->median == b->median &&
	       a->least == b->least && a->most == b->most;
}

static bool same_fit(const struct overhead_fit *a, const struct overhead_fit *b)
{
	return strcmp(a->event, b->event) == 0 && a->interface == b->interface && a->n == b->n && a->o == b->o &&
	       a->o_half_width == b->o_half_width && a->c == b->c && a->c_half_width == b->c_half_width &&
	       a->residual_most == b->residual_most &&
	       (a->block == b->block || (isnan(a->block) && isnan(b->block)));
}

static bool same(const struct calibration *a, const struct calibration *b)
{
	bool equal = strcmp(a->id, b->id) == 0 && strcmp(a->tare_version, b->tare_version) == 0 &&
		     strcmp(a->cpu, b->cpu) == 0 && strcmp(a->architecture, b->architecture) == 0 &&
		     strcmp(a->kernel, b->kernel) == 0 && a->cpus == b->cpus && a->made_unix == b->made_unix &&
		     a->processes == b->processes && a->confidence == b->confidence &&
		     strcmp(a->floor_command, b->floor_command) == 0 && a->overheads.count == b->overheads.count &&
		     a->fits.count == b->fits.count && a->floors.count == b->floors.count;
	for (size_t i = 0; equal && i < a->overheads.count; i++)
		equal = same_overhead(&a->overheads.items[i], &b->overheads.items[i]);
	for (size_t i = 0; equal && i < a->fits.count; i++)
		equal = same_fit(&a->fits.items[i], &b->fits.items[i]);
	for (size_t i = 0; equal && i < a->floors.count; i++) {
		const struct noise_floor *x = &a->floors.items[i], *y = &b->floors.items[i];
		equal = strcmp(x->event, y->event) == 0 && strcmp(x->unit, y->unit) == 0 && x->n == y->n &&
			x->mean == y->mean && x->relative_sd == y->relative_sd && x->seen == y->seen &&
			x->floor == y->floor;
	}
	return equal;
}

static void test_round_trip(const struct str *text, const struct calibration *c)
{
	struct calibration back;
	struct error err = {0};
	ok(calibration_parse(text->text, text->length, "kept", &back, &err), "what was written is read: %s",
	   err.text);
	ok(same(c, &back), "and is the same, to the last digit");
	ok(strlen(back.id) == 16, "its id has 16 digits");
	ok(calibration_overhead(&back, "instructions:u", INTERFACE_STUBS, OVERHEAD_REGION, true) ==
			   &back.overheads.items[2] &&
		   !calibration_overhead(&back, "instructions:u", INTERFACE_STUBS, OVERHEAD_REGION, false) &&
		   !calibration_overhead(&back, "instructions", INTERFACE_STUBS, OVERHEAD_REGION, true),
	   "a row is found by event, interface, part and pass");
	ok(calibration_floor(&back, "task-clock") && !calibration_floor(&back, "task-clock:u"), "so is a floor");
	calibration_free(&back);
}

/* Every text that is not the one that was written is refused, with a reason and nothing left over. */
static void test_damage(const struct str *text)
{
	struct calibration back;
	size_t taken = 0, silent = 0, leaked = 0;
	for (size_t length = 0; length < text->length; length++) {
		struct error err = {0};
		char *cut = malloc(length + 1); /* exactly as long, for the sanitizer */
		memcpy(cut, text->text, length);
		taken += calibration_parse(cut, length, "cut", &back, &err);
		silent += !err.text[0];
		leaked += back.arena.blocks || back.overheads.items;
		free(cut);
	}
	ok(!taken && !silent && !leaked, "cut short at any byte it is refused, and says why");
	struct random r = {.state = 5};
	taken = silent = 0;
	char *changed = malloc(text->length);
	for (size_t i = 0; i < text->length; i++) {
		struct error err = {0};
		memcpy(changed, text->text, text->length);
		changed[i] = (char)(changed[i] ^ (1 + random_below(&r, 255)));
		taken += calibration_parse(changed, text->length, "changed", &back, &err);
		silent += !err.text[0];
	}
	free(changed);
	ok(!taken && !silent, "with any byte changed it is refused, and says why");
	ok(calibration_parse(text->text, text->length, "whole", &back, NULL), "while the whole one is taken");
	calibration_free(&back);
}

static uint64_t fnv1a(const char *bytes, size_t n)
{
	uint64_t hash = 0xcbf29ce484222325u;
	for (size_t i = 0; i < n; i++)
		hash = (hash ^ (unsigned char)bytes[i]) * 0x100000001b3u;
	return hash;
}

/* A text that somebody else made, with its sum right. */
static bool parse_with(const struct str *text, const char *from, const char *to, struct error *err)
{
	struct str other = {0};
	struct calibration back;
	const char *at = strstr(text->text, from), *end = strstr(text->text, "[end]");
	*err = (struct error){0};
	str_append_bytes(&other, text->text, (size_t)(at - text->text));
	str_append(&other, to);
	str_append_bytes(&other, at + strlen(from), (size_t)(end - at) - strlen(from));
	str_appendf(&other, "[end]\nsum = %016" PRIx64 "\n", fnv1a(other.text, other.length));
	bool parsed = calibration_parse(other.text, other.length, "k", &back, err);
	if (parsed)
		calibration_free(&back);
	str_free(&other);
	return parsed;
}

static void test_meaning(const struct str *text)
{
	static const char *const wrong[][2] = {
		{"format = 1", "format = 2"},
		{"cpus = 2", "cpus = 0"},
		{"cpus = 2", "cpus = two"},
		{"confidence = 0.94999999999999996", "confidence = 1"},
		{"processes = 100", "processes = -1"},
		{"processes = 100", ""},
		{"processes = 100", "processes = 100\nprocesses = 100"},
		{"processes = 100", "processes = 100\nmore = 1"},
		{"interface = library-user", "interface = librarian"},
		{"part = enter", "part = entrance"},
		{"pass = cold", "pass = lukewarm"},
		{"constant = yes", "constant = maybe"},
		{"event = instructions:u", "event ="},
		{"n = 100", "n = 0"},
		{"sd = 0.001", "sd = -0.001"},
		{"sd = 0.001", "sd = nan"},
		{"sd = 0.001", "sd = inf"},
		{"median = 139", "median = -3"},
		{"most = 1000000000000000", "most = 100"},
		{"[overhead]", "[overheads]"},
		{"[overhead]", "[calibration]"},
		{"[floor]", "[end]"},
		{"half_width = 0.10000000000000001", "half_width = 1e999"},
	};
	struct error err;
	size_t taken = 0, silent = 0;
	ok(parse_with(text, "cpus = 2", "cpus = 3", &err), "another text with the right sum is taken: %s",
	   err.text);
	for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
		if (parse_with(text, wrong[i][0], wrong[i][1], &err)) {
			printf("# taken: '%s' for '%s'\n", wrong[i][1], wrong[i][0]);
			taken++;
		}
		silent += !strstr(err.text, "k:");
	}
	ok(!taken && !silent, "%zu texts that mean nothing are refused with the place, though their sum is right",
	   sizeof wrong / sizeof *wrong);
}

static void test_machine(const struct calibration *c)
{
	char why[256];
	struct calibrated_machine other = here;
	ok(calibration_fits(c, &here, why, sizeof why), "it counts on the machine that it was made on");
	other.kernel = "Linux 6.2.0";
	ok(!calibration_fits(c, &other, why, sizeof why), "not under another kernel");
	equal_text(why, "made under the kernel 'Linux 6.1.0', this is 'Linux 6.2.0'", "and says so");
	other = here;
	other.cpu = "B CPU";
	ok(!calibration_fits(c, &other, why, sizeof why) && strstr(why, "'B CPU'"), "not on another CPU");
	other = here;
	other.cpus = 1;
	ok(!calibration_fits(c, &other, why, sizeof why) && strstr(why, "made with 2 CPUs, this machine has 1"),
	   "not with fewer CPUs");
	other = here;
	other.architecture = "aarch64";
	ok(!calibration_fits(c, &other, why, sizeof why), "not on another architecture");
	other = here;
	other.tare_version = "0.2.0";
	ok(!calibration_fits(c, &other, why, sizeof why) &&
		   strstr(why, "version of tare '0.1.0', this is '0.2.0'"),
	   "not by another version of tare");
}

static void test_file(struct calibration *c)
{
	char folder[] = "/tmp/tare-calibration-XXXXXX", path[128], old[64];
	struct calibration back;
	struct error err = {0};
	struct stat file;
	if (!mkdtemp(folder)) {
		ok(false, "a folder can be made");
		return;
	}
	snprintf(path, sizeof path, "%s/a/b/calibration", folder);
	ok(!calibration_load(path, &back, &err) && err.code == ERROR_NOT_FOUND,
	   "a file that is not there is not found");
	ok(calibration_save(path, c, &err), "it is kept, and the folders are made: %s", err.text);
	ok(calibration_load(path, &back, &err) && same(c, &back), "and loaded again");
	calibration_free(&back);
	snprintf(old, sizeof old, "%s", c->id);
	c->processes = 20;
	ok(calibration_save(path, c, &err) && strcmp(old, c->id) != 0,
	   "another one replaces it, and has another id");
	ok(calibration_load(path, &back, &err) && back.processes == 20, "which is what is loaded then");
	calibration_free(&back);
	c->processes = 100;
	mode_t mask = umask(022);
	calibration_save(path, c, &err);
	umask(mask);
	ok(stat(path, &file) == 0 && (file.st_mode & 0777) == 0644,
	   "others may read it as they may read any file of the user");
	snprintf(path, sizeof path, "%s/a", folder);
	ok(!calibration_save(path, c, &err) && err.text[0], "a folder in its place is an error");
	char command[128];
	snprintf(command, sizeof command, "ls %s/a | wc -l | grep -qx 1 && rm -r %s", folder, folder);
	ok(system(command) == 0, "and nothing else is left beside it");
	c->cpu = "a\nb";
	struct str text = {0};
	ok(!calibration_write(c, &text, &err), "a text that would break a line is refused");
	str_free(&text);
	c->cpu = here.cpu;
}

static void test_path(void)
{
	struct error err = {0};
	struct utsname names;
	char expected[512];
	uname(&names);
	setenv("TARE_CALIBRATION", "none", 1);
	char *path = calibration_path(&err);
	ok(!path && err.code == ERROR_NOT_FOUND && strstr(err.text, "switched off"),
	   "TARE_CALIBRATION=none switches it off");
	setenv("TARE_CALIBRATION", "/x/y", 1);
	path = calibration_path(&err);
	equal_text(path, "/x/y", "TARE_CALIBRATION names the file");
	free(path);
	unsetenv("TARE_CALIBRATION");
	setenv("HOME", "/home/u", 1);
	unsetenv("XDG_DATA_HOME");
	path = calibration_path(&err);
	snprintf(expected, sizeof expected, "/home/u/.local/share/tare/calibration.%s", names.nodename);
	equal_text(path, expected, "without, it is in the home folder, by the machine's name");
	free(path);
	setenv("XDG_DATA_HOME", "/data", 1);
	path = calibration_path(&err);
	snprintf(expected, sizeof expected, "/data/tare/calibration.%s", names.nodename);
	equal_text(path, expected, "or where XDG_DATA_HOME says");
	free(path);
	setenv("XDG_DATA_HOME", "data", 1);
	unsetenv("HOME");
	ok(!calibration_path(&err) && err.code == ERROR_NOT_FOUND,
	   "a relative XDG_DATA_HOME is none; without a home there is no place");
}

int main(void)
{
	struct calibration c;
	struct str text = {0};
	struct error err = {0};
	fill(&c);
	if (!ok(calibration_write(&c, &text, &err), "a calibration is written"))
		return done();
	test_round_trip(&text, &c);
	test_damage(&text);
	test_meaning(&text);
	test_machine(&c);
	test_file(&c);
	test_path();
	str_free(&text);
	calibration_free(&c);
	return done();
}
