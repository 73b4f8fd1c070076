"""Gates and --fail-if: they pass on what keeps the bound, fail on what breaks it, and never pass on what was not counted, in whatever way
it is missing. Counts come from recordings (docs/recording.md), so that every number is known beforehand."""
import itertools
import os
import xml.dom.minidom

from cli import *

RUNS = 4
SEED = ("--seed", "1", "-w", "0", "-r", str(RUNS))


def recording(name, events, executions, **more):
    write(name, json.dumps({"tare_recording": 1, "events": events, "executions": executions, "after_last": "repeat", **more}))
    return f"replay:{name}"


def one(name="instructions", **more):
    return [{"name": name, "source": "hw", **more}]


def constant(value, name="instructions"):
    return [{"readings": {name: value}}]


def gate(on, gates, *arguments, commands=("true", "true"), code):
    arguments = [*SEED, "--on", on, *sum((["--gate", g] for g in gates), []), *arguments, *commands]
    seen = tare("compare", *arguments)
    ok(seen.code == code, f"exit code {code}: compare {ascii(' '.join(arguments))}", seen)
    return seen


# ---- the order of the recording's executions is that of the seed: one command's are told by a run of the same seed ----
log = os.path.abspath("log")
tare("compare", *SEED, "-e", "page-faults", f"sh -c 'echo A >> {log}'", f"sh -c 'echo B >> {log}'")
ORDER = read("log").split()
equal(sorted(ORDER), ["A"] * RUNS + ["B"] * RUNS, "each command has its runs")


NUMBERS = itertools.count()


def flat(seen):
    return " ".join(seen.out.split())


def two(a, b, name="instructions", **more):
    """A recording in which A's runs read a[i], and B's b[i]."""
    at = {"A": iter(a), "B": iter(b)}
    return recording(f"two{next(NUMBERS)}.json", one(name, **more), [{"readings": {name: next(at[c])}} for c in ORDER])


# ---- bounds ----
on = two([1000] * 4, [1010] * 4)
for bound, code in (("<+2%", 0), ("<+1%", 3), ("<=+1%", 0), ("<+0.5%", 1), (">+0.5%", 0), (">+2%", 1), ("<2%", 0), ("<+11", 0), ("<+10", 3), ("<=+10", 0),
                    ("<-1", 1), ("<1011", 0), ("<1010", 3), ("<=1010", 0), (">1009", 0), (">=1010", 0), (" < 1e9", 0), ("<-0.5%", 1), (">+1%", 3),
                    ("<+9", 1), (">1010", 3), ("<1009", 1)):
    gate(on, ["instructions" + bound], code=code)
same = two([1000] * 4, [1000] * 4)
for bound, words, code in (("<+0%", "cannot tell (+0 % is the bound itself: 'instructions<=+0%' would pass)", 3),
                           (">+0", "cannot tell (+0 is the bound itself: 'instructions>=+0' would pass)", 3),
                           ("<=+0%", "passed", 0), (">=+0", "passed", 0)):
    seen = gate(same, ["instructions" + bound], code=code)
    ok(words in flat(seen), f"no more than before, with the gate {bound}: {words.partition(' (')[0]}, and what would pass", seen)
at = two([1000] * 4, [1000, 1020, 1000, 1020])
row = json.loads(gate(at, ["instructions<+1e9"], "--json", code=0).out)["rows"][0]["commands"][1]
equal(round(row["effect_size"], 9), round(10 / (400 / 6) ** 0.5 * (1 - 3 / 23), 9), "JSON has the size of the effect: Hedges' g")
seen = gate(at, [f"instructions<{row['difference_low']:+.17g}"], code=3)
ok("holds the bound" in flat(seen), "an interval that begins at the bound cannot tell", seen)
spread = two([1000, 1001, 999, 1000], [1010, 1030, 990, 1010])
seen = gate(spread, ["instructions<+1%"], code=3)
ok("cannot tell" in seen.out and re.search(r"holds the bound: .*(-r \d+ would decide|no number of runs)", flat(seen)) is not None,
   "an interval that holds the bound cannot tell, and says what would", seen)
