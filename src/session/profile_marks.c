#include "session/profile_marks.h"

#include <stdlib.h>
#include <unistd.h>

#include "base/file.h"
#include "base/marks.h"
#include "base/str.h"
#include "profile/marks.h"
#include "session/environment.h"

enum { FILE_MOST = 256 << 20 };

bool region_marks_open(struct region_marks *marks, struct session *s)
{
	const char *folder = getenv("TMPDIR");
	*marks = (struct region_marks){.session = s, .restored = s->command.environment};
	if (s->target.command != &s->command)
		return true;
	char *path = arena_printf(&marks->arena, "%s/tare-marks-XXXXXX", folder && *folder ? folder : "/tmp");
	if (!path)
		return false;
	int fd = mkstemp(path);
	if (fd < 0)
		return true;
	close(fd);
	marks->path = path;
	s->command.environment = environment_with(marks->restored, MARKS_VARIABLE, path, &marks->arena);
	if (s->command.environment)
		return true;
	region_marks_close(marks);
	return false;
}

static bool note_regions(struct profile *p, bool left_out)
{
	struct str text = {0};
	bool done = true;
	if (!p->n_marks)
		return true;
	str_append(&text, "regions of the program, and how often each begins: ");
	profile_marks_list(p, &text);
	if (left_out)
		str_appendf(&text, "; a process marks %d begins and ends at most, and later ones have no mark",
			    MARKS_MOST);
	str_appendf(&text, ". tare report --from begin:%s shows what was sampled from there on",
		    p->marks[0].region);
	done = !text.failed && profile_add_note(p, arena_strdup(&p->arena, text.text));
	str_free(&text);
	return done;
}

bool region_marks_take(const struct region_marks *marks, struct profile *p)
{
	size_t n_bytes = 0;
	bool left_out = false;
	/* larger, or gone: the program did it, and has no marks then */
	char *bytes = marks->path ? file_read(marks->path, FILE_MOST, &n_bytes, NULL) : NULL;
	bool done = !bytes || (profile_marks_parse(bytes, n_bytes, p, &left_out) && note_regions(p, left_out));
	free(bytes);
	return done;
}

void region_marks_close(struct region_marks *marks)
{
	if (marks->path)
		unlink(marks->path);
	if (marks->session)
		marks->session->command.environment = marks->restored;
	arena_free(&marks->arena);
	*marks = (struct region_marks){0};
}
