#include "session/scrape.h"

#include <errno.h>
#include <netdb.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/str.h"

struct scraper {
	int fd;
	uint64_t until_ns; /* then it is closed, whatever it waits for */
	size_t used;       /* of its request */
	char *answer;      /* NULL: the request is still being read */
	size_t length, sent;
	char request[SCRAPE_REQUEST_MOST];
};

struct scrape_server {
	int listener, stop; /* stop: an eventfd */
	pthread_t thread;
	pthread_mutex_t lock; /* of the texts */
	char *openmetrics, *text_004;
	char url[NI_MAXHOST + NI_MAXSERV + 32];
	size_t n_readers;
	struct scraper *readers[SCRAPE_READERS]; /* the thread's own */
};

/* ---- an address ---- */

bool scrape_is_address(const char *text)
{
	const char *colon = strrchr(text, ':');
	return colon && colon[1] && strspn(colon + 1, "0123456789") == strlen(colon + 1) && !strchr(text, '/');
}

/* "[::1]:9100" has brackets, as in a URL. */
static bool split(const char *address, char host[NI_MAXHOST], const char **port)
{
	const char *colon = strrchr(address, ':');
	size_t length = (size_t)(colon - address);
	bool brackets = length > 2 && address[0] == '[' && colon[-1] == ']';
	if (brackets) {
		address++;
		length -= 2;
	}
	*port = colon + 1;
	if (length >= NI_MAXHOST)
		return false;
	memcpy(host, address, length);
	host[length] = '\0';
	return true;
}

static bool listen_at(const struct addrinfo *at, int *out)
{
	int fd = socket(at->ai_family, at->ai_socktype | SOCK_CLOEXEC | SOCK_NONBLOCK, at->ai_protocol), yes = 1;
	if (fd < 0)
		return false;
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
	if (bind(fd, at->ai_addr, at->ai_addrlen) == 0 && listen(fd, SCRAPE_READERS) == 0) {
		*out = fd;
		return true;
	}
	int code = errno;
	close(fd);
	errno = code;
	return false;
}

static bool name_url(struct scrape_server *s)
{
	struct sockaddr_storage at;
	socklen_t length = sizeof at;
	char host[NI_MAXHOST], port[NI_MAXSERV];
	if (getsockname(s->listener, (struct sockaddr *)&at, &length) != 0 ||
	    getnameinfo((struct sockaddr *)&at, length, host, sizeof host, port, sizeof port,
			NI_NUMERICHOST | NI_NUMERICSERV) != 0)
		return false;
	bool brackets = strchr(host, ':') != NULL;
	snprintf(s->url, sizeof s->url, "http://%s%s%s:%s/metrics", brackets ? "[" : "", host, brackets ? "]" : "",
		 port);
	return true;
}

static bool open_listener(struct scrape_server *s, const char *address, struct error *err)
{
	const struct addrinfo hints = {.ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM, .ai_flags = AI_PASSIVE};
	char host[NI_MAXHOST];
	const char *port;
	struct addrinfo *found = NULL;
	unsigned long long number;
	if (!split(address, host, &port) || !str_to_u64(port, &number) || number > 65535) {
		error_set(err, ERROR_USAGE, "'%s' is not [HOST]:PORT", address);
		return error_hint(err, "a port is a number from 1 to 65535; 0 takes one that is free");
	}
	int code = getaddrinfo(*host ? host : "127.0.0.1", port, &hints, &found);
	if (code != 0) {
		error_set(err, ERROR_NOT_FOUND, "cannot listen on '%s': %s", address, gai_strerror(code));
		return error_hint(err, "without a host, ':%s' listens on 127.0.0.1", port);
	}
	int why = 0;
	for (const struct addrinfo *at = found; at && s->listener < 0; at = at->ai_next)
		if (!listen_at(at, &s->listener))
			why = errno;
	freeaddrinfo(found);
	if (s->listener >= 0)
		return name_url(s) || error_set(err, ERROR_SYSTEM, "cannot find out where '%s' listens", address);
	error_set_errno(err,
			why == EACCES       ? ERROR_PERMISSION
			: why == EADDRINUSE ? ERROR_BUSY
					    : ERROR_SYSTEM,
			why, "cannot listen on '%s'", address);
	return error_hint(err, why == EADDRINUSE
				       ? "another program has this port: choose another, or 0 for a free one"
			       : why == EACCES ? "ports below 1024 are for root: choose a higher one"
					       : "give an address of this host, or ':PORT' for 127.0.0.1");
}

