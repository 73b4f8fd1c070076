/* The process that takes over the programs which a measured program execs. For injection.c only. */
#ifndef TARE_ENGINE_INJECT_ATTENDANT_H
#define TARE_ENGINE_INJECT_ATTENDANT_H

#include "engine/inject/share.h"
#include "engine/inject/takeover.h"

/* Folds what is due of finished parts, in a worker. */
typedef void attendant_fold(void *arg);

/* Finds the functions that process `index` asks for, and puts them into the record. */
typedef void attendant_functions(void *arg, uint32_t index);

/* Puts the rule of the place that process `index` asks for into the record. */
typedef void attendant_caller(void *arg, uint32_t index);

/* Answers the question of process `index`, in a worker. */
typedef void attendant_answer(void *arg, uint32_t index);

/* What it does for the record's programs; NULL: nobody does. */
struct attendant_duties {
	attendant_fold *fold; /* NULL when nothing is ever folded */
	attendant_functions *functions;
	attendant_caller *caller;
	attendant_answer *answer;
	share_make *share; /* NULL when processes of the run share no translations */
	void *arg;
};

/* Starts it; it ends with its parent. Its pid, or -1 with errno. */
pid_t attendant_start(const struct takeover *how, const struct attendant_duties *duties);

#endif
