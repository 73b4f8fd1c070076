"""What the tests of examples/stories share: building a story's programs, counting their regions, comparing recordings, and what a machine's
caches and TLBs must count, by arithmetic.

Each test is started with the path of the built tare as its only argument, and prints TAP.
"""
import csv
import importlib.machinery
import importlib.util
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../cli"))
from cli import *

STORIES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../../examples/stories")
RECORDED_WITH = "12"  # gcc's major version: another one makes other instructions
_loader = importlib.machinery.SourceFileLoader("record", os.path.join(STORIES, "record"))
_loader_spec = importlib.util.spec_from_loader("record", _loader)
record = importlib.util.module_from_spec(_loader_spec)
_loader.exec_module(record)
NUMBER = re.compile(r"\d[\d,]*(?:\.\d+)?(?: ?%)?")
BARS = re.compile(r"[▏▎▍▌▋▊▉█]+")


def begin(story):
    """Goes into a copy of the story's folder; ends the test where no program can be counted."""
    works = tare("count", "--on", "exact", "-e", "instructions", "--require", "instructions", "true")
    if works.code or os.uname().machine != "x86_64" or not shutil.which("gcc"):
        skip("the engine does not work here", f"the story '{story}'")
        done()
    os.chdir(record.copy(story, os.getcwd()))


def build(source, program, *flags, compiler="gcc"):
    libraries = [flag for flag in flags if flag.startswith("-l")]
    subprocess.run([compiler, "-O1", "-g", "-o", program, *(flag for flag in flags if flag not in libraries), source, *libraries], check=True)
    return "./" + program


def counts(program, on, events, regions, *arguments, stdin=None):
    """{region: {event: count}}, the whole program's under None. An event that was not counted is None."""
    places = [word for region in regions for word in ("--region", region)]
    seen = tare("count", "--on", on, "--csv", "-o", "counts.csv", "-e", ",".join(events), *places, "--program-output", "none", *arguments, "--",
                *program.split(), stdin=read(stdin).encode() if stdin else b"")
    if seen.code:
        ok(False, f"{program} is counted", seen)
        return None
    rows = {None: {}}  # of the command: rows without a process or thread
    for row in csv.DictReader(read("counts.csv").splitlines()):
        if row["kind"] in ("region", "total", "event") and not row["pid"] and not row["tid"]:
            name = row["event"].removesuffix(":u")
            rows.setdefault(row["region"] or None, {})[name] = int(row["value"]) if row["value"] else None
    return rows


def explained(program, on, stdin=None, costs=os.path.join(STORIES, "assumed.costs")):
    """{cause: seconds of those that have some}, by the stories' assumed costs, or others."""
    seen = tare("explain", "--on", on, "--costs", costs, "--json", "-o", "-", "--program-output", "none", *program.split(),
                stdin=read(stdin).encode() if stdin else b"")
    return {row["cause"]: row["typical"] for row in json.loads(seen.out)["causes"] if row["typical"] is not None}


def advised(program, on, stdin=None, costs=os.path.join(STORIES, "assumed.costs")):
    """The advice of tare explain, by the stories' assumed costs, or others."""
    seen = tare("explain", "--advice", "--on", on, "--costs", costs, "--json", "-o", "-", "--program-output", "none", *program.split(),
                stdin=read(stdin).encode() if stdin else b"")
    return json.loads(seen.out)["advice"]


def mflops(program, times):
    """Floating-point operations for each microsecond of the time that explained() has by its costs."""
    return counts(program, "exact", ["fp-operations"], [])[None]["fp-operations"] / sum(times.values()) / 1e6


def line_with(source, text, behind=""):
    """The number of the first line with this text, behind one with the other text."""
    lines = list(enumerate(read(source).splitlines(), 1))
    begin = next(number for number, line in lines if behind in line)
    return next(number for number, line in lines if number >= begin and text in line)


def names_cause(rule, before, after, on, place=None, **how):
    """Two facts: one command names the cause (the rule, and its place: what line_with() takes, or a function's name), and of the mended program it
    does not."""
    rows = {program: [row for row in advised(program, on, **how) if row["rule"] == rule] for program in (before, after)}
    if isinstance(place, tuple):
        line = line_with(*place)
        found = any(row["file"] and os.path.basename(row["file"]) == place[0] and row["line"] == line for row in rows[before])
    else:
        found = any(row["function"] == place for row in rows[before])
    ok(found, f"explain --advice on {on} names the cause: {rule}, {' '.join(place) if isinstance(place, tuple) else place or 'the program'}", rows)
    ok(not rows[after], f"explain --advice on {on}, mended: no {rule}", rows)


