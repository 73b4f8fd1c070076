"""`tare profile --switch-timeout`: sets of events that take turns. page-faults and minor-faults are the same faults here: in turns, each
fault is counted by one of the two or, between two turns, by none."""
import json
import shutil
import subprocess

from cli import *

FACT = "sets of events take turns"
if not shutil.which("gcc"):
    skip("no gcc here", FACT)
    done()
write("faults.c", """\
#include <sys/mman.h>
__attribute__((noinline)) void touch(char *p) { for (int i = 0; i < 64; i++) p[i * 4096] = 1; }
__attribute__((noinline)) void burn(void) { for (volatile int i = 0; i < 20000; i++); }
int main(void) {
    for (int k = 0; k < 1000; k++) {
        char *p = mmap(0, 64 * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        touch(p);
        munmap(p, 64 * 4096);
        burn();
    }
    return 3;
}
""")
subprocess.run(["gcc", "-O1", "-g", "faults.c", "-o", "faults"], check=True)
if tare("profile", "-c", "1", "--gaps", "fixed", "-e", "page-faults", "./faults").code == 3 and \
        "cannot sample" in tare("profile", "-e", "page-faults", "./faults").err:
    skip("the kernel's events cannot be sampled here", FACT)
    done()


def events(file):
    return {e["event"].split(":")[0]: e for e in json.loads(tare("report", "--format", "json", file).out)["events"]}


tare("profile", "-c", "1", "--gaps", "fixed", "-e", "page-faults", "-o", "all", "./faults")
all_faults = events("all")["page-faults"]["total"]
ok(64000 <= all_faults < 66000, "the truth: 1000 times 64 pages, and what a program's start takes", all_faults)

seen = tare("profile", "-c", "1", "--gaps", "fixed", "-e", "page-faults", "-e", "minor-faults", "--switch-timeout", "4", "-o", "sets", "./faults")
ok(seen.code == 3, "the program's exit status is tare's", seen)
text = " ".join(seen.err.split())
has(text, "its set had its turn for ", "the report says for which part of the time")
has(text, ", scaled to all of it: ", "and what was scaled")
both = events("sets")
a, b = both["page-faults"], both["minor-faults"]
ok(0 < a["total"] and 0 < b["total"] and a["total"] + b["total"] <= all_faults + 64, "both sets together count each fault once at most", (a, b, all_faults))
ok(0 < a["part"] < 1 and 0 < b["part"] < 1 and a["part"] + b["part"] <= 1.000001, "their parts of the time are one at most", (a, b))
for e in (a, b):
    ok(e["samples"] + e["lost"] == e["total"], f"{e['event']}: at gap 1 each fault of its turns is a sample, but for those that the kernel drops when a turn ends", e)
    scaled = e["scaled"]
    ok(e["total"] <= scaled["low"] <= scaled["value"] and (scaled["high"] is None or scaled["value"] <= scaled["high"]),
       f"{e['event']}: scaled to what was counted or more, in its interval", e)
    ok(scaled["value"] > e["total"], f"{e['event']}: scaled by its part of the time", e)
    ok(e["turn_samples"] >= 1, f"{e['event']}: a turn has samples", e)

# a set that never had a turn
seen = tare("profile", "-c", "1", "--gaps", "fixed", "-e", "page-faults", "-e", "minor-faults", "--switch-timeout", "3000000", "-o", "one", "./faults")
ok(seen.code == 3, "with a time-out that is longer than the program it runs as well", seen)
has(" ".join(seen.err.split()), "not counted: its set never had a turn", "a set without a turn is not counted")
one = events("one")
ok(one["page-faults"]["part"] <= 1 and abs(one["page-faults"]["scaled"]["value"] - one["page-faults"]["total"]) <= 64,
   "the set that had all of the time has nothing to scale", one)
ok(abs(one["page-faults"]["total"] - all_faults) <= 64, "and counts all", (one, all_faults))
ok(one["minor-faults"]["total"] is None and "scaled" not in one["minor-faults"] and one["minor-faults"]["why"], "the other has a reason, and no number", one)

