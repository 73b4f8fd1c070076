#include "report/explanation.h"

#include <math.h>
#include <string.h>

#include "report/build.h"
#include "report/columns.h"
#include "report/explanation_cells.h"
#include "report/explanation_figure.h"
#include "report/html/html.h"
#include "report/number.h"
#include "report/table.h"

/* Columns that a bar has: what the other cells leave of the width. */
enum {
	BAR_LEAST = 6,
	BAR_MOST = 50,
	BESIDE_BAR = 53,
	BESIDE_CAUSES = 21,
	EIGHTHS = 8,
	PLACES_SHOWN = 20,
	CAUSES_BESIDE = 3,
	ADVICE_SHOWN = 8,
	FAULTS_SHOWN = 8,
	PAGE_COLUMNS = 200
};

/* A place of less is not drawn. */
static const double DRAWN_LEAST = 0.005;

/* Some ticks of Linux's slowest timer, 100 a second. */
static const double SHORT_SECONDS = 0.1;

size_t explanation_order(const struct explanation *e, enum cause *order)
{
	size_t n = 0;
	for (unsigned c = 0; c < CAUSES; c++) {
		double seconds = e->causes[c].known ? explained_time(&e->causes[c].seconds) : 0;
		if (!(seconds > 0))
			continue;
		size_t at = n++;
		for (; at > 0 && explained_time(&e->causes[order[at - 1]].seconds) < seconds; at--)
			order[at] = order[at - 1];
		order[at] = (enum cause)c;
	}
	return n;
}

static const char *range_cell(struct document *d, const struct bounded *seconds, double all)
{
	const char *least = isnan(seconds->least) ? "?" : document_printf(d, "%.0f", 100 * seconds->least / all);
	const char *most = isnan(seconds->most) ? "?" : document_printf(d, "%.0f", 100 * seconds->most / all);
	return least && most ? document_printf(d, "%s\u2026%s %%", least, most) : NULL;
}

/* A bar of `columns` for 1, in eighths of a column; above 1 it ends with an arrow. */
static const char *bar(struct document *d, double share, size_t columns)
{
	static const char *const parts[EIGHTHS] = {"",       "\u258f", "\u258e", "\u258d",
						   "\u258c", "\u258b", "\u258a", "\u2589"};
	struct str text = {0};
	if (!(share > 0) || !columns)
		return "";
	size_t eighths = (size_t)lround(fmin(share, 1) * (double)columns * EIGHTHS);
	if (eighths == 0)
		eighths = 1;
	for (size_t i = 0; i < eighths / EIGHTHS; i++)
		str_append(&text, share > 1 && i + 1 == eighths / EIGHTHS ? "\u25b6" : "\u2588");
	str_append(&text, parts[eighths % EIGHTHS]);
	return document_str(d, &text);
}

static void add_cause(struct document *d, struct columns *columns, const char *name, const struct bounded *seconds,
		      double all, size_t bar_columns, bool bounds)
{
	double share = explained_time(seconds) / all;
	const char *shown = explained_percent(d, share);
	explained_push(d, columns,
		       &(struct columns_row){.cells = {name, explained_time_cell(d, explained_time(seconds)),
						       bounds ? shown : document_printf(d, "\u2264 %s", shown),
						       bounds ? range_cell(d, seconds, all) : "",
						       bar(d, share, bar_columns)},
					     .range = {.known = true,
						       .at = share,
						       .low = seconds->least / all,
						       .high = seconds->most / all}});
}

