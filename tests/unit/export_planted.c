/* Writes a planted profile in a format, for tests/cli/export_test.py: export_planted PROFILE FORMAT
 * [inverted|BEFORE], or export_planted PROFILE text|prof WIDTH [butterfly|TOP]. What it has is known
 * by counting; what the files must have is there.
 *
 *     shares    sampled: calls, recursion, inlining three deep, a library, the kernel, two threads, two events
 *     before    shares with other counts, and a function that shares does not have
 *     counted   counted: no stacks
 *     arcs      counted, with the arcs of a call graph: main calls work 3 times, work itself 5 times and lib_f 20 times
 *     recursion one stack: main calls work, which calls itself three times from one line
 *     hostile   names that would act if they were not escaped
 *     N         N different stacks, of 20 levels each
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "report/export.h"
#include "report/profile.h"
#include "result/profile_builder.h"

#define N(array) (sizeof(array) / sizeof *(array))

static void need(bool done)
{
	if (done)
		return;
	fprintf(stderr, "export_planted: it failed\n");
	exit(1);
}

static char long_name[10001], long_line[200];

/* Offsets of places are numbers in planted_places. */
static const struct named_function planted_functions[] = {
	{.name = "main", .module = "/opt/prog", .file = "/src/prog.c", .line = 9, .begins = 0x100},
	{.name = "work", .module = "/opt/prog", .file = "/src/prog.c", .line = 19, .begins = 0x200},
	{.name = "inl1", .module = "/opt/prog", .inlined = true},
	{.name = "inl2", .module = "/opt/prog", .inlined = true},
	{.name = "lib_f", .module = "/lib/libx.so", .file = "libx.c", .line = 2, .begins = 0x80},
	{.name = "[kernel]", .module = "[kernel]"},
};
static const struct named_frame planted_frames[] = {
	{0, "/src/prog.c", 10, 0}, {1, "/src/prog.c", 20, 0}, {3, "/src/deep.h", 5, 0}, {2, "/src/util.h", 7, 0},
	{1, "/src/prog.c", 21, 0}, {4, "libx.c", 3, 0},       {5, NULL, 0, 0},          {1, "/src/prog.c", 25, 0},
};
static const struct named_place planted_places[] = {
	{0, 0, 0, 1}, {0, 1, 1, 1}, {0, 2, 2, 3}, {1, 3, 5, 1}, {2, 4, 6, 1}, {0, 5, 7, 1},
};

// clang-format off: a table, a row a line
static const struct profile_event planted_events[] = {
	{.label = "cycles:u",
	 .unit = "cycles",
	 .source = SOURCE_HW,
	 .gaps = GAPS_EXPONENTIAL,
	 .gap = 1000,
	 .redraw = 1,
	 .seed = 1},
	{.label = "page-faults", .unit = "faults", .source = SOURCE_OS, .gaps = GAPS_FIXED, .gap = 7},
};
// clang-format on

struct planting {
	struct profile_builder builder;
	struct named_profile named;
	uint32_t modules[3], tasks[2];
};

static void open_planting(struct planting *p, const struct profile_event *events, size_t n_events)
{
	need(profile_builder_open(&p->builder));
	struct profile *out = p->builder.out;
	static const char *const command[] = {"./prog", "an argument", "<b>&\x1b[31m", NULL};
	need((out->events = arena_alloc(&out->arena, n_events * sizeof *events)) != NULL);
	memcpy(out->events, events, n_events * sizeof *events);
	out->n_events = n_events;
	out->command = command;
	out->tare_version = "test";
	struct profile_module module = {
		.kind = MODULE_FILE, .path = "/opt/prog", .build_id = {0xab, 0xcd, 0x12}, .build_id_bytes = 3};
	p->modules[0] = profile_builder_module(&p->builder, &module);
	p->modules[1] = profile_builder_module(
		&p->builder, &(struct profile_module){.kind = MODULE_FILE, .path = "/lib/libx.so"});
	p->modules[2] = profile_builder_module(
		&p->builder, &(struct profile_module){.kind = MODULE_KERNEL, .path = "[kernel]"});
	p->tasks[0] = profile_builder_task(&p->builder, 10, 10);
	p->tasks[1] = profile_builder_task(&p->builder, 10, 11);
	need(profile_builder_name_task(&p->builder, p->tasks[0], "prog") &&
	     profile_builder_name_task(&p->builder, p->tasks[1], "wor<k>er"));
}

static uint32_t node(struct planting *p, uint32_t parent, uint32_t place)
{
	uint32_t n = profile_builder_node(&p->builder, parent, p->modules[planted_places[place].module], place);
	need(n != PROFILE_NO_INDEX);
	return n;
}

