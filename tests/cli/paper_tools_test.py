"""perfex and run_p5mon: tare under the papers' own names, with their options (Zagha, Appendix C; Safford, chapters 4 and 5)."""
from cli import *

for name in ("perfex", "run_p5mon"):
    os.symlink(TARE, name)

# Of which each count is known: 1 + 1000 × 4 instructions, and 3 for the exit; 1000 loads and stores, and as many branches.
HELLO = """
        .globl _start
_start: mov $1000, %ebx
1:      mov word(%rip), %rax
        mov %rax, word(%rip)
        dec %ebx
        jnz 1b
        mov $60, %eax
        xor %edi, %edi
        syscall
        .bss
word:   .zero 8
"""
ran = subprocess.run(["cc", "-nostdlib", "-static", write("hello.S", HELLO), "-o", "hello"], capture_output=True, text=True)
ok(ran.returncode == 0, "a program of known counts is built", ran.stderr)


def tool(name, *arguments, **env):
    ran = subprocess.run([f"./{name}", *arguments], capture_output=True, text=True, env=environment(**env), timeout=TIME_OUT_S)
    return Done(ran.returncode, ran.stdout, ran.stderr)


def counts(text):
    """{name: (count, …)} of perfex's dotted lines"""
    seen = {}
    for name, count in re.findall(r"^(.*?)\.{5,} +(\S.*)$", text, re.M):
        seen.setdefault(name, []).append(count)
    return seen


# ---- the manual ----
for name in ("perfex", "run_p5mon"):
    with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), f"../../docs/man/{name}.1.scd"), encoding="utf-8") as file:
        listed = re.findall(r"^\*(-[a-zA-Z]+)", file.read().split("# OPTIONS")[1], re.M)
    helped = [option.replace("KEY", "") for option in re.findall(r"^  (-[a-zA-Z]+)", tool(name, "--help").out, re.M)]
    ok(len(helped) > 3 and set(helped) - {"-h"} == set(listed), f"{name}(1) has the options of '{name} --help'", (helped, listed))

# ---- perfex ----
ran = tool("perfex", "-e", "15", "-e", "19", "./hello", TARE_ON="exact")
equal(ran.code, 0, "perfex -e 15 -e 19: the program's own status")
equal(counts(ran.err), {"Graduated instructions": ["4004"], "Graduated stores": ["1000"]}, "... counts the two, under perfex's names")
equal(ran.out, "", "... and the report is on standard error")
ran = tool("perfex", "-e15", "./hello", TARE_ON="exact")
has(ran.err, "unknown option '-e15'", "perfex's values are words of their own")
ran = tool("perfex", "-o", "report", "-e", "18", "./hello", TARE_ON="exact")
equal((ran.err, counts(read("report"))), ("", {"Graduated loads": ["1000"]}), "perfex -o FILE writes the report there")
ran = tool("perfex", "-a", "./hello", TARE_ON="model:r10000")
seen = counts(ran.err)
equal(seen.get("Graduated instructions"), ["4004", "4004"], "perfex -a: all events, those of both counters twice")
ok(len(re.findall(r"^[^\n]*\.{5} ", ran.err, re.M)) == 32, "... 32 lines", ran.err)
has(seen.get("Cycles", [""])[0], "not counted: a timing event", "... cycles are not 0, but not counted, and why")
ran = tool("perfex", "./hello", TARE_ON="exact")
equal(list(counts(ran.err)), ["Cycles"], "without an event: cycles")
equal(len(counts(ran.err)["Cycles"]), 2, "... on both counters")
ran = tool("perfex", "./hello", TARE_ON="exact", T5_EVENT0="15", T5_EVENT1="18")
equal(counts(ran.err), {"Graduated instructions": ["4004"], "Graduated loads": ["1000"]}, "... but for what T5_EVENT0 and T5_EVENT1 say")
ran = tool("perfex", "-e", "17", "./hello", TARE_ON="exact", T5_EVENT0="18")
equal(counts(ran.err), {"Graduated instructions": ["4004"]}, "... which -e overrides")
ran = tool("perfex", "-k", "-e", "15", "./hello", TARE_ON="exact")
has(ran.err, "not counted: the engine counts user mode only, and both levels were asked for", "perfex -k asks for both levels")
for words, told in {
    ("-e", "15", "-e", "14", "./hello"): "conflicting counters",
    ("-e", "32", "./hello"): "perfex's events are 0 to 31, not 32",
    ("-e", "-1", "./hello"): "-1",
    ("-e", "15", "-e", "17", "-e", "18", "./hello"): "at most two events",
    ("-e",): "option '-e' needs a value",
    ("-a", "-e", "15", "./hello"): "choose -a or -e",
    ("-a", "-k", "./hello"): "choose events by -e with -k",
    ("-a",): "no command is given",
    ("-z", "./hello"): "unknown option '-z'",
    ("-p", "./hello"): "use 'tare count --per-process'",
    ("-c", "table", "./hello"): "-c goes with -y, -t or -T",
    ("-a", "-x", "./hello"): "choose events by -e with -k or -x",
    ("-t", "./hello"): "run no command",
    ("-y", "-c", "nowhere.costs", "-e", "15", "./hello"): "nowhere.costs",
    ("-y", "-c"): "option '-c' needs a value",
}.items():
    ran = tool("perfex", *words, TARE_ON="exact")
    ok(ran.code in (2, 3) and told in ran.err and ran.out == "", f"perfex {' '.join(words)}: {told}", ran)