static void add_causes(struct document *d, const struct explanation *e, size_t width)
{
	static const char *const headings[] = {"cause", "time", "share", "least\u2026most", ""};
	enum cause order[CAUSES];
	size_t n = explanation_order(e, order);
	size_t room = width > BESIDE_BAR + BAR_LEAST ? width - BESIDE_BAR : BAR_LEAST;
	double all = explained_whole(e);
	struct columns *columns = document_add_columns(d, 5);
	if (!columns)
		return;
	for (size_t i = 0; i < 5; i++)
		columns->headings[i] = headings[i];
	columns->left[0] = columns->left[4] = true;
	columns->flexible = 0;
	columns->axis = AXIS_SHARE;
	if (room > BAR_MOST)
		room = BAR_MOST;
	if (!width) /* a page draws it */
		room = 0;
	bool lacks = explained_sum_lacks_costs(e);
	for (size_t i = 0; i < n; i++)
		add_cause(d, columns, cause_name(order[i]), &e->causes[order[i]].seconds, all, room, !lacks);
	for (unsigned c = 0; c < CAUSES_COUNTED; c++)
		if (explained_lacks_cost(e, (enum cause)c) && !(explained_time(&e->causes[c].seconds) > 0))
			explained_push(d, columns,
				       &(struct columns_row){
					       .cells = {cause_name((enum cause)c), "no cost", "?", "", ""}});
	if (e->unexplained_s > 0) {
		struct bounded rest = {e->unexplained_s, fmax(e->total_s - e->sum_most, 0),
				       fmax(e->total_s - e->sum_least, 0)};
		add_cause(d, columns, "unexplained", &rest, all, room, true);
	}
	struct columns_row last = {.emphasis = true, .place = COLUMNS_LAST};
	last.cells[0] = e->has_measured ? "measured time" : lacks ? "with a cost" : "all causes";
	last.cells[1] = explained_time_cell(d, all);
	last.cells[2] = lacks ? "" : "100 %";
	explained_push(d, columns, &last);
}

/* ---- counts and costs ---- */

static const char *count_cell(struct document *d, double count)
{
	char text[NUMBER_BYTES];
	if (isnan(count))
		return "-";
	number_group(text, count, 0);
	return document_printf(d, "%s", text);
}

static const char *cost_cell(struct document *d, const struct bounded *cost)
{
	double seconds = explained_time(cost);
	if (isnan(seconds))
		return "-";
	double ns = seconds * 1e9;
	return document_printf(d, "%s%.*f", isnan(cost->typical) ? isnan(cost->most) ? ">" : "<" : "",
			       ns < 9.995   ? 2
			       : ns < 99.95 ? 1
					    : 0,
			       ns);
}

/* Of a cause whose time is measured: what its events cost at least. */
static const char *least_cell(struct document *d, double seconds)
{
	return isnan(seconds) ? "" : document_printf(d, "\u2265 %s", explained_time_cell(d, seconds));
}

static void add_parts(struct document *d, const struct explanation *e)
{
	static const char *const headings[] = {"event", "count", "cost, ns", "time", "source"};
	struct columns *columns = document_add_columns(d, 5);
	if (!columns)
		return;
	for (size_t i = 0; i < 5; i++)
		columns->headings[i] = headings[i];
	columns->left[0] = columns->left[4] = true;
	columns->flexible = 0;
	columns->cut_at_end = true; /* names of different events have the same end */
	for (unsigned c = 0; c < CAUSES_COUNTED; c++)
		for (size_t i = 0; i < e->causes[c].n_parts; i++) {
			const struct explained_part *part = &e->causes[c].parts[i];
			if (!part->counted)
				continue;
			explained_push(
				d, columns,
				&(struct columns_row){
					.cells = {document_escaped(d, part->event), count_cell(d, part->count),
						  cost_cell(d, &part->cost),
						  c == CAUSE_CALLS && e->has_measured
							  ? least_cell(d, part->seconds.least)
							  : explained_time_cell(d, explained_time(&part->seconds)),
						  source_name(part->source)}});
		}
}

/* ---- places ---- */

