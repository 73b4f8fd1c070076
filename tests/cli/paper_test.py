"""`tare verify --paper`: the papers' experiments run again, beside what they printed."""
import json
import math
import os
import re
import shutil
import sys

KERNELS = os.path.abspath(sys.argv[2])
RUNS = sys.argv[3] == "yes"  # a sanitizer's runtime would be in the kernels

import browser
from cli import *

ENV = environment(TARE_STORE="none", TARE_KERNELS=KERNELS, ASAN_OPTIONS="detect_leaks=0")

# ---- what is wrong is told before anything runs ----
for words, what in ((("--paper", "shakespeare"), "'shakespeare' is not a paper"), (("--html", "x.html"), "goes with --paper only"),
                    (("--paper", "korn", "-e", "loads"), "--paper goes with"), (("--paper", "korn", "--on", "exact"), "--paper goes with"),
                    (("--paper", "korn", "true"), "--paper goes with"), (("sampling", "--paper", "korn", "true"), "do not go with 'sampling'")):
    seen = tare("verify", *words, env=ENV)
    ok(seen.code == 2 and what in seen.err and seen.out == "", f"'tare verify {' '.join(words)}' is refused", seen)
ok(not os.path.exists("x.html"), "what was refused wrote no page")
seen = tare("verify", "--paper", "korn", "--html", "no/such/folder/x.html", env=ENV)
ok(seen.code == 3 and "no/such/folder" in seen.err, "a page that cannot be written is told first", seen)


def number(cell):
    """The first number of a cell; '–' and 'NA' have none."""
    found = re.search(r"-?\d[\d,]*\.?\d*(e[-+]\d+)?", cell)
    return float(found.group().replace(",", "")) if found else math.nan


class Study:
    """What --json says, by headings."""

    def __init__(self, paper, **more):
        self.page = f"{paper}.html"
        seen = tare("verify", "--paper", paper, "--quick", "--json", "--html", self.page, env={**ENV, **more})
        ok(seen.code == 0 and seen.err == "", f"'tare verify --paper {paper}' runs", seen)
        self.found = json.loads(seen.out)
        self.blocks = self.found["blocks"]

    def under(self, heading, kind):
        """The blocks of a kind between that heading and the next one."""
        within, blocks = False, []
        for block in self.blocks:
            if block["kind"] == "heading":
                within = block["text"] == heading
            elif within and block["kind"] == kind:
                blocks.append(block)
        return blocks

    def table(self, heading, which=0):
        """{column: cell} of each row."""
        tables = self.under(heading, "table")
        return [dict(zip(tables[which]["columns"], row)) for row in tables[which]["rows"]] if which < len(tables) else []

    def figure(self, heading):
        figures = self.under(heading, "figure")
        return {series["name"]: series for series in figures[0]["series"]} if figures else {}

    def check_page(self):
        with open(self.page, encoding="utf-8") as file:
            page = file.read()
        name = self.found["paper"]
        ok(len(page.encode()) < 2 << 20, f"{name}: the page is less than 2 MB", len(page))
        ok(not re.search(r"(src|href)\s*=\s*[\"']?(?!#)|url\(|@import", page), f"{name}: the page needs no other file", re.findall(r".{30}(?:src|href)=.{30}", page))
        equal(page.count("<figure>"), sum(block["kind"] == "figure" for block in self.blocks), f"{name}: the page has all figures")
        equal(page.count('role="img"'), page.count("<figure>"), f"{name}: each as SVG with a name")
        ticks = re.findall(r'text-anchor="end">([-\d.e+]+)(?: %)?</text>', page)
        equal([tick for tick in ticks if float(f"{float(tick):.3g}") != float(tick) or tick == "-0"], [], f"{name}: the figures' axes have round numbers")
        lines = [figure for figure in page.split("<figure>")[1:] if 'class="line s0"' in figure]
        few = [figure.count('y="300" text-anchor="middle"') for figure in lines]
        ok(all(n >= 2 for n in few), f"{name}: two numbers at least are below each of {len(lines)} figures of lines", few)
        missing = [block["text"] for block in self.blocks if block["kind"] == "not run"]
        ok(all(len(text) > 40 for text in missing), f"{name}: what is not run has a reason", missing)


