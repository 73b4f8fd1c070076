"""`tare count --region` by probes: events of parts of a program. The programs touch pages, so that page faults of each part are known
by counting; each page is touched once, by one part."""
import csv
import platform
import shutil
import subprocess

from cli import *

FACT = "regions are counted by probes"
if not shutil.which("gcc"):
    skip("no gcc here", FACT)
    done()

write("pages.c", """\
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
static char *room(int pages)
{
	char *p = mmap(0, pages * 4096L, 3, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	madvise(p, pages * 4096L, MADV_NOHUGEPAGE);
	return p;
}
static inline __attribute__((always_inline)) void inlined(char *p, int k) { for (int i = 0; i < k; i++) p[i * 4096L] = 1; }
__attribute__((noinline)) void touch(char *p, int k) { for (int i = 0; i < k; i++) p[i * 4096L] = 1; }
__attribute__((noinline)) int deep(int n, char *p)
{
	p[n * 4096L] = 1;
	int rest = n ? deep(n - 1, p) + 1 : 0;
	__asm__ volatile("");
	return rest;
}
static jmp_buf out;
__attribute__((noinline)) void leap(char *p, int away) { p[0] = 1; if (away) longjmp(out, 1); p[4096] = 1; }
__attribute__((noinline)) void spin(void)
{
	struct timespec t;
	for (long from = -1, now = 0; now - from < 20000000;) {
		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
		now = t.tv_sec * 1000000000L + t.tv_nsec;
		if (from < 0)
			from = now;
	}
}
__attribute__((noinline)) void nap(void) { usleep(1000); __asm__ volatile(""); }
static void *thread(void *p) { for (int i = 0; i < 10; i++) touch((char *)p + i * 5 * 4096, 5); return p; }
static void *ends_inside(void *p);
__attribute__((noinline)) void leaves(void) { pthread_exit(NULL); }
static void *ends_inside(void *p) { leaves(); return p; }
int main(int argc, char **argv)
{
	const char *part = argc > 1 ? argv[1] : "";
	char *p = room(1000);
	pthread_t t[4];
	if (!strcmp(part, "touch"))
		for (int i = 0; i < 10; i++)
			touch(p + i * 20 * 4096, 7);
	if (!strcmp(part, "deep"))
		for (int i = 0; i < 3; i++)
			deep(99, p + i * 100 * 4096);
	if (!strcmp(part, "leap"))
		for (volatile int i = 0; i < 10; i++)
			if (!setjmp(out))
				leap(p + i * 2 * 4096, i % 2); /* LEAP */
	if (!strcmp(part, "lines"))
		for (int i = 0; i < 9; i++) {
			char *q = p + i * 20 * 4096;
			if (i % 3 == 0) { /* TEST */
				touch(q, 2); /* FIRST */
				q[5 * 4096] = 1; /* LAST */
			}
			inlined(q + 10 * 4096, 3); /* INLINED */
		}
	if (!strcmp(part, "threads")) {
		for (int i = 0; i < 4; i++)
			pthread_create(&t[i], NULL, thread, p + i * 100 * 4096);
		for (int i = 0; i < 4; i++)
			pthread_join(t[i], NULL);
	}
	if (!strcmp(part, "inside")) {
		pthread_create(&t[0], NULL, ends_inside, NULL);
		pthread_join(t[0], NULL);
	}
	if (!strcmp(part, "children")) {
		for (int i = 0; i < 3; i++)
			if (fork() == 0) {
				touch(p, 4);
				_exit(0);
			}
		while (wait(NULL) > 0)
			;
	}
	if (!strcmp(part, "again"))
		if (fork() == 0)
			execl("/proc/self/exe", argv[0], "touch", NULL);
	while (wait(NULL) > 0)
		;
	if (!strcmp(part, "spin")) {
		struct timespec before, after;
		clock_gettime(CLOCK_MONOTONIC, &before);
		spin();
		clock_gettime(CLOCK_MONOTONIC, &after);
		FILE *f = fopen("spun", "w");
		fprintf(f, "%ld", (after.tv_sec - before.tv_sec) * 1000000000L + after.tv_nsec - before.tv_nsec);
		fclose(f);
	}
	if (!strcmp(part, "nap"))
		for (int i = 0; i < 5; i++)
			nap();
	return argc > 2 ? atoi(argv[2]) : 0;
}
""")
SOURCE = read("pages.c").splitlines()
LINE = {mark: 1 + next(i for i, line in enumerate(SOURCE) if f"/* {mark} */" in line) for mark in ("TEST", "FIRST", "LAST", "INLINED", "LEAP")}
write("flow.cc", """\
#include <cstdlib>
#include <cstring>
volatile int sink;
struct odd {};
__attribute__((noinline)) int thrower(int i) { if (i % 2) throw odd(); return i; }
__attribute__((noinline)) int middle(int i) { return thrower(i) + 1; }
__attribute__((noinline)) int cases(int n)
{
	switch (n) {
	case 0: sink = 1; sink = 11; break;
	case 1: sink = 2; sink += n; /* falls through */
	case 2: sink = 3; sink = std::abs(sink); break;
	case 3: sink = std::abs(n); return 4;
	case 4: sink = 5; break;
	case 5: sink = 6; for (int i = 0; i < 3; i++) sink += i; break;
	default: return n;
	}
	return sink;
}
int main()
{
	int count = 0;
	for (int i = 0; i < 10; i++) {
		try { count += middle(i); sink = count; }
		catch (odd &) { count++; sink = 2; }
		sink = 3;
	}
	for (int i = 0; i < 20; i++)
		count += cases(i % 8);
	return count == 0;
}
""")
CXX = shutil.which("g++")
for level in ("0", "1", "2"):
    if CXX:
        subprocess.run([CXX, "-g", "-O" + level, "flow.cc", "-o", "flow" + level], check=True)
    subprocess.run(["gcc", "-g", "-O" + level, "-pthread", "-fno-optimize-sibling-calls", "pages.c", "-o", "pages" + level], check=True)
