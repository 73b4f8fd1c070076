/* The store of runs under kill -9, with several writers, and of an older version. */
#include <errno.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/random.h"
#include "store/runs/runs.h"
#include "store/runs/schema.h"
#include "tap.h"

enum {
	KILLS = 200,
	WRITERS = 8,
	RUNS_OF_A_WRITER = 25,
	NEW_STORES = 40,
	EVENTS = 12,
	NOTES = 3,
	RUNS_LOOKED_AT = 10
};

static char folder[] = "/tmp/tare-runs-crash-XXXXXX";
static char path[64];
static const char *const command[] = {"true", NULL};

/* Keeps one run, with the store opened for it as a command does. number: in its texts and counts. */
static bool keep(unsigned number, struct error *err)
{
	struct estimate estimates[EVENTS];
	struct result_note notes[NOTES];
	char text[64];
	double value = number;
	struct runs *runs;
	snprintf(text, sizeof text, "run %u", number);
	for (int i = 0; i < EVENTS; i++)
		estimates[i] = (struct estimate){.event = "cycles",
						 .unit = "cycles",
						 .level = "user",
						 .known = true,
						 .value = number,
						 .n_runs = 1,
						 .runs = &value,
						 .note = text,
						 .cpu = -1};
	for (int i = 0; i < NOTES; i++)
		notes[i] = (struct result_note){text, NOTE_READ};
	struct result result = {.command = command,
				.repetitions = 1,
				.estimates = estimates,
				.n_estimates = EVENTS,
				.notes = notes,
				.n_notes = NOTES};
	struct kept_run run = {.kind = KEPT_COUNT, .tare_version = "0.1", .result = &result};
	if (!runs_open(path, RUNS_WRITE, &runs, err))
		return false;
	bool done = runs_put(runs, &run, err);
	runs_close(runs);
	return done;
}

/* Is it as keep() made it? */
static bool whole(const struct kept_run *run)
{
	const struct result *r = run->result;
	bool good = r->n_estimates == EVENTS && r->n_notes == NOTES;
	for (size_t i = 0; good && i < r->n_estimates; i++)
		good = r->estimates[i].n_runs == 1 && r->estimates[i].value == r->estimates[0].value &&
		       r->estimates[i].runs[0] == r->estimates[0].value &&
		       strcmp(r->estimates[i].note, r->notes[0].text) == 0;
	return good;
}

static bool integrity(void)
{
	sqlite3 *db;
	sqlite3_stmt *s = NULL;
	bool good = sqlite3_open(path, &db) == SQLITE_OK &&
		    sqlite3_prepare_v2(db, "PRAGMA integrity_check", -1, &s, NULL) == SQLITE_OK &&
		    sqlite3_step(s) == SQLITE_ROW && strcmp((const char *)sqlite3_column_text(s, 0), "ok") == 0;
	sqlite3_finalize(s);
	sqlite3_close(db);
	return good;
}

/* How many runs there are; *damaged: of the newest ones, so many are not whole (newest 0: of all). */
static size_t count_runs(size_t newest, size_t *damaged)
{
	struct runs *runs;
	struct run_list list = {0};
	struct error err = {0};
	*damaged = 0;
	if (!runs_open(path, RUNS_READ, &runs, &err)) {
		if (err.code != ERROR_NOT_FOUND)
			printf("# %s\n", err.text), ++*damaged;
		return 0;
	}
	if (!runs_list(runs, 0, NULL, 0, &list, &err))
		printf("# %s\n", err.text), ++*damaged;
	for (size_t i = 0; i < list.rows.count && (!newest || i < newest); i++) {
		struct kept_run run;
		bool loaded = runs_load(runs, list.rows.items[i].id, &run, &err);
		*damaged += !loaded || !whole(&run);
		if (loaded)
			kept_run_free(&run);
	}
	size_t n = list.rows.count;
	run_list_free(&list);
	runs_close(runs);
	return n;
}

/* Keeps runs until it is killed, and says each one in the pipe when it is kept. */
static void keep_on(int told, unsigned number)
{
	for (;; number++) {
		struct error err = {0};
		if (!keep(number, &err)) {
			fprintf(stderr, "# %s\n", err.text);
			_exit(1);
		}
		if (write(told, "k", 1) != 1)
			_exit(2);
	}
}

