/* The branch predictors of a modelled core: against closed forms (docs/closed-forms.md 1.10, 1.12, 1.13) and, on random programs, against
   model_branch_reference.h: one by one, in runs of blocks with each kind of vectors that this processor has and with none, and without filters. */
#include "model/core/predict/predict.h"
#include "model_branch_reference.h"
#include "tap.h"

static uint64_t seed = 1;
static uint64_t draw(uint64_t below)
{
	seed = seed * 6364136223846793005ull + 1442695040888963407ull;
	return (seed >> 33) % below;
}

/* ---- machines ---- */

static struct machine machine_of(enum machine_predictor kind)
{
	struct machine m = {.seed = 99};
	struct machine_direction *d = &m.direction;
	*d = (struct machine_direction){
		.kind = kind, .counter_bits = 2, .initial = 1, .entries = 4096, .history_bits = 12};
	if (kind == PREDICT_BIMODAL)
		d->entries = 512;
	if (kind == PREDICT_LOCAL)
		d->local_entries = 1024, d->history_bits = 10, d->entries = 1024;
	if (kind == PREDICT_TOURNAMENT) {
		d->local_entries = d->local_counters = 1024, d->local_counter_bits = 3;
		d->choice_entries = 4096, d->choice_bits = 2;
	}
	if (kind == PREDICT_PERCEPTRON)
		d->entries = 128, d->history_bits = 28, d->weight_bits = 8, d->threshold = 68;
	if (kind == PREDICT_TAGE) { /* Seznec & Michaud 2006, 5 components, 64 Kbit */
		static const uint16_t histories[] = {5, 15, 44, 130};
		d->tables = 4;
		for (unsigned i = 0; i < 4; i++)
			d->table_entries[i] = 1024, d->table_history[i] = histories[i], d->table_tag_bits[i] = 9;
		d->useful_reset = 262144;
	}
	if (kind == PREDICT_BTB) { /* Pentium: entries begin as strongly taken */
		m.targets.btb_sets = 64, m.targets.btb_ways = 4;
		d->initial = 3;
	}
	return m;
}

/* Blocks go to branches_run() by the hundred. Between two branches there is a block without one, where the first goes, or, if `dense`, none:
   then each is executed in a block that begins where the last one went, with a site that knows what the branch's site knew before. */
#define RUN 300
struct under_test {
	struct machine machine;
	void *memory;
	struct branches *branches;
	struct model_counts counts;
	struct static_branch sites[500], blocks[RUN + 2], *run[2 * RUN + 2];
	unsigned n, n_blocks, most; /* most: blocks of the run that is collected */
	bool dense;
};

static void begin_with(struct under_test *u, const struct machine *machine, struct model_options options)
{
	memset(u, 0, sizeof(*u));
	u->machine = *machine;
	u->memory = aligned_alloc(64, branches_bytes(machine));
	memset(u->memory, 0, branches_bytes(machine));
	u->branches = branches_init(u->memory, &u->machine, &options);
	u->most = RUN;
}

static void begin(struct under_test *u, const struct machine *machine)
{
	begin_with(u, machine, (struct model_options){0});
}

static void end(struct under_test *u) { free(u->memory); }

static void run(struct under_test *u)
{
	if (u->dense)
		u->run[u->n] = &u->blocks[u->n_blocks]; /* where the last one went */
	if (u->n)
		branches_run(u->branches, u->run, u->dense ? u->n : u->n - 1);
	u->n = u->n_blocks = 0;
}

static void went(struct under_test *u, struct static_branch *site, uint64_t went_to)
{
	if (u->dense) {
		uint64_t begins = u->n_blocks ? u->blocks[u->n_blocks].begins : 1;
		u->blocks[u->n_blocks] = *site;
		u->blocks[u->n_blocks].begins = begins;
		u->run[u->n++] = &u->blocks[u->n_blocks++];
	} else {
		u->run[u->n++] = site;
		u->run[u->n++] = &u->blocks[u->n_blocks++];
	}
	branches_static(u->branches, &u->blocks[u->n_blocks - !u->dense], went_to, 0, 0, TRACE_END_NONE, 0);
	if (u->n_blocks == u->most)
		run(u);
}