static const char *place_name(struct document *d, const struct explanation *e, const struct explained_place *row)
{
	struct str text = {0};
	const char *slash = row->file ? strrchr(row->file, '/') : NULL;
	const char *file = slash ? slash + 1 : row->file;
	if (e->by == BREAKDOWN_BY_LINE && file && row->line)
		str_appendf(&text, "%s:%u%s", file, row->line, row->name[0] ? " (" : "");
	str_append(&text, row->name);
	if (row->allocated_in)
		str_appendf(&text, ", allocated in %s", row->allocated_in);
	if (e->by == BREAKDOWN_BY_LINE && file && row->line && row->name[0])
		str_append(&text, ")");
	const char *name = document_str(d, &text);
	return name ? document_escaped(d, name) : NULL;
}

/* "memory 81 %, TLB 10 %" */
static const char *place_causes(struct document *d, const struct explained_place *place, size_t room)
{
	struct str text = {0};
	bool shown[CAUSES_COUNTED] = {false};
	for (unsigned i = 0; i < CAUSES_BESIDE; i++) {
		unsigned most = CAUSES_COUNTED;
		for (unsigned c = 0; c < CAUSES_COUNTED; c++)
			if (!shown[c] && place->seconds[c] > 0 &&
			    (most == CAUSES_COUNTED || place->seconds[c] > place->seconds[most]))
				most = c;
		if (most == CAUSES_COUNTED || place->seconds[most] < 0.01 * place->sum)
			break;
		shown[most] = true;
		const char *more = document_printf(d, "%s%s %.0f %%", text.length ? ", " : "",
						   cause_name((enum cause)most),
						   100 * place->seconds[most] / place->sum);
		if (!more || text.length + strlen(more) > room)
			break;
		str_append(&text, more);
	}
	return document_str(d, &text);
}

/* A name has a third of the width: its causes are also to be seen. */
static const char *short_name(struct document *d, const char *name, size_t width)
{
	struct str text = {0};
	columns_shorten(&text, name ? name : "", width / 3);
	return document_str(d, &text);
}

static void add_places(struct document *d, const struct explanation *e, size_t width)
{
	double sum = 0;
	size_t shown = 0;
	if (!e->by)
		return;
	for (size_t i = 0; i < e->n_places; i++)
		sum += e->places[i].sum;
	struct columns *columns = document_add_columns(d, 4);
	if (!columns)
		return;
	columns->headings[0] = breakdown_by_name(e->by);
	columns->headings[1] = "time";
	columns->headings[2] = "of sum";
	columns->headings[3] = "causes";
	columns->left[0] = columns->left[3] = true;
	columns->flexible = 0;
	const char *names[PLACES_SHOWN] = {NULL};
	size_t cells = width ? width : PAGE_COLUMNS;
	for (size_t i = 0; i < e->n_places && shown < PLACES_SHOWN; i++) {
		const struct explained_place *place = &e->places[i];
		if (!(place->sum > 0))
			break;
		const char *name = short_name(d, place_name(d, e, place), cells);
		explained_push(d, columns,
			       &(struct columns_row){
				       .cells = {name, explained_time_cell(d, place->sum),
						 explained_percent(d, place->sum / sum),
						 place_causes(d, place,
							      cells > BESIDE_CAUSES ? cells * 2 / 3 - BESIDE_CAUSES
										    : 0)}});
		names[shown++] = name;
	}
	size_t drawn = 0;
	while (drawn < shown && e->places[drawn].sum >= DRAWN_LEAST * sum)
		drawn++;
	if (!width)
		explained_add_places_figure(d, e, names, drawn);
	if (e->n_places > shown)
		document_add(d, BLOCK_NOTE, "-",
			     document_printf(d, "%zu more in --json and --csv", e->n_places - shown));
}

/* ---- waits ---- */

/* Where every program and thread begins: it says nothing of the wait. */
static bool is_start(const char *function)
{
	static const char *const starts[] = {
		"_start", "__libc_start_main", "__libc_start_call_main", "start_thread", "clone", "clone3"};
	for (size_t i = 0; i < sizeof starts / sizeof *starts; i++)
		if (strncmp(function, starts[i], strlen(starts[i])) == 0)
			return true;
	return false;
}

