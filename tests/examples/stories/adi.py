"""Zagha et al. 1996, section 4.2: the sweeps' misses are those of the closed form 1.14 (docs/closed-forms.md): before, after interchange, fusion and
padding."""
import math

from stories import *

N = 100
PLANE, GRID = 8 * N * N, 8 * N * N * N
PAGE, LINE = 4096, 64
SWEEPS = ["x_sweep", "y_sweep", "z_sweep"]
# what a sweep accesses beside the grid: the constant 0.5, its return address, and in a TLB of both kinds its code
MORE = 3

begin("adi")
recordings("adi")  # the last two commands: explain names the interchange, and no longer
before, after = build("before.c", "before"), build("after.c", "after")
equal(printed(before), printed(after), "both programs print the same")

# ---- the lab's machine ----
EVENTS = ["loads", "stores", "fp-operations", "tlb-misses", "l1d-misses"]
seen = [counts(program, "model:lab", EVENTS, SWEEPS) for program in (before, after)]
for sweep in SWEEPS:
    equal([seen[0][sweep][event] for event in EVENTS[:3]], [N ** 3 + 2, (N - 1) * N * N, 2 * (N - 1) * N * N],
          f"{sweep}: N^3 loads of the grid, (N-1)N^2 stores, 2(N-1)N^2 floating-point operations")
between(seen[0]["x_sweep"]["tlb-misses"], touched(0, GRID, PAGE), touched(0, GRID, PAGE) + MORE, "lab: the X sweep misses the TLB once a page")
between(seen[0]["z_sweep"]["tlb-misses"], N ** 3, N ** 3 + MORE, "lab: the Z sweep misses the TLB with each access: 1,000,000")
between(seen[0]["z_sweep"]["l1d-misses"], 125000, 125000 + MORE, "lab: and the cache once a line: 125,000")
rows = sum(touched(PLANE * k + 8 * N * j, 8 * N, PAGE) for k in range(N) for j in range(N))
equal(rows, 11875, "rows that lie in a page, or in two: 11,875")
between(seen[1]["z_sweep"]["tlb-misses"], rows, rows + MORE, "lab, interchanged: the Z sweep misses the TLB 11,875 times")
lines = sum(touched(PLANE * k + 8 * N * j, 8 * N, LINE) for k in range(N) for j in range(N))
equal(lines, 130000, "lines of rows: 130,000, the paper's slight increase")
between(seen[1]["z_sweep"]["l1d-misses"], lines, lines + MORE, "lab, interchanged: it misses the cache 130,000 times")
equal(seen[1]["y_sweep"]["tlb-misses"], 0, "lab, fused: the Y sweep's pages are all there: no miss")

# ---- padding: N = 128, where planes are a multiple of the cache's sets apart ----
POWER = 128
capacity = 8 * 64 // math.gcd(64, 8 * POWER * POWER // LINE)
equal(capacity, 8, "8 lines of a Z line fit into the cache, of 128")
thrashing = counts(build("before.c", "power", f"-DN={POWER}"), "model:lab", EVENTS, SWEEPS)
padded = counts(build("before.c", "padded", f"-DN={POWER}", "-DPAD=1"), "model:lab", EVENTS, SWEEPS)
for sweep in SWEEPS[1:]:
    between(thrashing[sweep]["l1d-misses"], POWER ** 3, POWER ** 3 + MORE, f"lab, N = 128: each access of the {sweep} misses the cache")
    ok(padded[sweep]["l1d-misses"] < POWER ** 3 // 7, f"padded: at most one access of seven in the {sweep}", padded[sweep])

# ---- the paper's machine ----
seen = [counts(program, "model:r10000", ["tlb-misses", "l2-data-misses"], SWEEPS) for program in (before, after)]
between(seen[0]["z_sweep"]["tlb-misses"], N ** 3, N ** 3 + MORE, "r10000: the Z sweep misses the TLB with each access")
equal([seen[1]["y_sweep"][event] for event in ("tlb-misses", "l2-data-misses")], [0, 0], "r10000, fused: all that the Y sweep needs is in the second-level cache")
causes = [explained(program, "model:r10000") for program in (before, after)]
equal(max(causes[0], key=causes[0].get), "TLB", "explain names the TLB")
ok(causes[1]["TLB"] < 0.02 * causes[0]["TLB"], "afterwards its time is less than a fiftieth", causes)
rates = [mflops(program, times) for program, times in zip((before, after), causes)]
ok(rates[1] > 1.5 * rates[0], "MFLOPS go up, by the assumed costs", rates)

# ---- the machine here ----
host = machine("host")
first = first_data_tlb(host)
second = component(host, "tlbs", first["next"])
found = [counts(program, "model:host", ["dtlb-misses", "dtlb-walks"], SWEEPS)["z_sweep"] for program in (before, after)]
pages = [[(PLANE * k + 8 * (N * j + i)) // PAGE for j in range(N) for i in range(N) for k in range(N)],
         [page for j in range(N) for k in range(1, N) for i in (0, N - 1) for page in ((PLANE * (k - 1) + 8 * (N * j + i)) // PAGE,
                                                                                    (PLANE * k + 8 * (N * j + i)) // PAGE)]]
for when, seen, walk in zip(("before", "after"), found, pages):
    tlb, behind = lru_of(first), second and lru_of(second)
    if not tlb or (second and not behind):
        continue
    expected = 0
    for page in walk:
        expected += tlb.access(page) and (not behind or behind.access(page))
    # what the sweeps before left may be there yet
    between(seen["dtlb-misses"], tlb.misses - first["entries"], tlb.misses + MORE, f"host, {when}: the Z sweep's misses of the first TLB")
    left = second["entries"] if second else first["entries"]
    between(seen["dtlb-walks"], max(0, expected - left), expected + MORE,
            f"host, {when}: its page walks" + (", absent here: the second TLB holds the grid" if expected <= touched(0, GRID, PAGE) else ""))
names_cause("conflict-misses", "./power", "./padded", "model:lab", ("before.c", "last = grid[k][j][i] + 0.5 * last", "void y_sweep"))
done()
