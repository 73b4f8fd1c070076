#include "report/export_names.h"

#include <string.h>

#include "report/number.h"
#include "report/profile_rows.h"

static size_t character_start(const char *text, size_t at)
{
	while (at && ((unsigned char)text[at] & 0xc0) == 0x80)
		at--;
	return at;
}

void export_append_cut(struct str *out, const char *text, size_t most)
{
	struct str escaped = {0};
	profile_append_escaped(&escaped, text ? text : "");
	out->failed |= escaped.failed;
	if (!most || escaped.length <= most) {
		str_append_bytes(out, escaped.text ? escaped.text : "", escaped.length);
	} else {
		size_t half = most > 3 ? (most - 3) / 2 : 0;
		size_t tail = character_start(escaped.text, escaped.length - half);
		while (escaped.length - tail > half) /* a character's start was before: take the next one's */
			for (tail++; ((unsigned char)escaped.text[tail] & 0xc0) == 0x80;)
				tail++;
		str_append_bytes(out, escaped.text, character_start(escaped.text, half));
		str_append(out, "\u2026");
		str_append(out, escaped.text + tail);
	}
	str_free(&escaped);
}

void export_append_markup(struct str *out, const char *text, size_t most)
{
	struct str cut = {0};
	export_append_cut(&cut, text, most);
	out->failed |= cut.failed;
	for (const char *at = cut.text ? cut.text : ""; *at; at++) {
		switch (*at) {
		case '&': str_append(out, "&amp;"); break;
		case '<': str_append(out, "&lt;"); break;
		case '>': str_append(out, "&gt;"); break;
		case '"': str_append(out, "&quot;"); break;
		case '\'': str_append(out, "&#39;"); break;
		default:
			/* U+FFFE and U+FFFF are UTF-8, and not XML's */
			if (strncmp(at, "\xef\xbf\xbe", 3) == 0 || strncmp(at, "\xef\xbf\xbf", 3) == 0) {
				str_appendf(out, "\\xef\\xbf\\x%02x", (unsigned char)at[2]);
				at += 2;
			} else {
				str_append_char(out, *at);
			}
		}
	}
	str_free(&cut);
}

const char *export_unit(const struct profile_event *event)
{
	return event->gaps != GAPS_NONE ? "samples" : event->unit && event->unit[0] ? event->unit : "events";
}

void export_append_command(struct str *out, const struct profile *profile)
{
	for (const char *const *word = profile->command; word && *word; word++) {
		str_append(out, word == profile->command ? "" : " ");
		profile_append_escaped(out, *word);
	}
	if (!profile->command)
		profile_append_escaped(out, profile->target ? profile->target : "");
}

void export_append_event(struct str *out, const struct profile_event *event)
{
	char number[NUMBER_BYTES];
	const char *unit = event->unit && event->unit[0] ? event->unit : "events";
	profile_append_escaped(out, event->label);
	if (event->machine) {
		str_append(out, " modelled on ");
		profile_append_escaped(out, event->machine);
	}
	str_append(out, ": ");
	if (event->gaps == GAPS_NONE) {
		profile_append_escaped(out, unit);
		str_append(out, ", counted, not sampled");
		return;
	}
	if (event->gaps == GAPS_RATE) {
		number_group(number, event->rate, 0);
		str_appendf(out, "samples, about %s a second", number);
	} else {
		number_group(number, (double)event->gap, 0);
		str_appendf(out, "samples, one for each %s ", number);
		profile_append_escaped(out, unit);
		if (event->gaps != GAPS_FIXED)
			str_append(out, " on average");
	}
	if (event->lost) {
		number_group(number, (double)event->lost, 0);
		str_appendf(out, "; %s samples were lost", number);
	}
}
