# SPDX-License-Identifier: MIT
"""What 'tare compare --json' and '--export-json' write, as dataclasses."""
from dataclasses import dataclass, field
from typing import Optional, Tuple

from ._library import Error
from ._results import LIST, NUMBER_OR_NONE, TEXT, Named, Number, mark_of, member, parse, read_file, required


@dataclass(frozen=True)
class Side:
    """What one command counted of an event, and how it differs from the first command. `value` None: not counted, `why` says the reason."""
    command: str
    value: Optional[Number]
    low: Optional[Number]
    high: Optional[Number]
    why: Optional[str]
    source: str
    trust: str
    runs: Tuple[Optional[Number], ...]
    verdict: Optional[str]             # "different", "same", "unknown" ...; None: of the first command
    why_unknown: Optional[str]
    difference: Optional[Number]
    difference_low: Optional[Number]
    difference_high: Optional[Number]
    relative: Optional[Number]
    relative_low: Optional[Number]
    relative_high: Optional[Number]
    p_corrected: Optional[Number]
    effect_size: Optional[Number]
    detectable: Optional[Number]
    data: dict = field(default_factory=dict, repr=False, compare=False)

    @property
    def counted(self):
        return self.value is not None

    def required(self):
        """The value; raises NotCounted where there is none, or where the count is refuted."""
        return required(self, self.command)

    @property
    def mark(self):
        """As `tare compare` shows it behind the value: see Estimate.mark."""
        return mark_of(self.trust, self.source)

    def __str__(self):
        if self.value is None:
            return f"{self.command}: not counted: {self.why}"
        return f"{self.command}: {self.value:,}{self.mark}{'' if self.verdict is None else ', ' + self.verdict}"


class Sides(Named):
    key = "command"


@dataclass(frozen=True)
class Row:
    """An event or metric of all commands."""
    event: str
    is_metric: bool
    region: Optional[str]
    unit: str
    commands: Sides
    data: dict = field(default_factory=dict, repr=False, compare=False)

    def __getitem__(self, command):
        return self.commands[command]

    def __str__(self):
        return f"{self.event} [{self.unit}]: " + "; ".join(map(str, self.commands))


@dataclass(frozen=True)
class Gate:
    gate: str
    command: str
    outcome: str  # "passed", "failed", or that it cannot be told: no other than "passed" has passed
    reason: Optional[str]

    @property
    def passed(self):
        return self.outcome == "passed"


@dataclass(frozen=True)
class Comparison:
    """A result of 'tare compare'. comparison.rows["instructions"]["B"] is a Side."""
    commands: Tuple[str, ...]
    confidence: Number
    repetitions: int
    interleaved: bool
    interrupted: bool
    rows: Named
    gates: Tuple[Gate, ...]
    notes: Tuple[str, ...]
    data: dict = field(default_factory=dict, repr=False, compare=False)


_NUMBERS = ("difference", "difference_low", "difference_high", "relative", "relative_low", "relative_high", "p_corrected", "effect_size",
            "detectable")


def _side_of(data):
    command = member(data, "command", TEXT, "a command")
    of = f"the command '{command}'"
    value, why = member(data, "value", NUMBER_OR_NONE, of), member(data, "why_not_counted", TEXT, of, None)
    if (value is None) != (why is not None):
        raise Error(f"{of} has {'no value and no reason' if value is None else 'a value, and a reason why there is none'}")
    counted = value is not None
    return Side(command, value, member(data, "low", NUMBER_OR_NONE, of), member(data, "high", NUMBER_OR_NONE, of), why,
                member(data, "source", TEXT, of) if counted else "none", member(data, "trust", TEXT, of) if counted else "unverified",
                tuple(member(data, "runs", LIST, of, [])), member(data, "verdict", TEXT, of, None), member(data, "why", TEXT, of, None),
                **{name: member(data, name, NUMBER_OR_NONE, of, None) for name in _NUMBERS}, data=data)


def _row_of(data):
    metric = isinstance(data, dict) and "metric" in data
    event = member(data, "metric" if metric else "event", TEXT, "a row")
    of = f"the row '{event}'"
    return Row(event, metric, member(data, "region", TEXT, of, None), member(data, "unit", TEXT, of),
               Sides(map(_side_of, member(data, "commands", LIST, of))), data)


def comparison_of(data, of="the result"):
    if not isinstance(data, dict) or "rows" not in data or "tare" in data:
        raise Error(f"{of} is not of 'tare compare'", "a count is read with tare.read_count(), a profile with tare.read_profile()")
    if member(data, "version", (int,), of) != 1:
        raise Error(f"{of} has format {data['version']}; this package reads format 1", "use the package of the tare that wrote it")
    return Comparison(tuple(member(command, "name", TEXT, of) for command in member(data, "commands", LIST, of)),
                      member(data, "confidence", (int, float), of), member(data, "repetitions", (int,), of),
                      member(data, "interleaved", (bool,), of), member(data, "interrupted", (bool,), of),
                      Named(map(_row_of, member(data, "rows", LIST, of))),
                      tuple(Gate(member(gate, "gate", TEXT, of), member(gate, "command", TEXT, of), member(gate, "outcome", TEXT, of),
                                 member(gate, "reason", (str, type(None)), of, None)) for gate in member(data, "gates", LIST, of)),
                      tuple(member(data, "notes", LIST, of)), data)


def read_comparison(path):
    """The Comparison in a file of 'tare compare --export-json FILE'."""
    of = f"'{path}'"
    return comparison_of(parse(read_file(path), of), of)
