#include "cli/store_options.h"

#include <inttypes.h>

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

void store_keep(const struct keeping *keeping, struct kept_run *run, bool verbose)
{
	struct error err = {0};
	if (!keep_run(keeping, run, &err)) {
		say_warning("this run is not kept: %s", err.text);
		if (err.hint[0])
			fprintf(stderr, "      %s\n", err.hint);
	} else if (verbose && run->id) {
		fprintf(stderr, "tare: kept as run %" PRId64 "\n", run->id);
	}
	keep_free(run);
}

bool store_open(const struct keeping *keeping, enum runs_access access, struct runs **out, struct error *err)
{
	if (keep_open(keeping, access, out, err))
		return true;
	if (!err->text[0])
		error_set(err, ERROR_USAGE, "the store of runs is switched off (TARE_STORE=none)");
	return false;
}
