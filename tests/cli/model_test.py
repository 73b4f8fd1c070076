"""`tare count --on model:NAME`: closed forms of the kernels, several machines at once, what a machine has not, and how it is marked.

Arguments: the built tare, the folder of the built kernels. The closed forms are differences between two sizes of a kernel that have as
many digits: what a start costs is in both.
"""
import glob
import json
import os
import platform
import re

from cli import *

if platform.machine() != "x86_64":
    skip("the engine is for x86-64", "a model counts a program")
    done()
KERNELS = os.path.abspath(sys.argv[2]) if not os.path.isabs(sys.argv[2]) else sys.argv[2]


def count(on, events, *program, options=()):
    """The report of one run, its rows' totals by name without the level, and how the command ended."""
    if os.path.exists("report.json"):
        os.remove("report.json")
    seen = tare("count", "--on", on, "--json", "-o", "report.json", *options, "-e", events, *program)
    report = json.loads(read("report.json")) if os.path.exists("report.json") else {"results": []}
    totals = {}
    for row in report["results"]:
        totals.setdefault(row["event"].removesuffix(":u"), row)
    return report, totals, seen


def values(on, events, *program, options=("--reproducible",)):
    _, rows, seen = count(on, events, *program, options=options)
    if any(row["value"] is None for row in rows.values()):
        ok(False, f"all of {events} are counted on {on}", [row.get("why") for row in rows.values()] + [seen])
    return {name: row["value"] for name, row in rows.items()}


