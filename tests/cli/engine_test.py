"""`tare count` by the engine: levels, processes, basic blocks, reproducible runs, and what is not the program's own."""
import json
import platform
import re
import struct

from cli import *

if platform.machine() != "x86_64":
    skip("the engine is for x86-64", "the command counts by the engine")
    done()


def count(fact, *arguments):
    seen = tare("count", "--on", "exact", "--json", "-o", "report.json", *arguments)
    ok(seen.code == 0, f"{fact}: exit code 0", seen)
    return json.loads(read("report.json")), seen


def table_of(path):
    """The file's lines by column; one empty line when there is none: the facts about it fail then, and the others are still looked at."""
    return [line.split("\t") for line in read(path).splitlines()] or [[""]]


def rows(report, event):
    return [row for row in report["results"] if row["event"] == event]


# ---- levels and sources ----
report, seen = count("an event without a level", "-e", "instructions", "sh", "-c", "echo out")
total = rows(report, "instructions:u")[0]
ok(total["value"] > 1000 and total["source"] == "exact" and total["level"] == "user",
   "what the engine counts is called the user level's", total)
equal(seen.out, "out\n", "the program's output is its own")
report, _ = count("both levels asked for", "-e", "instructions:uk", "true")
ok(report["results"][0]["value"] is None and "user" in report["results"][0]["why"], "they are refused with the reason", report)
report, _ = count("the clock", "-e", "instructions", "-e", "elapsed-time,peak-memory", "true")
for name in ("elapsed-time", "peak-memory"):
    row = rows(report, name)[0]
    ok(row["value"] is None and "the engine's own work" in row["why"], f"the engine's {name} is not the program's", row)
report, _ = count("the clock in runs of its own", "--several-runs", "-e", "instructions", "-e", "elapsed-time", "true")
ok(rows(report, "elapsed-time")[0]["value"] > 0 and report["passes"] == 2, "--several-runs adds a native execution", report)
seen = tare("count", "--on", "exact", "-e", "instructions", "sh", "-c", "exit 7")
equal(seen.code, 7, "the exit status is passed through")
seen = tare("count", "--on", "exact", "-e", "instructions", "sh", "-c", "kill -TERM $$")
equal(seen.code, 128 + 15, "so is a death by a signal")

# ---- processes ----
report, _ = count("children", "--per-process", "-e", "instructions", "sh", "-c", "/bin/true; /bin/true")
parts = rows(report, "instructions:u")
ok(len(parts) == 4 and all("pid" in part for part in parts[1:]), "each process has a row", parts)
equal(parts[0]["value"], sum(part["value"] for part in parts[1:]), "the rows add up to the total")
equal(len({part["pid"] for part in parts[1:]}), 3, "of three processes")
report, _ = count("no children", "--no-children", "-e", "instructions", "sh", "-c", "/bin/true; /bin/true")
equal(len(report["results"]), 1, "without children one row")
ok(report["results"][0]["value"] < parts[0]["value"], "and less in it")

# ---- basic blocks ----
report, _ = count("blocks", "--blocks", "blocks.tsv", "-e", "instructions,basic-blocks", "true")
table = table_of("blocks.tsv")
equal(table[0], ["module", "offset", "length_bytes", "instructions", "count"], "the columns have names")
equal(sum(int(row[3]) * int(row[4]) for row in table[1:]), rows(report, "instructions:u")[0]["value"],
      "blocks times their lengths are the instructions")
ok(any(row[0].endswith("/true") for row in table[1:]), "the program's own blocks are among them")
places = sorted((row[0], int(row[1], 16), int(row[2])) for row in table[1:])
ok(every(a[0] != b[0] or a[1] + a[2] <= b[1] for a, b in zip(places, places[1:]) if a[0].endswith("/true")),
   "blocks of the program do not overlap")
report, _ = count("blocks of processes", "--per-process", "--blocks", "blocks.tsv", "-e", "instructions", "sh", "-c", "/bin/true; :")
table = table_of("blocks.tsv")
equal(table[0][0], "pid", "with --per-process they say whose they are")
of_process = {}
for row in table[1:]:
    of_process[int(row[0])] = of_process.get(int(row[0]), 0) + int(row[-1]) * int(row[-2])
equal(of_process, {row["pid"]: row["value"] for row in rows(report, "instructions:u")[1:]}, "and add up to each")
seen = tare("count", "--on", "perf", "--blocks", "blocks.tsv", "-e", "page-faults", "true")
ok(seen.code == 3 and "no basic blocks" in seen.err and "page-faults" in seen.err,
   "without the engine there are none: said, with exit code 3, and the report is there", seen)
seen = tare("count", "--blocks", "/nowhere/blocks", "-e", "instructions", "true")
ok(seen.code == 3 and "/nowhere/blocks" in seen.err, "a file that cannot be written is an error before anything runs", seen)

