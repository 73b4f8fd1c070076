"""`tare profile` and `tare report`: programs whose profile is known by counting."""
import csv
import json
import platform
import shutil
import subprocess

from cli import *

if platform.machine() != "x86_64":
    skip("the engine is for x86-64", "profiles are counted")
    done()
if not shutil.which("gcc"):
    skip("no gcc here", "profiles are counted")
    done()

# exactly 7000, 2000 and 1000 instructions
write("shares.s", """\
	.globl _start
	.type seven, @function
seven:
	mov $3499, %ecx         # 1
1:	dec %ecx                # 3499
	jnz 1b                  # 3499
	ret                     # 1
	.size seven, . - seven
	.type two, @function
two:
	mov $999, %ecx          # 1
1:	dec %ecx                # 999
	jnz 1b                  # 999
	ret                     # 1
	.size two, . - two
	.type _start, @function
_start:
	call seven              # 1
	call two                # 1
	mov $497, %ecx          # 1
1:	dec %ecx                # 497
	jnz 1b                  # 497
	mov $60, %eax           # 1
	mov $7, %edi            # 1
	syscall                 # 1
	.size _start, . - _start
""")
subprocess.run(["gcc", "-g", "-nostdlib", "-static", "shares.s", "-o", "shares"], check=True)


def rows(text):
    """[(count, share, name)] of a listing of counts."""
    found = re.findall(r"^ +([\d,]+) +([\d.]+)% +(?:[\d.]+% +)?(\S.*)$", text, re.M)
    return [(int(count.replace(",", "")), float(share), name) for count, share, name in found]


seen = tare("profile", "--on", "exact", "-o", "kept", "./shares")
ok(seen.code == 7 and seen.out == "", "the program's exit status is tare's, and the report goes to standard error", seen)
equal(rows(seen.err), [(7000, 70.0, "seven (shares:shares.s:4)"), (2000, 20.0, "two (shares:shares.s:11)"),
                       (1000, 10.0, "_start (shares:shares.s:18)"), (10000, 100.0, "TOTAL")], "shares of 70, 20 and 10 % are exact")
has(seen.err, "10,000 instructions, counted, not sampled", "the heading says that they are counted")
has_not(seen.err, "interval", "what is counted has no interval")
again = tare("report", "kept")
ok(again.code == 0 and again.err == "", "a report of a kept profile goes to standard output", again)
equal(rows(again.out), rows(seen.err), "and has the same rows")
by_line = rows(tare("report", "--by", "line", "kept").out)
equal(by_line[:2], [(3499, 35.0, "shares.s:5 (shares)"), (3499, 35.0, "shares.s:6 (shares)")], "lines have their own counts")
equal(sum(count for count, _, name in by_line if name != "TOTAL"), 10000, "lines add up")
top = rows(tare("report", "--top", "1", "kept").out)
equal(rows(tare("report", "kept", "--top", "1").out), top, "options may stand behind the file")
two = tare("report", "kept", "--top", "1", "kept")
ok(two.code == 2 and "more than one file" in two.err, "two files are one too many", two)
equal(top, [(7000, 70.0, "seven (shares:shares.s:4)"), (3000, 30.0, "2 others"), (10000, 100.0, "TOTAL")], "--top leaves a row for the others")

both = tare("profile", "--on", "exact", "-e", "instructions,conditional-taken", "./shares").err
ok("instructions:u by function" in both and "conditional-taken:u by function" in both, "each event has its listing", both)
equal(rows(both.split("conditional-taken:u by function")[1])[0], (3498, 70.1, "seven (shares:shares.s:4)"), "by its own counts")
model = tare("profile", "--on", "model:r12000", "-e", "l1d-misses", "./shares")
ok(model.code == 7 and "modelled on r12000" in model.err, "a model's events are profiled in the same way", model)

# the same counts as `tare count --by` has
tare("count", "--on", "exact", "-e", "instructions", "--by", "function", "--by-file", "by.tsv", "./shares")
counted = [line.split("\t") for line in read("by.tsv").splitlines()[1:]]
counted = [int(line[2]) for line in counted if line[0] == "instructions:u" and line[5] == "function"]
equal(counted, [7000, 2000, 1000], "'tare count --by' has the same")

