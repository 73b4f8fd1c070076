"""`tare explain --sweep` and `--html`: one explanation for each value, the same arithmetic as of one, stacked as text and as a page."""
import csv
import io
import json
import os
import platform
import re
import subprocess
import sys

PROGRAM = os.path.abspath(sys.argv[2])  # importing cli changes the folder

import browser
from cli import *

DOCS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../docs")
SCHEMAS = {}
for name in ("explanation", "explained-sweep"):
    with open(os.path.join(DOCS, name + ".schema.json"), encoding="utf-8") as file:
        SCHEMAS[name] = json.load(file)
PICTURES = os.path.join(os.path.dirname(os.path.dirname(os.path.dirname(TARE))), "tests", "cli", "html")
os.makedirs(PICTURES, exist_ok=True)

if platform.machine() != "x86_64":
    skip("the engine's tables are for x86-64", "a program is explained over a parameter")
    done()

OPERATIONS = ("instruction", "divide", "square-root", "l1-hit", "l2-hit", "l3-hit", "memory", "tlb-hit", "tlb-walk", "branch-miss", "page-fault", "system-call")


def table(name, **costs):
    """Costs in ns; every other operation is free."""
    return write(name, "[costs]\nmachine = planted\ntitle = planted\nsource = made up\n" + "".join(
        f"\n[cost]\nof = {of}\nunit = ns\nminimum = {costs.get(of.replace('-', '_'), 0)}\ntypical = {costs.get(of.replace('-', '_'), 0)}\n"
        f"maximum = {costs.get(of.replace('-', '_'), 0)}\nsource = made up\n" for of in OPERATIONS))


WALKS = table("walks.costs", tlb_walk=1000)
MIXED = table("mixed.costs", tlb_walk=300, instruction=1, memory=50)
QUIET = ("--program-output", "none", "-q")


def obeys(value, schema, fact):
    if not jsonschema:
        skip("python3-jsonschema is not installed", f"{fact}: obeys the schema")
        return
    errors = [f"{list(e.absolute_path)}: {e.message}" for e in jsonschema.Draft202012Validator(SCHEMAS[schema]).iter_errors(value)]
    ok(not errors, f"{fact}: obeys the schema", "\n".join(errors))


def sweep(*arguments, fact, code=0):
    seen = tare("explain", "--json", "-o", "-", *QUIET, *arguments)
    if not ok(seen.code == code and seen.out, f"{fact}: done", seen):
        done()
    result = json.loads(seen.out, parse_constant=no_constant)
    obeys(result, "explained-sweep", fact)
    for point in result["points"]:
        obeys(point["explanation"], "explanation", f"{fact}: {point['value']}")
    return result


def cause(point, name):
    return next(row for row in point["explanation"]["causes"] if row["cause"] == name)


def count(point, name, event):
    return next(part["count"] for part in cause(point, name)["parts"] if part["event"] == event)


# ---- a Z sweep over a grid (Zagha et al. 1996, 4.2), on the machine of the closed forms: 64 entries of 4 KiB ----
LAB = ("--on", "model:lab", "--costs", WALKS)
r = sweep(*LAB, "--sweep", "N=16..64", "--per", "N^3", PROGRAM, "z", "{N}", fact="a Z sweep")
equal(([p["value"] for p in r["points"]], [p["work"] for p in r["points"]]), (["16", "32", "64"], [16.0**3, 32.0**3, 64.0**3]), "values double; each has its work")
equal((r["name"], r["variable"], r["per"], r["command"][1:]), ("N", None, "N^3", ["z", "{N}"]), "the parameter stands in the arguments")
equal([p["explanation"]["command"][1:] for p in r["points"]], [["z", "16"], ["z", "32"], ["z", "64"]], "and is replaced in them")
walks = [count(p, "TLB", "dtlb-walks:u") for p in r["points"]]
ok(64 * 64 * 63 <= walks[2] <= 64**3 + 3000, "N = 64: each access of the sweep is a page walk (64 planes, and what else the program touches)", walks)
ok(walks[0] <= 400, "N = 16: its 8 pages are walked to once, and those of the program's start", walks)
equal([round(cause(p, "TLB")["typical"] * 1e9) for p in r["points"]],
      [round(1000 * (count(p, "TLB", "dtlb-walks:u") + count(p, "TLB", "itlb-walks:u"))) for p in r["points"]], "each point is counts x costs, not divided")
equal([p["speedup"] for p in r["points"]], [None] * 3, "it is no sweep over threads: no speed-up")

text = tare("explain", *LAB, "-o", "-", *QUIET, "--sweep", "N=16..64", "--per", "N^3", PROGRAM, "z", "{N}").out
bars = {m.group(1): m.group(2) for m in re.finditer(r"^ +(16|32|64) .*?s  ([a-z0-9.]*)$", text, re.M)}
ok(set("".join(bars.values())) == {"t"}, "what has one cause alone is a bar of its letter", text)
ok(len(bars["64"]) > 40 and len(bars["64"]) > len(bars.get("32", "")), "with --per all bars have one scale, and the longest one fills it", bars)
has(" ".join(text.split()), "What grows most is TLB: from", "and the first sentence names the cause that grows")
has(text, "t TLB", "the letters are named")

