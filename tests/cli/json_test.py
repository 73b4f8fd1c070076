"""Real output of many shapes obeys docs/result.schema.json, and says what it should."""
import json
import os

from cli import *


def count(fact, *arguments, code=0, **more):
    seen = tare("count", "--json", "-o", "-", "--program-output", "none", *arguments, **more)
    ok(seen.code == code, f"{fact}: exit code {code}", seen)
    return parsed(seen.out, fact)


if jsonschema:
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    # check_schema() has raised an error where it is none
    for wrong in ({}, {"tare": 2}):
        ok(list(jsonschema.Draft202012Validator(SCHEMA).iter_errors(wrong)), f"the schema refuses {wrong}")

r = count("the default events", "true")
ok(r["tare"] == 1 and r["command"] == ["true"] and r["repetitions"] == 1 and r["exit"] == {"status": 0},
   "the default events: version, command, repetitions and exit status", r)
by_name = {e["event"].split(":")[0]: e for e in r["results"]}
for name in ("cycles", "instructions", "branches", "branch-misses", "task-clock", "page-faults", "minor-faults",
             "major-faults", "context-switches", "cpu-migrations", "elapsed-time", "user-time", "system-time",
             "peak-memory"):
    ok(name in by_name, f"'{name}' is among the default events", sorted(by_name))
r = count("the operating system's events", "--on", "perf", "true")
by_name = {e["event"].split(":")[0]: e for e in r["results"]}
ok(by_name["task-clock"]["value"] > 0 and by_name["task-clock"]["unit"] == "ns", "time is in ns", by_name["task-clock"])
ok(by_name["peak-memory"]["value"] > 100000 and by_name["peak-memory"]["unit"] == "bytes",
   "memory is in bytes", by_name["peak-memory"])
ok(every((e["value"] is None) == ("why" in e) for e in r["results"]), "a reason stands exactly where there is no value", r)

r = count("repetitions", "-r", "3", "-e", "page-faults,task-clock", "true")
ok(r["repetitions"] == r["repetitions_done"] == 3 and r["executions"] == 4 and r["warm_ups"] == 1,
   "3 repetitions are 4 executions, one of them a warm-up", r)
ok(every(len(e["runs"]) == 3 and e["low"] <= e["value"] <= e["high"] and e["confidence"] == 0.95 and
       min(e["runs"]) <= e["value"] <= max(e["runs"]) for e in r["results"]),
   "each value has its 3 runs and an interval around it", r)
r = count("99 %", "-r", "3", "--confidence", "99", "--warm-up", "0", "-e", "page-faults", "true")
ok(r["confidence"] == 0.99 and r["results"][0]["confidence"] == 0.99 and r["executions"] == 3, "99 % are said", r)
r = count("a single run", "-e", "page-faults", "true")
ok(r["results"][0]["low"] is None and r["results"][0]["confidence"] is None and len(r["results"][0]["runs"]) == 1,
   "a single run has no interval", r)

r = count("metrics", "-r", "2", "-m", "ipc", "-m", "cpu-utilisation", "true")
names = [m["event"] for m in r["metrics"]]
equal(names, ["ipc", "cpu-utilisation"], "metrics are in the order of asking")
if by_name["cycles"]["value"] is None:
    ipc = r["metrics"][0]
    ok(ipc["value"] is None and ("cycles" in ipc["why"] or "instructions" in ipc["why"]),
       "a metric without its events is null, and says which one is missing", ipc)
else:
    skip("cycles work on this machine", "a metric without its events is null, and says which one is missing")
ok(0 < r["metrics"][1]["value"] < 100, "a metric over what the kernel counts has a value", r["metrics"][1])

r = count("a signal", "-e", "page-faults", "sh", "-c", "kill -9 $$", code=137)
equal(r["exit"], {"signal": 9}, "a signal is reported as one")
r = count("odd words", "-e", "page-faults", b"sh", b"-c", b"exit 0", b"\xff\xfe\"\\\x01", "é")
equal(r["command"][3:], ["\ufffd\ufffd\"\\\x01", "é"], "bytes that are not UTF-8 are U+FFFD")
r = count("all CPUs", "-a", "--for", "0.05", "-e", "context-switches")
ok(r["command"] is None and r["target"] == "all CPUs" and r["exit"] is None, "all CPUs are a target", r)
r = count("each CPU", "-C", "0", "--per-cpu", "-e", "context-switches", "true")
ok([e.get("cpu") for e in r["results"]] == [None, 0], "a row for the CPU follows the sum", r)
r = count("a process", "-p", str(os.getpid()), "--for", "0.05", "--per-thread", "-e", "context-switches")
ok(os.getpid() in [e.get("tid") for e in r["results"]], "a row for the thread follows the sum", r)
r = count("levels", "-e", "page-faults:u,page-faults:k,page-faults", "true")
equal([e.get("level") for e in r["results"]], ["user", "kernel", "user+kernel"], "levels are told apart")
r = count("an event twice", "-e", "page-faults", "-e", "page-faults,task-clock", "true")
equal([e["event"] for e in r["results"]], ["page-faults", "task-clock"], "an event asked for twice is there once")

for command in (["list", "events"], ["list", "metrics"], ["list", "backends"], ["list", "machines"], ["doctor"]):
    seen = tare(*command, "--json")
    try:
        listing = json.loads(seen.out, parse_constant=no_constant)
    except ValueError as error:
        listing = {"error": str(error)}
    ok(seen.code == 0 and listing.get("tare") == 1 and seen.err == "", f"'tare {' '.join(command)} --json' is JSON",
       seen)

done()
