"""`tare count --by`: where events took place. The program is assembly code: what each function and line executes is known by
counting."""
import json
import platform
import re
import shutil
import subprocess

from cli import *

if platform.machine() != "x86_64":
    skip("the engine is for x86-64", "events are counted by place")
    done()
if not shutil.which("gcc"):
    skip("no gcc here", "events are counted by place")
    done()

# line: source; what a line executes in all stands beside it
write("places.s", """\
	.globl _start, shared
	.type twice, @function
twice:
	mov $1000, %ecx         # 2
1:	dec %ecx                # 2000
	jnz 1b                  # 2000, taken 1998
	ret                     # 2
	.size twice, . - twice
	.type copies, @function
copies:
	lea from(%rip), %rsi    # 1
	lea to(%rip), %rdi      # 1
	mov $64, %ecx           # 1
	rep movsb               # 1, 64 iterations
	ret                     # 1
	.size copies, . - copies
	.type _start, @function
_start:
	call twice              # 1
	call twice              # 1
	call copies             # 1
	call nameless           # 1
	mov $60, %eax           # 1
	xor %edi, %edi          # 1
	syscall                 # 1
	.size _start, . - _start
nameless:
	ret                     # 1
	.bss
	.type from, @object
	.size from, 64
from:	.space 64
	.type to, @object
	.size to, 64
to:	.space 64
""")
TRUTH = {"twice": 4004, "copies": 5, "_start": 7, "nameless": 1}
LINES = {4: 2, 5: 2000, 6: 2000, 7: 2, 11: 1, 12: 1, 13: 1, 14: 1, 15: 1, 19: 1, 20: 1, 21: 1, 22: 1, 23: 1, 24: 1, 25: 1, 28: 1}
subprocess.run(["gcc", "-g", "-nostdlib", "-static", "places.s", "-o", "places"], check=True)
subprocess.run(["strip", "-o", "stripped", "places"], check=True)
HERE = os.path.join(os.getcwd(), "places")
EVENTS = "instructions,conditional-taken,data-reads,rep-iterations,code-lines"


def count(fact, by, *arguments, events=EVENTS, command=("./places",)):
    seen = tare("count", "--on", "exact", "--json", "-o", "report.json", "--by", by, "--by-file", "by.tsv", "-e", events, *arguments, *command)
    ok(seen.code == 0, f"{fact}: exit code 0", seen)
    return parsed(read("report.json"), fact)


def counts(report, event, key):
    """{key of the row: count} of an event, without the rows that have none of it."""
    at = [e["event"] for e in report["breakdown"]["events"]].index(event)
    return {key(row): row["counts"][at] for row in report["breakdown"]["rows"] if row["counts"][at]}


def function_of(row):
    return row["function"]


def adds_up(report, fact):
    """Every event that was broken down: its rows add up to its total, and that is the value in the table."""
    values = {row["event"]: row["value"] for row in report["results"]}
    for at, event in enumerate(report["breakdown"]["events"]):
        if event["total"] is None:
            continue
        total = sum(row["counts"][at] for row in report["breakdown"]["rows"])
        ok(total == event["total"] == values[event["event"]] and "defect" not in event, f"{fact}: {event['event']} adds up",
           (total, event, values))


def table():
    lines = [line.split("\t") for line in read("by.tsv").splitlines()]
    return [dict(zip(lines[0], line)) for line in lines[1:]]


# ---- functions ----
report = count("by function", "function")
equal(counts(report, "instructions:u", function_of), TRUTH, "each function has the instructions that it executed")
equal(counts(report, "conditional-taken:u", function_of), {"twice": 1998}, "taken branches are where the branch is")
equal(counts(report, "rep-iterations:u", function_of), {"copies": 64}, "iterations are where the rep instruction is")
equal(counts(report, "data-reads:u", function_of), {"twice": 2, "copies": 65, "nameless": 1},
      "a string instruction reads once an iteration, a return once")
adds_up(report, "by function")
lines = [e for e in report["breakdown"]["events"] if e["event"] == "code-lines:u"][0]
ok(lines["total"] is None and "cannot be added up over places" in lines["why"], "what has no sum over places is not broken down, with the reason", lines)
ok(every(row["module"] == HERE and row["file"].endswith("places.s") for row in report["breakdown"]["rows"]),
   "rows say the module and the source file", report["breakdown"]["rows"])
