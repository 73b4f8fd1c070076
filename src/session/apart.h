/*
 * A rank's tare out of its launcher's reach.
 *
 * mpirun ends a job by signals to the process group of each process that it started: Open MPI's SIGTERM, and
 * SIGKILL 60 ms later; MPICH's SIGKILL at once. A tare in that group dies before it has read its counters.
 *
 *     launcher ──► stand-in ──────────────► tare, in a session of its own ──► the program, in the stand-in's group
 *                  (waits; passes on        (counts; reports)
 *                   signals; ends as tare)
 *
 * 1. The launcher sees one process, which ends as tare does: by the same status or signal.
 * 2. The program is in the group that it would be in without tare, and gets all that the launcher sends.
 * 3. When the stand-in dies, tare gets SIGTERM: it ends as after an interrupt.
 * 4. A shell's job at its terminal has no stand-in: job control (Ctrl-Z, stty tostop) is for one group. Launchers
 *    start ranks with pipes, or with a terminal that controls no session.
 * 5. A parent in another group of the same session keeps its child's group from being orphaned. When the last such
 *    child ends, or its parent does, and a process of the group is stopped, the kernel sends SIGHUP to all of it
 *    (Linux's kill_orphaned_pgrp()): to the launcher, to a user's batch script. So tare, which is such a
 *    parent, has no session in common with its program (backend/launch.c). Until there is one, it is in a group of
 *    its own in the launcher's session.
 */
#ifndef TARE_SESSION_APART_H
#define TARE_SESSION_APART_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/error.h"

struct apart {
	pid_t stand_in; /* 0: none */
	pid_t group;    /* of the program (struct command); 0: tare's */
};

/* To be called before anything is opened: afterwards this may be a child of the process that called it, which goes
 * on as the stand-in and never returns. */
bool apart_begin(struct apart *out, struct error *err);

/* The stand-in was killed: nobody waits for this process. */
bool apart_is_alone(const struct apart *apart);

#endif
