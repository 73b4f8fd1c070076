/* The store of runs: what is put is what is loaded; finding; where the store is. */
#include "store/runs/runs.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "store/runs/schema.h"
#include "tap.h"

static char folder[] = "/tmp/tare-runs-XXXXXX";

static const char *at(const char *name)
{
	static char paths[4][256];
	static unsigned next;
	char *path = paths[next++ % 4];
	snprintf(path, sizeof paths[0], "%s/%s", folder, name);
	return path;
}

static struct estimate estimates[3];
static double values[] = {1e300, 3, 0.1}, endless[] = {7};
static const char *const command[] = {"./a b", "", "\xff\x01", NULL};
static const char *const surroundings[] = {"LANG=C", "OMP_NUM_THREADS=4", NULL};
static struct outlier outliers[] = {{.repetition = 2, .event = "cycles", .cause = "41 context switches"}};
static struct result_note notes[] = {{"a note", NOTE_READ}, {"do \"this\"", NOTE_ACT}};

static struct result sample(void)
{
	estimates[0] = (struct estimate){.event = "cycles",
					 .unit = "cycles",
					 .level = "user",
					 .known = true,
					 .value = 1.0 / 3,
					 .low = 0.1,
					 .high = INFINITY,
					 .has_interval = true,
					 .confidence = 0.95,
					 .n_runs = 3,
					 .runs = values,
					 .run_min = 0.1,
					 .run_median = 3,
					 .run_max = 1e300,
					 .run_sd = 5e-324,
					 .source = SOURCE_SCALED,
					 .trust = TRUST_BIASED,
					 .machine = "r12000",
					 .evidence = "0123456789abcdef",
					 .has_tare = true,
					 .gross = 2,
					 .tare = 1.5,
					 .bound = 12,
					 .measuring = {MEASURING_INCLUDED, -3.5, 0.25, 1},
					 .share_running = 0.5,
					 .has_least = true,
					 .least = 99,
					 .least_source = SOURCE_EXACT,
					 .note = "remark",
					 .tid = 3,
					 .pid = -2,
					 .command = "child",
					 .cpu = 7};
	estimates[1] = (struct estimate){
		.event = "x", .unit = "", .level = "", .why = "not here", .bound = NAN, .run_min = NAN, .cpu = -1};
	estimates[2] = (struct estimate){.event = "ipc",
					 .unit = "1",
					 .level = "",
					 .known = true,
					 .value = -0.5,
					 .low = -INFINITY,
					 .high = 1,
					 .n_runs = 1,
					 .runs = endless,
					 .cpu = -1};
	return (struct result){
		.machine = {"EPYC", "Linux 6.1", "host", "x86_64", 12, "none", "KVM"},
		.command = command,
		.started_unix = 1700000000,
		.repetitions = 3,
		.repetitions_done = 2,
		.executions = 7,
		.warm_ups = 1,
		.passes = 2,
		.elapsed_seconds = 1.25,
		.confidence = 0.99,
		.estimates = estimates,
		.n_estimates = 2,
		.metrics = estimates + 2,
		.n_metrics = 1,
		.outliers = outliers,
		.n_outliers = 1,
		.notes = notes,
		.n_notes = 2,
		.wait_status = 0x100,
		.interrupted = true,
		.under_engine = true,
		.first_run = 2,
	};
}

static const char profile[100000] = "TAREPROF and bytes that repeat";

static struct kept_run sample_run(struct result *result)
{
	return (struct kept_run){.kind = KEPT_COUNT,
				 .shown = SHOWN_VERBOSE | SHOWN_GROSS,
				 .tare_version = "0.0.9",
				 .directory = "/home/x",
				 .environment = surroundings,
				 .git_commit = "aabb",
				 .cpu_features = "fpu vme",
				 .microcode = "0x1",
				 .calibration = "feed",
				 .profile = profile,
				 .profile_bytes = sizeof profile,
				 .result = result};
}

/* bits: a NAN is one, and -0 is not 0 */
static bool same(double a, double b) { return memcmp(&a, &b, sizeof a) == 0 || (isnan(a) && isnan(b)); }
static bool same_text(const char *a, const char *b) { return a && b ? strcmp(a, b) == 0 : a == b; }

