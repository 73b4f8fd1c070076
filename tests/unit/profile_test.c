/* Profiles from samples made by hand: what is mapped where, stacks, names, sums, and the file that keeps them. */
#include <stdlib.h>
#include <unistd.h>

#include "base/file.h"
#include "profile/certainty.h"
#include "profile/collect.h"
#include "profile/counted.h"
#include "profile/named.h"
#include "profile/space.h"
#include "report/columns.h"
#include "report/profile.h"
#include "store/profile/profile_file.h"
#include "tap.h"

static struct error err;

static void need(bool done)
{
	if (done)
		return;
	printf("Bail out! %s\n", err.text);
	exit(1);
}

static void drop(struct profile *p)
{
	profile_free(p);
	free(p);
}

static bool read_back(const char *file, const struct profile_read_options *options, struct profile **out,
		      struct error *e)
{
	size_t length;
	char *bytes = file_read(file, PROFILE_FILE_MOST_BYTES, &length, e);
	bool done = bytes && profile_file_parse((const uint8_t *)bytes, length, file, true, options, out, e);
	free(bytes);
	return done;
}

static bool same_cells(const struct profile *a, const struct profile *b)
{
	bool same = a->n_cells == b->n_cells;
	for (size_t i = 0; same && i < a->n_cells; i++)
		same = a->cells[i].node == b->cells[i].node && a->cells[i].task == b->cells[i].task &&
		       a->cells[i].event == b->cells[i].event && a->cells[i].count == b->cells[i].count;
	return same;
}

/* ---- spaces ---- */

static bool at(const struct spaces *s, uint32_t pid, uint64_t address, uint32_t module, uint64_t offset)
{
	const struct space_mapping *m = spaces_find(s, pid, address);
	return m && m->module == module && m->offset + (address - m->low) == offset;
}

static void test_spaces(void)
{
	struct spaces s = {0};
	need(spaces_map(&s, 1, &(struct space_mapping){0x1000, 0x5000, 0, 7}));
	ok(at(&s, 1, 0x1000, 7, 0) && at(&s, 1, 0x4fff, 7, 0x3fff) && !spaces_find(&s, 1, 0x5000) &&
		   !spaces_find(&s, 1, 0xfff) && !spaces_find(&s, 2, 0x1000),
	   "an address is in the mapping that covers it, of its own process");
	need(spaces_map(&s, 1, &(struct space_mapping){0x2000, 0x3000, 0x100, 8}));
	ok(at(&s, 1, 0x1fff, 7, 0xfff) && at(&s, 1, 0x2000, 8, 0x100) && at(&s, 1, 0x3000, 7, 0x2000),
	   "one in the middle of another splits it, offsets go on");
	need(spaces_map(&s, 1, &(struct space_mapping){0x1800, 0x4800, 0, 9}));
	ok(at(&s, 1, 0x17ff, 7, 0x7ff) && at(&s, 1, 0x1800, 9, 0) && at(&s, 1, 0x2800, 9, 0x1000) &&
		   at(&s, 1, 0x4800, 7, 0x3800),
	   "one over several takes the place of what it covers");
	need(spaces_fork(&s, 1, 2));
	need(spaces_map(&s, 1, &(struct space_mapping){0x1000, 0x5000, 0, 1}));
	ok(at(&s, 2, 0x1800, 9, 0) && at(&s, 1, 0x1800, 1, 0x800),
	   "a new process has its parent's mappings, later ones are each one's own");
	spaces_clear(&s, 2);
	ok(!spaces_find(&s, 2, 0x1800), "an exec leaves none");
	need(spaces_map(&s, 3, &(struct space_mapping){0x5000, 0x5000, 0, 1}));
	ok(!spaces_find(&s, 3, 0x5000), "an empty mapping is none");
	spaces_free(&s);
}

/* ---- collecting ---- */

static struct sampling_sink sink;

static void map(uint32_t pid, uint64_t address, uint64_t bytes, uint64_t offset, const char *path)
{
	need(sink.mapping(sink.context,
			  &(struct sampled_mapping){.pid = pid,
						    .address = address,
						    .bytes = bytes,
						    .offset = offset,
						    .path = path,
						    .executable = true},
			  &err));
}

static void take(uint32_t pid, uint64_t address, const uint64_t *callers, size_t n)
{
	static uint64_t now = 1000;
	need(sink.sample(sink.context,
			 &(struct sample){.time_ns = now += 1000,
					  .pid = pid,
					  .tid = pid,
					  .address = address,
					  .callers = callers,
					  .n_callers = n,
					  .gap = 10},
			 &err));
}

static bool to_log(void *log, const struct profile *so_far, const struct profile_sample *sample, struct error *e)
{
	return profile_log_sample(log, so_far, sample, e);
}

static void add_event(struct profile *p, enum profile_gaps gaps)
{
	p->events = arena_alloc(&p->arena, sizeof *p->events);
	need(p->events != NULL);
	*p->events = (struct profile_event){.label = "cpu-clock",
					    .unit = "ns",
					    .source = SOURCE_OS,
					    .gaps = gaps,
					    .gap = 10,
					    .seed = 5,
					    .redraw = 4};
	p->n_events = 1;
}

