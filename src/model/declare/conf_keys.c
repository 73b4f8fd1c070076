#include "model/declare/conf_keys.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"

const struct conf_word conf_replacements[] = {
	{"lru", REPLACE_LRU},
	{"plru", REPLACE_PLRU},
	{"fifo", REPLACE_FIFO},
	{"random", REPLACE_RANDOM},
	{"srrip", REPLACE_SRRIP},
	{"brrip", REPLACE_BRRIP},
	{0},
};
const struct conf_word conf_writes[] = {{"back", WRITE_BACK}, {"through", WRITE_THROUGH}, {0}};
const struct conf_word conf_inclusions[] = {
	{"none", INCLUSION_NONE},
	{"inclusive", INCLUSION_INCLUSIVE},
	{"exclusive", INCLUSION_EXCLUSIVE},
	{0},
};
const struct conf_word conf_prefetches[] = {
	{"none", PREFETCH_NONE},
	{"next-line", PREFETCH_NEXT_LINE},
	{"stride", PREFETCH_STRIDE},
	{0},
};
const struct conf_word conf_holds[] = {
	{"instructions", MACHINE_INSTRUCTIONS},
	{"data", MACHINE_DATA},
	{"both", MACHINE_INSTRUCTIONS | MACHINE_DATA},
	{0},
};
const struct conf_word conf_predictors[] = {
	{"none", PREDICT_NONE},
	{"taken", PREDICT_TAKEN},
	{"not-taken", PREDICT_NOT_TAKEN},
	{"backward-taken", PREDICT_BACKWARD_TAKEN},
	{"bimodal", PREDICT_BIMODAL},
	{"local", PREDICT_LOCAL},
	{"gshare", PREDICT_GSHARE},
	{"tournament", PREDICT_TOURNAMENT},
	{"perceptron", PREDICT_PERCEPTRON},
	{"tage", PREDICT_TAGE},
	{"btb", PREDICT_BTB},
	{0},
};
const struct conf_word conf_allocations[] = {{"taken", BTB_ALLOCATE_TAKEN}, {"all", BTB_ALLOCATE_ALL}, {0}};
const struct conf_word conf_families[] = {
	{"other", FAMILY_OTHER},   {"intel", FAMILY_INTEL},   {"golden-cove", FAMILY_GOLDEN_COVE},
	{"amd", FAMILY_AMD},       {"armv8", FAMILY_ARMV8},   {"mips", FAMILY_MIPS},
	{"r12000", FAMILY_R12000}, {"power4", FAMILY_POWER4}, {0}};
static const struct conf_word yes_no[] = {{"yes", 1}, {"no", 0}, {0}};

#define FIELD(type, member) offsetof(type, member), sizeof(((type *)0)->member), 1
#define FIELDS(type, member)                                                                                      \
	offsetof(type, member), sizeof(((type *)0)->member[0]),                                                   \
		sizeof(((type *)0)->member) / sizeof(((type *)0)->member[0])

static const struct conf_key machine_keys[] = {
	{"extends", CONF_TEXT, FIELD(struct conf_machine, extends)},
	{"title", CONF_TEXT, FIELD(struct conf_machine, title)},
	{"cores", CONF_NUMBER, FIELD(struct conf_machine, machine.cores)},
	{"fetch_bytes", CONF_SIZE, FIELD(struct conf_machine, machine.fetch_bytes)},
	{"seed", CONF_NUMBER, FIELD(struct conf_machine, machine.seed)},
	{"coherent", CONF_WORD, FIELD(struct conf_machine, machine.coherent), yes_no},
	{"page", CONF_SIZE, FIELD(struct conf_machine, machine.page_bytes)},
	{"family", CONF_WORD, FIELD(struct conf_machine, machine.family), conf_families},
	{0},
};

