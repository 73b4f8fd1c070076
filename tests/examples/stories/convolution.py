"""Zagha et al. 1996, section 4.4: K + 1 mispredictions a pixel by two-bit counters, of K^2 + K + 1 branches; one a row after interchange and unrolling
(docs/closed-forms.md, 1.13)."""
from stories import *

K, ROWS = 3, 128
PIXELS = ROWS * ROWS
EVENTS = ["conditional-branches", "branch-misses", "instructions", "fp-operations"]
COLD = 16  # counters that begin at weakly not taken, and the return

begin("convolution")
recordings("convolution")
before, after = build("before.c", "before"), build("after.c", "after")
equal(printed(before), printed(after), "both programs blur the same")
for name in ("r10000", "lab"):
    seen = [counts(program, f"model:{name}", EVENTS, ["convolve"])["convolve"] for program in (before, after)]
    equal(seen[0]["conditional-branches"], (K * K + K + 1) * PIXELS + ROWS, f"{name}: 13 branches a pixel and one a row")
    between(seen[0]["branch-misses"], (K + 1) * PIXELS, (K + 1) * PIXELS + ROWS + COLD, f"{name}: 4 of them are mispredicted, and the row's end")
    equal(seen[1]["conditional-branches"], PIXELS + ROWS, f"{name}, unrolled: one branch a pixel and one a row")
    ok(seen[1]["branch-misses"] <= ROWS + COLD, f"{name}, unrolled: the row's end is mispredicted at most", seen[1])
ok(seen[1]["instructions"] < 0.5 * seen[0]["instructions"], "unrolled: less than half of the instructions", seen)
equal([found["fp-operations"] // PIXELS for found in seen], [2 * K * K + 1, 2 * K * K], "for the same work: 18 operations a pixel, and one for sum = 0")
causes = [explained(program, "model:r10000") for program in (before, after)]
ok(causes[0]["mispredictions"] > 10 * causes[1]["mispredictions"], "explain: the time of mispredictions is less than a tenth", causes)
rates = [mflops(program, times) for program, times in zip((before, after), causes)]
ok(rates[1] > 1.5 * rates[0], "MFLOPS go up, by the assumed costs", rates)

# ---- the machine here: what a predictor with a history of many branches knows is absent ----
predictor = machine("host")["predictor"]
seen = [counts(program, "model:host", EVENTS[:2], ["convolve"])["convolve"]["branch-misses"] for program in (before, after)]
if predictor == "tage":
    ok(seen[0] <= 0.1 * PIXELS, "host: absent here: a TAGE predictor knows the ends of short loops", seen)
else:
    ok(seen[0] >= (K + 1) * PIXELS // 2, f"host: {predictor} mispredicts the ends of short loops", seen)
ok(seen[1] <= ROWS + COLD, "host: and none a pixel when they are unrolled", seen)
names_cause("short-loop", before, after, "model:r10000", ("before.c", "while (++i < columns);"))
done()
