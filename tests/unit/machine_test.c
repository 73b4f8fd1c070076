/* The machines that are carried inside, this machine out of recorded CPUID answers, and how they are drawn. */
#include "machine_parts.h"
#include "model/declare/check.h"
#include "model/declare/draw.h"
#include "model/declare/host.h"

/* ---- shipped machines ---- */

static void every_value_has_a_source(const char *name)
{
	struct machine_description d;
	struct error err = {0};
	struct machine_fault fault;
	bool read = machine_describe(name, &d, &err);
	if (!read)
		printf("# %s\n", err.text);
	ok(read, "machine '%s' is read", name);
	size_t without = 0;
	bool page = false;
	for (size_t i = 0; i < d.n_values; i++) {
		const struct machine_value *v = &d.values[i];
		page |= strcmp(v->stanza, "machine") == 0 && strcmp(v->key, "page") == 0;
		if (v->source && strlen(v->source) >= 3)
			continue;
		printf("# %s:%u: [%s] %s has no source\n", v->file, v->line, v->stanza, v->key);
		without++;
	}
	ok(read && without == 0 && d.n_values > 10, "every value of machine '%s' has a source", name);
	ok(page, "machine '%s' states the size of its pages: none is assumed", name);
	equal_text(d.machine.name, name, "the machine has the name that it was asked for by");
	ok(read && machine_is_sound(&d.machine, &fault), "machine '%s' passes the check by itself", name);
	machine_description_free(&d);
}

static void papers(void)
{
	struct machine m = find("r12000");
	ok(is_cache(&m, "L1I", 32, 2, 64), "r12000: L1I is 32 KB, 2-way, 64-byte lines (Korn 3.2)");
	ok(is_cache(&m, "L1D", 32, 2, 32), "r12000: L1D is 32 KB, 2-way, 32-byte lines (Korn 3.3)");
	ok(is_cache(&m, "L2", 1024, 2, 128) && cache(&m, "L2")->holds == 3,
	   "r12000: L2 is 1 MB, 2-way, 128-byte lines, unified (Korn 3.4)");
	ok(tlb(&m, "TLB")->ways * tlb(&m, "TLB")->sets == 64 && tlb(&m, "TLB")->sets == 1 &&
		   tlb(&m, "TLB")->pages_per_entry == 2,
	   "r12000: the TLB has 64 entries of page pairs (Korn 3.5)");
	equal_u64(m.page_bytes, 4096, "r12000: pages of 4 KB (Korn 3.5)");
	ok(m.family == FAMILY_R12000, "r12000: its counters are its own (Korn, table 1)");
	ok(strcmp(m.tlbs[m.first_data_tlb].name, "TLB") == 0, "r12000: data goes to the TLB itself");
	ok(m.direction.entries == 2048 && m.targets.btb_sets * m.targets.btb_ways == 32,
	   "r12000: 2048 counters and 32 targets");
	m = find("r10000");
	ok(m.direction.kind == PREDICT_BIMODAL && m.direction.entries == 512 && m.direction.counter_bits == 2 &&
		   m.targets.btb_sets == 0,
	   "r10000: 512 2-bit counters, no BTB");
	ok(m.page_bytes == 16384 && m.tlbs[m.first_data_tlb].page_bytes == 0 && m.family == FAMILY_MIPS,
	   "r10000: pages of 16 KB (Zagha 4.2), which its TLB holds; its own counters");
	m = find("power3");
	ok(is_cache(&m, "L1I", 32, 128, 128) && is_cache(&m, "L1D", 64, 128, 128),
	   "power3: 32 and 64 KB, 128-way, 128-byte lines (Nieto 4.6)");
	equal_u64(m.fetch_bytes, 32, "power3: fetches eight instructions of 4 bytes (Nieto 4.6)");
	m = find("power4");
	ok(is_cache(&m, "L1I", 64, 1, 128) && is_cache(&m, "L1D", 32, 2, 128) &&
		   is_cache(&m, "L2", 1536, 8, 128) && is_cache(&m, "L3", 32 * 1024, 8, 512),
	   "power4: 64 KB, 32 KB, 1.5 MB, 32 MB (Nieto 3)");
	equal_u64(cache(&m, "L2")->sets, 1536, "power4: the L2's sets are no power of two");
	ok(cache(&m, "L2")->shared && cache(&m, "L3")->shared && !cache(&m, "L1D")->shared,
	   "power4: two processors share L2 and L3");
	m = find("pentium");
	ok(is_cache(&m, "L1I", 8, 2, 32) && is_cache(&m, "L1D", 8, 2, 32) && is_cache(&m, "L2", 256, 1, 32),
	   "pentium: 8 + 8 KB 2-way, 256 KB direct-mapped, 32-byte lines (Safford, table 5.5)");
	ok(cache(&m, "L1D")->write == WRITE_BACK && cache(&m, "L2")->write == WRITE_BACK &&
		   cache(&m, "L1D")->replacement == REPLACE_LRU,
	   "pentium: write back, LRU (Safford, table 5.5)");
	ok(!cache(&m, "L1D")->write_allocate && cache(&m, "L2")->write_allocate && m.page_bytes == 4096,
	   "pentium: writes that miss bring no line into L1D (Alpert & Avnon 1993)");
	ok(m.targets.btb_sets * m.targets.btb_ways == 256 && m.direction.kind == PREDICT_BTB,
	   "pentium: a BTB of 256 entries that predicts");
	m = find("alpha21264");
	ok(is_cache(&m, "L1I", 64, 2, 64) && is_cache(&m, "L2", 2048, 1, 64) &&
		   m.direction.kind == PREDICT_TOURNAMENT,
	   "alpha21264: 64 KB 2-way, 2 MB direct-mapped, tournament");
	m = find("sapphire-rapids");
	ok(is_cache(&m, "L1D", 48, 12, 64) && is_cache(&m, "L2", 2048, 16, 64) &&
		   is_cache(&m, "L3", 105 * 1024, 15, 64),
	   "sapphire-rapids: 48 KB, 2 MB, 105 MB");
	m = find("zen4");
	ok(is_cache(&m, "L1D", 32, 8, 64) && is_cache(&m, "L2", 1024, 8, 64) &&
		   is_cache(&m, "L3", 32 * 1024, 16, 64),
	   "zen4: 32 KB, 1 MB, 32 MB");
	m = find("neoverse-v2");
	ok(is_cache(&m, "L1D", 64, 4, 64) && is_cache(&m, "L2", 1024, 8, 64), "neoverse-v2: 64 KB, 1 MB");
}