static bool same_estimate(const struct estimate *a, const struct estimate *b)
{
	bool equal = a->n_runs == b->n_runs;
	for (size_t i = 0; equal && i < a->n_runs; i++)
		equal = same(a->runs[i], b->runs[i]);
	return equal && same_text(a->event, b->event) && same_text(a->unit, b->unit) &&
	       same_text(a->level, b->level) && a->known == b->known && same(a->value, b->value) &&
	       same(a->low, b->low) && same(a->high, b->high) && a->has_interval == b->has_interval &&
	       same(a->confidence, b->confidence) && same(a->run_min, b->run_min) &&
	       same(a->run_median, b->run_median) && same(a->run_max, b->run_max) && same(a->run_sd, b->run_sd) &&
	       a->source == b->source && a->trust == b->trust && same_text(a->machine, b->machine) &&
	       same_text(a->evidence, b->evidence) && a->has_tare == b->has_tare && same(a->gross, b->gross) &&
	       same(a->tare, b->tare) && same(a->bound, b->bound) && a->measuring.state == b->measuring.state &&
	       same(a->measuring.count, b->measuring.count) &&
	       same(a->measuring.half_width, b->measuring.half_width) &&
	       same(a->measuring.inside, b->measuring.inside) && same(a->share_running, b->share_running) &&
	       same_text(a->why, b->why) && a->has_least == b->has_least && same(a->least, b->least) &&
	       a->least_source == b->least_source && same_text(a->note, b->note) && a->tid == b->tid &&
	       a->pid == b->pid && same_text(a->command, b->command) && a->cpu == b->cpu;
}

static bool same_words(const char *const *a, const char *const *b)
{
	while (*a && *b && strcmp(*a, *b) == 0)
		a++, b++;
	return !*a && !*b;
}

static void loads_what_was_put(void)
{
	struct runs *runs;
	struct error err = {0};
	struct result put = sample();
	struct kept_run run = sample_run(&put), loaded;
	if (!ok(runs_open(at("new/folder/tare.db"), RUNS_WRITE, &runs, &err), "a store is made with its folders"))
		return;
	ok(runs_put(runs, &run, &err) && run.id == 1 && strlen(run.uuid) == 32,
	   "a run that is put gets an id and an identity");
	if (ok(runs_load(runs, 1, &loaded, &err), "and is loaded")) {
		struct result *r = loaded.result;
		ok(r->n_estimates == 2 && same_estimate(&r->estimates[0], &estimates[0]) &&
			   same_estimate(&r->estimates[1], &estimates[1]),
		   "estimates come back bit by bit, with the values of all repetitions");
		ok(r->n_metrics == 1 && same_estimate(&r->metrics[0], &estimates[2]), "and metrics");
		ok(r->n_outliers == 1 && r->outliers[0].repetition == 2 &&
			   same_text(r->outliers[0].event, "cycles") &&
			   same_text(r->outliers[0].cause, "41 context switches"),
		   "and outliers");
		ok(r->n_notes == 2 && r->notes[0].rank == NOTE_READ && r->notes[1].rank == NOTE_ACT &&
			   same_text(r->notes[1].text, "do \"this\""),
		   "and notes with their ranks");
		ok(same_words(r->command, command) && !r->target && r->started_unix == 1700000000 &&
			   r->repetitions == 3 && r->repetitions_done == 2 && r->executions == 7 &&
			   r->warm_ups == 1 && r->passes == 2 && same(r->elapsed_seconds, 1.25) &&
			   same(r->confidence, 0.99) && r->wait_status == 0x100 && r->interrupted &&
			   r->under_engine && r->first_run == 2,
		   "and how it was run: an empty argument and bytes of no character stay");
		ok(same_text(r->machine.cpu, "EPYC") && same_text(r->machine.kernel, "Linux 6.1") &&
			   same_text(r->machine.hostname, "host") &&
			   same_text(r->machine.architecture, "x86_64") && r->machine.cpus == 12 &&
			   same_text(r->machine.pmu, "none") && same_text(r->machine.hypervisor, "KVM"),
		   "and the machine");
		ok(loaded.id == 1 && same_text(loaded.uuid, run.uuid) && !loaded.name &&
			   loaded.kind == KEPT_COUNT && loaded.shown == run.shown && !loaded.comparison &&
			   same_text(loaded.tare_version, "0.0.9") && same_text(loaded.directory, "/home/x") &&
			   same_words(loaded.environment, surroundings) && same_text(loaded.git_commit, "aabb") &&
			   same_text(loaded.cpu_features, "fpu vme") && same_text(loaded.microcode, "0x1") &&
			   same_text(loaded.calibration, "feed"),
		   "and its surroundings");
		ok(loaded.profile_bytes == sizeof profile && memcmp(loaded.profile, profile, sizeof profile) == 0,
		   "and its profile");
		kept_run_free(&loaded);
	}
	struct kept_run again = sample_run(&put);
	ok(!runs_put(runs, &run, &err) && runs_put(runs, &again, &err), "an identity is there once");
	int64_t id = 0;
	ok(runs_find(runs, "@last", &id, &err) && id == again.id, "@last is the newest");
	ok(runs_find(runs, "@1", &id, &err) && id == 1 && runs_find(runs, "1", &id, &err) && id == 1,
	   "a run is found by its id");
	ok(!runs_find(runs, "@base", &id, &err) && err.code == ERROR_NOT_FOUND,
	   "a name that no run has is an error");
	equal_text(err.text, "no run is called 'base'", "and says so");
	ok(!runs_load(runs, 77, &loaded, &err) && err.code == ERROR_NOT_FOUND, "as is an id that no run has");
	runs_close(runs);
}