/* A branch, with a site that is made when its address is first seen. */
static void post(struct under_test *u, uint64_t pc, unsigned length, enum trace_ending ending, bool taken,
		 uint64_t target)
{
	struct static_branch *site = u->sites;
	while (site->length && (site->behind != pc + length || (site->ending & ENDING_KIND) != (unsigned)ending))
		site++;
	if (!site->length)
		branches_static(u->branches, site, pc, pc, length, ending, target);
	went(u, site, ending == TRACE_END_CONDITIONAL && !taken ? pc + length : target);
}

static void conditional(struct under_test *u, uint64_t pc, bool taken)
{
	post(u, pc, 2, TRACE_END_CONDITIONAL, taken, pc - 64);
}

static uint64_t counted(struct under_test *u, enum model_branch_count what)
{
	run(u);
	branches_count(u->branches, &u->counts);
	return u->counts.branch[what];
}

static uint64_t mispredicted(struct under_test *u) { return counted(u, BRANCH_MISPREDICTED); }

/* ---- closed forms ---- */

static void loops(void)
{
	static const struct {
		unsigned initial, cold;
		const char *name;
	} from[] = {{1, 2, "weakly"}, {0, 3, "strongly"}};
	for (unsigned i = 0; i < 2; i++) {
		struct machine m = machine_of(PREDICT_BIMODAL);
		struct under_test u;
		bool all = true;
		m.direction.initial = from[i].initial;
		for (unsigned n = 4; n < 60; n += 7) /* enough to saturate the counter */
			for (unsigned entries = 1; entries < 5; entries++) {
				begin(&u, &m);
				for (unsigned e = 0; e < entries; e++)
					for (unsigned k = 1; k <= n; k++)
						conditional(&u, 0x1000, k < n);
				all &= mispredicted(&u) == from[i].cold + (entries - 1) &&
				       counted(&u, BRANCH_ALL) == n * entries;
				end(&u);
			}
		ok(all, "2-bit counters from %s not taken: a loop costs %u mispredictions cold and 1 per re-entry",
		   from[i].name, from[i].cold);
	}
}

static double alternating(enum machine_predictor kind, unsigned initial, bool first)
{
	struct machine m = machine_of(kind);
	struct under_test u;
	m.direction.initial = initial;
	begin(&u, &m);
	for (unsigned i = 0; i < 1000; i++)
		conditional(&u, 0x1000, (i % 2 == 0) == first);
	double share = mispredicted(&u) / 1000.0;
	end(&u);
	return share;
}

static void alternations(void)
{
	ok(alternating(PREDICT_BIMODAL, 1, true) == 1.0,
	   "taken, not, taken, … from weakly not taken: all mispredicted");
	ok(alternating(PREDICT_BIMODAL, 1, false) == 0.5, "not, taken, not, … from weakly not taken: half");
	ok(alternating(PREDICT_BIMODAL, 0, true) == 0.5, "from strongly not taken: half");
	ok(alternating(PREDICT_GSHARE, 1, true) < 0.02 && alternating(PREDICT_LOCAL, 1, true) < 0.02,
	   "histories learn it");
	ok(alternating(PREDICT_TAGE, 1, true) < 0.02 && alternating(PREDICT_PERCEPTRON, 1, true) < 0.02,
	   "so do TAGE and the perceptron");
}

/* One branch, not taken once in `period`: mispredictions per period, in the last 50 of them. */
static double periodic(enum machine_predictor kind, unsigned period)
{
	struct machine m = machine_of(kind);
	struct under_test u;
	begin(&u, &m);
	uint64_t before = 0;
	for (unsigned i = 0; i < 450 * period; i++) {
		if (i == 400 * period)
			before = mispredicted(&u);
		conditional(&u, 0x1000, i % period != period - 1);
	}
	double each = (mispredicted(&u) - before) / 50.0;
	end(&u);
	return each;
}

