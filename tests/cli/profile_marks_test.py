"""Reports between two marks of a program's regions: SpeedShop's caliper points. The program is in one function in each region, so that
samples of the others in a part are an error, however few samples there are."""
import json
import os
import subprocess
import sys

PROGRAM = os.path.abspath(sys.argv[2]) # importing cli changes the folder

from cli import *

FACT = "a report is of the time between two marks"
kept = ["profile", "-e", "task-clock", "-c", "100000", "--gaps", "fixed", "-o", "kept", "--", PROGRAM]
r = tare(*kept)
if "cannot sample" in r.err:
    skip("the kernel's clock cannot be sampled here", FACT)
    done()
equal(r.code, 0, "the program is profiled")
has(json.loads(tare("report", "--format", "json", "kept").out)["notes"][-1], "how often each begins: 'load' (1), 'step' (3), 'save' (1)", "the profile names the regions")


def functions(*options, file="kept"):
    """Of the program's three: those with samples."""
    table = json.loads(tare("report", "--format", "json", *options, file).out)
    return sorted({row["function"] for row in table["functions"] if row["function"] in ("loading", "stepping", "saving") and row["counts"][0]["self"]})



equal(functions(), ["loading", "saving", "stepping"], "without marks it is all of them")
for options, expected in ((["--to", "end:load"], ["loading"]), (["--from", "begin:load", "--to", "end:load"], ["loading"]),
                          (["--from", "begin:step:2", "--to", "end:step:2"], ["stepping"]), (["--from", "begin:step", "--to", "end:step:3"], ["stepping"]),
                          (["--from", "end:step:3"], ["saving"]), (["--from", "begin:step:3", "--to", "end:save"], ["saving", "stepping"])):
    equal(functions(*options), expected, f"{' '.join(options)}: {', '.join(expected)}")


def samples(*options):
    return json.loads(tare("report", "--format", "json", *options, "kept").out)["events"][0]["samples"]


parts = [samples("--to", "begin:step"), samples("--from", "begin:step", "--to", "begin:save"), samples("--from", "begin:save")]
equal(sum(parts), samples(), "parts that meet have all samples, each once")

for arguments, why in ((["--from", "begin:solve"], "there is no mark 'begin:solve'"), (["--from", "begin:step:4"], "the region has fewer passes"),
                       (["--from", "end:step", "--to", "begin:load"], "the mark of --to is not later"), (["--from", "soon"], "begin:REGION"),
                       (["--from", "begin:"], "begin:REGION")):
    r = tare("report", *arguments, "kept")
    ok(r.code == 2 and why in r.err, f"{' '.join(arguments)}: {why}", r.err)
has(tare("report", "--from", "begin:solve", "kept").err, "'load' (1), 'step' (3), 'save' (1)", "... and says which there are")

tare("profile", "-e", "task-clock", "-c", "1000000", "-o", "plain", "--", "/bin/true")
has(tare("report", "--from", "begin:load", "plain").err, "the program marked no region", "a program without libtare has no marks")
ok(not [name for name in os.listdir(os.environ.get("TMPDIR", "/tmp")) if name.startswith("tare-marks-") and
        os.path.getmtime(os.path.join(os.environ.get("TMPDIR", "/tmp"), name)) >= os.path.getmtime("kept")], "no file of marks is left")

# 12,000 passes: 5,000 of them have both marks
r = tare("profile", "-e", "task-clock", "-c", "1000000", "-o", "many", "--", PROGRAM, "12000")
has(json.loads(tare("report", "--format", "json", "many").out)["notes"][-1], "a process marks 10000 begins and ends at most", "more marks than a process may make are told of")
has(tare("report", "--from", "begin:step:6000", "many").err, "the region has fewer passes", "... and have no mark")
# several runs: each has its own times
r = tare("profile", "-r", "3", "-e", "task-clock", "-c", "100000", "--gaps", "fixed", "-o", "runs", "--", PROGRAM)
equal(functions("--from", "begin:step", "--to", "end:step:3", file="runs"), ["stepping"], "marks of several runs: each run's own")
# counted by tare's own means, the regions are not marked
equal(subprocess.run([PROGRAM], env={**os.environ, "TARE_MARKS": "/nowhere/marks"}, capture_output=True, text=True).stderr, "", "a file of marks that is gone is no matter")
done()
