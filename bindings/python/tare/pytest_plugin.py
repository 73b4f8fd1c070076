# SPDX-License-Identifier: MIT
"""pytest: @pytest.mark.tare gates tests on what they count. See tare-python(3).

A marked test runs in a process of its own, under 'tare count --on exact --reproducible', with the test function as a region. That
process is a pytest with this one test (--tare-child); it hands its reports back in a file, and the count comes from tare's JSON. So
a count does not depend on which tests ran before.

A test whose count is beyond its bound fails. A test that was not counted is an error. Neither passes.
"""
import contextlib
import fcntl
import gc
import hashlib
import json
import os
import shutil
import stat
import subprocess
import sys
import tempfile

import pytest

from . import _command, _gates, _results
from ._library import Error
from ._regions import region

REGION = "pytest: the test"
PROPERTY = "tare"  # in a report's user_properties: what was counted, as JSON
MARK_LINE = ("tare(events=None, region=None, on='exact', tolerance=None, only_this_thread=False, EVENT=BOUND...): count the test under tare's engine; "
             "fail if a count is beyond its bound, such as instructions='<1e6', or above the baseline")
OPTIONS = ("events", "region", "on", "tolerance", "only_this_thread")


def pytest_addoption(parser):
    group = parser.getgroup("tare", "counts of tests, by tare")
    group.addoption("--tare-baseline", metavar="FILE", help="compare tests marked 'tare' that have no bound with the counts in this file")
    group.addoption("--tare-update", action="store_true", help="write the counts of this run into the baseline")
    group.addoption("--tare-tolerance", metavar="PERCENT", help="how far a count may be above the baseline (default: 1%%)")
    group.addoption("--no-tare", action="store_true", help="run tests marked 'tare' without counting them: nothing is gated")
    group.addoption("--tare-args", metavar="ARGS", help="further arguments for the pytest that runs a counted test")
    group.addoption("--tare-child", metavar="FILE", help="(used by the plugin itself: run one test, and write its reports into FILE)")
    group.addoption("--tare-test", metavar="ID", help="(used by the plugin itself: the test)")
    parser.addini("tare_baseline", "the file of --tare-baseline, from the root folder")
    parser.addini("tare_tolerance", "as --tare-tolerance", default="1%")
    parser.addini("tare_args", "as --tare-args", type="args")


def pytest_configure(config):
    config.addinivalue_line("markers", MARK_LINE)
    if config.getoption("tare_child"):
        config.pluginmanager.register(Child(config), "tare-child")
    else:
        config.pluginmanager.register(Parent(config), "tare-parent")


class Wanted:
    """What one mark asks for."""

    def __init__(self, mark, tolerance):
        named = dict(mark.kwargs)
        self.region = named.pop("region", None)
        self.on = named.pop("on", "exact")
        self.only_this_thread = named.pop("only_this_thread", False)
        own = named.pop("tolerance", None)
        self.tolerance = tolerance if own is None else _gates.share_of(own)
        events = named.pop("events", ())
        self.unbound = [event.strip() for event in (events.split(",") if isinstance(events, str) else events)]
        if len(mark.args) > 1 or (mark.args and not isinstance(mark.args[0], dict)):
            raise Error("pytest.mark.tare takes one dictionary of bounds, or bounds by name", "write tare(instructions='<1e6')")
        bounds = {**(mark.args[0] if mark.args else {}), **{event.replace("_", "-"): bound for event, bound in named.items()}}
        self.bounds = {event: _gates.bound_of(event, bound) for event, bound in bounds.items()}
        if not self.bounds and not self.unbound:
            self.unbound = ["instructions"]
        if not (isinstance(self.on, str) and (self.on == "exact" or self.on.startswith("model:"))):
            raise Error(f"pytest.mark.tare: on={self.on!r} does not count alike each time", "use on='exact' or on='model:MACHINE'")
        if self.region is not None and not (isinstance(self.region, str) and self.region):
            raise Error(f"pytest.mark.tare: region={self.region!r} is not the name of a region")

    @property
    def events(self):
        return [*self.bounds, *self.unbound]


