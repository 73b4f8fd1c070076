/*
 * Debug files from a debuginfod server: of Python's http.server on 127.0.0.1, that serves a folder as the protocol has it
 * (buildid/ID/debuginfo), and of others that hang, send something else, or are not there. Each server counts what it is asked.
 */
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "symbol/symbol.h"
#include "tap.h"

static char folder[] = "/tmp/tare-debuginfod-XXXXXX";
static pid_t server;
static char port[16];

static const char server_py[] =
	"import http.server, os, sys, time\n"
	"os.chdir(sys.argv[1])\n"
	"class Handler(http.server.SimpleHTTPRequestHandler):\n"
	"    def log_message(self, *args): pass\n"
	"    def do_GET(self):\n"
	"        open('asked', 'a').write(self.path + '\\n')\n"
	"        if self.path.startswith('/hang'): time.sleep(1000)\n"
	"        elif self.path.startswith('/slow'):\n"
	"            self.send_response(200); self.send_header('Content-Length', '1000000'); self.end_headers()\n"
	"            self.wfile.write(b'x' * 10); self.wfile.flush(); time.sleep(1000)\n"
	"        elif self.path.startswith('/garbage'):\n"
	"            self.send_response(200); self.end_headers(); self.wfile.write(b'<html>' * 1000)\n"
	"        elif self.path.startswith('/other'):\n"
	"            self.send_response(200); self.end_headers(); self.wfile.write(open('other.debug', "
	"'rb').read())\n"
	"        elif self.path.startswith('/broken'): self.send_error(500)\n"
	"        else: super().do_GET()\n"
	"server = http.server.ThreadingHTTPServer(('127.0.0.1', 0), Handler)\n"
	"print(server.server_port, flush=True)\n"
	"server.serve_forever()\n";

static const char program_c[] = "int helper(int x) { return x * 3; }\n" /* 1 */
				"int main(int argc, char **argv) { (void)argv; return helper(argc) == 4; }\n";

__attribute__((format(printf, 1, 2))) static bool shell(const char *format, ...)
{
	char command[4096];
	va_list args;
	va_start(args, format);
	vsnprintf(command, sizeof command, format, args);
	va_end(args);
	return system(command) == 0;
}

static const char *in_folder(const char *name)
{
	static char path[8][256];
	static unsigned next;
	char *p = path[next++ % 8];
	snprintf(p, sizeof path[0], "%s/%s", folder, name);
	return p;
}

static void write_text(const char *name, const char *text)
{
	FILE *file = fopen(in_folder(name), "w");
	if (!file || fputs(text, file) < 0 || fclose(file) != 0)
		exit(2);
}

static bool start_server(void)
{
	int out[2];
	if (pipe(out) != 0)
		return false;
	server = fork();
	if (server == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		dup2(out[1], 1);
		execlp("python3", "python3", in_folder("server.py"), folder, (char *)NULL);
		_exit(127);
	}
	close(out[1]);
	ssize_t n = read(out[0], port, sizeof port - 1);
	close(out[0]);
	return n > 0 && atoi(port) > 0 && (port[strcspn(port, "\n")] = '\0', true);
}

/* Requests so far. */
static size_t asked(void)
{
	size_t n = 0;
	FILE *file = fopen(in_folder("asked"), "r");
	for (int c; file && (c = getc(file)) != EOF;)
		n += c == '\n';
	if (file)
		fclose(file);
	return n;
}

/* The user's configuration: a server, and a cache that is empty. */
static void configure(const char *what)
{
	static unsigned number;
	char urls[64], cache[300];
	snprintf(urls, sizeof urls, "http://127.0.0.1:%s/%s", port, what);
	snprintf(cache, sizeof cache, "%s/cache%u", folder, number++);
	setenv("DEBUGINFOD_URLS", urls, 1);
	setenv("DEBUGINFOD_CACHE_PATH", cache, 1);
}

static struct symbols *fresh(bool debuginfod)
{
	struct symbols_options options = {
		.size = sizeof options, .debug_directory = "/no/such/folder", .debuginfod = debuginfod};
	struct symbols *s;
	if (!symbols_new(&options, &s, NULL))
		exit(2);
	return s;
}

static uint64_t helper_offset; /* in each of the programs */

static bool has_names(struct symbols *s, const char *program)
{
	const struct symbol_code *c = symbols_code(s, in_folder(program), helper_offset, NULL);
	return c && !strcmp(c->function, "helper") && c->line == 1;
}

static bool build(void)
{
	return shell("cd %s && gcc -g -O1 -fno-inline -Wl,--build-id=0xabcdef0123456789 program.c -o whole && "
		     "objcopy --only-keep-debug whole whole.debug && "
		     "gcc -g -O1 -fno-inline -Wl,--build-id=0x1122334455667788 program.c -o second && objcopy "
		     "--only-keep-debug second other.debug && "
		     "gcc -g -O1 -Wl,--build-id=none program.c -o nameless && strip whole -o stripped && strip "
		     "second nameless && "
		     "mkdir -p buildid/abcdef0123456789 && cp whole.debug buildid/abcdef0123456789/debuginfo",
		     folder);
}

