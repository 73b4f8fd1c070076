"""tare.count() and results as dataclasses: what was not counted is None with its reason, and what is not a result is an error."""
import json
import subprocess

import package
from package import cli, copy, raised, tare

result = tare.count(["true"], events=["instructions", "page-faults"], metrics="instructions-per-load-store", on="exact",
                    stdout=subprocess.DEVNULL)
found = result["instructions"]
cli.ok(isinstance(found.value, int) and found.value > 1000 and found.source == "exact", "a program's instructions are counted", found)
cli.equal(found.event, "instructions:u", "an event is found without its level, and named with it")
faults = result["page-faults"]
cli.equal((faults.value, faults.source, faults.counted), (None, "none", False), "what was not counted is None, not 0")
cli.has(faults.why, "the engine's own work", "... with tare's reason")
cli.has(str(raised(tare.NotCounted, faults.required)), "was not counted", "required() raises for it")
cli.has(str(faults), "not counted: not reported", "its text says so")
cli.equal((result.status, result.signal, result.command), (0, None, ("true",)), "a result has the command and how it ended")
cli.ok(raised(KeyError, lambda: result["cycles"]) is not None, "an event that was not asked for is a KeyError")

done = tare.count(["sh", "-c", "echo out; kill -9 $$"], events="instructions", on="exact", stdout=subprocess.PIPE)
cli.equal((done.status, done.signal), (None, 9), "a program that a signal ended has the signal")
cli.equal(done["instructions"].value, None, "... and no exact count")
cli.ok(done["instructions"].at_least > 1000, "... but a lower bound", done["instructions"])
several = tare.count(["true"], events="instructions", on="exact", repeat=2, reproducible=True)
cli.equal((several.repetitions_done, len(several["instructions"].runs)), (2, 2), "repeat= is -r")
parts = tare.count(["sh", "-c", "true & wait"], events="instructions", on="exact", options=["--per-process"])
cli.ok(len(parts.results) == 1 and len(parts.parts) == 2, "rows of processes are apart from the whole", parts)
cli.equal(sum(part.value for part in parts.parts), parts["instructions"].value, "... and add up to it")

error = raised(tare.Error, lambda: tare.count(["true"], events="nonsense", stderr=subprocess.PIPE))
cli.ok(error is not None and error.code == 2 and "unknown event 'nonsense'" in error.text, "what tare refuses is an error with its message", error)
error = raised(tare.Error, lambda: tare.count(["/nowhere/program"], events="instructions", stderr=subprocess.PIPE))
cli.ok(error is not None and "/nowhere/program" in error.text, "a program that is not there is an error", error)
cli.ok(raised(TypeError, lambda: tare.count("ls -l")) is not None, "a command line as a text is refused")

# files
cli.write("result.json", json.dumps(result.data))
cli.equal(tare.read_count("result.json"), result, "a file reads as the result that was written")
good = result.data


def refused(change, part, fact):
    data = copy(good)
    change(data)
    cli.write("bad.json", json.dumps(data))
    cli.has(str(raised(tare.Error, lambda: tare.read_count("bad.json"))), part, fact)


refused(lambda data: data.update(tare=2), "format 2", "another version of the format is refused")
refused(lambda data: data.update(tare=True), "'tare'", "a version that is no number is refused")
refused(lambda data: data.pop("tare"), "has no 'tare'", "a file without a version is refused")
refused(lambda data: data["results"][1].pop("why"), "no value and no reason", "a missing value without a reason is refused")
refused(lambda data: data["results"][0].update(value="1"), "'value' of the estimate of 'instructions:u'", "a value of another type is refused")
refused(lambda data: data["results"][0].update(value=True), "'value'", "true is not a number")
refused(lambda data: data["results"][0].update(why="x"), "a value, and a reason", "a value with a reason why there is none is refused")
refused(lambda data: data["results"][0].pop("trust"), "has no 'trust'", "an estimate without its trust is refused")
for text, part in ((b"", "not JSON"), (b"{\"tare\": 1", "not JSON"), (b"[]", "not a JSON object"), (b"\xff", "not JSON"),
                   (b"{\"tare\": NaN}", "not JSON"), (b"[" * 100000, "not JSON")):
    cli.write("bad.json", text)
    cli.has(str(raised(tare.Error, lambda: tare.read_count("bad.json"))), part, f"not a result: {text[:12]!r}")
cli.has(str(raised(tare.Error, lambda: tare.read_count("/nowhere/x"))), "cannot read '/nowhere/x'", "a file that is not there is an error")
data = copy(good)
data["results"][0]["new_member"] = 1
cli.write("newer.json", json.dumps(data))
cli.equal(tare.read_count("newer.json")["instructions"].data["new_member"], 1, "members that a newer tare adds are kept in 'data'")
refuted = copy(good["results"][0])
refuted.update(trust="refuted", evidence="law:x")
error = raised(tare.NotCounted, tare._results.estimate_of(refuted).required)
cli.has(str(error), "is refuted: law:x", "required() raises for a refuted count")
cli.done()
