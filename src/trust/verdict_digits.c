/* Counters whose digits are at fault: a bit that never moves, a sign where none should be, nothing but
 * powers of two, another code or order. See verdict.h. */
#include <float.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "trust/verdict_shapes.h"

enum {
	STUCK_BIT_MOST = 52, /* of a double, above it digits are lost */
	SIGN_BITS_LEAST = 8,
	BIT_POINTS_LEAST = 2, /* points that differ from the truth, with predictions of their own */
	POWERS_POINTS_LEAST = 4,
	CODE_POINTS_LEAST = 4,
	DIGITS_LEAST = 2,
	DIGITS_MOST = 14,
};

static const double POWERS_RANGE = 100; /* largest to smallest count */

/* Points of different predictions at which the form is not the truth. */
static size_t faulty_points(const struct fit *fit, const double *form)
{
	size_t n = 0;
	for (size_t i = 0; i < fit->n; i++)
		n += form[i] != fit->points[i].x && (!i || fit->points[i].x != fit->points[i - 1].x);
	return n;
}

/* ---- one bit ---- */

static bool has_bit(double count, unsigned bit) { return (uint64_t)count >> bit & 1; }

/* Do all executions show the bit as `set`? */
static bool never_moves(const struct fit *fit, unsigned bit, bool set)
{
	for (size_t i = 0; i < fit->n; i++) {
		const struct judged_point *p = &fit->event->points[fit->points[i].index];
		for (size_t k = 0; k < p->n; k++)
			if (p->observed[k] < 0 || p->observed[k] >= ldexp(1, STUCK_BIT_MOST + 1) ||
			    has_bit(p->observed[k], bit) != set)
				return false;
	}
	return true;
}

/* Where all predictions have the bit alike, the kernels do not tell. */
static bool holds_bit(const struct fit *fit, unsigned bit, bool set, double *form)
{
	double most = fit->points[fit->n - 1].x;
	if (most >= ldexp(1, STUCK_BIT_MOST + 1))
		return false;
	for (size_t i = 0; i < fit->n; i++) {
		double x = fit->points[i].x;
		form[i] = has_bit(x, bit) == set ? x : set ? x + ldexp(1, (int)bit) : x - ldexp(1, (int)bit);
	}
	return never_moves(fit, bit, set) && faulty_points(fit, form) >= BIT_POINTS_LEAST &&
	       fit_differs_within_kernel(fit, form) && fit_holds(fit, form, 0);
}

bool shape_stuck_bit(const struct fit *fit, double *form, struct verdict *v)
{
	for (unsigned bit = 0; bit <= STUCK_BIT_MOST; bit++)
		for (int set = 0; set < 2; set++)
			if (holds_bit(fit, bit, set, form)) {
				v->shape = set ? SHAPE_BIT_SET : SHAPE_BIT_CLEAR;
				v->bits = bit;
				return true;
			}
	return false;
}

/* ---- a sign ---- */

/* A negative count is shown as it is, or as an unsigned number of 64 bits. */
static double with_sign(double x, unsigned bits, bool as_unsigned)
{
	double range = ldexp(1, (int)bits), low = fmod(x, range);
	if (low < range / 2)
		return low;
	return as_unsigned ? (double)(uint64_t)(int64_t)(low - range) : low - range;
}

bool shape_signed(const struct fit *fit, double *form, struct verdict *v)
{
	for (unsigned bits = SIGN_BITS_LEAST; bits <= STUCK_BIT_MOST; bits++)
		for (int as_unsigned = 0; as_unsigned < 2; as_unsigned++) {
			size_t negative = 0;
			for (size_t i = 0; i < fit->n; i++) {
				double x = fit->points[i].x;
				form[i] = with_sign(x, bits, as_unsigned);
				negative += fmod(x, ldexp(1, (int)bits)) >= ldexp(1, (int)bits - 1);
			}
			if (!negative || !fit_holds(fit, form, 0))
				continue;
			v->shape = SHAPE_SIGNED;
			v->bits = bits;
			return true;
		}
	return false;
}

/* ---- powers of two ---- */

static bool is_power(double count)
{
	int exponent;
	return count == 0 || frexp(count, &exponent) == 0.5;
}

/* Each count is a power of two next to the truth, in all executions. */
bool shape_powers(const struct fit *fit, double *form, struct verdict *v)
{
	double least = INFINITY, most = 0;
	for (size_t i = 0; i < fit->n; i++) {
		const struct judged_point *p = &fit->event->points[fit->points[i].index];
		double x = fit->points[i].x;
		for (size_t k = 0; k < p->n; k++)
			if (!is_power(p->observed[k]) || !(p->observed[k] > x / 2 || x == 0) ||
			    !(p->observed[k] < 2 * x || p->observed[k] <= 1))
				return false;
		form[i] = fit->points[i].mean;
		if (x > 0)
			least = fmin(least, x), most = fmax(most, x);
	}
	if (faulty_points(fit, form) < POWERS_POINTS_LEAST || most < POWERS_RANGE * least)
		return false;
	v->shape = SHAPE_POWERS;
	return true;
}

