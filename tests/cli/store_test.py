"""Runs that are kept: by count and profile, shown again, listed, named, moved, removed; and what happens when they cannot be kept."""
import sqlite3

from cli import *

STORE = os.path.join(os.getcwd(), "kept", "tare.db")
ENV = environment(TARE_STORE=STORE)


def kept(*arguments, env=ENV, **more):
    return tare(*arguments, env=env, **more)


def names():
    return kept("list", "runs", "--names").out.split()


# ---- kept, and shown again ----
equal(kept("list", "runs").out, "no run was kept yet\n", "without a store, the list says that there is no run")
seen = kept("report", "@last")
ok(seen.code == 2 and "cannot open the store" in seen.err, "and a report of the last one is an error", seen)
ok(not os.path.exists(STORE), "looking makes no store")
first = kept("count", "-e", "page-faults,task-clock", "true")
again = kept("report", "@last")
ok(first.code == 0 and "page-faults" in first.err, "a count prints its report", first)
equal(again.out, first.err, "tare report @last prints it again, byte for byte")
equal((again.code, again.err), (0, ""), "without anything else")
equal(kept("report", "1").out, first.err, "so does its number")
equal(kept("report", "@1").out, first.err, "also with an @")
for options in (["-r", "3", "-v", "--statistics"], ["-r", "3", "--all-repetitions", "--gross"], ["-q"]):
    seen = kept("count", "-o", "report", "-e", "page-faults,task-clock,elapsed-time", *options, "--", "sh", "-c", "exit 3")
    equal(seen.code, 3, f"{' '.join(options)}: the program's status stays")
    equal(kept("report", "@last").out, read("report"), f"{' '.join(options)}: shown again with the same options")
kept("count", "--json", "-o", "report", "-r", "2", "-e", "page-faults,task-clock", "true")
shown = kept("report", "--format", "json", "@last").out
equal(shown, read("report"), "JSON of a kept run is that of the count")
parsed(shown, "JSON of a kept run")
kept("count", "--csv", "-o", "report", "-e", "page-faults,task-clock", "true")
equal(kept("report", "--format", "csv", "@last").out.replace("\r\n", "\n"), read("report"), "and so is CSV")
ok("run" in kept("count", "-v", "-e", "page-faults", "true").err.splitlines()[-1], "-v says the run's number")
kept("count", "-e", "page-faults", "--", "printf", "\\033[31m \t é", "a b", "")
equal(kept("report", "--format", "json", "@last").code, 0, "arguments may hold anything")
equal(json.loads(kept("report", "--format", "json", "@last").out)["command"], ["printf", "\\033[31m \t é", "a b", ""],
      "and are kept as they were")
if os.uname().machine == "x86_64":
    seen = kept("count", "--on", "exact", "-e", "instructions:u,loads", "--by", "function", "--region", "main", "-o", "report", "--", TARE, "version")
    if seen.code == 0 and "not counted" not in read("report"):
        equal(kept("report", "@last").out, read("report"), "regions and breakdowns are kept")
        kept("count", "--json", "--on", "model:host", "-e", "l1d-misses", "--by", "object", "-o", "report", "--", "ls", "/")
        equal(kept("report", "--format", "json", "@last").out, read("report"), "with objects and where they were allocated")
        kept("profile", "--on", "exact", "-e", "instructions:u", "true")
        equal(json.loads(kept("list", "runs", "--json").out)["runs"][0]["elapsed_seconds"], None, "a profile without times has none in the list")
    else:
        skip("the engine does not work here", "regions and breakdowns are kept")
        skip("the engine does not work here", "with objects and where they were allocated")
        skip("the engine does not work here", "a profile without times has none in the list")
