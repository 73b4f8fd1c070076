"""`tare verify` names faulty counters, by recordings: what the kernels must count (tare verify's own predictions), with a fault planted into each
reading. The engine's and a model's counts are planted in the same way. It takes some 10 s of CPU time: each look at one to four planted faults is
200 executions of kernels."""
import json
import os
import random
import subprocess

KERNELS = os.path.abspath(__import__("sys").argv[2])

from cli import *

ENV = environment(TARE_KERNELS=KERNELS)
EVENTS = ["instructions:u", "loads:u", "stores:u", "branches:u", "fp-operations:u"]
NAMES = "array,stores,fp-add"
EXECUTIONS = {"hw": 10, "model": 10, "exact": 10}  # a recording is read as a counter that may vary is


def verify(on, *arguments):
    return tare("verify", "--quick", "--json", "--no-store", "--kernels", NAMES, "-e", ",".join(EVENTS), "--on", on, *arguments, env=ENV)


def recording(readings_of, source, corrupt=(), events=EVENTS):
    """Executions in tare's order: for its estimate of the time the smallest size five times and the largest once of each kernel, then all."""
    kernels = list(dict.fromkeys(kernel for kernel, _ in POINTS))
    sizes = {kernel: [n for k, n in POINTS if k == kernel] for kernel in kernels}
    order = [(k, n) for k in kernels for n in (*[sizes[k][0]] * 5, sizes[k][-1])]
    order += [(k, n) for k in kernels for n in sizes[k] for _ in range(EXECUTIONS[source])]
    write("faulty.json", json.dumps({"tare_recording": 1, "events": [{"name": e, "source": source} for e in events], "corrupt": list(corrupt),
                                     "executions": [{"readings": readings_of(dict(POINTS[point]))} for point in order]}))
    return "replay:faulty.json"


def judged(event_or_all, fault, source="hw"):
    """The verdicts where `fault` changes the readings of one event, or of all of them at once."""
    def readings(counts):
        if callable(event_or_all):
            return event_or_all(counts)
        return {**counts, event_or_all: fault(counts[event_or_all], counts)}
    seen = verify(recording(readings, source))
    found = json.loads(seen.out) if seen.out else {"verdicts": []}
    return seen, {v["event"]: v for v in found["verdicts"]}


# ---- what arithmetic says of each kernel and size: a recording of nothing, once for each execution, has it beside ----
write("zero.json", json.dumps({"tare_recording": 1, "after_last": "repeat", "events": [{"name": e, "source": "hw"} for e in EVENTS],
                               "executions": [{"readings": {e: 0 for e in EVENTS}}]}))
seen = verify("replay:zero.json")
POINTS = {}
for p in json.loads(seen.out)["points"]:
    POINTS.setdefault((p["kernel"], p["size"]), {})[p["event"]] = int(p["predicted"] or 0)
equal(len(POINTS), 18, "three kernels at six sizes")
equal({v["verdict"] for v in json.loads(seen.out)["verdicts"]}, {"counts nothing here"}, "counters that show 0 count nothing here")
equal(seen.code, 0, "which is no fault: no count of theirs is reported")

seen, found = judged(lambda counts: counts, None)
equal((seen.code, {v["verdict"] for v in found.values()}, {v["executions"] for v in found.values()}), (0, {"exact"}, {180, 60}), "clean counters are exact, in all of 180 executions; FP operations have one kernel of the three")

