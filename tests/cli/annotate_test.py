"""tare annotate-asm: what it refuses, and regions at any lines of what compilers write: the program does what it did, and
every region is left as often as it is entered."""
import itertools
import os
import random
import sys

# a path of the folder that the test was started in
LIBTARE = os.path.abspath(sys.argv[2]) if len(sys.argv) > 2 else None

from cli import *

HERE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "annotate")
PROGRAM = os.path.join(HERE, "program.c")


def annotate(*arguments, **more):
    return tare("annotate-asm", *arguments, **more)


def run(*command, **more):
    return subprocess.run(command, capture_output=True, timeout=TIME_OUT_S, **more)


# ---- what is said ----
SMALL = """\t.text
\t.globl\tf
\t.type\tf, @function
f:
\t.cfi_startproc
\ttestl\t%edi, %edi
\tje\t.L2
\tlock
\tincl\t(%rsi)
.L3:
\tdecl\t%edi
\tjne\t.L3
.L2:
\tmovl\t%edi, %eax
\tret
\t.cfi_endproc
\t.size\tf, .-f
\t.section\t.rodata
.LC0:
\t.string\t"ret; # no"
\t.text
\t.globl\tg
\t.type\tg, @function
g:
\tjrcxz\tf
\tjmp\t*.LT(,%rdi,8)
.L7:
\tnop
.L8:
\tret
\t.size\tg, .-g
\t.data
.LT:\t.quad\t.L7, .L8
"""
path = write("small.s", SMALL)
for arguments, code, text, fact in [
        ([], 2, "needs a file", "no file"),
        ([path], 2, "needs a region", "no region"),
        ([path, path, "--region", "a=1-2"], 2, "takes one file", "two files"),
        (["missing.s", "--region", "a=1-2"], 3, "cannot open 'missing.s'", "a file that is not there"),
        ([path, "--region", "a=12"], 0, None, "one line"),
        ([path, "--region", "=1-2"], 2, "'=1-2' is not NAME=FIRST-LAST", "no name"),
        ([path, "--region", "a=5-4"], 2, "is not NAME=FIRST-LAST", "lines that run backwards"),
        ([path, "--region", "a=0-4"], 2, "is not NAME=FIRST-LAST", "line 0"),
        ([path, "--region", "a=6-99"], 2, "lines 6-99, region 'a': the file has 33 lines", "lines that are not there"),
        ([path, "--region", "a=19-19"], 2, "line 19, region 'a': it is in a section of data", "a line of data"),
        ([path, "--region", "a=6-19"], 2, "line 19, region 'a': it is in a section of data", "a last line of data"),
        ([path, "--region", "a=1-3"], 2, "there is no instruction in them", "lines without an instruction"),
        ([path, "--region", "a=6-25"], 2, "they are in two functions, 'f' and 'g'", "two functions"),
        ([path, "--region", "a=9-12"], 2, "line 9, region 'a': line 8 is a prefix of it", "a first line with a prefix before it"),
        ([path, "--region", "a=6-8"], 2, "line 8 is a prefix of it", "a last line that is a prefix"),
        ([path, "--region", "a=25-25"], 2, "line 25: 'jrcxz' crosses a region's border", "a short branch out"),
        ([path, "--region", "a=26-28"], 2, "line 26, region 'a': cannot tell whether 'jmp", "a switch that may stay or leave"),
        ([path, "--region", "a=29-30"], 2, "it can go to line 29", "a switch that may come in"),
        ([path, "--region", "a=6-7", "--number", "100"], 2, "100", "number 100"),
        ([path, "--region", "a=6-7", "--region", "b=6-7", "--number", "99"], 2, "region 'b' would have number 100", "more than 99"),
        ([path, "--region", "a=6-7", "--machine", "vax"], 2, "neither 'x86-64' nor 'arm64'", "another machine"),
        ([write("none.s", "\tnop\n"), "--region", "a=1-1"], 3, "cannot tell which machine's assembly", "a file that may be any machine's"),
        ([write("behind.s", "f:/ nop\n;/ nop\n\tret\n"), "--region", "a=1-2", "--machine", "x86-64"], 2, "there is no instruction in them",
         "a comment behind a label, and behind a separator, as gas has it"),
        ([write("behind.s", "f:# nop\n;# nop\n\tret\n"), "--region", "a=1-2", "--machine", "arm64"], 2, "there is no instruction in them",
         "so on arm64"),
        ([write("open.s", "\tmovl %eax, %ebx /* x\n"), "--region", "a=1-1"], 2, "line 1: the comment has no end", "an open comment"),
        ([write("string.s", "\tmovl %eax, %ebx\n.string \"x\n"), "--region", "a=1-1"], 2, "line 2: the string has no end", "an open string"),
        ([write("tls.s", "f:\t.byte 0x66\n\tleaq\tx@tlsgd(%rip), %rdi\n\t.value 0x6666\n\trex64\n\tcall __tls_get_addr@PLT\n\tret\n"), "--region", "a=2-5"],
         2, "line 1 is a prefix of it", "bytes before an instruction"),
        (["tls.s", "--region", "a=1-2"], 2, "the instruction belongs to that of line 2", "a pair of instructions"),
        ([write("ll.s", "f:\n1:\tldxr\tw2, [x0]\n\tadd\tw2, w2, #1\n\tstxr\tw3, w2, [x0]\n\tcbnz\tw3, 1b\n\tret\n"), "--region", "a=3-3"],
         2, "it is between a load-exclusive and its store", "between load-exclusive and its store"),
        (["ll.s", "--region", "a=1-5"], 0, None, "around load-exclusive and its store"),
        ([write("macro.s", ".macro m x\n\tjmp \\x\n.endm\nf:\tmovl %eax, %ebx\n\tm f\n\tret\n"), "--region", "a=2-2"], 2, "line 2, region 'a': it is in a macro",
         "a macro's body"),
        ([write("i386.s", "\t.code32\n\tmovl %eax, %ebx\n"), "--region", "a=2-2"], 3, "16- and 32-bit code is not supported", "32-bit code")]:
    seen = annotate(*arguments)
    if text is None:
        ok(seen.code == code and seen.err == "" and "tare_asm_begin_0" in seen.out, f"{fact} can be a region", seen)
    else:
        ok(seen.code == code and text in seen.err, f"refused: {fact}", seen)
