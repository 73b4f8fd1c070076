"""`tare count --by function|line --inclusive`: what took place in functions and lines with all that they called, of a program
whose counts are known by arithmetic; then of C programs, as valgrind's callgrind has it."""
import platform
import shutil
import subprocess

from cli import *

if platform.machine() != "x86_64" or not shutil.which("gcc"):
    skip("x86-64 and gcc are needed", "inclusive counts are those of the program")
    done()

# beside a line: what it executes in all, and what takes place in it and in its calls ("-": not known: a recursion)
write("places.s", """\
	.macro function name
	.globl \\name
	.type \\name, @function
\\name:
	.endm
	.macro end name
	.size \\name, . - \\name
	.endm
	function leaf           # 14 calls
	nop                     # 14 14
	push %rax               # 14 14
	pop %rax                # 14 14
	ret                     # 14 14
	end leaf
	function twice          # 5 calls
	call leaf               # 5 25
	call leaf               # 5 25
	ret                     # 5 5
	end twice
	function recursion      # with edi = 3: four activations
	call leaf; dec %edi     # 8 24
	js 1f                   # 4 4
	call recursion          # 3 -
1:	ret                     # 4 4
	end recursion
	function even           # with edi = 2: even, odd, even
	dec %edi; js 1f; call odd  # 5 -
1:	ret                     # 2 2
	end even
	function odd
	dec %edi; js 1f; call even # 3 -
1:	ret                     # 1 1
	end odd
	function tail
	jmp twice               # 2 24
	end tail
	function _start
	mov $3, %ebx            # 1 1
1:	call twice              # 3 36
	dec %ebx                # 3 3
	jnz 1b                  # 3 3
	mov $3, %edi            # 1 1
	call recursion          # 1 36
	mov $2, %edi            # 1 1
	call even               # 1 12
	call tail; call tail    # 2 26
	mov $60, %eax           # 1 1
	xor %edi, %edi          # 1 1
	syscall                 # 1 1
	end _start
""")
LINES = {at: (int(found[1]), None if found[2] == "-" else int(found[2])) for at, text in enumerate(read("places.s").splitlines(), 1) if (found := re.search(r"# (\d+) (\d+|-)$", text))}
FUNCTIONS = { # (self, inclusive) of instructions, loads, stores: a call stores, a return loads
    "leaf": ((56, 56), (28, 28), (14, 14)),
    "twice": ((15, 55), (5, 25), (10, 20)),
    "recursion": ((19, 35), (4, 12), (7, 11)),
    "even": ((7, 11), (2, 3), (1, 2)),
    "odd": ((4, 7), (1, 2), (1, 1)),  # what it calls of even is in its count, and once in even's
    "tail": ((2, 24), (0, 10), (0, 8)),
    "_start": ((19, 122), (0, 40), (7, 40)),
}
subprocess.run(["gcc", "-g", "-nostdlib", "-static", "places.s", "-o", "places"], check=True)


def counted(fact, program, by, *arguments, on="exact"):
    seen = tare("count", "--on", on, "--json", "-o", "report.json", "--by", by, "--by-file", "by.tsv", "--inclusive", *arguments, f"./{program}")
    equal(seen.code, 0, f"{fact}: exit code 0")
    return parsed(read("report.json"), fact)


def rows(report, event, key):
    """{key: (self, inclusive)} of the rows that have either."""
    at = [e["event"].removesuffix(":u") for e in report["breakdown"]["events"]].index(event)
    all_ = {key(row): (row["counts"][at], row["inclusive"] and row["inclusive"][at]) for row in report["breakdown"]["rows"]}
    return {k: v for k, v in all_.items() if v != (0, 0)}


def rows_of_file(event, key):
    """The same of the file of tab-separated lines."""
    head, *lines = [line.split("\t") for line in read("by.tsv").splitlines()]
    found = [dict(zip(head, line)) for line in lines]
    return {key(row): (int(row["count"]), int(row["inclusive"]) if row["inclusive"] else None) for row in found if row["event"].removesuffix(":u") == event and row["kind"] != "total"}


