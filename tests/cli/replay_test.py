"""Reports of recorded readings, so that every number is known beforehand: multiplexing, repetitions, what cannot be
counted, and the papers' formats to the digit."""
import json

from cli import *

MS = 1000000


def recording(name, events, executions, **more):
    write(name, json.dumps({"tare_recording": 1, "events": events, "executions": executions, **more}))
    return f"replay:{name}"


def hw(*names):
    return [{"name": name, "source": "hw"} for name in names]


def readings(*executions):
    return [{"readings": values} for values in executions]


def count(on, *arguments, code=0):
    seen = tare("count", "--on", on, "-o", "-", "--program-output", "none", *arguments)
    ok(seen.code == code, f"'count {' '.join(arguments)}': exit code {code}", seen)
    return seen


def as_json(on, *arguments, fact, code=0):
    return parsed(count(on, "--json", *arguments, code=code).out, fact)


# ---- one run, counters enough ----
on = recording("plain.json", hw("cycles", "instructions"), readings({"cycles": 1234567890, "instructions": 2469135780}))
text = count(on, "-e", "cycles,instructions", "-m", "ipc", "true").out
has(text, re.compile(r"^  cycles +1,234,567,890 +±\? +hw$", re.M), "a count has thousands separators and its source")
has(text, re.compile(r"^  ipc +2\.000 .*hw$", re.M), "a metric is derived from the counts")
r = as_json(on, "-e", "cycles,instructions", "-m", "ipc", "true", fact="hardware counts")
equal([e["value"] for e in r["results"]], [1234567890, 2469135780], "JSON has the counts in full")
ok(r["metrics"][0]["value"] == 2 and r["results"][0]["source"] == "hw" and r["results"][0]["share_running"] == 1,
   "with their source, all of the time", r)

# ---- one run, too few counters ----
on = recording("shared.json", hw("cycles", "instructions", "branches"), [{
    "enabled_ns": 100 * MS,
    "readings": {"cycles": {"count": 5000000, "running_ns": 50 * MS},
                 "instructions": {"count": 9000000, "running_ns": 50 * MS},
                 "branches": {"count": 1000000, "running_ns": 99990000}}}], counters=2)
r = as_json(on, "-e", "cycles,instructions,branches", "true", fact="multiplexed counts")
cycles, _, branches = r["results"]
ok(cycles["source"] == "scaled" and cycles["share_running"] == 0.5 and r["executions"] == 1,
   "what shared a counter is scaled, with its share, and the program ran once", r)
ok(cycles["value"] == 10000000 and cycles["low"] >= 5000000 and
   (cycles["high"] is None or cycles["high"] >= 10000000),
   "the value is projected, the interval does not go below what was counted", cycles)
ok(any("--several-runs" in note for note in r["notes"]), "a note says what --several-runs would give", r["notes"])
text = count(on, "-e", "cycles,instructions,branches", "true").out
has(text, re.compile(r"^  event .* ran +source", re.M), "the table has a column for the share")
has(text, re.compile(r"^  cycles +10,000,000 .* 50 % +scaled", re.M), "with the share in percent")
has(text, re.compile(r"99\.99 % +scaled"), "nearly always is not always")

# ---- several runs ----
five = [201902, 201902, 201902, 201902, 201907]
misses = [269, 269, 269, 269, 271]
# the warm-up, then 5 repetitions
on = recording("figure44.json", hw("l1d-read-misses:u", "cycles:u"),
               readings({"l1d-read-misses:u": 999, "cycles:u": 999},
                        *[{"l1d-read-misses:u": miss, "cycles:u": value} for miss, value in zip(misses, five)]))
write("figure44.parms", "(p5mon\n command = true;\n repetitions = 5;\n output_all_results = yes;\n"
      " output_file = figure47;\n data_read_miss = yes;\n count_clocks = yes;\nend)\n")
