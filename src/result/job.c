#include "result/job.h"

const char *member_state_name(enum member_state state)
{
	static const char *const names[] = {"reported",      "never began", "ended without a result",
					    "still running", "unreadable",  "no file has its result"};
	return names[state];
}
