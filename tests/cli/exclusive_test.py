"""`--exclusive`: of each region, what was executed outside of the regions that were entered in it. Counts are known from the assembly."""
import platform
import shutil

from cli import *

FACT = "exclusive counts of regions"
if platform.machine() != "x86_64" or not shutil.which("cc"):
    skip("no engine or no compiler here", FACT)
    done()

# marks of libtare's (src/engine/wire/region.h): the engine acts in their place, and counts neither instruction
write("nested.S", """
        .macro mark code, name
        lea \\name(%rip), %rdi
        .byte 0x66, 0x0f, 0x1f, 0x87
        .long 0x54415200 | \\code
        .endm
        .macro function name
        .globl \\name
        .type \\name, @function
\\name:
        .endm
        .macro finish name
        ret
        .size \\name, . - \\name
        .endm
        .globl _start
_start: call outer
        call inner
        mov $3, %edi
        call even
        mark 4, one
        .rept 3
        nop
        .endr
        mark 4, two
        .rept 5
        nop
        .endr
        mark 5, one
        .rept 7
        nop
        .endr
        mark 5, two
        call forker
        mov $60, %eax
        xor %edi, %edi
        syscall
        # 10 + call + 5 + call + 2 + ret
        function outer
        .rept 10
        nop
        .endr
        call inner
        .rept 5
        nop
        .endr
        call inner
        nop
        nop
        finish outer
        # 7 + ret
        function inner
        .rept 7
        mov word(%rip), %eax
        .endr
        finish inner
        # a recursion of two: even's outermost pass has all of it, odd's all but even's first 4 and last 1
        function even
        nop
        dec %edi
        jz 1f
        call odd
1:      finish even
        function odd
        nop
        nop
        call even
        finish odd
        # the parent: 11; the child behind the fork: 6, and leaf
        function forker
        mov $57, %eax
        syscall
        test %eax, %eax
        jz 1f
        mov $61, %eax
        mov $-1, %rdi
        xor %esi, %esi
        xor %edx, %edx
        xor %r10d, %r10d
        syscall
        ret
1:      call leaf
        mov $60, %eax
        xor %edi, %edi
        syscall
        .size forker, . - forker
        function leaf
        .rept 6
        nop
        .endr
        finish leaf
        .section .rodata
one:    .string "one"
two:    .string "two"
        .bss
word:   .zero 64
""")
ran = subprocess.run(["cc", "-nostdlib", "-static", "nested.S", "-o", "nested"], capture_output=True, text=True)
ok(ran.returncode == 0, "a program of known counts is built", ran.stderr)

FUNCTIONS = ["outer", "inner", "even", "odd", "forker", "leaf"]
INSIDE = {"outer": 20 + 16, "inner": 24, "even": 22, "odd": 17, "one": 8, "two": 12, "forker": 17 + 7, "leaf": 7}
ALONE = {"outer": 20, "inner": 24, "even": 5, "odd": 17, "one": 3, "two": 12, "forker": 17, "leaf": 7}


def count(*options, events="instructions", program="./nested", on="exact", exclusive=True):
    """{region: {event: count}}, and the report"""
    ran = tare("count", "--on", on, "-e", events, *options, *(["--exclusive"] if exclusive else []), "--json", "-o", "report.json", "--", program)
    ok(ran.code == 0, f"{on} {' '.join(options)}: exit code 0", ran)
    report = parsed(read("report.json"), f"{on} {' '.join(options)}") if ran.code == 0 else {"regions": []}
    names = {"instructions:u": "instructions", "loads:u": "loads"}
    return {row["name"]: {names.get(e["event"], e["event"]): e["value"] for e in row["results"]} for row in report["regions"]}, report


def of(rows, exclusive):
    return {name.removesuffix(" (exclusive)"): row["instructions"] for name, row in rows.items() if name.endswith(" (exclusive)") == exclusive}


OPTIONS = [word for name in FUNCTIONS for word in ("--region", name)]
rows, report = count(*OPTIONS)
equal(of(rows, False), INSIDE, "with what was called: as without --exclusive")
equal(of(rows, True), ALONE, "alone: nested, called from two places, a recursion, an overlap, a forked child")
equal([row["name"] for row in report["regions"] if row.get("exclusive")], [name + " (exclusive)" for name in FUNCTIONS + ["one", "two"]],
      "they follow the regions, in their order, and say what they are")