# ---- system calls ----
report, _ = count("system calls", "--system-calls", "calls.tsv", "-e", "system-calls", "sh", "-c", "/bin/true; umask >/dev/null")
table = [line.split("\t") for line in read("calls.tsv").splitlines()]
equal(table[0], ["call", "count", "seconds"], "calls are named, counted and timed")
calls = {row[0]: int(row[1]) for row in table[1:]}
equal(sum(int(row[1]) for row in table[1:]), rows(report, "system-calls:u")[0]["value"], "system calls by name add up to all")
ok(calls.get("execve", 0) == 1 and calls.get("umask", 0) == 2, "each has its name and its count", calls)

times = {row[0]: float(row[2]) for row in table[1:] if row[2]}
ok("execve" not in times and "exit_group" not in times, "what does not come back has no time", table)
passed_on = {name for name in calls if not name.startswith("rt_sig")} - {"execve", "exit_group", "clone", "clone3", "fork", "vfork"}
ok(every(times.get(name, 0) > 0 for name in passed_on), "what the kernel answers has one", table)
equal(list(times.values()), sorted(times.values(), reverse=True), "the longest come first")

# ---- reproducible ----
values = set()
for size in (1, 1000):
    seen = tare("count", "--on", "exact", "--reproducible", "--json", "-o", "-", "-e", "instructions,loads,stores,branches",
                "ls", "/", env=environment(FILLER="x" * size))
    values.add(tuple(row["value"] for row in json.loads(re.search(r"^\{.*", seen.out, re.S | re.M).group(0))["results"]))
equal(len(values), 1, "with --reproducible the size of the environment does not matter")
for option in (["--blocks", "b"], ["--per-process"], ["--reproducible"]):
    seen = tare("count", *option, "-a", "--for", "0.1")
    ok(seen.code == 2 and option[0] in seen.err, f"{option[0]} is for programs that tare starts", seen)
