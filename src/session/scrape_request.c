/* The head of a request, as far as it matters here. See scrape.h. */
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "session/scrape.h"

struct span {
	const char *at, *end;
};

static bool span_is(struct span s, const char *word)
{
	size_t n = strlen(word);
	return (size_t)(s.end - s.at) == n && strncasecmp(s.at, word, n) == 0;
}

static struct span trimmed(struct span s)
{
	while (s.at < s.end && (*s.at == ' ' || *s.at == '\t'))
		s.at++;
	while (s.at < s.end && (s.end[-1] == ' ' || s.end[-1] == '\t' || s.end[-1] == '\r'))
		s.end--;
	return s;
}

/* Cuts off what stands before the next `separator`. */
static struct span next_part(struct span *rest, char separator)
{
	const char *at = memchr(rest->at, separator, (size_t)(rest->end - rest->at));
	struct span part = {rest->at, at ? at : rest->end};
	rest->at = at ? at + 1 : rest->end;
	return part;
}

/* "q=0.5", "q=0": is the type refused? */
static bool is_refused(struct span parameters)
{
	while (parameters.at < parameters.end) {
		struct span p = trimmed(next_part(&parameters, ';'));
		if (p.end - p.at < 3 || strncasecmp(p.at, "q=", 2) != 0)
			continue;
		for (p.at += 2; p.at < p.end && (*p.at == '0' || *p.at == '.');)
			p.at++;
		return p.at == p.end;
	}
	return false;
}

static bool accepts_openmetrics(struct span value)
{
	while (value.at < value.end) {
		struct span type = next_part(&value, ','), name = trimmed(next_part(&type, ';'));
		if (span_is(name, "application/openmetrics-text") && !is_refused(type))
			return true;
	}
	return false;
}

/* "GET /metrics HTTP/1.1" */
static void first_line(struct span line, struct scrape_request *out)
{
	struct span method = next_part(&line, ' '), target = next_part(&line, ' '), path;
	out->asked = SCRAPE_MALFORMED;
	if (line.end - line.at != 8 || memcmp(line.at, "HTTP/1.", 7) != 0 || method.at == method.end ||
	    target.at == target.end)
		return;
	out->head_only = span_is(method, "HEAD");
	path = next_part(&target, '?');
	out->asked = !out->head_only && !span_is(method, "GET") ? SCRAPE_METHOD
		     : span_is(path, "/metrics")                ? SCRAPE_METRICS
		     : span_is(path, "/")                       ? SCRAPE_INDEX
								: SCRAPE_ELSEWHERE;
}

struct scrape_request scrape_request_parse(const char *bytes, size_t length)
{
	struct scrape_request out = {.asked = SCRAPE_INCOMPLETE};
	const char *end = memmem(bytes, length, "\r\n\r\n", 4), *bare = memmem(bytes, length, "\n\n", 2);
	if (!end || (bare && bare < end))
		end = bare;
	if (!end)
		return out;
	struct span head = {bytes, end};
	first_line(trimmed(next_part(&head, '\n')), &out);
	while (head.at < head.end) {
		struct span line = next_part(&head, '\n'), name = next_part(&line, ':');
		if (span_is(trimmed(name), "accept") && accepts_openmetrics(trimmed(line)))
			out.openmetrics = true;
	}
	return out;
}