has(tool("perfex", "--help").out, "usage: perfex", "perfex --help")

# costs: 2 ns an instruction, 10 to 20 a miss; what the table does not say is no 0
write("planted.costs", """[costs]
machine = planted
title = Planted
source = planted
clock_hz = 1000000000
[cost]
of = instruction
unit = ns
typical = 2
minimum = 1
maximum = 4
source = planted
[cost]
of = l2-hit
unit = ns
minimum = 10
maximum = 20
source = planted
""")
ran = tool("perfex", "-y", "-c", "planted.costs", "-e", "15", "-e", "19", "./hello", TARE_ON="exact")
ok(ran.code == 0, "perfex -y -c FILE", ran)
line = re.search(r"^Graduated instructions\.{5,} +4004 +(\S+) +(\S+) +(\S+)$", ran.err, re.M)
equal(line and line.groups(), ("0.000008", "0.000004", "0.000016"), "perfex -y: counts times costs, typical, minimum and maximum")
ok(re.search(r"^Graduated stores\.{5,} +1000 +- +- +-$", ran.err, re.M), "... an event without a cost has no time, not 0", ran.err)
has(ran.err, "\nCosts: Planted\n", "... and the report says whose costs they are")
has(ran.err, "Graduated instructions/cycle.................................... not known: 'Cycles' was not counted", "... a statistic that lacks a count says which")
ran = tool("perfex", "-a", "-y", "-c", "planted.costs", "./hello", TARE_ON="model:r10000")
ok(re.search(r"^Graduated loads/Issued loads\.{5,} not known: 'Issued loads' was not counted$", ran.err, re.M) and
   re.search(r"^L1 Data Cache Hit Rate\.{5,} +0\.99", ran.err, re.M), "... those of known counts are there", ran.err)
ran = tool("perfex", "-y", "-e", "15", "./hello", TARE_ON="model:r10000")
has(ran.err, "Costs: MIPS R10000, 195 MHz", "without -c, the costs of the modelled machine in data/costs")
ok(re.search(r"^Graduated instructions\.{5,} +4004 +- +0\.000005 +-$", ran.err, re.M), "... of which the paper prints one: four instructions a cycle at least", ran.err)
ran = tool("perfex", "-t", "-c", "planted.costs")
ok(ran.code == 0 and "of = l2-hit\nunit = ns\nminimum = 10\nmaximum = 20\nsource = planted\n" in ran.out and ran.err == "", "perfex -t prints the table", ran)
write("again.costs", ran.out)
equal(tool("perfex", "-t", "-c", "again.costs").out, ran.out, "... as a file that -c reads")
ran = tool("perfex", "-T", "-c", "planted.costs")
ok(ran.code == 0 and re.search(r"^15 Graduated instructions +2\.000 +1\.000 +4\.000$", ran.out, re.M) and
   re.search(r"^25 Primary data cache misses +- +10\.000 +20\.000$", ran.out, re.M), "perfex -T prints it by event", ran)