class Child:
    """In the process that is counted: runs the one test inside of a region, and writes its reports."""

    def __init__(self, config):
        self.config, self.test = config, config.getoption("tare_test")
        self.region = region(REGION)
        self.file = open(config.getoption("tare_child"), "w", encoding="utf-8")

    def _write(self, kind, data):
        self.file.write(json.dumps({"kind": kind, "data": data}, default=repr) + "\n")
        self.file.flush()

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items):
        items[:] = [item for item in items if item.nodeid == self.test]

    @pytest.hookimpl(tryfirst=True)
    def pytest_pyfunc_call(self, pyfuncitem):
        """The last hook before pytest calls the function: what other plugins made of it is inside."""
        function, inside = pyfuncitem.obj, self.region

        def counted(**arguments):
            __tracebackhide__ = True
            # the test's garbage collections depend on what it allocates, not on what came before
            gc.collect()
            gc.freeze()
            before = _process_id_now()
            try:
                with inside:
                    return function(**arguments)
            finally:
                after = _process_id_now()
                self._write("ids", {"pid": os.getpid(), "before": before, "after": after, "alive": len(os.listdir("/proc/self/task"))})
        pyfuncitem.obj = counted

    def pytest_runtest_logreport(self, report):
        self._write("report", self.config.hook.pytest_report_to_serializable(config=self.config, report=report))


def _process_id_now():
    """An id between those of threads and processes that began before this and after: a process that ends at once has it."""
    pid = os.fork()
    if pid == 0:
        os._exit(0)
    os.waitpid(pid, 0)
    return pid


class Outcome:
    """What a counted run of a test came to."""

    def __init__(self):
        self.reports, self.ids, self.count, self.output, self.status = [], None, None, "", None


