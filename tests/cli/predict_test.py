"""`tare predict`: a place's counts from its code. Three witnesses: arithmetic on the source, the exact engine's count
of the same place as a region, and objdump's instructions."""
import json
import os
import platform
import re
import shutil
import subprocess
import sys

from cli import *

if platform.machine() != "x86_64":
    skip("the engine's tables are for x86-64", "counts are predicted")
    done()
if not shutil.which("gcc") or not shutil.which("objdump"):
    skip("no gcc or no objdump here", "counts are predicted")
    done()

KERNELS = sys.argv[2]


def predict(*arguments, fact="a prediction"):
    seen = tare("predict", "--json", *arguments)
    ok(seen.code == 0 and seen.err == "", f"{fact}: done", seen)
    return json.loads(seen.out)


def counted(place, events, *program):
    seen = tare("count", "--on", "exact", "--json", "-o", "-", "--program-output", "none", "-e", events, "--region", place, "--", *program)
    region = parsed(seen.out, f"the engine's count of {place}")["regions"][0]
    return {row["event"].split(":")[0]: row["value"] for row in region["results"]}


# ---- straight-line code: the prediction is what a pass counts ----
symbols = {name: int(address, 16) for address, _, name in (line.split() for line in
           subprocess.run(["nm", f"{KERNELS}/linear"], check=True, capture_output=True, text=True).stdout.splitlines())}
place = f"{symbols['first']:#x}-{symbols['last']:#x}"
r = predict(f"{KERNELS}/linear", place, fact="Korn's straight-line kernel")
equal(r["once"], {"instructions": 9 * 10000, "loads": 0, "stores": 3 * 10000, "branches": 0},
      "10,000 blocks of 3 stores and 6 additions, by arithmetic")
ok(r["straight"], "nothing in it decides", r["straight"])
equal(counted(place, "instructions,loads,stores,branches", f"{KERNELS}/linear", "10000"), r["once"], "the engine counts the same")
text = tare("predict", f"{KERNELS}/linear", place).out
has(text, re.compile(r"each pass from its begin to its end counts\s+exactly this"), "the text says so")
has_not(text, re.compile(r" $", re.M), "no line ends in spaces")

# ---- a function with a loop: rows times executions ----
write("work.c", """\
#include <string.h>
__attribute__((noinline)) static double total(double *a, long n) {
    double s = 0;
    for (long i = 0; i < n; i++)
        s += a[i] * 2;
    return s;
}
__attribute__((noinline)) static void fill(char *a, long n) {
    __asm__ volatile("rep stosb" : "+D"(a), "+c"(n) : "a"(1) : "memory");
}
int main(int argc, char **argv) {
    double a[100];
    fill((char *)a, sizeof a);
    return (int)total(a, argc * 100);
}
""")
subprocess.run(["gcc", "-O1", "-g", "-fno-tree-vectorize", "work.c", "-o", "work"], check=True)
EVENTS = "instructions,loads,stores,conditional-branches,fp-operations"
r = predict("./work", "total", "-e", EVENTS, fact="options behind the place")
loops = [block for block in r["blocks"] if block["loop"]]
equal(len(loops), 1, "the loop is found")
ok(loops[0]["first_line"] == 4 or loops[0]["first_line"] == 5, "with its lines", loops[0])
ok(loops[0]["file"].endswith("work.c") and loops[0]["function"] == "total", "its file and function", loops[0])
equal((loops[0]["counts"]["loads"], loops[0]["counts"]["fp-operations"]), (1, 2), "an iteration has one load and two operations")
seen = counted("total", EVENTS, "./work")
# blocks that are not executed (the path of n <= 0) lie behind the return
executed = [block for block in r["blocks"] if block["offset"] <= next(b["offset"] for b in r["blocks"] if b["end"] == "return")]
equal({name: sum(block["counts"][name] * (100 if block["loop"] else 1) for block in executed) for name in r["once"]}, seen,
      "100 iterations and the rest once are what the engine counts")
text = tare("predict", "./work", "total").out
has(text, re.compile(r"back to \d+, or on"), "the text shows the way back")

r = predict("./work", "fill", fact="a rep instruction")
ok(any(block["data_decides"] for block in r["blocks"]) and not r["straight"], "data decides what it stores", r)
r = predict("./work", "main", fact="calls")
equal(sum(block["calls"] for block in r["blocks"]), 2, "calls are counted, and said to be calls")
has(tare("predict", "./work", "main").out, "c: the block calls; what is called counts on top", "… in the text, too")
r = predict("./work", "work.c:4-5", fact="a place of lines")
ok(r["blocks"] and all(block["first_line"] in (4, 5) for block in r["blocks"]), "a place of lines is those lines", r)

# ---- every instruction, as objdump sees them ----
listing = subprocess.run(["objdump", "-d", "--no-show-raw-insn", "--no-addresses", TARE],
                         check=True, capture_output=True, text=True).stdout
functions = {name: body for name, body in re.findall(r"^<([a-z_]+)>:\n((?:\t.*\n)+)", listing, re.M)}
chosen = [name for name in ("event_parse_list", "options_parse", "formula_evaluate", "x86_decode", "machine_find", "report_csv",
                            "stats_mean_interval", "str_appendf", "columns_print", "place_parse") if name in functions]
ok(len(chosen) >= 5, "objdump lists functions of tare itself", chosen)
for name in chosen:
    # padding behind the function's end is objdump's, not the symbol's; prefixes are written as instructions of their own by none
    lines = [line.split("\t", 1)[1] for line in functions[name].splitlines()]
    while lines and re.match(r"(nop|data16|cs nop|xchg +%ax,%ax|\(bad\))", lines[-1]):
        lines.pop()
    r = predict(TARE, name, fact=f"{name} of tare")
    equal(r["once"]["instructions"], len(lines), f"{name} has as many instructions as objdump lists")

# ---- what cannot be predicted ----
for arguments, code, words in (
        (["./work"], 2, "a file and a place"),
        (["./work", "main", "more"], 2, "more than a file and a place"),
        (["./missing", "main"], 3, "./missing"),
        (["./work", "nowhere"], 2, "nowhere"),
        (["work.c", "main"], 3, "not a program or library for x86-64"),
        (["./work", "main", "-e", "taken-branches"], 2, "depends on how the code is executed"),
        (["./work", "main", "-e", "l1d-misses"], 2, "not an event of instructions"),
        (["./work", "main", "-e", "instructoins"], 2, "instructoins")):
    seen = tare("predict", *arguments)
    ok(seen.code == code and words in seen.err and seen.out == "", f"{' '.join(arguments)}: exit code {code}, {words}", seen)
os.truncate("work", 3000)
seen = tare("predict", "./work", "total")
ok(seen.code in (2, 3) and seen.out == "", "a file that is cut off: an error", seen)

done()
