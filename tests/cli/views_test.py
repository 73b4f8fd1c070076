"""What `tare report` shows below a listing: instructions, callers and callees; and how listings fit a terminal."""
import platform
import sys

PLANTED = __import__("os").path.abspath(sys.argv[2])  # before cli goes elsewhere

from cli import *


def planted(*arguments):
    """A planted profile (tests/unit/export_planted.c) as text."""
    seen = subprocess.run([PLANTED, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=TIME_OUT_S)
    if seen.returncode or seen.stderr:
        ok(False, f"export_planted {' '.join(arguments)} writes", seen)
    return seen.stdout.decode("utf-8", "surrogateescape")


# ---- callers and callees, of stacks that are known: main;work 100, main;work(inlined) 40, main;work;work 30, main;work;lib_f 20 ----
def butterflies(text):
    """{function: [(count, share of it, what, name)]} of the first event."""
    found = {}
    for part in text.split("\n  cycles:u around ")[1:]:
        rows = re.findall(r"^ +([\d,]+) +[\d.]+% +([\d.]+)%  (caller|function|itself|callee) *(.*?)$", part.split("\n\n")[0], re.M)
        found[part.split(" ")[0]] = [(int(count.replace(",", "")), float(share), what, name.strip().split(" ")[0]) for count, share, what, name in rows]
    return found


seen = planted("shares", "text", "100", "butterfly")
calls = butterflies(seen)
equal(calls.get("work"), [(190, 100.0, "caller", "main"), (190, 100.0, "function", "work"), (170, 89.5, "itself", ""), (20, 10.5, "callee", "lib_f")],
      "--butterfly: callers above, the function, what is its own, callees below; what was inlined is its own")
equal(calls.get("main"), [(190, 100.0, "caller", "(none:"), (190, 100.0, "function", "main"), (190, 100.0, "callee", "work")], "the outermost function has no caller")
equal(calls.get("lib_f"), [(20, 100.0, "caller", "work"), (20, 100.0, "function", "lib_f"), (20, 100.0, "itself", "")], "a leaf has no callee")
has(seen.split("cycles:u around work")[1].split("around")[0].replace("\n", " "), "it calls itself", "a recursion is told")
has_not(seen.split("cycles:u around main")[1].split("around")[0], "it calls itself", "and only there")
seen = butterflies(planted("recursion", "text", "100", "butterfly"))
equal(seen.get("work"), [(8, 100.0, "caller", "main"), (8, 100.0, "function", "work"), (8, 100.0, "itself", "")], "a recursion counts once: its caller is the outermost call's")
many = butterflies(planted("3000", "text", "200", "butterfly"))
ok(many and all(sum(row[0] for row in rows if row[2] == "caller") == rows[[r[2] for r in rows].index("function")][0] ==
                sum(row[0] for row in rows if row[2] in ("itself", "callee")) for rows in many.values()),
   "of each function the callers' counts, and its own with the callees', add up to its count", many)
text = planted("arcs", "text", "100", "butterfly").split("instructions:u around work")[1].split("around")[0]
rows = re.findall(r"^ +([\d,]+) +[\d.]+% +([\d.]+)% +(\d*)  (caller|function|itself|callee) *(.*?)(?: \(.*)?$", text, re.M)
equal(rows, [("9,000", "100.0", "3", "caller", "main"), ("0", "0.0", "5", "caller", "work"), ("9,000", "100.0", "8", "function", "work"), ("7,000", "77.8", "", "itself", ""),
             ("2,000", "22.2", "20", "callee", "lib_f"), ("0", "0.0", "5", "callee", "work")], "of an exact call graph --butterfly has the numbers of calls, too")
has(" ".join(text.split()), "what its inner calls count is in the outermost call's count", "and says what a recursion counts")
text = planted("counted", "text", "100", "butterfly")
ok("no callers and callees" in text and "--call-graph dwarf" in text, "without stacks the report says how to get them", text)

# ---- prof's listing, word for word as the paper prints it (Zagha, Appendix C) but for dates, paths and numbers ----
PAPER = [line for line in """\
Profile listing generated Wed May 1 16:25:50 1996
with:      prof md.gfp_hwc.12133
Counter          : Graduated fp instructions
Counter overflow value: 32771
Total number of ovfls : 96520
CPU               : R10000
FPU               : R10010
Clock             : 195.0MHz
Number of CPUs    : 1
-p[rocedures] using counter overflow.
Sorted in descending order by the number of overflows in each procedure.
Unexecuted procedures are excluded.
overflows(%)  cum overflows(%)  procedure (dso:file)
50772( 52.6)  50772( 52.6) compute_forces_IK (md:...)
96520(100.0)
TOTAL
""".splitlines()]
GOLDEN = """\
-------------------------------------------------------------------------
Profile listing generated Wed May  1 16:25:50 1996
with:      tare report --prof prog.cy_hwc.m12133
-------------------------------------------------------------------------

Counter               : cycles:u
Counter overflow value: 1000
Total number of ovfls : 200
CPU                   : R10000
FPU                   : the CPU's own
Clock                 : 195.0MHz
Number of CPUs        : 1

-------------------------------------------------------------------------
-p[rocedures] using counter overflow.
Sorted in descending order by the number of overflows in each procedure.
Unexecuted procedures are excluded.
-------------------------------------------------------------------------

   overflows(%)     cum overflows(%)     procedure (dso:file)
         170( 85.0)           170( 85.0)  work (prog:FIRST)
          20( 10.0)           190( 95.0)  lib_f (libx.so:SECOND)
          10(  5.0)           200(100.0)  [kernel] ([kernel])

         200(100.0)                       TOTAL

""".replace("FIRST", "prog.c").replace("SECOND", "libx.c")
listing = planted("shares", "prof", "200")
equal(listing[:listing.find("Counter", listing.find("TOTAL"))], GOLDEN, "--prof: the whole listing of an event")
# numbers, the date, names and paths of either are N; spaces do not count
words = lambda line: re.sub(r"\s+", " ", re.sub(r"[\d.]*\d|(?<=: )(?!N\b).*|(?<=generated ).*|(?<=with: ).*|(?<=\) )[^()]+ \([^()]*:[^()]*\)$", "N", re.sub(r"\s+", " ", line.replace(" (md:...)", " (md:x)")))).strip()
seen = {words(line) for line in listing.splitlines()} | {"TOTAL"}
for line in PAPER:
    ok(words(line).replace(" :", ":") in {known.replace(" :", ":") for known in seen} | {"N(N)"}, f"--prof has the paper's line '{line}'", sorted(seen))

# ---- listings on any terminal ----
for width in (60, 80, 120, 200):
    for name in ("shares", "hostile", "3000"):
        lines = planted(name, "text", str(width), "butterfly").splitlines()
        ok(every(len(line) <= width for line in lines), f"a listing of '{name}' fits {width} columns", [line for line in lines if len(line) > width][:5])
narrow, wide = planted("3000", "text", "80"), planted("3000", "text", "200")
ok("…" in narrow and "project::module_0::Type<int>::function_" in wide, "long names lose their middle, and a wide terminal shows more of them", narrow)
text = planted("hostile", "text", "200", "butterfly")
ok(not re.search(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u202e\udc80-\udcff]", text), "names in a listing do not act", re.findall(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u202e]", text))
rows = re.findall(r"^ +([\d,]+) +([\d.]+)% .*?(\S+( \(\S+\))?)$", wide.split("TOTAL")[0], re.M)
ok(len(rows) <= 61, "a listing ends after 60 rows", len(rows))
ends = {line.index("%") for line in wide.split("samples   share")[-1].split("TOTAL")[0].splitlines()[1:] if "%" in line}
equal(len(ends), 1, "numbers are aligned at their right ends")
ok(re.search(r"^ +\d{1,3},\d{3} ", wide, re.M), "numbers have separators", wide)

