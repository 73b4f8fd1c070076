/* fact: with ADDR_NO_RANDOMIZE an exec'd program has the same addresses every time */
#include "trap.h"
#include <sys/personality.h>

int main(int count, char **argument)
{
	static int data;
	char text[200], first[200] = { 0 };
	if (count > 1) {
		int stack;
		snprintf(text, sizeof text, "%p %p %p %d", (void *)&data, (void *)&stack, (void *)printf,
			 personality(0xffffffff) & ADDR_NO_RANDOMIZE ? 1 : 0);
		return write(1, text, strlen(text)) > 0 ? 0 : 1;
	}
	bool same = true, set = true;
	for (int i = 0; i < 4; i++) {
		int ends[2];
		if (pipe(ends))
			return 2;
		pid_t child = fork();
		if (child == 0) {
			dup2(ends[1], 1);
			personality(personality(0xffffffff) | ADDR_NO_RANDOMIZE);
			execl(argument[0], argument[0], "again", NULL);
		}
		end_of(child);
		memset(text, 0, sizeof text);
		if (read(ends[0], text, 199) <= 0)
			return 3;
		close(ends[0]), close(ends[1]);
		set &= text[strlen(text) - 1] == '1';
		if (i == 0)
			strcpy(first, text);
		same &= strcmp(first, text) == 0;
	}
	fact(set, "the personality holds over exec");
	fact(same, "addresses of data, stack and libc are the same four times");
	return trap_done();
}
