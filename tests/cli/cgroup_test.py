"""`tare count --cgroup`, `tare profile --cgroup`: what runs in a control group and below it, and nothing else."""
import os
import shutil
import subprocess

from cli import *


def mount():
    """Where groups that can be counted are, by cgroups(7): perf_event's own hierarchy of version 1, else version 2's."""
    second = None
    with open("/proc/self/mountinfo", encoding="utf-8") as lines:
        for line in lines:
            place, (kind, _, options) = line.split()[4], line.split(" - ")[1].split()[:3]
            if kind == "cgroup" and "perf_event" in options.split(","):
                return place
            if kind == "cgroup2":
                second = second or place
    return second


def try_group():
    """A group of this test's with one below it; or why there is none."""
    if not shutil.which("gcc"):
        return None, "no gcc here"
    if not mount():
        return None, "no control groups are mounted"
    name = f"tare-test-{os.getpid()}"
    try:
        os.makedirs(os.path.join(mount(), name, "below"))
        with open(os.path.join(mount(), name, "below", "cgroup.procs"), "a", encoding="ascii"):
            pass
    except OSError:
        return None, "no control group can be made here"
    return name, None


for arguments, words in ((["--cgroup", "x", "-p", "1"], "choose one of"), (["--cgroup", "", "true"], "is empty"),
                         (["--cgroup", "x", "--on", "exact", "true"], "'exact' does not count control groups"),
                         (["--cgroup", "x", "--on", "model:host", "true"], "'model' does not count control groups"),
                         (["--cgroup", "x", "--per-thread"], "use --per-cpu"), (["--cgroup", "x", "--region", "main", "true"], "--region"),
                         (["--cgroup", "x", "--by", "function", "true"], "--by"), (["--cgroup", "x", "--reproducible", "true"], "--reproducible")):
    seen = tare("count", *arguments)
    ok(seen.code == 2 and words in seen.err, f"{' '.join(arguments)}: refused", seen)

for arguments, words in ((["--cgroup", "x", "-p", "1"], "choose one of"), (["--cgroup", "", "true"], "is empty"), (["--cgroup", "x", "--on", "exact", "true"], "'exact' does not count control groups"),
                         (["--cgroup", "x", "--exp", "usertime"], "--exp profiles a program"), (["--own-cgroup", "-a"], "for a program that tare starts"), (["--own-cgroup", "-C", "0", "true"], "for a program that tare starts"),
                         (["--own-cgroup", "--cgroup", "x", "true"], "for a program that tare starts"), (["--own-cgroup", "--no-children", "true"], "--no-children"),
                         (["--own-cgroup", "--on", "exact", "true"], "'exact' does not count control groups")):
    seen = tare("profile", *arguments)
    ok(seen.code == 2 and words in seen.err, f"profile {' '.join(arguments)}: refused", seen)

if mount():
    seen = tare("profile", "--cgroup", "tare/no-such-group", "true")
    ok(seen.code == 3 and "there is no control group 'tare/no-such-group'" in seen.err, "a profile of a group that is not there: said", seen)
    seen = tare("count", "--cgroup", "tare/no-such-group", "true")
    ok(seen.code == 3 and "there is no control group 'tare/no-such-group'" in seen.err and mount() in seen.err, "a group that is not there: said, and where groups are", seen)
    seen = tare("count", "--cgroup", os.getcwd(), "true")
    ok(seen.code in (2, 3) and "control group" in seen.err, "a folder that is no group", seen)

group, why = try_group()
if not group:
    skip(why, "processes of a group are counted")
    done()
folder = os.path.join(mount(), group)
write("faults.c", """\
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>
/* touches so many pages when it has read a byte, and says that it has */
int main(int argc, char **argv) {
    int n = atoi(argv[1]);
    char c;
    char *p = mmap(NULL, n * 4096L, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    madvise(p, n * 4096L, MADV_NOHUGEPAGE);
    while (read(0, &c, 1) == 1) {
        for (int i = 0; i < n; i++) p[i * 4096L] = 1;
        madvise(p, n * 4096L, MADV_DONTNEED);
        if (write(1, &c, 1) != 1) return 1;
    }
    return 0;
}
""")
subprocess.run(["gcc", "-O1", "faults.c", "-o", "faults"], check=True)


