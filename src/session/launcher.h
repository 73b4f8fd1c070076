/* Which rank of which job this process is, as what started it says in the environment: mpirun, srun and the like.
 *
 * What names a job differs: it has to be the same in all of its ranks, on all hosts, and another one for each job.
 * Where the environment has none (MPICH's Hydra), the process that started the ranks on this host names it:
 * by the address that its command line has for all hosts, else by its id and when it started. */
#ifndef TARE_SESSION_LAUNCHER_H
#define TARE_SESSION_LAUNCHER_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/error.h"
#include "result/job.h"

/* What of the world this depends on; tests have their own. */
struct launcher_world {
	void *context;
	const char *(*variable)(void *context, const char *name); /* NULL: not set; "" is as not set */
	/* names the process that started the ranks here; in the arena, NULL: not known. rank_variable: what tells
	 * its children apart */
	const char *(*starter)(void *context, const char *rank_variable, struct arena *arena);
};
extern const struct launcher_world launcher_world_here;

struct launched {
	struct rank_place place; /* launcher NULL: there are no ranks, or there is one */
	bool many_hosts;         /* not all ranks are on this host, as far as is known */
};

/* TARE_JOB, TARE_RANK and TARE_RANKS come first: they are for launchers that tare does not know. Texts are the
 * arena's. ERROR_USAGE: a rank, but not of how many, or not of which job; what is said does not fit together. */
bool launcher_find(const struct launcher_world *world, struct arena *arena, struct launched *out,
		   struct error *err);

/* The folder that results of ranks are left in: `given`; else a private folder of this host, or, of a job on
 * several hosts, the user's cache, which they are likely to share. To be freed; NULL: out of memory. */
char *launcher_folder(const struct launcher_world *world, const char *given, bool many_hosts, struct error *err);

#endif
