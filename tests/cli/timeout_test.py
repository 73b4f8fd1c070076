"""--timeout ends the program, and what was counted until then is a lower bound: in no way a count."""
from cli import *

# the program says that it runs: until a loaded machine has let it begin, nothing can be told of it
FOREVER = "echo > began; while :; do :; done"


def timed(command, *arguments):
    """How it ended, and the seconds that it was given: enough for the program to begin."""
    seconds = 0.3
    while True:
        for name in ("began", "once", "twice"):
            if os.path.exists(name):
                os.unlink(name)
        seen = tare(command, "--timeout", f"{seconds:g}", *arguments)
        if os.path.exists("began") or seen.code != 124:
            return seen, f"{seconds:g}"
        seconds *= 2


def judged(seen, arguments, status):
    equal(seen.code, status, f"{' '.join(arguments)[:60]}: exit status {status}")
    return parsed(read("result.json"), "the result")


def counted(*arguments):
    seen, seconds = timed("count", "--json", "-o", "result.json", *arguments)
    return judged(seen, arguments, 124), seconds


result, seconds = counted("-e", "page-faults,task-clock,elapsed-time", "sh", "-c", FOREVER)
ok(result["timed_out"] and result["interrupted"] and result["repetitions_done"] == 0, "the result says that it timed out", result)
for row in result["results"]:
    ok(row["value"] is None and row["at_least"] > 0, f"{row['event']} is null, with a lower bound", row)
    equal(row["why"], f"the program was ended after {seconds} s (--timeout)", "... and the reason")
ok(result["results"][2]["at_least"] >= float(seconds) * 1e9, "it ran for the time that it was given", result["results"][2])
equal(result["exit"], {"signal": 15}, "SIGTERM ended it")

seen, seconds = timed("count", "-e", "page-faults,task-clock", "sh", "-c", FOREVER)
has(seen.err, re.compile(r"page-faults +≥ \d+, os"), "the report shows the bound")
has(seen.err, re.compile(r"task-clock +≥ [\d,]+ ns, os"), "... of a time with its unit")
has(seen.err, "ended by --timeout: 0 of 1 repetition complete", "... and says what happened")
has(seen.err, f"the program was ended after {seconds} s (--timeout)", "... and when")

result, _ = counted("-e", "page-faults", "sh", "-c", f"trap 'echo ended > said; exit 0' TERM; {FOREVER}")
equal(read("said"), "ended\n", "the program may handle SIGTERM")
ok(result["results"][0]["value"] is None and result["exit"] == {"status": 0}, "what it counted is a bound all the same", result)
result, _ = counted("-e", "page-faults", "sh", "-c", f"trap '' TERM; {FOREVER}")
equal(result["exit"], {"signal": 9}, "a program that ignores SIGTERM is killed")
equal(result["results"][0]["value"], None, "... and its count is a bound")
result, _ = counted("-e", "page-faults", "sh", "-c", "echo > began; kill -STOP $$; exit 3")
equal(result["results"][0]["value"], None, "a program that is stopped ends, too")

arguments = ("--timeout", "1000", "-e", "page-faults", "sh", "-c", "exit 7")
result = judged(tare("count", "--json", "-o", "result.json", *arguments), arguments, 7)
ok(result["results"][0]["value"] > 0 and "timed_out" not in result, "a program that ends in time is counted, and keeps its status", result)

# repetitions: the third never ends
THIRD = f"if [ -e twice ]; then {FOREVER}; elif [ -e once ]; then touch twice; else touch once; fi"
result, _ = counted("-r", "9", "--warm-up", "0", "-e", "page-faults", "sh", "-c", THIRD)
equal((result["repetitions_done"], len(result["results"][0]["runs"])), (2, 2), "of repetitions, those that were complete are counted, and no more follow")
ok(result["results"][0]["value"] > 0 and result["timed_out"], "their mean is a count, and the time-out is said", result["results"][0])
seen, seconds = timed("count", "-r", "2", "-e", "page-faults", "sh", "-c", FOREVER)
equal(seen.code, 124, "a warm-up that times out is a time-out")
has(seen.err, f"the warm-up did not end within {seconds} s (--timeout): nothing was measured", "... in which nothing was measured")

# conditions
for condition in ("page-faults>1", "page-faults<1e9"):
    seen, _ = timed("count", "--fail-if", condition, "sh", "-c", FOREVER)
    equal(seen.code, 124, f"--fail-if '{condition}': the time-out wins")
    has(seen.err, "cannot be told", "... and no condition is told from a part")
seen, _ = timed("count", "--require", "page-faults", "sh", "-c", FOREVER)
has(seen.err, re.compile(r"page-faults.*not counted|page-faults.*ended after"), "an event that is required was not counted")
if "page-faults-per-second" in tare("list", "metrics").out:
    result, _ = counted("-e", "page-faults,task-clock", "-m", "page-faults-per-second", "sh", "-c", FOREVER)
    ok(every(row["value"] is None and "at_least" not in row for row in result["metrics"]), "a metric of a part is not counted", result["metrics"])

# the engine
if tare("count", "--on", "exact", "-e", "instructions", "true").code == 0:
    result, _ = counted("--on", "exact", "-e", "instructions,loads", "-m", "instructions-per-load-store", "sh", "-c", FOREVER)
    ok(every(row["value"] is None and row["at_least"] > 1000 and row["source"] == "none" for row in result["results"]),
       "counts of the engine are bounds likewise", result["results"])
    ok(every(row["value"] is None and "at_least" not in row for row in result["metrics"]), "a ratio of two bounds is nothing", result["metrics"])
    seen, seconds = timed("profile", "--on", "exact", "-e", "instructions", "sh", "-c", FOREVER)
    equal(seen.code, 124, "an exact profile that times out: 124")
    has(seen.err, f"the program was ended after {seconds} s (--timeout)", "... says so")
else:
    skip("the engine does not run here", "time-outs under the engine")

seen, seconds = timed("profile", "-e", "task-clock", "sh", "-c", FOREVER)
equal(seen.code, 124, "a sampled profile that times out: 124")
has(seen.err, f"the program was ended after {seconds} s (--timeout)", "... says so")
seen = tare("profile", "--timeout", "1000", "-e", "task-clock", "sh", "-c", "exit 5")
equal(seen.code, 5, "a program that ends in time keeps its status")

for arguments, part in ((("count", "--timeout", "1", "-p", "1"), "--for SECONDS ends the counting"),
                        (("profile", "--timeout", "1", "-p", "1"), "--for SECONDS ends the profiling"),
                        (("profile", "--timeout", "1", "-r", "3", "true"), "--timeout is for one run"),
                        (("count", "--timeout", "0", "true"), "not a number of seconds"),
                        (("count", "--for", "1", "true"), "--timeout SECONDS ends the program")):
    seen = tare(*arguments)
    equal(seen.code, 2, f"{' '.join(arguments)}: wrong usage")
    has(seen.err, part, "... and what to do")
done()
