/* Messages between processes that carry a descriptor each, by a socket of AF_UNIX (unix(7), SCM_RIGHTS). */
#ifndef TARE_ENGINE_INJECT_DESCRIPTOR_H
#define TARE_ENGINE_INJECT_DESCRIPTOR_H

#include <stdbool.h>
#include <stddef.h>

/* flags: of sendmsg. The sender keeps its descriptor. */
bool descriptor_send(int socket, const void *message, size_t bytes, int fd, int flags);

enum descriptor_came {
	DESCRIPTOR_CAME,
	DESCRIPTOR_NOT_YET, /* no message, of a socket that does not wait */
	DESCRIPTOR_NONE     /* the other end is closed, or its message is not such a one */
};
/* flags: of recvmsg. On DESCRIPTOR_CAME the message is of so many bytes, and *fd the caller's. */
enum descriptor_came descriptor_receive(int socket, void *message, size_t bytes, int flags, int *fd);

#endif