# three sets, one of two events, and children
seen = tare("profile", "-e", "page-faults,context-switches", "-e", "minor-faults", "-e", "cpu-clock:u", "--switch-timeout", "3", "-o", "three", "sh", "-c", "./faults; ./faults; exit 5")
ok(seen.code == 5, "sets of a program with children", seen)
three = events("three")
ok(every(0 < e.get("part", 0) < 1 for e in three.values()), "each event of a set has its part of the time", three)
ok(sum(three[name]["part"] for name in ("page-faults", "minor-faults", "cpu-clock")) <= 1.000001, "three sets have one time", three)
ok("scaled" not in three["cpu-clock"], "a clock at one level has no count, and nothing is scaled", three)

# ---- with a rate, of a process that runs already, of all CPUs and of one: no fault is in both sets, and the sets share one time ----
SETS = ["-e", "page-faults", "-e", "minor-faults", "--switch-timeout", "4"]


def holds(fact, file, most, of=None):
    """most: so many faults there were, of the function `of` (each a sample) or of all that was sampled."""
    report = json.loads(tare("report", "--format", "json", file).out)
    both = report["events"]
    functions = [row["counts"] for row in report["functions"] if row["function"] == of and row["module"] == os.path.abspath("faults")]
    seen = [sum(counts[i]["self"] for counts in functions) if of else e["total"] or 0 for i, e in enumerate(both)]
    ok(0 < sum(seen) <= most, f"{fact}: each fault is in one set at most", (seen, most, both))
    ok(sum(e.get("part", 0) for e in both) <= 1.000001, f"{fact}: the sets share one time", both)
    for e in both:
        ok("scaled" in e and e["total"] <= e["scaled"]["value"] and e["scaled"]["low"] <= e["scaled"]["value"] if e["total"] is not None else e["why"],
           f"{fact}: {e['event']} is scaled to no less than was counted, or had no turn and says so", e)


seen = tare("profile", "-F", "2000", *SETS, "-o", "rate", "./faults")
ok(seen.code == 3 and "2,000 a second (the kernel adjusts the gap)" in " ".join(seen.err.split()), "sets with a rate", seen)
holds("-F", "rate", all_faults + 64)

os.mkfifo("orders")
os.mkfifo("answers")
to, back = os.open("orders", os.O_RDWR), os.open("answers", os.O_RDWR)
running = subprocess.Popen(["sh", "-c", "read line; exec ./faults"], stdin=subprocess.PIPE)
attached = start("profile", "-c", "1", "--gaps", "fixed", *SETS, "-o", "attached", "--control", "fifo:orders,answers", "-p", str(running.pid))
os.write(to, b"ping\n")
equal(os.read(back, 100), b"ack\n", "a process that runs already is sampled from here on")
running.stdin.write(b"go\n")
running.stdin.close()
seen = finish(attached)
ok(seen.code == 0 and running.wait() == 3, "and it goes on until the process ends", seen)
holds("-p", "attached", all_faults + 64)

cpu = min(os.sched_getaffinity(0))
for target, name in ((["-a"], "all"), (["-C", str(cpu)], "cpu")):
    fact = " ".join(target)
    seen = tare("profile", "-c", "1", "--gaps", "fixed", *target, *SETS, "-o", name, "./faults", preexec_fn=lambda: os.sched_setaffinity(0, {cpu}))
    if "perf_event_paranoid" in seen.err:
        skip("whole CPUs may not be sampled here", f"{fact}: sets of events")
        continue
    equal(seen.code, 3, f"{fact}: the exit status of the program that runs beside")
    holds(fact, name, 64000, of="touch")

for words, why in ((["-e", "page-faults"], "two sets of events or more"), (["-e", "page-faults", "-e", "page-faults"], "an event is in one set"),
                   (["-e", "page-faults", "-e", "minor-faults", "-r", "2"], "does not go with -r and --check"),
                   (["-e", "loads", "-e", "stores", "--on", "exact"], "does not go with exact")):
    seen = tare("profile", "--switch-timeout", "5", *words, "./faults")
    ok(seen.code == 2 and why in seen.err, f"{' '.join(words)} is refused: {why}", seen)
seen = tare("profile", "--switch-timeout", "0", "-e", "page-faults", "-e", "minor-faults", "./faults")
ok(seen.code == 2, "a time-out of 0 is refused", seen)
done()
