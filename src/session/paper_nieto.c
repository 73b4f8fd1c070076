/* Nieto, Bayona, Salayandia, Teller and DeRose: what compiler switches do to floating-point counts,
 * calibration, and the two definitions of a hit in the instruction cache.
 *
 * The report's events by its processors' definitions (sections 4.3 and 4.6):
 *
 *     Power3    FP = arithmetic instructions, roots among them (PM_FPU0_CMPL + PM_FPU1_CMPL)
 *     Power4    FP = the same + stores of floating-point registers
 *     Power3    a hit of the instruction cache is a block of up to eight instructions that is fetched without
 *     a miss */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "session/paper_inside.h"

#define COUNT(a) (sizeof(a) / sizeof *(a))
static const char MACHINE[] = "model:power3";

/* ---- square roots: Tables 2 to 6 ---- */

enum { FP, FMA, ROOTS, STORES, INSTRUCTIONS, CYCLES, ROOT_EVENTS };
static const char *const root_events[ROOT_EVENTS] = {
	"fp-instructions:u", "fma-instructions:u", "fp-square-roots:u", "stores:u", "instructions:u", "cycles:u"};
static const uint64_t root_sizes[] = {100, 1000, 10000, 100000, 1000000};
enum { ROOT_SIZES = COUNT(root_sizes) };

struct nieto_roots {
	struct paper_count hardware[ROOT_SIZES][ROOT_EVENTS], software[ROOT_SIZES][ROOT_EVENTS];
};

/* A row of the printed table, by place: its heads differ in how they write a thousand. */
static bool printed_row(struct paper_work *w, struct paper_block *block, const struct paper_table *t,
			const char *row)
{
	const char *cells[PAPER_CELLS_MOST] = {row, "paper"};
	for (size_t c = 1; c < t->n_columns && c + 1 < PAPER_CELLS_MOST; c++) {
		const char *cell = paper_cell(t, row, t->columns[c]);
		cells[c + 1] = cell ? cell : "";
	}
	return paper_row_of(w, block, cells);
}

/* Ours: of one event, or the sum of two (second < 0: of one). */
static bool counted_row(struct paper_work *w, struct paper_block *block, const char *name,
			const struct paper_count (*counts)[ROOT_EVENTS], int first, int second)
{
	const char *cells[PAPER_CELLS_MOST] = {name,
					       counts[0][first].known ? counts[0][first].source : "not counted"};
	for (size_t i = 0; i < ROOT_SIZES; i++)
		cells[2 + i] = paper_count_text(w,
						counts[i][first].mean + (second < 0 ? 0 : counts[i][second].mean));
	return paper_row_of(w, block, cells);
}

static bool tell_roots(struct paper_work *w, const struct nieto_roots *r, const char *table, bool software,
		       bool power4)
{
	static const char *const columns[] = {"count",  "source",  "100",       "1,000",
					      "10,000", "100,000", "1,000,000", NULL};
	const struct paper_count(*counts)[ROOT_EVENTS] = software ? r->software : r->hardware;
	struct paper_table t;
	if (!paper_find(w, table, &t) || !paper_heading(w, t.number, t.title))
		return false;
	struct paper_block *block = paper_table_block(w, columns);
	bool done = block != NULL;
	for (size_t i = 0; done && i < t.n_rows; i++) {
		const char *row = t.cells[i][0];
		done = printed_row(w, block, &t, row);
		if (done && strcmp(row, "Mean FP") == 0)
			done = counted_row(w, block, power4 ? "FP and stores" : "FP", counts, FP,
					   power4 ? STORES : -1);
		else if (done && strcmp(row, "Mean FMA") == 0)
			done = counted_row(w, block, "FMA", counts, FMA, -1);
		else if (done && strcmp(row, "Mean SQRT") == 0)
			done = counted_row(w, block, "square roots", counts, ROOTS, -1);
		else if (done && strcmp(row, "Mean FP stores") == 0)
			done = counted_row(w, block, "stores", counts, STORES, -1);
		else if (done && strcmp(row, "Mean Cycles") == 0 && counts[0][CYCLES].known)
			done = counted_row(w, block, "cycles", counts, CYCLES, -1);
	}
	return done;
}

static double per_element(const struct paper_count (*counts)[ROOT_EVENTS], int event)
{
	return counts[ROOT_SIZES - 1][event].mean / (double)root_sizes[ROOT_SIZES - 1];
}