shares = tare("explain", "--on", "model:lab", "--costs", MIXED, "-o", "-", *QUIET, "--sweep", "N=16..64", PROGRAM, "z", "{N}").out
bars = {m.group(1): m.group(2) for m in re.finditer(r"^ +(16|32|64) .*?s  ([a-z0-9.]*)$", shares, re.M)}
equal(len({len(bar) for bar in bars.values()}), 1, "without --per each bar is 100 %")
percents = {m.group(1): [float(x) for x in re.findall(r"([\d.]+) %", m.group(2))] for m in re.finditer(r"^ +(16|32|64) +(\d[\d.]* %.*)$", shares, re.M)}
heading = re.search(r"^ +N +(computing.*)$", shares, re.M).group(1).split()
equal(heading, ["computing", "memory", "TLB"], "causes that have no time have no column")
for value, row in percents.items():
    letters = [bars[value].count(letter) / len(bars[value]) * 100 for letter in "cmt"]
    ok(every(abs(a - b) <= 100 / len(bars[value]) + 0.6 for a, b in zip(letters, row)), f"N = {value}: letters are the shares, to half a letter at each end", (bars[value], row))
ok(every(bar == "".join(sorted(bar, key="cmt".index)) for bar in bars.values()), "the causes stand in one order in each bar", bars)
has(" ".join(shares.split()), "The share of TLB grows most: from", "and the first sentence has shares")

for width in (60, 80, 200):
    lines = shown_on_terminal(width, "explain", "--on", "model:lab", "--costs", MIXED, *QUIET, "--sweep", "N=4,a-value-that-is-longer-than-most", PROGRAM, "words", "{N}").split("\n")
    ok(every(len(line) <= width for line in lines), f"{width} columns are wide enough", [line for line in lines if len(line) > width])

rows = list(csv.DictReader(io.StringIO(tare("explain", *LAB, "--csv", "-o", "-", *QUIET, "--sweep", "N=4,8", PROGRAM, "z", "{N}").out)))
equal({row["value"] for row in rows}, {"4", "8"}, "CSV has the value in its last column")
equal(len([row for row in rows if row["kind"] == "cause"]), 2 * 14, "and all causes of each")

# ---- where the value goes ----
FREE = table("free.costs", instruction=1)
MODEL = ("explain", "--on", "model:lab", "--costs", FREE, "-o", "/dev/null", "-q")
equal(tare(*MODEL, "--sweep", "N=7,8", PROGRAM, "variable").out, "N is 7\n", "without {N} it is a variable, and the first execution's output is shown")
equal(tare(*MODEL, "--sweep", "N=7,8", PROGRAM, "variable", "{N}", env=environment(N="of the user")).out, "N is of the user\n", "with {N} the environment is as it was")
equal(tare(*MODEL, "--sweep", "N=7,8", PROGRAM, "variable", env=environment(N="of the user")).out, "N is 7\n", "without, the value is in the place of the user's")
equal(tare(*MODEL, "--sweep", "N=7,8", PROGRAM, "words", "a{N}b{N}", "{M}", "{N").out, "a7b7\n{M}\n{N\n", "each {N} is replaced, and nothing else")
equal(tare(*MODEL, "--sweep", "threads=2,3", PROGRAM, "threads").out, "2 threads\n", "threads are OMP_NUM_THREADS")
equal(tare(*MODEL, "--sweep", "N=0,3,5", PROGRAM, "exit", "{N}").code, 3, "the exit status is the first that is not 0")
for on in ("--on=model:lab", "--on=auto"):
    seen = tare("explain", on, "--costs", FREE, "-o", "/dev/null", *QUIET, "--sweep", "N=1,2,3", "sh", "-c", 'read x; test "$x" = abc', "{N}", stdin=b"abc\n")
    equal((seen.code, seen.err), (0, ""), f"{on}: each execution of each value has the same input")
r = sweep("--costs", FREE, "--sweep", "threads=1,2", PROGRAM, "threads", fact="threads")
equal(r["variable"], "OMP_NUM_THREADS", "the variable is named")
elapsed = [p["explanation"]["measured"]["elapsed_seconds"] for p in r["points"]]
ok(r["points"][0]["speedup"] == 1 and abs(r["points"][1]["speedup"] - elapsed[0] / elapsed[1]) < 1e-9, "the speed-up is the first elapsed time over each", r["points"])

# ---- what is refused, before anything runs ----
for value, why in (("N", "does not begin with a name"), ("=1", "does not begin with a name"), ("1=1", "does not begin with a name"), ("N=", "empty value"), ("N=1,,2", "empty value"),
                   ("N=1,1", "value twice"), ("N=4..2", "ends before it begins"), ("N=0..4", "doubles 0"), ("N=1..9+0", "step of 0"), ("N=1..65+1", "more than 64"),
                   ("N=1..x", "whole numbers"), ("N=..", "whole numbers"), ("N=1..2+", "whole numbers"), ("N=1..99999999999999999999", "whole numbers")):
    seen = tare("explain", "--sweep", value, PROGRAM, "words", "ran")
    ok(seen.code == 2 and why in seen.err and "ran" not in seen.out, f"--sweep {value}: {why}", seen)
