#include "session/profile_views.h"

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
