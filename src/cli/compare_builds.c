/* What `tare compare` builds: revisions of a git repository (--git), or one program with several compilers and
 * flags (--build, --cc, --flags). All of it is in a temporary folder, whose parts have names of one length: a
 * program's path is in its memory, and its length may change counts. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/compare.h"
#include "session/hook.h"
#include "session/revision.h"

char *compare_put_in_build(struct compare_command_line *x, const char *text, const struct compare_build *build)
{
	const struct {
		const char *name, *value;
	} values[] = {
		{"flags", build->flags}, {"cc", build->compiler}, {"out", build->out}, {"dir", build->directory}};
	char *out = arena_strdup(&x->arena, text);
	for (size_t i = 0; out && i < sizeof values / sizeof *values; i++)
		if (values[i].value)
			out = command_line_substitute(out, values[i].name, values[i].value, &x->arena);
	return out;
}

static bool make_folder(struct compare_command_line *x, struct error *err)
{
	const char *parent = getenv("TMPDIR");
	const char *template = arena_printf(&x->arena, "%s/tare-compare-XXXXXX",
					    parent && *parent ? parent : "/tmp");
	char *folder = template ? strdup(template) : NULL;
	if (!folder)
		return error_no_memory(err);
	if (!mkdtemp(folder)) {
		error_set_errno(err, ERROR_IO, errno, "cannot make a folder like '%s'", template);
		free(folder);
		return error_hint(err, "TMPDIR names another place");
	}
	x->folder = folder;
	return true;
}

/* An empty build, in a folder's place that is not there yet. */
static struct compare_build *new_build(struct compare_command_line *x, const char *name)
{
	struct compare_build build = {.name = name,
				      .folder = arena_printf(&x->arena, "%s/%03zu", x->folder, x->builds.count)};
	if (!name || !build.folder || !(build.out = arena_printf(&x->arena, "%s/program", build.folder)) ||
	    !vec_push(&x->builds, build))
		return NULL;
	return &x->builds.items[x->builds.count - 1];
}

/* ---- revisions ---- */

/* "A..B" */
static bool check_out(struct compare_command_line *x, struct error *err)
{
	const char *range = x->request.git, *dots = strstr(range, "..");
	struct repository repository;
	if (!dots || dots == range || !dots[2] || dots[2] == '.') {
		error_set(err, ERROR_USAGE, "--git: '%s' is not A..B", range);
		return error_hint(err, "--git v1.0..HEAD compares HEAD with v1.0");
	}
	const char *revisions[] = {arena_strndup(&x->arena, range, (size_t)(dots - range)),
				   arena_strdup(&x->arena, dots + 2)};
	if (!repository_here(&x->arena, &repository, err))
		return false;
	for (size_t i = 0; i < 2; i++) {
		struct compare_build *build = new_build(x, revisions[i]);
		if (!build ||
		    !(build->directory = arena_printf(&x->arena, "%s/%s", build->folder, repository.prefix)))
			return error_no_memory(err);
	}
	for (size_t i = 0; i < 2; i++)
		if (!revision_check_out(&repository, revisions[i], x->builds.items[i].folder, err))
			return false;
	return true;
}

/* ---- compilers and flags ---- */

/* The build's first word is the compiler where it has no {cc}. */
static char *with_compiler(struct compare_command_line *x, const char *text, const char *compiler)
{
	if (!compiler || strstr(text, "{cc}"))
		return arena_strdup(&x->arena, text);
	text += strspn(text, " ");
	return arena_printf(&x->arena, "%s%s", compiler, text + strcspn(text, " "));
}

static bool add_matrix(struct compare_command_line *x, struct error *err)
{
	const struct compare_request *r = &x->request;
	char *rest = r->compilers ? arena_strdup(&x->arena, r->compilers) : NULL, *compiler = NULL;
	if (r->compilers && !rest)
		return error_no_memory(err);
	do {
		if (rest && !*(compiler = strsep(&rest, ",")))
			return error_set(err, ERROR_USAGE, "--cc: an empty name in '%s'", r->compilers);
		for (size_t i = 0; i < (r->flags.count ? r->flags.count : 1); i++) {
			const char *flags = r->flags.count ? r->flags.items[i] : NULL;
			struct compare_build *build = new_build(
				x, arena_printf(&x->arena, "%s%s%s", compiler ? compiler : "",
						compiler && flags ? " " : "", flags ? flags : ""));
			if (!build)
				return error_no_memory(err);
			build->flags = flags;
			build->compiler = compiler;
			if (mkdir(build->folder, 0700) != 0)
				return error_set_errno(err, ERROR_IO, errno, "cannot make '%s'", build->folder);
		}
	} while (rest);
	return true;
}

/* ---- building ---- */

/* In how many orders of its files each program is linked: what varies is what the build command itself links. */
static bool draw_link_orders(struct compare_command_line *x, struct error *err)
{
	const struct compare_request *r = &x->request;
	struct random random = {r->seed};
	if (!link_orders_draw(r->build, &random, &x->arena, &x->link_orders, err))
		return false;
	const char *why = x->link_orders.why;
	if (!r->randomise_layout)
		why = "it was not asked for";
	else if (r->regions.count)
		why = "regions are found in one build";
	else if (!why && !strstr(r->build, "{out}"))
		why = "the build command has no {out}";
	if (why)
		x->link_orders.n = 1;
	x->link_orders.why = why;
	return true;
}

/* The last order built is the first: its program stays in its place. */
static bool build_one(struct compare_command_line *x, struct compare_build *build, size_t order,
		      const volatile sig_atomic_t *interrupt, struct error *err)
{
	char *text = with_compiler(x, x->link_orders.commands[order], build->compiler);
	if (!text || !(text = compare_put_in_build(x, text, build)))
		return error_no_memory(err);
	if (interrupt && *interrupt)
		return error_set(err, ERROR_SYSTEM, "interrupted while building");
	if (!hook_run("--build", text, build->directory, true, err))
		return false;
	if (x->link_orders.n == 1)
		return true;
	const char *kept = arena_printf(&x->arena, "%s.%zu", build->out, order);
	if (!kept || !vec_push(&build->orders, kept))
		return error_no_memory(err);
	return link(build->out, kept) == 0 ||
	       error_set_errno(err, ERROR_IO, errno, "cannot keep '%s', which the command of --build was to make",
			       build->out);
}

bool compare_make_builds(struct compare_command_line *x, const volatile sig_atomic_t *interrupt, struct error *err)
{
	const struct compare_request *r = &x->request;
	if (!r->git && !r->build)
		return true;
	if (!make_folder(x, err) || !(r->git ? check_out(x, err) : add_matrix(x, err)))
		return false;
	if (r->build && !draw_link_orders(x, err))
		return false;
	for (size_t i = 0; r->build && i < x->builds.count; i++)
		for (size_t order = x->link_orders.n; order-- > 0;)
			if (!build_one(x, &x->builds.items[i], order, interrupt, err))
				return false;
	return true;
}

void compare_remove_builds(struct compare_command_line *x)
{
	if (x->folder && !folder_remove(x->folder))
		fprintf(stderr, "tare: warning: could not remove all of '%s'\n", x->folder);
	free(x->folder);
	x->folder = NULL;
	for (size_t i = 0; i < x->builds.count; i++)
		vec_free(&x->builds.items[i].orders);
	vec_free(&x->builds);
}
