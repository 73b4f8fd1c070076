/* Reading NAME.truth. What the predictions are worth is in kernel_predict.c, where files are found in
 * kernel_files.c. */
#include "trust/kernels.h"

#include <ctype.h>
#if defined(__x86_64__)
#include <cpuid.h>
#endif
#include <stdio.h>
#include <string.h>

#include "base/stanza.h"
#include "base/str.h"
#include "base/vec.h"
#include "trust/kernel_formula.h"
#include "trust/kernel_names.h"

#if defined(__x86_64__)
#define PROCESSOR "x86-64"
#elif defined(__aarch64__)
#define PROCESSOR "aarch64"
#else
#define PROCESSOR ""
#endif

enum { BOTH = 1 << KERNEL_COMMAND | 1 << KERNEL_REGION, SIZES_MOST = 64 };
static const uint64_t DEFAULT_LARGEST = 100000, DEFAULT_MOST = 1000000000;

struct truth_reader {
	const char *source;
	struct arena *arena;
	struct error *err;
	struct stanza *start;
	size_t n_start;
	VEC(struct kernel_prediction) rows;
	struct kernel *kernel;
	uint64_t largest; /* of the sizes that are made; 0: not said */
};

static bool wrong(const struct truth_reader *r, unsigned line, const char *what, const char *subject)
{
	return error_set(r->err, ERROR_SYNTAX, "%s:%u: %s '%.200s'", r->source, line, what, subject);
}

static const char *copied(struct truth_reader *r, const char *from, size_t length)
{
	while (length && isspace((unsigned char)from[length - 1]))
		length--;
	return arena_strndup(r->arena, from, length);
}

/* ---- stanzas ---- */

/* The interfaces that a stanza of rows is for: "x86-64", "aarch64 region", "all", "command" … 0: it is another
 * processor's, or *known says that it is none. */
static unsigned stanza_interfaces(const char *name, bool *known)
{
	unsigned interfaces = BOTH;
	bool ours = true;
	*known = true;
	for (const char *at = name; *at; at += strspn(at, " ")) {
		size_t length = strcspn(at, " ");
		const struct {
			const char *word;
			unsigned interfaces;
			bool ours;
		} words[] = {
			{"x86-64", BOTH, strcmp(PROCESSOR, "x86-64") == 0},
			{"aarch64", BOTH, strcmp(PROCESSOR, "aarch64") == 0},
			{"all", BOTH, true},
			{"command", 1 << KERNEL_COMMAND, true},
			{"region", 1 << KERNEL_REGION, true},
		};
		size_t i = 0;
		while (i < 5 && !(strlen(words[i].word) == length && memcmp(words[i].word, at, length) == 0))
			i++;
		if (i == 5) {
			*known = false;
			return 0;
		}
		interfaces &= words[i].interfaces;
		ours &= words[i].ours;
		at += length;
	}
	return ours ? interfaces : 0;
}

/* What start.truth says of the event; "0" when nothing. */
static const char *start_formula(const struct truth_reader *r, const char *event, enum kernel_interface interface)
{
	for (size_t i = 0; i < r->n_start; i++) {
		bool known;
		const char *formula =
			stanza_interfaces(r->start[i].name, &known) & 1U << interface ? stanza_get(&r->start[i],
												   event)
										      : NULL;
		if (known && formula)
			return formula;
	}
	return "0";
}

/* ---- rows ---- */

static bool ends_in(const char *text, const char *end)
{
	size_t length = strlen(text), end_length = strlen(end);
	return length > end_length && strcmp(text + length - end_length, end) == 0;
}

static bool without_comment(struct truth_reader *r, const char *value, const char **formula, const char **why)
{
	const char *mark = strchr(value, '#');
	*formula = copied(r, value, mark ? (size_t)(mark - value) : strlen(value));
	*why = mark ? arena_strdup(r->arena, mark + 1 + strspn(mark + 1, " \t")) : "";
	return (*formula && *why) || error_no_memory(r->err);
}

static bool is_there(const struct truth_reader *r, const struct kernel_prediction *row)
{
	for (size_t i = 0; i < r->rows.count; i++) {
		const struct kernel_prediction *other = &r->rows.items[i];
		if (other->interfaces & row->interfaces && other->first_process == row->first_process &&
		    strcmp(other->event, row->event) == 0)
			return true;
	}
	return false;
}

static bool add_row(struct truth_reader *r, struct kernel_prediction row, unsigned line)
{
	struct error why;
	if (is_there(r, &row))
		return wrong(r, line, "predicted twice:", row.event);
	if (!kernel_formula_check(row.formula, kernel_name_check, NULL, &why))
		return error_set(r->err, why.code, "%s:%u: the formula of '%.100s', %.300s", r->source, line,
				 row.event, why.text);
	for (unsigned i = 0; kernel_formula_names(row.formula, "start") && i < KERNEL_INTERFACES; i++) {
		const char *ignored;
		if (!without_comment(r, start_formula(r, row.event, (enum kernel_interface)i), &row.start[i],
				     &ignored))
			return false;
		if (!kernel_formula_check(row.start[i], kernel_name_check_start, NULL, &why))
			return error_set(r->err, why.code, "start of '%.100s', %.300s", row.event, why.text);
	}
	return vec_push(&r->rows, row) || error_no_memory(r->err);
}

