"""Exact call graphs against valgrind's callgrind: the same programs, every call between their own functions.

Calls and inclusive counts of instructions are to be equal, but for two rules:
  R1  a call of a function that is active already (a recursion) has no count of its own here: the outermost call has it.
      callgrind gives such calls counts that contain each other;
  R2  callgrind names what calls main, and other code of libc, by its own rules: only calls between the program's own
      functions are compared. (libc takes other ways under valgrind, whose CPUID differs.)

Then the same programs without libc, on a stack in their own memory, so that all their addresses are the same under
both: reads, memory instructions, branches and misses of a machine with callgrind's caches, per call. There
  R3  an instruction that reads and writes its operand is one read for callgrind, a read and a write here: its reads, and
      the instructions that access memory (callgrind's reads and writes together), are compared.
"""
import platform
import shutil
import subprocess

from cli import *

if platform.machine() != "x86_64" or not shutil.which("gcc") or not shutil.which("valgrind"):
    skip("x86-64, gcc and valgrind are needed", "the call graphs are those of callgrind")
    done()

N = "__attribute__((noinline)) "
PROGRAMS = {
    "nested": N + "int c(int n) { int s = 0; for (int i = 0; i < n; i++) s += i ^ s; return s; }\n" + N + "int b(int n) { int s = 0; for (int i = 0; i < 10; i++) s += c(n + i); return s; }\n"
              + N + "int a(int n) { return b(n) + b(n + 1) + c(3); }\nint main(void) { return a(50) == 1; }\n",
    "sort": "int v[500];\n" + N + "int less(int a, int b) { return a < b; }\n" + N + "void swap(int *a, int *b) { int t = *a; *a = *b; *b = t; }\n"
            + N + "void sort(int n) { for (int i = 0; i < n; i++) for (int j = i + 1; j < n; j++) if (less(v[j], v[i])) swap(&v[i], &v[j]); }\n"
            + "int main(void) { unsigned x = 1; for (int i = 0; i < 500; i++) v[i] = (int)((x = x * 1103515245 + 12345) >> 16); sort(500); return v[0] > v[499]; }\n",
    "matrix": "double x[40][40], y[40][40], z[40][40];\n" + N + "double dot(int i, int j) { double s = 0; for (int k = 0; k < 40; k++) s += x[i][k] * y[k][j]; return s; }\n"
              + N + "void row(int i) { for (int j = 0; j < 40; j++) z[i][j] = dot(i, j); }\nint main(void) { for (int i = 0; i < 40; i++) row(i); return z[3][3] != 0; }\n",
    "callbacks": N + "int twice(int n) { return 2 * n; }\n" + N + "int thrice(int n) { return 3 * n; }\n" + N + "int apply(int (*f)(int), int n) { int s = 0; for (int i = 0; i < n; i++) s += f(i); return s + 1; }\n"
                 + "int main(void) { int (*all[])(int) = {twice, thrice}; int s = 0; for (int i = 0; i < 20; i++) s += apply(all[i % 2], i); return s == 1; }\n",
    "tails": N + "int last(int n) { int s = n; while (n > 1) n = n & 1 ? n * 3 + 1 : n / 2, s++; return s; }\n" + N + "int middle(int n) { return last(n + 1); }\n" + N + "int first(int n) { return middle(n * 2); }\n"
             + "int main(void) { int s = 0; for (int i = 1; i < 50; i++) s += first(i); return s == 1; }\n",
    "switches": N + "int one(int n) { return n + 1; }\n" + N + "int two(int n) { return n ^ 7; }\n"
                + N + "int step(int op, int n) { switch (op) { case 0: return one(n) + 2; case 1: return two(n) * 3; case 2: return n - 1; case 3: return n * n; case 4: return one(two(n)); default: return 0; } }\n"
                + "int main(void) { int n = 1; for (int i = 0; i < 600; i++) n = step(i % 6, n); return n == 77777; }\n",
    "lists": "struct node { struct node *next; int value; } nodes[300];\n" + N + "struct node *find(struct node *n, int v) { while (n && n->value != v) n = n->next; return n; }\n"
             + N + "void build(void) { for (int i = 0; i < 299; i++) nodes[i].next = &nodes[i + 1], nodes[i].value = i * 7 % 300; }\n"
             + N + "int search(void) { int s = 0; for (int i = 0; i < 300; i++) s += find(nodes, i) != 0; return s; }\nint main(void) { build(); return search() == 0; }\n",
    "sieve": "char composite[5000];\n" + N + "void strike(int p) { for (int i = 2 * p; i < 5000; i += p) composite[i] = 1; }\n" + N + "int primes(void) { int n = 0; for (int i = 2; i < 5000; i++) if (!composite[i]) { strike(i); n++; } return n; }\n"
             + "int main(void) { return primes() != 669; }\n",
    "leaves": "#include <setjmp.h>\njmp_buf home;\n" + N + "void deep(int n) { if (n == 0) __builtin_longjmp((void **)home, 1); }\n" + N + "int count(int n) { int s = 0; for (int i = 0; i < n; i++) s += i; return s; }\n"
              + N + "int outer(int n) { if (__builtin_setjmp((void **)home) == 0) deep(n % 3); return count(n); }\nint main(void) { int s = 0; for (int i = 0; i < 30; i++) s += outer(i); return s == 1; }\n",
    "fibonacci": N + "int fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }\n" + N + "int twice(int n) { return fib(n) + fib(n); }\nint main(void) { return twice(15) != 1220; }\n",
    "mutual": N + "int odd(int n);\n" + N + "int even(int n) { return n ? odd(n - 1) + 1 : 1; }\n" + N + "int odd(int n) { return n ? even(n - 1) + 2 : 0; }\nint main(void) { int s = 0; for (int i = 0; i < 40; i++) s += even(i); return s == 1; }\n",
    "hashes": "unsigned table[256];\n" + N + "unsigned hash(const char *s) { unsigned h = 5381; while (*s) h = h * 33 ^ (unsigned char)*s++; return h; }\n" + N + "void enter(const char *s) { unsigned at = hash(s) & 255; while (table[at]) at = (at + 1) & 255; table[at] = hash(s); }\n"
              + "int main(void) { char s[] = \"aaa\"; for (int i = 0; i < 200; i++) { s[i % 3] = (char)(97 + i % 26); enter(s); } return table[0] == 1; }\n",
}