with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../docs/man/tare-count.1.scd"), encoding="utf-8") as file:
    listed = re.sub(r"\([^)]*\)|\s", "", re.search(r"columns of \*--by-file\* are: (.*?); with", file.read(), re.S)[1]).split(",")
equal(read("by.tsv").splitlines()[0].split("\t"), listed, "the file has the columns that tare-count(1) lists")
rows = [row for row in table() if row["event"] == "instructions:u"]
equal([row["name"] for row in rows], ["twice", "_start", "copies", "nameless", ""], "the file has them in order, and a last line")
equal((rows[-1]["kind"], rows[-1]["count"], rows[-1]["cumulative_share"]), ("total", "4017", "1"), "that is the total")
equal((rows[0]["kind"], rows[0]["count"]), ("function", "4004"), "kinds and counts are columns")
ok(abs(float(rows[0]["share"]) - 4004 / 4017) < 1e-12 and float(rows[3]["cumulative_share"]) == 1 and
   abs(float(rows[1]["cumulative_share"]) - 4011 / 4017) < 1e-12, "shares are of the total, and add up", rows)

# ---- lines ----
report = count("by line", "line")
equal(counts(report, "instructions:u", lambda row: row["line"]), LINES, "each line has the instructions that were written on it")
equal(counts(report, "rep-iterations:u", lambda row: row["line"]), {14: 64}, "iterations are on the line of the rep instruction")
adds_up(report, "by line")

# ---- text ----
seen = tare("count", "--on", "exact", "-e", EVENTS, "--by", "function", "./places")
has(seen.err, re.compile(r"^ *4,004\( 99\.7%\) +4,004\( 99\.7%\)  twice \(places:places\.s\)$", re.M), "text has count, share and name")
has(seen.err, re.compile(r"^ *7\( +0\.2%\) +4,011\( 99\.9%\)  _start", re.M), "and what was added up so far")
has(seen.err, re.compile(r"^ *4,017\(100\.0%\) +4,017\(100\.0%\)  TOTAL$", re.M), "and the total")
has(" ".join(seen.err.split()), "not broken down: it is known for the whole", "what is not broken down says why")
has_not(seen.err, "WRONG", "nothing is wrong")
standard, verbose = (tare("count", "--on", "exact", *options, "--by", "function", "./places").err for options in ([], ["-v"]))
ok(len(re.findall("(?m)^[a-z-]+:u by function$", standard)) == 1 and re.search(r"(?m)^  - \d+ more events by function: -v shows them, -e chooses$", standard),
   "of the standard set, one event's places are shown", standard)
ok(len(re.findall("(?m)^[a-z-]+:u by function$", verbose)) > 5, "and with -v each event's", verbose)
seen = tare("count", "--on", "exact", "-e", "instructions", "--by", "line", "./places")
has(seen.err, re.compile(r"^ *2,000\( 49\.8%\) +2,000\( 49\.8%\)  places\.s:5 \(places\)$", re.M), "lines are shown as file:line")

# ---- no symbols ----
report = count("a stripped program", "function", command=("./stripped",))
adds_up(report, "a stripped program")
ok(every(re.fullmatch(r"stripped\+0x[0-9a-f]+", row["function"]) for row in report["breakdown"]["rows"]),
   "places of a stripped program are the module and the offset", report["breakdown"]["rows"])
ok(any("stripped: " in note for note in report["breakdown"]["notes"]), "a note says that it is stripped", report["breakdown"]["notes"])

# ---- processes, threads, generated code, real programs ----
report = count("children", "function", command=("sh", "-c", "./places; ./places; :"))
seen_counts = counts(report, "instructions:u", lambda row: (row["module"], row["function"]))
equal({name: seen_counts[HERE, name] for name in TRUTH}, {name: 2 * n for name, n in TRUTH.items()}, "processes are added up")
adds_up(report, "children")
report = count("no children", "function", "--no-children", command=("sh", "-c", "./places; :"))
ok(not any(row["module"] == HERE for row in report["breakdown"]["rows"]), "without children theirs are left out", report["breakdown"]["rows"])
adds_up(report, "no children")
report = count("rows of processes", "function", "--per-process", command=("sh", "-c", "./places; :"))
ok(counts(report, "instructions:u", function_of)["twice"] == 4004, "with --per-process it is still of all of them", report["breakdown"]["rows"][:3])
write("made.c", """
#include <string.h>
#include <sys/mman.h>
int main(void) {
	static const unsigned char code[] = { 0xb8, 7, 0, 0, 0, 0xc3 }; /* mov $7, %eax; ret */
	void *at = mmap(0, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int sum = 0;
	memcpy(at, code, sizeof code);
	for (int i = 0; i < 100; i++)
		sum += ((int (*)(void))at)();
	return sum != 700;
}
""")
subprocess.run(["gcc", "-g", "-O1", "made.c", "-o", "made"], check=True)
report = count("generated code", "function", command=("./made",))
equal(counts(report, "instructions:u", lambda row: row["module"] or row["function"]).get("[anonymous]"), 200, "generated code is anonymous memory's")
adds_up(report, "generated code")

