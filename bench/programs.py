"""Nine real programs, and how they are timed and shown: what bench/engine and bench/model share."""
import math
import os
import re
import resource
import shutil
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(HERE)
# runs of a benchmark are not kept
ENVIRONMENT = {"PATH": "/usr/bin:/bin", "LC_ALL": "C", "HOME": "/", "TARE_STORE": "none", "PERL_HASH_SEED": "0", "PYTHONHASHSEED": "0"}
EVENTS = "instructions,loads,stores,branches,conditional-taken,calls,returns,fp-operations,data-read-bytes,system-calls"
SQL = """create table t(a integer primary key, b integer, c text);
with recursive n(i) as (select 1 union all select i + 1 from n where i < SIZED(900000))
insert into t select i, (i * 7919) % 100003, 'row ' || i from n;
create index tb on t(b);
select count(*), sum(length(c)) from t where b between 1000 and 50000;
select b % 10, count(*), avg(a) from t group by 1 order by 2;
select count(*) from t x join t y on x.b = y.a where x.a < SIZED(200000);
"""
PYTHON = """
import json, re
d = {}
for i in range(SIZED(600000)):
    d["k%d" % (i * 7919 % 200003)] = d.get("k%d" % i, 0) + i
s = json.dumps(d)
assert json.loads(s) == d
print(len(re.findall(r'"k(\\d+)5": (\\d+)', s)), sum(x * x for x in range(SIZED(4000000))), len(sorted(d.items(), key=lambda p: p[1])))
"""
PERL = """
my %d; my $t = '';
for my $i (0 .. SIZED(1200000)) { $d{$i * 7919 % 200003} .= chr(65 + $i % 26); $t .= "line $i of text\\n" if $i % 3 == 0; }
my $n = 0; $n++ while $t =~ /(\\d+)5 of/g;
my @s = sort { length $d{$a} <=> length $d{$b} || $a <=> $b } keys %d;
print scalar(@s), " $n $s[100]\\n";
"""


def c_source(functions):
    """A C file of many functions, each a little different: loops, switches, calls, floating point."""
    x, text = 7, ["struct s { int a, b; double d; struct s *next; };"]
    for n in range(functions):
        x = (x * 1103515245 + 12345) & 0x7fffffff
        a, b, c = x >> 5 & 63, x >> 11 & 1023, x >> 3 & 7
        text.append(f"""static int g{n}(struct s *p, int n) {{ int sum = {a}; for (int i = 0; i < n; i++) {{ switch ((i * {b} + p->a) & 7) {{
case 0: sum += p->b; break; case 1: p->d *= {c}.5; break; case 2: sum ^= i << {c}; break; case {c}+8: return {a}; case 3:
p = p->next ? p->next : p; break; default: sum -= p->a % ({a} + 1); }} }} return sum; }}
int f{n}(struct s *p, int n) {{ int r = g{n}(p, n + {c}); if (r > {b}) r = {"g%d(p, r & 15)" % (n - 1) if n else "1"}; else while (p && r--) {{ p->d += r / {a + 1}.0; p = p->next; }} return r; }}""")
    return "\n".join(text) + "\n"


def prepare(work, size=1.0):
    """{name: (command, file for stdin or None)}; everything is made here or is on the machine. Of size 1 each needs about a second."""
    path = lambda name: os.path.join(work, name)
    run = lambda *command, **more: subprocess.run(command, check=True, **more)
    with open(path("text"), "w", encoding="ascii") as file:
        x = 1
        words = [w for w in re.findall(r"[a-z]+", open(os.path.join(ROOT, "ARCHITECTURE.md"), encoding="utf-8").read())]
        for _ in range(int(3000000 * size)):
            x = (x * 1103515245 + 12345) & 0x7fffffff
            file.write(words[(x >> 8) % len(words)] + (" " if x & 0x70000 else "\n"))
    for name, text in (("q.sql", SQL), ("p.py", PYTHON), ("p.pl", PERL)):
        with open(path(name), "w", encoding="ascii") as file:
            file.write(re.sub(r"SIZED\((\d+)\)", lambda m: str(int(int(m[1]) * size)), text))
    cc1 = subprocess.run(["gcc", "-print-prog-name=cc1"], check=True, capture_output=True, text=True).stdout.strip()
    with open(path("big.i"), "w", encoding="ascii") as file:
        file.write(c_source(int(180 * size)))
    run("gcc", "-O2", "-DROUNDS=%d" % int(100000 * size), "-o", path("fp"), os.path.join(HERE, "engine_fp.c"))
    run("gcc", "-O2", "-pthread", "-DROUNDS=%d" % max(1, int(250 * size)), "-o", path("threads"), os.path.join(HERE, "engine_threads.c"))
    head = path("text.head")
    with open(path("text"), "rb") as file, open(head, "wb") as out:
        out.write(file.read(int((6 << 20) * size)))
    found = {
        "bzip2": (["bzip2", "-9c", path("text")], None),
        "gzip": (["gzip", "-6c", path("text")], None),
        "xz": (["xz", "-T1", "-3c", head], None),
        "python": (["/usr/bin/python3", "-S", path("p.py")], None),
        "perl": (["perl", path("p.pl")], None),
        "cc1": ([cc1, "-quiet", "-O2", path("big.i"), "-o", path("big.s")], None),
        "sqlite": (["sqlite3", ":memory:"], path("q.sql")),
        "fp": ([path("fp")], None),
        "4 threads": ([path("threads")], None),
    }
    # by path: qemu searches none
    return {name: ([shutil.which(command[0])] + command[1:], stdin) for name, (command, stdin) in found.items() if shutil.which(command[0])}


def measure(command, stdin):
    """CPU and elapsed seconds; None when it failed."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    began = time.monotonic()
    with open(stdin or "/dev/null", "rb") as file:
        done = subprocess.run(command, stdin=file, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                              env=ENVIRONMENT)
    elapsed = time.monotonic() - began
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode != 0:
        print("# %s ended with %d: %s" % (" ".join(command)[:150], done.returncode, done.stderr.decode("utf-8", "replace")[-300:]),
              file=sys.stderr)
        return None
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, elapsed


def table(rows):
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    lines = ["| " + " | ".join(cell.ljust(w) if i == 0 else cell.rjust(w) for i, (cell, w) in enumerate(zip(row, widths))) + " |" for row in rows]
    rule = "|" + "|".join("-" * (w + 1) + ("-" if i == 0 else ":") for i, w in enumerate(widths)) + "|"
    return "\n".join([lines[0], rule] + lines[1:])


def mean(values):
    return math.exp(sum(map(math.log, values)) / len(values))


def machine(load):
    """What a table was measured on, and when."""
    with open("/proc/cpuinfo", encoding="latin-1") as file:
        model = re.search(r"model name\s*: (.*)", file.read())[1]
    return "%s, %s, %d CPUs, Linux %s, load %.1f before the run" % (time.strftime("%Y-%m-%d"), model, os.cpu_count(), os.uname().release, load)


def keep(begin, end, title, text):
    """The text between two marks of bench/README.md; title: what stands in front where there are none yet."""
    path = os.path.join(HERE, "README.md")
    with open(path, encoding="utf-8") as file:
        old = file.read()
    if begin not in old:
        old = old.rstrip("\n") + "\n\n" + title + "\n\n" + begin + "\n" + end + "\n"
    before, rest = old.split(begin, 1)
    with open(path, "w", encoding="utf-8") as file:
        file.write(before + begin + "\n" + text + "\n" + end + rest.split(end, 1)[1])
