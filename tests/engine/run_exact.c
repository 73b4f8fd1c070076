/* run_exact [--fixed] [--blocks FILE] PROGRAM ARGS: runs a program under the exact engine; counts go to stderr. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

#include "engine/inject/inject.h"

int main(int argc, char **argv)
{
	struct engine_options options = {.size = sizeof options, .stdio = {-1, -1, -1}};
	struct engine_run *run;
	struct engine_totals t;
	char error[300];
	const char *blocks = NULL;
	int i = 1;
	for (; i < argc && argv[i][0] == '-'; i++)
		if (!strcmp(argv[i], "--fixed"))
			options.fixed_addresses = true;
		else if (!strcmp(argv[i], "--blocks") && i + 1 < argc)
			blocks = argv[++i];
	if (i >= argc)
		return 2;
	options.argv = argv + i;
	if (engine_start(&options, &run, error, sizeof error)) {
		fprintf(stderr, "run_exact: %s\n", error);
		return 3;
	}
	int status = engine_wait(run);
	engine_get_totals(run, &t);
	fprintf(stderr, "instructions %" PRIu64 " blocks %" PRIu64 " loads %" PRIu64 " stores %" PRIu64 " branches %" PRIu64
		" conditional %" PRIu64 " taken %" PRIu64 " calls %" PRIu64 " returns %" PRIu64 " syscalls %" PRIu64 "\n",
		t.instructions, t.blocks, t.loads, t.stores, t.branches, t.conditional, t.taken, t.calls, t.returns, t.syscalls);
	fprintf(stderr, engine_inexact(run) ? "NOT EXACT: %s\n" : "exact\n", engine_inexact(run));
	FILE *file = blocks ? fopen(blocks, "w") : NULL;
	for (size_t b = 0; file && b < engine_block_count(run); b++) {
		struct engine_block block = engine_get_block(run, b);
		fprintf(file, "0x%" PRIx64 "\t%u\t%u\t%" PRIu64 "\n", block.address, block.length_bytes, block.insns, block.count);
	}
	if (file)
		fclose(file);
	engine_free(run);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
