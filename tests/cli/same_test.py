"""`tare count --reproducible --cpu LEVEL`: what a program sees of the machine is the same in every run, and is not the machine."""
import json
import os
import re
import resource
import shutil
import signal
import subprocess
import sys

PROGRAMS = [os.path.abspath(path) for path in sys.argv[2:5]]
from cli import *

SHOWN, STATIC, PLACES = PROGRAMS
FLAGS = set(re.search(r"(?m)^flags\s*: (.*)", read("/proc/cpuinfo"))[1].split())
V3 = {"avx", "avx2", "bmi1", "bmi2", "f16c", "fma", "movbe", "abm", "xsave", "sse4_2"} <= FLAGS
V4 = V3 and {"avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"} <= FLAGS
LEVEL = "x86-64-v3" if V3 else "x86-64-v2"


def shown(*arguments, program=SHOWN, options=("--cpu", LEVEL), **env):
    """What the program printed, and its instructions."""
    seen = tare("count", "--on", "exact", "--reproducible", *options, "--json", "-o", "report.json", "-e", "instructions", program, *arguments,
                env=environment(**env))
    ok(seen.code == 0, f"{arguments[0]}: exit status 0", seen)
    report = json.loads(read("report.json")) if seen.code == 0 else {"results": [{"value": None}], "notes": []}
    return seen.out, report["results"][0]["value"], " ".join(report["notes"])


def line(text, start):
    return next((found for found in text.splitlines() if found.startswith(start)), "")


# ---- the same in every run ----
PARTS = ("cpu", "chance", "time", "state")
for program, name in ((SHOWN, "a dynamic program"), (STATIC, "a static program")):
    first, second = shown(*PARTS, program=program), shown(*PARTS, program=program)
    equal(first[0], second[0], f"{name}: two runs see the same")
    equal(first[1], second[1], f"{name}: and count the same")
out, count, _ = shown(*PARTS)
other, other_count, _ = shown(*PARTS, LONG_NAME_OF_A_VARIABLE="x" * 3000)
equal(other, out, "whatever the length of the environment")
for shells in "/opt/a/tare", "/home/somebody/tools/build/src/cli/tare":
    seen = tare("count", "--on", "exact", "--reproducible", "-q", "-e", "instructions", "env", env=environment(_=shells))
    equal(line(seen.out, "_="), f"_={shutil.which('env')}", "what a shell says that it started is the program, not tare")

# ---- the processor ----
if V3:
    equal(line(out, "cpuid 1.0"), "cpuid 1.0 000306c3 00010800 3cd83201 078bfbff", "v3 by default: its features")
    equal(line(out, "cpuid 7.0"), "cpuid 7.0 00000000 00000128 00000000 00000000", "... BMI, AVX2 and no AVX-512")
    equal(line(out, "xcr0"), "xcr0 7 0", "... state up to AVX")
    equal(line(out, "cpuid d.0"), "cpuid d.0 00000007 00000340 00000340 00000000", "... which takes 832 bytes")
    equal(line(out, "saved"), "saved 832 bytes, header 2, beyond them 0", "xsave with all components writes no byte more")
    equal(line(out, "frame"), "frame 832 components 7", "a signal's frame has the same")
    without = tare("count", "--on", "exact", "--reproducible", "-q", "-e", "instructions", SHOWN, "cpu").out
    equal(line(without, "cpuid 1.0"), line(out, "cpuid 1.0"), "--reproducible alone is v3")
else:
    seen = tare("count", "--on", "exact", "--reproducible", "-e", "instructions", "true")
    ok(seen.code == 3 and "x86-64-v3" in seen.err and "--cpu x86-64-v2" in seen.err, "a CPU without v3 is told to use v2", seen)
