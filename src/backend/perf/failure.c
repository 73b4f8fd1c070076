#include "backend/perf/failure.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>

/* "counter 'cycles:u' on CPU 3" */
static void subject(char *text, size_t size, const struct attempt *a)
{
	int used = snprintf(text, size, "counter '%.80s'", a->event);
	if (a->cpu >= 0 && a->task < 0)
		snprintf(text + used, size - (size_t)used, " on CPU %d", a->cpu);
	else if (a->task > 0)
		snprintf(text + used, size - (size_t)used, " of thread %d", (int)a->task);
}

bool failure_explain(int os_errno, const struct attempt *a, const struct machine_state *m, struct error *err)
{
	char what[160];
	subject(what, sizeof what, a);
	(void)m;
	return error_set_errno(err, os_errno == EACCES || os_errno == EPERM ? ERROR_PERMISSION : ERROR_UNSUPPORTED, os_errno,
			       "cannot open %s", what);
}
