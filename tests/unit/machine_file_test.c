/* The format of machine files: what it means, and what is refused, with file, line and reason. */
#include "base/file.h"
#include "machine_parts.h"
#include "model/declare/conf_keys.h"

static bool parse(const char *text, struct machine_description *d, struct error *err)
{
	return machine_parse(text, strlen(text), "f.conf", NULL, "f", d, err);
}

/* ---- format ---- */

static void geometry(const char *keys, unsigned sets, unsigned ways, unsigned line)
{
	char text[256];
	struct machine_description d;
	struct error err = {0};
	snprintf(text, sizeof text, "[L1D]\n%snext = memory\n", keys);
	bool read = parse(text, &d, &err);
	const struct machine_cache *c = &d.machine.caches[0];
	if (!read)
		printf("# %s\n", err.text);
	ok(read && c->sets == sets && c->ways == ways && c->line_bytes == line,
	   "%.*s makes %u sets, %u ways, lines of %u", (int)strcspn(keys, "\n"), keys, sets, ways, line);
	machine_description_free(&d);
}

static void format(void)
{
	geometry("size = 32K\nways = 2\nline = 64\n", 256, 2, 64);
	geometry("ways = 2\nline = 64\nsets = 256\n", 256, 2, 64);
	geometry("sets = 256\nline = 64\nsize = 32 KB\n", 256, 2, 64);
	geometry("line = 64\nsize = 32768\nways = 2\nsets = 0x100\n", 256, 2, 64);
	geometry("ways = full\nsize = 2KiB\nline = 32\n", 1, 64, 32);
	geometry("sets = 3\nways = 5\nline = 16\n", 3, 5, 16);
	geometry("size = 266240K\nways = 20\nline = 64\n", 212992, 20, 64);

	struct machine_description d;
	struct error err = {0};
	ok(parse("# all that may be said of a cache\n[machine]\ntitle = T\n\n[L1]\nsize = 1K\n ways = 9\n", &d,
		 &err) == false &&
		   strstr(err.text, "f.conf:6: [L1] size: '1K ways = 9' is not"),
	   "an indented line continues the value before it");
	const char *text =
		"[machine]\ntitle = Two levels\ncores = 2\nfetch_bytes = 8\nseed = 7\ncoherent = yes\n"
		"[L2]\nsize = 64K\nways = 4\nline = 64\nnext = memory\nshared = yes\ninclusion = "
		"inclusive\nreplacement = srrip\nrrip_bits = 3\n"
		"[L1D]\nsize = 4K\nways = 4\nline = 64\nnext = L2\nreplacement = plru\nwrite = "
		"through\nwrite_allocate = no\nprefetch = stride\n"
		"prefetch_degree = 2\nprefetch_entries = 32\nvictim_lines = 8\nsource = a\n"
		"[L1I]\nsize = 4K\nways = 1\nline = 32\nnext = L2\n"
		"[DTLB]\nentries = 16\nways = full\npage = 4K\nnext = L2TLB\n[ITLB]\nentries = 8\nways = "
		"2\npages_per_entry = 2\nnext = walk\n"
		"[L2TLB]\nsets = 16\nways = 4\npage = any\nholds = data\nnext = walk\nreplacement = random\n"
		"[branches]\npredictor = gshare\nentries = 4K\nhistory_bits = 12\ncounter_bits = 2\ninitial = "
		"2\naddress_shift = 1\n"
		"[targets]\nbtb_entries = 64\nbtb_ways = 4\nbtb_replacement = fifo\nbtb_allocation = "
		"all\nbtb_tag_bits = 8\nbtb_holds_returns = yes\n"
		"return_entries = 4\nindirect_entries = 128\nindirect_history = 2\naddress_shift = 2\n";
	bool read = parse(text, &d, &err);
	if (!read)
		printf("# %s\n", err.text);
	ok(read, "a file with everything in it is read");
	const struct machine *m = &d.machine;
	const struct machine_cache *l1d = cache(m, "L1D"), *l1i = cache(m, "L1I"), *l2 = cache(m, "L2");
	ok(l1d->next == l2 - m->caches && l1i->next == l2 - m->caches && l2->next == MACHINE_NONE && l2 > l1d &&
		   l2 > l1i,
	   "a level comes after those that lead to it, whatever the order of the stanzas");
	ok(m->first_data == l1d - m->caches && m->first_instruction == l1i - m->caches,
	   "the first levels are those that nothing leads to");
	ok(l1d->holds == MACHINE_DATA && l1i->holds == MACHINE_INSTRUCTIONS && l2->holds == 3,
	   "a name that ends in I or D says what is held");
	ok(l1d->replacement == REPLACE_PLRU && l1d->write == WRITE_THROUGH && !l1d->write_allocate &&
		   l1d->prefetch == PREFETCH_STRIDE && l1d->prefetch_degree == 2 && l1d->prefetch_entries == 32 &&
		   l1d->victim_lines == 8,
	   "L1D is what its keys say");
	ok(l2->shared && l2->inclusion == INCLUSION_INCLUSIVE && l2->replacement == REPLACE_SRRIP &&
		   l2->rrip_bits == 3,
	   "L2 is what its keys say");
	ok(l1i->write_allocate && l1i->write == WRITE_BACK && l1i->replacement == REPLACE_LRU &&
		   l1i->prefetch == PREFETCH_NONE && l1i->inclusion == INCLUSION_NONE && !l1i->shared &&
		   l1i->victim_lines == 0,
	   "what is not said is LRU, write-back, allocating, for itself");
	ok(m->cores == 2 && m->fetch_bytes == 8 && m->seed == 7 && m->coherent &&
		   strcmp(m->title, "Two levels") == 0,
	   "the machine is what its keys say");
	const struct machine_tlb *dtlb = tlb(m, "DTLB"), *itlb = tlb(m, "ITLB"), *l2tlb = tlb(m, "L2TLB");
	ok(dtlb->sets == 1 && dtlb->ways == 16 && dtlb->page_bytes == 4096 && dtlb->next == l2tlb - m->tlbs &&
		   l2tlb > dtlb && itlb->sets == 4 && itlb->pages_per_entry == 2 && itlb->next == MACHINE_NONE &&
		   l2tlb->sets * l2tlb->ways == 64 && l2tlb->page_bytes == 0 &&
		   l2tlb->replacement == REPLACE_RANDOM && l2tlb->holds == MACHINE_DATA,
	   "TLBs are what their keys say");
	ok(m->direction.kind == PREDICT_GSHARE && m->direction.entries == 4096 &&
		   m->direction.history_bits == 12 && m->direction.initial == 2 && m->direction.address_shift == 1,
	   "the predictor is what its keys say");
	ok(m->targets.btb_sets == 16 && m->targets.btb_ways == 4 && m->targets.btb_replacement == REPLACE_FIFO &&
		   m->targets.btb_allocation == BTB_ALLOCATE_ALL && m->targets.btb_tag_bits == 8 &&
		   m->targets.btb_holds_returns && m->targets.return_entries == 4 &&
		   m->targets.indirect_entries == 128 && m->targets.indirect_history == 2 &&
		   m->targets.address_shift == 2,
	   "targets are what their keys say");
	size_t sourced = 0;
	for (size_t i = 0; i < d.n_values; i++)
		sourced += d.values[i].source != NULL;
	equal_u64(sourced, 11, "a source is that of the keys before it in its stanza, and of no others");
	machine_description_free(&d);
	ok(parse("[branches]\npredictor = tage\nentries = 1K\ntables = 2\ntable_entries = 64 128\ntable_history = "
		 "4, 9\ntable_tag_bits = 7 8\n"
		 "useful_reset = 1K\n[targets]\nbtb_entries = 0\n",
		 &d, &err) &&
		   d.machine.direction.table_entries[1] == 128 && d.machine.direction.table_history[1] == 9 &&
		   d.machine.direction.table_tag_bits[0] == 7 && d.machine.direction.table_tag_bits[2] == 0 &&
		   d.machine.first_data == MACHINE_NONE,
	   "a machine may have a predictor and nothing else");
	machine_description_free(&d);
	const char *expected[][2] = {
		{"size", "one"}, {"ways", "one"}, {"line", "two, which goes on"}, {"next", NULL}};
	bool same = parse("[L1I]\nsize = 8K\nways = 2\nsource = one\nline = 32\nsource = two,\n  which goes "
			  "on\nnext = memory\n",
			  &d, &err);
	for (size_t i = 0; same && i < 4; i++)
		same = strcmp(d.values[i].key, expected[i][0]) == 0 &&
		       (expected[i][1] ? d.values[i].source && strcmp(d.values[i].source, expected[i][1]) == 0
				       : !d.values[i].source);
	ok(same && d.values[3].line == 8 && strcmp(d.values[3].file, "f.conf") == 0,
	   "a value has the next source of its stanza, none if there is no more, and its place");
	machine_description_free(&d);
	ok(parse("[L1I]\r\nsize = 8K\r\nways = 2\r\nline = 32\r\nnext = memory\r\n", &d, &err),
	   "lines may end as Windows ends them");
	machine_description_free(&d);
}

