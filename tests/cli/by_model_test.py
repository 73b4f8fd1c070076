"""`tare count --by` of what a machine model counts: by function, line and data object. The program touches each of its objects a known
number of lines of the R12000's first-level cache (32 bytes; docs/closed-forms.md 1.1: a sweep over fresh memory misses once a line)."""
import json
import platform
import re
import shutil
import subprocess

from cli import *

if platform.machine() != "x86_64":
    skip("the engine is for x86-64", "modelled events are counted by place")
    done()
if not shutil.which("gcc"):
    skip("no gcc here", "modelled events are counted by place")
    done()

os.environ.pop("MALLOC_PERTURB_", None) # meson's: malloc would write to every block itself
os.environ["LD_BIND_NOW"] = "1" # a lazily bound call saves the processor's state on the stack: as many bytes as the processor has

write("objects.c", """\
#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
enum { BYTES = 65536, LINE = 32 };          /* 2048 lines */
static volatile char table[BYTES] __attribute__((aligned(4096)));
struct odd { char c; volatile long value; } __attribute__((packed, aligned(8)));
static struct odd odd;
#define NOINLINE __attribute__((noinline, noclone))
static NOINLINE void sweep(volatile char *at) {
	for (int i = 0; i < BYTES; i += LINE)
		at[i] = 1;                   /* line 13 */
}
static NOINLINE void *allocate(void) { return aligned_alloc(4096, BYTES); }
static NOINLINE void *other(void) { return allocate(); }
static NOINLINE void bump(void) { for (int i = 0; i < 1000; i++) odd.value = i; }
static void *work(void *arg) { (void)arg; sweep(allocate()); return 0; }
int main(int argc, char **argv) {
	volatile char *a = allocate(), *b = other(), *mapped = mmap(0, BYTES, 3, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (argc > 1 && argv[1][0] == 't') {
		pthread_t threads[2];
		for (int i = 0; i < 2; i++)
			pthread_create(&threads[i], 0, work, 0);
		for (int i = 0; i < 2; i++)
			pthread_join(threads[i], 0);
		return 0;
	}
	if (argc > 1 && argv[1][0] == 'f') {
		if (fork() == 0) {
			sweep(a);
			_exit(0);
		}
		wait(0);
	}
	sweep(table);
	sweep(a);
	sweep(b);
	sweep(mapped);
	bump();
	char *p = malloc(100);
	p = realloc(p, 200000);
	sweep((volatile char *)p + 128);
	free(p);
	return 0;
}
""")
subprocess.run(["gcc", "-g", "-O1", "-fno-builtin", "objects.c", "-o", "objects", "-lpthread"], check=True)
HERE = os.path.join(os.getcwd(), "objects")


def count(fact, by, *command, on="model:r12000", events="l1d-misses,l1d-store-misses", more=()):
    seen = tare("count", "--on", on, "--json", "-o", "report.json", "--by", by, "--by-file", "by.tsv", "-e", events, *more, *command)
    ok(seen.code == 0, f"{fact}: exit code 0", seen)
    report = parsed(read("report.json"), fact)
    values = {(row["event"], row.get("machine")): row["value"] for row in report["results"]}
    for at, event in enumerate(report["breakdown"]["events"]):
        if event["total"] is None:
            continue
        total = sum(row["counts"][at] for row in report["breakdown"]["rows"])
        ok(total == event["total"] == values[event["event"], event.get("machine")] and "defect" not in event,
           f"{fact}: {event['event']} adds up", (total, event, values))
    return report


def rows(report, event, **members):
    """[(count of the event, row)] of the rows with these members, the largest first."""
    at = [e["event"] for e in report["breakdown"]["events"]].index(event)
    found = [(row["counts"][at], row) for row in report["breakdown"]["rows"]
             if row["counts"][at] and all(row.get(name) == value for name, value in members.items())]
    return sorted(found, key=lambda pair: -pair[0])


def why(report, event):
    return [e.get("why", "") for e in report["breakdown"]["events"] if e["event"] == event][0]


def of_allocation(report, event, *functions):
    """Count, blocks and bytes of the heap blocks whose stack begins with these functions."""
    found = [(n, row["blocks"], row["bytes"]) for n, row in rows(report, event, kind="heap")
             if [frame["function"] for frame in row["stack"]][:len(functions)] == list(functions)]
    return found