old, _, _ = shown("cpu", options=("--cpu", "x86-64-v2"))
equal(line(old, "cpuid 1.0"), "cpuid 1.0 000106a3 00010800 00982201 078bfbff", "v2: SSE4.2, and no xsave")
equal(line(old, "xcr0"), "", "... so that nobody asks for XCR0")
native = subprocess.run([SHOWN, "cpu"], stdout=subprocess.PIPE, text=True, check=True).stdout
host, _, _ = shown("cpu", options=("--cpu", "host"))
for leaf in ("0.0", "7.0", "80000002.0", "4.1"):
    equal(line(host, f"cpuid {leaf}"), line(native, f"cpuid {leaf}"), f"host: leaf {leaf} is the machine's own")
if V4:
    new, _, _ = shown("cpu", "state", options=("--cpu", "x86-64-v4"))
    equal(line(new, "xcr0"), "xcr0 e7 0", "v4: AVX-512's state")
    ok(re.search(r"saved (2432|2688) bytes, header \w+, beyond them 0", new), "... and room for it", new)
else:
    seen = tare("count", "--on", "exact", "--reproducible", "--cpu", "x86-64-v4", "-e", "instructions", "true")
    ok(seen.code == 3 and "lacks" in seen.err and f"--cpu {LEVEL}" in seen.err, "a CPU without v4 is told what it can show", seen)
equal(line(out, "auxiliary vector"), "auxiliary vector: vdso 0, second features 0, platform x86_64, frame 3632", "the vdso is withheld")

# ---- the rest of the machine ----
equal(line(out, "name"), "name Linux localhost x86_64", "uname")
equal(line(out, "memory"), "memory 4294967296 2147483648 uptime 1000", "4 GiB of memory")
equal(line(out, "processors"), "processors 1, the first one 1, this one 0", "one processor, number 0")
equal(line(out, "may run on it"), "may run on it: 0; on another: -1", "... on which it may run, and on no other")

# ---- random numbers ----
numbers = re.findall(r"\b[0-9a-f]{16}\b", " ".join(line(out, start) for start in ("start", "rdrand", "getrandom", "files")))
equal(len(numbers), 7, "random numbers of every source")
equal(len(set(numbers)), 7, "... which differ")
ok(line(out, "rdseed").endswith("carry 1"), "rdseed says that there was one", out)

# ---- the clock ----
stamps = [int(stamp) for stamp in re.findall(r"\d+", line(out, "stamps"))]
ok(stamps[0] < stamps[1] and stamps[2] == 0, "the time-stamp counter goes on, on processor 0", stamps)
ok(line(out, "day").startswith("day 2000000000.") and line(out, "monotonic").split()[1].startswith("1000000"), "clocks begin at chosen moments", out)
equal(line(out, "slept on"), "slept on 0 until 60002000", "a sleep moves the clock on by what was asked")
for clock in ("monotonic", "real"):
    equal(line(out, f"condition, {clock}"), f"condition, {clock}: timed out, the clock is on", "a wait until a moment of the served clock ends")
for name in ("in a while", "at a moment"):
    equal(line(out, f"timer, {name}"), f"timer, {name}: 1", "so does a timer")

# ---- directories and files ----
FOLDER = """import os, sys
with os.scandir(sys.argv[1]) as entries:
    names = [entry.name for entry in entries]
folder = os.open(sys.argv[1], os.O_RDONLY)
again = os.listdir(folder), os.listdir(folder)
print(len(names), names == sorted(names), again[0] == names == again[1])
print(open("/proc/cpuinfo").read().count("processor"), open("/proc/meminfo").readline().split()[1], open("/sys/devices/system/cpu/online").read().strip())
try:
    os.write(os.open("/proc/version", os.O_RDONLY), b"x")
except OSError as error:
    print(error.errno)
"""
os.mkdir("many")
for number in range(3000):
    with open(f"many/{number * 7919 % 3000}", "w"):
        pass
os.mkdir("none")
if os.path.exists("/usr/bin/python3"):
    for name, entries in (("many", 3000), ("none", 0)):
        lines = shown("-IS", "-c", FOLDER, name, program="/usr/bin/python3")[0].splitlines()
        equal(lines[0], f"{entries} True True", f"a directory of {entries} comes in the order of names, also read again")
    equal(lines[1:], ["1 4194304 0", "9"], "files that describe the machine are served, and can only be read")
