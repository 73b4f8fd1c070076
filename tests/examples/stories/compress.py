"""Safford 1997, section 5.7: about half of the time of compress is waiting for data; with a table that fits into the second-level cache it does not
wait for memory."""
from stories import *

CHARACTERS, CACHE = 105196, 256 * 1024

begin("compress")
# the second-level cache has one way: what it misses depends on where the kernel puts the stack, too
recordings("compress", within=0.1)
write("text.txt", printed(build("../text.c", "text")))
before, after = build("lzw.c", "before"), build("lzw.c", "after", "-DBITS=12")
causes = [explained(program, "model:pentium", stdin="text.txt", costs="pentium") for program in (before, after)]
waits = [(times["L2 cache"] + times["memory"]) / sum(times.values()) for times in causes]
between(waits[0], 0.4, 0.7, "about half of the time is waiting for data")
ok(causes[1]["memory"] < causes[0]["memory"], "with the small table it waits less for memory", causes)
# In a second-level cache of one way, what text, stack and table take from each other depends on their addresses. With eight ways nothing does.
seen = [counts(program, "model:eight-ways.conf", ["l2-data-misses"], ["compress"], stdin="text.txt")["compress"]["l2-data-misses"] for program in (before, after)]
lines = [touched(0, 4 * size, 32) + touched(0, 2 * size, 32) for size in (69001, 9001)]
ok(seen[0] > lines[0] // 2, f"eight ways: a table of {lines[0]} lines misses throughout, in a cache of {CACHE // 32}", seen)
ok(seen[1] <= lines[1] + touched(0, 3 * 4096, 32), f"one of {lines[1]} lines misses once a line, beside the text's buffer", seen)
seen = tare("count", "--on", "model:pentium", "-e", "l1d-misses", "--by", "object", "--json", "-o", "-", "--program-output", "none", before,
            stdin=read("text.txt").encode())
rows = json.loads(seen.out)["breakdown"]["rows"]
equal([row["object"] for row in rows[:2]], ["keys", "codes"], "the two arrays of the table are what misses")
ok(sum(row["counts"][0] for row in rows[:2]) > 0.9 * sum(row["counts"][0] for row in rows), "nine misses of ten and more", rows[:3])
# here: a cache that holds the table has no such misses
host = machine("host")
last = max((cache for cache in host["caches"] if cache["holds"] != "instructions"), key=lambda cache: cache["bytes"])
table = 69001 * 6
if last["bytes"] >= 4 * table:
    event = last["name"].lower() + ("-data-misses" if last["name"] != "L1D" else "-misses")
    found = counts(before, "model:host", [event], ["compress"], stdin="text.txt")["compress"][event]
    ok(found <= 2 * touched(0, table, last["line_bytes"]), f"host: absent here: {last['name']} holds the table, and each line misses once", found)
names_cause("too-much-for-l2", before, after, "model:pentium", ("lzw.c", "while (keys[at] && keys[at] != key)"), stdin="text.txt", costs="pentium")
done()
