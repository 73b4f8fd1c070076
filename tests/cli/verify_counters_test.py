"""`tare verify`: the counters of this machine, judged on kernels whose counts are known; and what later reports say."""
import json
import os
import platform
import sqlite3
import subprocess

KERNELS = os.path.abspath(__import__("sys").argv[2])

from cli import *

# LeakSanitizer, in a kernel that has libtare in it, ends it with status 1 while it is probed. cli_verify_faults looks for leaks.
ENV = environment(TARE_STORE=os.path.abspath("verdicts.db"), TARE_KERNELS=KERNELS, ASAN_OPTIONS="detect_leaks=0")
run = tare


def tare(*arguments, **more):
    return run(*arguments, **{"env": ENV, **more})


def verify(*arguments, code=0):
    seen = tare("verify", "--quick", "--json", *arguments)
    ok(seen.code == code, f"'verify --quick {' '.join(arguments)}': exit code {code}", seen)
    return json.loads(seen.out) if seen.out else {}


def verdicts(found, **of):
    return {(v["event"], v["interface"]): v for v in found["verdicts"] if all(v[key] == value for key, value in of.items())}


# ---- what is wrong is told before anything runs ----
for words, what in ((("--kernels", "nothing"), "there is no kernel 'nothing'"), (("--on", "nobody"), "unknown backend 'nobody'"),
                    (("-e", "no-such-event"), "no-such-event"), (("-c", "5"), "only of sampling"), (("--seed", "5"), "only of sampling")):
    seen = tare("verify", *words)
    ok(seen.code == 2 and what in seen.err and seen.out == "", f"'tare verify {' '.join(words)}' is refused", seen)
seen = tare("verify", "sampling", "--quick", "true")
ok(seen.code == 2 and "not for sampling" in seen.err, "'tare verify sampling --quick' is refused", seen)
ok(not os.path.exists("verdicts.db"), "what was refused made no store")

# ---- the operating system's page faults: exact on first touch ----
r = verify("--on", "perf", "--kernels", "pages", "-e", "page-faults:u")
row = verdicts(r)[("page-faults:u", "command")]
ok(row["verdict"] == "exact" and row["source"] == "os" and row["witnesses"] == ["arithmetic"] and not row["fault"],
   "page faults on first touch are exact, by arithmetic", row)
equal(len({p["size"] for p in r["points"]}), 6, "a quick look has six sizes")
ok(every(len(p["observed"]) == 10 or (p["interface"] == "region" and p["refused"] == 10) for p in r["points"]), "each of ten executions", r["points"][:2])
equal(r["verification"], 1, "it is kept as verification 1")
plain = parsed(tare("count", "--json", "-o", "-", "--program-output", "none", "--on", "perf", "-e", "page-faults:u", "true").out, "a count after it")
row = plain["results"][0]
equal((row["trust"], row["evidence"]), ("verified", "verification:1"), "a later count is verified, and names its evidence")
text = tare("count", "-o", "-", "--program-output", "none", "--on", "perf", "-e", "page-faults:u", "true").out
has(text, re.compile(r"^  page-faults:u +[0-9,]+ +±\? +os✓$", re.M), "its row has a mark in the source's column")
has_not(text, re.compile("trust|verif"), "and nothing more")
without = parsed(tare("count", "--no-store", "--json", "-o", "-", "--program-output", "none", "--on", "perf", "-e", "page-faults:u", "true").out,
                 "a count without a store")
equal(without["results"][0]["trust"], "unverified", "without a store it is unverified")

# ---- probes take time: a quick look counts regions of few kernels, and of none for what regions do not have ----
r = verify("--no-store", "--on", "perf", "-e", "page-faults:u,voluntary-switches")
equal([{p["kernel"] for p in r["points"] if p["interface"] == interface} for interface in ("command", "region")], [{"pages", "sleeps"} if platform.machine() == "x86_64" else {"pages"}, {"pages"}],
      "voluntary switches are of processes: regions of the kernel that moves them are not executed")