equal({row["name"]: row["entries"] for row in report["regions"]}["inner (exclusive)"], 3, "entries are those of the region")
plain, _ = count(*OPTIONS, exclusive=False)
equal(plain, {name: row for name, row in rows.items() if " " not in name}, "without --exclusive there are none, and the others are the same")
for some in (["outer"], ["inner", "outer"], ["odd", "even"], ["leaf", "forker"]):
    part, _ = count(*[word for name in some for word in ("--region", name)])
    nested = {"even": 5, "odd": 17} if "odd" in some else {"forker": 17, "leaf": 7} if "leaf" in some else {"outer": 20, "inner": 24} if "inner" in some else {"outer": 36}
    equal({name: n for name, n in of(part, True).items() if name in FUNCTIONS}, nested, f"{some}, in that order: what is not asked for is the outer one's")
rows, _ = count()
equal(of(rows, True), {"one": 3, "two": 12}, "regions that the program names itself need no --region")
rows, report = count(*OPTIONS, "-r", "2")
equal(of(rows, True), ALONE, "of repetitions: the mean of equal counts")

# what a model counts: of nested regions, what all have alone is what the outermost has
write("nested.c", """
#include <stdlib.h>
enum { N = 1 << 16 };
static int a[N];
__attribute__((noipa)) int walk(int stride) { int sum = 0; for (int i = 0; i < N; i += stride) sum += a[i] & 1 ? a[i] : -a[i]; return sum; }
__attribute__((noipa)) int fill(int n) { for (int i = 0; i < N; i++) a[i] = (i * 7919) % n; return walk(16); }
__attribute__((noipa)) int both(int n) { int sum = fill(n); sum += walk(1); return sum; }
int main(int argc, char **argv) { (void)argv; return both(argc + 100) == 12345; }
""")
ran = subprocess.run(["cc", "-O1", "nested.c", "-o", "modelled"], capture_output=True, text=True)
ok(ran.returncode == 0, "a program that a model counts is built", ran.stderr)
NAMES = ["main", "both", "fill", "walk"]
EVENTS = "instructions,loads,stores,branches,l1d-misses,dtlb-misses,branch-misses,misaligned-accesses,data-read-bytes"
rows, _ = count(*[word for name in NAMES for word in ("--region", name)], events=EVENTS, program="./modelled", on="model:r10000")
for event in rows.get("main", {}):
    whole, parts = rows["main"][event], [rows[name + " (exclusive)"][event] for name in NAMES]
    ok(whole is not None and None not in parts and sum(parts) == whole, f"{event}: {whole} of main is what the four have alone", str(parts))
equal(rows["walk (exclusive)"], rows["walk"], "the innermost one has nothing inside")
ok(rows["main"]["l1d-misses:u"] > 10000 and rows["both (exclusive)"]["l1d-misses:u"] < 20, "the misses are in the loops", str(rows))

text = tare("count", "--on", "exact", "-e", "instructions", "--region", "o=outer", "--region", "inner", "--exclusive", "--no-store", "./nested").err
has(text, "region o (exclusive) (outer): entered 1 time", "the report's title says which, and of which place")
has(text, "region inner (exclusive): entered 3 times", "... once, if both are the same")
ran = tare("count", "--on", "exact", "-e", "instructions", "--region", "outer", "--region", "inner", "--exclusive", "--csv", "-o", "-", "./nested")
has(ran.out, ",outer (exclusive),1,1", "CSV has it as a region")
ran = tare("count", "--on", "perf", "-e", "page-faults", "--region", "outer", "--exclusive", "./nested")
ok(ran.code == 2 and "does not count regions exclusive of those in them" in ran.err and "--on exact" in ran.err, "perf does not count that, and says so", ran)
ran = tare("count", "--exclusive", "-p", "1")
ok(ran.code == 2 and "--exclusive is for programs that tare starts" in ran.err, "a running process is refused", ran)
done()
