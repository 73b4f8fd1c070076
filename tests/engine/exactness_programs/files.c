/* Reading a file line by line, buffered. */
#include <stdio.h>
int main(void)
{
	char line[256];
	int n = 0;
	FILE *file = fopen("/etc/passwd", "r");
	while (file && fgets(line, sizeof line, file))
		n++;
	if (file)
		fclose(file);
	return n == 0;
}
