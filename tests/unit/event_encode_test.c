/* Events: encodings by every naming, for a kernel's tables of PMUs of our own. */
#include <ftw.h>
#include <perfmon/pfmlib.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "event/event.h"
#include "tap.h"

static struct event_table *table;

/* ---- a kernel's tables of PMUs of our own ---- */

static char root[] = "/tmp/tare-event-test-XXXXXX";

static void put(const char *path, const char *text)
{
	char whole[256];
	snprintf(whole, sizeof whole, "%s/%s", root, path);
	for (char *slash = whole + strlen(root) + 1; (slash = strchr(slash, '/')); slash++) {
		*slash = '\0';
		mkdir(whole, 0700);
		*slash = '/';
	}
	FILE *file = fopen(whole, "w");
	if (file) {
		fputs(text, file);
		fclose(file);
	}
}

static void make_sysfs(void)
{
	if (!mkdtemp(root))
		return;
	put("cpu/type", "4\n");
	put("cpu/format/event", "config:0-7\n");
	put("cpu/format/umask", "config:8-15\n");
	put("cpu/format/edge", "config:18\n");
	put("cpu/format/split", "config:0-3,32-35\n");
	put("cpu/format/ldlat", "config1:0-15\n");
	put("cpu/format/whole", "config2:0-63\n");
	put("cpu/format/odd", "config3:0-7\n");
	put("cpu/format/broken", "config:7-0\n");
	put("cpu/events/cpu-cycles", "event=0x3c\n");
	put("cpu/events/mem-loads", "event=0xcd,umask=0x1,ldlat=3\n");
	put("cpu/events/parametric", "event=0x24,umask=?\n");
	put("msr/type", "10\n");
	put("msr/format/event", "config:0-63\n");
	put("msr/events/tsc", "event=0x00\n");
	put("power/type", "14\n");
	put("power/format/event", "config:0-7\n");
	put("power/events/energy-pkg", "event=0x02\n");
	put("power/events/energy-pkg.scale", "2.3283064365386962890625e-10\n");
	put("power/events/energy-pkg.unit", "Joules\n");
	put("power/events/energy-cores", "event=0x01\n");
	put("power/events/energy-cores.scale", "no number\n");
	put("typeless/format/event", "config:0-7\n");
}

static int remove_one(const char *path, const struct stat *info, int kind, struct FTW *at)
{
	(void)info, (void)kind, (void)at;
	return remove(path);
}

static void remove_sysfs(void)
{
	if (nftw(root, remove_one, 8, FTW_DEPTH | FTW_PHYS) != 0)
		printf("# %s stays\n", root);
}

static struct event_machine machine_of(const char *family)
{
	return (struct event_machine){.sysfs_root = root, .family = family, .absent_pmus = true};
}

/* The index-th encoding of a request on a machine of the family; err may be NULL. */
static bool encode(const char *request, const char *family, size_t index, struct event_encoding *out,
		   struct error *err)
{
	struct event event;
	struct event_machine machine = machine_of(family);
	return event_parse(table, request, &event, err) && event_encode(&event, &machine, index, out, err);
}

static void encodes(const char *request, const char *family, uint32_t type, uint64_t config, uint64_t config1,
		    uint64_t config2)
{
	struct event_encoding is;
	struct error err = {0};
	bool done = encode(request, family, 0, &is, &err);
	if (!done)
		printf("# %s\n", err.text);
	else if (is.type != type || is.config != config || is.config1 != config1 || is.config2 != config2)
		printf("# is %u %#" PRIx64 " %#" PRIx64 " %#" PRIx64 "\n", is.type, is.config, is.config1,
		       is.config2);
	ok(done && is.type == type && is.config == config && is.config1 == config1 && is.config2 == config2,
	   "'%s' is type %u, config %#" PRIx64 " %#" PRIx64 " %#" PRIx64, request, type, config, config1, config2);
}

static void does_not_encode(const char *request, enum error_code code, const char *part)
{
	struct event_encoding out;
	struct error err = {0};
	bool done = encode(request, "intel", 0, &out, &err);
	if (done || err.code != code || !strstr(err.text, part))
		printf("# %s, code %d: %s\n", done ? "encoded" : "refused", err.code, err.text);
	ok(!done && err.code == code && strstr(err.text, part), "'%s' is refused: %s", request, part);
}

/* Rows of our own. */
static bool add(const char *text, struct error *err)
{
	return event_table_add(table, text, strlen(text), "my.events", err);
}

/* ---- encodings ---- */