def korn():
    s = Study("korn")
    table = s.table("Table 1")
    equal([row["R12000's number (paper)"] for row in table], ["1", "2", "3", "6", "25", "9", "26", "10", "23"], "korn: Table 1 has the paper's numbers")

    # Table 2: pairs of the paper's row and ours
    table = s.table("Table 2")
    pairs = list(zip(table[::2], table[1::2]))
    equal([theirs["perfex within 10%"] for theirs, _ in pairs], ["30,000", "20,000", "5,000", "NA"], "korn: Table 2 has the paper's figures")
    ok(every(theirs["source"] == "paper" and ours["source"] not in ("paper", "") for theirs, ours in pairs), "korn: each row says where it is from", table)

    # the law reproduces the paper's thresholds from its overheads: on the grid that its columns and text show
    grid = [250, 2000, 5000, 10000, 20000, 30000, 40000, 50000, 100000]
    for row in s.table("Threshold law")[::2][:3]:
        for n, found in (("5%: N = O/(0.05 k)", "5%: tested"), ("10%: N = O/(0.10 k)", "10%: tested")):
            first = next(size for size in grid if size >= number(row[n]))
            equal(number(row[found]), first, f"korn: {row['event']}: the law's {row[n]} iterations are the printed {row[found]} on the paper's grid")

    # regions: the prediction, to the event, where the engine counts
    figures = [block["title"] for block in s.blocks if block["kind"] == "figure"]
    equal([title.split(":")[0] for title in figures], [f"Figure {n}" for n in range(3, 11)], "korn: Figures 3 to 10 are there")
    for title in figures[:4]:
        lines = s.figure(title)
        region, command = lines["region (libperfex)"], lines["command (perfex)"]
        if region["source"] == "exact":
            ok(region["y"] and not any(region["y"]), f"korn: {title}: a region's error is 0", region["y"])
        else:
            skip("a counter counts here", f"korn: {title}: a region's error is 0")
        # an overhead that does not depend on N: error times N is constant
        products = [x * y for x, y in zip(command["x"], command["y"])]
        ok(min(products) > 0 and max(products) < 1.05 * min(products), f"korn: {title}: the command's error falls as 1/N", products)
        ok(command["x"][0] == 250 and command["x"][-1] >= 100000, f"korn: {title}: from 250 iterations to 100,000 and more", command["x"])
    for title in figures[4:]:
        lines = s.figure(title)
        equal({line["source"] for line in lines.values()}, {"r12000"}, f"korn: {title} is of the model")
        ok(abs(lines["region (libperfex)"]["y"][-1]) < 1, f"korn: {title}: at the largest size the region's error is below 1 %", lines)
        ok(lines["command (perfex)"]["y"][0] > 100, f"korn: {title}: at the smallest size the command's error is above 100 %", lines)
    array = s.figure(figures[5])["simulator (sim-outorder)"]
    more = [round(y * math.ceil(x / 8) / 100) for x, y in zip(array["x"], array["y"])]
    ok(max(more) - min(more) <= 1 and 0 <= min(more) <= 3,
       "korn: the simulator's data misses are the prediction and a few lines of the stack (one more where the argument's digits cross a line)", more)
    s.check_page()


SWIMS = ("SwimD0", "SwimR8D0", "SwimE0", "SwimR8E0")


