/* Files of marks of any content: no crash, and marks in order of time, each with a name that is found again. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/str.h"
#include "profile/marks.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct profile p = {0};
	struct str list = {0}, name = {0};
	bool left_out;
	uint64_t time_ns;
	struct error err = {0};
	if (!profile_marks_parse(data, size, &p, &left_out))
		abort();
	for (size_t i = 0; i < p.n_marks && i < 50; i++) {
		str_free(&name);
		str_appendf(&name, "%s:%s", p.marks[i].end ? "end" : "begin", p.marks[i].region);
		if (i && p.marks[i].time_ns < p.marks[i - 1].time_ns)
			abort();
		if (*p.marks[i].region &&
		    (!profile_marks_find(&p, name.text, &time_ns, &err) || time_ns > p.marks[i].time_ns))
			abort();
	}
	profile_marks_list(&p, &list);
	str_free(&list);
	str_free(&name);
	profile_free(&p);
	return 0;
}
