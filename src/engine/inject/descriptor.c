#include "engine/inject/descriptor.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

union control {
	char room[CMSG_SPACE(sizeof(int))];
	struct cmsghdr align;
};

bool descriptor_send(int socket, const void *message, size_t bytes, int fd, int flags)
{
	union control control = {{0}};
	struct iovec vector = {(void *)message, bytes};
	struct msghdr m = {.msg_iov = &vector,
			   .msg_iovlen = 1,
			   .msg_control = control.room,
			   .msg_controllen = sizeof control.room};
	control.align = (struct cmsghdr){
		.cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS, .cmsg_len = CMSG_LEN(sizeof fd)};
	memcpy(CMSG_DATA(&control.align), &fd, sizeof fd);
	return sendmsg(socket, &m, MSG_NOSIGNAL | flags) == (ssize_t)bytes;
}

enum descriptor_came descriptor_receive(int socket, void *message, size_t bytes, int flags, int *fd)
{
	union control control = {{0}};
	struct iovec vector = {message, bytes};
	struct msghdr m = {.msg_iov = &vector,
			   .msg_iovlen = 1,
			   .msg_control = control.room,
			   .msg_controllen = sizeof control.room};
	ssize_t got;
	while ((got = recvmsg(socket, &m, MSG_CMSG_CLOEXEC | flags)) < 0 && errno == EINTR)
		continue;
	if (got < 0)
		return errno == EAGAIN || errno == EWOULDBLOCK ? DESCRIPTOR_NOT_YET : DESCRIPTOR_NONE;
	if (control.align.cmsg_type != SCM_RIGHTS || control.align.cmsg_len != CMSG_LEN(sizeof *fd))
		return DESCRIPTOR_NONE;
	memcpy(fd, CMSG_DATA(&control.align), sizeof *fd);
	if (got == (ssize_t)bytes)
		return DESCRIPTOR_CAME;
	close(*fd);
	return DESCRIPTOR_NONE;
}
