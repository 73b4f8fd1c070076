#include "backend/perf/counter/pmu.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/str.h"

/* The first line of a file of a PMU's folder; "" when there is none. */
static void read_line(const char *root, const char *pmu, const char *file, char *line, size_t size)
{
	char path[512];
	line[0] = '\0';
	snprintf(path, sizeof path, "%s/%s/%s", root, pmu, file);
	FILE *stream = fopen(path, "re");
	if (!stream)
		return;
	if (fgets(line, (int)size, stream))
		line[strcspn(line, "\n")] = '\0';
	fclose(stream);
}

bool pmu_find(const char *sysfs_root, uint32_t type, struct pmu *out)
{
	bool found = false;
	*out = (struct pmu){0};
	DIR *directory = opendir(sysfs_root);
	for (struct dirent *entry; directory && !found && (entry = readdir(directory));) {
		char line[32];
		unsigned long long number;
		if (entry->d_name[0] == '.' || strlen(entry->d_name) >= sizeof out->name)
			continue;
		read_line(sysfs_root, entry->d_name, "type", line, sizeof line);
		if (!str_to_u64(line, &number) || number != type)
			continue;
		strcpy(out->name, entry->d_name);
		out->type = type;
		read_line(sysfs_root, out->name, "cpumask", out->cpumask, sizeof out->cpumask);
		read_line(sysfs_root, out->name, "cpus", out->cpus, sizeof out->cpus);
		found = true;
	}
	if (directory)
		closedir(directory);
	return found;
}

static int compare_types(const void *a, const void *b)
{
	const struct pmu *left = a, *right = b;
	return left->type < right->type ? -1 : left->type > right->type;
}

size_t pmu_cores(const char *sysfs_root, struct pmu *out, size_t most)
{
	size_t n = 0;
	DIR *directory = opendir(sysfs_root);
	for (struct dirent *entry; directory && n < most && (entry = readdir(directory));) {
		struct pmu *pmu = &out[n];
		if (entry->d_name[0] == '.' || strlen(entry->d_name) >= sizeof pmu->name)
			continue;
		*pmu = (struct pmu){0};
		read_line(sysfs_root, entry->d_name, "cpus", pmu->cpus, sizeof pmu->cpus);
		if (strcmp(entry->d_name, "cpu") != 0 && !pmu->cpus[0])
			continue;
		char line[32];
		unsigned long long number = 0;
		read_line(sysfs_root, entry->d_name, "type", line, sizeof line);
		str_to_u64(line, &number);
		strcpy(pmu->name, entry->d_name);
		pmu->type = (uint32_t)number;
		n++;
	}
	if (directory)
		closedir(directory);
	qsort(out, n, sizeof *out, compare_types);
	return n;
}

bool pmu_list_has(const char *list, int cpu)
{
	while (*list >= '0' && *list <= '9') {
		char *end;
		long first = strtol(list, &end, 10), last = first;
		if (*end == '-')
			last = strtol(end + 1, &end, 10);
		if (cpu >= first && cpu <= last)
			return true;
		list = *end == ',' ? end + 1 : end;
	}
	return false;
}

int pmu_list_first(const char *list) { return (int)strtol(list, NULL, 10); }
