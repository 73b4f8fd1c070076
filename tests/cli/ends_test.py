"""However tare ends, nothing that it started hangs, spins or stays but the program itself."""
import platform
import time

from cli import *

for number in (signal.SIGHUP, signal.SIGINT, signal.SIGQUIT):  # not as nohup and `&` leave them
    signal.signal(number, signal.SIG_DFL)
ENGINE = platform.machine() == "x86_64" and "instructions" in tare("count", "--on", "exact", "-e", "instructions", "true").err
MEANS = [("perf", "page-faults")] + ([("exact", "instructions"), ("model:host", "tlb-misses")] if ENGINE else [])
if not ENGINE:
    skip("there is no engine here", "programs under the engine")


def until(holds):
    """Whether it came to hold; what is waited for comes at once unless something is wrong."""
    for _ in range(100 * TIME_OUT_S):
        if holds():
            return True
        time.sleep(0.01)
    return False


def state(pid):
    """Of a process: R, S, …; Z and none at all are the same: ended."""
    try:
        with open(f"/proc/{pid}/stat", encoding="latin-1") as file:
            return file.read().rsplit(")", 1)[1].split()[0].replace("Z", "").replace("X", "")
    except OSError:
        return ""


def children(pid, name):
    found = []
    for entry in os.listdir("/proc"):
        try:
            if entry.isdigit():
                with open(f"/proc/{entry}/stat", encoding="latin-1") as file:
                    head, _, rest = file.read().rpartition(")")
                if int(rest.split()[1]) == pid and head.split("(", 1)[1] == name:
                    found.append(int(entry))
        except OSError:
            pass
    return found


def running(on, event, program, *options):
    """tare, whose program runs and has said so by a file of its number; both numbers."""
    if os.path.exists("pid"):
        os.remove("pid")
    run = start("count", "--on", on, "-e", event, *options, "sh", "-c", program, stdout=subprocess.DEVNULL)
    until(lambda: os.path.exists("pid") and read("pid").endswith("\n"))
    return run, int(read("pid"))


def lines(name):
    return os.path.getsize(name) if os.path.exists(name) else 0


for on, event in MEANS:
    # signals that ask tare to end are the program's
    for name, code in (("HUP", 129), ("INT", 130), ("QUIT", 131), ("TERM", 143)):
        run, pid = running(on, event, "echo $$ > pid; exec sleep 1000")
        run.send_signal(getattr(signal, "SIG" + name))
        seen = finish(run)
        ok(seen.code == code and not state(pid), f"--on {on}: SIG{name} to tare ends the program by it: {code}", (seen, state(pid)))
    run, pid = running(on, event, "trap 'exit 7' HUP; echo $$ > pid; while :; do sleep 0.01; done")
    run.send_signal(signal.SIGHUP)
    equal(finish(run).code, 7, f"--on {on}: a program that handles SIGHUP gives its own status")
    run, pid = running(on, event, "trap '' HUP; echo $$ > pid; exec sleep 1000 2> /dev/null")
    run.send_signal(signal.SIGHUP)
    seen = finish(run)
    ok(seen.code == 129 and until(lambda: state(pid) in ("S", "")) and state(pid) and "did not end within 2 s" in seen.err,
       f"--on {on}: one that ignores it goes on, and that is said: 129", (seen, state(pid)))
    os.kill(pid, signal.SIGKILL)

LOOP = "echo $$ > pid; while :; do /bin/true; echo >> turns; done"
for on, event in MEANS:
    for name in ("KILL", "SEGV"):
        if os.path.exists("turns"):
            os.remove("turns")
        run, pid = running(on, event, LOOP, "-o", "report")
        until(lambda: lines("turns") > 2)
        attendants = children(run.pid, "tare-attendant")
        ok(bool(attendants) == (on != "perf"), f"--on {on}: the engine has an attendant", attendants)
        run.send_signal(getattr(signal, "SIG" + name))
        run.wait(TIME_OUT_S)
        before = lines("turns")
        ok(until(lambda: lines("turns") > before + 5), f"--on {on}: after tare's SIG{name} the program goes on, and starts others", lines("turns"))
        ok(until(lambda: not any(state(a) for a in attendants)), f"--on {on}: and no attendant does", attendants)
        os.kill(pid, signal.SIGKILL)
    if on == "perf":
        continue
    # both are killed: the attendant cannot say any more that it is gone
    os.remove("turns")
    run, pid = running(on, event, LOOP, "-o", "report")
    until(lambda: lines("turns") > 2)
    attendants = children(run.pid, "tare-attendant")
    for attendant in attendants:
        os.kill(attendant, signal.SIGSTOP)  # a request is waited for when it dies
    before = lines("turns")
    time.sleep(0.1)
    run.kill()
    for attendant in attendants:
        os.kill(attendant, signal.SIGKILL)
    run.wait(TIME_OUT_S)
    before = lines("turns")
    ok(until(lambda: lines("turns") > before + 5), f"--on {on}: after tare and its attendant were killed the program goes on", lines("turns"))
    os.kill(pid, signal.SIGKILL)
    # the attendant alone: what it would have followed is missing, and that is said
    if not os.path.exists("go"):
        os.mkfifo("go")
    run, pid = running(on, event, "echo $$ > pid; read x < go; /bin/true; /bin/true; exit 3")
    for attendant in children(run.pid, "tare-attendant"):
        os.kill(attendant, signal.SIGKILL)
    open("go", "w", encoding="utf-8").close()
    seen = finish(run)
    ok(seen.code == 3, f"--on {on}: a program whose attendant was killed ends as it would", seen)
    has(seen.err, "has ended", f"--on {on}: and its counts are not called exact")

def call_of(pid):
    """The number of the system call that it waits in; "" when it runs."""
    try:
        return read(f"/proc/{pid}/syscall").split()[0]
    except PermissionError:  # Yama: it is nobody's child any more
        return "35" if read(f"/proc/{pid}/comm") == "sleep\n" and state(pid) == "S" else ""
    except (OSError, IndexError):
        return ""


def ticks(pid):
    with open(f"/proc/{pid}/stat", encoding="latin-1") as file:
        return file.read().rsplit(")", 1)[1].split()[11:13]


# what waits does not spin: it is in its sleep, and takes no time there
for on, event in MEANS[1:]:
    run, pid = running(on, event, "echo $$ > pid; exec sleep 1000", "-o", "report")
    run.kill()
    run.wait(TIME_OUT_S)
    ok(until(lambda: call_of(pid) in ("35", "230")), f"--on {on}: a program that sleeps does so after tare was killed", call_of(pid))
    first = ticks(pid)
    time.sleep(0.3)
    equal(ticks(pid), first, f"--on {on}: and takes no time")
    os.kill(pid, signal.SIGKILL)
done()
