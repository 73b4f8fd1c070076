"""`tare profile -g --on exact`: calls, and what took place in them, of programs whose counts are known by arithmetic."""
import platform
import shutil
import subprocess

from cli import *

if platform.machine() != "x86_64":
    skip("the engine is for x86-64", "calls are counted")
    done()
if not shutil.which("gcc"):
    skip("no gcc here", "calls are counted")
    done()


def build(name, source, *flags, suffix="s", compiler="gcc"):
    write(f"{name}.{suffix}", source)
    subprocess.run([compiler, *flags, "-o", name, f"{name}.{suffix}"], check=True)


def profiled(name, on="exact", events=None, **env):
    seen = tare("profile", "--on", on, "-g", *(["-e", events] if events else []), "-o", "kept", "--", f"./{name}", env=environment(**env))
    ok(seen.code == 0, f"{name}: the program ends as it does by itself", seen)
    return json.loads(tare("report", "--format", "json", "kept").out)


def within(report, name):
    """The calls that stay in the program's own file: what the loader does differs by where things are in memory."""
    own = [(c["caller"], c["callee"], c["calls"], c["inclusive"]) for c in report.get("calls", []) if (c["caller_module"] or "").endswith("/" + name) and c["callee_module"].endswith("/" + name)]
    callers = {c["caller"] for c in report["calls"]}
    return sorted(c for c in own if c[1] not in callers and "+0x" not in c[0] + c[1])


def graph(name):
    """({function: (self, inclusive)}, {(caller, callee): (calls, inclusive)}, report) of a profile."""
    plain, report = profiled(name, TARE_CALLS_PLAIN="1"), profiled(name)
    equal(within(report, name), within(plain, name), f"{name}: the quick way and the plain way have the same graph")
    functions, calls = {}, {}
    for row in report["functions"]:
        functions[row["function"]] = (row["counts"][0]["self"], row["counts"][0]["inclusive"])
    for arc in report.get("calls", []):
        before = calls.get((arc["caller"], arc["callee"]), (0, 0))
        calls[(arc["caller"], arc["callee"])] = (before[0] + arc["calls"], before[1] + arc["inclusive"][0])
    # code that has no symbol and no unwind table is in no function: no arc leads to each of its places
    called = {callee for _, callee in calls}
    less = [f for f, (own, all_) in functions.items() if all_ < own or (f not in called and not re.search(r"\+0x[0-9a-f]+$", f))]
    equal((report["notes"], less), ([], []), f"{name}: the arcs add up to the count, and no function has less with its calls than by itself")
    return functions, calls, report


def counts_in_calls(report, caller, callee):
    """(calls, {event: inclusive})"""
    found = [c for c in report["calls"] if (c["caller"], c["callee"]) == (caller, callee)]
    events = [e["event"].removesuffix(":u") for e in report["events"]]
    return sum(c["calls"] for c in found), {e: sum(c["inclusive"][i] for c in found) for i, e in enumerate(events)}


def with_events(name, *events, on="exact"):
    """The report of a profile of these events: their arcs add up."""
    report = profiled(name, on, ",".join(events))
    totals = [[e["total"], sum(c["inclusive"][i] for c in report["calls"] if c["caller"] is None)] for i, e in enumerate(report["events"] if "calls" in report else [])]
    equal((report["notes"], [total for total in totals if total[0] != total[1]], len(totals)), ([], [], len(events)), f"{name}: the calls have all of {', '.join(events)}")
    return report