static uint64_t self_of(const struct named_table *t, const char *name, unsigned line, uint64_t *inclusive)
{
	uint64_t self = 0;
	*inclusive = 0;
	for (size_t i = 0; i < t->n; i++)
		if (strcmp(t->rows[i].name, name) == 0 && (!line || t->rows[i].line == line))
			self += t->rows[i].counts[0].self, *inclusive += t->rows[i].counts[0].inclusive;
	return self;
}

/* A chain of callers as the kernel has it: a mark, the sample's own address, return addresses. */
#define USER_MARK ((uint64_t)-512)

static void test_collect(const char *file)
{
	struct collector *c;
	struct profile_log *log = NULL;
	struct profile header = {0};
	struct collect_options options = {.n_events = 1, .keep = to_log};
	add_event(&header, GAPS_EXPONENTIAL);
	need(profile_log_create(file, &header, &log, &err));
	options.keep_context = log;
	need(collector_new(&options, &c, &err));
	sink = collector_sink(c);
	add_event(collector_profile(c), GAPS_EXPONENTIAL);
	map(10, 0x400000, 0x2000, 0x1000, "/nowhere/prog");
	map(10, 0x500000, 0x1000, 0, "//anon");
	/* recursion: f at +0x10 calls itself from +0x20, twice; g at +0x100 calls f */
	const uint64_t deep[] = {USER_MARK, 0x400010, 0x400021, 0x400021, 0x400101};
	take(10, 0x400010, deep, 5);
	take(10, 0x400010, deep, 5);
	take(10, 0x400100, (const uint64_t[]){USER_MARK, 0x400100}, 2);
	take(10, 0x500004, NULL, 0);
	take(10, 0x900000, NULL, 0);
	need(sink.started(sink.context,
			  &(struct sampled_task){.pid = 11, .tid = 11, .parent_pid = 10, .parent_tid = 10}, &err));
	take(11, 0x400010, NULL, 0);
	need(sink.named(sink.context, &(struct sampled_task){.pid = 11, .tid = 11, .name = "other"}, true, &err));
	take(11, 0x400010, NULL, 0);
	need(sink.sample(
		sink.context,
		&(struct sample){
			.time_ns = 20000, .pid = 11, .tid = 11, .address = 0xffffffff81000000, .kernel = true},
		&err));
	ok(!sink.sample(sink.context, &(struct sample){.event = 1}, &err) && strstr(err.text, "event 1"),
	   "a sample of an event that is not there is an error");

	struct profile *p;
	need(collector_finish(c, &p, &err));
	p->events[0].samples = 8;
	uint64_t sum = 0;
	for (size_t i = 0; i < p->n_cells; i++)
		sum += p->cells[i].count;
	equal_u64(sum, 8, "every sample is in one cell");
	equal_u64(p->n_nodes, 1 + 4 + 5, "equal stacks are one path of nodes, unknown places too are places");
	bool kernel = false, unknown = false, anonymous = false, file_offset = false, caller = false;
	for (size_t i = 1; i < p->n_nodes; i++) {
		const struct profile_module *m = &p->modules[p->nodes[i].module];
		kernel |= m->kind == MODULE_KERNEL && p->nodes[i].offset == 0xffffffff81000000;
		unknown |= m->kind == MODULE_UNKNOWN && p->nodes[i].offset == 0x900000;
		anonymous |= m->kind == MODULE_ANONYMOUS && m->pid == 10 && p->nodes[i].offset == 0x500004;
		file_offset |= m->kind == MODULE_FILE && p->nodes[i].parent == 0 && p->nodes[i].offset == 0x1010;
		caller |= m->kind == MODULE_FILE && p->nodes[i].parent == 0 && p->nodes[i].offset == 0x1100;
	}
	ok(kernel && unknown && anonymous && file_offset,
	   "kernel, unknown, anonymous and file places are told apart, offsets are of the file");
	ok(caller, "a caller is at its return address - 1");
	ok(p->n_tasks == 2 && !strcmp(p->tasks[1].name, "other"), "tasks have their last name");

	struct symbols *symbols = NULL;
	struct named_profile *named = NULL;
	need(symbols_new(NULL, &symbols, &err) && named_profile_new(p, symbols, NULL, &named, &err));
	uint64_t all;
	equal_u64(self_of(&named->by_function, "prog+0x1010", 0, &all), 3,
		  "a place without symbols is its own function");
	equal_u64(self_of(&named->by_function, "prog+0x1020", 0, &all), 0, "a caller has no self count …");
	equal_u64(all, 2, "… and inclusive counts once a stack, in a recursion too");
	equal_u64(self_of(&named->by_function, "prog+0x1100", 0, &all), 1,
		  "a function that calls and is sampled has its self …");
	equal_u64(all, 3, "… and all that it called");
	equal_u64(self_of(&named->by_function, "[unknown]", 0, &all) +
			  self_of(&named->by_function, "[kernel]", 0, &all),
		  3, "what is in no mapping, or in the kernel, is a row of its own");
	ok(named->has_inclusive && named->sums[0] == 8 && named->n_notes == 2,
	   "sums are there, a note of the file that cannot be read, and of the kernel that is not this one");
	need(certainty_add(named, 0.95));
	ok(named->by_function.rows[0].counts[0].has_interval &&
		   named->by_function.rows[0].counts[0].low < named->by_function.rows[0].counts[0].high,
	   "exponential gaps give intervals");
	bool any_rank = true;
	uint32_t with_samples = 0;
	for (size_t i = 0; i < named->by_function.n; i++)
		with_samples += named->by_function.rows[i].counts[0].self > 0;
	for (size_t i = 0; i < named->by_function.n; i++) {
		const struct named_count *count = &named->by_function.rows[i].counts[0];
		any_rank &= count->first_rank == (count->self ? 1 : 0) &&
			    count->last_rank == (count->self ? with_samples : 0);
	}
	ok(any_rank && with_samples > 1, "and with 8 samples each row may have any rank");
	p->events[0].gaps = GAPS_FIXED;
	for (size_t i = 0; i < named->by_function.n; i++)
		named->by_function.rows[i].counts[0].has_interval = false,
		named->by_function.rows[i].counts[0].first_rank = 0;
	need(certainty_add(named, 0.95));
	ok(!named->by_function.rows[0].counts[0].has_interval && !named->by_function.rows[0].counts[0].first_rank,
	   "fixed gaps give none, and no ranks");
	p->events[0].gaps = GAPS_EXPONENTIAL;
	for (uint32_t redraw = 0; redraw <= 5; redraw += 5) {
		p->events[0].redraw = redraw;
		need(certainty_add(named, 0.95));
		ok(!named->by_function.rows[0].counts[0].has_interval,
		   redraw ? "nor do gaps of which each is used for 5 samples"
			  : "nor do gaps that were not drawn to the end");
	}
	p->events[0].redraw = 4;
	named_profile_free(named);
	free(named);
	symbols_free(symbols);
	need(profile_log_finish(log, p, &err));

	struct profile *again = NULL;
	need(read_back(file, NULL, &again, &err));
	bool same = again->n_nodes == p->n_nodes && same_cells(again, p) && again->n_modules == p->n_modules &&
		    again->n_tasks == p->n_tasks && again->n_notes == 0 &&
		    memcmp(again->nodes, p->nodes, p->n_nodes * sizeof *p->nodes) == 0;
	ok(same && again->events[0].samples == 8 && again->events[0].seed == 5 &&
		   !strcmp(again->events[0].label, "cpu-clock") && !strcmp(again->tasks[1].name, "other"),
	   "a file gives back what was kept");
	drop(again);
	need(read_back(file, &(struct profile_read_options){.from_ns = 1000, .to_ns = 3000}, &again, &err));
	ok(again->events[0].samples == 2 && !again->events[0].has_total,
	   "a part of its time has that part's samples, and no total");
	drop(again);
	drop(p);
	profile_free(&header);
}

