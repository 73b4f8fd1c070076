"""`tare explain`: time by cause. Arithmetic is checked against `tare count`'s own counts and planted costs, exactly. What is measured
is checked for which cause comes first, in programs that are made of one, with planted costs; no fact is about how long anything takes."""
import csv
import io
import json
import os
import platform
import re
import subprocess
import sys

PROGRAM = os.path.abspath(sys.argv[2])  # importing cli changes the folder

from cli import *

with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../docs/explanation.schema.json"), encoding="utf-8") as file:
    EXPLANATION = json.load(file)
if jsonschema:
    jsonschema.Draft202012Validator.check_schema(EXPLANATION)

if platform.machine() != "x86_64":
    skip("the engine's tables are for x86-64", "time is explained")
    done()

# One of each, all different, so that no cost can stand in another's place.
COSTS = {"instruction": (1, 2, 3), "divide": (5, 7, 11), "square-root": (6, 8, 12), "l1-hit": (1, 2, 4), "l2-hit": (10, 14, 18), "l3-hit": (30, 40, 50),
         "memory": (60, 100, 140), "tlb-hit": (3, 9, 10), "tlb-walk": (20, 33, 40), "branch-miss": (15, 17, 19), "page-fault": (400, 500, 900),
         "system-call": (80, 90, 100)}


def table(name, costs, **more):
    return write(name, f"[costs]\nmachine = planted\ntitle = planted\nsource = made up\n" + "".join(
        f"\n[cost]\nof = {of}\nunit = ns\nminimum = {least}\ntypical = {typical}\nmaximum = {most}\nsource = made up\n" for of, (least, typical, most) in costs.items()))


def explain(*arguments, fact, code=0, **more):
    seen = tare("explain", "--json", "-o", "-", "--program-output", "none", *arguments, **more)
    if not ok(seen.code == code and seen.out, f"{fact}: done", seen):
        return None
    result = json.loads(seen.out, parse_constant=no_constant)
    if jsonschema:
        errors = [f"{list(e.absolute_path)}: {e.message}" for e in jsonschema.Draft202012Validator(EXPLANATION).iter_errors(result)]
        ok(not errors, f"{fact}: obeys the schema", "\n".join(errors))
    else:
        skip("python3-jsonschema is not installed", f"{fact}: obeys the schema")
    return result


def causes(result):
    return {row["cause"]: row for row in result["causes"]}


planted = table("planted.costs", COSTS)

# ---- exact arithmetic on declared machines ----
for machine, levels in (("lab", 1), ("r10000", 2), ("zen4", 3)):
    memory = {1: "l1d-misses", 2: "l2-misses", 3: "l3-misses"}[levels]
    events = ["instructions", "fp-divides", "fp-square-roots", "l1d-hits", "l1d-misses", "l2-hits", "l2-misses", "l3-hits", "l3-misses", "dtlb-misses",
              "dtlb-walks", "itlb-walks", "branch-misses", "system-calls"]
    r = explain("--on", f"model:{machine}", "--costs", planted, PROGRAM, "branches", "2000", fact=machine)
    seen = json.loads(tare("count", "--on", f"model:{machine}", "--json", "-o", "-", "--program-output", "none", "-e", ",".join(events), PROGRAM, "branches", "2000").out)
    counts = {row["event"].split(":")[0]: row["value"] for row in seen["results"]}
    # what the loader does depends on where things are, by a few: each explanation is checked against its own counts
    rows = causes(r)
    own = {part["event"]: part["count"] for row in r["causes"] for part in row["parts"]}
    ok(abs(own["instructions:u"] - counts["instructions"]) <= 0.01 * counts["instructions"] and abs(own[f"{memory}:u"] - counts[memory]) <= 0.1 * counts[memory],
       f"{machine}: the counts are those of tare count", (own, counts))
    for at, bound in enumerate(("least", "typical", "most")):
        cost = {name: row[at] for name, row in COSTS.items()}
        expected = {
            "computing": own["instructions:u"] * cost["instruction"],
            "L1 cache": own["l1d-hits:u"] * cost["l1-hit"],
            "memory": own[f"{memory}:u"] * cost["memory"],
            "TLB": own["dtlb-misses:u − dtlb-walks:u"] * cost["tlb-hit"] + (own["dtlb-walks:u"] + own["itlb-walks:u"]) * cost["tlb-walk"],
            "mispredictions": own["branch-misses:u"] * cost["branch-miss"],
            "system calls": own["system-calls:u"] * cost["system-call"],
        }
        if levels > 1:
            expected["L2 cache"] = own["l2-hits:u"] * cost["l2-hit"]
        if levels > 2:
            expected["L3 cache"] = own["l3-hits:u"] * cost["l3-hit"]
        equal({name: round(rows[name][bound] * 1e9, 3) for name in expected}, {name: round(ns, 3) for name, ns in expected.items()},
              f"{machine}: counts x {bound} costs are the times, to the nanosecond")
        equal(round(r["sum"][bound] * 1e9, 3), round(sum(expected.values()), 3), f"{machine}: their sum")
    ok(every(rows[name]["typical"] is None and rows[name]["why"] for name in
             ["page faults", "sleeping", "not running"] + (["L3 cache"] if levels < 3 else [])), f"{machine}: what it has not is not known, and says why", rows)
    ok(r["measured"] is None and r["unexplained_seconds"] is None, f"{machine}: nothing is compared with a time of this machine", r)

