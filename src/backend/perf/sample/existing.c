#include "backend/perf/sample/existing.h"

#include <dirent.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void free_item(struct existing_item *item)
{
	free((char *)(uintptr_t)item->mapping.path);
	free((char *)(uintptr_t)item->task.name);
}

static bool add(struct existing *e, struct existing_item item)
{
	if ((item.is_mapping ? item.mapping.path : item.task.name) && vec_push(&e->items, item))
		return true;
	free_item(&item);
	return false;
}

/* A line of /proc/PID/maps: `from-to rwxp offset device inode   path`. */
static bool add_mapping(struct existing *e, pid_t pid, char *line, bool data)
{
	uint64_t from, to, offset;
	char rights[5];
	int path = 0;
	line[strcspn(line, "\n")] = '\0';
	if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %4s %" SCNx64 " %*s %*s %n", &from, &to, rights, &offset,
		   &path) < 4 ||
	    path == 0)
		return true;
	if (!data && rights[2] != 'x')
		return true;
	/* the kernel's word for it in records */
	const char *name = line[path] ? line + path : "//anon";
	struct existing_item item = {.is_mapping = true,
				     .mapping = {.time_ns = e->time_ns,
						 .pid = (uint32_t)pid,
						 .address = from,
						 .bytes = to - from,
						 .offset = offset,
						 .path = strdup(name),
						 .executable = rights[2] == 'x'}};
	return add(e, item);
}

static bool add_mappings(struct existing *e, pid_t pid, bool data)
{
	char path[64], line[PATH_MAX + 256];
	bool done = true;
	snprintf(path, sizeof path, "/proc/%d/maps", (int)pid);
	FILE *maps = fopen(path, "re");
	while (maps && done && fgets(line, sizeof line, maps))
		done = add_mapping(e, pid, line, data);
	if (maps)
		fclose(maps);
	return done;
}

static bool add_name(struct existing *e, pid_t pid, pid_t tid)
{
	char path[64], name[64];
	snprintf(path, sizeof path, "/proc/%d/task/%d/comm", (int)pid, (int)tid);
	FILE *comm = fopen(path, "re");
	bool got = comm && fgets(name, sizeof name, comm);
	if (comm)
		fclose(comm);
	if (!got)
		return true;
	name[strcspn(name, "\n")] = '\0';
	struct existing_item item = {
		.task = {.time_ns = e->time_ns, .pid = (uint32_t)pid, .tid = (uint32_t)tid, .name = strdup(name)}};
	return add(e, item);
}

/* Calls each(…) for the numbers that a folder holds. */
static bool each_number(const char *path, struct existing *e, pid_t pid, bool data,
			bool (*each)(struct existing *e, pid_t pid, pid_t number, bool data))
{
	DIR *folder = opendir(path);
	bool done = true;
	if (!folder)
		return true;
	for (struct dirent *entry; done && (entry = readdir(folder));)
		if (entry->d_name[0] >= '1' && entry->d_name[0] <= '9')
			done = each(e, pid, (pid_t)atoi(entry->d_name), data);
	closedir(folder);
	return done;
}

static bool thread(struct existing *e, pid_t pid, pid_t tid, bool data)
{
	(void)data;
	return add_name(e, pid, tid);
}

static bool process(struct existing *e, pid_t unused, pid_t pid, bool data)
{
	(void)unused;
	return existing_add(e, pid, data);
}

bool existing_add(struct existing *e, pid_t pid, bool data)
{
	char path[64];
	snprintf(path, sizeof path, "/proc/%d/task", (int)pid);
	return each_number(path, e, pid, data, thread) && add_mappings(e, pid, data);
}

bool existing_add_all(struct existing *e, bool data) { return each_number("/proc", e, 0, data, process); }

bool existing_tell(const struct existing *e, const struct sampling_sink *sink, struct error *err)
{
	for (size_t i = 0; i < e->items.count; i++) {
		const struct existing_item *item = &e->items.items[i];
		bool done = item->is_mapping ? sink->mapping(sink->context, &item->mapping, err)
					     : sink->named(sink->context, &item->task, false, err);
		if (!done)
			return false;
	}
	return true;
}

void existing_free(struct existing *e)
{
	for (size_t i = 0; i < e->items.count; i++)
		free_item(&e->items.items[i]);
	vec_free(&e->items);
}
