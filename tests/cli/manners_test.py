"""Manners: what was meant is found or named, pipes end silently, and a default report is as long as a screen."""
import ctypes
import errno
import os
import re
import shutil
import signal
import struct

from cli import *

# ---- a reader that has seen enough ----
for command in (["list", "events"], ["list", "machines", "-v"], ["help"], ["count", "--help"]):
    reader, writer = os.pipe()
    os.close(reader)
    closed = tare(*command, stdout=writer)
    ok(closed.code == -signal.SIGPIPE and closed.err == "",
       f"'tare {' '.join(command)}' into a closed pipe ends by SIGPIPE, without a word", closed)
    os.close(writer)

# ---- words that were nearly right ----
seen = tare("list", "machnes")
ok(seen.code == 2 and "did you mean 'tare list machines'?" in seen.err and seen.out == "",
   "'tare list machnes': the list that was meant is named", seen)
seen = tare("list", "quite-absurd")
ok(seen.code == 0 and "did you mean" not in seen.err and "no events" in seen.err,
   "a word that is nothing's is not taken for a list", seen)
for option, value in (("--repeat", "3"), ("--runs", "3")):
    seen = tare("count", option, value, "--warmup", "0", "--json", "-e", "page-faults", "true")
    ok(seen.code == 0 and json.loads(seen.err)["repetitions"] == 3 and json.loads(seen.err)["executions"] == 3,
       f"{option} and --warmup, as other tools spell them, work", seen)
has_not(tare("count", "--help").out, "--repeat ", "other tools' spellings are not shown in the help")
seen = tare("count", "cd", "/")
ok(seen.code == 3 and "the shell does that itself: sh -c 'cd ...'" in seen.err, "'cd': the shell does that itself", seen)
for program in ("gzip -k x", "./gzip -k x"):
    seen = tare("count", program)
    ok(seen.code == 3 and "leave out the quotes" in seen.err, f"'{program}' in quotes: leave them out", seen)
seen = tare("count", "ls | wc")
ok(seen.code == 3 and "sh -c 'ls | wc'" in seen.err, "a whole line of shell: let a shell read it", seen)

# ---- libpfm4 is loaded for its names alone: it takes longer than the rest of a start ----
for arguments, loads in ((["--version"], False), (["count", "-e", "page-faults", "true"], False), (["count", "-e", "nopmu::NOTHING", "true"], True)):
    seen = tare(*arguments, env=environment(LD_DEBUG="files"))
    ok(("libpfm" in seen.err) == loads and "libc.so" in seen.err,
       f"'tare {' '.join(arguments)}' {'loads' if loads else 'does not load'} libpfm4", seen if len(seen.err) < 500 else None)


def raw_codes_absent():
    """Does the kernel say that no PMU takes raw codes? Then no name of libpfm4 could be counted."""
    attributes = ctypes.create_string_buffer(struct.pack("=IIQQQQQ", 4, 64, 0, 0, 0, 0, 1 | 1 << 5 | 1 << 6), 128)  # disabled, at user level
    libc = ctypes.CDLL(None, use_errno=True)
    fd = libc.syscall({"x86_64": 298}.get(os.uname().machine, 241), attributes, 0, -1, -1, 0)
    if fd >= 0:
        os.close(fd)
    return fd < 0 and ctypes.get_errno() == errno.ENOENT


if raw_codes_absent():
    seen = tare("count", "true", env=environment(LD_DEBUG="files"))
    ok("libpfm" not in seen.err and "libc.so" in seen.err, "without a PMU the standard set does not load libpfm4 either", seen if len(seen.err) < 500 else None)
seen = tare("count", "-e", "nopmu::NOTHING", "true")
ok("libpfm4 knows no PMU" in seen.err, "a PMU that libpfm4 does not know is refused in its words", seen)

