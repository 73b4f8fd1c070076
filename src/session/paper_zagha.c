/* Zagha, Larson, Turner and Itzkowitz (1996): four programs before and after they were tuned, on the R10000 as
 * tare models it. The paper's figures show time, as counts times typical costs, and print neither; ours show
 * the counts. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "session/native.h"
#include "session/paper_inside.h"

#define COUNT(a) (sizeof(a) / sizeof *(a))
static const char MACHINE[] = "model:r10000";

static void tell_progress(struct paper_work *w, const char *name)
{
	if (w->asked->progress)
		w->asked->progress(w->asked->progress_context, name, w->done++, w->all);
}

static const char *decimal(struct paper_work *w, double value)
{
	return isnan(value) ? "–" : paper_printf(w, value != 0 && fabs(value) < 0.1 ? "%.4f" : "%.2f", value);
}

static const char *printed(const struct paper_table *t, const char *figure)
{
	return paper_cell(t, figure, "printed");
}

/* ---- Figures 2 and 3: a search in structures ---- */

static bool tell_search(struct paper_work *w, const struct paper_table *t)
{
	enum { L2, EVENTS = 4 };
	static const char *const requests[EVENTS] = {"l2-data-misses:u", "l1d-misses:u", "tlb-misses:u",
						     "instructions:u"};
	static const char *const names[EVENTS] = {"secondary data cache misses", "primary data cache misses",
						  "TLB misses", "instructions"};
	static const char *const columns[] = {"event", "structures", "shadow array", "ratio", "by", NULL};
	const uint64_t n = 50000;
	struct paper_count before[EVENTS], after[EVENTS];
	if (!paper_sweep(w, "search", true, MACHINE, requests, EVENTS, &n, 1, before) ||
	    !paper_sweep(w, "shadow", true, MACHINE, requests, EVENTS, &n, 1, after) ||
	    !paper_heading(w, "Figures 2 and 3",
			   "a search through 50,000 structures of 80 bytes, and through a shadow array"))
		return false;
	struct paper_block *block = paper_table_block(w, columns);
	bool done = block != NULL;
	for (size_t i = 0; done && i < EVENTS; i++) {
		const char *cells[] = {
			names[i], paper_count_text(w, before[i].mean), paper_count_text(w, after[i].mean),
			decimal(w, before[i].mean / after[i].mean), before[i].known ? before[i].source : "–"};
		done = paper_row_of(w, block, cells);
	}
	return done &&
	       paper_text(w,
			  "A structure of 80 bytes is longer than a line of the primary cache: each that is read "
			  "misses there, and %s of "
			  "%s in the secondary cache, whose lines have 128 bytes. The paper's were longer than "
			  "those; one line of its program "
			  "had %s of all its secondary misses, as the search has all of them here. In an array of "
			  "their own, 32 keys "
			  "share a line.",
			  paper_count_text(w, before[L2].mean), paper_count_text(w, (double)n),
			  printed(t, "Figure 3")) &&
	       paper_missing(
		       w,
		       "Figure 3's profile, and the cache miss rate of the whole application (%s): they are of "
		       "45,000 lines of a program "
		       "that was not published. 'tare count --by line' shows the same of a program of yours.",
		       printed(t, "Figure 3, tuned"));
}

/* ---- Figures 4 and 5: ADI ---- */

enum { ADI_INSTRUCTIONS, ADI_L1, ADI_L2, ADI_TLB, ADI_EVENTS, SWEEPS = 3, ADI_SIZES_MOST = 40 };
static const char *const adi_requests[ADI_EVENTS] = {"instructions:u", "l1d-misses:u", "l2-data-misses:u",
						     "tlb-misses:u"};
static const char *const sweep_names[SWEEPS] = {"X", "Y", "Z"};

struct adi_seen {
	unsigned sizes[ADI_SIZES_MOST];
	size_t n;
	struct paper_split counts[2][ADI_SIZES_MOST][SWEEPS][ADI_EVENTS]; /* before, tuned */
};