/* "FILE:11 read < read_pipe < main" */
static const char *stack_cell(struct document *d, const char *file, unsigned line, const char **functions,
			      size_t n)
{
	struct str text = {0};
	if (file && line) {
		const char *slash = strrchr(file, '/');
		str_appendf(&text, "%s:%u ", slash ? slash + 1 : file, line);
	}
	for (size_t i = 0; i < n && (i == 0 || !is_start(functions[i])); i++)
		str_appendf(&text, "%s%s", i ? " < " : "", functions[i]);
	if (!n)
		str_append(&text, "(no stack)");
	const char *shown = document_str(d, &text);
	return shown ? document_escaped(d, shown) : NULL;
}

static void add_waits(struct document *d, const struct explanation *e)
{
	static const char *const headings[] = {"time", "waits", "cause", "where threads waited"};
	struct columns *columns = e->waits.count ? document_add_columns(d, 4) : NULL;
	for (size_t i = 0; columns && i < 4; i++)
		columns->headings[i] = headings[i];
	if (columns) {
		columns->left[2] = columns->left[3] = true;
		columns->flexible = 3;
		columns->cut_at_end = true;
	}
	for (size_t i = 0; columns && i < e->waits.count && i < PLACES_SHOWN; i++) {
		const struct explained_wait *w = &e->waits.items[i];
		explained_push(d, columns,
			       &(struct columns_row){
				       .cells = {explained_time_cell(d, w->seconds),
						 count_cell(d, (double)w->times), cause_name(w->cause),
						 stack_cell(d, w->file, w->line, w->functions, w->n_functions)}});
	}
	document_add(
		d, BLOCK_NOTE, "-",
		document_printf(d,
				"In one more execution, which was sampled, all threads together waited %s, and "
				"were ready for another %s while others ran.",
				explained_time_cell(d, e->waits_s), explained_time_cell(d, e->preempted_s)));
	if (e->waits.count > PLACES_SHOWN)
		document_add(d, BLOCK_NOTE, "-",
			     document_printf(d, "%zu more in --json", e->waits.count - PLACES_SHOWN));
}

static void add_faults(struct document *d, const struct explanation *e)
{
	static const char *const headings[] = {"page faults", "line"};
	struct columns *columns = e->faults.count ? document_add_columns(d, 2) : NULL;
	if (!columns)
		return;
	columns->headings[0] = headings[0];
	columns->headings[1] = headings[1];
	columns->left[1] = true;
	columns->flexible = 1;
	for (size_t i = 0; i < e->faults.count && i < FAULTS_SHOWN; i++) {
		const struct explained_fault *f = &e->faults.items[i];
		const char *slash = f->file ? strrchr(f->file, '/') : NULL, *file = slash ? slash + 1 : f->file;
		const char *name = !file || !f->line ? f->function
				   : f->function[0]  ? document_printf(d, "%s:%u (%s)", file, f->line, f->function)
						     : document_printf(d, "%s:%u", file, f->line);
		explained_push(d, columns,
			       &(struct columns_row){.cells = {count_cell(d, (double)f->faults),
							       name ? document_escaped(d, name) : NULL}});
	}
	if (e->faults.count > FAULTS_SHOWN)
		document_add(d, BLOCK_NOTE, "-",
			     document_printf(d, "%zu more in --json", e->faults.count - FAULTS_SHOWN));
}

/* ---- sentences ---- */