/* ---- files that are not whole ---- */

static void test_damage(const char *file)
{
	FILE *in = fopen(file, "rb");
	static uint8_t bytes[65536], other[65536];
	size_t length = in ? fread(bytes, 1, sizeof bytes, in) : 0, wrong = 0, told = 0;
	if (in)
		fclose(in);
	for (size_t n = 0; n < length; n++) {
		struct profile *p = NULL;
		struct error e = {0};
		if (profile_file_parse(bytes, n, "cut", true, NULL, &p, &e)) {
			told += p->n_notes == 1 && strstr(p->notes[0], "incomplete") != NULL;
			wrong += !(p->n_notes == 1) || p->events[0].has_total;
			drop(p);
		} else {
			told += e.text[0] != '\0';
		}
	}
	ok(length > 100 && wrong == 0 && told == length,
	   "a file that is cut anywhere is an error, or fewer samples with a note");
	wrong = 0;
	for (size_t n = 16; n < length; n++) {
		struct profile *p = NULL;
		struct error e = {0};
		memcpy(other, bytes, length);
		other[n] ^= 0x41;
		if (profile_file_parse(other, length, "flipped", true, NULL, &p, &e)) {
			wrong += p->n_notes == 0;
			drop(p);
		}
	}
	equal_u64(wrong, 0, "a byte that changed is noticed, wherever it is");
	for (size_t n = 16; n < length; n++) {
		struct profile *p = NULL;
		struct error e = {0};
		memcpy(other, bytes, length);
		other[n] ^= 0x41;
		if (profile_file_parse(other, length, "flipped", false, NULL, &p, &e))
			drop(p);
		else
			wrong += e.text[0] == '\0';
	}
	equal_u64(wrong, 0, "where no checksum is asked for, what is refused says why");
	struct profile *p;
	memcpy(other, bytes, length);
	other[8] = 9;
	ok(!profile_file_parse(other, length, "new", true, NULL, &p, &err) && strstr(err.text, "version 9"),
	   "a version that is not known is an error that names it");
	memcpy(other, bytes, length);
	other[16 + 8 + (bytes[16] | bytes[17] << 8) + 8] = 99; /* the kind of the second block's first record */
	need(profile_file_parse(other, length, "newer", false, NULL, &p, &err));
	ok(p->n_notes == 1 && strstr(p->notes[0], "a newer one may have made it"),
	   "a record that came later says that a newer tare may have made the file");
	drop(p);
	ok(!profile_file_parse((const uint8_t *)"ELF", 3, "some.file", true, NULL, &p, &err) &&
		   strstr(err.text, "'some.file' is not a profile"),
	   "so is another file");
}

