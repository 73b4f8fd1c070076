"""`tare explain --calls`: calls that the kernel does not let end before a time are explained with that time at least, and with no more than tare itself took."""
import json
import os
import platform
import re
import resource
import subprocess
import sys
import time

PROGRAM, PLACES = map(os.path.abspath, sys.argv[2:4])  # importing cli changes the folder
SOURCES = os.path.dirname(os.path.abspath(__file__))

from cli import *

with open(os.path.join(SOURCES, "../../docs/explanation.schema.json"), encoding="utf-8") as file:
    SCHEMA = json.load(file)
if platform.machine() != "x86_64":
    skip("the engine's tables are for x86-64", "system calls are timed")
    done()

COSTS = write("free.costs", "[costs]\nmachine = planted\ntitle = planted\nsource = made up\n\n[cost]\nof = instruction\nunit = ns\nminimum = 1\ntypical = 1\nmaximum = 1\nsource = made up\n")
OPTIONS = ("-q", "--costs", COSTS)
# the time stamp counter's frequency is taken in the same run: to a part in a hundred it is right in any
PART = 0.01


def explained(*program, options=OPTIONS):
    begin = time.monotonic()
    seen = tare("explain", "--calls", "--json", "-o", "calls.json", *options, *program)
    took = time.monotonic() - begin
    if not ok(seen.code == 0, f"{' '.join(map(os.path.basename, program))} is explained", seen):
        done()
    return json.loads(read("calls.json"), parse_constant=no_constant), took


result, took = explained(PROGRAM)
if jsonschema:
    errors = [f"{list(e.absolute_path)}: {e.message}" for e in jsonschema.Draft202012Validator(SCHEMA).iter_errors(result)]
    ok(not errors, "obeys the schema", "\n".join(errors))
else:
    skip("python3-jsonschema is not installed", "obeys the schema")
calls = {c["name"]: c for c in result["system_calls"]["calls"]}
none = {"count": 0, "seconds": 0}
sleeps = calls.get("clock_nanosleep") or calls.get("nanosleep") or none
equal((sleeps["count"], calls.get("poll", none)["count"], calls["getppid"]["count"]), (2, 1, 1000), "each call has its count")
for name, call, least in (("two sleeps of 50 ms", sleeps, 0.1), ("a poll for 30 ms", calls.get("poll", none), 0.03), ("a futex that nobody wakes for 40 ms", calls["futex"], 0.04),
                          ("a pause that the program's end cuts short, for as long", calls.get("pause", none), 0.1 + 0.03 + 0.04)):
    ok(call["seconds"] and least * (1 - PART) <= call["seconds"] <= took * (1 + PART), f"{name}: at least that, and no longer than tare ran", (call, took))
ok(0 < calls["getppid"]["seconds"] <= took * (1 + PART), "calls that do nothing have a time", calls["getppid"])
equal((calls["exit_group"]["count"], calls["exit_group"]["seconds"]), (1, None), "exit_group does not come back, and has no time")
equal((calls.get("select", none)["count"], calls.get("select", none)["seconds"]), (1, None), "nor has the one in which a child was killed: when is not known")
order = [c["seconds"] or 0 for c in result["system_calls"]["calls"]]
equal(order, sorted(order, reverse=True), "the longest come first")
ok(abs(result["system_calls"]["seconds"] - sum(order)) < 1e-6, "their sum is that of all", result["system_calls"])
equal(result["why_no_system_calls"], None, "nothing was in the way")
ok(not any("not timed" in note for note in result["notes"]), "and all were timed", result["notes"])

# ---- where they were made ----
def marked(name):
    """{line: count} of the lines of a source with a number in a remark behind them."""
    with open(os.path.join(SOURCES, name), encoding="utf-8") as source:
        return {n: int(found[1]) for n, text in enumerate(source, 1) if (found := re.search(r"/\* (\d+) \*/$", text))}


def line_of(name, part):
    with open(os.path.join(SOURCES, name), encoding="utf-8") as source:
        return next(n for n, text in enumerate(source, 1) if part in text)


def counts(places, call):
    """{(file, line): count} of a call's places."""
    found = {}
    for place in places:
        if place["name"] == call:
            at = os.path.basename(place["file"] or ""), place["line"]
            found[at] = found.get(at, 0) + place["count"]
    return found