static void found(void)
{
	configure("");
	struct symbols *s = fresh(true);
	ok(has_names(s, "stripped") && !symbols_trouble(s, in_folder("stripped")),
	   "names and lines of a stripped program come from the server");
	size_t before = asked();
	equal_u64(before, 1, "which is asked once");
	ok(!has_names(s, "second") &&
		   strstr(symbols_trouble(s, in_folder("second")), "no debuginfod server has it"),
	   "of a program that it does not have it gives none, and that is said");
	ok(!has_names(s, "nameless") && strstr(symbols_trouble(s, in_folder("nameless")), "no build ID"),
	   "a program without a build ID is not asked for");
	ok(has_names(s, "whole") && asked() == before + 1, "nor is one that has its names and lines");
	symbols_free(s);
	s = fresh(true);
	ok(has_names(s, "stripped") && asked() == before + 1,
	   "what was fetched is kept: the next time nothing is asked");
	symbols_free(s);
}

static void not_wanted(void)
{
	size_t before = asked();
	configure("");
	struct symbols *s = fresh(false);
	ok(!has_names(s, "stripped"), "where the caller does not want it there are no names");
	symbols_free(s);
	s = NULL;
	ok(symbols_new(NULL, &s, NULL) && !has_names(s, "stripped"), "nor by default");
	symbols_free(s);
	unsetenv("DEBUGINFOD_URLS");
	s = fresh(true);
	ok(!has_names(s, "stripped") && !strstr(symbols_trouble(s, in_folder("stripped")), "debuginfod"),
	   "nor where the user named no server");
	symbols_free(s);
	setenv("DEBUGINFOD_URLS", "  ", 1);
	s = fresh(true);
	ok(!has_names(s, "stripped") && !strstr(symbols_trouble(s, in_folder("stripped")), "debuginfod"),
	   "an empty list is none");
	symbols_free(s);
	equal_u64(asked(), before, "and no server is asked");
}

static void not_usable(const char *what, const char *said, bool ends_it, const char *fact)
{
	size_t before = asked();
	configure(what);
	struct symbols *s = fresh(true);
	const char *trouble;
	bool none = !has_names(s, "stripped");
	trouble = symbols_trouble(s, in_folder("stripped"));
	printf("# %s\n", trouble ? trouble : "no trouble");
	ok(none && trouble && strstr(trouble, said), "%s", fact);
	size_t after = asked();
	has_names(s, "second");
	if (ends_it)
		ok(after == asked() && strstr(symbols_trouble(s, in_folder("second")), said),
		   "and it is not asked for another one");
	else
		ok(after > before, "it was asked");
	symbols_free(s);
}

static unsigned calls;

static bool end_at_once(void *context, const char *module, uint64_t bytes_done, uint64_t bytes_total)
{
	(void)bytes_done, (void)bytes_total;
	calls += context == &calls && strstr(module, "stripped") != NULL;
	return false;
}

static void ended(void)
{
	struct symbols *s;
	configure("hang");
	// clang-format off: a table, a row a line
	struct symbols_options options = {.size = sizeof options,
					  .debug_directory = "/no/such/folder",
					  .debuginfod = true,
					  .progress = end_at_once,
					  .progress_context = &calls};
	// clang-format on
	ok(symbols_new(&options, &s, NULL) && !has_names(s, "stripped") && calls == 1 &&
		   strstr(symbols_trouble(s, in_folder("stripped")), "it was ended"),
	   "the caller is told that it waits, and can end it");
	symbols_free(s);
}

int main(void)
{
	static const char fact[] = "debug files come from a debuginfod server";
	uint64_t address, bytes;
	struct symbols *s;
	if (!mkdtemp(folder))
		return 2;
	write_text("server.py", server_py);
	write_text("program.c", program_c);
	/* of a user's configuration nothing counts here */
	static const char *const variables[] = {
		"http_proxy",         "HTTP_PROXY",          "all_proxy",
		"ALL_PROXY",          "DEBUGINFOD_PROGRESS", "DEBUGINFOD_VERBOSE",
		"DEBUGINFOD_MAXSIZE", "DEBUGINFOD_MAXTIME",  "DEBUGINFOD_HEADERS_FILE"};
	for (size_t i = 0; i < sizeof variables / sizeof *variables; i++)
		unsetenv(variables[i]);
	setenv("DEBUGINFOD_TIMEOUT", "1", 1);
	if (!ok(build() && start_server(), "programs are built and a server runs"))
		return done();
	if (!symbols_new(NULL, &s, NULL) || !symbols_function(s, in_folder("whole"), "helper", &address, &bytes))
		return 2;
	helper_offset = address; /* the code's offset in the file is its address */
	symbols_free(s);
	if (shell("ldconfig -p | grep -q libdebuginfod.so.1")) {
		found();
		not_wanted();
		not_usable("garbage", "is not its debug file", false, "garbage is not taken");
		not_usable("other", "is not its debug file", false, "nor is a file of another build ID");
		not_usable("hang", "sent nothing for too long", true,
			   "a server that hangs is given up after DEBUGINFOD_TIMEOUT");
		not_usable("slow", "sent nothing for too long", true, "so is one that stops in the middle");
		not_usable("broken", "no debuginfod server has it", false, "one that reports an error has none");
		ended();
		kill(server, SIGKILL);
		waitpid(server, NULL, 0);
		not_usable("", "debuginfod: connection refused", true, "a server that is not there has none");
	} else
		skip("libdebuginfod is not installed", fact);
	shell("rm -rf %s", folder);
	return done();
}
