#include "model/declare/machines.h"

#include <string.h>

#include "model/declare/conf_files.h"

static bool is_path(const char *name)
{
	size_t length = strlen(name);
	return strchr(name, '/') || *name == '.' || (length > 5 && strcmp(name + length - 5, ".conf") == 0);
}

bool machine_describe(const char *name, struct machine_description *out, struct error *err)
{
	return is_path(name) ? machine_read_description(name, out, err)
			     : machine_named_description(name, out, err);
}

bool machine_find(const char *name, struct machine *out, struct error *err)
{
	struct machine_description description;
	if (!machine_describe(name, &description, err))
		return false;
	*out = description.machine;
	machine_description_free(&description);
	return true;
}

const char *const *machine_names(void) { return conf_names(); }