# ---- the papers' own tables ----
r = explain("--on", "model:pentium", PROGRAM, "calls", "10", fact="pentium")
rows = causes(r)
part = rows["memory"]["parts"][0]
equal((round(part["cost_seconds"]["least"] * 66e6, 6), part["cost_seconds"]["typical"], round(part["cost_seconds"]["most"] * 66e6, 6)), (10, None, 19),
      "the Pentium's memory has the latencies of Safford's Table 5.5, and no typical one")
has(part["cost_source"], "Table 5.5", "with its table")
ok(rows["mispredictions"]["typical"] is None and "no cost" in rows["mispredictions"]["why"] and rows["mispredictions"]["parts"][0]["count"] > 0,
   "a misprediction has a count and no cost: no paper gives one", rows["mispredictions"])
r = explain("--on", "model:r12000", PROGRAM, "calls", "10", fact="a machine without costs")
ok(every(row["typical"] is None for row in r["causes"]) and any("no costs" in note for note in r["notes"]), "a machine without costs has counts, and says so", r["notes"])

# ---- what is made of one cause has that cause first ----
# Costs as planted: every other operation is free, so that what comes first is decided by what was counted or measured.
FREE = {name: (0, 0, 0) for name in COSTS}


def first(result):
    return max((row for row in result["causes"] if row["typical"] is not None), key=lambda row: row["typical"])["cause"]


# 60,000 lines of 64 bytes are 3.84 MB; the R10000's L2 holds 1 MB of them, in lines of 128 bytes
r = explain("--on", "model:r10000", "--costs", planted, PROGRAM, "memory", "60000", fact="a chase through memory")
rows = causes(r)
equal(first(r), "memory", "a chase through more than L2 holds: memory first")
ok(rows["memory"]["parts"][0]["count"] >= 4 * 60000 * (1 - 1 / 3.6), "at least what L2 cannot hold is missed", rows["memory"])
r = explain("--on", "model:zen4", "--costs", table("branchy.costs", dict(COSTS, **{"branch-miss": (100, 100, 100)})), PROGRAM, "branches", "100000", fact="random branches")
equal(first(r), "mispredictions", "random branches: mispredictions first")
ok(0.4 * 100000 <= causes(r)["mispredictions"]["parts"][0]["count"] <= 0.6 * 100000, "a half of them is mispredicted", causes(r)["mispredictions"])

# 70 % one cause, by construction: half of 500,000 random branches are predicted wrongly, which no predictor can better; they shall take 7 ms,
# and all instructions together 3 ms. The costs' bounds are 5 % apart, as far as the half may be off. So many branches, because the program's
# start mispredicts 2,600 to 2,800 more, as its environment has it: 1 % of the half.
N = 500000
seen = json.loads(tare("count", "--on", "exact", "--json", "-o", "-", "--program-output", "none", "-e", "instructions:u", PROGRAM, "branches", str(N)).out)
each, wrong = 3e6 / seen["results"][0]["value"], 7e6 / (N / 2)
built = dict(FREE, **{"instruction": (each, each, each), "branch-miss": (0.95 * wrong, wrong, 1.05 * wrong)})
r = explain("--on", "model:zen4", "--costs", table("built.costs", built), PROGRAM, "branches", str(N), fact="70 % mispredictions by construction")
rows = causes(r)
ok(rows["mispredictions"]["least"] <= 7e-3 <= rows["mispredictions"]["most"], "the 7 ms of mispredictions are within their bounds", rows["mispredictions"])
ok(abs(rows["computing"]["typical"] - 3e-3) <= 0.01 * 3e-3, "the 3 ms of instructions are found", rows["computing"])
ok(rows["mispredictions"]["least"] / r["sum"]["least"] <= 0.7 <= rows["mispredictions"]["most"] / r["sum"]["most"], "and so are the 70 %", r["sum"])

