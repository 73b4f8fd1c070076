"""tare compare: commands in turns, differences, verdicts."""
import errno

from cli import *

EVENTS = "page-faults,elapsed-time"  # count on every machine


ENGINE = ",exact," in tare("count", "--on", "exact", "-e", "instructions:u", "--csv", "true").err


def rows(it):
    """{(event, command): row} of a JSON report."""
    return {(row.get("event", row.get("metric")), one["command"]): one for row in json.loads(it.out)["rows"] for one in row["commands"]}


# ---- what is wrong ----
for arguments, text, code in (
        ([], "no commands are given", 2),
        (["true"], "one command alone cannot be compared", 2),
        (["true", "echo 'a"], "a quote is not closed", 2),
        (["true", ""], "a command to compare is empty", 2),
        (["--shell", "none", "true", "true | cat"], "needs a shell", 2),
        (["-e", "no-such-event", "true", "true"], "no-such-event", 2),
        (["-r", "0", "true", "true"], "--repetitions", 2),
        (["--reproducible", "--randomise-layout", "true", "true"], "choose one", 2),
        (["-v", "-q", "true", "true"], "not both", 2),
        (["--json", "--csv", "true", "true"], "one format", 2),
        (["true", "-L", "x"], "has a name, but no values", 2),
        (["-L", "x", "1,2", "-L", "x", "3", "true {x}"], "has values already", 2),
        (["-n", "a", "-n", "b", "-n", "c", "true", "true"], "3 names for 2 commands", 2),
        (["--prepare", "a", "--prepare", "b", "true", "true", "true"], "give it once, or once for each", 2),
        (["--input", "/dev/null/x", "true", "true"], "/dev/null/x", 3),
        (["-o", "/dev/null/x", "true", "true"], "/dev/null/x", 3),
        (["-e", EVENTS, "true", "/dev/null/program"], "/dev/null/program", 3),
        (["-e", EVENTS, "true", "sh -c 'exit 7'"], "'B' ended with exit status 7 in execution 2 of all: sh -c exit 7", 3),
        (["-e", EVENTS, "true", "sh -c 'kill -9 $$'"], "killed by signal 9", 3),
        (["-e", EVENTS, "--setup", "exit 4", "true", "true"], "the command of --setup ended with status 4", 3),
        (["-e", EVENTS, "--prepare", "exit 4", "true", "true"], "the command of --prepare ended with status 4", 3),
        (["-e", EVENTS, "--cleanup", "exit 4", "true", "true"], "the command of --cleanup ended with status 4", 3)):
    it = tare("compare", *arguments)
    ok(it.code == code and text in it.err and it.out == "", f"compare {' '.join(arguments)}: {text}", it)

# ---- commands ----
it = tare("compare", "-e", EVENTS, "-r", "3", "--json", "true  a 'b  c' \"d\\\"e\" f\\ g", "true | cat", "X=1 true", "exit 0")
commands = json.loads(it.out)["commands"]
equal(commands[0]["command"], ["true", "a", "b  c", 'd"e', "f g"], "a command that is only words runs without a shell")
for command, text in zip(commands[1:], ("true | cat", "X=1 true", "exit 0")):
    equal(command["command"], ["/bin/sh", "-c", text], f"'{text}' runs by the shell")
equal([c["name"] for c in commands], ["A", "B", "C", "D"], "commands are called by letters")
it = tare("compare", "-e", EVENTS, "-r", "3", "--json", "-L", "x", "1,2", "-L", "y", "a,b", "true {x} {y} {z}", "-n", "first")
commands = json.loads(it.out)["commands"]
equal([" ".join(c["command"][1:]) for c in commands], ["-c true 1 a {z}", "-c true 1 b {z}", "-c true 2 a {z}", "-c true 2 b {z}"],
      "lists make all combinations; other braces stay")
equal([c["name"] for c in commands], ["first", "B", "C", "D"], "options stand behind commands, too")

# ---- turns ----
log = os.path.abspath("log")
it = tare("compare", "-e", EVENTS, "-r", "6", "-w", "2", "--seed", "3", "--setup", f"echo s >> {log}", "--cleanup", f"echo c >> {log}",
            "--prepare", f"echo p >> {log}", "--conclude", f"echo q >> {log}", f"sh -c 'echo A >> {log}'", f"sh -c 'echo B >> {log}'")