# ---- comparisons ----
COMPARED = environment(TARE_STORE=os.path.join(os.getcwd(), "compared.db"))
for options in ([], ["--statistics"], ["-v"], ["-q"]):
    seen = kept("compare", *options, "-r", "4", "-e", "page-faults,task-clock", "--gate", "page-faults<1e9", "-n", "first one", "true", "ls /", env=COMPARED)
    equal(seen.code, 0, f"compare {options}: runs")
    equal(kept("report", "@last", env=COMPARED).out, seen.out, f"compare {options}: the comparison is shown again, byte for byte")
seen = kept("compare", "--json", "-r", "3", "-e", "page-faults", "true", "ls /", "ls /dev", env=COMPARED)
equal(kept("report", "--format", "json", "@last", env=COMPARED).out, seen.out, "as JSON")
base = sqlite3.connect("compared.db")
last = base.execute("SELECT max(id) FROM runs").fetchone()[0]
equal(kept("report", "--format", "json", str(last - 2), env=COMPARED).out, seen.out, "each of its runs leads to it")
has(kept("report", "--alone", "@last", env=COMPARED).out, "tare count: ls /dev", "--alone shows a run's own counts")
ok(kept("export", "-o", "compared.file", "@last", f"@{last - 1}", f"@{last - 2}", env=COMPARED).code == 0, "a comparison's runs are exported")
MOVED = environment(TARE_STORE=os.path.join(os.getcwd(), "moved.db"))
equal(kept("import", "compared.file", env=MOVED).code, 0, "and imported")
equal(kept("report", "--format", "json", "3", env=MOVED).out, seen.out, "and are a comparison there as well")
base.execute("UPDATE compared SET verdict = 5, relative = 0.5, relative_low = 0.4, relative_high = 0.6 WHERE run = ?", (last,))
base.commit()
has(kept("report", "@last", env=COMPARED).out, "+50 \u00b1 10 %  more", "what was found is shown, it is not computed again")
base.execute("UPDATE compared SET event = 'x' WHERE run = ?", (last,))
base.commit()
seen = kept("report", "@last", env=COMPARED)
ok(seen.code == 3 and "damaged" in seen.err, "what does not go with its runs is damaged", seen)
write("cut.db", "SQLite format 3\0 and no more")
seen = tare("list", "runs", "--store", "cut.db")
ok(seen.code == 2 and "'cut.db' is damaged, or is not a store of runs" in seen.err, "a file that was cut is damaged", seen)
seen = kept("import", "cut.db", env=MOVED)
ok(seen.code == 2 and "'cut.db' is damaged" in seen.err and "'tare export -o FILE' makes" in seen.err, "imported, it is said what makes such files", seen)
base.execute("DELETE FROM compared WHERE run = ?", (last,))
base.commit()
has(kept("report", "@last", env=COMPARED).out, "tare count: ls /dev", "a comparison that is not whole shows the run alone")
base.execute("DELETE FROM runs WHERE id = ?", (last - 2,))
base.commit()
base.close()
seen = kept("report", f"@{last - 1}", env=COMPARED)
ok(seen.code == 0 and "tare count: ls /" in seen.out, "so does one whose other runs have gone", seen)
for fact, arguments in (("with a run that was kept before", (f"@{last - 1}", "true")), ("of two runs that were kept before", (f"@{last - 1}", f"@{last}")),
                        ("with places drawn anew", ("--randomise-layout", "true", "ls /"))):
    shown = kept("compare", "-r", "2", "-e", "page-faults", *arguments, env=COMPARED)
    seen = kept("report", "@last", env=COMPARED)
    equal(seen.out, shown.out, f"a comparison {fact} is kept, and shown as it was")

profile = kept("profile", "-e", "task-clock:u", "-c", "100000", "--", "sh", "-c", "i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done")
ok(profile.code == 0, "a profile is taken", profile)
equal(kept("report", "@last").out, profile.err, "a profile is kept as well, and shown again")
kept("profile", "-e", "task-clock:u", "-c", "100000", "-o", "profile", "--", "sh", "-c", "i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done")
equal(kept("report", "@last").out, kept("report", "profile").out, "also one with a file of its own: both are the same")
last = names()[0]
for off in (["--no-store"], []):
    kept("count", *off, "-e", "page-faults", "true", env=environment(TARE_STORE="none") if not off else ENV)
