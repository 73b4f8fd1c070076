"""tare count --keep and tare cache: what is kept is seen and removed, and what cannot be kept is no trouble."""
import os
import re
import shutil
import stat
import struct
import subprocess
import tempfile
import time

from cli import TARE, TIME_OUT_S, Done, done, environment, equal, finish, has, has_not, ok, skip, start, tare

HOME = os.path.abspath("home")
FOLDER = os.path.join(HOME, "tare/translations")


def cache(*arguments, **changes):
    return tare("cache", *arguments, env=environment(XDG_CACHE_HOME=HOME, TARE_CACHE=changes.pop("TARE_CACHE", None), **changes))


def count(*options, **changes):
    return tare("count", "--on", "exact", "-e", "instructions", *options, "--", "/bin/true",
                env=environment(XDG_CACHE_HOME=HOME, TARE_CACHE=changes.pop("TARE_CACHE", None), **changes))


seen = cache()
equal((seen.code, seen.out), (0, f"0 programs, 0 B in {FOLDER}\n"), "nothing is kept at first")
count()
ok(not os.path.exists(FOLDER), "without --keep nothing is kept")
seen = count("--keep")
equal(seen.code, 0, "a first run with --keep counts")
has(seen.err, re.compile(r"instructions:u\s+[0-9,]{5,}\s.*exact"), "... as ever")
seen = cache()
has(seen.out, re.compile(r"^ *[0-9.]+ k?M?B  \d{4}-\d\d-\d\d \d\d:\d\d  /\S*true\n1 program, [0-9.]+ k?M?B in ", re.M), "it keeps the program's translations")
equal(cache("list").out, seen.out, "list is the default")
has(cache("size").out, re.compile(r"^1 program, [0-9.]+ k?M?B in "), "size says how much it is")
files = os.listdir(FOLDER)
ok(len(files) == 1 and stat.S_IMODE(os.stat(os.path.join(FOLDER, files[0])).st_mode) == 0o600 and stat.S_IMODE(os.stat(FOLDER).st_mode) == 0o700,
   "file and folder are their owner's alone", files)
seen = count("--keep")
has(seen.err, re.compile(r"instructions:u\s+[0-9,]{5,}\s.*exact"), "a second run counts")
equal(os.listdir(FOLDER), files, "... and keeps nothing more")

path = os.path.join(FOLDER, files[0])
with open(path, "r+b") as file:
    file.seek(5000)
    file.write(b"\xcc" * 5000)
seen = count("--keep")
equal(seen.code, 0, "a damaged file is not used")
has(seen.err, re.compile(r"instructions:u\s+[0-9,]{5,}\s.*exact"), "... and the program is counted")
with open(path, "rb") as file:
    ok(b"\xcc" * 5000 not in file.read(), "... and it is replaced")
has(cache("clear").out, re.compile(r"^removed: 1 program, [0-9.]+ k?M?B in "), "clear removes it")
equal(os.listdir(FOLDER), [], "... and leaves nothing")
has(cache().out, "0 programs, 0 B", "... as list says")

# what cannot be kept costs nothing but time
for what, place in (("a file in the folder's place", "file"), ("a folder that is not to be", "/proc/none")):
    if place == "file":
        with open("file", "w", encoding="ascii"):
            pass
        place = os.path.abspath(place)
    seen = count("--keep", TARE_CACHE=place)
    equal(seen.code, 0, f"{what}: the program is counted")
    has_not(seen.err, "cache", "... without a message")
os.mkdir("open")
os.chmod("open", 0o755)
place = os.path.abspath("open")
equal(count("--keep", TARE_CACHE=place).code, 0, "a folder that others may read: the program is counted")
equal(os.listdir("open"), [], "... and nothing is put there")
seen = cache(TARE_CACHE=place)
equal(seen.code, 3, "tare cache says why")
has(seen.err, "is not a folder that only its owner, this user, may use", "... it is not the user's alone")
has(seen.err, f"chmod 700 {place}", "... and what to do")
equal(count("--keep", TARE_CACHE="none").code, 0, "TARE_CACHE=none: the program is counted")
seen = cache(TARE_CACHE="none")
equal(seen.code, 3, "... and tare cache has none")
has(seen.err, "switched off", "... which it says")

seen = cache("remove")
equal(seen.code, 2, "another word is wrong usage")
has(seen.err, "does not know 'remove'", "... which is told")
has(seen.err, "tare cache clear", "... with what there is")
seen = cache("list", "clear")
equal(seen.code, 2, "two words are wrong usage")
has(seen.err, "remove 'clear'", "... and it says which to remove")

