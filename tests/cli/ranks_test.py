"""Ranks of one job: one report of all. The launcher is this test: it sets what mpirun and srun set, so that no fact here needs MPI"""
import glob
import json
import os
import pty
import shutil
import signal
import sqlite3
import stat
import subprocess
import time

from cli import *

with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../docs/job.schema.json"), encoding="utf-8") as file:
    JOB_SCHEMA = json.load(file)
# what launchers set besides their ranks: none of it may come from who runs this test
CLEAN = {name: None for name in os.environ if name.startswith(("OMPI_", "PMI", "SLURM_", "MPI_", "FLUX_", "TARE_RANK", "TARE_JOB"))}
os.mkdir("run", 0o700)
RUN = os.path.abspath("run")
jobs = 0


def variables(kind, rank, size, job):
    return {
        "openmpi": {"OMPI_COMM_WORLD_RANK": rank, "OMPI_COMM_WORLD_SIZE": size, "OMPI_COMM_WORLD_LOCAL_SIZE": size,
                    "PMIX_NAMESPACE": job, "PMIX_RANK": rank, "OMPI_MCA_orte_hnp_uri": "1.0;tcp://h:1"},
        "mpich": {"PMI_RANK": rank, "PMI_SIZE": size, "MPI_LOCALNRANKS": size, "PMI_FD": 9},
        "slurm": {"SLURM_PROCID": rank, "SLURM_STEP_NUM_TASKS": size, "SLURM_NTASKS": 99, "SLURM_JOB_ID": job, "SLURM_STEP_ID": 0,
                  "SLURM_STEP_NUM_NODES": 1},
        "slurm-pmi2": {"SLURM_PROCID": rank, "SLURM_STEP_NUM_TASKS": size, "SLURM_JOB_ID": job, "SLURM_STEP_ID": 3,
                       "PMI_RANK": rank, "PMI_SIZE": size, "PMI_JOBID": f"{job}.3"},
        "flux": {"FLUX_TASK_RANK": rank, "FLUX_JOB_SIZE": size, "FLUX_JOB_ID": job},
        "tare": {"TARE_RANK": rank, "TARE_RANKS": size, "TARE_JOB": job},
    }[kind]


def new_job():
    global jobs
    jobs += 1
    return f"{os.getpid()}{jobs}"


def rank_environment(kind, rank, size, job, **more):
    settings = {name: str(value) for name, value in variables(kind, rank, size, job).items()}
    return environment(**{**CLEAN, "XDG_RUNTIME_DIR": RUN, "TARE_RANKS_DIR": None, **settings, **more})


def launch(kind, ranks, arguments, size=None, job=None, **more):
    """Starts these ranks; arguments is of a rank's number."""
    size, job = size or len(ranks), job or new_job()
    return [start("count", *arguments(rank), env=rank_environment(kind, rank, size, job, **more)) for rank in ranks]


def end(processes):
    return [finish(process) for process in processes]


def is_asleep(pid):
    """In nanosleep(2) or clock_nanosleep(2), where /proc tells."""
    try:
        with open(f"/proc/{pid}/syscall", encoding="ascii") as file:
            return file.read().split()[0] in {"x86_64": ("35", "230"), "aarch64": ("101", "115")}.get(os.uname().machine, ())
    except OSError:
        return False


def facts(pid):
    """Of /proc/PID/stat: state, parent, process group, session, as text; [] where there is no such process."""
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as file:
            return file.read().rpartition(")")[2].split()[:4]
    except OSError:
        return []


def children(pid):
    return [int(child) for child in filter(str.isdigit, os.listdir("/proc")) if facts(child)[1:2] == [str(pid)]]


def tare_of(process):
    """The process that counts a rank's program: the launcher has started its parent (src/session/apart.h)."""
    return next(iter(children(process.pid)), None)


def reports(ends):
    return [one for one in ends if "tare count:" in one.err]


def recording(rank, events):
    """Rank's own counts: what each rank counts is known. A file that is there may be read just now by a rank of another job."""
    path = f"rank-{rank}-{'-'.join(events)}.rec"
    if os.path.exists(path):
        return f"replay:{os.path.abspath(path)}"
    write(path, json.dumps({"tare_recording": 1, "events": [{"name": name, "source": "hw"} for name in events],
                            "executions": [{"readings": events}]}))
    return f"replay:{os.path.abspath(path)}"


def job_of(text, fact):
    try:
        job = json.loads(text, parse_constant=no_constant)
    except ValueError as error:
        ok(False, f"{fact}: is JSON", f"{error}\n{text}")
        return {}
    if jsonschema:
        errors = [f"{list(e.absolute_path)}: {e.message}" for e in jsonschema.Draft202012Validator(JOB_SCHEMA).iter_errors(job)]
        ok(not errors, f"{fact}: obeys docs/job.schema.json", "\n".join(errors) + "\n" + text)
    else:
        skip("python3-jsonschema is not installed", f"{fact}: obeys the schema")
    return job


def nothing_left(fact):
    equal([name for _, folders, files in os.walk(RUN) for name in folders + files if name != f"tare-ranks-{os.geteuid()}"], [], fact)