/* ---- counted ---- */

static void test_counted(const char *file)
{
	uint64_t counts[][2] = {{5, 1}, {7, 0}, {3, 9}};
	struct location code[] = {
		{.kind = LOCATION_CODE, .module = "/nowhere/prog", .offset = 0x10, .counts = counts[0]},
		{.kind = LOCATION_CODE, .module = "", .offset = 0x7f0000000000, .counts = counts[1]},
		{.kind = LOCATION_CODE, .module = "[vdso]", .offset = 0x10, .counts = counts[2]},
	};
	struct located_event events[] = {
		{.event = 0, .label = "first", .unit = "", .total = 15},
		{.event = 1, .label = "second", .unit = "", .machine = "lab", .total = 11}};
	struct locations l = {.of = LOCATIONS_OF_CODE, .events = events, .n_events = 2, .all = code, .n = 3};
	struct profile *p = NULL, *again = NULL;
	struct profile_log *log = NULL;
	need(profile_counted(&l, &p, &err));
	ok(p->n_cells == 3 && !p->events[0].why && p->events[0].total == 15 && p->events[0].gaps == GAPS_NONE,
	   "counts by place are cells");
	ok(p->events[1].why && strstr(p->events[1].why, "have 10 and its count is 11"),
	   "an event whose places do not add up has none, with the reason");
	need(profile_log_create(file, p, &log, &err) && profile_log_finish(log, p, &err) &&
	     read_back(file, NULL, &again, &err));
	ok(again->n_cells == 3 && same_cells(again, p) && again->events[0].total == 15 &&
		   !strcmp(again->events[1].machine, "lab") && again->n_notes == 0,
	   "a file gives counts back, too");
	drop(again);
	ok(!read_back(file, &(struct profile_read_options){.from_ns = 1}, &again, &err) &&
		   strstr(err.text, "counts without times"),
	   "of counts no part of the time can be had");
	p->events[0].total = 16;
	need(profile_log_create(file, p, &log, &err) && profile_log_finish(log, p, &err) &&
	     read_back(file, NULL, &again, &err));
	ok(again->n_cells == 0 && again->events[0].why && again->n_notes == 1,
	   "counts that are not as many as the file says are not shown");
	drop(again);
	drop(p);
}

/* ---- reports ---- */

/* The program begins at +0x1000, which calls +0x2000 three times; that calls itself twice. */
static void test_arcs(const char *file)
{
	uint64_t counts[][1] = {{5}, {7}}, inclusive[][1] = {{12}, {7}, {0}};
	struct location code[] = {
		{.kind = LOCATION_CODE, .module = "/nowhere/prog", .offset = 0x1000, .counts = counts[0]},
		{.kind = LOCATION_CODE, .module = "/nowhere/prog", .offset = 0x2000, .counts = counts[1]}};
	// clang-format off: a table, a row a line
	struct location_arc arcs[] = {
		{.callee = "/nowhere/prog", .callee_offset = 0x1000, .calls = 1, .inclusive = inclusive[0]},
		{.caller = "/nowhere/prog",
		 .caller_offset = 0x1000,
		 .callee = "/nowhere/prog",
		 .callee_offset = 0x2000,
		 .calls = 3,
		 .inclusive = inclusive[1]},
		{.caller = "/nowhere/prog",
		 .caller_offset = 0x2000,
		 .callee = "/nowhere/prog",
		 .callee_offset = 0x2000,
		 .calls = 2,
		 .inclusive = inclusive[2]},
	};
	// clang-format on
	struct located_event event = {.label = "instructions", .unit = "instructions", .total = 12};
	// clang-format off: a table, a row a line
	struct locations l = {.of = LOCATIONS_OF_CODE,
			      .events = &event,
			      .n_events = 1,
			      .all = code,
			      .n = 2,
			      .arcs = arcs,
			      .n_arcs = 3};
	// clang-format on
	struct profile *p = NULL, *again = NULL;
	struct profile_log *log = NULL;
	struct symbols *symbols = NULL;
	struct named_profile *named = NULL;
	uint64_t all;
	need(profile_counted(&l, &p, &err));
	need(profile_log_create(file, p, &log, &err) && profile_log_finish(log, p, &err) &&
	     read_back(file, NULL, &again, &err));
	ok(again->stacks == STACKS_EXACT && again->n_arcs == 3 &&
		   again->arcs[0].caller_module == PROFILE_NO_CALLER &&
		   again->arcs[1].caller_module == again->arcs[1].callee_module && again->arcs[1].calls == 3 &&
		   again->arcs[1].inclusive[0] == 7 && again->arcs[2].caller_offset == 0x2000,
	   "a call graph goes into the file and comes back, the arc without a caller too");
	need(symbols_new(NULL, &symbols, &err) && named_profile_new(again, symbols, NULL, &named, &err));
	equal_u64(self_of(&named->by_function, "prog+0x1000", 0, &all), 5,
		  "self counts are what they are without a call graph");
	equal_u64(all, 12, "inclusive is what the arcs to a function have");
	self_of(&named->by_function, "prog+0x2000", 0, &all);
	equal_u64(all, 7, "what a function calls of itself is not added to it again");
	const struct named_arc *a = named->arcs;
	ok(named->n_arcs == 3 && named->has_inclusive && a[0].caller == UINT32_MAX && a[0].place == UINT32_MAX &&
		   a[1].caller == a[0].callee && a[2].caller == a[2].callee && a[2].calls == 2 &&
		   a[1].inclusive[0] == 7 && named->places[a[1].place].offset == 0x1000,
	   "arcs have names: rows of the table of functions, and the place of the call");
	named_profile_free(named);
	free(named);
	symbols_free(symbols);
	drop(again);
	drop(p);
	inclusive[0][0] = 13;
	need(profile_counted(&l, &p, &err));
	ok(p->n_arcs == 0 && p->stacks == STACKS_NONE && p->n_notes == 1 &&
		   strstr(p->notes[0], "calls have 13 instructions and the count is 12"),
	   "a graph that does not add up to the count is left out, with the reason");
	drop(p);
	inclusive[0][0] = 12, l.n_arcs = 0, l.arcs_why = "the room ran out";
	need(profile_counted(&l, &p, &err));
	ok(p->n_notes == 1 && !strcmp(p->notes[0], "no call graph: the room ran out"),
	   "one that was asked for and is not known leaves its reason");
	drop(p);
}

