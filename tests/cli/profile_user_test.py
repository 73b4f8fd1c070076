"""`tare profile` by a user without rights, under the kernel's limit as it is: what works, and what is said of the rest."""
import shutil
import subprocess

from cli import *

FACT = "a user without rights profiles"
LIMIT = "/proc/sys/kernel/perf_event_paranoid"
NOBODY = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
if os.getuid() != 0 or not shutil.which("setpriv"):
    skip("only root can become another user", FACT)
    done()
if subprocess.run([*NOBODY, TARE, "--version"], capture_output=True).returncode != 0:
    skip("another user cannot execute tare here", FACT)
    done()
if not os.path.exists(LIMIT):
    skip("this kernel has no perf_event_open", FACT)
    done()
limit = int(read(LIMIT))


def by_nobody(*arguments):
    seen = subprocess.run([*NOBODY, TARE, "profile", *arguments], capture_output=True, text=True, env=environment(), cwd="/")
    return seen.returncode, " ".join(seen.stderr.split())


code, said = by_nobody("-e", "page-faults:u@1", "/bin/true")
if limit > 2:
    ok(code == 3 and f"kernel.perf_event_paranoid is {limit}" in said and "sysctl kernel.perf_event_paranoid=2" in said, "above 2 nothing is sampled, and what allows it is said", said)
else:
    if code == 3 and "not allowed" in said and "perf_event_paranoid" not in said:
        skip("a filter of system calls allows no events", FACT)
        done()
    found = re.search(r"page-faults:u by function: (\d+) samples, one each time; in all (\d+) faults", said)
    ok(code == 0 and found and found[1] == found[2] and int(found[1]) > 10, "a program's own part is sampled, each fault", said)
    code, said = by_nobody("-e", "page-faults:u@1", "-g", "/bin/true")
    found = re.search(r"(\d+) samples, one each time; in all (\d+) faults", said)
    ok(code == 0 and found and found[1] == found[2] and "with calls" in said, "with call stacks, too", said)
    code, said = by_nobody("-e", "page-faults:k@1", "/bin/true")
    if limit == 2:
        ok(code == 3 and "kernel.perf_event_paranoid is 2, and counting the kernel's part takes 1 or less" in said, "at 2 the kernel's part is refused, and why", said)
    else:
        ok(code == 0, "at 1 and below the kernel's part is sampled", said)
    code, said = by_nobody("-a", "--for", "0.1")
    if limit >= 1:
        ok(code == 3 and f"kernel.perf_event_paranoid is {limit}, and counting whole CPUs takes 0 or less" in said, "at 1 and above whole CPUs are refused, and why", said)
    else:
        ok(code == 0, "at 0 and below whole CPUs are sampled", said)
code, said = by_nobody("-e", "page-faults:u", "--region", "main", TARE, "--version")
ok(code == 3 and ("cannot watch 'main' with probes: not allowed for this user" in said or "this kernel has no uprobes" in said or "tracing does not answer" in said or limit > 2),
   "probes need rights, and it is said", said)
done()