static void survives_kills(void)
{
	struct random random = {12};
	size_t kept = 0, damaged, lost = 0, more = 0, broken = 0, ends = 0, written = 0;
	for (int i = 0; i < KILLS; i++) {
		int ends_of[2], status;
		char told[4096];
		if (pipe(ends_of) != 0)
			return;
		pid_t child = fork();
		if (child == 0) {
			close(ends_of[0]);
			keep_on(ends_of[1], (unsigned)i * 1000);
		}
		close(ends_of[1]);
		/* any moment of a process's first runs, its opening of the store included */
		for (uint64_t waits = random_below(&random, 3); waits; waits--) {
			kept += read(ends_of[0], told, 1) == 1;
			written++;
		}
		usleep((useconds_t)random_below(&random, 6000));
		kill(child, SIGKILL);
		waitpid(child, &status, 0);
		ends += WIFEXITED(status);
		ssize_t n = read(ends_of[0], told, sizeof told);
		close(ends_of[0]);
		kept += n > 0 ? (size_t)n : 0;
		size_t there = count_runs(RUNS_LOOKED_AT, &damaged);
		/* a run may be kept before it is told */
		lost += there < kept;
		more += there > kept + 1;
		broken += damaged;
		kept = there;
	}
	count_runs(0, &damaged);
	broken += damaged;
	printf("# %zu runs were kept\n", kept);
	ok(written > KILLS / 2 && kept >= written, "writers were killed after runs that they had kept");
	equal_u64(ends, 0, "no writer failed before it was killed");
	equal_u64(lost, 0, "after 200 kills, no run is lost that was kept");
	equal_u64(more, 0, "at most the run in progress is uncertain");
	equal_u64(broken, 0, "and each is whole");
	ok(integrity(), "and so is the database");
}

/* Eight processes keep so many runs each, in a store that is there or not. */
static void write_at_once(unsigned runs_of_each, size_t *failed, size_t *missing, size_t *damaged)
{
	size_t before = count_runs(0, damaged);
	pid_t children[WRITERS];
	for (unsigned w = 0; w < WRITERS; w++) {
		children[w] = fork();
		if (children[w] == 0) {
			struct error err = {0};
			for (unsigned i = 0; i < runs_of_each; i++)
				if (!keep(1000000 + w * 1000 + i, &err)) {
					fprintf(stderr, "# %s\n", err.text);
					_exit(1);
				}
			_exit(0);
		}
	}
	for (unsigned w = 0; w < WRITERS; w++) {
		int status;
		waitpid(children[w], &status, 0);
		*failed += status != 0;
	}
	*missing += before + (size_t)WRITERS * runs_of_each - count_runs(0, damaged);
}

static void serves_several_writers(void)
{
	size_t failed = 0, missing = 0, damaged;
	write_at_once(RUNS_OF_A_WRITER, &failed, &missing, &damaged);
	equal_u64(failed, 0, "eight writers at the same time keep all their runs");
	equal_u64(missing, 0, "each of them is there");
	equal_u64(damaged, 0, "and whole");
}

/* All at once make the store that is not there yet. */
static void is_made_by_several(void)
{
	size_t failed = 0, missing = 0, broken = 0, damaged;
	for (unsigned i = 0; i < NEW_STORES; i++) {
		snprintf(path, sizeof path, "%s/made%u.db", folder, i);
		write_at_once(1, &failed, &missing, &damaged);
		broken += damaged + !integrity();
	}
	equal_u64(failed, 0, "eight processes that make a store at the same time keep their runs");
	equal_u64(missing, 0, "each of them is there");
	equal_u64(broken, 0, "and the store is whole");
}

/* Another connection makes the tables as the statement of this number begins. */
struct maker {
	int left;
	bool made;
};

static int make_meanwhile(unsigned event, void *context, void *statement, void *text)
{
	struct maker *maker = context;
	sqlite3 *other;
	(void)event, (void)statement, (void)text;
	if (--maker->left != 0)
		return 0;
	maker->made = sqlite3_open(path, &other) == SQLITE_OK &&
		      schema_migrate(other, path, SCHEMA_VERSION, &(struct error){0});
	sqlite3_close(other);
	return 0;
}

/* Whatever is read before, and what after: the store is there or it is not. */
static void is_looked_at_while_made(bool log)
{
	enum { STATEMENTS = 5 }; /* of schema_version(): a transaction's two, and three marks */
	int wrong = 0, made = 0, empty = 0;
	for (int n = 1; n <= STATEMENTS; n++) {
		struct maker maker = {.left = n};
		struct error err = {0};
		sqlite3 *db;
		int version = -1;
		snprintf(path, sizeof path, "%s/looked%d%d.db", folder, log, n);
		if (sqlite3_open(path, &db) == SQLITE_OK &&
		    (!log || sqlite3_exec(db, "PRAGMA journal_mode = WAL", NULL, NULL, NULL) == SQLITE_OK)) {
			sqlite3_trace_v2(db, SQLITE_TRACE_STMT, make_meanwhile, &maker);
			bool seen = schema_version(db, path, &version, &err);
			wrong += !seen || (version != 0 && version != SCHEMA_VERSION);
			if (!seen)
				printf("# made at statement %d: %s\n", n, err.text);
			empty += version == 0;
		}
		made += maker.made;
		sqlite3_close(db);
	}
	ok(made > 0 && empty > 0, "(a store is made while another process looks at it%s)",
	   log ? ", with a log" : "");
	equal_u64((uint64_t)wrong, 0, "it is empty or a store for that process, whenever it is made");
}

