"""`tare profile --by data`: which data a program touches, and where it misses. What each datum must have is arithmetic: the program touches each
so often as it is said here, by assembly where a compiler could do otherwise."""
import csv
import io
import platform
import shutil
import subprocess

from cli import *

if platform.machine() != "x86_64":
    skip("the engine is for x86-64", "data are told apart")
    done()
if not shutil.which("gcc"):
    skip("no gcc here", "data are told apart")
    done()

os.environ.pop("MALLOC_PERTURB_", None) # meson's: malloc would write to every block itself
os.environ["LD_BIND_NOW"] = "1" # a lazily bound call saves the processor's state on the stack

write("data.c", """\
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>
volatile long table[1000];
volatile long counter;
__thread volatile long own;
volatile char swept[65536] __attribute__((aligned(4096)));
/* neighbours, for string instructions that go over several of them */
extern char first[24], second[40], third[64], fourth[64];
__asm__(".data\\n.balign 64\\n"
	".globl first, second, third, fourth\\n"
	".type first,@object\\n.size first,24\\nfirst: .skip 24\\n"
	".type second,@object\\n.size second,40\\nsecond: .skip 40\\n"
	".type third,@object\\n.size third,64\\nthird: .skip 64\\n"
	".type fourth,@object\\n.size fourth,64\\nfourth: .skip 64\\n.text\\n");
struct node { volatile long value, next[7]; };
__attribute__((noinline)) struct node *make(void) { return malloc(sizeof(struct node)); }
__attribute__((noinline)) long *other(void) { return malloc(100 * sizeof(long)); }
int main(void)
{
	for (int k = 0; k < 3; k++)                         /* table: 3,000 reads */
		for (int i = 0; i < 1000; i++)
			(void)table[i];
	for (int i = 0; i < 500; i++)                       /* counter: 500 reads, 500 writes */
		counter++;
	for (int i = 0; i < 70; i++)                        /* own: 70 writes */
		own = i;
	for (int i = 0; i < 65536; i += 32)                 /* swept: 2,048 lines of 32 bytes */
		swept[i] = 1;
	/* 64 bytes from the first on, by bytes: 24 writes of the first, 40 of the second */
	{ void *to = first; long n = 64; __asm__ volatile("rep stosb" : "+D"(to), "+c"(n) : "a"(0) : "memory"); }
	/* 64 bytes from the first two into the third: 24 reads, 40 reads, 64 writes */
	{ void *to = third, *from = first; long n = 64; __asm__ volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(n) :: "memory"); }
	/* backwards, 12 words of 8 from the fourth's end: 8 of the fourth, 4 of the third */
	{ void *to = fourth + 56; long n = 12; __asm__ volatile("std\\nrep stosq\\ncld" : "+D"(to), "+c"(n) : "a"(0) : "memory"); }
	/* 10 odd words of 2 bytes from third + 1 on: all are misaligned, and cross into the fourth from the 32nd on */
	{ void *to = third + 1; long n = 40; __asm__ volatile("rep stosw" : "+D"(to), "+c"(n) : "a"(0) : "memory"); }
	struct node *nodes[10];
	for (int i = 0; i < 10; i++) {
		nodes[i] = make();
		for (int k = 0; k < 8; k++)                 /* make: 80 writes */
			((volatile long *)nodes[i])[k] = k;
	}
	volatile long *more = other();
	for (int i = 0; i < 100; i++)                       /* other: 100 writes, 200 reads */
		more[i] = i;
	for (int i = 0; i < 200; i++)
		(void)more[i % 100];
	int file = open("content", O_RDONLY);
	volatile char *bytes = mmap(0, 4096, PROT_READ, MAP_PRIVATE, file, 0);
	for (int i = 0; i < 4096; i += 4)                   /* the file: 1,024 reads */
		(void)bytes[i];
	return 7;
}
""")
write("content", "x" * 4096)
subprocess.run(["gcc", "-g", "-O1", "-w", "-no-pie", "data.c", "-o", "data"], check=True)