seen = annotate("macro.s", "--region", "a=5-5")
ok(seen.code == 0 and "jumps in the macro 'm' are not seen" in seen.err, "a macro in a region is warned of", seen)
once = annotate(path, "--region", "f=4-15", "-o", "once.s")
ok(once.code == 0 and once.out == "" and read("once.s").count("tare_asm_end_0") == 1, "the output is written to a file", once)
ok("annotated before" in annotate("once.s", "--region", "loop=20-22").err, "annotated twice: numbers must differ")
begin = [number for number, line in enumerate(read("once.s").splitlines(), 1) if "decl" in line][0]
again = annotate("once.s", "--region", f"loop={begin}-{begin + 1}", "--number", "1")
ok(again.code == 0 and "tare_asm_begin_1" in again.out and "tare_asm_begin_0" in again.out, "with other numbers it is annotated again", again)
ok(set(SMALL.splitlines()) <= set(annotate(path, "--region", "f=4-15").out.splitlines()), "no line is lost")
names = annotate(path, "--region", 'a"\\\t\u00e4=b=4-15')
has(names.out, r'.string	"a\042\134\011\303\244=b"'.replace(r"\t", "\t"), "any name is told to libtare")

# ---- any lines ----
TRIES = int(os.environ.get("TARE_ANNOTATE_TRIES", "4"))
WAYS = [("gcc", [], options) for options in (["-O0"], ["-O2"], ["-O3", "-march=native"], ["-Os", "-fPIC"], ["-O2", "-masm=intel", "-fcf-protection"],
                                              ["-O1", "-fno-asynchronous-unwind-tables", "-fno-pie", "-no-pie"], ["-O2", "-fno-omit-frame-pointer", "-g"])]
WAYS += [("clang", [], options) for options in (["-O0"], ["-O2"])]
WAYS += [("aarch64-linux-gnu-gcc", ["qemu-aarch64", "-L", "/usr/aarch64-linux-gnu"], options)
         for options in (["-O0"], ["-O2"], ["-O2", "-mbranch-protection=standard", "-mno-outline-atomics"])]


