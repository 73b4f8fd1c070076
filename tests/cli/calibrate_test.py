"""tare calibrate, what is kept of it, and what `tare count`, `tare doctor` and libtare's report make of it.

    calibrate_test.py TARE KERNELS PROGRAM       PROGRAM: tests/vm/regions_counted"""
import json
import os
import sys

KERNELS, PROGRAM = (os.path.abspath(path) for path in sys.argv[2:4])

from cli import *  # which goes to a folder of its own


def with_calibration(path, **more):
    return environment(**{"TARE_CALIBRATION": path, "TARE_KERNELS": KERNELS, **more})


def fnv1a(data):
    value = 0xcbf29ce484222325
    for byte in data:
        value = (value ^ byte) * 0x100000001b3 % 2**64
    return value


def kept(name, text):
    """A calibration file with its sum right."""
    data = text.encode()
    return write(name, data + f"[end]\nsum = {fnv1a(data):016x}\n".encode())


# ---- wrong usage ----
for arguments, part in [(["--processes", "1"], "processes"), (["--interfaces", "libary"], "'libary' is not one of command"),
                        (["-e", "no-such-event"], "unknown event 'no-such-event'"), (["--confidence", "90"], "neither 95 nor 99"),
                        (["--sideways"], "--sideways")]:
    seen = tare("calibrate", *arguments, env=with_calibration("none"))
    ok(seen.code == 2 and part in seen.err and not seen.out, f"'calibrate {' '.join(arguments)}' is wrong usage", seen)

# ---- measured and kept ----
path = os.path.join(os.getcwd(), "deep", "folder", "calibration")
seen = tare("calibrate", "-e", "page-faults,task-clock,l2-writebacks", "--processes", "5", "--", os.path.join(KERNELS, "pages"), "20",
            env=with_calibration(path))
ok(seen.code == 0 and not seen.err, "calibrate measures what works here", seen)
for part in ["tare count of an empty program", "libtare's regions, counters read by system call", "assembly stubs",
             "a region, the first", "an enter inside", "The noise floor: 'pages 20' against itself", f"in {path}"]:
    has(seen.out, part, f"it shows '{part}'")
ok(max(map(len, seen.out.replace(path, "").splitlines())) <= 80, "its tables fit a terminal of 80 columns", seen)
has(seen.out, re.compile(r"^Not calibrated.*l2-writebacks", re.M | re.S), "what does not work is said, with the reason")
has(read(path), re.compile(r"^event = task-clock\n(?:.*\n){1,2}interface = library\npart = region\npass = cold$", re.M), "the file has the rows")
ok(os.listdir(os.path.dirname(path)) == ["calibration"], "nothing else is left beside it", os.listdir(os.path.dirname(path)))

seen = tare("doctor", env=with_calibration(path))
has(seen.out, re.compile(r"works +calibration +[0-9a-f]{8}, \d+ seconds? old,\s+of 5\s+processes each|works +calibration .*of 5"),
    "doctor shows it, with its age")
has(seen.out, "The noise floor: 'pages 20' against itself", "and the noise floor")
doctor = json.loads(tare("doctor", "--json", env=with_calibration(path)).out)
floors = {floor["event"]: floor for floor in doctor["calibration"]["floors"]}
ok(floors["page-faults"]["runs"] == 50 and 20 <= floors["page-faults"]["mean"] <= 30 and floors["page-faults"]["floor"] < 0.2,
   "in JSON too: pages 20 has about as many faults, each time", doctor["calibration"])
before = read(path)
seen = tare("calibrate", "-e", "page-faults", "--processes", "2", "--interfaces", "command", "--dry-run", "--", "true",
            env=with_calibration(path))
ok(seen.code == 0 and read(path) == before and "Kept" not in seen.out, "--dry-run keeps nothing", seen)
seen = tare("calibrate", "-e", "page-faults", "--processes", "2", "--interfaces", "command", "--", "no-such-program",
            env=with_calibration(path))
