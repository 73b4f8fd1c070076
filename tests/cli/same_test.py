"""`tare count --reproducible --cpu LEVEL`: what a program sees of the machine is the same in every run, and is not the machine."""
import json
import os
import re
import shutil
import subprocess
import sys

PROGRAMS = [os.path.abspath(path) for path in sys.argv[2:4]]
from cli import *

SHOWN, STATIC = PROGRAMS
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