has(tool("perfex", "-T", TARE_ON="model:r12000").err, "r12000", "a machine without a table is named")
ran = tool("perfex", "-e", "15", "-e", "19", "./hello", TARE_ON="exact")
has(ran.err, "\nRatio: Graduated instructions / Graduated stores = 4.004000\n", "two events have a ratio")
ran = tool("perfex", "-x", "-e", "15", "./hello", TARE_ON="exact")
has(ran.err, "not counted: the engine counts user mode only, and both levels were asked for", "perfex -x: exceptions are at kernel level")

# ---- perfex -mp ----
write("two.c", """#include <pthread.h>
static void *work(void *n) { for (long i = (long)n; i; i--) __asm__ volatile("nop"); return n; }
int main(void) { pthread_t t; pthread_create(&t, 0, work, (void *)100000); pthread_join(t, 0); return 0; }
""")
subprocess.run(["cc", "-O1", "two.c", "-o", "two", "-pthread"], check=True)
ran = tool("perfex", "-mp", "-e", "15", "./two", TARE_ON="exact")
parts = re.findall(r"^(Thread \d+ of process \d+|All threads)\nGraduated instructions\.{5,} +(\d+)$", ran.err, re.M)
ok(len(parts) == 3 and parts[2][0] == "All threads", "perfex -mp: a listing for each thread, and one of all", ran.err)
ok(len(parts) == 3 and int(parts[0][1]) + int(parts[1][1]) == int(parts[2][1]) and 300000 <= int(parts[1][1]) < 310000, "... whose counts add up", parts)

# ---- perfex -s: page faults between the signals, by the kernel's counters ----
write("faults.c", """#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
static void touch(int pages) { char *p = mmap(0, (size_t)pages << 12, 3, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0); for (int i = 0; i < pages; i++) p[(size_t)i << 12] = 1; }
static void wait_for(const char *file) { while (access(file, F_OK) != 0) usleep(1000); }
int main(void)
{
	touch(5000);
	fclose(fopen("before", "w"));
	wait_for("on");
	touch(300);
	fclose(fopen("inside", "w"));
	wait_for("off");
	touch(5000);
	return 0;
}
""")
subprocess.run(["cc", "-O1", "faults.c", "-o", "faults"], check=True)
import fcntl
import signal
import struct
import termios
import time


def until(condition):
    for _ in range(20000):
        if condition():
            return True
        time.sleep(0.005)
    return False


def settled(pid, number):
    """Whether the signal's command was read and carried out: its handler has returned, the pipe that it writes to is empty, and the process waits."""
    def waits():
        status = read(f"/proc/{pid}/status")
        pending = [int(mask, 16) for mask in re.findall(r"^(?:SigPnd|ShdPnd):\t(\w+)$", status, re.M)]
        return "\nState:\tS" in status and not any(mask >> number - 1 & 1 for mask in pending)

    def empty(name):
        if not os.readlink(name).startswith("pipe:"):
            return True
        pipe = os.open(name, os.O_RDONLY | os.O_NONBLOCK)
        left = struct.unpack("i", fcntl.ioctl(pipe, termios.FIONREAD, b"\0" * 4))[0]
        os.close(pipe)
        return left == 0
    return waits() and all(empty(f"/proc/{pid}/fd/{fd}") for fd in os.listdir(f"/proc/{pid}/fd") if int(fd) > 2) and waits()