static void periods(void)
{
	ok(periodic(PREDICT_LOCAL, 11) == 0, "10 bits of local history predict a period of 11 (h + 1)");
	ok(periodic(PREDICT_LOCAL, 12) == 2,
	   "at h + 2 the full history is followed by both: its counter alternates, 2 mispredictions a period");
	ok(periodic(PREDICT_LOCAL, 13) == 1 && periodic(PREDICT_LOCAL, 100) == 1, "longer periods cost 1");
	ok(periodic(PREDICT_GSHARE, 13) == 0 && periodic(PREDICT_GSHARE, 15) == 1,
	   "gshare with 12 bits: 13 costs 0, 15 costs 1");
	ok(periodic(PREDICT_TAGE, 13) == 0 && periodic(PREDICT_TAGE, 40) == 0 && periodic(PREDICT_TAGE, 131) == 0,
	   "TAGE with 130 bits: up to 131 cost 0");
	ok(periodic(PREDICT_TAGE, 400) == 1, "a period of 400 costs it 1");
	ok(periodic(PREDICT_BIMODAL, 100) == 1, "a 2-bit counter: 1");
}

/* 3 × 3 convolution: mispredictions of 1000 pixels behind the first 1000 */
static void convolution(enum machine_predictor kind, bool top, uint64_t *branches, uint64_t *missed)
{
	struct machine m = machine_of(kind);
	struct under_test u;
	begin(&u, &m);
	for (unsigned pixel = 0; pixel < 2000; pixel++) {
		if (pixel == 1000)
			*missed = mispredicted(&u), *branches = u.counts.branch[BRANCH_CONDITIONAL];
		if (top) { /* leave if done */
			for (unsigned i = 0; i <= 3; i++) {
				conditional(&u, 0x2000, i == 3);
				for (unsigned j = 0; i < 3 && j <= 3; j++)
					conditional(&u, 0x2040, j == 3);
			}
		} else { /* back if not done */
			for (unsigned i = 0; i < 3; i++) {
				for (unsigned j = 0; j < 3; j++)
					conditional(&u, 0x2040, j < 2);
				conditional(&u, 0x2080, i < 2);
			}
		}
		conditional(&u, top ? 0x1fc0 : 0x20c0, !top);
	}
	*missed = mispredicted(&u) - *missed;
	*branches = u.counts.branch[BRANCH_CONDITIONAL] - *branches;
	end(&u);
}

static void convolutions(void)
{
	uint64_t n, missed;
	convolution(PREDICT_BIMODAL, false, &n, &missed);
	ok(n == 13000 && missed == 4000, "3 × 3 convolution, bottom-tested, 2-bit counters: 4 of 13 mispredicted");
	convolution(PREDICT_BIMODAL, true, &n, &missed);
	ok(n == 17000 && missed == 4000, "top-tested: 4 of 17");
	// clang-format off: a table, a row a line
	static const struct {
		enum machine_predictor kind;
		const char *name;
	} with[] = {{PREDICT_LOCAL, "local"},
		    {PREDICT_GSHARE, "gshare"},
		    {PREDICT_TOURNAMENT, "21264's"},
		    {PREDICT_PERCEPTRON, "perceptron"},
		    {PREDICT_TAGE, "TAGE"}};
	// clang-format on
	for (unsigned i = 0; i < 5; i++) {
		uint64_t bottom, at_top;
		convolution(with[i].kind, false, &n, &bottom);
		convolution(with[i].kind, true, &n, &at_top);
		printf("# %s: %" PRIu64 " bottom-tested, %" PRIu64 " top-tested\n", with[i].name, bottom, at_top);
		ok(bottom == 0 && at_top == 0, "a predictor with history (%s) learns both: none of 1000 pixels",
		   with[i].name);
	}
}

