"""Do the intervals of real profiles hold the truth? Not part of `make check`: a row of `make check-full` (tests/full.toml).

    coverage_runs.py TARE [RUNS]

Programs whose page faults are known by counting (at a gap of 1) are sampled again and again, each time with another seed. How often is a function's
true share in its interval? That 93 % or more are covered (95 less the 2 that the issue allows) must not be rejected at 99 %. Above 97 % is told, and
is no failure: tare's gaps are half fixed, so that samples are more regular than independent ones. Between two faults the program works for some
microseconds, so that samples come some thousand times a second: where they come faster, gaps are drawn anew too seldom, and there are no intervals.
"""
import json
import math
import subprocess
import sys

from cli import *

RUNS = int(sys.argv[2]) if len(sys.argv) > 2 else 150
STATED = 0.93

# the faults of one round: seven(), two(), one() in turn, so many rounds
write("phases.c", """\
#include <sys/mman.h>
static void work(void) { for (int i = 0; i < 12000; i++) __asm__ volatile(""); } /* some microseconds */
#define TOUCH(name, n) __attribute__((noinline)) static char *name(char *p) { for (int i = 0; i < (n); i++, p += 4096) { *p = 1; work(); } return p; }
TOUCH(seven, 7 * UNIT)
TOUCH(two, 2 * UNIT)
TOUCH(one, UNIT)
int main(void)
{
	long bytes = 10l * UNIT * ROUNDS * 4096;
	char *p = mmap(0, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	madvise(p, bytes, MADV_NOHUGEPAGE);
	for (int i = 0; i < ROUNDS; i++)
		p = one(two(seven(p)));
	return 0;
}
""")


def shares(*arguments):
    """{function: (share, low, high)}, and how many samples."""
    tare("profile", "-e", "page-faults:u", "-o", "kept", *arguments)
    event = json.loads(tare("report", "--format", "json", "kept").out)
    return {row["function"]: tuple(row["counts"][0].get(key) for key in ("share", "low", "high")) for row in event["functions"]}, event["events"][0]


def binomial_below(k, n, p):
    """P(X <= k)"""
    return sum(math.exp(math.lgamma(n + 1) - math.lgamma(i + 1) - math.lgamma(n - i + 1) + i * math.log(p) + (n - i) * math.log(1 - p)) for i in range(k + 1))


def judge(name, covered, n):
    p = binomial_below(covered, n, STATED)
    print(f"# {name}: {covered} of {n} intervals hold the truth: {100 * covered / n:.1f} %, p = {p:.3f}")
    ok(n > 0 and p >= 0.01, f"{name}: that {100 * STATED:.0f} % or more are covered is not rejected at 99 %", (covered, n))


for what, unit, rounds in (("a loop of 10 faults", 1, 1600), ("a loop of 70 faults", 7, 229), ("phases of a tenth of the run", 160, 10), ("three phases", 1600, 1)):
    subprocess.run(["gcc", "-g", "-O1", "-static", f"-DUNIT={unit}", f"-DROUNDS={rounds}", "phases.c", "-o", "phases"], check=True)
    # truth: all faults of the process in user mode, of which the functions have known parts
    truth = {"seven": 7 * unit * rounds, "two": 2 * unit * rounds, "one": unit * rounds}
    own = {name: [0, 0] for name in truth}
    for seed in range(1, RUNS + 1):
        seen, event = shares("-c", "53", "--seed", str(seed), "./phases")
        for name, faults in truth.items():
            _, low, high = seen.get(name, (0, None, None))
            if low is None:
                continue
            own[name][0] += low <= faults / event["total"] <= high
            own[name][1] += 1
    for name in truth:
        if own[name][1] < 20:
            # a machine so busy that gaps were drawn anew too seldom: the reports have no intervals, and say so
            skip(f"only {own[name][1]} of {RUNS} runs have an interval", f"{what}, {name}()")
            continue
        judge(f"{what}, {name}()", *own[name])
done()
