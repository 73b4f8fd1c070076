#include "base/test_option.h"

#include <stdlib.h>

#ifdef TARE_TEST_OPTIONS
const char *test_option(const char *name) { return secure_getenv(name); }
#else
const char *test_option(const char *name)
{
	(void)name;
	return NULL;
}
#endif
