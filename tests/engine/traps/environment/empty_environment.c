/* fact: an empty environment stays empty, and a program may be given no arguments at all
 * environment: empty */
#include "trap.h"
extern char **environ;
int main(int count, char **argument)
{
	if (count == 1 && argument[0][0] == 0) {
		fact(argument[1] == NULL, "no arguments: argv is one empty string");
		return trap_done();
	}
	fact(environ[0] == NULL, "the environment is empty");
	pid_t child = fork();
	if (child == 0) {
		char *none[] = { NULL };
		execve("/proc/self/exe", none, none);
		_exit(1);
	}
	fact_equal(end_of(child), 0, "it ends well");
	return trap_done();
}