equal(names()[0], last, "--no-store and TARE_STORE=none keep nothing")

# ---- names ----
equal(kept("name", "1", "before").code, 0, "a run gets a name")
equal(kept("report", "before").out, first.err, "and is found by it")
equal(kept("report", "@before").out, first.err, "also with an @")
write("before", "not a profile")
seen = kept("report", "before")
ok(seen.code == 2, "a file of that name is meant first", seen)
equal(kept("report", "@before").out, first.err, "and with an @ never")
os.remove("before")
seen = kept("name", "@last", "before")
ok(seen.code == 0 and re.search(r"run 1 was called 'before'; now run \d+ is", seen.err), "a name moves, and tare says so", seen)
ok(kept("report", "before").out != first.err, "then it is the other run's")
for name in ("17", "last", "@x", "a b", "a/b", "", "x" * 101, "-x"):
    seen = kept("name", "--", "1", name) if name.startswith("-") else kept("name", "1", name)
    ok(seen.code == 2 and seen.err.startswith("tare: '"), f"{name[:20]!r} is not a name", seen)
equal(kept("name", "--remove", "before").code, 0, "a name is taken away")
equal(kept("report", "@before").code, 2, "and then it is not found")
equal(kept("name", "999", "x").code, 2, "a run that is not there gets no name")
equal(kept("name", "1").code, 2, "a name needs a name")
kept("name", "1", "before")

# ---- the list ----
table = kept("list", "runs")
heads = table.out.splitlines()[0].split()
equal(heads, ["run", "name", "begun", "kind", "n", "time", "ended", "command"], "the list has its columns")
ok(re.search(r"^ *1 +before +\d{4}-\d\d-\d\d \d\d:\d\d +count +1 .* true$", table.out, re.M), "and a row for a run", table.out)
ok("exit 3" in table.out, "a program's failure is in it", table.out)
ok("\\x09" in table.out and "\t" not in table.out, "control characters of a command are shown, not printed", table.out)
equal(len(kept("list", "runs", "exit", "sh").out.splitlines()), 4, "words narrow it")
rows = json.loads(kept("list", "runs", "--json").out)["runs"]
equal((rows[-1]["run"], rows[-1]["name"], rows[-1]["kind"], rows[-1]["command"]), (1, "before", "count", ["true"]), "it is there as JSON")
detail = kept("list", "runs", "-v", "before").out
ok(os.getcwd() in detail.replace("\n", "").replace(" ", "") and "LC_ALL=C.UTF-8" in detail, "-v shows the surroundings", detail)
secret = environment(TARE_STORE=STORE, API_TOKEN="s3cr3t", AWS_SECRET_ACCESS_KEY="s3cr3t", OMP_NUM_THREADS="3")
kept("count", "-e", "page-faults", "true", env=secret)
with open(STORE, "rb") as database, open(STORE + "-wal", "rb") as log:
    bytes_ = database.read() + log.read()
ok(b"s3cr3t" not in bytes_ and b"OMP_NUM_THREADS=3" in bytes_, "of the environment only what is allowed is kept")
equal({os.stat(path).st_mode & 0o777 for path in (STORE, STORE + "-wal", STORE + "-shm")}, {0o600}, "nobody else can read the store")

# ---- what tare-store(5) says of the file ----
with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../docs/man/tare-store.5.scd"), encoding="utf-8") as file:
    page = file.read()
