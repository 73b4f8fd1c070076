#include "backend/engine/trial.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/statvfs.h>
#include <sys/wait.h>
#include <unistd.h>

#include "backend/engine/tally.h"
#include "backend/launch.h"
#include "engine/inject/injection.h"

/* trial.S */
extern const unsigned char trial_program[], trial_program_end[], trial_start[], trial_main_end[];
extern const unsigned char trial_avx2[], trial_avx2_end[], trial_avx512[], trial_avx512_end[], trial_aes[],
	trial_aes_end[], trial_bf16[], trial_bf16_end[];

/* ---- what is true of the program ---- */

enum { AVX2 = 1, AVX512 = 2, AES = 4, BF16 = 8, GROUPS = 4 };

static const struct {
	const unsigned char *begin, *end;
} group_code[GROUPS] = {{trial_avx2, trial_avx2_end},
			{trial_avx512, trial_avx512_end},
			{trial_aes, trial_aes_end},
			{trial_bf16, trial_bf16_end}};

unsigned trial_groups(void)
{
	unsigned groups = 0;
	__builtin_cpu_init();
	groups |= __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") ? AVX2 : 0;
	groups |= __builtin_cpu_supports("avx512f") ? AVX512 : 0;
	groups |= __builtin_cpu_supports("aes") ? AES : 0;
	groups |= __builtin_cpu_supports("avx512bf16") ? BF16 : 0;
	return groups;
}

/* The main part's, and what each group adds to it. A call of a group adds a direct call, a return, a load, a store
 * and 8 bytes to each of both; the branch to it is not taken then. */