/* ---- refusals ---- */

#define L1D(keys) "[L1D]\n" keys "next = memory\n"

static const struct {
	const char *what, *text, *says;
} refused[] = {
	{"a size that is no multiple", L1D("size = 50000\nways = 3\nline = 64\n"),
	 "f.conf:2: [L1D] size = 50000 bytes is not a multiple of 192"},
	{"a size that is no multiple of line × sets", L1D("size = 1000\nsets = 4\nline = 64\n"),
	 "f.conf:2: [L1D] size = 1000 bytes is not a multiple of 256"},
	{"four that contradict", L1D("size = 32K\nways = 2\nline = 64\nsets = 64\n"),
	 "f.conf:2: [L1D] size = 32768, but the other keys make 8192"},
	{"two of four", L1D("size = 32K\nways = 2\n"), "f.conf:2: [L1D] too few keys"},
	{"zero ways", L1D("size = 32K\nways = 0\nline = 64\n"), "f.conf:3: [L1D] ways = 0"},
	{"zero bytes", L1D("size = 0\nways = 1\nline = 64\n"), "f.conf:2: [L1D] size = 0"},
	{"zero sets", L1D("sets = 0\nways = 1\nline = 64\n"), "f.conf:2: [L1D] sets = 0"},
	{"lines of zero bytes", L1D("size = 1K\nways = 1\nline = 0\n"), "f.conf:4: [L1D] line = 0"},
	{"a million ways", L1D("ways = 1000000\nsets = 1\nline = 64\n"),
	 "f.conf:2: [L1D] 1000000 ways: at most 65536"},
	{"a million ways in a size", L1D("size = 64000000\nsets = 1\nline = 64\n"),
	 "f.conf:2: [L1D] 1000000 ways: at most 65536"},
	{"a line that is no power of two", L1D("ways = 2\nsets = 2\nline = 48\n"),
	 "f.conf:4: [L1D] line = 48: it can be a power of two only"},
	{"a line of 8 KB", L1D("ways = 2\nsets = 2\nline = 8K\n"),
	 "f.conf:4: [L1D] line = 8192: it can be 4 to 4096"},
	{"a cache of 8 GB", L1D("ways = 4\nsets = 512K\nline = 4K\n"), "more than 4 GiB"},
	{"a cache of a terabyte", L1D("size = 1024G\nways = 4\nline = 64\n"),
	 "f.conf:2: [L1D] size = 1099511627776: more than 4G"},
	{"too many sets", L1D("ways = 1\nsets = 32M\nline = 4\n"), "f.conf:3: [L1D] 33554432 sets"},
	{"a number beyond 64 bits", L1D("size = 99999999999999999999\n"),
	 "f.conf:2: [L1D] size: '99999999999999999999' is too large"},
	{"a size beyond 64 bits", L1D("size = 99999999999999G\n"),
	 "f.conf:2: [L1D] size: '99999999999999G' is too large"},
	{"a number beyond its field", L1D("ways = 1\nline = 4\nsets = 1\nrrip_bits = 300\n"),
	 "f.conf:5: [L1D] rrip_bits: 300 is too large: at most 255"},
	{"a negative number", L1D("ways = -2\n"), "f.conf:2: [L1D] ways: '-2' is not"},
	{"a fraction", L1D("size = 1.5M\n"), "f.conf:2: [L1D] size: '1.5M' is not a whole number"},
	{"a unit that is none", L1D("size = 32Q\n"), "f.conf:2: [L1D] size: '32Q' is not"},
	{"full ways and sets", L1D("ways = full\nline = 64\nsets = 4\n"),
	 "f.conf:4: [L1D] ways = full has one set, not 4"},
	{"a tree over three ways", L1D("sets = 4\nways = 3\nline = 64\nreplacement = plru\n"),
	 "f.conf:5: [L1D] plru with 3 ways"},
	{"an unknown word", L1D("sets = 4\nways = 3\nline = 64\nreplacement = lrv\n"),
	 "f.conf:5: [L1D] replacement: 'lrv' is not one of lru, plru"},
	{"an unknown key", L1D("way = 4\n"), "f.conf:2: a cache has no key 'way'"},
	{"an unknown key of a TLB", "[DTLB]\nsize = 4\n", "f.conf:2: a TLB has no key 'size'"},
	{"a key twice", L1D("ways = 4\nline = 64\nways = 2\n"),
	 "f.conf:4: 'ways' a second time; the first is in line 2"},
	{"a stanza twice", L1D("ways = 4\n") "[L1D]\nline = 64\n",
	 "f.conf:4: a second [L1D]; the first is in line 1"},
	{"a stanza that is nothing", "[cache]\nsize = 1K\n", "f.conf:1: no component is called 'cache'"},
	{"a long name", "[L1DATACACHE]\nsize = 1K\n", "f.conf:1: 'L1DATACACHE' is too long a name"},
	{"a key without a value", L1D("ways =\n"), "f.conf:2: no value for 'ways'"},
	{"a key before any stanza", "ways = 2\n", "f.conf:1:1: expected '[name]'"},
	{"a line without '='", "[L1D]\nways 2\n", "f.conf:2:7: expected 'key = value'"},
	{"no bracket", "[L1D\n", "f.conf:1:5: expected ']'"},
	{"a source of nothing", "[L1D]\nsource = x\n", "f.conf:2: 'source' without a key before it"},
	{"no next", "[L1D]\nsize = 4K\nways = 1\nline = 64\n", "f.conf:2: [L1D] no 'next'"},
	{"a next that is not there", "[L1D]\nsize = 4K\nways = 1\nline = 64\nnext = L3\n",
	 "f.conf:5: [L1D] next = 'L3': there is no such cache"},
	{"levels in a circle",
	 "[L1D]\nsize = 4K\nways = 1\nline = 64\nnext = L2\n[L2]\nsize = 4K\nways = 1\nline = 64\nnext = L1D\n",
	 "f.conf:10: [L2] the chain of 'next' is circular"},
	{"a level that leads to itself", "[L1D]\nsize = 4K\nways = 1\nline = 64\nnext = L1D\n",
	 "f.conf:5: [L1D] the chain of 'next' is circular"},
	{"two first levels",
	 L1D("size = 4K\nways = 1\nline = 64\n") "[L2]\nsize = 4K\nways = 1\nline = 64\nnext = memory\n",
	 "'L1D' and 'L2' would both be the first to get data"},
	{"a next that does not hold it",
	 "[L1D]\nsize = 4K\nways = 1\nline = 64\nnext = L2\n[L2]\nsize = 4K\nways = 1\nline = 64\nnext = memory\n"
	 "holds = instructions\n",
	 "f.conf:5: [L1D] 'L1D' holds what 'L2' behind it does not"},
	{"inclusion of nothing", L1D("size = 4K\nways = 1\nline = 64\ninclusion = exclusive\n"),
	 "f.conf:5: [L1D] there is no level in front"},
	{"exclusive with another line",
	 "[L1D]\nsize = 4K\nways = 1\nline = 32\nnext = L2\n[L2]\nsize = 4K\nways = 1\nline = 64\nnext = memory\n"
	 "holds = data\ninclusion = exclusive\n",
	 "f.conf:12: [L2] exclusive needs lines as long as those of 'L1D'"},
	{"private behind shared",
	 "[L1D]\nsize = 4K\nways = 1\nline = 64\nnext = L2\nshared = yes\n[L2]\nsize = 4K\nways = 1\nline = "
	 "64\nnext = memory\n"
	 "holds = data\n",
	 "'L2' is each core's own, and behind the shared 'L1D'"},
	{"pages of 64K", "[DTLB]\nentries = 4\nways = full\npage = 64K\nnext = walk\n",
	 "f.conf:4: [DTLB] pages of 64K"},
	{"pages that the machine has not",
	 "[machine]\npage = 16K\n[DTLB]\nentries = 4\nways = full\npage = 4K\nnext = walk\n",
	 "f.conf:6: [DTLB] pages of 4K: programs on this machine have pages of 16K and 2M"},
	{"a machine with pages of 12K", "[machine]\npage = 12K\n[DTLB]\nentries = 4\nways = full\nnext = walk\n",
	 "f.conf:2: [machine] page = 12288"},
	{"a machine with pages of 2K", "[machine]\npage = 2K\n[DTLB]\nentries = 4\nways = full\nnext = walk\n",
	 "f.conf:2: [machine] page = 2048"},
	{"a family that is none", "[machine]\nfamily = vax\n[DTLB]\nentries = 4\nways = full\nnext = walk\n",
	 "f.conf:2: [machine] family: 'vax' is not one of"},
	{"entries that are no multiple", "[DTLB]\nentries = 10\nways = 4\nnext = walk\n",
	 "f.conf:2: [DTLB] entries = 10 entries is not a multiple of 4"},
	{"rrip in a TLB", "[DTLB]\nentries = 8\nways = 4\nnext = walk\nreplacement = srrip\n",
	 "f.conf:5: [DTLB] a TLB has lru"},
	{"a predictor without its size", "[branches]\npredictor = gshare\nhistory_bits = 4\n",
	 "[branches] entries = 0: it can be 1 to"},
	{"a predictor's table of 1000", "[branches]\npredictor = bimodal\nentries = 1000\n",
	 "f.conf:3: [branches] entries = 1000: it can be a power of two only"},
	{"histories that shrink",
	 "[branches]\npredictor = tage\nentries = 1K\ntables = 2\ntable_entries = 64 64\ntable_history = 9 "
	 "4\ntable_tag_bits = 7 8\n"
	 "useful_reset = 1K\n",
	 "f.conf:6: [branches] 4 after 9: histories grow"},
	{"more numbers than tables",
	 "[branches]\npredictor = tage\nentries = 1K\ntables = 1\ntable_entries = 64 64\ntable_history = "
	 "4\ntable_tag_bits = 7\n"
	 "useful_reset = 1K\n",
	 "f.conf:5: [branches] more numbers than there are tables"},
	{"17 numbers", "[branches]\npredictor = tage\ntable_tag_bits = 7 7 7 7 7 7 7 7 7 7 7 7 7 7 7 7 7\n",
	 "f.conf:3: [branches] table_tag_bits: more than 16 numbers"},
	{"a counter of 9 bits", "[branches]\npredictor = bimodal\nentries = 4\ncounter_bits = 9\n",
	 "f.conf:4: [branches] counter_bits = 9"},
	{"an initial state beyond the counter", "[branches]\npredictor = bimodal\nentries = 4\ninitial = 4\n",
	 "f.conf:4: [branches] initial = 4"},
	{"a BTB that predicts and is not there", "[branches]\npredictor = btb\n",
	 "f.conf:2: [branches] the BTB predicts, and there is none"},
	{"a BTB of 512 ways", "[branches]\npredictor = btb\n[targets]\nbtb_entries = 512\nbtb_ways = full\n",
	 "f.conf:5: [targets] 512 ways: at most 256"},
	{"seed 0", "[machine]\nseed = 0\n[branches]\npredictor = taken\n",
	 "f.conf:2: [machine] the seed cannot be 0"},
	{"coherent without a private cache",
	 "[machine]\ncoherent = yes\n[L1]\nsize = 4K\nways = 1\nline = 64\nnext = memory\nshared = yes\n",
	 "f.conf:2: [machine] no core has"},
	{"an empty file", "", "nothing in it"},
	{"a file of comments", "# nothing\n", "nothing in it"},
	{"dropping what is not there", "[L3]\ndrop = yes\n", "f.conf:2: there is no 'L3' to drop"},
	{"drop with other keys", "[machine]\nextends = r12000\n[L2]\ndrop = yes\nsize = 1M\n",
	 "f.conf:4: 'drop' is 'yes', and alone"},
	{"drop = no", "[machine]\nextends = r12000\n[L2]\ndrop = no\n", "f.conf:4: 'drop' is 'yes', and alone"},
	{"dropping what others lead to", "[machine]\nextends = r12000\n[L2]\ndrop = yes\n", "r10000.conf:"},
	{"extending nothing", "[machine]\nextends = r1200\n",
	 "f.conf:2: cannot extend 'r1200': no machine is called 'r1200'"},
	{"a title of 200 bytes",
	 "[machine]\ntitle = "
	 "0123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789012"
	 "3456789\n",
	 "f.conf:2: [machine] a title of"},
	{"a control character", "[machine]\ntitle = a\033[31mb\n", "f.conf:2: a control character"},
};

