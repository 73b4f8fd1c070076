"""tare list machines: all of them, one drawn, files of one's own, and what is refused."""
import json
import os

from cli import *

NAMES = ["host", "alpha21264", "lab", "neoverse-v2", "pentium", "power3", "power4", "r10000", "r12000", "sapphire-rapids", "zen4"]

# ---- all ----
equal(tare("list", "machines", "--names").out.split(), NAMES, "the machines are listed, this one first")
text = tare("list", "machines")
ok(text.code == 0 and text.err == "", "the list is made", text)
for name in NAMES:
    has(text.out, re.compile(rf"^  {name} +\S", re.M), f"'{name}' has a row")
ok(max(map(len, text.out.splitlines())) <= 80, "the rows have at most 80 columns", text)
equal(tare("list", "machines", "mips", "--names").out.split(), ["r10000", "r12000"], "words narrow the list")
rows = json.loads(tare("list", "machines", "--json").out)["machines"]
equal([row["machine"] for row in rows], NAMES, "the JSON has the same machines")
r12000 = rows[NAMES.index("r12000")]
equal({cache["name"]: (cache["bytes"], cache["ways"], cache["line_bytes"]) for cache in r12000["caches"]},
      {"L1I": (32768, 2, 64), "L1D": (32768, 2, 32), "L2": (1 << 20, 2, 128)}, "the R12000's caches are those of Korn et al.")
equal([(tlb["name"], tlb["entries"], tlb["pages_per_entry"]) for tlb in r12000["tlbs"]], [("ITLB", 8, 1), ("TLB", 64, 2)],
      "and its TLB has 64 entries of page pairs")
ok(every(key in rows[0] for key in ("cpu", "cpus", "architecture", "kernel", "hostname", "pmu", "hypervisor")),
   "the JSON says of this machine what it is", rows[0])

# ---- the manual: the format's page, which machine_file_test holds to the code, has the same keys ----
DOCUMENTS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../..")
with open(f"{DOCUMENTS}/data/machines/README.md", encoding="utf-8") as file:
    rows = re.findall(r"^\| (`[^|]*) \|", file.read().split("## Format")[1], re.M)
with open(f"{DOCUMENTS}/docs/man/tare-machines.5.scd", encoding="utf-8") as file:
    page = file.read()
keys = {key for row in rows for key in re.findall(r"`([a-z_]+)`", row)}
ok(len(keys) > 45, "the format's page has keys", keys)
equal(set(re.findall(r"\*([a-z_]+)\*", page.split("# [machine]")[1].split("# FILES")[0])), keys, "tare-machines(5) has its keys")

# ---- one ----
for name in NAMES:
    seen = tare("list", "machines", name)
    if name == "host" and seen.code == 3:
        has(seen.err, "does not say what caches it has", "a machine that says nothing of its caches is said to")
        continue
    ok(seen.code == 0 and seen.err == "" and max(map(len, seen.out.splitlines())) <= 80, f"'{name}' is drawn within 80 columns", seen)
    for part in ("L1D", "memory", "walk", "branches", "targets", "no latencies", "sources", f"--on model:{name}"):
        has(seen.out, part, f"'{name}' is drawn with '{part}'")
has_not("\n".join(tare("list", "machines", name).out for name in NAMES[1:]), "no source given", "every value has a source")
has(tare("list", "machines", "r12000").out, "Korn et al. 2001, section 3.3", "a source names the paper")
one = json.loads(tare("list", "machines", "r12000", "--json").out)["machines"]
ok(len(one) == 1 and all(value["source"] and value["file"].endswith(".conf") and value["line"] > 0 for value in one[0]["values"]),
   "the JSON of one machine has every value with its place and source", one)

# ---- files ----
path = write("mine.conf", "[machine]\nextends = r12000\ntitle = Mine\n[L2]\nsize = 4M\n")
seen = tare("list", "machines", path)
ok(seen.code == 0 and "mine: Mine" in seen.out and "L2  4M" in seen.out, "a file is drawn", seen)
has(seen.out, f"--on model:{path} ", "and how to count by it is said with its path")
has(seen.out, "size: no source given", "what has no source says so")
ok(tare("list", "machines", "mine.conf").code == 0, "a name that ends with .conf is a file")
ok(tare("list", "machines", "./mine.conf", "--names").out == "mine\n", "its name is the file's")


def refused(path, text, fact, code=3):
    seen = tare("list", "machines", path)
    ok(seen.code == code and seen.err.startswith("tare: ") and text in seen.err and seen.out == "", f"{fact} is refused: {text}", seen)
    ok(seen.err.count("\n") == 2, f"{fact}: what to do is said", seen)


write("way.conf", "[L1D]\nsize = 32K\nway = 2\nline = 64\nnext = memory\n")
refused("way.conf", "way.conf:3: a cache has no key 'way'", "an unknown key", 2)
has(tare("list", "machines", "way.conf").err, "did you mean 'ways'", "the nearest key is proposed")
write("zero.conf", "[L1D]\nsize = 32K\nways = 0\nline = 64\nnext = memory\n")
refused("zero.conf", "zero.conf:3: [L1D] ways = 0", "a cache of no ways", 2)
write("a.conf", "[machine]\nextends = b\n")
write("b.conf", "[machine]\nextends = a\n")
refused("a.conf", "b.conf:2: 'extends = a' goes round in a circle", "a circle of extends", 2)
write("nul.conf", b"[L1D]\nsize = 3\0K\n")
refused("nul.conf", "nul.conf:2: a NUL byte", "a NUL byte", 2)
os.mkdir("folder.conf")
refused("folder.conf", "a directory", "a directory", 2)
refused(".", "a directory", "this folder", 2)
with open("huge.conf", "wb") as file:
    file.truncate(1 << 30)
refused("huge.conf", "has 1073741824 bytes: a machine file has at most 65536", "a file of 1 GB")
refused("absent.conf", "no such file", "a file that is not there")
refused("r12001", "no machine is called 'r12001'", "an unknown name")
has(tare("list", "machines", "r12001").err, "'r12000'", "the nearest name is proposed")
has_not(tare("list", "machines", "qwertyuiop").err, "did you mean", "nothing is proposed for what is like nothing")
escape = write("escape.conf", "[machine]\ntitle = \033[31mred\n")
seen = tare("list", "machines", escape)
ok("\033" not in seen.out + seen.err and "control character" in seen.err, "an escape sequence in a file never reaches the terminal", seen)

done()
