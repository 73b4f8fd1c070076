"""tare compare: git revisions, compilers and flags, runs that were kept, rates that mislead."""
import sqlite3

from cli import *

EVENTS = "page-faults,elapsed-time"  # count on every machine
ENGINE = ",exact," in tare("count", "--on", "exact", "-e", "instructions:u", "--csv", "true").err
folder = os.getcwd()
os.makedirs("temporary")
os.makedirs("repository/sub")
ENV = environment(TMPDIR=os.path.abspath("temporary"), GIT_CONFIG_GLOBAL="/dev/null", GIT_CONFIG_SYSTEM="/dev/null",
                  GIT_AUTHOR_NAME="a", GIT_AUTHOR_EMAIL="a@b", GIT_COMMITTER_NAME="a", GIT_COMMITTER_EMAIL="a@b")


def snapshot(path):
    """Every file of a folder with its contents."""
    return {os.path.join(where, name): open(os.path.join(where, name), "rb").read()
            for where, _, names in os.walk(path) for name in names}


def git(*arguments):
    subprocess.run(["git", "-C", "repository", *arguments], env=ENV, check=True, capture_output=True)


def compare(*arguments, code=0, cwd="repository", env=ENV):
    seen = tare("compare", "-r", "3", *arguments, cwd=cwd, env=env)
    ok(seen.code == code, f"exit code {code}: compare {' '.join(arguments)}", seen)
    equal(os.listdir("temporary"), [], "nothing is left in the temporary folder")
    return seen


# ---- revisions ----
if shutil.which("git"):
    git("init", "-q")
    write("repository/value", "first\n")
    write("repository/sub/file", "x\n")
    git("add", "-A")
    git("commit", "-qm", "one")
    git("tag", "v1")
    write("repository/value", "second\n")
    git("commit", "-qam", "two")
    write("repository/value", "not committed\n")
    before = snapshot("repository")
    log = os.path.join(folder, "log")
    seen = compare("--git", "v1..HEAD", "--build", f"cp value built; echo {{dir}} >> {log}", "-e", EVENTS, "--json", "--", "grep", "-c", "", "built")
    equal([c["name"] for c in json.loads(seen.out)["commands"]], ["v1", "HEAD"], "revisions have their names")
    equal(snapshot("repository"), before, "the repository and its work tree are as they were")
    folders = read("log").split()
    ok(len(folders) == 2 and len(folders[0]) == len(folders[1]) and folders[0] != folders[1], "their folders' paths have one length", folders)
    seen = compare("--git", "v1..HEAD", "-e", EVENTS, "--", "grep", "-q", "first", "value", code=3)
    ok("'HEAD' ended with exit status 1" in seen.err, "each runs in its own tree", seen)
    seen = compare("--git", "v1..HEAD", "-e", EVENTS, "--", "cat", "file", cwd="repository/sub")
    seen = compare("--git", "v1..HEAD", "-e", EVENTS, "cat {dir}/value", "true {dir}")
    equal(seen.out.count("\n  B cat "), 0, "several commands of two revisions have letters")
    for arguments, words, code in ((("--git", "v1..none", "--", "true"), "'none' is not a commit", 2),
                                   (("--git", "v1", "--", "true"), "is not A..B", 2),
                                   (("--git", "v1...HEAD", "--", "true"), "is not A..B", 2),
                                   (("--git", "--output=x..HEAD", "--", "true"), "is not a commit", 2),
                                   (("--git", "v1..HEAD"), "no commands", 2),
                                   (("--git", "v1..HEAD", "--build", "exit 3", "--", "true"), "the command of --build ended with status 3", 3)):
        seen = compare(*arguments, code=code)
        ok(words in seen.err, f"{' '.join(arguments)}: {words}", seen)
    # a hook's environment names the user's repository; a shallow clone has a remote's branch, and no history
    hook = dict(ENV, GIT_DIR=os.path.abspath("repository/.git"), GIT_INDEX_FILE=os.path.abspath("repository/.git/index"))
    compare("--git", "v1..HEAD", "-e", EVENTS, "--", "cat", "value", env=hook)
    equal(snapshot("repository"), before, "run by a git hook, the repository is as it was")
    subprocess.run(["git", "clone", "-q", "--depth", "1", "file://" + os.path.abspath("repository"), "shallow"], env=ENV, check=True)
    seen = compare("--git", "origin/HEAD..HEAD", "-e", EVENTS, "--", "grep", "-q", "second", "value", cwd="shallow")
    if ENGINE and shutil.which("cc"):
        for name, loops in (("a", 1000), ("b", 1000), ("c", 1100)):
            write("repository/prog.c", f"int main(void) {{ volatile int n = 0; for (int i = 0; i < 1000 * {loops}; i++) n = i; return n == {len(name)}; }}\n")
            git("add", "prog.c")
            git("commit", "-q", "--allow-empty", "-m", name)
            git("tag", name)
        job = ("--build", "cc -O1 -o {dir}/prog {dir}/prog.c", "--gate", "instructions:u<+1%")
        compare("--git", "a..b", *job, "--", "./prog")
        compare("--git", "b..c", *job, "--", "./prog", code=1)
        before = snapshot("repository")
    else:
        skip("the engine does not work here", "a commit that costs 10 % more instructions fails a gate of 1 %")
    seen = compare("--git", "v1..HEAD", "--", "true", code=3, cwd="/")
    ok("not in a git work tree" in seen.err, "without a repository that is told", seen)
    equal(snapshot("repository"), before, "what went wrong left the repository as it was")