static const struct conf_key cache_keys[] = {
	{"size", CONF_SIZE, FIELD(struct conf_cache, size)},
	{"ways", CONF_WAYS, FIELD(struct conf_cache, ways)},
	{"line", CONF_SIZE, FIELD(struct conf_cache, line)},
	{"sets", CONF_SIZE, FIELD(struct conf_cache, sets)},
	{"next", CONF_NAME, FIELD(struct conf_cache, next)},
	{"holds", CONF_WORD, FIELD(struct conf_cache, cache.holds), conf_holds},
	{"shared", CONF_WORD, FIELD(struct conf_cache, cache.shared), yes_no},
	{"replacement", CONF_WORD, FIELD(struct conf_cache, cache.replacement), conf_replacements},
	{"rrip_bits", CONF_NUMBER, FIELD(struct conf_cache, cache.rrip_bits)},
	{"write", CONF_WORD, FIELD(struct conf_cache, cache.write), conf_writes},
	{"write_allocate", CONF_WORD, FIELD(struct conf_cache, cache.write_allocate), yes_no},
	{"inclusion", CONF_WORD, FIELD(struct conf_cache, cache.inclusion), conf_inclusions},
	{"prefetch", CONF_WORD, FIELD(struct conf_cache, cache.prefetch), conf_prefetches},
	{"prefetch_degree", CONF_NUMBER, FIELD(struct conf_cache, cache.prefetch_degree)},
	{"prefetch_entries", CONF_SIZE, FIELD(struct conf_cache, cache.prefetch_entries)},
	{"victim_lines", CONF_NUMBER, FIELD(struct conf_cache, cache.victim_lines)},
	{0},
};

static const struct conf_key tlb_keys[] = {
	{"entries", CONF_SIZE, FIELD(struct conf_tlb, entries)},
	{"ways", CONF_WAYS, FIELD(struct conf_tlb, ways)},
	{"sets", CONF_SIZE, FIELD(struct conf_tlb, sets)},
	{"next", CONF_NAME, FIELD(struct conf_tlb, next)},
	{"holds", CONF_WORD, FIELD(struct conf_tlb, tlb.holds), conf_holds},
	{"page", CONF_PAGE, FIELD(struct conf_tlb, tlb.page_bytes)},
	{"pages_per_entry", CONF_NUMBER, FIELD(struct conf_tlb, tlb.pages_per_entry)},
	{"replacement", CONF_WORD, FIELD(struct conf_tlb, tlb.replacement), conf_replacements},
	{0},
};

static const struct conf_key branches_keys[] = {
	{"predictor", CONF_WORD, FIELD(struct conf_branches, direction.kind), conf_predictors},
	{"entries", CONF_SIZE, FIELD(struct conf_branches, direction.entries)},
	{"counter_bits", CONF_NUMBER, FIELD(struct conf_branches, direction.counter_bits)},
	{"initial", CONF_NUMBER, FIELD(struct conf_branches, direction.initial)},
	{"history_bits", CONF_NUMBER, FIELD(struct conf_branches, direction.history_bits)},
	{"address_shift", CONF_NUMBER, FIELD(struct conf_branches, direction.address_shift)},
	{"local_entries", CONF_SIZE, FIELD(struct conf_branches, direction.local_entries)},
	{"local_counters", CONF_SIZE, FIELD(struct conf_branches, direction.local_counters)},
	{"local_counter_bits", CONF_NUMBER, FIELD(struct conf_branches, direction.local_counter_bits)},
	{"choice_entries", CONF_SIZE, FIELD(struct conf_branches, direction.choice_entries)},
	{"choice_bits", CONF_NUMBER, FIELD(struct conf_branches, direction.choice_bits)},
	{"tables", CONF_NUMBER, FIELD(struct conf_branches, direction.tables)},
	{"table_entries", CONF_NUMBERS, FIELDS(struct conf_branches, direction.table_entries)},
	{"table_history", CONF_NUMBERS, FIELDS(struct conf_branches, direction.table_history)},
	{"table_tag_bits", CONF_NUMBERS, FIELDS(struct conf_branches, direction.table_tag_bits)},
	{"useful_reset", CONF_SIZE, FIELD(struct conf_branches, direction.useful_reset)},
	{"threshold", CONF_SIGNED, FIELD(struct conf_branches, direction.threshold)},
	{"weight_bits", CONF_NUMBER, FIELD(struct conf_branches, direction.weight_bits)},
	{0},
};