# ---- another kernel, CPU, microcode or tare: the verdict is stale ----
base = sqlite3.connect("verdicts.db")
for column, word in (("kernel", "kernel"), ("cpu", "CPU"), ("microcode", "microcode")):
    (now,) = base.execute(f"SELECT {column} FROM machines WHERE id = (SELECT machine FROM verifications)").fetchone()
    base.execute(f"UPDATE machines SET {column} = 'another' WHERE id = (SELECT machine FROM verifications)")
    base.commit()
    seen = tare("count", "-o", "-", "--program-output", "none", "--on", "perf", "-e", "page-faults:u", "true").out
    has(seen, re.compile(rf"what 'tare verify' found is stale: the {word} was 'another';\s+run\s+it\s+again"), f"after another {word} it is stale, and says so")
    has(seen, re.compile(r" os$", re.M), "and verifies nothing")
    base.execute(f"UPDATE machines SET {column} = ? WHERE id = (SELECT machine FROM verifications)", (now,))
    base.commit()
base.execute("UPDATE verifications SET tare_version = '0.0.7'")
base.commit()
has(tare("count", "-o", "-", "--program-output", "none", "--on", "perf", "-e", "page-faults:u", "true").out, "the tare was '0.0.7'", "so it is by another tare")
base.execute("UPDATE verifications SET tare_version = ?", (json.loads(tare("count", "--json", "-o", "-", "true").out)["version"],))
base.commit()

# ---- what verdicts mean for counts: planted into the store ----
def planted(kind, shape="", text="", offset=0, usable_from=0):
    base.execute("UPDATE verdicts SET kind = ?, shape = ?, text = ?, offset = ?, usable_from = ?", (kind, shape, text, offset, usable_from))
    base.commit()
    report = tare("count", "-o", "-", "--program-output", "none", "--on", "perf", "-e", "page-faults:u", "true").out
    rows = json.loads(tare("count", "--json", "-o", "-", "--program-output", "none", "--on", "perf", "-e", "page-faults:u", "true").out)["results"]
    return rows[0]["trust"], report


trust, text = planted("proportional", "times", "counts each event twice")
equal(trust, "biased", "proportional: biased")
has(text, re.compile(r"os~$", re.M), "… with its mark")
has(text, re.compile(r"! biased: page-faults:u \(counts each event twice\)"), "… and a line that says how")
trust, text = planted("wrong", "stuck", "always shows 4711")
equal(trust, "refuted", "wrong: refuted")
has(text, re.compile(r"! refuted: page-faults:u \(always shows 4711\)"), "… and a line that says why")
equal([planted("noisy", usable_from=n)[0] for n in (1, 1e9, float("inf"))], ["verified", "biased", "biased"], "noisy: verified above N events, else biased")
equal([planted(kind)[0] for kind in ("unpredictable", "unjudged", "no such verdict")], ["unverified"] * 3, "unpredictable, unjudged, unknown: unverified")
equal([planted("offset", offset=5)[0], planted("exact")[0]], ["biased", "verified"], "an offset that is left in: biased; exact: verified")
equal(planted("counts nothing here")[0], "unverified", "a counter that was seen to count nothing, and counts, is unverified")

# ---- and take no more room than the source alone: the same columns, in lines that fit ----
def printed(width, *options):
    return shown_on_terminal(width, "count", *options, "--program-output", "none", "--on", "perf", "-e", "page-faults:u", "true", TARE_STORE=ENV["TARE_STORE"]).splitlines()


def columns(lines):
    return next((line for line in lines if line.split()[:2] == ["event", "value"]), lines)


for kind, shape, words, mark in (("exact", "", "", "✓"), ("proportional", "times", "counts each event twice, and more words than a narrow terminal has room for", "~"), ("wrong", "stuck", "always shows 4711", "✗")):
    planted(kind, shape, words)
    for width in (60, 80, 200):
        lines = printed(width)
        ok(any(re.fullmatch(rf"  page-faults:u +[0-9,]+ +±\? +os{mark}", line) for line in lines), f"{kind}, {width} columns: the mark stands behind the source", lines)
        equal(columns(lines), columns(printed(width, "--no-store")), f"{kind}, {width} columns: columns are as wide as without a mark")
        ok(every(len(line) <= width for line in lines), f"{kind}, {width} columns: all lines fit", [line for line in lines if len(line) > width])

# ---- the same in intervals, while they are counted ----
def over_time(kind, text):
    planted(kind, "times", text)
    words = ("count", "-I", "50", "-o", "-", "--program-output", "none", "--on", "perf", "-e", "page-faults:u,task-clock", "sleep", "0.12")
    rows = [json.loads(line) for line in tare(*words[:3], "--json", *words[3:]).out.splitlines()]
    of_event = [{count["event"]: count.get("trust") for count in row["counts"]} for row in rows if row.get("kind") == "interval"]
    return of_event, tare(*words).out