ok(seen.code == 3 and read(path) == before, "what fails leaves the one before as it was", seen)
seen = tare("calibrate", "-e", "page-faults", "--processes", "2", "--interfaces", "command", "-o", "/dev/full/x", "--", "true",
            env=with_calibration(path))
ok(seen.code == 3 and "/dev/full" in seen.err and "a program" in seen.out, "where it cannot be kept it is shown, and that is said", seen)
seen = tare("calibrate", "-e", "page-faults", "--processes", "2", env=with_calibration(path, TARE_KERNELS="/nowhere"))
ok(seen.code in (0, 3) and (seen.code == 0 or "belongs to tare" in seen.err), "without tare's own programs it says so", seen)
tare("calibrate", "-e", "page-faults,task-clock", "--processes", "5", "--quick", env=with_calibration(path))

# ---- used: bounds ----
result = parsed(tare("count", "--on", "perf", "--json", "-o", "-", "-e", "page-faults", "-r", "2", os.path.join(KERNELS, "pages"), "50",
                     env=with_calibration(path)).out, "a count with a calibration")
faults = result["results"][0]
ok(0 < faults["bound"] <= 10 and faults["value"] > 45 and "tare" not in faults and len(faults["evidence"]) == 16,
   "page faults are not taken off: they have a bound, and the calibration as evidence", faults)
seen = tare("count", "--on", "perf", "-e", "page-faults", "--gross", os.path.join(KERNELS, "pages"), "50", env=with_calibration(path))
has(seen.err, re.compile(r"^  page-faults +5\d +≤ \d+ +-$", re.M), "--gross shows the bound")
result = parsed(tare("count", "--json", "-o", "-", "-e", "instructions:u", "--on", "exact", os.path.join(KERNELS, "loop"), "10",
                     env=with_calibration(path)).out, "an exact count")
if result:
    exact = result["results"][0]
    ok(exact["tare"] == 0 and exact["gross"] == exact["value"], "what the engine counts has a tare of 0", exact)

run = dict(TARE_EVENTS="page-faults,task-clock", TARE_OUTPUT="report")
subprocess.run([PROGRAM, "nested"], env=with_calibration(path, **run), check=True)
has(read("report"), re.compile(r"^# region 'outer': up to [1-9]\d* of its ns may be the measuring itself \(task-clock\)$", re.M),
    "libtare's report has bounds")
has(read("report"), re.compile(rf"subtracted .*: calibration {json.loads(tare('doctor', '--json', env=with_calibration(path)).out)['calibration']['id'][:8]}"),
    "and names the calibration")
has_not(read("report"), "tare: calibration", "but not the regions that it measures with")
subprocess.run([PROGRAM, "nested"], env=with_calibration(path, TARE_GROSS="1", **run), check=True)
has(read("report"), re.compile(r"entries +exits +gross +tare +net  event"), "TARE_GROSS=1 adds columns")
subprocess.run([PROGRAM, "nested"], env=with_calibration(path, TARE_FORMAT="csv", **run), check=True)
ok(every(len(line.split(",")) == 15 for line in read("report").splitlines() if not line.startswith("#")), "CSV has them always", read("report"))

# ---- not used ----
machine = doctor["machine"]
head = lambda kernel=machine["kernel"]: (
    f"[calibration]\nformat = 1\ntare = {tare('version').out.split()[1]}\ncpu = {machine['cpu']}\narchitecture = {os.uname().machine}\n"
    f"kernel = {kernel}\nfloor_command =\ncpus = {machine['cpus']}\nmade = 1700000000\nprocesses = 100\nconfidence = 0.95\n\n")
row = ("[overhead]\nevent = {event}\nunit = instructions\ninterface = command\npart = program\npass = warm\nconstant = yes\nn = 100\n"
       "mean = 50000\nhalf_width = 198.4\nsd = 1000\nmedian = 50000\nleast = 49000\nmost = 53000\n\n")
