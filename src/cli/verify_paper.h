/* The part of tare verify that runs a paper's experiments again. */
#ifndef TARE_CLI_VERIFY_PAPER_H
#define TARE_CLI_VERIFY_PAPER_H

#include <stdbool.h>

struct verify_paper_request {
	const char *paper;  /* NULL: none */
	const char *page;   /* --html's file; NULL */
	const char *output; /* NULL: standard output */
	bool quick, json;
};

/* tare's exit code. */
int verify_paper_run(const struct verify_paper_request *request);

#endif