text = count(on, "-P", "figure44.parms", "--compat", "p5mon").out
has(text, """Results (for 5 repetitions with a 95% confidence level):
  Event: Data Read Miss
    rep 0:          269
    rep 1:          269
    rep 2:          269
    rep 3:          269
    rep 4:          271
    Average:     269.4 +/- 0.9 (0.341%)
  Event: Clock cycles
    rep 0:       201902
    rep 1:       201902
    rep 2:       201902
    rep 3:       201902
    rep 4:       201907
    Average:     201903.0 +/- 2.3 (0.001%)
""", "p5mon: the report of Figure 4.4, to the digit")
has(text, "(program executed 5 times, ", "p5mon: the warm-up is not among the executions")
equal(read("figure47"), """# run_p5mon results file
# Results (5 repetitions, 95% confidence level):
# Event Repetition Value [conf.int] [percentage]
0x3 0 269
0x3 1 269
0x3 2 269
0x3 3 269
0x3 4 271
0x3 -1 269.4 0.9 0.341
count_clocks 0 201902
count_clocks 1 201902
count_clocks 2 201902
count_clocks 3 201902
count_clocks 4 201907
count_clocks -1 201903.0 2.3 0.001
""", "p5mon: the file of Figure 4.7, to the digit")
text = count(on, "-P", "figure44.parms", "-Foutput_all_results=no", "--compat", "p5mon").out
has(text, "confidence level):\n  Data Read Miss: 269.4 +/- 0.9 (0.341%)\n  Clock cycles: 201903.0 +/- 2.3 (0.001%)\n",
    "p5mon: the summary of Figure 4.3, to the digit")
r = as_json(on, "-P", "figure44.parms", fact="a parameter file")
ok(r["results"][0]["event"] == "l1d-read-misses:u" and r["results"][0]["runs"] == misses,
   "in tare's own report a parameter's event has the name of what was counted", r["results"])
half_width = (r["results"][0]["high"] - r["results"][0]["low"]) / 2
# t(0.975, 4) = 2.7764, s = sqrt(4 * 0.16 + 2.56) / 2 = 0.894427, n = 5
ok(abs(half_width - 2.7764451 * 0.8944272 / 5 ** 0.5) < 1e-6, "and the right interval, wider than the thesis's", r)

# 5 events on 2 counters: 3 groups, 3 repetitions, 1 warm-up
names = ["cycles", "instructions", "branches", "branch-misses", "cache-misses"]
values = {name: 1000 * (i + 1) for i, name in enumerate(names)}
on = recording("groups.json", hw(*names), readings(*[values] * 10), counters=2)
r = as_json(on, "-r", "3", "-e", ",".join(names), "true", fact="groups of events")
ok(r["passes"] == 3 and r["executions"] == 10 and r["warm_ups"] == 1, "5 events on 2 counters are 3 groups", r)
ok(every(e["source"] == "hw" and e["share_running"] == 1 for e in r["results"]), "and nothing is scaled", r)
equal([e["value"] for e in r["results"]], [1000, 2000, 3000, 4000, 5000], "each event has its own count")
r = as_json(on, "--several-runs", "--warm-up", "0", "-e", ",".join(names), "true", fact="--several-runs")
ok(r["executions"] == 3 and r["repetitions"] == 1, "--several-runs makes the groups' runs without -r", r)

# ---- what cannot be counted ----
STEP = "run 'sysctl kernel.perf_event_paranoid=1'"
on = recording(
    "troubles.json",
    [{"name": "cycles", "state": "denied", "why": "permission denied", "remedy": STEP},
     {"name": "instructions", "state": "unsupported", "why": "no such event on this CPU"},
     *hw("branches", "branch-misses"), {"name": "page-faults", "source": "os"}],
    readings({"branches": {"state": "never-ran"}, "branch-misses": {"state": "failed", "why": "the counter broke"},
              "page-faults": 0}))
