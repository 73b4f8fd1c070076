"""`tare verify models`, by recordings of what the model and the counters count of each program: the errors of each event by arithmetic. The programs of
the suite are stand-ins that only end; the kernels are three of tare's."""
import json
import os
import shutil
import sys

KERNELS = os.path.abspath(sys.argv[2])

from cli import *

NAMES = ["loop", "array", "stores"]
SUITE = ["gzip", "xz", "bzip2", "sha256sum", "sort", "wc", "grep", "sed", "awk", "python3", "perl", "sqlite3", "gcc", "bc", "od", "openssl"]  # all but lua
EVENTS = ["l1d-misses:u", "branch-misses:u", "dtlb-misses:u"]
os.makedirs("programs")
for name in SUITE:
    shutil.copy("/bin/true", os.path.join("programs", name))
ENV = environment(TARE_KERNELS=KERNELS, PATH=os.path.abspath("programs"))


def recording(name, source, executions, events=EVENTS, basic=True, **more):
    listed = [{"name": e, "source": source} for e in events] + ([{"name": "instructions:u", "source": source}] if basic and source != "model" else [])  # a PMU is one that counts instructions
    write(name, json.dumps({"tare_recording": 1, "events": listed, "executions": executions, **more}))
    return "replay:" + name


def models(model, counters, *arguments, env=ENV):
    return tare("verify", "models", "--no-store", "--kernels", ",".join(NAMES), "--on", f"{model},{counters}", *arguments, env=env)


def readings(values):
    return {"readings": dict(zip(EVENTS, values))}


def found_by(*arguments, **more):
    done = models(*arguments, "--json", **more)
    return done, json.loads(done.out) if done.out else {}


# ---- which programs there are, and in what order: 2,000 of each event everywhere ----
same = (recording("model.json", "model", [readings([2000] * 3)], after_last="repeat"), recording("hw.json", "hw", [readings([2000] * 3)], after_last="repeat"))
seen, found = found_by(*same)
programs = [p["program"] for p in found["programs"]]
equal((sorted(programs[:3]), programs[3:]), (sorted(NAMES), SUITE + ["lua"]), "the kernels that are there, then the suite's programs")
equal([p["why"] for p in found["programs"]], [None] * 19 + ["not installed"], "one that is not installed says so, and is not compared")
equal([(e["event"], e["compared"], e["median_error"], e["within_10_percent"], e["inside_interval"]) for e in found["events"]],
      [(e, 19, 0, 19, 19) for e in sorted(EVENTS, key=[e["event"] for e in found["events"]].index)], "where both count the same there is no error")
equal((seen.code, found["executions"], found["grid"]), (0, 19 * 6, "full"), "five executions with counters and one with the model for each")
ORDER = [e["event"] for e in found["events"]]
COMPARED = programs[:-1]

# ---- known errors: the k-th program is off by (k − 9) · 5 % ----
error = {name: (k - 9) * 0.05 for k, name in enumerate(COMPARED)}


def by_event(values):
    return {"readings": {e: values[e] for e in EVENTS}}


counted, modelled = [], []
for k, name in enumerate(COMPARED):
    mean = 10000 * (k + 1)
    # of dtlb-misses only the first four have 1,000 events; of the fourth exactly so many
    few = 1000 if k < 4 else 999
    for d in (-20, -10, 0, 10, 20):
        counted.append(by_event({"l1d-misses:u": mean + d, "branch-misses:u": mean + d, "dtlb-misses:u": few}))
    modelled.append(by_event({"l1d-misses:u": round(mean * (1 + error[name])), "branch-misses:u": 0 if k == 5 else mean + 5, "dtlb-misses:u": 4 * few}))
seen, found = found_by(recording("model.json", "model", modelled), recording("hw.json", "hw", counted))
rows = {e["event"]: e for e in found["events"]}
row = rows["l1d-misses:u"]
ok(abs(row["median_error"]) < 1e-9 and abs(row["least_error"] + 0.45) < 1e-9 and abs(row["most_error"] - 0.45) < 1e-9, "median and ends of the errors are the arithmetic's", row)
equal((row["least_in"], row["most_in"], row["within_10_percent"], row["within_50_percent"], row["inside_interval"]), (COMPARED[0], COMPARED[-1], 5, 19, 1),
      "... with the programs that have them; five are within 10 %, and one within the counter's interval")