write("inside.h", "static inline __attribute__((always_inline)) int first_of(volatile int *cell) { return *cell; }\n")
write("starts.c", '#include "inside.h"\nint cell;\n__attribute__((noinline)) int starts(void) { return first_of(&cell); }\nint main(void) { return starts(); }\n')
subprocess.run(["gcc", "-g", "-O2", "starts.c", "-o", "starts"], check=True)
report = count("an inlined function", "function", events="instructions", command=("./starts",))
equal([os.path.basename(row["file"]) for row in report["breakdown"]["rows"] if row["function"] == "starts"], ["starts.c"],
      "a function that begins with an inlined one is in its own file")
report = count("a pipeline", "line", events="instructions,basic-blocks,loads,branches,conditional-not-taken,data-write-bytes",
               command=("sh", "-c", "seq 2000 | sort -rn | gzip -c | wc -c"))
adds_up(report, "a pipeline")

# ---- hostile names ----
write("strange.s", '.globl _start\n.type _start, @function\n_start: call "a\\tb\377c"\nmov $60, %eax\nxor %edi, %edi\nsyscall\n.size _start, . - _start\n'
      .encode("latin-1") + b'.type "a\\tb\377c", @function\n"a\\tb\377c": ret\n.size "a\\tb\377c", 1\n')
if subprocess.run(["gcc", "-nostdlib", "-static", "strange.s", "-o", "strange"], stderr=subprocess.DEVNULL).returncode == 0:
    report = count("a name that is no text", "function", command=("./strange",))
    adds_up(report, "a name that is no text")
    ok(len(table()[0]) == 13 and all(len(line.split("\t")) == 13 for line in read("by.tsv").splitlines()), "tabs in names are no columns", read("by.tsv"))
else:
    skip("this assembler takes no such name", "a name that is no text")

# ---- what does not go ----
for arguments, part in (
        (("--by", "color", "true"), "function, line, object or library"),
        (("--by-file", "x", "true"), "--by-file needs --by"),
        (("--by", "line", "--csv", "true"), "--by-file"),
        (("--by", "line", "--compat", "perfex", "true"), "--by-file"),
        (("--by", "line", "-p", "1"), "--by is for programs that tare starts")):
    seen = tare("count", *arguments)
    ok(seen.code == 2 and part in seen.err, f"'{' '.join(arguments)}' is refused", seen)
seen = tare("count", "--on", "perf", "--by", "line", "-e", "page-faults", "true")
ok(seen.code == 3 and "no counts by line" in seen.err and "page-faults" in seen.err,
   "without the engine there are no places: said, with exit code 3, and the report is there", seen)
seen = tare("count", "--on", "exact", "-e", "instructions", "--by", "line", "--by-file", "/nowhere/by", "true")
ok(seen.code == 3 and "/nowhere/by" in seen.err, "a file that cannot be written is an error before anything runs", seen)
report = count("by object", "object")
ok(every(event["total"] is None and "why" in event for event in report["breakdown"]["events"] if event["event"] != "data-reads:u"),
   "what the engine counts by instruction is not counted by object, and says so", report["breakdown"])
reads = [event["event"] for event in report["breakdown"]["events"]].index("data-reads:u")
equal([row["counts"][reads] for row in report["breakdown"]["rows"] if row["object"] == "from"], [64], "reads are: each byte of what is copied is read once")
ok(every(count is None for row in report["breakdown"]["rows"] for at, count in enumerate(row["counts"]) if at != reads),
   "rows have no number of the others", report["breakdown"]["rows"])