def nieto():
    s = Study("nieto")

    # square roots: the paper's counts for each element, and ours by arithmetic
    for table, fp, of_paper in (("Table 2", 2, 2), ("Table 3", 7, 21), ("Table 4", 8, 21.6), ("Table 5", 3, 3), ("Table 6", 3, 3)):
        rows = {(row["source"] == "paper", row["count"]): row for row in s.table(table)}
        theirs = rows.get((True, "Mean FP"), {})
        ours = next((row for (paper, name), row in rows.items() if not paper and name.startswith("FP")), {})
        ok(abs(number(theirs.get("1,000,000", "")) / 1e6 - of_paper) < 0.01, f"nieto: {table} has the paper's {of_paper} for each element", theirs)
        equal([number(ours.get(n, "")) for n in ("100", "1,000", "10,000", "100,000", "1,000,000")], [fp * 10.0**k for k in range(2, 7)],
              f"nieto: {table}: {fp} for each element here, to the event")

    # swim
    if os.path.exists(f"{KERNELS}/swim-d0-region"):
        rows = {(row["an iteration"], row["source"]): row for row in s.table("Table 1, here")}
        for metric, theirs in (("loads", ["10.99", "20.00", "10.99", "10.99"]), ("stores", ["5.49", "4.00", "5.49", "5.49"]),
                               ("instructions", ["35.30", "127.04", "35.30", "35.30"])):
            equal([rows[metric, "paper"][name] for name in SWIMS], theirs, f"nieto: Table 1: the paper's {metric} of an iteration")
        for metric in ("loads", "stores", "instructions", "calls"):
            ours = [rows[metric, "exact"][name] for name in SWIMS]
            equal([ours[2], ours[3]], [ours[0]] * 2, f"nieto: Table 1: {metric}: SwimD0, SwimE0 and SwimR8E0 are alike")
            equal([rows[f"{metric}, own code", "exact"][name] for name in SWIMS], [rows[f"{metric}, predicted", "arithmetic"][name] for name in SWIMS],
                  f"nieto: Table 1: {metric}: the loop's own code counts what its instructions tell")
        equal(rows["calls", "exact"]["SwimR8D0"], "15.00", "nieto: Table 1: SwimR8D0 calls 15 functions an iteration")
        ok(number(rows["instructions", "exact"]["SwimR8D0"]) > 3.6 * number(rows["instructions", "exact"]["SwimD0"]), "nieto: Table 1: it executes more than 3.6 times as much")
    else:
        skip("no Fortran compiler when tare was built", "nieto: Table 1")
    equal(s.table("Table 1")[3]["SwimR8D0"], "4,103,932,982.00", "nieto: Table 1 is there as printed, cycles too")

    # rounding
    rows = {row["count"]: row for row in s.table("Table 7")}
    for name, each in (("fp-add-single: 50 additions", 50), ("fp-rounded: 10 a + b*1.5", 50), ("fp-unrounded: 10 a + b*1.5f", 20)):
        equal(number(rows[name]["1,000,000"]), each * 1e6, f"nieto: Table 7: '{name}': {each} for each iteration")
    equal(rows["GCC no flags: Mean-Reported Count"]["1,000,000"], "100,000,073", "nieto: Table 7 has the paper's count")

    # calibration: constants
    rows = s.table("Table 10, here")
    equal([number(row["region - predicted"]) for row in rows], [8.0] * 5, "nieto: Table 10: the region has 8 instructions more at each size")
    equal([number(row["command - predicted"]) for row in rows], [19.0 + 7 * digits for digits in range(1, 6)], "nieto: Table 10: so has the command its own")

    text = " ".join(block["text"] for block in s.under("Table 10, here", "text"))
    for what, own in (("region", [8.0] * 5), ("command", [19.0 + 7 * digits for digits in range(1, 6)])):
        most = max(abs(number(row[f"{what} - predicted"]) - constant) for row, constant in zip(rows, own))
        said = re.search(rf"The {what} was counted by (\w+)(, and no instruction of the counting is in it|: up to ([\d,.]+) instructions (more|fewer) than the program has)", text)
        ok(said and said[1] in ("exact", "hw") and number(said[3] or "0") == most, f"nieto: Table 10: who counted the {what} is told, and how much of the counting is in it", text)

    # the instruction cache: 4-byte instructions, lines of 128 bytes, blocks of 32
    for row in s.table("Table 11"):
        n = number(row["instructions"])
        equal(number(row["hits expected"]), n / 8 - n / 32, f"nieto: Table 11: {row['instructions']}: the paper's expected hits are n/8 - n/32")
        more = number(row["misses, power3 (SD)"]) - number(row["misses expected"])
        equal(more, 2.0, f"nieto: Table 11: {row['instructions']}: misses are those expected, the jump's line and the return's")
        hits = number(row["hits, power3 (SD)"]) - number(row["hits expected"])
        equal(hits, 1.0, f"nieto: Table 11: {row['instructions']}: hits are those expected, and the second block of the jump's line")
    line = s.figure("Table 11")["Power3 (Table 11)"]
    equal([round(y, 2) for y in line["y"][:2]], [30.56, 37.37], "nieto: Figure 5 has the percentages that the paper's text gives")
    s.check_page()