row = rows["branch-misses:u"]
equal((row["least_error"], row["least_in"], row["inside_interval"]), (-1, COMPARED[5], 18), "a model that counts nothing is off by -100 %")
row = rows["dtlb-misses:u"]
equal((row["compared"], row["too_few"], row["median_error"], row["within_50_percent"]), (4, 15, 3, 0), "programs with fewer than 1,000 events are not compared, one with 1,000 is")
equal(found["programs"][4]["events"][ORDER.index("dtlb-misses:u")], {"event": "dtlb-misses:u", "state": "too few", "model": 3996, "counter": 999, "low": 999, "high": 999, "error": None},
      "... and have their counts in JSON, without an error")
pair = recording("model.json", "model", modelled) + "," + recording("hw.json", "hw", counted)
for columns in (60, 80, 200):
    text = shown_on_terminal(columns, "verify", "models", "--no-store", "--kernels", ",".join(NAMES), "--on", pair, PATH=os.path.abspath("programs"), TARE_KERNELS=KERNELS)
    has(" ".join(text.split()), f"+45 % {COMPARED[-1]}", f"a terminal of {columns} columns: the report names the worst program")
    ok(every(len(line) <= columns for line in text.splitlines()), "... in lines that fit", text)
has(" ".join(text.split()), "Not compared: lua (not installed).", "... and what was not compared")

# ---- what cannot be compared ----
write("programs/xz", "#!/bin/sh\nexit 3\n")
os.chmod("programs/xz", 0o755)
seen, found = found_by(*[recording(n, s, [readings([2000] * 3)], after_last="repeat") for n, s in (("model.json", "model"), ("hw.json", "hw"))])
equal([(p["program"], p["why"]) for p in found["programs"] if p["why"]], [("xz", "it ended with status 3"), ("lua", "not installed")], "a program that fails has no numbers")
equal(found["events"][0]["compared"], 18, "... and is in no error")
never = {"state": "never-ran"}
seen, found = found_by(same[0], recording("hw.json", "hw", [{"readings": {"l1d-misses:u": never, "branch-misses:u": 2000, "dtlb-misses:u": 2000}}], after_last="repeat"))
row = {e["event"]: e for e in found["events"]}.get("l1d-misses:u", {"compared": seen, "unknown": None, "median_error": None})
equal((row["compared"], row["unknown"], row["median_error"]), (0, 18, None), "what was not counted is unknown, and no error of 100 %")
seen, found = found_by(same[0], recording("hw.json", "hw", [readings([2000] * 3)], after_last="repeat"), "--quick")
equal(([p["program"] for p in found["programs"] if not p["kernel"]], found["grid"]), (["gzip", "sort", "gcc", "bc"], "quick"), "--quick takes four programs of the suite")
seen, found = found_by(*same, "-e", "branch-misses:u")
equal([e["event"] for e in found["events"]], ["branch-misses:u"], "-e compares these alone")
seen = models(*same, "-e", "l2-misses:u")
ok(seen.code == 3 and "'l2-misses:u' is not counted by the model" in seen.err, "an event that is asked for and not modelled is an error", seen)

# ---- no PMU ----
none = recording("none.json", "hw", [{"readings": {}}], events=[], basic=False)
seen = models(same[0], none)
ok(seen.code == 3 and "there are no hardware counters to compare" in seen.err and "bare metal" in seen.err and not seen.out, "without a PMU it says so, and what would do", seen)
software = recording("os.json", "os", [{"readings": {}}], events=[], basic=True)
seen = models(same[0], software)
ok(seen.code == 3 and "there are no hardware counters" in seen.err, "a count of the operating system is no hardware counter", seen)
basic = recording("basic.json", "hw", [{"readings": {}}], events=[])
seen = models(same[0], basic)
ok(seen.code == 3 and "count none of the events" in seen.err, "a PMU without such events is another reason", seen)
for words, what in ((("--on", "exact"), "compares two: --on MODEL,COUNTERS"), (("--on", "a,b,c"), "compares two"), (("true",), "remove the program"), (("--anew",), "not of models"), (("--cpi", "1"), "not of models"),
                    (("-c", "10"), "not of models"), (("--paper", "korn"), "do not go with 'models'")):
    seen = tare("verify", "models", *words)
    ok(seen.code == 2 and what in seen.err, f"'models {' '.join(words)}' is refused: {what}", seen)
done()
