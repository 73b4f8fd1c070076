"""`tare verify sampling`: a program sampled at nine periods against its executed instructions."""
import json
import math
import os
import platform
import shutil
import subprocess
import sys
import xml.etree.ElementTree as tree
from urllib.parse import unquote

PLANTED = os.path.abspath(sys.argv[2])  # before cli goes elsewhere

from cli import *

# ---- the figures, from studies made by hand (tests/unit/findings_test.c) ----
SVG = "{http://www.w3.org/2000/svg}"
drawing = subprocess.run([PLANTED, "--figures"], stdout=subprocess.PIPE, check=True, timeout=TIME_OUT_S).stdout.decode()
ok("http" not in drawing.replace("http://www.w3.org/2000/svg", "") and "<script" not in drawing and "\x1b" not in drawing, "the drawing needs no other file, and has no script and no control characters")
ok("prefers-color-scheme: dark" in drawing, "it has a dark look")
root = tree.fromstring(drawing)


def bars(number):
    group = next(g for g in root.iter(SVG + "g") if g.get("id") == f"figure{number}")
    return [(float(r.get("data-v")), float(r.get("height")), float(r.get("x")), float(r.get("y")), r.get("class"), r.find(SVG + "title").text) for r in group.iter(SVG + "rect")]


PLOT = 220
one = bars(1)
equal([(bar[0], bar[4]) for bar in one], [(40, "sampled"), (20, "executed"), (10, "sampled"), (0, "executed")], "Figure 1 has a bar of samples and one of executions for each instruction")
ok(every(abs(bar[1] - PLOT * bar[0] / 40) < 0.02 for bar in one), "as high as their parts", one)
ok(one[0][5].startswith("<b>hot\\x1b[31m+0x4: 40.000% of samples"), "names of the program's files are text", one[0][5])
for number, name in ((2, "NRMSE"), (3, "sample coverage"), (4, "order deviation")):
    drawn = bars(number)
    equal(len(drawn), 18, f"Figure {number} has a bar for each of nine periods of two programs; one that was not studied has none")
    ok([bar[4] for bar in drawn[:9]] == [f"p{i}" for i in range(9)] and all(a[2] < b[2] for a, b in zip(drawn, drawn[1:])), "from left to right in the order of periods", drawn)
    ok(drawn[17][4] == "none" and "no samples" in drawn[17][5], "without samples there is no bar", drawn[17])
    seen = [bar for bar in drawn if bar[4] != "none"]
    scale = lambda v: v
    if number == 2:
        top = max(bar[0] for bar in seen)
        scale = lambda v: v / next(step for step in (0.1, 0.2, 0.4, 0.5) if step >= top)
    if number == 4:
        low, high = math.floor(math.log10(min(bar[0] for bar in seen))), math.ceil(math.log10(max(bar[0] for bar in seen)))
        scale = lambda v: (math.log10(v) - low) / (high - low)
    ok(every(abs(bar[1] - PLOT * scale(bar[0])) < 0.02 for bar in seen), f"a bar's height is its {name} on the axis", seen[:3])
