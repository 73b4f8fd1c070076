"""The engine and a machine model, judged by `tare verify` as a user would: every event that arithmetic predicts is exact, by whole commands and regions.

The name of a fact that fails is the verdict: defects that are planted into the source of either are named here."""
import json
import os
import subprocess
import sys

KERNELS = os.path.abspath(sys.argv[2])
POLICIES = os.path.abspath(os.path.dirname(__file__) + "/../kernels")

from cli import *

# lab: the machine of the closed forms (docs/closed-forms.md), LRU and nothing else: arithmetic knows its misses
EVENTS = ["instructions", "loads", "stores", "branches", "conditional-branches", "taken-branches", "system-calls", "l1d-read-misses", "dtlb-misses", "l1d-reads",
          "l1d-accesses", "conditional-branch-misses", "branch-misses"]
seen = tare("verify", "--quick", "--json", "--no-store", "--kernels", "array,branches,convolution,thrash", "--on", "exact,model:lab", "-e", ",".join(e + ":u" for e in EVENTS),
            env=environment(TARE_KERNELS=KERNELS))
found = json.loads(seen.out) if seen.out else {"verdicts": []}
ok(seen.code == 0, "no event of the engine or the model is at fault", seen.err)
judged = set()
for v in found["verdicts"]:
    judged.add((v["source"], v["event"]))
    ok(v["verdict"] == "exact" and v["witnesses"], f"{v['event']} ({v['machine'] or v['source']}, {v['interface']}) is {v['verdict']}{': ' * bool(v['text'])}{v['text']}", v)
missing = {("exact", e + ":u") for e in EVENTS[:7]} | {("model", e + ":u") for e in ("l1d-read-misses", "branch-misses")}
equal(sorted(missing - judged), [], "all of them are judged")

# ---- a policy of replacement that is not the declared one shows in `oldest` and `oldest-page` alone: LRU, FIFO and a tree of bits, 8, 9 and 13 misses a turn; of a TLB 192 and 256 ----
for machine, kernel, event in (*[(m, "oldest", "l1d-read-misses:u") for m in ("lab", POLICIES + "/lab-fifo.conf", POLICIES + "/lab-plru.conf")],
                               *[(m, "oldest-page", "dtlb-misses:u") for m in ("lab", POLICIES + "/lab-tlb-fifo.conf")]):
    seen = tare("verify", "--quick", "--json", "--no-store", "--kernels", kernel, "--on", "model:" + machine, "-e", event, env=environment(TARE_KERNELS=KERNELS))
    found = json.loads(seen.out)["verdicts"] if seen.out else []
    name = os.path.basename(machine).removesuffix(".conf")
    equal([(v["event"], v["interface"], v["verdict"], v["text"]) for v in found], [(event, "region", "exact", "")], f"{name}: the misses of '{kernel}' are those of the declared policy")

# ---- what a region reads of the stack, its return's address, shares no set of a cache with what the kernel sweeps over ----
counted = set()
for i in range(64): # each line of a page is where the stack begins once
    seen = subprocess.run(["setarch", "-R", TARE, "count", "--no-store", "--json", "-o", "region.json", "--on", "model:lab", "-e", "l1d-read-misses:u", "--region", "kernel_body", "--",
               KERNELS + "/thrash-region", "10"], capture_output=True, text=True, env=environment(PADDING="x" * (64 * i)))
    counted.add(json.loads(read("region.json"))["regions"][0]["results"][0]["value"] if seen.returncode == 0 else seen.stderr)
equal(sorted(counted), [10 * 192], "the sweeps of 'thrash' miss each time, and nothing else does, wherever the program's stack begins")

# ---- a program that reads its own region: the engine counts regions from outside, so the report has the count, and the program is told none ----
counted = []
for n in (1000, 3000):
    seen = tare("count", "--no-store", "--json", "-o", "region.json", "--on", "exact", "-e", "instructions:u", KERNELS + "/loop-region", str(n), "instructions:u")
    ok(seen.code == 3 and "count" not in seen.out and "tare's engine counts the region from outside, and 'tare count' reports it" in seen.err, "the program is told no count rather than 0, and says where it is", seen)
    region = next(r for r in json.loads(read("region.json"))["regions"] if r["name"] == "body")
    counted.append(region["results"][0]["value"])
equal(counted[1] - counted[0], 2 * 2000, "the report has what its loop executes, to the instruction")
done()
