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


def profiled(name, **env):
    seen = tare("profile", "--on", "exact", "-g", "-o", "kept", "--", f"./{name}", env=environment(**env))
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
done()
