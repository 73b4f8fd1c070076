"""Four ranks under Slurm's srun, whose daemons this test starts for itself, as root, on this machine: one report, each rank's own work, and
a rank that is killed is named. `make check-full` has Slurm installed; elsewhere it is skipped."""
import json
import os
import shutil
import signal
import socket
import subprocess
import time

from cli import *

FACT = "ranks under Slurm"
if os.geteuid() != 0 or not all(shutil.which(name, path="/usr/sbin:/usr/bin") for name in ("slurmctld", "slurmd", "munged", "srun", "gcc")):
    skip("no Slurm here, or not root", FACT)
    done()
HERE, HOST = os.getcwd(), socket.gethostname().split(".")[0]
os.chmod(HERE, 0o755)
for folder in ("state", "spool"):
    os.mkdir(folder)


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


write("slurm.conf", f"""\
ClusterName=tare
SlurmctldHost={HOST}(127.0.0.1)
AuthType=auth/munge
AuthInfo=socket={HERE}/munge.socket
CredType=cred/munge
SlurmUser=root
SlurmdUser=root
StateSaveLocation={HERE}/state
SlurmdSpoolDir={HERE}/spool
SlurmctldPidFile={HERE}/slurmctld.pid
SlurmdPidFile={HERE}/slurmd.pid
SlurmctldPort={free_port()}
SlurmdPort={free_port()}
ProctrackType=proctrack/pgid
TaskPlugin=task/none
MpiDefault=none
ReturnToService=2
NodeName={HOST} NodeAddr=127.0.0.1 CPUs=1 State=UNKNOWN
PartitionName=all Nodes={HOST} Default=YES State=UP
""")
with open("munge.key", "wb") as key:
    key.write(os.urandom(1024))
os.chmod("munge.key", 0o400)
ENVIRONMENT = environment(SLURM_CONF=f"{HERE}/slurm.conf", XDG_RUNTIME_DIR=HERE)
DAEMONS = (["/usr/sbin/munged", "--foreground", "--force", f"--socket={HERE}/munge.socket", f"--key-file={HERE}/munge.key",
            f"--pid-file={HERE}/munged.pid", f"--log-file={HERE}/munged.log", f"--seed-file={HERE}/munged.seed"],
           ["/usr/sbin/slurmctld", "-D"], ["/usr/sbin/slurmd", "-D"])
daemons = [subprocess.Popen(command, env=ENVIRONMENT, stdin=subprocess.DEVNULL, stdout=open(f"daemon{i}", "w", encoding="utf-8"), stderr=subprocess.STDOUT)
           for i, command in enumerate(DAEMONS)]


def srun(*arguments):
    process = subprocess.Popen(["srun", "-O", "-n", "4", *arguments], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                               env=ENVIRONMENT, start_new_session=True)
    try:
        return finish(process)
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)


def check():
    for _ in range(300):
        if b"idle" in subprocess.run(["sinfo", "-h"], env=ENVIRONMENT, capture_output=True, check=False).stdout:
            break
        time.sleep(0.2)
    else:
        ok(False, "Slurm's daemons start", [read(f"daemon{i}") for i in range(3)])
        return
    write("uneven.c", """\
#include <stdlib.h>
__attribute__((noinline)) void solve(long n) { for (volatile long i = 0; i < n; i = i + 1); }
int main(void) { solve(100000 * (atol(getenv("SLURM_PROCID")) + 1)); }
""")
    subprocess.run(["gcc", "-g", "-O1", "-o", "uneven", "uneven.c"], check=True)
    seen = srun(TARE, "count", "--on", "exact", "-e", "instructions:u", "--region", "solve", "--json", "-o", "job.json", "./uneven")
    if "cannot" in seen.err and "exact" in seen.err:
        skip("the engine does not work here", FACT)
        return
    if not ok(seen.code == 0 and os.path.exists("job.json"), "four ranks give one report", seen):
        return
    job = json.loads(read("job.json"))
    values = [cell["value"] for row in job["results"] if row.get("region") == "solve" for cell in row["members"]]
    steps = values[1] - values[0]
    ok(job["launcher"] == "Slurm" and job["size"] == 4 and steps >= 400000 and values == [values[0] + i * steps for i in range(4)] and
       values[0] - steps < 100, "each rank's count is that of its loop", (job["launcher"], values))
    seen = srun(TARE, "count", "-e", "page-faults:u", "-o", "rank-%r-%h.json", "--json", "true")
    files = [f"rank-{rank}-{HOST}.json" for rank in range(4)]
    ok(seen.code == 0 and all(os.path.exists(name) for name in files), "%r and %h are the rank and the host", (seen, os.listdir()))
    has(tare("report", "--merge", *files).out, "4 ranks of Slurm on 1 host", "their files are one job's")
    seen = srun(TARE, "count", "--on", "exact", "-e", "instructions:u", "sh", "-c", "test $SLURM_PROCID = 2 && kill -9 $$; true")
    ok(seen.code == 137 and re.search(r"rank 2 \(host \S+, process \d+\) signal 9", " ".join(seen.err.split())), "a rank that is killed is named", seen)


try:
    check()
finally:
    for daemon in reversed(daemons):
        daemon.terminate()
        daemon.wait()
done()
