"""`tare profile` of programs in other languages, and of code that a JIT compiler makes: functions are named, sampled and counted exactly.

What the compiler makes of a loop is its own business: two functions that are the same but for how often they loop have counts that are the same
linear function of that, and both calls and loops are known.
"""
import platform

from cli import *

if platform.machine() != "x86_64":
    skip("the engine is for x86-64", "programs in other languages")
    done()
EXACT = ["profile", "--on", "exact"]


def found(*programs):
    return next((path for path in map(shutil.which, programs) if path and subprocess.run([path, "--version" if not path.endswith("go") else "version"], capture_output=True).returncode == 0), None)


def functions(*arguments, **env):
    """({function: (self, inclusive)} of all that have the name, the report) of a kept profile. A program that leaves a map prints its process's number."""
    seen = tare(*arguments[:-1], "-o", "kept", "--", *arguments[-1], env=environment(**env))
    ok(seen.code == 0 and "a defect of tare" not in " ".join(seen.err.split()), f"the program ends as by itself: {' '.join(arguments[:-1])}", seen)
    report = json.loads(tare("report", "--format", "json", "kept").out)
    for number in seen.out.split():
        os.unlink(f"/tmp/perf-{number}.map")
    sums = {}
    for row in report["functions"]:
        before = sums.get(row["function"], (0, 0))
        sums[row["function"]] = (before[0] + row["counts"][0]["self"], before[1] + (row["counts"][0].get("inclusive") or 0))
    return sums, report


def calls_of(report, callee, caller=None):
    return sum(c["calls"] for c in report.get("calls", []) if c["callee"] == callee and caller in (None, c["caller"]))


def likely(seen, of, share):
    """A binomial test whose bound is seven standard deviations: it rejects what is true in no test that anybody will run."""
    return abs(seen - of * share) <= 7 * (of * share * (1 - share)) ** 0.5


def loops(counts, heavy, light, times, fact):
    """Called `times` times each, heavy loops 9000 and light 1000 times, by the same code."""
    h, l = counts.get(heavy, (0, 0))[0], counts.get(light, (0, 0))[0]
    each, rest = divmod(h - l, 8000 * times)
    around, odd = divmod(l - 1000 * times * each, times)
    ok(rest == 0 and odd == 0 and 2 <= each <= 16 and 1 <= around <= 40, f"{fact}: instructions are what the loops have", f"{h} {l}: {each} a loop, {around} around it")


def sampled(command, heavy, light, fact, exact_share=True, **env):
    """By the CPU clock. Of what only some compilers do alike, the order alone is known."""
    counts, report = functions("profile", "-e", "cpu-clock:u", "-c", "200000", command, **env)
    h, l = (next((counts[name][0] for name in counts if wanted in name), 0) for wanted in (heavy, light))
    total = report["events"][0]["samples"]
    ok(h > l and (likely(h, h + l, 0.9) if exact_share else h + l > 0) and h > total / 4, f"{fact}: 9 of 10 samples of the two are in {heavy}", f"{h} {l} of {total}")


# ---- code that a program makes as it runs ----
if not shutil.which("gcc"):
    skip("no gcc here", "code that a program makes")