static void test_hostile_names(void)
{
	static char name[10240];
	struct named_count counts[] = {{.self = 5, .inclusive = 5}, {.self = 4, .inclusive = 4}};
	memset(name, 'x', sizeof name - 1);
	memcpy(name,
	       "\033[31m<b>\xc2\x9b"
	       "2J\xff\xe2\x80\xae\n",
	       18);
	struct named_row rows[] = {
		{.name = name, .module = "/a\033b", .file = "/c/d.c\n", .line = 3, .counts = &counts[0]},
		{.name = "g", .module = "/a", .counts = &counts[1]}};
	struct profile_event event = {
		.label = "cpu-clock", .unit = "ns", .gaps = GAPS_FIXED, .gap = 1, .samples = 9};
	const char *command[] = {"a\033[2J", NULL};
	struct profile p = {.events = &event, .n_events = 1, .command = command};
	uint64_t sums[] = {9};
	struct named_profile named = {.profile = &p, .by_function = {rows, 2}, .sums = sums};
	char *text = NULL;
	size_t length, widest = 0;
	FILE *out = open_memstream(&text, &length);
	need(out != NULL);
	report_profile_text(out, &named, &(struct profile_report_options){.text = {.width = 100}});
	fclose(out);
	ok(!strchr(text, '\033') && !strstr(text, "\xc2\x9b") && !strchr(text, '\xff') &&
		   !strstr(text, "\xe2\x80\xae"),
	   "names cannot act on a terminal");
	for (const char *line = text; *line; line += strcspn(line, "\n"), line += *line == '\n')
		if (strcspn(line, "\n") > widest)
			widest = strcspn(line, "\n");
	ok(widest <= 110, "a name of 10 kB is shortened, and its line fits");
	free(text);
}

/* A listing of functions, of rows of which some have no lines because these were left out. */
struct planted_row {
	uint64_t self;
	bool line, left_out;
};

static bool wants(const struct planted_row *functions, size_t n, const struct planted_row *lines, size_t n_lines,
		  size_t top)
{
	static struct named_count counts[64];
	static struct named_row rows[64];
	static char names[64][8];
	struct profile_event event = {.label = "instructions", .unit = "instructions"};
	struct profile p = {.events = &event, .n_events = 1};
	uint64_t sum = 0;
	for (size_t i = 0; i < n + n_lines; i++) {
		const struct planted_row *from = i < n ? &functions[i] : &lines[i - n];
		snprintf(names[i], sizeof names[i], "f%02zu", i);
		counts[i] = (struct named_count){.self = from->self, .inclusive = from->self};
		rows[i] = (struct named_row){.name = names[i],
					     .module = "/m",
					     .file = from->line ? "/m.c" : NULL,
					     .line = from->line ? (unsigned)i + 1 : 0,
					     .lines_left_out = from->left_out,
					     .counts = &counts[i]};
		sum += i < n ? from->self : 0;
	}
	event.total = sum;
	struct named_profile named = {
		.profile = &p, .by_function = {rows, n}, .by_line = {rows + n, n_lines}, .sums = &sum};
	return profile_list_wants_lines(&named, &(struct profile_report_options){.top = top});
}