# ---- a program whose instructions are known: it writes a byte, waits for one or the end of its input, and counts down ----
FIXED, MOVABLE = 0x10000000, 0  # where it is linked to
ROUNDS = 14  # and two for each round


def program(name, rounds, address=FIXED):
    """Makes that executable; its path."""
    code = (bytes.fromhex("b801000000 bf01000000 4889e6 ba01000000 0f05"  # write(1, rsp, 1)
                          "31c0 31ff 4889e6 ba01000000 0f05"              # read(0, rsp, 1)
                          "b9") + struct.pack("<I", rounds) +             # mov ecx, rounds
            bytes.fromhex("ffc9 75fc"                                     # dec ecx; jnz
                          "b83c000000 31ff 0f05"))                        # exit(0)
    head = 64 + 2 * 56
    size = head + len(code)
    image = (b"\x7fELF\2\1\1" + bytes(9) + struct.pack("<HHIQQQIHHHHHH", 2 if address else 3, 62, 1, address + head, 64, 0, 0, 64, 56, 2, 0, 0, 0) +
             struct.pack("<IIQQQQQQ", 1, 5, 0, address, address, size, size, 4096) +      # PT_LOAD, to be read and executed
             struct.pack("<IIQQQQQQ", 0x6474e551, 6, 0, 0, 0, 0, 0, 16) + code)           # PT_GNU_STACK, not executable
    with open(name, "wb") as file:
        file.write(image)
    os.chmod(name, 0o755)
    return os.path.abspath(name)


def truth(rounds):
    return ROUNDS + 2 * rounds


def instructions(seen):
    found = re.search(r"instructions:u\s+([0-9,]+)\s.*exact", seen.err)
    return int(found[1].replace(",", "")) if found and seen.code == 0 else str(seen)


def arguments(path, *options):
    return ["count", "--on", "exact", "-e", "instructions", *options, "--", path]


def counted(path, *options, **changes):
    return instructions(tare(*arguments(path, *options), env=environment(**{"TARE_CACHE": FOLDER, **changes})))


def kept(folder=FOLDER):
    """The files there, by their numbers: a run that uses what is kept writes none, one that cannot writes another."""
    return {name: os.stat(os.path.join(folder, name)).st_ino for name in sorted(os.listdir(folder))} if os.path.isdir(folder) else {}


def empty():
    cache("clear", TARE_CACHE=FOLDER)


for kind, address in (("a program", FIXED), ("a position-independent program", MOVABLE)):
    path = program("victim", 1000, address)
    equal([counted(path), counted(path, "--keep")], [truth(1000)] * 2, f"{kind}: as many instructions when it is kept")
    before = kept()
    equal((len(before), counted(path, "--keep"), kept()), (1, truth(1000), before), "... and when what is kept is used")
    old = os.stat(path)
    with open(path, "rb") as file:
        changed = file.read().replace(struct.pack("<I", 1000), struct.pack("<I", 3000))
    with open(path, "r+b") as file:
        file.write(changed)
    os.utime(path, ns=(old.st_atime_ns, old.st_mtime_ns))
    new = os.stat(path)
    equal((new.st_size, new.st_mtime_ns, new.st_ino), (old.st_size, old.st_mtime_ns, old.st_ino), f"{kind} is changed, with the same size, time and number")
    equal(counted(path, "--keep"), truth(3000), "... and counted as it is now")
    again = kept()
    ok(len(again) == 1 and again != before, "... what was kept of it is not used, but replaced", (before, again))
    equal((counted(path, "--keep"), kept()), (truth(3000), again), "... and used from then on")
    empty()

path = program("victim", 1000)
os.link(path, "twin")
twin = os.path.abspath("twin")
equal([counted(p, "--keep") for p in (path, twin, path, twin)], [truth(1000)] * 4, "two names of one file are counted alike")
equal(len(kept()), 2, "... and kept apart")
os.replace(program("fresh", 2000), twin)
equal([counted(p, "--keep") for p in (path, twin, path, twin)], [truth(1000), truth(2000)] * 2, "... also when one of them becomes another file")
empty()


# ---- what happens to the program's file while it runs ----
def while_it_runs(path, change):
    run = start(*arguments(path, "--keep"), stdin=subprocess.PIPE, env=environment(TARE_CACHE=FOLDER))
    run.stdout.read(1)
    change()
    run.stdin.write(b"x")
    run.stdin.close()
    run.stdin = None
    return instructions(finish(run))


def write_text(name):
    with open("text", "w", encoding="ascii") as file:
        file.write("no program\n")
    os.replace("text", name)


