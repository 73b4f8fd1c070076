#include "session/metric_level.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "base/str.h"

size_t metric_level_at(const char *name)
{
	const char *level = strrchr(name, ':');
	bool is_level = level && level > name && level[1] && !level[1 + strspn(level + 1, "uk")] &&
			strlen(level) <= 3;
	return is_level ? (size_t)(level - name) : strlen(name);
}

/* As event/formula.c reads names and numbers. */
static size_t word_length(const char *at)
{
	size_t length = 0;
	if (isdigit((unsigned char)*at) || *at == '.') {
		while (isalnum((unsigned char)at[length]) || at[length] == '.')
			length++;
		return length;
	}
	while (isalnum((unsigned char)at[length]) || (at[length] && strchr("-_.:", at[length])))
		length++;
	return isalpha((unsigned char)*at) || *at == '_' ? length : 0;
}

static const char *request_for(const struct metric *metric, const char *const *requests, const char *word,
			       size_t length)
{
	for (size_t i = 0; i < metric_event_count(metric); i++)
		if (strlen(metric_event(metric, i)) == length &&
		    strncmp(metric_event(metric, i), word, length) == 0)
			return requests[i];
	return NULL;
}

const struct metric *metric_renamed(struct metric_table *table, const struct metric *metric, const char *name,
				    const char *const *requests, struct error *err)
{
	struct str text = {0};
	const struct metric *found = NULL;
	str_appendf(&text, "[%s]\ndefinition = %s\nunit = %s\n", name, metric_definition(metric),
		    metric_unit(metric));
	if (metric_caution(metric))
		str_appendf(&text, "caution = %s\n", metric_caution(metric));
	str_append(&text, "formula = ");
	for (const char *at = metric_formula(metric); *at;) {
		size_t length = word_length(at);
		const char *request = length ? request_for(metric, requests, at, length) : NULL;
		if (request)
			str_append(&text, request);
		else
			str_append_bytes(&text, at, length ? length : 1);
		at += length ? length : 1;
	}
	str_append_char(&text, '\n');
	if (text.failed)
		error_no_memory(err);
	else if (metric_table_add(table, text.text, text.length, name, err))
		found = metric_find(table, name, err);
	str_free(&text);
	return found;
}

const struct metric *metric_at_level(struct metric_table *table, const struct metric *metric, const char *level,
				     const char *const *requests, struct error *err)
{
	char name[256];
	snprintf(name, sizeof name, "%s%s", metric_name(metric), level);
	return metric_renamed(table, metric, name, requests, err);
}