static void pentium(void)
{
	struct machine m = machine_of(PREDICT_BTB);
	struct under_test u;
	begin(&u, &m);
	for (unsigned i = 1; i <= 100; i++)
		conditional(&u, 0x1000, i < 100);
	ok(mispredicted(&u) == 2 && counted(&u, BRANCH_BTB_HITS) == 99 && counted(&u, BRANCH_BTB_MISSES) == 1 &&
		   counted(&u, BRANCH_BTB_MISSES_TAKEN) == 1,
	   "program 1 (N = 100) on the Pentium: 2 flushes, N - 1 BTB hits");
	end(&u);
	begin(&u, &m);
	for (unsigned i = 0; i < 100; i++)
		conditional(&u, 0x1000, false);
	ok(mispredicted(&u) == 0 && counted(&u, BRANCH_BTB_MISSES) == 100 && !counted(&u, BRANCH_BTB_MISSES_TAKEN),
	   "a branch never taken never gets an entry and is always predicted");
	end(&u);
	begin(&u, &m);
	for (unsigned r = 0; r < 10; r++)
		for (unsigned i = 0; i < 5; i++)
			conditional(&u, 0x1000 + 64 * i, true);
	ok(mispredicted(&u) == 50,
	   "five taken branches of one set of four ways thrash it (LRU): all mispredicted");
	end(&u);
	m.targets.btb_allocation = BTB_ALLOCATE_ALL;
	begin(&u, &m);
	for (unsigned i = 0; i < 100; i++)
		conditional(&u, 0x1000, false);
	ok(counted(&u, BRANCH_BTB_HITS) == 99 && mispredicted(&u) == 2,
	   "allocated always, from strongly taken: 99 hits, 2 mispredictions");
	end(&u);
}

static uint64_t recursion(unsigned depth, unsigned entries)
{
	struct machine m = machine_of(PREDICT_BIMODAL);
	struct under_test u;
	m.targets.return_entries = entries;
	begin(&u, &m);
	for (unsigned i = 0; i < depth; i++)
		post(&u, 0x1000 + 16 * i, 5, TRACE_END_CALL, true, 0x9000);
	for (unsigned i = depth; i-- > 0;)
		post(&u, 0x9100, 1, TRACE_END_RETURN, true, 0x1000 + 16 * i + 5);
	uint64_t missed = counted(&u, BRANCH_RETURN_MISPREDICTED);
	end(&u);
	return missed;
}

static void returns(void)
{
	bool all = true;
	for (unsigned depth = 1; depth < 60; depth++)
		for (unsigned entries = 1; entries < 40; entries += 3)
			all &= recursion(depth, entries) == (depth > entries ? depth - entries : 0);
	ok(all, "a return stack of D entries mispredicts max(0, N - D) returns of N calls deep");
	equal_u64(recursion(3, 1), 2,
		  "the R10000's single entry: of three nested returns only the innermost is right");
	equal_u64(recursion(8, 0), 8, "without a stack and without a BTB no return is known");
}

static void indirect(void)
{
	struct machine m = machine_of(PREDICT_BIMODAL);
	struct under_test u;
	m.targets.btb_sets = 64, m.targets.btb_ways = 4;
	begin(&u, &m);
	for (unsigned i = 0; i < 1000; i++)
		post(&u, 0x1000, 2, TRACE_END_INDIRECT_JUMP, true, 0x5000 + 0x100 * (i % 4));
	equal_u64(counted(&u, BRANCH_INDIRECT_MISPREDICTED), 1000,
		  "four targets in turn: the BTB's last target is always wrong");
	end(&u);
	m.targets.indirect_entries = 256, m.targets.indirect_history = 3;
	begin(&u, &m);
	for (unsigned i = 0; i < 1000; i++)
		post(&u, 0x1000, 2, TRACE_END_INDIRECT_JUMP, true, 0x5000 + 0x100 * (i % 4));
	equal_u64(counted(&u, BRANCH_INDIRECT_MISPREDICTED), 7,
		  "a table by the last three targets: wrong until each history was seen once (3 + 4)");
	ok(counted(&u, BRANCH_BTB_HITS) == 999, "in the BTB it is from its first time on");
	end(&u);
}