for again in ("not kept before", "kept before"):
    for what, change, after in (("is replaced", lambda: os.replace(program("fresh", 2000), path), truth(2000)),
                                ("becomes a text", lambda: write_text(path), None),
                                ("is removed", lambda: os.unlink(path), None)):
        path = program("victim", 1000)
        if again == "kept before":
            counted(path, "--keep")
        equal(while_it_runs(path, change), truth(1000), f"a program, {again}, that {what} while it runs is counted as it was")
        if after:
            equal([counted(path, "--keep"), counted(path, "--keep")], [after] * 2, "... and what takes its place as that is")
        program("victim", 4000)
        equal([counted(path, "--keep"), counted(path, "--keep")], [truth(4000)] * 2, "... and so is the next one of its name")
        empty()

# ---- what a writer leaves that is killed ----
path = program("victim", 1000)
counted(path, "--keep")
name = next(iter(kept()))
with open(os.path.join(FOLDER, name), "rb") as file:
    whole = file.read()
for length in (0, 1, 255, 256, 300, len(whole) // 2, len(whole) - 1):
    with open(os.path.join(FOLDER, name), "wb") as file:
        file.write(whole[:length])
    before = kept()
    right = counted(path, "--keep") == truth(1000) and kept() != before
    ok(right and list(kept()) == [name], f"of a file that ends after {'all but one' if length == len(whole) - 1 else length} bytes nothing is used", kept())
empty()
began = time.monotonic()
counted(path, "--keep")
takes = time.monotonic() - began
wrong = []
for step in range(12):
    empty()
    writer = start(*arguments(path, "--keep"), env=environment(TARE_CACHE=FOLDER), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    time.sleep(takes * step / 10)
    writer.kill()
    writer.wait()
    left = kept()
    seen = counted(path, "--keep"), counted(path, "--keep"), cache(TARE_CACHE=FOLDER).code
    if seen != (truth(1000), truth(1000), 0) or name not in kept():
        wrong.append((step, left, seen))
equal(wrong, [], "a run with --keep that is killed, early or late, leaves nothing that is used wrongly")
empty()
equal(kept(), {}, "... and nothing that clear does not remove")

runs = [start(*arguments(path, "--keep"), env=environment(TARE_CACHE=FOLDER)) for _ in range(8)]
equal([instructions(finish(run)) for run in runs], [truth(1000)] * 8, "eight runs at once are counted alike")
before = kept()
equal((list(before), counted(path, "--keep"), kept()), ([name], truth(1000), before), "... and one file is left, which is used")
empty()

# ---- what does not go with it ----
for what, options in (("places", ["--by", "function"]), ("a model", ["--on", "model:pentium", "-e", "l1d-misses"]),
                      ("a fixed machine", ["--reproducible", "--cpu", "host"]), ("basic blocks", ["-e", "basic-blocks"])):
    seen = tare(*arguments(path, "--keep", *options), env=environment(TARE_CACHE=FOLDER))
    equal((seen.code, kept()), (0, {}), f"with {what} nothing is kept")
    has(seen.err, "--keep does nothing for", "... which a note says")
seen = tare(*arguments(path, "--keep", "-r", "3"), env=environment(TARE_CACHE=FOLDER))
equal((seen.code, list(kept())), (0, [name]), "what runs several times is kept")
has(seen.err, re.compile(rf"instructions:u\s+{truth(1000):,}\s"), "... and each run counted alike")
has_not(seen.err, "--keep", "... and there is nothing to say")
empty()
for what, options, text in (("a running process", ["-p", str(os.getpid()), "--for", "0.1"], "--keep is for programs that tare starts"),
                            ("basic blocks in a file", ["--blocks", "blocks", "--", path], "--keep does not go with --blocks")):
    seen = tare("count", "--keep", *options)
    equal(seen.code, 2, f"{what} and --keep are wrong usage")
    has(seen.err, text, "... which is told")
long = os.path.join(os.getcwd(), *["x" * 100] * 3)
os.makedirs(long)
equal([counted(program(long + "/victim", 1000), "--keep"), kept()], [truth(1000), {}], "a program whose path is too long is counted, and not kept")

# ---- places where nothing can be kept ----
nowhere = {"TARE_CACHE": None, "XDG_CACHE_HOME": None, "HOME": None}
equal(counted(path, "--keep", **nowhere), truth(1000), "without a home the program is counted")
seen = tare("cache", env=environment(**nowhere))
equal(seen.code, 3, "... and tare cache has none")
has(seen.err, "HOME is not set", "... and says why")


def in_namespace(script):
    """A shell script as root of namespaces of its own, or None where that is not possible."""
    command = ["unshare", "-m"] if os.geteuid() == 0 else ["unshare", "-rm"]
    try:
        if subprocess.run([*command, "mount", "-t", "tmpfs", "-o", "size=64k", "none", "/mnt"], capture_output=True, check=False).returncode:
            return None
        seen = subprocess.run([*command, "sh", "-c", script], capture_output=True, env=environment(TARE_CACHE=None, XDG_CACHE_HOME=None, HOME="/mnt"),
                              timeout=TIME_OUT_S, check=False)
    except FileNotFoundError:
        return None
    return Done(seen.returncode, seen.stdout.decode(), seen.stderr.decode())


COUNT = "'" + "' '".join([TARE, *arguments(path, "--keep", "-o", "-")]) + "' </dev/null | grep -ac 'instructions:u  *" + f"{truth(1000):,} '"
LIST = "find /mnt -name '*.kept' -o -name '*.new' | wc -l"
FACT = "on a full disk the program is counted and nothing left, and kept when there is room"
seen = in_namespace(f"mount -t tmpfs -o size=64k,mode=700 none /mnt; mkdir -p -m 700 /mnt/.cache/tare/translations; dd if=/dev/zero of=/mnt/fill bs=1k 2>/dev/null; "
                    f"{COUNT}; {LIST}; rm /mnt/fill; {COUNT}; {LIST}; {COUNT}")
if seen:
    equal(seen.out.split(), ["1", "0", "1", "1", "1"], FACT)
else:
    skip("no mount namespaces here", FACT)
FACT = "in a home that is read-only the program is counted, and nothing is told"
seen = in_namespace(f"mount -t tmpfs -o ro,mode=700 none /mnt; {COUNT}; {LIST}")
if seen:
    equal((seen.out.split(), seen.err), (["1", "0"], ""), FACT)
else:
    skip("no mount namespaces here", FACT)

# ---- two users ----
FACT = "a user has nothing of what another keeps, and gives nothing"
if os.geteuid() != 0:
    skip("needs root, to be two users", FACT)
else:
    NOBODY = 65534
    shared = tempfile.mkdtemp(prefix="tare-nobody-")
    os.chmod(shared, 0o755)
    shutil.copy(TARE, shared + "/tare")
    path = program(shared + "/victim", 1000)
    home = shared + "/home"
    os.mkdir(home)
    os.chown(home, NOBODY, NOBODY)
    theirs = home + "/.cache/tare/translations"

    def as_nobody(**changes):
        seen = subprocess.run([shared + "/tare", *arguments(path, "--keep")], user=NOBODY, group=NOBODY, extra_groups=[], cwd="/", stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, env=environment(**{"TARE_CACHE": None, "XDG_CACHE_HOME": None, "HOME": home, **changes}), check=False)
        return instructions(Done(seen.returncode, seen.stdout, seen.stderr))

    equal((counted(path, "--keep", TARE_CACHE=None, XDG_CACHE_HOME=None, HOME=home), os.listdir(home)), (truth(1000), []), "root leaves nothing in a user's home")
    seen = tare("cache", env=environment(TARE_CACHE=None, XDG_CACHE_HOME=None, HOME=home))
    equal(seen.code, 3, "... and has no cache there")
    has(seen.err, f"'{home}' belongs to another user", "... which tare cache says")
    equal((as_nobody(), len(kept(theirs))), (truth(1000), 1), "the user keeps it")

    def looked_at(folder):
        """When the one file there was used, which each run that opens it changes, and its number."""
        found = os.stat(os.path.join(folder, next(iter(kept(folder)), "none")))
        return len(kept(folder)), found.st_mtime, found.st_ino

    def make_old(folder):
        os.utime(os.path.join(folder, next(iter(kept(folder)), "none")), (1000, 1000))
        return looked_at(folder)

    before = make_old(theirs)
    equal((counted(path, "--keep", TARE_CACHE=theirs), looked_at(theirs)), (truth(1000), before), "root does not use the user's folder, nor write to it")
    equal((as_nobody(), looked_at(theirs)[2]), (truth(1000), before[2]), "... the user does")
    ok(looked_at(theirs) != before, "... and that is seen", before)
    ours = shared + "/ours"
    counted(path, "--keep", TARE_CACHE=ours)
    before = make_old(ours)
    equal((as_nobody(TARE_CACHE=ours), looked_at(ours)), (truth(1000), before), FACT)
    shutil.rmtree(shared)
done()