static bool tell_all_roots(struct paper_work *w, const struct nieto_roots *r)
{
	double by_hardware = per_element(r->hardware, FP), by_software = per_element(r->software, FP);
	return tell_roots(w, r, "nieto-2", false, false) &&
	       paper_text(w, "The hardware way is the same on both: a root and a multiplication, 2 for each "
			     "element. Power3's compiler makes the "
			     "multiplication a fused multiply-add, which x86-64's does not: FMA is 0 here.") &&
	       tell_roots(w, r, "nieto-3", true, false) &&
	       paper_text(w,
			  "AIX's library needs 20 instructions for a root, 14 of them fused; x86-64 begins with "
			  "an estimate of the processor "
			  "and needs one step of Newton's: %.0f for each element, the multiplication among them, "
			  "and none is fused.",
			  by_software) &&
	       tell_roots(w, r, "nieto-4", true, true) && tell_roots(w, r, "nieto-5", false, true) &&
	       tell_roots(w, r, "nieto-6", false, true) &&
	       paper_text(w, "Power4 counts a store of a floating-point register as a floating-point instruction: "
			     "3 for each element, not 2. By its "
			     "definition we add the stores, and get the same 3. Tables 5 and 6 differ in the "
			     "compiler's switch; the "
			     "counts are the same, and one column of ours stands for both.") &&
	       paper_text(w,
			  "The misleading metric: by software there are %.1f times as many floating-point "
			  "instructions for the same roots. A rate of "
			  "floating-point instructions a second rises with that, whatever the time is.",
			  by_software / by_hardware) &&
	       (r->hardware[0][CYCLES].known ||
		paper_missing(w, "Cycles and MFLOPs/sec of Tables 2 to 6 and 9, and Figure 4, need a counter of "
				 "cycles, which this machine does not "
				 "show to tare; the models have no time."));
}

/* ---- rounding: Tables 7 to 9 ---- */

static const uint64_t rounding_sizes[] = {1, 10, 100, 1000, 10000, 100000, 1000000};
enum { ROUNDING_SIZES = COUNT(rounding_sizes), ROUNDING_EVENTS = 3 };
static const char *const rounding_events[ROUNDING_EVENTS] = {"fp-instructions:u", "fp-conversions:u",
							     "fma-instructions:u"};

struct nieto_rounding {
	const char *kernel, *label;
	struct paper_count counts[ROUNDING_SIZES][ROUNDING_EVENTS];
};
enum { ADD, ROUNDED, UNROUNDED, FUSED, ROUNDINGS };

static bool our_rounding(struct paper_work *w, struct paper_block *block, const struct nieto_rounding *r)
{
	const char *cells[PAPER_CELLS_MOST] = {r->label,
					       r->counts[0][0].known ? r->counts[0][0].source : "not counted"};
	for (size_t i = 0; i < ROUNDING_SIZES; i++)
		cells[2 + i] = paper_count_text(w, r->counts[i][0].mean + r->counts[i][1].mean);
	return paper_row_of(w, block, cells);
}

static bool tell_rounding_table(struct paper_work *w, const char *table, const char *suffix,
				const struct nieto_rounding *r, const int *ours, size_t n)
{
	static const char *const columns[] = {"count", "source", "1",       "10",        "100",
					      "1,000", "10,000", "100,000", "1,000,000", NULL};
	struct paper_table t;
	if (!paper_find(w, table, &t) || !paper_heading(w, t.number, t.title))
		return false;
	struct paper_block *block = paper_table_block(w, columns);
	bool done = block != NULL;
	for (size_t i = 0; done && i < t.n_rows; i++) {
		const char *row = t.cells[i][0], *found = strstr(row, suffix);
		if (found && strcmp(found, suffix) == 0)
			done = printed_row(w, block, &t, row);
	}
	for (size_t i = 0; done && i < n; i++)
		done = our_rounding(w, block, &r[ours[i]]);
	return done && (!t.note || paper_text(w, "%s", t.note));
}

static bool tell_rounding(struct paper_work *w, const struct nieto_rounding *r)
{
	static const int additions[] = {ADD, ROUNDED, UNROUNDED}, fused[] = {FUSED};
	return tell_rounding_table(w, "nieto-7", ": Mean-Reported Count", r, additions, COUNT(additions)) &&
	       paper_text(w, "Ours count arithmetic and conversions. Additions of floats alone are not rounded on "
			     "x86-64: 50 for each iteration, as "
			     "expected. The same trap is in a constant: ten times a + b*1.5 computes in double "
			     "precision and rounds, 5 "
			     "instructions each (two conversions up, a multiplication, an addition, a conversion "
			     "down); with 1.5f it is 2. The "
			     "report's factor is 2 (100 for 50), ours 2.5 (50 for 20).") &&
	       tell_rounding_table(w, "nieto-8", ": Mean", r, fused, COUNT(fused)) &&
	       paper_text(w, "fp-fma has fifty fused multiply-adds of doubles: one instruction each, as XLC's "
			     "with -qarch=pwr3.") &&
	       tell_rounding_table(w, "nieto-9", ": FP ins", r, fused, COUNT(fused));
}