COUNTS = [1000, 3000, 2000, 6000]
EVENTS = "cycles,instructions"


def known(rank):
    return ["--on", recording(rank, {"cycles": COUNTS[rank], "instructions": 10 * COUNTS[rank]}), "-e", EVENTS]


def with_true(*options):
    return lambda rank: [*known(rank), *options, "true"]


# ---- every launcher: one report ----
for kind in ("openmpi", "mpich", "slurm", "slurm-pmi2", "flux", "tare"):
    ends = end(launch(kind, range(4), with_true()))
    equal([one.code for one in ends], [0] * 4, f"{kind}: every rank ends with its program's status")
    equal(len(reports(ends)), 1, f"{kind}: four ranks give one report")
    text = "".join(one.err for one in reports(ends))
    has(text, re.compile(r"^  cycles +12,000 +1,000 +6,000 +2\.00 +3 +hw$", re.M),
        f"{kind}: sum, smallest, largest, the largest over the mean, and where it is")
    has(text, re.compile(r"^  instructions +120,000 +10,000 +60,000 +2\.00 +3 +hw$", re.M), f"{kind}: of each event")
    has(text, "4 ranks of ", f"{kind}: the title says how many ranks it is of")
    nothing_left(f"{kind}: nothing is left of the job")
has(text, f"on 1 host ({os.uname().nodename}): true", "the title names the host and the program")

# ---- formats ----
ends = end(launch("openmpi", range(4), with_true("--per-rank")))
text = "".join(one.err for one in ends)
for rank, count in enumerate(COUNTS):
    has(text, re.compile(rf"^    rank {rank} \({os.uname().nodename}\) +{count:,} +hw$", re.M), f"--per-rank has a row for rank {rank}")
ends = end(launch("openmpi", range(4), with_true("--json", "-o", "job.json")))
equal([one.err for one in ends], [""] * 4, "with -o nothing is on standard error")
job = job_of(read("job.json"), "--json")
equal([(r["event"], r["sum"], r["min"], r["max"], r["mean"], r["imbalance"], r["counted"]) for r in job["results"]],
      [(name, f * 12000, {"value": f * 1000, "member": 0}, {"value": f * 6000, "member": 3}, f * 3000, 2, 4)
       for name, f in (("cycles", 1), ("instructions", 10))], "JSON has sum, min, max, mean and imbalance")
equal([[cell["value"] for cell in r["members"]] for r in job["results"]], [COUNTS, [10 * n for n in COUNTS]],
      "and the count of each rank")
equal([(m["rank"], m["state"], m["exit"]) for m in job["members"]], [(i, "reported", {"status": 0}) for i in range(4)],
      "and how each rank ended")
end(launch("openmpi", range(4), with_true("--csv", "--per-rank", "-o", "job.csv")))
rows = [line.split(",") for line in read("job.csv").splitlines()]
equal({len(row) for row in rows}, {len(rows[0])}, "each line of the CSV has all columns")
table = [dict(zip(rows[0], row)) for row in rows[1:]]
equal([(r["kind"], r["event"], r["sum"], r["rank"]) for r in table][:5],
      [("event", "cycles", "12000", "")] + [("rank", "cycles", str(n), str(i)) for i, n in enumerate(COUNTS)],
      "CSV: a row for the event, and one for each rank")
equal((table[0]["min"], table[0]["min_in"], table[0]["mean"], table[0]["max"], table[0]["max_in"], table[0]["imbalance"]),
      ("1000", "0", "3000", "6000", "3", "2"), "CSV: min, mean, max, imbalance")
ends = end(launch("openmpi", range(4), lambda rank: [*known(rank), "-m", "ipc", "true"]))
has("".join(one.err for one in ends), re.compile(r"^  ipc \(instructions/cycle\) +10\.00 +10\.00 +1\.00 +hw$", re.M), "a ratio has no sum, but min and max")

# ---- files of their own ----
ends = end(launch("openmpi", range(4), with_true("--json", "-o", "own-%r-%h.json")))
names = [f"own-{rank}-{os.uname().nodename}.json" for rank in range(4)]
equal(sorted(name for name in os.listdir(".") if name.startswith("own-")), names, "%r and %h: each rank has a file of its own")
for rank, name in enumerate(names):
    one = parsed(read(name), f"the file of rank {rank}")
    equal((one["rank"]["rank"], one["rank"]["size"], one["results"][0]["value"]), (rank, 4, COUNTS[rank]), f"it is of rank {rank}")
merged = tare("report", "--merge", *names)
equal((merged.code, merged.err), (0, ""), "tare report --merge takes them")
has(merged.out, re.compile(r"^  cycles +12,000 +1,000 +6,000 +2\.00 +3 +hw$", re.M), "and makes the same table of them")
again = job_of(tare("report", "--merge", *reversed(names), "--format", "json").out, "merged as JSON")
equal(again["results"], job["results"], "the merge of files is the job's own report, in whatever order they are given")
merged = tare("report", "--merge", names[0], names[1], names[3])
equal(merged.code, 3, "a rank without a file: exit code 3")
has(merged.out, "rank 2: none of the files has the counts", "and it is named")
has(merged.out, re.compile(r"^  cycles +≥ 10,000 +1,000 +6,000 ", re.M), "the sum without it says that it is more")
part = job_of(tare("report", "--merge", names[0], names[1], names[3], "--format", "json").out, "merged without rank 2")
equal((part["results"][0]["sum"], part["results"][0]["at_least"], part["results"][0]["counted"]), (None, 10000, 3),
      "in JSON the sum without a rank is null, and at_least has the rest")