browser = next((b for b in ("chromium", "chromium-browser", "google-chrome") if shutil.which(b)), None)
if browser:
    for scheme in ("", "dark"):
        path = write("figures.svg", drawing.replace("</svg>", """<script><![CDATA[
            const box = (id) => { const b = document.getElementById(id).getBBox(); return [b.x, b.y, b.width, b.height].map(Math.round); };
            document.documentElement.setAttribute("data-result", encodeURIComponent(JSON.stringify({
                boxes: [1, 2, 3, 4].map((n) => box("figure" + n)), page: getComputedStyle(document.querySelector(".page")).fill,
                text: getComputedStyle(document.querySelector("text")).fill, bars: document.querySelectorAll("g rect").length })));
            ]]></script></svg>"""))
        done_ = subprocess.run([browser, "--headless", "--no-sandbox", "--disable-gpu", "--user-data-dir=" + os.path.abspath("browser"), "--dump-dom"] +
                               (["--blink-settings=preferredColorScheme=0"] if scheme else ["--blink-settings=preferredColorScheme=1"]) + ["file://" + path],
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=TIME_OUT_S)
        found = re.search(r'data-result="([^"]*)"', done_.stdout.decode(errors="replace"))
        result = json.loads(unquote(found.group(1))) if found else {"error": done_.stderr.decode(errors="replace")[-500:]}
        equal(result.get("bars"), 4 + 3 * 18, f"a browser draws all bars {scheme}")
        boxes = result.get("boxes", [])
        ok(len(boxes) == 4 and all(b[0] >= 70 and b[0] + b[2] <= 1180 and b[1] >= 60 and b[1] + b[3] <= 1460 for b in boxes) and
           all(a[1] + a[3] < b[1] for a, b in zip(boxes, boxes[1:])), f"the figures are below each other, and within the page {scheme}", result)
        equal((result.get("page"), result.get("text")), ("rgb(22, 24, 28)", "rgb(232, 232, 232)") if scheme else ("rgb(255, 255, 255)", "rgb(27, 27, 27)"),
              f"its colours are those of the {scheme or 'light'} look")
else:
    skip("chromium is not installed", "a browser opens the figures")

if platform.machine() != "x86_64":
    skip("the engine is for x86-64", "sampling is verified")
    done()
if not shutil.which("gcc"):
    skip("no gcc here", "sampling is verified")
    done()

write("work.c", """\
#include <stdio.h>
static volatile unsigned sink;
__attribute__((noinline)) static void hot(int n) { unsigned x = 1; for (int i = 0; i < n; i++) x = x * 1664525 + 1013904223; sink += x; }
__attribute__((noinline)) static void warm(int n) { unsigned x = 2; for (int i = 0; i < n; i++) x = x * 1664525 + 1013904223; sink += x; }
int main(void) {
    for (int i = 0; i < 400; i++) { hot(300000); warm(30000); }
    puts("done");
    return getchar() == EOF ? 0 : 1;
}
""")
subprocess.run(["gcc", "-O1", "-g", "work.c", "-o", "work"], check=True)

# by the kernel's clock, which every machine has: a hypervisor may take counters of its PMU away for a while, and the study is then refused
SAMPLING = ("verify", "sampling", "-e", "cpu-clock")
seen = tare(*SAMPLING, "--json", "--seed", "3", "-o", "study.json", "--figures", "study.svg", "./work")
ok(seen.code == 0 and seen.out == "done\n" and seen.err == "", "the program runs ten times, its output is shown once, its input is empty", seen)
with open("study.json", encoding="utf-8") as file:
    study = json.load(file)