def safford():
    s = Study("safford")
    for table, wanted in (("Table 5.3", {"Branches": 101, "Instructions Executed": 307, "Taken Branch or BTB Hit": 101}),
                          ("Table 5.4", {"Data Read": 5, "Data Write": 4, "Misaligned Data Memory Accesses": 6, "Branches": 5,
                                         "Data Read, with the erratum": 8, "Data Write, with the erratum": 7})):
        rows = {row["event"]: row for row in s.table(table)}
        for event, value in wanted.items():
            equal(number(rows[event]["counted here"]), float(value), f"safford: {table}: {event}: the theory's {value} is counted")
    rows = {row["event"]: row for row in s.table("Table 5.3")}
    ok(number(rows["BTB Hits"]["counted here"]) in (98, 99), "safford: Table 5.3: 98 or 99 of 100 branches hit the BTB", rows["BTB Hits"])
    equal(rows["Pipeline flushes"]["counted here"], "not counted", "safford: Table 5.3: what no model has is not counted, and not 0")
    has(" ".join(block["text"] for block in s.under("Table 5.3", "text")), "Not counted: Pipeline flushes: ", "safford: Table 5.3: … with the reason")
    rows = {row["event"]: row for row in s.table("Table 5.1")}
    equal([number(rows[event]["loop of 10^6, here"]) for event in ("Data read", "Data write", "Branches", "Instructions Executed")],
          [3000001.0, 2000002.0, 1000001.0, 4000004.0], "safford: Table 5.1: the loop's reads, writes, branches and instructions are as predicted")
    theirs = number(rows["Data read"]["difference, paper"])
    ok(abs(theirs - 3e6) < 1000, "safford: Table 5.1: the paper's own difference is 3 reads an iteration, too", theirs)

    # wc: what the program counts itself, and its libraries
    rows = {row["event"]: row for row in s.table("Table 5.6")}
    equal(len(rows), 6, "safford: Table 5.6 has its six events")
    for event, row in rows.items():
        equal(number(row["program only, here"]) + number(row["difference, here"]), number(row["with libraries, here"]), f"safford: Table 5.6: {event}: the libraries' part is the difference")
    ok(every(number(row["difference, here"]) > 0 for row in rows.values()), "safford: Table 5.6: the libraries add to each event, as in the paper", rows)
    equal(rows["Data read"]["simulator, paper"], "441127", "safford: Table 5.6 has the paper's numbers")
    rows = {row["event"]: row for row in s.table("Table 5.7")}
    equal(rows["number of times loop body executed"]["here"], "105,196", "safford: Table 5.7: the loop is executed once a character")
    branches, hits = (number(rows[f"average total {what} per loop iteration"]["here"]) for what in ("branches", "BTB hits"))
    ok(3 <= branches <= 6 and 0.5 * branches < hits < branches, "safford: Table 5.7: three to six branches a character, and some find no entry in the BTB", rows)

    # compress: shares of its instructions
    rows = {row["event"]: row for row in s.table("Table 5.8")}
    equal(len(rows), 22, "safford: Table 5.8 has its 22 events")
    equal((rows["Clock cycles"]["paper"], rows["Clock cycles"]["here"]), ("90,949,512,186", "not counted"), "safford: Table 5.8: what a model has no time for is not counted")
    equal(rows["Data read"]["of 1000 instructions, paper"], "260.9", "safford: Table 5.8: the paper's 12,080,864,478 of 46,304,777,427 are 260.9 of 1000")
    ok(number(rows["Data TLB miss"]["here"]) > 0 and number(rows["Data read miss"]["here"]) <= number(rows["Data read"]["here"]), "safford: Table 5.8: the table of strings misses TLB and cache", rows)

    # what measuring costs
    for table, events in (("Table D.1", 39), ("Table D.2", 38)):
        rows = {row["event"]: row for row in s.table(table)}
        equal(len(rows), events, f"safford: {table} has all events of the thesis")
        told = " ".join(block["text"] for block in s.under(table, "text"))
        here = "user, here" if table == "Table D.1" else "first time, user, here"
        left = [event for event, row in rows.items() if row[here] == "not counted" and "DR1" not in event and "DR2" not in event and "DR3" not in event]
        ok(left and (table == "Table D.2" or all(event in told for event in left)), f"safford: {table}: each event that is not counted has a reason", [left, told])
    rows = {row["event"]: row for row in s.table("Table D.1")}
    for event in ("data read", "branches", "instructions executed", "code cache miss"):
        own, libraries = number(rows[event]["program only, here"]), number(rows[event]["libraries, here"])
        ok(0 < own < libraries and own + libraries == number(rows[event]["user, here"]), f"safford: Table D.1: {event}: an empty program's are libraries' nearly all", rows[event])
    rows = {row["event"]: row for row in s.table("Table D.2")}
    counted = {event: (row["first time, user, here"], row["in cache, user, here"]) for event, row in rows.items() if row["first time, user, here"] != "not counted"}
    ok(len(counted) >= 20 and set(counted.values()) == {("0", "0")}, "safford: Table D.2: a region under the engine has no overhead, of any event", counted)
    equal(rows["instructions executed"]["first time, both, paper"], "771.0 ± 0.0", "safford: Table D.2 has the paper's numbers")
    s.check_page()


