"""`tare verify --paper`: the papers' experiments run again, beside what they printed."""
import json
import math
import os
import re
import sys

KERNELS = os.path.abspath(sys.argv[2])
RUNS = sys.argv[3] == "yes"  # a sanitizer's runtime would be in the kernels

from cli import *

ENV = environment(TARE_STORE="none", TARE_KERNELS=KERNELS, ASAN_OPTIONS="detect_leaks=0")

# ---- what is wrong is told before anything runs ----
for words, what in ((("--paper", "shakespeare"), "'shakespeare' is not a paper"), (("--html", "x.html"), "only of --paper"),
                    (("--paper", "korn", "-e", "loads"), "of --paper are"), (("--paper", "korn", "--on", "exact"), "of --paper are"),
                    (("--paper", "korn", "true"), "of --paper are"), (("sampling", "--paper", "korn", "true"), "stand without 'sampling'")):
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

    def __init__(self, paper):
        self.page = f"{paper}.html"
        seen = tare("verify", "--paper", paper, "--quick", "--json", "--html", self.page, env=ENV)
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
    ok(all(theirs["source"] == "paper" and ours["source"] not in ("paper", "") for theirs, ours in pairs), "korn: each row says where it is from", table)

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
    ok(len(set(more)) == 1 and 0 <= more[0] <= 4, "korn: the simulator's data misses are the prediction and the same few lines of the stack at each size", more)
    s.check_page()


if RUNS:
    korn()
else:
    skip("kernels of this build are sanitized", "the experiments are run")

done()