# ---- code ----
report = count("by function", "function", "./objects")
equal([n for n, row in rows(report, "l1d-store-misses:u", function="sweep")], [5 * 2048], "each sweep misses once a line, all of it in its function")
report = count("by line", "line", "./objects", more=("--reproducible",))
lines = [n for n, row in rows(report, "l1d-store-misses:u", line=13) if row["file"].endswith("objects.c")]
equal(lines, [5 * 2048], "and on the line that stores")
first = read("by.tsv")
count("by line again", "line", "./objects", more=("--reproducible",))
equal(read("by.tsv"), first, "the same program has the same rows each time")
report = count("differences", "line", "./objects", events="l1d-hits,l1d-accesses,l1d-misses")
hits, accesses, misses = ([n for n, row in rows(report, event + ":u", line=13) if row["file"].endswith("objects.c")] for event in ("l1d-hits", "l1d-accesses", "l1d-misses"))
ok(misses == [5 * 2048] and accesses[0] >= 5 * 2048 and [accesses[0] - misses[0]] == (hits or [0]), "what is a difference is one at each line", (hits, accesses, misses))
count("all kinds of events", "line", "sh", "-c", "seq 3000 | sort -rn | gzip -c | wc -c",
      events="l1i-load-misses,branch-misses,dtlb-misses,l2-misses,instructions,conditional-taken")

# ---- data ----
report = count("by object", "object", "./objects", events="l1d-store-misses,l1d-misses,misaligned-accesses")
event = "l1d-store-misses:u"
equal([(n, row["bytes"], row["module"]) for n, row in rows(report, event, object="table")], [(2048, 65536, HERE)], "a variable has the misses on it")
equal(of_allocation(report, event, "allocate", "main"), [(2048, 1, 65536)], "a heap block has those on it, with the stack of its allocation")
equal(of_allocation(report, event, "allocate", "other", "main"), [(2048, 1, 65536)], "another stack is another object")
mapped = [(n, row["bytes"]) for n, row in rows(report, event, kind="mapping") if row.get("stack") and row["stack"][0]["function"] == "main"]
equal(mapped, [(2048, 65536)], "a mapping has them, too, of the function that asked for it")
grown = of_allocation(report, event, "main")
equal([(blocks, size) for n, blocks, size in grown if size == 200000], [(1, 200000)], "realloc makes a block of a site of its own")
# and the 100 bytes that realloc copies are up to 4 lines in front of what is swept
ok(2048 <= sum(n for n, blocks, size in grown if size == 200000) <= 2052, "which is swept like the others", grown)
equal([n for n, row in rows(report, "misaligned-accesses:u", object="odd")], [1000], "misaligned accesses are on the variable that is not aligned")
stacks = rows(report, event, kind="stack")
ok(len(stacks) == 1 and 0 < stacks[0][0] < 1000, "the stack is one object", stacks)
ok(sum(n for n, row in rows(report, event, kind="unknown")) == 0, "nothing that was touched is unknown", rows(report, event, kind="unknown"))
seen = tare("count", "--on", "model:r12000", "-e", "l1d-store-misses", "--by", "object", "./objects")
has(seen.err, re.compile(r"^ *2,048\( *\d+\.\d%\).*  table, 65,536 bytes \(objects\)$", re.M), "text has the variable with its size and module")
has(seen.err, re.compile(r"  \[heap\], 65,536 bytes\n +allocated in allocate \(objects:objects\.c:15\)\n +called from main \(objects:objects\.c:\d+\)$", re.M),
    "and the heap block with its stack")
write("inlined.c", """\
#include <stdlib.h>
static inline __attribute__((always_inline)) volatile char *inner(int n) { return malloc(n); }
static inline __attribute__((always_inline)) volatile char *outer(int n) {
	return inner(n);
}
__attribute__((noinline)) volatile char *real(int n) { volatile char *p = outer(n); p[0] = 1; p[4096] = 1; return p; }
int main(void) { return !real(100000); }
""")
subprocess.run(["gcc", "-g", "-O2", "-fno-builtin", "inlined.c", "-o", "inlined"], check=True)
report = count("an inlined allocation", "object", "./inlined", events="l1d-store-misses")
equal([n for n, blocks, size in of_allocation(report, event, "inner", "outer", "real", "main")], [2], "an allocation's stack has the functions whose code was inlined")
report = count("threads", "object", "./objects", "threads", events="l1d-store-misses")
equal(of_allocation(report, event, "allocate", "work"), [(4096, 2, 131072)], "blocks of one stack in two threads are one object")
report = count("a forked child", "object", "./objects", "fork", events="l1d-store-misses")
equal(of_allocation(report, event, "allocate", "main"), [(4096, 1, 65536)], "a forked child's accesses to its parent's block are that block's")
report = count("without children", "object", "./objects", "fork", events="l1d-store-misses", more=("--no-children",))
equal(of_allocation(report, event, "allocate", "main"), [(2048, 1, 65536)], "without children only the program's own")
report = count("no machine", "object", "./objects", on="exact", events="misaligned-accesses,line-crossing-accesses,instructions")
equal([n for n, row in rows(report, "misaligned-accesses:u", object="odd")], [1000], "the engine's own counts of accesses are by object without a machine")
ok("by instruction" in why(report, "instructions:u"), "instructions are not, and say so", report["breakdown"]["events"])
report = count("a pipeline", "object", "sh", "-c", "seq 3000 | sort -rn | gzip -c | wc -c", events="l1d-misses,l2-misses,dtlb-misses")
ok(any(row["kind"] == "code" for row in report["breakdown"]["rows"]), "what instruction fetch missed is not data's", report["breakdown"]["rows"][:5])

