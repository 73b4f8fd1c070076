"""`tare count -I`, --delay, --control: counts over time, and counting that is turned on and off."""
import json
import os
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
    ok(every(row["counts"][1]["value"] is None and row["counts"][1]["why"] for row in rows) and report["results"][1]["value"] > 0,
       "a model's count is known at the end, and no interval claims it", rows)

# ---- on and off ----
write("faults.c", """\
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
static void touch(int pages) {
    char *p = mmap(NULL, pages * 4096L, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    madvise(p, pages * 4096L, MADV_NOHUGEPAGE);
    for (int i = 0; i < pages; i++) p[i * 4096L] = 1;
}
/* for each letter from standard input: so many pages, and an answer */
int main(void) {
    char c;
    while (read(0, &c, 1) == 1) {
        touch(c == 'a' ? 1000 : 300);
        if (write(1, &c, 1) != 1) return 1;
    }
    return 0;
}
""")
subprocess.run(["gcc", "-O1", "faults.c", "-o", "faults"], check=True)
os.mkfifo("commands")
os.mkfifo("answers")
commands, answers = os.open("commands", os.O_RDWR), os.open("answers", os.O_RDWR)


def command(words, answer="ack\n"):
    os.write(commands, words.encode() + b"\n")
    got = b""
    while not got.endswith(b"\n"):
        got += os.read(answers, 1)
    ok(got.decode().startswith(answer), f"{words}: {answer.strip()}", got)


process = subprocess.Popen([TARE, "count", "--no-store", "--on", "perf", "--json", "--begin-off", "--control", "commands,answers",
                            "-e", "page-faults,elapsed-time", "./faults"],
                           stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def work(letter):
    process.stdin.write(letter)
    process.stdin.flush()
    ok(process.stdout.read(1) == letter, f"the program has done {letter.decode()}")


command("ping")
work(b"a")
command("enable")
work(b"b")
command("read")
command("disable")
work(b"a")
command("read")
command("read")
command("enable")
work(b"a")
command("nonsense", "error ")
command("x" * 1000, "error ")
out, err = process.communicate()
rows = [json.loads(line) for line in err.decode().splitlines()]
rows, report = rows[:-1], rows[-1]
faults = [row["counts"][0]["value"] for row in rows]
ok(len(rows) == 4 and 300 <= faults[0] < 320, "what was on before the first read is in its row", rows)
ok(faults[1] is not None and faults[1] < 5, "what was turned off is in no row", rows)
ok(faults[2] is None and rows[2]["counts"][0]["why"] == "counting was off", "all off: not counted, not 0", rows)
ok(1000 <= faults[3] < 1020, "on again", rows)
value = report["results"][0]["value"]
equal(value, sum(f or 0 for f in faults), "the report is the sum of what was on")
ok(any("whole run" in note for note in report["notes"]), "what the operating system accounts for is said to be of the whole run", report["notes"])

seen = tare("count", "--on", "perf", "--json", "--delay", "0.2", "-e", "task-clock", "./work", "0.5")
value = parsed(seen.err, "a delay")["results"][0]["value"]
ok(seen.code == 7 and 0 < value < 0.45e9, "--delay: what came before is not counted", value)
seen = tare("count", "--on", "perf", "--delay", "30", "-e", "task-clock", "true")
has(seen.err, "counting was never on", "a program that ends before: not counted, not 0")
if platform.machine() == "x86_64":
    seen = tare("count", "--on", "exact", "--delay", "0.1", "-e", "instructions:u", "true")
    ok(seen.code == 3 and "cannot be turned on" in seen.err and "--on perf" in seen.err, "the engine counts from begin to end, and says so", seen)
    seen = tare("count", "--delay", "0.1", "-e", "returns:u", "true")
    ok("cannot be turned on" in seen.err or seen.code == 0, "by itself, too, where nothing else counts the event", seen)
os.mkfifo("unused")
for arguments, words in ((["-I", "5", "true"], "10"), (["-I", "x", "true"], "x"), (["-I", "100", "-r", "3", "true"], "-I does not go with"),
                         (["-I", "100", "--csv", "true"], "no intervals"), (["--control", "missing", "true"], "mkfifo missing"),
                         (["--control", "work.c", "true"], "not a FIFO"), (["--begin-off", "true"], "--begin-off needs --control"),
                         (["--control", "unused", "-r", "2", "true"], "--control does not go with"),
                         (["--delay", "0.1", "--region", "main", "./work", "0.1"], "--delay does not go with --region")):
    seen = tare("count", *arguments)
    ok(seen.code == 2 and words in seen.err, f"{' '.join(arguments)}: refused", seen)

done()
