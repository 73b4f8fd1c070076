"""Help, version, lists and the doctor."""
import glob
import json
import shutil
import subprocess

from cli import *

equal(tare("--version").out, tare("version").out, "--version is version")
ok(re.fullmatch(r"tare \d+\.\d+\.\d+\n", tare("--version").out), "the version is one line", tare("--version"))
equal(tare("--help").out, tare("help").out, "--help is help")
equal(tare("help", "count").out, tare("count", "--help").out, "'help count' is 'count --help'")
overview = tare("help")
ok(overview.code == 0 and overview.err == "", "help goes to standard output", overview)
ok(max(map(len, overview.out.splitlines())) <= 80, "its lines have at most 80 columns", overview)
commands = re.findall(r"^  ([a-z-]+) +[a-z]", overview.out.split("topics of")[0], re.M)
equal(commands, ["count", "profile", "explain", "compare", "report", "predict", "verify", "list", "name", "export", "import", "prune", "cache", "doctor", "calibrate", "annotate-asm", "completion", "help", "version"], "help lists the commands")
for command in commands:
    text = tare(command, "--help").out
    equal(tare("help", command).out, text, f"'help {command}' is '{command} --help'")
    ok("usage: tare" in text and max(map(len, text.splitlines())) <= 80,
       f"help of '{command}' has its usage, and lines of at most 80 columns", text)
    if command not in ("completion", "help", "version"):
        narrow = shown_on_terminal(60, command, "--help")
        wider = [part for part in narrow.splitlines() if len(part) > 60 and not re.fullmatch(r" +(-\w, )?--\S+ \S+", part)]
        ok(narrow.split() == text.split() and not wider,
           "... on a terminal of 60 columns the same words, in lines of at most 60 (but an option that is longer)", wider or narrow)
text = tare("count", "--help").out
for option in ("-e", "-r", "--warm-up", "--confidence", "--all-repetitions", "-m", "--on", "-o", "--program-output",
               "--json", "--csv", "-v", "-p", "-a", "-C", "--per-thread", "--per-cpu", "--no-children",
               "--several-runs", "-P", "-F", "--compat"):
    ok(re.search(rf"^ +(-\w, )?{option}\b", text, re.M), f"count's help has {option}", text if option == "-e" else None)
has(text, "exit status", "count's help tells the exit statuses")

# ---- what the manual and README say ----
ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../..")
for command in ("count", "profile", "explain", "compare", "report", "predict", "verify", "list", "name", "export", "import", "prune", "cache", "doctor", "calibrate", "annotate-asm"):
    with open(f"{ROOT}/docs/man/tare-{command}.1.scd", encoding="utf-8") as file:
        manual = re.findall(r"^(?:\*-\w\*, )?\*(--[a-z-]+)\*", file.read(), re.M)
        file.seek(0)
        manual += re.findall(r", \*(--csv)\*$", file.read(), re.M)
    helped = re.findall(r"^ +(?:-\w, )?(--[a-z-]+)\b", tare(command, "--help").out, re.M)
    equal(sorted(set(manual)), sorted(set(helped)), f"tare-{command}(1) has the options that its help has")
with open(f"{ROOT}/README.md", encoding="utf-8") as file:
    readme = file.read()
with open(f"{ROOT}/docs/tour.md", encoding="utf-8") as file:
    readme += file.read()
shown = {}  # of each command, the options that README and the tour show
for line in re.findall(r"^(?:\$ )?tare [a-z].*|`tare [a-z][^`\n]*", readme.replace("\\\n", " "), re.M):
    words = re.sub(r"'[^']*'", "", line).split(" -- ")[0].strip("`$ ").split()
    if re.fullmatch(r"[a-z-]+", words[1]):  # "tare count:" begins a report
        shown.setdefault(words[1], set()).update(re.match(r"[a-z-]+", word)[0] for word in words[2:] if re.match(r"--[a-z]", word))