def timed_events():
    """Of the table: what lasts, and what says that it is a matter of time, where a model is asked for it."""
    found = []
    for path in sorted(glob.glob(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../data/events/*.events"))):
        for stanza in re.split(r"^\[", read(path), flags=re.M)[1:]:
            keys = dict(re.findall(r"^(\w+) = (.*)", stanza, re.M))
            if "model" in keys["counted_by"].split() and "model" not in keys and (keys.get("kind") == "duration" or keys.get("no_model", "").startswith("a timing event")):
                found.append(stanza.split("]")[0])
    return found


def kernel(name):
    return os.path.join(KERNELS, name)


def grows(name, small, large, events, on="model:r12000"):
    """By how much the events grow from one size of a kernel to another."""
    a, b = (values(on, events, kernel(name), str(n)) for n in (small, large))
    return {event: b[event] - a[event] for event in a if a[event] is not None and b[event] is not None}


# ---- closed forms ----
# Korn's array on the R12000: L1D 32 KB, two-way, lines of 32 bytes, 8 elements of 4 bytes: one miss each; L2 lines of 128 bytes
seen = grows("array", 100000, 900000, "l1d-misses,l1d-loads,l1d-stores,l2-data-misses,l1d-writebacks,tlb-misses,instructions")
equal(seen.get("l1d-misses"), 100000, "the array of 800,000 more elements misses L1D once for 8 of them")
equal((seen.get("l1d-loads"), seen.get("l1d-stores")), (800000, 800000), "each is read once and written once")
equal(seen.get("l2-data-misses"), 25000, "and L2 once for 32")
equal(seen.get("l1d-writebacks"), 100000, "every line that leaves L1D was written and is written back")
equal(seen.get("instructions"), 6 * 800000, "beside them the exact events are what they are")
ok(abs(seen.get("tlb-misses", 0) - 800000 * 4 / 8192) < 1, "the TLB, of pairs of pages of 4 KiB, misses once for 8 KiB", seen)
for small, large, more in ((2000, 2001, 1), (2001, 2008, 0), (2008, 2009, 1), (8000, 8800, 100)):
    equal(grows("array", small, large, "l1d-misses")["l1d-misses"], more,
          f"from {small} to {large} elements there are {more} more lines: ⌈n/8⌉")
seen = grows("loads", 1000, 3000, "l1d-misses,l1d-loads,l1i-load-misses,dtlb-misses")
equal((seen["l1d-misses"], seen["l1i-load-misses"], seen["dtlb-misses"], seen["l1d-loads"]), (0, 0, 0, 8 * 2000),
      "reading the same line again misses nothing")
# Each page is written at its start: L1D's way is 16 KB, so that 4 pages fill different sets and 2 of each set stay
seen = grows("pages", 1000, 3000, "l1d-misses,tlb-misses,l1d-store-misses")
equal((seen["l1d-misses"], seen["l1d-store-misses"], seen["tlb-misses"]), (2000, 2000, 1000),
      "a page written for the first time is a miss, and of its TLB pair the half of one")
seen = grows("calls", 1000, 3000, "branches,returns,return-misses,l1d-misses,conditional-branches")
equal((seen["returns"], seen["return-misses"], seen["l1d-misses"]), (2000, 0, 0), "a call and its return are predicted by the return stack")

# Safford's loop on the Pentium: its branch is in the BTB from its first time on, which was taken; the last time is not
seen = grows("loop", 1000, 3000, "p5mon:btb_hits,p5mon:taken_branch_or_btb_hit,btb-misses,branch-misses", "model:pentium")
equal((seen["p5mon:btb_hits"], seen["p5mon:taken_branch_or_btb_hit"], seen["btb-misses"], seen["branch-misses"]), (2000, 2000, 0, 0),
      "2000 more turns of a loop are 2000 BTB hits and no more misses")
seen = values("model:pentium", "btb-hits,taken-branches-or-btb-hits,btb-misses,taken-branches", kernel("loop"), "1000")
ok(seen["taken-branches-or-btb-hits"] == seen["btb-hits"] + seen["btb-misses"] >= seen["taken-branches"] and seen["btb-misses"] > 0,
   "a taken branch that the BTB lacks is a miss; taken or hit are these and the hits", seen)

# ---- the access stream by itself ----
for n in (1, 8, 9, 1000):
    seen = values("exact", "misaligned-accesses,line-crossing-accesses,line-crossing-loads,line-crossing-stores,page-crossing-accesses",
                  kernel("misaligned"), str(n))
    crossing = n * 8 // 64
    equal((seen["misaligned-accesses"], seen["line-crossing-accesses"], seen["line-crossing-loads"], seen["line-crossing-stores"],
           seen["page-crossing-accesses"]), (2 * n, 2 * crossing, crossing, crossing, 2 * (n * 8 // 4096)),
          f"{n} reads and writes at odd addresses: so many are misaligned, cross lines and pages")
report, _, _ = count("exact", "misaligned-accesses,instructions", kernel("misaligned"), "10")
equal({row["source"] for row in report["results"]}, {"exact"}, "they are exact, not modelled")

# ---- several machines, and again ----
events = "l1d-misses,l1i-load-misses,l2-misses,branch-misses,tlb-misses,l1d-writebacks"
# (the engine's own memory lies where the program's does not: its libraries are at the same addresses whatever is modelled)
for program in ([kernel("array"), "70000"], ["ls", "/usr"]):
    alone = {machine: values("model:" + machine, events, *program) for machine in ("r12000", "host", "power3")}
    both = values("model:r12000,model:host,power3", events + ",instructions", *program)
    for machine, counts in alone.items():
        equal({event: both.get(f"{machine}::{event}") for event in counts}, counts,
              f"{machine} in a run of three counts what it counts alone ({os.path.basename(program[0])})")
ok(both["r12000::l1d-misses"] != both["host::l1d-misses"] > 0, "the machines are not the same one", both)
ok("instructions" in both and not any("::instructions" in name for name in both), "what is exact is counted once, for all of them", both)
program = ["ls", "/usr"]
equal(values("model:r12000", events, *program), values("model:r12000", events, *program), "the same program counts the same again")
report, rows, seen = count("model:r12000,host", "host::l1d-misses,l1d-misses", *program)
equal([row["event"] for row in report["results"]], ["host::l1d-misses:u", "r12000::l1d-misses:u"],
      "an event can be asked of one machine by name, and is shown once")
_, rows, _ = count("model:r12000,host", "l3-misses", *program)
ok(rows["host::l3-misses"]["value"] is not None and "third-level" in rows["r12000::l3-misses"].get("why", ""),
   "what one of the machines lacks is not counted there, and on the other it is", rows)

# ---- how it is marked ----
report, rows, seen = count("model:r12000", "l1d-misses,instructions", *program)
parsed(read("report.json"), "a modelled result")
row = rows["l1d-misses"]
equal((row["source"], row.get("machine"), row["trust"], row["level"]), ("model", "r12000", "unverified", "user"),
      "a modelled row has its source, machine, level and no verdict")
ok("machine" not in rows["instructions"] and rows["instructions"]["source"] == "exact", "an exact one has no machine", rows)
text = " ".join(report["notes"])
for part in ("model r12000: MIPS R12000", "user mode", "kernel", "its own core", "cold", "4 KiB"):
    has(text, part, f"the remarks have '{part}'")
seen = tare("count", "--on", "model:r12000", "-e", "l1d-misses", "true")
has(seen.err, re.compile(r"l1d-misses:u +[0-9,]+ +±\? +model"), "the table shows the source")
seen = tare("count", "--on", "model:r12000", "--csv", "-o", "-", "-e", "l1d-misses", "true")
lines = seen.out.splitlines()
ok(lines[0].endswith(",machine,region,entries,exits,gross,overhead,bound,evidence,at_least,command") and ",r12000,,,," in lines[1], "CSV has the machine in its column", lines)
_, rows, _ = count("model:r12000", "r10000:Primary data cache misses,p5mon:data_read_or_write_miss,PAPI_L1_DCM,l1d-misses",
                   kernel("array"), "500")
equal(len({row["value"] for row in rows.values()}), 1, "the papers' and PAPI's names are the same event")

seen = tare("count", "--on", "model:r12000", "--compat", "perfex", "-a", kernel("array"), "5000")
line = [line for line in seen.err.splitlines() if line.startswith("Modelled on 'r12000'")]
ok(line and "Primary data cache misses" in line[0] and "Graduated loads" not in line[0],
   "perfex's listing, which has no source column, names what is modelled in a line", seen)
seen = tare("count", "--on", "model:pentium", "--compat", "p5mon", "-Fdata_read_miss=yes", "-Finstructions_executed=yes",
            kernel("array"), "5000")
line = [line for line in seen.err.splitlines() if line.startswith("Modelled on 'pentium'")]
ok(line and "data_read_miss" in line[0] and "instructions" not in line[0], "so does run_p5mon's report", seen)
cold = values("model:host", "l1d-misses,l1i-load-misses,l2-misses", kernel("array"), "50000")
both = values("model:host", "l1d-misses,l1i-load-misses,l2-misses,branch-misses,tlb-misses", kernel("array"), "50000")
equal({name: both[name] for name in cold}, cold, "what a run counts of the caches does not depend on what else it counts")
cold = values("model:r12000", "l1d-compulsory-misses,l1d-capacity-misses,l1d-conflict-misses,l1d-misses", kernel("array"), "50000")
equal(cold["l1d-misses"], sum(cold.values()) - cold["l1d-misses"], "classes of misses add up to the misses")
ok(cold["l1d-compulsory-misses"] == cold["l1d-misses"], "a sweep's are all first accesses", cold)

# ---- metrics ----
report, _, _ = count("model:r12000", "l1d-misses,l1d-accesses", *program, options=("--reproducible", "-m", "l1d-miss-rate"))
by_name = {row["event"].removesuffix(":u"): row for row in report["results"] + report["metrics"]}
rate = by_name["l1d-miss-rate"]
ok(rate["source"] == "model" and rate.get("machine") == "r12000" and
   abs(rate["value"] - 100 * by_name["l1d-misses"]["value"] / by_name["l1d-accesses"]["value"]) < 1e-9,
   "a rate over modelled events is modelled", rate)
report, _, _ = count("model:r12000,host", "instructions", *program, options=("-m", "l1d-miss-rate"))
equal([(row["event"], row.get("machine")) for row in report["metrics"]],
      [("r12000::l1d-miss-rate:u", "r12000"), ("host::l1d-miss-rate:u", "host")], "with several machines there is one of each")
report, _, _ = count("model:r12000", "instructions", *program, options=("-m", "l1-l2-bandwidth", "--several-runs"))
ok(report["metrics"][0]["value"] is None and "counts of a modelled machine by the time of this one" in report["metrics"][0]["why"],
   "a modelled count per this machine's time is no rate", report["metrics"])

# ---- threads, processes ----
threads = "import threading\nfor i in range(3):\n t=threading.Thread(target=lambda: sum(range(20000)))\n t.start()\n t.join()"
report, _, seen = count("model:r12000", "l1d-misses,branch-misses", sys.executable, "-c", threads, options=("--per-thread",))
for event in ("l1d-misses:u", "branch-misses:u"):
    rows = [row for row in report["results"] if row["event"] == event]
    ok(len(rows) >= 4 and all(row["value"] is not None and row["machine"] == "r12000" for row in rows) and
       rows[0]["value"] == sum(row["value"] for row in rows[1:]), f"each thread has {event} of its own, and they add up", rows)
has(" ".join(report["notes"]), "threads:", "with threads on a coherent machine it is said how they see each other")
report, _, _ = count("model:r12000", "l1d-misses", "sh", "-c", "/bin/true; /bin/true", options=("--per-process",))
rows = report["results"]
ok(len(rows) == 4 and rows[0]["value"] == sum(row["value"] for row in rows[1:]) and min(row["value"] for row in rows[1:]) > 100,
   "each process has a cold machine of its own, and they add up", rows)
report, _, _ = count("model:r12000", "l1d-misses,instructions", "sh", "-c", "umask; exec /bin/true", options=("--per-thread",))
for event in ("l1d-misses:u", "instructions:u"):
    rows = [row["value"] for row in report["results"] if row["event"] == event]
    ok(len(rows) == 2 and rows[0] == rows[1], f"what a thread does after an exec is its own, too: {event}", rows)
report, rows, _ = count("model:r12000", "l1d-misses,instructions", "sh", "-c", "kill -KILL $$")
ok(rows["l1d-misses"]["value"] is None and "not exact" in rows["l1d-misses"]["why"],
   "what is not exact gives no modelled counts either, with the reason", rows)

# ---- auto ----
report, rows, _ = count("auto", "l1d-misses,instructions,l2-misses", *program)
if rows["l1d-misses"]["source"] == "hw":
    skip("this machine has a PMU", "auto takes from the model of this machine what only a model can count")
else:
    equal((rows["l1d-misses"]["source"], rows["l1d-misses"].get("machine"), rows["instructions"]["source"], report["executions"]),
          ("model", "host", "exact", 1), "auto takes from the model of this machine what only a model can count, in the same execution")
    has(" ".join(report["notes"]), "modelled:", "and says that it is modelled")
    seen = tare("count", "-v", "true")
    ok(" model\n" not in seen.err and "--on model:host" in seen.err, "a default set has nothing modelled, and says how to get it", seen)
report, rows, _ = count("auto", "r12000::l1d-misses", *program)
row = rows.get("r12000::l1d-misses:u") or rows["r12000::l1d-misses"]
ok((row["value"] or 0) > 0 and (row["source"], row["machine"]) == ("model", "r12000"),
   "an event that names another machine is counted on that one", rows)
seen = tare("count", "--on", "perf", "-e", "r12000::l1d-misses", "true")
ok("not counted" in seen.err and "model" in seen.err, "nor does a hardware counter pass for a modelled machine's", seen)

# ---- errors ----
for on, part in (("model", "no machine is named"), ("model:", "no machine is named"), ("model:r1200", "r12000"), ("model:r12000,", "no machine is named"),
                 ("model:r12000,r12000", "twice"), ("model:./nowhere.conf", "nowhere.conf")):
    seen = tare("count", "--on", on, "-e", "l1d-misses", "true")
    ok(seen.code == 2 and part in seen.err, f"--on {on} is wrong usage, and it is said how", seen)
seen = tare("count", "--on", "model:r12000", "-e", "l1d-misses", "-p", str(os.getpid()))
ok(seen.code == 3 and "starts" in seen.err, "a running process cannot be modelled", seen)
seen = tare("count", "--on", "model:r12000,host", "--compat", "perfex", "true")
ok(seen.code == 2 and "one machine" in seen.err, "the old tools' reports are of one machine", seen)
_, rows, _ = count("model:r12000", "l3-misses,cycles,paired-instructions,tsc", "true")
for event, part in (("l3-misses", "third-level"), ("cycles", "timing"), ("paired-instructions", "timing"), ("tsc", "neither")):
    ok(rows[event]["value"] is None and part in rows[event]["why"], f"{event} is not modelled, with the reason", rows[event])
# events that need time: all of the table, and what each backend says of them
reasons = {on: {row["event"]: row["why"] or "" for row in json.loads(tare("list", "events", "--json", "--on", on).out)["events"]}
           for on in ("auto", "perf", "exact", "model:pentium", "model:r10000")}
TIMED = timed_events()
ok(len(TIMED) > 20, "the table has timing events", TIMED)
for on in ("exact", "model:pentium", "model:r10000"):
    equal([e for e in TIMED if "needs the pipeline model" not in reasons[on][e]], [], f"on {on}, every event that needs timing says that it needs the pipeline model")
for on in ("auto", "perf"):
    absent = ("for other CPUs", "do not have it", "no hardware counters")
    left = {e: reasons[on][e] for e in TIMED if any(part in reasons[on][e] for part in absent)}
    ok(left, f"on {on}, some of them are not this machine's", reasons[on])
    equal([e for e, why in left.items() if "needs the pipeline model" not in why], [], f"on {on}, so does every one that this machine's counters do not have")
conditionals = [e for e in reasons["perf"] if e.startswith("store-conditionals")]
for on in ("model:r10000", "model:pentium"):
    equal([e for e in conditionals if "x86-64 code, which has none" not in reasons[on][e]], [], f"on {on}, store conditionals say why they are not counted")
machine = write("one.conf", "[machine]\ntitle = One\nsource = a test\n[L1I]\nsize = 1K\nways = 1\nline = 32\nnext = memory\nsource = a test\n"
                            "[L1D]\nsize = 1K\nways = 1\nline = 64\nnext = memory\nsource = a test\n")
equal(values("model:" + machine, "l1d-misses", kernel("array"), "8000").keys(), {"l1d-misses"}, "a machine file of one's own is a machine")
equal(grows("array", 2000, 8000, "l1d-misses", "model:" + machine)["l1d-misses"], 375, "and counts by its own lines: 16 elements each")

# ---- lists ----
seen = tare("list", "events", "--on", "model:r12000", "--json")
listed = {row["event"]: row for row in json.loads(seen.out)["events"]}
ok(listed["l1d-misses"]["source"] == "model" and listed["instructions"]["source"] == "exact" and not listed["l3-misses"]["works"],
   "the list of events shows what a machine counts, and by whom")
has(tare("doctor").out, "modelled counts", "the doctor looks at the models too")
done()
