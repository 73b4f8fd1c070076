/* What the tests of machine files share: a machine's parts by name, and a folder of their own. */
#ifndef TARE_TESTS_MACHINE_PARTS_H
#define TARE_TESTS_MACHINE_PARTS_H

#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "model/declare/machines.h"
#include "tap.h"

static char folder[] = "/tmp/tare-machine-XXXXXX";

static inline const char *path_of(const char *name)
{
	static char path[512];
	snprintf(path, sizeof path, "%s/%s", folder, name);
	return path;
}

static inline void write_file(const char *name, const char *text)
{
	FILE *file = fopen(path_of(name), "w");
	if (!file || fputs(text, file) < 0 || fclose(file) != 0)
		printf("Bail out! cannot write %s\n", path_of(name));
}

static inline const struct machine_cache *cache(const struct machine *m, const char *name)
{
	static const struct machine_cache none;
	for (unsigned i = 0; i < m->n_caches; i++)
		if (strcmp(m->caches[i].name, name) == 0)
			return &m->caches[i];
	return &none;
}

static inline const struct machine_tlb *tlb(const struct machine *m, const char *name)
{
	static const struct machine_tlb none;
	for (unsigned i = 0; i < m->n_tlbs; i++)
		if (strcmp(m->tlbs[i].name, name) == 0)
			return &m->tlbs[i];
	return &none;
}

static inline bool is_cache(const struct machine *m, const char *name, unsigned kilobytes, unsigned ways,
			    unsigned line)
{
	const struct machine_cache *c = cache(m, name);
	bool same = (uint64_t)c->sets * c->ways * c->line_bytes == kilobytes * UINT64_C(1024) && c->ways == ways &&
		    c->line_bytes == line;
	if (!same)
		printf("# %s is %u sets x %u ways x %u\n", name, c->sets, c->ways, c->line_bytes);
	return same;
}

static inline struct machine find(const char *name)
{
	struct machine m = {0};
	struct error err = {0};
	if (!machine_find(name, &m, &err))
		printf("# %s\n", err.text);
	return m;
}

static inline bool make_folder(void)
{
	if (mkdtemp(folder))
		return true;
	printf("Bail out! no temporary folder\n");
	return false;
}

static inline void remove_folder(void)
{
	char command[600];
	snprintf(command, sizeof command, "rm -rf '%s'", folder);
	if (system(command) != 0)
		printf("# %s stays\n", folder);
}

#endif