ok({"count", "profile", "compare", "explain", "verify", "report", "annotate-asm"} <= set(shown) and len(shown["count"]) >= 9,
   "README and the tour show commands with options", shown)
for command, options in sorted(shown.items()):
    text = tare(command, "--help").out
    missing = [option for option in sorted(options) if not re.search(rf"(^ +|, ){option}\b", text, re.M)]
    ok((text.startswith(f"usage: tare {command}") or command == "help") and not missing, f"README's and the tour's 'tare {command}' has the options that they show", (missing, text[:100]))
with open(f"{ROOT}/bench/README.md", encoding="utf-8") as file:
    table = file.read().split("<!-- the engine's table", 1)[1].split("\n\n")[1]
measured = {row[0]: row[-1].strip("*") for row in (re.split(r" *\| *", line.strip("| ")) for line in table.splitlines())}
claimed = re.search(r"about ([\d.]+) times its native CPU time \(valgrind without a tool: ([\d.]+);", readme)
equal([f"{float(measured[name]):.1f}" for name in ("tare", "valgrind")], list(claimed.groups()), "README: the engine's and valgrind's CPU time are as bench/README.md has them")
stories = glob.glob(f"{ROOT}/examples/stories/*/README.md")
ok("twelve programs before and after tuning" in readme and len(stories) == 12, "README: twelve programs before and after tuning", stories)
machines = tare("list", "machines", "--names").out.split()
ok({"host", "r10000", "r12000", "power3", "power4", "pentium", "alpha21264"} <= set(machines), "the tour's machines are there", machines)
if os.uname().machine == "x86_64":
    rows = json.loads(tare("list", "events", "--on", "model:host", "--json").out)["events"]
    counted = [sum(row.get("source") == source for row in rows) for source in ("exact", "model")]
    if counted[0]:
        ok(counted[0] > 80 and counted[1] > 100, "README: more than 80 exact events, and more than 100 of models", counted)
    else:
        skip("the engine does not work here", "README: more than 80 exact events, and more than 100 of models")
with open(f"{ROOT}/docs/man/tare.1.scd", encoding="utf-8") as file:
    sections = dict(re.findall(r"^# ([A-Z ]+)\n(.*?)(?=^# |\Z)", file.read(), re.M | re.S))
equal(sorted(re.findall(r"^\*([a-z]+)\*$", sections["SOURCES"], re.M)), sorted(set(SCHEMA["$defs"]["estimate"]["properties"]["source"]["enum"]) - {"none"}), "tare(1) has the sources of reports")
statuses = re.findall(r"^\*(\d+)\*$", sections["EXIT STATUS"], re.M)
equal(statuses, ["0", "1", "2", "3", "124"], "tare(1) has tare's own exit statuses")
ok(every(re.search(rf"\b{status} ", overview.out.split("exit status:")[1]) for status in statuses), "so does help", overview)

# ---- completion ----
for shell in ("bash", "zsh", "fish"):
    script = tare("completion", shell)
    ok(script.code == 0 and "program-output" in script.out and "first all none" in script.out,
       f"a completion script for {shell} has the options and their values", script)
    if shutil.which(shell):
        check = subprocess.run([shell, "-n"], input=script.out, capture_output=True, text=True)
        ok(check.returncode == 0 and check.stderr == "", f"{shell} can read it", check.stderr)
    else:
        skip(f"{shell} is not installed", f"{shell} can read it")


def completed(*words):
    """What bash offers for the last of the words."""
    script = (tare("completion", "bash").out + f"\ntare() {{ '{TARE}' \"$@\"; }}\n"
              f"COMP_WORDS=({' '.join(repr(word) for word in words)}); COMP_CWORD={len(words) - 1}; COMPREPLY=()\n"
              "_tare; printf '%s\\n' \"${COMPREPLY[@]}\"")
    return subprocess.run(["bash", "-c", script], capture_output=True, text=True).stdout.split()