# ---- by arithmetic ----
build("steps", """\
	.macro function name
	.globl \\name
	.type \\name, @function
\\name:
	.endm
	.macro end name
	.size \\name, . - \\name
	.endm

	function c              # 10
	mov $4, %ecx            # 1
1:	dec %ecx                # 4
	jnz 1b                  # 4
	ret                     # 1
	end c
	function b              # 3
	nop
	nop
	ret
	end b
	function a              # 42, with calls 102
	mov $10, %ebx           # 1
1:	call b                  # 10 (and 30 in b)
	dec %ebx                # 10
	jnz 1b                  # 10
	mov $3, %ebx            # 1
2:	call c                  # 3 (and 30 in c)
	dec %ebx                # 3
	jnz 2b                  # 3
	ret                     # 1
	end a
	function recursion      # edi = 5: 5 times 5, then 3
	test %edi, %edi
	jz 1f
	dec %edi
	call recursion
1:	ret
	end recursion
	function even           # edi = 4: 5 + 5 + 3
	test %edi, %edi
	jz 1f
	dec %edi
	call odd
1:	ret
	end even
	function odd            # 5 + 5
	test %edi, %edi
	jz 1f
	dec %edi
	call even
1:	ret
	end odd
	function tail           # 2
	nop
	jmp tail_of
	end tail
	function tail_of        # 3
	test %edi, %edi
	jz tail_if
	ud2
	end tail_of
	function tail_if        # 2
	mov $7, %edx
	ret
	end tail_if
	function loops          # 2 + 2 + 3 * 3 + 1: jumps that stay inside are no calls
	mov $3, %ecx
	jmp 2f
1:	dec %ecx
2:	test %ecx, %ecx
	jnz 1b
	ret
	end loops
	function part           # leaves to its cold part and comes back: 4
	nop
	jmp part_cold
1:	nop
	ret
	end part
	function part_cold      # 2
	nop
	jmp 1b
	end part_cold
	function jumps          # a longjmp over two frames: 3 + 4
	lea 1f(%rip), %r13
	mov %rsp, %r12
	call over
1:	nop
	nop
	nop
	ret
	end jumps
	function over           # 1
	call over_all
	ud2
	end over
	function over_all       # 2
	mov %r12, %rsp
	jmp *%r13
	end over_all
	function runs_on        # 2, and runs on into the next
	nop
	nop
	end runs_on
	function reached        # 2
	nop
	ret
	end reached
	function place          # 3: a call that only learns its address
	call 1f
1:	pop %rax
	ret
	end place
	function pushes         # 3: a return that is a jump
	lea pushed(%rip), %rax
	push %rax
	ret
	end pushes
	function pushed         # 1
	ret
	end pushed
	function into           # 1, and what it calls at other places of it
	call inner_label
	ret
	end into
	function inner          # 2, entered in its middle
	nop
inner_label:
	nop
	ret
	end inner
	function _start         # 19
	mov $5, %edi
	call a
	call recursion
	mov $4, %edi
	call even
	xor %edi, %edi
	call tail
	call loops
	call part
	call jumps
	call place
	call pushes
	call runs_on
	call into
	lea b(%rip), %rax
	call *%rax
	mov $60, %eax
	xor %edi, %edi
	syscall
	end _start
""", "-nostdlib", "-static")
functions, calls, report = graph("steps")
for name, (own, inclusive) in {"a": (42, 102), "b": (33, 33), "c": (30, 30), "recursion": (28, 28), "even": (13, 23), "odd": (10, 18), "tail": (2, 6), "tail_of": (2, 4),
                               "tail_if": (2, 2), "loops": (14, 14), "part": (4, 6), "part_cold": (2, 2), "jumps": (7, 10), "over": (1, 3), "over_all": (2, 2), "place": (3, 3), "runs_on": (2, 4), "reached": (2, 2),
                               "pushes": (3, 4), "pushed": (1, 1), "into": (2, 4), "inner": (2, 2)}.items():
    equal(functions.get(name), (own, inclusive), f"{name}: its own instructions, and with its calls")
total = report["events"][0]["total"]
equal(functions["_start"], (19, total), "the program's first function has all")
equal(calls, {(None, "_start"): (1, total), ("_start", "a"): (1, 102), ("a", "b"): (10, 30), ("a", "c"): (3, 30), ("_start", "recursion"): (1, 28), ("recursion", "recursion"): (5, 0),
              ("_start", "even"): (1, 23), ("even", "odd"): (2, 18), ("odd", "even"): (2, 0), ("_start", "tail"): (1, 6), ("tail", "tail_of"): (1, 4), ("tail_of", "tail_if"): (1, 2),
              ("_start", "loops"): (1, 14), ("_start", "part"): (1, 6), ("part", "part_cold"): (1, 2), ("_start", "jumps"): (1, 10), ("jumps", "over"): (1, 3), ("over", "over_all"): (1, 2),
              ("_start", "place"): (1, 3), ("_start", "runs_on"): (1, 4), ("runs_on", "reached"): (1, 2), ("_start", "pushes"): (1, 4), ("pushes", "pushed"): (1, 1), ("_start", "into"): (1, 4), ("into", "inner"): (1, 2), ("_start", "b"): (1, 3)},
      "every arc has its calls and its count: of a recursion the outermost call has it")
