/* Programs whose file gives rights that the kernel withholds from a traced process. */
#ifndef TARE_ENGINE_INJECT_PRIVILEGES_H
#define TARE_ENGINE_INJECT_PRIVILEGES_H

#include <sys/types.h>

/* Why process pid cannot be traced through an exec of the file without losing rights that it would have natively
 * ("it is a set-user-ID program"), or NULL. The text lives for ever. pid 0: the caller, or what it is going to
 * start. */
const char *privileges_of_file(const char *path, pid_t pid);

/* Has this process the capability, by number? */
int privileges_has(unsigned capability);

#endif