def printed(program):
    return subprocess.run(program.split(), capture_output=True, text=True, check=True).stdout


# ---- the recordings ----

def shape(text):
    """A line's words, without its numbers, bars and spaces."""
    return re.sub(r"\s+", " ", NUMBER.sub("#", BARS.sub("", text))).strip()


def numbers(text):
    """[(number, one unit of its last digit where it was rounded: with decimals, or of percent)]"""
    found = [(number.replace(",", "").rstrip(" %"), "%" in number) for number in NUMBER.findall(text)]
    return [(float(number), 10.0 ** -len(number.partition(".")[2]) if percent or "." in number else 0) for number, percent in found]


def alike(seen, expected, within):
    """Whether two outputs have the same lines, and (within: not None) numbers that differ by this share at most, or are rounded to the next one: the
    C library executes a little more or less on another machine. Of a model's counts below 200, which are the stack's lines, the threads' beginning
    and what a predictor learned before, only that they are below 200."""
    seen, expected = ([line for line in text.splitlines() if line.strip()] for text in (seen, expected))
    if [shape(line) for line in seen] != [shape(line) for line in expected]:
        return False
    return within is None or all(abs(a - b) <= max(within * max(a, b), 1.001 * unit) or max(a, b) < 200 and line.endswith(" model")
                                    for line, other in zip(seen, expected) for (a, unit), (b, _) in zip(numbers(line), numbers(other)))


def recordings(story, within=0.01):
    """A fact for each command of the README: it prints what is recorded."""
    version = subprocess.run(["gcc", "-dumpversion"], capture_output=True, text=True).stdout.split(".")[0].strip()
    pairs = record.recorded(story)
    ok(pairs, f"{story}: the README has commands")
    for command, expected in pairs:
        seen = record.run(command, os.getcwd(), TARE)
        ok(alike(seen, expected, within if version == RECORDED_WITH else None), f"{story}: {' '.join(command.split())}: prints what the README says",
           f"{seen}\nexpected:\n{expected}")
    if version != RECORDED_WITH:
        skip(f"recorded with another compiler: gcc {version} is here", f"{story}: the numbers are the README's")


# ---- machines ----

def machine(name):
    return next(row for row in json.loads(tare("list", "machines", "--json").out)["machines"] if row["machine"] == name)


def component(described, kind, name):
    """A cache or TLB (kind: caches, tlbs) by its name; None."""
    return next((row for row in described[kind] if row["name"] == name), None)


def first_data_tlb(described):
    return next(row for row in described["tlbs"] if row["holds"] != "instructions")


def touched(base, size, unit):
    """U(b, n, x): units of so many bytes that n bytes from b touch (docs/closed-forms.md)."""
    return (base + size - 1) // unit - base // unit + 1


def sweep_misses(lines, sets, ways, sweeps, warm):
    """Form 1.4: misses of so many sweeps over these lines with LRU: a set that they fit into misses once a line, or never when they were there;
    another one misses each time."""
    held = {}
    for line in lines:
        held[line % sets] = held.get(line % sets, 0) + 1
    return sum((0 if warm else c) if c <= ways else c * sweeps for c in held.values())


class Lru:
    """The plain way: sets of so many ways, least recently used; access() tells whether it misses."""

    def __init__(self, sets, ways):
        self.sets, self.ways, self.misses = [{} for _ in range(sets)], ways, 0

    def access(self, unit):
        held = self.sets[unit % len(self.sets)]
        if held.pop(unit, None) is None:
            self.misses += 1
            if len(held) == self.ways:
                del held[next(iter(held))]
            missed = True
        else:
            missed = False
        held[unit] = True
        return missed


def lru_of(row):
    """A cache or TLB as Lru, or None where it is not LRU."""
    if row["replacement"] != "lru":
        return None
    return Lru(row.get("sets") or row["entries"] // row["ways"], row["ways"])


def between(seen, least, most, fact):
    return ok(seen is not None and least <= seen <= most, fact, f"{seen}, expected {least} to {most}")
