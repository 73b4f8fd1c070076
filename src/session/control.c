#include "session/control.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool malformed(const char *text, struct error *err)
{
	error_set(err, ERROR_USAGE, "'%s' names no FIFO and no descriptor: FILE[,FILE] or fd:N[,M]", text);
	return error_hint(err, "mkfifo orders; tare profile --control orders …; echo disable >orders");
}

/* Both ends are held open: a writer that goes is not the end of orders. */
static bool open_fifo(const char *path, int *out, struct error *err)
{
	struct stat is;
	int fd = open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0)
		return error_set_errno(err, errno == ENOENT ? ERROR_NOT_FOUND : ERROR_SYSTEM, errno,
				       "cannot open the FIFO '%s'", path);
	if (fstat(fd, &is) == 0 && S_ISFIFO(is.st_mode)) {
		*out = fd;
		return true;
	}
	close(fd);
	return error_set(err, ERROR_USAGE, "'%s' is not a FIFO", path);
}

static bool take_descriptor(const char *text, int *out)
{
	char *end;
	long number = strtol(text, &end, 10);
	if (*text < '0' || *text > '9' || *end || number > 1 << 20 || fcntl((int)number, F_GETFD) < 0)
		return false;
	int flags = fcntl((int)number, F_GETFL);
	*out = (int)number;
	return flags >= 0 && fcntl(*out, F_SETFL, flags | O_NONBLOCK) == 0;
}

bool profile_control_open(const char *text, struct profile_control *out, struct error *err)
{
	char first[4096], *second;
	*out = (struct profile_control){.orders = -1, .answers = -1};
	bool fifo = strncmp(text, "fifo:", 5) == 0, fd = strncmp(text, "fd:", 3) == 0;
	const char *rest = text + (fifo ? 5 : fd ? 3 : 0);
	if (!*rest || strlen(rest) >= sizeof first)
		return malformed(text, err);
	strcpy(first, rest);
	if ((second = strchr(first, ',')))
		*second++ = '\0';
	out->owns = !fd;
	if (fd)
		return (take_descriptor(first, &out->orders) &&
			(!second || take_descriptor(second, &out->answers))) ||
		       error_set(err, ERROR_USAGE, "'%s' does not name open descriptors", text);
	if (open_fifo(first, &out->orders, err) && (!second || open_fifo(second, &out->answers, err)))
		return true;
	profile_control_close(out);
	return false;
}

static enum control_order order_of(const struct profile_control *c)
{
	static const struct {
		const char *word;
		enum control_order order;
	} words[] = {{"enable", CONTROL_ENABLE},
		     {"disable", CONTROL_DISABLE},
		     {"snapshot", CONTROL_SNAPSHOT},
		     {"dump", CONTROL_SNAPSHOT},
		     {"ping", CONTROL_PING}};
	for (size_t i = 0; i < sizeof words / sizeof *words; i++)
		if (!c->overlong && strcmp(words[i].word, c->line) == 0)
			return words[i].order;
	return CONTROL_UNKNOWN;
}

enum control_order profile_control_next(struct profile_control *c)
{
	char byte;
	while (read(c->orders, &byte, 1) == 1) {
		bool ends = byte == '\n';
		if (!ends && byte != '\0' && c->used + 1 < sizeof c->line)
			c->line[c->used++] = byte;
		else if (!ends && byte != '\0')
			c->overlong = true;
		if (!ends || !c->used)
			continue;
		c->line[c->used] = '\0';
		enum control_order order = order_of(c);
		c->used = 0;
		c->overlong = false;
		return order;
	}
	return CONTROL_NONE;
}

void profile_control_answer(const struct profile_control *c)
{
	static const char text[] = "ack\n";
	if (c->answers >= 0 && write(c->answers, text, sizeof text - 1) < 0)
		return;
}

void profile_control_close(struct profile_control *c)
{
	if (c->owns && c->orders >= 0)
		close(c->orders);
	if (c->owns && c->answers >= 0)
		close(c->answers);
	c->orders = c->answers = -1;
}
