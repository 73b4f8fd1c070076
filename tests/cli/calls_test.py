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


def graph(name, *options, command=None, code=0):
    """({function: (self, inclusive)}, {(caller, callee): (calls, inclusive)}, report) of one event's profile."""
    seen = tare("profile", "--on", "exact", "-g", "-o", "kept", *options, "--", *(command or [f"./{name}"]))
    ok(seen.code == code, f"{name}: the program ends as it does by itself", seen)
    report = json.loads(tare("report", "--format", "json", "kept").out)
    functions, calls = {}, {}
    for row in report["functions"]:
        functions[row["function"]] = (row["counts"][0]["self"], row["counts"][0]["inclusive"])
    for arc in report.get("calls", []):
        before = calls.get((arc["caller"], arc["callee"]), (0, 0))
        calls[(arc["caller"], arc["callee"])] = (before[0] + arc["calls"], before[1] + arc["inclusive"][0])
    less = [f for f, (own, all_) in functions.items() if all_ < own]
    equal((report["notes"], less), ([], []), f"{name}: the arcs add up to the count, and no function has less with its calls than by itself")
    return functions, calls, report


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
	function _start         # 3 + 11 * 1 + 5
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
                               "tail_if": (2, 2), "loops": (14, 14), "part": (4, 6), "part_cold": (2, 2), "jumps": (7, 10), "over": (1, 3), "over_all": (2, 2), "place": (3, 3),
                               "pushes": (3, 4), "pushed": (1, 1), "into": (2, 4), "inner": (2, 2)}.items():
    equal(functions.get(name), (own, inclusive), f"{name}: its own instructions, and with its calls")
total = report["events"][0]["total"]
equal(functions["_start"], (18, total), "the program's first function has all")
equal(calls, {(None, "_start"): (1, total), ("_start", "a"): (1, 102), ("a", "b"): (10, 30), ("a", "c"): (3, 30), ("_start", "recursion"): (1, 28), ("recursion", "recursion"): (5, 0),
              ("_start", "even"): (1, 23), ("even", "odd"): (2, 18), ("odd", "even"): (2, 0), ("_start", "tail"): (1, 6), ("tail", "tail_of"): (1, 4), ("tail_of", "tail_if"): (1, 2),
              ("_start", "loops"): (1, 14), ("_start", "part"): (1, 6), ("part", "part_cold"): (1, 2), ("_start", "jumps"): (1, 10), ("jumps", "over"): (1, 3), ("over", "over_all"): (1, 2),
              ("_start", "place"): (1, 3), ("_start", "pushes"): (1, 4), ("pushes", "pushed"): (1, 1), ("_start", "into"): (1, 4), ("into", "inner"): (1, 2), ("_start", "b"): (1, 3)},
      "every arc has its calls and its count: of a recursion the outermost call has it")
plain = json.loads(tare("profile", "--on", "exact", "-o", "kept", "./steps") and tare("report", "--format", "json", "kept").out)
equal({row["function"]: row["counts"][0]["self"] for row in plain["functions"] if row["counts"][0]["self"]},
      {name: own for name, (own, _) in functions.items() if own}, "the functions' own counts are the same without the call graph")
ok("calls" not in plain, "which is not there unless it is asked for")
done()