write("cut.json", read(names[2])[:200])
merged = tare("report", "--merge", names[0], names[1], "cut.json", names[3])
equal(merged.code, 3, "a file that is cut: exit code 3")
has(merged.out, "'cut.json' is not JSON", "it is named with the reason")
has(merged.out, "≥ 10,000", "and the sum is at least the others'")
merged = tare("report", "--merge", names[0], names[0])
equal(merged.code, 2, "the same file twice is an error")
has(merged.err, "are the same result", "that says so")
write("copy.json", read(names[0]) + "\n")
has(tare("report", "--merge", names[0], "copy.json").err, "are both of rank 0", "two results of one rank are an error")
equal(tare("report", "--merge", *names).out, tare("report", *names, "--merge").out, "--merge may stand behind the files")
end(launch("openmpi", [0], with_true("--json", "-o", "other-%r.json"), size=2))
has(tare("report", "--merge", names[0], "other-0.json").err, "is not of the same job", "ranks of two jobs are not added up")
end(launch("openmpi", range(4), with_true("--json", "-o", "of-%p.json")))
names_of_processes = [name for name in os.listdir(".") if re.fullmatch(r"of-\d+\.json", name)]
equal(len(names_of_processes), 4, "%p: each rank has a file of its own")
equal(job_of(tare("report", "--merge", "--format", "json", *names_of_processes).out, "merged files of processes")["results"], job["results"], "and these are merged alike")
process = start("count", *known(0), "-o", "alone-%p", "true", env=environment(**CLEAN))
finish(process)
equal([name for name in os.listdir(".") if name.startswith("alone-")], [f"alone-{process.pid}"], "%p is tare's process")

# ---- a fleet: results of no job ----
for i in range(3):
    tare("count", *known(i), "--json", "-o", f"fleet-{i}.json", "true", env=environment(**CLEAN))
fleet = tare("report", "--merge", "--per-rank", "fleet-0.json", "fleet-1.json", "fleet-2.json")
has(fleet.out, "3 results on 1 host", "results of machines without ranks are merged, too")
has(fleet.out, re.compile(r"^  cycles +6,000 +1,000 +3,000 +1\.50 +fleet-1\.json +hw$", re.M), "the file names the member")
tare("count", "--on", recording("x", {"cycles": 5}), "-e", "cycles", "--json", "-o", "less.json", "true", env=environment(**CLEAN))
fleet = job_of(tare("report", "--merge", "fleet-0.json", "less.json", "--format", "json").out, "results with unlike events")
equal([(r["event"], r["sum"], r.get("at_least"), r["counted"]) for r in fleet["results"]],
      [("cycles", 1005, None, 2), ("instructions", None, 10000, 1)], "an event that one of them does not have has no sum")

# ---- ranks that are missing ----
# rank 3's tare is killed: its program waits for a byte that never comes, and its tare for the program
pipe, held = os.pipe()
job_id = new_job()
victim = start("count", "--on", "auto", "-e", "elapsed-time", "sh", "-c", "echo there; cat", stdin=pipe,
               env=rank_environment("openmpi", 3, 4, job_id))
victim.stdout.read(6)
others = launch("openmpi", range(3), with_true(), size=4, job=job_id)
victim_pid = tare_of(victim)
os.kill(victim_pid, signal.SIGKILL)
os.close(held)
os.close(pipe)
finish(victim)
ends = end(others)
text = "".join(one.err for one in ends)
equal(len(reports(ends)), 1, "one rank is killed with kill -9: the others give one report")
has(text, re.compile(rf"! rank 3 \(host {os.uname().nodename}, process {victim_pid}\): "), "the killed rank is named, with host and process")
has(text, re.compile(r"^  cycles +≥ 6,000 +1,000 +3,000 ", re.M), "its absence is not a smaller sum: the sum is at least that")
has(text, "3 of 4 ranks counted", "how many ranks counted is said")
equal(sorted(one.code for one in ends), [0, 0, 3], "the rank that reports exits with 3, the others with their programs' status")
nothing_left("nothing is left of the job with a killed rank")

os.mkfifo("begun")  # one has begun when the other waits: the time that it waits is for those that never begin
job_id = new_job()
late = launch("openmpi", [2], lambda rank: [*known(rank), "--ranks-timeout", "0.3", "sh", "-c", "read line < begun"], size=4, job=job_id)
with open("begun", "w", encoding="ascii"):
    early = launch("openmpi", [0], with_true("--ranks-timeout", "0.3"), size=4, job=job_id)
    while early[0].poll() is None and not any(name.endswith(".json") for _, _, files in os.walk(RUN) for name in files):
        time.sleep(0.01)