/* ---- answers ---- */

static const char index_page[] =
	"<!DOCTYPE html><title>tare</title><p>tare counts. <a href=\"/metrics\">Metrics</a>\n";

static void answer(struct scraper *r, const char *status, const char *type, const char *body, bool head_only)
{
	struct str text = {0};
	str_appendf(&text,
		    "HTTP/1.1 %s\r\nContent-Type: %s\r\nContent-Length: %zu\r\nCache-Control: no-store\r\n"
		    "Connection: close\r\n%s\r\n",
		    status, type, strlen(body), strncmp(status, "405", 3) == 0 ? "Allow: GET, HEAD\r\n" : "");
	if (!head_only)
		str_append(&text, body);
	r->length = text.length;
	r->answer = str_take(&text);
}

static void answer_metrics(struct scrape_server *s, struct scraper *r, const struct scrape_request *request)
{
	pthread_mutex_lock(&s->lock);
	const char *body = request->openmetrics ? s->openmetrics : s->text_004;
	if (body)
		answer(r, "200 OK",
		       request->openmetrics ? "application/openmetrics-text; version=1.0.0; charset=utf-8"
					    : "text/plain; version=0.0.4; charset=utf-8",
		       body, request->head_only);
	else
		answer(r, "503 Service Unavailable", "text/plain", "the counters have not been read yet\n",
		       request->head_only);
	pthread_mutex_unlock(&s->lock);
}

static void answer_request(struct scrape_server *s, struct scraper *r)
{
	const struct scrape_request request = scrape_request_parse(r->request, r->used);
	const char *text = "text/plain; charset=utf-8";
	switch (request.asked) {
	case SCRAPE_INCOMPLETE:
		if (r->used == sizeof r->request)
			answer(r, "431 Request Header Fields Too Large", text, "the request is too long\n", false);
		break;
	case SCRAPE_MALFORMED: answer(r, "400 Bad Request", text, "this is not HTTP/1\n", false); break;
	case SCRAPE_METHOD: answer(r, "405 Method Not Allowed", text, "GET /metrics\n", false); break;
	case SCRAPE_ELSEWHERE:
		answer(r, "404 Not Found", text, "the counts are at /metrics\n", request.head_only);
		break;
	case SCRAPE_INDEX: answer(r, "200 OK", "text/html; charset=utf-8", index_page, request.head_only); break;
	case SCRAPE_METRICS: answer_metrics(s, r, &request); break;
	}
}

/* ---- readers ---- */

/* False: it is done with. */
static bool serve(struct scrape_server *s, struct scraper *r)
{
	if (!r->answer) {
		ssize_t got = recv(r->fd, r->request + r->used, sizeof r->request - r->used, MSG_DONTWAIT);
		if (got <= 0)
			return got < 0 && (errno == EAGAIN || errno == EINTR);
		r->used += (size_t)got;
		answer_request(s, r);
		if (!r->answer)
			return scrape_request_parse(r->request, r->used).asked == SCRAPE_INCOMPLETE;
	}
	ssize_t put = send(r->fd, r->answer + r->sent, r->length - r->sent, MSG_DONTWAIT | MSG_NOSIGNAL);
	if (put < 0)
		return errno == EAGAIN || errno == EINTR;
	r->sent += (size_t)put;
	return r->sent < r->length;
}

