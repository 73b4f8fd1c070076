"""`tare count --by object`: whose memory it is. Every way to get memory is an object of the function that asked for it; thread-local variables
are named in all threads. Each object is swept once, 2048 lines of the R12000's first-level cache (65,536 bytes; docs/closed-forms.md 1.1)."""
import platform
import re
import shutil
import subprocess

from cli import *

if platform.machine() != "x86_64":
    skip("the engine is for x86-64", "memory is told apart by who asked for it")
    done()
if not shutil.which("g++"):
    skip("no g++ here", "memory is told apart by who asked for it")
    done()

os.environ.pop("MALLOC_PERTURB_", None) # meson's: malloc would write to every block itself
os.environ["LD_BIND_NOW"] = "1" # a lazily bound call saves the processor's state on the stack: as many bytes as the processor has


def objects(fact, *command, events="l1d-store-misses", machine="r12000"):
    """The breakdown of a run, whose rows add up to the count; and the text."""
    seen = tare("count", "--on", "model:" + machine, "-e", events, "--by", "object", "--json", "-o", "report.json", *command)
    ok(seen.code == 0, f"{fact}: exit code 0", seen)
    report = parsed(read("report.json"), fact)
    for at, event in enumerate(report["breakdown"]["events"]):
        total = sum(row["counts"][at] for row in report["breakdown"]["rows"])
        ok(total == event["total"] and "defect" not in event, f"{fact}: {event['event']} adds up", (total, event))
    return report["breakdown"]


def swept(count):
    """All lines but those that the allocator had touched on the same page before."""
    return 2044 <= count <= 2048


def of_stack(breakdown, kind, *functions):
    """[(count, blocks, bytes)] of the objects whose stack begins with these functions."""
    return [(row["counts"][0], row["blocks"], row["bytes"]) for row in breakdown["rows"] if row["kind"] == kind and
            [frame["function"] for frame in row.get("stack", [])][:len(functions)] == list(functions)]


def named(breakdown, name, kind):
    return [(row["counts"][0], row.get("bytes"), os.path.basename(row["module"])) for row in breakdown["rows"] if row["object"] == name and row["kind"] == kind]


# ---- every way to get memory ----
write("memory.cc", """\
#include <cstdlib>
#include <malloc.h>
#include <new>
#include <stdexcept>
#include <sys/mman.h>
#include <vector>
#define NOINLINE extern "C" __attribute__((noinline, noclone))
enum { BYTES = 65536 };
struct plain { volatile char bytes[BYTES]; };
struct alignas(256) aligned { volatile char bytes[BYTES]; };
static void sweep(volatile void *p) { for (int i = 0; i < BYTES; i += 32) ((volatile char *)p)[i] = 1; }
NOINLINE void by_malloc() { void *p = malloc(BYTES); sweep(p); free(p); }
NOINLINE void by_calloc() { void *p = calloc(BYTES / 4, 4); sweep(p); free(p); }
NOINLINE void by_posix_memalign() { void *p; if (posix_memalign(&p, 4096, BYTES)) abort(); sweep(p); free(p); }
NOINLINE void by_aligned_alloc() { void *p = aligned_alloc(4096, BYTES); sweep(p); free(p); }
NOINLINE void by_memalign() { void *p = memalign(4096, BYTES); sweep(p); free(p); }
NOINLINE void by_valloc() { void *p = valloc(BYTES); sweep(p); free(p); }
NOINLINE void by_pvalloc() { void *p = pvalloc(BYTES); sweep(p); free(p); }
NOINLINE void by_reallocarray() { void *p = reallocarray(nullptr, BYTES, 1); sweep(p); free(p); }
NOINLINE void by_new() { plain *p = new plain; sweep(p->bytes); delete p; }
NOINLINE void by_new_array() { plain *p = new plain[1]; sweep(p->bytes); delete[] p; }
NOINLINE void by_new_aligned() { aligned *p = new aligned; sweep(p->bytes); delete p; }
NOINLINE void by_new_array_aligned() { aligned *p = new aligned[1]; sweep(p->bytes); delete[] p; }
NOINLINE void by_new_nothrow() { plain *p = new (std::nothrow) plain; sweep(p->bytes); delete p; }
static volatile char other[BYTES];
/* what is swept before leaves nothing in the cache of the place that realloc takes, which is the C library's choice */
NOINLINE void moved() { sweep(other); void *p = malloc(100); p = realloc(p, BYTES); sweep(p); p = realloc(p, 50 * BYTES); sweep((char *)p + 25 * BYTES); free(p); }
NOINLINE void mapped() { sweep(mmap(nullptr, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)); }
NOINLINE void remapped() {
	void *p = mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	sweep(mremap(p, 4096, 32 * BYTES, MREMAP_MAYMOVE));
}
NOINLINE void cleared() { free(malloc(BYTES)); char *volatile p = (char *)calloc(BYTES, 1); free(p); }
NOINLINE void filled() { void *p = malloc(BYTES); sweep(p); malloc(100); p = realloc(p, 3 * BYTES / 2); free(p); }
NOINLINE void failed() {
	volatile size_t enormous = ~(size_t)0 / 4;
	void *p = nullptr;
	if (!posix_memalign(&p, 64, enormous) || p) abort();
	try { p = operator new(enormous); abort(); } catch (std::bad_alloc &) { }
	mapped();
}
NOINLINE void freed() { for (int i = 0; i < 100; i++) { plain *p = new plain; if (!i) sweep(p->bytes); delete p; } }
int main() {
	by_malloc(); by_calloc(); by_posix_memalign(); by_aligned_alloc(); by_memalign(); by_valloc(); by_pvalloc(); by_reallocarray();
	by_new(); by_new_array(); by_new_aligned(); by_new_array_aligned(); by_new_nothrow();
	cleared(); filled(); moved(); mapped(); remapped(); failed(); freed();
	return 0;
}
""")
WAYS = ["malloc", "calloc", "posix_memalign", "aligned_alloc", "memalign", "valloc", "pvalloc", "reallocarray", "new", "new_array", "new_aligned",
        "new_array_aligned", "new_nothrow"]
