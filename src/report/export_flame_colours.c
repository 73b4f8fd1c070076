#include <math.h>

#include "base/hash.h"
#include "report/export_flame.h"

enum { HUES = 36, SHADES = 3, STEPS = 8 };

unsigned flame_colour(const char *module, const char *function)
{
	uint64_t hue = hash_number(0, hash_text(HASH_BEGIN, module)) % HUES;
	uint64_t shade = hash_number(0, hash_text(HASH_BEGIN, function)) % SHADES;
	return (unsigned)(hue * SHADES + shade);
}

/* One of red, green, blue (n = 0, 8, 4) of a colour by hue in degrees, saturation and lightness: CSS Color 4,
 * 7.1. */
static unsigned channel(double hue, double saturation, double lightness, int n)
{
	double k = fmod(n + hue / 30, 12);
	double a = saturation * fmin(lightness, 1 - lightness);
	return (unsigned)lrint(255 * (lightness - a * fmax(-1, fmin(fmin(k - 3, 9 - k), 1))));
}

static void write_colour(FILE *out, const char *class, unsigned number, double hue, double saturation,
			 double lightness)
{
	fprintf(out, ".%s", class);
	if (number != ~0u)
		fprintf(out, "%u", number);
	fprintf(out, "{fill:#%02x%02x%02x}\n", channel(hue, saturation, lightness, 0),
		channel(hue, saturation, lightness, 8), channel(hue, saturation, lightness, 4));
}

static void write_rules(FILE *out, bool differential, bool dark)
{
	write_colour(out, "cp", ~0u, 0, 0, dark ? 0.28 : 0.86);
	for (unsigned i = 1; differential && i <= STEPS; i++) {
		double part = (double)i / STEPS;
		write_colour(out, "r", i, 4, 0.35 + 0.4 * part, dark ? 0.28 + 0.12 * part : 0.86 - 0.2 * part);
		write_colour(out, "b", i, 215, 0.35 + 0.4 * part, dark ? 0.28 + 0.12 * part : 0.86 - 0.2 * part);
	}
	for (unsigned i = 0; !differential && i < HUES * SHADES; i++)
		write_colour(out, "c", i, i / SHADES * (360.0 / HUES), dark ? 0.42 : 0.72,
			     (dark ? 0.28 : 0.72) + 0.04 * (i % SHADES));
}

void flame_write_colours(FILE *out, bool differential)
{
	write_rules(out, differential, false);
	fputs("@media (prefers-color-scheme: dark) {\n", out);
	write_rules(out, differential, true);
	fputs("}\n", out);
}

void flame_write_page_colours(struct str *out)
{
	for (unsigned i = 0; i < HUES * SHADES; i++)
		str_appendf(out, ".c%u{fill:hsl(%u var(--flame-s) var(--flame-%u))}\n", i,
			    i / SHADES * (360 / HUES), i % SHADES);
}