listed = re.findall(r"[A-Z][A-Z0-9_]*\*?", re.search(r"kept with a run: (.*?)\. No other", page, re.S)[1].replace("\\", ""))
asked = {name.replace("*", "X"): "" for name in listed}  # "": none of them steers anything
PAGE = environment(TARE_STORE=os.path.abspath("page.db"))
equal(kept("count", "-e", "page-faults", "true", env={**PAGE, **asked}).code, 0, "a run with each variable that tare-store(5) lists")
base = sqlite3.connect("page.db")
words = base.execute("SELECT environment FROM runs").fetchone()[0].split(b"\0")
ok(len(listed) > 30 and set(asked) <= {word.decode().split("=")[0] for word in words}, "... keeps each of them, in texts that a zero byte ends", (listed, words))
equal([base.execute(f"PRAGMA {name}").fetchone()[0] for name in ("application_id", "user_version")],
      [int(re.search(r"application id (0x[0-9a-f]+)", page)[1], 16), int(re.search(r"now (\d+)\.", page)[1])], "tare-store(5) has the store's application id and version")
tables = {row[0] for row in base.execute("SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite%'")}
equal(tables, set(re.findall(r"\*([a-z_]+)\*", "".join(re.findall(r"^(\*[a-z_]+\*(?:, \*[a-z_]+\*)*)$", page, re.M)))), "... and its tables")
columns = {row[1] for name in ("runs", "machines") for row in base.execute(f"PRAGMA table_info({name})") if not row[1].startswith("side_")}
ok(len(columns) > 30 and columns <= set(re.findall(r"\b_([a-z_]+)_(?!\w)", page)), "... and the columns of runs and machines", columns - set(re.findall(r"\b_([a-z_]+)_(?!\w)", page)))
others = [row[1] for row in base.execute("PRAGMA table_info(runs)") if row[1] not in ("id", "uuid")]
for _ in range(32):
    base.execute(f"INSERT INTO runs (uuid, {', '.join(others)}) SELECT randomblob(16), {', '.join(others)} FROM runs WHERE id = 1")
base.commit()
base.close()
equal([len(re.findall(r"^ *\d+ .*\d{4}-\d\d-\d\d \d\d:\d\d", kept("list", "runs", *more, env=PAGE).out, re.M)) for more in ([], ["--all"])], [30, 33],
      "the list has the newest 30 runs, and with --all every one")

# ---- the git commit ----
os.makedirs("tree/sub", exist_ok=True)
commit = "0123456789abcdef0123456789abcdef01234567"
os.makedirs("tree/.git/refs/heads", exist_ok=True)
write("tree/.git/HEAD", "ref: refs/heads/main\n")
write("tree/.git/refs/heads/main", commit + "\n")
write("tree/.git/config", "[core]\n\tfsmonitor = touch " + os.getcwd() + "/ran\n")


def commit_of(folder):
    kept("count", "-e", "page-faults", "true", cwd=folder)
    found = re.search(r"git commit +([0-9a-f]+)", kept("list", "runs", "-v", "--store", STORE).out.split("directory")[1])
    return found and found.group(1)


equal(commit_of("tree/sub"), commit, "the commit of the directory is kept")
os.remove("tree/.git/refs/heads/main")
write("tree/.git/packed-refs", "# pack-refs with: peeled fully-peeled sorted\n" + "f" * 40 + " refs/heads/mainly\n" + "b" * 40 + " refs/heads/main\n")
equal(commit_of("tree"), "b" * 40, "also of packed references")
write("tree/.git/HEAD", "a" * 40 + "\n")
equal(commit_of("tree"), "a" * 40, "also without a branch")
os.makedirs("tree/.git/worktrees/w", exist_ok=True)
write("tree/.git/worktrees/w/HEAD", "ref: refs/heads/main\n")
write("tree/.git/worktrees/w/commondir", "../..\n")
os.makedirs("worktree", exist_ok=True)
write("worktree/.git", f"gitdir: {os.getcwd()}/tree/.git/worktrees/w\n")
equal(commit_of("worktree"), "b" * 40, "also of a worktree")
write("tree/.git/HEAD", "ref: refs/../../../etc/passwd\n")
equal(commit_of("tree"), None, "a reference out of the repository is not followed")
ok(not os.path.exists("ran"), "nothing of the repository's configuration runs")

