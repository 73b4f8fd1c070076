"""The program keeps its own streams and exit status; the report goes elsewhere."""
import os
import re

from cli import *

seen = tare("count", "-e", "page-faults", "sh", "-c", "echo to-out; echo to-err >&2; exit 7")
equal(seen.code, 7, "the program's exit status is tare's")
equal(seen.out, "to-out\n", "standard output is the program's alone")
has(seen.err, "to-err\n", "standard error has what the program wrote")
has(seen.err, re.compile(r"page-faults +[0-9]"), "and the report")
ok(seen.err.index("to-err") < seen.err.index("page-faults"), "in this order", seen)

seen = tare("count", "-e", "page-faults", "-o", "report", "sh", "-c", "echo to-out; echo to-err >&2")
ok(seen.code == 0 and seen.out == "to-out\n" and seen.err == "to-err\n",
   "with -o both streams are the program's alone", seen)
has(read("report"), re.compile(r"page-faults +[0-9]"), "and the file has the report")
seen = tare("count", "-e", "page-faults", "-o", "-", "sh", "-c", "echo to-err >&2")
ok(seen.err == "to-err\n" and re.search("page-faults +[0-9]", seen.out), "-o - is standard output", seen)

seen = tare("count", "-e", "page-faults", "sh", "-c", "kill -TERM $$")
equal(seen.code, 128 + signal.SIGTERM, "a program ended by signal 15 gives 143")
has(seen.err, re.compile(r"page-faults +[0-9]"), "with the report")
has(seen.err, re.compile("(?i)signal 15|SIGTERM"), "that names the signal")
seen = tare("count", "-e", "page-faults", "sh", "-c", "kill -KILL $$")
equal(seen.code, 137, "a killed program gives 137")
seen = tare("count", "-r", "3", "-e", "page-faults", "sh", "-c", "exit 5")
equal(seen.code, 5, "repetitions pass the exit status on as well")
seen = tare("count", "false")
equal(seen.code, 1, "the exit status of the default events is the program's")

reader, writer = os.pipe()
os.close(reader)
seen = tare("count", "-e", "page-faults", "yes", stdout=writer)
os.close(writer)
equal(seen.code, 128 + signal.SIGPIPE, "a program that writes into a closed pipe ends as without tare")
has(seen.err, re.compile(r"page-faults +[0-9]"), "and is reported")

# ---- streams that are not there ----
def without(descriptor, *arguments):
    """Started by a shell with one of its standard streams closed."""
    command = f"exec \"$0\" \"$@\" {descriptor}{'<' if descriptor == 0 else '>'}&-"
    run = subprocess.run(["sh", "-c", command, TARE, *arguments], stdin=subprocess.DEVNULL, capture_output=True,
                         text=True, env=environment(), timeout=TIME_OUT_S)
    return Done(run.returncode, run.stdout, run.stderr)


seen = without(1, "count", "-e", "page-faults", "-o", "report", "/bin/echo", "lost")
ok("Bad file descriptor" in seen.err and "\nlost" not in read("report"),
   "without standard output the program's output does not get into the report", f"{seen}\n{read('report')}")
seen = without(1, "count", "-e", "page-faults", "-o", "-", "true")
ok(seen.code == 3 and "standard output" in seen.err and "page-faults" in seen.err,
   "a report to a standard output that is not there: message, exit code 3, and the report on standard error", seen)
seen = without(0, "count", "-e", "page-faults", "cat")
has(seen.err, "Bad file descriptor", "a program without standard input has none under tare either")
seen = without(0, "count", "-r", "2", "-e", "page-faults", "sh", "-c", "cat; exit 4")
equal(seen.code, 4, "nor in repetitions")
equal(without(2, "count", "-e", "page-faults", "true").code, 3, "without standard error the report is lost: exit code 3")

# ---- stdin ----
seen = tare("count", "-e", "page-faults", "wc", "-c", stdin=b"x" * 5000)
equal(seen.out.strip(), "5000", "one run reads tare's own standard input")
text = b"line\n" * 50000
program = ["sh", "-c", "wc -c >> sizes; echo done"]
seen = tare("count", "-r", "4", "-e", "page-faults", *program, stdin=text)
equal(read("sizes").split(), [str(len(text))] * 5, "each run, the warm-up too, gets all of a pipe's standard input")
equal(seen.out, "done\n", "only the first run's output is shown")
os.remove("sizes")
write("input", text)
with open("input", "rb") as file:
    tare("count", "-r", "2", "--warm-up", "0", "-e", "page-faults", *program, stdin=file)
equal(read("sizes").split(), [str(len(text))] * 2, "each run gets all of a file as standard input")
os.remove("sizes")

# ---- output of several runs ----
for which, times in (("first", 1), ("all", 4), ("none", 0)):
    seen = tare("count", "-r", "3", "--warm-up", "1", "--program-output", which, "-e", "page-faults", "-o", "report",
                "sh", "-c", "echo out; echo err >&2")
    equal((seen.out, seen.err), ("out\n" * times, "err\n" * times), f"--program-output {which} shows {times} runs")
seen = tare("count", "--program-output", "none", "-e", "page-faults", "echo", "out")
equal(seen.out, "", "--program-output none hides a single run's output")

# ---- words of the program are its own ----
seen = tare("count", "-e", "page-faults", "echo", "-e", "--json", "--", "-r")
equal(seen.out.strip(), "--json -- -r", "options after the program are the program's")
seen = tare("count", "-e", "page-faults", "--", "echo", "-n", "x")
equal(seen.out, "x", "-- ends the options")
seen = tare("count", "-e", "page-faults", "env", env=environment(MARK="42"))
has(seen.out, "MARK=42\n", "the program has tare's environment")
seen = tare("count", "-e", "page-faults", "sh", "-c", "ls -l /proc/self/fd | wc -l", close_fds=True)
plain = subprocess.run(["sh", "-c", "ls -l /proc/self/fd | wc -l"], capture_output=True, text=True, input="",
                       close_fds=True)
equal(seen.out, plain.stdout, "the program inherits no descriptor of tare's")
seen = tare("count", "-e", "page-faults", "sh", "-c", "grep -E 'Sig(Ign|Blk)' /proc/self/status")
plain = subprocess.run(["sh", "-c", "grep -E 'Sig(Ign|Blk)' /proc/self/status"], capture_output=True, text=True,
                       restore_signals=True)
equal(seen.out, plain.stdout, "the program's signals are ignored and blocked as without tare")

# ---- verbosity ----
seen = tare("count", "-r", "2", "-v", "-e", "page-faults", "-o", "report", "true")
equal([line for line in seen.err.splitlines() if "repetition" in line],
      ["tare: repetition 1 of 2", "tare: repetition 2 of 2"], "-v says when each repetition begins")
seen = tare("count", "-r", "2", "-vv", "-e", "page-faults", "-o", "report", "true")
equal(len(re.findall(r"tare: execution \d of 3 .*: page-faults", seen.err)), 2,
      "-vv says when each execution begins, and its events")
reader, writer = os.pipe()
os.close(reader)
os.remove("report")
seen = tare("count", "-r", "3", "-vv", "-e", "page-faults", "-o", "report", "true", stderr=writer)
os.close(writer)
ok(seen.code == 0 and "page-faults" in read("report"), "messages into a closed pipe do not end the measurement", seen)
seen = tare("count", "-r", "3", "-e", "page-faults", "-o", "report", "true")
equal(seen.err, "", "without -v, and not on a terminal, nothing is said")

done()