else:
    skip("there is no /usr/bin/python3", "directories come in the order of names")

# ---- places of memory ----
native = subprocess.run([PLACES], stdout=subprocess.PIPE, text=True, check=True).stdout.split()
out, count, _ = shown("-", program=PLACES)
again, other_count, _ = shown("-", program=PLACES)
equal(native[2:12:4] + native[3:12:4], ["wrong"] * 3 + ["0"] * 3, "natively, memory keeps what was written to it")
equal(out.split()[2::4] + out.split()[3::4], ["wrong"] * 3 + ["0"] * 3, "memory whose place is chosen keeps what was written to it, in forks too")
equal(again, out, "its places are the same in each run")
equal(count, other_count, "and so are the counts")


# ---- what file systems, the process and its surroundings say ----
def files_of_manual():
    """The paths that tare-count(1) lists as served. A name is in the folder of the path before it, or in one that ends in a colon."""
    with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../docs/man/tare-count.1.scd"), encoding="utf-8") as file:
        listed = re.search(r"these files have the same text everywhere:(.*?)\n- ", file.read(), re.S)[1]
    paths, folder = [], "/"
    for name, behind in re.findall(r"_(/?[a-z][\w/-]*?)_([,;:.\s])", listed):
        path = os.path.join(folder, name)
        if behind != ":":
            paths.append(path)
        if name.startswith("/"):
            folder = path if behind == ":" else os.path.dirname(path)
    return paths


