/*
 * libpfm4 in the command is loaded when the first of its names is asked for. Linked, its tables' 41,000 addresses
 * would be written at every start of tare: 1.2 ms of CPU time or more, for which most runs have no use.
 *
 * What always holds: these are the library's functions, by its own names, so that pfm.c calls them as where the
 * library is linked (libtare, a static command); without the library nothing of it starts.
 */
#include <dlfcn.h>
#include <perfmon/pfmlib.h>

struct library {
	__typeof__(pfm_initialize) *initialize;
	__typeof__(pfm_get_pmu_info) *get_pmu_info;
	__typeof__(pfm_get_event_next) *get_event_next;
	__typeof__(pfm_get_event_info) *get_event_info;
	__typeof__(pfm_get_os_event_encoding) *get_os_event_encoding;
	__typeof__(pfm_strerror) *strerror;
};

/* libpfm4's state is the process's, and so is this; see pfm.h for threads. NULL: it is not installed, or is
 * another. */
static const struct library *library(void)
{
	static struct library found;
	static int tried;
	if (!tried) {
		tried = 1;
		void *file = dlopen("libpfm.so.4", RTLD_NOW | RTLD_LOCAL);
		if (!file)
			return NULL;
		found = (struct library){
			(__typeof__(pfm_initialize) *)dlsym(file, "pfm_initialize"),
			(__typeof__(pfm_get_pmu_info) *)dlsym(file, "pfm_get_pmu_info"),
			(__typeof__(pfm_get_event_next) *)dlsym(file, "pfm_get_event_next"),
			(__typeof__(pfm_get_event_info) *)dlsym(file, "pfm_get_event_info"),
			(__typeof__(pfm_get_os_event_encoding) *)dlsym(file, "pfm_get_os_event_encoding"),
			(__typeof__(pfm_strerror) *)dlsym(file, "pfm_strerror"),
		};
		if (!found.get_pmu_info || !found.get_event_next || !found.get_event_info ||
		    !found.get_os_event_encoding || !found.strerror)
			found.initialize = NULL;
	}
	return found.initialize ? &found : NULL;
}

/* The only one that is called without an earlier success. */
pfm_err_t pfm_initialize(void) { return library() ? library()->initialize() : PFM_ERR_NOTSUPP; }

pfm_err_t pfm_get_pmu_info(pfm_pmu_t pmu, pfm_pmu_info_t *output)
{
	return library() ? library()->get_pmu_info(pmu, output) : PFM_ERR_NOINIT;
}

int pfm_get_event_next(int idx) { return library() ? library()->get_event_next(idx) : -1; }

pfm_err_t pfm_get_event_info(int idx, pfm_os_t os, pfm_event_info_t *output)
{
	return library() ? library()->get_event_info(idx, os, output) : PFM_ERR_NOINIT;
}

pfm_err_t pfm_get_os_event_encoding(const char *str, int dfl_plm, pfm_os_t os, void *args)
{
	return library() ? library()->get_os_event_encoding(str, dfl_plm, os, args) : PFM_ERR_NOINIT;
}

const char *pfm_strerror(int code) { return library() ? library()->strerror(code) : "it is not installed"; }
