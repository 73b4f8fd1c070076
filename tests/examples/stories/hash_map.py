"""A hash map of today: with lists each lookup reads a line of the table and one for each node; with open addresses a little more than one."""
from stories import *

KEYS, LOOKUPS, VISITED = 100000, 200000, 274528
LINE, NODE, ENTRY = 64, 64, 16
TABLES = [8 * (1 << 17), ENTRY * (1 << 18)]

begin("hash-map")
recordings("hash-map")
before, after = build("before.c", "before"), build("after.c", "after")
seen = [subprocess.run([program], capture_output=True, text=True, check=True) for program in (before, after)]
equal(seen[0].stdout, seen[1].stdout, "both programs find the same")
equal(seen[0].stderr, f"{VISITED} nodes visited\n", "and the first one says how many nodes it visited")
# Knuth 1962: a successful search with open addresses looks at (1 + 1/(1 - load)) / 2 entries; a step leaves the line in one of 4 cases
steps = (1 + 1 / (1 - KEYS / (1 << 18))) / 2 - 1
reads = [LOOKUPS + VISITED, LOOKUPS * (1 + steps * ENTRY / LINE)]
for name in ("zen4", "host"):
    cache = component(machine(name), "caches", "L1D")
    if not cache or cache["line_bytes"] != LINE or cache["replacement"] != "lru":
        continue
    # the share of the table, and of the nodes, that the cache can hold is what may be found there
    kept = [LOOKUPS * cache["bytes"] / TABLES[0] + VISITED * cache["bytes"] / (KEYS * NODE), reads[1] * cache["bytes"] / TABLES[1]]
    found = [counts(program, f"model:{name}", ["l1d-misses"], ["find"])["find"]["l1d-misses"] for program in (before, after)]
    for when, misses, read_, may in zip(("before", "after"), found, reads, kept):
        between(misses, 0.98 * (read_ - may), 1.02 * read_, f"{name}, {when}: {read_ / LOOKUPS:.2f} lines a lookup, and nearly all miss")
causes = [explained(program, "model:zen4") for program in (before, after)]
equal([max(times, key=times.get) for times in causes], ["L3 cache", "computing"], "explain names what is behind L2 before, and no longer after")
ok(causes[0]["L3 cache"] + causes[0]["memory"] > sum(causes[0].values()) / 2, "L3 and memory are more than half of the time", causes[0])
advice = [[row for row in advised(program, "model:zen4") if row["rule"] == "too-much-for-l2"] for program in (before, after)]
ok(any(row["line"] == line_with("before.c", "if (node->key == key)") for row in advice[0]), "explain --advice names the nodes, which L2 does not keep", advice)
equal([row["line"] for row in advice[1]], [line_with("after.c", "table[at].key; at = (at + 1) % ENTRIES)")], "mended: the entries alone")
ok(sum(row["seconds"] for row in advice[1]) < 0.5 * sum(row["seconds"] for row in advice[0]), "and less than half of the time", advice)
done()
