"""`tare profile -r` and `--check`: page faults are deterministic, so that loops can be in step with a gap of them."""
import json
import os
import platform
import shutil
import subprocess

from cli import *

if platform.machine() != "x86_64" or not shutil.which("gcc"):
    skip("no gcc for x86-64 here", "profiles of several runs")
    done()

# On one CPU: each CPU counts its own gaps, so that a program that moves falls out of step.
os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})

# PAGES / 10 times: one page fault in once(), nine in nine()
write("ten.c", """\
#include <stdio.h>
#include <sys/mman.h>
__attribute__((noinline)) void once(char *p) { *p = 1; __asm__ volatile(""); }
__attribute__((noinline)) void nine(char *p)
{
	for (int i = 0; i < 9; i++)
		p[4096 * i] = 1;
}
int main(int n, char **arguments)
{
	char line[64] = "";
	char *p = mmap(0, PAGES * 4096l, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	madvise(p, PAGES * 4096l, MADV_NOHUGEPAGE);
	for (long i = 0; i < PAGES; i += 10) {
		once(p + 4096 * i);
		nine(p + 4096 * (i + 1));
	}
	if (n > 1 && fgets(line, sizeof line, stdin))
		printf("read %s", line);
	return n > 2 ? 0 : 7;
}
""")
for name, pages in (("ten", 20000), ("small", 300)):
    subprocess.run(["gcc", "-g", "-O1", "-static", f"-DPAGES={pages}", "ten.c", "-o", name], check=True)


def profile(*arguments, stdin=b""):
    return tare("profile", "-e", "page-faults:u", "--top", "2", *arguments, stdin=stdin)


def words(text):
    return " ".join(text.split())


seen = profile("-c", "1", "-r", "3", "./small")
if seen.code == 3 and "cannot sample" in seen.err:
    skip("page faults cannot be sampled here", "profiles of several runs")
    done()
ok(seen.code == 7, "the exit status is the first run's", seen)
ok(re.search(r"^ +810 .* nine ", seen.err, re.M) and re.search(r"^ +90 .* once ", seen.err, re.M), "each of three runs has its 270 and 30 faults", seen)
has(words(seen.err), "3 runs: 9", "the heading says how many runs there were")

# the input and the output of runs
seen = profile("-c", "100", "-r", "3", "./ten", "input", stdin=b"a line\n")
equal(seen.out, "read a line\n", "only the first run's output is shown")
write("reads.sh", "read line; test \"$line\" = 'a line' && exit 4; exit 5\n")
seen = profile("-c", "100", "-r", "2", "sh", "reads.sh", stdin=b"a line\n")
ok(seen.code == 4 and "another status" not in seen.err, "each run reads the same input", seen)
write("differs.sh", "test -e been && exit 3; touch been\n")
seen = profile("-c", "10", "-r", "3", "sh", "differs.sh")
ok(seen.code == 0 and "2 of 3 runs ended with another status than the first (0): run 2 with 3" in words(seen.err), "runs that end otherwise are told", seen)

# a loop of ten faults and a gap of ten: all samples are in nine(); at 17 each has its part
seen = profile("--check", "--gaps", "fixed", "-c", "10", "./ten")
text = words(seen.err)
has(text, "6 runs, in turn with gaps of 10 faults and 17 faults", "a check takes two gaps that are co-prime")
ok(re.search(r"nine \(ten:ten\.c:\d+\): the share depends on the gap: 99\.\d% at the first, (89\.\d|90\.0)% at the second", text), "a loop in step with the gap is found", seen)
ok(re.search(r"once \(ten:ten\.c:\d+\): the share depends on the gap: 0\.0% at the first, 1?\d\.\d% at the second", text), "also the row that it hides", seen)
has(text, "2 functions depend on the gap", "their number is told")
rows = re.findall(r"^ +[\d,]+ +[\d.]+% +[\d.]+–[\d.]+% +([\d.]+)% +([\d.]+)% +(yes|no|too few|runs differ) +(\w+)", seen.err, re.M)
ok([(row[2], row[3]) for row in rows] == [("no", "nine"), ("no", "once")], "the listing says it in a column", seen)
by_line = words(profile("--check", "--gaps", "fixed", "-c", "10", "--lines", "./ten").err)
ok("2 lines depend on the gap" in by_line and re.search(r"ten\.c:3 \(ten\): the share depends on the gap", by_line), "lines are checked as well", by_line)