for kind, trust, mark in (("exact", "verified", "✓"), ("proportional", "biased", "~"), ("wrong", "refuted", "✗"), ("unpredictable", "unverified", "")):
    of_event, text = over_time(kind, "counts each event twice")
    equal([row["page-faults:u"] for row in of_event], [trust] * len(of_event), f"{kind}: each interval's count is {trust}")
    equal({row["task-clock"] for row in of_event}, {"unverified"}, "… and that of an event without a verdict is unverified")
    has(text, re.compile(rf"^ +0\.\d+ s +[0-9,]+{mark} +[0-9.]+ [mµn]s$", re.M), f"{kind}: in text with its mark")
planted("noisy", usable_from=20)
seen = [json.loads(line) for line in tare("count", "-I", "50", "--json", "-o", "-", "--program-output", "none", "--on", "perf", "-e", "page-faults:u", "sleep", "0.12").out.splitlines()[:-1]]
equal([row["counts"][0]["trust"] for row in seen], ["verified" if row["counts"][0]["value"] >= 20 else "biased" for row in seen], "noisy: verified where the interval itself has enough events")
planted("counts nothing here")
rows = [json.loads(line) for line in tare("count", "-I", "50", "--json", "-o", "-", "--program-output", "none", "--on", "perf", "-e", "page-faults:u", "sleep", "0.12").out.splitlines()[:-1]]
ok(every(row["counts"][0]["value"] or "counts nothing here" in row["counts"][0].get("why", "") for row in rows), "a 0 of a counter that counts nothing here is no count", rows)
bare = tare("count", "--no-store", "-I", "50", "--json", "-o", "-", "--program-output", "none", "--on", "perf", "-e", "page-faults:u", "sleep", "0.12").out.splitlines()[:-1]
equal({json.loads(line)["counts"][0]["trust"] for line in bare}, {"unverified"}, "without a store intervals are unverified")

# ---- the same in comparisons, and of metrics ----
def compared(kind, text):
    planted(kind, "times", text)
    words = ("compare", "-o", "-", "--program-output", "none", "--on", "perf", "-e", "page-faults:u", "-r", "2", "true", "true")
    found = json.loads(tare(*words, "--json").out)
    return found, tare(*words).out


found, text = compared("proportional", "counts each event twice")
TRUSTS = re.compile(r'"event": "page-faults:u".*?"trust": "(\w+)"', re.S)
equal(set(TRUSTS.findall(json.dumps(found))), {"biased"}, "a comparison's counts are biased where their counter is")
has(text, re.compile(r"^  page-faults:u +[0-9,.]+~", re.M), "… with tare count's mark behind the value")
has(text, re.compile(r"! biased: page-faults:u \(counts each event twice\)"), "… and the line that says how")
found, text = compared("exact", "")
has(text, re.compile(r"^  page-faults:u +[0-9,.]+✓", re.M), "verified counts have their mark")
results = json.loads(tare("count", "--json", "-o", "-", "--program-output", "none", "--on", "perf", "-e", "page-faults,elapsed-time", "-m", "faults-per-second", "true").out)
equal({row["event"]: row["trust"] for row in results["metrics"]}, {"faults-per-second": "unverified"}, "a metric has the weakest of its events': of time nothing is verified")
base.execute("UPDATE verdicts SET event = 'page-faults', kind = 'wrong', text = 'always shows 4711'")
base.commit()
results = json.loads(tare("count", "--json", "-o", "-", "--program-output", "none", "--on", "perf", "-e", "page-faults,elapsed-time", "-m", "faults-per-second", "true").out)
of = {row["event"]: row["trust"] for row in results["results"] + results["metrics"]}
equal((of["faults-per-second"], of["elapsed-time"]), ("refuted", "unverified"), "… and is refuted where an event is")

# ---- the same in profiles, and of what is kept of them ----
def profiled(kind, text="", usable_from=0, run="true"):
    base.execute("UPDATE verdicts SET event = 'page-faults:u'")
    planted(kind, "times", text, usable_from=usable_from)
    words = ("-e", "page-faults:u@1", "-o", "faults.profile", run)
    report = " ".join(tare("profile", *words).err.split())
    kept = tare("report", "--format", "json", "faults.profile")
    return report, json.loads(kept.out)["events"][0], " ".join(tare("report", "faults.profile").out.split())


if "cannot sample" in tare("profile", "-e", "page-faults:u@1", "true").err:
    skip("page faults cannot be sampled here", "marks of profiles")