static void direct(void)
{
	struct machine m = machine_of(PREDICT_BIMODAL);
	struct under_test u;
	m.targets.btb_sets = 1, m.targets.btb_ways = 1;
	begin(&u, &m);
	for (unsigned i = 0; i < 100; i++)
		post(&u, 0x1000 + 16 * (i % 2), 5, i % 3 ? TRACE_END_JUMP : TRACE_END_CALL, true, 0x9000);
	ok(counted(&u, BRANCH_BTB_MISSES) == 100 && mispredicted(&u) == 0,
	   "direct jumps and calls miss in a BTB but are never mispredicted");
	branches_resolve(u.branches, 0x1000, 2, TRACE_END_SYSTEM, true, 0);
	branches_resolve(u.branches, 0x1000, 2, TRACE_END_NONE, true, 0);
	equal_u64(counted(&u, BRANCH_ALL), 100, "a system call is no branch, the end of a cut block neither");
	end(&u);
}

static void conserved(void)
{
	bool sums = true;
	for (unsigned h = 0; h < BRANCH_HAPPENINGS; h++) {
		uint32_t e = branches_events(h);
		unsigned kinds = (e >> BRANCH_CONDITIONAL_MISPREDICTED & 1) +
				 (e >> BRANCH_INDIRECT_MISPREDICTED & 1) + (e >> BRANCH_RETURN_MISPREDICTED & 1);
		unsigned kind = h & BRANCH_KIND;
		if (kind != TRACE_END_JUMP && kind != TRACE_END_CALL)
			sums &= kinds == (e >> BRANCH_MISPREDICTED & 1);
		sums &= (e >> BRANCH_BTB_HITS & 1) + (e >> BRANCH_BTB_MISSES & 1) == (e >> BRANCH_BTB_LOOKUPS & 1);
	}
	ok(sums, "whatever happens: mispredicted is the sum of its kinds, lookups are hits and misses");
}

/* ---- against the reference ---- */

struct site {
	uint64_t pc, target[4];
	enum trace_ending ending;
	unsigned character;
};

