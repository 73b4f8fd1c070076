#include "session/launcher.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/str.h"

enum { VARIABLES = 4 };

/* The first that has a rank is the launcher: MPI's own come before the batch system that started it. */
static const struct launcher {
	const char *name;
	const char *rank;
	const char *size[2];
	const char *on_this_host, *hosts; /* ranks here; hosts of the job */
	const char *job[VARIABLES];       /* all of them together name it */
	bool by_starter;                  /* where none of those is set, the starter does */
} launchers[] = {
	{"tare", "TARE_RANK", {"TARE_RANKS"}, NULL, NULL, {"TARE_JOB"}, false},
	/* the transports' key is random for each mpirun; the job's number alone comes again */
	{"Open MPI",
	 "OMPI_COMM_WORLD_RANK",
	 {"OMPI_COMM_WORLD_SIZE"},
	 "OMPI_COMM_WORLD_LOCAL_SIZE",
	 NULL,
	 {"PMIX_NAMESPACE", "OMPI_MCA_ess_base_jobid", "OMPI_MCA_orte_precondition_transports",
	  "OMPI_MCA_orte_hnp_uri"},
	 false},
	{"MVAPICH", "MV2_COMM_WORLD_RANK", {"MV2_COMM_WORLD_SIZE"}, "MV2_COMM_WORLD_LOCAL_SIZE", NULL, {0}, true},
	{"Flux", "FLUX_TASK_RANK", {"FLUX_JOB_SIZE"}, NULL, "FLUX_JOB_NNODES", {"FLUX_JOB_ID"}, false},
	{"jsrun",
	 "JSM_NAMESPACE_RANK",
	 {"JSM_NAMESPACE_SIZE"},
	 "JSM_NAMESPACE_LOCAL_SIZE",
	 NULL,
	 {"LSB_JOBID", "JSM_NAMESPACE"},
	 false},
	/* srun --mpi=pmi2 and pmix set both; a job's step is the better name. SLURM_STEP_ID: only under srun */
	{"Slurm",
	 "SLURM_PROCID",
	 {"SLURM_STEP_NUM_TASKS", "SLURM_NTASKS"},
	 NULL,
	 "SLURM_STEP_NUM_NODES",
	 {"SLURM_JOB_ID", "SLURM_STEP_ID", "SLURM_RESTART_COUNT", "SLURM_CLUSTER_NAME"},
	 false},
	{"MPICH", "PMI_RANK", {"PMI_SIZE"}, "MPI_LOCALNRANKS", NULL, {"PMI_JOBID"}, true},
	{"PMIx", "PMIX_RANK", {NULL}, NULL, NULL, {"PMIX_NAMESPACE"}, false},
};

static const char *variable(const struct launcher_world *world, const char *name)
{
	const char *value = name ? world->variable(world->context, name) : NULL;
	return value && *value ? value : NULL;
}

static bool number(const char *text, unsigned long long most, size_t *out)
{
	unsigned long long value;
	if (!text || !isdigit((unsigned char)*text) || !str_to_u64(text, &value) || value > most)
		return false;
	*out = (size_t)value;
	return true;
}

/* Within a batch script or an allocation, but not under srun: SLURM_PROCID is the script's, and SLURM_NTASKS what
 * was asked for. Steps from 0xfffffff0 on are the script's own. */
static bool is_step(const struct launcher_world *world)
{
	enum { STEPS_MOST = 0x7fffffff };
	size_t step;
	return variable(world, "SLURM_JOB_ID") && number(variable(world, "SLURM_STEP_ID"), STEPS_MOST, &step);
}

/* MPI's Hydra may be started by srun, once on each host: then the ranks are Hydra's. */
static bool is_under_hydra(const struct launcher_world *world)
{
	return variable(world, "PMI_RANK") && variable(world, "MPI_LOCALNRANKS");
}

static bool is_of(const struct launcher_world *world, const struct launcher *l)
{
	if (!variable(world, l->rank))
		return false;
	return strcmp(l->name, "Slurm") != 0 || (is_step(world) && !is_under_hydra(world));
}