/* ---- calibration: Table 10 ---- */

static const uint64_t block_sizes[] = {1, 10, 100, 1000, 10000};
enum { BLOCK_SIZES = COUNT(block_sizes), BLOCK_INSTRUCTIONS = 9 };

/* What was counted that the program's text does not have: by whom, and how much at most. */
static const char *beyond_text(struct paper_work *w, const struct kernel *kernel, bool region,
			       const struct paper_count *counts)
{
	const char *what = region ? "region" : "command", *source = NULL;
	double most = 0;
	for (size_t i = 0; i < BLOCK_SIZES; i++) {
		double expected;
		if (!counts[i].known)
			return paper_printf(w, "The %s was not counted: %s.", what, counts[i].why);
		if (!(region ? kernel_predict_region(kernel, "instructions", block_sizes[i], NULL, &expected, NULL)
			     : kernel_predict(kernel, "instructions", block_sizes[i], NULL, &expected, NULL)))
			return paper_printf(w, "The %s was counted by %s.", what, counts[i].source);
		if (fabs(counts[i].mean - expected) > fabs(most))
			most = counts[i].mean - expected;
		source = counts[i].source;
	}
	if (most == 0)
		return paper_printf(w, "The %s was counted by %s, and no instruction of the counting is in it.",
				    what, source);
	return paper_printf(
		w, "The %s was counted by %s: up to %s instructions %s than the program has are of the counting.",
		what, source, paper_count_text(w, fabs(most)), most > 0 ? "more" : "fewer");
}

static bool tell_calibration(struct paper_work *w, const struct paper_count *region,
			     const struct paper_count *command)
{
	static const char *const columns[] = {
		"blocks",          "predicted",           "region counted", "region - predicted",
		"command counted", "command - predicted", "SD of both",     NULL};
	struct paper_table t;
	const struct kernel *kernel = paper_kernel(w, "linear");
	if (!kernel || !paper_find(w, "nieto-10", &t) || !paper_printed(w, &t) ||
	    !paper_heading(w, "Table 10, here", "straight blocks of 9 instructions (kernels/linear.S)"))
		return false;
	struct paper_block *block = paper_table_block(w, columns);
	for (size_t i = 0; block && i < BLOCK_SIZES; i++) {
		double predicted = (double)(BLOCK_INSTRUCTIONS * block_sizes[i]);
		const char *cells[] = {paper_count_text(w, (double)block_sizes[i]),
				       paper_count_text(w, predicted),
				       paper_count_text(w, region[i].mean),
				       paper_count_text(w, region[i].mean - predicted),
				       paper_count_text(w, command[i].mean),
				       paper_count_text(w, command[i].mean - predicted),
				       paper_printf(w, "%s, %s", paper_count_text(w, region[i].sd),
						    paper_count_text(w, command[i].sd))};
		if (!paper_row_of(w, block, cells))
			return false;
	}
	return block && paper_text(w,
				   "The region has 8 instructions around the blocks, the command 19 + 7 for each "
				   "digit of its argument: both constants are of the "
				   "program, as its text in kernels/linear.S and kernels/start.h says. %s %s The "
				   "report's 139 are PAPI's calls. "
				   "'tare calibrate' measures that constant for libtare where there is a counter.",
				   beyond_text(w, kernel, true, region), beyond_text(w, kernel, false, command));
}

/* ---- the instruction cache: Table 11, Figure 5 ---- */

enum { FETCHES, MISSES, PREFETCHES, COMPLETED, ICACHE_EVENTS };
static const char *const icache_events[ICACHE_EVENTS] = {"fetch-blocks:u", "l1i-load-misses:u", "l1i-prefetches:u",
							 "instructions:u"};
static const uint64_t icache_sizes[] = {32,   64,   128,   256,   512,   1024,   2048,
					4096, 8192, 16384, 32768, 65536, 131072, 262144};
enum { ICACHE_SIZES = COUNT(icache_sizes) };

static const char *with_sd(struct paper_work *w, double mean, double sd)
{
	return paper_printf(w, "%s (%s)", paper_count_text(w, mean), paper_count_text(w, sd));
}