def wu():
    """On two programs that a PATH has: what it comes to depends on the machine, its form does not."""
    os.mkdir("few")
    for name in ("gzip", "sort", "wc"):
        os.symlink(shutil.which(name), f"few/{name}")
    os.mkdir("inputs")
    s = Study("wu", PATH=os.path.abspath("few"), TMPDIR=os.path.abspath("inputs"))
    equal(os.listdir("inputs"), [], "wu: the programs' inputs are gone")
    names = ["gzip", "sort"]  # wc is not one of --quick
    left = " ".join(block["text"] for block in s.blocks if block["kind"] == "text")
    ok("Not studied (not installed): xz, " in left and re.search(r"\(left out by --quick\): wc\.", left), "wu: programs that are not studied are named with the reason", left)
    equal(s.found["executions"], 20, "wu: each program is counted once and sampled nine times")
    for figure, least, most in (("Figure 2", 0, 1), ("Figure 3", 0, 1), ("Figure 4", 0, math.inf)):
        block = s.under(figure, "figure")[0]
        ok(block["bars"] and block["categories"] == names and len(block["series"]) == 9, f"wu: {figure} has a cluster of nine bars for each program", block["categories"])
        ok(every(series["x"] == [1, 2] and every(y is None or least <= y <= most for y in series["y"]) for series in block["series"]), f"wu: {figure}: each within the measure's bounds", block["series"])
        table = s.table(figure)
        first = block["series"][0]
        equal([row[first["name"]] for row in table], [f"{y:.4f}" for y in first["y"]], f"wu: {figure}: the table has the figure's numbers")
    places = s.under("Figure 1", "figure")[0]["series"]
    ok([line["name"] for line in places] == ["samples", "executed instructions"] and places[0]["y"] == sorted(places[0]["y"], reverse=True) and sum(places[0]["y"]) <= 100.001,
       "wu: Figure 1 has shares of samples, the most sampled first, and of executed instructions", places)
    rows = s.table("Findings")
    ok(len(rows) == 9 and all(row["here"] == "not shown" for row in rows), "wu: two programs show none of the nine findings", rows)
    equal(len(s.table("Figures 1 to 4")), 4, "wu: what the paper says of its four figures is there")
    s.check_page()


