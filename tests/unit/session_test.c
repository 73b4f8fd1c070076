/* session_…: from names to the rows of a result without a command line, a terminal or a report: what another command starts from. */
#include <stdlib.h>
#include <unistd.h>

#include "session/session.h"
#include "tap.h"

static const char recording[] =
	"{ \"tare_recording\": 1, \"about\": \"two events of one level\", \"events\": ["
	"{ \"name\": \"instructions:u\", \"source\": \"hw\" }, { \"name\": \"branches:u\", \"source\": \"hw\" } ],"
	"\"executions\": [ { \"readings\": { \"instructions:u\": 3000, \"branches:u\": 400 } } ] }";

static char path[] = "/tmp/tare-session-XXXXXX";

static bool write_recording(void)
{
	int fd = mkstemp(path);
	bool done = fd >= 0 && write(fd, recording, sizeof recording - 1) == (ssize_t)sizeof recording - 1;
	if (fd >= 0)
		close(fd);
	return done;
}

static struct measure_options once(void)
{
	return (struct measure_options){.size = sizeof(struct measure_options),
					.repetitions = 1,
					.confidence = 0.95,
					.program_output = OUTPUT_NONE};
}

static bool open_session(struct session *s, struct error *err)
{
	static char program[] = "/bin/true";
	static char *words[] = {program, NULL};
	char on[64];
	struct session_target target = {.kind = TARGET_COMMAND, .program = words};
	snprintf(on, sizeof on, "replay:%s", path);
	return session_open(s, &target, on, NULL, 0, err);
}

static void count_missing(void *context, const struct error *missing)
{
	struct error *last = context;
	*last = *missing;
}

static void rows(void)
{
	struct session s;
	struct error err = {0}, missing = {0};
	struct measure_options options = once();
	bool added = open_session(&s, &err) && session_add_events(&s, "branches:u", &err) &&
		     session_add_uncounted(&s, "p5mon:nothing", "no such thing", &err) &&
		     session_add_required(&s, "instructions:u", &err) &&
		     session_add_events(&s, "branches:u", &err) &&
		     session_add_event_as(&s, "branches:u", "jumps", &err);
	if (!ok(added, "events are added from lists, under labels, and as rows that nothing counts"))
		printf("# %s\n", err.text);
	equal_u64(s.selection.events.count, 3,
		  "an event that is asked for twice is counted once; under a label of its own it is counted for "
		  "that");
	ok(session_measure(&s, &options, &err), "what was added is measured");
	equal_u64(session_missing(&s, false, count_missing, &missing), 0,
		  "what was required and counted is not missing");
	equal_u64(session_missing(&s, true, count_missing, &missing), 1,
		  "strictly, the row that nothing counts is missing");
	ok(strstr(missing.text, "p5mon:nothing: no such thing") != NULL,
	   "and is told by its label and its reason");
	ok(session_take_off(&s, false) && session_order_rows(&s, true),
	   "the tare is taken off and rows are ordered");
	const struct result *r = s.result;
	equal_u64(r->n_estimates, 4, "each row that was asked for is there");
	static const char *const names[] = {"branches:u", "p5mon:nothing", "instructions:u", "jumps"};
	static const double values[] = {400, 0, 3000, 400};
	for (size_t i = 0; i < r->n_estimates && i < 4; i++)
		ok(strcmp(r->estimates[i].event, names[i]) == 0 && r->estimates[i].known == (i != 1) &&
			   (i == 1 || r->estimates[i].value == values[i]),
		   "row %zu is %s", i + 1, names[i]);
	ok(session_counted_any(&s), "something was counted");
	ok(!session_break_down(&s, BREAKDOWN_BY_FUNCTION, false, &err) && err.code == ERROR_UNSUPPORTED,
	   "places of a recording are refused, with a reason");
	session_close(&s);
}

static void refusals(void)
{
	struct session s;
	struct error err = {0};
	const char *place = "main";
	ok(open_session(&s, &err) && !session_add_events(&s, "nonsense", &err), "an unknown event is an error");
	session_close(&s);
	ok(open_session(&s, &err) && !session_add_regions(&s, &place, 1, &err) && err.code == ERROR_USAGE &&
		   strstr(err.text, "'replay'"),
	   "a backend that counts no regions refuses them by name");
	session_close(&s);
	ok(!session_open(&s, NULL, "nobody", NULL, 0, &err) && err.code == ERROR_USAGE,
	   "an unknown backend is wrong usage");
	session_close(&s);
	ok(!s.events && !s.backend && !s.result, "a session that failed to open is closed as any other");
}

int main(void)
{
	if (!write_recording())
		return 1;
	rows();
	refusals();
	unlink(path);
	return done();
}
