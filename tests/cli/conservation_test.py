"""What must hold between counts of an ordinary run, whoever asked for them: laws that are broken are told where the numbers are.
Counters that lie are recordings; overflows x period = count is tried with page faults, which a program makes by its arithmetic."""
import json
import os
import shutil
import subprocess

from cli import *

WRONG = "one of these counts is wrong"


def recording(name, events, *executions, regions=None, source="hw"):
    write(name, json.dumps({"tare_recording": 1, "events": [{"name": e, "source": source} for e in events],
                            "executions": [{"readings": dict(zip(events, values))} for values in executions]}))
    return "replay:" + name


def counted(events, *executions, source="hw", options=()):
    """(the command, {event: (trust, evidence)}, its notes)."""
    seen = tare("count", "--json", "-o", "counted.json", "--no-store", "--on", recording("lies.json", events, *executions, source=source),
                "-e", ",".join(events), *options, "--", "true")
    found = json.loads(read("counted.json"))
    return {e["event"]: (e["trust"], e.get("evidence")) for e in found["results"]}, " ".join(n["text"] if isinstance(n, dict) else n for n in found["notes"])


# each: events, what obeys, what does not, the law's name
laws = [
    (["instructions:u", "instructions:k", "instructions"], (9000000, 1000000, 10000000), (9000000, 1000000, 12000000), "levels"),
    (["data-reads:u", "data-writes:u", "data-accesses:u"], (6000000, 4000000, 10000000), (6000000, 4000000, 9000000), "data-accesses"),
    (["l1d-reads:u", "l1d-writes:u", "l1d-accesses:u"], (6000000, 4000000, 10000000), (6000000, 4000000, 11000000), "l1d-accesses"),
    (["l1d-hits:u", "l1d-misses:u", "l1d-accesses:u"], (9000000, 1000000, 10000000), (9000000, 3000000, 10000000), "l1d-hits"),
    (["l2-hits:u", "l2-misses:u", "l2-accesses:u"], (9000000, 1000000, 10000000), (9000000, 1000000, 20000000), "l2-hits"),
    (["cache-misses:u", "cache-references:u"], (1000000, 10000000), (10000000, 1000000), "cache-references"),
    (["branch-misses:u", "branches:u"], (1000000, 10000000), (10000000, 1000000), "mispredictions"),
    (["instructions:u", "cycles:u"], (16000000, 1000000), (17000000, 1000000), "instructions-per-cycle"),
]
for events, good, bad, law in laws:
    trusts, notes = counted(events, good)
    ok({t for t, _ in trusts.values()} == {"unverified"} and WRONG not in notes, f"{law}: counts that obey are left alone", (trusts, notes))
    trusts, notes = counted(events, bad)
    ok({t for t in trusts.values()} == {("refuted", "law:" + law)} and WRONG in notes, f"{law}: others are refuted, all of them", (trusts, notes))

trusts, notes = counted(["loads:u", "instructions:u"], (5, 4), source="exact")
ok({t for t in trusts.values()} == {("refuted", "law:loads")} and "in run" not in notes, "of the engine one event too many is too many", (trusts, notes))
trusts, notes = counted(["loads:u", "instructions:u"], (4, 4), (4, 4), (5, 4), (4, 4), source="exact", options=["-r", "3"])
ok({t for t in trusts.values()} == {("refuted", "law:loads")} and "in run 2" in notes, "in any of its runs", (trusts, notes))
# of counters the most common relation counts: executions that were disturbed (a counter taken away, an interrupt) neither break a law nor hide it
LEVELS, GOOD, BAD = ["instructions:u", "instructions:k", "instructions"], (9000000, 1000000, 10000000), (9000000, 1000000, 12000000)
for disturbed in (9000000, 1000000, 5000000), (9000000, 1500000, 10000000), (4500000, 1000000, 10000000):
    trusts, notes = counted(LEVELS, *[GOOD, GOOD, disturbed] * 3, GOOD, options=["-r", "9"])
    ok({t for t, _ in trusts.values()} == {"unverified"} and WRONG not in notes, f"three disturbed executions of nine break no law: {disturbed}", (trusts, notes))