first = read("log").split()
ok(it.code == 0, "a comparison ends with 0", it)
equal((first[0], first[-1], first.count("s"), first.count("c")), ("s", "c", 1, 1), "setup comes first and cleanup last, once")
body = first[1:-1]
equal({"".join(body[i:i + 3]) for i in range(0, len(body), 3)}, {"pAq", "pBq"}, "each execution is prepared and concluded")
order = [word for word in first if word in "AB"]
equal((order.count("A"), order.count("B")), (8, 8), "each command has 2 warm-ups and 6 runs")
equal({"".join(sorted(order[i:i + 2])) for i in range(0, 16, 2)}, {"AB"}, "each repetition has every command once")
ok(len({"".join(order[i:i + 2]) for i in range(0, 16, 2)}) == 2, "in both orders", order)
os.unlink("log")
tare("compare", "-e", EVENTS, "-r", "6", "-w", "2", "--seed", "3", f"sh -c 'echo A >> {log}'", f"sh -c 'echo B >> {log}'")
equal(read("log").split(), order, "the same seed gives the same order")

# ---- input, output, directory ----
write("in", "text\n")
it = tare("compare", "-e", EVENTS, "-r", "3", "--input", "in", "grep -q text", "grep text")
ok(it.code == 0 and "text\n" not in it.out.split("event")[1], "each execution reads the input; output is not shown", it)
it = tare("compare", "-e", EVENTS, "-r", "3", "grep text", "true", stdin=b"text\n")
ok(it.code == 3 and "exit status 1" in it.err, "standard input is empty unless given", it)
it = tare("compare", "-e", EVENTS, "-r", "3", "-i", "grep text", "true")
ok(it.code == 0 and "A: every run: exit status 1" in it.out, "--ignore-failure compares them, and tells", it)

# ---- what is not counted ----
if ENGINE:
    it = tare("compare", "-e", "page-faults,cycles:k", "-r", "3", "--on", "exact", "true", "true")
    ok(it.code == 0 and "not counted" in it.out, "an event that is not counted is a row that says so", it)
    it = tare("compare", "-e", "cycles:k", "-r", "3", "--on", "exact", "--json", "true", "true")
    row = rows(it)["cycles:k", "B"]
    ok(row["verdict"] == "unknown" and row["difference"] is None and row["why"], "it has no difference, not one of 0", it)
else:
    skip("the engine does not work here", "an event that is not counted is a row that says so")
    skip("the engine does not work here", "it has no difference, not one of 0")
it = tare("compare", "-e", EVENTS, "-r", "1", "--json", "true", "true")
row = rows(it)["page-faults", "B"]
ok(row["verdict"] == "unknown" and row["relative_low"] is None and "-r 3" in row["why"], "one run of each decides nothing", it)

# ---- formats ----
it = tare("compare", "-e", EVENTS, "-r", "3", "--statistics", "--export-json", "j", "--export-csv", "c", "--export-markdown", "m",
            "true", "true | cat", "-n", "a|b<c")
ok(it.code == 0 and "median" in it.out, "--statistics shows medians", it)
equal(json.loads(read("j"))["repetitions"], 3, "JSON is also written to a file")
lines = read("c").split("\n")
equal((len(lines), lines[1].split(",")[:3]), (6, ["1", "event", "page-faults"]), "CSV has a line for each event and command")
ok("| a&#124;b&#60;c |" in read("m"), "Markdown escapes names", read("m"))
ok(read("m").startswith("- a&#124;b&#60;c (the baseline): true\n- B: /bin/sh -c 'true &#124; cat'\n\n|"), "Markdown says which command each name stands for", read("m"))
ok(max(len(line) for line in it.out.splitlines()) <= 80, "lines have at most 80 columns", it)

# ---- widths: of counts with many digits and wide intervals, in a replay of runs that are far apart ----
WIDE = "replay:" + write("wide.json", json.dumps({"tare_recording": 1, "after_last": "repeat",
    "events": [{"name": n, "source": "hw"} for n in ("instructions", "stores", "taken-branches")], "executions": [
    {"readings": {"instructions": 111222333444 + 7 * i, "stores": 1000 * i ** 4 + 1, "taken-branches": 10 + i % 3}} for i in range(24)]}))
for columns in (60, 80, 200):
    for options in ((), ("--statistics", "-v")):
        text = shown_on_terminal(columns, "compare", "--on", WIDE, "-r", "5", "-w", "0", "-e", "instructions,stores,taken-branches", *options, "-n", "a",
                                 "-n", "a name of some length", "true", "sh -c 'exit 0'")
        long_ = [line for line in text.splitlines() if len(line) > columns]
        ok(not long_ and "a name of some length" in text and " difference" in text, f"{columns} columns{' with --statistics' if options else ''}: no line is longer",
           "\n".join(long_) + "\n" + text)
        ok(every(line == line.rstrip() for line in text.splitlines()), f"{columns} columns: nor ends in spaces", text)
        ok(len(re.findall(r"  none ≥ [\d,.]+ %$", text, re.M)) == 3, f"{columns} columns: and each verdict is whole", text)