gate(spread, ["instructions<+10%"], code=0)
gate(spread, ["instructions<-10%"], code=1)
gate(on, ["instructions<+2%", "instructions<+0.5%"], code=1)
gate(spread, ["instructions<+1%", "instructions<-10%"], code=1)  # failed wins over undecided
# ---- how a gate reads ----
seen = gate(spread, ["instructions<+10", "instructions<+1%", "instructions<1010"], code=3)
numbers = [re.sub(r"\D", "", n) for text in re.findall(r"cannot tell \(([^()]*) holds the bound", flat(seen)) for n in text.split(" … ")]
ok(len(numbers) == 6 and all(len(n) <= 5 for n in numbers), "an interval has no more digits than its width gives it", seen)
seen = gate(two([10**9] * 4, [10**9 + 9999999] * 4), ["instructions<+1%"], code=0)
ok("passed (+0.9999999 %)" in flat(seen), "an end that is near the bound is shown on its side of it", seen)
seen = gate(two([1000] * 4, [2000, 2001, 1999, 2000]), ["instructions<+999.9"], code=3)
ok(re.search(r"\(\+998\.7 … \+1,?001\.3 holds", flat(seen)), "an interval around its bound is shown so", seen)
long_name = "a command with quite a long name of its own"
text = shown_on_terminal(60, "compare", *SEED, "--on", spread, "--gate", "instructions<+1%", "-n", "a", "-n", long_name, "true", "true")
lines = text[text.index("  gate "):].split("\n\n")[0].splitlines()
ok(2 <= len(lines) <= 4 and all(len(line) <= 60 for line in lines), "a gate's reason has the whole line, beside a long name, too", text)
seen = gate(spread, ["instructions<-10%"], "--html", "-o", "gates.html", code=1)
page = read("gates.html")
ok(page.count("FAILED") == 1 and page.index("FAILED") < page.index("<table"), "a page says first which gate failed", page[-3000:])
zero = two([0] * 4, [0] * 4)
gate(zero, ["instructions<+1%"], code=0)
gate(two([0] * 4, [5] * 4), ["instructions<+1%"], code=1)
seen = gate(on, ["instructions<+2%"], "--json", code=0)
equal([(g["gate"], g["command"], g["outcome"]) for g in json.loads(seen.out)["gates"]], [("instructions<+2%", "B", "passed")], "JSON has the gates")

# ---- a gate never passes on what was not counted: every way in which it can be missing; '<1e18' would pass any count ----
ALL = ["instructions<1e18", "instructions<+1e9%", "instructions<+1e18", "instructions>-1"]
for state, words in (("unsupported", "no such event on this CPU"), ("denied", "not for this user"), ("never-ran", "never ran"), ("failed", "broke")):
    on = recording(state + ".json", [{"name": "instructions", "state": state, "why": words}], [{"readings": {}}])
    seen = gate(on, ALL, code=3)
    equal(flat(seen).count(f"cannot tell (not counted: {words}"), 4, f"{state}: no gate passes, and the reason is told")
