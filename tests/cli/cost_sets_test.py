"""The chases by which costs are measured, on declared machines: each misses the levels before the one whose cost it gives, with each step, and has its
lines and translations there. Started with the built tare and the chases as a program."""
import json
import os
import platform
import sys

PROGRAM = os.path.abspath(sys.argv[2])  # importing cli changes the folder

from cli import *

if platform.machine() != "x86_64":
    skip("the engine is for x86-64", "chases miss what they are meant to miss")
    done()
MACHINES = {row["machine"]: row for row in json.loads(tare("list", "machines", "--json").out)["machines"]}


def chain(rows, first):
    """The first of the rows and those behind it."""
    named, found = {row["name"]: row for row in rows}, []
    while first:
        found.append(named[first])
        first = named[first]["next"]
    return found


def misses(machine, regions, events):
    """{region: {event: count}} and how many steps each makes; the sizes are those that tare calibrate takes."""
    caches = chain(machine["caches"], "L1D")
    tlbs = chain(machine["tlbs"], next(row["name"] for row in machine["tlbs"] if row["holds"] != "instructions"))
    sizes = ([row["bytes"] for row in caches] + [0, 0])[:3] + [caches[-1]["line_bytes"], 4096] + ([row["entries"] * row["pages_per_entry"] for row in tlbs] + [0])[:2]
    places = [word for region in regions for word in ("--region", region)]
    ran = tare("count", "--on", f"model:{machine['machine']}", "-e", ",".join(events), *places, "--json", "-o", "report.json", "--", PROGRAM, *map(str, sizes))
    if not ok(ran.code == 0, f"{machine['machine']}: the chases are counted", ran):
        return {}, 0
    return {row["name"]: {e["event"].removesuffix(":u"): e["value"] for e in row["results"]} for row in json.loads(read("report.json"))["regions"]}, int(ran.out)


def all_of(count, steps):
    return 0.99 * steps <= count <= 1.01 * steps


def none_of(count, steps):
    return count <= 0.01 * steps


# zen4: three levels of caches and two of TLBs, all least recently used
ok(every(row["replacement"] == "lru" for row in chain(MACHINES["zen4"]["caches"], "L1D")), "zen4 is a machine of which it is known which lines a set keeps")
for name, regions, levels in (("zen4", ("l1", "l2", "l3", "memory", "near_packed", "near_spread", "far_packed", "far_spread"), ("l1d", "l2", "l3")),
                              ("r10000", ("l1", "l2", "memory"), ("l1d", "l2"))):  # its TLB's entries are pairs of pages
    events = [f"{level}-misses" for level in levels] + ["dtlb-misses", "dtlb-walks"]
    seen, steps = misses(MACHINES[name], regions, events)
    if not seen:
        continue
    for at, region in enumerate([f"l{level}" for level in range(1, len(levels) + 1)] + ["memory"]):
        counts = [seen[region][f"{level}-misses"] for level in levels]
        ok(not at or every(all_of(count, steps) for count in counts[:at]), f"{name}: {region}'s chase misses each level before, with each step", counts)
        ok(at == len(levels) or every(none_of(count, steps) for count in counts[at:]), f"{name}: and has its lines there", counts)
    for region, missed, walked in (("near_packed", none_of, none_of), ("near_spread", all_of, none_of), ("far_packed", None, none_of), ("far_spread", all_of, all_of)):
        if region in seen:  # lines of far_packed are in more pages than the first TLB has entries
            counts = seen[region]
            ok(walked(counts["dtlb-walks"], steps) and (not missed or missed(counts["dtlb-misses"], steps)), f"{name}: {region}: "
               f"{'no step' if missed is none_of else 'each step' if missed else 'a step here and there'} misses the first TLB, {'each' if walked is all_of else 'none'} needs a walk", counts)
done()