static void test_kernel_names(void)
{
	encodes("cycles", "intel", 0, 0, 0, 0);
	encodes("instructions", "other", 0, 1, 0, 0);
	encodes("cache-references", "intel", 0, 2, 0, 0);
	encodes("cache-misses", "intel", 0, 3, 0, 0);
	encodes("bus-cycles", "intel", 0, 6, 0, 0);
	encodes("stalled-cycles-frontend", "intel", 0, 7, 0, 0);
	encodes("stalled-cycles-backend", "intel", 0, 8, 0, 0);
	encodes("ref-cycles", "intel", 0, 9, 0, 0);
	encodes("task-clock", "intel", 1, 1, 0, 0);
	encodes("page-faults", "intel", 1, 2, 0, 0);
	encodes("context-switches", "intel", 1, 3, 0, 0);
	encodes("cpu-migrations", "intel", 1, 4, 0, 0);
	encodes("minor-faults", "intel", 1, 5, 0, 0);
	encodes("major-faults", "intel", 1, 6, 0, 0);
	/* cache | operation << 8 | result << 16; operations: read 0, write 1, prefetch 2 */
	encodes("l1d-loads", "intel", 3, 0, 0, 0);
	encodes("l1d-load-misses", "intel", 3, 0x10000, 0, 0);
	encodes("l1d-store-misses", "intel", 3, 0x10100, 0, 0);
	encodes("l1i-load-misses", "intel", 3, 0x10001, 0, 0);
	encodes("llc-loads", "intel", 3, 2, 0, 0);
	encodes("llc-prefetch-misses", "intel", 3, 0x10202, 0, 0);
	encodes("dtlb-load-misses", "intel", 3, 0x10003, 0, 0);
	encodes("itlb-load-misses", "intel", 3, 0x10004, 0, 0);
	encodes("branch-loads", "intel", 3, 5, 0, 0);
	encodes("node-store-misses", "intel", 3, 0x10106, 0, 0);
	encodes("r1a8", "intel", 4, 0x1a8, 0, 0);
	encodes("rFFFFffffFFFFffff:u", "intel", 4, UINT64_MAX, 0, 0);
	encodes("branches", "armv8", 4, 0x21, 0, 0);

	struct event_encoding is;
	struct error err = {0};
	ok(!encode("branches", "intel", 0, &is, &err) && err.code == ERROR_UNSUPPORTED,
	   "Arm's code of branches is for Arm");
	ok(encode("branches", "intel", 1, &is, &err) && is.type == 0 && is.config == 4 &&
		   strcmp(is.how, "intel,amd,other:branches") == 0,
	   "elsewhere branches is the kernel's generic event, and the encoding says how");
	ok(!encode("branches", "armv8", 1, &is, &err) && err.code == ERROR_UNSUPPORTED,
	   "the kernel's generic branches are not taken on Arm, where they may be taken branches only");
	ok(!encode("elapsed-time", "intel", 0, &is, &err) && err.code == ERROR_NOT_FOUND,
	   "what perf does not count has no encoding");
	ok(!encode("r1a8", "intel", 1, &is, &err) && err.code == ERROR_NOT_FOUND,
	   "a native name has one encoding");

	bool every = true;
	for (size_t i = 0; i < event_table_count(table); i++) {
		const struct event_definition *row = event_table_at(table, i);
		for (size_t k = 0; row->encodings[k]; k++) {
			if (strncmp(row->encodings[k], "generic:", 8) != 0 &&
			    strncmp(row->encodings[k], "software:", 9) != 0)
				continue;
			if (encode(row->name, "intel", k, &is, &err))
				continue;
			printf("# %s: %s\n", row->name, err.text);
			every = false;
		}
	}
	ok(every, "every generic and software name in the tables has a code");
}