def profile(fact, *options, code=7, program="./data"):
    """The breakdown of a run as JSON."""
    seen = tare("profile", "--by", "data", "--as", "json", "-o", "data.json", *options, program)
    ok(seen.code == code and not seen.err, f"{fact}: the exit code is the program's, and nothing else is said", seen)
    return parsed(read("data.json"), fact)["breakdown"]


def counts_of(breakdown, name, kind, function=None):
    """{event: count} of the one row of that name, or of blocks that this function allocated."""
    found = [row for row in breakdown["rows"] if row["kind"] == kind and
             (row["stack"][0]["function"] == function if function and row.get("stack") else not function and row["object"] == name)]
    events = [event["event"].split(":")[0] for event in breakdown["events"]]
    return dict(zip(events, found[0]["counts"])) if len(found) == 1 else found


# ---- reads and writes, exactly ----
ACCESSES = "data-reads,data-writes,data-accesses,misaligned-accesses"
EXPECTED = {
    ("table", "variable"): (3000, 0, 0),
    ("counter", "variable"): (500, 500, 0),
    ("swept", "variable"): (0, 2048, 0),
    ("first", "variable"): (24, 24, 0),
    ("second", "variable"): (40, 40, 0),
    ("third", "variable"): (0, 64 + 4 + 32, 32),
    ("fourth", "variable"): (0, 8 + 8, 8),
}
for backend in "exact", "model:r12000":
    found = profile(backend, "--on", backend, "-e", ACCESSES)
    for (name, kind), (reads, writes, misaligned) in EXPECTED.items():
        equal(counts_of(found, name, kind),
              {"data-reads": reads, "data-writes": writes, "data-accesses": reads + writes, "misaligned-accesses": misaligned},
              f"{backend}: {name} is read {reads} times and written {writes} times, {misaligned} misaligned")
    own = counts_of(found, "own", "thread-local") # who zeroes a thread's block writes there, too
    ok(own["data-reads"] == 0 and 70 <= own["data-writes"] < 80, f"{backend}: a thread-local variable is written 70 times", own)
    for function, reads, writes, blocks, size in ("make", 0, 80, 10, 640), ("other", 200, 100, 1, 800):
        equal(counts_of(found, None, "heap", function),
              {"data-reads": reads, "data-writes": writes, "data-accesses": reads + writes, "misaligned-accesses": 0},
              f"{backend}: the heap of {function}() is read {reads} times and written {writes} times")
        equal([(row["blocks"], row["bytes"]) for row in found["rows"] if row["kind"] == "heap" and row["stack"][0]["function"] == function],
              [(blocks, size)], f"{backend}: {function}() allocated {blocks} blocks, {size} bytes")
    equal([row["counts"][:2] for row in found["rows"] if row["kind"] == "mapping" and os.path.basename(row["module"]) == "content"], [[1024, 0]],
          f"{backend}: the mapped file is read 1,024 times")
    for at, event in enumerate(found["events"]):
        equal(sum(row["counts"][at] for row in found["rows"]), event["total"], f"{backend}: {event['event']} of all data add up to its count")
        ok("defect" not in event, f"{backend}: {event['event']} has no defect", event)

# ---- misses of a machine ----
found = profile("misses", "--on", "model:r12000", "-e", "l1d-store-misses,data-writes")
swept = counts_of(found, "swept", "variable")
equal(swept, {"l1d-store-misses": 2048, "data-writes": 2048}, "each line of an array that is swept once is missed once")
found = profile("default events", "--on", "model:r12000")
equal([event["event"] for event in found["events"]], ["l1d-misses:u", "l2-misses:u", "data-accesses:u"], "by default: misses, and accesses")
found = profile("default events of the engine", "--on", "exact")
equal([event["event"] for event in found["events"]], ["data-reads:u", "data-writes:u"], "without a machine: reads and writes")
found = profile("an event without data", "--on", "exact", "-e", "data-reads,instructions")
ok("by instruction" in found["events"][1]["why"] and found["events"][1]["total"] is None,
   "an event that the engine knows by instruction alone says so, and has no numbers", found["events"])
equal({row["counts"][1] for row in found["rows"]}, {None}, "in no row")

