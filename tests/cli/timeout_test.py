"""--timeout ends the program, and what was counted until then is a lower bound: in no way a count."""
from cli import *

FOREVER = "while :; do :; done"


def counted(*arguments, status=124):
    seen = tare("count", "--json", "-o", "result.json", *arguments)
    equal(seen.code, status, f"{' '.join(arguments)[:60]}: exit status {status}")
    return parsed(read("result.json"), "the result")


result = counted("--timeout", "0.3", "-e", "page-faults,task-clock,elapsed-time", "sh", "-c", FOREVER)
ok(result["timed_out"] and result["interrupted"] and result["repetitions_done"] == 0, "the result says that it timed out", result)
for row in result["results"]:
    ok(row["value"] is None and row["at_least"] > 0, f"{row['event']} is null, with a lower bound", row)
    equal(row["why"], "the program was ended after 0.3 s (--timeout)", "... and the reason")
ok(result["results"][2]["at_least"] >= 3e8, "it ran for the time that it was given", result["results"][2])
equal(result["exit"], {"signal": 15}, "SIGTERM ended it")

seen = tare("count", "--timeout", "0.3", "-e", "page-faults,task-clock", "sh", "-c", FOREVER)
has(seen.err, re.compile(r"page-faults +≥ \d+, os"), "the report shows the bound")
has(seen.err, re.compile(r"task-clock +≥ [\d,]+ ns, os"), "... of a time with its unit")
has(seen.err, "ended by --timeout: 0 of 1 repetition complete", "... and says what happened")
has(seen.err, "the program was ended after 0.3 s (--timeout)", "... and when")

result = counted("--timeout", "0.3", "-e", "page-faults", "sh", "-c", f"trap 'echo ended > said; exit 0' TERM; {FOREVER}")
equal(read("said"), "ended\n", "the program may handle SIGTERM")
ok(result["results"][0]["value"] is None and result["exit"] == {"status": 0}, "what it counted is a bound all the same", result)
result = counted("--timeout", "0.3", "-e", "page-faults", "sh", "-c", f"trap '' TERM; {FOREVER}")
equal(result["exit"], {"signal": 9}, "a program that ignores SIGTERM is killed")
equal(result["results"][0]["value"], None, "... and its count is a bound")
result = counted("--timeout", "0.3", "-e", "page-faults", "sh", "-c", "kill -STOP $$; exit 3")
equal(result["results"][0]["value"], None, "a program that is stopped ends, too")

result = counted("--timeout", "1000", "-e", "page-faults", "sh", "-c", "exit 7", status=7)
ok(result["results"][0]["value"] > 0 and "timed_out" not in result, "a program that ends in time is counted, and keeps its status", result)

# repetitions: the third never ends
THIRD = f"if [ -e twice ]; then {FOREVER}; elif [ -e once ]; then touch twice; else touch once; fi"
result = counted("--timeout", "2", "-r", "9", "--warm-up", "0", "-e", "page-faults", "sh", "-c", THIRD)
equal((result["repetitions_done"], len(result["results"][0]["runs"])), (2, 2), "of repetitions, those that were complete are counted, and no more follow")
ok(result["results"][0]["value"] > 0 and result["timed_out"], "their mean is a count, and the time-out is said", result["results"][0])
seen = tare("count", "--timeout", "0.3", "-r", "2", "-e", "page-faults", "sh", "-c", FOREVER)
equal(seen.code, 124, "a warm-up that times out is a time-out")
has(seen.err, "the warm-up did not end within 0.3 s (--timeout): nothing was measured", "... in which nothing was measured")

# conditions
for condition in ("page-faults>1", "page-faults<1e9"):
    seen = tare("count", "--timeout", "0.3", "--fail-if", condition, "sh", "-c", FOREVER)
    equal(seen.code, 124, f"--fail-if '{condition}': the time-out wins")
    has(seen.err, "cannot be told", "... and no condition is told from a part")
seen = tare("count", "--timeout", "0.3", "--require", "page-faults", "sh", "-c", FOREVER)
has(seen.err, re.compile(r"page-faults.*not counted|page-faults.*ended after"), "an event that is required was not counted")
result = counted("--timeout", "0.3", "-e", "page-faults,task-clock", "-m", "page-faults-per-second", "sh", "-c", FOREVER) \
    if "page-faults-per-second" in tare("list", "metrics").out else None
if result:
    ok(every(row["value"] is None and "at_least" not in row for row in result["metrics"]), "a metric of a part is not counted", result["metrics"])

# the engine
if tare("count", "--on", "exact", "-e", "instructions", "true").code == 0:
    result = counted("--timeout", "0.5", "--on", "exact", "-e", "instructions,loads", "-m", "instructions-per-load-store", "sh", "-c", FOREVER)
    ok(every(row["value"] is None and row["at_least"] > 1000 and row["source"] == "none" for row in result["results"]),
       "counts of the engine are bounds likewise", result["results"])
    ok(every(row["value"] is None and "at_least" not in row for row in result["metrics"]), "a ratio of two bounds is nothing", result["metrics"])
    seen = tare("profile", "--timeout", "0.5", "--on", "exact", "-e", "instructions", "sh", "-c", FOREVER)
    equal(seen.code, 124, "an exact profile that times out: 124")
    has(seen.err, "the program was ended after 0.5 s (--timeout)", "... says so")
else:
    skip("the engine does not run here", "time-outs under the engine")

seen = tare("profile", "--timeout", "0.5", "-e", "task-clock", "sh", "-c", FOREVER)
equal(seen.code, 124, "a sampled profile that times out: 124")
has(seen.err, "the program was ended after 0.5 s (--timeout)", "... says so")
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