else:
    write("made.c", r"""
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

static void make(unsigned char loops, const char *name)
{
	/* loop: mov $loops, %ecx; 1: dec %ecx; jnz 1b; ret          twice: call loop; call loop; ret */
	const unsigned char loop[] = {0xb9, loops, 0, 0, 0, 0xff, 0xc9, 0x75, 0xfc, 0xc3},
			    twice[] = {0xe8, 0xbb, 0xff, 0xff, 0xff, 0xe8, 0xb6, 0xff, 0xff, 0xff, 0xc3};
	char *at = mmap(0, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), file[64];
	memcpy(at, loop, sizeof loop);
	memcpy(at + 64, twice, sizeof twice);
	snprintf(file, sizeof file, "/tmp/perf-%d.map", (int)getpid());
	FILE *map = fopen(file, "w");
	fprintf(map, "%lx %zx %s_loop\n%lx %zx %s_twice\n", (unsigned long)at, sizeof loop, name, (unsigned long)at + 64, sizeof twice, name);
	fclose(map);
	printf("%s %p\n", file, (void *)at);
	fflush(stdout);
	for (int i = 0; i < 10; i++)
		((void (*)(void))(at + 64))();
}

int main(void)
{
	if (fork() == 0) {
		make(50, "childs");
		return 0;
	}
	wait(NULL);
	make(100, "parents");
	return 0;
}
""")
    subprocess.run(["gcc", "-O1", "made.c", "-o", "made"], check=True)
    TRUTH = {"parents_loop": 20 * 202, "parents_twice": 30, "childs_loop": 20 * 102, "childs_twice": 30}
    WITH_CALLS = {"parents_loop": 20 * 202, "parents_twice": 20 * 202 + 30, "childs_loop": 20 * 102, "childs_twice": 20 * 102 + 30}

    def forget(seen):
        places = [line.split() for line in seen.out.splitlines() if line.startswith("/tmp/perf-")]
        for place in places:
            os.unlink(place[0])
        ok(len(places) == 2 and len({place[1] for place in places}) == 1, "both processes made their code at the same address", places)

    for graph, plain in (([], None), (["-g"], None), (["-g"], "1")):
        seen = tare(*EXACT, *graph, "-o", "kept", "./made", env=environment(TARE_CALLS_PLAIN=plain))
        report = json.loads(tare("report", "--format", "json", "kept").out)
        rows = {row["function"]: row for row in report["functions"] if "_loop" in row["function"] or "_twice" in row["function"] or row["function"] == "[anonymous]"}
        equal({name: row["counts"][0]["self"] for name, row in rows.items()}, TRUTH, f"made code is named by its process's map, and counted exactly {graph}")
        equal({row["module"] for row in rows.values()}, {"[jit]"}, "its module says where the name is from")
        ok(not any("made as it ran" in note for note in report["notes"]), "nothing is missing", report["notes"])
        if graph:
            equal({name: row["counts"][0]["inclusive"] for name, row in rows.items()}, WITH_CALLS, "also with what it calls")
            equal([calls_of(report, "parents_loop", "parents_twice"), calls_of(report, "childs_loop", "childs_twice"), calls_of(report, "parents_twice")],
                  [20, 20, 10], "and its calls are counted")
        forget(seen)
    for arguments, truth in ((["--by", "function"], TRUTH), (["--by", "line"], TRUTH), (["--by", "function", "--inclusive"], TRUTH)):
        seen = tare("count", "--on", "exact", "-e", "instructions:u", *arguments, "--json", "-o", "counts", "./made")
        rows = json.loads(read("counts"))["breakdown"]["rows"]
        names = {row.get("function") or row.get("name"): row for row in rows}
        made = {name: names[name] for name in names if name and ("_loop" in name or "_twice" in name or name == "[anonymous]")}
        equal({name: row["counts"][0] for name, row in made.items()}, truth, f"tare count {' '.join(arguments)} names it too")
        if "--inclusive" in arguments:
            equal({name: row["inclusive"][0] for name, row in made.items()}, WITH_CALLS, "with what it calls")
        forget(seen)

# ---- Go ----
go = found("go")
if not go:
    skip("go is not installed", "a Go program")
else:
    write("p.go", """\
package main

import "syscall"

var state uint64 = 1

//go:noinline
func heavy(n int) {
	s := state
	for i := 0; i < n; i++ {
		s = s*6364136223846793005 + uint64(i)
	}
	state = s
}

//go:noinline
func light(n int) {
	s := state
	for i := 0; i < n; i++ {
		s = s*6364136223846793005 + uint64(i)
	}
	state = s
}

//go:noinline
func touch(pages []byte) {
	for i := 0; i < len(pages); i += 4096 {
		pages[i] = 1
	}
}

type worker struct{ rounds int }

func (w *worker) run(done chan bool) {
	for k := 0; k < w.rounds; k++ {
		heavy(9000)
		light(1000)
	}
	done <- true
}

func main() {
	pages, err := syscall.Mmap(-1, 0, 100*4096, 3, 0x22)
	if err != nil || syscall.Madvise(pages, 15) != nil {
		panic(err)
	}
	touch(pages)
	done := make(chan bool)
	for g := 0; g < 4; g++ {
		go (&worker{2500}).run(done)
	}
	for g := 0; g < 4; g++ {
		<-done
	}
}
""")
    subprocess.run([go, "build", "-o", "pgo", "p.go"], check=True, env=dict(os.environ, GO111MODULE="off", GOCACHE=os.path.join(os.getcwd(), "cache"), GOFLAGS=""))
    counts, report = functions(*EXACT, ["./pgo"], GODEBUG="asyncpreemptoff=1")
    loops(counts, "main.heavy", "main.light", 10000, "Go, four goroutines")
    counts, report = functions(*EXACT, "-g", ["./pgo"], GODEBUG="asyncpreemptoff=1")
    loops(counts, "main.heavy", "main.light", 10000, "Go, calls followed")
    equal([calls_of(report, "main.heavy", "main.(*worker).run"), calls_of(report, "main.light", "main.(*worker).run"), calls_of(report, "main.touch", "main.main")],
          [10000, 10000, 1], "Go: calls of each method are counted")
    counts, report = functions("profile", "-e", "page-faults:u@1", ["./pgo"])
    equal(counts.get("main.touch", (0, 0))[0], 100, "Go: the page faults of a function, sampled each")
    sampled(["./pgo"], "main.heavy", "main.light", "Go")