# ---- what has changed; instructions ----
if platform.machine() != "x86_64" or not shutil.which("gcc"):
    skip("the engine and the disassembler are for x86-64, and gcc is needed", "instructions")
    done()
    raise SystemExit
write("code.s", """\
	.globl _start
	.type seven, @function
seven:
	mov $3499, %ecx         # 1
1:	dec %ecx                # 3499
	jnz 1b                  # 3499
	lea cell(%rip), %rax
	ret
	.size seven, . - seven
	.type _start, @function
_start:
	call seven
	mov $60, %eax
	mov $7, %edi
	syscall
	.size _start, . - _start
	.local cell
	.comm cell, 8
""")
subprocess.run(["gcc", "-g", "-nostdlib", "-static", "code.s", "-o", "code"], check=True)
tare("profile", "--on", "exact", "-e", "instructions,conditional-branches,calls", "-o", "kept", "./code")


def instructions(text):
    """[(shares, instruction)]"""
    return [(re.findall(r"([\d.]+)%", line[:line.index(match.group(0))]), match.group(2)) for line in text.splitlines()
            if (match := re.search(r" ([0-9a-f]{6})      (\S.*)$", line))]


one = tare("report", "--dis", "-e", "instructions:u", "kept").out
has(one, "seven (code:code.s:4)", "--dis has a heading for the function")
dump = subprocess.run(["objdump", "-d", "--no-show-raw-insn", "code"], stdout=subprocess.PIPE, text=True).stdout
listed = re.findall(r"([0-9a-f]{6})      (\S+)", one)
known = re.findall(r"^ +([0-9a-f]{6}):\t(\S+)", dump, re.M)
same = {"jne": "jnz"}
equal(listed, [(address, same.get(name, name)) for address, name in known if int(address, 16) < int(re.search(r"^0*([0-9a-f]+) <_start>", dump, re.M).group(1), 16)],
      "the instructions of the function are objdump's, at its addresses")