places = result["system_calls"]["places"]
for call, part, times in (("getppid", "SYS_getppid", 1000), ("poll", "poll(NULL", 1), ("futex", "SYS_futex", 1), ("pause", "pause();", 1),
                          (next((n for n in ("clock_nanosleep", "nanosleep") if n in calls), ""), "nanosleep(&", 2)):
    equal(counts(places, call), {("calls.c", line_of("calls.c", part)): times}, f"{call} is at the line that makes it, through the C library")
    ok(abs(sum(p["seconds"] for p in places if p["name"] == call) - (calls[call]["seconds"] or 0)) < 1e-6, f"{call}: with all of its time", (places, calls[call]))
order = [p["seconds"] for p in places]
equal(order, sorted(order, reverse=True), "the places that take longest come first")
where, _ = explained(PLACES)
places = where["system_calls"]["places"]
expected = {("call_places.c", line): n for line, n in marked("call_places.c").items() if n < 100}
expected["", 0] = 17
equal(counts(places, "getppid"), expected, "callers with and without a frame pointer, of a handler, a thread and a child: each line has its calls")
stacks = {p["line"]: p["functions"] for p in places if p["name"] == "getppid"}
by_count = {n: stacks[line] for (_, line), n in expected.items() if line in stacks}
equal(by_count.get(3, [])[:4], ["syscall", "inner", "outer", "main"], "the functions of the stack, the innermost first")
equal([p["functions"] for p in places if p["name"] == "getppid" and not p["line"]], [["[anonymous]"]], "code of no file has no caller: nothing is guessed")
equal(by_count.get(5, [])[:3], ["syscall", "of_any_size", "main"], "a frame of any size has its caller")
ok(by_count.get(7, [])[:2] == ["syscall", "handler"] and "main" in by_count.get(7, []), "a handler's stack goes on where the signal came", by_count)
ok(by_count.get(13, [])[:2] == ["syscall", "thread"] and "main" not in by_count.get(13, []), "a thread's begins with the thread", by_count)
where, _ = explained(PLACES, "stacks")
places = [p for p in where["system_calls"]["places"] if p["name"] == "getppid"]
lost = [p for p in where["system_calls"]["places"] if p["name"] == "other"]
kept = sum(p["count"] for p in places)
ok(8000 < kept <= 8192 and len(lost) == 1 and not lost[0]["functions"] and kept + lost[0]["count"] >= 16384, "of more stacks than there is room for, the rest is one row without a place", (places, lost))
equal(counts(places, "getppid"), {("call_places.c", line_of("call_places.c", "/* 16384 */")): kept}, "and what is kept is right")

# ---- what cannot be timed is said ----
def is_blind(what, *program):
    result, _ = explained(*program)
    calls = {c["name"]: c for c in result["system_calls"]["calls"]}
    equal((calls["getppid"]["count"], calls["getppid"]["seconds"]), (1000, None), f"of {what} calls are counted, and not timed")
    ok(any("system calls were not timed: the program" in note for note in result["notes"]), "a note says so", result["notes"])


is_blind("a program that forbids the counter", PROGRAM, "blind")
# the C library's loader reads the counter, and would die of it: this one has neither
write("bare.c", """void _start(void)
{
	for (int i = 0; i < 1000; i++) {
		long getppid = 110;
		__asm__ volatile("syscall" : "+a"(getppid) : : "rcx", "r11", "memory");
	}
	__asm__ volatile("syscall" : : "a"(231), "D"(0) : "rcx", "r11", "memory");
}
""")
subprocess.run(["gcc", "-O1", "-static", "-nostdlib", "-fno-pie", "-no-pie", "-o", "bare", "bare.c"], check=True)
is_blind("what it executes, where that goes on,", PROGRAM, "exec", os.path.abspath("bare"))

# ---- where waits may not be sampled ----
PERF_EVENT_OPEN = 298
seen = tare("explain", "--waits", "--json", "-o", "refused.json", *OPTIONS, PROGRAM, preexec_fn=lambda: refuse(PERF_EVENT_OPEN))
result = json.loads(read("refused.json"), parse_constant=no_constant) if seen.code == 0 else {}
ok(result.get("waits", 0) is None and result.get("why_no_waits"), "without the right to sample, where threads wait is not known", seen)
ok({"clock_nanosleep", "nanosleep"} & {c["name"] for c in (result.get("system_calls") or {"calls": []})["calls"]}, "and --waits shows the system calls", result)