else:
    skip("git is not installed", "revisions have their names")

# ---- compilers and flags: here a build makes a script ----
seen = compare("--build", "printf '#!/bin/sh\\n# {flags}\\n' > {out} && chmod +x {out}", "--flags", "-a", "--flags", "-b c", "-e", EVENTS, "--json", cwd=folder)
commands = json.loads(seen.out)["commands"]
equal([c["name"] for c in commands], ["-a", "-b c"], "builds have their flags as names")
ok(every(c["command"][0].endswith("/program") for c in commands), "what was built is what runs", commands)
seen = compare("--build", "nocc {flags} > {out}", "--flags", "x", "--flags", "y", "--cc", "echo,printf", "-e", EVENTS, "--json", "cat {out}", cwd=folder)
equal([c["name"] for c in json.loads(seen.out)["commands"]], ["echo x", "echo y", "printf x", "printf y"], "compilers take the place of the build's first word")
for arguments, words in ((("--flags", "-O1", "true"), "--flags needs --build"), (("--cc", "gcc", "true"), "--cc needs --build"),
                         (("--build", "true", "true", "true"), "--build needs"), (("--git", "a..b", "--build", "true", "--flags", "x"), "choose --git"),
                         (("--build", "true {flags}", "--flags", "x"), "one command alone")):
    seen = compare(*arguments, code=2, cwd=folder)
    ok(words in seen.err, f"{' '.join(arguments)}: {words}", seen)

# ---- the order of linking: the program writes where its files' functions are ----
for name in "abc":
    write(f"{name}.c", f"void {name}(void) {{}}\n")
write("main.c", """#include <stdio.h>
#include <stdlib.h>
void a(void), b(void), c(void);
int main(int n, char **words) { FILE *f = fopen(words[1], "a"); fprintf(f, "%d%d%d%p\\n", a < b, b < c, a < c, (void *)getenv("TARE_LAYOUT")); return n != 2; }
""")
subprocess.run(["cc", "-no-pie", "-fno-pie", "-c", "main.c", "a.c", "b.c", "c.c"], check=True)


def orders(*arguments):
    """The orders that the executions had; the report's text; the JSON."""
    log = os.path.abspath("orders.log")
    if os.path.exists(log):
        os.remove(log)
    seen = compare("--seed", "5", "-r", "12", "-e", EVENTS, "--export-json", "orders.json", *arguments, "--flags", "-O0", "--flags", "-O1", "--", "{out}", log, cwd=folder)
    with open(log, encoding="utf-8") as file:
        return [line[:3] for line in file], seen.out, json.load(open("orders.json", encoding="utf-8"))


BUILD = "cc {flags} -no-pie -o {out} main.o a.o b.o c.o"
had, text, data = orders("--randomise-layout", "--build", BUILD)
equal(len(had), 26, "each execution and warm-up writes a line")
ok(4 <= len(set(had)) <= 6, "executions run programs of several link orders", had)
ok("8 orders of 4 files when linking" in " ".join(text.split()), "the report says so", text)
equal(data["layout"], "stack addresses, and 8 orders of 4 files when linking", "so does JSON")
again, _, _ = orders("--randomise-layout", "--build", BUILD)
equal(again, had, "the same seed draws the same orders")
had, text, data = orders("--build", BUILD)
equal((set(had), data["layout"]), ({"111"}, None), "without --randomise-layout there is one order")
subprocess.run(["ar", "rc", "all.a", "a.o", "b.o", "c.o"], check=True)
for build, why in ((BUILD + " 2>/dev/null", "a shell reads the build command"), ("cc {flags} -no-pie -o {out} all.a main.o all.a", "fewer than two files")):
    had, text, data = orders("--randomise-layout", "--build", build)
    ok(set(had) == {"111"} and why in data["layout"], f"one order, and the report says why: {why}", data["layout"])