# 7 and 11 have no common factor with the loop: nothing is accused
for gaps, gap in (("fixed", "7"), ("prime", "29"), ("exponential", "31")):
    seen = profile("--check", "--gaps", gaps, "-c", gap, "./ten")
    text = words(seen.err)
    ok("depend" not in text and re.search(r" yes +nine ", seen.err), f"--gaps {gaps} -c {gap}: not in step, nothing is told to depend on the gap", seen)
has(words(profile("--check", "-r", "2", "-c", "7", "./ten").err), "4 runs", "-r is the number of runs at each gap")

# files
tare("profile", "-e", "page-faults:u", "--check", "--gaps", "fixed", "-c", "10", "--as", "folded", "-o", "ten.folded", "./ten")
total = sum(int(line.rsplit(" ", 1)[1]) for line in read("ten.folded").splitlines())
ok(3 * 2000 + 3 * 1176 <= total <= 3 * 2100 + 3 * 1240, "an export has the samples of all runs", total)

# runs that are kept: in a file, and in the store
def contents(name):
    with open(name, "rb") as file:
        return file.read()


def shown(text):
    return "\n".join(line.rstrip() for line in text.splitlines() if "tare profile: " not in line).strip()


seen = profile("--check", "--gaps", "fixed", "-c", "10", "-o", "kept", "./ten")
kept = tare("report", "--top", "2", "kept")
ok(kept.code == 0 and shown(kept.out) == shown(seen.err) and "2 functions depend on the gap" in words(kept.out), "a check that was kept is shown as it was", (seen, kept))
whole = contents("kept")
equal(whole.count(b"TAREPROF"), 6, "the file has a run after another")
last = whole.rindex(b"TAREPROF")
for name, content, note in (("cut", whole[:last + 200], "this profile is incomplete: its end is missing"), ("five", whole[:last], "5 runs, in turn")):
    with open(name, "wb") as file:
        file.write(content)
    kept = tare("report", "--top", "2", name)
    ok(kept.code == 0 and note in words(kept.out), f"of a file without its end what is whole is shown ({name})", kept)
with open("cut", "wb") as file:
    file.write(whole[:last + 12])
kept = tare("report", "cut")
ok(kept.code in (2, 3) and "'cut' is " in kept.err, "a run without its head is refused", kept)
kept = tare("report", "--as", "firefox", "-o", "times.json", "kept")
equal((kept.code, len(json.loads(read("times.json"))["threads"])), (0, 6), "runs without a common time are exported as tasks of their own")
tare("profile", "-e", "page-faults:u", "-c", "7", "-r", "3", "-o", "other", "./small")
tare("profile", "-e", "task-clock:u", "-c", "20000", "-r", "2", "-o", "clock", "./small")
with open("mixed", "wb") as file:
    file.write(contents("other") + contents("clock"))
kept = tare("report", "mixed")
ok(kept.code != 0 and "run 4 did not sample what run 1 did" in kept.err, "runs of other events are refused", kept)
seen = tare("profile", "-e", "page-faults:u", "--top", "2", "-r", "3", "-c", "7", "--store", "runs.db", "./ten")
kept = tare("report", "--top", "2", "--store", "runs.db", "@last")
ok(kept.code == 0 and shown(kept.out) == shown(seen.err) and "3 runs" in kept.out, "the store keeps the runs of a profile", (seen, kept))
seen = tare("list", "runs", "--store", "runs.db")
ok(re.search(r"profile +3 +.*\./ten", seen.out), "and how many there were", seen)

fixed = words(profile("-r", "2", "--gaps", "fixed", "-c", "10", "./ten").err)
has(fixed, "a loop in step with a fixed gap looks the same in all runs", "intervals between runs at one fixed gap are told not to show resonance")

for arguments, message in ((["--check", "--on", "exact", "./ten"], "--check repeats sampling"),
                           (["-r", "2", "--on", "exact", "./ten"], "-r repeats sampling"),
                           (["--check", "-p", "1"], "--check runs a program several times"),
                           (["--check", "-F", "100", "./ten"], "--check compares two gaps"),
                           (["-r", "1", "./ten"], "'1' is not a whole number from 2")):
    seen = tare("profile", *arguments)
    ok(seen.code == 2 and message in seen.err, f"'tare profile {' '.join(arguments)}' is wrong usage", seen)
done()
