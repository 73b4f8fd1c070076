"""Nieto et al., section 4.3: 24 floating-point operations a square root become 2. The time falls, and the operations per time fall much more."""
from stories import *

N = 100000
EVENTS = ["instructions", "fp-operations", "fp-square-roots", "fp-instructions"]

begin("square-root")
recordings("square-root")
programs = [build("roots.c", "software"), build("roots.c", "guarded", "-DHARDWARE", "-lm"), build("roots.c", "hardware", "-DHARDWARE", "-fno-math-errno", "-lm")]
equal(len({printed(program) for program in programs}), 1, "the three programs print the same roots")
seen = [counts(program, "exact", EVENTS, ["roots"])["roots"] for program in programs]
equal([found["fp-operations"] for found in seen], [24 * N, 2 * N, 2 * N], "24 operations a number by software; a root and a multiplication by hardware")
equal([found["fp-square-roots"] for found in seen], [0, N, N], "one of them is the square root")
ok(seen[0]["instructions"] > seen[1]["instructions"] > seen[2]["instructions"], "each program has fewer instructions than the one before", seen)
times = [explained(program, "model:r10000")["computing"] for program in (programs[0], programs[2])]
ok(times[1] < times[0], "by the assumed costs the hardware's takes less time", times)
rates = [24 * N / times[0], 2 * N / times[1]]
ok(rates[1] < rates[0] / 4, "and has less than a quarter of the operations per time", rates)
names_cause("arithmetic", programs[0], programs[2], "model:r10000", "roots")
done()
