# SPDX-License-Identifier: MIT
"""What 'tare report --format json PROFILE' writes (docs/profile.schema.json), as dataclasses."""
from dataclasses import dataclass, field
from typing import Optional, Tuple

from ._library import Error
from ._results import LIST, TEXT, TEXT_OR_NONE, Named, Number, mark_of, member, parse, read_file


@dataclass(frozen=True)
class ProfileEvent:
    """An event of a profile. Of a sampled one (`gaps` is not "none"), counts of rows are samples. `why`: why it has no counts."""
    event: str
    unit: str
    source: str
    gaps: str
    why: Optional[str]
    machine: Optional[str]
    total: Optional[Number]    # the event's count of the same execution
    samples: Optional[Number]
    lost: Optional[Number]
    trust: str = "unverified"  # of the counter, as Estimate has it
    evidence: Optional[str] = None
    data: dict = field(default_factory=dict, repr=False, compare=False)

    @property
    def mark(self):
        """As `tare profile` shows it behind the count: see Estimate.mark."""
        return mark_of(self.trust, self.source)


@dataclass(frozen=True)
class Share:
    """An event's counts in one place. low, high: of the share's interval; None: it has none."""
    self_count: Number
    inclusive: Number          # with what it called
    share: Number              # of all, of self_count
    low: Optional[Number]
    high: Optional[Number]


@dataclass(frozen=True)
class Place:
    """A function, or a source line (`function` is None). counts: of each event, in their order."""
    function: Optional[str]
    module: str
    file: Optional[str]
    line: Optional[int]
    counts: Tuple[Share, ...]


@dataclass(frozen=True)
class Profile:
    command: Optional[Tuple[str, ...]]
    target: Optional[str]
    stacks: str
    confidence: Number
    events: Named
    functions: Tuple[Place, ...]
    lines: Tuple[Place, ...]
    notes: Tuple[str, ...]
    data: dict = field(default_factory=dict, repr=False, compare=False)


def _event_of(data):
    event = member(data, "event", TEXT, "an event")
    of = f"the event '{event}'"
    number = (int, float)
    sampled = member(data, "gaps", TEXT, of) != "none"
    return ProfileEvent(event, member(data, "unit", TEXT, of), member(data, "source", TEXT, of), data["gaps"],
                        member(data, "why", TEXT_OR_NONE, of), member(data, "machine", TEXT_OR_NONE, of),
                        member(data, "total", (*number, type(None)), of), member(data, "samples", number, of) if sampled else None,
                        member(data, "lost", number, of) if sampled else None, member(data, "trust", TEXT, of, "unverified"),
                        member(data, "evidence", TEXT_OR_NONE, of, None), data)


def _share_of(data):
    of, number = "the counts of a row", (int, float)
    return Share(*(member(data, name, number, of) for name in ("self", "inclusive", "share")),
                 *(member(data, name, number, of, None) for name in ("low", "high")))


def _place_of(data):
    of = "a row of the profile"
    return Place(member(data, "function", TEXT_OR_NONE, of), member(data, "module", TEXT, of), member(data, "file", TEXT_OR_NONE, of),
                 member(data, "line", (int, type(None)), of), tuple(map(_share_of, member(data, "counts", LIST, of))))


def profile_of(data, of="the profile"):
    if not isinstance(data, dict):
        raise Error(f"{of} is not a JSON object")
    if member(data, "tare_profile", (int,), of) != 1:
        raise Error(f"{of} has format {data['tare_profile']}; this package reads format 1", "use the package of the tare that wrote it")
    command = member(data, "command", (list, type(None)), of)
    return Profile(None if command is None else tuple(command), member(data, "target", TEXT_OR_NONE, of), member(data, "stacks", TEXT, of),
                   member(data, "confidence", (int, float), of), Named(map(_event_of, member(data, "events", LIST, of))),
                   tuple(map(_place_of, member(data, "functions", LIST, of))), tuple(map(_place_of, member(data, "lines", LIST, of))),
                   tuple(member(data, "notes", LIST, of)), data)


def read_profile(path):
    """The Profile in a file of 'tare report --format json'."""
    of = f"'{path}'"
    return profile_of(parse(read_file(path), of), of)