plain = json.loads(tare("profile", "--on", "exact", "-o", "kept", "./steps") and tare("report", "--format", "json", "kept").out)
equal({row["function"]: row["counts"][0]["self"] for row in plain["functions"] if row["counts"][0]["self"]},
      {name: own for name, (own, _) in functions.items() if own}, "the functions' own counts are the same without the call graph")
ok("calls" not in plain, "which is not there unless it is asked for")

# ---- conditional branches out of a function; more records than a buffer holds, which ends behind each of them ----
build("leaves", """\
	.macro function name
	.globl \\name
	.type \\name, @function
\\name:
	.endm
	.macro end name
	.size \\name, . - \\name
	.endm
	function work           # 7 the half of times, through its cold part and back; else 5
	test $1, %bl
	jnz work_cold
	nop
	nop
1:	ret
2:	test $3, %bl
	jz work                 # within itself, never
	jo over                 # never
	jmp 1b
	end work
	function work_cold      # 2
	nop
	jmp 2b
	end work_cold
	function over           # a conditional tail call, the half of times: 2, else 5
	test $2, %bl
	jnz tail
	dec %ebx
	inc %ebx
	ret
	end over
	function tail           # 2
	nop
	ret
	end tail
	function _start
	mov $40000, %ebx
1:	call work
	call over
	dec %ebx
	jnz 1b
	mov $60, %eax
	xor %edi, %edi
	syscall
	end _start
""", "-nostdlib", "-static")
functions, calls, report = graph("leaves")
equal(functions, {"_start": (160004, 620004), "work": (240000, 280000), "work_cold": (40000, 40000), "over": (140000, 180000), "tail": (40000, 40000)},
      "functions that conditional branches leave have what they execute")
equal(calls, {(None, "_start"): (1, 620004), ("_start", "work"): (40000, 280000), ("work", "work_cold"): (20000, 40000), ("_start", "over"): (40000, 180000), ("over", "tail"): (20000, 40000)},
      "each way out of them is a call, and none that stays is")

# ---- every event ----
build("counts", """\
	.macro function name
	.globl \\name
	.type \\name, @function
\\name:
	.endm
	.macro end name
	.size \\name, . - \\name
	.endm
	.bss
	.balign 4096
from:	.skip 1 << 16
to:	.skip 1 << 16
	.text
	function reads          # 2 loads of 4 and 8 bytes, ret: 8
	mov from(%rip), %eax
	mov from+64(%rip), %rax
	ret
	end reads
	function writes         # stores of 1 and 16 bytes, an addition to memory: 4 and 4; ret
	mov %al, to(%rip)
	movups %xmm0, to+64(%rip)
	addl $1, to+128(%rip)
	ret
	end writes
	function branches       # 10 conditional, 7 of them taken; a jump
	mov $5, %ecx
1:	dec %ecx
	jnz 1b                  # 4 of 5
	test %ecx, %ecx
	jz 2f                   # taken
	nop
2:	jnz 3f                  # not
	nop
3:	jz 4f                   # taken
	nop
4:	jrcxz 5f                # taken
	nop
5:	js 6f                   # not
	nop
6:	jmp 7f
7:	ret
	end branches
	function copies         # 100 words of 8 bytes up; 50 bytes down; 30 stored; none
	lea from(%rip), %rsi
	lea to(%rip), %rdi
	mov $100, %ecx
	rep movsq
	lea from+100(%rip), %rsi
	lea to+100(%rip), %rdi
	mov $50, %ecx
	std
	rep movsb
	cld
	mov $30, %ecx
	lea to(%rip), %rdi
	rep stosl
	rep stosl               # ecx is 0
	ret
	end copies
	function calculates     # 1 scalar double, 4 singles, a division
	addsd %xmm0, %xmm1
	mulps %xmm0, %xmm1
	divsd %xmm2, %xmm3
	ret
	end calculates
	function both           # calls reads twice, writes once
	call reads
	call reads
	call writes
	ret
	end both
	function tails          # 3 conditional, 2 taken, the last one into branches
	mov $2, %ecx
1:	dec %ecx
	jnz 1b
	jz branches
	ud2
	end tails
	function _start
	call both
	call both
	call branches
	call copies
	call calculates
	call tails
	mov $60, %eax
	xor %edi, %edi
	syscall
	end _start
""", "-nostdlib", "-static")
report = with_events("counts", "loads", "stores", "data-reads", "data-writes", "data-read-bytes", "data-write-bytes", "memory-instructions")
for caller, callee, calls, loads, stores, reads, writes, read_bytes, write_bytes, memory in (
        ("both", "reads", 4, 12, 0, 12, 0, 80, 0, 12),
        ("both", "writes", 2, 4, 6, 4, 6, 24, 42, 8),
        ("_start", "both", 2, 18, 12, 18, 12, 120, 90, 28),  # a call stores 8 bytes, a return loads them
        ("_start", "copies", 1, 3, 4, 151, 180, 858, 970, 5)):
    equal(counts_in_calls(report, caller, callee),
          (calls, {"loads": loads, "stores": stores, "data-reads": reads, "data-writes": writes, "data-read-bytes": read_bytes, "data-write-bytes": write_bytes, "memory-instructions": memory}),
          f"{caller} calls {callee}: accesses and bytes")