static void names(void)
{
	const char *const *all = machine_names();
	equal_text(all[0], "host", "'host' is the first name");
	size_t n = 0;
	bool sorted = true;
	for (; all[n]; n++)
		sorted &= n < 2 || strcmp(all[n - 1], all[n]) < 0;
	ok(sorted && n >= 10, "the others are sorted");
	struct machine m;
	struct error err = {0};
	ok(!machine_find("r1200", &m, &err) && err.code == ERROR_NOT_FOUND && strstr(err.hint, "r12000"),
	   "the nearest name is proposed");
	ok(!machine_find("recent", &m, &err) && !machine_find("", &m, &err), "what machines extend is no machine");
}

static void variants(void)
{
	struct machine m = find("zen4+prefetch");
	bool all = true;
	for (unsigned at = m.first_data; at < m.n_caches; at = m.caches[at].next)
		all &= m.caches[at].prefetch == PREFETCH_STRIDE && m.caches[at].prefetch_degree == 1;
	equal_text(m.name, "zen4+prefetch", "a variant has its own name");
	ok(all && m.caches[m.first_instruction].prefetch == PREFETCH_NONE && m.direction.kind == PREDICT_TAGE &&
		   is_cache(&m, "L1D", 32, 8, 64),
	   "+prefetch: a stride prefetcher in each cache for data, and nothing else");
	m = find("pentium+prefetch+backward-taken");
	equal_text(m.name, "pentium+prefetch+backward-taken", "suffixes are in the order that they were given in");
	ok(m.direction.kind == PREDICT_BACKWARD_TAKEN && m.caches[m.first_data].prefetch == PREFETCH_STRIDE,
	   "each does its part");
	struct error err = {0};
	struct machine_fault fault;
	ok(machine_is_sound(&m, &fault), "and the machine is sound");
	ok(!machine_find("zen4+prefetching", &m, &err) && !machine_find("+prefetch", &m, &err) &&
		   !machine_find("zen4+prefetch+prefetch+prefetch", &m, &err),
	   "another suffix, a suffix alone, and more than there are: no machine");
}

/* ---- check ---- */