r = explain("--costs", table("faults.costs", dict(FREE, **{"page-fault": (1, 1, 1)})), PROGRAM, "faults", "3000", fact="first touches")
rows = causes(r)
ok(3000 <= rows["page faults"]["parts"][0]["count"] < 3500 and rows["page faults"]["parts"][0]["source"] == "os", "3,000 pages are 3,000 faults", rows["page faults"])
equal(round(rows["page faults"]["typical"] * 1e9), rows["page faults"]["parts"][0]["count"], "each takes what it costs")

free = table("free.costs", FREE)
r = explain("--costs", free, PROGRAM, "calls", "50000", fact="system calls")
rows = causes(r)
ok(rows["system calls"]["parts"][0]["count"] >= 50000, "50,000 calls are counted", rows["system calls"])
ok(abs(rows["system calls"]["typical"] - r["measured"]["system_seconds"]) < 1e-9, "what the kernel took beyond faults is system calls'", (rows["system calls"], r["measured"]))

for cause, name, amount in (("sleeping", "sleeping", "300"), ("locks", "waiting for locks", "300"), ("reading", "input/output", "300")):
    r = explain("--costs", free, PROGRAM, cause, amount, fact=cause)
    rows = causes(r)
    ok(rows[name]["typical"] and rows[name]["from"] == "measurement", f"{cause}: {name} is seen", (rows[name], r["measured"]))
    if cause == "sleeping":
        ok(rows[name]["typical"] >= 0.9 * 0.3, "at least as long as was slept, but for the looks' interval", rows[name])
        ok(every(rows[other]["typical"] == 0 or rows[other]["typical"] is None for other in ("waiting for locks", "input/output")), "nothing else was waited for", rows)
    if cause == "locks":
        ok(r["measured"]["threads"] == 3, "three threads are seen", r["measured"])
        ok(rows[name]["typical"] > 1.2 * rows["sleeping"]["typical"], "two wait while one sleeps", rows)

# ---- compared with the measured time ----
for name, factor in (("cheap", 0.001), ("dear", 100000)):
    scaled = {of: tuple(ns * factor for ns in row) for of, row in COSTS.items()}
    r = explain("--costs", table(f"{name}.costs", scaled), PROGRAM, "branches", "50000", fact=f"{name} costs")
    total, more, less = r["measured"]["total_seconds"], r["overlap_seconds"], r["unexplained_seconds"]
    ok(min(more, less) == 0 and abs(r["sum"]["typical"] - total - (more - less)) < 1e-9 * max(total, r["sum"]["typical"]),
       f"{name} costs: what is left is unexplained, what is too much is overlap", r)
    if factor > 1:
        ok(more > 0, f"{name} costs are too much", r)
    equal(round(causes(r)["computing"]["typical"] * 1e9 / factor), causes(r)["computing"]["parts"][0]["count"] * 2, f"{name} costs: no cause is scaled to fit")
text = tare("explain", "--costs", "dear.costs", "--program-output", "none", PROGRAM, "branches", "50000").err
has(text, re.compile(r"they\s+overlap"), "the text says that causes overlap")
has(text, re.compile(r"Even\s+the\s+least\s+costs"), "and that even the least costs are too much")