/* As on a network file system, where the store has no log. */
static void works_without_a_log(void)
{
	struct runs *runs, *file;
	struct error err = {0};
	struct result put = sample();
	struct kept_run run = sample_run(&put), loaded;
	int64_t id = 1;
	ok(runs_open(at("new/folder/tare.db"), RUNS_READ, &runs, &err) &&
		   runs_export(runs, &id, 1, at("file.runs"), &err),
	   "a run is exported");
	runs_close(runs);
	ok(runs_open(at("file.runs"), RUNS_WRITE, &file, &err) && runs_put(file, &run, &err) &&
		   runs_load(file, run.id, &loaded, &err),
	   "a file of runs takes another one");
	ok(same_estimate(&loaded.result->estimates[0], &estimates[0]), "as a store does");
	kept_run_free(&loaded);
	runs_close(file);
	ok(access(at("file.runs-wal"), F_OK) != 0 && access(at("file.runs-journal"), F_OK) != 0,
	   "and leaves nothing beside it");
}

static unsigned mode_of(const char *path)
{
	struct stat status;
	return stat(path, &status) == 0 ? status.st_mode & 0777 : 0;
}

static void keeps_to_itself(void)
{
	equal_u64(mode_of(at("new/folder")), 0700, "nobody else sees into a folder that it made");
	equal_u64(mode_of(at("new/folder/tare.db")), 0600, "or into the store");
	equal_u64(mode_of(at("new/folder/tare.db-wal")), 0600, "or into its log");
}

static void set(const char *name, const char *value)
{
	if (value)
		setenv(name, value, 1);
	else
		unsetenv(name);
}

static char *path_with(const char *given, const char *store, const char *data, const char *home, struct error *err)
{
	static char last[256];
	set("TARE_STORE", store);
	set("XDG_DATA_HOME", data);
	set("HOME", home);
	char *path = runs_path(given, err);
	snprintf(last, sizeof last, "%s", path ? path : "(none)");
	free(path);
	return last;
}