static bool count_adi(struct paper_work *w, struct adi_seen *s)
{
	static const char *const functions[2][SWEEPS] = {{"x_sweep", "y_sweep", "z_sweep"},
							 {"x_sweep", "y_sweep", "z_sweep_tuned"}};
	const char *program = paper_program(w, "adi");
	if (!program)
		return false;
	for (int tuned = 0; tuned < 2; tuned++)
		for (size_t i = 0; i < s->n; i++) {
			char number[24];
			const char *argv[] = {program, number, tuned ? "tuned" : NULL, NULL};
			snprintf(number, sizeof number, "%u", s->sizes[i]);
			tell_progress(w, "adi");
			if (!paper_functions(w, MACHINE, adi_requests, ADI_EVENTS, argv, functions[tuned], SWEEPS,
					     s->counts[tuned][i][0]))
				return false;
		}
	return true;
}

static double each_point(const struct adi_seen *s, int tuned, size_t i, size_t sweep, size_t event)
{
	const struct paper_split *c = &s->counts[tuned][i][sweep][event];
	return c->known ? c->own / pow(s->sizes[i], 3) : NAN;
}

static bool draw_sweep(struct paper_work *w, const struct adi_seen *s, int tuned, size_t sweep)
{
	static const char *const names[ADI_EVENTS] = {NULL, "primary cache misses", "secondary cache misses",
						      "TLB misses"};
	struct paper_block *block = paper_figure_block(
		w,
		paper_printf(w, "Figure %d: %s sweep%s", tuned ? 5 : 4, sweep_names[sweep],
			     tuned ? ", tuned" : ""),
		"N of a grid of N x N x N",
		paper_printf(w, "%s sweep: events of a grid point", sweep_names[sweep]));
	for (size_t event = ADI_L1; block && event < ADI_EVENTS; event++) {
		struct paper_series *line = paper_series_of(w, block, names[event], "r10000", s->n);
		if (!line)
			return false;
		for (size_t i = 0; i < s->n; i++) {
			line->x[line->n] = s->sizes[i];
			line->y[line->n++] = each_point(s, tuned, i, sweep, event);
		}
	}
	return block != NULL;
}

static bool tell_sweeps(struct paper_work *w, const struct adi_seen *s, int tuned, size_t at)
{
	static const char *const columns[] = {
		"sweep", "instructions", "primary cache misses", "secondary cache misses", "TLB misses", "by",
		NULL};
	struct paper_block *block = paper_table_block(w, columns);
	bool done = block != NULL;
	for (size_t sweep = 0; done && sweep < SWEEPS; sweep++) {
		const struct paper_split *c = s->counts[tuned][at][sweep];
		const char *cells[2 + ADI_EVENTS] = {sweep_names[sweep]};
		for (size_t e = 0; e < ADI_EVENTS; e++)
			cells[1 + e] = c[e].known ? paper_count_text(w, c[e].own) : "not counted";
		cells[1 + ADI_EVENTS] = c[ADI_TLB].known ? c[ADI_TLB].source : "–";
		done = paper_row_of(w, block, cells);
	}
	return done;
}

/* Where N = 100, or the last size, is. */
static size_t hundred(const struct adi_seen *s)
{
	size_t i = 0;
	while (i + 1 < s->n && s->sizes[i] != 100)
		i++;
	return i;
}