static bool say_unknown(const struct launcher *l, const char *what, struct error *err)
{
	error_set(err, ERROR_USAGE, "started by %s (%s is set), but %s is not known", l->name, l->rank, what);
	return error_hint(err, "set TARE_RANK, TARE_RANKS and TARE_JOB for each rank; --ranks off gives each a "
			       "report of its own");
}

/* Slurm gives each component of a heterogeneous job an id of its own, and tells a task of its component alone:
 * ranks of several components cannot be brought together, and those of one may not be all. */
static bool is_heterogeneous(const struct launcher_world *world, const struct launcher *l)
{
	size_t components;
	return strcmp(l->name, "Slurm") == 0 &&
	       (number(variable(world, "SLURM_HET_SIZE"), JOB_RANKS_MOST, &components) ||
		number(variable(world, "SLURM_PACK_SIZE"), JOB_RANKS_MOST, &components)) &&
	       components > 1;
}

static bool find_size(const struct launcher_world *world, const struct launcher *l, size_t *size)
{
	for (int i = 0; i < 2; i++)
		if (variable(world, l->size[i])) /* the next one may be another number: of the whole job */
			return number(variable(world, l->size[i]), JOB_RANKS_MOST, size);
	/* PMIx's server would tell it; under srun Slurm says it */
	return !l->size[0] && is_step(world) &&
	       number(variable(world, "SLURM_STEP_NUM_TASKS"), JOB_RANKS_MOST, size);
}

static const char *find_job(const struct launcher_world *world, const struct launcher *l, struct arena *arena)
{
	struct str text = {0};
	for (int i = 0; i < VARIABLES; i++) {
		const char *value = variable(world, l->job[i]);
		if (value)
			str_appendf(&text, "%s%s", text.length ? " " : "", value);
	}
	const char *job = text.length && !text.failed ? arena_strdup(arena, text.text) : NULL;
	str_free(&text);
	if (!job && l->by_starter)
		job = world->starter(world->context, l->rank, arena);
	return job;
}

bool launcher_find(const struct launcher_world *world, struct arena *arena, struct launched *out,
		   struct error *err)
{
	*out = (struct launched){0};
	for (size_t i = 0; i < sizeof launchers / sizeof *launchers; i++) {
		const struct launcher *l = &launchers[i];
		size_t rank, size, here, hosts;
		if (!is_of(world, l))
			continue;
		if (!number(variable(world, l->rank), JOB_RANKS_MOST - 1, &rank))
			return error_set(err, ERROR_USAGE, "%s is not the number of a rank: '%.100s'", l->rank,
					 variable(world, l->rank));
		if (is_heterogeneous(world, l))
			return say_unknown(l, "which ranks the other components of its heterogeneous job have",
					   err);
		if (!find_size(world, l, &size))
			return say_unknown(l, "the number of its ranks", err);
		if (size <= 1)
			return true;
		if (rank >= size)
			return error_set(err, ERROR_USAGE, "%s says rank %zu of %zu, numbered from 0", l->rank,
					 rank, size);
		const char *job = find_job(world, l, arena);
		if (!job)
			return say_unknown(l, "which job it is", err);
		out->place = (struct rank_place){
			.launcher = l->name, .job = job, .rank = rank, .size = size, .pid = getpid()};
		out->many_hosts = (number(variable(world, l->on_this_host), JOB_RANKS_MOST, &here) &&
				   here < size) ||
				  (number(variable(world, l->hosts), JOB_RANKS_MOST, &hosts) && hosts > 1);
		return true;
	}
	return true;
}

/* ---- this machine ---- */

static const char *own_variable(void *context, const char *name)
{
	(void)context;
	return getenv(name);
}