for arguments, why in ((("--per", "N"), "--per needs --sweep"), (("--sweep", "N=1,2", "--per", "M"), "not 'N' or a power"), (("--sweep", "N=1,2", "--per", "N^0"), "not 'N' or a power"),
                       (("--sweep", "N=a,b", "--per", "N"), "cannot be divided by the value 'a'"), (("--sweep", "N=0,1", "--per", "N"), "cannot be divided by the value '0'"),
                       (("--sweep", "N=1,2", "--by", "line"), "leave out --sweep"), (("--sweep", "N=1,2", "--advice"), "leave out --sweep"), (("--html", "--json"), "one format")):
    seen = tare("explain", *arguments, PROGRAM, "words", "ran")
    ok(seen.code == 2 and why in seen.err and "ran" not in seen.out, f"{' '.join(arguments)}: {why}", seen)

# ---- pages ----
PAGES = {"explained.html": ("--on", "model:lab", "--costs", MIXED, "--by", "line", "--advice", PROGRAM, "z", "64"),
         "explained-here.html": ("--costs", MIXED, "--by", "function", PROGRAM, "words", "<script>alert(1)</script>"),
         "explained-sweep.html": ("--on", "model:lab", "--costs", MIXED, "--sweep", "N=16..64", "--per", "N^3", PROGRAM, "z", "{N}"),
         "explained-threads.html": ("--costs", MIXED, "--sweep", "threads=1,2,3,4,5,6,7", PROGRAM, "threads")}
for name, arguments in PAGES.items():
    seen = tare("explain", "--html", "-o", name, *QUIET, *arguments)
    equal((seen.code, seen.out, seen.err), (0, "", ""), f"{name} is written")
    equal(os.stat(name).st_mode & 0o777, 0o600, f"{name}: its owner's alone")
    page = read(name)
    ok(page.count("<script>") == 1 and page.count("<style>") == 1 and "default-src 'none'" in page, f"{name}: its own script and style, and nothing from elsewhere", page[:300])
    if shutil.which("tidy"):
        found = subprocess.run(["tidy", "-q", "-e", "--drop-empty-elements", "no", name], capture_output=True, text=True, timeout=TIME_OUT_S)
        ok(found.returncode == 0, f"{name}: tidy has no complaint", found.stderr)
    else:
        skip("tidy is not installed", f"{name}: tidy finds it valid")
page = read("explained-sweep.html")
equal(len(re.findall(r"<title>N = 64, TLB: [\d.]+ ns</title>", page)), 1, "the figure has a part for each cause of each value, with its number")
equal(len(re.findall(r"<title>N = 64, TLB: [\d.e+]+ %</title>", page)), 1, "and so has that of shares")
heights = [float(h) for h in re.findall(r'<rect class="k\d+" x="[\d.]+%" width="[\d.]+%" y="[\d.]+" height="([\d.]+)"><title>N = 64, [^<]*%</title>', page)]
ok(abs(sum(heights) - (320 - 8 - 40)) < 2, "parts of 100 % fill the axis", heights)
page = read("explained.html")
for text in ("Time by cause", "Time by place and cause", "sweep.c:", "Advice", "TLB", "dtlb-walks:u"):
    has(page, text, f"a page of an explanation has {text}")
has_not(read("explained-here.html"), "<script>alert", "an argument is text")

if not browser.PROGRAM:
    skip("chromium is not installed", "a browser shows the pages")
    done()

with browser.Browser() as shown:
    for name in PAGES:
        for width in (390, 1200):
            for dark in (False, True):
                shown.look(width, dark=dark)
                shown.open(name)
                shown.picture(os.path.join(PICTURES, f"{name[:-5]}-{width}-{'dark' if dark else 'light'}.png"))
                ok(shown.run("document.documentElement.scrollWidth") <= width, f"{name}: {width} pixels are wide enough", width)
                sizes = shown.run("Array.from(document.querySelectorAll('figure > svg text, figcaption'), (t) => parseFloat(getComputedStyle(t).fontSize) * (t.getScreenCTM ? t.getScreenCTM().a : 1))")
                ok(sizes and min(sizes) >= 10, f"{name}: at {width} pixels letters of figures can be read", sizes)
                ok(shown.run("Array.from(document.querySelectorAll('figure rect'), (r) => r.getBoundingClientRect()).every((b) => b.left >= 0 && b.right <= innerWidth + 0.5)"),
                   f"{name}: all of its figures is inside of {width} pixels")
    equal(shown.logged, [], "the console has no complaint")
    equal([a for a in shown.asked if not a.startswith("file:")], [], "and nothing is asked of the network")

done()
