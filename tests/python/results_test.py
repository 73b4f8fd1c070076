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
error = raised(tare.Error, lambda: tare.count(["true"], events="nonsense", stdout=subprocess.PIPE, stderr=subprocess.STDOUT))
cli.ok(error is not None and "unknown event 'nonsense'" in error.text, "... also where standard error goes to the captured output", error)
error = raised(tare.Error, lambda: tare.count(["true"], events="nonsense", stderr=subprocess.DEVNULL))
cli.ok(error is not None and "discarded" in error.hint and "PIPE" in error.hint, "a message that was discarded is told, with what keeps it", error)
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
# comparisons
cli.tare("compare", "-r", "3", "--on", "exact", "-e", "instructions,cycles", "--gate", "instructions<1000%", "--export-json", "compare.json", "true", "ls /")
comparison = tare.read_comparison("compare.json")
cli.equal((comparison.commands, comparison.repetitions), (("A", "B"), 3), "a comparison has its commands")
first, second = comparison.rows["instructions"].commands
cli.ok(first.value > 1000 and first.verdict is None and second.verdict and second.difference == second.value - first.value,
       "a side has its value, and its difference from the first one", (first, second))
cli.equal(comparison.rows["instructions"]["B"], second, "a side is found by its command")
missing = comparison.rows["cycles"]["A"]
cli.ok(missing.value is None and missing.why and raised(tare.NotCounted, missing.required), "what was not counted is None, with its reason", missing)
cli.equal([gate.passed for gate in comparison.gates], [gate["outcome"] == "passed" for gate in comparison.data["gates"]], "gates have their outcome")

def marked(trust, source="hw"):
    data = copy(comparison.data)
    data["rows"][0]["commands"][0].update(trust=trust, source=source)
    return tare._comparisons.comparison_of(data).rows[0]


cli.equal([marked(trust).commands[0].mark for trust in ("verified", "biased", "refuted", "unverified")], ["✓", "~", "✗", ""], "a side has the mark of its trust")
cli.equal(marked("verified", "exact").commands[0].mark, "", "the engine's counts, always verified, have none")
cli.equal(str(marked("biased")), f"instructions:u [instructions]: A: {first.value:,}~; B: {second.value:,}, {second.verdict}", "a row is printed with the marks behind the values")
cli.has(str(missing), "A: not counted: ", "and what was not counted, with its reason")
cli.has(str(raised(tare.NotCounted, marked("refuted").commands[0].required)), "is refuted", "a refuted side is not required()")
data = copy(comparison.data)
data["version"] = 2
cli.write("bad.json", json.dumps(data))
cli.has(str(raised(tare.Error, lambda: tare.read_comparison("bad.json"))), "format 2", "another version of the format is refused")
cli.has(str(raised(tare.Error, lambda: tare.read_comparison("result.json"))), "not of 'tare compare'", "a count is not a comparison")
cli.has(str(raised(tare.Error, lambda: tare.read_count("compare.json"))), "not of 'tare count'", "a comparison is not a count")

# profiles
cli.tare("profile", "--on", "exact", "-e", "instructions", "-o", "kept.profile", "true")
cli.write("profile.json", cli.tare("report", "--format", "json", "kept.profile").out)
profile = tare.read_profile("profile.json")
cli.equal((profile.command, profile.events["instructions"].source, profile.events[0].gaps), (("true",), "exact", "none"), "a profile has its events")
cli.equal(sum(place.counts[0].self_count for place in profile.functions), profile.events[0].total, "its functions' exact counts add up to the event's total")
cli.ok(cli.every(place.function and 0 <= place.counts[0].share <= 1 for place in profile.functions), "functions have names and shares")
cli.equal((profile.events[0].trust, profile.events[0].mark), ("verified", ""), "the engine's events are verified, and have no mark")
data = copy(profile.data)
data["events"][0].update(trust="biased", source="hw", evidence="verification:3")
event = tare._profiles.profile_of(data).events[0]
cli.equal((event.trust, event.mark, event.evidence), ("biased", "~", "verification:3"), "an event has the mark of its counter, and the evidence")
del data["events"][0]["trust"], data["events"][0]["evidence"]
event = tare._profiles.profile_of(data).events[0]
cli.equal((event.trust, event.mark), ("unverified", ""), "of a tare that did not write it, nothing is verified")
data = copy(profile.data)
data["tare_profile"] = 2
cli.write("bad.json", json.dumps(data))
cli.has(str(raised(tare.Error, lambda: tare.read_profile("bad.json"))), "format 2", "another version of the format is refused")
cli.has(str(raised(tare.Error, lambda: tare.read_profile("result.json"))), "has no 'tare_profile'", "a count is not a profile")
cli.done()
