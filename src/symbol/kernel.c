#include "symbol/kernel.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/file.h"
#include "base/vec.h"

/* A kernel with all its modules has some 20 MB. */
enum { FILE_MOST = 256 << 20 };

struct kernel_symbol {
	uint64_t address;
	const char *name;
	uint32_t module; /* 0: the kernel itself */
	uint8_t rank;    /* of several at one address the highest is shown; 0: it is not code */
};

struct kernel_module {
	const char *name; /* in [] */
	uint64_t begins, ends;
};

struct kernel_names {
	struct arena arena;
	VEC(struct kernel_symbol) symbols; /* ascending */
	VEC(struct kernel_module) modules; /* [0]: the kernel */
	char trouble[512], hint[512];
};

static bool set_trouble(struct kernel_names *k, const char *text, const char *hint)
{
	snprintf(k->trouble, sizeof k->trouble, "%s", text);
	snprintf(k->hint, sizeof k->hint, "%s", hint);
	return true;
}

/* The file's text; NULL, and *memory tells if memory ran out. */
static char *read_file(const char *directory, const char *name, bool *memory, struct error *err)
{
	char path[4096];
	snprintf(path, sizeof path, "%s/%s", directory, name);
	char *text = file_read(path, FILE_MOST, NULL, err);
	*memory = text || err->code != ERROR_NO_MEMORY;
	return text;
}

/* ---- modules: "name size uses used-by state address" (proc(5)) ---- */

static bool read_modules(struct kernel_names *k, char *text)
{
	char *rest = text;
	for (char *line; (line = strsep(&rest, "\n"));) {
		char name[128];
		unsigned long long bytes, address;
		if (sscanf(line, "%127s %llu %*s %*s %*s %llx", name, &bytes, &address) != 3 || !address ||
		    address + bytes < address)
			continue;
		struct kernel_module m = {
			.name = arena_printf(&k->arena, "[%s]", name), .begins = address, .ends = address + bytes};
		if (!m.name || !vec_push(&k->modules, m))
			return false;
	}
	return true;
}

/* The module of that name, made where /proc/modules did not have it ([bpf], [__builtin__kprobes]). */
static bool module_of(struct kernel_names *k, const char *name, uint32_t last, uint32_t *out)
{
	if (strcmp(k->modules.items[last].name, name) == 0) { /* kallsyms has them one after the other */
		*out = last;
		return true;
	}
	for (size_t i = 0; i < k->modules.count; i++)
		if (strcmp(k->modules.items[i].name, name) == 0) {
			*out = (uint32_t)i;
			return true;
		}
	struct kernel_module m = {.name = arena_strdup(&k->arena, name)};
	*out = (uint32_t)k->modules.count;
	return m.name && vec_push(&k->modules, m);
}

/* ---- symbols: "address type name", and "\t[module]" ---- */

/* Names without leading underscores first, among these global ones. */
static uint8_t rank_of(char type, const char *name)
{
	/* the linker's marks behind the last function */
	if (!strchr("tTwW", type) || strcmp(name, "_etext") == 0 || strcmp(name, "_einittext") == 0)
		return 0;
	return (uint8_t)(1 + (type == 'T' ? 1 : 0) + (name[0] != '_' ? 4 : name[1] != '_' ? 2 : 0));
}

static bool read_symbol(struct kernel_names *k, char *line, bool *any_address)
{
	char *end, *name, *module;
	uint64_t address = strtoull(line, &end, 16);
	if (end == line || *end != ' ' || !end[1] || end[2] != ' ' || !end[3])
		return true;
	name = end + 3;
	*any_address |= address != 0;
	if (!address)
		return true;
	struct kernel_symbol s = {.address = address};
	if ((module = strchr(name, '\t')))
		*module++ = '\0';
	s.rank = rank_of(end[1], name);
	uint32_t last = k->symbols.count ? k->symbols.items[k->symbols.count - 1].module : 0;
	if (module && *module == '[' && !module_of(k, module, last, &s.module))
		return false;
	s.name = name; /* in the text, which the arena's copy outlives */
	return vec_push(&k->symbols, s);
}

static int by_address(const void *a, const void *b)
{
	const struct kernel_symbol *x = a, *y = b;
	if (x->address != y->address)
		return x->address < y->address ? -1 : 1;
	if (x->rank != y->rank)
		return x->rank > y->rank ? -1 : 1;
	return strcmp(x->name, y->name);
}