static bool tell_adi(struct paper_work *w, const struct paper_table *t)
{
	struct adi_seen *s = arena_alloc(&w->study->arena, sizeof *s);
	if (!s)
		return error_no_memory(w->err);
	memset(s, 0, sizeof *s);
	for (unsigned n = 16; n <= 128; n += w->asked->quick ? 28 : 4)
		s->sizes[s->n++] = n;
	if (!count_adi(w, s))
		return false;
	for (int tuned = 0; tuned < 2; tuned++) {
		if (!paper_heading(w, tuned ? "Figure 5" : "Figure 4",
				   paper_printf(w, "the sweeps of ADI%s, and N = %u in numbers",
						tuned ? ", tuned" : "", s->sizes[hundred(s)])))
			return false;
		for (size_t sweep = 0; sweep < SWEEPS; sweep++)
			if (!draw_sweep(w, s, tuned, sweep))
				return false;
		if (!tell_sweeps(w, s, tuned, hundred(s)))
			return false;
		if (!tuned && !paper_text(w,
					  "The paper gives shares of the time at N = 100: %s of the cycles in the "
					  "X, Y and Z sweeps; TLB misses %s, secondary "
					  "misses %s, primary ones %s. It prints no costs, so that ours stay "
					  "counts: the Z sweep misses the TLB with each access, "
					  "because a step along it is longer than a page, and it takes more pages "
					  "than the TLB has entries.",
					  printed(t, "Figure 4, X Y Z"), printed(t, "Figure 4, TLB"),
					  printed(t, "Figure 4, L2"), printed(t, "Figure 4, L1")))
			return false;
	}
	size_t at = hundred(s);
	return paper_text(w,
			  "Interchanged loops take the Z sweep's TLB misses from %s to %s. After fusion the Y "
			  "sweep misses the secondary cache %s times "
			  "instead of %s: the X sweep has brought its plane. The paper's program became %s times "
			  "faster by these changes and by padding.",
			  paper_count_text(w, s->counts[0][at][2][ADI_TLB].own),
			  paper_count_text(w, s->counts[1][at][2][ADI_TLB].own),
			  paper_count_text(w, s->counts[1][at][1][ADI_L2].own),
			  paper_count_text(w, s->counts[0][at][1][ADI_L2].own), printed(t, "Figure 5"));
}

/* ---- Figures 6 and 7: false sharing ---- */

enum {
	SHARE_MISSES,
	SHARE_INTERVENTIONS,
	SHARE_INVALIDATIONS,
	SHARE_EVENTS,
	THREADS = 4,
	NEAR = 8,
	FAR = 128,
	ADDITIONS = 40000
};
static const unsigned thread_counts[THREADS] = {1, 2, 4, 8};
static const char *const share_requests[SHARE_EVENTS] = {"l2-data-misses:u", "interventions:u", "invalidations:u"};

struct sharing_seen {
	struct paper_count counts[2][THREADS][SHARE_EVENTS]; /* side by side, apart */
	double seconds[2][2];                                /* of 1 and 2 threads, here; NAN: not known */
};

struct sums_arguments {
	char text[3][24];
	const char *argv[5];
};

static void fill_arguments(struct sums_arguments *a, const char *program, unsigned threads, bool apart,
			   unsigned long additions)
{
	snprintf(a->text[0], sizeof a->text[0], "%u", threads);
	snprintf(a->text[1], sizeof a->text[1], "%d", apart ? FAR : NEAR);
	snprintf(a->text[2], sizeof a->text[2], "%lu", additions);
	a->argv[0] = program;
	for (int i = 0; i < 3; i++)
		a->argv[1 + i] = a->text[i];
	a->argv[4] = NULL;
}

/* The least of some executions. */
static bool time_sums(struct paper_work *w, const char *program, unsigned threads, bool apart, double *seconds)
{
	enum { TIMES = 3 };
	struct sums_arguments a;
	struct command command = {.argv = (char *const *)a.argv, .stdin_fd = -1, .stdout_fd = -1, .stderr_fd = -1};
	fill_arguments(&a, program, threads, apart, w->asked->quick ? 20000000 : 200000000);
	tell_progress(w, "sums, timed");
	*seconds = NAN;
	for (int i = 0; i < TIMES; i++) {
		struct native_times times;
		int status;
		if (!native_run(&command, w->asked->interrupt, &times, &status, w->err))
			return false;
		if (status == 0)
			*seconds = fmin(*seconds, times.elapsed_s);
		w->study->executions++;
	}
	return true;
}

static bool count_sharing(struct paper_work *w, struct sharing_seen *s)
{
	const char *program = paper_program(w, "sums");
	struct paper_counter model;
	if (!program)
		return false;
	bool done = paper_counter_open(w, &model, MACHINE, share_requests, SHARE_EVENTS);
	for (int apart = 0; apart < 2; apart++)
		for (size_t i = 0; done && i < THREADS; i++) {
			struct sums_arguments a;
			fill_arguments(&a, program, thread_counts[i], apart, ADDITIONS);
			tell_progress(w, "sums");
			done = paper_count(w, &model, a.argv, NULL, s->counts[apart][i]);
		}
	paper_counter_close(&model);
	for (int apart = 0; apart < 2; apart++)
		for (size_t i = 0; done && i < 2; i++)
			done = time_sums(w, program, thread_counts[i], apart, &s->seconds[apart][i]);
	return done;
}