for name, options in (("memory", []), ("memory_static", ["-static"])):
    made = subprocess.run(["g++", "-g", "-O1", "-fno-builtin", *options, "memory.cc", "-o", name], capture_output=True, text=True)
    if made.returncode:
        skip(made.stderr.splitlines()[0] if made.stderr else "g++ failed", f"{name}: memory is told apart by who asked for it")
        continue
    found = objects(name, "./" + name)
    for way in WAYS:
        blocks = of_stack(found, "heap", "by_" + way, "main")
        if way == "reallocarray": # it calls realloc, which is the one that is known
            blocks = blocks or of_stack(found, "heap", "reallocarray", "by_" + way, "main")
        if way == "calloc" and blocks: # which has cleared it, too
            blocks[0] = (blocks[0][0] - 2048, *blocks[0][1:])
        ok(len(blocks) == 1 and blocks[0][1:] == (1, 65536) and swept(blocks[0][0]), f"{name}: {way}'s block is the function's that asked for it", blocks)
    moved = of_stack(found, "heap", "moved", "main")
    equal(sorted(size for n, blocks, size in moved if n > 1000), [65536, 50 * 65536], f"{name}: a block that realloc moves is one of its own")
    # the second one got the bytes of the first, which begins in the middle of a line, too
    ok(every(swept(n - (2050 if size > 65536 else 0)) for n, blocks, size in moved if n > 1000), f"{name}: and is swept like the others", moved)
    ok([n for n, blocks, size in of_stack(found, "heap", "cleared", "main") if n >= 2000], f"{name}: what calloc clears is its block", of_stack(found, "heap", "cleared"))
    filled = of_stack(found, "heap", "filled", "main")
    ok([n for n, blocks, size in filled if size == 98304 and n >= 2000], f"{name}: what realloc copies is in the new one", filled)
    for function, size in (("mapped", 65536), ("remapped", 32 * 65536)):
        maps = [seen for seen in of_stack(found, "mapping", function) if seen[2] == size]
        ok(maps and all(swept(n) for n, blocks, size in maps), f"{name}: memory that is {function} is the function's that asked for it", maps)
    equal(len([1 for n, blocks, size in of_stack(found, "mapping", "mapped", "failed", "main")]), 1,
          f"{name}: a mapping behind an allocation that threw an exception is an object of its own")
    equal([row for row in found["rows"] if row["kind"] == "mapping" and any(frame["function"].startswith("sysmalloc") for frame in row.get("stack", []))],
          [], f"{name}: what malloc maps for itself is no mapping of the program")
    equal([blocks for n, blocks, size in of_stack(found, "heap", "freed", "main")], [100], f"{name}: what is deleted and allocated again counts each time")
    equal([note for note in found["notes"] if "malloc" in note or "posix_memalign" in note], [], f"{name}: nothing was missed")

# ---- no names, no blocks: and the report says so ----
if os.path.exists("memory_static"):
    subprocess.run(["strip", "-o", "memory_nameless", "memory_static"], check=True)
    found = objects("stripped", "./memory_nameless")
    equal([row for row in found["rows"] if row["kind"] == "heap"], [], "a stripped static program's allocations are not known")
    ok([note for note in found["notes"] if re.search(r"allocations of \S*/memory_nameless are not known: .*have the symbol malloc", note)],
       "and the report says so, and why", found["notes"])
    seen = tare("count", "--on", "model:r12000", "-e", "l1d-store-misses", "--by", "object", "./memory_nameless")
    has(" ".join(seen.err.split()), "memory_nameless are not known: neither it nor its libraries have the symbol malloc", "in text, too")