static void add_sum(struct document *d, const struct explanation *e)
{
	if (explained_sum_lacks_costs(e)) {
		struct str text = {0};
		for (unsigned c = 0; c < CAUSES_COUNTED; c++)
			if (explained_lacks_cost(e, (enum cause)c))
				str_appendf(&text, "%s%s", text.length ? ", " : "", cause_name((enum cause)c));
		str_append(&text, ": there were such events, and no cost of them is known: their time is missing "
				  "above. --costs FILE gives costs (tare-explain(1)).");
		document_add_str(d, BLOCK_NOTE, "!", &text, NULL);
	}
	if (!e->has_measured) {
		document_add(
			d, BLOCK_NOTE, "-",
			"No time was measured: these costs are not of this machine. Shares are of the causes' "
			"sum.");
		return;
	}
	document_add(
		d, BLOCK_NOTE, "-",
		document_printf(
			d, "Measured: %s elapsed, %s user, %s system%s.", explained_time_cell(d, e->elapsed_s),
			explained_time_cell(d, e->user_s), explained_time_cell(d, e->system_s),
			e->threads_most > 1 ? document_printf(d,
							      "; up to %zu threads at once, of all its processes: "
							      "the measured time is the sum of theirs",
							      e->threads_most)
					    : ""));
	if (isnan(e->sum_typical))
		return;
	if (e->cpu_s < SHORT_SECONDS)
		document_add(
			d, BLOCK_NOTE, "-",
			"In so short a run the kernel's division of the CPU time into user and system is coarse: "
			"it looks once a timer tick.");
	if (e->why_no_costs || isnan(e->counted.typical) || !(e->cpu_s > 0))
		return;
	const char *cpu = explained_percent(d, e->counted.typical / e->cpu_s);
	double least = 100 * e->counted.least / e->cpu_s, most = 100 * e->counted.most / e->cpu_s;
	if (e->counted.typical > e->cpu_s)
		document_add(d, BLOCK_NOTE, "-",
			     document_printf(
				     d,
				     "The causes on the CPU add up to %s of the CPU time (%.0f to %.0f %%): they "
				     "overlap. A CPU computes while it waits for memory, and waits for several "
				     "lines at a time.",
				     cpu, least, most));
	else
		document_add(
			d, BLOCK_NOTE, "-",
			document_printf(d, "The causes on the CPU add up to %s of the CPU time (%.0f to %.0f %%).",
					cpu, least, most));
	if (least > 100)
		document_add(
			d, BLOCK_NOTE, "!",
			"Even the least costs add up to more than the CPU time: this program's causes overlap "
			"more than those of the loops that measure costs, or the costs are not those of this "
			"machine as it was when the program ran. 'tare calibrate --costs' measures them again.");
}

/* "no cost is known of: fp-divides:u" and what was not counted, a sentence for each reason. */
static void add_missing(struct document *d, const struct explanation *e)
{
	const char *told[CAUSES * 4];
	size_t n_told = 0;
	for (unsigned c = 0; c < CAUSES_COUNTED; c++)
		for (size_t i = 0; i < e->causes[c].n_parts; i++) {
			const char *why = e->causes[c].parts[i].why;
			bool known = !why;
			for (size_t k = 0; !known && k < n_told; k++)
				known = strcmp(told[k], why) == 0;
			if (known || n_told == sizeof told / sizeof *told)
				continue;
			told[n_told++] = why;
			struct str text = {0};
			for (unsigned k = c; k < CAUSES_COUNTED; k++)
				for (size_t j = 0; j < e->causes[k].n_parts; j++) {
					const struct explained_part *part = &e->causes[k].parts[j];
					if (part->why && strcmp(part->why, why) == 0)
						str_appendf(&text, "%s%s", text.length ? ", " : "", part->event);
				}
			str_appendf(&text, ": %s", why);
			document_add_str(d, BLOCK_NOTE, "-", &text, NULL);
		}
}

/* "At FILE:33: ", "In FUNCTION (FILE:33): " */
static const char *advice_place(struct document *d, const struct explained_advice *a)
{
	const char *slash = a->file ? strrchr(a->file, '/') : NULL, *file = slash ? slash + 1 : a->file;
	if (file && a->line && a->of_function && a->function)
		return document_printf(d, "In %s (%s:%u): ", document_escaped(d, a->function),
				       document_escaped(d, file), a->line);
	if (file && a->line)
		return document_printf(d, "At %s:%u: ", document_escaped(d, file), a->line);
	return a->function ? document_printf(d, "In %s: ", document_escaped(d, a->function)) : "";
}

