/* The predicted counts of every kernel (kernels/NAME.truth) against what it executes by single steps: equality.
 *
 *     kernels_test FOLDER-OF-TRUTHS FOLDER-OF-PROGRAMS NAME... */
#include <stdlib.h>
#include <sys/personality.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kernels/truth.h"
#include "kernels/witness.h"
#include "tap.h"

/* Of one digit, of two, odd and even, and where a digit is added. */
static const uint64_t arguments[] = { 1, 2, 9, 10, 37, 100, 999, 1000 };
enum { N_ARGUMENTS = sizeof arguments / sizeof *arguments };

/* A step takes some 30 µs, in the test guest ten times as much. */
static uint64_t instructions_most(void)
{
	return getenv("TARE_IN_GUEST") ? 600 : 41000;
}

static const uint64_t *counted(const char *event, const struct executed *all, const struct executed *self)
{
	const struct {
		const char *name;
		const uint64_t *count;
	} known[] = {
		{ "instructions", &all->instructions },
		{ "instructions-self", &self->instructions },
		{ "loads", &all->loads },
		{ "stores", &all->stores },
		{ "branches", &all->branches },
		{ "conditional-branches", &all->conditional_branches },
		{ "conditional-not-taken", &all->conditional_not_taken },
		{ "taken-branches", &all->taken_branches },
		{ "conditional-taken", &all->conditional_taken },
		{ "calls", &all->calls },
		{ "returns", &all->returns },
		{ "system-calls", &all->system_calls },
		{ "system-calls-self", &self->system_calls },
		{ "fp-scalar-single", &all->fp_scalar_single },
		{ "fp-scalar-double", &all->fp_scalar_double },
		{ "fma-scalar-double", &all->fma_scalar_double },
		{ "fp-operations", &all->fp_operations },
		{ "misaligned-accesses", &all->misaligned },
		{ "line-crossing-accesses", &all->line_crossing },
	};
	for (size_t i = 0; i < sizeof known / sizeof *known; i++)
		if (strcmp(known[i].name, event) == 0)
			return known[i].count;
	return NULL;
}

/* Minor page faults of the program, from its first instruction to its end; -1 when it fails. */
static long page_faults(char *const *argv)
{
	struct rusage usage;
	char path[64];
	unsigned long before = 0;
	int status;
	pid_t child = fork();
	if (child == 0) {
		personality(ADDR_NO_RANDOMIZE); /* a stack elsewhere may lie on more pages */
		ptrace(PTRACE_TRACEME, 0, NULL, NULL);
		execv(argv[0], argv);
		_exit(127);
	}
	/* It stops behind exec. The faults before that are those of this process's copy. */
	if (waitpid(child, &status, 0) != child || !WIFSTOPPED(status))
		return -1;
	snprintf(path, sizeof path, "/proc/%d/stat", (int)child);
	FILE *stat = fopen(path, "re");
	bool known = stat && fscanf(stat, "%*d %*s %*c %*d %*d %*d %*d %*d %*u %lu", &before) == 1;
	if (stat)
		fclose(stat);
	ptrace(PTRACE_CONT, child, NULL, NULL);
	if (wait4(child, &status, 0, &usage) != child || status || !known)
		return -1;
	return usage.ru_minflt - (long)before;
}

static void check(const char *name, const struct truth *rows, size_t n_rows, char *program)
{
	for (size_t a = 0; a < N_ARGUMENTS; a++) {
		struct executed all, self;
		char number[24], why[256], fact[200];
		char *argv[] = { program, number, NULL }, *least[] = { program, "1", NULL };
		uint64_t n = arguments[a];
		uint64_t instructions;
		if (truth_value(&rows[0], n, &instructions, NULL) && instructions > instructions_most())
			continue;
		snprintf(number, sizeof number, "%" PRIu64, n);
		if (!witness_run(argv, &all, &self, why)) {
			ok(false, "%s %s can be stepped (%s)", name, number, why);
			continue;
		}
		for (size_t i = 0; i < n_rows; i++) {
			struct error err;
			uint64_t predicted;
			const uint64_t *is = counted(rows[i].event, &all, &self);
			if (!truth_value(&rows[i], n, &predicted, &err)) {
				ok(false, "%s: %s", name, err.text);
				continue;
			}
			snprintf(fact, sizeof fact, "%s %s executes the predicted %s, %" PRIu64, name, number,
				 rows[i].event, predicted);
			if (is)
				equal_u64(*is, predicted, fact);
			else if (strstr(rows[i].event, "-faults-more")) /* none of a kernel is major */
				equal_u64((uint64_t)(page_faults(argv) - page_faults(least)), predicted - 1, fact);
			else if (strncmp(rows[i].event, "code-", 5) != 0) /* where code lies: the engine's, in counts_test */
				ok(false, "%s: '%s' can be checked", name, rows[i].event);
		}
		if (strcmp(name, "empty") == 0)
			break;
	}
}

int main(int argc, char **argv)
{
	if (argc < 4) {
		fprintf(stderr, "usage: kernels_test FOLDER-OF-TRUTHS FOLDER-OF-PROGRAMS NAME...\n");
		return 2;
	}
	for (int i = 3; i < argc; i++) {
		struct arena arena = { 0 };
		struct error err;
		const struct truth *rows;
		size_t n_rows;
		char path[4096], program[4096];
		snprintf(path, sizeof path, "%s/%s.truth", argv[1], argv[i]);
		snprintf(program, sizeof program, "%s/%s", argv[2], argv[i]);
		if (truth_missing(path, &arena))
			skip("this CPU cannot run it", argv[i]);
		else if (truth_read(path, &arena, &rows, &n_rows, &err))
			check(argv[i], rows, n_rows, program);
		else
			ok(false, "%s: its truth can be read (%s)", argv[i], err.text);
		arena_free(&arena);
	}
	return done();
}