static void add(struct planting *p, uint32_t at, int task, uint32_t event, uint64_t count)
{
	need(profile_builder_add(&p->builder, at, p->tasks[task], event, count));
}

/* Names by the planted tables: a node's offset is its place. */
static void name_all(struct planting *p, const struct named_function *functions, size_t n_functions,
		     const struct named_frame *frames, size_t n_frames, const struct named_place *places,
		     size_t n_places)
{
	struct profile *out = profile_builder_finish(&p->builder);
	need(out != NULL);
	// clang-format off: a table, a row a line
	p->named = (struct named_profile){.profile = out,
					  .n_functions = n_functions,
					  .frames = (struct named_frame *)frames,
					  .n_frames = n_frames,
					  .places = (struct named_place *)places,
					  .n_places = n_places,
					  .confidence = 0.95};
	// clang-format on
	p->named.place_of_node = arena_alloc(&p->named.arena, (out->n_nodes + 1) * sizeof(uint32_t));
	p->named.sums = arena_alloc(&p->named.arena, (out->n_events + 1) * sizeof(uint64_t));
	p->named.functions = arena_alloc(&p->named.arena, (n_functions + 1) * sizeof *functions);
	need(p->named.place_of_node && p->named.sums && p->named.functions);
	memcpy(p->named.functions, functions, n_functions * sizeof *functions);
	p->named.place_of_node[0] = UINT32_MAX;
	for (size_t i = 1; i < out->n_nodes; i++)
		p->named.place_of_node[i] = (uint32_t)out->nodes[i].offset;
	for (size_t i = 0; i < out->n_cells; i++)
		p->named.sums[out->cells[i].event] += out->cells[i].count;
}

static uint32_t row_of(const struct named_profile *named, uint32_t node)
{
	const struct named_place *place = &named->places[named->place_of_node[node]];
	return named->functions[named->frames[place->first_frame + place->n_frames - 1].function].row;
}

/* Rows by function, for listings; a function's inclusive count has each cell once. */
static void make_rows(struct planting *p)
{
	struct named_profile *named = &p->named;
	const struct profile *profile = named->profile;
	struct named_table *table = &named->by_function;
	need((table->rows = arena_alloc(&named->arena, (named->n_functions + 1) * sizeof *table->rows)) != NULL);
	for (size_t i = 0; i < named->n_functions; i++) {
		struct named_function *f = &named->functions[i];
		f->row = UINT32_MAX;
		if (f->inlined)
			continue;
		f->row = (uint32_t)table->n;
		struct named_row *row = &table->rows[table->n++];
		*row = (struct named_row){.name = f->name, .module = f->module, .file = f->file, .line = f->line};
		need((row->counts = arena_alloc(&named->arena, (profile->n_events + 1) * sizeof *row->counts)) !=
		     NULL);
	}
	size_t *counted = calloc(table->n + 1, sizeof *counted); /* by which cell + 1: once each */
	need(counted != NULL);
	for (size_t i = 0; i < profile->n_cells; i++) {
		const struct profile_cell *c = &profile->cells[i];
		table->rows[row_of(named, c->node)].counts[c->event].self += c->count;
		for (uint32_t n = c->node; n; n = profile->nodes[n].parent) {
			uint32_t row = row_of(named, n);
			table->rows[row].counts[c->event].inclusive += counted[row] != i + 1 ? c->count : 0;
			counted[row] = i + 1;
		}
		named->has_inclusive |= profile->nodes[c->node].parent != 0;
	}
	free(counted);
	for (size_t i = 0; i < named->n_arcs; i++) {
		const struct named_arc *arc = &named->arcs[i];
		if (arc->caller != arc->callee)
			table->rows[arc->callee].counts[0].inclusive = arc->inclusive[0];
	}
}

static void name_planted(struct planting *p)
{
	name_all(p, planted_functions, N(planted_functions), planted_frames, N(planted_frames), planted_places,
		 N(planted_places));
}

static void plant_shares(struct planting *p, bool before)
{
	open_planting(p, planted_events, N(planted_events));
	uint32_t in_main = node(p, 0, 0), calls = node(p, in_main, 5);
	add(p, node(p, in_main, 1), 0, 0, before ? 50 : 60);
	add(p, node(p, in_main, 1), 1, 0, before ? 20 : 40);
	add(p, node(p, in_main, 2), 0, 0, 40);
	add(p, node(p, calls, 1), 0, 0, 30);
	add(p, node(p, calls, 3), 1, 0, before ? 50 : 20);
	if (before)
		add(p, node(p, node(p, calls, 3), 4), 1, 0, 10);
	add(p, node(p, 0, 4), 0, 0, 10);
	add(p, node(p, in_main, 1), 0, 1, 5);
	name_planted(p);
}

