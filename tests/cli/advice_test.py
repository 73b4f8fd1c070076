"""`tare explain`'s advice: each rule has a program where it speaks, of the right line, and the same program mended, where it is silent.
Costs are planted, and most counts are those of a declared machine: what is advised does not depend on how long anything takes."""
import json
import os
import platform
import sys

PROGRAM, SOURCE = (os.path.abspath(path) for path in sys.argv[2:4])  # importing cli changes the folder

from cli import *

with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../docs/explanation.schema.json"), encoding="utf-8") as file:
    EXPLANATION = json.load(file)

if platform.machine() != "x86_64":
    skip("the engine's tables are for x86-64", "time is explained")
    done()

COSTS = {"instruction": 0.1, "divide": 1, "square-root": 1, "l1-hit": 0.1, "l2-hit": 14, "l3-hit": 40, "memory": 100, "tlb-hit": 9, "tlb-walk": 33,
         "branch-miss": 20, "page-fault": 500, "system-call": 90}
FREE = {name: 0 for name in COSTS}


def table(name, costs):
    return write(name, "[costs]\nmachine = planted\ntitle = planted\nsource = made up\n" + "".join(
        f"\n[cost]\nof = {of}\nunit = ns\ntypical = {typical}\nsource = made up\n" for of, typical in costs.items()))


def line_of(mark):
    lines = read(SOURCE).splitlines()
    return next(i for i, line in enumerate(lines, 1) if line.rstrip().endswith(f"/* {mark} */"))


def advice(program, *arguments, costs="planted.costs"):
    seen = tare("explain", "--advice", "--json", "-o", "-", "--program-output", "none", *(arguments or ("--on", "model:zen4")), "--costs", costs, PROGRAM, program)
    if not ok(seen.code == 0 and seen.out, f"{program}: explained", seen):
        return []
    result = json.loads(seen.out, parse_constant=no_constant)
    if jsonschema:
        errors = [f"{list(e.absolute_path)}: {e.message}" for e in jsonschema.Draft202012Validator(EXPLANATION).iter_errors(result)]
        ok(not errors, f"{program}: obeys the schema", "\n".join(errors))
    else:
        skip("python3-jsonschema is not installed", f"{program}: obeys the schema")
    return result["advice"]


def at(rows, rule, mark):
    """The rule's advice for that line."""
    line = line_of(mark)
    return next((row for row in rows if row["rule"] == rule and row["line"] == line and row["file"].endswith("advice.c")), None)


table("planted.costs", COSTS)
table("free.costs", FREE)

# ---- caches and TLBs, as Zen 4 has them: L1's ways are 4,096 bytes; 72 pages in the first TLB ----
rows = advice("thrash")
found = at(rows, "conflict-misses", "columns")
# 64 rows in the 8 ways of a set: all 102,400 miss, all but the first 64 would hit in a fully associative L1
ok(found and "102,336 of 102,400 L1 misses" in found["evidence"] and "4,096 bytes" in found["text"], "rows a way of L1 apart: pad them", rows)
ok(found and abs(found["seconds"] - 102336 * 14e-9) < 1e-12, "it is about the conflicts, each a hit of L2", found)
rows = advice("padded")
ok(not any(row["rule"] == "conflict-misses" for row in rows), "rows 64 bytes further apart: nothing is to be padded", rows)

rows = advice("matrix")
found = at(rows, "stride-of-pages", "along the columns")
# 2,048 rows × 64 columns, each row in pages of its own; the second TLB has them all but when they come first
ok(found and "131,072 accesses missed the first TLB (72 pages of 4,096 bytes)" in found["evidence"], "a matrix by columns: interchange", rows)
ok(not at(rows, "one-field", "along the columns"), "it is no matter of a field", rows)
rows = advice("interchanged")
ok(not any(row["rule"] == "stride-of-pages" for row in rows), "a matrix by rows: nothing is to be interchanged", rows)

rows = advice("structs")
found = at(rows, "one-field", "the struct")
ok(found and "4 bytes are used of each line of 64 bytes; L1 took 200,000 lines here, 100 %" in found["evidence"], "one field of 256 bytes: a shadow array", rows)
ok(not any(row["rule"].startswith(("stride", "pages", "conflict")) for row in rows), "that is all, of the caches", rows)
rows = advice("shadow")
ok(not any(row["rule"] == "one-field" for row in rows), "the shadow array itself: no such advice", rows)
rows = advice("chase")
ok(not at(rows, "one-field", "the chase"), "a chase follows no stride: no such advice", rows)
found = at(rows, "pages-in-no-order", "the chase")
ok(found and not at(rows, "stride-of-pages", "the chase"), "in no order through more pages than the TLB has: huge pages, not an interchange", rows)