static void refusals(void)
{
	struct machine_description d;
	for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
		struct error err = {0};
		bool read = parse(refused[i].text, &d, &err);
		bool says = !read && strstr(err.text, refused[i].says);
		if (!says)
			printf("# %s\n", read ? "it is read" : err.text);
		ok(says, "%s: refused with '%s'", refused[i].what, refused[i].says);
		machine_description_free(&d);
	}
	struct error err = {0};
	ok(!parse(L1D("way = 4\n"), &d, &err) && strstr(err.hint, "did you mean 'ways'"),
	   "the nearest key is proposed");
	char text[4096] = "[L1D]\nsize = 1K\nsource = ";
	memset(text + strlen(text), 'x', 1100);
	ok(!parse(text, &d, &err) && strstr(err.text, "f.conf:3: a line of 1109 bytes: at most 1000"),
	   "a line that is too long is refused");
	strcpy(text, "[L1D]\nsize = 1K\nsource = x\n");
	for (unsigned i = 0; i < 40; i++)
		strcat(text, "  more\n");
	ok(!parse(text, &d, &err) && strstr(err.text, "f.conf:36: a value that goes on"),
	   "a value that goes on for 40 lines is refused");
	ok(!machine_parse("[L1D]\nwa\0ys", 11, "f.conf", NULL, "f", &d, &err) &&
		   strstr(err.text, "f.conf:2: a NUL byte"),
	   "a NUL byte is refused");
	ok(!machine_parse("[branches]\npredictor = taken\n", 29, "f.conf", NULL, "a name", &d, &err) &&
		   strstr(err.text, "'a name' cannot be"),
	   "a name with a blank is refused");
}