ends = end(early + late)
text = "".join(one.err for one in ends)
equal(len(reports(ends)), 1, "two ranks never begin: the time is over, and there is one report")
has(text, "rank 1, rank 3: never began to count", "those that never began are named")
has(text, re.compile(r"^  cycles +≥ 3,000 ", re.M), "and the sum is at least that of the others")

# ---- the reporter is killed while it waits: another one takes over ----
job_id = new_job()
first = launch("openmpi", [0], with_true(), size=3, job=job_id)[0]
while not any(name.endswith(".json") for _, _, files in os.walk(RUN) for name in files):
    time.sleep(0.01)
second = launch("openmpi", [1], with_true(), size=3, job=job_id)[0]
while sum(name.endswith(".json") for _, _, files in os.walk(RUN) for name in files) < 2:
    time.sleep(0.01)
os.kill(tare_of(first), signal.SIGKILL)
equal(finish(first).code, -signal.SIGKILL, "the launcher sees which signal ended a rank's tare")
ends = end([second] + launch("openmpi", [2], with_true(), size=3, job=job_id))
equal(len(reports(ends)), 1, "a rank that had finished is killed while it waits: another one reports")
has("".join(one.err for one in ends), re.compile(r"^  cycles +6,000 +1,000 +3,000 ", re.M), "with the killed rank's counts, which were whole")
nothing_left("and nothing is left")

# ---- programs that fail ----
ends = end(launch("openmpi", range(3), lambda rank: [*known(rank), "sh", "-c", "exit 7" if rank == 1 else "true"]))
text = "".join(one.err for one in ends)
codes = [one.code for one in ends]
ok(codes[1] == 7 and set(codes) <= {0, 7}, "each rank exits with its own program's status, and the reporter with the worst", codes)
has(text, "exit status 7: the program failed", "the rank whose program failed is named")
ends = end(launch("openmpi", range(2), lambda rank: ["-e", "elapsed-time", "sh", "-c", "kill -9 $$" if rank else "true"]))
equal(ends[1].code, 137, "a program that a signal ended: 128 and its number")
has("".join(one.err for one in ends), "signal 9: the program failed", "the report says which signal")

# ---- programs that fail at the same moment: the first has not gone yet when the other ends ----
tare("count", "-e", "elapsed-time", "--store", "held.db", "true")
store = sqlite3.connect("held.db", isolation_level=None)
store.execute("BEGIN IMMEDIATE")  # so that keeping its run takes the first one until this is over
os.mkfifo("fails")
job_id = new_job()
second = launch("openmpi", [1], lambda rank: [*known(rank), "sh", "-c", "read line < fails; exit 7"], size=2, job=job_id)[0]
with open("fails", "w", encoding="ascii"):
    first = launch("openmpi", [0], lambda rank: [*known(rank), "--store", "held.db", "sh", "-c", "exit 7"], size=2, job=job_id)[0]
    for _ in range(1000):  # the fact holds whenever this ends; without it, the first one may be gone
        if is_asleep(tare_of(first)):
            break
        time.sleep(0.01)
ends = [finish(second)]
store.execute("ROLLBACK")
store.close()
ends.append(finish(first))
equal(len(reports(ends)), 1, "two ranks fail at the same moment: there is one report")
has("".join(one.err for one in ends), re.compile(r"^  cycles +4,000 +1,000 +3,000 ", re.M), "of both")
nothing_left("and nothing is left of their job")
shutil.rmtree(os.path.join(RUN, f"tare-ranks-{os.geteuid()}"), ignore_errors=True)

# ---- the launcher kills what it has started: tare is another process, ends the counting and reports ----
def one_sleeps():
    """A rank at work, in a session of its own, and another one, which has finished and waits for it."""
    job_id = new_job()
    sleeps = start("count", *known(1), "sh", "-c", "echo there; exec sleep 600", env=rank_environment("mpich", 1, 2, job_id), start_new_session=True)
    sleeps.stdout.read(6)
    waits = launch("mpich", [0], with_true(), size=2, job=job_id)[0]
    while not any(name.endswith(".json") for _, _, files in os.walk(RUN) for name in files):
        time.sleep(0.01)
    return sleeps, waits


sleeping, other = one_sleeps()
os.killpg(sleeping.pid, signal.SIGKILL)
ends = end([sleeping, other])
text = " ".join("".join(one.err for one in ends).split())
equal((ends[0].code, len(reports(ends))), (-signal.SIGKILL, 1), "a rank's process group is killed with kill -9: there is one report")
has(text, "cycles 4,000 1,000 3,000 1.50 1 hw", "with that rank's counts")
has(text, re.compile(r"! rank 1 \(host \S+, process \d+\) signal 9"), "and how its program ended")
shutil.rmtree(os.path.join(RUN, f"tare-ranks-{os.geteuid()}"), ignore_errors=True)  # an interrupt may have found the other rank at work

# an interrupt reaches the program, and how that ended is named
sleeping, other = one_sleeps()
sleeping.send_signal(signal.SIGTERM)
text = " ".join("".join(one.err for one in end([sleeping, other])).split())
has(text, re.compile(r"! rank 1 \(host \S+, process \d+\) signal 15: interrupted before the end"), "a rank that SIGTERM ends: the signal is named, and that it was interrupted")
shutil.rmtree(os.path.join(RUN, f"tare-ranks-{os.geteuid()}"), ignore_errors=True)


