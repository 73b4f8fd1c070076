/* fact: code changed in a child after fork leaves the parent's as it was, and the other way round */
#include "trap.h"

int main(void)
{
	char *code = map_anywhere(4096, PROT_READ | PROT_WRITE | PROT_EXEC);
	long wrong = 0;
	for (int i = 0; i < 30; i++) {
		write_return(code, i);
		wrong += call_code(code) != i;
		pid_t child = fork();
		if (child == 0) {
			bool right = call_code(code) == i;
			write_return(code, 100 + i);
			_exit(right && call_code(code) == 100 + i ? 0 : 1);
		}
		wrong += end_of(child) != 0;
		wrong += call_code(code) != i;
	}
	fact_equal(wrong, 0, "thirty forks");
	return trap_done();
}