# ---- an event's machine is a machine ----
seen = tare("count", "--json", "-e", "r12000::l1d-misses,l1d-misses", "true")
rows = {row["event"]: row for row in json.loads(seen.err)["results"]}
ok(rows["r12000::l1d-misses:u"]["machine"] == "r12000" and rows["r12000::l1d-misses:u"]["value"] > 0 and
   rows["l1d-misses:u"]["machine"] == "host", "NAME::EVENT without --on is counted on that machine, others as before", seen)
seen = tare("count", "-e", "r99::l1d-misses", "true")
ok(seen.code == 0 and "no machine is called 'r99'" in seen.err and "tare list machines" in " ".join(seen.err.split()),
   "an unknown machine is named, and where to find those there are", seen)

# ---- every name finds its event ----
for word, event in (("p5mon", "data-reads"), ("r10000", "l1d-misses"), ("data_read", "data-reads"), ("flops", "pentium-flops"),
                    ("PAPI_TOT_INS", "instructions"), ("p5mon:data_read_miss", "l1d-read-misses"), ("L1-dcache-load-misses", "l1d-load-misses")):
    names = tare("list", "events", "--names", word).out.split()
    ok(event in names, f"'tare list events {word}' finds {event}", names)
has(" ".join(tare("list", "events", "p5mon:data_read_miss").out.split()), "Also named: p5mon:data_read_miss",
    "a row that was found by another name shows that name")

# ---- what can never count on running processes and whole CPUs is not shown ----
for target in (["-p", str(os.getpid())], ["-a"]):
    seen = tare("count", *target, "--for", "0.05", "--json")
    if seen.code == 3 and "not allowed" in seen.err:
        skip(seen.err.strip(), f"{target[0]}: rows that can never count there")
        continue
    rows = json.loads(seen.err)["results"]
    never = [row["event"] for row in rows if row["value"] is None and
             re.search("the engine|machine model|idle time", row["why"])]
    ok(rows and not never, f"{target[0]}: no row of the standard set is one that can never count there", never)
    equal("task-clock" in [row["event"] for row in rows], target[0] == "-p", f"{target[0]}: task-clock is shown where it is one")

# ---- what the repetitions are beside their mean ----
counts = [100, 300, 200, 700, 200]
write("five.json", json.dumps({"tare_recording": 1, "events": [{"name": "instructions", "source": "hw"}],
                               "executions": [{"readings": {"instructions": count}} for count in [1] + counts]}))
five = ["--on", "replay:five.json", "-r", "5", "-o", "-", "-e", "instructions", "true"]
row = parsed(tare("count", "--statistics", "--json", *five).out, "--statistics")["results"][0]
ok((row["min"], row["median"], row["max"]) == (100, 200, 700) and abs(row["sd"] - 55000 ** 0.5) < 1e-9,
   "--statistics: JSON has min, median, max and the sample's standard deviation", row)
lines = tare("count", "--statistics", "--csv", *five).out.splitlines()
columns = dict(zip(lines[0].split(","), lines[1].split(",")))
ok((columns["min"], columns["median"], columns["max"]) == ("100", "200", "700") and columns["sd"].startswith("234.5207"),
   "--statistics: CSV has them as its last columns", lines)
text = tare("count", "--stats", *five).out
has(text, re.compile("^  event +min +median +max +σ$", re.M), "--stats: a table of them")
has(text, re.compile("^  instructions +100 +200 +700 +235$", re.M), "--statistics: the table's digits are the value's")
seen = tare("count", "--csv", *five).out + tare("count", "--json", *five).out
ok("median" not in seen, "without --statistics they are not there", seen)
row = json.loads(tare("count", "--statistics", "--json", "-o", "-", "-e", "page-faults", "true").out)["results"][0]
ok(row["sd"] is None and row["min"] == row["max"] == row["value"], "of one run there is no deviation", row)

# ---- outliers ----
def outliers(counts):
    """Which repetitions are called outliers, 1-based."""
    write("runs.json", json.dumps({"tare_recording": 1, "events": [{"name": "instructions", "source": "hw"}],
                                   "executions": [{"readings": {"instructions": count}} for count in counts[:1] + counts]}))
    seen = tare("count", "--on", "replay:runs.json", "-r", str(len(counts)), "-o", "-", "--json", "-e", "instructions", "true")
    return [row["repetition"] for row in json.loads(seen.out)["outliers"]]