subprocess.run(["strip", "-o", "stripped", "pages1"], check=True)
write("script", "#!/bin/sh\n./pages1 touch\n", 0o755)


def refused(arguments, code, *parts, program="./pages1"):
    seen = tare("count", *arguments, program)
    ok(seen.code == code and all(part in seen.err for part in parts), f"refused: {' '.join(arguments)} ({parts[0]})", seen)


# ---- what is wrong with what was said ----
refused(["--on", "perf", "--region", "=touch"], 2, "its name is empty")
refused(["--on", "perf", "--region", "x=pages.c:20-10"], 2, "do not ascend")
refused(["--on", "perf", "--region", "tuch"], 2, "no function 'tuch' in 'pages1'", "did you mean 'touch'")
refused(["--on", "perf", "--region", "touch"], 2, "it is stripped", "-g", program="./stripped")
refused(["--on", "perf", "--region", "x=pages.c:3"], 2, "nearest line")
refused(["--on", "perf", "--region", "x=page.c:30"], 2, "'page.c'", "did you mean 'pages.c'")
refused(["--on", "perf", "--region", "x=0x0-0x10"], 2, "not code")
refused(["--on", "perf", "--region", "touch", "--region", "touch=deep"], 2, "two regions are named 'touch'")
refused(["--on", "perf", "--region", "touch"], 2, "not a valid ELF file", "interpreter", program="./script")
refused(["--on", "perf", "--region", "libm.so.6!sin"], 2, "neither the program nor one of its libraries")
refused(["--on", "perf", "--region", "libc.so.6!memcpy"], 2, "chosen when", "IFUNC")
refused(["--on", "perf", "--region", "touch"], 3, "not found", program="no-such-program")
refused(["-a", "--region", "touch"], 2, "programs that tare starts")
seen = tare("count", "--on", "replay:x", "--region", "touch", "./pages1")
ok(seen.code in (2, 3), "a backend without regions is no backend for them", seen)

# ---- a kernel whose tracing does not answer: told, and not waited for ----
seen = tare("count", "--on", "perf", "-e", "page-faults", "--region", "touch", "./pages1", "touch", env=silent_tracing())
ok(seen.code == 3 and (f"cannot use probes: this kernel's tracing does not answer: restart the machine (process {os.getpid()} waits for it" in seen.err or "this kernel has no uprobes" in seen.err),
   "where tracing does not answer, regions are refused", seen)
