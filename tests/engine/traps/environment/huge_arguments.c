/* fact: 50000 arguments and a large environment arrive whole
 * limits: stack=8M */
#include "trap.h"
extern char **environ;
int main(int count, char **argument)
{
	enum { COUNT = 50000, VARIABLES = 5000 };
	if (count > 1) {
		long wrong = count != COUNT + 1;
		for (int i = 1; i < count; i++)
			wrong += atol(argument[i]) != 1000000000L + i;
		fact_equal(wrong, 0, "50000 arguments");
		int variables = 0;
		for (char **at = environ; *at; at++)
			variables += !strncmp(*at, "VARIABLE", 8) && strlen(*at) == 110;
		fact_equal(variables, VARIABLES, "5000 variables of 110 bytes");
		return trap_done();
	}
	char **arguments = malloc((COUNT + 2) * sizeof *arguments),
	     **variables = malloc((VARIABLES + 1) * sizeof *variables);
	arguments[0] = argument[0];
	for (int i = 1; i <= COUNT; i++) {
		arguments[i] = malloc(12);
		snprintf(arguments[i], 12, "%d", 1000000000 + i);
	}
	arguments[COUNT + 1] = NULL;
	for (int i = 0; i < VARIABLES; i++) {
		variables[i] = malloc(128);
		int at = snprintf(variables[i], 128, "VARIABLE%04d=", i);
		memset(variables[i] + at, 'v', (size_t)(110 - at));
		variables[i][110] = 0;
	}
	variables[VARIABLES] = NULL;
	execve(argument[0], arguments, variables);
	return 3;
}