ATTRIBUTES = """import mmap, os, re, signal, sys
def attributes(st):
    return st.st_dev >> 28 > 0, st.st_ino >> 50 > 0, st.st_blksize, st.st_blocks
os.mkdir(sys.argv[1])
with open(sys.argv[1] + "/a", "w") as file:
    file.write("x" * 5000)
os.link(sys.argv[1] + "/a", sys.argv[1] + "/b")
os.symlink("a", sys.argv[1] + "/c")
a, b, c, d = (os.lstat(sys.argv[1] + end) for end in ("/a", "/b", "/c", ""))
print("file", *attributes(a), a.st_nlink, a.st_size)
print("link", *attributes(c), c.st_size)
print("folder", *attributes(d), d.st_nlink, d.st_size)
print("same file", os.path.samestat(a, b), os.path.samestat(a, d), os.path.samefile(sys.argv[1] + "/c", sys.argv[1] + "/b"))
print("entries", [(entry.name, entry.inode() == entry.stat(follow_symlinks=False).st_ino) for entry in os.scandir(sys.argv[1])])
print("parent", os.getppid(), os.kill(os.getppid(), 0))
print("ignored", [number for number in range(1, 64) if signal.getsignal(number) == signal.SIG_IGN])
maps = [line.split(maxsplit=5) for line in open("/proc/self/maps").read().splitlines()]
print("maps", {tuple(line[3:5]) for line in maps} <= {("00:00", "0"), ("00:01", "1")}, [line for line in maps if "tare" in line[-1] or "w" in line[1] and "x" in line[1]])
starts = [int(line[0].partition("-")[0], 16) for line in maps]
print("stack", any(line[-1] == "[stack]" for line in maps), starts == sorted(starts), open("/proc/%d/maps" % os.getpid()).read().count("[stack]"))
large = mmap.mmap(-1, 3 << 20)
print("auxv", open("/proc/self/auxv", "rb").read().hex())
print("boot", open("/proc/sys/kernel/random/boot_id").read().strip(), open("/proc/stat").read().count("cpu"))
print("uuid", re.fullmatch("[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-8[0-9a-f]{3}-[0-9a-f]{12}\\n", open("/proc/sys/kernel/random/uuid").read()) is not None)
for path in sys.argv[2:]:
    try:
        file = os.open(path, os.O_RDONLY)
        print("served" if "shown by tare" in os.readlink("/proc/self/fd/%d" % file) else "NOT SERVED", path)
    except OSError:
        print("absent", path)
print("release", os.uname().release)
try:
    print("terminal", *os.get_terminal_size(os.openpty()[1]))
except OSError:
    print("terminal", None)
try:
    os.getxattr(sys.argv[1], "user.none")
except OSError as error:
    print("attribute", error.errno)
"""
if os.path.exists("/usr/bin/python3"):
    listed = files_of_manual()
    out, count, _ = shown("-IS", "-c", ATTRIBUTES, "folder1", *listed, program="/usr/bin/python3")
    equal((len(listed), "NOT SERVED" in out), (25, False), "each file that tare-count(1) lists is served, where the machine has it")
    ok(out.count("\nserved /") > 10, "... and it has most of them", out)
    equal(line(out, "release"), "release 6.1.0", "the kernel's release is served")
    ok(line(out, "terminal") in ("terminal 80 24", "terminal None"), "a terminal, where one can be made, has 80 columns and 24 lines", out)
    equal(line(out, "file"), "file True True 4096 16 2 5000", "a file has blocks of 4096 bytes, and as many as its size takes")
    equal(line(out, "link"), "link True True 4096 0 1", "a symbolic link has none")
    equal(line(out, "folder"), "folder True True 4096 8 1 4096", "a directory has 4096 bytes and one link")
    equal(line(out, "same file"), "same file True False True", "files are the same ones that they are")
    equal(line(out, "entries"), "entries [('a', True), ('b', True), ('c', True)]", "a directory's entries have the numbers that stat gives")
    equal(line(out, "parent"), "parent 4194304 None", "the parent has the id 4194304, by which it can be sent signals")
    equal(line(out, "maps"), "maps True []", "/proc/self/maps has neither the engine nor numbers of devices and files")
    equal(line(out, "stack"), "stack True True 1", "... but the program's own mappings, by /proc/PID too")
    ok(re.search("00{14}$|(00){16}$", line(out, "auxv")) and "2100000000000000" not in line(out, "auxv")[:22], "/proc/self/auxv ends in AT_NULL, and names no vdso", out)
    equal(line(out, "boot"), "boot 00000000-7461-4265-8000-000000000000 2", "boot_id and /proc/stat are served")
    equal(line(out, "uuid"), "uuid True", "a uuid is one")
    equal(line(out, "attribute"), "attribute 61", "an extended attribute that is not there is ENODATA, whatever the file system has")

    # ---- other surroundings ----
    FIXED = {"PATH": "/usr/bin:/bin", "LC_ALL": "C", "PYTHONHASHSEED": "0", "TARE_CALIBRATION": "none", "TARE_STORE": "none"}
    COUNTED = ("count", "--on", "exact", "--reproducible", "--cpu", LEVEL, "-q", "-e", "instructions", "--csv", "-o", "-", "--program-output", "none", "--",
               "/usr/bin/python3", "-ISc", "import os; {str(i): i for i in range(200)}; os.listdir('/usr')")

    def surrounded(front=(), **more):
        seen = subprocess.run([*front, TARE, *COUNTED], env=FIXED, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True, check=False, **more)
        lines = [row.split(",") for row in seen.stdout.splitlines()]
        return lines[1][lines[0].index("value")] if len(lines) > 1 else seen.stdout

    def ignore_signals():
        for number in (signal.SIGINT, signal.SIGQUIT, signal.SIGPIPE, signal.SIGUSR1):
            signal.signal(number, signal.SIG_IGN)
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGUSR2})

    def other_limits():
        os.umask(0)
        for resource_of, soft in ((resource.RLIMIT_NOFILE, 100), (resource.RLIMIT_STACK, 4 << 20)):
            resource.setrlimit(resource_of, (soft, resource.getrlimit(resource_of)[1]))
        for descriptor in (11, 12):
            os.dup2(0, descriptor)

    plain = surrounded()
    ok(plain.isdigit(), "python is counted", plain)
    equal(surrounded(cwd="/"), plain, "in another working directory the count is the same")
    equal(surrounded(preexec_fn=ignore_signals), plain, "... where signals are ignored or blocked")
    equal(surrounded(preexec_fn=other_limits, close_fds=False), plain, "... with other limits, another umask, and more open files")
    equal(surrounded(("setarch", "-R") if shutil.which("setarch") else ()), plain, "... without address-space randomisation")
    equal(surrounded(("nice", "-n", "5")), plain, "... with less priority")
    if os.geteuid() == 0 and subprocess.run(["unshare", "-pfm", "--mount-proc", "true"], stderr=subprocess.DEVNULL, check=False).returncode == 0:
        equal(surrounded(("unshare", "-pfmu", "--mount-proc")), plain, "... with other process ids and mounts, in namespaces of its own")
    else:
        skip("no namespaces can be made here", "in namespaces of its own the count is the same")
    held = start("count", "--on", "exact", "--reproducible", "-q", "-e", "instructions", "/usr/bin/python3", "-ISc",
                 "import os; print(os.getpid(), flush=True); os.read(0, 1)", stdin=subprocess.PIPE)
    with open(f"/proc/{int(held.stdout.readline())}/maps", encoding="utf-8") as file:
        places = [([int(at, 16) for at in words[0].split("-")], words[1], " ".join(words[5:])) for words in (line.split() for line in file)]
    finish(held)
    caches = [place for place, how, name in places if how == "rwxp" and not name]
    code = [place for place, how, name in places if how == "r-xp" and "/libc" in name]
    ok(code and all(any(max(a + b) - min(a + b) < 1 << 31 for b in caches) for a in code),
       "the code cache is where it reaches the libraries' data", places)
    seen = tare("count", "--on", "exact", "--reproducible", "-v", "-e", "instructions", "/usr/bin/python3", "-ISc", "import os; os.getpid(); os.stat('/')")
    ok("looked at what other machines may answer otherwise: process or thread ids; attributes of files" in " ".join(seen.err.split()),
       "-v names what the program was given of this machine", seen)
