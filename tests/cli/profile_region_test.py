"""`tare profile --region PLACE --on exact|model`: counts of what is executed in places of a program, known by arithmetic."""
import ctypes
import platform
import shutil
import subprocess

from cli import *

FACT = "places of a region are counted"
if platform.machine() != "x86_64":
    skip("the engine is for x86-64", FACT)
    done()
if not shutil.which("gcc"):
    skip("no gcc here", FACT)
    done()
write("parts.s", """\
	.macro function name
	.globl \\name
	.type \\name, @function
\\name:
	.endm
	.macro end name
	.size \\name, . - \\name
	.endm

	function leaf           # edi = n: 2 n + 1, n stores of 8 bytes
1:	movq $1, (%rsi)
	dec %edi
	jnz 1b
	ret
	end leaf
	function helper         # 1 + 1 + leaf(7) + 1: 3, and 22
	mov $7, %edi
	call leaf
	ret
	end helper
	function inside         # 4, with calls 4 + 31 + 3 + 22
	mov $10, %edi
	call leaf               # 31
	call helper             # 25
	ret
	end inside
	function recurses       # edi = n: 5 n + 3, all levels
	test %edi, %edi
	jz 1f
	dec %edi
	call recurses
1:	ret
	end recurses
	function never
	ret
	end never
	function jumps          # 2, and does not return
	mov back(%rip), %rsp
	jmp *there(%rip)
	end jumps
	function copies         # 3; rep stosb: 1 instruction, 16 iterations
	mov $16, %ecx
	rep stosb
	ret
	end copies
	.globl main
	.type main, @function
main:
	push %rbx
	lea memory(%rip), %rsi
	mov $100, %edi
	call leaf               # outside: 301
	call inside             # entered once
	mov $3, %edi
	call leaf               # outside: 10
	call inside             # … twice
	call helper             # helper outside of inside
	mov $4, %edi
	call recurses           # 23
	mov %rsp, back(%rip)
	lea 1f(%rip), %rax
	mov %rax, there(%rip)
	call jumps              # … to 1, with main's stack
1:
	lea memory(%rip), %rdi
	call copies
	cmp $1, %r12d
	je never
	xor %eax, %eax
	pop %rbx
	ret
	.size main, . - main
	.bss
back:	.skip 8
there:	.skip 8
memory:	.skip 4096
	.section .note.GNU-stack, "", @progbits
""")
subprocess.run(["gcc", "-g", "-o", "parts", "parts.s"], check=True)
write("threads.c", """\
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>
#define APART __attribute__((noinline))
static char memory[64 * 4096];
APART void touch(int first, int n) { for (int i = first; i < first + n; i++) ((volatile char *)memory)[64 * i] = 1; }
APART void inner(int first) { touch(first, 5); __asm__ volatile(""); }
APART void outer(int first) { touch(first, 10); inner(first + 10); __asm__ volatile(""); }
static void *thread(void *data) { outer(100); touch(200, 40); return data; }
int main(void)
{
	pthread_t other;
	int status;
	touch(300, 30);
	outer(0);
	inner(50);
	pthread_create(&other, 0, thread, 0);
	pthread_join(other, 0);
	if (fork() == 0)
		outer(400), _exit(0);
	wait(&status);
	return 0;
}
""")
subprocess.run(["gcc", "-g", "-O1", "threads.c", "-o", "threads", "-pthread"], check=True)


def profiled(*arguments, program="./parts"):
    """(the report as data, its rows by function {name: counts}, notes)"""
    seen = tare("profile", "-o", "kept", *arguments, program)
    ok(seen.code == 0 and "ERROR" not in seen.err, f"{' '.join(arguments)} {program}: done", seen)
    report = json.loads(tare("report", "--format", "json", "kept").out) if seen.code == 0 else {"functions": [], "events": [], "notes": []}
    rows = {row["function"]: [c["self"] for c in row["counts"]] for row in report["functions"]}
    return report, rows, " ".join(report["notes"]), seen


def counted(region, events, on, program="./parts"):
    """What `tare count --region` has of it: it sums up blocks and the models' own counts of the region, not places."""
    seen = tare("count", "--json", "-o", "counted", "--on", on, "-e", events, "--region", region, program)
    return [e["value"] for e in parsed(read("counted"), f"count --region {region}")["regions"][0]["results"]]


number = next(n for n, text in enumerate(read("parts.s").splitlines(), 1) if text.startswith("1:\tmovq"))
LINES = f"parts.s:{number}-{number + 2}"
ONE = {"inside": {"inside": 8, "leaf": 106, "helper": 6}, "helper": {"helper": 9, "leaf": 66}, "recurses": {"recurses": 23},
       "leaf": {"leaf": 301 + 10 + 2 * (31 + 22) + 22}, "jumps": {"jumps": 2}, "copies": {"copies": 3}, LINES: {"leaf": 300 + 9 + 2 * (30 + 21) + 21}}