static const char *advice_no_line(struct document *d, const struct explained_advice *a)
{
	return a->why_no_line
		       ? document_printf(d, " Its line is not known: %s.", document_escaped(d, a->why_no_line))
		       : "";
}

static const char *advice_time(struct document *d, const struct explained_advice *a)
{
	if (isnan(a->seconds))
		return "How much time that is, is not known: it has no cost here.";
	return document_printf(d, "About %s, %s of the time.", explained_time_cell(d, a->seconds),
			       explained_percent(d, a->share));
}

static void add_advice(struct document *d, const struct explanation *e)
{
	if (!e->advice.count)
		return;
	document_add(d, BLOCK_SUBTITLE, "Advice", "");
	for (size_t i = 0; i < e->advice.count && i < ADVICE_SHOWN; i++) {
		const struct explained_advice *a = &e->advice.items[i];
		document_add(d, BLOCK_NOTE, "!",
			     document_printf(d, "%s%s %s %s%s [%s]", advice_place(d, a), a->text, a->evidence,
					     advice_time(d, a), advice_no_line(d, a), a->rule));
	}
	if (e->advice.count > ADVICE_SHOWN)
		document_add(d, BLOCK_NOTE, "-",
			     document_printf(d, "%zu more in --json", e->advice.count - ADVICE_SHOWN));
	document_add(d, BLOCK_GAP, NULL, NULL);
}

static const char *source_sentence(struct document *d, const struct explanation *e)
{
	const char *counts = e->hardware && e->modelled ? "the hardware's counters and a model"
			     : e->hardware              ? "the hardware's counters"
			     : e->modelled              ? "tare's engine and a model; no hardware counter was used"
			     : e->exact                 ? "tare's engine"
							: "the kernel's alone";
	return e->machine ? document_printf(d, "Counts: %s. Costs: %s (%s).", counts, e->costs_source, e->machine)
			  : document_printf(d, "Counts: %s.", counts);
}

/* ---- system calls ---- */

static void add_calls(struct document *d, const struct explanation *e)
{
	static const char *const headings[] = {"system call", "calls", "time", "each"};
	struct columns *columns = e->calls.count ? document_add_columns(d, 4) : NULL;
	for (size_t i = 0; columns && i < 4; i++)
		columns->headings[i] = headings[i];
	if (columns)
		columns->left[0] = true;
	for (size_t i = 0; columns && i < e->calls.count && i < PLACES_SHOWN; i++) {
		const struct explained_call *call = &e->calls.items[i];
		bool timed = !isnan(call->seconds);
		explained_push(
			d, columns,
			&(struct columns_row){
				.cells = {call->name, count_cell(d, (double)call->count),
					  timed ? explained_time_cell(d, call->seconds) : "",
					  timed ? explained_time_cell(d, call->seconds / (double)call->count)
						: ""}});
	}
	document_add(
		d, BLOCK_NOTE, "-",
		document_printf(d,
				"In one more execution, under tare's engine, all system calls together took %s, "
				"waiting included.",
				explained_time_cell(d, e->calls_s)));
	if (e->calls.count > PLACES_SHOWN)
		document_add(d, BLOCK_NOTE, "-",
			     document_printf(d, "%zu more in --json", e->calls.count - PLACES_SHOWN));
}

