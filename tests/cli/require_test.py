"""--require and --strict: what was asked for and is not counted ends in 3, and says why; the program's own status wins."""
import json

from cli import *

EVENTS = [{"name": "cycles", "source": "hw"}, {"name": "cycles:u", "source": "hw"},
          {"name": "instructions", "state": "denied", "why": "permission denied"},
          {"name": "branches", "source": "hw"}]


def recording(name, *executions, **more):
    write(name, json.dumps({"tare_recording": 1, "events": EVENTS, "executions": [{"readings": r} for r in executions], **more}))
    return f"replay:{name}"


ALL = recording("all.json", {"cycles": 7, "cycles:u": 6, "branches": 5}, after_last="repeat")
BROKEN = recording("broken.json", {"cycles": 7, "branches": {"state": "failed", "why": "the counter broke"}})
SOME = recording("some.json", {"cycles": 7, "branches": 5}, {"cycles": 7, "branches": {"state": "failed", "why": "the counter broke"}})


def count(on, *arguments, program=("true",)):
    return tare("count", "--on", on, "-o", "report", *arguments, *program)


def ends(code, fact, on, *arguments, program=("true",)):
    seen = count(on, *arguments, program=program)
    equal(seen.code, code, fact)
    return seen


ends(0, "without --require a null is a value like others", ALL, "-e", "cycles,instructions", "--json")
equal([e["value"] for e in json.loads(read("report"))["results"]], [7, None], "in JSON it is null")
seen = ends(3, "--require ends in 3 when its event is not counted", ALL, "-e", "cycles", "--require", "instructions", "--json")
has(seen.err, "tare: asked for, but not counted: instructions: permission denied\n", "and says which and why")
equal([e["event"] for e in json.loads(read("report"))["results"]], ["cycles", "instructions"], "the report is written, with the required event")
ends(0, "--require ends in 0 when its events are counted", ALL, "--require", "cycles,branches", "-e", "instructions")
ends(3, "an event that is asked for by -e, too, is required", ALL, "-e", "instructions", "--require", "instructions")
ends(0, "--strict ends in 0 when all is counted", ALL, "--strict", "-e", "cycles,branches")
seen = ends(3, "--strict ends in 3 when an event is not", ALL, "--strict", "-e", "cycles,instructions,branches")
equal(seen.err.count("tare: "), 1, "and names that one only")
seen = ends(3, "--strict is of metrics, too", ALL, "--strict", "-e", "cycles", "-m", "ipc")
has(seen.err, "not counted: ipc: ", "and names it")
ends(3, "a counter that broke is not counted", BROKEN, "--strict", "-e", "cycles,branches")
seen = ends(3, "nor is one that gave a count in some of the runs", SOME, "-r", "2", "--warm-up", "0", "--strict", "-e", "cycles,branches")
has(seen.err, "not counted: branches: 1 of 2 runs gave no count: the counter broke", "which is said")
ends(0, "without --strict those of the others are the result", SOME, "-r", "2", "--warm-up", "0", "-e", "cycles,branches")
for option in (("--strict",), ("--require", "instructions")):
    ends(5, f"a program's own status wins over {option[0]}", ALL, *option, "-e", "instructions", program=("sh", "-c", "exit 5"))
    ends(128 + 15, f"so does its signal over {option[0]}", ALL, *option, "-e", "instructions", program=("sh", "-c", "kill -TERM $$"))
ends(2, "an unknown event is wrong usage, not a missing count", ALL, "--require", "instrctions")
ends(3, "the reports of older tools are no exception", ALL, "--compat", "perfex", "--strict", "-e", "instructions")
ends(3, "nor is CSV", ALL, "--csv", "--require", "instructions")
ends(3, "of the default set something must be counted", recording("none.json", {}), "--strict")
ends(0, "and something is enough", recording("one.json", {"cycles": 1, "branches": 1}), "--strict")

# ---- of regions, under the engine ----
write("region.c", "__attribute__((noinline)) int piece(int n) { volatile int s = 0; while (n--) s += n; return s; }\n"
      "int main(void) { return piece(10) == 1; }\n")
built = subprocess.run(["gcc", "-g", "-O1", "-o", "region", "region.c"], check=False).returncode == 0
if built and "counts a known program" in tare("doctor", "--on", "exact").out:
    ends(0, "a region that is counted is not missing", "exact", "--strict", "-e", "instructions:u", "--region", "piece", program=("./region",))
    seen = ends(3, "one whose event the engine does not know is", "exact", "--strict", "-e", "instructions:u,cycles:u", "--region", "piece",
                program=("./region",))
    has(seen.err, "not counted: cycles:u", "and is named")
else:
    skip("the engine does not work here, or there is no compiler", "a region that is counted is not missing")
done()