# ---- variables that share a cell of a large file's memory ----
write("large.s", """\
	.globl _start
	.type _start, @function
_start:
	mov $500, %ecx
1:	movl $1, first(%rip)
	movl $1, second(%rip)
	dec %ecx
	jnz 1b
	mov $60, %eax
	xor %edi, %edi
	syscall
	.size _start, . - _start
	.bss
	.p2align 3
	.space 1
	.type first, @object
	.size first, 3
first:	.space 3
	.type second, @object
	.size second, 4
second:	.space 4
	.type large, @object
	.size large, 0x200000
large:	.space 0x200000
""")
subprocess.run(["gcc", "-nostdlib", "-static", "large.s", "-o", "large"], check=True)
report = count("a large program", "object", "./large", on="exact", events="misaligned-accesses")
equal([(n, row["object"]) for n, row in rows(report, "misaligned-accesses:u")], [(500, "first, second")],
      "variables that share eight bytes of more than a megabyte are named together")

# ---- allocations around calls that enter and leave regions: the engine returns from these itself ----
write("regions.c", """\
#include <stdlib.h>
#define NOINLINE __attribute__((noinline, noclone))
asm(".macro region_call name, code\\n\\\\name: .byte 0x66, 0x0f, 0x1f, 0x84, 0\\n .long \\\\code\\n ret\\n.endm\\n"
    "region_call enter, 0x54415202\\nregion_call leave, 0x54415203\\n");
void enter(const char **), leave(const char **);
static const char *in = "in", *twice = "twice";
enum { BYTES = 65536 };
static NOINLINE void sweep(volatile char *at) { for (int i = 0; i < BYTES; i += 32) at[i] = 1; }
static NOINLINE char *inside(void) {
	enter(&in);
	char *at = aligned_alloc(4096, BYTES);
	leave(&in);
	return at;
}
static NOINLINE char *behind(void) {
	for (int i = 0; i < 20; i++) {
		enter(&in);
		enter(&twice);
		leave(&twice);
		leave(&in);
	}
	return aligned_alloc(4096, BYTES);
}
static NOINLINE char *leaves_last(char *at) { leave(&in); return at; }
static NOINLINE char *through(void) { enter(&in); return leaves_last(aligned_alloc(4096, BYTES)); }
static NOINLINE __attribute__((optimize("optimize-sibling-calls"))) char *jumps(void) {
	enter(&in);
	leave(&in);
	return aligned_alloc(4096, BYTES);   /* its own return address is the call's */
}
static NOINLINE char *after(void) { char *at = aligned_alloc(4096, BYTES); *at = 1; return at; }
int main(void) {
	sweep(inside());
	sweep(behind());
	sweep(through());
	sweep(after());
	sweep(jumps());
	return 0;
}
""")
subprocess.run(["gcc", "-g", "-O1", "regions.c", "-o", "regions"], check=True)
report = count("allocations around region calls", "object", "./regions")
for function in "inside", "behind", "through", "after":
    equal(of_allocation(report, event, function, "main"), [(2048, 1, 65536)], f"a block allocated {function} region calls has the stack that it would have without")
equal(of_allocation(report, event, "main"), [(2048, 1, 65536)], "and so has one allocated by a jump behind them: who jumped is not on it")

# ---- what has no places ----
report = count("branches", "object", "./objects", events="branch-misses,l1d-misses")
equal(why(report, "branch-misses:u"), "branches touch no data", "branches are not counted by object, with the reason")
report = count("two machines", "function", "./objects", on="model:r12000,pentium", events="r12000::l1d-misses,pentium::l1d-misses")
ok([bool(event.get("why")) for event in report["breakdown"]["events"]] == [False, True], "only the first machine's events have places, and the others say so",
   report["breakdown"]["events"])
done()