# ---- Rust ----
rustc = found("rustc")
if not rustc:
    skip("rustc is not installed", "a Rust program")
else:
    write("p.rs", """\
use std::hint::black_box;
extern "C" {
    fn mmap(at: *mut u8, bytes: usize, access: i32, flags: i32, fd: i32, offset: i64) -> *mut u8;
    fn madvise(at: *mut u8, bytes: usize, advice: i32) -> i32;
}
struct Mixer<T> { state: T }
trait Heavy { fn heavy(&mut self, n: u64); }
trait Light { fn light(&mut self, n: u64); }
impl Heavy for Mixer<u64> {
    #[inline(never)]
    fn heavy(&mut self, n: u64) { let mut i = n; while i != 0 { self.state = black_box(self.state.wrapping_mul(6364136223846793005).wrapping_add(i)); i -= 1; } }
}
impl Light for Mixer<u64> {
    #[inline(never)]
    fn light(&mut self, n: u64) { let mut i = n; while i != 0 { self.state = black_box(self.state.wrapping_mul(6364136223846793005).wrapping_add(i ^ 1)); i -= 1; } }
}
#[inline(never)]
fn round<T: Heavy + Light>(what: &mut T) { what.heavy(9000); what.light(1000); black_box(what); }
#[inline(never)]
fn touch(pages: *mut u8) { for i in 0..100 { unsafe { pages.add(i * 4096).write_volatile(1) } } }
fn main() {
    let pages = unsafe { mmap(std::ptr::null_mut(), 409600, 3, 0x22, -1, 0) };
    unsafe { madvise(pages, 409600, 15) };
    touch(black_box(pages));
    let mut m = Mixer { state: 1u64 };
    for _ in 0..5000 { round(black_box(&mut m)); }
    black_box(m.state);
}
""")
    subprocess.run([rustc, "-g", "-O", "-o", "prs", "p.rs"], check=True)
    HEAVY, LIGHT = "<p::Mixer<u64> as p::Heavy>::heavy", "<p::Mixer<u64> as p::Light>::light"
    counts, report = functions(*EXACT, "-g", ["./prs"])
    heavy, light = (next((name for name in counts if name.endswith(wanted)), "") for wanted in ("Heavy>::heavy", "Light>::light"))
    ok("p::Mixer<u64>" in heavy and "p::Mixer<u64>" in light, "Rust: methods of a trait have their names of the source", sorted(counts)[:40])
    h, l = counts[heavy][0], counts[light][0]
    ok(h % 5000 == 0 and l % 5000 == 0 and 5 * 9000 <= h // 5000 <= 16 * 9000 + 40 and 5 * 1000 <= l // 5000 <= 16 * 1000 + 40, "Rust: each call has the same instructions", (h, l))
    rounds = [name for name in counts if name.startswith("p::round")]
    equal([calls_of(report, heavy, name) for name in rounds] + [calls_of(report, light, name) for name in rounds], [5000, 5000], "Rust: a generic function's calls are counted")
    equal([counts[name][1] for name in rounds], [h + l + counts[rounds[0]][0]], "Rust: with its calls it has what it called")
    counts, report = functions("profile", "-e", "page-faults:u@1", ["./prs"])
    equal(counts.get("p::touch", (0, 0))[0], 100, "Rust: the page faults of a function, sampled each")
    sampled(["./prs"], "Heavy>::heavy", "Light>::light", "Rust", exact_share=False)

# ---- Python: the interpreter's functions; those of the program with a map (Python 3.12 and later) ----
PYTHON = ["/usr/bin/python3", "-S", "-E", "p.py"]
if not os.path.exists(PYTHON[0]):
    skip("python3 is not installed", "a Python program")
else:
    spent = {}
    for times in (3000, 5000):
        write("p.py", f"import zlib\nfor i in range({times}):\n    zlib.crc32(b'abcdefgh', i)\n")
        counts, report = functions(*EXACT, "-g", PYTHON)
        spent[times] = counts.get("crc32_z", (0, 0))[0]
        equal([calls_of(report, "crc32"), calls_of(report, "PyLong_AsUnsignedLongMask")], [times, times], f"Python: {times} calls of a library by the program are {times} calls")
    each, rest = divmod(spent[5000], 5000)
    ok(rest == 0 and each > 8 and spent[3000] == 3000 * each, "and each has the same instructions", spent)
    write("long.py", "def heavy(n):\n    s = 1\n    for i in range(n):\n        s = s * 3 + i & 65535\n\nfor k in range(20):\n    heavy(20000)\n")
    counts, report = functions("profile", "-e", "cpu-clock:u", "-c", "200000", ["/usr/bin/python3", "-S", "-E", "long.py"])
    ok(counts.get("_PyEval_EvalFrameDefault", (0, 0))[0] * 4 > report["events"][0]["samples"], "Python: the interpreter's loop is named where it is sampled", counts)
newer = next((path for path in map(shutil.which, ("python3.14", "python3.13", "python3.12")) if path and subprocess.run([path, "-X", "perf", "-c", ""], capture_output=True).returncode == 0), None)
if not newer:
    skip("no Python 3.12 or later here", "functions of a Python program, by its map")
else:
    write("map.py", "import os\nprint(os.getpid(), flush=True)\ndef light():\n    return 1\ndef heavy():\n    for i in range(100):\n        light()\nfor i in range(30):\n    heavy()\n")
    command = [newer, "-S", "-E", "-X", "perf", "map.py"]
    counts, report = functions(*EXACT, "-g", command)
    heavy, light = (next((name for name in counts if name.startswith("py::" + wanted)), None) for wanted in ("heavy", "light"))
    equal([calls_of(report, heavy), calls_of(report, light)], [30, 3000], "Python 3.12: calls of the program's own functions are counted by its map")
    ok(heavy and light and counts[heavy][1] > counts[light][1] > 0, "with what the interpreter did for them", counts)

# ---- JIT compilers that write perf's map files ----
node = found("node", "nodejs")
if not node:
    skip("node is not installed", "code that node makes")
else:
    write("p.js", """\
function heavy(n) { let s = 1; for (let i = 0; i < n; i++) s = (Math.imul(s, 1664525) + i) | 0; return s }
function light(n) { let s = 1; for (let i = 0; i < n; i++) s = (Math.imul(s, 1664525) + i) | 0; return s }
let t = 0;
for (let k = 0; k < 4000; k++) { for (const f of [heavy, light]) t ^= f(f === heavy ? 9000 : 1000) }
console.log(process.pid);
""")
    NODE = [node, "--perf-basic-prof", "--max-lazy", "p.js"]

    def of_node(*arguments):
        counts, report = functions(*arguments, NODE)
        return tuple(sum(count[0] for name, count in counts.items() if re.match(r"JS:[~^*+]?" + wanted + r"\b", name)) for wanted in ("heavy", "light")), report

    (h, l), report = of_node(*EXACT)
    ok(h >= 3 * 9000 * 2000 and h > l > 0, "node: functions that it compiled are named, and have their instructions", (h, l))
    (h, l), report = of_node("profile", "-e", "cpu-clock:u", "-c", "200000")
    ok(h > l and h * 10 > report["events"][0]["samples"], "node: and where they are sampled", (h, l, report["events"][0]))
java, javac = found("java"), shutil.which("javac")
JAVA = [java or "", "-XX:+UnlockDiagnosticVMOptions", "-XX:+DumpPerfMapAtExit", "-Xmx64m", "-cp", ".", "P"]
if not java or not javac or subprocess.run([*JAVA[:3], "-version"], capture_output=True).returncode != 0:
    skip("no Java that writes maps at its end is installed", "code that Java makes")
else:
    write("P.java", """\
public class P {
    static long state = 1;
    static void heavy(int n) { long s = state; for (int i = 0; i < n; i++) s = s * 6364136223846793005L + i; state = s; }
    static void light(int n) { long s = state; for (int i = 0; i < n; i++) s = s * 6364136223846793005L + i; state = s; }
    public static void main(String[] a) { for (int k = 0; k < 8000; k++) { heavy(9000); light(1000); } System.out.println(ProcessHandle.current().pid()); }
}
""")
    subprocess.run([javac, "P.java"], check=True)
    counts, report = functions(*EXACT, JAVA)
    h, l = (counts.get(f"void P.{name}(int)", (0, 0))[0] for name in ("heavy", "light"))
    ok(h >= 2 * 9000 * 4000 and h > l > 0, # which compiler makes them, and when, is the time's choice
       "Java: methods that it compiled are named, and have their instructions", (h, l))
    sampled(JAVA, "P.heavy", "P.light", "Java", exact_share=False)
done()
