"""A hash map of today: with lists each lookup reads a line of the table and one for each node; with open addresses a little more than one, of a
table that L2 keeps."""
from stories import *

KEYS, LOOKUPS, VISITED = 100000, 200000, 274528
LINE, NODE, ENTRY = 64, 64, 8
ENTRIES = 1 << 17
TABLES = [8 * (1 << 17), ENTRY * ENTRIES]


def scatter(n):
    n = n * 0x9e3779b97f4a7c15 % (1 << 64)
    return n ^ n >> 29


def lines_read():
    """By the mended program's lookups, each line once a lookup."""
    table, lines = [None] * ENTRIES, 0
    for key in range(KEYS):
        at = scatter(key) % ENTRIES
        while table[at] is not None:
            at = (at + 1) % ENTRIES
        table[at] = key
    for i in range(LOOKUPS):
        key = scatter(i) % KEYS
        first = last = scatter(key) % ENTRIES
        while table[last % ENTRIES] != key:
            last += 1
        lines += touched(first * ENTRY, (last - first + 1) * ENTRY, LINE)
    return lines


begin("hash-map")
recordings("hash-map")
before, after = build("before.c", "before"), build("after.c", "after")
seen = [subprocess.run([program], capture_output=True, text=True, check=True) for program in (before, after)]
equal(seen[0].stdout, seen[1].stdout, "both programs find the same")
equal(seen[0].stderr, f"{VISITED} nodes visited\n", "and the first one says how many nodes it visited")
reads = [LOOKUPS + VISITED, lines_read()]
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
names_cause("too-much-for-l2", before, after, "model:zen4", ("before.c", "if (node->key == key)"))
behind = [(times["L3 cache"] + times["memory"]) / sum(times.values()) for times in causes]
ok(behind[1] < 0.1, "mended: what is left of them is less than a tenth, of what comes for the first time", behind)
done()
