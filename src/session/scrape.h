/*
 * Counts for Prometheus while they are being counted: a small HTTP server (RFC 9112) for one page,
 * /metrics.
 *
 *     scrape_begin ──► scrape_set … scrape_set ──► scrape_end
 *
 * 1. It answers in a thread of its own, with the texts that were set last: a reader that is slow, or
 *    sends nothing, holds up neither the counting nor other readers. At most SCRAPE_READERS at once; each has
 *    SCRAPE_SECONDS.
 * 2. A reader that accepts application/openmetrics-text gets that, every other the older format 0.0.4.
 * 3. A request has no body, no more than SCRAPE_REQUEST_MOST bytes, and one answer: the connection is then
 *    closed.
 */
#ifndef TARE_SESSION_SCRAPE_H
#define TARE_SESSION_SCRAPE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

enum { SCRAPE_READERS = 32, SCRAPE_SECONDS = 5, SCRAPE_REQUEST_MOST = 8192 };

/* ---- what a client asks ---- */

enum scrape_asked {
	SCRAPE_INCOMPLETE, /* the head's end has not come yet */
	SCRAPE_MALFORMED,  /* not HTTP/1 */
	SCRAPE_METHOD,     /* neither GET nor HEAD */
	SCRAPE_ELSEWHERE,  /* not /metrics */
	SCRAPE_INDEX,      /* "/" */
	SCRAPE_METRICS,
};

struct scrape_request {
	enum scrape_asked asked;
	bool head_only;   /* HEAD */
	bool openmetrics; /* accepted */
};

/* The first `length` bytes that a client sent. */
struct scrape_request scrape_request_parse(const char *bytes, size_t length);

/* ---- the server ---- */

struct scrape_server;

/* "[HOST]:PORT": is this an address, and not the name of a file? Port 0: one that is free. */
bool scrape_is_address(const char *text);

/* Listens; without a HOST on 127.0.0.1 alone. *url: where, "http://127.0.0.1:9100/metrics", the server's. */
bool scrape_begin(const char *address, struct scrape_server **out, const char **url, struct error *err);
/* Takes both texts, which are freed. */
void scrape_set(struct scrape_server *server, char *openmetrics, char *text_004);
void scrape_end(struct scrape_server *server); /* may be NULL */

#endif