seen = tare("doctor", env=silent_tracing())
told = " ".join(seen.out.split())
ok(told.count("this kernel's tracing does not answer: restart the machine") == 2, "tare doctor says so of tracepoints and of uprobes", seen)

# ---- what is counted ----
probe = tare("count", "--on", "perf", "-e", "page-faults", "--region", "touch", "./pages1", "touch")
if probe.code:
    skip(probe.err.strip().splitlines()[0], FACT)
    done()


def count(*arguments, program="./pages1", events="page-faults", code=0, more=()):
    seen = tare("count", "--on", "perf", "--json", "-o", "-", "-e", events, *more,
                *[word for region in arguments[1:] for word in ("--region", region)], program, *arguments[0].split())
    try:
        report = json.loads(seen.out)
    except ValueError:
        ok(False, f"a report of {arguments}", seen)
        return {}
    if jsonschema:
        jsonschema.validate(report, SCHEMA)
    ok(seen.code == code, f"the program's status is its own: {arguments[0]}", seen)
    return {region["name"]: region for region in report["regions"]}


def at_least(cpu_ns, switches):
    """Of a region that ran for so long by CLOCK_THREAD_CPUTIME_ID. The kernel's task clock stops earlier and starts later at each switch: 25 to
    70 us were seen (src/backend/perf/trial/stimulus.c). The region's first and last instructions are as far from its reading of the clock."""
    return cpu_ns - 100e3 * (switches + 1)


def value_of(regions, name):
    return regions[name]["results"][0]["value"]


def is_region(region, entries, faults, fact, exits=None, threads=1, unbalanced=0):
    values = {row["event"]: row["value"] for row in region["results"]}
    seen = (region["entries"], region["exits"], region["threads"], region["unbalanced_threads"], values["page-faults"])
    equal(seen, (entries, entries if exits is None else exits, threads, unbalanced, faults), fact)


seen = tare("count", "--on", "perf", "-e", "page-faults", "--region", "touch", "./pages1", "touch", preexec_fn=lambda: refuse(436))
ok(seen.code == 0, "regions are counted where close_range(2) is refused, as before Linux 5.9", seen)

for level in ("0", "1", "2"):
    program = "./pages" + level
    is_region(count("touch", "touch", program=program)["touch"], 10, 70, f"a function that touches k pages has k page faults (-O{level})")
    is_region(count("deep", "deep", program=program)["deep"], 3, 300, f"recursion is one pass (-O{level})") if level != "2" else None
    regions = count("lines", f"block=pages.c:{LINE['FIRST']}-{LINE['LAST']}", f"in=pages.c:{LINE['INLINED']}", "inlined", "touch", program=program)
    is_region(regions["block"], 3, 9, f"lines have what they do and what they call (-O{level})")
    equal(regions["in"]["results"][0]["value"], 27, f"and functions that are inlined into them (-O{level})")
    equal((regions["inlined"]["results"][0]["value"], regions["inlined"]["kind"]), (27, "code"), f"an inlined function is its copies (-O{level})")
    ok("inlined only" in regions["inlined"].get("note", ""), f"which is said (-O{level})", regions["inlined"])
    is_region(regions["touch"], 3, 6, f"nested regions are counted both (-O{level})")

is_region(count("leap", "leap")["leap"], 10, 10, "of a longjmp out of it the pass is not counted, and it is said", exits=5, unbalanced=1)
is_region(count("threads", "touch")["touch"], 40, 200, "threads are followed", threads=4)
is_region(count("inside", "leaves")["leaves"], 1, 0, "a thread that ends inside has entered, and not left", exits=0, unbalanced=1)
is_region(count("children", "touch")["touch"], 3, 12, "children are followed", threads=3)
is_region(count("children", "touch", more=["--no-children"])["touch"], 0, 0, "unless they are not wanted", threads=0)
is_region(count("again", "touch")["touch"], 10, 70, "and programs that they execute")
is_region(count("touch 7", "touch", code=7)["touch"], 10, 70, "a program that fails is counted all the same")
is_region(count("deep", "touch")["touch"], 0, 0, "what is not entered is 0", threads=0)
low, size = next((int(w[0], 16), int(w[1], 16)) for w in (line.split() for line in subprocess.run(["nm", "-S", "pages1"], check=True,
                 capture_output=True, text=True).stdout.splitlines()) if w[-1] == "touch")