# ---- lower bounds: a program that ends out of turn, or leaves a process behind ----
write("turns.S", """\
	.globl	_start
_start:	mov	$1000000, %ecx
1:	dec	%ecx
	jnz	1b
	mov	$57, %eax		# fork, in the second program
	.ifdef	LEAVES
	syscall
	test	%eax, %eax
	jnz	3f
	xor	%edi, %edi		# the child reads until the test closes the pipe: after tare has ended
	lea	-8(%rsp), %rsi
	mov	$1, %edx
	xor	%eax, %eax
	syscall
3:	mov	$60, %eax
	xor	%edi, %edi
	syscall
	.else
2:	mov	$39, %eax		# getpid; then it kills itself
	syscall
	mov	%eax, %edi
	mov	$9, %esi
	mov	$62, %eax
	syscall
	jmp	2b
	.endif
""")
EVENTS = "instructions,conditional-branches,conditional-taken,data-reads"
for name, flags, code, most in (("killed", (), 128 + 9, 2000016), ("leaves", ("-Wa,--defsym,LEAVES=1",), 0, 2000016)):
    if subprocess.run(["gcc", "-nostdlib", "-static", *flags, "-o", name, "turns.S"], check=False).returncode:
        skip("there is no assembler", f"{name}: lower bounds")
        continue
    process = start("count", "--on", "exact", "--json", "-o", "report.json", "-e", EVENTS, "./" + name, stdin=subprocess.PIPE,
                    stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    code_seen = process.wait(timeout=TIME_OUT_S)
    process.stdin.close()
    report = parsed(read("report.json"), name)
    equal(code_seen, code, f"{name}: the status is the program's own")
    row = {r["event"]: r for r in report["results"]}
    least = row["instructions:u"].get("at_least")
    if row["instructions:u"]["value"] is None:
        # an entry of a block that was not left stands for at most that block: a handful of instructions, of each thread
        ok(2000001 - 64 <= least <= most, f"{name}: at least so many instructions, and no more than there were", row)
        ok(1000000 - 64 <= row["conditional-branches:u"]["at_least"] <= 1000001, f"{name}: likewise branches", row)
        ok(999999 - 64 <= row["conditional-taken:u"]["at_least"] <= 1000000, f"{name}: likewise taken ones", row)
        ok("at_least" not in row["data-reads:u"], f"{name}: of what rep instructions add without end there is no bound", row)
        ok(row["instructions:u"]["why"].startswith("not exact: process"), f"{name}: with the reason", row)
    else:
        ok(2000001 <= row["instructions:u"]["value"] <= most, f"{name}: it was between two blocks, and is exact", row)

# ---- rows beside a process that is left behind: one that has begun, and one that a tracer stops before its first instruction ----
write("parts.S", """\
	.globl	_start
_start:	mov	$1000000, %ecx
1:	dec	%ecx
	jnz	1b
	sub	$16, %rsp
	mov	%rsp, %rdi
	mov	$22, %eax		# pipe
	syscall
	mov	$39, %eax		# getpid, which the test is told
	syscall
	mov	%eax, 8(%rsp)
	lea	8(%rsp), %rsi
	mov	$4, %edx
	mov	$1, %edi
	mov	$1, %eax
	syscall
	xor	%edi, %edi		# then it waits for the test
	mov	$1, %edx
	xor	%eax, %eax
	syscall
	mov	$57, %eax		# fork
	syscall
	test	%eax, %eax
	jnz	3f
	mov	4(%rsp), %edi		# the child tells its parent that it has begun
	mov	$1, %eax
	syscall
	xor	%edi, %edi		# and reads until the test closes the pipe: after tare has ended
	xor	%eax, %eax
	syscall
	jmp	4f
3:	.ifndef	STOPPED
	mov	(%rsp), %edi
	xor	%eax, %eax
	syscall
	.endif
4:	mov	$60, %eax
	xor	%edi, %edi
	syscall
""")
PARENT, STOPPED_LESS, CHILD_MOST = 2000001 + 4 + 8 + 4 + 4 + 3 + 3, 3, 8
SEIZE, CONTINUE, EVENT_MESSAGE, TRACE_FORK, FORKED, EXIT_KILL, ALL = 0x4206, 7, 0x4201, 2, 1, 0x100000, 0x40000000
libc = ctypes.CDLL(None, use_errno=True)
libc.ptrace.argtypes = [ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p]


def ends_traced(pid):
    """The process goes on, and ends; the child that it forks is stopped before its first instruction. That child."""
    child = ctypes.c_ulong(0)
    while True:
        _, status = os.waitpid(pid, ALL)
        if not os.WIFSTOPPED(status):
            return child.value
        if status >> 16 == FORKED:
            libc.ptrace(EVENT_MESSAGE, pid, None, ctypes.addressof(child))
        libc.ptrace(CONTINUE, pid, None, 0 if status >> 16 else os.WSTOPSIG(status))


for name, flags in (("begun", ()), ("stopped", ("-Wa,--defsym,STOPPED=1",))):
    if subprocess.run(["gcc", "-nostdlib", "-static", *flags, "-o", name, "parts.S"], check=False).returncode:
        skip("there is no assembler", f"{name}: rows beside what has not ended")
        continue
    for option, key in (("--per-process", "pid"), ("--per-thread", "tid")):
        process = start("count", "--on", "exact", option, "--json", "-o", "report.json", "-e", "instructions,data-reads", "./" + name,
                        stdin=subprocess.PIPE, stderr=subprocess.DEVNULL)
        pid = struct.unpack("i", process.stdout.read(4))[0]
        traced = name == "stopped" and libc.ptrace(SEIZE, pid, None, TRACE_FORK | EXIT_KILL) == 0
        process.stdin.write(b"g")
        process.stdin.flush()
        child = ends_traced(pid) if traced else 0
        process.wait(timeout=TIME_OUT_S)
        process.stdin.close()
        if child:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, ALL)
        report = parsed(read("report.json"), f"{name} {option}")
        whole, *parts = rows(report, "instructions:u")
        if name == "begun":
            equal(len({part[key] for part in parts}), 2, f"{option}: what has not ended has a row beside what has")
            equal([part["value"] for part in parts if part["pid"] == pid], [PARENT], f"{option}: what has ended is counted")
            left = next((part for part in parts if part["pid"] != pid), {"value": 0, "why": ""})
            least = left.get("at_least", 0)
            ok(left["value"] is None and least <= CHILD_MOST and "it still runs" in left["why"], f"{option}: of what has not it is said", left)
            equal((whole["value"], whole.get("at_least")), (None, PARENT + least), f"{option}: and at least so much took place in all")
            reads = [(part["value"] is None, "at_least" in part) for part in rows(report, "data-reads:u")]
            equal(reads, [(True, True), (False, False), (True, False)], f"{option}: likewise reads, of which what has not ended has no bound")
        elif not traced:
            skip("no process may be traced here", f"{option}: a process without a row is not in the rows' sum")
        else:
            equal([(part["pid"], part["value"]) for part in parts], [(pid, PARENT - STOPPED_LESS)], f"{option}: what has executed nothing yet has no row")
            ok(whole["value"] is None and whole.get("at_least") == PARENT - STOPPED_LESS and "it still runs" in whole["why"],
               f"{option}: the total is not called exact without it", whole)

# ---- memory that may not be swapped: the engine's counts to the limit ----
write("locks.c", """
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>
int main(void)
{
	if (getuid() == 0 && setuid(65534))
		return 1;
	return mlockall(MCL_CURRENT) != 0;
}
""")
FACT = "where the engine makes mlockall fail, the count is not exact and says so"
os.chmod(".", 0o755)
if subprocess.run(["gcc", "-o", "locks", "locks.c"], check=False).returncode or subprocess.run(["./locks"], check=False).returncode:
    skip("mlockall does not work here natively, or there is no compiler", FACT)
else:
    locks = tare("count", "--on", "exact", "--json", "-o", "locks.json", "-e", "instructions", "./locks")
    row = parsed(read("locks.json"), "mlockall")["results"][0]
    ok(locks.code == 0 or (row["value"] is None and "mlockall failed" in row["why"]), FACT, (locks, row))
done()