static const struct {
	enum exact_count count;
	uint64_t main, groups[GROUPS];
} truths[] = {
	{COUNT_INSTRUCTIONS, 3 + 300 + 10 + 16 + 12 + 5 + 5 + 9 + 3, {14, 10, 3, 4}},
	{COUNT_LOADS, 6, {2, 1, 1, 1}},   /* mov, 2 ret, lodsb, lock inc, mov */
	{COUNT_STORES, 7, {1, 2, 1, 1}},  /* 2 call, rep stosb, movnti, lock inc, 2 mov */
	{COUNT_MEMORY, 12, {3, 3, 2, 2}}, /* lock inc is both */
	{COUNT_READS, 6, {9, 1, 1, 1}},   /* of a gather each lane */
	{COUNT_WRITES, 6 + 16, {1, 17, 1, 1}},
	{COUNT_READ_BYTES, 3 * 8 + 1 + 2 * 4, {8 + 32, 8, 8, 8}},
	{COUNT_WRITE_BYTES, 2 * 8 + 16 + 4 * 4, {8, 8 + 64, 8, 8}},
	{COUNT_PREFETCH, 1, {0}},
	{COUNT_NON_TEMPORAL, 1, {0}},
	{COUNT_LOCKED, 1, {0}},
	{COUNT_FENCES, 1, {0}},
	{COUNT_GATHERS, 0, {1}},
	{COUNT_SCATTERS, 0, {0, 1}},
	{COUNT_REP, 1, {0}},
	{COUNT_STRING, 2, {0}},
	{COUNT_ITERATIONS, 16, {0}},
	{COUNT_CONDITIONAL, 104, {0}},
	{COUNT_TAKEN, 99 + 4, {-1, -1, -1, -1}},
	{COUNT_DIRECT_JUMPS, 1, {0}},
	{COUNT_INDIRECT_JUMPS, 1, {0}},
	{COUNT_DIRECT_CALLS, 1, {1, 1, 1, 1}},
	{COUNT_INDIRECT_CALLS, 1, {0}},
	{COUNT_RETURNS, 2, {1, 1, 1, 1}},
	/* each ends with a transfer of control, or where one goes to: the first one before the loop, the last one
	 * with the program */
	{COUNT_BASIC_BLOCKS, 1 + 100 + 6 + 4 + 1, {2, 2, 2, 2}},
	{COUNT_CODE_PAGES, 1, {0}},
	/* conversions apart */
	{COUNT_FP, 6 + 1, {8, 4, 0, 1}},
	{COUNT_FP_OPERATIONS, 11, {52, 72, 0, 64}},
	{COUNT_SINGLE_OPERATIONS, 5, {8 + 2 + 8 + 16, 16 + 32, 0, 0}},
	{COUNT_DOUBLE_OPERATIONS, 5, {4 + 2 + 4 + 8, 8 + 16, 0, 0}},
	{COUNT_HALF_OPERATIONS, 0, {0, 0, 0, 64}},
	{COUNT_SSE_OPERATIONS, 10, {52, 72, 0, 64}},
	{COUNT_FMA, 0, {6, 2, 0, 1}},
	{COUNT_FP_WIDTH(0, 0, 0), 1, {0}},
	{COUNT_FP_WIDTH(0, 0, 1), 0, {1}},
	{COUNT_FP_WIDTH(0, 0, 2), 1, {2}},
	{COUNT_FP_WIDTH(0, 1, 0), 3, {0}},
	{COUNT_FP_WIDTH(0, 1, 1), 0, {1}},
	{COUNT_FP_WIDTH(0, 1, 2), 3, {2}},
	{COUNT_FP_WIDTH(1, 0, 0), 1, {0}},
	{COUNT_FP_WIDTH(1, 0, 1), 0, {1}},
	{COUNT_FP_WIDTH(1, 0, 2), 4, {8}},
	{COUNT_FP_WIDTH(1, 1, 0), 1, {0}},
	{COUNT_FP_WIDTH(1, 1, 1), 0, {1}},
	{COUNT_FP_WIDTH(1, 1, 2), 2, {4}},
	{COUNT_FP_WIDTH(2, 0, 0), 0, {1}},
	{COUNT_FP_WIDTH(2, 0, 1), 0, {1}},
	{COUNT_FP_WIDTH(2, 0, 2), 0, {8 + 16}},
	{COUNT_FP_WIDTH(2, 1, 0), 0, {1}},
	{COUNT_FP_WIDTH(2, 1, 1), 0, {1}},
	{COUNT_FP_WIDTH(2, 1, 2), 0, {4 + 8}},
	{COUNT_FP_WIDTH(3, 0, 0), 0, {0, 1}},
	{COUNT_FP_WIDTH(3, 0, 1), 0, {0, 1}},
	{COUNT_FP_WIDTH(3, 0, 2), 0, {0, 16 + 32}},
	{COUNT_FP_WIDTH(3, 1, 0), 0, {0, 1}},
	{COUNT_FP_WIDTH(3, 1, 1), 0, {0, 1}},
	{COUNT_FP_WIDTH(3, 1, 2), 0, {0, 8 + 16}},
	{COUNT_VECTOR_SINGLE, 1, {3, 2}},
	{COUNT_VECTOR_DOUBLE, 1, {3, 2}},
	{COUNT_FP_DIVIDES, 1, {0}},
	{COUNT_SQUARE_ROOTS, 1, {0}},
	{COUNT_CONVERSIONS, 1, {0}},
	{COUNT_INTEGER_CONVERSIONS, 1, {0}},
	{COUNT_X87, 3, {0}},
	{COUNT_X87_OPERATIONS, 1, {0}},
	/* all but the branches, 9 of vectors and 3 of x87 */
	{COUNT_INTEGER, 3 + 300 + 10 + 16 + 12 + 5 + 5 + 9 + 3 - (104 + 6) - 9 - 3, {0}},
	{COUNT_MULTIPLIES, 1, {0}},
	{COUNT_DIVIDES, 1, {0}},
	{COUNT_VECTOR, 9, {12, 8, 1, 2}},
	{COUNT_VECTOR_INTEGER, 1, {2, 1, 0, 0}},
	{COUNT_PACKED, 3, {8, 5, 0, 1}},
	{COUNT_CRYPTO, 0, {0, 0, 1}},
	{COUNT_NOPS, 2, {0}},
	{COUNT_SEGMENT_LOADS, 1, {0}},
	{COUNT_CPUID, 1, {0}},
	{COUNT_TSC, 1, {0}},
	{COUNT_SERIALISING, 1, {0}},
	{COUNT_SYSTEM_CALLS, 1, {0}},
	/* none that the decoder does not know, none of APX */
	{COUNT_UNKNOWN, 0, {0}},
	{COUNT_EXTENDED, 0, {0}},
	/* floating-point operations and the multiplication */
	{COUNT_PENTIUM_FLOPS, 11 + 1, {52, 72, 0, 64}},
	{COUNT_TRANSCENDENTAL, 0, {0}},
	/* of the access stream. A gather's and a scatter's lanes all lie at the line's start */
	{COUNT_MISALIGNED, 3, {0}},
	{COUNT_LINE_CROSSING, 3, {0}},
	{COUNT_LINE_CROSSING_READS, 1, {0}},
	{COUNT_LINE_CROSSING_WRITES, 2, {0}},
	{COUNT_PAGE_CROSSING, 1, {0}},
	{COUNT_PENTIUM_MISALIGNED, 3, {0}}, /* of 4 and 8 bytes each */
	{COUNT_PENTIUM_MISALIGNED_READS, 1, {0}},
};