/* ---- files ---- */

static bool read_machine(const char *path, struct machine *out, struct error *err)
{
	struct machine_description d;
	bool read = machine_read_description(path, &d, err);
	*out = d.machine;
	if (read)
		machine_description_free(&d);
	return read;
}

static void refuses_file(const char *name, const char *says, const char *fact)
{
	struct machine m;
	struct error err = {0};
	bool read = read_machine(path_of(name), &m, &err);
	if (read || !strstr(err.text, says))
		printf("# %s\n", read ? "it is read" : err.text);
	ok(!read && strstr(err.text, says) && err.hint[0], "%s is refused, and what to do is said", fact);
}

static void files(void)
{
	refuses_file("absent.conf", "absent.conf': no such file", "a file that is not there");
	refuses_file(".", "is a directory, not a machine file", "a directory");
	write_file("huge.conf", "");
	if (truncate(path_of("huge.conf"), (off_t)1 << 30) == 0)
		refuses_file("huge.conf", "has 1073741824 bytes: a machine file has at most 65536",
			     "a file of 1 GB");
	if (mkfifo(path_of("fifo.conf"), 0600) == 0)
		refuses_file("fifo.conf", "not a regular file", "a pipe");
	write_file("circle.conf", "[machine]\nextends = round\n");
	write_file("round.conf", "# first\n[machine]\nextends = ./circle.conf\n");
	refuses_file("circle.conf", "round.conf:3: 'extends = ./circle.conf' goes round in a circle",
		     "a circle of extends");
	write_file("self.conf", "[machine]\nextends = self\n");
	refuses_file("self.conf", "self.conf:2: 'extends = self' goes round in a circle",
		     "a file that extends itself");
	for (unsigned i = 0; i < 10; i++) {
		char name[32], text[64];
		snprintf(name, sizeof name, "deep%u.conf", i);
		snprintf(text, sizeof text, "[machine]\nextends = deep%u\n", i + 1);
		write_file(name, text);
	}
	refuses_file("deep0.conf", "more than 8 files extend one another", "a chain of ten files");
	write_file("base.conf", "[L1D]\nsize = 50000\nways = 3\nline = 64\nnext = memory\n");
	write_file("over.conf", "[machine]\nextends = base\n[L1D]\nsize = 48K\n");
	struct machine m;
	struct error err = {0};
	ok(read_machine(path_of("over.conf"), &m, &err) && m.caches[0].sets == 256 && strcmp(m.name, "over") == 0,
	   "a value that is replaced is not looked at");
	write_file("bad.conf", "[machine]\nextends = base\n[L1D]\nwrite = back\n");
	ok(!read_machine(path_of("bad.conf"), &m, &err) && strstr(err.text, "base.conf:2: [L1D] size"),
	   "a fault is shown where it was written");
	write_file("r12000.conf", "[machine]\nextends = r12000\n[L2]\nsize = 2M\n");
	ok(read_machine(path_of("r12000.conf"), &m, &err) && is_cache(&m, "L2", 2048, 2, 128) &&
		   is_cache(&m, "L1D", 32, 2, 32),
	   "one's own r12000.conf may extend the r12000 that is carried inside");
	write_file("small.conf", "[machine]\nextends = zen4\n[L3]\ndrop = yes\n[L2]\nnext = "
				 "memory\n[branches]\npredictor = bimodal\nentries = 1K\n");
	ok(machine_find(path_of("small.conf"), &m, &err) && m.n_caches == 3 &&
		   m.direction.kind == PREDICT_BIMODAL && m.direction.tables == 0,
	   "a component can be dropped, and another predictor leaves nothing of the old one");
	write_file("none.conf",
		   "[machine]\nextends = r12000\n[targets]\nbtb_entries = 0\n[branches]\npredictor = none\n");
	ok(machine_find(path_of("none.conf"), &m, &err) && m.targets.btb_sets == 0 &&
		   m.direction.kind == PREDICT_NONE && m.direction.entries == 0,
	   "a BTB of 0 entries is none, and so is a predictor called none");
	write_file("mine.conf", "[machine]\nextends = host\n[branches]\npredictor = taken\n");
	struct machine host;
	if (machine_find("host", &host, &err))
		ok(machine_find(path_of("mine.conf"), &m, &err) && m.n_caches == host.n_caches &&
			   m.direction.kind == PREDICT_TAKEN,
		   "a file may extend this machine");
	else
		skip(err.text, "a file may extend this machine");
}

/* What the format's page must explain. */
static void readme(const char *path)
{
	struct error err = {0};
	char *text = file_read(path, 1 << 20, NULL, &err);
	if (!ok(text != NULL, "the format has a page"))
		return;
	for (enum conf_stanza stanza = STANZA_MACHINE; stanza < STANZA_UNKNOWN; stanza++) {
		for (const struct conf_key *key = conf_keys(stanza); key->name; key++) {
			char marked[64];
			snprintf(marked, sizeof marked, "`%s`", key->name);
			bool there = strstr(text, marked) != NULL;
			for (const struct conf_word *word = key->words; word && word->word && there; word++) {
				snprintf(marked, sizeof marked, "`%s`", word->word);
				there = strstr(text, marked) != NULL;
			}
			ok(there, "%s explains '%s' of %s", strrchr(path, '/') + 1, key->name,
			   conf_stanza_name(stanza));
		}
	}
	free(text);
}

int main(void)
{
	if (!make_folder())
		return 1;
	format();
	refusals();
	files();
	readme(MACHINES_FOLDER "/README.md");
	remove_folder();
	return done();
}