it = tare("compare", "--on", WIDE, "-r", "2", "-w", "0", "-e", "stores", "true", "true")
ok("too few runs for 1 comparison: " in " ".join(it.out.split()), "one comparison is not 1 comparisons", it)
it = tare("compare", "--on", WIDE, "-r", "1", "-w", "0", "-e", "stores", "true", "true")
ok("1 run of each" in " ".join(it.out.split()), "nor is one run 1 runs", it)

# ---- programs start where the newest way to start them is refused ----
for name, call, error in ("clone3", 435, errno.EPERM), ("clone3 in another way", 435, errno.EACCES), ("no call", 0xfffff, errno.EPERM):
    it = tare("compare", "-e", "elapsed-time", "-r", "3", "--ignore-failure", "true", "sh -c 'kill -USR1 $$'", preexec_fn=lambda call=call, error=error: refuse(call, error))
    ok(it.code == 0 and "elapsed-time" in it.out and "B: every run: killed by signal 10" in it.out,
       f"with {name} refused by a seccomp filter, commands run, and signals have their defaults", it)

# ---- a store that cannot be made ----
it = tare("compare", "-e", EVENTS, "-r", "3", "true", "true", "true", env=environment(TARE_STORE="/proc/none/tare.db"))
ok(it.code == 0 and it.err.count("not kept") == 1 and "this comparison's runs are not kept: " in it.err, "why runs are not kept is said once, not for each command", it)

it = tare("compare", "-r", "8", "sh -c :", "sh -c 'exit 0 # a longer one'")  # enough runs for each number of events that vary
verdicts = [line.split("none ≥")[1] for line in it.out.split("metric")[0].splitlines() if "  none ≥" in line]
ok(every(re.fullmatch(r" [\d.,]+ %", text) for text in verdicts), "no number of a verdict is cut, however long the events' names", it)

# ---- exact counts ----
if ENGINE:
    it = tare("compare", "-e", "instructions:u", "-r", "5", "--reproducible", "--json", "sh -c :", "sh -c :", "sh -c ':;:;:'")
    row = rows(it)
    ok(row["instructions:u", "B"]["verdict"] == "equal" and row["instructions:u", "B"]["relative_high"] == 0,
       "the same program's instructions are equal", it)
    ok(row["instructions:u", "C"]["verdict"] == "more" and row["instructions:u", "C"]["relative_low"] > 0, "a longer one's are more", it)

    # ---- why they differ: what tare knows not to be the cause is not named ----
    for name, linked in ("a", "-Wl,--build-id=sha1"), ("b", "-Wl,--build-id=none"):
        kept = environment(TARE_STORE=os.path.abspath(f"kept-{name}.db"))
        for bound in (1000, 2000):
            write("prog.c", f"int main(void) {{ volatile int n = 0; while (n < {bound}) n++; return 0; }}\n")
            subprocess.run(["cc", "-O1", linked, "prog.c", "-o", "prog"], check=True)
            tare("count", "--reproducible", "--cpu", "x86-64-v2", "--on", "exact", "-e", "instructions:u", "-r", "3", "./prog", env=kept)
        notes = " ".join(json.loads(tare("compare", "--json", "@1", "@2", env=kept).out)["notes"])
        ok("@2 executes other code than @1: another build of the program or of a library" in notes and "thread" not in notes,
           f"a program that was built anew between two kept runs, with {linked}: its code is other code", notes)
    KEPT = environment(TARE_STORE=os.path.abspath("kept.db"))
    write("spin.c", """#include <pthread.h>
static volatile int ready;
static void *work(void *p) { for (volatile int i = 0; i < 3000000; i++) ; ready = 1; return p; }
int main(void) { pthread_t t; pthread_create(&t, 0, work, 0); while (!ready) ; return pthread_join(t, 0); }
""")
    subprocess.run(["cc", "-O1", "-pthread", "spin.c", "-o", "spin"], check=True)
    for _ in range(2):
        tare("count", "--reproducible", "--cpu", "x86-64-v2", "--on", "exact", "-e", "instructions:u", "-r", "1", "./spin", env=KEPT)
    it = tare("compare", "--json", "@1", "@2", env=KEPT)
    counts = [one["runs"] for one in json.loads(it.out)["rows"][0]["commands"]]
    notes = " ".join(json.loads(it.out)["notes"])
    ok(counts[0] == counts[1] or ("this is the order of its threads or processes" in notes and "build" not in notes),
       "one program whose threads wait for each other: their order, and not another build", it)
else:
    skip("the engine does not work here", "a program that was built anew between two kept runs: its code is other code")
    skip("the engine does not work here", "one program whose threads wait for each other: their order, and not another build")
    skip("the engine does not work here", "the same program's instructions are equal")
    skip("the engine does not work here", "a longer one's are more")
done()