on = recording("unproven.json", one(state="unproven", why="never moved"), constant(0))
seen = gate(on, ALL, code=3)
ok("passed" not in seen.out and "not known to count" in flat(seen), "a counter that is not known to count passes no gate with its 0", seen)
on = recording("other.json", one("cycles"), constant(1, "cycles"))
seen = gate(on, ALL, code=3)
ok("passed" not in seen.out, "an event that the backend does not have passes no gate", seen)
on = two([1000] * 4, [1000] * 3 + [{"state": "never-ran"}])
seen = gate(on, ALL, code=3)
ok("passed" not in seen.out and "in all runs (3 of 4)" in flat(seen), "a run without a count passes no gate", seen)
on = two([1000] * 3 + [{"state": "never-ran"}], [1000] * 4)
seen = gate(on, ALL, code=3)
ok("passed" not in seen.out, "nor one of the baseline", seen)
on = recording("lacks.json", one() + one("cycles"), [{"readings": {"instructions": 1000 + n, "cycles": {"state": "never-ran"} if n == 7 else 500 + n}} for n in range(8)])
seen = gate(on, ["ipc<1e18", "ipc>0"], code=3)
ok("passed" not in seen.out and "not counted in all runs" in flat(seen), "nor a metric one of whose events lacks a run", seen)
on = recording("part.json", one(), [{"enabled_ns": 100000000, "readings": {"instructions": {"count": 1000, "running_ns": 50000000}}}])
seen = gate(on, ALL, code=3)
ok("passed" not in seen.out and "part of the time" in flat(seen), "a count of a part of the time, scaled up, passes no gate", seen)
LEVELS = ("instructions:u", "instructions:k", "instructions")
wrong = recording("wrong.json", [{"name": name, "source": "hw"} for name in LEVELS], [{"readings": dict(zip(LEVELS, (9000000, 1000000, 12000000)))}])
seen = gate(wrong, ALL, "-e", ",".join(LEVELS), code=3)
ok(seen.out.count("cannot tell (refuted: ") == 4 and "passed" not in seen.out, "counts of which one must be wrong, by a law that they break, pass no gate", seen)
on = recording("lacks.json", one() + one("cycles"), [{"readings": {"instructions": 1000, "cycles": 1000 if run != 4 else {"state": "never-ran"}}} for run in range(2 * RUNS)])
seen = gate(on, ["ipc<1e9", "ipc<+50%"], code=3)
ok(seen.out.count("cannot tell") == 2, "a rate one of whose events lacks a run passes no gate", seen)
on = recording("stops.json", one(), constant(1000) * 5 + [{"fails": {"at": "stop", "code": "system", "text": "the counter is gone"}, "readings": {"instructions": 1000}}])
seen = gate(on, ALL, code=3)
ok("passed" not in seen.out, "a measurement that stops on its way passes no gate", seen)
on = recording("plain.json", one(), constant(1000))
seen = tare("compare", "--on", on, "-r", "1", "--gate", "instructions<+1%", "true", "true")
ok(seen.code == 3 and "cannot tell" in seen.out, "one run of each passes no gate", seen)
seen = tare("compare", "--on", on, "-r", "2", "--gate", "instructions<1e18", "true", "true")
ok(seen.code == 3 and "cannot tell" in seen.out, "nor two equal ones", seen)
seen = gate(on, ["instructions<+1%"], commands=("true", "sh -c 'exit 1'"), code=3)
ok("exit status 1" in seen.err and seen.out == "", "a command that fails is an error", seen)
seen = gate(on, ALL, "-i", commands=("true", "sh -c 'exit 1'"), code=3)
ok("passed" not in seen.out and "did not end as the baseline did" in flat(seen), "ignored, it still passes no gate", seen)
seen = gate(on, ALL, "-i", commands=("sh -c 'kill -9 $$'", "sh -c 'kill -9 $$'"), code=3)
ok("passed" not in seen.out, "nor do two that are killed", seen)
gate(on, ["instructions<+1%"], "-i", commands=("false", "false"), code=0)
for text, words in (("instrutions<1", "unknown event 'instrutions'"), ("instructions", "no < or >"), ("<1", "no event"), ("instructions<", "not a number"),
                    ("instructions<+-1", "not a number"), ("instructions<1%%", "not a number"), ("instructions<nan", "not a number"),
                    ("instructions,cycles<1", "more than one event"), ("x" * 300 + "<1", "too long")):
    seen = gate(on, [text], code=2)
    ok(words in seen.err and seen.out == "", f"'{text[:30]}' is told: {words}", seen)

# ---- what is killed in between ----
process = start("compare", "--on", on, "-r", "1000", "--gate", "instructions<1e18", "sh -c 'echo $$ > begun; sleep 100'", "true")
while not os.path.exists("begun"):
    pass
process.send_signal(signal.SIGINT)
seen = finish(process)
ok(seen.code == 130 and "passed" not in seen.out, "an interrupted comparison passes no gate, and ends with 130", seen)

# ---- for CI ----
seen = gate(spread, ["instructions<+10%", "instructions<-10%", "instructions<+1%"], "--export-junit", "j.xml", "--export-markdown", "m.md", "-n", "a", "-n", "b & <c>", code=1)
suite = xml.dom.minidom.parse("j.xml").documentElement
equal([suite.getAttribute(a) for a in ("tests", "failures", "errors")], ["3", "1", "1"], "JUnit: an undecided gate is an error, a failed one a failure")
equal([c.getAttribute("classname") for c in suite.getElementsByTagName("testcase")], ["tare.b & <c>"] * 3, "names are escaped in XML")
gate(spread, ["instructions<+10%"], "--export-junit", "k.xml", "-n", "a", "-n", "\udcff\udcc3(\u20ac\x01", code=0)
equal(xml.dom.minidom.parse("k.xml").documentElement.getElementsByTagName("testcase")[0].getAttribute("classname"), "tare.\ufffd\ufffd(\u20ac ",
      "a name that is not UTF-8, with control characters, is XML all the same")