def groups_seen(**more):
    """Process groups and sessions: of what the launcher starts, of its tare, of the program."""
    job_id = new_job()
    other = launch("openmpi", [1], with_true(), size=2, job=job_id)
    one = start("count", *known(0), "sh", "-c", "cut -d ' ' -f 5,6 /proc/$PPID/stat /proc/$$/stat", env=rank_environment("openmpi", 0, 2, job_id),
                start_new_session=True, **more)
    seen = end([one, *other])[0]
    return [(one.pid, one.pid), *(tuple(map(int, line.split())) for line in seen.out.splitlines())]


def control(name):
    """In the child, a session's leader: this terminal controls it from now on."""
    os.close(os.open(name, os.O_RDWR))


launched, counts, program = groups_seen()
ok(launched == program and counts[0] != launched[0], "a rank's tare is in a group of its own, its program in the launcher's", (launched, counts, program))
ok(counts[1] != launched[1], "and in a session of its own", (launched, counts, program))
os.mkfifo("helped")
one = start("count", "--on", "exact", "-e", "instructions:u", "--ranks-timeout", "0.1", "sh", "-c", "echo $$ $PPID; read line < helped",
            env=rank_environment("openmpi", 0, 2, new_job()), start_new_session=True)
seen = [int(number) for number in one.stdout.readline().split()] # none where the engine is not
equal([pid for pid in (children(seen[1]) if seen else []) if facts(pid)[2:3] == [str(one.pid)] and pid != seen[0]], [],
      "nor is what helps a rank's tare to count in the launcher's group")
if seen:
    with open("helped", "w", encoding="ascii"):
        pass
finish(one)
terminal, other_end = pty.openpty()
launched, counts, program = groups_seen(stdin=other_end, preexec_fn=lambda: control(os.ttyname(0)))
ok(counts == launched == program, "at a terminal all of a rank are in one group, as job control needs", (launched, counts, program))
os.close(terminal)
os.close(other_end)
ends = end([start("count", *known(0), "--ranks-timeout", "0.1", "sh", "-c", "exit 7", env=rank_environment("openmpi", 0, 2, new_job()),
                  preexec_fn=lambda: signal.signal(signal.SIGCHLD, signal.SIG_IGN))])
equal(ends[0].code, 7, "a launcher that ignores SIGCHLD sees how a rank ended")

# Ctrl-Z at mpirun: Open MPI's stops the group of each process that it has started
def state(pid):
    return "".join(facts(pid)[:1])


job_id = new_job()
os.mkfifo("continued")
stopped = start("count", *known(0), "sh", "-c", "echo $$; read line < continued; echo ends", env=rank_environment("openmpi", 0, 2, job_id), start_new_session=True)
program = int(stopped.stdout.readline())
other = launch("openmpi", [1], with_true(), size=2, job=job_id)
os.killpg(stopped.pid, signal.SIGSTOP)
for _ in range(100 * TIME_OUT_S):
    if state(program) == state(stopped.pid) == "T":
        break
    time.sleep(0.01)
equal((state(program), state(stopped.pid)), ("T", "T"), "a launcher that stops a rank's group stops its program")
os.killpg(stopped.pid, signal.SIGCONT)
with open("continued", "w", encoding="ascii"):
    pass
ends = end([stopped, *other])
equal((ends[0].code, ends[0].out, len(reports(ends))), (0, "ends\n", 1), "which goes on with it, and there is one report")

# a stopped process beside the ranks: if their group becomes orphaned, the kernel sends SIGHUP and SIGCONT to all of it
BATCH = r"""
trap 'echo hung up; exit' HUP
is() { grep -q "^State:.[$2]" "/proc/$1/status" 2> /dev/null; }
rank() { OMPI_COMM_WORLD_RANK=$1 PMIX_RANK=$1 "$TARE" count --on "$REC" -e cycles -o all.txt sh -c "$2" & started=$!; }
sh -c 'kill -STOP $$' & stopped=$!
until is $stopped T; do sleep 0.01; done
rank 0 "echo \$\$ \$PPID > program.new; mv program.new program; $PROGRAM"; first=$started
until [ -e program ]; do sleep 0.01; done
rank 1 ': > begun'
until [ -e begun ]; do sleep 0.01; done
read program counts < program
case $KILLS in tare) kill -KILL $counts;; stand-in) kill -KILL $first;; esac
wait $first; wait $started
for pid in $program $counts; do while is $pid '^ZX'; do sleep 0.01; done; done
is $stopped T && echo is stopped
kill -KILL $stopped
"""
for kills, program, fact in (("nothing", "true", "ranks end"), ("tare", 'while grep -qx "PPid:.$PPID" /proc/$$/status; do sleep 0.01; done', "a rank's tare is killed"),
                             ("stand-in", "exec sleep 600", "what the launcher started is killed")):
    for name in ("program", "begun", "all.txt"):
        if os.path.exists(name):
            os.unlink(name)
    batch = subprocess.Popen(["sh", "-c", BATCH], stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True,
                             env=rank_environment("openmpi", 0, 2, new_job(), TARE=TARE, REC=recording(0, {"cycles": 1000}), KILLS=kills, PROGRAM=program))
    one = finish(batch)
    equal(one.out, "is stopped\n", f"{fact} beside a stopped process of the launcher's group: no signal comes to the group")
    ok(os.path.exists("all.txt"), "and the ranks have reported", one)
