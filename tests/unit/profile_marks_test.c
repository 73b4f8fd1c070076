/* Marks of regions: their file, whatever is in it, and how they are found. */
#include "profile/marks.h"

#include <string.h>

#include "base/marks.h"
#include "base/str.h"
#include "tap.h"

static char file[8192];
static size_t length;

static void put(uint64_t time_ns, enum region_mark_kind kind, const char *name)
{
	struct mark_head head = {
		.time_ns = time_ns, .thread = 7, .kind = (uint16_t)kind, .name_bytes = (uint16_t)strlen(name)};
	memcpy(file + length, &head, sizeof head);
	memcpy(file + length + sizeof head, name, head.name_bytes);
	length += sizeof head + head.name_bytes;
}

static bool finds(const struct profile *p, const char *name, uint64_t expected)
{
	struct error err = {0};
	uint64_t time_ns = 0;
	return profile_marks_find(p, name, &time_ns, &err) && time_ns == expected;
}

static bool refuses(const struct profile *p, const char *name, const char *text)
{
	struct error err = {0};
	uint64_t time_ns;
	return !profile_marks_find(p, name, &time_ns, &err) && err.code == ERROR_USAGE && strstr(err.text, text);
}

int main(void)
{
	struct profile p = {0}, none = {0};
	struct str list = {0};
	bool left_out;
	ok(profile_marks_parse("", 0, &none, &left_out) && none.n_marks == 0 && !left_out,
	   "an empty file has no marks");
	ok(refuses(&none, "begin:a", "marked no region"), "... which is told");
	put(300, MARK_BEGIN, "b"), put(400, MARK_END, "b"), put(100, MARK_BEGIN, "a"),
		put(200, MARK_END, "a"); /* two threads */
	put(500, MARK_BEGIN, "a"), put(600, MARK_END, "a"), put(700, MARK_BEGIN, "a:2"), put(800, MARK_LAST, "");
	ok(profile_marks_parse(file, length, &p, &left_out) && p.n_marks == 7 && left_out,
	   "each mark is there, and that others were left out");
	bool ordered = true;
	for (size_t i = 1; i < p.n_marks; i++)
		ordered &= p.marks[i - 1].time_ns <= p.marks[i].time_ns;
	ok(ordered && p.marks[0].thread == 7, "by time");
	ok(finds(&p, "begin:a", 100) && finds(&p, "end:a", 200) && finds(&p, "begin:b", 300),
	   "the first of a region");
	ok(finds(&p, "begin:a:1", 100) && finds(&p, "end:a:2", 600), "the n-th of a region");
	ok(finds(&p, "begin:a:2", 700), "a region's whole name comes first");
	ok(refuses(&p, "begin:a:3", "fewer passes") && refuses(&p, "begin:a:0", "no mark"), "there is no third");
	ok(refuses(&p, "begin:c", "no mark 'begin:c'") && refuses(&p, "end:a:2:1", "no mark"), "no such mark");
	profile_marks_list(&p, &list);
	ok(strcmp(list.text, "'a' (2), 'b' (1), 'a:2' (1)") == 0,
	   "regions in order of time, and how often each begins");
	ok(profile_mark_is_name("begin:a") && profile_mark_is_name("end:b:3") && !profile_mark_is_name("1.5") &&
		   !profile_mark_is_name("begin:"),
	   "what is a mark's name");

	struct profile cut = {0};
	ok(profile_marks_parse(file, length - 1, &cut, &left_out) && cut.n_marks == 7 && !left_out,
	   "a mark that is cut ends them");
	length = 0, put(1, MARK_BEGIN, "a"), put(2, MARK_LAST + 1, "a"), put(3, MARK_END, "a");
	struct profile wrong = {0};
	ok(profile_marks_parse(file, length, &wrong, &left_out) && wrong.n_marks == 1, "so does one that is none");
	str_free(&list);
	profile_free(&p), profile_free(&none), profile_free(&cut), profile_free(&wrong);
	return done();
}
