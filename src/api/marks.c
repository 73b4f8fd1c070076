#include "api/marks.h"

#include <fcntl.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include "api/regions.h"

static int marks_fd = -1;
static _Atomic unsigned marks_made;

bool marks_open(void)
{
	const char *path = secure_getenv(MARKS_VARIABLE);
	/* a file that is not there: what set the variable is gone, or this process may not see the file */
	if (path && *path)
		marks_fd = open(path, O_WRONLY | O_APPEND | O_CLOEXEC | O_NOFOLLOW);
	return marks_fd >= 0;
}

bool mark_region(const struct tare_region *region, enum region_mark_kind kind)
{
	struct timespec now;
	if (marks_fd < 0 || !region)
		return marks_fd >= 0;
	unsigned made = atomic_fetch_add_explicit(&marks_made, 1, memory_order_relaxed);
	if (made > MARKS_MOST)
		return false;
	bool last = made == MARKS_MOST;
	clock_gettime(CLOCK_MONOTONIC, &now);
	size_t bytes = region->name_bytes < MARK_NAME_MOST ? region->name_bytes : MARK_NAME_MOST;
	const struct mark_head head = {.time_ns = (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec,
				       .thread = (uint32_t)syscall(SYS_gettid),
				       .kind = (uint16_t)(last ? MARK_LAST : kind),
				       .name_bytes = (uint16_t)(last ? 0 : bytes)};
	const struct iovec parts[] = {{(void *)&head, sizeof head}, {(void *)region->name, head.name_bytes}};
	return writev(marks_fd, parts, 2) == (ssize_t)(sizeof head + head.name_bytes) && !last;
}