r = as_json(on, "-e", "cycles,instructions,branches,branch-misses,page-faults", "-m", "ipc", "true", fact="troubles")
by_name = {e["event"]: e for e in r["results"]}
for name, reason in (("cycles", "permission denied"), ("instructions", "no such event"), ("branches", ""),
                     ("branch-misses", "the counter broke")):
    ok(by_name[name]["value"] is None and reason in by_name[name]["why"], f"{name} is null, with its reason",
       by_name[name])
ok(by_name["page-faults"]["value"] == 0 and "why" not in by_name["page-faults"], "0 is 0", by_name["page-faults"])
ok(r["metrics"][0]["value"] is None and "why" in r["metrics"][0], "a metric without its events is null", r["metrics"])
text = count(on, "-e", "cycles,instructions,branches,branch-misses,page-faults", "true").out
equal(len(re.findall(r"^  \S+ +not counted: ", text, re.M)), 4, "the table says of each why it was not counted")
text = count(on, "--compat", "p5mon", "-Fcount_clocks=yes", "-Fkernel_events=yes", "-Frepetitions=1",
             "-Fskip_initialization_run=yes", "true").out
has(text, "Clock cycles: not counted (permission denied", "p5mon: what was not counted is not 0")

# ---- a user who may not count the kernel ----
denied = [{"name": name, "state": "denied", "why": "not allowed", "remedy": STEP} for name in ("cycles", "instructions")]
on = recording("user.json", [*denied, *hw("cycles:u", "instructions:u")],
               readings({"cycles:u": 1000, "instructions:u": 1500}))
r = as_json(on, "true", fact="default events of a user who may not count the kernel")
equal([(e["event"], e["value"]) for e in r["results"] if "cycles" in e["event"] or "instr" in e["event"]],
      [("cycles:u", 1000), ("instructions:u", 1500)], "the program's own part is counted instead, under its own name")
ok(("ipc:u", 1.5) in [(m["event"], m["value"]) for m in r["metrics"]], "so are metrics", r["metrics"])
r = as_json(on, "-m", "ipc:u", "true", fact="a metric at a level")
ok([m["event"] for m in r["metrics"]] == ["ipc:u"] and r["metrics"][0]["value"] == 1.5 and
   [e["event"] for e in r["results"]] == ["instructions:u", "cycles:u"], "a metric may be asked for at a level", r)
r = as_json(on, "-m", "cpu-utilisation:u", "true", fact="a metric of events without levels")
ok(r["metrics"][0]["value"] is None and r["metrics"][0]["why"], "a metric at a level mixes no events without it", r)
r = as_json(on, "-m", "ipc", "true", fact="a metric of what is denied at both levels")
ok(r["metrics"][0]["event"] == "ipc:u" and r["metrics"][0]["value"] == 1.5, "the user level's is never called that of both", r)
r = as_json(on, "-e", "cycles", "true", fact="an event that is denied at both levels")
equal([(e["event"], e["value"], e["level"]) for e in r["results"]], [("cycles:u", 1000, "user")],
      "nor is an event's user level")
r = as_json(on, "-e", "cycles:uk", "true", fact="both levels asked for")
ok(r["results"][0]["value"] is None and not r["results"][0]["event"].endswith(":u"),
   "who asks for both gets both or a reason", r)
refused = tare("count", "--on", on, "-m", "ipcc:u", "true")
ok(refused.code == 2 and "'ipcc'" in refused.err and "'ipc'" in refused.err, "an unknown metric at a level", refused)

# ---- perfex ----
on = recording("perfex.json", hw("cycles:u", "instructions:u"),
               readings({"cycles:u": 7945053664, "instructions:u": 8975754960}))
text = count(on, "--compat", "perfex", "-e", "0", "-e", "17", "true").out
equal(text.splitlines()[:2],
      ["Cycles" + "." * 58 + "      7945053664", "Graduated instructions" + "." * 42 + "      8975754960"],
      "perfex: the lines of its listing, to the digit")