class Worker:
    def __init__(self, pages, where):
        self.process = subprocess.Popen(["./faults", str(pages)], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        if where:
            with open(os.path.join(where, "cgroup.procs"), "w", encoding="ascii") as file:
                file.write(str(self.process.pid))
        self.work()  # all that comes once has come

    def work(self):
        self.process.stdin.write(b"x")
        self.process.stdin.flush()
        assert self.process.stdout.read(1) == b"x"

    def end(self):
        self.process.stdin.close()
        self.process.wait()


inside, below, outside = Worker(1000, folder), Worker(300, os.path.join(folder, "below")), Worker(5000, None)
os.mkfifo("commands")
os.mkfifo("answers")
commands, answers = os.open("commands", os.O_RDWR), os.open("answers", os.O_RDWR)


def counted(name, *arguments):
    """The report of a counting in which each worker works once."""
    process = start("count", "--on", "perf", "--json", "--begin-off", "--control", "commands,answers", "--cgroup", name, "-e", "page-faults:u,cpu-clock,cycles,task-clock", *arguments,
                    stdin=subprocess.DEVNULL)
    for what in ("enable", None, "disable"):
        if not what:
            for worker in (inside, below, outside):
                worker.work()
            continue
        os.write(commands, f"{what}\n".encode())
        got = b""
        while not got.endswith(b"\n"):
            got += os.read(answers, 1)
        equal(got, b"ack\n", what)
    process.send_signal(signal.SIGINT)
    return json.loads(finish(process).err.splitlines()[-1])


def sampled(name, *arguments, codes=(0, 130)):
    """The same, with a sample of each fault: what `tare report` has of it."""
    process = start("profile", "--delay", "-1", "--control", "commands,answers", "--cgroup", name, "-e", "page-faults:u@1", "--gaps", "fixed", "-o", "kept", *arguments, stdin=subprocess.DEVNULL)
    for what in ("enable", None, "disable"):
        if not what:
            for worker in (inside, below, outside):
                worker.work()
            continue
        os.write(commands, f"{what}\n".encode())
        got = b""
        while not got.endswith(b"\n"):
            got += os.read(answers, 1)
        equal(got, b"ack\n", what)
    process.send_signal(signal.SIGINT)
    ok(finish(process).code in codes, "the profile ends by a signal")
    return json.loads(tare("report", "kept", "--format", "json").out)


try:
    report = counted(group)
    values = {row["event"]: row for row in report["results"]}
    faults = values["page-faults:u"]["value"]
    ok(1300 <= faults < 1320, "the faults of the group and of the one below it, and nobody else's", values)
    ok(values["cpu-clock"]["value"] > 0, "the time that they ran", values)
    ok(values["task-clock"]["value"] is None and values["task-clock"]["why"], "what the kernel cannot count of a group is not counted", values)
    equal(report["target"], f"control group {group}, all CPUs", "the report says what was counted")
    values = {row["event"]: row for row in counted(os.path.join(folder, "below"))["results"]}
    ok(300 <= values["page-faults:u"]["value"] < 310, "a whole path, of the group below: its own alone", values)
    rows = counted("/" + group, "--per-cpu")["results"]
    faults = [row for row in rows if row["event"] == "page-faults:u"]
    total = [row["value"] for row in faults if row.get("cpu") is None]
    equal(sum(row["value"] for row in faults if row.get("cpu") is not None), total[0], "--per-cpu: the CPUs' sum is the group's count")
    profile = sampled(group)
    event = profile["events"][0]
    ok(1300 <= event["samples"] < 1320 and event["samples"] == event["total"], "a profile has a sample of each fault of the group and the one below it, and of nobody else", event)
    functions = {row["function"]: row["counts"][0]["self"] for row in profile["functions"]}
    equal(functions.get("main"), 1300, "they are in the function that touched the pages")
    equal(profile["target"], f"control group {group}, all CPUs", "a profile says what was sampled")
    event = sampled(os.path.join(folder, "below"), "-C", "0-" + str(os.cpu_count() - 1))["events"][0]
    ok(300 <= event["samples"] < 310 and event["samples"] == event["total"], "of the group below: its own alone", event)
    # 3: the group ran so shortly that the second set had no turn
    sets = sampled(group, "-e", "minor-faults:u@1", "--switch-timeout", "2", codes=(0, 3, 130))["events"]
    ok(len(sets) == 2 and 0 < sum(event["samples"] for event in sets) < 1320, "sets of events take turns: each fault of the group is in one of them at most, and nobody else's is in any", sets)
    ok(sum(event.get("part", 0) for event in sets) <= 1.000001, "they share the time that the group ran", sets)
    seen = tare("profile", "--cgroup", group, "-e", "task-clock", "--for", "0.01")
    ok(seen.code == 3 and "cannot sample 'task-clock'" in seen.err and "none of its tasks runs" in seen.err, "what the kernel cannot count of a group is not sampled", seen)
    for worker in (inside, below):
        worker.end()
    seen = tare("count", "--json", "--on", "perf", "--cgroup", group, "-e", "page-faults,cpu-clock", "./faults", "5", stdin=b"x")
    values = {row["event"]: row for row in parsed(seen.err, "an empty group")["results"]}
    equal([values["page-faults"]["value"], values["cpu-clock"]["value"]], [0, 0], "a group in which nothing runs counts 0, whatever program is waited for")
    has(tare("count", "--cgroup", group, "-e", "page-faults", "--for", "0.05").err, f"control group {group}", "text names it")
    rows = [json.loads(line) for line in tare("count", "-I", "20", "--json", "--cgroup", group, "-e", "page-faults", "--for", "0.1").err.splitlines()]
    ok(len(rows) >= 2 and rows[0]["counts"][0]["value"] == 0, "-I", rows)
finally:
    for worker in (inside, below, outside):
        if worker.process.poll() is None:
            worker.end()
    os.rmdir(os.path.join(folder, "below"))
    os.rmdir(folder)

write("children.c", """\
#define _GNU_SOURCE
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
__attribute__((noinline)) void touch(char *p, int n) { for (int i = 0; i < n; i++) p[i * 4096L] = 1; }
/* so many children, one after the other, each of which touches so many pages; "stay": one more that lives on */
int main(int argc, char **argv) {
    int children = atoi(argv[1]), pages = atoi(argv[2]);
    char *p = mmap(NULL, pages * 4096L, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    for (int i = 0; i < children; i++) {
        if (fork() == 0) {
            touch(p, pages);
            _exit(0);
        }
        wait(NULL);
        madvise(p, pages * 4096L, MADV_REMOVE);
    }
    if (argc > 3) {
        int pid = fork();
        if (pid == 0) {
            close(0), close(1), close(2); /* or whoever reads the output waits for it */
            pause();
            _exit(0);
        }
        printf("%d\\n", pid);
    }
    return 0;
}
""")
subprocess.run(["gcc", "-O1", "-g", "children.c", "-o", "children"], check=True)
CPU = str(min(os.sched_getaffinity(0)))


def of_children(*arguments, pages=50):
    """On one CPU, since each CPU has a gap of its own: the event, and the samples by function."""
    seen = subprocess.run(["taskset", "-c", CPU, TARE, "profile", "-e", "page-faults:u", "--gaps", "fixed", "-o", "kept", *arguments, "./children", "60", str(pages)],
                          capture_output=True, text=True, env=environment())
    if seen.returncode:
        return seen, None, None
    kept = json.loads(tare("report", "kept", "--format", "json").out)
    return seen, kept["events"][0], {row["function"]: row["counts"][0]["self"] for row in kept["functions"]}


seen, event, functions = of_children("-c", "97")
# a child that goes on where its parent was may go on with the parent's counter, too (perf_event_context_sched_out())
ok(event and event["total"] >= 3000 and event["samples"] * 97 < event["total"] / 2, "without a group of its own most children have no sample, for each begins with a whole gap", (event, functions))
has(" ".join(seen.stderr.split()), "add --own-cgroup", "that is said, with what helps")
seen, event, functions = of_children("--own-cgroup", "-c", "97")
if seen.returncode == 3 and ("cannot make a control group" in seen.stderr or "cannot put" in seen.stderr):
    skip("no control group can be made here", "a program in a group of its own")
    done()
ok(event["total"] >= 3000 and event["samples"] == event["total"] // 97, "with --own-cgroup a gap goes on from one process to the next: samples are count / gap", (event, functions))
# 97 and the faults of a child have no common factor, so that the samples go round in them: not evenly, with 60 children
ok(abs(functions.get("touch", 0) / event["samples"] - 3000 / event["total"]) < 0.15, "the children's function has its part of them", (event, functions))
has(seen.stderr, "a control group of its own", "a note says how the program ran")
seen, event, functions = of_children("--own-cgroup", "-c", "1")
equal([event["samples"], functions.get("touch")], [event["total"], 3000], "each fault is sampled once")
others = set(functions) & {"sample_streams_switch", "perf_sampling_go", "launch_hold"}
equal(others, set(), "nothing of tare's own start is in it")
# groups have tare's number; that of a tare which runs is another test's
left = [name for name in os.listdir(mount()) if re.fullmatch(r"tare-\d+", name) and not os.path.exists(f"/proc/{name[5:]}")]
ok(not set(left) & set(os.listdir(mount())), "the group is removed", left)
seen = tare("profile", "--own-cgroup", "-e", "page-faults:u@1", "./children", "1", "1", "stay")
left = int(seen.out)
ok(seen.code == 0 and "tare-" not in read(f"/proc/{left}/cgroup").replace("tare-test", ""), "what still runs at the end goes back to the group above", read(f"/proc/{left}/cgroup"))
os.kill(left, signal.SIGKILL)
seen = tare("profile", "--own-cgroup", "-r", "2", "-e", "page-faults:u@7", "./children", "10", "20")
ok(seen.code == 0 and "2 runs" in seen.err, "several runs", seen)
seen = tare("profile", "--own-cgroup", "-e", "page-faults:u@1", "./no-such-program")
ok(seen.code in (3, 127) and "no-such-program" in seen.err, "a program that is not there", seen)
seen = tare("profile", "--own-cgroup", "-e", "page-faults:u@1", "sh", "-c", "exit 7")
equal(seen.code, 7, "the program's status")
seen = tare("profile", "--own-cgroup", "-e", "page-faults:u@1", "sh", "-c", "kill -TERM $$")
equal(seen.code, 128 + 15, "a signal that ends it")
done()