LIKE = [100000 + 137 * (i * 7 % 20) for i in range(20)]
equal(outliers([count + 30000 * (i % 4 == 0) for i, count in enumerate(LIKE)]), [], "five of twenty runs are not outliers: they are a second kind of runs")
equal(outliers([count + 30000 * (i == 6) for i, count in enumerate(LIKE)]), [7], "one of twenty that lies far from the others is")
equal(outliers(LIKE), [], "runs that vary evenly have none")

# ---- a report is as long as a screen, and its numbers come first ----
def notes_of(text):
    """The report's lines behind its last table."""
    return text.rstrip("\n").split("\n\n")[-1].split("\n")


for command in (["true"], ["-r", "5", "true"], ["--on", "model:r12000", "-e", "l1d-misses,instructions", "true"],
                ["--all-repetitions", "-r", "12", "-e", "page-faults,instructions", "sh", "-c", "exit 3"]):
    seen = tare("count", *command)
    lines = seen.err.split("\n")
    ok(lines[1].startswith("tare count: ") and lines[2] == "" and lines[3].startswith("  event "),
       f"{command}: the numbers come directly below the title", seen)
    ok(1 <= len(notes_of(seen.err)) <= 5, f"{command}: at most five lines of notes", notes_of(seen.err))
    has_not(seen.err, re.compile("unverified|nothing of the spread"), f"{command}: no line that never changes")
default, verbose, quiet = (tare("count", *options, "true").err for options in ([], ["-v"], ["-q"]))
ok(default.count("\n") < 24, "a default report fits a screen of 24 lines", default)
# a machine whose PMU has every event of the standard set, with room for all of them and with turns
HW = ("cycles instructions branches branch-misses cache-references cache-misses l1d-load-misses l1i-load-misses llc-load-misses dtlb-load-misses "
      "itlb-load-misses").split()
OS = "task-clock page-faults minor-faults major-faults context-switches cpu-migrations".split()
for name, counters, ran in (("room for all", 11, 1000000), ("turns", 6, 600000)):
    write("pmu.json", json.dumps({"tare_recording": 1, "counters": counters, "after_last": "repeat",
                                  "events": [{"name": event, "source": "hw"} for event in HW] + [{"name": event, "source": "os"} for event in OS],
                                  "executions": [{"enabled_ns": 1000000, "readings": {event: {"count": 0 if event == "major-faults" else 4321 if event in OS else 987654321 // (i + 1),
                                                                                              "running_ns": ran if event in HW else 1000000}
                                                                                      for i, event in enumerate(HW + OS)}}]}))
    pmu = ["count", "--on", "replay:pmu.json", "-o", "-", "--store", "screen.db"]
    for options in ([], ["-r", "5"]):
        what = f"a PMU with {name}, {' '.join(options) or 'one run'}"
        text = tare(*pmu, *options, "true").out
        ok(text.count("\n") < 24, f"{what}: the report fits a screen of 24 lines", text)
        ok(all(re.search(rf"(?m)^  {event} ", text) for event in ("cycles", "instructions", "task-clock", "elapsed-time")), f"{what}: with the numbers that are asked for most", text)
        more = re.search(r"(?m)^  - (\d+) more counts?( and \d+ more notes?)?: -v shows them$", text)
        every = tare(*pmu, *options, "-v", "true").out
        rows = [set(re.findall(r"(?m)^  ([a-z][a-z0-9-]+)(?: |$)", report)) for report in (text, every)]
        ok(more and int(more[1]) == len(rows[1] - rows[0] - {"metric"}),
           f"{what}: how many rows -v has besides is said", text)
        ok(all(re.search(rf"(?m)^  {event}( |$)", every) for event in HW + OS), f"{what}: and -v has them", every)
        again = tare("report", "--store", "screen.db", "@1").out
        ok(again.count("\n") < 24 and "more count" in again, f"{what}: so is the kept run", again)
        os.remove("screen.db")
    rows = [row["event"] for row in parsed(tare(*pmu, "--json", "true").out, name)["results"]]
    ok(not set(HW + OS) - set(rows), "JSON has every row", rows)
    text = tare(*pmu, "-e", ",".join(HW + OS), "true").out
    ok(all(re.search(rf"(?m)^  {event}( |$)", text) for event in HW + OS), "what was asked for is shown, however long that is", text)
