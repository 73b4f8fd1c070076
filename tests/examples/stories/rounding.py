"""Nieto et al., section 4.4: a constant of double precision makes three conversions for two single-precision operations."""
from stories import *

N = 100000
EVENTS = ["fp-operations", "fp-conversions", "fp-single-operations", "fp-double-operations"]

begin("rounding")
recordings("rounding")
before, after = build("add.c", "before"), build("add.c", "after", "-DFACTOR=1.5f")
equal(printed(before), printed(after), "both programs print the same")
seen = [counts(program, "exact", EVENTS, ["add"])["add"] for program in (before, after)]
equal([found["fp-operations"] for found in seen], [2 * N, 2 * N], "both programs do 2 operations a sum")
equal([found["fp-conversions"] for found in seen], [3 * N, 0], "3 conversions a sum, and none with 1.5f")
equal([found["fp-double-operations"] for found in seen], [2 * N, 0], "in double precision, and in single precision")
rates = [mflops(program, explained(program, "model:r10000")) for program in (before, after)]
ok(rates[1] > rates[0], "MFLOPS go up, by the assumed costs", rates)
names_cause("conversions", before, after, "model:r10000", ("add.c", "a[i] = a[i] + b[i] * FACTOR;"))
done()