# ---- the listing ----
for width in 60, 80, 200:
    seen = shown_on_terminal(width, "profile", "--by", "data", "--on", "exact", "-e", "data-reads,data-writes", "--top", "400", "./data")
    ok(every(len(line) <= width for line in seen.splitlines()), f"{width} columns: lines fit", seen)
    rows = [line.split() for line in seen.splitlines()]
    ok(any(row[:3:2] == ["3,000", "0"] and row[3] == "table" for row in rows if len(row) > 3), f"{width} columns: table's row has its reads and writes", seen)
    ok(any(row[0:1] + row[2:6] == ["200", "100", "heap", "of", "other"] for row in rows), f"{width} columns: heap's row says which function it is of", seen)
    total = [row for row in rows if row[-1:] == ["TOTAL"]]
    ok(len(total) == 2 and total[0] == total[1], f"{width} columns: rows, and kinds of memory, have the same total", total)
listed = tare("profile", "--by", "data", "--on", "exact", "--top", "2", "./data").err
listing = [line.split() for line in listed[:listed.index("kind of memory")].splitlines() if "%" in line]
numbers = [[int(row[at].replace(",", "")) for at in (0, 2)] for row in listing]
ok(len(numbers) == 4 and numbers[3] == [sum(column) for column in zip(*numbers[:3])], "two rows and the others add up to the total", listing)
has(listed, "others", "--top: what is left out is one row")
seen = tare("profile", "--by", "object", "--on", "exact", "-e", "data-reads,instructions", "./data")
has(" ".join(seen.err.split()), "no column of instructions:u: the engine counts it by instruction", "object is another word for data; what has no column is said")

seen = tare("profile", "--by", "data", "--on", "exact", "--timeout", "0.5", "sleep", "1000")
ok(seen.code == 124 and "ended by --timeout: counts are of the part" in " ".join(seen.err.split()), "a program that --timeout ended: said, with exit code 124", seen)

# ---- CSV and HTML ----
seen = tare("profile", "--by", "data", "--on", "exact", "-e", ACCESSES + ",instructions", "--as", "csv", "-o", "data.csv", "./data")
rows = list(csv.DictReader(io.StringIO(read("data.csv"), newline="")))
equal([(row["count"], row["kind"]) for row in rows if row["data"] == "table" and row["event"] == "data-reads:u"], [("3000", "variable")], "CSV has the rows")
equal([(row["count"], row["blocks"], row["bytes"]) for row in rows if row["kind"] == "heap" and row["event"] == "data-writes:u" and row["stack"].startswith("make (")],
      [("80", "10", "640")], "CSV: of heap blocks their stack, number and bytes")
for event in "data-reads:u", "data-writes:u":
    total = [int(row["count"]) for row in rows if row["event"] == event and row["kind"] == "total"]
    equal(total, [sum(int(row["count"]) for row in rows if row["event"] == event and row["kind"] != "total")], f"CSV: {event} adds up to its total")
ok([row for row in rows if row["event"] == "instructions:u" and row["kind"] == "total" and row["count"] == "" and "by instruction" in row["why"]],
   "CSV: an event without data has no count, and says why", rows[-1:])
seen = tare("profile", "--by", "data", "--on", "exact", "--as", "html", "-o", "data.html", "./data")
page = read("data.html")
ok(seen.code == 7 and "counter" in page and "heap of other" in page and "<script src" not in page, "HTML has the rows, in one file", seen)

# ---- kept, and shown again ----
env = environment(TARE_STORE=os.path.abspath("store.db"))
first = tare("profile", "--by", "data", "--on", "exact", "-e", "data-reads,data-writes", "./data", env=env)
again = tare("report", "@last", env=env)
listing = first.err[:first.err.index("kind of memory")]
ok(again.code == 0 and listing in again.out, "tare report shows a kept data profile as it was shown", again)
again = tare("report", "--format", "csv", "@last", env=env)
has(again.out, '"variable","table"', "and as CSV")
tare("count", "--on", "exact", "-e", "data-reads", "--by", "object", "./data", env=env)
has(tare("report", "--by", "data", "@last", env=env).out, "by data", "a count by object is shown as a data profile")

