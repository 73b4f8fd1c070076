"""The engine and a machine model, judged by `tare verify` as a user would: every event that arithmetic predicts is exact, by whole commands and regions.

The name of a fact that fails is the verdict: defects that are planted into the source of either are named here."""
import json
import os
import sys

KERNELS = os.path.abspath(sys.argv[2])

from cli import *

# lab: the machine of the closed forms (docs/closed-forms.md), LRU and nothing else: arithmetic knows its misses
EVENTS = ["instructions", "loads", "stores", "branches", "conditional-branches", "taken-branches", "system-calls", "l1d-read-misses", "dtlb-misses", "l1d-reads",
          "l1d-accesses", "conditional-branch-misses", "branch-misses"]
seen = tare("verify", "--quick", "--json", "--no-store", "--kernels", "array,branches,convolution", "--on", "exact,model:lab", "-e", ",".join(e + ":u" for e in EVENTS),
            env=environment(TARE_KERNELS=KERNELS))
found = json.loads(seen.out) if seen.out else {"verdicts": []}
ok(seen.code == 0, "no event of the engine or the model is at fault", seen.err)
judged = set()
for v in found["verdicts"]:
    judged.add((v["source"], v["event"]))
    ok(v["verdict"] == "exact" and v["witnesses"], f"{v['event']} ({v['machine'] or v['source']}, {v['interface']}) is {v['verdict']}{': ' * bool(v['text'])}{v['text']}", v)
missing = {("exact", e + ":u") for e in EVENTS[:7]} | {("model", e + ":u") for e in ("l1d-read-misses", "branch-misses")}
equal(sorted(missing - judged), [], "all of them are judged")
done()
