#include "session/keep.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "session/surroundings.h"

/* root would leave files in a user's home that the user cannot write to afterwards (sudo -E, su -m). */
static bool check_owner(const struct keeping *keeping, struct error *err)
{
	struct stat status;
	const char *named = getenv("TARE_STORE"), *home = getenv("HOME");
	if (keeping->store || (named && *named) || geteuid() != 0 || !home || stat(home, &status) != 0 ||
	    status.st_uid == 0)
		return true;
	error_set(err, ERROR_PERMISSION, "the home folder '%s' belongs to another user", home);
	return error_hint(err, "--store FILE or TARE_STORE names a store for root, --no-store keeps nothing");
}

bool keep_open(const struct keeping *keeping, enum runs_access access, struct runs **out, struct error *err)
{
	*out = NULL;
	if (keeping->off) {
		*err = (struct error){.code = ERROR_NOT_FOUND};
		return false;
	}
	if (keeping->shared && *keeping->shared) {
		*out = *keeping->shared;
		return true;
	}
	char *path = runs_path(keeping->store, err);
	struct error own = {0};
	struct stat there;
	/* one that cannot be written is opened to be read: keep_run() will say why */
	if (path && keeping->shared && access == RUNS_READ && stat(path, &there) == 0 &&
	    check_owner(keeping, &own) && runs_open(path, RUNS_WRITE, keeping->shared, &own)) {
		*out = *keeping->shared;
		free(path);
		return true;
	}
	bool done = path && (access == RUNS_READ || check_owner(keeping, err)) &&
		    runs_open(path, access, out, err);
	free(path);
	return done;
}

void keep_close(const struct keeping *keeping, struct runs *runs)
{
	if (!keeping->shared || *keeping->shared != runs)
		runs_close(runs);
}

bool keep_is_on(const struct keeping *keeping)
{
	struct error err = {0};
	char *path = keeping->off ? NULL : runs_path(keeping->store, &err);
	free(path);
	return path || err.text[0];
}

/* The id of the calibration that was taken off: 16 hexadecimal digits, which more evidence may follow. */
static const char *calibration_of(struct arena *arena, const struct result *result)
{
	for (size_t i = 0; i < result->n_estimates; i++) {
		const struct estimate *e = &result->estimates[i];
		size_t length = e->has_tare && e->evidence ? strspn(e->evidence, "0123456789abcdef") : 0;
		if (length == 16 && (e->evidence[length] == '\0' || e->evidence[length] == ' '))
			return arena_strndup(arena, e->evidence, length);
	}
	return NULL;
}

bool keep_run(const struct keeping *keeping, struct kept_run *run, struct error *err)
{
	struct runs *runs;
	struct surroundings around;
	struct error own = {0};
	err = err ? err : &own;
	if (!keep_open(keeping, RUNS_WRITE, &runs, err))
		return err->code == ERROR_NOT_FOUND && !err->text[0];
	surroundings_find(&run->arena, &around);
	run->tare_version = TARE_VERSION;
	run->directory = around.directory;
	run->git_commit = around.git_commit;
	run->environment = around.environment;
	run->cpu_features = around.cpu_features;
	run->microcode = around.microcode;
	run->calibration = calibration_of(&run->arena, run->result);
	bool done = runs_put(runs, run, err);
	keep_close(keeping, runs);
	return done;
}

bool keep_compared(const struct keeping *keeping, int64_t id, const char *comparison, struct kept_side *side,
		   struct error *err)
{
	struct runs *runs;
	struct kept_run run;
	if (!keep_open(keeping, RUNS_WRITE, &runs, err))
		return err->code == ERROR_NOT_FOUND && !err->text[0];
	bool done = runs_load(runs, id, &run, err);
	if (done) {
		struct kept_run again = run;
		again.kind = KEPT_COMPARE;
		again.comparison = comparison;
		again.side = side;
		again.name = NULL;
		again.uuid[0] = '\0';
		again.imported = false; /* the comparison was made here */
		done = runs_put(runs, &again, err);
		kept_run_free(&run);
	}
	keep_close(keeping, runs);
	return done;
}

void keep_free(struct kept_run *run)
{
	run->result = NULL;
	kept_run_free(run);
}

const char *keep_version_text(struct arena *arena, const char *version)
{
	return arena_printf(arena, "measured by tare %s; this is tare %s", version, TARE_VERSION);
}

/* Of all its notes the first one. */
static bool tell_version(struct kept_run *run)
{
	struct result *r = run->result;
	struct result_note *notes = arena_alloc(&r->arena, (r->n_notes + 1) * sizeof *notes);
	if (!notes)
		return false;
	notes[0] = (struct result_note){keep_version_text(&r->arena, run->tare_version), NOTE_ACT};
	if (r->n_notes)
		memcpy(notes + 1, r->notes, r->n_notes * sizeof *notes);
	r->notes = notes;
	r->n_notes++;
	return notes[0].text != NULL;
}

bool keep_load(const struct keeping *keeping, const char *word, struct kept_run *run, struct error *err)
{
	struct runs *runs;
	int64_t id;
	*run = (struct kept_run){0};
	if (!keep_open(keeping, RUNS_READ, &runs, err))
		return err->text[0] ? false
				    : error_set(err, ERROR_USAGE,
						"the store of runs is switched off (TARE_STORE=none): there is no "
						"run '%s'",
						word);
	bool done = runs_find(runs, word, &id, err) && runs_load(runs, id, run, err);
	keep_close(keeping, runs);
	if (done && strcmp(run->tare_version, TARE_VERSION) != 0 && !tell_version(run)) {
		kept_run_free(run);
		done = error_no_memory(err);
	}
	return done;
}