# three wait for a lock, each at a line of its own; who joins the one that holds it waits longer, and for no lock
write("joins.c", """#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static volatile int held, ids[3];
static void rest(long ms) { nanosleep(&(struct timespec){.tv_nsec = ms * 1000000}, 0); }
/* Until all three wait: no load of the machine can make them late. */
static void until_asleep(void)
{
	for (int i = 0; i < 3; i += 0) {
		char path[64], text[512] = "", *state;
		snprintf(path, sizeof path, "/proc/self/task/%d/stat", ids[i]);
		int fd = open(path, O_RDONLY);
		if (fd >= 0 && read(fd, text, sizeof text - 1) > 0 && (state = strrchr(text, ')')) && state[2] == 'S')
			i++;
		close(fd);
		sched_yield();
	}
}
static void *hold(void *p)
{
	pthread_mutex_lock(&lock);
	held = 1;
	until_asleep();
	rest(300);
	pthread_mutex_unlock(&lock);
	rest(200);
	return p;
}
static void here(int i) { ids[i] = (int)syscall(SYS_gettid); }
static void *one(void *p) { here(0); pthread_mutex_lock(&lock); pthread_mutex_unlock(&lock); return p; } /* a lock */
static void *two(void *p) { here(1); pthread_mutex_lock(&lock); pthread_mutex_unlock(&lock); return p; } /* a lock */
static void *three(void *p) { here(2); pthread_mutex_lock(&lock); pthread_mutex_unlock(&lock); return p; } /* a lock */
int main(void)
{
	void *(*all[])(void *) = {hold, one, two, three};
	pthread_t threads[4];
	for (int i = 0; i < 4; i++) {
		pthread_create(&threads[i], 0, all[i], 0);
		while (!held)
			sched_yield();
	}
	for (int i = 0; i < 4; i++)
		pthread_join(threads[i], 0); /* the join */
	return 0;
}
""")
JOINS = os.path.abspath("joins")
subprocess.run(["gcc", "-g", "-O1", "-pthread", "-o", JOINS, "joins.c"], check=True)
LOCKS = [i for i, line in enumerate(read("joins.c").splitlines(), 1) if line.endswith("/* a lock */")]


def lock_advice(program, **more):
    seen = tare("explain", "--advice", "--json", "-o", "-", "--program-output", "none", *OPTIONS, program, **more)
    rows = json.loads(seen.out, parse_constant=no_constant)["advice"] if seen.code == 0 else []
    found = [row for row in rows if row["rule"] == "lock-waiting"]
    ok(len(found) == 1, "half of the time is waiting for a lock", seen)
    return found[0] if found else {"file": "", "line": 0, "why_no_line": None}


for more in ({}, {"preexec_fn": lambda: refuse(PERF_EVENT_OPEN)}):
    advised = lock_advice(JOINS, **more)
    ok(os.path.basename(advised["file"] or "") == "joins.c" and advised["line"] in LOCKS, f"its line is one that locks, not that of a join{', also without samples' if more else ''}", advised)
subprocess.run(["objcopy", "--strip-debug", JOINS, "joins-stripped"], check=True)
advised = lock_advice(os.path.abspath("joins-stripped"))
equal((advised["file"], advised["why_no_line"]), (None, "its code has no line numbers: compile it with -g"), "a line of the C library is none of the program's")
# so few files that samples cannot be taken: the report goes without them
FILES = {"preexec_fn": lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (14, 14))}
seen = tare("explain", "--advice", "-o", "-", "--program-output", "none", *OPTIONS, JOINS, **FILES)
ok("cannot open counter" not in seen.err, "that samples for its line cannot be taken does not end it", seen)

# ---- shown ----
text = tare("explain", "--calls", "-o", "-", "--program-output", "none", *OPTIONS, PROGRAM).out
for part in ("system call ", "where it was made", f"calls.c:{line_of('calls.c', 'SYS_getppid')}", "getppid", "1,000", "all system calls together took"):
    has(text, part, f"the text has {part}")
page = tare("explain", "--calls", "--html", "-o", "-", "--program-output", "none", *OPTIONS, PROGRAM).out
has(page, "all system calls together took", "and so has the page")
has(tare("explain", "--calls", "--sweep", "N=1,2", "echo", "ran").err, "leave out --sweep", "--calls is of one value")
done()
