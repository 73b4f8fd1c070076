"""`tare profile --by thread|process`, `--per-thread`, `--per-process`: whose the samples are, by arithmetic."""
import shutil
import subprocess

from cli import *

FACT = "threads and processes are listed apart"
if not shutil.which("gcc"):
    skip("no gcc here", FACT)
    done()
write("tasks.c", """\
#define _GNU_SOURCE
#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>
static char *pages(int n) {
    char *p = mmap(0, n * 4096L, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    madvise(p, n * 4096L, MADV_NOHUGEPAGE);
    return p;
}
__attribute__((noinline)) void left(char *p, int n) { for (int i = 0; i < n; i++) p[i * 4096L] = 1; }
__attribute__((noinline)) void right(char *p, int n) { for (int i = 0; i < n; i++) p[i * 4096L] = 1; }
static void *one(void *x) { prctl(PR_SET_NAME, "one"); left(pages(300), 300); return x; }
static void *two(void *x) { prctl(PR_SET_NAME, "two"); left(pages(200), 200); right(pages(500), 500); return x; }
int main(void) {
    pthread_t thread;
    if (fork() == 0) {
        prctl(PR_SET_NAME, "<b>\\033[1m");
        right(pages(1000), 1000);
        _exit(0);
    }
    wait(0);
    pthread_create(&thread, 0, one, 0), pthread_join(thread, 0);
    pthread_create(&thread, 0, two, 0), pthread_join(thread, 0);
    return 0;
}
""")
subprocess.run(["gcc", "-O1", "-g", "-pthread", "tasks.c", "-o", "tasks"], check=True)
seen = tare("profile", "-e", "page-faults:u@1", "--gaps", "fixed", "-o", "kept", "--by", "thread", "./tasks")
if seen.code == 3 and "cannot sample" in seen.err:
    skip("the kernel's events cannot be sampled here", FACT)
    done()
# beside the pages: stacks, the C library's own data. The threads' are few
MORE = 100
ok(seen.code == 0 and "page-faults:u by thread: " in seen.err, "--by thread", seen)


def near(count, least):
    return least <= count < least + MORE


kept = json.loads(tare("report", "kept", "--format", "json").out)
threads = {row["name"]: row for row in kept["threads"]}
self_of = {name: row["counts"][0]["self"] for name, row in threads.items()}
CHILD = "<b>\033[1m"
equal(sorted(threads), sorted(["tasks", "one", "two", CHILD]), "each thread has a row, with its last name")
ok(near(self_of["one"], 300) and near(self_of["two"], 700) and near(self_of[CHILD], 1000), "the pages that each touched", self_of)
equal(sum(self_of.values()), kept["events"][0]["samples"], "all threads together are all samples")
processes = {row["name"]: row for row in kept["processes"]}
equal({name: row["counts"][0]["self"] for name, row in processes.items()}, {"tasks": self_of["tasks"] + self_of["one"] + self_of["two"], CHILD: self_of[CHILD]},
      "a process has the samples of all its threads, and the name of the first")
equal([threads[name]["process"] for name in ("one", "two")], [processes["tasks"]["process"]] * 2, "threads name their process")
ok(threads[CHILD]["thread"] == threads[CHILD]["process"] != threads["one"]["process"], "a child is a process of its own", threads)
if jsonschema:
    with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../docs/profile.schema.json"), encoding="utf-8") as file:
        jsonschema.validate(kept, json.load(file))
rows = [line for line in tare("report", "kept", "--format", "csv").out.splitlines() if line.startswith(("1,thread,", "1,process,"))]
equal(len(rows), 6, "CSV has a row for each thread and process")

for option, parts in (("--per-thread", 4), ("--per-process", 2)):
    for width in (60, 80, 200):
        text = shown_on_terminal(width, "report", "kept", option)
        ok(text.count("tare profile: ") == 1 + parts and max(map(len, text.splitlines())) <= width, f"{option}, {width} columns: the list, then each apart", text)
        has_not(tare("report", "kept", option).out, "\033", f"{option}: names do not act")
parts = tare("report", "kept", "--per-thread").out.split("tare profile: ")[1:]


def of(name):
    """A thread's own functions: {name: samples}."""
    text = next(part for part in parts[1:] if part.startswith(name + " (thread "))
    return {found[2]: int(found[1].replace(",", "")) for found in re.finditer(r"^ +([\d,]+) +[\d.]+% +[\d.]+%  (left|right) ", text, re.M)}


equal(of("one"), {"left": 300}, "one thread's functions are its own")
equal(of("two"), {"left": 200, "right": 500}, "another's are, too")
equal(of("<b>\\x1b[1m"), {"right": 1000}, "and a child's")
has(tare("report", "kept", "--per-process", "--lines").out, re.compile(r"page-faults:u by line: 1,0\d\d samples"), "lines of each")
for arguments, words in ((["--per-thread", "--by", "process"], "remove --by"), (["--per-thread", "--format", "json"], "JSON and CSV list all threads"), (["--by", "thread", "--annotate"], "list no code"),
                         (["--by", "threads"], "is not function, line, data, thread or process")):
    seen = tare("report", "kept", *arguments)
    ok(seen.code == 2 and words in seen.err, f"{' '.join(arguments)}: refused", seen)
seen = tare("report", "kept", "--by", "process", "--format", "html", "-o", "page.html")
ok(seen.code == 0 and "&lt;b&gt;" in read("page.html") and "\033" not in read("page.html"), "a page of processes: names do not act", seen)
seen = tare("profile", "-r", "2", "--by", "thread", "-e", "page-faults:u@1", "./tasks")
ok(seen.code == 0 and seen.err.count("two (thread ") == 2, "of several runs: each run's threads", seen)
done()
