#include "backend/perf/counter/targets.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/file.h"

enum { CPUS_MOST = 65536, LIST_BYTES_MOST = 1 << 16 };

bool cpu_list_each(const char *text, bool (*each)(void *context, int cpu), void *context)
{
	while (*text >= '0' && *text <= '9') {
		char *end;
		long first = strtol(text, &end, 10), last = first;
		if (*end == '-')
			last = strtol(end + 1, &end, 10);
		if (last < first || last >= CPUS_MOST)
			return false;
		for (long cpu = first; cpu <= last; cpu++)
			if (!each(context, (int)cpu))
				return false;
		text = *end == ',' ? end + 1 : end;
	}
	return *text == '\0' || *text == '\n';
}

static bool add(struct counter_targets *targets, pid_t task, int cpu)
{
	for (size_t i = 0; i < targets->list.count; i++)
		if (targets->list.items[i].task == task && targets->list.items[i].cpu == cpu)
			return true;
	return vec_push(&targets->list, ((struct counter_target){task, cpu}));
}

/* All threads of a process. */
static bool add_threads(struct counter_targets *targets, pid_t pid, struct error *err)
{
	char path[64];
	snprintf(path, sizeof path, "/proc/%d/task", (int)pid);
	DIR *directory = opendir(path);
	if (!directory) {
		if (errno == ENOENT || errno == ESRCH)
			return error_set(err, ERROR_NOT_FOUND, "there is no process %d", (int)pid);
		return error_set_errno(err, ERROR_SYSTEM, errno, "cannot list the threads of process %d",
				       (int)pid);
	}
	bool done = true;
	for (struct dirent *entry; done && (entry = readdir(directory));)
		if (entry->d_name[0] != '.' && !add(targets, (pid_t)atoi(entry->d_name), -1))
			done = error_no_memory(err);
	closedir(directory);
	return done;
}

static bool add_cpu(void *context, int cpu) { return add(context, -1, cpu); }

static bool same_cpu(void *context, int cpu)
{
	int *wanted = context;
	if (cpu != *wanted)
		return true;
	*wanted = -1;
	return false;
}

static bool add_cpus(struct counter_targets *targets, const struct target *target, struct error *err)
{
	char *online = file_read("/sys/devices/system/cpu/online", LIST_BYTES_MOST, NULL, err);
	bool done = online != NULL;
	if (done && target->n_cpus == 0)
		done = cpu_list_each(online, add_cpu, targets) || error_no_memory(err);
	for (size_t i = 0; done && i < target->n_cpus; i++) {
		int wanted = target->cpus[i];
		cpu_list_each(online, same_cpu, &wanted);
		if (wanted != -1) {
			done = error_set(err, ERROR_NOT_FOUND, "CPU %d is not online", target->cpus[i]);
			error_hint(err, "online are: %.200s", strtok(online, "\n"));
		} else if (!add_cpu(targets, target->cpus[i])) {
			done = error_no_memory(err);
		}
	}
	free(online);
	return done;
}

bool counter_targets_find(struct counter_targets *targets, const struct target *target, struct error *err)
{
	bool done = true;
	*targets = (struct counter_targets){0};
	if (target->kind == TARGET_CPUS)
		done = add_cpus(targets, target, err);
	for (size_t i = 0; done && target->kind == TARGET_PROCESSES && i < target->n_pids; i++)
		done = add_threads(targets, target->pids[i], err);
	for (size_t i = 0; done && target->kind == TARGET_THREADS && i < target->n_pids; i++)
		done = add(targets, target->pids[i], -1) || error_no_memory(err);
	if (!done)
		counter_targets_free(targets);
	return done;
}

void counter_targets_free(struct counter_targets *targets) { vec_free(&targets->list); }

bool counter_targets_same(const struct counter_targets *a, const struct counter_targets *b)
{
	/* equal sizes and a ⊆ b: none is listed twice */
	if (a->list.count != b->list.count)
		return false;
	for (size_t i = 0; i < a->list.count; i++) {
		const struct counter_target *one = &a->list.items[i];
		size_t j = 0;
		while (j < b->list.count &&
		       (b->list.items[j].task != one->task || b->list.items[j].cpu != one->cpu))
			j++;
		if (j == b->list.count)
			return false;
	}
	return true;
}

enum counter_heirs heirs_of(const struct target *target)
{
	if (target->kind == TARGET_CPUS)
		return HEIRS_NONE;
	if (target->follow_children)
		return HEIRS_ALL;
	/* a process is all of its threads; a thread is one */
	return target->kind == TARGET_THREADS ? HEIRS_NONE : HEIRS_THREADS;
}
