/* What executions were given, side by side (result/given.h). */
#include <string.h>

#include "result/given.h"
#include "tap.h"

static void compare(const char *const *given, size_t n, size_t differing, const char *names, const char *fix,
		    const char *fact)
{
	struct str text = {0};
	const char *found;
	size_t seen = given_differing(given, n, &text, &found);
	ok(seen == differing && strcmp(text.text ? text.text : "", names) == 0 &&
		   strcmp(found ? found : "", fix) == 0,
	   "%s: %zu, '%s', '%s'", fact, seen, text.text ? text.text : "", found ? found : "");
	str_free(&text);
}

static void parts(void)
{
	const char *text = "contents of files\t18446744073709551615\t00ff\nno thing\nno sum\t1\t\nno times\tx\t1\n"
			   "signed\t-1\t1\nmore\t1\t1 \n\t1\t1\nthe last\t2\ta";
	struct given_thing thing;
	ok(given_next(&text, &thing) && thing.what_length == 17 &&
		   memcmp(thing.what, "contents of files", 17) == 0 && thing.times == UINT64_MAX &&
		   thing.sum_length == 4 && memcmp(thing.sum, "00ff", 4) == 0,
	   "a line is what, how often, and a sum");
	ok(given_next(&text, &thing) && thing.what_length == 8 && memcmp(thing.what, "the last", 8) == 0 &&
		   thing.times == 2 && thing.sum_length == 1 && *thing.sum == 'a',
	   "other lines are passed over; the last needs no end");
	ok(!given_next(&text, &thing) && *text == '\0', "and then there is none");
}

static void executed(void)
{
	static const char one[] = "contents of files\t3\tabc\ncode\tff\ntasks\tone\n",
			  several[] = "code\tfe\ntasks\tseveral", older[] = "contents of files\t3\tabc\n",
			  damaged[] = "code\t\ntasks\tnone\n", given_code[] = "code\t3\tff\n";
	ok(given_same_code(one, one) == GIVEN_YES && given_same_code(one, several) == GIVEN_NO,
	   "code is the same where its sum is");
	ok(given_same_code(one, older) == GIVEN_UNKNOWN && given_same_code(damaged, damaged) == GIVEN_UNKNOWN &&
		   given_same_code(given_code, given_code) == GIVEN_UNKNOWN,
	   "of a text without that sum it is not known");
	ok(given_several_tasks((const char *const[]){one, one}, 2) == GIVEN_NO,
	   "one thread in each is no several");
	ok(given_several_tasks((const char *const[]){older, several}, 2) == GIVEN_YES,
	   "several in one of them are several");
	ok(given_several_tasks((const char *const[]){one, older}, 2) == GIVEN_UNKNOWN &&
		   given_several_tasks((const char *const[]){one, damaged}, 2) == GIVEN_UNKNOWN,
	   "where one does not tell it is not known");
}

int main(void)
{
	parts();
	executed();
	const char *files = "contents of files\t3\tabc\nsignals that came\t1\t12\n";
	const char *others = "contents of files\t3\tabd\nsignals that came\t1\t12\n";
	const char *fewer = "contents of files\t3\tabc\n";
	const char *longer = "contents of files in /proc and /sys\t3\tabc\n";
	compare((const char *const[]){files, files, files}, 3, 0, "", "", "the same");
	compare((const char *const[]){files, files, others}, 3, 1, "contents of files",
		"begin each run with the same files", "another sum");
	compare((const char *const[]){files, fewer}, 2, 1, "signals that came",
		"wait for one process after the other, without pipelines", "one was not given it");
	compare((const char *const[]){fewer, files}, 2, 1, "signals that came",
		"wait for one process after the other, without pipelines", "the first was not given it");
	compare((const char *const[]){"", others}, 2, 2, "contents of files, signals that came",
		"begin each run with the same files", "the first was given nothing");
	compare((const char *const[]){fewer, longer}, 2, 2,
		"contents of files, contents of files in /proc and /sys", "begin each run with the same files",
		"a name that begins like another");
	compare((const char *const[]){"a thing\t1\t1\n", "a thing\t1\t2"}, 2, 1, "a thing", "",
		"without a known remedy");
	compare((const char *const[]){"code\t1\ntasks\tone\n", "code\t2\ntasks\tseveral\n"}, 2, 0, "", "",
		"what was executed is not what was given");
	compare((const char *const[]){"a\t1\t1\n", "a\t1\t12\n"}, 2, 1, "a", "", "a sum that begins like another");
	return done();
}