static uint64_t lines_of(const unsigned char *begin, const unsigned char *end)
{
	uintptr_t program = (uintptr_t)trial_program, first = ((uintptr_t)begin - program) / 64,
		  last = ((uintptr_t)end - 1 - program) / 64;
	return last - first + 1;
}

bool trial_truth(enum exact_count count, unsigned groups, uint64_t *truth)
{
	*truth = 0;
	if (count == COUNT_CODE_LINES) {
		*truth = lines_of(trial_start, trial_main_end);
		for (unsigned g = 0; g < GROUPS; g++)
			*truth += groups >> g & 1 ? lines_of(group_code[g].begin, group_code[g].end) : 0;
		return true;
	}
	for (size_t i = 0; i < sizeof truths / sizeof *truths; i++) {
		if (truths[i].count != count)
			continue;
		*truth = truths[i].main;
		for (unsigned g = 0; g < GROUPS; g++)
			*truth += groups >> g & 1 ? truths[i].groups[g] : 0;
		return true;
	}
	return false;
}

/* ---- the trial ---- */

static void release(void *arg) { launch_release(arg); }

/* The tally has found the stream's instructions to be those executed. */
static bool right_stream(const struct tally *tally, unsigned groups, struct error *err)
{
	const uint64_t *stream = tally->models->stream;
	uint64_t reads, writes;
	if (tally->models_why)
		return error_set(err, ERROR_SYSTEM, "%s", tally->models_why);
	trial_truth(COUNT_READS, groups, &reads);
	trial_truth(COUNT_WRITES, groups, &writes);
	return (stream[STREAM_READS] == reads && stream[STREAM_WRITES] == writes) ||
	       error_set(err, ERROR_SYSTEM,
			 "the access stream of a known program has %llu reads and %llu writes, not %llu and %llu",
			 (unsigned long long)stream[STREAM_READS], (unsigned long long)stream[STREAM_WRITES],
			 (unsigned long long)reads, (unsigned long long)writes);
}

/* What all counts need. */
static bool right(const struct tally *tally, unsigned groups, struct error *err)
{
	uint64_t truth;
	trial_truth(COUNT_INSTRUCTIONS, groups, &truth);
	if (tally->why)
		return error_set(err, ERROR_SYSTEM, "%s", tally->why);
	if (tally->total[COUNT_INSTRUCTIONS] != truth)
		return error_set(err, ERROR_SYSTEM, "it counts %llu instructions where %llu is right",
				 (unsigned long long)tally->total[COUNT_INSTRUCTIONS], (unsigned long long)truth);
	return !tally->models || right_stream(tally, groups, err);
}

/* Each count by itself: that one class is counted wrongly says nothing of the others. */
static void judge_counts(struct engine_trial *trial, const struct tally *tally, unsigned groups)
{
	for (unsigned i = 0; i < COUNTS; i++) {
		bool stream = i >= COUNT_STREAM && i < COUNT_STREAM_END;
		uint64_t truth;
		trial->wrong[i] = !(stream && !trial->traced) &&
				  (tally->unknown[i] || !trial_truth((enum exact_count)i, groups, &truth) ||
				   tally->total[i] != truth);
	}
}

/* A file without a name that may be executed: in memory, or, where the kernel forbids that (vm.memfd_noexec), in a
 * temporary folder. */
static int executable_file(void)
{
	const char *named = getenv("TMPDIR"), *const folders[] = {named ? named : "/tmp", "/tmp", "/var/tmp",
								  "/dev/shm", "."};
	int fd = memfd_create("tare-trial", MFD_CLOEXEC | 0x10 /* MFD_EXEC: Linux 6.3 */);
	if (fd < 0 && errno == EINVAL)
		fd = memfd_create("tare-trial", MFD_CLOEXEC);
	for (size_t i = 0; fd < 0 && i < sizeof folders / sizeof *folders; i++) {
		struct statvfs system;
		if (statvfs(folders[i], &system) == 0 && !(system.f_flag & ST_NOEXEC))
			fd = open(folders[i], O_TMPFILE | O_RDWR | O_CLOEXEC, 0700);
	}
	return fd;
}

