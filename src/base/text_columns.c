#include "base/text_columns.h"

#include "base/text_widths.h"

/* Bytes of the character that begins there; 1 where it is not UTF-8. */
static size_t character_at(const unsigned char *text, uint32_t *code)
{
	size_t n = text[0] >> 5 == 6 ? 2 : text[0] >> 4 == 14 ? 3 : text[0] >> 3 == 30 ? 4 : 1;
	*code = n == 1 ? text[0] : text[0] & (0x7fu >> n);
	for (size_t i = 1; i < n; i++) {
		if ((text[i] & 0xc0) != 0x80) {
			*code = text[0];
			return 1;
		}
		*code = *code << 6 | (text[i] & 0x3f);
	}
	return n;
}

static int is_in(const struct text_range *ranges, size_t n, uint32_t code)
{
	size_t low = 0;
	while (low < n) {
		size_t middle = low + (n - low) / 2;
		if (code > ranges[middle].last)
			low = middle + 1;
		else
			n = middle;
	}
	return ranges[low].first <= code && code <= ranges[low].last;
}

static size_t columns_of(uint32_t code)
{
	if (code < 0x300)
		return 1;
	if (is_in(text_none, sizeof text_none / sizeof *text_none - 1, code))
		return 0;
	return is_in(text_wide, sizeof text_wide / sizeof *text_wide - 1, code) ? 2 : 1;
}

/* The byte behind all characters that end within n columns; behind: or which begin before them. */
static size_t walk(const char *text, size_t n, size_t *columns, int behind)
{
	size_t at = 0, used = 0;
	while (text[at]) {
		uint32_t code;
		size_t bytes = character_at((const unsigned char *)text + at, &code), width = columns_of(code);
		if (behind ? used >= n && width : used + width > n)
			break;
		used += width;
		at += bytes;
	}
	*columns = used;
	return at;
}

size_t text_columns(const char *text)
{
	size_t columns;
	walk(text, (size_t)-1, &columns, 0);
	return columns;
}

size_t text_fitting(const char *text, size_t n)
{
	size_t columns;
	return walk(text, n, &columns, 0);
}

size_t text_behind(const char *text, size_t n)
{
	size_t columns;
	return walk(text, n, &columns, 1);
}