/* Does the process' environment have a variable? Not readable: no. */
static bool has_variable(long pid, const char *name)
{
	enum { ENVIRONMENT_MOST = 8 << 20 };
	char path[64];
	size_t length, n = strlen(name);
	snprintf(path, sizeof path, "/proc/%ld/environ", pid);
	char *text = file_read(path, ENVIRONMENT_MOST, &length, NULL);
	bool found = false;
	for (size_t at = 0; text && at < length && !found; at += strlen(text + at) + 1)
		found = strncmp(text + at, name, n) == 0 && text[at + n] == '=';
	free(text);
	return found;
}

/* Fields 4 and 22 of /proc/PID/stat (proc(5)): the parent, and when it started. */
static bool read_stat(long pid, long *parent, unsigned long long *started)
{
	char path[64];
	snprintf(path, sizeof path, "/proc/%ld/stat", pid);
	char *text = file_read(path, 65536, NULL, NULL), *after = text ? strrchr(text, ')') : NULL;
	bool done = after &&
		    sscanf(after,
			   ") %*c %ld %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %*d %*d %llu",
			   parent, started) == 2;
	free(text);
	return done;
}

/* What follows --control-port: where Hydra's mpiexec listens, in the proxies' command lines on all hosts. */
static const char *control_port(long pid, struct arena *arena)
{
	enum { ARGUMENTS_MOST = 1 << 20 };
	static const char option[] = "--control-port";
	char path[64];
	const char *found = NULL;
	size_t length;
	snprintf(path, sizeof path, "/proc/%ld/cmdline", pid);
	char *text = file_read(path, ARGUMENTS_MOST, &length, NULL);
	for (size_t at = 0; text && at < length && !found; at += strlen(text + at) + 1) {
		size_t next = at + sizeof option;
		if (strcmp(text + at, option) == 0 && next < length)
			found = arena_strdup(arena, text + next);
	}
	free(text);
	return found;
}

/* The nearest process above this one that is not itself a rank. */
static const char *own_starter(void *context, const char *rank_variable, struct arena *arena)
{
	enum { DEPTH_MOST = 1000 };
	long pid = getpid(), parent = 0;
	unsigned long long started = 0;
	char boot[40] = "";
	(void)context;
	for (int i = 0; i < DEPTH_MOST && read_stat(pid, &parent, &started) && parent > 0; i++) {
		pid = parent;
		if (has_variable(pid, rank_variable))
			continue;
		if (!read_stat(pid, &parent, &started))
			return NULL;
		char *text = file_read("/proc/sys/kernel/random/boot_id", 4096, NULL, NULL);
		if (text)
			snprintf(boot, sizeof boot, "%.36s", text);
		free(text);
		/* on another host the same port is another listener's: its name is in the address */
		const char *port = control_port(pid, arena);
		return port ? port : arena_printf(arena, "process %ld started at %llu of %s", pid, started, boot);
	}
	return NULL;
}

const struct launcher_world launcher_world_here = {.variable = own_variable, .starter = own_starter};

/* ---- where results are left ---- */

static bool is_folder(const char *path)
{
	struct stat status;
	return path && path[0] == '/' && stat(path, &status) == 0 && S_ISDIR(status.st_mode) &&
	       access(path, W_OK | X_OK) == 0;
}

char *launcher_folder(const struct launcher_world *world, const char *given, bool many_hosts, struct error *err)
{
	struct str path = {0};
	const char *named = given ? given : variable(world, "TARE_RANKS_DIR"), *home = variable(world, "HOME"),
		   *cache = variable(world, "XDG_CACHE_HOME"), *run = variable(world, "XDG_RUNTIME_DIR"),
		   *temporary = variable(world, "TMPDIR");
	if (named) {
		str_append(&path, named);
	} else if (many_hosts && (cache || home)) {
		str_appendf(&path, cache ? "%s" : "%s/.cache", cache ? cache : home);
		mkdir(path.text ? path.text : "", 0700);
	} else {
		str_append(&path, is_folder(run) ? run : is_folder(temporary) ? temporary : "/tmp");
	}
	char *text = str_take(&path);
	if (!text)
		error_no_memory(err);
	return text;
}