# ---- by function ----
report = counted("by function", "places", "function", "-e", "instructions,loads,stores")
for at, event in enumerate(("instructions", "loads", "stores")):
    truth = {name: counts[at] for name, counts in FUNCTIONS.items() if counts[at] != (0, 0)}
    equal(rows(report, event, lambda row: row["function"]), truth, f"{event} by function, with calls: of a recursion the outermost call counts, once")
    equal(rows_of_file(event, lambda row: row["name"]), truth, f"{event} by function, with calls: the file has the same")
seen = tare("count", "--on", "exact", "--by", "function", "--inclusive", "-o", "-", "./places")
ok(re.search(r"^ +self\(%\) +inclusive\(%\) +function \(module:file\)$", seen.out, re.M), "text has both columns", seen)
listed = re.findall(r"^ +([\d,]+)\( *[\d.]+%\) +([\d,]+|-)(?:\( *[\d.]+%\))? +(\w+) \(", seen.out, re.M)
equal([name for _, _, name in listed], ["_start", "leaf", "twice", "recursion", "tail", "even", "odd"], "text begins with the function that has most with its calls")
equal({name: (int(own), int(all_)) for own, all_, name in listed}, {name: counts[0] for name, counts in FUNCTIONS.items()}, "text has the same counts, of instructions where no event is asked for")
equal(seen.out.count(" by function\n"), 1, "and of nothing else")

# ---- for how many events ----
NINE = ["loads", "stores", "branches", "calls", "returns", "nops", "instructions", "data-reads", "data-writes"]
report = counted("eight events", "places", "function", "-e", ",".join(NINE[:8]))
equal(rows(report, "instructions", lambda row: row["function"])["_start"], FUNCTIONS["_start"][0], "calls are followed for eight events")
for on in ("exact", "auto"):
    seen = tare("count", "--on", on, "--by", "function", "--inclusive", "-e", ",".join(f"{e}:u" for e in NINE), "-o", "-", "--", "touch", "it-ran")
    ok(seen.code == 2 and "--inclusive follows calls for 8 events at most, and 9 are asked for" in seen.err and not os.path.exists("it-ran"), f"--on {on}: nine events are refused before the program runs", seen)
plain = tare("count", "--on", "exact", "--json", "--by", "function", "--by-file", "by.tsv", "-e", "instructions", "-o", "report.json", "./places")
report = parsed(read("report.json"), "without --inclusive")
equal(({row["function"]: row["counts"][0] for row in report["breakdown"]["rows"]}, [row for row in report["breakdown"]["rows"] if "inclusive" in row], "inclusive" in read("by.tsv")),
      ({name: counts[0][0] for name, counts in FUNCTIONS.items()}, [], False), "without --inclusive the own counts are the same, and there are no others")

# ---- by line ----
report = counted("by line", "places", "line", "-e", "instructions")
equal(rows(report, "instructions", lambda row: row["line"]), LINES, "by line, with calls: that of the line and of what it calls; not known where that comes back to the line")
equal(rows_of_file("instructions", lambda row: int(row["line"])), LINES, "by line, with calls: the file has the same")
seen = tare("count", "--on", "exact", "--by", "line", "--inclusive", "-e", "instructions", "-o", "-", "./places")
equal(len(re.findall(r"^ +\d+\( *[\d.]+%\) +- +places.s:\d+", seen.out, re.M)), 3, "text has a dash where it is not known")
has(seen.out, "- inclusive -: this line calls what comes back to it (a recursion)", "and says what that means")

