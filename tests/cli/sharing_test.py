"""False sharing by the object on which it takes place (Zagha et al. 1996, 4.3 and Figure 6: sums of several processors in one line, before and
after they are set apart). Each thread of the program goes once over its own words in ROUNDS rounds; nobody else writes those."""
import platform
import re
import shutil
import subprocess

from cli import *

if platform.machine() != "x86_64":
    skip("the engine is for x86-64", "false sharing is named")
    done()
if not shutil.which("gcc"):
    skip("no gcc here", "false sharing is named")
    done()

ROUNDS = 20000
write("sums.c", """\
#include <pthread.h>
#include <stdlib.h>
#define ROUNDS %d
enum { THREADS_MOST = 8 };
static volatile long sums[THREADS_MOST] __attribute__((aligned(64)));               /* all in one line */
static struct { volatile long sum; } __attribute__((aligned(128))) apart[THREADS_MOST]; /* one line each */
static volatile long common __attribute__((aligned(64)));                           /* one for all */
static volatile long *allocated;
static int arrived, all;                    /* nobody sleeps: who is woken begins when the machine has time for it */
static __attribute__((noinline)) volatile long *allocate(void) { return aligned_alloc(64, 64); }
static void *work(void *number) {
	long n = (long)number;
	__atomic_add_fetch(&arrived, 1, __ATOMIC_SEQ_CST);
	while (__atomic_load_n(&arrived, __ATOMIC_SEQ_CST) < all) ;
	for (int i = 0; i < ROUNDS; i++) {
		sums[n]++;
		allocated[n]++;
		apart[n].sum++;
		common++;
	}
	return 0;
}
int main(int argc, char **argv) {
	pthread_t thread[THREADS_MOST];
	long n = argc > 1 ? atoi(argv[1]) : 2;
	allocated = allocate();
	all = n;
	for (long i = 0; i < n; i++) pthread_create(&thread[i], 0, work, (void *)i);
	for (long i = 0; i < n; i++) pthread_join(thread[i], 0);
	return 0;
}
""" % ROUNDS)
subprocess.run(["gcc", "-g", "-O1", "-fno-builtin", "sums.c", "-o", "sums", "-lpthread"], check=True)
EVENTS = ["false-sharing-misses", "true-sharing-misses", "interventions", "invalidations"]


def shared(threads):
    """{event: {object: count}}; heap blocks are of the function that allocated them."""
    fact = f"{threads} threads"
    seen = tare("count", "--on", "model:host", "-e", ",".join(EVENTS), "--by", "object", "--json", "-o", "report.json", "./sums", str(threads))
    ok(seen.code == 0, f"{fact}: exit code 0", seen)
    report = parsed(read("report.json"), fact)
    found = {event: {} for event in EVENTS}
    for at, event in enumerate(report["breakdown"]["events"]):
        ok(sum(row["counts"][at] for row in report["breakdown"]["rows"]) == event["total"], f"{fact}: {event['event']} adds up")
        for row in report["breakdown"]["rows"]:
            name = row["stack"][0]["function"] if row.get("stack") else row["object"]
            found[event["event"].split(":")[0]][name] = found[event["event"].split(":")[0]].get(name, 0) + row["counts"][at]
    return found, report


def no_more(found, event, name, most):
    return found[event].get(name, 0) <= most


one, report = shared(1)
ok(every(no_more(one, event, name, 2) for event in EVENTS for name in ("sums", "allocate", "apart", "common")),
   "one thread shares nothing", one)
counts = {}
for threads in (2, 3):
    found, report = shared(threads)
    for name in ("sums", "allocate"):
        number = found["false-sharing-misses"].get(name, 0)
        # threads in step take a line from each other every four rounds (a turn is 16 words, a round 4); that each round of each thread misses is the most
        ok(threads * ROUNDS / 10 <= number <= threads * ROUNDS, f"{threads} threads: false sharing is on the {'variable' if name == 'sums' else 'block'} that they share", found)
        ok(no_more(found, "true-sharing-misses", name, number / 100), f"{threads} threads: and is no true sharing", found)
        counts[threads, name] = number
    ok(no_more(found, "false-sharing-misses", "apart", 8), f"{threads} threads: sums that are set apart share nothing", found)
    ok(found["true-sharing-misses"].get("common", 0) >= threads * ROUNDS / 10, f"{threads} threads: what all of them add to is truly shared", found)
    ok(no_more(found, "false-sharing-misses", "common", found["true-sharing-misses"].get("common", 0) / 100),
       f"{threads} threads: and not falsely", found)
    close = abs(counts[threads, "sums"] - counts[threads, "allocate"]) <= 0.05 * counts[threads, "sums"]
    ok(close, f"{threads} threads: two lines that are shared alike have the same counts", counts)
ok(counts[3, "sums"] > counts[2, "sums"], "more threads share more (Figure 6)", counts)
seen = tare("count", "--on", "model:host", "-e", "false-sharing-misses", "--by", "object", "./sums")
has(seen.err, re.compile(r"^ *[\d,]+\( *\d+\.\d%\).*  sums, 64 bytes \(sums\)$", re.M), "text names the variable")
has(seen.err, re.compile(r"  \[heap\], 64 bytes\n +allocated in allocate \(sums:sums\.c:\d+\)\n +called from main", re.M), "and the block with its stack")
has(" ".join(seen.err.split()), "threads were kept in step", "and says that threads are kept in step")
done()
