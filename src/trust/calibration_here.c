#include "trust/calibration_here.h"

#include <stdio.h>
#include <stdlib.h>

struct calibrated_machine calibrated_machine_of(const struct machine_facts *facts)
{
	return (struct calibrated_machine){.cpu = facts->cpu,
					   .architecture = facts->architecture,
					   .kernel = facts->kernel,
					   .tare_version = TARE_VERSION,
					   .cpus = facts->cpus};
}

bool calibration_here(const struct machine_facts *facts, struct calibration *c, char *why, size_t why_bytes)
{
	struct error err = {0};
	struct calibrated_machine machine = calibrated_machine_of(facts);
	char *path = calibration_path(&err);
	*c = (struct calibration){0};
	snprintf(why, why_bytes, "%s", "");
	bool read = path && calibration_load(path, c, &err);
	bool fits = read && calibration_fits(c, &machine, why, why_bytes);
	if (!read && !(path && err.code == ERROR_NOT_FOUND))
		snprintf(why, why_bytes, "%s", err.text);
	if (!fits)
		calibration_free(c);
	free(path);
	return fits;
}