else:
    text, event, again = profiled("exact")
    ok(re.search(r"samples, one each time; in all [0-9,]+ faults✓", text), "a profile of a verified counter has its mark behind the count", text)
    equal((event["trust"], event["evidence"]), ("verified", "verification:1"), "… and in JSON, with its evidence, of a kept one")
    ok("faults✓" in again and "stale" not in again, "a report of a kept profile has it", again)
    text, event, again = profiled("proportional", "counts each event twice")
    ok("faults~" in text and "biased: page-faults:u (counts each event twice)" in text and event["trust"] == "biased", "proportional: biased, and how", text)
    equal(again.count("biased: page-faults:u"), 1, "… once in the kept one's report")
    text, event, again = profiled("wrong", "always shows 4711")
    ok("faults✗" in text and "refuted: page-faults:u (always shows 4711)" in text and event["trust"] == "refuted", "wrong: refuted, and why", text)
    text, event, again = profiled("noisy", usable_from=10 ** 9)
    ok("faults~" in text and event["trust"] == "biased", "noisy: biased below its threshold", text)
    text, event, again = profiled("unpredictable")
    ok("faults✓" not in text and event["trust"] == "unverified" and "evidence" not in event, "what is not judged has no mark", text)
    profiled("exact")
    for column, word in (("kernel", "kernel"), ("cpu", "CPU"), ("microcode", "microcode")):
        (now,) = base.execute(f"SELECT {column} FROM machines WHERE id = (SELECT machine FROM verifications)").fetchone()
        base.execute(f"UPDATE machines SET {column} = 'another' WHERE id = (SELECT machine FROM verifications)")
        base.commit()
        for seen in (tare("profile", "-e", "page-faults:u@1", "true").err, tare("report", "faults.profile").out):
            ok(f"stale: the {word} was 'another'; run it again" in " ".join(seen.split()) and "✓" not in seen, f"after another {word} a profile, and a report of one, say that verdicts are stale", seen)
        base.execute(f"UPDATE machines SET {column} = ? WHERE id = (SELECT machine FROM verifications)", (now,))
        base.commit()
    ok("✓" not in tare("profile", "--no-store", "-e", "page-faults:u@1", "true").err, "without a store there is no mark")
    if platform.machine() == "x86_64":
        tare("profile", "--on", "exact", "-o", "exact.profile", "true")
        event = json.loads(tare("report", "--format", "json", "exact.profile").out)["events"][0]
        ok(event["trust"] == "verified" and event["evidence"].startswith("release:"), "what the engine counts is verified by the tests of its release", event)

# ---- and in the report of a job's ranks ----
def job(kind, text, per_rank=True):
    base.execute("UPDATE verdicts SET event = 'page-faults:u'")
    planted(kind, "times", text)
    os.makedirs("ranks", 0o700, exist_ok=True)
    job.number += 1
    words = ["count", "--ranks-dir", "ranks", "--program-output", "none", "--on", "perf", "-e", "page-faults:u", *(["--per-rank"] if per_rank else []), "true"]
    others = ("OMPI_COMM", "PMI", "SLURM_", "FLUX_")
    clean = {name: value for name, value in ENV.items() if not name.startswith(others)}
    ranks = [subprocess.Popen([TARE, *words], env={**clean, "TARE_RANK": str(n), "TARE_RANKS": "2", "TARE_JOB": f"marks{job.number}"},
                              stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) for n in (0, 1)]
    return "".join(rank.communicate()[1] for rank in ranks)


job.number = 0
text = job("exact", "")
ok(len(re.findall(r"os✓", text)) == 3, "a job's row and those of its two ranks are verified where the counter is", text)
text = job("proportional", "counts each event twice")
ok(len(re.findall(r"os~", text)) == 3 and "biased: page-faults:u (counts each event twice)" in " ".join(text.split()), "biased in all of them, and how", text)
text = job("wrong", "always shows 4711", per_rank=False)
ok(len(re.findall(r"os✗", text)) == 1 and "refuted: page-faults:u (always shows 4711)" in " ".join(text.split()), "refuted, and why", text)

# ---- an interrupted one is resumed ----
equal(r["resumed_seconds"], 0, "one that was not interrupted took all of its time itself")
base.execute("UPDATE verifications SET finished = 0, seconds = 1000")
base.execute("DELETE FROM verdicts")
base.commit()
r = verify("--on", "perf", "--kernels", "pages", "-e", "page-faults:u")
equal((r["verification"], r["resumed_points"] > 0, r["executions"]), (1, True, 0), "what was measured is not measured again")
ok(r["seconds"] >= 1000 and (r["predicted_seconds"], r["resumed_seconds"]) == (1000, 1000), "what it took and what was predicted are of all its parts, and what the earlier ones took is told",
   (r["seconds"], r["predicted_seconds"], r["resumed_seconds"]))
