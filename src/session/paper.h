/*
 * The papers' experiments, run again here and on the machine that the paper had, as tare models it: `tare
 * verify --paper`. Without a terminal.
 *
 * What always holds:
 *  1. A number in a study is the paper's own (data/papers), was counted in this run, or was computed from
 *     such; each column or series says which, and what counted it.
 *  2. What cannot be run here is a block that says so, and why (PAPER_MISSING): there is no number in its place.
 *  3. Each execution is a process of its own. */
#ifndef TARE_SESSION_PAPER_H
#define TARE_SESSION_PAPER_H

#include <signal.h>

#include "base/error.h"
#include "result/paper_study.h"

struct paper_asked {
	const char *paper; /* "korn" … */
	bool quick;        /* fewer sizes, fewer repetitions */
	const volatile sig_atomic_t *interrupt;
	/* what is told on the way: the experiment's name, how many of all are done */
	void (*progress)(void *context, const char *name, size_t done, size_t all);
	void *progress_context;
};

/* On success freed by session_paper_free(); on failure there is nothing to free. ERROR_USAGE: no such paper;
 * ERROR_NOT_FOUND: tare's kernels are not installed; ERROR_SYSTEM "interrupted". */
bool session_paper(const struct paper_asked *asked, struct paper_study *out, struct error *err);
void session_paper_free(struct paper_study *study);

#endif