static void plant_counted(struct planting *p)
{
	// clang-format off: a table, a row a line
	static const struct profile_event events[] = {
		{.label = "instructions:u",
		 .unit = "instructions",
		 .source = SOURCE_EXACT,
		 .has_total = true,
		 .total = 10000},
		{.label = "l1d-misses",
		 .unit = "misses",
		 .machine = "r12000",
		 .source = SOURCE_MODEL,
		 .has_total = true,
		 .total = 12},
	};
	// clang-format on
	open_planting(p, events, N(events));
	add(p, node(p, 0, 1), 0, 0, 7000);
	add(p, node(p, 0, 2), 0, 0, 2000);
	add(p, node(p, 0, 0), 0, 0, 1000);
	add(p, node(p, 0, 2), 0, 1, 12);
	name_planted(p);
}

static void plant_arcs(struct planting *p)
{
	// clang-format off: a table, a row a line
	static const struct profile_event events[] = {
		{.label = "instructions:u",
		 .unit = "instructions",
		 .source = SOURCE_EXACT,
		 .has_total = true,
		 .total = 10000},
	};
	// clang-format on
	static const uint64_t all = 10000, work = 9000, inner = 0, lib = 2000;
	static const struct named_arc arcs[] = {{PROFILE_NO_CALLER, 0, PROFILE_NO_CALLER, 1, &all},
						{0, 1, 5, 3, &work},
						{1, 1, 1, 5, &inner},
						{1, 2, 4, 20, &lib}};
	open_planting(p, events, N(events));
	add(p, node(p, 0, 0), 0, 0, 1000);
	add(p, node(p, 0, 1), 0, 0, 7000);
	add(p, node(p, 0, 3), 0, 0, 2000);
	name_planted(p);
	p->named.arcs = (struct named_arc *)arcs;
	p->named.n_arcs = N(arcs);
	p->named.has_inclusive = true;
}

static void plant_recursion(struct planting *p)
{
	open_planting(p, planted_events, 1);
	add(p, node(p, node(p, node(p, node(p, node(p, 0, 0), 5), 5), 5), 1), 0, 0, 8);
	name_planted(p);
}

static void plant_hostile(struct planting *p)
{
	static struct named_function functions[10];
	static struct named_frame frames[10];
	static struct named_place places[10];
	// clang-format off: a table, a row a line
	static const char *const names[] = {
		"<script>window.acted=1</script>",
		"\"><rect onload='window.acted=1'/>",
		"]]></script><script>window.acted=1",
		"\x1b[31mred\x07\r\n",
		"bad\xff\xc3(utf\xed\xa0\x80",
		"a;b 7\nc 8",
		"\xef\xbf\xbe\xef\xbf\xbf&amp;\xe2\x80\xae",
		"fn=(1) x\nsummary: 1",
		"",
		long_name,
	};
	// clang-format on
	memset(long_name, 'x', sizeof long_name - 1);
	memset(long_line, 'y', sizeof long_line - 1);
	open_planting(p, planted_events, 1);
	for (uint32_t i = 0; i < N(names); i++) {
		// clang-format off: a table, a row a line
		functions[i] = (struct named_function){.name = names[i],
						       .module = i == 2 ? "/tmp/<m>\n'\"&" : "/opt/prog",
						       .file = i == 3 ? "a\nb<c>.c" : "x.c",
						       .begins = i};
		// clang-format on
		frames[i] = (struct named_frame){.function = i, .file = functions[i].file, .line = i + 1};
		places[i] = (struct named_place){.module = 0, .offset = i, .first_frame = i, .n_frames = 1};
		uint32_t n = profile_builder_node(&p->builder, 0, p->modules[0], i);
		need(n != PROFILE_NO_INDEX);
		add(p, n, 0, 0, i + 1);
	}
	name_all(p, functions, 10, frames, 10, places, 10);
}