report = with_events("counts", "branches", "conditional-branches", "conditional-taken", "conditional-not-taken", "taken-branches", "rep-iterations", "fp-operations", "fp-divides")
for caller, callee, calls, branches, conditional, taken, iterations, operations, divides in (
        ("_start", "branches", 1, 12, 10, 7, 0, 0, 0),
        ("_start", "tails", 1, 15, 13, 9, 0, 0, 0),
        ("tails", "branches", 1, 12, 10, 7, 0, 0, 0),
        ("_start", "copies", 1, 1, 0, 0, 180, 0, 0),
        ("_start", "calculates", 1, 1, 0, 0, 0, 6, 1)):
    equal(counts_in_calls(report, caller, callee),
          (calls, {"branches": branches, "conditional-branches": conditional, "conditional-taken": taken, "conditional-not-taken": conditional - taken,
                   "taken-branches": branches - conditional + taken, "rep-iterations": iterations, "fp-operations": operations, "fp-divides": divides}), f"{caller} calls {callee}: branches, iterations and operations")
for events, why in (("instructions,basic-blocks", "basic-blocks are known when the program has ended"), ("instructions,code-lines", None),
                    (",".join(["loads", "stores", "branches", "calls", "returns", "nops", "instructions", "fences", "gathers"]), "for 8 events at most, and 9 are asked for")):
    report = profiled("counts", events=events)
    if why:
        ok(report.get("calls", []) == [] and any("no call graph" in note and why in note for note in report["notes"]), f"{events}: no call graph, and why", report["notes"])
    else:
        equal([c["inclusive"] for c in report["calls"] if c["callee"] == "_start"], [[report["events"][0]["total"], 0]], "an event without places has no calls, and leaves the others theirs")

build("jump", """\
	.globl _start
	.type _start, @function
_start:	test %eax, %eax
	jz 1f
1:	mov $60, %eax
	xor %edi, %edi
	syscall
	.size _start, . - _start
""".replace("1f\n1:", "next\nnext:"), "-nostdlib", "-static")
report = profiled("jump", events="conditional-taken")
ok(report.get("calls", []) == [] and any("leads to the next instruction whether it is taken or not" in note for note in report["notes"]), "where a branch went is not known of one to the next instruction, which is said", report["notes"])

# ---- what models count ----
build("touches", """\
	.macro function name
	.globl \\name
	.type \\name, @function
\\name:
	.endm
	.macro end name
	.size \\name, . - \\name
	.endm
	.bss
	.balign 65536
memory:	.skip 1 << 20
	.skip 12288             # in sets that touch() does not touch
stack:
	.text
	function touch          # 64 lines of 32 bytes from rdi on
	mov $64, %ecx
1:	mov (%rdi), %al
	add $32, %rdi
	dec %ecx
	jnz 1b
	ret
	end touch
	function cold           # 256 lines that nothing has touched: all miss
	lea memory(%rip), %rdi
	call touch
	call touch
	call touch
	call touch
	ret
	end cold
	function warm           # 64 of them again: none misses
	lea memory(%rip), %rdi
	call touch
	ret
	end warm
	function recurses       # 64 other lines at each of 4 levels
	call touch
	dec %esi
	jz 1f
	call recurses
1:	ret
	end recurses
	function _start
	lea stack(%rip), %rsp
	call cold
	call warm
	mov $4, %esi
	lea memory+(1 << 19)(%rip), %rdi
	call recurses
	mov $60, %eax
	xor %edi, %edi
	syscall
	end _start
""", "-nostdlib", "-static")
EVENTS = ("l1d-misses", "l1d-load-misses", "l1d-loads", "branch-misses", "instructions")
report = with_events("touches", *EVENTS, on="model:r12000")
for caller, callee, calls, misses in (("_start", "cold", 1, 256), ("cold", "touch", 4, 256), ("_start", "warm", 1, 0), ("warm", "touch", 1, 0), ("_start", "recurses", 1, 256), ("recurses", "touch", 4, 256), ("recurses", "recurses", 3, 0)):
    seen = counts_in_calls(report, caller, callee)
    equal((seen[0], seen[1]["l1d-load-misses"]), (calls, misses), f"{caller} calls {callee}: misses in the calls")