static bool same_as_reference(const struct machine *machine, unsigned steps)
{
	static struct ref_branches r;
	static struct site sites[400];
	struct under_test one, simple;
	static struct under_test many[VECTORS_AVX512 + 1]; /* by what TAGE may use */
	unsigned n = 20 + draw(380), depth = 0,
		 kinds = draw(3) ? 20 : 13; /* 13: conditional branches only, so batches are full of them */
	uint64_t stack[64];
	bool same = true, last = false;
	ref_branches_begin(&r, machine);
	begin(&one, machine);
	for (unsigned v = 0; v <= VECTORS_AVX512; v++) {
		begin(&many[v], machine);
		memset(many[v].sites, 0, sizeof(many[v].sites));
		if (v < many[v].branches->tage.vectors)
			many[v].branches->tage.vectors = v;
	}
	begin_with(&simple, machine, (struct model_options){.no_filters = 1});
	for (unsigned i = 0; i < n; i++) {
		unsigned kind = draw(kinds);
		sites[i] = (struct site){.pc = 0x400000 + draw(8000), .character = draw(8)};
		if (i && !draw(5)) /* with an address shift one BTB entry is both's */
			sites[i].pc = sites[draw(i)].pc ^ draw(4);
		for (unsigned t = 0; t < 4; t++)
			sites[i].target[t] = 0x400000 + draw(8000);
		if (sites[i].target[0] == sites[i].pc + 5) /* then nobody could say which way it went */
			sites[i].target[0]++;
		sites[i].ending = kind < 13    ? TRACE_END_CONDITIONAL
				  : kind == 13 ? TRACE_END_SYSTEM
				  : kind == 14 ? TRACE_END_JUMP
				  : kind == 15 ? TRACE_END_CALL
				  : kind == 16 ? TRACE_END_INDIRECT_JUMP
				  : kind == 17 ? TRACE_END_INDIRECT_CALL
				  : kind == 18 ? TRACE_END_RETURN
					       : TRACE_END_NONE;
	}
	for (unsigned v = 0; v <= VECTORS_AVX512; v++)
		for (unsigned i = 0; i < n; i++)
			branches_static(many[v].branches, &many[v].sites[i], sites[i].pc, sites[i].pc, 5,
					sites[i].ending, sites[i].target[0]);
	unsigned at = 0;
	for (unsigned i = 0; i < steps && same; i++) {
		const struct site *s = &sites[at];
		bool taken = s->character == 0   ? draw(2)
			     : s->character == 1 ? last
			     : s->character == 2 ? !last
			     : s->character == 3 ? draw(20) == 0
			     : s->character == 4 ? draw(20) != 0
			     : s->character == 5 ? i % 3
						 : s->character & 1;
		uint64_t target =
			s->target[s->ending == TRACE_END_INDIRECT_JUMP || s->ending == TRACE_END_INDIRECT_CALL
					  ? draw(2) + last
					  : 0];
		if (s->ending == TRACE_END_CALL || s->ending == TRACE_END_INDIRECT_CALL)
			stack[depth++ % 64] = s->pc + 5;
		if (s->ending == TRACE_END_RETURN && depth && draw(10))
			target = stack[--depth % 64];
		if (s->ending == TRACE_END_CONDITIONAL)
			last = taken;
		struct model_counts before = r.counts;
		ref_branch(&r, s->pc, 5, s->ending, taken, target);
		unsigned happened = branches_resolve(one.branches, s->pc, 5, s->ending, taken, target);
		bool at_once = !draw(300); /* seldom, among those of the runs */
		unsigned most = draw(3) ? 1 + draw(RUN) : RUN, dense = draw(2);
		for (unsigned v = 0; v <= VECTORS_AVX512; v++)
			if (at_once) {
				run(&many[v]);
				many[v].most = most;
				many[v].dense = dense;
				same &= branches_resolve(many[v].branches, s->pc, 5, s->ending, taken, target) ==
					happened;
			} else {
				went(&many[v], &many[v].sites[at],
				     s->ending == TRACE_END_CONDITIONAL && !taken ? s->pc + 5 : target);
			}
		same &= branches_resolve(simple.branches, s->pc, 5, s->ending, taken, target) == happened;
		for (unsigned e = 0; e < BRANCH_COUNTS; e++)
			same &= (branches_events(happened) >> e & 1) == r.counts.branch[e] - before.branch[e];
		if (!same)
			printf("# differs at step %u, kind %d\n", i, s->ending);
		at = draw(4) ? (at + 1) % n : draw(n);
	}
	branches_count(one.branches, &one.counts);
	branches_count(simple.branches, &simple.counts);
	same &= !memcmp(one.counts.branch, r.counts.branch, sizeof(r.counts.branch));
	same &= !memcmp(simple.counts.branch, r.counts.branch, sizeof(r.counts.branch));
	for (unsigned v = 0; v <= VECTORS_AVX512; v++) {
		run(&many[v]);
		branches_count(many[v].branches, &many[v].counts);
		same &= !memcmp(many[v].counts.branch, r.counts.branch, sizeof(r.counts.branch));
		for (unsigned e = 0; e < BRANCH_COUNTS && !same; e++)
			printf("# count %u: reference %" PRIu64 ", one by one %" PRIu64 ", in runs (%u) %" PRIu64
			       ", without filters %" PRIu64 "\n",
			       e, r.counts.branch[e], one.counts.branch[e], v, many[v].counts.branch[e],
			       simple.counts.branch[e]);
		end(&many[v]);
	}
	end(&one);
	end(&simple);
	ref_branches_end(&r);
	return same;
}