def functions_of(text):
    """First and last line of each function, by its label and .size."""
    lines = text.splitlines()
    found = []
    for index, line in enumerate(lines, 1):
        label = re.match(r"([A-Za-z_]\w*(?:\.\w+)*):", line)
        if label:
            start = (label.group(1), index)
        size = re.match(r"\s+\.size\s+([\w.]+), ", line)
        if size and found[-1:] != [size.group(1)] and "start" in locals() and start[0] == size.group(1):
            found.append((start[1], index - 1))
    return found


def try_lines(compiler, runner, options, seed, tries):
    """Programs with random regions; how many were accepted, and what went wrong."""
    chance = random.Random(seed)
    made = run(compiler, *options, "-S", "-o", "program.s", PROGRAM)
    plain = run(compiler, *options, "program.s", "-o", "plain")
    if made.returncode or plain.returncode:
        return 0, 0, (made.stderr + plain.stderr).decode()
    run(compiler, *options, "-c", os.path.join(HERE, "counting.S"), "-o", "counting.o")
    run(compiler, *options, "-c", os.path.join(HERE, "names.c"), "-o", "names.o")
    expected = run(*runner, "./plain")
    functions = functions_of(read("program.s"))
    accepted = entered = 0
    for _ in range(tries):
        regions, arguments = [], []
        while len(regions) < 12:
            first, last = chance.choice(functions)
            lines = sorted(chance.randint(first, last) for _ in range(2))
            region = ["--region", f"r{len(regions)}={lines[0]}-{lines[1]}"]
            one = annotate("program.s", *region)
            if one.code == 0:
                regions.append(lines)
                arguments += region
            elif one.code != 2 or "program.s: line" not in one.err:
                return accepted, entered, str(one)
        seen = annotate("program.s", *arguments, "-o", "annotated.s")
        if seen.code != 0:
            continue
        accepted += 1
        linked = run(compiler, *options, "annotated.s", "counting.o", "names.o", "-o", "annotated")
        if linked.returncode:
            return accepted, entered, f"{arguments}\n{linked.stderr.decode()}"
        ran = run(*runner, "./annotated")
        if (ran.stdout, ran.returncode) != (expected.stdout, expected.returncode):
            return accepted, entered, f"{arguments}\n{ran.returncode} {ran.stdout.decode()}\nnot {expected.stdout.decode()}"
        for line in ran.stderr.decode().splitlines():
            name, entries, exits = line.split()
            entered += int(entries) > 0
            if entries != exits:
                return accepted, entered, f"{arguments}\n{line}: entries and exits differ"
    return accepted, entered, None


for (compiler, runner, options), number in zip(WAYS, itertools.count()):
    fact = f"{compiler} {' '.join(options)}: regions at any lines"
    missing = [tool for tool in [compiler, *runner[:1]] if not shutil.which(tool)]
    if missing:
        skip(f"{missing[0]} is not installed", fact)
        continue
    accepted, entered, trouble = try_lines(compiler, runner, options, number, TRIES)
    ok(trouble is None and accepted == TRIES and entered >= 3 * TRIES, f"{fact} change nothing, and are left as often as entered",
       trouble or f"{accepted} programs with {entered} regions entered")

# ---- unwinding ----
def try_unwinding(compiler, runner, options):
    """From inside of each stub the stack leads to main. A pad of main has a frame of its own, so main has no region."""
    chance = random.Random(7)
    run(compiler, *options, "-S", "-o", "unwound.s", PROGRAM)
    functions = [lines for lines in functions_of(read("unwound.s"))
                 if not read("unwound.s").splitlines()[lines[0] - 1].startswith("main")]
    arguments = []
    while len(arguments) < 24:
        first, last = chance.choice(functions)
        lines = sorted(chance.randint(first, last) for _ in range(2))
        region = ["--region", f"r{len(arguments)}={lines[0]}-{lines[1]}"]
        if annotate("unwound.s", *region).code == 0:
            arguments += region
    seen = annotate("unwound.s", *arguments, "-o", "unwinding.s")
    linked = run(compiler, *options, "unwinding.s", os.path.join(HERE, "unwinding.S"), os.path.join(HERE, "unwinding.c"), "-o",
                 "unwinding")
    ran = run(*runner, "./unwinding")
    counts = re.search(rb"@unwound (\d+) (\d+)", ran.stderr)
    return counts and int(counts.group(1)) > 10 and counts.group(1) == counts.group(2), f"{seen} {linked.stderr.decode()} {ran}"