base.execute("UPDATE verifications SET finished = 0")
base.execute("DELETE FROM verdicts")
base.commit()
has(" ".join(tare("verify", "--quick", "--on", "perf", "--kernels", "pages", "-e", "page-faults:u").out.split()),
    re.compile(r"1 kernel, 0 executions in \d+ s since it went on \(the quick grid\)"), "the report's executions and their time are those since it went on")
equal(verdicts(r)[("page-faults:u", "command")]["verdict"], "exact", "and the verdict is the same")
r = verify("--on", "perf", "--kernels", "pages", "-e", "page-faults:u", "--anew")
equal((r["verification"], r["resumed_points"]), (2, 0), "a finished one, or --anew, is another verification")

base.execute("UPDATE verifications SET finished = 0")
base.commit()
r = verify("--on", "perf", "--kernels", "pages", "-e", "page-faults:u,page-faults")
equal((r["verification"], r["resumed_points"]), (3, 0), "one that asks for other events does not take over the points of the interrupted one")
ok(r["cpu_seconds"] > 0 and r["predicted_cpu_seconds"] > 0 and r["predicted_seconds"] > 0, "what it took, and what was predicted, is in the record", r["seconds"])

# ---- killed, and started again ----
KILLED = ["verify", "--quick", "--json", "--on", "exact", "--kernels", "loop,stores,fp-add", "-e", "instructions:u,loads:u,stores:u,fp-operations:u"]
if platform.machine() == "x86_64":
    again = environment(**{**ENV, "TARE_STORE": os.path.abspath("killed.db")})
    process = subprocess.Popen([TARE, *KILLED], env=again, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    points = 0
    while not points and process.poll() is None:
        try:
            with sqlite3.connect("file:killed.db?mode=ro", uri=True) as look:
                (points,) = look.execute("SELECT count(*) FROM verification_points").fetchone()
        except sqlite3.Error:
            pass  # the store is not made yet, or is written just now
    process.kill()
    ok(process.wait() == -9, "a verification is killed after its first kernel", process.returncode)
    resumed = json.loads(subprocess.run([TARE, *KILLED], env=again, capture_output=True, text=True).stdout)
    whole = json.loads(subprocess.run([TARE, *KILLED, "--no-store"], env=again, capture_output=True, text=True).stdout)
    ok(resumed["verification"] == 1 and 0 < resumed["resumed_points"] < len(whole["points"]), "started again it goes on where that one ended", (resumed["verification"], resumed["resumed_points"]))
    equal(sorted((p["kernel"], p["size"], p["event"], p["interface"], p["observed"]) for p in resumed["points"]),
          sorted((p["kernel"], p["size"], p["event"], p["interface"], p["observed"]) for p in whole["points"]), "each point is there once, with the counts of a whole one")
    equal({k: v["verdict"] for k, v in verdicts(resumed).items()}, {k: v["verdict"] for k, v in verdicts(whole).items()}, "and the verdicts are the same: a second verification gives them, too")

# ---- the engine: a witness, and judged itself ----
if platform.machine() == "x86_64":
    seen = tare("verify", "--quick", "--on", "exact", "--kernels", "loop,stores,fp-add", "-o", "report")
    report = open("report").read()
    ok(seen.code == 0 and seen.out == "" and re.search(r"this takes about \d+ (s|min)$", seen.err, re.M), "how long it takes is said before it starts", seen)
    for event in ("instructions:u", "loads:u", "stores:u", "branches:u"):
        has(report, re.compile(rf"^  {event} +exact +both +arith. +exact$", re.M), f"the engine's {event} are arithmetic's, of commands and regions")
    has(report, re.compile(r"no\s+counters of this machine"), "the report says which witnesses were there")
    row = parsed(tare("count", "--no-store", "--json", "-o", "-", "--program-output", "none", "--on", "exact", "-e", "loads:u", "true").out, "an exact count")["results"][0]
    ok(row["trust"] == "verified" and row["evidence"].startswith("release:"), "the engine's events are verified by the tests of their release", row)
    ok(max(len(line) for line in report.splitlines()) <= 80, "a report fits into 80 columns", report)
else:
    skip("the engine is for x86-64", "the engine is judged")
done()