static void add_call_places(struct document *d, const struct explanation *e)
{
	static const char *const headings[] = {"time", "calls", "call", "where it was made"};
	struct columns *columns = e->call_places.count ? document_add_columns(d, 4) : NULL;
	if (!columns)
		return;
	for (size_t i = 0; i < 4; i++)
		columns->headings[i] = headings[i];
	columns->left[2] = columns->left[3] = true;
	columns->flexible = 3;
	columns->cut_at_end = true;
	for (size_t i = 0; i < e->call_places.count && i < PLACES_SHOWN; i++) {
		const struct explained_call *call = &e->call_places.items[i];
		explained_push(d, columns,
			       &(struct columns_row){.cells = {explained_time_cell(d, call->seconds),
							       count_cell(d, (double)call->count), call->name,
							       stack_cell(d, call->file, call->line,
									  call->functions, call->n_functions)}});
	}
	if (e->call_places.count > PLACES_SHOWN)
		document_add(d, BLOCK_NOTE, "-",
			     document_printf(d, "%zu more in --json", e->call_places.count - PLACES_SHOWN));
}

/* Of a page, notes stand where its reader looks for them: what has to be acted on above, others below. */
static void rank_notes(struct document *d, size_t from, size_t end)
{
	for (size_t i = from; i < end; i++) {
		struct document_block *block = &d->blocks.items[i];
		if (block->kind != BLOCK_NOTE)
			continue;
		block->ranked = true;
		block->rank = strcmp(block->label, "!") == 0 ? NOTE_ACT : NOTE_READ;
	}
}

/* width 0: of a page. */
static void build(struct document *d, const struct explanation *e, size_t width)
{
	struct str title = {0};
	explained_append_command(&title, e->command);
	document_add(d, BLOCK_GAP, NULL, NULL);
	document_add_str(d, BLOCK_TITLE, "tare explain:", &title, "");
	document_add(d, BLOCK_GAP, NULL, NULL);
	if (!isnan(explained_whole(e))) {
		if (!width)
			explained_add_causes_figure(d, e);
		add_causes(d, e, width);
		document_add(d, BLOCK_GAP, NULL, NULL);
	}
	add_advice(d, e);
	size_t notes = d->blocks.count;
	add_sum(d, e);
	document_add(d, BLOCK_NOTE, "-", source_sentence(d, e));
	for (size_t i = 0; i < e->notes.count; i++)
		document_add(d, BLOCK_NOTE, e->notes.items[i].rank == NOTE_ACT ? "!" : "-",
			     e->notes.items[i].text);
	if (!width)
		rank_notes(d, notes, d->blocks.count);
	if (e->by) {
		document_add(d, BLOCK_GAP, NULL, NULL);
		add_places(d, e, width);
	}
	document_add(d, BLOCK_GAP, NULL, NULL);
	if (e->has_waits) {
		add_waits(d, e);
		document_add(d, BLOCK_GAP, NULL, NULL);
		add_faults(d, e);
		document_add(d, BLOCK_GAP, NULL, NULL);
	} else if (e->why_no_waits) {
		document_add(d, BLOCK_NOTE, "!",
			     document_printf(d, "Where threads waited is not known: %s", e->why_no_waits));
		document_add(d, BLOCK_GAP, NULL, NULL);
	}
	if (e->has_calls) {
		add_calls(d, e);
		document_add(d, BLOCK_GAP, NULL, NULL);
		add_call_places(d, e);
		document_add(d, BLOCK_GAP, NULL, NULL);
	} else if (e->why_no_calls) {
		document_add(d, BLOCK_NOTE, "!",
			     document_printf(d, "How long system calls take is not known: %s", e->why_no_calls));
		document_add(d, BLOCK_GAP, NULL, NULL);
	}
	add_parts(d, e);
	notes = d->blocks.count;
	add_missing(d, e);
	if (!width)
		rank_notes(d, notes, d->blocks.count);
}

void report_explanation_text(FILE *out, const struct explanation *e, const struct report_options *options)
{
	struct document d = {0};
	build(&d, e, (size_t)table_width(options));
	report_document_text(out, &d, options);
	document_free(&d);
}

void report_explanation_html(FILE *out, const struct explanation *e)
{
	struct document d = {0};
	struct str name = {0};
	build(&d, e, 0);
	explained_append_command(&name, e->command);
	report_document_html(out, &d, name.text ? name.text : "tare");
	str_free(&name);
	document_free(&d);
}