static const struct conf_key targets_keys[] = {
	{"btb_entries", CONF_SIZE, FIELD(struct conf_targets, entries)},
	{"btb_ways", CONF_WAYS, FIELD(struct conf_targets, ways)},
	{"btb_sets", CONF_SIZE, FIELD(struct conf_targets, sets)},
	{"btb_replacement", CONF_WORD, FIELD(struct conf_targets, targets.btb_replacement), conf_replacements},
	{"btb_allocation", CONF_WORD, FIELD(struct conf_targets, targets.btb_allocation), conf_allocations},
	{"btb_tag_bits", CONF_NUMBER, FIELD(struct conf_targets, targets.btb_tag_bits)},
	{"btb_holds_returns", CONF_WORD, FIELD(struct conf_targets, targets.btb_holds_returns), yes_no},
	{"return_entries", CONF_NUMBER, FIELD(struct conf_targets, targets.return_entries)},
	{"indirect_entries", CONF_SIZE, FIELD(struct conf_targets, targets.indirect_entries)},
	{"indirect_history", CONF_NUMBER, FIELD(struct conf_targets, targets.indirect_history)},
	{"address_shift", CONF_NUMBER, FIELD(struct conf_targets, targets.address_shift)},
	{0},
};

static bool ends_with(const char *text, const char *end)
{
	size_t n = strlen(text), m = strlen(end);
	return n >= m && strcmp(text + n - m, end) == 0;
}

static bool has_digits_only(const char *text, const char *more)
{
	for (; *text; text++)
		if (!isdigit((unsigned char)*text) && !isupper((unsigned char)*text) && !strchr(more, *text))
			return false;
	return true;
}

enum conf_stanza conf_stanza_of(const char *name)
{
	if (strcmp(name, "machine") == 0)
		return STANZA_MACHINE;
	if (strcmp(name, "branches") == 0)
		return STANZA_BRANCHES;
	if (strcmp(name, "targets") == 0)
		return STANZA_TARGETS;
	if (!has_digits_only(name, ""))
		return STANZA_UNKNOWN;
	if (strstr(name, "TLB") && isalnum((unsigned char)*name))
		return STANZA_TLB;
	if (*name == 'L' && isdigit((unsigned char)name[1]) && !ends_with(name, "TLB"))
		return STANZA_CACHE;
	return STANZA_UNKNOWN;
}

const char *conf_stanza_name(enum conf_stanza stanza)
{
	static const char *const names[] = {"[machine]",  "a cache",   "a TLB",
					    "[branches]", "[targets]", "nothing known"};
	return names[stanza];
}

const struct conf_key *conf_keys(enum conf_stanza stanza)
{
	static const struct conf_key *const keys[] = {machine_keys, cache_keys, tlb_keys, branches_keys,
						      targets_keys};
	static const struct conf_key none[] = {{0}};
	return stanza < STANZA_UNKNOWN ? keys[stanza] : none;
}

const char *conf_word_for(const struct conf_word *words, unsigned value)
{
	for (; words->word; words++)
		if (words->value == value)
			return words->word;
	return "?";
}

/* ---- values ---- */

static void store(void *into, uint8_t bytes, uint64_t value)
{
	switch (bytes) {
	case 1: *(uint8_t *)into = (uint8_t)value; break;
	case 2: *(uint16_t *)into = (uint16_t)value; break;
	case 4: *(uint32_t *)into = (uint32_t)value; break;
	default: *(uint64_t *)into = value; break;
	}
}

static uint64_t most(uint8_t bytes)
{
	return bytes < 8 ? (UINT64_C(1) << 8 * bytes) - 1 : UINT64_MAX - 1; /* CONF_WAYS_FULL is none */
}

