#include "backend/exact/trial.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "backend/exact/tally.h"
#include "backend/launch.h"
#include "engine/inject/session.h"

extern const unsigned char trial_program[], trial_program_end[];

static const struct { enum exact_count count; uint64_t truth; } truths[] = { /* trial.S */
	{COUNT_INSTRUCTIONS, 308}, {COUNT_LOADS, 1}, {COUNT_STORES, 1}, {COUNT_CONDITIONAL, 100}, {COUNT_TAKEN, 99},
	{COUNT_DIRECT_CALLS, 1}, {COUNT_RETURNS, 1}, {COUNT_SYSTEM_CALLS, 1}, {COUNT_NOPS, 1}, {COUNT_REP, 0},
};

static void release(void *arg)
{
	const struct launch *launch = arg;
	send(launch->go_fd, "g", 1, MSG_NOSIGNAL);
}

/* The tally has found the stream's instructions to be those executed. Its accesses are the call's write and the return's read. */
static bool right_stream(const struct tally *tally, struct error *err)
{
	const uint64_t *stream = tally->models->stream;
	if (tally->models_why)
		return error_set(err, ERROR_SYSTEM, "%s", tally->models_why);
	return (stream[STREAM_READS] == 1 && stream[STREAM_WRITES] == 1 && stream[STREAM_MISALIGNED] == 0) ||
	       error_set(err, ERROR_SYSTEM, "the access stream of a known program has %llu reads and %llu writes, not one of each",
	                 (unsigned long long)stream[STREAM_READS], (unsigned long long)stream[STREAM_WRITES]);
}

static bool right(const struct tally *tally, struct error *err)
{
	if (tally->why)
		return error_set(err, ERROR_SYSTEM, "%s", tally->why);
	for (size_t i = 0; i < sizeof truths / sizeof *truths; i++)
		if (tally->total[truths[i].count] != truths[i].truth)
			return error_set(err, ERROR_SYSTEM, "it counts %llu where %llu is right (count %d)",
			                 (unsigned long long)tally->total[truths[i].count], (unsigned long long)truths[i].truth,
			                 (int)truths[i].count);
	return !tally->models || right_stream(tally, err);
}

static bool run(bool traced, struct error *err)
{
	char path[64];
	char *argv[] = {path, NULL}, *environment[] = {NULL};
	struct command command = {.argv = argv, .environment = environment, .stdin_fd = -1, .stdout_fd = -1, .stderr_fd = -1};
	struct launch launch = {.go_fd = -1, .failed_fd = -1};
	struct session *session = NULL;
	struct view *view = NULL;
	struct tally *tally = NULL;
	struct session_options stream = {.size = sizeof stream, .trace = traced, .alone = true};
	struct tally_options options = {.children = true, .machines = traced};
	size_t bytes = (size_t)(trial_program_end - trial_program);
	int status, file = memfd_create("tare-trial", MFD_CLOEXEC);
	bool done = false;
	if (file < 0 || write(file, trial_program, bytes) != (ssize_t)bytes) {
		error_set_errno(err, ERROR_SYSTEM, errno, "cannot make a program to try");
		goto out;
	}
	/* by way of this process's descriptors, and open for reading only: a file open for writing cannot be executed */
	snprintf(path, sizeof path, "/proc/%d/fd/%d", (int)getpid(), file);
	int readable = open(path, O_RDONLY | O_CLOEXEC);
	close(file);
	file = readable;
	snprintf(path, sizeof path, "/proc/%d/fd/%d", (int)getpid(), file);
	if (!session_new(&stream, &session, err) || !launch_hold(&command, &launch, err))
		goto out;
	enum session_taken taken = session_take(session, launch.pid, release, &launch, err);
	if (taken == SESSION_FAILED)
		launch.pid = 0;
	if (taken == SESSION_FAILED || !launch_go(&launch, &command, err))
		goto out;
	while (waitpid(launch.pid, &status, 0) < 0 && errno == EINTR)
		continue;
	done = view_new(session, &view, err) && tally_new(view, &options, &tally, err) && right(tally, err);
out:
	tally_free(tally);
	view_free(view);
	launch_abandon(&launch);
	session_free(session);
	if (file >= 0)
		close(file);
	return done;
}

bool trial_passed(struct trial *trial)
{
	struct error err = {0};
	if (trial->done)
		return trial->passed;
	trial->done = true;
	trial->passed = run(trial->traced, &err);
	if (!trial->passed) {
		snprintf(trial->why, sizeof trial->why, "%s does not work here: %.190s", trial->traced ? "the engine's access stream" : "the engine", err.text);
		snprintf(trial->remedy, sizeof trial->remedy, "%.250s", err.hint);
	}
	return trial->passed;
}

struct finding *trial_finding(struct trial *trial, const char *what, struct finding *findings, size_t most, size_t *count)
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