else:
    skip("there is no /usr/bin/python3", "what file systems, the process and its surroundings say is served")

# ---- children ----
out, _, _ = shown("children")
again, _, _ = shown("children")
equal(again, out, "forks, threads and what they execute see the same in each run")
equal(set(found for found in out.splitlines() if found.startswith("cpuid 1.0")), {line(out, "cpuid 1.0")}, "all of them the same processor")
numbers = re.findall(r"thread ([0-9a-f]{16})", out) + line(out, "rdrand").split()[1:]
equal(len(set(numbers)), 5, "and none the other's random numbers")

# ---- what is the same here only is said to be ----
with open("/proc/cpuinfo", encoding="ascii", errors="replace") as file:
    avx = " avx " in next((line for line in file if line.startswith("flags")), "") + " "
if shutil.which("gcc") and avx:
    write("vex.c", 'int main(void) { __asm__ volatile("vzeroupper"); return 0; }\n')
    subprocess.run(["gcc", "-O1", "vex.c", "-o", "vex"], check=True)
    for level, said in (("x86-64-v2", True), ("host", False)):
        seen = tare("count", "--reproducible", "--cpu", level, "-e", "instructions:u", "./vex")
        ok(seen.code == 0 and ("uses registers that the processor shown to it lacks" in " ".join(seen.err.split())) == said,
           f"code for AVX, shown {level}: {'one run says' if said else 'no run says'} that counts may differ elsewhere", seen)
else:
    skip("no gcc, or no AVX here", "code for registers that the processor shown lacks is told")

# ---- what was asked for ----
seen = tare("count", "--cpu", "x86-64-v3", "true")
ok(seen.code == 2 and "needs --reproducible" in seen.err, "--cpu LEVEL needs --reproducible", seen)
seen = tare("count", "--reproducible", "--cpu", "x86-64-v9", "true")
ok(seen.code == 2 and "x86-64-v4 or host" in seen.err, "a level that there is not is refused, with those that there are", seen)
done()