seen = tare("count", "--on", "exact", "-r", "2", "-e", "instructions", "--json", "-o", "report.json", "--by", "function", "./places")
report = parsed(read("report.json"), "repetitions")
equal(counts(report, "instructions:u", function_of), TRUTH, "of several executions it is the first one's that is counted")
write("grows.c", """\
#include <stdio.h>
__attribute__((noinline)) int turns(long n) { volatile int s = 0; for (long i = 0; i < n; i++) s += 1; return s; }
int main(void)
{
	FILE *f = fopen("grown", "a");
	fputc('x', f);
	long n = ftell(f);
	fclose(f);
	turns(1000 * n);
	return 0;
}
""")
subprocess.run(["gcc", "-g", "-O1", "-o", "grows", "grows.c"], check=True)
write("grown", "")
ONE_RUN = ("count", "--on", "exact", "-r", "3", "--warm-up", "0", "-e", "instructions", "--by", "function")
seen = tare(*ONE_RUN, "--json", "-o", "report.json", "./grows")
report = parsed(read("report.json"), "runs that differ")
runs, total = report["results"][0]["runs"], report["breakdown"]["events"][0]["total"]
ok(runs[0] < runs[1] < runs[2] and total == runs[0] and report["breakdown"]["repetition"] == 1,
   "the places of several runs that differ are those of run 1, and say so", (runs, total))
ALONE = "from run 1 of 3 only"
ok(any(ALONE in note for note in report["notes"]), "so does a note", report["notes"])
write("grown", "")
seen = tare(*ONE_RUN, "--blocks", "blocks.tsv", "./grows")
has(seen.err, "instructions:u by function, of run 1 of 3\n", "the heading names the run")
has(" ".join(seen.err.split()), f"where the events took place, and the files of blocks and system calls, are {ALONE}", "the note is of the files, too")
seen = tare("count", "--on", "exact", "-e", "instructions", "--by", "function", "./grows")
ok("of run 1" not in seen.err, "of one run nothing is said of runs", seen)
seen = tare("count", "--csv", "-o", "report.csv", "--by", "function", "--by-file", "by.tsv", "--on", "exact", "-e", "instructions", "./places")
ok(seen.code == 0 and len(table()) == 5 and "twice" not in read("report.csv"), "CSV stays as it is, the places are in their file", seen)
seen = tare("count", "--by", "function", "-e", "instructions", "./places")
ok(seen.code == 0 and "twice (places" in seen.err, "the default backend finds who knows the places", seen)

# ---- by library ----
tare("count", "--on", "exact", "-e", "instructions", "--by", "library", "--json", "-o", "report.json", "./stripped")
b = parsed(read("report.json"), "by library")["breakdown"]
equal([(row["library"], row["module"], row["counts"]) for row in b["rows"]], [("stripped", os.path.join(os.getcwd(), "stripped"), [sum(TRUTH.values())])],
      "by library: a static program has all, and needs no names")
modules = {}
for by in ("function", "library"):
    tare("count", "--on", "exact", "--reproducible", "-e", "instructions,loads", "--by", by, "--json", "-o", "report.json", "./grows")
    b = parsed(read("report.json"), f"of a dynamic program, by {by}")["breakdown"]
    modules[by] = {}
    for row in b["rows"]:
        was = modules[by].get(row["module"], [0, 0])
        modules[by][row["module"]] = [a + n for a, n in zip(was, row["counts"])]
    equal([event["total"] for event in b["events"]], [sum(counts) for counts in zip(*modules[by].values())], f"by {by}: the rows add up to the counts")
ok(len(modules["library"]) >= 3, "the program, libc and the loader", modules)
# the program goes on with its file: both runs read it, and the second finds it longer
equal(set(modules["library"]), set(modules["function"]), "by library: the files of the functions")
ok(any("/ld-" in module for module in modules["library"]), "the loader has a row", list(modules["library"]))
seen = tare("count", "--on", "exact", "-e", "instructions", "--by", "library", "./grows")
ok("instructions:u by library\n" in seen.err and "program or library\n" in seen.err and re.search(r"%\)  libc\.so\.6\n", seen.err), "in text a row is the file's name", seen)
seen = tare("count", "--by", "library", "--inclusive", "./grows")
ok(seen.code == 2 and "--inclusive goes with functions and lines" in seen.err, "there are no inclusive counts of libraries", seen)
done()
