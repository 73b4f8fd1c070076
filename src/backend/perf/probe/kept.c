#include "backend/perf/probe/kept.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static bool is_same_file(const struct stat *a, const struct stat *b)
{
	return a->st_dev == b->st_dev && a->st_ino == b->st_ino && a->st_size == b->st_size &&
	       a->st_mtim.tv_sec == b->st_mtim.tv_sec && a->st_mtim.tv_nsec == b->st_mtim.tv_nsec &&
	       a->st_ctim.tv_sec == b->st_ctim.tv_sec && a->st_ctim.tv_nsec == b->st_ctim.tv_nsec;
}

static bool is_at(const struct probe_place *a, const struct probe_place *b)
{
	return a->offset == b->offset && strcmp(a->module, b->module) == 0;
}

static void forget_primer(struct kept_probes *kept)
{
	free((char *)(uintptr_t)kept->primer.module);
	kept->primer = (struct probe_place){0};
}

static void let_go(struct kept_probes *kept)
{
	for (size_t i = 0; i < kept->n; i++) {
		if (kept->probes[i].holder >= 0)
			close(kept->probes[i].holder);
		free((char *)(uintptr_t)kept->probes[i].place.module);
	}
	if (kept->n)
		trace_probes_remove(&kept->trace);
	kept->n = 0;
}

void kept_probes_free(struct kept_probes *kept)
{
	let_go(kept);
	forget_primer(kept);
}

static bool is_stale(const struct kept_probes *kept)
{
	struct stat now;
	for (size_t i = 0; i < kept->n; i++)
		if (stat(kept->probes[i].place.module, &now) != 0 || !is_same_file(&kept->probes[i].file, &now))
			return true;
	return false;
}

static const struct kept_probe *find(const struct kept_probes *kept, const struct probe_place *place)
{
	for (size_t i = 0; i < kept->n; i++)
		if (is_at(&kept->probes[i].place, place))
			return &kept->probes[i];
	return NULL;
}

/* A process of which counters can be opened: it waits until its input ends. */
struct stand_in {
	pid_t process;
	int input;
};

/* No signal tells of its end (as start_asker() has it). False: there is none. */
static bool stand_in_begin(struct stand_in *s)
{
	int ends[2];
	char byte;
	*s = (struct stand_in){.process = -1, .input = -1};
	if (pipe2(ends, O_CLOEXEC) != 0)
		return false;
	s->process = (pid_t)syscall(SYS_clone, 0L, NULL, NULL, NULL, NULL);
	if (s->process == 0) {
		close(ends[1]);
		while (read(ends[0], &byte, 1) < 0 && errno == EINTR)
			;
		_exit(0);
	}
	close(ends[0]);
	s->input = ends[1];
	return s->process > 0;
}

static void stand_in_end(const struct stand_in *s)
{
	if (s->input >= 0)
		close(s->input);
	while (s->process > 0 && waitpid(s->process, NULL, __WALL) < 0 && errno == EINTR)
		;
}

static void keep(struct kept_probes *kept, const struct group_plan *plan, pid_t process,
		 const struct probe_place *place)
{
	struct kept_probe probe = {.place = {.offset = place->offset}, .holder = -1};
	if (find(kept, place) || stat(place->module, &probe.file) != 0 ||
	    !(probe.place.module = strdup(place->module)))
		return;
	if (!kept->n)
		trace_probes_open(&kept->trace);
	trace_probes_define(&kept->trace, &probe.place, 1);
	if (probe.place.trace_id)
		probe.holder = holder_open(plan, process, &probe.place);
	kept->probes[kept->n++] = probe;
}

static void look_up(const struct kept_probes *kept, struct probe_place *place)
{
	const struct kept_probe *found = find(kept, place);
	place->trace_id = found ? found->place.trace_id : 0;
	place->checked = found && found->place.checked;
}

void kept_probes_hold(struct kept_probes *kept, const struct group_plan *plan)
{
	struct stand_in stand_in;
	struct probe_place *primer = kept->primer.module ? &kept->primer : NULL;
	size_t more = primer && !find(kept, primer);
	for (size_t i = 0; i < plan->n_probes; i++)
		more += !find(kept, &plan->probes[i]);
	if (is_stale(kept) || kept->n + more > PROBES_KEPT) {
		let_go(kept);
		forget_primer(kept);
		primer = NULL;
		more = plan->n_probes;
	}
	if (more && more <= PROBES_KEPT && stand_in_begin(&stand_in)) {
		for (size_t i = 0; i < plan->n_probes; i++)
			keep(kept, plan, stand_in.process, &plan->probes[i]);
		if (primer)
			keep(kept, plan, stand_in.process, primer);
		stand_in_end(&stand_in);
	}
	for (size_t i = 0; i < plan->n_probes; i++)
		look_up(kept, &plan->probes[i]);
	if (primer)
		look_up(kept, primer);
}

void kept_probes_checked(struct kept_probes *kept, const struct group_plan *plan)
{
	for (size_t i = 0; i < kept->n; i++)
		for (size_t p = 0; p < plan->n_probes; p++)
			kept->probes[i].place.checked |= is_at(&kept->probes[i].place, &plan->probes[p]);
}

void kept_probes_set_primer(struct kept_probes *kept, const char *module, uint64_t offset)
{
	forget_primer(kept);
	kept->primer = (struct probe_place){.module = strdup(module), .offset = offset};
}