trusts, notes = counted(LEVELS, *[BAD] * 5, (9000000, 1000000, 1000000), *[BAD] * 4, options=["-r", "9"])
ok({t for t in trusts.values()} == {("refuted", "law:levels")} and WRONG in notes and "10,000,000 and the right side 12,000,000 in run" in notes,
   "nor does one hide that all others break it", (trusts, notes))
trusts, notes = counted(["instructions:u", "loads:u", "cycles:u"], (5000000, 9000000, 5000000))
equal({e: t for e, (t, _) in trusts.items()}, {"instructions:u": "refuted", "loads:u": "refuted", "cycles:u": "unverified"},
      "what is not in a broken law is left alone")

# the same event twice, one of the counters off (Zagha et al., 2.2)
write("twice.json", json.dumps({"tare_recording": 1, "events": [{"name": "cycles", "source": "hw"}, {"name": "cycles:uk", "source": "hw"}],
                                "executions": [{"readings": {"cycles": 10000000, "cycles:uk": 13000000}}]}))
seen = tare("count", "--no-store", "--on", "replay:twice.json", "-e", "cycles,cycles:uk", "--", "true")
ok(seen.code == 0 and " ".join(seen.err.split()).count(WRONG) == 1 and "the same event was counted" in " ".join(seen.err.split()), "the same event twice, with counts that differ, is told", seen)

# a metric of refuted counts is refuted; a comparison says it, too
seen = tare("count", "--json", "-o", "metric.json", "--no-store", "--on", recording("ipc.json", ["instructions:u", "cycles:u"], (40000000, 1000000)),
            "-e", "instructions:u,cycles:u", "-m", "ipc", "--", "true")
if seen.code == 0:
    found = json.loads(read("metric.json"))
    equal({m["trust"] for m in found.get("metrics", [])}, {"refuted"}, "a metric of refuted counts is refuted")
else:
    ok(False, "a metric of refuted counts is refuted", seen)

# ---- overflows x period = count ----
FACT = "samples are held against the count"
if not shutil.which("gcc"):
    skip("no gcc here", FACT)
    done()
write("children.c", """\
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
static void touch(int pages)
{
	char *memory = mmap(0, (size_t)pages << 12, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	madvise(memory, (size_t)pages << 12, MADV_NOHUGEPAGE);
	for (int i = 0; i < pages; i++)
		memory[(size_t)i << 12] = 1;
	munmap(memory, (size_t)pages << 12);
}
int main(int n, char **arguments)
{
	int children = atoi(arguments[1]);
	for (int i = 0; i < 60; i++) {
		if (children && fork() == 0) {
			touch(500);
			_exit(0);
		}
		if (children)
			wait(0);
		else
			touch(500);
	}
}
""")
subprocess.run(["gcc", "-O1", "-static", "children.c", "-o", "children"], check=True)
# On one CPU: each CPU counts its own gaps, and a program that moves leaves a part of one on each.
cpus = os.sched_getaffinity(0)
os.sched_setaffinity(0, {min(cpus)})
seen = tare("profile", "-e", "page-faults:u", "--gaps", "fixed", "-c", "900", "./children", "0")
os.sched_setaffinity(0, cpus)
if seen.code == 3 and "cannot sample" in seen.err:
    skip("page faults cannot be sampled here", FACT)
    done()
text = " ".join(seen.err.split())
found = re.search(r"page-faults:u by function: (\d+) samples, one each 900 faults", text)
ok(seen.code == 0 and found and 33 <= int(found[1]) <= 34 and "stand for" not in text, "30,000 faults of one process have a sample each 900", seen)
seen = tare("profile", "-e", "page-faults:u", "--gaps", "fixed", "-c", "900", "-o", "kept", "./children", "1")
text = " ".join(seen.err.split())
found = re.search(r"page-faults:u: the samples stand for ([\d.]+) % of what was counted", text)
ok(seen.code == 0 and found and float(found[1]) < 10 and "end before their first gap have no samples" in text, "of 60 processes with 500 faults each no sample is taken, and that is told", seen)
has(" ".join(tare("report", "kept").out.split()), "page-faults:u: the samples stand for", "in what is kept of it, too")
seen = tare("profile", "-e", "page-faults:u", "--gaps", "fixed", "-c", "100", "./children", "1")
has_not(" ".join(seen.err.split()), "stand for", "with a shorter gap they have samples, and nothing is told")
done()