static void random_programs(void)
{
	static const char *const names[] = {"no predictor", "taken", "not taken", "backward taken",
					    "bimodal",      "local", "gshare",    "tournament",
					    "perceptron",   "TAGE",  "Pentium's"};
	static const uint8_t replacements[] = {REPLACE_LRU, REPLACE_PLRU, REPLACE_FIFO, REPLACE_RANDOM};
	for (unsigned kind = PREDICT_NONE; kind <= PREDICT_BTB; kind++) {
		bool same = true;
		for (unsigned round = 0; round < 24; round++) {
			struct machine m = machine_of(kind);
			struct machine_direction *d = &m.direction;
			d->address_shift = m.targets.address_shift = draw(3);
			d->initial = draw(4);
			if (round % 2) { /* small tables: everything collides */
				d->entries = 1u << (1 + draw(6));
				d->counter_bits = 1 + draw(4);
				d->initial = draw(1u << d->counter_bits);
				d->history_bits = kind == PREDICT_PERCEPTRON ? 1 + draw(60) : 1 + draw(12);
				d->local_entries = d->local_entries ? 1u << draw(5) : 0;
				d->weight_bits = 2 + draw(7);
				d->threshold = draw(80);
				d->useful_reset = draw(3) ? 50 + draw(3000) : 0;
				d->tables = kind == PREDICT_TAGE ? 1 + draw(MACHINE_TABLES) : 0;
				unsigned history = 0;
				for (unsigned t = 0; t < d->tables; t++) {
					d->table_entries[t] = 1u << (1 + draw(8));
					d->table_tag_bits[t] = 2 + draw(14);
					d->table_history[t] = history += 1 + draw(t < 4 ? 20 : 60);
				}
				if (round % 4 == 3 &&
				    kind == PREDICT_TAGE) { /* the form that has a loop of its own */
					d->tables = 4;
					for (unsigned t = 0; t < 4; t++)
						d->table_entries[t] = 32, d->table_tag_bits[t] = 4 + draw(1),
						d->table_history[t] = 4 * t + 2 + t * t * draw(3) + (t > 1) * 9;
				}
			}
			if (kind == PREDICT_BTB || draw(3)) {
				m.targets.btb_sets = draw(2) ? 1u << draw(6) : 1 + draw(40);
				m.targets.btb_ways = 1u << draw(4);
				m.targets.btb_replacement = replacements[draw(4)];
				m.targets.btb_allocation = draw(2);
				m.targets.btb_tag_bits = draw(2) ? 0 : 1 + draw(12);
				m.targets.btb_holds_returns = draw(2);
			}
			if (draw(2))
				m.targets.return_entries = 1 + draw(20);
			if (draw(2))
				m.targets.indirect_entries = 2u << draw(7),
				m.targets.indirect_history = draw(2) ? draw(9) : draw(65);
			same &= same_as_reference(&m, 4000);
			if (!same) {
				printf("# round %u\n", round);
				break;
			}
		}
		ok(same,
		   "%s: 24 machines count as the reference, one by one and in runs, with filters and without",
		   names[kind]);
	}
}

static void long_run(void)
{
	struct machine m = machine_of(PREDICT_TAGE);
	m.direction.useful_reset = 20000;
	m.targets.btb_sets = 512, m.targets.btb_ways = 8, m.targets.return_entries = 16;
	ok(same_as_reference(&m, 120000),
	   "TAGE of 64 Kbit over 120,000 branches, ageing every 20,000: as the reference");
	m = machine_of(PREDICT_TAGE);
	for (unsigned i = 0; i < 7; i++) {
		static const uint16_t histories[] = {5, 9, 15, 25, 44, 76, 130};
		m.direction.table_entries[i] = 512, m.direction.table_history[i] = histories[i],
		m.direction.table_tag_bits[i] = 9 + i / 2;
	}
	m.direction.tables = 7;
	ok(same_as_reference(&m, 60000), "and with 8 components of different tags");
	struct under_test u;
	begin(&u, &m);
	unsigned here = VECTORS_NONE; /* by the compiler's own look */
#if defined(__x86_64__)
	if (__builtin_cpu_supports("avx2"))
		here = VECTORS_AVX2;
	if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
	    __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl") &&
	    __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2"))
		here = VECTORS_AVX512;
#endif
	ok(u.branches->tage.vectors == here,
	   "TAGE uses the vectors that this processor has (%u: 0 none, 1 AVX2, 2 AVX-512)", here);
	end(&u);
}

int main(void)
{
	loops();
	alternations();
	periods();
	convolutions();
	pentium();
	returns();
	indirect();
	direct();
	conserved();
	random_programs();
	long_run();
	return done();
}