static bool icache_row(struct paper_work *w, struct paper_block *block, const struct paper_table *t, size_t i,
		       const struct paper_count *c)
{
	const char *const *printed = t->cells[i];
	double hits = c[FETCHES].mean - c[MISSES].mean;
	const char *cells[] = {printed[0],
			       printed[1],
			       paper_printf(w, "%s (%s)", printed[2], printed[3]),
			       with_sd(w, hits, c[FETCHES].sd),
			       printed[4],
			       paper_printf(w, "%s (%s)", printed[5], printed[6]),
			       with_sd(w, c[MISSES].mean, c[MISSES].sd),
			       paper_printf(w, "%s to %s", paper_count_text(w, c[MISSES].least),
					    paper_count_text(w, c[MISSES].most)),
			       paper_printf(w, "%s (%s)", printed[7], printed[8]),
			       paper_count_text(w, c[PREFETCHES].mean),
			       paper_count_text(w, c[COMPLETED].mean - c[MISSES].mean)};
	return paper_row_of(w, block, cells);
}

/* 100 · (counted - expected) / counted: the report divides by what was counted (docs/closed-forms.md) */
static double part_of_counted(double counted, double expected) { return 100 * (counted - expected) / counted; }

static bool draw_figure_5(struct paper_work *w, const struct paper_table *t, const struct paper_count *counts)
{
	struct paper_block *block = paper_figure_block(
		w, "Figure 5: hits of the instruction cache, counted against expected", "instructions",
		"(counted - expected) / counted");
	if (!block)
		return false;
	block->figure.percent = true;
	for (int k = 0; k < 2; k++) {
		struct paper_series *line = paper_series_of(w, block, k ? "tare's Power3" : "Power3 (Table 11)",
							    k ? "power3" : "paper", ICACHE_SIZES);
		if (!line)
			return false;
		for (size_t i = 0; i < ICACHE_SIZES; i++) {
			double expected = paper_number(t->cells[i][1]);
			const struct paper_count *c = counts + i * ICACHE_EVENTS;
			line->x[i] = (double)icache_sizes[i];
			line->y[i] = part_of_counted(
				k ? c[FETCHES].mean - c[MISSES].mean : paper_number(t->cells[i][2]), expected);
		}
		line->n = ICACHE_SIZES;
	}
	return true;
}

static bool tell_icache(struct paper_work *w, const struct paper_count *counts)
{
	static const char *const columns[] = {"instructions",
					      "hits expected",
					      "hits, paper (SD)",
					      "hits, power3 (SD)",
					      "misses expected",
					      "misses, paper (SD)",
					      "misses, power3 (SD)",
					      "misses, least to most",
					      "prefetches, paper (SD)",
					      "prefetches, power3",
					      "hits by instruction, power3",
					      NULL};
	struct paper_table t;
	if (!paper_find(w, "nieto-11", &t) || !paper_heading(w, t.number, t.title))
		return false;
	if (t.n_rows != ICACHE_SIZES)
		return error_set(w->err, ERROR_SYNTAX, "the table 'nieto-11' has other sizes than the experiment");
	struct paper_block *block = paper_table_block(w, columns);
	for (size_t i = 0; block && i < ICACHE_SIZES; i++)
		if (!icache_row(w, block, &t, i, counts + i * ICACHE_EVENTS))
			return false;
	return block &&
	       paper_text(w, "A hit on the Power3 is a block of eight instructions that is fetched: n/8 - n/32 "
			     "are expected, and the model counts that, "
			     "and what the few instructions around them add. By the common definition, a hit for "
			     "each instruction, there are "
			     "eight times as many (last column): both are right, and a hit rate without its "
			     "definition says nothing.") &&
	       paper_text(w, "The report counts up to a quarter more hits than expected, because its processor "
			     "often fetches less than eight "
			     "instructions at a time; tare's model always fetches whole blocks. The report puts "
			     "the monitor's own part "
			     "at some 94 hits and 11 misses; here it is 1 hit and 2 misses, the jump into the "
			     "instructions and the "
			     "return. The model does not vary: its SD is 0, "
			     "and least, most and mode are the mean.") &&
	       paper_text(w, "Prefetching has no prediction (phase 7). tare's Power3 is declared without a "
			     "prefetcher, and counts none.") &&
	       draw_figure_5(w, &t, counts) &&
	       paper_text(w, "Figure 5 divides by what was counted, not by what was expected; so its first points "
			     "are 30.56 %% and 37.37 %%, as in the report.");
}

/* ---- the seven phases ---- */