# ---- by place ----
for by, name in (("function", "branches"), ("line", "next_random")):
    r = explain("--by", by, "--on", "model:zen4", "--costs", planted, PROGRAM, "branches", "30000", fact=f"by {by}")
    sums = {}
    for place in r["places"]:
        for cause, seconds in place["causes"].items():
            sums[cause] = sums.get(cause, 0) + seconds
    rows = causes(r)
    # the executions are other ones, and the loader's work is not quite the same in each
    for cause in ("computing", "L1 cache", "L2 cache", "memory", "TLB", "mispredictions"):
        ok(abs(sums[cause] - rows[cause]["typical"]) <= 0.02 * rows[cause]["typical"], f"by {by}: the places' times of {cause} add up to the cause's", (sums[cause], rows[cause]))
    ok(r["places"] == sorted(r["places"], key=lambda place: -place["seconds"]), f"by {by}: the longest first", r["places"][:5])
    if by == "function":
        ok(r["places"][0]["name"] in ("branches", "next_random"), "the loop comes first", r["places"][:3])
    else:
        ok(r["places"][0]["file"].endswith("explain.c"), "a line of the source comes first", r["places"][:3])
# ---- lines in order ----
# What is in order costs 1 ns, what is not 1000: of each sweep's lines three are not in order (the first two, and where it begins anew), so that
# its place has about 1 ns for each. Zen 4's L2 holds 16,384 lines of 64 bytes and not L1; L3 holds 131,072 and not L2; the R10000's memory all.
ORDERED = dict(FREE, **{"l2-hit": (1000,) * 3, "l3-hit": (1000,) * 3, "memory": (1000,) * 3, "l2-stream": (1,) * 3, "l3-stream": (1,) * 3, "memory-stream": (1,) * 3})
ordered = table("ordered.costs", ORDERED)
for machine, cause, event, lines, least in (("zen4", "L2 cache", "l2-hits", 8000, 3 * 8000), ("zen4", "L3 cache", "l3-hits", 60000, 3 * 60000),
                                            ("r10000", "memory", "l2-misses", 60000, 4 * 60000 // 2), ("lab", "memory", "l1d-misses", 60000, 4 * 60000)):
    for way in ("up", "down"):
        r = explain("--by", "function", "--on", f"model:{machine}", "--costs", ordered, PROGRAM, way, str(lines), fact=f"{machine}, {cause}: {way}")
        parts = {part["event"]: part for part in causes(r)[cause]["parts"]}
        apart, others = parts[f"{event}-in-order:u"], parts[f"{event}:u \u2212 {event}-in-order:u"]
        ok(apart["count"] >= least * 0.99, f"{machine}, {cause}, {way}: a sweep's lines are in order", parts)
        equal(round(causes(r)[cause]["typical"] * 1e9, 3), round(apart["count"] + 1000 * others["count"], 3), f"{machine}, {cause}, {way}: each has its cost")
        place = next(place for place in r["places"] if place["name"] == f"go_{way}")
        ok(least * 0.99 * 1e-9 <= place["causes"][cause] <= 2 * apart["count"] * 1e-9, f"{machine}, {cause}, {way}: by place, too", place)
r = explain("--by", "function", "--on", "model:r10000", "--costs", ordered, PROGRAM, "memory", "60000", fact="a chase has no order")
place = next(place for place in r["places"] if place["name"] == "chase")
# 60,000 lines of 64 bytes in 30,000 of L2, which holds 8,192: at most that share of the 240,000 loads hits
ok(place["causes"]["memory"] >= 0.65 * 240000 * 1000e-9, "a chase's lines are not in order: each costs a full miss", place)
r = explain("--by", "object", "--on", "model:r10000", "--costs", planted, PROGRAM, "memory", "30000", fact="by object")
ok(r["places"][0]["kind"] == "mapping" and r["places"][0]["causes"]["memory"] > 0, "the mapping that is chased comes first", r["places"][:3])

# ---- forms ----
seen = tare("explain", "--csv", "-o", "-", "--costs", planted, "--on", "model:zen4", "--program-output", "none", PROGRAM, "calls", "5")
rows = list(csv.DictReader(io.StringIO(seen.out, newline="")))
equal([row["cause"] for row in rows if row["kind"] == "cause"], [row["cause"] for row in r["causes"]], "the CSV has a line for each cause")
part = next(row for row in rows if row["kind"] == "event" and row["name"] == "l2-hits:u")
equal(round(float(part["seconds"]) * 1e9, 3), round(float(part["count"]) * 14, 3), "and for each event, with count and cost")
ok(every(row["seconds"] == "" and row["why"] for row in rows if row["kind"] == "cause" and row["cause"] == "sleeping"), "what is not known is empty there", rows)
seen = tare("explain", "--by", "function", "--costs", planted, "--on", "model:zen4", "--program-output", "none", PROGRAM, "branches", "20000")
ok(max(map(len, seen.err.splitlines())) <= 80, "no line is longer than 80 columns without a terminal", [line for line in seen.err.splitlines() if len(line) > 80])
has_not(seen.err, re.compile(r" $", re.M), "no line ends in spaces")
# on terminals of several widths
for width, by in ((60, "object"), (80, "function"), (200, "function")):
    text = shown_on_terminal(width, "explain", "--by", by, "--costs", planted, "--on", "model:zen4", "--program-output", "none", PROGRAM, "branches", "20000")
    lines = text.splitlines()
    ok(lines and max(map(len, lines)) <= width, f"on {width} columns no line is longer", [line for line in lines if len(line) > width])
    has(text, re.compile("^  computing .*█", re.M), f"on {width} columns a bar stands beside a cause")

# ---- the program keeps what is its own ----
seen = tare("explain", "--costs", free, PROGRAM, "exit", "7")
equal(seen.code, 7, "the exit status is the program's")
seen = tare("explain", "--costs", free, PROGRAM, "echo", stdin=b"one line\n")
equal(seen.out, "one line\n", "its output is shown once, its input is given to both executions")
seen = tare("explain", "--costs", free, "--program-output", "none", PROGRAM, "echo", stdin=b"one line\n")
equal(seen.out, "", "or not at all")
seen = tare("explain", "--on", "model:lab", "--costs", free, PROGRAM, "echo", stdin=b"one line\n")
equal(seen.out, "one line\n", "likewise when only a model runs it")

# ---- what is wrong is said ----
for arguments, code, message in (
        ((), 2, "no program is given"),
        (("--on", "model:lab,zen4", "true"), 2, "several machines"),
        (("--on", "model:vax", "true"), 2, "vax"),
        (("--costs", "nothere.costs", "true"), 3, "nothere.costs"),
        (("--costs", "vax", "true"), 3, "no costs are known of the machine 'vax'"),
        (("--costs", write("bad.costs", "[costs]\n"), "true"), 2, "machine is missing"),
        (("--by", "module", "true"), 2, "not one of function, line, object"),
        (("--costs", planted, "./nothere"), 3, "nothere"),
):
    seen = tare("explain", *arguments)
    ok(seen.code == code and message in seen.err and seen.out == "", f"explain {' '.join(arguments)}: code {code}, '{message}'", seen)

# ---- costs that were measured ----
seen = tare("calibrate", "--costs", "--quick", "-o", "here.costs")
ok(seen.code == 0 and "Saved as" in seen.out, "costs of this machine are measured and saved", seen)
text = read("here.costs")
for operation in ("instruction", "divide", "square-root", "l1-hit", "branch-miss", "page-fault", "system-call"):
    has(text, f"of = {operation}\n", f"{operation} has a cost")
has(text, re.compile(r"\[end\]\nsum = [0-9a-f]{16}\n\Z"), "the file ends with its sum")
r = explain(PROGRAM, "branches", "1000", fact="with the costs that were kept", env=environment(TARE_COSTS=os.path.abspath("here.costs")))
equal(r["costs_from"], "measured on this machine", "explain takes them")
ok(causes(r)["computing"]["typical"] > 0, "and has a time", causes(r)["computing"])
write("broken.costs", text.replace("typical = ", "typical = 1", 1))
r = explain(PROGRAM, "branches", "1000", fact="kept costs that were changed", env=environment(TARE_COSTS=os.path.abspath("broken.costs")))
ok(any("sum is not that of the file" in note and "just now" in note for note in r["notes"]), "damaged ones are not used: it measures anew, and says so", r["notes"])
r = explain(PROGRAM, "branches", "1000", fact="no costs", env=environment(TARE_COSTS="none"))
ok(r["costs_of"] is None and any("switched off" in note for note in r["notes"]) and causes(r)["computing"]["parts"][0]["count"] > 0, "without costs there are counts", r["notes"])
for more in (("-e", "cycles"), ("--processes", "3"), ("--", "true")):
    seen = tare("calibrate", "--costs", *more)
    ok(seen.code == 2 and "--costs" in seen.err, f"calibrate --costs {' '.join(more)} is refused", seen)
# ---- costs that nobody stated: the papers have none of the R10000's misses ----
seen = tare("explain", "--on", "model:r10000", "-o", "-", "--program-output", "none", "ls", "/usr/bin")
text = " ".join(seen.out.split())
ok("computing" in text and "\u2264 100 %" in text and "memory no cost ?" in text, "what has no cost is named, and shares are upper bounds", seen)
has(text, "L2 cache, memory, TLB, mispredictions: there were such events, and no cost of them is known: their time is missing above", "... and a note says so")
has_not(text, "all causes", "... and the sum is not called that of all")

# ---- counts of hardware counters: a PMU's, recorded ----
HARDWARE = {"instructions:u": 5000000, "fp-divides:u": 1000, "fp-square-roots:u": 100, "l1d-hits:u": 2000000, "l1d-misses:u": 43500, "l2-hits:u": 40000, "l2-misses:u": 3500,
            "l3-hits:u": 3000, "l3-misses:u": 500, "dtlb-misses:u": 700, "dtlb-walks:u": 200, "itlb-walks:u": 10, "branch-misses:u": 60000, "system-calls:u": 30}
ROUND = {"instruction": (0.2, 0.1, 0.3), "divide": (5, 4, 6), "square-root": (7, 6, 8), "l1-hit": (0, 0, 0), "l2-hit": (4, 3, 5), "l3-hit": (20, 10, 30), "memory": (100, 80, 200),
         "tlb-hit": (3, 2, 4), "tlb-walk": (30, 20, 40), "branch-miss": (6, 5, 7)}
write("pmu.json", json.dumps({"tare_recording": 1, "after_last": "repeat", "events": [{"name": name, "source": "hw"} for name in HARDWARE], "executions": [{"readings": HARDWARE}]}))
r = explain("--on", "replay:pmu.json", "--costs", table("round.costs", {of: (least, typical, most) for of, (typical, least, most) in ROUND.items()}), "true", fact="recorded counters of a PMU")
rows = causes(r)
parts = [part for row in r["causes"] for part in row["parts"] if part["event"] in HARDWARE]
ok(len(parts) >= 8 and every(part["source"] == "hw" and part["count"] == HARDWARE[part["event"]] and part["machine"] is None for part in parts), "each count is the counter's, and says so", parts)
# the levels of the machine here decide which event is memory's; three where it says nothing of its caches
here = next(row for row in json.loads(tare("list", "machines", "--json").out)["machines"] if row["machine"] == "host")
by_name = {row["name"]: row for row in here["caches"]}
at, depth = next((row["name"] for row in here["caches"] if row["holds"] != "instructions"), None), 0
while at:
    at, depth = by_name[at]["next"], depth + 1
depth = min(depth or 3, 3)
expected = {"computing": ("instructions:u", "instruction"), "memory": (("l1d-misses:u", "l2-misses:u", "l3-misses:u")[depth - 1], "memory"),
            "mispredictions": ("branch-misses:u", "branch-miss")}
expected |= {f"L{level} cache": (f"l{level}-hits:u", f"l{level}-hit") for level in range(2, depth + 1)}
for cause, (event, operation) in expected.items():
    part = next((part for part in rows[cause]["parts"] if part["event"] == event), None)
    seconds = part and [round(part["seconds"][which] * 1e12) for which in ("typical", "least", "most")]
    equal(seconds, [round(HARDWARE[event] * ns * 1000) for ns in ROUND[operation]], f"{cause}: the counter's count times its cost, to the picosecond")
ok(r["measured"] and abs(r["sum"]["typical"] + r["unexplained_seconds"] - r["overlap_seconds"] - r["measured"]["total_seconds"]) < 1e-9, "the sum is compared with the measured time", r["sum"])
seen = tare("explain", "--on", "replay:pmu.json", "--costs", "round.costs", "-o", "-", "true")
has(" ".join(seen.out.split()), "Counts: the hardware's counters. Costs: a table", "the text says that the counts are the hardware's")
has_not(seen.out, "a model of the program's own accesses", "... and nothing of a model")

# ---- a program that a signal ends ----
for signal_, code, told in (("TERM", 143, True), ("SEGV", 139, False)):
    seen = explain("-q", "--costs", table("ended.costs", COSTS), "sh", "-c", f"kill -{signal_} $$", fact=f"a program that SIG{signal_} ends", code=code)
    equal(any("of different work" in note for note in (seen or {"notes": []})["notes"]), told, "that counts and time may be of different work is said where the signal comes from outside" if told else "and not where it is the program's own fault")
done()