class Parent:
    """In the pytest that the user started."""

    def __init__(self, config):
        self.config = config
        self.ungated, self.counted, self.better = 0, 0, []
        self.baseline, self.problem = None, None
        path = config.getoption("tare_baseline")
        if path:
            path = os.path.join(config.invocation_params.dir, path)
        elif config.getini("tare_baseline"):
            path = os.path.join(config.rootpath, config.getini("tare_baseline"))
        self.update = config.getoption("tare_update")
        try:
            self.tolerance = _gates.share_of(config.getoption("tare_tolerance") or config.getini("tare_tolerance"))
            if path:
                self.baseline = _gates.Baseline.read(path)
        except Error as error:
            raise pytest.UsageError(f"tare: {error}") from None
        if self.update and not self.baseline:
            raise pytest.UsageError("tare: --tare-update has no file to write: also use --tare-baseline FILE")
        if self.update and config.getoption("no_tare"):
            raise pytest.UsageError("tare: --tare-update counts, and --no-tare does not")

    # ---- one test ----

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_protocol(self, item, nextitem):
        marks = list(item.iter_markers("tare"))
        if not marks or self.config.getoption("setuponly", False) or self.config.getoption("setupplan", False):
            return None
        if self.config.getoption("no_tare"):
            self.ungated += 1
            return None
        item.ihook.pytest_runtest_logstart(nodeid=item.nodeid, location=item.location)
        for report in self._reports(item, marks):
            item.ihook.pytest_runtest_logreport(report=report)
        # fixtures that tests before this one left for it and that the next one does not use
        end = pytest.CallInfo.from_call(lambda: item.session._setupstate.teardown_exact(nextitem), when="teardown")
        if end.excinfo:
            item.ihook.pytest_runtest_logreport(report=pytest.TestReport.from_item_and_call(item, end))
        item.ihook.pytest_runtest_logfinish(nodeid=item.nodeid, location=item.location)
        return True

    def _reports(self, item, marks):
        try:
            wanted = [Wanted(mark, self.tolerance) for mark in marks]
            if len({want.on for want in wanted}) > 1:
                raise Error("the marks 'tare' of one test name different backends (on=)", "use the same one in each")
            outcome = self._run(item, wanted)
            called = [report for report in outcome.reports if report.when == "call"]
            if not outcome.reports:
                raise Error(f"the counted run did not reach the test (status {outcome.status})", outcome.output.strip())
            if len(called) == 1 and all(report.outcome == "passed" for report in outcome.reports):
                self._judge(item, wanted, outcome, called[0])
            elif all(report.outcome == "passed" for report in outcome.reports):
                raise Error(f"the test was called {len(called)} times in one run, so that there is no count of one call")
            return outcome.reports
        except Error as error:
            return [pytest.TestReport(item.nodeid, item.location, {}, "failed", f"tare: {error}", "setup")]

    def _run(self, item, wanted):
        """Runs the test in a process of its own, under tare."""
        outcome = Outcome()
        with _folder_of(item.nodeid) as folder:
            reports, result = os.path.join(folder, "reports"), os.path.join(folder, "result")
            events = list(dict.fromkeys(event for want in wanted for event in want.events))
            arguments = _command.count_arguments(events, on=wanted[0].on, reproducible=True,
                                                 options=["--no-store", "--per-thread", "--json", "-o", result])
            done = subprocess.run([_command.command(), "count", *arguments, "--", *self._child_command(item, reports, folder)],
                                  cwd=self.config.invocation_params.dir, env=_child_environment(), stdin=subprocess.DEVNULL,
                                  stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
            outcome.status, outcome.output = done.returncode, done.stdout.decode(errors="replace")
            if os.path.exists(reports):
                with open(reports, encoding="utf-8") as file:
                    for line in file:
                        self._take(outcome, line)
            if _command.wrote(result):
                outcome.count = _results.read_count(result)
        return outcome

    def _take(self, outcome, line):
        try:
            told = json.loads(line)
        except ValueError:
            raise Error("the counted run ended while it wrote its reports", outcome.output.strip()) from None
        if told["kind"] == "ids":
            outcome.ids = told["data"]
        else:
            report = self.config.hook.pytest_report_from_serializable(config=self.config, data=told["data"])
            if isinstance(report.longrepr, list):  # of a skip a tuple, which JSON does not have
                report.longrepr = tuple(report.longrepr)
            report.user_properties = [tuple(pair) for pair in report.user_properties]
            outcome.reports.append(report)

    def _child_command(self, item, reports, folder):
        """pytest with this one test, and with the options that change how a test is found and run."""
        option, plugins = self.config.option, self.config.pluginmanager
        path, separator, rest = item.nodeid.partition("::")
        arguments = [sys.executable, "-m", "pytest", "--tare-child", reports, "--tare-test", item.nodeid,
                     "--rootdir", str(self.config.rootpath), "-o", "cache_dir=" + os.path.join(folder, "cache"),
                     "--basetemp", os.path.join(folder, "tmp")]
        if self.config.inipath:
            arguments += ["-c", str(self.config.inipath)]
        for flag, values in (("-p", option.plugins), ("-o", option.override_ini), ("-W", option.pythonwarnings)):
            for value in values or ():
                arguments += [flag, value]
        arguments += ["--import-mode", option.importmode] if option.importmode else []
        arguments += ["--confcutdir", option.confcutdir] if option.confcutdir else []
        arguments += ["--noconftest"] if option.noconftest else []
        arguments += self.config.getini("tare_args") + (option.tare_args or "").split()
        # what 'addopts' may ask for, and would select other tests, start workers, or be in the count
        arguments += ["-k", "", "-m", ""] + (["-n0"] if plugins.hasplugin("xdist") else []) + (["--no-cov"] if plugins.hasplugin("_cov") else [])
        return arguments + [str(item.path) + separator + rest]

    # ---- its counts ----

    def _judge(self, item, wanted, outcome, report):
        if outcome.count is None:
            raise Error("tare wrote no result of the counted run", outcome.output.strip())
        verdicts, kept = [], []
        for want in wanted:
            counted = _region_counted(outcome, want)
            estimates = {event: counted.results[event] for event in want.events}
            for event, bound in want.bounds.items():
                verdicts.append(bound.judge(estimates[event]))
            for event in want.unbound:
                if not self.baseline:
                    raise Error(f"the mark 'tare' has no bound on {event}, and there is no baseline",
                                f"give it one, as {event}='<1e6', or use --tare-baseline FILE (the first time with --tare-update)")
                estimates[event].required()
                if not self.update:
                    bound = self.baseline.bound(item.nodeid, want.region or "", event, want.on, want.tolerance)
                    verdicts.append(bound.judge(estimates[event]))
            kept.append({"test": item.nodeid, "region": want.region or "", "on": want.on, "kept": list(want.unbound),
                         "counts": {event: estimate.value for event, estimate in estimates.items()}})
        report.user_properties.append((PROPERTY, json.dumps(kept)))
        untold = [why for verdict, why in verdicts if verdict == _gates.NOT_TOLD]
        if untold:
            raise Error("\n".join(untold))
        failed = [why for verdict, why in verdicts if verdict == _gates.FAILED]
        if failed:
            report.outcome, report.longrepr = "failed", "\n".join(f"tare: too much was counted: {why}" for why in failed)

    @pytest.hookimpl(trylast=True)
    def pytest_runtest_logreport(self, report):
        """With xdist this is also called in the process that has the terminal: there, all counts come together."""
        if hasattr(self.config, "workerinput"):
            return
        for name, value in report.user_properties:
            if name == PROPERTY:
                self.counted += 1
                for kept in json.loads(value) if self.update and report.outcome == "passed" else ():
                    if kept["kept"]:
                        self.baseline.set(kept["test"], kept["region"], kept["on"], {event: kept["counts"][event] for event in kept["kept"]})

    def pytest_sessionfinish(self):
        if self.update and not hasattr(self.config, "workerinput"):
            try:
                self.baseline.write()
            except Error as error:
                self.problem = str(error)
                raise pytest.UsageError(f"tare: {error}") from None

    def pytest_terminal_summary(self, terminalreporter):
        if self.ungated:
            terminalreporter.write_line(f"tare: {self.ungated} marked {'test' if self.ungated == 1 else 'tests'} ran without being counted (--no-tare)")
        if self.counted:
            terminalreporter.write_line(f"tare: {self.counted} {'test' if self.counted == 1 else 'tests'} counted"
                                        + (f"; the baseline is '{self.baseline.path}'" if self.update else ""))


@contextlib.contextmanager
def _folder_of(test):
    """An empty folder whose name is the same each time: hashes of paths, and so the order of sets and the probes of dictionaries, are
    in the count. A second pytest that counts the same test waits for the first one."""
    top = os.path.join(tempfile.gettempdir(), f"tare-pytest-{os.getuid()}")
    try:
        with contextlib.suppress(FileExistsError):
            os.mkdir(top, 0o700)
        found = os.lstat(top)
        if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.getuid() or stat.S_IMODE(found.st_mode) & 0o077:
            raise Error(f"'{top}' is not a folder of this user alone", "remove it, or set TMPDIR to another folder")
        folder = os.path.join(top, hashlib.sha256(test.encode("utf-8", "surrogatepass")).hexdigest()[:16])
        with open(folder + ".lock", "w", encoding="utf-8") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            shutil.rmtree(folder, ignore_errors=True)
            os.mkdir(folder, 0o700)
            try:
                yield folder
            finally:
                shutil.rmtree(folder, ignore_errors=True)
    except OSError as error:
        raise Error(f"cannot use the folder '{error.filename or top}': {error.strerror}", "TMPDIR may name another one") from None


def _child_environment():
    """Names and numbers that a program of fixed counts must not see differ: the seed of hashes above all."""
    environment = dict(os.environ)
    if not environment.get("PYTHONHASHSEED", "").isdigit():
        environment["PYTHONHASHSEED"] = "0"
    for name in ("PYTEST_CURRENT_TEST", "PYTEST_XDIST_WORKER", "PYTEST_XDIST_WORKER_COUNT", "PYTEST_XDIST_TESTRUNUID", "TARE_EVENTS"):
        environment.pop(name, None)
    return environment


def _region_counted(outcome, want):
    """The region that the mark is about; Error where its counts are not those of the whole of it."""
    name = want.region or REGION
    try:
        counted = outcome.count.regions[name]
    except KeyError:
        whole = next(iter(outcome.count.results), None)
        why = whole.why if whole is not None and whole.why else "it was never entered"
        raise Error(f"region '{name}' was not counted: {why}" if want.region else f"the test function was not counted: {why}",
                    "only test functions are counted, not those of unittest.TestCase" if not want.region and why == "it was never entered" else "") from None
    if counted.entries is None or counted.exits is None:
        raise Error(f"region '{name}' was not counted: {counted.why}")
    if not want.only_this_thread:
        _refuse_others(outcome)
    if counted.entries != counted.exits or counted.unbalanced_threads or (not want.region and counted.entries != 1):
        raise Error(f"region '{name}' was entered {counted.entries} times and left {counted.exits} times")
    return counted


def _refuse_others(outcome):
    """Error if threads or processes began in the test, or other threads lived beside it: a region is of the thread that enters it."""
    ids = outcome.ids
    if ids is None:
        raise Error("the counted run did not say which threads were the test's")
    first, last = ids["before"], ids["after"]
    others = {(part.pid, part.tid) for part in outcome.count.parts
              if (first < part.tid < last if first < last else part.tid > first or part.tid < last)}  # ids begin anew at pid_max
    if others or ids["alive"] > 1:
        raise Error(f"not all that the test did was counted: other threads or processes ran ({max(len(others), ids['alive'] - 1)}), and the count is of the test's own thread",
                    "count the work in one thread, or accept it: @pytest.mark.tare(..., only_this_thread=True)")
