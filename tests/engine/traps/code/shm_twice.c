/* fact: code in shared memory that another process writes runs as written
 * The child writes through its own mapping; the parent learns of it through a pipe. */
#include "trap.h"

int main(void)
{
	int to_child[2], to_parent[2];
	char byte = 0;
	char *code = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (pipe(to_child) || pipe(to_parent))
		return 2;
	pid_t child = fork();
	if (child == 0) {
		for (int i = 0; i < 200; i++) {
			write_return(code, i + 5);
			if (write(to_parent[1], &byte, 1) != 1 || read(to_child[0], &byte, 1) != 1)
				_exit(1);
		}
		_exit(0);
	}
	long wrong = 0;
	for (int i = 0; i < 200; i++) {
		if (read(to_parent[0], &byte, 1) != 1)
			return 3;
		wrong += call_code(code) != i + 5;
		if (write(to_child[1], &byte, 1) != 1)
			return 3;
	}
	fact_equal(wrong, 0, "200 functions written by another process");
	fact_equal(end_of(child), 0, "it ended well");
	return trap_done();
}
