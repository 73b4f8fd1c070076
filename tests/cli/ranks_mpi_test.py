"""Four ranks under Open MPI and MPICH, on this machine: examples/ranks/uneven.c comes out as one table. What a rank executes in solve() is
known from its code, so each rank's count is compared with the same program's count by itself."""
import json
import os
import shutil
import signal
import subprocess

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
    # a rank that is killed
    lost = mpirun(kind, [TARE, "count", "-e", "elapsed-time", "sh", "-c",
                         'r=${OMPI_COMM_WORLD_RANK:-$PMI_RANK}; [ "$r" = 2 ] && kill -9 $PPID; exec sleep 0.2'])
    ok(lost.code != 0, f"{kind}: a rank's tare is killed: the launcher fails", lost)


for kind in ("openmpi", "mpich"):
    if shutil.which(f"mpicc.{kind}") and shutil.which(f"mpirun.{kind}"):
        check(kind)
    else:
        skip(f"{kind} is not installed", f"{kind}: four ranks give one report")
done()