equal(counts_in_calls(report, "warm", "touch")[1]["l1d-loads"], 65, "accesses to the cache in the calls")
counted = json.loads(tare("count", "--on", "model:r12000", "-e", ",".join(EVENTS), "--json", "-o", "counted", "./touches") and read("counted"))
equal({e["event"]: e["total"] for e in report["events"]}, {r["event"]: r["value"] for r in counted["results"]}, "the models count the same with the call graph and without it")

# ---- what leaves functions, and what comes between ----
WORK = r"""
__attribute__((noinline, naked)) static void hundred(void) { __asm__("mov $49, %ecx\n1: dec %ecx\njnz 1b\nret"); }
"""  # 1 + 98 + 1
if not shutil.which("g++"):
    skip("no g++ here", "exceptions end functions")
else:
    build("throws", """\
#include <setjmp.h>
#include <stdio.h>
extern "C" {""" + WORK + """
__attribute__((noinline)) void throws(int depth) { hundred(); if (depth) { throws(depth - 1); hundred(); } else throw 7; }
__attribute__((noinline)) void after(void) { hundred(); hundred(); }
__attribute__((noinline)) void catches(void) { try { throws(5); } catch (int) { after(); } }
jmp_buf where;
__attribute__((noinline)) void leaves(int depth) { hundred(); if (depth) { leaves(depth - 1); hundred(); } else longjmp(where, 1); }
__attribute__((noinline)) void back(void) { hundred(); hundred(); hundred(); }
__attribute__((noinline)) void sets(void) { if (!setjmp(where)) leaves(5); else back(); }
}
int main(void) { for (int i = 0; i < 10; i++) { catches(); sets(); } return 0; }
""", "-O1", "-fno-inline", suffix="cc", compiler="g++")
    functions, calls, report = graph("throws")
    equal((calls[("main", "catches")][0], calls[("catches", "throws")][0], calls[("throws", "throws")][0]), (10, 10, 50), "calls are counted, whatever ends them")
    equal(calls.get(("catches", "after")), (10, 10 * (200 + functions["after"][0] // 10)), "what runs behind a catch is called by the function that catches")
    equal(calls.get(("sets", "back")), (10, 10 * (300 + functions["back"][0] // 10)), "what runs behind a setjmp that returned twice is called by its function")
    ok(calls[("sets", "leaves")][1] < functions["sets"][1] - calls[("sets", "back")][1], "and is not in the function that was left", (functions, calls))
    equal({key[0] for key in calls if key[1] in ("after", "back")}, {"catches", "sets"}, "nothing else calls them")

build("signals", """\
#define _GNU_SOURCE
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>
""" + WORK + """
__attribute__((noinline)) void handler(int s) { (void)s; hundred(); }
__attribute__((noinline)) void raises(void) { kill(getpid(), SIGUSR1); hundred(); }
__attribute__((noinline)) void raises_too(void) { kill(getpid(), SIGUSR2); hundred(); }
int main(void)
{
	static char stack[65536];
	stack_t own = {.ss_sp = stack, .ss_size = sizeof stack};
	struct sigaction action = {.sa_handler = handler};
	sigaction(SIGUSR1, &action, 0);
	action.sa_flags = SA_ONSTACK;
	sigaltstack(&own, 0);
	sigaction(SIGUSR2, &action, 0);
	for (int i = 0; i < 10; i++)
		raises(), raises_too();
	return 0;
}
""", "-O1", suffix="c")
functions, calls, report = graph("signals")
equal(sum(n for (caller, callee), (n, _) in calls.items() if callee == "handler"), 20, "a handler is called once a signal, on either stack")
equal((calls[("raises", "hundred")], calls[("raises_too", "hundred")], calls[("handler", "hundred")]), ((10, 1000), (10, 1000), (20, 2000)), "and what was interrupted goes on in its own frames")
ok(functions["raises"][1] > 2000 and functions["raises_too"][1] > 2000, "the handler is in what it interrupted", functions)

build("threads", """\
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>
""" + WORK + """
__attribute__((noinline)) void part(void) { for (int i = 0; i < 1000; i++) hundred(); }
__attribute__((noinline)) void *thread(void *p) { part(); return p; }
__attribute__((noinline)) void in_child(void) { part(); }
int main(void)
{
	pthread_t t[4];
	for (int i = 0; i < 4; i++)
		pthread_create(&t[i], 0, thread, 0);
	for (int i = 0; i < 4; i++)
		pthread_join(t[i], 0);
	pid_t child = fork();
	if (!child) {
		in_child();
		_exit(0);
	}
	waitpid(child, 0, 0);
	if (!(child = vfork()))
		_exit(0);
	waitpid(child, 0, 0);
	return 0;
}
""", "-O1", "-pthread", suffix="c")
functions, calls, report = graph("threads")
equal((calls[("thread", "part")][0], calls[("in_child", "part")][0], calls[("part", "hundred")]), (4, 1, (5000, 500000)), "threads and a forked child have their own frames")
equal(functions["thread"][1], functions["thread"][0] + calls[("thread", "part")][1], "which add up")
ok(functions["main"][1] < 300000, "main has what it called, in its thread and in the child that it goes on in", functions["main"])

build("alone", """\
#include <sys/wait.h>
#include <unistd.h>
""" + WORK + """
int main(void)
{
	pid_t child = vfork();
	if (!child) {
		hundred();
		_exit(0);
	}
	waitpid(child, 0, 0);
	if (!fork()) {
		hundred();
		_exit(0);
	}
	wait(0);
	hundred();
	return 0;
}
""", "-O1", suffix="c")
for option, times in (("--no-children", 1), (None, 3)):
    tare("profile", "--on", "exact", "-g", "-o", "kept", *([option] if option else []), "--", "./alone")
    report = json.loads(tare("report", "--format", "json", "kept").out)
    equal(([arc["inclusive"] for arc in report.get("calls", []) if (arc["caller"], arc["callee"]) == ("main", "hundred")], report["notes"]),
          ([[100]] * times, []), "the calls of children are left out with them, of a vfork's and of a fork's" if option else "and are counted with them")

build("coroutines", """\
#include <ucontext.h>
""" + WORK + """
static ucontext_t home, one, two;
static char stacks[2][65536];
__attribute__((noinline)) void give(ucontext_t *from, ucontext_t *to) { hundred(); swapcontext(from, to); hundred(); }
__attribute__((noinline)) void deep(ucontext_t *from, ucontext_t *to) { give(from, to); hundred(); }
__attribute__((noinline)) void first(void) { for (int i = 0; i < 100; i++) deep(&one, &two); }
__attribute__((noinline)) void second(void) { for (int i = 0; i < 100; i++) deep(&two, &home); }
int main(void)
{
	ucontext_t *all[] = {&one, &two};
	void (*start[])(void) = {first, second};
	for (int i = 0; i < 2; i++) {
		getcontext(all[i]);
		all[i]->uc_stack.ss_sp = stacks[i];
		all[i]->uc_stack.ss_size = sizeof stacks[i];
		all[i]->uc_link = &home;
		makecontext(all[i], start[i], 0);
	}
	for (int i = 0; i < 50; i++)
		swapcontext(&home, i % 2 ? &two : &one);
	return 0;
}
""", "-O1", "-fno-inline", suffix="c")
functions, calls, report = graph("coroutines")
hundreds = {caller: n for (caller, callee), (n, _) in calls.items() if callee == "hundred"}
equal(functions["deep"][1] + functions["first"][0] + functions["second"][0], functions["first"][1] + functions["second"][1], "each coroutine has what ran on its own stack")
ok(functions["main"][1] < 50000 and ("main", "first") not in calls, "and none of it is in the function that switched to it", (functions["main"], calls))
equal({key[0] for key in calls if key[1] in ("deep",)}, {"first", "second"}, "coroutines call what they call")

write("library.c", WORK + "void work(void) { for (int i = 0; i < 10; i++) hundred(); }\n")
subprocess.run(["gcc", "-O1", "-shared", "-fPIC", "-o", "library.so", "library.c"], check=True)
build("loads", """\
#include <dlfcn.h>
int main(void)
{
	for (int i = 0; i < 3; i++) {
		void *library = dlopen("./library.so", RTLD_NOW);
		void (*work)(void) = (void (*)(void))dlsym(library, "work");
		work();
		dlclose(library);
	}
	return 0;
}
""", "-O1", suffix="c")
functions, calls, report = graph("loads")
equal((calls[("main", "work")][0], calls[("work", "hundred")]), (3, (30, 3000)), "a library that is loaded and unloaded three times is called three times")
equal([n for (caller, _), n in calls.items() if caller is None], [(1, report["events"][0]["total"])], "a program begins once, in the loader, with all that follows")

write("callee.c", "int callee(int n) { return n + 1; }\n")
subprocess.run(["gcc", "-O1", "-shared", "-fPIC", "-o", "libcallee.so", "callee.c"], check=True)
for binding in ("lazy", "now"):
    build(binding, "int callee(int); int main(void) { int n = 0; for (int i = 0; i < 10; i++) n = callee(n); return n - 10; }\n", "-O1", f"-Wl,-z,{binding}", "-Wl,--no-as-needed", "./libcallee.so", suffix="c")
    functions, calls, report = graph(binding)
    equal(calls.get(("main", "callee")), (10, 20), f"{binding}: a call by way of the linkage table is a call of the function")
    equal({key[0] for key in calls if key[1] == "callee"}, {"main"}, f"{binding}: whoever found it")

# ---- other events, where functions are left and come back ----
build("faults", """\
#define _GNU_SOURCE
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
""" + WORK + """
static char *page;
__attribute__((noinline)) void handler(int s) { (void)s; hundred(); mprotect(page, 8192, PROT_READ | PROT_WRITE); }
__attribute__((noinline)) void fills(char *to, long n) { __asm__ volatile("add $1, %%eax\\n rep stosb" : "+D"(to), "+c"(n) : : "memory", "eax", "cc"); }
__attribute__((noinline)) void stores(char *to) { __asm__ volatile("add $1, %%eax\\n mov %%eax, %%ecx\\n mov %%ecx, (%0)\\n nop" : : "r"(to) : "memory", "eax", "ecx", "cc"); }
int main(void)
{
	page = mmap(0, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	signal(SIGSEGV, handler);
	for (int i = 0; i < 10; i++) {
		mprotect(page + 4096, 4096, PROT_NONE);
		fills(page + 4000, 1000); /* faults after 96 bytes */
		mprotect(page, 4096, PROT_NONE);
		stores(page);
	}
	return 0;
}
""", "-O1", suffix="c")
report = with_events("faults", "instructions", "loads", "data-writes", "rep-iterations", "conditional-taken", "data-write-bytes")
equal([counts_in_calls(report, "main", name)[1]["rep-iterations"] for name in ("fills", "stores")], [10000, 0], "a rep instruction that faults has each iteration once")
equal(counts_in_calls(report, "handler", "hundred"), (20, {"instructions": 2000, "loads": 20, "data-writes": 0, "rep-iterations": 0, "conditional-taken": 960, "data-write-bytes": 0}), "handlers of faults call what they call")
for name in ("throws", "signals", "threads", "coroutines", "loads"):
    if os.path.exists(name):
        report = with_events(name, "instructions", "conditional-branches", "conditional-taken", "data-reads", "data-read-bytes", "data-write-bytes", "rep-iterations", "branches")
        called = [c for c in report["calls"] if c["callee"] == "hundred"]
        equal([c["inclusive"] for c in called if c["inclusive"] != [c["calls"] * n for n in (100, 49, 48, 1, 8, 0, 0, 50)]], [], f"{name}: every call of hundred has its events")
        report = with_events(name, "branch-misses", "l1d-misses", "instructions", "line-crossing-accesses", on="model:r12000")
        equal([c["inclusive"][2] for c in report["calls"] if c["callee"] == "hundred" and c["inclusive"][2] != 100 * c["calls"]], [], f"{name}: the models' misses are in calls, too")
done()
