#include "cli/count_control.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* For reading and writing: so nobody waits for the other side, and a writer that goes away ends nothing. */
static int open_fifo(const char *path, struct error *err)
{
	struct stat is;
	int fd = open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC);
	if (fd >= 0 && fstat(fd, &is) == 0 && S_ISFIFO(is.st_mode))
		return fd;
	int why = errno;
	if (fd < 0) {
		error_set_errno(err, ERROR_USAGE, why, "cannot open '%s' for --control", path);
		error_hint(err, "make it first: mkfifo %.200s", path);
	} else {
		close(fd);
		error_set(err, ERROR_USAGE, "'%s' is not a FIFO", path);
		error_hint(err, "'mkfifo NAME' makes one, where there is nothing of that name yet");
	}
	return -1;
}

bool control_open(struct switching *c, const char *text, struct error *err)
{
	char *copy = strdup(strncmp(text, "fifo:", 5) == 0 ? text + 5 : text);
	c->commands = c->answers = -1;
	if (!copy)
		return error_no_memory(err);
	char *answers = strchr(copy, ',');
	if (answers)
		*answers++ = '\0';
	c->has_commands = (c->commands = open_fifo(copy, err)) >= 0 &&
			  (!answers || (c->answers = open_fifo(answers, err)) >= 0);
	free(copy);
	if (!c->has_commands)
		control_close(c);
	return c->has_commands;
}

void control_close(struct switching *c)
{
	if (c->commands >= 0)
		close(c->commands);
	if (c->answers >= 0)
		close(c->answers);
	c->commands = c->answers = -1;
	c->has_commands = false;
}