shutil.rmtree(os.path.join(RUN, f"tare-ranks-{os.geteuid()}"), ignore_errors=True)

# a launcher without process groups of its own, in the terminal's foreground
terminal, other_end = pty.openpty()
os.mkfifo("told")
told = start("count", *known(0), "sh", "-c", "trap '' HUP; exec 3< told; trap 'echo told' INT; echo there; while ! read line <&3; do :; done; echo ends",
             env=rank_environment("openmpi", 0, 2, new_job()), start_new_session=True, preexec_fn=lambda: control(os.ttyname(other_end)))
with open("told", "w", encoding="ascii", buffering=1) as pipe:
    out = told.stdout.read(6)
    os.write(terminal, b"\x03")
    told.wait(TIME_OUT_S)  # tare has done all that it does after an interrupt
    pipe.write("\n")
    out += told.stdout.read()
equal(out, b"there\ntold\nends\n", "Ctrl-C reaches a rank's program once")
has(told.stderr.read().decode(), "rank 1: never began to count", "and ends the waiting")
os.close(terminal)
os.close(other_end)

# ---- an interrupt ends the waiting ----
waiter = launch("openmpi", [0], with_true("--ranks-timeout", "500"), size=2)[0]
while not any(name.endswith(".json") for _, _, files in os.walk(RUN) for name in files):
    time.sleep(0.01)
waiter.send_signal(signal.SIGTERM)
one = finish(waiter)
has(one.err, "rank 1: never began to count", "SIGTERM ends the waiting, and who is missing is named")

# ---- an interrupt while another rank is at work: what started them may kill both before that one has ended ----
for output in ((), ("-o", "interim.txt")):
    other = "stubborn" + "".join(output[:1])
    os.mkfifo(other)
    job_id = new_job()
    stubborn = launch("openmpi", [1], lambda rank: [*known(rank), *output, "sh", "-c", f"trap '' TERM; read line < {other}"], size=2, job=job_id)[0]
    with open(other, "w", encoding="ascii") as pipe: # its program is at work
        waiter = launch("openmpi", [0], with_true("--ranks-timeout", "500", *output), size=2, job=job_id)[0]
        while not any(name.endswith(".json") for _, _, files in os.walk(RUN) for name in files):
            time.sleep(0.01)
        waiter.send_signal(signal.SIGTERM)
        if output:
            while not os.path.exists("interim.txt") or not os.path.getsize("interim.txt"):
                time.sleep(0.01)
            text = read("interim.txt")
            ok("rank 1" in text and re.search(r"^  cycles +≥ 1,000 ", text, re.M), "-o FILE has what is there as soon as the interrupt comes", text)
        one = finish(waiter)
        if not output:
            has(one.err, re.compile(rf"^tare: interrupted, and ranks are at work; if all are killed now: tare report --merge {RUN}/tare-ranks-\d+/\w+/0\.\*\.json$", re.M),
                "an interrupt while ranks are at work: where the counts are is told at once")
        equal(len(re.findall("ranks of", one.err)), 0 if output else 1, "and there is one report")
        if not output:
            files = glob.glob(re.search(r"report --merge (\S+)", one.err).group(1))
            has(tare("report", "--merge", *files).out, re.compile(r"^  cycles +≥ 1,000 ", re.M), "the counts stay where the message says that they are")
    finish(stubborn)
    shutil.rmtree(os.path.join(RUN, f"tare-ranks-{os.geteuid()}"), ignore_errors=True)

# ---- several counts in one job ----
script = 'for i in 1 2 3; do "$TARE" count --on "$REC" -e cycles -o round-$i.txt true || exit 9; done'
job_id = new_job()
processes = [subprocess.Popen(["sh", "-c", script], env=rank_environment("openmpi", rank, 4, job_id, TARE=TARE, REC=recording(rank, {"cycles": COUNTS[rank]})),
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE) for rank in range(4)]
equal([finish(process).code for process in processes], [0] * 4, "each rank counts three times, one after the other")
for i in (1, 2, 3):
    has(read(f"round-{i}.txt"), re.compile(r"^  cycles +12,000 ", re.M), f"count {i} of three in one job has all ranks")
nothing_left("and nothing is left of three rounds")

# ---- two jobs at the same time ----
jobs_at_once = [launch("slurm", range(4), with_true("--json", "-o", f"at-once-{i}.json")) for i in range(3)]
for processes in jobs_at_once:
    end(processes)
equal([job_of(read(f"at-once-{i}.json"), f"job {i} of three")["results"][0]["sum"] for i in range(3)], [12000] * 3,
      "jobs at the same time do not mix")

