"""`tare count -I`: counts over time."""
import json
import platform
import shutil
import subprocess

from cli import *

if not shutil.which("gcc"):
    skip("no gcc here", "counts over time")
    done()
write("work.c", """\
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
int main(int argc, char **argv) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    double end = now.tv_sec + now.tv_nsec / 1e9 + atof(argv[1]);
    do {
        free(memset(malloc(1 << 20), 1, 1 << 20));
        clock_gettime(CLOCK_MONOTONIC, &now);
    } while (now.tv_sec + now.tv_nsec / 1e9 < end);
    puts("done");
    return 7;
}
""")
subprocess.run(["gcc", "-O1", "work.c", "-o", "work"], check=True)


def lines(*arguments, code=7):
    seen = tare("count", "-I", *arguments)
    ok(seen.code == code, f"-I {' '.join(arguments)}: the program's exit code", seen)
    return [json.loads(line) for line in seen.err.splitlines()], seen


rows, seen = lines("50", "--json", "--on", "perf", "-e", "page-faults:u,task-clock", "./work", "0.5")
report, rows = rows[-1], rows[:-1]
equal(seen.out, "done\n", "the program's output is its own")
ok(len(rows) >= 2 and all(row["kind"] == "interval" for row in rows), "a JSON object on each line, the report on the last", rows)
ok(rows[0]["begin_seconds"] == 0 and all(a["end_seconds"] == b["begin_seconds"] for a, b in zip(rows, rows[1:])), "intervals touch", rows)
for i, result in enumerate(report["results"]):
    equal(sum(row["counts"][i]["value"] for row in rows), result["value"], f"{result['event']}: the intervals' sum is the count")

seen = tare("count", "-I", "100", "-e", "task-clock", "./work", "0.3")
has(seen.err, re.compile(r"^ +until +task-clock$", re.M), "text has headings")
has(seen.err, re.compile(r"^ +0\.\d\d\d s +[\d.]+ [mµn]s$", re.M), "and rows, with readable units")
has(seen.err, re.compile(r"^tare count: ./work 0.3$", re.M), "the report follows")
seen = tare("count", "-I", "100", "-e", "task-clock", "-o", "rows.txt", "./work", "0.3")
has(read("rows.txt"), re.compile(r"^ +until"), "rows go where the report goes")
many = "task-clock,cpu-clock,page-faults,minor-faults,major-faults,context-switches"
has(tare("count", "-I", "100", "-e", many, "./work", "0.2").err, re.compile(r"^ +0\.\d+ s +\S+.*  minor-faults$", re.M),
    "events that do not fit side by side have lines of their own")

pause = subprocess.Popen(["./work", "1.5"], stdout=subprocess.DEVNULL)
rows, _ = lines("100", "--json", "-e", "task-clock", "-p", str(pause.pid), code=0)
pause.wait()
ok(len(rows) >= 3, "a process that already runs", rows)
rows, _ = lines("100", "--json", "-e", "cpu-clock", "-a", "--for", "0.35", code=0)
ok(len(rows) >= 3, "all CPUs", rows)

if platform.machine() == "x86_64":
    rows, _ = lines("100", "--json", "-e", "instructions:u,l1d-misses", "--on", "model:host", "./work", "0.4")
    report, rows = rows[-1], rows[:-1]
    equal(sum(row["counts"][0]["value"] for row in rows), report["results"][0]["value"], "by the engine: the sum is the count")
    ok(all(row["counts"][1]["value"] is None and row["counts"][1]["why"] for row in rows) and report["results"][1]["value"] > 0,
       "a model's count is known at the end, and no interval claims it", rows)

for arguments, words in ((["-I", "5", "true"], "10"), (["-I", "x", "true"], "x"), (["-I", "100", "-r", "3", "true"], "-I does not go with"),
                         (["-I", "100", "--csv", "true"], "no intervals")):
    seen = tare("count", *arguments)
    ok(seen.code == 2 and words in seen.err, f"{' '.join(arguments)}: refused", seen)

done()