static void test_sysfs(void)
{
	struct event_encoding is;
	encodes("cpu/event=0x3c,umask=0/", "intel", 4, 0x3c, 0, 0);
	encodes("cpu/event=0x3c,umask=0x41/:u", "intel", 4, 0x413c, 0, 0);
	encodes("cpu/edge,event=60/", "intel", 4, 0x4003c, 0, 0);
	encodes("cpu/event=1,event=2/", "intel", 4, 2, 0, 0);
	encodes("cpu/split=0xab/", "intel", 4, 0xa0000000bull, 0, 0);
	encodes("cpu/ldlat=3,event=0xcd/", "intel", 4, 0xcd, 3, 0);
	encodes("cpu/whole=0xffffffffffffffff/", "intel", 4, 0, 0, UINT64_MAX);
	encodes("cpu/config=0x123,config1=4,config2=5/", "intel", 4, 0x123, 4, 5);
	encodes("cpu/cpu-cycles/", "intel", 4, 0x3c, 0, 0);
	encodes("cpu/mem-loads/", "intel", 4, 0x1cd, 3, 0);
	encodes("cpu/mem-loads,ldlat=30/", "intel", 4, 0x1cd, 30, 0);
	encodes("msr/tsc/", "intel", 10, 0, 0, 0);
	encodes("power/energy-pkg/", "intel", 14, 2, 0, 0);
	ok(encode("power/energy-pkg/", "intel", 0, &is, NULL) && is.scale == 0x1p-32,
	   "the scale of events/energy-pkg.scale is taken");
	ok(encode("tsc", "other", 0, &is, NULL) && is.type == 10, "a row may have an encoding by sysfs");

	ok(add("[half]\ndefinition = D.\nunit = u\nscope = package\ncounted_by = perf\n"
	       "encoding = sysfs:power/energy-pkg/*2\n",
	       NULL) &&
		   encode("half", "other", 0, &is, NULL) && is.scale == 0x1p-31,
	   "a row's factor and the kernel's scale multiply");

	does_not_encode("nope/tsc/", ERROR_UNSUPPORTED, "this kernel has no PMU 'nope'");
	does_not_encode("typeless/event=1/", ERROR_UNSUPPORTED, "no PMU 'typeless'");
	does_not_encode("msr/tcs/", ERROR_UNSUPPORTED, "'msr' has no term or event 'tcs'");
	does_not_encode("cpu/event=0x100/", ERROR_USAGE, "0x100 does not fit the term 'event'");
	does_not_encode("cpu/edge=2/", ERROR_USAGE, "0x2 does not fit the term 'edge'");
	does_not_encode("cpu/split=0x100/", ERROR_USAGE, "0x100 does not fit");
	does_not_encode("cpu/event=many/", ERROR_USAGE, "'many' is not a number");
	does_not_encode("cpu/parametric/", ERROR_USAGE, "needs a value for its term 'umask'");
	does_not_encode("cpu/odd=1/", ERROR_UNSUPPORTED, "its format is 'config3:0-7'");
	does_not_encode("cpu/broken=1/", ERROR_UNSUPPORTED, "is not understood");
	does_not_encode("cpu/cpu-cycles,mem-loads/", ERROR_USAGE, "names more than one event");
	does_not_encode("power/energy-cores/", ERROR_UNSUPPORTED, "the scale 'no number'");

	struct error err = {0};
	struct event event;
	struct event_machine machine = machine_of("intel");
	event_parse(table, "cpu/evnet=1/", &event, NULL);
	ok(!event_encode(&event, &machine, 0, &is, &err) && strstr(err.hint, "'event'"),
	   "an unknown term is answered with the nearest ones");
}

static bool pfm_has_intel(void)
{
	struct event_encoding is;
	return encode("skl::INST_RETIRED:ANY_P", "intel", 0, &is, NULL);
}

/* Does libpfm4 have the name for some PMU of the vendor? */
static bool pfm_encodes_somewhere(const char *name)
{
	for (int pmu = 0; pmu < PFM_PMU_MAX; pmu++) {
		pfm_pmu_info_t info = {.size = sizeof info};
		char request[512];
		struct event_encoding is;
		if (pfm_get_pmu_info((pfm_pmu_t)pmu, &info) != PFM_SUCCESS)
			continue;
		snprintf(request, sizeof request, "%s::%s", info.name, name);
		if (encode(request, "intel", 0, &is, NULL))
			return true;
	}
	return false;
}