for compiler, runner, options in [WAYS[0], WAYS[1], WAYS[3], WAYS[4], WAYS[6], WAYS[8], WAYS[9], WAYS[10]]:
    fact = f"{compiler} {' '.join(options)}: from a stub the stack can be unwound"
    missing = [tool for tool in [compiler, *runner[:1]] if not shutil.which(tool)]
    if missing:
        skip(f"{missing[0]} is not installed", fact)
        continue
    good, seen = try_unwinding(compiler, runner, options)
    ok(good, fact, seen)

# ---- with libtare ----
if LIBTARE:
    write("faults.c", """#include <stdio.h>
#include <sys/mman.h>
__attribute__((noinline)) static void touch(char *memory, int pages)
{
	for (int i = 0; i < pages; i++)
		memory[i * 4096L] = 1;
}
int main(void)
{
	char *memory = mmap(NULL, 300 * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	madvise(memory, 300 * 4096, MADV_NOHUGEPAGE);
	for (int i = 0; i < 3; i++)
		touch(memory + i * 100 * 4096L, 100);
	puts("done");
	return 0;
}
""")
    run("gcc", "-O1", "-S", "faults.c")
    first, last = functions_of(read("faults.s"))[0]
    seen = annotate("faults.s", "--region", f"touch all={first}-{last}", "-o", "counted.s")
    linked = run("gcc", "counted.s", LIBTARE, "-Wl,-rpath," + os.path.dirname(LIBTARE), "-o", "counted")
    ok(seen.code == 0 and linked.returncode == 0, "annotated assembly links with libtare", (str(seen), linked.stderr))
    quiet = run("./counted")
    equal((quiet.stdout, quiet.stderr), (b"done\n", b""), "without TARE_EVENTS the program is as before")
    counted = run("./counted", env=environment(TARE_EVENTS="page-faults:u", TARE_FORMAT="csv"))
    row = re.search(rb'^"touch all",all,3,3,"page-faults:u",[^,]*,counted,(\d+),', counted.stderr, re.M)
    if b"regions are not counted" in counted.stderr:
        skip(counted.stderr.decode().splitlines()[0], "the region is counted under its name")
    else:
        ok(counted.stdout == b"done\n" and row and int(row.group(1)) == 300, "the region is counted under its name", counted)
    # under the engine: mov and 1000 times decl, jne; what is inserted is in no region
    write("loop.s", """\t.text
\t.globl\tmain
\t.type\tmain, @function
main:
\tmovl\t$1000, %eax
1:\tdecl\t%eax
\tjne\t1b
\txorl\t%eax, %eax
\tret
\t.size\tmain, .-main
\t.section\t.note.GNU-stack, "", @progbits
""")
    seen = annotate("loop.s", "--region", "loop=5-7", "-o", "loop2.s")
    run("gcc", "loop2.s", LIBTARE, "-Wl,-rpath," + os.path.dirname(LIBTARE), "-o", "loop")
    counted = tare("count", "--on", "exact", "-e", "instructions,branches", "./loop")
    fact = "under the engine the region is exact to the instruction"
    if seen.code or os.uname().machine != "x86_64":
        skip("the engine is for x86-64", fact)
    else:
        ok(re.search(r"region loop .*entered 1 time\s+instructions:u +2,001 .*\s+branches:u +1,000 ", counted.err), fact, counted)
    clash = run("gcc", "-c", "counted.s", "-o", "a.o").returncode or run(
        "ld", "-r", "a.o", "a.o", "-o", "both.o")
    ok(clash != 0 and clash.returncode and b"tare_asm_number_0" in clash.stderr, "two files with one number do not link", clash)
done()