# ---- inlining, libraries ----
write("inlined.c", """\
volatile int sink;
static inline __attribute__((always_inline)) void third(int n) { for (int i = 0; i < n; i++) sink += i; }
static inline __attribute__((always_inline)) void second(int n) { third(n); }
static inline __attribute__((always_inline)) void first(int n) { second(n); }
int main(void) { first(100000); return 0; }
""")
subprocess.run(["gcc", "-g", "-O1", "inlined.c", "-o", "inlined"], check=True)
text = tare("profile", "--on", "exact", "--top", "3", "./inlined").err
ok(rows(text)[0][2] == "main (inlined:inlined.c:5)" and rows(text)[0][0] > 400000, "by function, what was inlined counts where it runs", text)
ok(re.search(r"^ +hottest line: inlined\.c:2 \(inlined\), \d\d\.\d%; --annotate shows it in its source$", text, re.M), "and the hottest line stands below", text)
text = tare("profile", "--on", "exact", "--lines", "--top", "3", "./inlined").err
has_not(text, "hottest line", "a listing of lines has it at its top")
ok(rows(text)[0][2] == "inlined.c:2 (inlined)" and rows(text)[0][0] > 400000, "by line, where it was written", text)
write("library.c", "int work(int n) { volatile int s = 0; for (int i = 0; i < n; i++) s += i; return s; }\n")
write("opens.c", """\
#include <dlfcn.h>
int main(void)
{
	void *library = dlopen("./library.so", RTLD_NOW);
	int (*work)(int) = library ? (int (*)(int))dlsym(library, "work") : 0;
	return work ? (work(100000), 0) : 1;
}
""")
subprocess.run(["gcc", "-g", "-O1", "-shared", "-fPIC", "library.c", "-o", "library.so"], check=True)
subprocess.run(["gcc", "-g", "opens.c", "-o", "opens"], check=True)
seen = tare("profile", "--on", "exact", "--top", "3", "./opens")
ok(seen.code == 0 and rows(seen.err)[0][2] == "work (library.so:library.c:1)" and rows(seen.err)[0][0] > 400000, "a library that was opened later has its names", seen)

# ---- prof's listing ----
text = tare("report", "--prof", "kept").out
# word for word: views_test.py; of what is counted "counts" stand in the place of overflows
ok(re.search(r"^Counter +: instructions:u$", text, re.M) and "Counter overflow value: none: counted, not sampled" in text and "Total number of counts: 10000\n" in text and
   "-p[rocedures] using exact counts.\n" in text and re.search(r"^ +counts\(%\) +cum counts\(%\) +procedure \(dso:file\)$", text, re.M), "--prof has prof's header", text)
has(text, re.compile(r"^Profile listing generated \w{3} \w{3} [ \d]\d \d\d:\d\d:\d\d \d{4}\nwith:      tare report --prof kept$", re.M), "and says when it was made, and of what")
clocks = set(re.findall(r"^Clock +: (\d+\.\d)MHz$", text, re.M))
told = any(line.startswith("cpu MHz") for line in read("/proc/cpuinfo").splitlines())
ok(len(clocks) == 1 and float(*clocks) > 0 if told else "Clock                 : not known" in text, "the clock is what the kernel tells of it, if it does", text)
equal(re.findall(r"^ +(\d+)\( *([\d.]+)\) +(?:(\d+)\( *([\d.]+)\)  )?(\S+)", text, re.M),
      [("7000", "70.0", "7000", "70.0", "seven"), ("2000", "20.0", "9000", "90.0", "two"), ("1000", "10.0", "10000", "100.0", "_start"), ("10000", "100.0", "", "", "TOTAL")],
      "and its rows, with the sum down to each")
for option, value, listed in (("--quit", "15%", ["seven", "two"]), ("--quit", "1", ["seven"]), ("--only", "two", ["two"]), ("--only", "[st]*", ["seven", "two"]),
                              ("--exclude", "seven", ["two", "_start"]), ("--dso", "shares", ["seven", "two", "_start"]), ("--dso", "libc*", [])):
    for prof in ([], ["--prof"]):
        text = tare("report", *prof, option, value, "kept").out
        equal([name for name in re.findall(r"  (\w+) \(shares", text)], listed, f"{' '.join(prof)} {option} {value} lists {listed}")
        has(text, "10000(100.0)" if prof else "10,000", f"{' '.join(prof)} {option} {value}: shares are of all")