has(read("m.md"), "| instructions&#60;-10% | b &#38; &#60;c&#62; | FAILED |", "Markdown has a table of the gates")
equal({name: os.stat(name).st_mode & 0o777 for name in ("j.xml", "m.md")}, {"j.xml": 0o600, "m.md": 0o600}, "these files are their owner's alone")
for what, commands, options, words in (("a command that fails", ("true", "sh -c 'exit 1'"), (), "exit status 1"),
                                       ("a build that fails", (), ("--build", "exit 4 # {flags}", "--flags", "<a>", "--flags", "b"), "status 4")):
    write("j.xml", "the last job's")
    seen = tare("compare", "--on", on, "--gate", "instructions<+1%", "--gate", "instructions<+2%", "--export-junit", "j.xml",
                "--export-markdown", "m.md", "--export-json", "no.json", "--export-html", "no.html", *options, *commands)
    suite = xml.dom.minidom.parse("j.xml").documentElement
    errors = [e.getAttribute("message") for e in suite.getElementsByTagName("error")]
    equal([(c.getAttribute("classname"), c.getAttribute("name")) for c in suite.getElementsByTagName("testcase")],
          [(f"tare.{'b' if options else 'B'}", f"instructions<+{n}%") for n in (1, 2)], f"{what}: JUnit's tests have the names that they have when the comparison works")
    ok(seen.code == 3 and suite.getAttribute("tests") == suite.getAttribute("errors") == "2" and len(errors) == 2 and
       all(words in e for e in errors), f"{what}: JUnit has an error for each gate", (seen, errors))
    ok("nothing was compared" in read("m.md") and words in read("m.md"), f"{what}: Markdown says it", read("m.md"))
    equal([name for name in ("no.json", "no.html") if os.path.exists(name)], [], f"{what}: no empty file is left")


# ---- tare count --fail-if ----
def fail_if(on, condition, *arguments, code, program=("true",)):
    seen = tare("count", "--on", on, "-o", "/dev/null", "--fail-if", condition, *arguments, *program)
    ok(seen.code == code, f"exit code {code}: count --fail-if '{condition}' {' '.join((*arguments, *program))}", seen)
    return seen


for condition, code in (("instructions>999", 1), ("instructions>1000", 0), ("instructions>=1000", 1), ("instructions<1000", 0), ("instructions<1001", 1)):
    fail_if(on, condition, code=code)
has(fail_if(on, "instructions>999", code=1).err, "--fail-if 'instructions>999' holds: 1000", "what holds is told")
fail_if(on, "instructions>999", code=7, program=("sh", "-c", "exit 7"))
fail_if(on, "instructions>999", code=137, program=("sh", "-c", "kill -9 $$"))
fail_if(on, "instructions>999", "--require", "cycles", code=3)
fail_if(on, "cycles>1e18", code=3)
fail_if(on, "cycles>1e18", "--fail-if", "instructions>999", code=3)
for name in ("unsupported", "denied", "never-ran", "failed", "unproven", "part", "other"):
    for condition in ("instructions>1e18", "instructions<0"):
        seen = fail_if(f"replay:{name}.json", condition, code=3)
    ok("cannot be told" in seen.err, f"{name}: --fail-if says that it cannot tell", seen)
for condition in ("instructions>1e18", "instructions<0"):
    seen = fail_if(wrong, condition, "-e", ",".join(LEVELS), code=3)
ok("cannot be told: refuted" in seen.err, "nor of a count that is known to be wrong", seen)
spread_of_one = recording("spread.json", one(), [{"readings": {"instructions": v}} for v in (900, 1100, 1000, 1000)])
fail_if(spread_of_one, "instructions>1050", "-r", "4", "--warm-up", "0", code=3)
fail_if(spread_of_one, "instructions>2000", "-r", "4", "--warm-up", "0", code=0)
fail_if(spread_of_one, "instructions>500", "-r", "4", "--warm-up", "0", code=1)
for condition in ("instructions>+1%", "instructions>+5", "instructions"):
    fail_if(on, condition, code=2)