/* Of each address the best one stays. */
static void keep_best(struct kernel_names *k)
{
	size_t kept = 0;
	if (k->symbols.count)
		qsort(k->symbols.items, k->symbols.count, sizeof *k->symbols.items, by_address);
	for (size_t i = 0; i < k->symbols.count; i++)
		if (!kept || k->symbols.items[kept - 1].address != k->symbols.items[i].address)
			k->symbols.items[kept++] = k->symbols.items[i];
	k->symbols.count = kept;
}

/* Why every address is 0: kernel/ksyms_common.c, kallsyms_show_value(). */
static bool not_permitted(struct kernel_names *k, const char *directory)
{
	struct error err;
	bool memory;
	char *text = read_file(directory, "sys/kernel/kptr_restrict", &memory, &err);
	int level = text ? atoi(text) : 1;
	free(text);
	if (level >= 2)
		return set_trouble(k, "the kernel shows no addresses to anyone (kernel.kptr_restrict is 2)",
				   "run 'sysctl kernel.kptr_restrict=1' as root, and tare as root");
	if (geteuid() == 0)
		return set_trouble(k, "the kernel shows no addresses here: this root lacks CAP_SYSLOG",
				   "run tare outside of the container, or give it CAP_SYSLOG");
	return set_trouble(k, "the kernel shows no addresses to this user",
			   "run tare as root, or run 'sysctl kernel.kptr_restrict=0 kernel.perf_event_paranoid=1' "
			   "as root");
}

static bool read_all(struct kernel_names *k, const char *directory)
{
	struct error err = {0};
	struct kernel_module kernel = {.name = "[kernel]"};
	bool memory, any_line = false, any_address = false;
	if (!vec_push(&k->modules, kernel))
		return false;
	char *modules = read_file(directory, "modules", &memory, &err);
	bool done = memory && (!modules || read_modules(k, modules));
	free(modules);
	if (!done)
		return false;
	char *text = read_file(directory, "kallsyms", &memory, &err);
	if (!text)
		return memory && set_trouble(k, err.text, err.hint);
	char *kept = arena_strdup(&k->arena, text), *rest = kept;
	free(text);
	if (!kept)
		return false;
	for (char *line; (line = strsep(&rest, "\n"));) {
		any_line |= *line != '\0';
		if (!read_symbol(k, line, &any_address))
			return false;
	}
	keep_best(k);
	if (!any_line)
		return set_trouble(k, "'/proc/kallsyms' is empty",
				   "run a kernel that was built with CONFIG_KALLSYMS");
	if (!any_address)
		return not_permitted(k, directory);
	return k->symbols.count || set_trouble(k, "'/proc/kallsyms' has no line that is a symbol", "");
}

bool kernel_new(const char *directory, struct kernel_names **out, struct error *err)
{
	struct kernel_names *k = *out = calloc(1, sizeof *k);
	if (k && read_all(k, directory ? directory : "/proc"))
		return true;
	kernel_free(k);
	*out = NULL;
	return error_no_memory(err);
}

void kernel_free(struct kernel_names *k)
{
	if (!k)
		return;
	arena_free(&k->arena);
	vec_free(&k->symbols);
	vec_free(&k->modules);
	free(k);
}

bool kernel_find(const struct kernel_names *k, uint64_t address, struct kernel_code *out)
{
	size_t low = 0, high = k->symbols.count;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (k->symbols.items[middle].address <= address)
			low = middle + 1;
		else
			high = middle;
	}
	/* the last symbol of all has no end but its module's */
	const struct kernel_symbol *s = low ? &k->symbols.items[low - 1] : NULL;
	if (!s || !s->rank)
		return false;
	const struct kernel_module *m = &k->modules.items[s->module];
	/* a symbol outside of its module (one was loaded anew while the files were read) names nothing in it */
	if (m->ends ? s->address < m->begins || address >= m->ends
		    : low == k->symbols.count && address != s->address)
		return false;
	*out = (struct kernel_code){
		.function = s->name, .module = m->name, .begins = s->address, .module_begins = m->begins};
	return true;
}

const char *kernel_trouble(const struct kernel_names *k, const char **hint)
{
	if (hint)
		*hint = k->hint;
	return k->trouble[0] ? k->trouble : NULL;
}