bool trial_execute(const struct injection_options *options, unsigned groups, struct injection **injection,
		   struct error *err)
{
	char path[64];
	char *argv[2 + (1 << GROUPS)] = {path}, *environment[] = {NULL};
	for (unsigned i = 1; i <= groups; i++)
		argv[i] = path; /* their number says which groups */
	struct command command = {
		.argv = argv, .environment = environment, .stdin_fd = -1, .stdout_fd = -1, .stderr_fd = -1};
	struct launch launch = {.go_fd = -1, .failed_fd = -1};
	size_t bytes = (size_t)(trial_program_end - trial_program);
	int status, file = executable_file();
	bool done = false;
	*injection = NULL;
	if (file < 0 || write(file, trial_program, bytes) != (ssize_t)bytes) {
		error_set_errno(err, ERROR_SYSTEM, errno, "cannot create a test program");
		goto out;
	}
	/* by way of this process's descriptors, and open for reading only: a file open for writing cannot be
	 * executed */
	snprintf(path, sizeof path, "/proc/self/fd/%d", file);
	int readable = open(path, O_RDONLY | O_CLOEXEC);
	if (readable < 0) {
		error_set_errno(err, ERROR_SYSTEM, errno, "cannot open '%s'", path);
		error_hint(err, "the engine needs /proc: mount -t proc proc /proc");
		goto out;
	}
	close(file);
	file = readable;
	/* the child also has this descriptor */
	snprintf(path, sizeof path, "/proc/self/fd/%d", file);
	if (options->make) /* the file may be one that the engine cannot follow: the caller says nothing of it */
		command.stderr_fd = open("/dev/null", O_WRONLY | O_CLOEXEC);
	if (!injection_new(options, injection, err) || !launch_hold(&command, &launch, err))
		goto out;
	enum injection_taken taken = injection_take(*injection, launch.pid, release, &launch, err);
	if (taken == INJECTION_FAILED)
		launch.pid = 0;
	if (taken == INJECTION_FAILED || !launch_go(&launch, &command, err))
		goto out;
	while (waitpid(launch.pid, &status, 0) < 0 && errno == EINTR)
		continue;
	done = true;
out:
	launch_abandon(&launch);
	if (command.stderr_fd >= 0)
		close(command.stderr_fd);
	if (file >= 0)
		close(file);
	return done;
}

static bool run(struct engine_trial *trial, struct error *err)
{
	bool traced = trial->traced;
	unsigned groups = trial_groups() & ~trial->without;
	struct injection *injection = NULL;
	struct view *view = NULL;
	struct tally *tally = NULL;
	struct injection_options stream = {.size = sizeof stream, .trace = traced, .alone = true};
	struct tally_options options = {.children = true, .blocks = true, .code_lines = true, .machines = traced};
	bool done = trial_execute(&stream, groups, &injection, err) && view_new(injection, &view, err) &&
		    tally_new(view, &options, &tally, err) && right(tally, groups, err);
	if (done)
		judge_counts(trial, tally, groups);
	tally_free(tally);
	view_free(view);
	injection_free(injection);
	return done;
}

bool trial_passed(struct engine_trial *trial)
{
	struct error err = {0};
	if (trial->done)
		return trial->passed;
	trial->done = true;
	trial->passed = run(trial, &err);
	if (!trial->passed) {
		snprintf(trial->why, sizeof trial->why, "%s does not work here: %.190s",
			 trial->traced ? "the engine's access stream" : "the engine", err.text);
		snprintf(trial->remedy, sizeof trial->remedy, "%.250s", err.hint);
	}
	return trial->passed;
}

bool trial_counts(struct engine_trial *trial, const struct exact_event *event)
{
	for (unsigned i = 0; i < COUNTS; i++)
		if (trial->wrong[i] && exact_event_uses(event, (enum exact_count)i))
			return false;
	return true;
}

struct finding *trial_finding(struct engine_trial *trial, const char *what, struct finding *findings, size_t most,
			      size_t *count)
{
	if (*count == most)
		return NULL;
	bool works = trial_passed(trial);
	struct finding *f = &findings[(*count)++];
	*f = (struct finding){.state = works ? FINDING_WORKS : FINDING_NO};
	snprintf(f->what, sizeof f->what, "%s", what);
	if (works)
		return f;
	snprintf(f->detail, sizeof f->detail, "%.250s", trial->why);
	snprintf(f->step, sizeof f->step, "%.250s", trial->remedy);
	return NULL;
}
