"""Bad input: each gets a clear message and the documented exit code (2 usage, 3 cannot measure)."""
import os
import re

from cli import *

CONTROL = re.compile(r"[\x00-\x09\x0b-\x1f\x7f]")


def refused(seen, code, text, fact):
    """A refusal says why, on standard error only, in one line and at most one hint."""
    ok(seen.code == code, f"{fact}: exit code {code}", seen)
    has(seen.err, text, f"{fact}: says so")
    equal(seen.out, "", f"{fact}: nothing on standard output")
    ok(seen.err.startswith("tare: ") and seen.err.count("\n") <= 2, f"{fact}: a message and at most a hint", seen)


# ---- command lines ----
none = tare()
equal(none.code, 2, "no arguments: exit code 2")
has(none.err, "usage: tare", "no arguments: the usage is shown")
refused(tare("count"), 2, "nothing to count: no program is given", "count without a program")
refused(tare("count", "--"), 2, "no program is given", "count with nothing after --")
refused(tare("conut", "true"), 2, "unknown command 'conut'", "an unknown command")
has(tare("conut", "true").err, "did you mean 'tare count'?", "an unknown command: the nearest is named")
refused(tare("gzip", "file"), 2, "tare count gzip", "a program without 'count'")
refused(tare("--nonsense"), 2, "unknown option '--nonsense'", "an unknown option before the command")
refused(tare("count", "--evnt", "x", "true"), 2, "unknown option '--evnt'", "an unknown option")
has(tare("count", "--evnt", "x", "true").err, "'--event'", "an unknown option: the nearest is named")
refused(tare("count", "-Z", "true"), 2, "unknown option '-Z'", "an unknown letter")
refused(tare("count", "-e"), 2, "option '--event' needs an argument", "an option without its argument")
refused(tare("count", "--json=yes", "true"), 2, "takes no argument", "an argument too many")
refused(tare("count", "--json", "--csv", "true"), 2, "one format", "two formats")
refused(tare("count", ""), 2, "the program's name is empty", "an empty program name")
refused(tare("count", "--on", "perv", "true"), 2, "perv", "an unknown backend")
has(tare("count", "--on", "perv", "true").err, "perf", "an unknown backend: those there are are named")
refused(tare("count", "--confidence", "90", "true"), 2, "'90' is not 95 or 99", "an unknown confidence")
refused(tare("count", "--program-output", "last", "true"), 2, "first, all or none", "an unknown choice of output")
refused(tare("count", "--compat", "pfmon", "true"), 2, "p5mon or perfex", "an unknown tool")
refused(tare("count", "-p", "1", "true"), 2, "'true'", "a program and a process")
refused(tare("count", "-p", "abc"), 2, "'abc' is not a process id", "a process id that is none")
refused(tare("count", "-p", "0"), 2, "'0' is not a process id", "process 0")
refused(tare("count", "-C", "3-1", "true"), 2, "'3-1' is not a CPU", "a range of CPUs backwards")
refused(tare("count", "-a", "-C", "0", "true"), 2, "not both", "all CPUs and some")
refused(tare("count", "--per-cpu", "true"), 2, "needs -a, -C or --cgroup", "rows per CPU of a program")
refused(tare("count", "--for", "1", "true"), 2, "timeout", "a duration for a program: the way to do it is named")
refused(tare("count", "-a", "--for", "-1"), 2, "not a number of seconds", "a negative duration")
refused(tare("count", "-a", "-r", "2"), 2, "need a program", "repetitions without a program")
refused(tare("list", "--json", "--names"), 2, "not both", "a list in two formats")
refused(tare("doctor", "now"), 2, "no arguments", "the doctor's argument")
refused(tare("help", "nonsense"), 2, "unknown command or topic 'nonsense'", "help for an unknown command")
for absurd in ("0", "-1", "1000001", "99999999999999999999", "1e3", "", "5x", " 5"):
    refused(tare("count", "-r", absurd, "true"), 2, "is not a whole number from 1 to 1000000",
            f"{absurd!r} repetitions")
refused(tare("count", "--warm-up", "-3", "true"), 2, "whole number from 0", "a negative number of warm-ups")

