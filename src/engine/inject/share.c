#include "engine/inject/share.h"

#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/test_option.h"
#include "engine/inject/descriptor.h"

/* So many of a program's images that are watched have to end before it is made. Measured: making costs what three
 * to four images gain by it, so that a run that ends right then has lost less than a tenth, and one that goes on
 * as long gains. */
#define ENDED_LEAST 10u
/* An entry that is still empty is waited for while it is one of the last so many. */
#define ENTRIES_OPEN 64u

/* What the maker sends, with the image's descriptor. */
struct made {
	uint64_t image_bytes, setup_offset;
};

/* False: the maker is still at work. */
static bool receive_made(int socket, bool wait, struct takeover *how)
{
	struct made made;
	int fd;
	switch (descriptor_receive(socket, &made, sizeof made, wait ? 0 : MSG_DONTWAIT, &fd)) {
	case DESCRIPTOR_NOT_YET: return false;
	case DESCRIPTOR_NONE: return true; /* it has made none */
	case DESCRIPTOR_CAME: break;
	}
	if (how->renewed)
		close(how->image_fd);
	else
		how->first_fd = how->image_fd, how->first_bytes = how->image_bytes,
		how->first_setup = how->setup_offset;
	how->renewed = true;
	how->image_fd = fd;
	how->image_bytes = made.image_bytes, how->setup_offset = made.setup_offset;
	return true;
}

static bool has_ended(const struct record_process *p)
{
	uint32_t state = __atomic_load_n(&p->state, __ATOMIC_ACQUIRE);
	return state == RECORD_EXITED || state == RECORD_EXECED;
}

static void note_image(struct share *share, const struct record_process *p, uint32_t entry)
{
	char path[sizeof p->path];
	struct share_program *program = NULL;
	memcpy(path, p->path, sizeof path); /* which programs may write over */
	path[sizeof path - 1] = 0;
	for (uint32_t i = 0; i < share->n && !program; i++)
		if (!strcmp(share->programs[i].path, path))
			program = &share->programs[i];
	if (!program && share->n < SHARE_PROGRAMS) {
		program = &share->programs[share->n++];
		*program = (struct share_program){0};
		memcpy(program->path, path, sizeof path);
	}
	if (program && program->n < SHARE_WATCHED)
		program->entries[program->n++] = entry;
}

static void look_for_images(struct share *share, const struct takeover *how)
{
	uint32_t count = __atomic_load_n(&how->record->process_count, __ATOMIC_ACQUIRE);
	count = count < RECORD_PROCESSES_MAX ? count : RECORD_PROCESSES_MAX;
	for (; share->scanned < count; share->scanned++) {
		const struct record_process *p = &how->processes[share->scanned];
		uint32_t state = __atomic_load_n(&p->state, __ATOMIC_ACQUIRE);
		if (state < RECORD_RUNNING && count - share->scanned < ENTRIES_OPEN)
			return;
		if (state >= RECORD_RUNNING && !p->forked && !p->continues && p->path[0])
			note_image(share, p, share->scanned);
	}
}

/* Of those images that have ended the one that has executed most; RECORD_NONE: too few have. */
static uint32_t best_image(const struct share_program *program, const struct takeover *how, uint32_t least)
{
	uint32_t best = RECORD_NONE, ended = 0, most = 0;
	for (uint32_t i = 0; i < program->n; i++) {
		const struct record_process *p = &how->processes[program->entries[i]];
		uint32_t blocks = __atomic_load_n(&p->blocks.count, __ATOMIC_ACQUIRE);
		if (!has_ended(p))
			continue;
		ended++;
		if (best == RECORD_NONE || blocks > most)
			best = program->entries[i], most = blocks;
	}
	return ended >= least ? best : RECORD_NONE;
}

/* The maker ends with the attendant. */
static void be_maker(int socket, pid_t parent, const struct takeover *how, share_make *make, void *arg,
		     const uint32_t *entries, size_t n)
{
	struct takeover fresh = *how;
	int fd;
	prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
	if (getppid() != parent)
		_exit(0);
	signal(SIGCHLD, SIG_DFL);
	while ((fd = open("/dev/null", O_RDWR)) >= 0 && fd <= STDERR_FILENO) /* closed by the attendant */
		continue;
	close(fd);
	if (make(arg, how, entries, n, &fresh)) {
		const struct made made = {fresh.image_bytes, fresh.setup_offset};
		descriptor_send(socket, &made, sizeof made, fresh.image_fd, 0);
	}
	_exit(0);
}

void share_look(struct share *share, struct takeover *how, share_make *make, void *arg)
{
	const char *test = test_option("TARE_SHARE");
	bool early = test && !strcmp(test, "wait"), wait = early || (test && !strcmp(test, "ten"));
	uint32_t entries[SHARE_PROGRAMS];
	size_t n = 0;
	int ends[2];
	if (share->socket >= 0 && receive_made(share->socket, wait, how)) {
		close(share->socket);
		share->socket = -1;
	}
	look_for_images(share, how);
	if (share->socket >= 0)
		return;
	for (uint32_t i = 0; i < share->n; i++) {
		struct share_program *program = &share->programs[i];
		uint32_t best = program->made ? RECORD_NONE : best_image(program, how, early ? 1 : ENDED_LEAST);
		if (best == RECORD_NONE)
			continue;
		program->made = true;
		entries[n++] = best;
	}
	if (n == 0 || socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0)
		return;
	pid_t self = getpid(), pid = fork();
	if (pid == 0)
		be_maker(ends[1], self, how, make, arg, entries, n);
	close(ends[1]);
	share->socket = pid > 0 ? ends[0] : -1;
	if (pid < 0) {
		close(ends[0]);
	} else if (wait) {
		receive_made(share->socket, true, how);
		close(share->socket);
		share->socket = -1;
	}
}
