/* link_orders_draw(): which words of a build command change places, into how many orders. */
#include <stdlib.h>
#include <string.h>

#include "session/link_order.h"
#include "tap.h"

static struct arena arena;

static struct link_orders drawn(const char *command, uint64_t seed)
{
	struct link_orders out;
	struct random random = {seed};
	struct error err;
	ok(link_orders_draw(command, &random, &arena, &out, &err), "'%s' is read", command);
	return out;
}

static int by_letter(const void *a, const void *b) { return *(const char *)a - *(const char *)b; }

/* Has the text the same letters, as often? */
static bool same_letters(const char *a, const char *b)
{
	char *one = strdup(a), *two = strdup(b);
	qsort(one, strlen(one), 1, by_letter);
	qsort(two, strlen(two), 1, by_letter);
	bool same = strcmp(one, two) == 0;
	free(one);
	free(two);
	return same;
}

static void orders(const char *command, size_t files, size_t n)
{
	struct link_orders o = drawn(command, 1);
	bool good = strcmp(o.commands[0], command) == 0;
	for (size_t i = 0; i < o.n; i++) {
		good &= same_letters(command, o.commands[i]);
		for (size_t j = 0; j < i; j++)
			good &= strcmp(o.commands[i], o.commands[j]) != 0;
	}
	ok(o.n_files == files && o.n == n && good && !o.why,
	   "… %zu files in %zu orders, all different, the first as it was given", files, n);
}

static void one(const char *command, const char *why)
{
	struct link_orders o = drawn(command, 1);
	ok(o.n == 1 && strcmp(o.commands[0], command) == 0 && o.why && strstr(o.why, why), "… stays as it is: %s",
	   why);
}

int main(void)
{
	orders("cc -o {out} a.o b.o", 2, 2);
	orders("cc  a.c\tb.cc c.f90 -O2 -lm -o {out}", 3, 6);
	orders("cc a.o b.o c.o d.o e.o -o {out}", 5, LINK_ORDERS_MOST);
	orders("cc a.o a.o b.o -o {out}", 3, 3);
	struct link_orders o = drawn("cc -o main.o -MF x.c a.o lib.a -include y.c b.o -lc.o", 3);
	ok(o.n_files == 2 && o.n == 2 &&
		   strcmp(o.commands[1], "cc -o main.o -MF x.c b.o lib.a -include y.c a.o -lc.o") == 0,
	   "an option's value, an option and a library stay in their places");
	struct link_orders again = drawn("cc a.c b.c c.c d.c -o {out}", 9),
			   other = drawn("cc a.c b.c c.c d.c -o {out}", 9);
	bool same = again.n == other.n;
	for (size_t i = 0; same && i < again.n; i++)
		same = strcmp(again.commands[i], other.commands[i]) == 0;
	ok(same, "the same seed draws the same orders");
	one("cc -o {out} a.o", "fewer than two files");
	one("", "fewer than two files");
	one("make -C {dir}", "fewer than two files");
	static const char *const shells[] = {"cc a.o b.o -o {out} && strip {out}",
					     "cc a.o b.o > log",
					     "cc $A a.o b.o",
					     "cc *.o a.o b.o",
					     "cc 'a b.o' c.o",
					     "cc `x` a.o b.o"};
	for (size_t i = 0; i < sizeof shells / sizeof *shells; i++)
		one(shells[i], "a shell reads");
	arena_free(&arena);
	return done();
}