# ---- formats ----
for option, name in (("--format", "json"), ("--format", "csv"), ("--as", "callgrind"), ("--as", "speedscope")):
    seen = tare("report", option, name, "-o", f"kept.{name}", "kept")
    ok(seen.code == 0 and seen.out == "", f"a report as {name}", seen)
report = json.loads(read("kept.json"))
if jsonschema:
    with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../docs/profile.schema.json"), encoding="utf-8") as file:
        profile_schema = json.load(file)
    jsonschema.Draft202012Validator.check_schema(profile_schema)
    validator = jsonschema.Draft202012Validator(profile_schema)
    for wrong in ({**report, "tare_profile": 2}, {**report, "functions": [{**report["functions"][0], "counts": [{"self": -1, "inclusive": 0, "share": 2}]}]},
                  {key: value for key, value in report.items() if key != "lines"}):
        ok(list(validator.iter_errors(wrong)), "the schema of profiles refuses what is wrong")
    for arguments in (["--on", "exact", "-e", "instructions,calls"], ["--on", "exact", "-g"], ["--on", "model:r12000", "-e", "l1d-misses"], ["-e", "page-faults:u@1", "-g"],
                      ["-e", "page-faults:u@2", "--gaps", "jitter"]):
        seen = tare("profile", *arguments, "-o", "any", "./shares")
        if "cannot" in seen.err and seen.code == 3:
            skip("it cannot be profiled here", f"JSON of a profile obeys its schema: {' '.join(arguments)}")
            continue
        errors = [error.message for error in validator.iter_errors(json.loads(tare("report", "--format", "json", "any").out))]
        ok(not errors, f"JSON of a profile obeys its schema: {' '.join(arguments)}", errors[:3])
else:
    skip("python3-jsonschema is not installed", "JSON of a profile obeys its schema")
equal({row["function"]: row["counts"][0]["self"] for row in report["functions"]}, {"seven": 7000, "two": 2000, "_start": 1000}, "JSON has the counts")
scope = json.loads(read("kept.speedscope"))
equal(sorted((scope["shared"]["frames"][stack[-1]]["name"], weight) for stack, weight in
             zip(scope["profiles"][0]["samples"], scope["profiles"][0]["weights"])), [("_start", 1000), ("seven", 7000), ("two", 2000)], "so has speedscope's file")
table = list(csv.DictReader(open("kept.csv", newline="")))
equal({row["function"]: int(row["self"]) for row in table if row["kind"] == "function"}, {"seven": 7000, "two": 2000, "_start": 1000}, "so has CSV")
if shutil.which("callgrind_annotate"):
    text = subprocess.run(["callgrind_annotate", "kept.callgrind"], capture_output=True, text=True).stdout
    ok("7,000 (70.00%)" in text and "shares.s:seven" in text and "10,000 (100.0%)" in text, "callgrind_annotate reads its format", text)
else:
    skip("no callgrind_annotate here", "callgrind_annotate reads its format")
seen = tare("report", "-e", "cycles", "kept")
ok(seen.code == 2 and "no event 'cycles'" in seen.err and "instructions:u" in seen.err, "an event that is not there is wrong usage, with those that are", seen)

# ---- annotated source ----
text = tare("report", "--annotate", "kept").out
ok(re.search(r"^ +3,499 +35\.0% +5  1:\s+dec %ecx", text, re.M), "--annotate shows a line's source beside its counts", text)
os.utime("shares.s", (4e9, 4e9))
has(tare("report", "--annotate", "kept").out, "CHANGED since the profile was taken", "a source that is newer is marked")
os.remove("shares.s")
os.mkfifo("shares.s")
has(tare("report", "--annotate", "kept").out, "no source, it is not a regular file", "a FIFO in the source's place is not read")