seen = tare("report", "--annotate", "@last", "--by", "data", env=env)
ok(seen.code == 2 and "no meaning for a data profile" in seen.err, "options of code are wrong usage there", seen)
tare("profile", "--on", "exact", "-o", "code.profile", "./data")
seen = tare("report", "--by", "data", "code.profile")
ok(seen.code == 2 and "of code" in seen.err, "a profile of code has no data: an error", seen)

# ---- what is no data profile ----
for options, message in ((["--by", "data"], "samples do not have it"),
                         (["--by", "data", "--on", "exact", "-g"], "-g and --call-graph"),
                         (["--by", "data", "--on", "exact", "--annotate"], "--annotate"),
                         (["--by", "data", "--on", "exact", "--region", "main"], "--region"),
                         (["--by", "data", "--on", "exact", "-r", "3"], "-r has no meaning"),
                         (["--by", "data", "--on", "model:host", "-c", "100"], "-c, --gaps"),
                         (["--by", "data", "--on", "exact", "-o", "x"], "--as json, csv or html"),
                         (["--by", "data", "--on", "exact", "--as", "pprof", "-o", "x"], "--as json, csv or html"),
                         (["--by", "datum", "--on", "exact"], "is not function, line, data, thread or process")):
    seen = tare("profile", *options, "./data")
    ok(seen.code == 2 and message in seen.err and not os.path.exists("x"), f"{' '.join(options)}: wrong usage", seen)
seen = tare("profile", "--by", "data", "--on", "exact", "-e", "instructions", "./data")
ok(seen.code == 3 and "no data profile of 'instructions:u'" in seen.err and "data-reads" in seen.err, "no event has data: an error, that says what has", seen)
seen = tare("profile", "--as", "json", "-o", "code.json", "--on", "exact", "./data")
ok(seen.code == 7 and json.loads(read("code.json"))["functions"], "a profile of code is written as JSON, too", seen)

# blocks are of who wanted them: not of the program's own functions around malloc
write("wrapped.c", """\
#include <stdlib.h>
#include <string.h>
#define APART __attribute__((noinline, noclone, optimize("no-optimize-sibling-calls")))
APART void *xmalloc(size_t n) { void *p = malloc(n); if (!p) abort(); return p; }
APART char *my_strdup(const char *s) { char *p = xmalloc(strlen(s) + 1); strcpy(p, s); return p; }
APART volatile char *alloc_like(void) { return xmalloc(1000); } /* begins, and does not end, with it */
APART volatile char *parse(void) { return xmalloc(1000); }
APART volatile char *copied(void) { return my_strdup("it"); }
int main(void)
{
	volatile char *a = parse(), *b = copied(), *c = alloc_like();
	for (int i = 0; i < 400; i++) a[i] = 1;
	for (int i = 0; i < 300; i++) b[i % 2] = 1;
	for (int i = 0; i < 200; i++) c[i] = 1;
	return 0;
}
""")
subprocess.run(["gcc", "-O1", "-g", "-fno-builtin", "wrapped.c", "-o", "wrapped"], check=True)
seen = tare("profile", "--by", "data", "--on", "exact", "-e", "data-writes", "--top", "30", "./wrapped")
for row, writes in (("heap of parse by xmalloc (", 400), ("heap of alloc_like by xmalloc (", 200), ("heap of copied by my_strdup, xmalloc (", 302)):
    has(seen.err, re.compile(rf"^ +{writes} +[\d.]+%  {re.escape(row)}", re.M), f"{row}…: {writes} writes")
has_not(seen.err, "called from parse", "the calls that led there begin behind it")
seen = tare("profile", "--by", "data", "--on", "exact", "-e", "data-writes", "-o", "wrapped.json", "--as", "json", "./wrapped")
stacks = [[frame["function"] for frame in row["stack"]][:2] for row in json.loads(read("wrapped.json"))["breakdown"]["rows"] if row["kind"] == "heap"]
ok(["xmalloc", "parse"] in stacks, "JSON has the stacks as they are", stacks)
done()