is_region(count("touch", f"x={low:#x}-{low + size:#x}")["x"], 10, 70, "addresses are those of nm")

regions = count("spin", "spin", events="task-clock,context-switches")
value, switches = (row["value"] for row in regions["spin"]["results"])
ok(at_least(20e6, switches) <= value <= int(read("spun")),
   "a function that runs for 20 ms of processor time has that, or more, and not more than passed on the clock around it", (value, switches, read("spun")))
regions = count("nap", "nap", events="context-switches,page-faults")
ok(regions["nap"]["entries"] == 5 and regions["nap"]["results"][0]["value"] >= 5, "one that sleeps is switched away from each time", regions)

write("small.c", """\
#include <stdlib.h>
#include <time.h>
__attribute__((noinline)) void tiny(void) { __asm__ volatile("nop; nop"); }
__attribute__((noinline, naked)) void one(void) { __asm__ volatile("ret"); }
__attribute__((noinline)) void around(int n) { for (int i = 0; i < n; i++) tiny(); __asm__ volatile(""); }
__attribute__((noinline)) void spin(void)
{
	struct timespec t;
	for (long from = -1, now = 0; now - from < 50000000;) {
		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
		now = t.tv_sec * 1000000000L + t.tv_nsec;
		if (from < 0)
			from = now;
	}
}
int main(int argc, char **argv)
{
	int n = argc > 1 ? atoi(argv[1]) : 1;
	around(n);
	for (int i = 0; i < n; i++)
		one();
	spin();
	return 0;
}
""")
subprocess.run(["gcc", "-g", "-O1", "small.c", "-o", "small"], check=True)
# so often that no interrupt or two in a pass make it large enough
regions = count("1000", "tiny", "spin", program="./small", events="task-clock,page-faults,context-switches")
row = regions["tiny"]["results"][0]
ok(row["value"] is None and row["source"] == "none" and row["why"].startswith("region 'tiny' is too small to measure: ") and
   "against an overhead of" in row["why"].replace("than an", "against an") and " ± " in row["why"] and "inside the region" in row["why"],
   "the time of a region of a few ns is refused, with the reason", row)
equal(regions["tiny"]["results"][1]["value"], 0, "its page faults are not")
row = regions["spin"]["results"][0]
ok(row["value"] is not None and row["value"] >= at_least(50e6, regions["spin"]["results"][2]["value"]) and 0 < row["bound"] < row["value"] / 20 and "tare" not in row and row["evidence"] == "region-trial",
   "one of 50 ms is not, and says how much of it may be the measuring", row)
regions = count("200", "tiny", "around", "one", program="./small", events="task-clock")
row = regions["around"]["results"][0]
ok(row["value"] is None and "too small" in row["why"] and "ask for fewer regions at once" in row["why"] and "repeat" not in row["why"],
   "a region in which other regions' probes took most of the time is refused, and it is not said to repeat it", row)
equal((regions["one"]["entries"], regions["one"]["exits"], regions["one"]["unbalanced_threads"]), (200, 200, 0), "a function of one instruction is entered and left there")
ok(regions["one"]["results"][0]["value"] is None, "and its time is not 0, but too small", regions["one"])
seen = tare("count", "--on", "perf", "-e", "task-clock", "--gross", "--region", "tiny", "--region", "spin", "./small", "1000")
ok("≤" in seen.out + seen.err and "too small to measure" in seen.out + seen.err and "measured on this machine" in seen.out + seen.err, "--gross shows the bound, and what was refused", seen)

seen = tare("count", "--on", "perf", "-e", "page-faults", "--region", "touch", "--", "sh", "-c", "exit 3")
ok(seen.code == 2 and "no function 'touch' in" in seen.err, "the program is the one that is started, not what it starts", seen)