static void plant_many(struct planting *p, uint32_t n)
{
	enum { FUNCTIONS = 5000, LEVELS = 20 };
	static struct named_function functions[FUNCTIONS];
	static struct named_frame frames[FUNCTIONS];
	static struct named_place places[FUNCTIONS];
	uint64_t random = 1;
	open_planting(p, planted_events, 1);
	for (uint32_t i = 0; i < FUNCTIONS; i++) {
		char name[64];
		snprintf(name, sizeof name, "project::module_%u::Type<int>::function_%u(int, char const*)", i / 50,
			 i);
		// clang-format off: a table, a row a line
		functions[i] = (struct named_function){.name = arena_strdup(&p->builder.out->arena, name),
						       .module = i % 3 ? "/opt/prog" : "/lib/libx.so",
						       .file = "/src/prog.cc",
						       .begins = i * 64};
		// clang-format on
		frames[i] = (struct named_frame){.function = i, .file = "/src/prog.cc", .line = i};
		places[i] = (struct named_place){
			.module = i % 3 ? 0 : 1, .offset = i, .first_frame = i, .n_frames = 1};
	}
	for (uint32_t i = 0; i < n; i++) {
		uint32_t at = 0;
		for (int level = 0; level < LEVELS; level++) {
			random = random * 6364136223846793005u + 1442695040888963407u;
			uint32_t spread = level < 4 ? 2 : level < 12 ? 3 : FUNCTIONS;
			uint32_t place = (uint32_t)((random >> 33) % spread) * 7 % FUNCTIONS +
					 (level < 12 ? (uint32_t)level * 11 : 0);
			at = profile_builder_node(&p->builder, at, p->modules[places[place % FUNCTIONS].module],
						  place % FUNCTIONS);
			need(at != PROFILE_NO_INDEX);
		}
		add(p, at, (int)(i & 1), 0, 1 + i % 17);
	}
	name_all(p, functions, FUNCTIONS, frames, FUNCTIONS, places, FUNCTIONS);
}

static void plant(struct planting *p, const char *name)
{
	if (strcmp(name, "shares") == 0 || strcmp(name, "before") == 0)
		plant_shares(p, name[0] == 'b');
	else if (strcmp(name, "counted") == 0)
		plant_counted(p);
	else if (strcmp(name, "arcs") == 0)
		plant_arcs(p);
	else if (strcmp(name, "recursion") == 0)
		plant_recursion(p);
	else if (strcmp(name, "hostile") == 0)
		plant_hostile(p);
	else
		plant_many(p, (uint32_t)strtoul(name, NULL, 10));
}

static void drop(struct planting *p)
{
	struct profile *profile = (struct profile *)p->named.profile;
	if (!profile)
		return;
	profile_free(profile);
	free(profile);
	named_profile_free(&p->named);
}

/* text|prof WIDTH [butterfly] */
static void write_text(struct planting *p, int argc, char **argv)
{
	struct profile_report_options options = {.text.width = argc > 3 ? atoi(argv[3]) : 80};
	for (int i = 4; i < argc; i++) {
		options.butterfly |= strcmp(argv[i], "butterfly") == 0;
		options.top = (size_t)atoi(argv[i]);
	}
	make_rows(p);
	if (strcmp(argv[2], "text") == 0) {
		report_profile_text(stdout, &p->named, &options);
		return;
	}
	options.file = "prog.cy_hwc.m12133";
	options.made_unix = 830967950; /* when the paper's was made */
	struct profile *profile = (struct profile *)p->named.profile;
	profile->machine.cpu = "R10000";
	profile->machine.cpus = 1;
	profile->clock_mhz = 195;
	report_profile_prof(stdout, &p->named, &options);
}

int main(int argc, char **argv)
{
	static struct planting after, before;
	struct export_options options = {0};
	struct error err = {0};
	bool text = argc > 2 && (strcmp(argv[2], "text") == 0 || strcmp(argv[2], "prof") == 0);
	const struct export_format *format = argc > 2 && !text ? export_find(argv[2]) : NULL;
	need(format != NULL || text);
	plant(&after, argv[1]);
	if (text) {
		write_text(&after, argc, argv);
		drop(&after);
		return fflush(stdout) == 0 ? 0 : 1;
	}
	if (argc > 3 && strcmp(argv[3], "inverted") == 0) {
		options.inverted = true;
	} else if (argc > 3) {
		plant(&before, argv[3]);
		options.before = &before.named;
	}
	if (strcmp(format->name, "html") == 0)
		make_rows(&after);
	clock_t begin = clock();
	bool done = format->write(stdout, &after.named, &options, &err);
	if (!done)
		fprintf(stderr, "export_planted: %s\n", err.text);
	else if (getenv("EXPORT_CPU"))
		fprintf(stderr, "%.3f s of CPU time\n", (double)(clock() - begin) / CLOCKS_PER_SEC);
	drop(&after);
	drop(&before);
	return done && fflush(stdout) == 0 ? 0 : 1;
}
