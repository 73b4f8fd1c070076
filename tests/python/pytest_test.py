"""The pytest plugin: what is beyond its bound fails, what was not counted is an error, and neither passes; counts are alike each time.

Takes half a minute: each counted test is a Python and a pytest of its own, under the engine.
"""
import json
import os
import re
import subprocess
import sys

import package
from package import cli, tare

try:
    import pytest  # noqa: F401
except ImportError:
    cli.skip("python3-pytest is not installed", "the pytest plugin")
    cli.done()

TESTS = """
import pytest, subprocess, threading, unittest
import tare

def loop(n):
    for _ in range(n):
        pass

@pytest.mark.tare(instructions="<1e8")
def test_within(): loop(10000)

@pytest.mark.tare(instructions="<1000")
def test_beyond(): loop(10000)

@pytest.mark.tare({"instructions": ">1e8"}, loads="<1e8")
def test_too_few(): loop(10)

@pytest.mark.tare(instructions="<1e8")
def test_fails():
    print("its output")
    assert 1 == 2

@pytest.mark.tare(instructions="<1e8")
def test_skips(): pytest.skip("a reason")

@pytest.mark.tare(instructions="<1e8")
@pytest.mark.xfail
def test_xfails(): assert 0

@pytest.mark.tare(instructions="<1e8")
def test_thread():
    thread = threading.Thread(target=loop, args=(10,))
    thread.start()
    thread.join()

@pytest.mark.tare(instructions="<1e8", only_this_thread=True)
def test_thread_accepted():
    thread = threading.Thread(target=loop, args=(10,))
    thread.start()
    thread.join()

@pytest.mark.tare(instructions="<1e8")
def test_process(): subprocess.run(["true"], check=True)

@pytest.mark.tare(region="named", instructions="<1e8")
@pytest.mark.tare(region="beyond", instructions="<10")
def test_regions():
    with tare.region("named"): loop(10)
    with tare.region("beyond"): loop(10)

@pytest.mark.tare(region="absent", instructions="<1e8")
def test_no_region(): pass

@pytest.mark.tare(cycles="<1e8")
def test_not_here(): pass

@pytest.mark.tare(nonsense="<1e8")
def test_unknown(): pass

@pytest.mark.tare(instructions="1e8 or so")
def test_bad_bound(): pass

@pytest.mark.tare(instructions="<1e8", on="perf")
def test_bad_backend(): pass

@pytest.mark.tare(instructions="<1e8")
class TestUnit(unittest.TestCase):
    def test_unit(self): pass

@pytest.mark.tare
def test_no_bound(): pass

def test_plain(): pass
"""
cli.write("pytest.ini", "[pytest]\n")
cli.write("test_gates.py", TESTS)


def run(*arguments, **more):
    """pytest in the test's folder; its end, and {test: outcome} of its summary."""
    env = dict(os.environ, **more)
    done = subprocess.run([sys.executable, "-m", "pytest", "-p", "tare.pytest_plugin", "-p", "no:cacheprovider", "-rA", *arguments],
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, text=True, env=env, check=False)
    outcomes = dict((test, outcome) for outcome, test in re.findall(r"^(PASSED|FAILED|ERROR|XFAIL) [\w.]+::(\S+)", done.stdout, re.MULTILINE))
    return cli.Done(done.returncode, done.stdout, ""), outcomes


done, seen = run("test_gates.py")
cli.equal(done.code, 1, "pytest fails")
for test, outcome, part in (
        ("test_within", "PASSED", None),
        ("test_beyond", "FAILED", re.compile(r"tare: too much was counted: instructions:u [\d,]+, bound <1000")),
        ("test_too_few", "FAILED", re.compile(r"instructions:u [\d,]+, bound >1e8")),
        ("test_fails", "FAILED", "its output"),
        ("test_xfails", "XFAIL", None),
        ("test_thread", "ERROR", "other threads or processes ran (1)"),
        ("test_thread_accepted", "PASSED", None),
        ("test_process", "ERROR", "accept it: @pytest.mark.tare(..., only_this_thread=True)"),
        ("test_regions", "FAILED", re.compile(r"instructions:u [\d,]+, bound <10\n")),
        ("test_no_region", "ERROR", "region 'absent' was not counted: it was never entered"),
        ("test_not_here", "ERROR", None),
        ("test_unknown", "ERROR", "unknown event 'nonsense'"),
        ("test_bad_bound", "ERROR", "'1e8 or so' is not a bound on instructions"),
        ("test_bad_backend", "ERROR", "on='perf' does not count alike each time"),
        ("TestUnit::test_unit", "ERROR", "not those of unittest.TestCase"),
        ("test_no_bound", "ERROR", "there is no baseline"),
        ("test_plain", "PASSED", None)):
    cli.equal(seen.get(test), outcome, f"{test}: {outcome}")
    if part:
        cli.has(done.out, part, f"{test}: says why")
cli.has(done.out, "1 skipped", "a test that skips is skipped")
cli.has_not(done.out, "pytest_plugin.py:", "tracebacks show the test, not the plugin")