static void finds_its_place(void)
{
	struct error err = {0};
	equal_text(path_with("/g", "/s", "/d", "/h", &err), "/g", "the store is where --store says");
	equal_text(path_with(NULL, "/s", "/d", "/h", &err), "/s", "else where TARE_STORE says");
	equal_text(path_with(NULL, "", "/d", "/h", &err), "/d/tare/tare.db", "else in XDG_DATA_HOME");
	equal_text(path_with(NULL, NULL, "d", "/etc", &err), "/etc/.local/share/tare/tare.db",
		   "a relative one is none: then it is in the home folder");
	equal_text(path_with(NULL, NULL, NULL, NULL, &err), "(none)", "without a home there is no place");
	ok(err.code == ERROR_NOT_FOUND && err.text[0] && err.hint[0], "which is an error that says what to do");
	equal_text(path_with(NULL, NULL, NULL, "/nobody/at/all", &err), "(none)",
		   "nor in a home that does not exist");
	ok(err.code == ERROR_NOT_FOUND && strstr(err.text, "/nobody/at/all") && err.hint[0], "which is named");
	equal_text(path_with(NULL, "none", "/d", "/h", &err), "(none)", "TARE_STORE=none switches it off");
	ok(err.code == ERROR_NOT_FOUND && !err.text[0], "which is no error to be told");
}

static void execute(const char *path, const char *sql)
{
	sqlite3 *db;
	char *why = NULL;
	if (sqlite3_open(path, &db) != SQLITE_OK || sqlite3_exec(db, sql, NULL, NULL, &why) != SQLITE_OK)
		printf("# %s: %s\n", sql, why ? why : "cannot be opened");
	sqlite3_free(why);
	sqlite3_close(db);
}

/* A profile whose length is not that of its bytes: no memory is taken for it. */
static void refuses_wrong_lengths(void)
{
	static const char *const profiles[] = {"x'544152455041434bffffffffffffff7f789c'",
					       "x'544152455041434b0100000000000000789c'",
					       "x'544152455041434b0000000000000000'", "x'5441524550'"};
	static const bool fine[] = {false, false, false, true};
	for (size_t i = 0; i < sizeof profiles / sizeof *profiles; i++) {
		char sql[200];
		struct runs *runs;
		struct error err = {0};
		struct kept_run run;
		snprintf(sql, sizeof sql, "UPDATE profiles SET file = %s WHERE run = 1", profiles[i]);
		execute(at("file.runs"), sql);
		if (!ok(runs_open(at("file.runs"), RUNS_READ, &runs, &err), "(a store)"))
			return;
		bool loaded = runs_load(runs, 1, &run, &err);
		ok(loaded == fine[i] && (loaded || err.code == ERROR_SYNTAX),
		   fine[i] ? "a profile that is not packed is taken as it is"
			   : "a profile of another length is refused");
		if (loaded)
			kept_run_free(&run);
		runs_close(runs);
	}
}

static void refuses_what_is_not_its_own(void)
{
	struct runs *runs;
	struct error err = {0};
	execute(at("other.db"), "CREATE TABLE t (a)");
	ok(!runs_open(at("other.db"), RUNS_WRITE, &runs, &err) && err.code == ERROR_SYNTAX && !runs,
	   "another program's database is refused");
	execute(at("newer.db"),
		"PRAGMA application_id = 1952543333; PRAGMA user_version = 1000; CREATE TABLE t (a)");
	ok(!runs_open(at("newer.db"), RUNS_WRITE, &runs, &err) && err.code == ERROR_UNSUPPORTED,
	   "so is a store of a newer tare");
	ok(strstr(err.text, "newer tare") && err.hint[0], "with an error that says so");
	int fd = open(at("text.db"), O_CREAT | O_WRONLY, 0600);
	ok(write(fd, "not a database, but long enough to be looked at as one ...................................",
		 90) == 90,
	   "(a file of text)");
	close(fd);
	ok(!runs_open(at("text.db"), RUNS_WRITE, &runs, &err) && err.code == ERROR_SYNTAX,
	   "so is a file that is not a database");
	ok(!runs_open(at("missing.db"), RUNS_READ, &runs, &err) && err.code == ERROR_NOT_FOUND &&
		   access(at("missing.db"), F_OK) != 0,
	   "reading makes no store");
}

int main(void)
{
	if (!mkdtemp(folder))
		return 1;
	loads_what_was_put();
	works_without_a_log();
	keeps_to_itself();
	finds_its_place();
	refuses_wrong_lengths();
	refuses_what_is_not_its_own();
	char remove[64];
	snprintf(remove, sizeof remove, "rm -r %s", folder);
	ok(system(remove) == 0, "(the folder is removed)");
	return done();
}