/* ---- another code ---- */

static double gray(double x)
{
	uint64_t count = (uint64_t)x;
	return (double)(count ^ count >> 1);
}

static double reversed(double x, unsigned bits)
{
	uint64_t count = (uint64_t)x, out = 0;
	for (unsigned at = 0; at < bits; at += 8)
		out = out << 8 | (count >> at & 0xff);
	return (double)out;
}

/* The low 32 bits. */
static double halves(double x)
{
	uint64_t count = (uint64_t)x;
	return (double)((count << 16 | (count >> 16 & 0xffff)) & 0xffffffff);
}

static double decimal(double x)
{
	uint64_t out = 0;
	unsigned at = 0;
	for (uint64_t left = (uint64_t)x; left && at < 64; left /= 10, at += 4)
		out |= left % 10 << at;
	return (double)out;
}

/* by: 1 … bits - 1, to the left. */
static double rotated(double x, unsigned bits, unsigned by)
{
	uint64_t all = ~(uint64_t)0 >> (64 - bits), count = (uint64_t)x & all;
	return (double)((count << by | count >> (bits - by)) & all);
}

/* The first digits of x, rounded to the nearest of them, or down. */
static double first_digits(double x, unsigned digits, bool down)
{
	double unit = 1;
	while (x / unit >= pow(10, digits))
		unit *= 10;
	return unit * (down ? floor(x / unit) : nearbyint(x / unit));
}

static double single(double x) { return (double)(float)x; }

static bool holds_code(const struct fit *fit, const double *form, enum verdict_shape shape, struct verdict *v)
{
	if (faulty_points(fit, form) < CODE_POINTS_LEAST || !fit_differs_within_kernel(fit, form) ||
	    !fit_holds(fit, form, 0))
		return false;
	v->shape = shape;
	return true;
}

static const struct {
	double (*of)(double x);
	enum verdict_shape shape;
	unsigned bits;
} codes[] = {
	{gray, SHAPE_GRAY, 0},
	{halves, SHAPE_HALVES, 32},
	{decimal, SHAPE_DECIMAL, 0},
	{single, SHAPE_SINGLE, FLT_MANT_DIG},
};

static bool are_digits(const struct fit *fit, double *form, struct verdict *v)
{
	for (unsigned digits = DIGITS_LEAST; digits <= DIGITS_MOST; digits++)
		for (int down = 0; down < 2; down++) {
			for (size_t i = 0; i < fit->n; i++)
				form[i] = first_digits(fit->points[i].x, digits, down);
			if (holds_code(fit, form, SHAPE_DIGITS, v)) {
				v->bits = digits;
				return true;
			}
		}
	return false;
}

static bool is_rotated(const struct fit *fit, double *form, struct verdict *v)
{
	for (unsigned bits = 16; bits <= 64; bits *= 2)
		for (unsigned by = 1; by < bits; by++) {
			for (size_t i = 0; i < fit->n; i++)
				form[i] = rotated(fit->points[i].x, bits, by);
			if (holds_code(fit, form, SHAPE_ROTATED, v)) {
				v->bits = bits;
				v->offset = by;
				return true;
			}
		}
	return false;
}

/* Each count is the truth, written in another way. It never varies: noise would be turned into any other count. */
bool shape_code(const struct fit *fit, double *form, struct verdict *v)
{
	const struct fit_point *first = &fit->points[0];
	if (fit->varies || fit->points[fit->n - 1].x >= ldexp(1, STUCK_BIT_MOST + 1))
		return false;
	for (size_t c = 0; c < sizeof codes / sizeof *codes; c++) {
		for (size_t i = 0; i < fit->n; i++)
			form[i] = codes[c].of(fit->points[i].x);
		if (holds_code(fit, form, codes[c].shape, v)) {
			v->bits = codes[c].bits;
			return true;
		}
	}
	for (unsigned bits = 16; bits <= 64; bits *= 2) {
		for (size_t i = 0; i < fit->n; i++)
			form[i] = reversed(fit->points[i].x, bits);
		if (holds_code(fit, form, SHAPE_BYTES, v)) {
			v->bits = bits;
			return true;
		}
	}
	if (are_digits(fit, form, v) || is_rotated(fit, form, v))
		return true;
	if (!(first->mean >= 0 && first->mean < ldexp(1, STUCK_BIT_MOST + 1)))
		return false;
	uint64_t flipped = (uint64_t)first->mean ^ (uint64_t)first->x;
	for (size_t i = 0; i < fit->n; i++)
		form[i] = (double)((uint64_t)fit->points[i].x ^ flipped);
	v->offset = (double)flipped;
	if (holds_code(fit, form, SHAPE_FLIPPED, v))
		return true;
	v->offset = 0;
	return false;
}