def callgrind_arcs(file, own, *columns):
    """{(caller, callee): (calls, inclusive...)} of a file without compressed names (Callgrind Format Specification).
    columns: sums of its events, "Ir" alone if there are none."""
    arcs, function, callee, calls, names = {}, None, None, None, []
    for line in read(file).splitlines():
        if line.startswith("events: "):
            names = line.split()[1:]
        key, _, value = line.partition("=")
        name = value.split("'")[0] # 'f'2' is f, called by itself
        if key == "fn":
            function = name
        elif key == "cfn":
            callee = name
        elif key == "calls":
            calls = int(value.split()[0])
        elif calls is not None:
            if function in own and callee in own:
                counts = dict(zip(names, map(int, line.split()[1:]))) # what is not there is 0
                more = (calls, *(sum(counts.get(name, 0) for name in column.split("+")) for column in columns or ["Ir"]))
                arcs[(function, callee)] = tuple(map(sum, zip(arcs.get((function, callee), (0,) * len(more)), more)))
            calls = None
    return arcs


def reaches(arcs, start, wanted):
    seen, rest = set(), [start]
    while rest:
        for caller, callee in arcs:
            if caller == rest[-1] and callee == wanted:
                return True
        at = rest.pop()
        seen.add(at)
        rest += [callee for caller, callee in arcs if caller == at and callee not in seen]
    return False