/* `nothing = a b c # why`: these are what the start counts, and no more. */
static bool add_still(struct truth_reader *r, unsigned interfaces, const char *value, unsigned line)
{
	struct kernel_prediction row = {.interfaces = interfaces};
	const char *names;
	if (!without_comment(r, value, &names, &row.why))
		return false;
	row.formula = "start";
	for (const char *at = names; *at; at += strspn(at, " ")) {
		size_t length = strcspn(at, " ");
		row.event = arena_strndup(r->arena, at, length);
		if (!row.event)
			return error_no_memory(r->err);
		if (!add_row(r, row, line))
			return false;
		at += length;
	}
	return true;
}

static bool read_rows(struct truth_reader *r, const struct stanza *stanza, unsigned interfaces)
{
	static const char MORE[] = "-more", SELF[] = "-self";
	for (size_t i = 0; i < stanza->n_keys; i++) {
		const struct stanza_key *key = &stanza->keys[i];
		struct kernel_prediction row = {.interfaces = interfaces};
		if (strcmp(key->key, "nothing") == 0) {
			if (!add_still(r, interfaces, key->value, key->line))
				return false;
			continue;
		}
		row.beyond_start = ends_in(key->key, MORE);
		row.first_process = ends_in(key->key, SELF);
		size_t cut = row.beyond_start || row.first_process ? sizeof MORE - 1 : 0;
		row.event = arena_strndup(r->arena, key->key, strlen(key->key) - cut);
		if (!row.event)
			return error_no_memory(r->err);
		if (!without_comment(r, key->value, &row.formula, &row.why) || !add_row(r, row, key->line))
			return false;
	}
	return true;
}

/* ---- sizes ---- */

static bool read_sizes(struct truth_reader *r, const struct stanza_key *key, const uint64_t **sizes, size_t *count)
{
	uint64_t found[SIZES_MOST];
	const char *at = key->value;
	for (*count = 0; *at; at += strspn(at, " ")) {
		char digits[24];
		unsigned long long size;
		size_t length = strcspn(at, " ");
		snprintf(digits, sizeof digits, "%.*s", (int)(length < 23 ? length : 23), at);
		if (*count == SIZES_MOST || !isdigit((unsigned char)digits[0]) || !str_to_u64(digits, &size) ||
		    size == 0 || (*count && size <= found[*count - 1]))
			return wrong(r, key->line, "not ascending numbers, at most 64:", key->value);
		found[(*count)++] = size;
		at += length;
	}
	uint64_t *kept = arena_alloc(r->arena, sizeof found);
	if (!kept)
		return error_no_memory(r->err);
	memcpy(kept, found, *count * sizeof *found);
	*sizes = kept;
	return *count || wrong(r, key->line, "no value for", key->key);
}

/* The last `most` of the numbers 1·10^k, 2·10^k … (steps, 0-ended) that are at most `largest`. */
static bool make_sizes(struct truth_reader *r, const unsigned *steps, size_t most, const uint64_t **sizes,
		       size_t *count)
{
	uint64_t found[SIZES_MOST * 2], *kept = arena_alloc(r->arena, most * sizeof *kept);
	size_t n = 0;
	if (!kept)
		return error_no_memory(r->err);
	for (uint64_t decade = 1; decade <= r->largest; decade *= 10)
		for (const unsigned *step = steps; *step; step++)
			if (decade * *step <= r->largest)
				found[n++] = decade * *step;
	if (found[n - 1] != r->largest)
		found[n++] = r->largest;
	*count = n < most ? n : most;
	memcpy(kept, found + n - *count, *count * sizeof *kept);
	*sizes = kept;
	return true;
}

static bool fill_sizes(struct truth_reader *r)
{
	static const unsigned fine[] = {1, 2, 3, 5, 7, 0}, coarse[] = {1, 3, 0};
	struct kernel *k = r->kernel;
	if (!r->largest)
		r->largest = k->n_most < DEFAULT_LARGEST ? k->n_most : DEFAULT_LARGEST;
	return (k->n_sizes || make_sizes(r, fine, 25, &k->sizes, &k->n_sizes)) &&
	       (k->n_quick || make_sizes(r, coarse, 10, &k->quick, &k->n_quick));
}

/* ---- the first stanza ---- */

static bool read_number(const struct truth_reader *r, const struct stanza_key *key, uint64_t *number)
{
	unsigned long long value;
	if (!isdigit((unsigned char)key->value[0]) || !str_to_u64(key->value, &value) || value == 0 ||
	    value > DEFAULT_MOST)
		return wrong(r, key->line, "not a number from 1 to 1000000000:", key->value);
	*number = value;
	return true;
}