has(one, "<seven+0x5>", "a jump's target has a name")
has(one, "<cell>", "so has the data that an instruction addresses")
ok(re.search(r"^ +code\.s:5  1: +dec %ecx.*\n +3,499 ", one, re.M), "source lines stand above their instructions", one)
rows = dict((text.split(" ")[0], shares) for shares, text in instructions(one))
equal((rows["dec"], rows["jnz"], rows["ret"]), (["50.0"], ["50.0"], ["0.0"]), "each instruction has its share")
three = tare("report", "--dis", "kept").out
rows = dict((text.split(" ")[0], shares) for shares, text in instructions(three))
ok("[3] share of calls:u" in three and rows.get("jnz", [None])[-1] == "100.0" and len(rows["jnz"]) == 2, "several events have a column each, and a list says which", three)
for option in ("--prof", "--annotate"):
    text = tare("report", option, "--dis", "--butterfly", "kept").out
    ok("<seven+0x5>" in text and "no callers and callees" in text, f"{option} has them, too", text)
equal(tare("report", "--heavy", "kept").out, tare("report", "--lines", "kept").out, "--heavy is prof's name for --lines")
text = tare("report", "--dis", "--only", "_start", "kept").out
ok("syscall" in text and "dec %ecx" not in text.split("_start (code")[-1], "--only chooses the functions", text)
write("code2.s", read("code.s").replace("3499", "4499"))
os.mkdir("new")
subprocess.run(["gcc", "-g", "-nostdlib", "-static", "code2.s", "-o", "new/code"], check=True)
tare("profile", "--on", "exact", "-e", "instructions,conditional-branches,calls", "-o", "kept2", "new/code")
text = tare("report", "--before", "kept", "kept2").out
rows = [tuple(cell.replace(",", "") for cell in row) for row in re.findall(r"^ +([\d,]+) +([\d,]+) +([+\u2212]?[\d,]+)  (\w+)", text, re.M)]
equal(rows, [("7001", "9001", "+2000", "seven"), ("7005", "9005", "+2000", "TOTAL"), ("3499", "4499", "+1000", "seven"), ("3499", "4499", "+1000", "TOTAL"), ("1", "1", "0", "TOTAL")],
      "--before lists what has changed: before, after, change; what has not changed is not listed")
ok("in instructions, counted, not sampled" in text and "interval" not in text, "counts are exact", text)
text = tare("report", "--before", "kept2", "--lines", "-e", "instructions:u", "kept").out
ok(re.search(r"^ +3,499 +\u22123,499 *  code2.s:5 ", text.replace("4,499", "3,499"), re.M) or re.search(r"4,499 +\u22124,499  code2.s:5", text), "by line, lines that are gone are listed", text)
shutil.copy("new/code", "renamed")
tare("profile", "--on", "exact", "-e", "instructions,conditional-branches,calls", "-o", "kept3", "./renamed")
equal([tuple(cell.replace(",", "") for cell in row) for row in re.findall(r"^ +([\d,]+) +([\d,]+) +([+\u2212]?[\d,]+)  (\w+)", tare("report", "--before", "kept", "kept3").out, re.M)], rows,
      "a program is the same one under another name")
same = tare("report", "--before", "kept", "kept").out
ok(not re.search(r" seven ", same) and "+" not in same, "a profile does not differ from itself", same)
wrong = tare("report", "--before", "kept", "--dis", "kept2")
ok(wrong.code == 2 and "--before lists changes only" in wrong.err, "what does not go with --before is refused", wrong)
wrong = tare("report", "--by", "object", "kept2")
ok(wrong.code == 2 and "--by data" in wrong.err and "PROGRAM" in wrong.err, "--by object of a profile of code names the command that profiles data", wrong)
wrong = tare("report", "--before", "nothing", "kept2")
ok(wrong.code in (2, 3) and "nothing" in wrong.err, "a file that is not there is named", wrong)
os.rename("code", "code.old")
write("code.s", read("code.s").replace("3499", "3000"))
subprocess.run(["gcc", "-g", "-nostdlib", "-static", "-Wl,--build-id", "code.s", "-o", "code"], check=True)
text = tare("report", "--dis", "kept").out
ok("not disassembled" in text or "another file" in text, "a file that was exchanged is not disassembled", text)
done()
