#include "event/pfm.h"

#include <perfmon/pfmlib.h>
#include <perfmon/pfmlib_perf_event.h>
#include <stdlib.h>
#include <string.h>

#include "base/nearest.h"
#include "base/str.h"
#include "base/vec.h"

/* What libpfm4's names are made of: PMUs, events, unit masks, and attributes such as "c=1". */
static bool has_characters(const char *name)
{
	for (; *name; name++)
		if (!((*name >= 'a' && *name <= 'z') || (*name >= 'A' && *name <= 'Z') ||
		      (*name >= '0' && *name <= '9') || strchr("_-.:=", *name)))
			return false;
	return true;
}

bool pfm_has_form(const char *name)
{
	const char *colon = strchr(name, ':');
	return colon && colon > name && colon[1] == ':' && colon[2] && colon[2] != ':' && has_characters(name);
}

static bool start(void) { return pfm_initialize() == PFM_SUCCESS; /* idempotent */ }

static int compare_names(const void *a, const void *b)
{
	return strcasecmp(*(const char *const *)a, *(const char *const *)b);
}

bool pfm_names_collect(struct pfm_names *out, struct error *err)
{
	VEC(const char *) names = {0};
	*out = (struct pfm_names){0};
	for (int pmu = 0; start() && pmu < PFM_PMU_MAX; pmu++) {
		pfm_pmu_info_t info = {.size = sizeof info};
		if (pfm_get_pmu_info((pfm_pmu_t)pmu, &info) != PFM_SUCCESS)
			continue;
		/* tracepoints and raw codes are not names of this kind, and not libpfm4's own strings */
		if (strcmp(info.name, "perf") == 0 || strcmp(info.name, "perf_raw") == 0)
			continue;
		for (int event = info.first_event; event != -1; event = pfm_get_event_next(event)) {
			pfm_event_info_t row = {.size = sizeof row};
			if (pfm_get_event_info(event, PFM_OS_NONE, &row) == PFM_SUCCESS &&
			    !vec_push(&names, row.name)) {
				vec_free(&names);
				return error_no_memory(err);
			}
		}
	}
	if (names.count)
		qsort(names.items, names.count, sizeof *names.items, compare_names);
	size_t kept = 0;
	for (size_t i = 0; i < names.count; i++)
		if (kept == 0 || compare_names(&names.items[kept - 1], &names.items[i]) != 0)
			names.items[kept++] = names.items[i];
	*out = (struct pfm_names){names.items, kept};
	return true;
}

void pfm_names_free(struct pfm_names *names)
{
	free(names->names);
	*names = (struct pfm_names){0};
}

bool pfm_names_has(const struct pfm_names *names, const char *name)
{
	char head[128];
	const char *key = head;
	size_t length = strcspn(name, ":.");
	if (length == 0 || length >= sizeof head || names->count == 0 || !has_characters(name))
		return false;
	memcpy(head, name, length);
	head[length] = '\0';
	return bsearch(&key, names->names, names->count, sizeof *names->names, compare_names) != NULL;
}

/* Is the PMU in front of the event found (its full name, from libpfm4) one of this machine? */
bool pfm_has_pmu(const char *name, size_t length)
{
	for (int pmu = 0; start() && pmu < PFM_PMU_MAX; pmu++) {
		pfm_pmu_info_t info = {.size = sizeof info};
		if (pfm_get_pmu_info((pfm_pmu_t)pmu, &info) == PFM_SUCCESS && strlen(info.name) == length &&
		    strncasecmp(info.name, name, length) == 0)
			return true;
	}
	return false;
}

static bool pmu_is_here(const char *full_name)
{
	const char *colons = strstr(full_name, "::");
	for (int pmu = 0; colons && pmu < PFM_PMU_MAX; pmu++) {
		pfm_pmu_info_t info = {.size = sizeof info};
		if (pfm_get_pmu_info((pfm_pmu_t)pmu, &info) == PFM_SUCCESS && info.is_present &&
		    strlen(info.name) == (size_t)(colons - full_name) &&
		    strncmp(info.name, full_name, (size_t)(colons - full_name)) == 0)
			return true;
	}
	return false;
}

/* Why libpfm4 does not know it. */
static bool not_encoded(const char *name, bool absent_pmus, int code, struct error *err)
{
	const char *colons = strstr(name, "::");
	size_t length = colons ? (size_t)(colons - name) : 0;
	bool named = false, here = false;
	struct nearest found = {0};
	char pmu_name[64];
	str_escape_to(pmu_name, length < sizeof pmu_name ? length + 1 : sizeof pmu_name, name);
	for (int pmu = 0; colons && pmu < PFM_PMU_MAX; pmu++) {
		pfm_pmu_info_t info = {.size = sizeof info};
		if (pfm_get_pmu_info((pfm_pmu_t)pmu, &info) != PFM_SUCCESS)
			continue;
		nearest_consider(&found, pmu_name, info.name);
		if (strcasecmp(info.name, pmu_name) == 0) {
			named = true;
			here = info.is_present || absent_pmus;
		}
	}
	if (colons && !named) {
		error_set(err, ERROR_UNSUPPORTED, "libpfm4 knows no PMU '%s'", pmu_name);
		return found.names[2] ? error_hint(err, "the nearest names are '%s', '%s' and '%s'",
						   found.names[0], found.names[1], found.names[2])
				      : false;
	}
	if (colons && !here)
		return error_set(err, ERROR_UNSUPPORTED, "the PMU '%s' is not on this machine", pmu_name);
	return error_set(err, ERROR_UNSUPPORTED, "libpfm4 has no encoding of '%s' on this machine: %s", name,
			 pfm_strerror(code));
}

bool pfm_encode(const char *name, bool absent_pmus, struct event_encoding *out, struct error *err)
{
	struct perf_event_attr attr = {.size = sizeof attr};
	char *full_name = NULL;
	pfm_perf_encode_arg_t arg = {.attr = &attr, .fstr = &full_name, .size = sizeof arg};
	bool done = false;
	if (!start())
		return error_set(err, ERROR_UNSUPPORTED, "libpfm4 does not start on this machine");
	int code = pfm_get_os_event_encoding(name, PFM_PLM0 | PFM_PLM3, PFM_OS_PERF_EVENT, &arg);
	if (code != PFM_SUCCESS || !full_name) {
		not_encoded(name, absent_pmus, code, err);
		goto out;
	}
	/* with LIBPFM_ENCODE_INACTIVE in the environment it encodes for any CPU: here that is another event */
	if (!absent_pmus && !pmu_is_here(full_name)) {
		error_set(err, ERROR_UNSUPPORTED, "the PMU of '%s' is not on this machine", full_name);
		goto out;
	}
	/* the level has its own place; one inside the name would be lost, and all levels counted */
	if (attr.exclude_user || attr.exclude_kernel || attr.precise_ip || attr.freq || attr.sample_period) {
		error_set(err, ERROR_USAGE, "'%s' has a level inside", name);
		error_hint(err, "write the level last, as in 'skl::INST_RETIRED:ANY_P:u'");
		goto out;
	}
	out->type = attr.type;
	out->config = attr.config;
	out->config1 = attr.config1;
	out->config2 = attr.config2;
	done = true;
out:
	free(full_name);
	return done;
}