# ---- a line that is in several functions, and in what they call ----
write("inlined.c", """\
__attribute__((noinline)) static int inner(int n);
static inline __attribute__((always_inline)) int through(int n)
{
	return n ? inner(n - 1) + 1 : 0;
}
static inline __attribute__((always_inline)) int once(int n)
{
	return n * 3 + 1;
}
__attribute__((noinline)) static int inner(int n) { __asm__ volatile(""); return n ? 7 : once(n); }
__attribute__((noinline)) static int middle(int n)
{
	int s = once(n);
	return s + through(n);
}
__attribute__((noinline)) static int outer(int n) { return middle(n) + through(n); }
__asm__(".globl _start\\n_start: mov $5, %edi\\ncall outer\\nmov $60, %eax\\nxor %edi, %edi\\nsyscall");
__attribute__((used)) static int *use(void) { return (int *)(void *)outer; }
""")
subprocess.run(["gcc", "-g", "-O1", "-nostdlib", "-static", "-fno-stack-protector", "inlined.c", "-o", "inlined"], check=True)
functions = rows(counted("inlined, by function", "inlined", "function", "-e", "instructions"), "instructions", lambda row: row["function"])
lines = rows(counted("inlined, by line", "inlined", "line", "-e", "instructions"), "instructions", lambda row: row.get("line") or row["function"])
equal(lines.get(14, (0, 0))[1] is not None and lines[14][1] >= functions["inner"][1] // 2, True, "a line has what was inlined in it, and what that calls")
equal(lines[4][1], lines[4][0] + functions["inner"][1], "what is inlined in two functions, of which one calls the other, but not from there, has the calls of both")
write("one_line.c", """\
static inline __attribute__((always_inline)) void c(void) { __asm__ volatile("nop; nop; nop"); } static inline __attribute__((always_inline)) void b(void) { c(); } __attribute__((noinline, used)) static void a(void) { b(); }
__asm__(".globl _start\\n_start: call a\\nmov $60, %eax\\nxor %edi, %edi\\nsyscall");
""")
subprocess.run(["gcc", "-O1", "-g", "-fcf-protection=none", "-nostdlib", "-static", "one_line.c", "-o", "one_line"], check=True)
one = rows(counted("in one line, by line", "one_line", "line", "-e", "instructions"), "instructions", lambda row: row.get("line"))
equal(one.get(1), (4, 4), "what is inlined in a line by way of others of the same line counts once there: three nops and a return")

# ---- code without names: made as it runs, all in one row; of a file, each place a row ----
write("nameless.c", """\
#include <string.h>
#include <sys/mman.h>
static char *code;
__attribute__((noinline)) static void middle(void) { ((void (*)(void))(code + 64))(); __asm__ volatile(""); }
int main(int argc, char **argv)
{
	static const char calls[] = "\\x48\\x83\\xec\\x08\\xff\\xd7\\x48\\x83\\xc4\\x08\\xc3", two[] = "\\x90\\x90\\xc3";
	code = mmap(0, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	memcpy(code, calls, sizeof calls);
	memcpy(code + 64, two, sizeof two);
	for (int i = 0; argc > 1 && i < 10000; i++)
		((void (*)(void (*)(void)))code)(middle);
	middle();
	return 0;
}
""")
subprocess.run(["gcc", "-O1", "-fno-optimize-sibling-calls", "nameless.c", "-o", "nameless"], check=True)
for arguments, truth in ((["2"], (70003, None)), ([], (3, 3))):
    tare("count", "--on", "exact", "--json", "-o", "report.json", "--by", "function", "--inclusive", "-e", "instructions", "./nameless", *arguments)
    found = rows(parsed(read("report.json"), "made code"), "instructions", lambda row: row["function"])
    tare("profile", "--on", "exact", "-g", "-o", "kept", "./nameless", *arguments)
    profile = {row["function"]: (row["counts"][0]["self"], row["counts"][0]["inclusive"]) for row in json.loads(tare("report", "--format", "json", "kept").out)["functions"]}
    fact = "what code without a name calls that comes back to such code is not known" if arguments else "what it has by itself is"
    equal([found["[anonymous]"], profile["[anonymous]"]], [truth, truth], fact)
    equal([seen["middle"][1] - seen["middle"][0] for seen in (found, profile)], [30003 if arguments else 3] * 2, "what is called by a function that calls it has it")
tare("profile", "--on", "exact", "-g", "-o", "kept", "./nameless", "2")
ok("recursion  [anonymous]" in tare("report", "--top", "500", "kept").out, "text says so")
around = [line.split() for line in tare("report", "--butterfly", "--top", "500", "kept").out.splitlines()]
equal([line[0] for line in around if line[-2:] == ["function", "[anonymous]"]], ["recursion"], "and so does the listing of its callers and callees")
seen = tare("count", "--on", "exact", "--by", "function", "--inclusive", "-o", "-", "./nameless", "2")
has(" ".join(seen.out.split()), "- inclusive -: code without a name, which calls what comes back to such code, or to which control comes otherwise than by calls", "and why")
write("places.S", """\
	.globl _start
	.type _start, @function
_start:	call .Lfirst                        # 1
	mov $1, %edi                        # 1
	call .Lsecond                       # 1
	mov $60, %eax; xor %edi, %edi; syscall # 3
	.size _start, . - _start
	.balign 64
.Lfirst: mov $50, %edi                      # 1
.Lsecond: dec %edi                          # 51
	jnz .Lsecond                        # 51
	ret                                 # 2
""")
subprocess.run(["gcc", "-nostdlib", "-static", "places.S", "-o", "unnamed"], check=True)
found = rows(counted("code of a file without names", "unnamed", "function", "-e", "instructions"), "instructions", lambda row: row["function"])
first = min((name for name in found if name != "_start"), default="")
equal([found.pop("_start"), found.pop(first)], [(6, 111), (1, 102)], "a place where a call leads has what took place in that call")
equal(sorted(found.values(), key=lambda seen: seen[0]), [(2, 2), (51, None), (51, 51)], "not where control comes otherwise, too: what took place there in all is not known")

# ---- what does not go ----
for words, why in ((("--by", "object", "--inclusive"), "an object makes none"), (("--inclusive",), "--inclusive needs --by"), (("--by", "line", "--inclusive", "--region", "leaf"), "--inclusive does not go with --region")):
    seen = tare("count", *words, "./places")
    ok(seen.code == 2 and why in seen.err, f"{' '.join(words)}: {why}", seen)
seen = tare("count", "--on", "exact", "--json", "-o", "report.json", "--by", "function", "--inclusive", "-e", "instructions,basic-blocks", "./places")
report = parsed(read("report.json"), "basic blocks")
ok(seen.code == 3 and "no inclusive counts: basic-blocks are known when the program has ended" in seen.err and not [row for row in report["breakdown"]["rows"] if "inclusive" in row], "an event that calls cannot be followed for: exit status 3, with the reason, and the own counts", seen)

# ---- models, threads, kept runs ----
report = counted("a model", "places", "function", "-e", "l1i-load-misses,instructions", on="model:host")
misses = rows(report, "l1i-load-misses", lambda row: row["function"])
equal(misses["_start"][1], sum(own for own, _ in misses.values()), "the program's first function has all misses with its calls")
equal(rows(report, "instructions", lambda row: row["function"]), {name: counts[0] for name, counts in FUNCTIONS.items()}, "and what is exact is the same beside them")
store = os.path.join(os.getcwd(), "store")
seen = tare("count", "--on", "exact", "--by", "line", "--inclusive", "-e", "instructions", "--json", "-o", "report.json", "./places", env=environment(TARE_STORE=store))
again = tare("report", "--format", "json", "@last", env=environment(TARE_STORE=store))
equal(again.out, read("report.json"), "inclusive counts are kept with the run")

# ---- annotated source ----
seen = tare("profile", "--on", "exact", "-g", "--annotate", "-o", "kept", "./places")
text = tare("report", "--annotate", "kept").out
shown = {int(line): called for called, line in re.findall(r"^ +[\d,]+ +[\d.]+% +(?:([\d.]+%|recursion) +)?(\d+)  ", text[text.rfind("places.s"):], re.M)}
wanted = {at: "recursion" if all_ is None else "" if all_ == own else f"{100 * all_ / 122:.1f}%" for at, (own, all_) in LINES.items()}
equal({at: called for at, called in shown.items() if wanted[at] != called}, {}, "annotated source has what took place in lines that call")
ok(len([at for at in shown if wanted[at]]) >= 6 and "with calls" in text, "of most of them", text)

# ---- as callgrind counts ----
if not shutil.which("valgrind"):
    skip("no valgrind here", "functions and lines have what callgrind has in them")
    done()
N = "__attribute__((noinline)) "
PROGRAMS = {
    "nested": f"{N}int c(int n) {{ int s = 0; for (int i = 0; i < n; i++) s += i ^ s; return s; }}\n{N}int b(int n) {{\nint s = 0;\nfor (int i = 0; i < 10; i++)\ns += c(n + i);\nreturn s; }}\n"
              f"{N}int a(int n) {{\nint s = b(n);\ns += b(n + 1);\ns += c(3);\nreturn s; }}\nint main(void) {{\nint s = a(50);\nreturn s == 1; }}\n",
    "callbacks": f"{N}int twice(int n) {{ return 2 * n; }}\n{N}int thrice(int n) {{ return 3 * n; }}\n{N}int apply(int (*f)(int), int n) {{\nint s = 0;\nfor (int i = 0; i < n; i++)\ns += f(i);\nreturn s + 1; }}\n"
                 "int main(void) {\nint (*all[])(int) = {twice, thrice};\nint s = 0;\nfor (int i = 0; i < 20; i++)\ns += apply(all[i % 2], i);\nreturn s == 1; }\n",
    "tails": f"{N}int last(int n) {{ int s = n; while (n > 1) n = n & 1 ? n * 3 + 1 : n / 2, s++; return s; }}\n{N}int middle(int n) {{\nreturn last(n + 1); }}\n{N}int first(int n) {{\nreturn middle(n * 2); }}\n"
             "int main(void) {\nint s = 0;\nfor (int i = 1; i < 50; i++)\ns += first(i);\nreturn s == 1; }\n",
}
for name, source in PROGRAMS.items():
    write(f"{name}.c", source)
    subprocess.run(["gcc", "-g", "-O2", "-fno-ipa-icf", "-fno-inline", "-o", name, f"{name}.c"], check=True)
    own = set(re.findall(r"\bint (\w+)\(", source))
    ran = subprocess.run(["valgrind", "--tool=callgrind", "--compress-strings=no", "--compress-pos=no", "--callgrind-out-file=theirs", f"./{name}"], capture_output=True, text=True)
    if ran.returncode:
        ok(False, f"{name}: runs under callgrind", ran.stderr)
        continue
    lines, functions, function, calling = {}, {}, None, False
    for line in read("theirs").splitlines(): # Callgrind Format Specification
        key, _, value = line.partition("=")
        if key == "fn":
            function = value
        elif key == "calls":
            calling = True
        elif function in own and re.match(r"\d+ \d+$", line):
            at, count = map(int, line.split())
            before = lines.get(at, (0, 0))
            lines[at] = (before[0] + (0 if calling else count), before[1] + count)
            before = functions.get(function, (0, 0))
            functions[function] = (before[0] + (0 if calling else count), before[1] + count)
            calling = False
        elif re.match(r"\d+ \d+$", line):
            calling = False
    report = counted(f"{name} by function", name, "function", "-e", "instructions")
    ours = {f: counts for f, counts in rows(report, "instructions", lambda row: row["function"] if row["module"].endswith("/" + name) else "").items() if f in own}
    equal(ours, functions, f"{name}: functions have what callgrind has in them, by themselves and with calls")
    report = counted(f"{name} by line", name, "line", "-e", "instructions")
    equal({at: counts for at, counts in rows(report, "instructions", lambda row: row.get("line") if (row["file"] or "").endswith(f"{name}.c") else 0).items() if at}, lines, f"{name}: so have lines")
done()
