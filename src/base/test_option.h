/* Options for the project's own tests, from the environment: what no user needs, and a test cannot reach
 * otherwise. tests/README.md lists them all. A build without tests (-Dtests=false) has none. */
#ifndef TARE_BASE_TEST_OPTION_H
#define TARE_BASE_TEST_OPTION_H

/* The option's value, or NULL: not set, or this build has none. */
const char *test_option(const char *name);

#endif
