# SPDX-License-Identifier: MIT
"""What 'tare count --json' writes (docs/result.schema.json), as dataclasses.

Members that a newer tare of the same format adds are in `data`, the JSON as it was read. A file of another format, or one that
lacks what the format has, is an Error: nothing is guessed.
"""
import json
from dataclasses import dataclass, field
from typing import Optional, Tuple, Union

from ._library import Error, NotCounted, counted_value

Number = Union[int, float]
MISSING = object()


def member(data, name, types, of, default=MISSING):
    """data[name], which has to be of one of these types."""
    value = data.get(name, default) if isinstance(data, dict) else MISSING
    if value is MISSING:
        raise Error(f"{of} has no '{name}'", "it is not what this version of tare writes, or it is cut short")
    if value is default:
        return value
    if isinstance(value, bool) and bool not in types or not isinstance(value, types):
        raise Error(f"'{name}' of {of} is {json.dumps(value)[:60]}")
    return value


NUMBER, NUMBER_OR_NONE = (int, float), (int, float, type(None))
TEXT, TEXT_OR_NONE, LIST = (str,), (str, type(None)), (list,)


def required(number, name):
    """number.value; raises NotCounted where there is none, or where the count is refuted."""
    value = counted_value(number, name)
    if number.trust == "refuted":
        evidence = number.data.get("evidence")
        raise NotCounted(f"the count of '{name}' is refuted{f': {evidence}' if evidence else ''}")
    return value


def mark_of(trust, source):
    """As `tare count` shows it behind the source: "✓" verified, "~" biased, "✗" refuted, or "". The engine's counts, always verified, have none."""
    verified = "" if source == "exact" else "✓"
    return {"verified": verified, "biased": "~", "refuted": "✗"}.get(trust, "")


@dataclass(frozen=True)
class Estimate:
    """A number with its interval. `value` is None if it was not counted, and `why` says the reason; it is never 0 for that."""
    event: str
    value: Optional[Number]
    low: Optional[Number]          # None: not known
    high: Optional[Number]         # None: not known, or (if `confidence` is a number) unbounded
    confidence: Optional[float]    # of the interval; None: one execution says nothing of the spread
    unit: str
    source: str                    # "hw", "os", "exact", "model", "scaled", "sampled"; "none" if not counted
    trust: str                     # "unverified", "verified", "biased", "refuted"
    why: Optional[str] = None
    runs: Tuple[Optional[Number], ...] = ()
    at_least: Optional[Number] = None  # where value is None: it is this or more
    share_running: Number = 0
    level: Optional[str] = None
    machine: Optional[str] = None  # of source "model" or "sampled"
    evidence: Optional[str] = None
    note: Optional[str] = None
    pid: Optional[int] = None
    tid: Optional[int] = None
    cpu: Optional[int] = None
    command: Optional[str] = None
    data: dict = field(default_factory=dict, repr=False, compare=False)

    @property
    def counted(self):
        return self.value is not None

    def required(self):
        """The value; raises NotCounted where there is none, or where the count is refuted."""
        return required(self, self.event)

    @property
    def mark(self):
        """As `tare count` shows it behind the source: "✓" verified, "~" biased, "✗" refuted, or "". The engine's counts, always verified, have none."""
        return mark_of(self.trust, self.source)

    def __str__(self):
        if self.value is None:
            at_least = "" if self.at_least is None else f" (at least {self.at_least:,})"
            return f"{self.event}: not counted{at_least}: {self.why}"
        interval = "" if self.low is None or self.confidence is None else f" ({self.low:,} to {'any' if self.high is None else format(self.high, ',')})"
        return f"{self.event}: {self.value:,} {self.unit}{interval}, {self.source}{self.mark}"


def estimate_of(data):
    of = "an estimate"
    event = member(data, "event", TEXT, of)
    of = f"the estimate of '{event}'"
    value, why = member(data, "value", NUMBER_OR_NONE, of), member(data, "why", TEXT, of, None)
    if (value is None) != (why is not None):
        raise Error(f"{of} has {'no value and no reason' if value is None else 'a value, and a reason why there is none'}")
    runs = member(data, "runs", LIST, of)
    optional = {name: member(data, name, types, of, None) for name, types in
                (("at_least", NUMBER), ("level", TEXT), ("machine", TEXT), ("evidence", TEXT), ("note", TEXT),
                 ("pid", (int,)), ("tid", (int,)), ("cpu", (int,)), ("command", TEXT))}
    return Estimate(event, value, member(data, "low", NUMBER_OR_NONE, of), member(data, "high", NUMBER_OR_NONE, of),
                    member(data, "confidence", NUMBER_OR_NONE, of), member(data, "unit", TEXT, of),
                    member(data, "source", TEXT, of), member(data, "trust", TEXT, of), why, tuple(runs),
                    share_running=member(data, "share_running", NUMBER, of), data=data, **optional)