write("signals.c", """\
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
volatile int got;
static void handler(int n) { (void)n; got++; }
__attribute__((noinline)) void work(void) { got += 0; __asm__ volatile(""); }
int main(int argc, char **argv)
{
	int status;
	(void)argv;
	signal(SIGUSR1, handler);
	for (int i = 0; i < 5; i++) {
		work();
		raise(SIGUSR1);
	}
	pid_t child = fork();
	if (!child) {
		raise(SIGSTOP);
		work();
		_exit(3);
	}
	waitpid(child, &status, WUNTRACED);
	printf("stopped %d\\n", WIFSTOPPED(status));
	kill(child, SIGCONT);
	waitpid(child, &status, 0);
	printf("status %d, signals %d\\n", WEXITSTATUS(status), got);
	fflush(stdout);
	if (argc > 1)
		abort();
	return 0;
}
""")
subprocess.run(["gcc", "-g", "-O1", "signals.c", "-o", "signals"], check=True)
seen = tare("count", "--on", "perf", "-e", "page-faults", "--region", "work", "./signals")
ok(seen.out == "stopped 1\nstatus 3, signals 5\n" and "region work: entered 6 times, by 2 threads" in seen.err,
   "a followed program has its signals, stops and statuses", seen)
seen = tare("count", "--on", "perf", "-e", "page-faults", "--region", "work", "./signals", "abort")
ok(seen.code == 128 + signal.SIGABRT and "region work: entered 6 times" in seen.err, "and the signal that ends it", seen)

# ---- probes that would take nearly all of the time ----
write("often.c", """\
#include <stdlib.h>
__attribute__((noinline)) void tiny(void) { __asm__ volatile("nop; nop"); }
__attribute__((noinline)) void once(void) { __asm__ volatile("nop; nop"); }
int main(int argc, char **argv)
{
	once();
	for (long i = 0, n = argc > 1 ? atol(argv[1]) : 1; i < n; i++)
		tiny();
	return 3;
}
""")
subprocess.run(["gcc", "-g", "-O1", "often.c", "-o", "often"], check=True)
MILLIONS = "5000000"  # at a microsecond a trap, which no kernel is as quick as, these take 10 s
TIMES = "task-clock,page-faults,elapsed-time,user-time,system-time,cpu-time"
seen = tare("count", "--on", "perf", "--json", "-o", "-", "-e", TIMES, "-m", "cpu-utilisation", "--region", "tiny", "--region", "once", "./often", MILLIONS)
r = parsed(seen.out, "a region that is entered millions of times")
equal(seen.code, 3, "the program runs to its end, and its status is its own")
tiny, once = r["regions"]
ok(tiny["entries"] is None and 1000 <= tiny["entries_at_least"] < int(MILLIONS) and
   tiny["why"].startswith(f"entered at least {tiny['entries_at_least']} times: ") and "--on exact counts it" in tiny["why"],
   "it is not counted to its end: it was entered at least so often, and the engine would count it", tiny)
equal(once["entries_at_least"], 1, "another region of that execution has what was seen of it")
ok(every(row["value"] is None and row["why"] == region["why"] for region in r["regions"] for row in region["results"]), "and neither has a count", r["regions"])
rows = {row["event"]: row for row in r["results"]}
for event in ("task-clock", "elapsed-time", "user-time", "system-time", "cpu-time"):
    ok(rows[event]["value"] is None and "due to the regions' probes" in rows[event]["why"] and "without --region" in rows[event]["why"],
       f"{event} of the whole program is not printed as its own", rows[event])
ok(rows["page-faults"]["value"] > 0, "its page faults are", rows["page-faults"])
equal([m["value"] for m in r["metrics"]], [None], "and no metric has such a time in it")
for compat in ("p5mon", "perfex"):
    seen = tare("count", "--on", "perf", "--compat", compat, "-o", "-", "-e", "task-clock,elapsed-time", "--region", "tiny", "./often", MILLIONS)
    equal(len(re.findall(r"^ *task-clock\S* +not counted", seen.out, re.M)), 2, f"{compat}: neither the whole's time nor the region's is printed")
    has(seen.out, re.compile(r"^Region tiny, entered at least \d+ times", re.M), f"{compat}: the region was entered at least so often")
seen = tare("count", "--on", "perf", "-e", "page-faults", "--region", "once", "--region", "tiny", "./often", "1000")
has(seen.err, "region tiny: entered 1000 times", "some thousands of traps are no reason to stop")
if platform.machine() == "x86_64":
    seen = tare("count", "--on", "exact", "-e", "instructions:u", "--region", "tiny", "./often", "100000")
    has(seen.err, "region tiny: entered 100000 times", "the engine counts what probes do not")

