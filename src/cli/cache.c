/* tare cache: the translations that the engine keeps between runs. */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/str.h"
#include "cli/command.h"
#include "cli/say.h"
#include "store/cache/cache.h"

enum { HELP };

const struct option_row cache_option_rows[] = {
	{.help = "Options"},
	{'h', "help", NULL, "show this help", HELP},
	{0},
};

static bool apply(void *context, int id, const char *value, struct error *err)
{
	(void)id, (void)value, (void)err;
	*(bool *)context = true;
	return true;
}

static int show_help(void)
{
	say_begin_output();
	options_help("usage: tare cache [list|size|clear]\n"
		     "\n"
		     "Shows (list, the default), adds up or removes the translations of programs that\n"
		     "'tare count --keep' keeps for their next runs.\n",
		     cache_option_rows,
		     "\nexit status: 0 done; 2 wrong usage; 3 cannot read or remove them.\n"
		     "See also tare-cache(1).\n");
	return say_end_output();
}

/* 0 B to 999 B, then kB and MB. */
static void show_bytes(uint64_t bytes, char text[24])
{
	if (bytes < 1000)
		snprintf(text, 24, "%llu B", (unsigned long long)bytes);
	else if (bytes < 1000000)
		snprintf(text, 24, "%.1f kB", (double)bytes / 1e3);
	else
		snprintf(text, 24, "%.1f MB", (double)bytes / 1e6);
}

static void show_sum(const char *what, const struct cache_list *list, const char *folder)
{
	char bytes[24], place[512];
	show_bytes(list->bytes, bytes);
	str_escape_to(place, sizeof place, folder);
	printf("%s%zu program%s, %s in %s\n", what, list->entries.count, list->entries.count == 1 ? "" : "s",
	       bytes, place);
}

static void show_entries(const struct cache_list *list)
{
	for (size_t i = 0; i < list->entries.count; i++) {
		const struct cache_entry *e = &list->entries.items[i];
		char bytes[24], used[32] = "", program[4 * CACHE_PROGRAM_BYTES];
		time_t when = (time_t)e->used_unix;
		struct tm local;
		show_bytes(e->bytes, bytes);
		str_escape_to(program, sizeof program, e->program[0] ? e->program : "(not whole)");
		if (localtime_r(&when, &local))
			strftime(used, sizeof used, "%Y-%m-%d %H:%M", &local);
		printf("%10s  %s  %s\n", bytes, used, program);
	}
}

static int run(const char *action)
{
	struct error err = {0};
	struct cache_list list;
	char *folder = cache_folder(&err);
	bool clear = strcmp(action, "clear") == 0;
	if (!folder)
		return say_failure(&err);
	bool done = clear ? cache_clear(folder, &list, &err) : cache_list(folder, &list, &err);
	if (done) {
		say_begin_output();
		if (strcmp(action, "list") == 0)
			show_entries(&list);
		show_sum(clear ? "removed: " : "", &list, folder);
	}
	vec_free(&list.entries);
	free(folder);
	return done ? say_end_output() : say_failure(&err);
}

int command_cache(int argc, char **argv)
{
	static const char *const actions[] = {"list", "size", "clear"};
	struct error err = {0};
	bool help = false;
	int rest;
	if (!options_parse(cache_option_rows, argc, argv, apply, &help, &rest, &err))
		return say_failed(&err, TARE_USAGE);
	if (help)
		return show_help();
	const char *action = rest < argc ? argv[rest] : "list";
	bool known = rest + 1 >= argc;
	if (!known)
		error_set(&err, ERROR_USAGE, "remove '%s': 'cache' takes one word", argv[rest + 1]);
	for (size_t i = 0; known && i < sizeof actions / sizeof *actions; i++)
		if (strcmp(action, actions[i]) == 0)
			return run(action);
	if (known)
		error_set(&err, ERROR_USAGE, "'cache' does not know '%s'", action);
	error_hint(&err, "'tare cache list', 'tare cache size' or 'tare cache clear'");
	return say_failed(&err, TARE_USAGE);
}