# ---- branches ----
rows = advice("loops")
found = at(rows, "short-loop", "the loop")
ok(found and "3.5 turns" in found["text"] and "it was left 100,000 times" in found["evidence"], "2 to 5 turns, as it comes: unroll", rows)
ok(not at(rows, "unpredictable-branch", "the loop"), "its branch stays a loop's", rows)
rows = advice("coins")
found = at(rows, "unpredictable-branch", "the coin")
ok(found and not any(row["rule"] == "short-loop" for row in rows), "a branch on random bits, which closes no loop: arithmetic", rows)
rows = advice("structs")
ok(not any(row["rule"] in ("short-loop", "unpredictable-branch") for row in rows), "branches that are predicted: nothing", rows)

# ---- threads ----
rows = advice("shared")
found = at(rows, "false-sharing", "the counter")
ok(found and "64 bytes" in found["text"], "two counters in a line: pad them", rows)
rows = advice("apart")
ok(not any(row["rule"] == "false-sharing" for row in rows), "each in a line of its own: nothing", rows)

rows = advice("locks")
found = at(rows, "locked-often", "the turn")
ok(found and not found["why_no_line"], "a lock for each turn: the line that takes it, though the C library executes the instructions", rows)

# ---- what the system accounts for, on this machine: a second each, so that it is worth it however fast the machine is ----
dear = table("faults.costs", dict(FREE, **{"page-fault": 1e9}))
why_unsampled = json.loads(tare("explain", "--waits", "--json", "-o", "-", "--costs", "free.costs", "true").out)["why_no_waits"]


def only(rows, rule, mark, fact):
    """That rule alone, at that line; where page faults may not be sampled, it says that."""
    equal([row["rule"] for row in rows], [rule], fact)
    if not rows:
        return
    if why_unsampled:
        ok(rows[0]["file"] is None and "may not be sampled here: " + why_unsampled in rows[0]["why_no_line"], f"{fact}: why there is no line is said", rows)
    else:
        equal((os.path.basename(rows[0]["file"] or ""), rows[0]["line"], rows[0]["why_no_line"]), ("advice.c", line_of(mark), None), f"{fact}: at its line")


only(advice("buffers", "--on", "auto", costs=dear), "memory-again", "the touch", "memory that is given back each time: reuse it")
only(advice("reused", "--on", "auto", costs=dear), "first-touch", "the touch", "memory that is touched once: huge pages")
only(advice("cleared", "--on", "auto", costs=dear), "first-touch", "the clearing", "memory that memset touches is the program's")
seen = tare("explain", "--advice", "--json", "-o", "-", "--program-output", "none", "--costs", dear, PROGRAM, "reused")
shown = json.loads(seen.out)
equal((shown["waits"], shown["why_no_waits"], shown["system_calls"]), (None, None, None), "what was executed for a line alone is not shown")
stripped = os.path.abspath("stripped")
subprocess.run(["objcopy", "--strip-debug", PROGRAM, stripped], check=True)
seen = tare("explain", "--advice", "-o", "-", "--program-output", "none", "--costs", dear, stripped, "reused")
has(" ".join(seen.out.split()), "Its line is not known: " + ("page faults may not be sampled" if why_unsampled else "its code has no line numbers: compile it with -g."),
    "without debug information there is no line, and it says what gives one")
# the kernel maps its page of zeroes where memory is read first: a fault without any resident memory
for name, what in (("only-read", "memory that is only read"), ("read-written", "memory that is read first and written then"), ("grows", "memory that grows")):
    rows = advice(name, "--on", "auto", costs=dear)
    ok([row["rule"] for row in rows] == ["first-touch"], f"{what}: touched once, not 'again and again'", rows)
rows = advice("buffers", "--on", "auto", costs="free.costs")
ok(not any(row["rule"] in ("memory-again", "first-touch") for row in rows), "faults that cost nothing: nothing", rows)

# ---- asked for or not, and shown ----
seen = tare("explain", "--on", "model:zen4", "--costs", "planted.costs", "--program-output", "none", PROGRAM, "structs")
has_not(seen.err, "Advice", "without --advice: none")
has(" ".join(seen.err.split()), "--advice looks for the lines behind this", "... and a note says that there may be some")
seen = tare("explain", "--advice", "--on", "model:zen4", "--costs", "planted.costs", "--program-output", "none", PROGRAM, "structs")
has(seen.err, f"At advice.c:{line_of('the struct')}: Keep the field", "advice begins with where")
ok(max(map(len, seen.err.splitlines())) <= 80, "no line is longer than 80 columns", seen.err)
seen = tare("explain", "--advice", "--csv", "-o", "-", "--on", "model:zen4", "--costs", "planted.costs", "--program-output", "none", PROGRAM, "structs")
has(seen.out, "\r\n1,advice,", "the CSV has a line for each")
done()