static double of_thousand(const struct paper_count *c) { return c->known ? 1000 * c->mean / ADDITIONS : NAN; }

/* T(p) = (additions/p) (a + b m(p)): a from one thread, b from two, m(p) modelled misses of an addition beyond
 * those of one thread. */
static double modelled_speed_up(const struct sharing_seen *s, int apart, size_t i)
{
	double one = s->seconds[0][0], two = s->seconds[0][1];
	double m2 = (s->counts[0][1][SHARE_MISSES].mean - s->counts[0][0][SHARE_MISSES].mean) / ADDITIONS;
	double m = (s->counts[apart][i][SHARE_MISSES].mean - s->counts[apart][0][SHARE_MISSES].mean) / ADDITIONS;
	double b = m2 > 0 ? (2 * two / one - 1) / m2 : NAN; /* in units of a */
	return b >= 0 ? thread_counts[i] / (1 + b * fmax(m, 0)) : NAN;
}

static double measured_speed_up(const struct sharing_seen *s, int apart, size_t i)
{
	return i < 2 ? s->seconds[apart][0] / s->seconds[apart][i] : NAN;
}

static bool draw_sharing(struct paper_work *w, const struct sharing_seen *s)
{
	static const char *const names[2][SHARE_EVENTS] = {
		{"secondary misses, untuned", "interventions, untuned", "invalidations, untuned"},
		{"secondary misses, tuned", "interventions, tuned", "invalidations, tuned"}};
	struct paper_block *block = paper_figure_block(w, "Figure 6", "threads", "events of 1000 additions");
	for (int apart = 0; block && apart < 2; apart++)
		for (size_t e = 0; e < SHARE_EVENTS; e++) {
			struct paper_series *line = paper_series_of(w, block, names[apart][e], "r10000", THREADS);
			if (!line)
				return false;
			for (size_t i = 0; i < THREADS; i++) {
				line->x[line->n] = thread_counts[i];
				line->y[line->n++] = of_thousand(&s->counts[apart][i][e]);
			}
		}
	return block != NULL;
}

static bool draw_speed_up(struct paper_work *w, const struct sharing_seen *s)
{
	struct paper_block *block = paper_figure_block(w, "Figure 7", "threads", "speed-up over one thread");
	for (int k = 0; block && k < 4; k++) {
		int apart = k / 2;
		bool measured = k % 2 == 0;
		struct paper_series *line = paper_series_of(
			w, block,
			paper_printf(w, "%s, %s", apart ? "tuned" : "untuned", measured ? "measured" : "modelled"),
			measured ? "os" : "r10000", THREADS);
		if (!line)
			return false;
		for (size_t i = 0; i < (measured ? 2 : THREADS); i++) {
			line->x[line->n] = thread_counts[i];
			line->y[line->n++] = measured ? measured_speed_up(s, apart, i)
						      : modelled_speed_up(s, apart, i);
		}
	}
	return block != NULL;
}