static void checks_structs(void)
{
	struct machine good = find("zen4"), m;
	struct machine_fault f;
	ok(machine_is_sound(&good, &f), "a machine of a file is sound");
	m = good, m.caches[0].next = 0;
	ok(!machine_is_sound(&m, &f), "a level that leads to itself is not");
	m = good, m.caches[0].ways = 0;
	ok(!machine_is_sound(&m, &f) && !strcmp(f.stanza, "L1I") && !strcmp(f.key, "ways") &&
		   !strncmp(f.why, "0 ways", 6) && f.hint[0],
	   "0 ways are not, and it says where");
	m = good, m.first_data = 99;
	ok(!machine_is_sound(&m, &f), "a first level that is none is not");
	m = good, m.n_caches = 9;
	ok(!machine_is_sound(&m, &f), "nine caches are not");
	m = good, memset(m.caches[1].name, 'x', 8);
	ok(!machine_is_sound(&m, &f), "a name without an end is not");
	m = good, memcpy(m.caches[1].name, m.caches[0].name, 8);
	ok(!machine_is_sound(&m, &f), "two of one name are not");
	m = good, m.direction.kind = 200;
	ok(!machine_is_sound(&m, &f), "a predictor that is none is not");
	m = good, m.first_data = MACHINE_NONE;
	ok(!machine_is_sound(&m, &f) && strstr(f.why, "nothing leads to 'L1D'"),
	   "a cache that nothing leads to is not");
}

/* ---- this machine ---- */

struct answer {
	uint32_t leaf, subleaf;
	struct host_registers r;
};

static struct host_registers recorded(void *context, uint32_t leaf, uint32_t subleaf)
{
	for (const struct answer *a = context; a->leaf != 0xffffffff; a++)
		if (a->leaf == leaf && a->subleaf == subleaf)
			return a->r;
	return (struct host_registers){0};
}

#define INTEL                                                                                                     \
	{                                                                                                         \
		0, 0, { 0x20, 0x756e6547, 0x6c65746e, 0x49656e69 }                                                \
	}
#define AMD                                                                                                       \
	{                                                                                                         \
		0, 0, { 0x10, 0x68747541, 0x444d4163, 0x69746e65 }                                                \
	}
#define END                                                                                                       \
	{                                                                                                         \
		0xffffffff, 0, { 0 }                                                                              \
	}

/* as this project's development machine answered: an Emerald Rapids guest of KVM, without TLBs */
static const struct answer guest[] = {INTEL,
				      {1, 0, {0x000c06f2, 0x01020800, 0xfffa3203, 0x1f8bfbff}},
				      {4, 0, {0x04000121, 0x02c0003f, 0x0000003f, 0}},
				      {4, 1, {0x04000122, 0x01c0003f, 0x0000003f, 0}},
				      {4, 2, {0x04000143, 0x03c0003f, 0x000007ff, 0}},
				      {4, 3, {0x04004163, 0x04c0003f, 0x00033fff, 0}},
				      {0xb, 0, {0, 1, 0x100, 1}},
				      {0x40000000, 0, {0x40000001, 0x4b4d564b, 0x564b4d56, 0x4d}},
				      {0x80000000, 0, {0x80000008, 0, 0, 0}},
				      END};

/* Golden Cove outside of a hypervisor: leaf 0x18 as in Intel's description of the leaf */
static const struct answer golden_cove[] = {INTEL,
					    {4, 0, {0xfc004121, 0x02c0003f, 0x3f, 0}},
					    {4, 1, {0xfc004122, 0x01c0003f, 0x3f, 0}},
					    {4, 2, {0xfc01c143, 0x0240003f, 0x7ff, 0}},
					    {4, 3, {0xfc1fc163, 0x0240003f, 0x9fff, 4}},
					    {0xb, 0, {1, 2, 0x100, 0}},
					    {0x18, 0, {8, 0, 0, 0}},
					    {0x18, 1, {0, 0x00080001, 0x20, 0x4022}},
					    {0x18, 2, {0, 0x00080006, 4, 0x4022}},
					    {0x18, 3, {0, 0x0010000f, 1, 0x4125}},
					    {0x18, 4, {0, 0x00060001, 0x10, 0x4024}},
					    {0x18, 5, {0, 0x00040006, 8, 0x4024}},
					    {0x18, 6, {0, 0x00080008, 2, 0x4024}},
					    {0x18, 7, {0, 0x00080007, 0x80, 0x4043}},
					    {0x18, 8, {0, 0x00080009, 0x80, 0x4043}},
					    {0x80000000, 0, {0x80000008, 0, 0, 0}},
					    END};

