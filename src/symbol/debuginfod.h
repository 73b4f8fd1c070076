/* Debug files from the user's debuginfod servers. The insides of this folder only; see
 * symbols_options.debuginfod.  libdebuginfod is loaded when it is first needed and not linked: it brings an
 * HTTP and a TLS library into each start of tare, most users have set no server, and it is not to be had for a
 * static program. */
#ifndef TARE_SYMBOL_DEBUGINFOD_H
#define TARE_SYMBOL_DEBUGINFOD_H

#include "symbol/module.h"

struct debug_servers;

/* *out is NULL where the user named no servers. False when memory ran out. */
bool debug_servers_new(const struct symbols_options *options, struct debug_servers **out);
void debug_servers_free(struct debug_servers *servers);

/* The debug file of the module's build ID; false: *why says why not. Without a build ID nothing is asked. */
bool debug_servers_fetch(struct debug_servers *servers, const struct module *module, struct elf_file *out,
			 char why[256]);

#endif
