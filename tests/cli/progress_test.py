"""The line of progress on a terminal: what is measured, how far it is, how long it takes yet; never wider than the terminal, never in a report."""

from cli import *


def seen_on_terminal(columns, *arguments):
    """Its status, and all that tare writes to a terminal of that width while the report goes elsewhere."""
    run = on_terminal(columns, *arguments, stdout=subprocess.DEVNULL, ASAN_OPTIONS="detect_leaks=0")
    return run.code, run.out


def lines(text):
    """Each line of progress as it stood there."""
    return re.findall(r"\r\033\[K(tare: [^\r\n]*)", text)


# the shortest that tells: it takes longer than a second, as is known after the first execution
LONG = "an-argument-that-says-which-of-the-many-inputs-it-is"
for columns in (60, 80, 200):
    code, seen = seen_on_terminal(columns, "count", "-r", "4", "--warm-up", "0", "-e", "page-faults", "sh", "-c", "sleep 0.5")
    equal(code, 0, f"count -r on {columns} columns")
    shown = lines(seen)
    ok(every(re.fullmatch(r"tare: execution [2-4] of 4, about \d+ s left: sh", line) for line in shown),
       "names the execution, the time left and the program", shown)
    ok(seen.rfind("\r\033[K") < seen.find("page-faults") and shown, "... and is gone before the report", seen)
    code, seen = seen_on_terminal(columns, "compare", "-r", "3", "-e", "page-faults", f"sh -c 'sleep 0.3' {LONG}", "sh -c 'sleep 0.3'")
    shown = lines(seen)
    ok(every(len(line) < columns for line in shown), f"compare: no line is as wide as {columns} columns", shown)
    ok(every(re.match(r"tare: execution \d+ of \d+(, about \d+ s left)?(: |$)", line) for line in shown), "... names the execution and the time left", shown)
    ok(any(": A" in line or ": sh" in line for line in shown), "... and the command", shown)

for columns in (60, 200):
    _, seen = seen_on_terminal(columns, "profile", "-r", "4", "--no-store", "-e", "page-faults", "sh", "-c", "sleep 0.3")
    shown = lines(seen)
    ok(shown and every(re.fullmatch(r"tare: run [2-4] of 4, about \d+ s left: sh", line) for line in shown), f"profile -r on {columns} columns: the run, the time left, the program", shown)
    ok(seen.rfind("\r\033[K") < seen.find("samples"), "... and is gone before the report", seen)
code, seen = seen_on_terminal(40, "verify", "--quick", "--no-store", "--on", "perf", "-e", "page-faults", "--kernels", "pages")
shown = lines(seen)
ok(any(re.match(r"tare: measurement \d+ of \d+", line) for line in shown) and every(len(line) < 40 for line in shown), "verify names the measurement, and fits a narrow terminal", seen)

write("evil\x1b[31m.sh", "#!/bin/sh\nsleep 0.5\n", 0o755)
_, seen = seen_on_terminal(80, "count", "-r", "4", "--warm-up", "0", "-e", "page-faults", "./evil\x1b[31m.sh")
ok(every("\033[31m" not in line and "\\x1b[31m" in line for line in lines(seen)), "a name's control characters are escaped", seen)
_, seen = seen_on_terminal(20, "count", "-r", "4", "--warm-up", "0", "-e", "page-faults", "sh", "-c", "sleep 0.5")
ok(every(len(line) < 20 for line in lines(seen)), "a narrow terminal gets a shorter line", lines(seen))
_, seen = seen_on_terminal(80, "count", "-q", "-r", "4", "--warm-up", "0", "-e", "page-faults", "sh", "-c", "sleep 0.5")
has_not(seen, "\r\033[K", "-q: no line")
seen = tare("count", "-r", "4", "--warm-up", "0", "-e", "page-faults", "sh", "-c", "sleep 0.5")
has_not(seen.err, "\033", "not on a terminal: no line")
done()