# ---- commands that fail in some runs only, the last one not among them ----
write("fails.sh", """n=$(cat times 2>/dev/null || echo 0); echo $((n + 1)) >times
test $n -ge 1 -a $n -lt 4 && FAIL
exit 0
""")
for how, end in (("kill -9 $$", 137), ("exit 1", 1)):
    write("some.sh", read("fails.sh").replace("FAIL", how))
    seen = tare("compare", "-w", "0", "-r", "6", "-i", "-e", "page-faults", "--gate", "page-faults<+500%", "true", "sh some.sh")
    ok(seen.code == 3 and "did not end as the baseline did" in " ".join(seen.out.split()), f"{how} in three of six runs: the gate is undecided", seen)
    os.remove("times")
    seen = tare("count", "-r", "6", "--warm-up", "0", "-e", "page-faults", "--fail-if", "page-faults<0", "--", "sh", "some.sh")
    equal(seen.code, end, f"{how} in three of six runs: the status is the program's own")
    os.remove("times")

seen = tare("count", "--reproducible", "--csv", "-e", "page-faults", "--fail-if", "page-faults<1", "true")
ok(seen.code == 0 and "page-faults" in seen.err and "not counted" not in seen.err, "--reproducible counts an event of the kernel that is alone", seen)

# ---- counts under other conditions ----
if tare("count", "--on", "exact", "-e", "instructions", "true").code == 0:
    KEPT = ("--store", "conditions.db")
    for name, options in (("plain", ()), ("alike", ("--reproducible",)), ("older", ("--reproducible", "--cpu", "x86-64-v2")), ("alone", ("--no-children",))):
        tare("count", *KEPT, "-r", "3", "--on", "exact", "-e", "instructions", *options, "true")
        tare("name", *KEPT, "@last", name)
    for base, options, other in (("plain", ("--reproducible",), "none and --reproducible --cpu x86-64-v3"), ("alike", (), "--reproducible --cpu x86-64-v3 and none"),
                                 ("older", ("--reproducible",), "--reproducible --cpu x86-64-v2 and --reproducible --cpu x86-64-v3"), ("alone", (), "--no-children and none")):
        seen = tare("compare", *KEPT, "-r", "3", "--on", "exact", *options, "--gate", "instructions<+50%", f"@{base}", "true")
        ok(seen.code == 3 and f"counted under other conditions: {other}" in " ".join(seen.out.split()), f"@{base} {' '.join(options)}: the gate is undecided, and says why", seen)
    for base, options in (("plain", ()), ("alike", ("--reproducible",)), ("older", ("--reproducible", "--cpu", "x86-64-v2")), ("alone", ("--no-children",))):
        seen = tare("compare", *KEPT, "-r", "3", "--on", "exact", *options, "--gate", "instructions<+50%", f"@{base}", "true")
        ok(seen.code == 0, f"@{base} {' '.join(options)}: the same conditions are compared", seen)
    seen = tare("compare", *KEPT, "-r", "3", "--on", "exact", "-e", "instructions", "--reproducible", "--json", "@alike", "true")
    rows = [c["value"] for r in json.loads(seen.out)["rows"] for c in r["commands"]] if seen.out.startswith("{") else []
    ok(len(set(rows)) == 1 and rows, "--reproducible shows programs the same machine in compare and in count: equal counts", seen)
else:
    skip("the engine does not work here", "counts under other conditions")

# ---- values that go nowhere ----
seen = tare("compare", "-L", "n", "1,2", "true {m}")
ok(seen.code == 2 and "nothing has {n}" in seen.err, "-L whose name no command has is refused", seen)
seen = tare("compare", "--build", "cc -o {out} x.c", "--flags=-O0", "--flags=-O3", "{out}")
ok(seen.code == 2 and "--build has no {flags}" in seen.err, "--flags that --build does not take are refused", seen)
seen = tare("compare", "--cpu", "x86-64-v2", "true", "true")
ok(seen.code == 2 and "--cpu x86-64-v2 needs --reproducible" in seen.err, "--cpu needs --reproducible", seen)
seen = tare("compare", "-v", "-r", "1", "--on", "exact", "-e", "instructions,branches,loads,stores,taken-branches,conditional-branches,calls,returns,system-calls,fp-operations,basic-blocks,"
            "integer-instructions,memory-instructions,data-reads,data-writes", "true", "ls /")
ok("the engine" in seen.err or re.search(r"data-writes:u \(.*-r 3 or more\)", " ".join(seen.out.split())), "a long list of what was not compared ends with its reason", seen)
done()
