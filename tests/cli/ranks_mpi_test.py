"""Four ranks under Open MPI and MPICH, on this machine: examples/ranks/uneven.c comes out as one table. What a rank executes in solve() is
known from its code, so each rank's count is compared with the same program's count by itself."""
import json
import os
import shutil
import signal
import subprocess
import time

from cli import *

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../..")
FOUR = [100000, 200000, 300000, 400000]
os.mkdir("run", 0o700)
ENVIRONMENT = environment(OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1", XDG_RUNTIME_DIR=os.path.abspath("run"),
                          # one machine: no network is looked for
                          OMPI_MCA_btl="self,vader", OMPI_MCA_plm="isolated", OMPI_MCA_oob_tcp_if_include="lo",
                          PMIX_MCA_gds="hash", HYDRA_IFACE="lo")


def mpirun(kind, arguments):
    words = {"openmpi": ["mpirun.openmpi", "--oversubscribe", "-n", "4"], "mpich": ["mpirun.mpich", "-n", "4"]}[kind]
    process = subprocess.Popen([*words, *arguments], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                               env=ENVIRONMENT, start_new_session=True)
    try:
        return finish(process)
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)


def leftovers(word):
    """Processes with this word in their arguments, which may be about to end."""
    for _ in range(1500):
        found = []
        for pid in filter(str.isdigit, os.listdir("/proc")):
            try:
                with open(f"/proc/{pid}/cmdline", "rb") as file:
                    text = file.read().decode(errors="replace")
            except OSError:
                continue
            if word in text:
                found.append(text)
        if not found:
            break
        time.sleep(0.1)
    return found


def solve_row(job, event):
    return [row for row in job["results"] if row.get("region") == "solve" and row["event"] == event][0]


def check(kind):
    built = subprocess.run([f"mpicc.{kind}", "-g", "-O1", "-o", f"uneven.{kind}", f"{ROOT}/examples/ranks/uneven.c"], capture_output=True)
    if not ok(built.returncode == 0, f"{kind}: the example compiles", built):
        return
    one = mpirun(kind, [TARE, "count", "--on", "exact", "-e", "instructions:u,loads:u", "--region", "solve", f"./uneven.{kind}"])
    if "not counted" in one.err and "cannot" in one.err:
        skip("the engine does not work here", f"{kind}: one report")
        return
    ok(one.code == 0 and one.out == "4 ranks: 149999500000\n", f"{kind}: the program runs as without tare", one)
    equal(one.err.count("tare count:"), 1, f"{kind}: four ranks give one report")
    has(one.err, "4 ranks of " + {"openmpi": "Open MPI", "mpich": "MPICH"}[kind], f"{kind}: which names the launcher")
    has(one.err, re.compile(r"^  region solve \(4 entries, 1 in each\)$", re.M), f"{kind}: the region was entered once in each")
    done = mpirun(kind, [TARE, "count", "--on", "exact", "-e", "instructions:u,loads:u", "--region", "solve", "--json", "-o", f"{kind}.json",
                         f"./uneven.{kind}"])
    job = json.loads(read(f"{kind}.json"))
    row = solve_row(job, "instructions:u")
    values = [cell["value"] for cell in row["members"]]
    steps = (values[1] - values[0]) / 100000
    ok(steps == int(steps) >= 4 and values == [values[0] + i * (values[1] - values[0]) for i in range(4)] and
       values[0] - steps * 100000 < 100, f"{kind}: each rank's count of solve() is its loop's", values)
    equal((row["sum"], row["min"], row["max"]), (sum(values), {"value": values[0], "member": 0}, {"value": values[3], "member": 3}),
          f"{kind}: sum, min and max are of these")
    ok(abs(row["imbalance"] - 1.6) < 1e-3, f"{kind}: the imbalance is that of the work", row["imbalance"])
    loads = [cell["value"] for cell in solve_row(job, "loads:u")["members"]]
    ok(loads == [loads[0] + i * (loads[1] - loads[0]) for i in range(4)] and loads[0] >= 100000, f"{kind}: so are its loads", loads)
    equal([(m["rank"], m["state"], m["exit"], m["host"]) for m in job["members"]],
          [(i, "reported", {"status": 0}, os.uname().nodename) for i in range(4)], f"{kind}: all ranks reported, from this host")
    # models: the same job
    modelled = mpirun(kind, [TARE, "count", "--on", "model:host", "-e", "l1d-misses", "--json", "-o", f"{kind}-model.json", f"./uneven.{kind}"])
    row = json.loads(read(f"{kind}-model.json"))["results"][0]
    ok(modelled.code == 0 and row["counted"] == 4 and row["sources"] == ["model"] and
       row["sum"] == sum(cell["value"] for cell in row["members"]) > 0, f"{kind}: a model counts four ranks, too", (modelled, row))
    # a rank dies, and the launcher ends the others, Open MPI 60 ms after a SIGTERM, MPICH at once, if a signal ended what it has started
    for died, victim in (("program", "$$"), ("tare", "$PPID"))[kind == "mpich":]:
        for how in (["-e", "elapsed-time"], ["--on", "exact", "-e", "instructions:u"]):
            case, word = f"{kind}: a rank's {died} is killed, {how[-1]}", f"of-{os.getpid():08}"
            out = f"{kind}-{died}-{how[-1]}"
            os.mkfifo(f"{out}-fifo")
            script = (f'r=${{OMPI_COMM_WORLD_RANK:-$PMI_RANK}}; : {word} > {out}-at-work-$r; [ "$r" = 2 ] || read line < {out}-fifo; '
                      f'while [ ! -e {out}-at-work-0 ] || [ ! -e {out}-at-work-1 ] || [ ! -e {out}-at-work-3 ]; do sleep 0.02; done; kill -9 {victim}; exit')
            lost = mpirun(kind, [TARE, "count", *how, "--json", "-o", f"{out}.json", "sh", "-c", script])
            ok(lost.code != 0, f"{case}: the launcher fails", lost)
            equal(leftovers(word), [], f"{case}: no process of the job is left")
            members = json.loads(read(f"{out}.json"))["members"]
            equal([(m["rank"], m["state"]) for m in members],
                  [(0, "reported"), (1, "reported"), (2, "ended without a result" if died == "tare" else "reported"), (3, "reported")],
                  f"{case}: the others' counts are all in one report")
            equal(members[2].get("exit"), None if died == "tare" else {"signal": 9}, f"{case}: and how that rank ended")
            if kind == "openmpi":  # its mpirun waits about a second for what tare writes then; MPICH's, until all is there
                continue
            for rank in range(4):
                os.unlink(f"{out}-at-work-{rank}")
            said = mpirun(kind, [TARE, "count", *how, "sh", "-c", script])
            equal(said.err.count("4 ranks of"), 1, f"{case}: the report is on standard error, through the launcher")
            has(" ".join(said.err.split()), re.compile(r"rank 2 \(host \S+, process \d+\): tare was killed there"), f"{case}: it names the rank")


for kind in ("openmpi", "mpich"):
    if shutil.which(f"mpicc.{kind}") and shutil.which(f"mpirun.{kind}"):
        check(kind)
    else:
        skip(f"{kind} is not installed", f"{kind}: four ranks give one report")
done()