# ---- export and import ----
n = len(names())
seen = kept("export", "-o", "all.runs")
equal((seen.code, seen.out), (0, f"wrote {n} runs to 'all.runs'\n"), "all runs are exported")
equal(os.stat("all.runs").st_mode & 0o777, 0o600, "to a file that nobody else can read")
ok(not os.path.exists("all.runs-wal"), "which is one file")
equal(kept("export", "-o", "all.runs").code, 2, "a file that is there is not written over")
OTHER = environment(TARE_STORE=os.path.join(os.getcwd(), "other.db"))
seen = kept("import", "all.runs", env=OTHER)
equal((seen.code, seen.out), (0, f"added {n} runs\n"), "and imported into another store")
counts = [row["run"] for row in json.loads(kept("list", "runs", "--json").out)["runs"] if row["kind"] == "count"]
here, there = ([kept("report", f"@{run}", env=env) for run in counts] for env in (ENV, OTHER))
ok(every(a.code == b.code == 0 and a.out and a.out == b.out for a, b in zip(here, there)), "where each run is shown as here", (here, there))
equal(kept("import", "all.runs", env=OTHER).out, f"added 0 runs; {n} were there already\n", "a second time nothing is added")
equal(kept("report", "@last", env=OTHER).code, 2, "imported runs are not @last")
equal(kept("report", "@before", env=OTHER).out, first.err, "names come along")
kept("count", "-e", "page-faults", "true", env=ENV)
kept("name", "before", "first")
kept("name", "@last", "before")
kept("export", "-o", "two.runs", "@last", "first", "@last")
seen = kept("import", "two.runs", env=OTHER)
equal(seen.out, "added 1 run; 1 was there already\n", "of some runs each is exported once")
ok("without a name" in seen.err, "a name that is another run's there is not taken from it", seen)
seen = kept("import", __file__, env=OTHER)
ok(seen.code == 2 and "not a store of runs" in seen.err, "a file that is not one of runs is refused", seen)
equal(kept("import", "missing", env=OTHER).code, 3, "so is one that is not there")
equal(kept("export", "-o", "x.runs", "@nobody").code, 2, "a run that is not there cannot be exported")
ok(not os.path.exists("x.runs"), "and no file is made")
equal(kept("export", "before").code, 2, "without -o there is no export")
equal(kept("export", "-o", "-", "before").code, 2, "a database does not go to standard output")

# ---- an older tare's run, and a newer tare's store ----
for path in (OTHER["TARE_STORE"],):
    base = sqlite3.connect(path)
    base.execute("UPDATE runs SET tare_version = '0.0.7' WHERE name = 'before'")
    base.commit()
    base.close()
old = kept("report", "@before", env=OTHER).out
ok("measured by tare 0.0.7; this is tare" in old, "a run of another version is shown, and names the version", old)
shutil.copy(OTHER["TARE_STORE"], "newer.db")
base = sqlite3.connect("newer.db")
base.execute("PRAGMA journal_mode=DELETE")
base.execute("PRAGMA user_version = 99")
base.close()
NEWER = environment(TARE_STORE=os.path.join(os.getcwd(), "newer.db"))


def not_kept(fact, env, reason, program="exit 4"):
    """The report is whole, the status the program's, and a warning says why the run is not kept."""
    seen = kept("count", "-e", "page-faults", "--", "sh", "-c", program, env=env)
    ok(seen.code == 4 and "page-faults" in seen.err, f"{fact}: the result is printed, and the status stays", seen)
    has(seen.err, re.compile(r"tare: warning: this run is not kept: .*" + reason), f"{fact}: a warning says what was not kept")


not_kept("a store of a newer tare", NEWER, "newer tare")
equal(kept("list", "runs", env=NEWER).code, 3, "a newer store cannot be listed")
ok("newer tare" in kept("report", "@before", env=NEWER).err, "or shown, which is said")