/* A whole number, with K, M or G (or KB, KiB …) behind it if suffix; length: of the text that is looked at. */
static bool number(const char *text, size_t length, bool suffix, uint64_t *out, char *why, size_t size)
{
	char digits[32];
	unsigned long long value;
	unsigned shift = 0;
	size_t n = 0;
	bool hexadecimal = length > 2 && text[0] == '0' && (text[1] == 'x' || text[1] == 'X');
	while (n < length && (hexadecimal ? isalnum((unsigned char)text[n]) : isdigit((unsigned char)text[n])))
		n++;
	size_t at = n;
	while (at < length && text[at] == ' ')
		at++;
	if (suffix && at < length && !hexadecimal) {
		static const char units[] = "KMG";
		const char *unit = strchr(units, toupper((unsigned char)text[at]));
		if (unit && *unit) {
			shift = 10 * (unsigned)(unit - units + 1);
			at++;
			at += length - at >= 2 && memcmp(text + at, "iB", 2) == 0 ? 2
			      : at < length && text[at] == 'B'                    ? 1
										  : 0;
		}
	}
	if (n == 0 || n >= sizeof digits || at != length) {
		snprintf(why, size, "'%.*s' is not a %s", (int)(length < 60 ? length : 60), text,
			 suffix ? "whole number, or one with K, M or G behind it" : "whole number");
		return false;
	}
	memcpy(digits, text, n);
	digits[n] = '\0';
	if (!str_to_u64(digits, &value) || value > UINT64_MAX >> shift) {
		snprintf(why, size, "'%.*s' is too large a number", (int)(length < 60 ? length : 60), text);
		return false;
	}
	*out = (uint64_t)value << shift;
	return true;
}

static bool fits(const struct conf_key *key, uint64_t value, char *why, size_t size)
{
	if (value <= most(key->bytes))
		return true;
	snprintf(why, size, "%llu is too large: at most %llu", (unsigned long long)value,
		 (unsigned long long)most(key->bytes));
	return false;
}

static bool numbers(const struct conf_key *key, const char *text, char *into, char *why, size_t size)
{
	size_t count = 0;
	memset(into, 0, (size_t)key->bytes * key->items); /* a shorter list hides nothing of a longer one */
	for (text += strspn(text, " \t,"); *text; text += strspn(text, " \t,")) {
		size_t length = strcspn(text, " \t,");
		uint64_t value;
		if (count == key->items) {
			snprintf(why, size, "more than %u numbers", key->items);
			return false;
		}
		if (!number(text, length, true, &value, why, size) || !fits(key, value, why, size))
			return false;
		store(into + key->bytes * count++, key->bytes, value);
		text += length;
	}
	return true;
}

static bool word(const struct conf_key *key, const char *text, char *into, char *why, size_t size)
{
	for (const struct conf_word *w = key->words; w->word; w++) {
		if (strcmp(w->word, text) == 0) {
			*(uint8_t *)into = w->value;
			return true;
		}
	}
	int used = snprintf(why, size, "'%.60s' is not one of", text);
	for (const struct conf_word *w = key->words; w->word && used > 0 && (size_t)used < size; w++)
		used += snprintf(why + used, size - (size_t)used, "%s %s", w == key->words ? "" : ",", w->word);
	return false;
}

bool conf_value(const struct conf_key *key, const char *text, void *base, char *why, size_t size)
{
	char *into = (char *)base + key->offset;
	uint64_t value = 0;
	if (!*text) {
		snprintf(why, size, "no value");
		return false;
	}
	switch (key->type) {
	case CONF_TEXT:
	case CONF_NAME: *(const char **)into = text; return true;
	case CONF_WORD: return word(key, text, into, why, size);
	case CONF_NUMBERS: return numbers(key, text, into, why, size);
	case CONF_SIGNED: {
		char *end;
		errno = 0;
		long whole = strtol(text, &end, 10);
		if (end == text || *end || errno || whole < INT16_MIN || whole > INT16_MAX) {
			snprintf(why, size, "'%.60s' is not a whole number of -32768 to 32767", text);
			return false;
		}
		*(int16_t *)into = (int16_t)whole;
		return true;
	}
	case CONF_WAYS:
		if (strcmp(text, "full") == 0) {
			*(uint64_t *)into = CONF_WAYS_FULL;
			return true;
		}
		/* fall through */
	case CONF_PAGE:
		if (key->type == CONF_PAGE && strcmp(text, "any") == 0) {
			store(into, key->bytes, 0);
			return true;
		}
		/* fall through */
	case CONF_SIZE:
	case CONF_NUMBER:
		if (!number(text, strlen(text), key->type != CONF_NUMBER, &value, why, size) ||
		    !fits(key, value, why, size))
			return false;
		store(into, key->bytes, value);
		return true;
	}
	return false;
}
