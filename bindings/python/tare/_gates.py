# SPDX-License-Identifier: MIT
"""Bounds on counts, and the baseline file: what the pytest plugin decides by. Nothing here knows pytest.

What always holds: a bound passes only on a value that was counted and is not refuted. With an interval, all of it must be inside.
"""
import json
import math
import os
import platform
import re
import tempfile
from dataclasses import dataclass

from ._library import Error
from ._results import member, parse, read_file

PASSED, FAILED, NOT_TOLD = "passed", "failed", "cannot tell"
_BOUND = re.compile(r"\s*(<=|<|>=|>)\s*([0-9][0-9_]*(?:\.[0-9]*)?(?:[eE][+-]?[0-9]+)?)\s*")
_HOLDS = {"<": lambda a, b: a < b, "<=": lambda a, b: a <= b, ">": lambda a, b: a > b, ">=": lambda a, b: a >= b}


@dataclass(frozen=True)
class Bound:
    sign: str     # "<", "<=", ">", ">="
    limit: float  # an int where the text is one
    text: str     # as the user wrote it

    def judge(self, estimate):
        """(PASSED, FAILED or NOT_TOLD, why) for an Estimate."""
        if estimate.value is None:
            return NOT_TOLD, f"{estimate.event} was not counted: {estimate.why}"
        if estimate.trust == "refuted":
            return NOT_TOLD, f"the count of {estimate.event} is refuted: {estimate.evidence}"
        ends = [estimate.value]
        if estimate.confidence is not None:  # an unknown end is an unbounded one
            ends += [-math.inf if estimate.low is None else estimate.low, math.inf if estimate.high is None else estimate.high]
        inside = [_HOLDS[self.sign](end, self.limit) for end in ends]
        what = f"{estimate.event} {estimate.value:,}, bound {self.text}"
        if all(inside):
            return PASSED, what
        if not any(inside):
            return FAILED, what
        return NOT_TOLD, f"{what}: the bound lies inside of the interval {ends[1]:,} to {ends[2]:,}"


def bound_of(event, text):
    """A Bound of "<1e6", or of a number, which is the largest count allowed."""
    if isinstance(text, (int, float)) and not isinstance(text, bool) and math.isfinite(text) and text >= 0:
        return Bound("<=", text, f"<={text:,}")
    found = _BOUND.fullmatch(text) if isinstance(text, str) else None
    if not found:
        raise Error(f"{text!r} is not a bound on {event}", "write one as '<1e6', '<=1000000', '>10', or as a number, which is the most allowed")
    digits = found.group(2).replace("_", "")
    limit = int(digits) if digits.isdigit() else float(digits)
    if math.isinf(limit):
        raise Error(f"the bound {text!r} on {event} is larger than any count")
    return Bound(found.group(1), int(limit) if limit == int(limit) else limit, text.strip())


def share_of(text):
    """0.01 of "1%"."""
    found = re.fullmatch(r"\s*([0-9]+(?:\.[0-9]*)?)\s*%\s*", text) if isinstance(text, str) else None
    if not found:
        raise Error(f"{text!r} is not a tolerance", "write it in percent: '0.5%'")
    return float(found.group(1)) / 100


def python_name():
    """What a count of Python code depends on most: the interpreter."""
    return f"{platform.python_implementation()} {platform.python_version()} {platform.machine()}"


class Baseline:
    """Counts of tests, kept in a JSON file: {test: {region: {"on": ..., "counts": {event: count}}}}; region "" is the whole test.

    They are of one Python: with another one, they say nothing.
    """
    FORMAT = 1

    def __init__(self, path):
        self.path, self.python, self.tests = path, None, {}

    @classmethod
    def read(cls, path):
        """Of a file that exists; else an empty one with python None."""
        self = cls(path)
        if not os.path.exists(path):
            return self
        of = f"the baseline '{path}'"
        data = parse(read_file(path), of)
        if not isinstance(data, dict) or member(data, "tare_pytest", (int,), of) != cls.FORMAT:
            raise Error(f"{of} is not of format {cls.FORMAT}", "write it anew with --tare-update, into another file")
        self.python, self.tests = member(data, "python", (str,), of), member(data, "tests", (dict,), of)
        for test, regions in self.tests.items():
            for region, kept in (regions if isinstance(regions, dict) else {"": None}).items():
                counts = member(kept, "counts", (dict,), f"'{test}' in {of}")
                member(kept, "on", (str,), f"'{test}' in {of}")
                for event in counts:
                    member(counts, event, (int, float), f"'{test}' in {of}")
        return self

    def bound(self, test, region, event, on, tolerance):
        """The most that the event may count; Error where the baseline cannot say."""
        if self.python is None:
            raise Error(f"there is no baseline '{self.path}'", "--tare-update writes it")
        if self.python != python_name():
            raise Error(f"the baseline is of {self.python}, and this is {python_name()}: their counts differ", "--tare-update writes it anew")
        kept = self.tests.get(test, {}).get(region)
        count = kept["counts"].get(event) if kept and kept["on"] == on else None
        if count is None:
            raise Error(f"the baseline has no {event} of this test{' in region ' + repr(region) if region else ''} on {on}", "--tare-update adds it")
        return Bound("<=", count * (1 + tolerance), f"<={count:,} of the baseline + {tolerance * 100:g} %")

    def set(self, test, region, on, counts):
        if self.python != python_name():
            self.tests = {}  # those of another Python
            self.python = python_name()
        self.tests.setdefault(test, {})[region] = {"on": on, "counts": dict(counts)}

    def write(self):
        """Replaces the file whole."""
        data = {"tare_pytest": self.FORMAT, "python": self.python or python_name(), "tests": self.tests}
        folder = os.path.dirname(os.path.abspath(self.path))
        try:
            handle, name = tempfile.mkstemp(prefix=".tare-baseline-", dir=folder)
            try:
                with os.fdopen(handle, "w", encoding="utf-8") as file:
                    json.dump(data, file, indent=1, sort_keys=True)
                    file.write("\n")
                mask = os.umask(0)
                os.umask(mask)
                os.chmod(name, 0o666 & ~mask)
                os.replace(name, self.path)
            except BaseException:
                os.unlink(name)
                raise
        except OSError as error:
            raise Error(f"cannot write the baseline '{self.path}': {error.strerror}") from None