# ---- prune ----
total = len(names())
seen = kept("prune", "--keep", "5", "--dry-run")
ok(seen.code == 0 and f"would go: {total - 5} runs" in seen.out and len(names()) == total, "a dry run removes nothing", seen)
seen = kept("prune", "--keep", "5")
ok(seen.code == 0 and f"removed: {total - 5} runs" in seen.out and "; 5 stay" in seen.out, "the oldest go", seen)
left = names()
ok(len(left) == 5 and "first" in left and "before" in left, "those with names stay", left)
equal(kept("prune", "--older", "1h").out, "removed: 0 runs, 0 bytes; 5 stay\n", "young ones stay")
base = sqlite3.connect(STORE)
base.execute("UPDATE runs SET started_unix = started_unix - 90000")
base.commit()
base.close()
seen = kept("prune", "--older", "1d")
ok("removed: 3 runs" in seen.out, "old ones go", seen)
equal(sorted(names()), ["before", "first"], "but those with names")
kept("count", "-e", "page-faults", "true")
highest = int(names()[0])
kept("prune", "--size", "1k")
equal(sorted(names()), ["before", "first"], "runs go by their size")
kept("count", "-e", "page-faults", "true")
ok(int(names()[0]) > highest, "a number is never used again")
for wrong in ([], ["--keep", "0"], ["--older", "3"], ["--older", "x d"], ["--size", "10"], ["--older", "99999999999999d"], ["--keep", "3", "x"]):
    equal(kept("prune", *wrong).code, 2, f"prune {' '.join(wrong)} is wrong usage")
base = sqlite3.connect(STORE)
equal(base.execute("PRAGMA integrity_check").fetchone()[0], "ok", "the database is whole")
ids = {row[0] for row in base.execute("SELECT id FROM runs")}
for table_name in ("estimates", "notes", "outliers", "regions", "breakdown_events", "breakdown_rows", "breakdown_frames", "profiles"):
    orphans = [row for row in base.execute(f"SELECT DISTINCT run FROM {table_name}") if row[0] not in ids]
    equal(orphans, [], f"{table_name} has nothing of removed runs")
base.close()

# ---- where nothing can be kept ----
not_kept("without a home", environment(TARE_STORE=None, HOME=None, XDG_DATA_HOME=None), "HOME is not set")
not_kept("a store that is a folder", environment(TARE_STORE=os.getcwd()), "")
write("damaged.db", read("newer.db")[:100] + "x" * 8000)
not_kept("a damaged store", environment(TARE_STORE=os.path.join(os.getcwd(), "damaged.db")), "damaged")
not_kept("a home that does not exist", environment(TARE_STORE=None, HOME=os.path.join(os.getcwd(), "nobody"), XDG_DATA_HOME=None), "nobody")
ok(not os.path.exists("nobody"), "nobody's home is made")
not_kept("a home below a file", environment(TARE_STORE=None, XDG_DATA_HOME=os.path.join(os.getcwd(), "damaged.db")), "cannot make")
if os.path.exists("/dev/full"):
    not_kept("a device", environment(TARE_STORE="/dev/full"), "")


def in_namespace(script):
    """A shell script as root of namespaces of its own, or None where that is not possible."""
    command = ["unshare", "-m"] if os.geteuid() == 0 else ["unshare", "-rm"]
    try:
        if subprocess.run([*command, "mount", "-t", "tmpfs", "-o", "size=64k", "none", "/mnt"], capture_output=True).returncode:
            return None
        done_ = subprocess.run([*command, "sh", "-c", script], capture_output=True, env=environment(TARE_STORE=None), timeout=TIME_OUT_S)
    except FileNotFoundError:
        return None
    return Done(done_.returncode, done_.stdout.decode(), done_.stderr.decode())