# ---- privacy ----
folder = os.path.join(RUN, f"tare-ranks-{os.geteuid()}")
equal(stat.S_IMODE(os.stat(folder).st_mode), 0o700, "the ranks' folder is the user's alone")
waiter = launch("openmpi", [0], with_true("--ranks-timeout", "500"), size=2)[0]
while not any(name.endswith(".json") for _, _, files in os.walk(RUN) for name in files):
    time.sleep(0.01)
modes = {stat.S_IMODE(os.stat(os.path.join(path, name)).st_mode) for path, folders, files in os.walk(folder) for name in files}
equal(modes, {0o600}, "so are the files in it")
waiter.send_signal(signal.SIGTERM)
finish(waiter)
os.mkdir("open", 0o755)
os.mkdir(f"open/tare-ranks-{os.geteuid()}")
os.chmod(f"open/tare-ranks-{os.geteuid()}", 0o755)
refused = end(launch("openmpi", [0], with_true("--ranks-dir", "open"), size=2))[0]
equal(refused.code, 3, "a folder that others can read is refused")
has(refused.err, "is open to other users", "and the error says so")
os.rename(f"open/tare-ranks-{os.geteuid()}", "open/real")
os.chmod("open/real", 0o700)
os.symlink("real", f"open/tare-ranks-{os.geteuid()}")
refused = end(launch("openmpi", [0], with_true("--ranks-dir", "open"), size=2))[0]
equal(refused.code, 3, "a link in its place is refused")
if os.geteuid() == 0:
    os.unlink(f"open/tare-ranks-0")
    os.chown("open/real", 65534, 65534)
    os.rename("open/real", "open/tare-ranks-0")
    refused = end(launch("openmpi", [0], with_true("--ranks-dir", "open"), size=2))[0]
    has(refused.err, "belongs to another user", "another user's folder is refused")
else:
    skip("only root can give files away", "another user's folder is refused")

# ---- what is no job of ranks ----
def alone(fact, **settings):
    one = tare("count", *known(0), "true", env=environment(**{**CLEAN, "XDG_RUNTIME_DIR": RUN, **settings}))
    ok(one.code == 0 and "ranks of" not in one.err and re.search(r"^  cycles +1,000 +±\? +hw$", one.err, re.M), fact, one)


alone("one rank alone has the plain report", OMPI_COMM_WORLD_RANK="0", OMPI_COMM_WORLD_SIZE="1")
alone("a batch script of Slurm is not a rank: it is not under srun", SLURM_PROCID="0", SLURM_NTASKS="4", SLURM_JOB_ID="7")
alone("nor is its own step", SLURM_PROCID="0", SLURM_NTASKS="4", SLURM_JOB_ID="7", SLURM_STEP_ID="4294967291")
alone("a heterogeneous job of one component is a job", SLURM_PROCID="0", SLURM_STEP_NUM_TASKS="1", SLURM_JOB_ID="7", SLURM_STEP_ID="0", SLURM_HET_SIZE="1")
job = new_job()  # the same job and step, after it was queued again: a rank of the first time is left over
ends = end(launch("slurm", [0], with_true("--ranks-timeout", "1"), size=2, job=job) + launch("slurm", range(2), with_true(), job=job, SLURM_RESTART_COUNT="1"))
equal(sorted("rank 1: never began" in one.err for one in reports(ends)), [False, True], "a job that was queued again is another job: its two ranks make one whole report")
ends = end(launch("slurm", [0, 0], with_true("--ranks-timeout", "1"), size=2))
ok(len(reports(ends)) == 2 and all("1 of 2 ranks counted" in one.err for one in reports(ends)), "a rank that is there twice is not taken for two", ends)
ends = end(launch("tare", range(2), lambda rank: ["-e", "elapsed-time", "-r", "2", "true"]))
equal(len(reports(ends)), 1, "ranks that tare's own variables give may repeat their program")
equal(end(launch("openmpi", [0], lambda rank: ["-e", "elapsed-time", "-r", "2", "--ranks", "off", "true"], size=2))[0].code, 0, "so may those of --ranks off")
ends = end(launch("openmpi", range(2), with_true("--ranks", "off")))
equal(len(reports(ends)), 2, "--ranks off: each rank has a report of its own")
ends = end(launch("openmpi", range(2), with_true("--ranks", "off", "-o", "off-%r")))
equal([(e.code, os.path.exists(f"off-{i}")) for i, e in enumerate(ends)], [(0, True), (0, True)], "and %r is the rank in its file's name")

# ---- errors ----
def wrong(expected, *options, fact, code=2, **settings):
    one = tare("count", *known(0), *options, "true", env=environment(**{**CLEAN, "XDG_RUNTIME_DIR": RUN, **settings}))
    ok(one.code == code and expected in one.err, fact, one)