static void test_lines_left_out(void)
{
	enum { ROWS = 4 };
	static const struct {
		const char *fact;
		struct planted_row rows[ROWS];
		size_t top;
		bool wants;
	} cases[] = {
		{"rows below the listing need no lines",
		 {{99990, true}, {6, .left_out = true}, {4, .left_out = true}},
		 0,
		 false},
		{"one that --top shows does",
		 {{99990, true}, {6, .left_out = true}, {4, .left_out = true}},
		 2,
		 true},
		{"one that stands in the place of 'others' does",
		 {{99990, true}, {10, .left_out = true}},
		 0,
		 true},
		{"one as large as the last that is shown does: lines put them in order",
		 {{99900, true}, {50, true}, {50, .left_out = true}, {30, .left_out = true}},
		 2,
		 true},
		{"a smaller one does not",
		 {{99900, true}, {50, true}, {49, .left_out = true}, {30, .left_out = true}},
		 2,
		 false},
		{"nor does a small one beside code without lines",
		 {{99990}, {6, .left_out = true}, {4, .left_out = true}},
		 1,
		 false},
		{"unless the part without lines is said with another digit",
		 {{9990}, {6, .left_out = true}, {4, .left_out = true}},
		 1,
		 true},
		{"or lines are known of half of the count with it",
		 {{50000}, {49990, true}, {6, .left_out = true}, {4, .left_out = true}},
		 2,
		 true},
		{"where all lines were looked for, none is wanted", {{99990, true}, {6}, {4}}, 3, false},
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		size_t n = 0;
		while (n < ROWS && cases[i].rows[n].self)
			n++;
		ok(wants(cases[i].rows, n, cases[i].rows, n, cases[i].top) == cases[i].wants, "lines left out: %s",
		   cases[i].fact);
	}
	/* one function's lines, all of one size, against two functions without */
	const struct planted_row functions[] = {{940, true}, {30, .left_out = true}, {30, .left_out = true}};
	struct planted_row lines[22];
	for (size_t i = 0; i < 20; i++)
		lines[i] = (struct planted_row){47, true};
	lines[20] = functions[1], lines[21] = functions[2];
	ok(wants(functions, 3, lines, 22, 1), "lines left out: the hottest line could be among them");
	for (size_t i = 0; i < 20; i++)
		lines[i].self = i < 10 ? 93 : 1;
	ok(!wants(functions, 3, lines, 22, 1),
	   "lines left out: it could not where they have less than it all together");
}

/* How many rows of functions are without their lines, of three files that have these counts of two events. */
static size_t left_out(const uint64_t counts[3][2], double share, enum profile_gaps gaps, const char *third)
{
	struct profile_event events[] = {{.label = "a", .unit = ""}, {.label = "b", .unit = "", .gaps = gaps}};
	struct profile_module modules[] = {{.kind = MODULE_FILE, .path = "/none/one"},
					   {.kind = MODULE_FILE, .path = "/none/two"},
					   {.kind = MODULE_FILE, .path = third}};
	struct profile_task task = {.name = ""};
	struct profile_node nodes[] = {
		{0}, {.offset = 16}, {.module = 1, .offset = 16}, {.module = 2, .offset = 32}};
	struct profile_cell cells[6];
	struct profile p = {.events = events,
			    .n_events = 2,
			    .modules = modules,
			    .n_modules = 3,
			    .tasks = &task,
			    .n_tasks = 1,
			    .nodes = nodes,
			    .n_nodes = 4,
			    .cells = cells};
	struct symbols *symbols = NULL;
	struct named_profile *named = NULL;
	size_t n = 0;
	for (uint32_t i = 0; i < 6; i++)
		if (counts[i / 2][i % 2])
			cells[p.n_cells++] = (struct profile_cell){
				.node = i / 2 + 1, .event = i % 2, .count = counts[i / 2][i % 2]};
	const struct named_options options = {.lines_from_share = share};
	need(symbols_new(NULL, &symbols, &err) && named_profile_new(&p, symbols, &options, &named, &err));
	for (size_t i = 0; i < named->by_function.n; i++) {
		n += named->by_function.rows[i].lines_left_out;
		ok(named->by_function.rows[i].lines_left_out == named->by_line.rows[i].lines_left_out,
		   "a row of lines says of '%s' what that of functions does", named->by_function.rows[i].name);
	}
	named_profile_free(named);
	free(named);
	symbols_free(symbols);
	return n;
}

static void test_small_files(void)
{
	static const uint64_t counts[3][2] = {{9999, 500}, {1, 0}, {1, 9500}},
			      large[3][2] = {{9990, 500}, {20, 0}, {0, 1}};
	equal_u64(left_out(counts, 0.01, GAPS_NONE, "/none/three"), 1,
		  "lines of a file are left out that has less than the share of every event");
	equal_u64(left_out(large, 0.01, GAPS_NONE, "/none/three"), 2, "and of several such files");
	equal_u64(left_out(large, 0.001, GAPS_NONE, "/none/three"), 0, "but of none that has more of one");
	equal_u64(left_out(counts, 0, GAPS_NONE, "/none/three"), 0, "of none where no share is given");
	equal_u64(left_out(counts, 0.01, GAPS_FIXED, "/none/three"), 0, "of none of samples");
	equal_u64(left_out(counts, 0.01, GAPS_NONE, "/none/two"), 0, "of none that has more under the same path");
}