text = tare("count", "--on", "model:host", "-o", "-", "true").out
ok(text.count("\n") < 24 and "more count" in text, "of a model, too", text)
ok("Linux" in verbose and "not counted: " in verbose and "Linux" not in default, "-v: the machine, and every reason", verbose)
ok("tare count:" not in quiet and quiet.lstrip("\n").startswith("  event ") and quiet.count("\n\n") == 0 and re.search("(?m)^  [a-z-]+(:u)? +[0-9]", quiet),
   "-q: the numbers alone", quiet)
seen = tare("count", "-e", "instructions,page-faults", "sh", "-c", "exit 3").err
ok(notes_of(seen)[0] == "  ! exit status 3", "what a reader must act on comes first", notes_of(seen))
has(tare("count", "-q", "-e", "page-faults", "sh", "-c", "exit 3").err, "! exit status 3", "-q has warnings")
seen = tare("count", "-q", "-v", "true")
ok(seen.code == 2 and "choose -v (more) or -q (less)" in seen.err, "-q and -v contradict each other", seen)
rows = json.loads(tare("count", "--json", "-e", "page-faults", "true").err)["results"]
equal(rows[0]["trust"], "unverified", "JSON has the trust of each number")

# ---- one unit a column, and points below each other ----
write("times.json", json.dumps({"tare_recording": 1, "events": [{"name": "task-clock", "source": "os"}, {"name": "cpu-clock", "source": "os"}, {"name": "instructions", "source": "hw"}],
                                "executions": [{"readings": {"task-clock": 1400000 + 3000 * i, "cpu-clock": 400000 + 70000 * i, "instructions": 1000 + i}} for i in range(6)]}))
text = tare("count", "--on", "replay:times.json", "-r", "5", "-o", "-", "-e", "task-clock,cpu-clock,instructions", "true").out
rows = [line for line in text.split("\n") if re.match("  (task-clock|cpu-clock|instructions) ", line)]
ok(len(rows) == 3 and " ms " in rows[0] and " ms " in rows[1], "times of a table have one unit", text)
points = {re.search(r"[0-9](\.|(?= ))", row).start() for row in rows}
equal(len(points), 1, "numbers have their points below each other")

# ---- whose rows they are ----
script = ["--per-process", "-o", "-", "-e", "instructions", "sh", "-c", "ls / >/dev/null; (exec cat /dev/null); :"]
text = tare("count", *script).out
shell = os.path.basename(os.path.realpath(shutil.which("sh")))
found = re.findall(r"(?m)^    process \d+ \(([^)]*)\) +[0-9]", text)
equal(sorted(found), sorted([shell, "ls", "cat"]), "--per-process: each row has what its process executed last")
rows = [row for row in parsed(tare("count", "--json", *script).out, "--per-process")["results"] if "pid" in row]
equal(sorted(row["command"] for row in rows), sorted([shell, "ls", "cat"]), "--per-process: so it has in JSON")
lines = tare("count", "--csv", *script).out.splitlines()
at = lines[0].split(",").index("command")
equal([line.split(",")[at] for line in lines[1:2]] + sorted(line.split(",")[at] for line in lines[2:]), [""] + sorted([shell, "ls", "cat"]),
      "--per-process: and in CSV")

