"""Zagha et al. 1996, section 4.3: sums that share a line make as many interventions and invalidations as misses, more with more threads; set apart
they make none (docs/closed-forms.md, 1.16)."""
from stories import *

CELLS = 20000
EVENTS = ["interventions", "invalidations", "l2-data-misses"]
# The thread that has executed most since the last time has turns of 16 words of its stream, and an addition is two (a load, a store): in such a turn
# are 8 additions, or some more. The others' turns are as much shorter as they have executed less; it waits for who has not half as much.
MOST_A_TURN, LEAST_A_TURN = 10, 4
# a thread's stack and its beginning, and the sums' own lines
MORE = 16

begin("false-sharing")
recordings("false-sharing", within=0.1)  # how long threads run together depends on when the kernel starts each; the bounds below hold whenever that is
before, after = build("sums.c", "before", "-pthread"), build("sums.c", "after", "-pthread", "-DLINE=128")
for threads in (1, 2, 4):
    equal([printed(f"{program} {threads}") for program in (before, after)], [f"{threads * CELLS}\n"] * 2, f"{threads} threads: both add up the same")
    shared, apart = (counts(f"{program} {threads}", "model:r10000", EVENTS, ["physics"])["physics"] for program in (before, after))
    for event in EVENTS:
        if threads == 1:
            ok(shared[event] <= MORE, f"1 thread: no {event}", shared)
        else:
            between(shared[event], threads * CELLS // MOST_A_TURN, threads * CELLS // LEAST_A_TURN + MORE * threads,
                    f"{threads} threads: each turn of a thread makes one of the {event}")
        ok(apart[event] <= MORE * threads, f"{threads} threads, set apart: no {event} by the sums", apart)
seen = tare("count", "--on", "model:host", "-e", "false-sharing-misses", "--by", "object", "--json", "-o", "-", "--program-output", "none", before, "4")
rows = json.loads(seen.out)["breakdown"]["rows"]
ok(rows and rows[0]["object"] == "sums" and rows[0]["counts"][0] > 4 * CELLS // MOST_A_TURN, "host: the sums are the object that is falsely shared", rows[:2])
seen = tare("count", "--on", "model:host", "-e", "false-sharing-misses", "--by", "object", "--json", "-o", "-", "--program-output", "none", after, "4")
rows = json.loads(seen.out)["breakdown"]["rows"]
ok(not any(row["object"] == "sums" and row["counts"][0] > MORE for row in rows), "host: set apart they are not", rows[:2])
names_cause("false-sharing", f"{before} 4", f"{after} 4", "model:r10000", ("sums.c", "sums[me].sum += 1;"))
done()