static bool execute(sqlite3 *db, const char *sql)
{
	char *why = NULL;
	bool done = sqlite3_exec(db, sql, NULL, NULL, &why) == SQLITE_OK;
	if (!done)
		printf("# %s\n", why);
	sqlite3_free(why);
	return done;
}

/* A store as version 1 of the tables had it, with a run in it. */
static bool make_old(void)
{
	sqlite3 *db;
	struct error err = {0};
	bool done =
		sqlite3_open(path, &db) == SQLITE_OK && schema_migrate(db, path, 1, &err) &&
		execute(db,
			"INSERT INTO machines (id, cpu, kernel) VALUES (1, 'old CPU', 'Linux 2.6');"
			"INSERT INTO runs (uuid, machine, bytes, kind, shown, tare_version, command, "
			"started_unix, repetitions, repetitions_done, executions, passes, elapsed_seconds, "
			"confidence, wait_status, interrupted, under_engine, first_run, warm_ups, name) VALUES "
			"(randomblob(16), 1, 10, 0, 0, '0.0.1', x'6c7300', 1000, 1, 1, 1, 1, 2.5, 0.95, 0, 0, "
			"0, 0, 0, 'old');"
			"INSERT INTO estimates (run, part, position, event, unit, level, known, value, source, "
			"trust, cpu) VALUES (1, 0, 0, 'cycles', 'cycles', 'user', 1, 42, 1, 0, -1)");
	sqlite3_close(db);
	return done;
}

static int version_of(const char *file)
{
	sqlite3 *db;
	sqlite3_stmt *s = NULL;
	int version = -1;
	if (sqlite3_open(file, &db) == SQLITE_OK &&
	    sqlite3_prepare_v2(db, "PRAGMA user_version", -1, &s, NULL) == SQLITE_OK &&
	    sqlite3_step(s) == SQLITE_ROW)
		version = sqlite3_column_int(s, 0);
	sqlite3_finalize(s);
	sqlite3_close(db);
	return version;
}

static bool has_old_run(struct runs *runs)
{
	struct kept_run run;
	struct error err = {0};
	int64_t id;
	if (!runs_find(runs, "@old", &id, &err) || !runs_load(runs, id, &run, &err)) {
		printf("# %s\n", err.text);
		return false;
	}
	const struct result *r = run.result;
	bool good = strcmp(run.tare_version, "0.0.1") == 0 && r->n_estimates == 1 && r->estimates[0].known &&
		    r->estimates[0].value == 42 && strcmp(r->command[0], "ls") == 0 &&
		    strcmp(r->machine.cpu, "old CPU") == 0 && !r->breakdown && r->n_regions == 0;
	kept_run_free(&run);
	return good;
}

static void migrates(void)
{
	struct runs *runs;
	struct error err = {0};
	snprintf(path, sizeof path, "%s/old.db", folder);
	if (!ok(make_old() && version_of(path) == 1, "(a store of version 1)"))
		return;
	struct import_counts counts;
	char other[64];
	snprintf(other, sizeof other, "%s/other.db", folder);
	ok(runs_open(other, RUNS_WRITE, &runs, &err) && runs_import(runs, path, &counts, &err) &&
		   counts.added == 1 && has_old_run(runs),
	   "a run of an old store is imported");
	runs_close(runs);
	ok(version_of(path) == 1, "which leaves that store as it is");
	ok(runs_open(path, RUNS_WRITE, &runs, &err), "an old store is opened");
	ok(runs && has_old_run(runs), "and has its run");
	runs_close(runs);
	ok(version_of(path) == SCHEMA_VERSION, "after it was migrated");
	ok(integrity(), "and is whole");
}

int main(void)
{
	if (!mkdtemp(folder))
		return 1;
	snprintf(path, sizeof path, "%s/tare.db", folder);
	survives_kills();
	serves_several_writers();
	is_made_by_several();
	is_looked_at_while_made(false);
	is_looked_at_while_made(true);
	migrates();
	char remove[64];
	snprintf(remove, sizeof remove, "rm -r %s", folder);
	ok(system(remove) == 0, "(the folder is removed)");
	return done();
}
