/* Arguments, environment, the auxiliary vector. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/auxv.h>
int main(int argc, char **argv)
{
	printf("%d %s %lu\n", argc, getenv("HOME") ? "home" : "no home", getauxval(AT_PAGESZ));
	return argv[argc] != NULL;
}