equal(completed("tare", "explain", "--by", "f"), ["function"], "bash completes how time is explained")
equal(completed("tare", "co"), ["count", "compare", "completion"], "bash completes commands")
equal(completed("tare", "count", "--program-o"), ["--program-output"], "bash completes options")
equal(completed("tare", "count", "--program-output", "n"), ["none"], "bash completes an option's values")
equal(completed("tare", "count", "--cpu", ""), ["x86-64-v2", "x86-64-v3", "x86-64-v4", "host"], "not what stands for a value, but the values")
write("a.prom", "")
equal(completed("tare", "count", "--openmetrics", "a."), ["a.prom"], "bash completes files, also where something else may stand")
equal(completed("tare", "count", "-e", "page-f"), ["page-faults"], "bash completes events")
equal(completed("tare", "count", "-e", "cycles,page-f"), ["cycles,page-faults"], "also the second of a list")
equal(completed("tare", "list", "--on", "per"), ["perf"], "bash completes backends")
equal(completed("tare", "list", "machines", "r1"), ["r10000", "r12000"], "bash completes machines")
ok("ipc" in completed("tare", "count", "-m", "ip"), "bash completes metrics")

# ---- topics ----
topics = re.findall(r"^  ([a-z-]+) +[A-Z]", overview.out.split("topics of")[1].split("examples:")[0], re.M)
equal(sorted(topics), sorted(name[:-3] for name in os.listdir(f"{ROOT}/docs/topics")), "help lists the topics of docs/topics")
with open(f"{ROOT}/docs/man/tare-help.1.scd", encoding="utf-8") as file:
    equal(sorted(re.findall(r"\*([a-z-]+)\*(?=,|\n\t)", file.read().split("topic, it shows")[1].split("*tare version*")[0])), sorted(topics), "tare-help(1) lists them")
helps = {command: tare(command, "--help").out for command in commands}
for topic in topics:
    shown = tare("help", topic)
    with open(f"{ROOT}/docs/topics/{topic}.md", encoding="utf-8") as file:
        page = file.read()
    ok(shown.code == 0 and page.splitlines()[0] == "# " + shown.out.splitlines()[0], f"'help {topic}' shows its page", shown)
    broken = [line for line in shown.out.splitlines() if not line.startswith("    ")]  # code is not
    ok(max(map(len, broken)) <= 80, f"in lines of at most 80 columns: {topic}", broken)
    for word in re.findall(r"[A-Za-z_0-9]+", re.sub(r"\W+", " ", page)):
        if word not in shown.out:
            ok(False, f"no word of {topic} is lost", word)
            break
    else:
        ok(True, f"no word of {topic} is lost")
    written = re.findall(r"(?:`|^\$ |^|-n 4 )tare ([a-z-]+)([^`\n|]*)", page, re.M)
    ok(written or topic in (), f"{topic} shows commands", page)
    for command, rest in written:
        for option in re.findall(r" (--?[a-zA-Z][a-z-]*)", re.sub("'[^']*'", "", rest.split(" -- ")[0])):
            ok(command in helps and re.search(rf"(^ +|, ){option}\b", helps[command], re.M), f"{topic}: tare {command} has {option}", rest)
equal(completed("tare", "help", "from-p"), ["from-perf", "from-papi"], "bash completes topics")
unknown = tare("help", "nonsense")
ok(unknown.code == 2 and "unknown command or topic 'nonsense'" in unknown.err, "another word is refused", unknown)
if os.uname().machine == "x86_64" and shutil.which("gcc"):
    # model:zen4, whatever the machine here is: lines of 64 bytes, a first level of 32 KiB
    subprocess.run(["gcc", "-O1", "-g", "-o", "table", f"{ROOT}/examples/tutorial/table.c"], check=True)
    text = tare("count", "--on", "model:zen4", "-e", "l1d-misses", "--by", "line", "--", "./table").err
    has(text, re.compile(r"^ *1,000,000\(.*table\.c:8 \(table\)$", re.M), "the tutorial's finding: each load of its line 8 misses")
    has(text, re.compile(r"^ *125,000\(.*table\.c:16 \(table\)$", re.M), "and one store in eight of its line 16")
