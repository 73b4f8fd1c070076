/* C++ and Rust names by libiberty's demangler, as binutils and gdb print them. */
#include "symbol/symbol.h"

#include <string.h>

#include <libiberty/demangle.h>

char *symbol_demangle(const char *linked_name)
{
	/* Longer ones do exist, and are unreadable either way; a name that was made to grow is not worth the
	 * memory. */
	enum { LONGEST = 8192 };
	if (linked_name[0] != '_' || strnlen(linked_name, LONGEST) == LONGEST)
		return NULL;
	char *name = rust_demangle(linked_name, DMGL_PARAMS | DMGL_ANSI);
	/* only what the Itanium ABI calls mangled: the demangler itself would take "_Z" in front as optional for
	 * some */
	if (!name && linked_name[1] == 'Z')
		name = cplus_demangle_v3(linked_name, DMGL_PARAMS | DMGL_ANSI);
	return name;
}