static void drop(struct scrape_server *s, size_t i)
{
	struct scraper *r = s->readers[i];
	if (r->answer && r->sent == r->length)
		shutdown(r->fd, SHUT_WR);
	close(r->fd);
	free(r->answer);
	free(r);
	s->readers[i] = s->readers[--s->n_readers];
}

static void accept_reader(struct scrape_server *s, uint64_t now_ns)
{
	int fd = accept4(s->listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
	if (fd < 0)
		return;
	struct scraper *r = calloc(1, sizeof *r);
	if (!r) {
		close(fd);
		return;
	}
	r->fd = fd;
	r->until_ns = now_ns + SCRAPE_SECONDS * UINT64_C(1000000000);
	s->readers[s->n_readers++] = r;
}

static void *run(void *context)
{
	struct scrape_server *s = context;
	struct clock clock = clock_monotonic();
	for (;;) {
		struct pollfd fds[SCRAPE_READERS + 2] = {{.fd = s->stop, .events = POLLIN}};
		size_t n = s->n_readers;
		/* a full house: the next one waits in the kernel's queue */
		fds[1] = (struct pollfd){.fd = n < SCRAPE_READERS ? s->listener : -1, .events = POLLIN};
		for (size_t i = 0; i < n; i++)
			fds[2 + i] = (struct pollfd){.fd = s->readers[i]->fd,
						     .events = s->readers[i]->answer ? POLLOUT : POLLIN};
		if (poll(fds, n + 2, n ? 250 : -1) < 0 && errno != EINTR)
			return NULL;
		if (fds[0].revents)
			return NULL;
		uint64_t now = clock_now_ns(&clock);
		for (size_t i = n; i-- > 0;) /* backwards: drop() fills the gap with the last one */
			if ((fds[2 + i].revents && !serve(s, s->readers[i])) || now >= s->readers[i]->until_ns)
				drop(s, i);
		if (fds[1].revents)
			accept_reader(s, now);
	}
}

/* ---- the server ---- */

/* Signals are the main thread's: it waits for the program's end. */
static bool start_thread(struct scrape_server *s, struct error *err)
{
	sigset_t all, old;
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	int code = pthread_create(&s->thread, NULL, run, s);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	return code == 0 ||
	       error_set_errno(err, ERROR_SYSTEM, code, "cannot start the thread that serves the counts");
}

static void release(struct scrape_server *s)
{
	while (s->n_readers)
		drop(s, s->n_readers - 1);
	if (s->listener >= 0)
		close(s->listener);
	if (s->stop >= 0)
		close(s->stop);
	pthread_mutex_destroy(&s->lock);
	free(s->openmetrics);
	free(s->text_004);
	free(s);
}

bool scrape_begin(const char *address, struct scrape_server **out, const char **url, struct error *err)
{
	struct scrape_server *s = calloc(1, sizeof *s);
	*out = NULL;
	if (!s)
		return error_no_memory(err);
	s->listener = -1;
	s->stop = eventfd(0, EFD_CLOEXEC);
	pthread_mutex_init(&s->lock, NULL);
	if (s->stop < 0)
		error_set_errno(err, ERROR_SYSTEM, errno, "cannot serve the counts");
	else if (open_listener(s, address, err) && start_thread(s, err)) {
		*out = s;
		*url = s->url;
		return true;
	}
	release(s);
	return false;
}

void scrape_set(struct scrape_server *s, char *openmetrics, char *text_004)
{
	pthread_mutex_lock(&s->lock);
	char *old[] = {s->openmetrics, s->text_004};
	s->openmetrics = openmetrics;
	s->text_004 = text_004;
	pthread_mutex_unlock(&s->lock);
	free(old[0]);
	free(old[1]);
}

void scrape_end(struct scrape_server *s)
{
	const uint64_t one = 1;
	if (!s)
		return;
	if (write(s->stop, &one, sizeof one) == sizeof one)
		pthread_join(s->thread, NULL);
	release(s);
}
