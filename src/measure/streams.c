#include "measure/streams.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* Above this much hidden output, its memory is given back while the program runs. */
static const long long SINK_MOST_BYTES = 64ll << 20;

static bool write_all(int fd, const char *bytes, size_t length)
{
	while (length > 0) {
		ssize_t done = write(fd, bytes, length);
		if (done < 0 && errno == EINTR)
			continue;
		if (done <= 0)
			return false;
		bytes += done;
		length -= (size_t)done;
	}
	return true;
}

/* Copies a pipe or socket to its end into memory. */
static bool copy_input(struct streams *s, const volatile sig_atomic_t *interrupt, struct error *err)
{
	char buffer[65536];
	long long most = (long long)STREAMS_INPUT_MOST_MIB << 20, copied = 0;
	s->copy_fd = memfd_create("tare-stdin", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	if (s->copy_fd < 0)
		return error_set_errno(err, ERROR_SYSTEM, errno, "cannot keep a copy of the standard input");
	for (;;) {
		/* the timeout bounds how long an interrupt between the check and the poll goes unseen */
		struct pollfd ready = {.fd = s->input_fd, .events = POLLIN};
		if (interrupt && *interrupt)
			return error_set(err, ERROR_SYSTEM, "interrupted while reading the standard input");
		if (poll(&ready, 1, 200) <= 0)
			continue;
		ssize_t got = read(s->input_fd, buffer, sizeof buffer);
		if (got < 0 && (errno == EINTR || errno == EAGAIN))
			continue;
		if (got < 0)
			return error_set_errno(err, ERROR_IO, errno, "cannot read the standard input");
		if (got == 0)
			break;
		copied += got;
		if (copied > most) {
			error_set(err, ERROR_LIMIT,
				  "the standard input is a pipe with more than %d MiB, too much to keep a copy "
				  "for each "
				  "execution",
				  STREAMS_INPUT_MOST_MIB);
			return error_hint(err, "give it from a file: '< FILE', or run once");
		}
		if (!write_all(s->copy_fd, buffer, (size_t)got))
			return error_set_errno(err, ERROR_NO_MEMORY, errno,
					       "cannot keep a copy of the standard input");
	}
	/* no execution can change what the next one reads */
	fcntl(s->copy_fd, F_ADD_SEALS, F_SEAL_WRITE | F_SEAL_GROW | F_SEAL_SHRINK | F_SEAL_SEAL);
	return true;
}

bool streams_open(struct streams *s, const struct command *command, enum program_output output, size_t executions,
		  const volatile sig_atomic_t *interrupt, struct error *err)
{
	*s = (struct streams){.output = output, .input_fd = -1, .copy_fd = -1, .sink_fd = -1, .offset = -1};
	if (!command || executions < 2)
		return true;
	struct stat status;
	int fd = command->stdin_fd >= 0 ? command->stdin_fd : STDIN_FILENO;
	if (fstat(fd, &status) != 0)
		return true; /* closed: closed for each of them */
	s->input_fd = fd;
	if (S_ISREG(status.st_mode)) {
		s->offset = lseek(fd, 0, SEEK_CUR);
		if (s->offset < 0)
			return error_set_errno(err, ERROR_IO, errno,
					       "cannot find the position in the standard input");
	} else if (S_ISFIFO(status.st_mode) || S_ISSOCK(status.st_mode)) {
		if (!copy_input(s, interrupt, err)) {
			streams_close(s);
			return false;
		}
	} else if (S_ISCHR(status.st_mode) && isatty(fd)) {
		s->note = "the standard input is a terminal, which the executions share: what one reads, the next "
			  "does not get";
	}
	return true;
}

bool streams_next(struct streams *s, size_t index, struct command *command, bool *silent, struct error *err)
{
	if (s->offset >= 0 && lseek(s->input_fd, s->offset, SEEK_SET) < 0)
		return error_set_errno(err, ERROR_IO, errno, "cannot go back to the start of the standard input");
	if (s->copy_fd >= 0) {
		if (lseek(s->copy_fd, 0, SEEK_SET) < 0)
			return error_set_errno(err, ERROR_IO, errno,
					       "cannot go back to the start of the standard input");
		command->stdin_fd = s->copy_fd;
	}
	*silent = s->output == OUTPUT_NONE || (s->output == OUTPUT_FIRST && index > 0);
	if (!*silent)
		return true;
	if (s->sink_fd < 0) {
		s->sink_fd = memfd_create("tare-output", MFD_CLOEXEC);
		if (s->sink_fd < 0)
			return error_set_errno(err, ERROR_SYSTEM, errno, "cannot hide the program's output");
	}
	if (ftruncate(s->sink_fd, 0) != 0 || lseek(s->sink_fd, 0, SEEK_SET) < 0)
		return error_set_errno(err, ERROR_SYSTEM, errno, "cannot empty the program's hidden output");
	command->stdout_fd = command->stderr_fd = s->sink_fd;
	return true;
}

void streams_trim(struct streams *s)
{
	struct stat status;
	if (s->sink_fd < 0 || fstat(s->sink_fd, &status) != 0 || status.st_blocks * 512ll < SINK_MOST_BYTES)
		return;
	/* the writer's position and the file's length stay: only the pages go */
	fallocate(s->sink_fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, status.st_size);
}

void streams_close(struct streams *s)
{
	if (s->copy_fd >= 0)
		close(s->copy_fd);
	if (s->sink_fd >= 0)
		close(s->sink_fd);
	s->copy_fd = s->sink_fd = -1;
}