static bool tell_sharing(struct paper_work *w)
{
	static const char *const columns[] = {"threads",
					      "secondary misses, untuned",
					      "tuned",
					      "interventions, untuned",
					      "interventions, tuned",
					      "speed-up, untuned",
					      "speed-up, tuned",
					      "speed-up by",
					      NULL};
	struct sharing_seen s = {0};
	if (!count_sharing(w, &s) ||
	    !paper_heading(
		    w, "Figure 6",
		    "sums of several threads side by side in a line (untuned), and 128 bytes apart (tuned)") ||
	    !draw_sharing(w, &s) || !paper_heading(w, "Figure 7", "their speed-up") || !draw_speed_up(w, &s))
		return false;
	struct paper_block *block = paper_table_block(w, columns);
	bool done = block != NULL;
	for (size_t i = 0; done && i < THREADS; i++) {
		const char *cells[] = {
			paper_printf(w, "%u", thread_counts[i]),
			decimal(w, of_thousand(&s.counts[0][i][SHARE_MISSES])),
			decimal(w, of_thousand(&s.counts[1][i][SHARE_MISSES])),
			decimal(w, of_thousand(&s.counts[0][i][SHARE_INTERVENTIONS])),
			decimal(w, of_thousand(&s.counts[1][i][SHARE_INTERVENTIONS])),
			decimal(w, i < 2 ? measured_speed_up(&s, 0, i) : modelled_speed_up(&s, 0, i)),
			decimal(w, i < 2 ? measured_speed_up(&s, 1, i) : modelled_speed_up(&s, 1, i)),
			i < 2 ? "measured here" : "modelled"};
		done = paper_row_of(w, block, cells);
	}
	return done &&
	       paper_text(w,
			  "Events are of 1000 additions, %d in all. Modelled threads take turns of some 16 "
			  "accesses, so that a line moves once a turn; on "
			  "a machine it may move with each addition. Speed-up of one and two threads was measured "
			  "here (elapsed time); beyond, it is "
			  "modelled: an addition takes a + b m, where m is its modelled misses by sharing, a is "
			  "measured with one thread and b with two. "
			  "Where two threads were not slower an addition than one, nothing is modelled. A machine "
			  "that has other work to do shows less.",
			  ADDITIONS) &&
	       paper_missing(
		       w,
		       "The weather program of the paper, whose Figures 6 and 7 these are: it was not published.");
}

/* ---- Figures 8 and 9: convolution ---- */

static bool tell_blur(struct paper_work *w, const struct paper_table *t)
{
	enum { INSTRUCTIONS, BRANCHES, MISSED, FP, EVENTS };
	static const char *const requests[EVENTS] = {"instructions:u", "conditional-branches:u", "branch-misses:u",
						     "fp-operations:u"};
	static const char *const names[EVENTS] = {"instructions", "branches", "mispredicted branches",
						  "floating-point operations"};
	static const char *const columns[] = {"of a pixel", "original (Figure 8)", "unrolled (Figure 9)", "by",
					      NULL};
	const char *functions[] = {"convolve", "convolve_unrolled"}, *program = paper_program(w, "blur");
	struct paper_split counts[2][EVENTS];
	const double side = 128;
	if (!program)
		return false;
	for (int unrolled = 0; unrolled < 2; unrolled++) {
		const char *argv[] = {program, "128", unrolled ? "unrolled" : NULL, NULL};
		tell_progress(w, "blur");
		if (!paper_functions(w, MACHINE, requests, EVENTS, argv, &functions[unrolled], 1,
				     counts[unrolled]))
			return false;
	}
	if (!paper_heading(w, "Figures 8 and 9", "a 3 x 3 convolution of 128 x 128 pixels"))
		return false;
	struct paper_block *block = paper_table_block(w, columns);
	bool done = block != NULL;
	for (size_t i = 0; done && i < EVENTS; i++) {
		const char *cells[] = {names[i], decimal(w, counts[0][i].own / (side * side)),
				       decimal(w, counts[1][i].own / (side * side)),
				       counts[0][i].known ? counts[0][i].source : "–"};
		done = paper_row_of(w, block, cells);
	}
	return done &&
	       paper_text(w,
			  "%.1f %% of the branches are mispredicted; the paper counted %s and expected about a "
			  "third, by the same reason: the last "
			  "iteration of each short loop. Its improved version took a %sth of the cycles; ours "
			  "executes %.1f times fewer instructions.",
			  100 * counts[0][MISSED].own / counts[0][BRANCHES].own, printed(t, "Figure 8"),
			  printed(t, "Figure 9"), counts[0][INSTRUCTIONS].own / counts[1][INSTRUCTIONS].own);
}

bool paper_zagha(struct paper_work *w)
{
	struct paper_table t;
	w->all = 2 + 2 * (w->asked->quick ? 5 : 29) + 2 * THREADS + 4 + 2;
	return paper_text(w, "Theirs: an R10000 of 195 MHz in a Power Challenge; their programs were not "
			     "published but for their kernels, which ours "
			     "follow. Ours: caches, TLB and branch prediction of the R10000 as tare models it; "
			     "instructions by the engine.") &&
	       paper_find(w, "zagha-findings", &t) && paper_printed(w, &t) && tell_search(w, &t) &&
	       tell_adi(w, &t) && tell_sharing(w) && tell_blur(w, &t);
}
