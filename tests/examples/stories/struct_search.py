"""Zagha et al. 1996, section 4.1: the search misses once a structure; with a shadow array once a line of 32 numbers (docs/closed-forms.md, 1.15)."""
from stories import *

N, SHIFTS, STRUCT = 20000, 50, 160
EVENTS = ["loads", "l1d-misses", "l2-data-misses"]
# find() reads one number for each worker, and its return address: which may miss, once a call
MORE = SHIFTS

begin("struct-search")
recordings("struct-search")
before, after = build("before.c", "before"), build("after.c", "after")
equal(printed(before), printed(after), "both programs print the same")

# ---- the paper's machine: structures larger than the line of 128 bytes ----
seen = [counts(program, "model:r10000", EVENTS, ["find"])["find"] for program in (before, after)]
for when, found in zip(("before", "after"), seen):
    equal(found["loads"], N * SHIFTS + SHIFTS, f"{when}: a search loads once a worker")
between(seen[0]["l2-data-misses"], N * SHIFTS, N * SHIFTS + MORE, "r10000, before: each load of the search misses the second-level cache")
between(seen[1]["l2-data-misses"], touched(0, 4 * N, 128), touched(0, 4 * N, 128) + MORE, "r10000, after: one miss for 32 numbers, in the first search alone")
between(seen[1]["l1d-misses"], SHIFTS * touched(0, 4 * N, 32), SHIFTS * touched(0, 4 * N, 32) + MORE, "r10000, after: one miss of the first level for 8 numbers")
causes = [explained(program, "model:r10000") for program in (before, after)]
equal([max(times, key=times.get) for times in causes], ["memory", "computing"], "explain names the memory before, and no longer after")
ok(causes[0]["memory"] > 10 * causes[1]["memory"], "its time is less than a tenth", causes)

# ---- the machine here ----
host = machine("host")
cache = component(host, "caches", "L1D")
found = [counts(program, "model:host", EVENTS[:2], ["find"])["find"] for program in (before, after)]
if cache and cache["replacement"] == "lru":
    line = cache["line_bytes"]
    for when, misses, units in (("before", found[0]["l1d-misses"], sorted({STRUCT * i // line for i in range(N)})),
                                ("after", found[1]["l1d-misses"], list(range(touched(0, 4 * N, line))))):
        # what fits has been there since the array was filled, if no later fill drove it out
        least, most = (sweep_misses(units, cache["sets"], cache["ways"], SHIFTS, warm) for warm in (True, False))
        between(misses, least, most + MORE, f"host, {when}: the misses of the search are those of {SHIFTS} sweeps over {len(units)} lines")
names_cause("one-field", before, after, "model:r10000", ("before.c", "if (workers[i].grade == grade)"))
done()