def zagha():
    s = Study("zagha")
    equal({row["figure"]: row["printed"] for row in s.table("Figures 2 to 9")}["Figure 4, X Y Z"], "26%, 28%, 45%", "zagha: what the text says of the figures is there")

    # a search: once a line, 32 bytes and 128 bytes
    rows = {row["event"]: row for row in s.table("Figures 2 and 3")}
    for event, structures, shadow in (("primary data cache misses", 50000, 50000 * 4 / 32), ("secondary data cache misses", 50000 * 80 / 128, 50000 * 4 / 128)):
        row = rows[event]
        ok(0 <= number(row["structures"]) - structures <= 2 and 0 <= number(row["shadow array"]) - shadow <= 2, f"zagha: {event} are the lines that are read", row)

    # ADI, N = 100: lines of 32 and 128 bytes, pairs of pages of 16 KB, 64 entries
    before, tuned = ({row["sweep"]: row for row in s.table(figure)} for figure in ("Figure 4", "Figure 5"))
    for sweep in "XYZ":
        misses = number(before[sweep]["primary cache misses"])
        ok(250000 <= misses <= 250400, f"zagha: the {sweep} sweep misses once for each primary line", misses)
    equal(before["Z"]["TLB misses"], "1,000,000", "zagha: the Z sweep misses the TLB with each access")
    ok(all(number(before[sweep]["TLB misses"]) <= 8e6 / 32768 + 2 for sweep in "XY"), "zagha: the others once a pair of pages", before)
    ok(10000 <= number(tuned["Z"]["TLB misses"]) <= 12000, "zagha: interchanged, the Z sweep misses the TLB about once for each row of each plane", tuned["Z"])
    ok(number(tuned["Y"]["secondary cache misses"]) < 100 < number(before["Y"]["secondary cache misses"]), "zagha: fused, the Y sweep finds its plane in the secondary cache", tuned["Y"])
    for figure, end in (("Figure 4", ""), ("Figure 5", ", tuned")):
        drawn = s.under(figure, "figure")
        equal([block["title"] for block in drawn], [f"{figure}: {sweep} sweep{end}" for sweep in "XYZ"], f"zagha: {figure} has a drawing of each sweep")
        ok(every(line["x"] == [16, 44, 72, 100, 128] and len(line["y"]) == 5 for block in drawn for line in block["series"]), f"zagha: {figure}: over the size of the grid", drawn)
    # N = 128: a plane is a power of two
    z = s.under("Figure 4", "figure")[2]["series"][0]["y"], s.under("Figure 5", "figure")[2]["series"][0]["y"]
    ok(z[0][-1] > 0.9 and z[1][-1] < 0.5, "zagha: the spike at 128 is gone by padding", z)

    # false sharing
    lines = s.figure("Figure 6")
    ok(lines["interventions, untuned"]["x"] == [1, 2, 4, 8] and every(a > 5 * b for a, b in zip(lines["interventions, untuned"]["y"][1:], lines["interventions, tuned"]["y"][1:])),
       "zagha: Figure 6: sums in one line have interventions, sums apart have not", lines)
    lines = s.figure("Figure 7")
    equal(sorted(lines), ["tuned, measured", "tuned, modelled", "untuned, measured", "untuned, modelled"], "zagha: Figure 7 has what was measured and what is modelled")
    for name, line in lines.items():
        equal((line["source"], line["x"]), ("os", [1, 2]) if "measured" in name else ("r10000", [1, 2, 4, 8]), f"zagha: Figure 7: {name}")
        ok(line["y"][0] in (1, None) and all(y is None or y > 0 for y in line["y"]), f"zagha: Figure 7: {name}: one thread is 1", line)
    equal([row["speed-up by"] for row in s.table("Figure 7")], ["measured here"] * 2 + ["modelled"] * 2, "zagha: the table says which are modelled")

    # convolution: 9 + 3 + 1 branches of a pixel, of which 3 + 1 end a loop
    rows = {row["of a pixel"]: row for row in s.table("Figures 8 and 9")}
    for event, original, unrolled in (("branches", 13, 1), ("mispredicted branches", 4, 0)):
        row = rows[event]
        ok(original <= number(row["original (Figure 8)"]) < original + 0.1 and unrolled <= number(row["unrolled (Figure 9)"]) < unrolled + 0.1, f"zagha: {event} of a pixel: {original}, then {unrolled}", row)
    s.check_page()


def look_at_pages(papers):
    """In a browser, on a phone and on a desk."""
    if not browser.PROGRAM:
        skip("chromium is not installed", "a browser shows the papers' pages")
        return
    with browser.Browser() as shown:
        for paper in papers:
            for width in (360, 1280):
                shown.look(width)
                shown.open(f"{paper}.html")
                ok(shown.run("document.documentElement.scrollWidth") <= width, f"{paper}: {width} pixels are wide enough for the page", shown.run("document.documentElement.scrollWidth"))
                sizes = shown.run("Array.from(document.querySelectorAll('figure > svg'), (s) => [s.getBoundingClientRect().width, s.getBoundingClientRect().height])")
                ok(len(sizes) == read(f"{paper}.html").count("<figure>") and all(w > 200 and h > 100 for w, h in sizes), f"{paper}: {width} pixels: all {len(sizes)} figures are drawn", sizes)
        equal([line for line in shown.logged if line], [], "the pages' console is empty")
        equal([a for a in shown.asked if not a.startswith("file://" + os.getcwd())], [], "nothing but the pages themselves was asked for")


if RUNS:
    zagha()
    wu()
    korn()
    nieto()
    safford()
    look_at_pages(("zagha", "wu", "korn", "nieto", "safford"))
else:
    skip("kernels of this build are sanitized", "the experiments are run")

done()
