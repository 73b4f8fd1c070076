#include "engine/inject/own.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "engine/inject/descriptor.h"

struct message {
	uint64_t parent;
	uint32_t index, unused;
};

bool own_sockets(int pair[2])
{
	/* the kernel gives what it allows: room for some hundred messages between two looks */
	const int bytes = 1 << 20;
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, pair))
		return false;
	setsockopt(pair[0], SOL_SOCKET, SO_SNDBUF, &bytes, sizeof bytes);
	return true;
}

int own_next(int socket, uint64_t *parent, uint32_t *index)
{
	struct message message;
	int fd;
	if (descriptor_receive(socket, &message, sizeof message, MSG_DONTWAIT, &fd) != DESCRIPTOR_CAME)
		return -1;
	*parent = message.parent, *index = message.index;
	return fd;
}

/* A file in memory, of a record's size, that can neither be cut nor become longer, nor be sealed against the
 * engine's writing. */
static bool is_record(int fd)
{
	struct stat st;
	int seals = fcntl(fd, F_GET_SEALS); /* an error for every other kind of file */
	return seals >= 0 &&
	       (seals & (F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL)) ==
		       (F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) &&
	       !(seals & (F_SEAL_WRITE | 0x10 /* F_SEAL_FUTURE_WRITE */)) && fstat(fd, &st) == 0 &&
	       S_ISREG(st.st_mode) && (uint64_t)st.st_size >= RECORD_SPACE_OFFSET &&
	       (uint64_t)st.st_size <= RECORD_FILE_BYTES;
}

bool own_take(const struct takeover *how, uint32_t index, pid_t tid, struct takeover *own)
{
	char path[64];
	struct stat parent = {0};
	const struct record_process *process = &how->processes[index];
	snprintf(path, sizeof path, "/proc/%d/fd/%d", (int)tid,
		 (int)__atomic_load_n(&process->own_fd, __ATOMIC_RELAXED));
	int fd = open(path, O_RDWR | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	void *memory = MAP_FAILED;
	if (fd >= 0 && is_record(fd) && fstat(how->fd, &parent) == 0)
		memory = mmap(NULL, RECORD_SPACE_OFFSET, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, fd,
			      0);
	*own = *how;
	own->fd = fd;
	own->record = memory;
	own->processes = (struct record_process *)((char *)memory + RECORD_PROCESSES_OFFSET);
	const struct message message = {.parent = parent.st_ino, .index = index};
	if (memory != MAP_FAILED && descriptor_send(how->own_socket, &message, sizeof message, fd, MSG_DONTWAIT))
		return true;
	if (memory != MAP_FAILED)
		munmap(memory, RECORD_SPACE_OFFSET);
	if (fd >= 0)
		close(fd);
	return false;
}