# ---- the engine sees every instruction: it is the witness of what the probes see ----
PASSES = ("entries", "exits", "unbalanced_threads", "threads")


def passes(on, events, program, part, regions):
    seen = tare("count", "--on", on, "--json", "-o", "-", "-e", events, *[word for region in regions for word in ("--region", region)],
                program, part)
    try:
        found = {region["name"]: tuple(region[what] for what in PASSES) for region in json.loads(seen.out)["regions"]}
    except (ValueError, KeyError):
        found = {}
    # not counted on both sides would be no agreement
    if not found or any(None in numbers for numbers in found.values()):
        ok(False, f"{on} counts the passes of {part} in {program}", seen)
    return found


if platform.machine() == "x86_64":
    for level in ("0", "1", "2"):
        for part, regions in (("lines", [f"block=pages.c:{LINE['FIRST']}-{LINE['LAST']}", f"in=pages.c:{LINE['INLINED']}", "inlined", "touch",
                                         f"loop=pages.c:{LINE['TEST']}-{LINE['INLINED']}", f"test=pages.c:{LINE['TEST']}"]),
                              ("leap", ["leap", f"leaping=pages.c:{LINE['LEAP']}"]), ("threads", ["touch", "thread"]), ("inside", ["leaves"])):
            equal(passes("perf", "page-faults", "./pages" + level, part, regions), passes("exact", "instructions:u", "./pages" + level, part, regions),
                  f"probes see the passes that the engine sees: {part} (-O{level})")
        regions = ["middle", "thrower", "try=flow.cc:24", "catch=flow.cc:25", "after=flow.cc:26", "both=flow.cc:24-26", "all=flow.cc:23-27", "cases",
                   "case1=flow.cc:11", "case2=flow.cc:12", "case3=flow.cc:13", "case5=flow.cc:15", "some=flow.cc:12-14"]
        if CXX:
            equal(passes("perf", "page-faults", "./flow" + level, "", regions), passes("exact", "instructions:u", "./flow" + level, "", regions),
                  f"probes see the passes that the engine sees: exceptions and a switch (-O{level})")
    seen = tare("count", "-r", "2", "-e", "page-faults,instructions:u", "--json", "-o", "-", "--region", "touch", "./pages1", "touch")
    rows = {row["event"]: (row["source"], row["value"]) for row in json.loads(seen.out)["regions"][0]["results"]} if seen.out else seen
    ok(rows.get("page-faults") == ("os", 70) and rows["instructions:u"][0] in ("exact", "hw"), "auto counts each event of a region where it counts it", rows)
else:
    skip("the engine is for x86-64", "probes see the passes that the engine sees")

# ---- reports ----
seen = tare("count", "--on", "perf", "-e", "page-faults", "-r", "3", "--region", "hot=touch", "./pages1", "touch")
ok(re.search(r"region hot \(touch\): entered 10 times\n +page-faults +70 +± 0 +os", seen.err), "the table has the region below the program's events", seen)
seen = tare("count", "--on", "perf", "-e", "page-faults", "--region", "leap", "./pages1", "leap")
ok("region leap: entered 10 times and left 5 times" in seen.err and "longjmp" in seen.err, "and says what is wrong with its passes", seen)
seen = tare("count", "--on", "perf", "-e", "page-faults", "--csv", "-o", "-", "--region", "hot=touch", "./pages1", "touch")
rows = list(csv.DictReader(seen.out.splitlines()))
equal([(row["kind"], row["value"], row["region"], row["entries"], row["exits"]) for row in rows][1:], [("region", "70", "hot", "10", "10")],
      "CSV has a row for it")
seen = tare("count", "--on", "perf", "-e", "page-faults", "--compat", "p5mon", "-o", "-", "--region", "leap", "./pages1", "leap")
ok("\nRegion leap, entered 10 times and exited 5 times:\n  page-faults: 10.0 +/- unknown [2.0]\n" in seen.out, "so has run_p5mon's report", seen)
seen = tare("count", "--on", "perf", "-e", "page-faults", "--compat", "perfex", "-o", "-", "--region", "touch", "./pages1", "touch")
ok(re.search(r"\nRegion touch, entered 10 times\npage-faults\.+ +70\n", seen.out), "and perfex's", seen)
done()