# ---- sampling: page faults are deterministic, each is a sample ----
write("faults.c", """\
#include <sys/mman.h>
static char *memory;
__attribute__((noinline)) void many(void) { for (int i = 0; i < 700; i++) memory[i * 4096] = 1; }
__attribute__((noinline)) void few(void) { for (int i = 700; i < 900; i++) memory[i * 4096] = 1; }
__attribute__((noinline)) void both(void) { many(); few(); }
int main(void)
{
	memory = mmap(0, 900 * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	madvise(memory, 900 * 4096, MADV_NOHUGEPAGE);
	both();
	return 5;
}
""")
subprocess.run(["gcc", "-g", "-O0", "-static", "faults.c", "-o", "faults"], check=True)
seen = tare("profile", "-e", "page-faults:u@1", "-o", "sampled", "./faults")
if seen.code == 3 and "cannot sample" in seen.err:
    skip("page faults cannot be sampled here", "sampled profiles")
else:
    found = {name.split(" ")[0]: count for count, _, name in rows(seen.err)}
    ok(seen.code == 5 and found["many"] == 700 and found["few"] == 200, "each page fault is a sample, at its function", seen)
    equal(rows(tare("report", "sampled").out), rows(seen.err), "a kept profile has the same samples")
    size, samples = os.path.getsize("sampled"), found["TOTAL"]
    ok(size < 40 * samples, "a sample takes less than 40 bytes in the file", (size, samples))
    part = [rows(tare("report", *arguments, "sampled").out)[-1][0] for arguments in (["--to", "0.0000001"], ["--from", "0.0000001"])]
    ok(part[0] >= 1 and sum(part) == samples, "--from and --to part the samples by their time", (part, samples))
    made = [tare("report", "--as", "firefox", "-o", "kept.json", "sampled"), tare("profile", "--as", "firefox", "-e", "page-faults:u@1", "-o", "now.json", "./faults")]
    for name, seen_ in zip(("kept.json", "now.json"), made):
        times = [time for thread in json.loads(read(name))["threads"] for time in thread["samples"]["time"]]
        ok(len(times) >= 900 and times == sorted(times) and times[-1] > times[0] >= 0, f"the Firefox Profiler's file has the time of each sample: {name}", (seen_, times[:5], len(times)))
    seen = tare("profile", "--gaps", "prime", "-c", "90", "-e", "page-faults:u", "./faults")
    ok("one each 97 faults (fixed gaps)" in seen.err and found["TOTAL"] // 97 - 1 <= rows(seen.err)[-1][0] <= found["TOTAL"] // 97 + 1, "--gaps prime takes the next prime number", seen)
    seen = tare("profile", "-g", "-e", "page-faults:u@1", "./faults")
    calls = re.search(r"^ +0 +0\.0% +([\d.]+)% +main ", seen.err, re.M)
    total = re.search(r"^ +([\d,]+) +100\.0% .*TOTAL$", seen.err, re.M)
    ok(calls and total and 100 * 900 / int(total.group(1).replace(",", "")) - 0.1 <= float(calls.group(1)) <= 100, "with stacks, main has what it called", seen)

    has_not(seen.err, "frame pointers", "stacks of a program that keeps frame pointers need no advice")

    # without frame pointers
    subprocess.run(["gcc", "-g", "-O0", "-fomit-frame-pointer", "-static", "faults.c", "-o", "pointerless"], check=True)
    seen = tare("profile", "-g", "-e", "page-faults:u@1", "./pointerless")
    advice = "--call-graph dwarf, or compile with -fno-omit-frame-pointer"
    has(" ".join(seen.err.split()), advice, "stacks by frame pointers of a program that keeps none say what to do")
    seen = tare("profile", "-g", "-e", "page-faults:u@1", "-o", "cut.svg", "--as", "flamegraph", "./pointerless")
    has(" ".join(seen.err.split()), advice, "so does a file made of them")
    seen = tare("profile", "--call-graph", "dwarf", "-e", "page-faults:u@1", "./pointerless")
    if "cannot" in seen.err and seen.code == 3:
        skip("no stack can be copied here", "stacks by unwind tables")
    else:
        calls = re.search(r"^ +0 +0\.0% +([\d.]+)% +main ", seen.err, re.M)
        # copies of stacks are large: some may be lost, which the report says
        many = re.search(r"^ +\d+ +([\d.]+)% .*many \(", seen.err, re.M)
        ok(calls and many and float(calls.group(1)) >= float(many.group(1)) > 0, "by unwind tables too", seen)
        said = re.search(r"([\d,]+) samples, one each time; in all ([\d,]+) faults(?:; ([\d,]+) samples were lost)?", " ".join(seen.err.split()))
        taken, happened, lost = (int((number or "0").replace(",", "")) for number in said.groups()) if said else (0, 0, 1)
        equal(taken + lost, happened, "each sample with a copied stack is there, or told as lost")

    # the caller of code that has no frame of its own, or that uses the frame pointer for something else
    write("frames.s", """\
	.globl leaf
	.type leaf, @function
leaf:
	.cfi_startproc
	mov $100, %ecx
1:	movb $1, (%rdi)         # 100 faults
	add $4096, %rdi
	dec %ecx
	jnz 1b
	ret
	.cfi_endproc
	.size leaf, . - leaf
	.globl other
	.type other, @function
other:
	.cfi_startproc
	push %rbp
	.cfi_def_cfa_offset 16
	.cfi_offset 6, -16
	mov $50, %ebp
1:	movb $1, (%rdi)         # 50 faults
	add $4096, %rdi
	dec %ebp
	jnz 1b
	pop %rbp
	.cfi_def_cfa_offset 8
	ret
	.cfi_endproc
	.size other, . - other
	.section .note.GNU-stack
""")
    write("calls.c", """\
#include <sys/mman.h>
void leaf(char *), other(char *);
static char *memory;
__attribute__((noinline)) void framed(void) { for (int i = 150; i < 200; i++) memory[i * 4096] = 1; __asm__ volatile(""); }
__attribute__((noinline)) void descends(int n) { if (n) descends(n - 1); else leaf(memory); __asm__ volatile(""); }
__attribute__((noinline)) void to_other(void) { other(memory + 100 * 4096); __asm__ volatile(""); }
int main(void)
{
	memory = mmap(0, 200 * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	madvise(memory, 200 * 4096, MADV_NOHUGEPAGE);
	descends(2);
	to_other();
	framed();
	return 0;
}
""")
    subprocess.run(["gcc", "-g", "-O1", "-fno-omit-frame-pointer", "-static", "calls.c", "frames.s", "-o", "frames"], check=True)
    for arguments in (["-g"], ["--call-graph", "dwarf"]):
        seen = tare("profile", *arguments, "-e", "page-faults:u@1", "--as", "folded", "-o", "frames.folded", "./frames")
        if "cannot" in seen.err and seen.code == 3:
            skip("no stack can be copied here", f"the callers of code without a frame: {' '.join(arguments)}")
            continue
        stacks = {}
        for line in read("frames.folded").splitlines():
            stack, count = line.rsplit(" ", 1)
            if ";main;" in stack:
                stacks[stack.split(";main;")[1]] = int(count)
        equal(stacks, {"descends;descends;descends;leaf": 100, "to_other;other": 50, "framed": 50}, f"each frame is in the stack once: {' '.join(arguments)}")

# ---- code that a program makes as it runs: named by its map, or a note says why not ----
if shutil.which("gcc"):
    write("made.c", r"""
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
int main(int argc, char **argv)
{
	/* mov $100, %ecx; 1: movb $1, (%rdi); add $4096, %rdi; dec %ecx; jnz 1b; ret */
	static const unsigned char code[] = {0xb9, 100, 0, 0, 0, 0xc6, 0x07, 0x01, 0x48, 0x81, 0xc7, 0, 0x10, 0, 0,
		0xff, 0xc9, 0x75, 0xf2, 0xc3};
	char *memory = mmap(0, 100 * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	void *at = mmap(0, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	char name[64];
	snprintf(name, sizeof name, "/tmp/perf-%d.map", (int)getpid());
	madvise(memory, 100 * 4096, MADV_NOHUGEPAGE);
	memcpy(at, code, sizeof code);
	if (argc > 1) {
		FILE *map = fopen(name, "w");
		fprintf(map, argv[1], (unsigned long)at);
		fclose(map);
		puts(name);
	}
	((void (*)(char *))at)(memory);
	return 0;
}
""")
    subprocess.run(["gcc", "-O1", "made.c", "-o", "made"], check=True)
    for words, name, note in (([], "[anonymous]", "there is no '/tmp/perf-"), (["%lx 14 touches\n"], "touches", None),
                              (["%lx\n"], "[anonymous]", "is not 'START SIZE name'")):
        seen = tare("profile", "-e", "page-faults:u@1", "./made", *words)
        made = [line for line in seen.err.splitlines() if line.split()[:1] == ["100"]]
        ok(len(made) == 1 and name in made[0], f"100 faults of code that the program made: {name}", seen)
        text = " ".join(seen.err.split())
        ok(note in text if note else "made as it ran" not in text, f"and the report says why there are no names: {note}", seen)
        ok("Compile with -g" not in text, "nor is it told to be compiled with -g", seen)
        if words:
            os.unlink(seen.out.strip())

# ---- another file in a program's place ----
shutil.copy("opens", "replaced")
tare("profile", "--on", "exact", "-o", "before", "./replaced")
shutil.copy("inlined", "replaced")
has(" ".join(tare("report", "before").out.split()), "its build ID differs", "a file that is another one now is told of")
own = [row["function"] for row in json.loads(tare("report", "--format", "json", "before").out)["functions"] if row["module"].endswith("/replaced")]
ok(own and every(re.fullmatch(r"replaced\+0x[0-9a-f]+", name) for name in own), "and gives no names", own)

# ---- what is wrong ----
for arguments, message in ((["profile"], "nothing to profile: no program is given"),
                           (["profile", "-p", "1", "true"], "remove the program"),
                           (["profile", "-p", "1", "sleep", "5"], "--for SECONDS"),
                           (["profile", "-F", "100", "-c", "7", "true"], "choose -F, or -c and --gaps, not both"),
                           (["profile", "--gaps", "odd", "true"], "'odd' is not exponential, jitter, prime or fixed"),
                           (["profile", "--on", "exact", "-e", "no-such-event", "true"], "no-such-event"),
                           (["report", "--from", "2", "--to", "1", "kept"], "--to must be later than --from"),
                           (["report", "--from", "1", "kept"], "counts without times"),
                           (["report", "--quit", "0%", "kept"], "'0%' is not a share above 0%"),
                           (["report"], "no file is given"),
                           (["report", "./shares"], "'./shares' is not a profile of tare"),
                           (["report", "--top", "0", "kept"], "'0' is not a whole number from 1")):
    seen = tare(*arguments)
    ok(seen.code == 2 and message in seen.err, f"'tare {' '.join(arguments)}' is wrong usage", seen)
seen = tare("report", "missing")
ok(seen.code == 3 and "missing" in seen.err, "a file that is not there cannot be read", seen)
seen = tare("profile", "--on", "exact", "./no-such-program")
ok(seen.code == 3 and "no-such-program" in seen.err, "a program that is not there cannot be profiled", seen)
whole = open("kept", "rb").read()
write("cut", whole[:-9])
cut = tare("report", "cut")
ok(cut.code == 0 and "incomplete" in cut.out and "70.0%" not in cut.out, "counts of a file that is cut are not shown, and why", cut)
# ---- SpeedShop's experiments ----
def kept_by(seen):
    return re.search(r"^kept in (\S+)$", seen.err, re.M)


ideal = tare("profile", "--exp", "ideal", "./shares")
kept = kept_by(ideal)
ok(kept and re.fullmatch(r"shares\.ideal\.m\d+", kept[1]), "an experiment is kept in PROGRAM.EXPERIMENT.mPID", ideal)
equal(rows(tare("report", kept[1]).out) if kept else None, rows(ideal.err), "which 'tare report' shows")
equal(rows(ideal.err)[0], (7000, 70.0, "seven (shares:shares.s:4)"), "ideal counts instructions exactly")
prof = tare("profile", "--exp", "prof_hwc", "-e", "page-faults:u", "-c", "1", "./inlined")
ok(prof.code == 0 and kept_by(prof) and "one each time" in prof.err, "prof_hwc samples the event that is named", prof)
usertime = tare("profile", "--exp", "usertime", "./inlined")
ok(usertime.code == 0 and "one each 30 ms (fixed gaps)" in usertime.err, "usertime samples each 30 ms of CPU time", usertime)
modelled = tare("profile", "--exp", "dc_hwc", "--on", "model:r12000", "./shares")
ok(modelled.code == 7 and "modelled on r12000" in modelled.err, "an experiment of a counter is counted exactly on a model", modelled)
named = tare("profile", "--exp", "ideal", "-o", "named", "./shares")
ok(not kept_by(named) and rows(tare("report", "named").out) == rows(ideal.err), "-o names the file", named)
for words, what in [(["nope", "./shares"], "it has usertime, pcsamp"), (["pcsamp", "-c", "5", "./shares"], "sets the event and the gap"),
                    (["prof_hwc", "./shares"], "none is named"), (["pcsamp", "-p", "1"], "a program that tare starts"),
                    (["pcsamp", "-r", "2", "./shares"], "keeps one run")]:
    seen = tare("profile", "--exp", *words)
    ok(seen.code == 2 and what in seen.err, f"--exp {' '.join(words)} is refused", seen)
# ---- orders while it runs ----
if os.path.exists("/proc/sys/kernel/perf_event_paranoid"):
    def ordered(*orders):
        """The report of a program of which the orders came before it touched anything, and the answers."""
        os.mkfifo("orders")
        os.mkfifo("answers")
        to, back = os.open("orders", os.O_RDWR), os.open("answers", os.O_RDWR)
        run = subprocess.Popen([TARE, "profile", "-e", "page-faults:u", "-c", "1", "--gaps", "fixed", "--control", "fifo:orders,answers", "--delay", "-1",
                                "-o", "kept.orders", "sh", "-c", "echo up; read line; exec ./inlined"],
                               stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment())
        run.stdout.readline()  # the shell has started: what follows an order is the program's
        answers = []
        for order in orders:
            os.write(to, order.encode() + b"\n")
            if order != "nonsense":
                answers.append(os.read(back, 100))
        said = run.communicate("\n")[1]
        os.close(to)
        os.close(back)
        os.remove("orders")
        os.remove("answers")
        return said, answers

    said, answers = ordered("ping")
    ok(answers == [b"ack\n"] and "0 samples" in said, "--delay -1 samples nothing until it is told to", said)
    said, answers = ordered("enable", "snapshot")
    found = re.search(r"(\d+) samples, one each time; in all (\d+) faults", said)
    ok(answers == [b"ack\n"] * 2 and found and found[1] == found[2] and int(found[1]) > 20, "enable begins, and all that follows is sampled", said)
    said, answers = ordered("enable", "disable", "nonsense", "ping")
    found = re.search(r"(\d+) samples?, one each time", said)
    ok(found and int(found[1]) < 20, "disable ends it", said)
    ok("unknown orders were left out: 1" in said and len(answers) == 3, "an unknown order is said", said)
for words, what in [(["fifo:nowhere"], "cannot open the FIFO"), (["fifo:inlined.c"], "is not a FIFO"), (["fd:99"], "open descriptors"), (["fd:"], "names no FIFO")]:
    seen = tare("profile", "--control", *words, "./shares")
    ok(seen.code in (2, 3) and what in seen.err, f"--control {words[0]} is refused", seen)
seen = tare("profile", "--delay", "-1", "./shares")
ok(seen.code == 2 and "--control" in seen.err, "--delay -1 without orders is refused", seen)

# lines of files with hardly a count are looked for where they show: a listing without them is the same one
write("rare.c", "int rare_one(int x) { return x + 1; }\nint rare_two(int x) { return x * 2; }\n")
write("often.c", """\
int rare_one(int), rare_two(int);
static __attribute__((noinline)) unsigned often(unsigned n) {
	unsigned x = 0;
	for (unsigned i = 0; i < n; i++)
		x = x * 3 + i;
	return x;
}
int main(void) { return (often(2000000) + rare_one(1) + rare_two(1)) & 1; }
""")
subprocess.run(["gcc", "-g", "-O1", "-shared", "-fPIC", "rare.c", "-o", "rare.so"], check=True)
subprocess.run(["gcc", "-g", "-O1", "often.c", "./rare.so", "-o", "often"], check=True)
for stacks in ([], ["-g"]):
    seen = tare("profile", "--on", "exact", "-e", "instructions,branches", *stacks, "-o", "kept.often", "./often")
    plain, all_lines = tare("report", "kept.often").out, tare("report", "--annotate", "kept.often").out
    short = [name for _, _, name in rows(plain)]
    ok(short and not any("rare_" in name for name in short), f"the rare functions are not listed {stacks}", seen)
    equal(rows(plain), rows(all_lines)[:len(rows(plain))], f"and the listing is that in which all lines were looked for {stacks}")
    notes = [re.findall(r"^ *(?:hottest line|lines): .*?(?=;|$)", text, re.M) for text in (plain, all_lines)]
    ok(notes[0] and notes[0] == notes[1], f"so is what it says of lines {stacks}", notes)
    has(tare("report", "--top", "100000", "kept.often").out, "rare_two (rare.so:rare.c:2)", f"where they are listed they have their lines {stacks}")
    has(tare("report", "--lines", "--top", "100000", "kept.often").out, "rare.c:2 (rare.so)", f"and among lines they are {stacks}")



def opened(name, *arguments):
    """Was this file opened while tare ran?"""
    libc = ctypes.CDLL(None, use_errno=True)
    watch = libc.inotify_init1(os.O_NONBLOCK | os.O_CLOEXEC)
    assert libc.inotify_add_watch(watch, name.encode(), 0x20) >= 0, "no watch"  # IN_OPEN
    done_ = tare(*arguments)
    try:
        return bool(os.read(watch, 4096)), done_
    except BlockingIOError:
        return False, done_
    finally:
        os.close(watch)


# lines and what was inlined are in a file of their own: it is opened where they are looked for, and by nothing else
subprocess.run(["gcc", "-g", "-gsplit-dwarf", "-O1", "-fPIC", "-c", "rare.c", "-o", "rare.o"], check=True)
subprocess.run(["gcc", "-shared", "rare.o", "-o", "rare.so"], check=True)
dwo = next((name for name in os.listdir(".") if name.endswith(".dwo")), None)
for stacks in ([], ["-g"]):
    looked, seen = opened(dwo, "profile", "--on", "exact", *stacks, "-o", "kept.often", "./often")
    ok(seen.code in (0, 1) and "often (often:often.c:" in seen.err and not looked, f"a listing of functions does not look for the lines of a file with hardly a count {stacks}", seen)
    for show, wanted in (([], False), (["--lines"], True), (["--top", "100000"], True), (["--annotate"], True), (["--format", "json"], True)):
        looked, seen = opened(dwo, "report", *show, "kept.often")
        ok(seen.code == 0 and looked == wanted, f"tare report {' '.join(show)} {'does' if wanted else 'does not'} {stacks}", (looked, seen))

# the gap that tare chooses: what a sample costs is in the heading, of the kept profile too
seen = tare("profile", "-e", "cpu-clock", "-o", "cost.profile", "sh", "-c", "i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done")
if seen.code == 0:
    said, kept = (re.findall(r"a sample costs [\d.]+ \S+ here, [\d.]+ % of the program's CPU time in all", " ".join(text.split())) for text in (seen.err, tare("report", "cost.profile").out))
    costs = [e["cost_ns"] for e in json.loads(tare("report", "--format", "json", "cost.profile").out)["events"] if "cost_ns" in e]
    ok(said == kept and len(said) == len(costs) and all(c > 0 for c in costs), "the cost of a sample is said where it was measured, and kept", (said, kept, costs))
    seen = tare("profile", "-e", "cpu-clock", "-c", "1000000", "true")
    has_not(seen.err, "a sample costs", "with a gap that the user chose no cost is measured")
else:
    skip("the CPU clock cannot be sampled here", "the cost of a sample is said")
done()