process = subprocess.Popen(["./perfex", "-s", "-o", "switched", "-e", "page-faults:u", "./faults"], env=environment(TARE_ON="perf"), stderr=subprocess.PIPE, text=True)
until(lambda: os.path.exists("before") or process.poll() is not None)
process.send_signal(signal.SIGUSR1)
until(lambda: process.poll() is not None or settled(process.pid, signal.SIGUSR1))  # the program waits for the file
write("on", "")
until(lambda: os.path.exists("inside") or process.poll() is not None)
process.send_signal(signal.SIGUSR2)
until(lambda: process.poll() is not None or settled(process.pid, signal.SIGUSR2))
write("off", "")
error = process.communicate(timeout=TIME_OUT_S)[1]
report = read("switched") if os.path.exists("switched") else ""
seen = re.search(r"^page-faults:u\.{5,} +(\d+)$", report, re.M)
ok(process.returncode == 0 and seen and 300 <= int(seen[1]) < 600, "perfex -s: the 300 pages between SIGUSR1 and SIGUSR2", report + error)
ran = tool("perfex", "-s", "-e", "15", "./hello", TARE_ON="exact")
ok(ran.code != 0 and "counts from begin to end" in ran.err, "perfex -s: the engine counts from begin to end, and the error says so", ran)


# ---- ssrun's experiments that are other commands here ----
for name, instead in (("totaltime", "tare explain --waits"), ("heap", "tare profile --by object"), ("io", "tare explain --calls"), ("fpe", "does not trace floating-point exceptions")):
    ran = tare("profile", "--exp", name, "./hello")
    ok(ran.code == 2 and instead in ran.err, f"--exp {name} says what does it instead", ran)
ran = tare("profile", "--exp", "nonsense", "./hello")
ok(ran.code == 2 and "it has usertime" in ran.err, "--exp nonsense names those that there are", ran)

# ---- run_p5mon ----
ran = tool("run_p5mon", TARE_ON="exact")
ok(ran.code != 0 and "cannot open './STD_PARMS': no such file" in ran.err and "-P FILE" in ran.err, "without a file of parameters the error names ./STD_PARMS", ran)
write("STD_PARMS", """# the thesis, Figure C.1
(p5mon
    command = hello;
    repetitions = 5;
    user_events = yes;
    kernel_events = no;
    instructions_executed = yes;
    data_write = yes;
    output_file = results;
end)
""")
ran = tool("run_p5mon", TARE_ON="exact")
equal(ran.code, 0, "run_p5mon reads ./STD_PARMS, and finds the command in the current directory")
has(ran.out, "\n parameter file: ./STD_PARMS\n", "the header has the file (Figure 4.2)")
has(ran.out, "Results (for 5 repetitions with a 95% confidence level):", "... how often (Figure 4.3)")
has(ran.out, "\n  Instructions Executed: 4004.0 +/- 0.0 (0.000%)\n", "... and each event's mean and interval")
has(read("results"), "0x16 -1 4004", "the parseable file has the summary line (Figure 4.7)")
equal(ran.err, "", "... and nothing is on standard error")
has(ran.out, "\nRatio: Data Write / Instructions Executed = 0.249750\n", "... two events have a ratio, as perfex's")
has_not(read("results"), "Ratio", "... but not in the parseable file")
with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "figure_c1.parms"), encoding="ascii") as file:
    sample = file.read()