periods = study["periods"]
equal((study["version"], study["study"], study["seed"], study["command"]), (1, "sampling", 3, ["./work"]), "the JSON says what was asked")
equal([row["period"] // periods[0]["period"] for row in periods], [2 ** i for i in range(9)], "nine periods, each twice the one before")
ok(study["executed_instructions"] > 400 * 330000 * 3, "instructions are counted exactly", study["executed_instructions"])
first = periods[0]
root = tree.fromstring(read("study.svg"))
equal([bar[0] for bar in bars(2) if bar[4] != "none"], [float(f"{row['nrmse']:.9g}") for row in periods if row["nrmse"] is not None], "the figures have the report's numbers")
ok(any("hot+0x" in bar[5] for bar in bars(1)), "Figure 1 names the hottest function", bars(1)[:2])
ok(0 < study["executed_branches"] < study["executed_instructions"] and first["top_instruction"] > 0.9, "branches are counted; the most sampled instruction is among the most executed", first)
ok(first["samples"] > 100 and first["lost"] == 0, "the shortest period has samples", first)
ok(0.8 < first["overlap"] <= 1 and first["top_chance"] > 0.99, "by function the samples are where the instructions are", first)
ok(first["elsewhere"] * 50 < first["samples"], "what was sampled was executed in the exact run, too", first)
ok(every(row["samples"] > next_row["samples"] for row, next_row in zip(periods, periods[1:]) if row["samples"] > 30),
   "longer periods have fewer samples", [row["samples"] for row in periods])
ok(every(0 <= row[key] <= 1 for row in periods for key in ("nrmse", "sample_coverage", "overlap", "total_variation", "key_matching_10")
       if row[key] is not None), "measures are within their bounds", periods)
ok(every(row["samples"] or row["nrmse"] is None for row in periods), "a period without samples has no error, rather than 0")
equal([row["measure"] for row in study["error_rises_with_period"]],
      ["nrmse", "sample_coverage", "order_deviation", "total_variation", "weight_matching_10", "key_matching_10", "kendall", "top_chance"],
      "the rule is tested for each measure")
ok(every(row["p"] is None or 0 <= row["p"] <= 1 for row in study["error_rises_with_period"]), "with its probability")

# ---- the suite, of the two programs that a PATH has ----
os.mkdir("bin")
for name in ("gzip", "sha256sum"):
    os.symlink(shutil.which(name), f"bin/{name}")
os.mkdir("inputs")
seen = tare(*SAMPLING, "--suite", "--json", env=environment(PATH=os.path.abspath("bin"), TMPDIR=os.path.abspath("inputs")))
suite = json.loads(seen.err) if seen.code == 0 else {"programs": [], "findings": []}
equal([row["program"] for row in suite["programs"] if row["why"] is None], ["gzip", "sha256sum"], "the suite studies the programs that are installed")
ok(seen.out == "" and every(row["why"] in (None, "not installed") for row in suite["programs"]), "says which are not, and shows no output of theirs", seen)
equal(len(suite["programs"]), 17, "tare-verify(1): seventeen programs of a Debian machine")
equal(os.listdir("inputs"), [], "its inputs are gone")
ok([row["finding"] for row in suite["findings"]][:2] == ["nrmse_no_trend", "coverage_falls"] and all(row["of"] <= 2 and row["verdict"] != "differs" for row in suite["findings"][1:]),
   "two programs are too few to tell", suite["findings"])
equal(len(suite["programs"][0].get("periods", [])), 9, "each has its nine periods")
seen = tare(*SAMPLING, "--suite", env=environment(PATH="/nowhere", TMPDIR=os.path.abspath("inputs")))
ok(seen.code == 3 and "none of the suite's programs could be studied" in seen.err, "without any of them nothing is told", seen)

# with output to /dev/null, grep would end at its first match: all runs have a file
write("lines", "match\n" * 200000)
seen = tare(*SAMPLING, "--json", "grep", "-c", "match", "lines", stdout=subprocess.DEVNULL)
ok(seen.code == 0 and json.loads(seen.err)["executed_instructions"] > 200000 * 10, "output to /dev/null is not the program's", seen)

for words, what in ((("verify", "true"), "'true' is not a study"), (("verify", "cycles"), "'cycles' is not a study"), (("verify", "sampling"), "no program is given"), (("verify", "sampling", "--suite", "true"), "remove the program"),
                    (("verify", "sampling", "-c", "0", "./work"), "0"), (("verify", "sampling", "-e", "cpu-clock,page-faults", "./work"), "one event")):
    seen = tare(*words)
    ok(seen.code == 2 and what in seen.err and seen.out == "", f"'tare {' '.join(words)}' is refused", seen)
seen = tare(*SAMPLING, "sh", "-c", "[ -e was ] && exit 5; : > was")
ok(seen.code == 3 and "status 5, not 0" in seen.err, "a program that does not end as in its exact run is refused", seen)
seen = tare(*SAMPLING, "./not-there")
ok(seen.code != 0 and "not-there" in seen.err, "a program that is not there is named", seen)
done()