chance = random.Random(5)
CAP = 5000
faults = [
    ("twice", "loads:u", lambda x, c: 2 * x, "proportional", "counts each event twice"),
    ("16 times", "stores:u", lambda x, c: 16 * x, "proportional", "counts each event 16 times"),
    ("halved", "branches:u", lambda x, c: x // 2, "proportional", "counts half of the branches"),
    ("dropped samples", "instructions:u", lambda x, c: 1000 * sum(chance.random() < 0.7 for _ in range(x // 1000)), "wrong", "loses samples of 1000"),
    ("2^12 wraps", "instructions:u", lambda x, c: x % 4096, "wrong", "begins anew at 2^12"),
    ("stuck", "branches:u", lambda x, c: 4711, "wrong", "always shows 4711"),
    ("throttled", "stores:u", lambda x, c: min(x, 2000 + (x - 2000) // 4), "wrong", "throttled: beyond"),
    ("saturating", "instructions:u", lambda x, c: min(x, CAP), "wrong", f"stays at {CAP}"),
    ("another event", "loads:u", lambda x, c: c["stores:u"], "wrong", "counts stores:u instead"),
    ("stores, too", "loads:u", lambda x, c: x + c["stores:u"], "proportional", "also counts stores:u"),
    ("twice in half of the executions", "loads:u", lambda x, c: x * (1 + (chance.random() < 0.5)), "wrong", "% of the executions it counts each event twice"),
    ("dead in a tenth of the executions", "branches:u", lambda x, c: x * (chance.random() >= 0.1), "wrong", "% of the executions it shows 0"),
    ("low 8 bits lost", "stores:u", lambda x, c: x // 256 * 256, "wrong", "loses its low 8 bits"),
    ("1000 events late", "loads:u", lambda x, c: max(0, x - 1000), "wrong", "misses the first 1000 events"),
    ("a random share", "instructions:u", lambda x, c: int(x * chance.uniform(0.01, 0.9)), "wrong", "shows another share of the events each time: "),
    ("wraps at 10,000", "branches:u", lambda x, c: x % 10000, "wrong", "begins anew at 10000"),
    ("at least 500", "stores:u", lambda x, c: max(x, 500), "wrong", "never shows less than 500"),
    ("any share in a quarter of the executions", "loads:u", lambda x, c: int(x * chance.random()) if chance.random() < 0.25 else x, "wrong", "% of the executions it shows another share of the events each time"),
    ("begins anew when it is switched out", "instructions:u", lambda x, c: x if x < 3000 else int(x * chance.random()), "wrong", "begins anew at times: beyond "),
    ("an offset", "instructions:u", lambda x, c: x + 139, "offset", "+139"),
    ("a bit that never moves", "branches:u", lambda x, c: x & ~16, "wrong", "bit 4 never moves: it is always 0"),
    ("a bit stuck at 1", "stores:u", lambda x, c: x | 64, "wrong", "bit 6 never moves: it is always 1"),
    ("powers of two", "loads:u", lambda x, c: 1 << x.bit_length() - 1 if x else 0, "wrong", "shows powers of two only"),
    ("loads and stores", "branches:u", lambda x, c: c["loads:u"] + c["stores:u"], "wrong", "counts loads:u and stores:u together"),
    ("a third", "loads:u", lambda x, c: x // 3, "proportional", "counts one of 3 events"),
    ("Gray code", "loads:u", lambda x, c: x ^ x >> 1, "wrong", "shows a Gray code of the count"),
    ("flipped bits", "stores:u", lambda x, c: x ^ 0x2d, "wrong", "flips the bits 0x2d of each count"),
    ("four bytes in reverse order", "branches:u", lambda x, c: int.from_bytes(x.to_bytes(4, "little"), "big"), "wrong", "shows its 4 bytes in reverse order"),
    ("twice beyond a size", "instructions:u", lambda x, c: x + max(0, x - 3000), "wrong", "beyond 3000 it counts each event twice"),
]
so_far = {"branches:u": 0, "loads:u": 0}


def with_those_before(counts):
    """Read before they are set (the count is the last execution's), and never set to 0: whatever ran before is in it."""
    shown = {**counts, "branches:u": so_far["branches:u"], "loads:u": so_far["loads:u"] + counts["loads:u"]}
    so_far.update({"branches:u": counts["branches:u"], "loads:u": shown["loads:u"]})
    return shown


def together(rows, event_of):
    """Rows of different events, which are planted at once: the judge sees one event at a time."""
    groups = []
    for row in rows:
        group = next((g for g in groups if event_of(row) not in map(event_of, g)), None)
        groups.append([row]) if group is None else group.append(row)
    return groups


def check(rows, seen):
    """[(name, event, verdict, text)] of one verification."""
    found = {v["event"]: v for v in json.loads(seen.out)["verdicts"]} if seen.out else {}
    for name, event, verdict, text in rows:
        row = found.get(event, {})
        ok(row.get("verdict") == verdict and text in row.get("text", ""), f"{name}: {event} is {verdict}: {text}", row or seen)
    planted = {event for _, event, _, _ in rows}
    equal({e: v["verdict"] for e, v in found.items() if e not in planted and v["verdict"] != "exact"}, {}, f"{name}: no other counter is accused")
    equal(seen.code, 0 if {verdict for _, _, verdict, _ in rows} == {"offset"} else 1, f"{name}: the exit code says so")


for group in together(faults, lambda row: row[1]):
    def planted(counts):
        return {**counts, **{event: fault(counts[event], counts) for _, event, fault, _, _ in group}}
    check([(name, event, verdict, text) for name, event, _, verdict, text in group], verify(recording(planted, "hw")))

check([("too early", "branches:u", "wrong", "shows the events of the execution before"), ("not set to 0", "loads:u", "wrong", "is not set to 0: it shows the events of all executions so far")],
      verify(recording(with_those_before, "hw")))

seen, found = judged(lambda c: {**c, "loads:u": c["branches:u"], "branches:u": c["loads:u"]}, None)
ok("counts branches:u instead" in found["loads:u"]["text"] and "counts loads:u instead" in found["branches:u"]["text"], "two swapped events are both named", found)

# ---- the same, planted by the backend that reads the counters (docs/recording.md) ----
corruptions = [
    ({"event": "branches:u", "how": "interrupts", "by": 1}, "proportional", "counts one more for each interrupt or fault"),
    ({"event": "stores:u", "how": "ticks", "by": 10000}, "proportional", "counts one more for each tick of the timer"),
    ({"event": "loads:u", "how": "times", "by": 2}, "proportional", "counts each event twice"),
    ({"event": "loads:u", "how": "times", "by": 16}, "proportional", "counts each event 16 times"),
    ({"event": "branches:u", "how": "divide", "by": 2}, "proportional", "counts half of the branches"),
    ({"event": "instructions:u", "how": "drop", "by": 1000, "percent": 80}, "wrong", "loses samples of 1000: "),
    ({"event": "instructions:u", "how": "wrap", "by": 1 << 14}, "wrong", "begins anew at 2^14"),
    ({"event": "instructions:u", "how": "wrap", "by": 10000}, "wrong", "begins anew at 10000"),
    ({"event": "stores:u", "how": "stuck", "by": 12}, "wrong", "always shows 12"),
    ({"event": "instructions:u", "how": "throttle", "from": 3000, "by": 4}, "wrong", "it loses events, 25 % are left"),
    ({"event": "loads:u", "how": "saturate", "by": 3000}, "wrong", "stays at 3000"),
    ({"event": "stores:u", "how": "add", "with": "loads:u"}, "proportional", "also counts loads:u"),
    ({"event": "loads:u", "how": "sometimes", "by": 2, "percent": 30}, "wrong", "% of the executions it counts each event twice"),
]
for group in together(corruptions, lambda row: row[0]["event"]):
    rows = [(" ".join(str(value) for value in c.values()), c["event"], verdict, text) for c, verdict, text in group]
    check(rows, verify(recording(lambda counts: counts, "hw", [c for c, _, _ in group])))
check([("swapped", "stores:u", "wrong", "counts loads:u instead"), ("swapped", "loads:u", "wrong", "counts stores:u instead")],
      verify(recording(lambda counts: counts, "hw", [{"event": "stores:u", "how": "swap", "with": "loads:u"}])))

# what the kernel level counts is not predicted: a counter of it that grows with the user's instructions is told
kernel_events = EVENTS + ["instructions:k"]
seen = tare("verify", "--quick", "--json", "--no-store", "--kernels", NAMES, "-e", ",".join(kernel_events), "--on",
            recording(lambda counts: {**counts, "instructions:k": 40000 + chance.randrange(3000)}, "hw", [{"event": "instructions:k", "how": "add", "with": "instructions:u"}], kernel_events), env=ENV)
row = {v["event"]: v for v in json.loads(seen.out)["verdicts"]}.get("instructions:k", {})
equal((row.get("verdict"), row.get("text")), ("wrong", "counts another level: instructions:u"), "the user's instructions counted as the kernel's are told")
for corruption, what in (({"event": "loads:u", "how": "divide", "by": 0}, "'divide' by 0 has no meaning"), ({"event": "loads:u", "how": "swap", "with": "x"}, "'x' is not one of the recording's events"),
                         ({"event": "loads:u", "how": "times"}, "'times' needs 'by'"), ({"event": "loads:u", "how": "stuck", "by": 1, "percent": 3}, "'stuck' has no 'percent'"),
                         ({"how": "times", "by": 1}, "a corruption needs 'event' and 'how'"), ({"event": "loads:u", "how": "shaken"}, "'shaken' is not known")):
    seen = verify(recording(lambda counts: counts, "hw", [corruption]))
    ok(seen.code == 2 and what in seen.err and "faulty.json:" in seen.err, f"a corruption is refused: {what}", seen)

# ---- executions that are refused are told beside the verdict: none is passed over in silence ----
LARGEST = {kernel: max(size for k, size in POINTS if k == kernel) for kernel, _ in POINTS}
BY_COUNTS = {json.dumps(counts): point for point, counts in POINTS.items()}
turn = iter(range(10 ** 6))


def refused(counts):
    kernel, size = BY_COUNTS[json.dumps(counts)]
    return {**counts, **({"loads:u": {"state": "failed", "why": "no counter was left"}} if kernel == "array" else {}),
            **({"stores:u": {"state": "denied", "why": "the kernel refuses"}} if size == LARGEST[kernel] else {}),
            **({"branches:u": {"state": "never-ran"}} if next(turn) % 2 else {}),
            "fp-operations:u": {"state": "unsupported", "why": "no such unit"}}


on = recording(refused, "hw")
seen, text = verify(on), " ".join(tare("verify", "--quick", "--no-store", "--kernels", NAMES, "-e", ",".join(EVENTS), "--on", on, env=ENV).out.split())
found = {v["event"]: v for v in json.loads(seen.out)["verdicts"]}
equal({e: (v["verdict"], v["executions"], v["refused"], v["refused_of"], v["refused_why"]) for e, v in found.items()},
      {"instructions:u": ("exact", 180, 0, 180, None), "loads:u": ("exact", 120, 60, 180, "no counter was left"), "stores:u": ("exact", 150, 30, 180, "the kernel refuses"),
       "branches:u": ("exact", 90, 90, 180, "the counter never ran"), "fp-operations:u": ("not counted", 0, 180, 180, "no such unit")}, "of each event it is told how many executions gave no count, and why")
equal((seen.code, [v["fault"] for v in found.values()]), (0, [False] * 5), "a refusal is no fault")
ok("loads:u (hw, command) was not counted in 60 of 180 executions: no counter was left" in text and "fp-operations:u (hw, command) is not counted: no such unit" in text
   and "instructions:u (hw" not in text, "the report says so in words", text)
points = [p for p in json.loads(seen.out)["points"] if p["event"] == "loads:u" and p["kernel"] == "array"]
equal({(len(p["observed"]), p["refused"], p["refused_why"]) for p in points}, {(0, 10, "no counter was left")}, "and each point has its own")
# an unproven counter's 0 is what it shows; that it never ran is not
unproven = {"tare_recording": 1, "after_last": "repeat", "events": [{"name": e, "source": "hw", "state": "unproven", "why": "nothing moved it"} for e in EVENTS],
            "executions": [{"readings": {**dict.fromkeys(EVENTS, 0), "loads:u": {"state": "never-ran"}}}]}
write("unproven.json", json.dumps(unproven))
found = {v["event"]: (v["verdict"], v["executions"], v["refused"]) for v in json.loads(verify("replay:unproven.json").out)["verdicts"]}
equal((found["loads:u"], found["stores:u"]), (("not counted", 0, 180), ("counts nothing here", 180, 0)), "a counter that never ran is not counted; one that ran and never moved counts nothing")
# what was asked for and is not counted here at all has its row
write("absent.json", json.dumps({"tare_recording": 1, "after_last": "repeat", "events": [{"name": "loads:u", "source": "hw"}, {"name": "stores:u", "state": "denied", "why": "kept for the kernel"}],
                                 "executions": [{"readings": {"loads:u": 0}}]}))
seen = verify("replay:absent.json")
found = {v["event"]: (v["verdict"], v["text"], v["source"]) for v in json.loads(seen.out)["verdicts"]}
equal((seen.code, found.get("stores:u")), (0, ("not counted", "replay:absent.json: kept for the kernel", "none")), "an event that was asked for and is refused as a whole is not counted, and the reason is told")
seen = tare("verify", "--quick", "--no-store", "--kernels", NAMES, "-e", "stores:u", "--on", "replay:absent.json", env=ENV)
ok(seen.code == 3 and "nothing that 'replay:absent.json' counts here is to be verified" in seen.err and "stores:u by 'replay:absent.json': kept for the kernel" in seen.err, "where nothing is left the reason is told, too", seen)

# what a program's start counts is what it usually is: one execution with a fault less does not make all others wrong
def pages(on):
    return json.loads(tare("verify", "--quick", "--json", "--no-store", "--kernels", "pages", "-e", "minor-faults:u", "--on", on, env=ENV).out)


write("zero.json", json.dumps({"tare_recording": 1, "after_last": "repeat", "events": [{"name": "minor-faults:u", "source": "os"}], "executions": [{"readings": {"minor-faults:u": 0}}]}))
beyond = {p["size"]: int(p["predicted"]) for p in pages("replay:zero.json")["points"]}
sizes = sorted(beyond)
for less, start in ((1, 7), (2, 6.8)):
    shown = [beyond[size] + 7 for size in [sizes[0]] * 5 + [sizes[-1]] + [size for size in sizes for _ in range(10)]]
    for execution in range(8, 8 + less):
        shown[execution] -= 1
    write("starts.json", json.dumps({"tare_recording": 1, "events": [{"name": "minor-faults:u", "source": "os"}], "executions": [{"readings": {"minor-faults:u": count}} for count in shown]}))
    row = pages("replay:starts.json")["verdicts"][0]
    equal((row["executions"], round(row["least"] - beyond[sizes[0]], 6), row["error"] == 0), (60, start, less == 1),
          "of ten starts one with a fault less: the others say what a start counts" if less == 1 else "two of them are not passed over: the start is the mean")

# regions that are refused to this user are told; commands are judged (probes need root)
nobody = ["setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups"] if os.geteuid() == 0 else []
seen = subprocess.run([*nobody, TARE, "verify", "--quick", "--json", "--no-store", "--on", "perf", "--kernels", "pages", "-e", "page-faults:u"], env=ENV, capture_output=True, text=True)
found = {v["interface"]: v for v in json.loads(seen.stdout or '{"verdicts": []}')["verdicts"]}
equal((seen.returncode, found.get("command", {}).get("verdict"), found.get("region", {}).get("verdict")), (0, "exact", "not counted"), "an ordinary user's commands are judged where regions are refused")
ok(re.search("permission denied|tracing does not answer", found.get("region", {}).get("text", "")), "… and why they are is told", found)
seen = tare("verify", "--quick", "--json", "--no-store", "--on", "perf", "--kernels", "pages", "-e", "page-faults:u", env=silent_tracing(TARE_KERNELS=KERNELS))
found = {v["interface"]: v for v in json.loads(seen.out or '{"verdicts": []}')["verdicts"]}
equal((seen.code, found.get("command", {}).get("verdict"), found.get("region", {}).get("verdict")), (0, "exact", "not counted"), "so are they on a kernel without probes that work")
ok(re.search("tracing does not answer|this kernel has no uprobes", found.get("region", {}).get("text", "")), "… and the reason is told", found)

# ---- the engine and models are judged in the same way; of the engine, every difference is a fault ----
defects = [
    ("a block's counter counts twice", lambda x, c: 2 * x, ""), ("one event more at the start", lambda x, c: x + 1, ""),
    ("the last block is lost", lambda x, c: max(0, x - 3), ""), ("12 bits", lambda x, c: x % 4096, ""), ("saturates at 2^12", lambda x, c: min(x, 4095), ""),
    ("loads instead", lambda x, c: c["loads:u"], "c[]"), ("branches are missed", lambda x, c: x - c["branches:u"], "c[]"),
    ("stores are counted again", lambda x, c: x + c["stores:u"], "c[]"), ("always the same", lambda x, c: 77, ""), ("0.1 % more", lambda x, c: x + x // 1000, ""),
]
for source in ("exact", "model"):
    # ten defects on four events, in turns; those of instructions:u alone need other events' counts
    placed = [(name, "instructions:u" if "[" in text or i % 4 == 0 else EVENTS[i % 4], defect) for i, (name, defect, text) in enumerate(defects)]
    for group in together(placed, lambda row: row[1]):
        def planted(counts):
            return {**counts, **{event: defect(counts[event], counts) for _, event, defect in group}}
        seen = verify(recording(planted, source))
        found = {v["event"]: v for v in json.loads(seen.out)["verdicts"]} if seen.out else {}
        for name, event, _ in group:
            row = found.get(event, {})
            ok(row.get("source") == source and row.get("verdict") not in (None, "exact") and row.get("text"), f"{source}: {name}: {event}: {row.get('verdict')}, {row.get('text')}", row or seen)
            if source == "exact":
                ok(row.get("fault") and seen.code == 1, f"{source}: {name}: is a fault", row)
done()