done, seen = run("test_gates.py", "--no-tare", "-k", "beyond or within or thread")
cli.equal(done.code, 0, "--no-tare runs marked tests without gates")
cli.has(done.out, "tare: 4 marked tests ran without being counted", "... and says so")
done, seen = run("test_gates.py", "-k", "within or plain", TARE_COMMAND="/nowhere/tare")
cli.equal((seen.get("test_within"), seen.get("test_plain")), ("ERROR", "PASSED"), "without the command tare, marked tests are errors")
cli.has(done.out, "cannot find the command '/nowhere/tare'", "... which say so")

BASE = """
import pytest

@pytest.fixture(scope="module")
def numbers():
    return list(range(%s))

@pytest.mark.tare
@pytest.mark.parametrize("kind", [str, hash])
def test_numbers(numbers, tmp_path, kind):
    (tmp_path / "file").write_text("x")
    assert {kind(number) for number in numbers}

def test_between(numbers): pass

@pytest.mark.tare(events="loads,stores", tolerance="0%%")
def test_loads(numbers): sum(numbers)
"""
cli.write("test_base.py", BASE % 1000)
os.mkdir("kept")  # counts depend on the names in the tests' own folder a little: Python reads them
done, seen = run("test_base.py", "--tare-baseline", "kept/base.json")
cli.equal((done.code, seen.get("test_numbers[str]"), seen.get("test_between")), (1, "ERROR", "PASSED"), "without the baseline's file, tests are errors")
cli.has(done.out, "there is no baseline", "... which say so")
done, seen = run("test_base.py", "--tare-baseline", "kept/base.json", "--tare-update")
cli.equal(done.code, 0, "--tare-update writes the baseline")
first = json.loads(cli.read("kept/base.json"))
cli.equal({test: list(regions[""]["counts"]) for test, regions in first["tests"].items()},
          {"test_base.py::test_numbers[str]": ["instructions"], "test_base.py::test_numbers[hash]": ["instructions"],
           "test_base.py::test_loads": ["loads", "stores"]}, "it has each event of each marked test")
done, seen = run("test_base.py", "--tare-baseline", "kept/base.json", "--tare-tolerance", "0%", "-k", "hash or loads")
cli.equal((done.code, seen.get("test_numbers[hash]"), seen.get("test_loads")), (0, "PASSED", "PASSED"),
          "counts are the same to the instruction, whatever tests ran before")
run("test_base.py", "--tare-baseline", "kept/again.json", "--tare-update", "-k", "numbers")
again = json.loads(cli.read("kept/again.json"))
cli.equal(again["tests"], {test: first["tests"][test] for test in again["tests"]}, "... and a second baseline is the same")

cli.write("test_base.py", BASE % 1500)
done, seen = run("test_base.py", "--tare-baseline", "kept/base.json")
cli.equal([seen.get(f"test_numbers[{kind}]") for kind in ("str", "hash")], ["FAILED", "FAILED"], "more work than in the baseline fails")
cli.has(done.out, re.compile(r"bound <=[\d,]+ of the baseline \+ 1 %"), "... and names the baseline")
done, seen = run("test_base.py", "--tare-baseline", "kept/base.json", "--tare-tolerance", "200%", "-k", "numbers")
cli.equal(done.code, 0, "... not within the tolerance")
cli.write("test_base.py", (BASE % 1000).replace("test_loads", "test_new"))
done, seen = run("test_base.py", "--tare-baseline", "kept/base.json", "-k", "new")
cli.equal(seen.get("test_new"), "ERROR", "a test that the baseline does not have is an error")
cli.has(done.out, "the baseline has no loads of this test", "... which says so")
done, _ = run("test_base.py", "--tare-baseline", "kept/base.json", "-k", "new", "--tare-update")
cli.equal(sorted(json.loads(cli.read("kept/base.json"))["tests"]), sorted([*first["tests"], "test_base.py::test_new"]), "an update keeps other tests' counts")
cli.write("test_base.py", (BASE % 1000).replace("assert {", "assert not {"))
before = cli.read("kept/base.json")
done, _ = run("test_base.py", "--tare-baseline", "kept/base.json", "--tare-update", "-k", "numbers")
cli.equal((done.code, cli.read("kept/base.json")), (1, before), "a test that fails is not in an update")

other = json.loads(before)
other["python"] = "CPython 2.7.18 x86_64"
cli.write("kept/other.json", json.dumps(other))
cli.write("test_base.py", BASE % 1000)
done, seen = run("test_base.py", "--tare-baseline", "kept/other.json", "-k", "str")
cli.equal(seen.get("test_numbers[str]"), "ERROR", "a baseline of another Python is an error")
cli.has(done.out, "the baseline is of CPython 2.7.18 x86_64, and this is", "... which names both")
for text, part in (("{", "is not JSON"), ("[]", "not of format 1"), ('{"tare_pytest": 2}', "not of format 1"),
                   ('{"tare_pytest": 1, "python": "x", "tests": {"a": 1}}', "has no 'counts'"),
                   ('{"tare_pytest": 1, "python": "x", "tests": {"a": {"": {"on": "exact", "counts": {"b": null}}}}}', "'b' of 'a'")):
    cli.write("kept/bad.json", text)
    done, _ = run("test_base.py", "--tare-baseline", "kept/bad.json")
    cli.equal(done.code, 4, f"a baseline that is none ends pytest with its usage error: {text[:24]}")
    cli.has(done.out, part, "... and says why")
done, _ = run("test_base.py", "--tare-update")
cli.equal(done.code, 4, "--tare-update without a file is a usage error")
cli.done()