for region, functions in ONE.items():
    report, rows, notes, seen = profiled("--on", "exact", "--region", region)
    equal({name: counts[0] for name, counts in rows.items()}, functions, f"{region}: its functions have what is executed in it")
    equal([e["total"] for e in report["events"]], [sum(functions.values())], f"{region}: the total is the region's")
    has(notes, "what was executed elsewhere is left out: this is ", f"{region}: what is left out is said")
_, rows, notes, seen = profiled("--on", "exact", "--region", "inside", "--region", "recurses", "--region", "helper")
equal({name: counts[0] for name, counts in rows.items()}, {"inside": 8, "leaf": 128, "helper": 9, "recurses": 23}, "several regions, one in another: what is in any of them counts once")
has(notes, "inside: entered 2 times; recurses: entered once; helper: entered 3 times; ", "how often each was entered is said")
write("ends.c", "#include <unistd.h>\n__attribute__((noinline)) void ends(void) { _exit(0); }\nint main(void) { ends(); }\n")
subprocess.run(["gcc", "-g", "-O1", "ends.c", "-o", "ends"], check=True)
report, rows, notes, seen = profiled("--on", "exact", "--region", "ends", program="./ends")
has(notes, "ends: entered once and left 0 times (the program ended in it)", "that a pass did not end is said")
report, rows, notes, seen = profiled("--on", "exact", "--region", "never")
ok(seen.code == 0 and not rows and "never: never entered" in notes and [e["total"] for e in report["events"]] == [0], "a region that is never entered has nothing", seen)
_, rows, _, _ = profiled("--on", "exact", "-e", "instructions,stores,conditional-branches,taken-branches,rep-iterations", "--region", "inside", "--region", "copies")
equal(rows, {"inside": [8, 4, 0, 6, 0], "helper": [6, 2, 0, 4, 0], "leaf": [106, 34, 34, 34, 0], "copies": [3, 1, 0, 1, 16]}, "each event has its own counts")
report, rows, _, _ = profiled("--on", "exact", "--region", "inside")
lines = {row["line"]: row["counts"][0]["self"] for row in report["lines"]}
equal(sum(lines.values()), 120, "the lines have what is executed in it")

# Two runs are compared: which pages share a set of the TLB is not to be drawn anew for the second (ADDR_NO_RANDOMIZE).
ctypes.CDLL(None).personality(0x0040000)
for on, events, program, regions in (("exact", "instructions,loads,stores,calls,returns,taken-branches,data-read-bytes", "./threads", ("outer", "inner", "touch")),
                                     ("model:r12000", "l1d-misses,l2-misses,branch-misses,l1d-reads", "./threads", ("outer", "inner", "touch")),
                                     ("model:host", "l1d-misses,l1d-load-misses,l1i-misses,dtlb-misses,line-crossing-accesses", "./threads", ("outer", "inner")),
                                     ("model:r12000", "l1d-misses,branch-misses", "./parts", ("inside", "helper"))):
    for region in regions:
        report, rows, notes, seen = profiled("--on", on, "-e", events, "--region", region, program=program)
        places = [sum(counts[i] for counts in rows.values()) for i in range(len(report["events"]))]
        totals = [e["total"] for e in report["events"]]
        equal((places, totals), (totals, counted(region, events, on, program)), f"{on}: the places of {region} in {program} add up to its counts: {events}")
_, rows, notes, _ = profiled("--on", "exact", "-e", "stores", "--region", "outer", program="./threads")
equal(rows.get("touch"), [3 * 15], "threads and children are in a region that they enter")
has(notes, "outer: entered 3 times; ", "… and their entries are counted")
_, rows, _, _ = profiled("--on", "model:r12000", "-e", "l1d-misses", "-c", "1", "--region", "outer", program="./threads")
_, exact, _, _ = profiled("--on", "model:r12000", "-e", "l1d-misses", "--region", "outer", program="./threads")
equal(rows, exact, "a simulated counter with gap 1 has the samples of the region, each miss")

for arguments, message in ((["--on", "exact", "--begin", "inside", "./parts"], "--begin and --end are for samples, and 'exact' counts"), (["--on", "model:r12000", "-e", "l1d-misses", "--end", "inside", "./parts"], "are for samples"),
                           (["--on", "exact", "--region", "nosuch", "./parts"], "no function 'nosuch'"), (["--on", "exact", "-g", "--region", "inside", "./parts"], "there is no call graph of a region"),
                           (["--on", "exact", "--delay", "1", "./parts"], "--delay is for sampling, and 'exact' counts"), (["--on", "exact", "-F", "100", "./parts"], "-F is for sampling, and 'exact' counts"),
                           (["--on", "exact", "--redraw", "4", "./parts"], "--redraw is for sampling, and 'exact' counts"), (["--on", "exact", "--gaps", "jitter", "./parts"], "--gaps jitter is for sampling, and 'exact' counts")):
    seen = tare("profile", *arguments)
    ok(seen.code in (2, 3) and message in seen.err, f"refused: {' '.join(arguments)}", seen)
done()