for name, source in PROGRAMS.items():
    write(f"{name}.c", source)
    subprocess.run(["gcc", "-O2", "-fno-ipa-icf", "-fno-inline", "-o", name, f"{name}.c"], check=True)
    own = set(re.findall(r"^\S+ [Tt] ([a-z]\w*)$", subprocess.run(["nm", name], check=True, capture_output=True, text=True).stdout, re.M)) & set(re.findall(r"\b(\w+)\(", source))
    valgrind = subprocess.run(["valgrind", "--tool=callgrind", "--compress-strings=no", "--compress-pos=no", "--callgrind-out-file=theirs", f"./{name}"], capture_output=True, text=True)
    ran = tare("profile", "--on", "exact", "-g", "-o", "kept", "--", f"./{name}")
    if valgrind.returncode or ran.code:
        ok(False, f"{name}: runs under both", (valgrind.stderr, ran))
        continue
    ours = {}
    for arc in json.loads(tare("report", "--format", "json", "kept").out)["calls"]:
        if arc["caller"] in own and arc["callee"] in own and arc["caller_module"].endswith("/" + name) and arc["callee_module"].endswith("/" + name):
            before = ours.get((arc["caller"], arc["callee"]), (0, 0))
            ours[(arc["caller"], arc["callee"])] = (before[0] + arc["calls"], before[1] + arc["inclusive"][0])
    theirs = callgrind_arcs("theirs", own)
    again = {arc for arc in theirs if reaches(theirs, arc[1], arc[1])} # R1: into a recursion
    equal({arc: n for arc, (n, _) in ours.items()}, {arc: n for arc, (n, _) in theirs.items()}, f"{name}: calls are as callgrind counts them")
    equal({arc: value for arc, value in ours.items() if arc not in again}, {arc: value for arc, value in theirs.items() if arc not in again}, f"{name}: so is what took place in them")
    ok(len(theirs) >= 1, f"{name}: there are calls to compare", theirs)

# ---- other events than instructions ----
MACHINE = """
[machine]
title = as callgrind
[L1I]
size = 1K
ways = 2
line = 32
replacement = lru
next = L2
[L1D]
size = 2K
ways = 2
line = 32
replacement = lru
write = back
write_allocate = yes
next = L2
[L2]
size = 8M
ways = 8
line = 64
replacement = lru
write = back
next = memory
"""
SAME = {"instructions": "Ir", "data-reads": "Dr", "memory-instructions": "Dr+Dw", "conditional-branches": "Bc", "l1d-misses": "D1mr+D1mw", "l1d-load-misses": "D1mr", "l1i-load-misses": "I1mr"}
START = """
int written = 1; /* valgrind reads symbols where a file has data to write */
__attribute__((aligned(4096))) char own_stack[65536];
__asm__(".globl _start\\n_start: lea own_stack+65536(%rip), %rsp\\ncall main\\nmov %eax, %edi\\nmov $60, %eax\\nsyscall");
"""
write("machine.conf", MACHINE)
for name, source in PROGRAMS.items():
    write(f"{name}.c", source + START)
    subprocess.run(["gcc", "-O2", "-fno-ipa-icf", "-fno-inline", "-fno-stack-protector", "-fno-pie", "-no-pie", "-static", "-nostdlib", "-o", name, f"{name}.c"], check=True)
    own = set(re.findall(r"^\S+ [Tt] ([a-z]\w*)$", subprocess.run(["nm", name], check=True, capture_output=True, text=True).stdout, re.M)) & set(re.findall(r"\b(\w+)\(", source))
    valgrind = subprocess.run(["valgrind", "--tool=callgrind", "--cache-sim=yes", "--branch-sim=yes", "--I1=1024,2,32", "--D1=2048,2,32", "--LL=8388608,8,64", "--compress-strings=no", "--compress-pos=no",
                               "--callgrind-out-file=theirs", f"./{name}"], capture_output=True, text=True)
    ran = tare("profile", "--on", "model:./machine.conf", "-g", "-e", ",".join(SAME), "-o", "kept", "--", f"./{name}")
    if valgrind.returncode or ran.code:
        ok(False, f"{name}: runs under both", (valgrind.stderr, ran))
        continue
    report, ours = json.loads(tare("report", "--format", "json", "kept").out), {}
    for arc in report["calls"]:
        if arc["caller"] in own and arc["callee"] in own:
            ours[(arc["caller"], arc["callee"])] = tuple(map(sum, zip(ours.get((arc["caller"], arc["callee"]), (0,) * (1 + len(SAME))), (arc["calls"], *arc["inclusive"]))))
    theirs = callgrind_arcs("theirs", own, *SAME.values())
    again = {arc for arc in theirs if reaches(theirs, arc[1], arc[1])} # R1
    for at, event in enumerate(SAME, 1):
        equal({arc: value[at] for arc, value in ours.items() if arc not in again}, {arc: value[at] for arc, value in theirs.items() if arc not in again}, f"{name}: {event} in calls are callgrind's {SAME[event]}")
    ok(len(theirs) >= 1 and not [note for note in report["notes"] if "call graph" in note], f"{name}: there are calls to compare", (theirs, report["notes"]))
done()
