#include "measure/control.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/str.h"

/* Of one tick. */
struct control_turn {
	struct switching *control;
	const struct backend_operations *operations;
	struct counting *counting;
	struct intervals *intervals;
	struct reading *so_far;
	uint64_t now_ns;
};

bool control_refuse(const char *backend, struct error *err)
{
	error_set(err, ERROR_UNSUPPORTED,
		  "the backend '%s' counts from begin to end: it cannot be turned on and off", backend);
	return error_hint(err, "choose --on perf, or count a part of the program: --region PLACE");
}

void control_begin(struct switching *c, uint64_t now_ns)
{
	c->on = !c->begins_off;
	c->on_at_ns = c->begins_off && c->delay_ns ? now_ns + c->delay_ns : UINT64_MAX;
	c->used = 0;
	c->too_long = false;
}

static bool turn(struct control_turn *t, bool on, struct error *err)
{
	if (!t->operations->turn(t->counting, on, err))
		return false;
	t->control->on = on;
	if (on)
		t->control->on_at_ns = UINT64_MAX;
	intervals_turned(t->intervals, on);
	return true;
}

static bool obey(struct control_turn *t, const char *command, struct error *err)
{
	if (strcmp(command, "enable") == 0 || strcmp(command, "disable") == 0)
		return turn(t, command[0] == 'e', err);
	if (strcmp(command, "ping") == 0)
		return true;
	if (strcmp(command, "read") != 0)
		return error_set(err, ERROR_USAGE, "'%s' is not enable, disable, read or ping", command);
	bool read = t->operations->read_running(t->counting, t->so_far, err);
	intervals_read(t->intervals, read ? t->so_far : NULL, t->now_ns, false);
	return read;
}

/* A program that does not read the answers loses them; counting goes on. */
static void answer(const struct switching *c, bool done, const struct error *err)
{
	struct str text = {0};
	char shown[2 * CONTROL_LINE_MOST];
	if (c->answers < 0)
		return;
	str_escape_to(shown, sizeof shown, done ? "" : err->text);
	str_append(&text, done ? "ack\n" : "error ");
	if (!done)
		str_appendf(&text, "%s\n", shown);
	if (!text.failed && write(c->answers, text.text, text.length) < 0)
		errno = 0;
	str_free(&text);
}

static void end_line(struct control_turn *t)
{
	struct switching *c = t->control;
	struct error err = {0};
	c->line[c->used] = '\0';
	const char *command = str_trim(c->line);
	if (c->too_long)
		answer(c, false,
		       (error_set(&err, ERROR_USAGE, "a command has at most %d bytes", CONTROL_LINE_MOST - 1),
			&err));
	else if (*command) {
		bool done = obey(t, command, &err);
		answer(c, done, &err);
	}
	c->used = 0;
	c->too_long = false;
}

static void read_commands(struct control_turn *t)
{
	struct switching *c = t->control;
	char bytes[CONTROL_LINE_MOST];
	/* no more than this in one tick: a flood of commands must not keep tare from waiting for the program */
	ssize_t got = read(c->commands, bytes, sizeof bytes);
	for (ssize_t i = 0; i < got; i++) {
		if (bytes[i] == '\n' || bytes[i] == '\0')
			end_line(t);
		else if (c->used + 1 < sizeof c->line)
			c->line[c->used++] = bytes[i];
		else
			c->too_long = true;
	}
}

bool control_tick(struct switching *c, const struct backend_operations *operations, struct counting *counting,
		  struct intervals *intervals, struct reading *so_far, uint64_t now_ns, struct error *err)
{
	struct control_turn t = {c, operations, counting, intervals, so_far, now_ns};
	bool done = true;
	if (!c->on && now_ns >= c->on_at_ns)
		done = turn(&t, true, err);
	if (c->has_commands)
		read_commands(&t);
	return done;
}