rank0 = {"OMPI_COMM_WORLD_RANK": "0", "OMPI_COMM_WORLD_SIZE": "2", "PMIX_NAMESPACE": "x"}
wrong("%r is the rank", "-o", "a-%r", fact="%r without ranks is an error")
wrong("followed by none of", "-o", "a-%x", fact="so is a % that means nothing")
wrong("2 ranks would write the same file", "--blocks", "b.tsv", fact="a file that all ranks would write is an error", **rank0)
wrong("-I is not in the report of several ranks", "-I", "100", fact="what one report cannot show is an error", **rank0)
wrong("--per-rank is for one report", "--per-rank", fact="--per-rank without ranks is an error")
wrong("is not the number of a rank", fact="a rank that is not a number is an error", **{**rank0, "OMPI_COMM_WORLD_RANK": "x"})
wrong("says rank 2 of 2", fact="a rank beyond the size is an error", **{**rank0, "OMPI_COMM_WORLD_RANK": "2"})
wrong("the number of its ranks is not known", fact="a rank of an unknown number is an error", PMIX_RANK="0", PMIX_NAMESPACE="x")
wrong("which job it is is not known", fact="a rank of an unknown job is an error", TARE_RANK="0", TARE_RANKS="2")
for option in (("-r", "3"), ("--several-runs",), ("--warm-up", "1")):
    wrong(f"{option[0]} runs the program more than once", *option, fact=f"{option[0]}: MPI_Init works once in a rank", **rank0)
slurm0 = {"SLURM_PROCID": "0", "SLURM_STEP_NUM_TASKS": "2", "SLURM_NTASKS": "2", "SLURM_JOB_ID": "7", "SLURM_STEP_ID": "0"}
for name in ("SLURM_HET_SIZE", "SLURM_PACK_SIZE"):
    wrong("its heterogeneous job have is not known", fact=f"{name}: ranks of a heterogeneous job cannot be brought together", **slurm0, **{name: "2"})
wrong("the number of its ranks is not known", fact="a step's size that is no number: the job's is not taken instead",
      **{**slurm0, "SLURM_STEP_NUM_TASKS": "2x"})
wrong("is not the number of a rank", fact="a task's number that is none", **{**slurm0, "SLURM_PROCID": "-1"})
wrong("cannot open the folder", "--ranks-dir", "/nonexistent", fact="no folder for the ranks: exit code 3", code=3, **rank0)
equal(tare("count", *known(0), "-o", "100%%.txt", "true", env=environment(**CLEAN)).code, 0, "%% is a percent sign")
ok(os.path.exists("100%.txt"), "in the file's name", os.listdir("."))
equal(tare("report", "--merge", "nothing.json").code, 2, "no file to merge: exit code 2")
write("not.json", "{}")
has(tare("report", "--merge", "not.json").err, "is not a result of tare count --json", "nor is any JSON a result")

# ---- thousands of ranks ----
template = json.loads(read(names[0]))
pattern = template["results"][0]
os.mkdir("many")
for rank in range(4096):
    template["rank"]["rank"], template["rank"]["size"] = rank, 4096
    template["machine"]["hostname"] = f"node{rank // 64:02d}"
    template["results"] = [{**pattern, "event": f"event-{i}", "value": rank * 20 + i, "runs": [rank * 20 + i]} for i in range(20)]
    write(f"many/{rank}", json.dumps(template))
process = subprocess.Popen([TARE, "report", "--merge", "--format", "json", "-o", "many.json", *(f"many/{rank}" for rank in range(4096))],
                           env=environment())
_, status, usage = os.wait4(process.pid, 0)
process.returncode = os.waitstatus_to_exitcode(status)
job = job_of(read("many.json"), "4,096 ranks of 20 events")
equal([row["sum"] for row in job["results"]], [20 * 4095 * 4096 // 2 + 4096 * i for i in range(20)], "4,096 ranks add up")
print(f"# {usage.ru_utime + usage.ru_stime:.2f} s of CPU time, {usage.ru_maxrss / 1024:.0f} MiB")
with open(TARE, "rb") as file:
    sanitized = b"__asan_init" in file.read()
if not sanitized:  # it keeps what was freed
    ok(usage.ru_maxrss * 1024 <= 200e6, "with at most 200 MB of memory", usage.ru_maxrss)
text = tare("report", "--merge", *(f"many/{rank}" for rank in range(4096) if rank not in (7, 8, 4000))).out
has(text, "rank 7, rank 8, rank 4000: none of the files has the counts", "three of 4,096 are missing, and named")
has(text, re.compile(r"4096 ranks of Open MPI on 64 hosts \(node00, node01, node02, node03,\s+…\)"), "hosts are counted, and the first ones named")

# ---- counted by the engine: what each rank counted is what the sum is of ----
engine = tare("count", "--on", "exact", "-e", "instructions:u", "true", env=environment(**CLEAN))
if "not counted" in engine.err:
    skip("the engine does not work here", "the engine's counts of four ranks add up")
else:
    end(launch("openmpi", range(4), lambda rank: ["--on", "exact", "-e", "instructions:u,loads:u", "--json", "-o", "engine.json", "true"]))
    job = job_of(read("engine.json"), "the engine's counts of four ranks")
    for row in job["results"]:
        values = [cell["value"] for cell in row["members"]]
        ok(row["sum"] == sum(values) > 0 and row["min"]["value"] == min(values) and row["max"]["value"] == max(values)
           and row["sources"] == ["exact"], f"{row['event']}: the engine's counts of four ranks add up", row)
done()
