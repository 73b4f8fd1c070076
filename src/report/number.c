#include "report/number.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void number_group(char out[NUMBER_BYTES], double value, int decimals)
{
	char plain[NUMBER_BYTES];
	size_t used = 0;
	if (isnan(value)) {
		snprintf(out, NUMBER_BYTES, "?");
		return;
	}
	if (isinf(value)) {
		snprintf(out, NUMBER_BYTES, "%s", value < 0 ? "-\u221e" : "\u221e");
		return;
	}
	/* beyond this the digits are not meant to be counted, and would not fit */
	if (fabs(value) >= 1e21) {
		snprintf(out, NUMBER_BYTES, "%.6g", value);
		return;
	}
	snprintf(plain, sizeof plain, "%.*f", decimals, fabs(value));
	size_t whole = strcspn(plain, ".");
	/* -0.0 and what rounds to it have no sign */
	if (value < 0 && strspn(plain, "0.") != strlen(plain))
		out[used++] = '-';
	for (size_t i = 0; plain[i] && used + 2 < NUMBER_BYTES; i++) {
		if (i > 0 && i < whole && (whole - i) % 3 == 0)
			out[used++] = ',';
		out[used++] = plain[i];
	}
	out[used] = '\0';
}

void number_compact(char out[NUMBER_BYTES], double value)
{
	static const char *const prefixes[] = {"", " k", " M", " G", " T", " P", " E"};
	size_t i = 0;
	if (!isfinite(value)) {
		number_group(out, value, 0);
		return;
	}
	double shown = fabs(value);
	/* 999.95 would round to 1000.0 */
	while (shown >= 999.95 && i + 1 < sizeof prefixes / sizeof *prefixes) {
		shown /= 1000;
		i++;
	}
	int decimals = shown >= 100 ? 1 : shown >= 10 ? 2 : 3;
	if (i == 0 && shown == floor(shown))
		decimals = 0;
	snprintf(out, NUMBER_BYTES, "%s%.*f%s", value < 0 ? "-" : "", decimals, shown, prefixes[i]);
}

void number_exact(char out[NUMBER_BYTES], double value)
{
	if (value == floor(value) && fabs(value) < 0x1p53) {
		snprintf(out, NUMBER_BYTES, "%.0f", value == 0 ? 0.0 : value);
		return;
	}
	for (int digits = 15; digits <= 17; digits++) {
		snprintf(out, NUMBER_BYTES, "%.*g", digits, value);
		if (strtod(out, NULL) == value)
			return;
	}
}

int number_half_width_decimals(double half_width, int least)
{
	if (!(half_width > 0) || isinf(half_width))
		return least;
	int decimals = 1 - (int)floor(log10(half_width));
	return decimals < least ? least : decimals > 6 ? 6 : decimals;
}

static struct number_scale scale_time(double nanoseconds)
{
	double size = fabs(nanoseconds);
	if (size >= 1e9)
		return (struct number_scale){1e-9, "s", 3};
	if (size >= 1e6)
		return (struct number_scale){1e-6, "ms", 3};
	if (size >= 1e3)
		return (struct number_scale){1e-3, "\u00b5s", 3};
	return (struct number_scale){1, "ns", size == floor(size) ? 0 : 1};
}

static struct number_scale scale_bytes(double bytes)
{
	double size = fabs(bytes);
	if (size >= 0x1p30)
		return (struct number_scale){0x1p-30, "GiB", 2};
	if (size >= 0x1p20)
		return (struct number_scale){0x1p-20, "MiB", 2};
	if (size >= 0x1p10)
		return (struct number_scale){0x1p-10, "KiB", 1};
	return (struct number_scale){1, "B", 0};
}

/* About four significant digits. */
static int decimals_of_ratio(double value)
{
	double size = fabs(value);
	return size >= 1000             ? 1
	       : size >= 100            ? 1
	       : size >= 10             ? 2
	       : size >= 1 || size == 0 ? 3
	       : size >= 0.1            ? 4
					: 6;
}

static bool is_seconds(const struct estimate *e)
{
	return strcmp(e->unit, "seconds") == 0 || strcmp(e->unit, "s") == 0;
}

static bool is_time(const struct estimate *e) { return strcmp(e->unit, "ns") == 0 || is_seconds(e); }

static bool is_size(const struct estimate *e) { return strcmp(e->unit, "bytes") == 0; }

void number_units_add(struct number_units *units, const struct estimate *e)
{
	double size = fabs(e->value) * (is_seconds(e) ? 1e9 : 1);
	if (!e->known || !isfinite(size) || size == 0 || (!is_time(e) && !is_size(e)))
		return;
	double *least = is_time(e) ? &units->time_least : &units->bytes_least,
	       *most = is_time(e) ? &units->time_most : &units->bytes_most;
	*least = *least == 0 || size < *least ? size : *least;
	*most = size > *most ? size : *most;
}

/* The unit that all of them would have alone; else the largest one in which the least number is a tenth or more,
 * or, where the largest number then has more than seven digits before its point, that one's. */
static struct number_scale scale_for(double least, double most, struct number_scale (*scale)(double))
{
	struct number_scale chosen = scale(least * 10);
	if (scale(least).factor == scale(most).factor)
		return scale(most);
	return most * chosen.factor >= 1e7 ? scale(most) : chosen;
}

static struct number_scale scale_of_group(const struct number_units *units, const struct estimate *e)
{
	double size = e->value * (is_seconds(e) ? 1e9 : 1);
	if (is_time(e))
		return units && units->time_most > 0 ? scale_for(units->time_least, units->time_most, scale_time)
						     : scale_time(size);
	return units && units->bytes_most > 0 ? scale_for(units->bytes_least, units->bytes_most, scale_bytes)
					      : scale_bytes(size);
}

struct number_scale number_scale_of(const struct estimate *e, bool is_metric)
{
	return number_scale_in(NULL, e, is_metric);
}

struct number_scale number_scale_in(const struct number_units *units, const struct estimate *e, bool is_metric)
{
	double half_width = e->has_interval ? (e->high - e->low) / 2 : 0;
	struct number_scale scale = {1, e->unit, 0};
	if (is_time(e) || is_size(e)) {
		scale = scale_of_group(units, e);
		scale.factor *= is_seconds(e) ? 1e9 : 1;
		/* the value's digits end where its interval's do */
		if (half_width > 0 && isfinite(half_width))
			scale.decimals = number_half_width_decimals(half_width * scale.factor, 0);
		return scale;
	}
	if (is_metric) {
		scale.decimals = half_width > 0 && isfinite(half_width) ? number_half_width_decimals(half_width, 0)
									: decimals_of_ratio(e->value);
		return scale;
	}
	if (e->n_runs > 1 && (half_width > 0 || e->value != floor(e->value)))
		scale.decimals = half_width >= 10 ? 0 : half_width >= 1 ? 1 : 2;
	if (strcmp(e->unit, "events") == 0 || strstr(e->event, e->unit))
		scale.unit = "";
	return scale;
}
