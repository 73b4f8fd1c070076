/* /proc/self/maps, line by line: for cache/memory.c (what is executable) and stream/objects.c (which data lies
 * where). */
#include "engine/runtime/cache/memory.h"

static uint64_t hex(const char **text)
{
	uint64_t value = 0;
	for (;; ++*text) {
		char c = **text;
		if (c >= '0' && c <= '9')
			value = value << 4 | (uint64_t)(c - '0');
		else if (c >= 'a' && c <= 'f')
			value = value << 4 | (uint64_t)(c - 'a' + 10);
		else
			return value;
	}
}

/* "start-end rwxp offset device inode   path". False: it has another form */
static bool parse(const char *text, struct mapping *m)
{
	m->start = hex(&text);
	text++;
	m->end = hex(&text);
	if (text[0] != ' ' || m->end <= m->start)
		return false;
	m->protection = (text[1] == 'r' ? PROT_READ_ : 0u) | (text[2] == 'w' ? PROT_WRITE_ : 0u) |
			(text[3] == 'x' ? PROT_EXEC_ : 0u);
	m->shared = text[4] == 's';
	text += 6;
	m->offset = hex(&text);
	while (*text == ' ')
		text++;
	uint64_t major = hex(&text);
	text += *text == ':';
	uint64_t minor = hex(&text);
	m->device = (minor & 0xff) | major << 8 | (minor & ~0xffull) << 12; /* as stat has it */
	while (*text == ' ')
		text++;
	for (m->inode = 0; *text >= '0' && *text <= '9'; text++)
		m->inode = m->inode * 10 + (uint64_t)(*text - '0');
	while (*text == ' ')
		text++;
	m->path = text;
	return true;
}

bool maps_read(void (*each)(const struct mapping *m, void *context), void *context)
{
	static char text[8192];
	struct mapping m;
	uint32_t have = 0;
	long fd = sys3(SYS_open, "/proc/self/maps", O_CLOEXEC_, 0), n;
	if (failed(fd))
		return false;
	while ((n = sys3(SYS_read, fd, text + have, sizeof text - have - 1)) > 0) {
		have += (uint32_t)n;
		uint32_t from = 0;
		for (uint32_t i = 0; i < have; i++)
			if (text[i] == '\n') {
				text[i] = 0;
				if (parse(text + from, &m))
					each(&m, context);
				from = i + 1;
			}
		have -= from;
		for (uint32_t i = 0; i < have; i++)
			text[i] = text[from + i];
		if (have == sizeof text - 1)
			have = 0; /* a line longer than any */
	}
	sys1(SYS_close, fd);
	return true;
}
