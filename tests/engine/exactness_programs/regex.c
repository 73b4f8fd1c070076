/* regcomp and regexec: automata, much branching. */
#include <regex.h>
int main(void)
{
	regex_t re;
	if (regcomp(&re, "^(a|b)*c{2,3}[x-z]+$", REG_EXTENDED))
		return 1;
	int hit = !regexec(&re, "ababccxyz", 0, 0, 0) + !regexec(&re, "abcxyz", 0, 0, 0);
	regfree(&re);
	return hit != 1;
}
