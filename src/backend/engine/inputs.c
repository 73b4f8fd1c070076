#include "backend/engine/inputs.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/hash.h"

/* As a note names them: "what it was given differs: …". Served values are the same in each run; how often they are
 * asked for is the program's own doing. */
static const char *const names[RECORD_SAW_KINDS] = {
	[RECORD_SAW_LATE] = "the time (it reads clocks often, and then gets the real time)",
	[RECORD_SAW_ID] = "process or thread ids",
	[RECORD_SAW_ADDRESS] = "addresses of memory",
	[RECORD_SAW_FILE] = "contents of files",
	[RECORD_SAW_SYSTEM_FILE] = "contents of files in /proc and /sys",
	[RECORD_SAW_PIPE] = "what came by pipes",
	[RECORD_SAW_SOCKET] = "what came by sockets",
	[RECORD_SAW_DEVICE] = "what came from devices or terminals",
	[RECORD_SAW_DIRECTORY] = "entries of directories",
	[RECORD_SAW_SIGNAL] = "signals that came",
	[RECORD_SAW_ATTRIBUTES] = "attributes of files (number, device, owner, times)",
	[RECORD_SAW_USER] = "the user's and groups' ids",
	[RECORD_SAW_LIMITS] = "resource limits",
	[RECORD_SAW_SPACE] = "kind, size or room of file systems",
};

static bool was_seen(const struct view *view, bool children, enum record_saw kind)
{
	for (size_t p = 0; p < view->n_processes; p++) {
		const struct view_process *process = &view->processes[p];
		for (size_t t = 0; (!process->descendant || children) && t < process->n_threads; t++)
			if (process->threads[t].record->inputs[kind].times)
				return true;
	}
	return false;
}

void inputs_limits(const struct view *view, bool children, const char *notes[INPUTS_LIMITS])
{
	size_t n = 0;
	if (was_seen(view, children, RECORD_SAW_EXCEEDS))
		notes[n++] =
			"the program uses registers that the processor shown to it lacks: its counts may not be "
			"the same on other machines; --cpu with a higher level shows them";
	if (was_seen(view, children, RECORD_SAW_LATE))
		notes[n++] = "the program reads clocks so often that it was given the real time: its counts need "
			     "not be "
			     "the same in each run";
	notes[n] = NULL;
}

/* Not served, and not the program's own input as files' contents are. */
static const uint8_t of_the_machine[] = {RECORD_SAW_ID,     RECORD_SAW_SYSTEM_FILE, RECORD_SAW_ATTRIBUTES,
					 RECORD_SAW_USER,   RECORD_SAW_LIMITS,      RECORD_SAW_SPACE,
					 RECORD_SAW_DEVICE, RECORD_SAW_SOCKET,      RECORD_SAW_SIGNAL};

void inputs_seen(const struct view *view, bool children, struct str *out)
{
	size_t n = 0;
	for (size_t i = 0; i < sizeof of_the_machine; i++)
		if (was_seen(view, children, of_the_machine[i]))
			str_appendf(out, "%s%s", n++ ? "; " : "", names[of_the_machine[i]]);
}

/* Steele, Lea, Flood 2014: SplitMix64's. */
static uint64_t mixed(uint64_t z)
{
	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
	z = (z ^ z >> 27) * 0x94d049bb133111ebull;
	return z ^ z >> 31;
}

void inputs_write(const struct view *view, bool children, struct str *out)
{
	for (unsigned kind = 0; kind < RECORD_SAW_KINDS; kind++) {
		uint64_t times = 0, sum = 0;
		for (size_t p = 0; p < view->n_processes; p++) {
			const struct view_process *process = &view->processes[p];
			for (size_t t = 0; (!process->descendant || children) && t < process->n_threads; t++) {
				const struct record_input *input = &process->threads[t].record->inputs[kind];
				times += input->times;
				sum += mixed(input->sum);
			}
		}
		if (times && names[kind])
			str_appendf(out, "%s\t%llu\t%llx\n", names[kind], (unsigned long long)times,
				    (unsigned long long)sum);
	}
}

