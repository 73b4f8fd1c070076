"""tare count --keep and tare cache: what is kept is seen and removed, and what cannot be kept is no trouble."""
import os
import re
import stat

from cli import done, environment, equal, has, has_not, ok, tare

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
equal(cache("list", "clear").code, 2, "two words are wrong usage")
done()
