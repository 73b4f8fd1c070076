#include "session/profile_views.h"

#include <stdlib.h>

#include "profile/by_task.h"
#include "profile/code.h"

bool session_disassemble(const struct named_profile *named, const uint32_t *rows, size_t n, struct named_code *out,
			 struct error *err)
{
	struct symbols *symbols;
	bool done = true;
	const struct symbols_options wanted = {.size = sizeof wanted, .debuginfod = true};
	for (size_t i = 0; i < n; i++)
		out[i] = (struct named_code){.row = rows[i]};
	if (!symbols_new(&wanted, &symbols, err))
		return false;
	for (size_t i = 0; i < n && done; i++)
		done = named_code_new(named, rows[i], symbols, &out[i], err);
	symbols_free(symbols);
	for (size_t i = 0; i < n && !done; i++)
		named_code_free(&out[i]);
	return done;
}

bool session_profile_part(const struct profile *whole, const struct named_row *row, bool process,
			  struct profile **out, struct error *err)
{
	const struct profile_task *task = row->task;
	if (!profile_part(whole, task->run, task->pid, process ? 0 : task->tid, out, err))
		return false;
	struct profile *p = *out;
	p->command = NULL;
	p->target = arena_printf(&p->arena, "%s (%s)", row->name, row->module);
	if (p->target)
		return true;
	profile_free(p);
	free(p);
	*out = NULL;
	return error_no_memory(err);
}