/* ---- what was executed, and by how many ---- */

/* Is there a build ID? The linker makes it of all that it writes, and puts it near the file's begin (elf(5), an
 * NT_GNU_BUILD_ID of 20 bytes). */
static bool has_build_id(const void *begin, size_t n)
{
	static const uint32_t note[] = {4, 20, 3, 0x00554e47 /* "GNU" */};
	return memmem(begin, n, note, sizeof note) != NULL;
}

/* Of the file's contents, or of its begin where that has a build ID; of its path where it cannot be read. Read,
 * not mapped: it may be cut meanwhile. Four sums side by side, as each step of one waits for the step before. */
static uint64_t sum_of_file(const char *path)
{
	enum { WORDS = 8192, LANES = 4 };
	uint64_t words[WORDS], sums[LANES] = {HASH_BEGIN}, sum = HASH_BEGIN;
	ssize_t got = -1;
	struct stat facts;
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	if (fd >= 0 && fstat(fd, &facts) == 0 && S_ISREG(facts.st_mode))
		while ((got = read(fd, words, sizeof words)) > 0) {
			memset((char *)words + got, 0, (size_t)(-got & (8 * LANES - 1)));
			for (size_t i = 0; 8 * i < (size_t)got; i += LANES)
				for (size_t lane = 0; lane < LANES; lane++)
					sums[lane] = hash_number(sums[lane], words[i + lane]);
			if (has_build_id(words, (size_t)got))
				break;
		}
	for (size_t lane = 0; lane < LANES; lane++)
		sum = hash_number(sum, sums[lane]);
	if (fd >= 0)
		close(fd);
	return got < 0 ? hash_text(HASH_BEGIN, path) : hash_number(sum, (uint64_t)facts.st_size);
}

static const struct record_module *modules_of(const struct view_process *process, size_t *n)
{
	*n = process->modules.entries ? process->modules.own : 0;
	return process->modules.entries;
}

/* Did a module before that one have its file? */
static bool was_before(const struct view *view, bool children, const struct record_module *module)
{
	size_t n;
	for (size_t p = 0; p < view->n_processes; p++) {
		const struct record_module *modules = modules_of(&view->processes[p], &n);
		for (size_t i = 0; (!view->processes[p].descendant || children) && i < n; i++) {
			if (&modules[i] == module)
				return false;
			if (strncmp(modules[i].path, module->path, sizeof module->path) == 0)
				return true;
		}
	}
	return false;
}

/* The files that code ran from, whatever they are called. */
static uint64_t sum_of_code(const struct view *view, bool children)
{
	uint64_t sum = 0;
	size_t n;
	for (size_t p = 0; p < view->n_processes; p++) {
		const struct record_module *modules = modules_of(&view->processes[p], &n);
		for (size_t i = 0; (!view->processes[p].descendant || children) && i < n; i++) {
			char path[sizeof modules[i].path + 1] = "";
			memcpy(path, modules[i].path, sizeof modules[i].path);
			if (path[0] == '/' && !was_before(view, children, &modules[i]))
				sum += mixed(sum_of_file(path));
		}
	}
	return sum;
}

static bool is_several(const struct view *view)
{
	for (size_t p = 0; p < view->n_processes; p++)
		if (view->processes[p].entry.forked || view->processes[p].n_threads > 1 ||
		    view->processes[p].entry.thread_count > 1)
			return true;
	return false;
}

void inputs_write_code(const struct view *view, bool children, struct str *out)
{
	bool several = is_several(view);
	str_appendf(out, "code\t%llx\n", (unsigned long long)sum_of_code(view, children));
	if (several || children)
		str_appendf(out, "tasks\t%s\n", several ? "several" : "one");
}
