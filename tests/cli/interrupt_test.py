"""An interrupt ends the measurement, not the report."""
import json
import os
import pty
import time

from cli import *


def wait_for(path):
    """The program says by a file that it runs."""
    for _ in range(TIME_OUT_S * 100):
        if os.path.exists(path):
            os.remove(path)
            return True
        time.sleep(0.01)
    return False


def wait_for_ppoll(pid):
    """Until the counters are open and on: tare waits, which it does in ppoll(2) alone."""
    for _ in range(TIME_OUT_S * 100):
        try:
            if read(f"/proc/{pid}/syscall").split()[0] in ("271", "73"):  # x86-64, arm64
                return True
        except PermissionError:
            time.sleep(1)
            return True
        time.sleep(0.01)
    return False


# Ctrl-C goes to the program and to tare; here only tare gets it, and passes it on
run = start("count", "-e", "page-faults", "sh", "-c", "touch runs; exec sleep 1000")
ok(wait_for("runs"), "the program runs")
run.send_signal(signal.SIGINT)
seen = finish(run)
equal(seen.code, 130, "an interrupt of the only run: 128 + SIGINT")
has(seen.err, re.compile(r"page-faults +[0-9]"), "what was counted so far is reported")
has(seen.err, "interrupted", "as interrupted")

run = start("count", "-r", "1000", "--warm-up", "0", "-e", "page-faults", "--json", "-o", "result.json", "sh", "-c",
            "if [ -e twice ]; then touch runs; exec sleep 1000; elif [ -e once ]; then touch twice; else touch once; "
            "fi")
ok(wait_for("runs"), "the third repetition runs")
run.send_signal(signal.SIGINT)
seen = finish(run)
result = parsed(read("result.json"), "an interrupted measurement")
ok(result["interrupted"] and result["repetitions"] == 1000, "interrupted repetitions are a result", result)
equal(result["repetitions_done"], 2, "with those that were complete")
equal(len(result["results"][0]["runs"]), 2, "and their values only")
equal(seen.code, 130, "and the exit code of the interrupted program")

run = start("count", "-e", "page-faults", "-o", "report", "sh", "-c",
            "trap '' TERM; echo $$ > pid; touch runs; exec sleep 1000 > /dev/null 2>&1")
ok(wait_for("runs"), "a program that ignores SIGTERM runs")
run.send_signal(signal.SIGTERM)
seen = finish(run)
has(read("report"), re.compile(r"page-faults +[0-9]"), "SIGTERM reports what was counted even if the program goes on")
pid = int(read("pid"))
ok(os.path.exists(f"/proc/{pid}"), "which it does")
os.kill(pid, signal.SIGKILL)

run = start("count", "-e", "page-faults", "sh", "-c", "trap 'exit 9' INT; touch runs; while :; do sleep 0.01; done")
ok(wait_for("runs"), "a program that handles SIGINT runs")
run.send_signal(signal.SIGINT)
equal(finish(run).code, 9, "a program that ends itself on SIGINT gives its own exit status")

# a real Ctrl-C: the terminal's driver sends the signal to the program and to tare; it arrives once at each
def on_terminal(keys, program, *arguments):
    """tare in the foreground of a terminal of its own; keys are typed once the program runs. Its code and output."""
    pid, terminal = pty.fork()
    if pid == 0:
        os.execve(TARE, [TARE, "count", "-e", "page-faults", *arguments, "sh", "-c", program], environment(TERM="dumb"))
    ran = wait_for("runs")
    os.write(terminal, keys)
    text = b""
    while True:
        try:
            part = os.read(terminal, 4096)
        except OSError:
            break
        if not part:
            break
        text += part
    _, status = os.waitpid(pid, 0)
    os.close(terminal)
    return Done(os.waitstatus_to_exitcode(status), text.decode(errors="replace").replace("\r\n", "\n"),
                "" if ran else "the program did not run")


# its handler writes a byte for each signal, however fast they follow each other
write("counter.py", """
import os, signal, time
inlet, outlet = os.pipe()
os.set_blocking(outlet, False)
signal.set_wakeup_fd(outlet)
signal.signal(signal.SIGINT, lambda *_: None)
open("runs", "w").close()
os.read(inlet, 1)
time.sleep(0.3)
os.write(outlet, b"end")
with open("signals", "a") as file:
    print(1 + len(os.read(inlet, 100)) - len("end"), file=file)
os._exit(9)
""")
for _ in range(3):
    seen = on_terminal(b"\x03", f"exec {sys.executable} counter.py")
equal(seen.code, 9, "a program that handles Ctrl-C goes on, and gives its own exit status")
equal(read("signals"), "1\n" * 3, "which gets the signal once")
has(seen.out, re.compile(r"page-faults +[0-9]"), "and the report is printed")
seen = on_terminal(b"\x03", "touch runs; exec sleep 1000")
ok(seen.code == 130 and re.search(r"page-faults +[0-9]", seen.out), "Ctrl-C ends any program: 130, with the report", seen)
seen = on_terminal(b"\x03", "touch runs; exec sleep 1000", "-r", "50")
ok(seen.code == 130 and "before anything was measured" in seen.out, "Ctrl-C in the warm-up: 130, and nothing is reported",
   seen)

# attached: an interrupt is the normal end
other = subprocess.Popen(["sleep", "1000"])
run = start("count", "-v", "-e", "context-switches", "-p", str(other.pid), "--json", "-o", "-")
equal(run.stderr.readline(), b"tare: repetition 1 of 1\n", "counting a process begins")
run.send_signal(signal.SIGINT)
seen = finish(run)
ok(seen.code == 0 and json.loads(seen.out)["interrupted"] is False,
   "an interrupt is the normal end of counting a process", seen)
ok(other.poll() is None, "and the process lives on")
other.kill()
other.wait()

other = subprocess.Popen(["cat"], stdin=subprocess.PIPE)
run = start("count", "-e", "context-switches", "-p", str(other.pid))
ok(wait_for_ppoll(run.pid), "counting another one begins")
other.stdin.close()
seen = finish(run)
ok(seen.code == 0 and f"process {other.pid}" in seen.err, "counting a process ends with it", seen)
other.wait()

done()