# ---- events ----
unknown = tare("count", "-e", "page-fualts", "true")
refused(unknown, 2, "page-fualts", "an unknown event")
has(unknown.err, "page-faults", "an unknown event: the nearest is named")
ok(len(re.findall(r"'[a-z0-9-]+'", unknown.err)) >= 4, "an unknown event: three nearest are named", unknown)
refused(tare("count", "-e", "", "true"), 2, "an empty name in the list of events ''", "an empty list of events")
refused(tare("count", "-e", "page-faults,,task-clock", "true"), 2, "an empty name in the list of events 'page-faults,,task-clock'", "an empty name in a list")
refused(tare("count", "-e", "page-faults:x", "true"), 2, "page-faults", "an unknown level")
refused(tare("count", "-m", "ipcc", "true"), 2, "ipcc", "an unknown metric")
has(tare("count", "-m", "ipcc", "true").err, "'ipc'", "an unknown metric: the nearest is named")
refused(tare("count", "-m", "ipc,", "true"), 2, "an empty name", "an empty name in a list of metrics")

# a 100,000-event list: more than the system takes in one argument, so many arguments
names = ",".join(["page-faults"] * 10000)
many = [word for _ in range(10) for word in ("-e", names)]
endless = tare("count", *many, "true")
ok(endless.code in (0, 2) and len(endless.err) < 20000, "a list of 100,000 events has an answer of readable length",
   endless)
different = ",".join(f"r{number:x}" for number in range(1, 10001))
refused(tare("count", "-e", different, "true"), 2, "4096", "10,000 different events: more than can be")

evil = tare("count", "-e", "evil\x1b[31m\x07\nname", "true")
ok(evil.code == 2 and not CONTROL.search(evil.err), "control characters of an event's name stay out of the message",
   evil)
evil = tare("count", "evil\x1b[31m\x07\nprogram")
ok(evil.code == 3 and not CONTROL.search(evil.err), "control characters of a program's name stay out of the message",
   evil)
evil = tare("count", "--evil\x1b[31m\n", "true")
ok(evil.code == 2 and not CONTROL.search(evil.err), "control characters of an option stay out of the message", evil)
evil = tare("count", "-e", "page-faults", "sh", "-c", "exit 0", "evil\x1b[31m\x07")
ok(evil.code == 0 and not CONTROL.search(evil.err), "control characters of an argument stay out of the report", evil)

# ---- programs ----
refused(tare("count", "no-such-program-anywhere"), 3, "no-such-program-anywhere", "a missing program")
refused(tare("count", "./no-such-file"), 3, "./no-such-file", "a missing file")
write("plain", "echo hello\n", 0o644)
refused(tare("count", "./plain"), 3, re.compile("ermission|executable"), "a file that is not executable")
refused(tare("count", "/"), 3, re.compile("(?i)directory|permission|executable"), "a folder as a program")
write("garbage", b"\x00\x01\x02garbage", 0o755)
refused(tare("count", "./garbage"), 3, re.compile("(?i)exec format"), "a file that is no program")
write("orphan", "#!/no/such/interpreter\n", 0o755)
refused(tare("count", "./orphan"), 3, "./orphan", "a script without its interpreter")
refused(tare("count", "-r", "3", "no-such-program-anywhere"), 3, "no-such-program-anywhere",
        "a missing program with repetitions")
refused(tare("count", "-p", "4194000"), 3, "4194000", "a missing process")
refused(tare("count", "-C", "99999", "true"), 3, "99999", "a missing CPU")

# ---- where the report goes ----
refused(tare("count", "-o", "/no/such/folder/file", "touch", "ran"), 3, "/no/such/folder/file",
        "a report that cannot be opened")
ok(not os.path.exists("ran"), "a report that cannot be opened: the program was not run")
full = tare("count", "-e", "page-faults", "-o", "/dev/full", "true")
equal(full.code, 3, "a full disk: exit code 3")
has(full.err, "/dev/full", "a full disk: says which file")
has(full.err, "o space left", "a full disk: says why")
has(full.err, re.compile(r"page-faults +[0-9]"), "a full disk: what was measured is on standard error")
# a write that fails in the middle: the reason is that of then
with open("/dev/full", "wb") as disk:
    long = tare("list", "events", "--json", stdout=disk)
