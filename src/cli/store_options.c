#include "cli/store_options.h"

#include <inttypes.h>
#include <string.h>

#include "cli/say.h"

bool store_apply(struct keeping *keeping, int id, const char *value)
{
	if (id == STORE_FILE) {
		keeping->store = value;
		keeping->off = false;
	} else if (id == STORE_OFF) {
		keeping->off = true;
	}
	return id > STORE_BASE && id < STORE_END;
}

void store_keep_one_of(const struct keeping *keeping, struct kept_run *run, bool verbose, const char *what,
		       struct error *said)
{
	struct error err = {0};
	if (keep_run(keeping, run, &err)) {
		if (verbose && run->id)
			fprintf(stderr, "tare: kept as run %" PRId64 "\n", run->id);
	} else if (strcmp(err.text, said->text) != 0) {
		say_warning("%s not kept: %s", what, err.text);
		if (err.hint[0])
			fprintf(stderr, "      %s\n", err.hint);
		*said = err;
	}
	keep_free(run);
}

void store_keep(const struct keeping *keeping, struct kept_run *run, bool verbose)
{
	struct error said = {0};
	store_keep_one_of(keeping, run, verbose, "this run is", &said);
}

bool store_open(const struct keeping *keeping, enum runs_access access, struct runs **out, struct error *err)
{
	if (keep_open(keeping, access, out, err))
		return true;
	if (!err->text[0])
		error_set(err, ERROR_USAGE, "the store of runs is switched off (TARE_STORE=none)");
	return false;
}
