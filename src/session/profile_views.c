#include "session/profile_views.h"

#include "profile/code.h"
#include "store/profile/profile_file.h"

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

bool session_read_moments(const char *path, uint64_t from_ns, uint64_t to_ns, struct profile **out,
			  struct error *err)
{
	const struct profile_read_options part = {.from_ns = from_ns, .to_ns = to_ns, .moments = true};
	return profile_file_read(path, &part, out, err);
}