static bool tell_phases(struct paper_work *w, const struct paper_count *region, const char *here)
{
	static const char *const columns[] = {"phase", "here, for instructions completed", NULL};
	double most = 0;
	for (size_t i = 0; i < BLOCK_SIZES; i++)
		most = fmax(most, fabs(region[i].mean - (double)(BLOCK_INSTRUCTIONS * block_sizes[i] + 8)));
	const char *const rows[][2] = {
		{"1. micro-benchmark",
		 "straight blocks of nine instructions (kernels/linear.S), 1 to 10,000 of them"},
		{"2. prediction", "9 n + 8 of the region, by its text (kernels/linear.truth)"},
		{"3. data collection: counter", here},
		{"4. data collection: simulator", "tare's Power3 (model:power3), for the caches of Table 11"},
		{"5. comparison",
		 paper_printf(w, "largest difference %s instructions", paper_count_text(w, most))},
		{"6. analysis", most == 0 ? "nothing is left to be explained"
					  : "the difference is the counter's own: see 'tare verify'"},
		{"7. alternate approach",
		 "not needed for this event; prefetches of Table 11 have no prediction, and are named there"},
	};
	if (!paper_heading(w, "Seven phases", "the report's method (section 4)"))
		return false;
	struct paper_block *block = paper_table_block(w, columns);
	for (size_t i = 0; block && i < COUNT(rows); i++)
		if (!paper_row_of(w, block, rows[i]))
			return false;
	return block != NULL;
}

/* ---- all ---- */

struct nieto_seen {
	struct nieto_roots roots;
	struct nieto_rounding rounding[ROUNDINGS];
	struct paper_count region[BLOCK_SIZES], command[BLOCK_SIZES];
	struct paper_count icache[ICACHE_SIZES * ICACHE_EVENTS];
};

static bool run(struct paper_work *w, struct nieto_seen *s)
{
	static const char *const instructions[] = {"instructions:u"};
	static const struct {
		const char *kernel, *label;
	} rounding[ROUNDINGS] = {[ADD] = {"fp-add-single", "fp-add-single: 50 additions"},
				 [ROUNDED] = {"fp-rounded", "fp-rounded: 10 a + b*1.5"},
				 [UNROUNDED] = {"fp-unrounded", "fp-unrounded: 10 a + b*1.5f"},
				 [FUSED] = {"fp-fma", "fp-fma: 50 multiply-adds"}};
	w->all = 2 * ROOT_SIZES + ROUNDINGS * ROUNDING_SIZES + 2 * BLOCK_SIZES + ICACHE_SIZES + PAPER_SWIMS;
	bool done = paper_sweep(w, "sqrt", true, "auto", root_events, ROOT_EVENTS, root_sizes, ROOT_SIZES,
				s->roots.hardware[0]) &&
		    paper_sweep(w, "sqrt-software", true, "auto", root_events, ROOT_EVENTS, root_sizes, ROOT_SIZES,
				s->roots.software[0]);
	for (size_t i = 0; done && i < ROUNDINGS; i++) {
		s->rounding[i].kernel = rounding[i].kernel;
		s->rounding[i].label = rounding[i].label;
		done = paper_sweep(w, rounding[i].kernel, true, "auto", rounding_events, ROUNDING_EVENTS,
				   rounding_sizes, ROUNDING_SIZES, s->rounding[i].counts[0]);
	}
	return done &&
	       paper_sweep(w, "linear", true, "auto", instructions, 1, block_sizes, BLOCK_SIZES, s->region) &&
	       paper_sweep(w, "linear", false, "auto", instructions, 1, block_sizes, BLOCK_SIZES, s->command) &&
	       paper_sweep(w, "icache", true, MACHINE, icache_events, ICACHE_EVENTS, icache_sizes, ICACHE_SIZES,
			   s->icache);
}

bool paper_nieto(struct paper_work *w)
{
	struct nieto_seen *s = calloc(1, sizeof *s);
	if (!s)
		return error_no_memory(w->err);
	bool done = run(w, s);
	const char *here = done && s->region[0].known ? s->region[0].source : "not counted";
	done = done &&
	       paper_text(w,
			  "Theirs: IBM's Power3 and Power4, AIX, XLC 6.1, XLF 7.1 and GCC. Ours: kernels of this "
			  "machine that do the same arithmetic, "
			  "counted here (%s); the instruction cache by the Power3 as tare models it. Counts are "
			  "means of the executions.",
			  here) &&
	       tell_phases(w, s->region, here) && paper_nieto_swim(w) && tell_all_roots(w, &s->roots) &&
	       tell_rounding(w, s->rounding) && tell_calibration(w, s->region, s->command) &&
	       tell_icache(w, s->icache);
	free(s);
	return done;
}
