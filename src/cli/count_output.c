#include "cli/count_output.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "cli/say.h"

bool output_open(struct output *output, const char *path, struct error *err)
{
	*output = (struct output){path, path ? file_create(path, err) : stderr};
	return output->stream != NULL;
}

static bool put(FILE *stream, const char *name, const char *text, size_t length, struct error *err)
{
	fwrite(text, 1, length, stream);
	return file_finish(stream, name, err);
}

bool output_write(struct output *output, void (*render)(FILE *out, void *context), void *context)
{
	char *text = NULL;
	size_t length = 0;
	struct error err = {0};
	bool done = false;
	const char *name = !output->path                    ? "standard error"
			   : strcmp(output->path, "-") == 0 ? "standard output"
							    : output->path;
	/* a closed pipe is an error to be told, not a death with the results */
	signal(SIGPIPE, SIG_IGN);
	FILE *memory = open_memstream(&text, &length);
	if (memory) {
		render(memory, context);
		if (fclose(memory) != 0 || !text) {
			free(text);
			text = NULL;
		}
	}
	if (!text) { /* no memory for a copy: straight to where it belongs */
		render(output->stream, context);
		done = file_finish(output->stream, name, &err);
	} else {
		done = put(output->stream, name, text, length, &err);
	}
	if (!done) {
		say_error(&err);
		if (text && output->stream != stderr) {
			fputs("tare: the report follows here instead:\n", stderr);
			put(stderr, "standard error", text, length, &err);
		}
	}
	output->stream = NULL;
	free(text);
	return done;
}

void output_abandon(struct output *output)
{
	if (output->stream)
		file_abandon(output->stream, output->path);
	output->stream = NULL;
}
