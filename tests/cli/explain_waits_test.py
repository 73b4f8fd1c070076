"""`tare explain --waits`: a program that waits 0.3 s in a read and 0.2 s for a lock, by construction, is explained so: by stack, line and cause. Its own clock bounds the times."""
import json
import os
import platform
import sys

PROGRAM, SOURCE = os.path.abspath(sys.argv[2]), sys.argv[3]  # importing cli changes the folder

from cli import *

with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../docs/explanation.schema.json"), encoding="utf-8") as file:
    SCHEMA = json.load(file)
with open(SOURCE, encoding="utf-8") as file:
    LINES = {text: number for number, line in enumerate(file, 1) for text in ("the read", "the lock", "the touch") if f"/* {text} */" in line}

if platform.machine() != "x86_64":
    skip("the engine's tables are for x86-64", "waits are explained")
    done()

COSTS = write("free.costs", "[costs]\nmachine = planted\ntitle = planted\nsource = made up\n\n[cost]\nof = instruction\nunit = ns\nminimum = 1\ntypical = 1\nmaximum = 1\nsource = made up\n")

# ---- refused ----
seen = tare("explain", "--waits", "--on", "model:zen4", "--costs", COSTS, "echo", "ran")
ok(seen.code == 2 and "on this machine, and zen4 is another" in seen.err and "ran" not in seen.out, "--waits is of this machine alone", seen)
seen = tare("explain", "--waits", "--sweep", "N=1,2", "echo", "ran")
ok(seen.code == 2 and "leave out --sweep" in seen.err and "ran" not in seen.out, "--waits is of one value", seen)

seen = tare("explain", "--calls", "--on", "model:zen4", "--costs", COSTS, "echo", "ran")
ok(seen.code == 2 and "on this machine, and zen4 is another" in seen.err and "ran" not in seen.out, "nor does --calls tell of another", seen)

# ---- explained ----
# the program's output is that of the first execution; the waits are of another one: it has a clock of its own
marks = os.path.abspath("marks")
seen = tare("explain", "--waits", "--json", "-o", "explained.json", "-q", "--costs", COSTS, "sh", "-c", f'"$0" >> {marks}', PROGRAM)
if not ok(seen.code == 0, "a program that waits is explained", seen):
    done()
result = json.loads(read("explained.json"), parse_constant=no_constant)
if jsonschema:
    errors = [f"{list(e.absolute_path)}: {e.message}" for e in jsonschema.Draft202012Validator(SCHEMA).iter_errors(result)]
    ok(not errors, "obeys the schema", "\n".join(errors))
else:
    skip("python3-jsonschema is not installed", "obeys the schema")
waits = result["waits"]
if waits is None:
    ok(result["why_no_waits"], "what may not be sampled here is not known, and says why", result["why_no_waits"])
    skip("context switches cannot be sampled here: " + result["why_no_waits"].split(":")[0], "waits have stacks")
    done()
clocks = [(name, int(ns) * 1e-9) for name, ns in (line.split() for line in read(marks).splitlines())]
equal([name for name, _ in clocks], ["read", "lock"] * 3, "it was executed three times: as it is, counted, and sampled")
lasted = dict(clocks[-2:])


def wait_in(function):
    found = [w for w in waits["places"] if function in w["functions"]]
    ok(found, f"there is a wait in {function}", waits["places"])
    return found[0] if found else {"cause": None, "seconds": 0, "functions": [], "file": "", "line": 0}


reading, locking = wait_in("read_slowly"), wait_in("lock_slowly")
equal((reading["cause"], locking["cause"]), ("input/output", "waiting for locks"), "a read is input/output, a mutex is a lock")
equal((os.path.basename(reading["file"] or ""), reading["line"]), (os.path.basename(SOURCE), LINES["the read"]), "the read has its line in the program")
equal((os.path.basename(locking["file"] or ""), locking["line"]), (os.path.basename(SOURCE), LINES["the lock"]), "and so has the lock")
ok(0 < reading["seconds"] <= lasted["read"], "the read waited no longer than the program's clock says that it lasted", (reading, lasted))
ok(0 < locking["seconds"] <= lasted["lock"], "nor did the lock", (locking, lasted))
# what is no wait of it: the thread's own work, and being ready
ok(reading["seconds"] + waits["ready_seconds"] >= 0.1, "a sleep of 0.3 s is behind the read", (reading, waits["ready_seconds"]))
ok(every(w["seconds"] >= 0.3 - 0.1 - waits["ready_seconds"] for w in waits["places"] if "write_late" in w["functions"] and w["cause"] == "sleeping"), "the writer slept", waits["places"])
ok(reading["functions"].index("read_slowly") < reading["functions"].index("main"), "stacks begin at the innermost function", reading["functions"])
ok(abs(waits["seconds"] - sum(w["seconds"] for w in waits["places"])) < 1e-6, "the places' waits are all waits", waits["seconds"])
faults = {(os.path.basename(f["file"] or ""), f["line"]): f["faults"] for f in waits["page_faults"]}
equal(faults.get((os.path.basename(SOURCE), LINES["the touch"])), 64, "each of 64 pages is a fault of the line that touches it")

text = tare("explain", "--waits", "-o", "-", "-q", "--program-output", "none", "--costs", COSTS, PROGRAM).out
for part in ("where threads waited", f"waiting.c:{LINES['the read']} ", "read_slowly", "page faults", f"waiting.c:{LINES['the touch']}"):
    has(text, part, f"the text has {part}")
# advice on waiting has that line, asked for with the waits or alone
for more in (["--waits"], []):
    seen = tare("explain", "--advice", *more, "--json", "-o", "-", "-q", "--program-output", "none", "--costs", COSTS, PROGRAM)
    result = json.loads(seen.out)
    waited = next(row["typical"] for row in result["causes"] if row["cause"] == "waiting for locks")
    found = next((row for row in result["advice"] if row["rule"] == "lock-waiting"), None)
    if not found and waited < 0.05 * result["measured"]["total_seconds"]:
        skip("the machine is too busy: what the lock is of all time is not worth advice", f"{more}: advice on waiting has the lock's line")
        continue
    equal(found and (os.path.basename(found["file"] or ""), found["line"]), (os.path.basename(SOURCE), LINES["the lock"]), f"{more}: advice on waiting has the lock's line")
    equal(result["waits"] is None, not more, f"{more}: and waits are shown where they were asked for")
page = tare("explain", "--waits", "--html", "-o", "-", "-q", "--program-output", "none", "--costs", COSTS, PROGRAM).out
has(page, "where threads waited", "and so has the page")

done()