static const struct answer zen4[] = {AMD,
				     {0xb, 0, {1, 2, 0x100, 0}},
				     {0x80000000, 0, {0x80000028, 0, 0, 0}},
				     {0x80000005, 0, {0xff48ff40, 0xff48ff40, 0x20080140, 0x20080140}},
				     {0x80000006, 0, {0x5c002200, 0x6c004200, 0x04006140, 0x00808140}},
				     {0x8000001d, 0, {0x00004121, 0x01c0003f, 0x3f, 0}},
				     {0x8000001d, 1, {0x00004122, 0x01c0003f, 0x3f, 0}},
				     {0x8000001d, 2, {0x00004143, 0x01c0003f, 0x7ff, 2}},
				     {0x8000001d, 3, {0x0003c163, 0x03c0003f, 0x7fff, 1}},
				     END};

static struct machine_description host_of(const struct answer *answers, const char *caches)
{
	struct host_probe probe = {.cpuid = answers ? recorded : NULL,
				   .context = (void *)answers,
				   .cache_folder = caches,
				   .cores = 4};
	struct machine_description d = {0};
	struct str text = {0};
	struct error err = {0};
	if (!host_write_conf(&probe, &text, &err) ||
	    !machine_parse(text.text, text.length, "this machine", NULL, "host", &d, &err))
		printf("# %s\n", err.text);
	str_free(&text);
	return d;
}

static void sysfs_cache(const char *index, const char *const *values)
{
	static const char *const files[] = {
		"level", "type", "size", "ways_of_associativity", "coherency_line_size", "shared_cpu_list"};
	char name[64];
	mkdir(path_of("cache"), 0700);
	snprintf(name, sizeof name, "cache/%s", index);
	mkdir(path_of(name), 0700);
	for (size_t i = 0; i < 6; i++) {
		if (!values[i])
			continue;
		snprintf(name, sizeof name, "cache/%s/%s", index, files[i]);
		write_file(name, values[i]);
	}
}