class Named(tuple):
    """Rows in the order of the report; also found by name. An event is also found without its level: "instructions"."""
    key = "event"

    def __getitem__(self, key):
        if not isinstance(key, str):
            return super().__getitem__(key)
        names = [(getattr(row, self.key), row) for row in self]
        found = [row for name, row in names if name == key] or [row for name, row in names if name.partition(":")[0] == key]
        if not found:
            raise KeyError(f"{key!r} is not one of {', '.join(name for name, _ in names) or 'none'}")
        if len(found) > 1:
            raise KeyError(f"{key!r} has {len(found)} rows: take them by their index")
        return found[0]


class Regions(Named):
    key = "name"


@dataclass(frozen=True)
class Region:
    """A part of the program that was counted separately."""
    name: str
    place: str
    kind: str                    # "function", "code", "library"
    entries: Optional[int]       # None: not known, `why` says the reason
    exits: Optional[int]
    unbalanced_threads: Optional[int]
    threads: Optional[int]
    why: Optional[str]
    note: Optional[str]
    results: Named
    data: dict = field(default_factory=dict, repr=False, compare=False)

    def __getitem__(self, event):
        return self.results[event]


def region_of(data):
    name = member(data, "name", TEXT, "a region")
    of, whole = f"the region '{name}'", (int, type(None))
    return Region(name, member(data, "place", TEXT, of), member(data, "kind", TEXT, of), member(data, "entries", whole, of),
                  member(data, "exits", whole, of), member(data, "unbalanced_threads", whole, of),
                  member(data, "threads", whole, of), member(data, "why", TEXT, of, None), member(data, "note", TEXT, of, None),
                  Named(map(estimate_of, member(data, "results", LIST, of))), data)


@dataclass(frozen=True)
class Count:
    """A result of 'tare count'. result["instructions"] is an event's or a metric's Estimate."""
    version: str                        # of the tare that wrote it
    command: Optional[Tuple[str, ...]]  # None: what ran already was counted
    target: Optional[str]
    started: int                        # seconds since 1970-01-01 UTC
    repetitions: int
    repetitions_done: int
    interrupted: bool
    status: Optional[int]               # the program's exit status
    signal: Optional[int]               # or what ended it; both None: none was run, or it has not ended
    results: Named                      # whole counts; rows of threads, processes and CPUs are in `parts`
    parts: Tuple[Estimate, ...]
    metrics: Named
    regions: Regions
    notes: Tuple[str, ...]
    machine: dict
    data: dict = field(default_factory=dict, repr=False, compare=False)

    def __getitem__(self, event):
        try:
            return self.results[event]
        except KeyError:
            if isinstance(event, str) and any(metric.event == event for metric in self.metrics):
                return self.metrics[event]
            raise


def count_of(data, of="the result"):
    """A Count of parsed JSON."""
    if not isinstance(data, dict):
        raise Error(f"{of} is not a JSON object")
    if "tare_profile" in data or "rows" in data:
        raise Error(f"{of} is not of 'tare count'", "read it with tare.read_profile() or tare.read_comparison()")
    if member(data, "tare", (int,), of) != 1:
        raise Error(f"{of} has format {data['tare']}; this package reads format 1", "use the package of the tare that wrote it")
    command, ended = member(data, "command", (list, type(None)), of), member(data, "exit", (dict, type(None)), of) or {}
    rows = [estimate_of(row) for row in member(data, "results", LIST, of)]
    parts = tuple(row for row in rows if not (row.pid is None and row.tid is None and row.cpu is None))
    return Count(member(data, "version", TEXT, of), None if command is None else tuple(command),
                 member(data, "target", TEXT_OR_NONE, of), member(data, "started", (int,), of),
                 member(data, "repetitions", (int,), of), member(data, "repetitions_done", (int,), of),
                 member(data, "interrupted", (bool,), of), ended.get("status"), ended.get("signal"),
                 Named(row for row in rows if row not in parts), parts,
                 Named(map(estimate_of, member(data, "metrics", LIST, of))),
                 Regions(map(region_of, member(data, "regions", LIST, of, []))),
                 tuple(member(data, "notes", LIST, of)), member(data, "machine", (dict,), of), data)


def _no_constant(name):
    raise ValueError(f"{name} is not JSON")


def parse(text, of):
    """The JSON of a text (bytes or str); Error if it is none."""
    try:
        return json.loads(text, parse_constant=_no_constant)
    except (ValueError, RecursionError) as error:
        raise Error(f"{of} is not JSON: {error}", "it may be cut short, or of another program") from None


def read_file(path):
    try:
        with open(path, "rb") as file:
            return file.read()
    except OSError as error:
        raise Error(f"cannot read '{path}': {error.strerror}") from None


def read_count(path):
    """The Count in a file of 'tare count --json -o FILE'."""
    of = f"'{path}'"
    return count_of(parse(read_file(path), of), of)