has(long.err, "o space left", "a long text to a full disk: says why")
with open("/dev/full", "wb") as disk:
    full = tare("count", "-e", "page-faults", "-o", "-", "true", stdout=disk)
ok(full.code == 3 and "o space left" in full.err and "page-faults" in full.err,
   "standard output on a full disk: message, exit code 3, and the report on standard error", full)
with open("/dev/full", "wb") as disk:
    for command in (["list", "events"], ["list", "metrics", "--json"], ["doctor"], ["help"], ["--version"],
                    ["count", "--help"]):
        full = tare(*command, stdout=disk)
        ok(full.code == 3 and "o space left" in full.err, f"'tare {' '.join(command)}' to a full disk: code 3", full)
reader, writer = os.pipe()
os.close(reader)
closed = tare("count", "-e", "page-faults", "-o", "-", "true", stdout=writer)
ok(closed.code == 3 and "roken pipe" in closed.err and "page-faults" in closed.err,
   "a report into a closed pipe: message, exit code 3, and the report on standard error", closed)
closed = tare("count", "-e", "page-faults", "true", stderr=writer)
ok(closed.code == 3, "a report into a closed pipe on standard error: exit code 3, no death by SIGPIPE", closed)
os.close(writer)

# ---- parameter files ----
refused(tare("count", "-P", "missing.parms", "true"), 3, "missing.parms", "a missing parameter file")
for text, place, fact in (
        ("(p5mon\n  repetitions = five;\nend)", "bad.parms:2:17:", "a number that is none"),
        ("(p5mon\n  repetitions 5;\nend)", "bad.parms:2:15:", "a missing '='"),
        ("(p5mon\n  command = true\n  repetitions = 5;\nend)", "bad.parms:2:17:", "a missing ';'"),
        ("(p5mon\n\trepetitions = 5;\n", "bad.parms:1:1:", "a section without end"),
        ("nothing here", "bad.parms:1:1:", "text outside sections"),
        (b"\x00\x01\x02", "bad.parms:1:1:", "no text at all")):
    write("bad.parms", text)
    refused(tare("count", "-P", "bad.parms", "true"), 2, place, f"a parameter file with {fact}")
write("bad.parms", "(p5mon use_assembly_regions = yes; instructions_executed = yes; end)")
refused(tare("count", "-P", "bad.parms", "--on", "perf", "true"), 2, "bad.parms:1:8:", "the program's own regions, of a backend that does not see them,")
for option in ("--gross", "--per-thread", "--per-process"):
    for compat in ("p5mon", "perfex") if option != "--per-thread" else ("p5mon",):
        refused(tare("count", "--compat", compat, option, "true"), 2, f"--compat {compat} has no {option}", f"{option} with --compat {compat}")
refused(tare("count", "--costs", "auto", "true"), 2, "--costs is for --compat perfex", "--costs without --compat perfex")
refused(tare("count", "--compat", "p5mon", "--per-cpu", "-a", "true"), 2, "--compat p5mon has no --per-cpu", "--per-cpu with --compat")
refused(tare("count", "--compat", "perfex", "--all-repetitions", "true"), 2, "--compat perfex has no --all-repetitions", "--all-repetitions with --compat perfex")
write("empty.parms", "(p5mon command = true; end)")
refused(tare("count", "-P", "empty.parms"), 2, "asks for no event", "a parameter file without events")
refused(tare("count", "-Frepetitions=x", "true"), 2, "'repetitions' must be a whole number", "a wrong value of -F")
refused(tare("count", "-Frepetition=5", "true"), 2, "unknown parameter 'repetition'", "an unknown key of -F")
refused(tare("count", "-F", "repetitions", "true"), 2, "KEY=VALUE", "-F without a value")
write("long.parms", b"#" * (2 << 20))
refused(tare("count", "-P", "long.parms", "true"), 3, "long.parms", "an endless parameter file")
refused(tare("count", "--events-file", "missing.events", "true"), 3, "missing.events", "a missing file of events")

done()
