/* Columns of CSV: see csv_columns.h. */
#include "report/csv_columns.h"

#include <math.h>
#include <string.h>

#include "report/number.h"

void csv_text(FILE *out, const char *text)
{
	fputc(',', out);
	if (!text)
		text = "";
	if (!text[strcspn(text, ",\"\r\n")]) {
		fputs(text, out);
		return;
	}
	fputc('"', out);
	for (; *text; text++) {
		if (*text == '"')
			fputc('"', out);
		fputc(*text, out);
	}
	fputc('"', out);
}

void csv_number(FILE *out, bool known, double value)
{
	char text[NUMBER_BYTES];
	fputc(',', out);
	if (!known || !isfinite(value))
		return;
	number_exact(text, value);
	fputs(text, out);
}