text = count(on, "--compat", "perfex", "-e", "0", "-m", "ipc", "true").out
has(text, re.compile(r"\nStatistics\nipc:u\.+ +1\.1297"), "perfex: metrics are its statistics")
text = count(on, "--compat", "perfex", "-e", "0", "-m", "branch-miss-rate", "true").out
has(text, "\nStatistics\nbranch-miss-rate" + "." * 48 + " not counted: ", "perfex: or say why not")
on = recording("perfex-e.json", hw("cycles:u", "instructions:u"), [{
    "enabled_ns": 100 * MS, "readings": {"cycles:u": {"count": 5000000, "running_ns": 50 * MS}, "instructions:u": {"count": 9000000, "running_ns": 50 * MS}}}], counters=1)
scaled = as_json(on, "-e", "cycles:u,instructions:u", "true", fact="two events that share a counter")["results"]
text = count(on, "--compat", "perfex", "-e", "0", "-e", "17", "true").out
for name, row in zip(("Cycles", "Graduated instructions"), scaled):
    ends = f"between {row['low']:.0f} and {row['high']:.0f}" if row["high"] is not None else f"at least {row['low']:.0f}"
    has(text, f"\n{name}: counted 50 % of the time; {ends}\n", f"perfex -e: the scaled {name} have their error")
on = recording("perfex-a.json", hw("cycles:u", "instructions:u"), [{
    "enabled_ns": 100 * MS, "readings": {"cycles:u": 7945053664, "instructions:u": 8975754960}}])
text = count(on, "--compat", "perfex", "-a", "true").out
equal(len([line for line in text.splitlines() if line.startswith("Graduated instructions...")]), 2,
      "perfex: graduated instructions are listed twice")
has(text, "Graduated instructions: the two counts differ by ", "perfex: and their disagreement is printed")

on = recording("nothing.json", [{"name": "cycles", "state": "denied", "why": "permission denied"}], readings({}))
r = as_json(on, "-a", "--for", "0.01", "-e", "cycles", fact="nothing counted of all CPUs", code=3)
ok(r["results"][0]["value"] is None, "when nothing could be counted and there is no program, the exit code is 3", r)

# ---- lists ----
on = recording("list.json", [
    {"name": "cycles", "state": "denied", "why": "cannot open counter 'cycles': permission denied", "remedy": STEP},
    {"name": "instructions", "state": "denied", "why": "cannot open counter 'instructions': permission denied",
     "remedy": STEP},
    {"name": "branches", "state": "unsupported", "why": "the PMU 'x' is not here"},
    {"name": "branch-misses", "state": "unsupported", "why": "no encoding of 'A'"},
    {"name": "cache-misses", "state": "unsupported", "why": "no encoding of 'B'"}, *hw("cache-references")], [])
seen = tare("list", "events", "--on", on)
has(" ".join(seen.out.split()), f" [1] cannot open counter: permission denied; {STEP} [2]",
    "a reason that differs in names only is one, with its remedy")
has(seen.out, re.compile(r"^  instructions +no \[1\]  ", re.M), "which every such row refers to")
has(seen.out, "the PMU 'x' is not here\n", "a reason of one event is told in full")
has(seen.out, "no encoding of '…'\n", "what several reasons quote is left out")
has(seen.out, re.compile(r"^  cache-references +hw +[A-Z]", re.M), "what works has its source")
seen = tare("list", "-v", "metrics", "--on", on, "branch-miss-rate")
has(seen.out, re.compile(r"^ +needs +branch-misses$", re.M), "a metric says which event it needs")