# ---- thread-local variables ----
write("library.c", """\
static __thread volatile int own[4096];     /* 16,384 bytes: 512 lines */
__thread volatile long exported;
void library(void) { for (int i = 0; i < 4096; i++) own[i] = i; exported = 1; }
""")
write("threads.c", """\
#include <dlfcn.h>
#include <pthread.h>
void library(void);
static __thread volatile char table[65536] __attribute__((aligned(4096)));
static __thread struct { char c; volatile long value; } __attribute__((packed, aligned(8))) odd = {1, 2};
static __thread volatile char first, second;
static void *work(void *x) {
	library();
	for (int i = 0; i < 65536; i += 32) table[i] = 1;
	for (int i = 0; i < 1000; i++) odd.value = i;
	first = second = 1;
	return x;
}
int main(int argc, char **argv) {
	pthread_t threads[3];
	for (int i = 0; i < 3; i++) pthread_create(&threads[i], 0, work, 0);
	for (int i = 0; i < 3; i++) pthread_join(threads[i], 0);
	if (argc > 1) {
		void *opened = dlopen(argv[1], RTLD_NOW);
		((void (*)(void))dlsym(opened, "library"))();
	}
	work(0);
	return 0;
}
""")
subprocess.run(["gcc", "-g", "-O1", "-fPIC", "-shared", "library.c", "-o", "liblibrary.so"], check=True)
subprocess.run(["gcc", "-g", "-O1", "-fPIC", "-shared", "library.c", "-o", "opened.so"], check=True)
subprocess.run(["gcc", "-g", "-O1", "-fPIC", "-shared", "-ftls-model=initial-exec", "library.c", "-o", "initial.so"], check=True)
builds = {"general": ["./liblibrary.so"], "initial": ["./initial.so"], "static": ["library.c", "-static"]}
for name, options in builds.items():
    if subprocess.run(["gcc", "-g", "-O1", "-w", "threads.c", *options, "-o", name, "-lpthread"], stderr=subprocess.DEVNULL).returncode:
        skip("it is not made here", f"{name}: thread-local variables are named")
        continue
    found = objects(name, "./" + name, events="l1d-store-misses,misaligned-accesses")
    table = named(found, "table", "thread-local")
    # 3 threads, and the program's own; whoever zeroes a block first does so outside of it, or in it
    ok(len(table) == 1 and 4 * 2048 <= table[0][0] <= 5 * 2048 + 8 and table[0][1:] == (65536, name),
       f"{name}: a thread-local array is one object, of all threads", table)
    own = named(found, "own", "thread-local")
    home = {"general": "liblibrary.so", "initial": "initial.so", "static": "static"}[name]
    ok(len(own) == 1 and 4 * 512 - 8 <= own[0][0] <= 5 * 512 + 8 and own[0][1:] == (16384, home), f"{name}: so is a library's, which is said", own)
    at = [event["event"] for event in found["events"]].index("misaligned-accesses:u")
    equal([row["counts"][at] for row in found["rows"] if row["object"] == "odd" and row["counts"][at]], [4000],
          f"{name}: misaligned accesses are on the thread-local variable that is not aligned")
found = objects("opened", "./general", "./opened.so")
opened = [(n, blocks, size) for n, blocks, size in of_stack(found, "heap") if 500 <= n <= 600]
stack = [[frame["function"] for frame in row["stack"]] for row in found["rows"] if row["kind"] == "heap" and "library" in
         [frame["function"] for frame in row["stack"]]]
ok(stack and "main" in stack[0] and any("tls" in function for function in stack[0]),
   "what a library that is opened later has by thread is a block whose stack leads to the access for which it was made", stack)

# ---- static data that the linker puts into a segment of its own, apart from the rest ----
write("apart.c", """\
char apart[65536] __attribute__((aligned(1 << 20)));
int main(void)
{
	for (int i = 0; i < 65536; i += 32)
		((volatile char *)apart)[i] = 1;
	return 0;
}
""")
for name, options in ("apart", []), ("apart_static", ["-static"]), ("apart_fixed", ["-no-pie"]):
    if subprocess.run(["gcc", "-g", "-O1", *options, "apart.c", "-o", name], stderr=subprocess.DEVNULL).returncode:
        skip("no libraries to link so", f"{name}: zeroed data behind a gap is its variable's")
        continue
    breakdown = objects(name, f"./{name}")
    found = named(breakdown, "apart", "variable")
    ok(len(found) == 1 and swept(found[0][0]), f"{name}: zeroed data behind a gap is its variable's", found)
done()
