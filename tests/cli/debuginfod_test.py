"""`tare profile` of a stripped program whose debug file a debuginfod server has: Python's http.server on 127.0.0.1, as the protocol has it."""
import http.server
import platform
import threading

from cli import *

if platform.machine() != "x86_64" or not shutil.which("gcc") or not shutil.which("objcopy"):
    skip("the engine is for x86-64, and gcc and binutils are needed", "debug files of a server")
    done()
    raise SystemExit
write("served.c", """\
volatile int sink;
static __attribute__((noinline)) void hidden_work(void)
{
	for (int i = 0; i < 100000; i++)
		sink += i;
}
int main(void) { hidden_work(); return 0; }
""")
subprocess.run(["gcc", "-g", "-O1", "-Wl,--build-id", "served.c", "-o", "served"], check=True)
subprocess.run(["objcopy", "--only-keep-debug", "served", "served.debug"], check=True)
subprocess.run(["strip", "served"], check=True)
notes = subprocess.run(["readelf", "-n", "served"], stdout=subprocess.PIPE, text=True).stdout
build_id = re.search(r"Build ID: ([0-9a-f]+)", notes).group(1)
asked = []


class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        asked.append(self.path)
        if self.path != f"/buildid/{build_id}/debuginfo":
            self.send_error(404)
            return
        with open("served.debug", "rb") as file:
            content = file.read()
        self.send_response(200)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *arguments):
        pass


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
threading.Thread(target=server.serve_forever, daemon=True).start()
local = environment(DEBUGINFOD_URLS=f"http://127.0.0.1:{server.server_address[1]}", DEBUGINFOD_CACHE_PATH=os.path.abspath("cache"), http_proxy=None, HTTP_PROXY=None, all_proxy=None,
                    ALL_PROXY=None)
none = environment(DEBUGINFOD_URLS=None)
without = tare("profile", "--on", "exact", "-o", "kept", "./served", env=none)
has(" ".join(without.err.split()), "lines: not known for ", "without lines for most of the counts the report says how to get them")
ok("hidden_work" not in without.err and not asked, "without a server a stripped program has no names of its own, and none is asked", without)
seen = tare("profile", "--on", "exact", "--top", "3", "./served", env=local)
if "hidden_work" not in seen.err and not asked:
    skip("libdebuginfod is not installed", "debug files of a server")
else:
    ok(re.search(r" hidden_work \(served:served\.c:[2-4]\)", seen.err), "with one, its functions have their names and lines", seen)
    ok(f"/buildid/{build_id}/debuginfo" in asked, "the debug file is asked for by its build ID", asked)
    text = tare("report", "--annotate", "kept", env=local).out
    ok(re.search(r" 5  +sink \+= i;", text), "a kept profile finds them as well, and its source", text)
    n = asked.count(f"/buildid/{build_id}/debuginfo")
    ok(n == 1, "and what was fetched is fetched once", asked)
server.shutdown()
done()