# ---- runs that were to be alike, and are not ----
def why_different(*program, **env):
    seen = tare("count", "--reproducible", "-r", "3", "--on", "exact", "-e", "instructions", "--json", "-o", "report.json", "--program-output", "none",
                *program, env=environment(**env))
    report = json.loads(read("report.json")) if seen.code == 0 else {"results": [{"runs": [0]}], "notes": [str(seen)]}
    runs = report["results"][0]["runs"]
    return min(runs) < max(runs), " ".join(report["notes"])


differ, notes = why_different("true")
ok(not differ and "in spite of" not in notes, "--reproducible: of runs that are alike nothing is said", notes)
differ, notes = why_different("sh", "-c", "echo x >>lines; while read -r line; do :; done <lines")
ok(differ and re.search(r"system calls differ: .*read \(\d+ to \d+\)", notes) and "contents of files" in notes,
   "runs that differ: the system calls that do are named, and what the program was given that differs", notes)
differ, notes = why_different("sh", "-c", "i=$(($$ % 1000 + 1)); while [ $i -gt 0 ]; do i=$((i - 1)); done; :")
ok(differ and "they made the same system calls" in notes and "given differs: process or thread ids: no other cause was seen" in notes,
   "runs that differ by what they got: that they made the same calls, and the one thing that differs", notes)
if os.path.exists("/usr/bin/python3"):
    differ, notes = why_different("/usr/bin/python3", "-S", "-c", "print(len({str(i) for i in range(2000)}))", PYTHONHASHSEED=None)
    ok(not differ and "in spite of" not in notes, "python's hashes are random numbers, which are the same in each run", notes)
else:
    skip("there is no /usr/bin/python3", "python's hashes are the same in each run")

# ---- the same on two machines, and of two runs that were kept ----
SAME = ("--store", "same.db", "--reproducible", "-r", "3", "--on", "exact", "-e", "instructions", "--program-output", "none")


def kept_apart(lines, *program):
    with open("lines", "w", encoding="ascii") as file:
        file.write(lines)
    return tare("count", *SAME, "--json", *program)


loop = ("sh", "-c", "while read -r line; do :; done <lines")
first = json.loads(kept_apart("x\n", *loop).err)
ok(any(one["what"] == "contents of files" and re.fullmatch("[0-9a-f]+", one["sum"]) for one in first["given"]), "--json has what the program was given", first.get("given"))
kept_apart("x\nx\n", *loop)
seen = tare("compare", "--store", "same.db", "@1", "@2")
has(" ".join(seen.out.split()), re.compile(r"! @2 was not given the same as @1: (process or thread ids, )?contents of files"), "two kept runs whose counts differ: what they were given that differs")
has(tare("report", "--store", "same.db", "@last").out, "was not given the same as", "the comparison is kept with it")
kept_apart("x\n", "sh", "-c", "while read -r line; do :; done <lines; :")
seen = tare("compare", "--store", "same.db", "@1", "@5")
ok(seen.code == 0 and "was given" not in seen.out, "of another command nothing is said", seen)

# ---- rights ----
WHY = "as somebody without rights: -a names perf_event_paranoid"
with open("/proc/sys/kernel/perf_event_paranoid", encoding="ascii") as file:
    paranoid = int(file.read())
if os.geteuid() != 0 or paranoid < 1:
    skip("needs root, to become nobody, and a kernel.perf_event_paranoid above 0", WHY)
else:
    own = tempfile.mkdtemp(prefix="tare-nobody-")
    os.chmod(own, 0o755)
    shutil.copy(TARE, own + "/tare")
    done_ = subprocess.run([own + "/tare", "count", "-a", "--for", "0.05"], user=65534, group=65534, extra_groups=[], cwd="/",
                           capture_output=True, text=True, env=environment(HOME="/"))
    ok(done_.returncode == 3 and "kernel.perf_event_paranoid is" in done_.stderr and "sysctl kernel.perf_event_paranoid=0" in done_.stderr and
       done_.stdout == "", WHY, done_.stderr)
    shutil.rmtree(own)

done()
