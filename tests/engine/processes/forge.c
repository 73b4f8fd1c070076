/*
 * forge RECORD: a process that no program of the record is, and that has the record's token in its memory, is named in an entry as one that
 * is about to exec. Prints what the attendant answers, and whether it is traced then.
 */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "engine/wire/record.h"

static int traced_by(void)
{
	char line[256];
	int tracer = -1;
	FILE *file = fopen("/proc/self/status", "re");
	while (file && fgets(line, sizeof line, file))
		sscanf(line, "TracerPid: %d", &tracer);
	if (file)
		fclose(file);
	return tracer;
}

int main(int argc, char **argv)
{
	static struct record_head bait; /* has the token where a record has it, and is not mapped of the record */
	int fd = open(argc > 1 ? argv[1] : "", O_RDWR);
	char *memory = fd < 0 ? MAP_FAILED : mmap(NULL, RECORD_SPACE_OFFSET, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (memory == MAP_FAILED)
		return 77;
	struct record_head *record = (struct record_head *)memory;
	uint32_t index = __atomic_fetch_add(&record->process_count, 1, __ATOMIC_ACQ_REL);
	struct record_process *process = (struct record_process *)(memory + RECORD_PROCESSES_OFFSET) + index;
	bait.token = record->token;
	process->pid = process->ask_tid = (uint32_t)getpid();
	process->record_at = (uint64_t)&bait;
	process->parent = RECORD_NONE;
	__atomic_store_n(&process->ask, RECORD_ASK_EXEC, __ATOMIC_RELEASE);
	uint32_t ticket = __atomic_fetch_add(&record->requests, 1, __ATOMIC_ACQ_REL), ask;
	__atomic_store_n(&record->queue[ticket % RECORD_QUEUE], index + 1, __ATOMIC_RELEASE);
	/* the attendant's wait ends with the next request of a real process: the caller makes one */
	while ((ask = __atomic_load_n(&process->ask, __ATOMIC_ACQUIRE)) == RECORD_ASK_EXEC)
		nanosleep(&(struct timespec){0, 1000000}, NULL);
	printf("%s, %s\n", ask == RECORD_ASK_REFUSED ? "refused" : "granted", traced_by() == 0 ? "not traced" : "traced");
	return 0;
}
