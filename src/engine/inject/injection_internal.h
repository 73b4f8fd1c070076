/* What the files of one measurement share: injection.c, setup.c, record_file.c. */
#ifndef TARE_ENGINE_INJECT_INJECTION_INTERNAL_H
#define TARE_ENGINE_INJECT_INJECTION_INTERNAL_H

#include "engine/inject/injection.h"
#include "engine/inject/takeover.h"

struct injection {
	struct takeover how;
	uint64_t file_bytes;
	const unsigned char *whole; /* the file, mapped at once for reading; NULL where address space is limited */
	pid_t attendant;
	injection_fold *fold;
	injection_answer *answer;
	void *answer_context;
	injection_functions *functions;
	void *functions_context;
	injection_caller *caller;
	void *caller_context;
	injection_share *share;
	const void *fold_context;
	uint64_t whole_blocks;
	unsigned *holds;
	/* where the attendant tells of records that processes have made for themselves; -1 */
	int own_socket;
	struct {
		struct injection *injection;
		const struct injection *parent;
		uint32_t index;
	} * own;
	size_t n_own;
};

static inline uint64_t whole_pages(uint64_t bytes)
{
	return (bytes + RECORD_PAGE - 1) & ~(uint64_t)(RECORD_PAGE - 1);
}

/* setup.c: the image's file, which programs begin with. First the image; then, behind it, what the options ask
 * for; then nobody can change it any more. False: errno says why. */
uint64_t setup_image_bytes(void);
bool setup_image(int fd);
bool setup_options(struct injection *injection, const struct injection_options *options);
bool setup_seal(struct injection *injection);
/* A file of its own, as the one of `how`, with these pieces behind those that it has: its fields in *fresh. */
bool setup_renew(const struct takeover *how, const void *pieces, size_t bytes, struct takeover *fresh);
int memory_file(
	const char *name); /* never executed as a program; that it is mapped executable is another matter */

/* record_file.c: a lock of the file's first byte; it ends with the process that has it, whatever happens to that.
 * type: as of fcntl(2). */
void record_lock(const struct injection *injection, short type);

#endif