/* A caller and a callee with names that would act: markup, quotes, separators, controls, formulas. */
static struct named_profile hostile(struct profile *p, const char *name)
{
	static struct named_count counts[4];
	static struct named_row rows[2], lines[2];
	static struct named_function functions[2];
	static struct named_frame frames[] = {{.function = 0, .line_row = 0},
					      {.function = 1, .file = "/c/\"<d>.c", .line = 3, .line_row = 1}};
	static struct named_place places[] = {{.first_frame = 0, .n_frames = 1},
					      {.first_frame = 1, .n_frames = 1}};
	static uint32_t place_of_node[] = {UINT32_MAX, 0, 1};
	static struct profile_node nodes[] = {{0}, {.parent = 0, .offset = 1}, {.parent = 1, .offset = 2}};
	static struct profile_cell cells[] = {{.node = 2, .count = 7}, {.node = 1, .count = 2}};
	static struct profile_event event = {
		.label = "cpu-clock", .unit = "ns", .gaps = GAPS_FIXED, .gap = 1, .samples = 9};
	static uint64_t sums[] = {9};
	for (int i = 0; i < 2; i++) {
		functions[i] = (struct named_function){
			.name = i ? name : "main", .module = "/a&b", .row = (uint32_t)i};
		counts[i] = (struct named_count){.self = i ? 7 : 2, .inclusive = i ? 7 : 9};
		counts[i + 2] = counts[i];
		rows[i] = (struct named_row){.name = functions[i].name, .module = "/a&b", .counts = &counts[i]};
		// clang-format off: a table, a row a line
		lines[i] = (struct named_row){.name = i ? "" : "main",
					      .module = "/a&b",
					      .file = frames[i].file,
					      .line = frames[i].line,
					      .counts = &counts[i + 2]};
		// clang-format on
	}
	*p = (struct profile){
		.events = &event, .n_events = 1, .nodes = nodes, .n_nodes = 3, .cells = cells, .n_cells = 2};
	return (struct named_profile){.profile = p,
				      .functions = functions,
				      .n_functions = 2,
				      .frames = frames,
				      .n_frames = 2,
				      .places = places,
				      .n_places = 2,
				      .place_of_node = place_of_node,
				      .by_function = {rows, 2},
				      .by_line = {lines, 2},
				      .sums = sums,
				      .has_inclusive = true};
}

static char *written(const struct named_profile *named, int format)
{
	char *text = NULL;
	size_t length;
	FILE *out = open_memstream(&text, &length);
	need(out != NULL);
	switch (format) {
	case 0: report_profile_json(out, named); break;
	default: report_profile_csv(out, named); break;
	}
	fclose(out);
	return text;
}

static void test_formats(void)
{
	static const char *const formats[] = {"json", "csv"};
	static char name[10240];
	struct profile p;
	memset(name, 'y', sizeof name - 1);
	static const char begin[] = "=1+1</script>]]>\"',;\033[2J\n\xc2\x9b"
				    "fn=(1)\r\n\xff&amp; ";
	memcpy(name, begin, sizeof begin - 1);
	struct named_profile named = hostile(&p, name);
	for (int i = 0; i < 2; i++) {
		char *text = written(&named, i);
		ok(!strchr(text, '\033') && !strchr(text, '\xff'),
		   "%s: no control characters, and nothing that is not UTF-8", formats[i]);
		ok(!strstr(text, "\nfn=(1)"), "%s: a name cannot begin a line", formats[i]);
		if (i == 1)
			ok(strstr(text, ",\"'=1+1</script>]]>\"\"',;"),
			   "csv: a name is no formula, quotes are doubled");
		free(text);
	}
}

