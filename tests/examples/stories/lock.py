"""A lock for each addition is two locked instructions an addition, and its line moves between the cores."""
from stories import *

ADDITIONS, MORE = 5000, 200

begin("lock")
recordings("lock", within=0.5)  # a thread that finds the lock taken executes more locked instructions: how often is the threads' own
before, after = build("sums.c", "before", "-pthread"), build("sums.c", "after", "-pthread", "-DOWN")
for threads in (1, 4):
    equal(printed(f"{before} {threads}"), printed(f"{after} {threads}"), f"{threads} threads: both programs add up the same")
    locked = [counts(f"{program} {threads}", "exact", ["locked-instructions"], [])[None]["locked-instructions"] for program in (before, after)]
    # who finds the lock taken tries again, by another locked instruction
    between(locked[0], 2 * ADDITIONS * threads, 2.5 * ADDITIONS * threads + MORE, f"{threads} threads: two locked instructions an addition")
    ok(locked[1] <= MORE, f"{threads} threads: with a sum of its own each takes the lock once", locked)


def moved(program):
    """Lines that moved between cores, of the lock and the sum."""
    seen = tare("count", "--on", "model:host", "-e", "interventions", "--by", "object", "--json", "-o", "-", "--program-output", "none", program, "4")
    return sum(row["counts"][0] for row in json.loads(seen.out)["breakdown"]["rows"] if row["object"] in ("lock", "sum"))


if machine("host")["coherent"]:
    found = [moved(program) for program in (before, after)]
    ok(found[0] > 10 * found[1], "host: lock and sum move between the cores ten times as often and more", found)
for on in ("model:zen4", "model:host"):
    names_cause("locked-often", f"{before} 4", f"{after} 4", on, ("sums.c", "add(i);"))
done()