#if defined(__x86_64__)
/* clang's __builtin_cpu_supports() does not know it. CPUID 1, ECX bit 29 (Intel SDM vol. 2A). */
static bool has_f16c(void)
{
	unsigned a, b, c, d;
	return __get_cpuid(1, &a, &b, &c, &d) && c & 1U << 29 && __builtin_cpu_supports("avx");
}

static bool has(const char *word)
{
	if (strcmp(word, "fma") == 0)
		return __builtin_cpu_supports("fma");
	if (strcmp(word, "avx") == 0)
		return __builtin_cpu_supports("avx");
	if (strcmp(word, "avx2") == 0)
		return __builtin_cpu_supports("avx2");
	if (strcmp(word, "avx512") == 0)
		return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
		       __builtin_cpu_supports("avx512vl");
	if (strcmp(word, "avx512_bf16") == 0)
		return __builtin_cpu_supports("avx512bf16");
	if (strcmp(word, "aes") == 0)
		return __builtin_cpu_supports("aes");
	return strcmp(word, "f16c") == 0 && has_f16c();
}
#else
/* every aarch64 with floating point has it */
static bool has(const char *word) { return strcmp(word, "fma") == 0; }
#endif

static bool read_needs(struct truth_reader *r, const char *needs)
{
	for (const char *at = needs; *at; at += strspn(at, " ")) {
		size_t length = strcspn(at, " ");
		const char *word = arena_strndup(r->arena, at, length);
		if (!word)
			return error_no_memory(r->err);
		if (!has(word) && !r->kernel->why_not) {
			r->kernel->why_not = arena_printf(r->arena, "this CPU has no %s", word);
			if (!r->kernel->why_not)
				return error_no_memory(r->err);
		}
		at += length;
	}
	return true;
}

static bool read_key(struct truth_reader *r, const struct stanza_key *key)
{
	struct kernel *k = r->kernel;
	if (!*key->value)
		return wrong(r, key->line, "no value for", key->key);
	if (strcmp(key->key, "about") == 0 && !k->sentence)
		k->sentence = key->value;
	else if (strcmp(key->key, "paper") == 0 && !k->paper)
		k->paper = key->value;
	else if (strcmp(key->key, "needs") == 0)
		return read_needs(r, key->value);
	else if (strcmp(key->key, "most") == 0)
		return read_number(r, key, &k->n_most);
	else if (strcmp(key->key, "largest") == 0)
		return read_number(r, key, &r->largest);
	else if (strcmp(key->key, "sizes") == 0 && !k->n_sizes)
		return read_sizes(r, key, &k->sizes, &k->n_sizes);
	else if (strcmp(key->key, "quick") == 0 && !k->n_quick)
		return read_sizes(r, key, &k->quick, &k->n_quick);
	else if (strcmp(key->key, "region") == 0 && strcmp(key->value, "none") == 0)
		k->interfaces = 1 << KERNEL_COMMAND;
	else if (strcmp(key->key, "argument") != 0) /* a sentence for the reader of the file */
		return wrong(r, key->line, "an unknown key, or one that is given twice:", key->key);
	return true;
}

static bool read_stanzas(struct truth_reader *r, const struct stanza *stanzas, size_t count)
{
	struct kernel *k = r->kernel;
	if (count == 0)
		return error_set(r->err, ERROR_SYNTAX, "%s: no stanza", r->source);
	k->name = stanzas[0].name;
	for (size_t i = 0; i < stanzas[0].n_keys; i++)
		if (!read_key(r, &stanzas[0].keys[i]))
			return false;
	if (!k->sentence)
		return wrong(r, stanzas[0].line, "no 'about' of", k->name);
	for (size_t i = 1; i < count; i++) {
		bool known;
		unsigned interfaces = stanza_interfaces(stanzas[i].name, &known) & k->interfaces;
		if (!known)
			return wrong(r, stanzas[i].line, "not a processor or an interface:", stanzas[i].name);
		if (interfaces && !read_rows(r, &stanzas[i], interfaces))
			return false;
	}
	return fill_sizes(r);
}

bool kernel_read(const struct kernel_text *truth, const struct kernel_text *start, struct arena *arena,
		 struct kernel *out, struct error *err)
{
	struct truth_reader r = {.source = truth->source, .arena = arena, .err = err, .kernel = out};
	struct stanza *stanzas;
	size_t count;
	*out = (struct kernel){.interfaces = BOTH, .n_most = DEFAULT_MOST};
	bool done = stanza_parse(start->text, start->length, start->source, arena, &r.start, &r.n_start, err) &&
		    stanza_parse(truth->text, truth->length, truth->source, arena, &stanzas, &count, err) &&
		    read_stanzas(&r, stanzas, count);
	if (done && r.rows.count) {
		struct kernel_prediction *rows = arena_alloc(arena, r.rows.count * sizeof *rows);
		done = rows || error_no_memory(err);
		if (rows) {
			memcpy(rows, r.rows.items, r.rows.count * sizeof *rows);
			out->predictions = rows;
			out->n_predictions = r.rows.count;
		}
	}
	vec_free(&r.rows);
	return done;
}