/* What a heading says of the samples: the numbers beside each other. */
static void test_headings(void)
{
	static const struct {
		struct profile_event event;
		const char *says, *target;
	} cases[] = {
		{{.gaps = GAPS_EXPONENTIAL,
		  .gap = 1000000,
		  .seed = 3,
		  .redraw = 4,
		  .samples = 1290,
		  .has_total = true,
		  .total = 1234000000},
		 "1,290 samples, one each 1 ms on average (exponential gaps, seed 3, drawn anew every 4 samples); "
		 "in all 1.23 s, for which 1,234 samples are expected"},
		{{.gaps = GAPS_JITTER,
		  .gap = 1000000,
		  .seed = 3,
		  .redraw = 1,
		  .samples = 100,
		  .has_total = true,
		  .total = 106250000},
		 "one each 1 ms and up to an eighth more (jitter gaps, seed 3); in all 106.25 ms, for which 100 "
		 "samples are expected"},
		{{.gaps = GAPS_FIXED, .gap = 1000, .has_total = true, .total = 627},
		 "0 samples, one each 1 \u00b5s (fixed gaps); in all 627 ns, for which 1 sample is expected"},
		{{.gaps = GAPS_FIXED, .gap = 7, .samples = 1, .lost = 2, .throttled = 1},
		 "1 sample, one each 7 ns (fixed gaps); 2 samples were lost; the kernel paused sampling 1 time"},
		{{.gaps = GAPS_EXPONENTIAL, .gap = 1000000, .seed = 3, .samples = 9},
		 "(exponential gaps, seed 3 until threads or children began, then fixed: no intervals)"},
		{{.gaps = GAPS_EXPONENTIAL, .gap = 1000000, .seed = 3, .redraw = 6, .samples = 9},
		 "drawn anew every 6 samples, too seldom for intervals)"},
		{{.gaps = GAPS_RATE, .rate = 4000, .samples = 9},
		 "9 samples, 4,000 a second (the kernel adjusts the gap)"},
		{{.gaps = GAPS_FIXED, .gap = 1, .samples = 9, .has_total = true, .total = 9},
		 "9 samples, one each time; in all 9 ns"},
		{{.gaps = GAPS_FIXED, .gap = 7, .samples = 900, .lost = 100, .cost_ns = 20000},
		 "900 samples, one each 7 ns (fixed gaps); a sample costs 20 \u00b5s here, 2.0 % of the program's "
		 "CPU "
		 "time in all; 100 samples were lost"},
		/* samples of all CPUs are not of the program that runs beside */
		{{.gaps = GAPS_FIXED, .gap = 7, .samples = 900, .cost_ns = 20000},
		 "a sample costs 20 \u00b5s here (the gap is such that it takes 2 % of the time at most)",
		 "all CPUs"},
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct profile_event event = cases[i].event;
		uint64_t sums[] = {0};
		event.label = "cpu-clock", event.unit = "ns";
		struct profile p = {.events = &event,
				    .n_events = 1,
				    .target = cases[i].target,
				    .user_ns = 700000000,
				    .system_ns = 300000000};
		struct named_profile named = {.profile = &p, .sums = sums};
		char *text = NULL;
		size_t length;
		FILE *out = open_memstream(&text, &length);
		need(out != NULL);
		report_profile_text(out, &named, &(struct profile_report_options){.text = {.width = 400}});
		fclose(out);
		if (!ok(strstr(text, cases[i].says) != NULL, "a heading says: %s", cases[i].says))
			printf("# %s\n", text);
		free(text);
	}
}

static void test_narrow(void)
{
	static const struct {
		const char *text;
		size_t columns;
		const char *shown;
	} cases[] = {
		{"sort (libc.so.6:msort.c:12)", 27, "sort (libc.so.6:msort.c:12)"},
		{"sort (libc.so.6:msort.c:12)", 26, "sort (\u2026bc.so.6:msort.c:12)"},
		{"sort (libc.so.6:msort.c:12)", 16, "sort (\u2026ort.c:12)"},
		{"sort (libc.so.6:msort.c:12)", 15, "sort"},
		{"operator()(int) (a.out)", 18, "operator()(int)"},
		{"operator()(int) (a.out)", 13, "operator()(\u2026)"},
		{"Work<161>::run(std::vector<int>&, int) (many:many.cc:9)", 17, "Work<161>::run(\u2026)"},
		{"Work<161>::run(std::vector<int>&, int) (many:many.cc:9)", 16, "Work<1\u2026>::run(\u2026)"},
		{"f(void (*)(int)) const (x)", 6, "f(\u2026)"},
		{"f(int) [clone .isra.0] (x)", 6, "f(\u2026)"},
		{"(anonymous namespace) (x)", 9, "(ano\u2026ace)"},
		{"a_long_name (prog)", 11, "a_long_name"},
		{"a_long_name (prog)", 10, "a_lo\u2026_name"},
		{"/home/user/file.c:12", 9, "/hom\u2026c:12"},
		{"\u00e4\u00f6\u00fc\u00e4\u00f6\u00fc (x)", 5, "\u00e4\u00f6\u2026\u00f6\u00fc"},
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct str out = {0};
		columns_shorten(&out, cases[i].text, cases[i].columns);
		equal_text(out.text, cases[i].shown, "a name, and of its place what there is room for");
		str_free(&out);
	}
}

static void test_paths(void)
{
	// clang-format off: a table, a row a line
	static const char *const pairs[][2] = {{"./malloc/../sysdeps/x.h", "sysdeps/x.h"},
					       {"/a/./b//c", "/a/b/c"},
					       {"/../a", "/a"},
					       {"../a/../b", "../b"},
					       {"../../a", "../../a"},
					       {"a/..", ""},
					       {"/", "/"},
					       {"", ""},
					       {"a/b/../../c.c", "c.c"},
					       {"/a/b/..", "/a"},
					       {"x..y/..z", "x..y/..z"}};
	// clang-format on
	for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
		char path[64];
		snprintf(path, sizeof path, "%s", pairs[i][0]);
		named_normalise_path(path);
		ok(strcmp(path, pairs[i][1]) == 0, "'%s' is '%s' (%s)", pairs[i][0], pairs[i][1], path);
	}
}

int main(void)
{
	char file[] = "/tmp/tare-profile-XXXXXX";
	int fd = mkstemp(file);
	need(fd >= 0);
	close(fd);
	test_spaces();
	test_collect(file);
	test_damage(file);
	test_counted(file);
	test_arcs(file);
	test_hostile_names();
	test_lines_left_out();
	test_small_files();
	test_formats();
	test_headings();
	test_narrow();
	test_paths();
	unlink(file);
	return done();
}