# ---- runs that were kept ----
kept = dict(ENV, TARE_STORE=os.path.abspath("store.db"))
on = "replay:" + write("plain.json", json.dumps({"tare_recording": 1, "after_last": "repeat", "events": [{"name": "instructions", "source": "hw"}],
                                                 "executions": [{"readings": {"instructions": 1000}}]}))
more = "replay:" + write("more.json", json.dumps({"tare_recording": 1, "after_last": "repeat", "events": [{"name": "instructions", "source": "hw"}],
                                                  "executions": [{"readings": {"instructions": 1020}}]}))
tare("count", "--on", on, "-e", "instructions", "-r", "3", "true", env=kept)
tare("count", "--on", more, "-e", "instructions", "-r", "3", "true", env=kept)
for gate, code in (("+1%", 1), ("+3%", 0)):
    seen = compare("@1", "@2", "--gate", f"instructions<{gate}", code=code, cwd=folder, env=kept)
ok("were not made in turns" in " ".join(seen.out.split()), "a note says that kept runs were not made in turns", seen)
seen = compare("@1", "@2", code=0, cwd=folder, env=kept)
ok("another machine" not in seen.out, "of one machine nothing is said", seen)
store = sqlite3.connect(kept["TARE_STORE"])
here = dict(zip(("host", "CPU", "kernel", "cpus"), store.execute("SELECT hostname, cpu, kernel, cpus FROM machines").fetchone()))
store.execute("INSERT INTO machines SELECT 77, " + ", ".join(f"'{c}2'" if c in ("hostname", "cpu", "kernel") else "cpus + 1" if c == "cpus" else c
              for c in [row[1] for row in store.execute("PRAGMA table_info(machines)")][1:]) + " FROM machines LIMIT 1")
store.execute("UPDATE runs SET machine = 77 WHERE id = 2")
store.commit()
said = (f"@2 was counted on another machine than @1: host ({here['host']}, hostname2), CPU ({here['CPU']}, cpu2), kernel ({here['kernel']}, kernel2), "
        f"number of CPUs ({here['cpus']}, {here['cpus'] + 1}); what differs may be the machine")
seen = compare("@1", "@2", code=0, cwd=folder, env=kept)
ok(said in " ".join(seen.out.split()), "kept runs of two machines: in what the machines differ", seen)
ok(said in json.loads(compare("@1", "@2", "--json", code=0, cwd=folder, env=kept).out)["notes"], "in JSON, too", said)
ok(said in " ".join(tare("report", "@last", env=kept).out.split()), "and in the comparison that was kept")
store.execute("UPDATE runs SET machine = (SELECT machine FROM runs WHERE id = 1) WHERE id = 2")
store.commit()
store.close()
seen = compare("@1", "true", "--on", more, "--gate", "instructions<+1%", code=1, cwd=folder, env=kept)
seen = compare("@2", "@1", "--gate", "cycles<+1%", code=3, cwd=folder, env=kept)
seen = compare("@nothing", "true", code=3, cwd=folder, env=kept)
ok("nothing" in seen.err, "a run that is not there is told", seen)
seen = compare("@1", "true", code=2, cwd=folder)
ok("switched off" in seen.err, "and that the store is switched off", seen)
listed = tare("list", "runs", env=kept)
ok(" compare " in listed.out, "a comparison's runs are kept", listed)

# ---- rates that mislead ----
names = ("instructions", "cycles")
executions = [{"readings": {"instructions": 1000, "cycles": 1000}}] * 4 + [{"readings": {"instructions": 3000, "cycles": 2000}}] * 4
log = os.path.join(folder, "order")
tare("compare", "-r", "4", "-w", "0", "-e", "page-faults", f"sh -c 'echo A >> {log}'", f"sh -c 'echo B >> {log}'")
order = read("order").split()
for a, b, misleads in (((1000, 1000), (3000, 2000), True), ((1000, 1000), (1000, 500), False), ((1000, 1000), (1000, 1000), False)):
    on = "replay:" + write("rates.json", json.dumps({"tare_recording": 1, "events": [{"name": n, "source": "hw"} for n in names],
        "executions": [{"readings": dict(zip(names, a if c == "A" else b))} for c in order]}))
    seen = tare("compare", "--on", on, "-r", "4", "-w", "0", "-m", "ipc", "-e", "cycles", "--json", "true", "true")
    rows = {row.get("metric", row.get("event")): row["commands"][1] for row in json.loads(seen.out)["rows"]}
    ok(rows["ipc"].get("misleading", False) == misleads, f"{b[0]} instructions in {b[1]} cycles after {a[0]} in {a[1]}: a misleading rate: {misleads}", seen)
done()