static void test_pfm(void)
{
	if (!pfm_has_intel()) {
		skip("libpfm4 was built without Intel's tables", "libpfm4's names are encoded");
		return;
	}
	/* Intel SDM volume 3B, 19: event select, umask << 8, cmask << 24 */
	encodes("skl::INST_RETIRED:ANY_P", "intel", 4, 0xc0, 0, 0);
	encodes("skl::inst_retired:any_p", "intel", 4, 0xc0, 0, 0);
	encodes("skl::BR_INST_RETIRED:CONDITIONAL:u", "intel", 4, 0x1c4, 0, 0);
	encodes("skl::MEM_INST_RETIRED:ALL_LOADS", "intel", 4, 0x81d0, 0, 0);
	encodes("skl::INST_RETIRED:ANY_P:c=1", "intel", 4, 0x10000c0, 0, 0);
	encodes("amd64_fam17h_zen2::RETIRED_INSTRUCTIONS:k", "amd", 4, 0xc0, 0, 0);
	does_not_encode("skl::INST_RETIRED:ANY_P:u:c=1", ERROR_USAGE, "has a level inside");
	does_not_encode("skl::INST_RETIRED:ANY_P:k:c=1:u", ERROR_USAGE, "has a level inside");
	does_not_encode("skl::NO_SUCH_EVENT", ERROR_UNSUPPORTED, "'skl::NO_SUCH_EVENT'");
	does_not_encode("skll::INST_RETIRED:ANY_P", ERROR_UNSUPPORTED, "libpfm4 knows no PMU 'skll'");

	struct event event;
	struct event_encoding is;
	struct error err = {0};
	struct event_machine here = machine_of("intel");
	here.absent_pmus = false;
	/* a machine is one of the two at most */
	event_parse(table, "skl::INST_RETIRED:ANY_P", &event, NULL);
	bool skl = event_encode(&event, &here, 0, &is, &err);
	event_parse(table, "amd64_fam17h_zen2::RETIRED_INSTRUCTIONS", &event, NULL);
	bool zen = event_encode(&event, &here, 0, &is, &err);
	ok(!(skl && zen), "another CPU's event is not encoded for this one, even with LIBPFM_ENCODE_INACTIVE=1");
	ok(err.code == ERROR_UNSUPPORTED || zen, "… but unsupported");

	bool every = true;
	for (size_t i = 0; i < event_table_count(table); i++) {
		const struct event_definition *row = event_table_at(table, i);
		for (const char *const *encoding = row->encodings; *encoding; encoding++) {
			char name[256];
			if (strncmp(*encoding, "intel:", 6) != 0 && strncmp(*encoding, "amd:", 4) != 0)
				continue;
			snprintf(name, sizeof name, "%s", strchr(*encoding, ':') + 1);
			name[strcspn(name, "*")] = '\0';
			if (name[0] == 'r' || pfm_encodes_somewhere(name))
				continue;
			printf("# %s: %s\n", row->name, *encoding);
			every = false;
		}
	}
	ok(every, "every name of Intel's and AMD's in the tables is in libpfm4");
	ok(add("[x]\ndefinition = D.\nunit = u\nscope = thread\ncounted_by = perf\n"
	       "encoding = intel:skl::FP_ARITH_INST_RETIRED:256B_PACKED_DOUBLE*4\n",
	       &err) &&
		   encode("x:u", "intel", 0, &is, &err) && is.config == 0x10c7 && is.scale == 4,
	   "a row's name of libpfm4 may have a factor");
}

/* Encodings of a user's row. */
static void test_added(void)
{
	struct error err = {0};
	ok(add("[my-event]\ndefinition = Mine.\nunit = mines\nscope = thread\ncounted_by = perf\n"
	       "encoding = intel:r1a8*4\nencoding = amd,other:r76\n",
	       &err),
	   "a row with encodings for several families is added");
	encodes("my-event", "intel", 4, 0x1a8, 0, 0);

	struct event_encoding is;
	ok(encode("my-event", "intel", 0, &is, NULL) && is.scale == 4, "'*4' makes each count stand for 4");
	ok(!encode("my-event", "amd", 0, &is, &err) && err.code == ERROR_UNSUPPORTED,
	   "another family's encoding is unsupported");
	ok(encode("my-event", "amd", 1, &is, NULL) && is.config == 0x76 && is.scale == 1,
	   "an encoding may be for several families");
	ok(encode("my-event", "other", 1, &is, NULL), "… for each of them");
	ok(!encode("my-event", "armv8", 1, &is, &err) && err.code == ERROR_UNSUPPORTED, "… and for no others");
	ok(!encode("my-event", "amd", 2, &is, &err) && err.code == ERROR_NOT_FOUND,
	   "behind the last there is none");
}

static void test_host(void)
{
	struct event_machine host = event_machine_host();
	equal_text(host.sysfs_root, "/sys/bus/event_source/devices", "the host's PMUs are where the kernel says");
	ok(!host.absent_pmus, "on the host only PMUs that are here are encoded for");
#if defined(__aarch64__)
	equal_text(host.family, "armv8", "an arm64 host is of the armv8 family");
#else
	ok(strcmp(host.family, "intel") == 0 || strcmp(host.family, "amd") == 0 ||
		   strcmp(host.family, "other") == 0,
	   "the host's family is known: %s", host.family);
#endif
}

int main(void)
{
	struct error err = {0};
	setenv("LIBPFM_ENCODE_INACTIVE", "1", 1); /* read by libpfm4 when it starts */
	if (!(table = event_table_new(&err))) {
		ok(false, "the embedded tables parse");
		printf("# %s\n", err.text);
		return done();
	}
	make_sysfs();
	test_kernel_names();
	test_sysfs();
	test_pfm();
	test_added();
	test_host();
	event_table_free(table);
	remove_sysfs();
	return done();
}
