"""Nieto et al., sections 4.1 and 4.2: constants that a switch promotes to 16 bytes are computed with by calls."""
from stories import *

ITERATIONS = 64 * 64
CALLS = 15  # for each of two lines: two numbers extended, a product, another, rounded; for the third: the same with a sum
REGION = "__fields_MOD_calc1"
EVENTS = ["instructions", "loads", "stores", "calls"]

if not shutil.which("gfortran"):
    skip("no gfortran here", "the story 'swim'")
    done()
begin("swim")
recordings("swim")
seen, output = {}, set()
for name, flags in (("SwimD0", []), ("SwimR8D0", ["-fdefault-real-8"]), ("SwimE0", ["-DCONSTANTS_E"]), ("SwimR8E0", ["-DCONSTANTS_E", "-fdefault-real-8"])):
    program = build("swim.f90", name, "-cpp", *flags, compiler="gfortran")
    output.add(printed(program))
    seen[name] = counts(program, "exact", EVENTS, [REGION])[REGION]
equal(len(output), 1, "the four programs print the same")
equal([seen["SwimE0"], seen["SwimR8E0"]], [seen["SwimD0"]] * 2, "SwimD0, SwimE0 and SwimR8E0 have the same counts (Table 1)")
equal(seen["SwimD0"]["calls"], 0, "and no calls")
equal(seen["SwimD0"]["stores"] // ITERATIONS, 4, "four stores an iteration")
# the linker binds each of the library's functions at its first call, with some calls of its own
between(seen["SwimR8D0"]["calls"], CALLS * ITERATIONS, CALLS * ITERATIONS + 100, "SwimR8D0: 15 calls an iteration")
ok(seen["SwimR8D0"]["instructions"] > 3.6 * seen["SwimD0"]["instructions"], "it executes more than the paper's 3.6 times as many instructions", seen)
ok(seen["SwimR8D0"]["loads"] > 1.8 * seen["SwimD0"]["loads"], "and more than 1.8 times as many loads", seen)
names_cause("long-numbers", "./SwimR8D0", "./SwimR8E0", "model:r10000")
lines = [row["line"] for row in advised("./SwimR8D0", "model:r10000") if row["rule"] == "long-numbers" and row["file"].endswith("swim.f90")]
ok(lines and lines[0] in (line_with("swim.f90", "cu(i+1,j) = HALF"), line_with("swim.f90", "cv(i,j+1) = HALF")), "at one of the lines with five calls", lines)
done()