static void this_machine(void)
{
	struct machine_description d = host_of(guest, NULL);
	const struct machine *m = &d.machine;
	ok(is_cache(m, "L1I", 32, 8, 64) && is_cache(m, "L1D", 48, 12, 64) && is_cache(m, "L2", 2048, 16, 64) &&
		   is_cache(m, "L3", 266240, 20, 64),
	   "a guest of KVM: caches as leaf 4 shows them, sets no power of two among them");
	ok(cache(m, "L3")->shared && !cache(m, "L2")->shared && !cache(m, "L1D")->shared,
	   "the last level alone is shared");
	ok(m->family == FAMILY_GOLDEN_COVE && m->page_bytes == 4096,
	   "an Emerald Rapids: generic names as of Golden Cove; pages of 4K");
	ok(strstr(m->title, "as shown by KVM"), "the title says that a hypervisor shows it");
	ok(tlb(m, "DTLB")->sets * tlb(m, "DTLB")->ways == 64 && m->direction.kind == PREDICT_TAGE && m->cores == 4,
	   "what CPUID does not say comes from host.conf");
	machine_description_free(&d);

	d = host_of(golden_cove, NULL);
	ok(m->family == FAMILY_INTEL, "another of Intel's: as of Intel before Golden Cove");
	ok(is_cache(m, "L2", 1280, 10, 64) && is_cache(m, "L3", 25600, 10, 64),
	   "Golden Cove: 1.25 MB and 25 MB, 10-way");
	ok(!cache(m, "L1D")->shared && cache(m, "L2")->shared,
	   "two hardware threads of one core do not make a cache shared, eight do");
	ok(tlb(m, "ITLB")->sets * tlb(m, "ITLB")->ways == 256 &&
		   tlb(m, "ITLB2M")->sets * tlb(m, "ITLB2M")->ways == 32 &&
		   tlb(m, "DTLB")->sets * tlb(m, "DTLB")->ways == 96 && tlb(m, "DTLB2M")->page_bytes == 2u << 20,
	   "Golden Cove: TLBs of leaf 0x18, apart for 4K and 2M");
	ok(tlb(m, "STLB")->ways == 16 && tlb(m, "STLB")->sets == 128,
	   "Golden Cove: both halves of the second level hold pages of 4K");
	ok(m->tlbs[tlb(m, "DTLB")->next].page_bytes == 2u << 20 &&
		   strcmp(m->tlbs[tlb(m, "DTLB2M")->next].name, "STLB") == 0,
	   "a TLB of 4K pages leads to that of 2M pages, and that to the second level");
	machine_description_free(&d);

	d = host_of(zen4, NULL);
	ok(m->family == FAMILY_AMD, "AMD's: as of AMD");
	ok(is_cache(m, "L1D", 32, 8, 64) && is_cache(m, "L2", 1024, 8, 64) && is_cache(m, "L3", 32 * 1024, 16, 64),
	   "Zen 4: caches of Fn8000_001D");
	ok(cache(m, "L2")->inclusion == INCLUSION_INCLUSIVE && cache(m, "L3")->inclusion == INCLUSION_NONE &&
		   cache(m, "L3")->shared,
	   "Zen 4: inclusion as CPUID says");
	ok(tlb(m, "DTLB")->ways == 72 && tlb(m, "DTLB")->sets == 1 && tlb(m, "DTLB")->page_bytes == 0 &&
		   tlb(m, "ITLB")->ways == 64,
	   "Zen 4: first-level TLBs for pages of any size, fully associative");
	ok(tlb(m, "L2DTLB")->sets * tlb(m, "L2DTLB")->ways == 3072 &&
		   tlb(m, "L2ITLB")->sets * tlb(m, "L2ITLB")->ways == 512 && tlb(m, "STLB")->sets == 0,
	   "Zen 4: second-level TLBs apart, and host.conf's common one is dropped");
	machine_description_free(&d);

	sysfs_cache("index0", (const char *const[]){"1\n", "Data\n", "64K\n", "4\n", "64\n", "0\n"});
	sysfs_cache("index1", (const char *const[]){"1\n", "Instruction\n", "64K\n", "4\n", "64\n", "0\n"});
	sysfs_cache("index2", (const char *const[]){"2\n", "Unified\n", "1024K\n", NULL, "64\n", "0\n"});
	char path[512];
	snprintf(path, sizeof path, "%s", path_of("cache"));
	d = host_of(NULL, path);
	ok(m->family == FAMILY_OTHER, "without CPUID, tare's sentences as they stand");
	ok(is_cache(m, "L1D", 64, 4, 64) && is_cache(m, "L2", 1024, 8, 64) && m->n_caches == 3 &&
		   cache(m, "L2")->next == MACHINE_NONE,
	   "without CPUID: caches of sysfs, 8 ways where it says none, no L3 where there is none");
	machine_description_free(&d);

	struct host_probe probe = {.cache_folder = path_of("nowhere")};
	struct str text = {0};
	struct error err = {0};
	ok(!host_write_conf(&probe, &text, &err) && err.code == ERROR_UNSUPPORTED &&
		   strstr(err.hint, "tare list machines"),
	   "a machine that says nothing is refused, and what to do is said");
	str_free(&text);
}

/* ---- text ---- */

static void draws(unsigned long long bytes, const char *expected)
{
	struct str text = {0};
	machine_size_text(bytes, &text);
	equal_text(text.text, expected, "a size is written by its largest unit");
	str_free(&text);
}

static void drawing(void)
{
	draws(512, "512");
	draws(32 << 10, "32K");
	draws(1536 << 10, "1.5M");
	draws(1920 << 10, "1920K");
	draws(UINT64_C(4) << 30, "4G");
	draws(0, "0");
	for (const char *const *name = machine_names(); *name; name++) {
		struct machine m = find(*name);
		struct str text = {0};
		size_t widest = 0;
		bool all = true;
		machine_draw(&m, 80, &text);
		for (const char *line = text.text; line && *line; line += strcspn(line, "\n") + 1)
			widest = strcspn(line, "\n") > widest ? strcspn(line, "\n") : widest;
		for (unsigned i = 0; i < m.n_caches; i++)
			all &= strstr(text.text, m.caches[i].name) != NULL;
		for (unsigned i = 0; i < m.n_tlbs; i++)
			all &= strstr(text.text, m.tlbs[i].name) != NULL;
		ok(all && widest <= 80 && widest > 40,
		   "'%s' is drawn with all that it has, in lines of at most 80 columns", *name);
		str_free(&text);
	}
}

int main(void)
{
	if (!make_folder())
		return 1;
	for (const char *const *name = machine_names(); *name; name++)
		every_value_has_a_source(*name);
	papers();
	names();
	variants();
	checks_structs();
	this_machine();
	drawing();
	remove_folder();
	return done();
}