kept = read("STD_PARMS")
write("STD_PARMS", sample)
ran = tool("run_p5mon", TARE_ON="model:pentium")
equal((ran.code, ran.err), (0, ""), "Figure C.1, the whole sample file, is read as printed: nothing is warned of, though it asks for each warning")
ok(re.fullmatch(r"(?:#.*\n)+0x3 -1 [\d.]+ [\d.]+ (?:[\d.]+|NaN)\n0x4 -1 [\d.]+ [\d.]+ (?:[\d.]+|NaN)\n", read("p5mon_output")), "its two events are in its file, p5mon_output, as in Figure 4.8", read("p5mon_output"))
write("STD_PARMS", kept)
ran = tool("run_p5mon", "-Frepetitions=2", "-F", "data_write=no", "-Fcommand=./hello", TARE_ON="exact")
has(ran.out, "Results (for 2 repetitions", "-FKEY=VALUE overrides the file, in one word or two")
has_not(ran.out, "Data Write", "... so that events can be left out")
has(ran.out, " arguments: -Frepetitions=2", "... and the header has them")
write("other", "(p5mon\ncommand = ./hello; instructions_executed = yes; end)\n")
has(tool("run_p5mon", "-Pother", TARE_ON="exact").out, "parameter file: other", "-P FILE, in one word")
has(tool("run_p5mon", STD_PARMS_FILE="other", TARE_ON="exact").out, "parameter file: other", "STD_PARMS_FILE names the default")
for words, text, told in [
    (("-X",), None, "unknown option '-X'"),
    (("./hello",), None, "the program to run is the parameter 'command'"),
    (("-P",), None, "needs a value"),
    ((), "\x00\xff(p5mon", "STD_PARMS"),
    ((), "(p5mon command = hello; nonsense = yes; end)", "nonsense"),
    ((), "(p5mon repetitions = -3; end)", "repetitions"),
    ((), "(p5mon command = nowhere_at_all; instructions_executed = yes; end)", "nowhere_at_all"),
]:
    if text is not None:
        write("STD_PARMS", text.encode("latin-1"))
    ran = tool("run_p5mon", *words, TARE_ON="exact")
    ok(ran.code != 0 and told in ran.err, f"run_p5mon {' '.join(words)} {ascii(text or '')}: {told}", ran)
has(tool("run_p5mon", "--help").out, "usage: run_p5mon", "run_p5mon --help")
for name in ("perfex", "run_p5mon"):
    ok(max(map(len, tool(name, "--help").out.splitlines())) <= 80, f"the help of {name} has lines of at most 80 columns")

# ---- run_p5mon's errata ----
# 1000 times: 4 bytes at 1 (a Pentium's misaligned access) read and written, 2 bytes at 1 (none) read, 8 bytes at 4 written
MISALIGNED = """
        .globl _start
_start: mov $1000, %ebx
1:      incl word+1(%rip)
        mov word+1(%rip), %ax
        mov %rcx, word+4(%rip)
        dec %ebx
        jnz 1b
        mov $60, %eax
        xor %edi, %edi
        syscall
        .bss
        .balign 64
word:   .zero 64
"""
ran = subprocess.run(["cc", "-nostdlib", "-static", write("misaligned.S", MISALIGNED), "-o", "misaligned"], capture_output=True, text=True)
ok(ran.returncode == 0, "a program of misaligned accesses is built", ran.stderr)
write("STD_PARMS", """(p5mon
 command = ./misaligned; skip_initialization_run = yes; output_file = numbers;
 data_read = yes; data_write = yes; misaligned_data_memory_or_IO_references = yes;
end)
""")
SAID = "Data Read and Data Write count a misaligned access twice, as the Pentium did (errata = yes)."
for words, reads, writes in (((), 2000, 2000), (("-Ferrata=no",), 2000, 2000), (("-Ferrata=yes",), 3000, 4000)):
    ran = tool("run_p5mon", *words, TARE_ON="exact")
    seen = dict(re.findall(r"^  (\w.*): ([\d.]+) ", ran.out, re.M))
    equal(seen, {"Data Read": f"{reads}.0", "Data Write": f"{writes}.0", "Misaligned Data Memory or I/O References": "3000.0"},
          f"run_p5mon {' '.join(words)}: misaligned reads and writes count {'twice' if reads == 3000 else 'once'}")
    equal((SAID in ran.out, "# " + SAID in read("numbers")), (reads == 3000,) * 2, "... and the report and the file say so where it is not what they are called")
ran = tare("count", "--on", "exact", "-e", "pentium-data-reads,pentium-data-writes", "--by", "function", "-o", "-", "./misaligned")
equal(re.findall(r"^ +([\d,]+)\(100.0%\).* _start", ran.out, re.M), ["3,000", "4,000"], "the erratum's events by function add up to their counts")
ok("a defect of tare" not in ran.out + ran.err, "... and are no defect", ran)
has(tool("run_p5mon", "-Ferrata=maybe").err, "errata", "errata is yes or no")
has(tool("run_p5mon", "--help").out, "-Ferrata=yes", "run_p5mon --help has the errata")
done()