# ---- the papers' reports: what a reader would take for something else ----
LEVELS = ["instructions:u", "instructions:k", "instructions"]
on = recording("levels.json", hw(*LEVELS), readings({"instructions:u": 10, "instructions:k": 3, "instructions": 13}), after_last="repeat")
text = count(on, "--compat", "p5mon", "-e", ",".join(LEVELS), "true").out
equal(re.findall(r"^  Instructions Executed (\(\S+\)): ([0-9.]+) \+/- (.*)$", text, re.M),
      [("(instructions:u)", "10.0", "unknown"), ("(instructions:k)", "3.0", "unknown"), ("(instructions)", "13.0", "unknown")],
      "p5mon: events of one title are told apart, and one repetition has no interval")
write("levels.parms", "(p5mon command = true | true; output_file = levels.out; repetitions = 1; skip_initialization_run = yes;\n"
      " user_events = yes; kernel_events = no; instructions_executed = yes; end)\n")
text = count(on, "-P", "levels.parms", "-e", "instructions:k", "--compat", "p5mon").out
has(text, " command: true | true\n  (run by /bin/sh -c; the shell is counted as well)\n", "p5mon: the shell that is counted is named")
has(text, "  Instructions Executed: 10.0 +/- unknown\n", "p5mon: what the parameter file asks for has the thesis's title")
equal([line for line in read("levels.out").splitlines() if not line.startswith("# run") and "Results" not in line and "Event" not in line],
      ["0x16 -1 10.0 NaN NaN", "# 0x16 is instructions:k", "0x16 -1 3.0 NaN NaN"], "p5mon: so it is in the file, and no 0 stands for an unknown spread")
for compat in ("p5mon", "perfex"):
    seen = count(on, "--compat", compat, "-r", "3", "-e", "instructions:u", "false", code=1)
    has(seen.out, "note: every run: exit status 1\n", f"{compat}: a program that fails in every run is said to")
    seen = count(on, "--compat", compat, "-e", "instructions:u", "sh", "-c", "kill -TERM $$", code=128 + 15)
    has(seen.out, "note: killed by signal 15 (SIGTERM)", f"{compat}: so is one that a signal ends")
ok(count(on, "--compat", "perfex", "-r", "3", "-e", "instructions:u", "true").out.startswith("Means of 3 executions of each event\n"),
   "perfex: means say that they are")
has_not(count(on, "--compat", "perfex", "-e", "instructions:u", "true").out, "Means", "perfex: a count of one execution is none")

# ---- a counter that runs, and that nothing was seen to move ----
UNPROVEN = [*hw("cycles"), {"name": "l1d-load-misses", "source": "hw", "state": "unproven", "why": "not known to count: it stayed at 0"}]


def unproven(name, *counts, **more):
    return recording(name, UNPROVEN, readings(*[{"cycles": 1000, "l1d-load-misses": n} for n in counts]), **more)


on = unproven("unproven.json", 0)
r = as_json(on, "-e", "cycles,l1d-load-misses", "true", fact="an event that nothing was seen to move")
equal([e["value"] for e in r["results"]], [1000, None], "its 0 is not a count, and others are counted")
has(r["results"][1]["why"] or "", "not known to count", "the reason says so")
has(count(on, "-e", "cycles,l1d-load-misses", "--csv", "true").out, "event,l1d-load-misses,user+kernel,,,,,,,,,misses,0,none,", "nor has it a value in CSV")
seen = tare("list", "events", "--on", on, "l1d-load-misses")
has(seen.out, re.compile(r"^  l1d-load-misses +no \[1\]", re.M), "the list of events does not say that it works")
has(seen.out, "not known to count", "and says why")
r = json.loads(tare("list", "events", "--json", "--on", on, "l1d-load-misses").out)
equal([(e["works"], e["source"]) for e in r["events"] if e["event"] == "l1d-load-misses"], [(False, None)], "neither as JSON")
r = as_json(unproven("moved.json", 7), "-e", "cycles,l1d-load-misses", "true", fact="an event that the program moves")
equal([(e["value"], e["source"]) for e in r["results"]], [(1000, "hw"), (7, "hw")], "a program that moves it has its count")
r = as_json(unproven("once.json", 0, 6, 0, after_last="repeat"), "-r", "3", "--warm-up", "0", "-e", "l1d-load-misses", "true",
            fact="an event that one run of three moves")
