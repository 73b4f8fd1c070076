/* fact: a function that is rewritten after thousands of others were called by their addresses does what it says now */
#include "trap.h"

/* The first calls put functions into an engine's table of indirect targets, the later ones make such a table grow: what has moved
   in it must still be found when the code changes. */
enum { FUNCTIONS = 20000, EACH = 32, REWRITTEN = 97 };

int main(void)
{
	char *code = map_anywhere(FUNCTIONS * EACH, PROT_READ | PROT_WRITE | PROT_EXEC);
	long wrong = 0, stale = 0;
	for (int f = 0; f < FUNCTIONS; f++)
		write_return(code + f * EACH, f);
	for (int round = 0; round < 2; round++)
		for (int f = 0; f < FUNCTIONS; f++)
			wrong += call_code(code + f * EACH) != f;
	for (int f = 0; f < FUNCTIONS; f += REWRITTEN)
		write_return(code + f * EACH, FUNCTIONS + f);
	for (int f = 0; f < FUNCTIONS; f++)
		stale += call_code(code + f * EACH) != (f % REWRITTEN ? f : FUNCTIONS + f);
	fact_equal(wrong, 0, "every function returned its number, twice");
	fact_equal(stale, 0, "those that were rewritten return the new number, the others the old one");
	return trap_done();
}
