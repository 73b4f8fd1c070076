#include "api/counters.h"

#include <stdio.h>
#include <string.h>

/* The public numbers are those of the inside. */
_Static_assert((int)TARE_ERROR_USAGE == (int)ERROR_USAGE && (int)TARE_ERROR_SYNTAX == (int)ERROR_SYNTAX &&
		       (int)TARE_ERROR_NOT_FOUND == (int)ERROR_NOT_FOUND &&
		       (int)TARE_ERROR_UNSUPPORTED == (int)ERROR_UNSUPPORTED &&
		       (int)TARE_ERROR_PERMISSION == (int)ERROR_PERMISSION &&
		       (int)TARE_ERROR_BUSY == (int)ERROR_BUSY && (int)TARE_ERROR_LIMIT == (int)ERROR_LIMIT &&
		       (int)TARE_ERROR_NO_MEMORY == (int)ERROR_NO_MEMORY && (int)TARE_ERROR_IO == (int)ERROR_IO &&
		       (int)TARE_ERROR_SYSTEM == (int)ERROR_SYSTEM,
	       "error codes");
_Static_assert(sizeof(((struct tare_error *)0)->text) == sizeof(((struct error *)0)->text) &&
		       sizeof(((struct tare_error *)0)->hint) == sizeof(((struct error *)0)->hint),
	       "error texts");

bool api_fail(struct tare_error *out, const struct error *inner)
{
	if (!out)
		return false;
	out->code = (int)inner->code;
	out->os_errno = inner->os_errno;
	memcpy(out->text, inner->text, sizeof out->text);
	memcpy(out->hint, inner->hint, sizeof out->hint);
	return false;
}

bool api_fail_text(struct tare_error *out, enum tare_error_code code, const char *text, const char *hint)
{
	struct error inner;
	error_set(&inner, (enum error_code)code, "%s", text);
	error_hint(&inner, "%s", hint);
	return api_fail(out, &inner);
}

bool api_fail_errno(struct tare_error *out, enum tare_error_code code, int os_errno, const char *text)
{
	struct error inner;
	error_set_errno(&inner, (enum error_code)code, os_errno, "%s", text);
	return api_fail(out, &inner);
}