COUNT = f"'{TARE}' count -e page-faults -- sh -c 'exit 4'"
full = in_namespace("mount -t tmpfs -o size=400k none /mnt && cd /mnt && export TARE_STORE=/mnt/t.db; dd if=/dev/zero of=fill bs=1k 2>/dev/null; "
                    + COUNT + "; echo $?; rm fill; " + COUNT + " 2>/dev/null; " + f"'{TARE}' list runs --names; "
                    f"dd if=/dev/zero of=fill bs=1k 2>/dev/null; i=0; while [ $i -lt 12 ]; do last=$({COUNT} 2>&1); i=$((i+1)); done; echo \"$last\" >&2; '{TARE}' list runs --names | wc -l; "
                    f"'{TARE}' report @last >/dev/null; echo $?")
if full:
    ok(full.err.count("page-faults") >= 2 and full.out.startswith("4\n1\n"), "on a full disk the result is printed, and later runs are kept", full)
    ok(full.err.count("the disk is full") >= 1, "and it says that the disk is full", full)
    ok(full.out.split()[-1] == "0", "what was kept before can be read still", full)
else:
    for fact in ("on a full disk the result is printed, and later runs are kept", "and it says that the disk is full", "what was kept before can be read still"):
        skip("no mount namespaces here", fact)
only = in_namespace(f"mkdir -p '{os.getcwd()}/home/tare' && mount -t tmpfs none '{os.getcwd()}/home' && mkdir '{os.getcwd()}/home/tare' && "
                    f"export XDG_DATA_HOME='{os.getcwd()}/home'; {COUNT} 2>/dev/null; mount -o remount,ro '{os.getcwd()}/home' && {COUNT}; echo $?; "
                    f"'{TARE}' list runs --names; '{TARE}' report @last | grep -c page-faults")
if only:
    ok(only.err.count("page-faults") == 1 and only.out.startswith("4\n"), "with a read-only home the result is printed", only)
    has(only.err, "this run is not kept: ", "and it says what was not kept")
    equal(only.out.split()[1:], ["1", "1"], "what was kept before is listed and shown")
else:
    for fact in ("with a read-only home the result is printed", "and it says what was not kept", "what was kept before is listed and shown"):
        skip("no mount namespaces here", fact)
os.symlink("/nowhere/there", "dangling")
os.mkfifo("fifo")
for place, name, what in ((f"{os.getcwd()}/dangling/tare.db", "behind a dangling link", "make"), ("/proc/tare.db", "in /proc", "make"), ("fifo", "that is a FIFO", "open")):
    run = subprocess.run(["timeout", "-s", "KILL", "60", TARE, "count", "-e", "page-faults", "true"], capture_output=True, text=True,
                         env=environment(TARE_STORE=place))
    ok(run.returncode == 0 and "page-faults" in run.stderr and f"this run is not kept: cannot {what} '{place}'" in run.stderr,
       f"with a store {name} the result is printed, and it says that it is not kept", run.stderr)
for name in ":memory:", "file:x.db?mode=memory":
    odd = environment(TARE_STORE=name)
    seen = kept("count", "-e", "page-faults", "true", env=odd)
    equal(kept("report", "@last", env=odd).out, seen.err, f"'{name}' is a file's name, and the run is kept in it")
nowhere = environment(TARE_STORE=None, HOME=None, XDG_DATA_HOME=None)
for command, arguments in (("profile", ["-e", "task-clock:u", "-c", "100000", "true"]), ("compare", ["-r", "2", "-e", "page-faults", "true", "true"])):
    seen = kept(command, *arguments, env=nowhere)
    ok(seen.code == 0 and f"tare {command}: " in seen.out + seen.err and re.search("not kept: .*HOME is not set", seen.err),
       f"tare {command} without a home prints its result, and says that it is not kept", seen)

# ---- usage ----
for wrong in (["report"], ["report", "a", "b"], ["report", "--top", "3", "@before"], ["name"], ["import"], ["import", "a", "b"], ["list", "runs", "--bad"]):
    equal(kept(*wrong).code, 2, f"{' '.join(wrong)} is wrong usage")
done()
