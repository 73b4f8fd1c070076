#include "event/request.h"

#include <string.h>

#include "base/str.h"
#include "event/event.h"

static unsigned levels_named(const char *text, size_t length)
{
	if (length == 1 && *text == 'u')
		return LEVEL_USER;
	if (length == 1 && *text == 'k')
		return LEVEL_KERNEL;
	if (length == 2 && (strncmp(text, "uk", 2) == 0 || strncmp(text, "ku", 2) == 0))
		return LEVEL_USER | LEVEL_KERNEL;
	return 0;
}

static bool read_period(const char *text, const char *digits, uint64_t *period, struct error *err)
{
	unsigned long long number;
	/* str_to_u64 would take 0x too, and the grammar says decimal */
	if (!*digits || digits[strspn(digits, "0123456789")] || !str_to_u64(digits, &number) || number == 0) {
		error_set(err, ERROR_USAGE, "the period of '%s' is not a whole number above 0", text);
		return error_hint(err, "write it as in 'cycles@1000003'");
	}
	*period = number;
	return true;
}

bool request_split(const char *text, struct request *out, struct error *err)
{
	*out = (struct request){.name_length = strlen(text), .levels = LEVEL_USER | LEVEL_KERNEL};
	if (out->name_length > REQUEST_LENGTH_MOST)
		return error_set(err, ERROR_USAGE, "the event name '%.40s…' is longer than %d characters", text,
				 REQUEST_LENGTH_MOST);
	for (const char *c = text; *c; c++)
		if ((unsigned char)*c < ' ' || *c == 0x7f)
			return error_set(err, ERROR_USAGE, "the event name '%s' has a control character", text);

	const char *at = strrchr(text, '@');
	if (at) {
		if (!read_period(text, at + 1, &out->period, err))
			return false;
		out->name_length = (size_t)(at - text);
	}
	const char *colon = memrchr(text, ':', out->name_length);
	if (colon) {
		unsigned levels = levels_named(colon + 1, out->name_length - (size_t)(colon + 1 - text));
		if (levels) {
			out->levels = levels;
			out->levels_given = true;
			out->name_length = (size_t)(colon - text);
		}
	}
	if (out->name_length == 0)
		return error_set(err, ERROR_USAGE, "'%s' names no event", text);
	return true;
}

bool request_is_raw(const char *name, uint64_t *config)
{
	size_t digits = strlen(name) - (*name != '\0');
	if (*name != 'r' || digits < 1 || digits > 16 || name[1 + strspn(name + 1, "0123456789abcdefABCDEF")])
		return false;
	*config = 0;
	for (const char *c = name + 1; *c; c++)
		*config = *config << 4 | (uint64_t)(*c <= '9' ? *c - '0' : (*c | 0x20) - 'a' + 10);
	return true;
}