else:
    skip("no engine or no gcc here", "the tutorial's finding: each load of its line 8 misses")

# ---- lists ----
names = tare("list", "events", "--names").out.split()
ok("instructions" in names and "page-faults" in names and len(set(names)) == len(names),
   "event names are listed, each once", names)
equal(tare("list", "--names").out.split(), names, "events are listed by default")
text = tare("list", "events", "page-faults").out
has(text, re.compile(r"^  page-faults +os  +[A-Z]", re.M), "page faults work everywhere")
text = tare("list", "events", "fault", "minor", "--names").out
has_not(text, "major", "words narrow the list")
none = tare("list", "events", "no-such-word")
ok(none.code == 0 and none.out == "" and "no events" in none.err, "no match is said", none)
text = tare("list", "-v", "events", "page-faults").out
has(text, re.compile(r"^ +counted by +software:page-faults$", re.M), "-v shows the encodings")
equal(tare("list", "events", "page-faults", "-v").out, text, "options may follow the words")
metrics = tare("list", "metrics", "--names").out.split()
ok("ipc" in metrics, "metrics are listed", metrics)
has(tare("list", "backends").out, re.compile(r"^  perf ", re.M), "backends are listed")
has(tare("list", "machines").out, re.compile(r"^  host ", re.M), "the machine is listed")
listing = json.loads(tare("list", "events", "--json").out)["events"]
equal([row["event"] for row in listing], names, "the JSON has the same events")
ok(every(row["works"] != bool(row["why"]) for row in listing), "what does not work says why", listing)

# kernels and what moves an event
kernels = {row["kernel"]: row for row in json.loads(tare("list", "kernels", "--json").out)["kernels"]}
equal(tare("list", "kernels", "--names").out.split(), list(kernels), "kernels are listed, by name and as JSON")
ok(every(row["about"] and row["sizes"] and row["works"] != bool(row["why"]) for row in kernels.values()), "each has a sentence, sizes, and works or says why not",
   kernels)
rows = {row["event"]: row for row in kernels["loop"]["predictions"]}
ok(rows["instructions"]["formula"] == "start + 2*n" and rows["instructions"]["moves"] and rows["instructions"]["command"] and not rows["stores"]["moves"],
   "a kernel's formulas are in the JSON", rows)
text = tare("list", "kernels", "loop").out
has(text, "start + 2*n", "a kernel that is named shows its formulas")
has_not(text, "  stores ", "... of what depends on n")
has(tare("list", "-v", "kernels", "loop").out, "  stores ", "-v shows the others, too")
by_event = {row["event"]: row["kernels"] for row in listing}
ok("loop" in by_event["instructions"] and "gathers" in by_event["gathers"] and by_event["package-energy"] == [], "an event names the kernels that move it, or none", by_event)
has(tare("list", "-v", "events", "package-energy").out, re.compile(r"kernels +none moves it"), "an event without one says so")
none = tare("list", "kernels", "no-such-kernel")
ok(none.code == 0 and none.out == "" and "no kernels" in none.err, "a kernel that is not there is said", none)

# what the list says is what count does
for row in listing:
    if row["event"] in ("page-faults", "cycles", "task-clock", "instructions", "elapsed-time"):
        seen = json.loads(tare("count", "--json", "-o", "-", "-e", row["event"], "true").out)["results"][0]
        ok((seen["value"] is not None) == row["works"], f"'{row['event']}' is counted exactly if the list says so",
           (row, seen))

# ---- the doctor ----
text = tare("doctor")
ok(text.code == 0 and re.search(r"^  (works|partly|no) ", text.out, re.M), "the doctor has findings", text)
equal(len(re.findall("The one step that would allow more", text.out)), 1, "the doctor names one step")
ok(max(map(len, text.out.splitlines())) <= 80, "the doctor's lines have at most 80 columns", text)

done()