other = kept("other", head("Linux 2.4.0") + row.format(event="instructions"))
damaged = write("damaged", read(path)[:-30])
for name, file, part in [("of another kernel", other, "made under the kernel 'Linux 2.4.0'"), ("that is damaged", damaged, "cut short"),
                         ("that is none", write("empty", ""), "cut short"), ("that is switched off", "none", "switched off")]:
    text = " ".join(tare("doctor", env=with_calibration(file)).out.split())
    ok("partly calibration" in text and part in text, f"doctor says why a calibration {name} is not used", text)
    subprocess.run([PROGRAM, "nested"], env=with_calibration(file, **run), check=True)
    has(read("report"), re.compile(rf"^# counts are gross, .*{part}", re.M), f"libtare's report says it of one {name}")
seen = tare("doctor", "-v", env=with_calibration(os.path.join(os.getcwd(), "nowhere")))
has(seen.out, "run 'tare calibrate'", "without one, doctor says what to do")

# ---- used: net (recorded readings of a PMU; a recording uses a calibration that is named) ----
net = kept("net", head() + row.format(event="instructions"))
write("pmu.json", json.dumps({"tare_recording": 1, "events": [{"name": "instructions", "source": "hw"}],
                              "executions": [{"readings": {"instructions": 1000000}}]}))
write("small.json", json.dumps({"tare_recording": 1, "events": [{"name": "instructions", "source": "hw"}],
                                "executions": [{"readings": {"instructions": 51000}}]}))
arguments = ["-o", "-", "-e", "instructions", "true"]
result = parsed(tare("count", "--on", "replay:pmu.json", "--json", *arguments, env=with_calibration(net)).out, "a net count")
instructions = result["results"][0]
ok(instructions["value"] == 950000 and instructions["gross"] == 1000000 and instructions["tare"] == 50000,
   "instructions are net: gross less the calibration's mean", instructions)
text = tare("count", "--on", "replay:pmu.json", "--gross", *arguments, env=with_calibration(net)).out
has(text, re.compile(r"^  instructions +1,000,000 +50,000 +950,000$", re.M), "--gross shows gross, tare and net")
row = parsed(tare("count", "--on", "replay:pmu.json", "--statistics", "--json", *arguments, env=with_calibration(net)).out, "net statistics")["results"][0]
ok(row["min"] == row["median"] == row["max"] == 950000 and row["sd"] is None, "the statistics of the repetitions are net, too", row)
lines = tare("count", "--on", "replay:pmu.json", "--csv", *arguments, env=with_calibration(net)).out.splitlines()
columns = dict(zip(lines[0].split(","), lines[1].split(",")))
ok(columns["value"] == "950000" and columns["gross"] == "1000000" and columns["overhead"] == "50000" and columns["evidence"], "CSV has them",
   lines)
text = " ".join(tare("count", "--on", "replay:small.json", *arguments, env=with_calibration(net)).out.split())
has(text, "the program 'true' is too small to measure: 1000 instructions against an overhead of 50000 ± 1993.9; repeat it at least 1000 times",
    "a program that is too small is refused, with the number of repetitions that would do")
result = parsed(tare("count", "--on", "replay:small.json", "--json", *arguments, env=with_calibration(net)).out, "a refused count")
ok(result["results"][0]["value"] is None and result["results"][0]["gross"] == 51000, "it is no 0, and its gross count is there", result)
result = parsed(tare("count", "--on", "replay:pmu.json", "--json", *arguments, env=with_calibration(other)).out, "another kernel's")
ok(result["results"][0]["value"] == 1000000 and "tare" not in result["results"][0], "another kernel's takes nothing off", result)
text = tare("count", "--on", "replay:pmu.json", "--compat", "perfex", *arguments, env=with_calibration(net)).out
has_not(text, "950000", "perfex's listing stays gross, as perfex's was")
done()
