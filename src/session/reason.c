#include "session/reason.h"

#include <ctype.h>
#include <string.h>

#include "base/str.h"

/* The length of a quoted text that begins here; 0 when none does. An apostrophe within a word begins none. */
static size_t quoted(const char *text, const char *at)
{
	if (*at != '\'' || (at > text && isalnum((unsigned char)at[-1])))
		return 0;
	const char *end = strchr(at + 1, '\'');
	return end ? (size_t)(end - at) + 1 : 0;
}

static void append_remedy(struct str *text, const char *remedy)
{
	if (remedy && remedy[0])
		str_appendf(text, "; %s", remedy);
}

static const char *common_part(struct arena *arena, const char *why, const char *remedy, const char *name)
{
	struct str text = {0};
	for (const char *at = why; *at;) {
		size_t length = quoted(why, at);
		if (length == 0) {
			str_append_char(&text, *at++);
			continue;
		}
		bool own = length == strlen(name) + 2 && strncmp(at + 1, name, length - 2) == 0;
		/* "cannot open counter 'cycles': …" is "cannot open counter: …" */
		if (own && text.length && text.text[text.length - 1] == ' ')
			text.text[--text.length] = '\0';
		else
			str_append(&text, "'\u2026'");
		at += length;
	}
	append_remedy(&text, remedy);
	const char *common = text.failed ? NULL : arena_strdup(arena, text.text ? text.text : "");
	str_free(&text);
	return common;
}

size_t reasons_add(struct reasons *reasons, struct arena *arena, const char *why, const char *remedy,
		   const char *name)
{
	const char *common = common_part(arena, why, remedy, name);
	size_t i = 0;
	if (!common)
		return 0;
	while (i < reasons->items.count && strcmp(reasons->items.items[i].common, common) != 0)
		i++;
	if (i == reasons->items.count) {
		struct str text = {0};
		str_append(&text, why);
		append_remedy(&text, remedy);
		const char *first = text.failed ? NULL : arena_strdup(arena, text.text ? text.text : "");
		str_free(&text);
		if (!first || !vec_push(&reasons->items, ((struct reason){common, first, 0})))
			return 0;
	}
	reasons->items.items[i].events++;
	return i + 1;
}

const char *reasons_text(const struct reasons *reasons, size_t number)
{
	const struct reason *reason = &reasons->items.items[number - 1];
	return reason->events > 1 ? reason->common : reason->first;
}
