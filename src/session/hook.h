/* Shell commands between executions: what prepares them and cleans up after them. They are not counted. */
#ifndef TARE_SESSION_HOOK_H
#define TARE_SESSION_HOOK_H

#include <stdbool.h>

#include "base/error.h"

/* Runs `command` by /bin/sh in `directory` (NULL: tare's own), with an empty standard input; its output goes to
 * standard error when `shown`, else nowhere. what: "--prepare", for messages. False when it could not run, or
 * ended with anything but 0. */
bool hook_run(const char *what, const char *command, const char *directory, bool shown, struct error *err);

#endif
