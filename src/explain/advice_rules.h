/* What the rules of advice share. For advice.c, advice_memory.c and advice_computing.c only. */
#ifndef TARE_EXPLAIN_ADVICE_RULES_H
#define TARE_EXPLAIN_ADVICE_RULES_H

#include "explain/advice.h"

/* What a rule takes for "most of them" */
#define ADVICE_MOST 0.5

struct giving {
	struct explanation *e;
	const struct evidence_rows *evidence, *functions; /* by line; by function */
	const struct advice_facts *facts;
	const struct evidence_row *row; /* that is spoken of; NULL: the whole program */
	double whole, busy;  /* what shares are of; the CPU's part of it, which counts are compared with */
	double instructions; /* of the whole program; NAN: not counted */
	bool failed;
};

enum { COUNT_BYTES = 32 };
/* "1,234,567" */
const char *advice_grouped(double count, char text[COUNT_BYTES]);
#define GROUPED(count) advice_grouped(count, (char[COUNT_BYTES]){0})

/* Of one operation; NAN: not known. */
double advice_typical(const struct giving *g, enum cost_operation operation);
/* Of the row that is spoken of. */
double advice_count(const struct giving *g, enum evidence kind);
/* False for NAN. */
bool advice_is_worth(double seconds, double of);
/* Of events whose cost nobody knows: are they so many of the program's instructions that they are worth a word? */
bool advice_is_often(const struct giving *g, double count);
/* seconds NAN: not known. Of the row that is spoken of; of the whole program: at that line. */
void advice_say(struct giving *g, const char *rule, double seconds, const char *text, const char *evidence);
void advice_say_at(struct giving *g, const char *rule, double seconds, const char *text, const char *evidence,
		   const struct advice_line *line);
/* The row of a line that has most of a kind; NULL: no line has any. function: by its name; NULL: all. */
const struct evidence_row *advice_most(const struct giving *g, enum evidence kind, const char *function);
/* Its line. */
struct advice_line advice_line_of(const struct evidence_row *row);

/* Of the row: */
void advice_on_memory(struct giving *g);
void advice_on_branches(struct giving *g);
void advice_on_conversions(struct giving *g);
/* Of functions and of the whole program, from all rows: */
void advice_on_computing(struct giving *g);
/* Where no rule spoke: the function that has much of what is computed. */
void advice_on_most_work(struct giving *g);

#endif