equal(r["results"][0]["runs"], [0, 6, 0], "once moved, its zeros are counts too")
r = as_json(unproven("zeros.json", 0, 0, after_last="repeat"), "-r", "2", "-e", "cycles,l1d-load-misses", "-m", "l1d-load-miss-rate", "true",
            fact="an event that no run moves", code=0)
equal(r["results"][1]["value"], None, "zeros of several runs are no count")
equal([m["value"] for m in r["metrics"]], [None], "and no metric is derived from them")
on = recording("zero-perfex.json", [{"name": "l1d-load-misses:u", "source": "hw", "state": "unproven", "why": "not known to count"}],
               readings({"l1d-load-misses:u": 0}))
has(count(on, "--compat", "perfex", "-e", "l1d-load-misses:u", "true").out, re.compile(r"^l1d-load-misses:u\.+ not counted: not known to count", re.M),
    "perfex's listing does not show 0")
has(count(on, "--compat", "p5mon", "-e", "l1d-load-misses:u", "true").out, re.compile(r"not counted \(not known to count"), "nor does run_p5mon's")

# ---- recordings that are none ----
write("bad.json", '{"tare_recording": 1, "events": [}')
bad = tare("count", "--on", "replay:bad.json", "true")
ok(bad.code == 2 and "bad.json:1:" in bad.err, "a recording that does not parse: place and exit code 2", bad)
bad = tare("count", "--on", "replay:missing.json", "true")
ok(bad.code == 3 and "missing.json" in bad.err, "a missing recording: exit code 3", bad)
bad = tare("count", "--on", "replay", "true")
ok(bad.code == 2 and "replay" in bad.err, "replay without a file: exit code 2", bad)

# ---- the doctor of a recorded machine ----
on = recording("doctor.json", [], [], findings=[
    {"state": "works", "what": "software events", "detail": "all"},
    {"state": "no", "what": "hardware counters", "detail": "the kernel denies them",
     "step": STEP}])
seen = tare("doctor", "--on", on)
has(seen.out, re.compile(r"^  works   software events    all\n  no      hardware counters  the kernel denies them$", re.M),
    "the doctor lists its findings")
has(seen.out, f"The one step that would allow more: {STEP}", "and one step")

# ---- counts that cannot all be right ----
LEVELS = ["instructions:u", "instructions:k", "instructions"]
on = recording("levels.json", hw(*LEVELS),
               readings({"instructions:u": 1000000000, "instructions:k": 200000000, "instructions": 1500000000}))
text = count(on, "-e", ",".join(LEVELS), "true").out
has(text, re.compile(r"^  ! one of these counts is wrong: 'instructions:u \+ instructions:k =\n +instructions' must hold", re.M),
    "user and kernel that are not both are told")
equal(len(re.findall(r" hw✗$", text, re.M)), 3, "… and the counts are marked as refuted")
has(text, re.compile(r"1,200,000,000 and\s+the right side 1,500,000,000"), "… with both sides")
r = as_json(on, "-e", ",".join(LEVELS), "true", fact="counts that break a law")
equal([(e["trust"], e["evidence"]) for e in r["results"]], [("refuted", "law:levels")] * 3, "JSON says so of each, with the law")
on = recording("lawful.json", hw(*LEVELS),
               readings({"instructions:u": 1000000000, "instructions:k": 200000000, "instructions": 1200000100}))
text = count(on, "-e", ",".join(LEVELS), "true").out
has_not(text, "is wrong", "what starting the counters explains is left alone")
on = recording("stuck.json", hw("cycles", "instructions"), readings({"cycles": 17, "instructions": 2469135780}))
has(count(on, "-e", "cycles,instructions", "true").out, "'instructions <= 16 * cycles'", "a counter that stands still is told")

done()
