# SPDX-License-Identifier: MIT
"""Counters inside of this process: the perf backend's, by libtare. What cannot be counted here is an Error when it is asked for."""
import ctypes
from dataclasses import dataclass
from typing import Optional

from . import _library
from ._library import CError, COptions, CReading, Error, check, counted_value

_COUNTED, _PARTLY = 0, 1
_SOME_CPUS, _LOST_COUNTS = 1, 2
_SCOPES = {"thread": 0, "process": 1}


def event_list(events):
    """Events as the C library takes them: from a text with commas, or from any number of texts."""
    text = events if isinstance(events, str) else ",".join(events)
    if not text.strip(" ,"):
        raise Error("no events were given", "name one, such as 'task-clock': 'tare list events' shows all")
    if "\0" in text:
        raise Error(f"{text!r} has a 0 byte, which no event's name has")
    return text.encode()


@dataclass(frozen=True)
class Reading:
    """One event's count. `value` is None where there is none, and `why` says the reason; it is never 0 for that."""
    event: str
    value: Optional[float]  # the count (int); where events shared the counters an extrapolation (float), and source is "scaled"
    unit: str
    source: str             # "hw", "os", "scaled", "none"
    why: Optional[str]
    enabled_ns: int
    running_ns: int

    @property
    def counted(self):
        return self.value is not None

    def required(self):
        """The value; raises NotCounted where there is none."""
        return counted_value(self, self.event)


def reading_of(raw, event, unit, source):
    value, why = None, None
    if raw.state == _COUNTED:
        value = raw.count
    elif raw.state == _PARTLY:
        scaled = ctypes.c_double()
        if _library.load().tare_scaled(ctypes.byref(raw), ctypes.byref(scaled)):
            value, source = scaled.value, "scaled"
    if value is None:
        source = "none"
        why = ("the counter was taken away" if raw.flags & _LOST_COUNTS else
               "its counter exists on some of the CPUs only, and the threads also ran on others" if raw.flags & _SOME_CPUS
               else "it was never on a counter in this time")
    return Reading(event, value, unit, source, why, raw.enabled_ns, raw.running_ns)


class Readings(tuple):
    """Readings in the order of asking; also found by the event's name."""

    def __getitem__(self, key):
        if not isinstance(key, str):
            return super().__getitem__(key)
        found = [reading for reading in self if key in (reading.event, reading.event.partition(":")[0])]
        if len(found) != 1:
            raise KeyError(f"{key!r} names {len(found)} of the events {', '.join(reading.event for reading in self)}")
        return found[0]


class Counters:
    """A set of counters of the calling thread (scope "thread"), or of all threads of the process ("process").

        with tare.Counters("task-clock,page-faults") as counters:
            work()
            print(counters.read()["page-faults"].value)

    `with` starts and closes them. Each event is tried first: what cannot be counted here raises Error, with libtare's text and
    hint. What Python itself does between two readings is in the counts.
    """

    def __init__(self, events, scope="thread"):
        self._set = None
        if scope not in _SCOPES:
            raise Error(f"scope {scope!r} is not known", "it is 'thread' or 'process'")
        self._library = _library.load()
        error, opened = CError(), ctypes.c_void_p()
        options = COptions(ctypes.sizeof(COptions), _SCOPES[scope])
        wanted = event_list(events)
        check(self._library.tare_open(ctypes.byref(options), ctypes.byref(opened), ctypes.byref(error)), error)
        self._set = opened
        try:
            check(self._library.tare_add(self._set, wanted, ctypes.byref(error)), error)
        except Error:
            self.close()
            raise
        self._names = [tuple(of(self._set, index).decode(errors="replace") for of in
                             (self._library.tare_event_name, self._library.tare_event_unit, self._library.tare_event_source))
                       for index in range(self._library.tare_event_count(self._set))]
        self._buffer = CReading * len(self._names)
        self._base = self._buffer()

    @property
    def events(self):
        return tuple(name for name, _, _ in self._names)

    def _opened(self):
        if self._set is None:
            raise Error("the counters are closed", "open a new set")
        return self._set

    def start(self):
        """Starts the counters, or lets them go on: counts add up until reset()."""
        error = CError()
        check(self._library.tare_start(self._opened(), ctypes.byref(error)), error)
        return self

    def _raw(self, how):
        error, raw = CError(), self._buffer()
        check(how(self._opened(), raw, ctypes.byref(error)), error)
        return raw

    def _readings(self, raw):
        return Readings(reading_of(raw[index], *names) for index, names in enumerate(self._names))

    def read(self):
        """What was counted since they were opened, or since the last reset()."""
        return self._readings(self._raw(self._library.tare_read))

    def stop(self):
        """Stops the counters, and returns what was counted."""
        return self._readings(self._raw(self._library.tare_stop))

    def lap(self):
        """What was counted since the last lap(); of the first one, since the beginning."""
        now = self._raw(self._library.tare_read)
        spent = self._buffer()
        self._library.tare_difference(self._base, now, len(self._names), spent)
        self._base = now
        return self._readings(spent)

    def reset(self):
        """From here on, counts begin at 0 again."""
        error = CError()
        check(self._library.tare_reset(self._opened(), ctypes.byref(error)), error)
        self._base = self._buffer()

    def close(self):
        opened, self._set = self._set, None
        if opened is not None:
            self._library.tare_close(opened)

    def __enter__(self):
        return self.start()

    def __exit__(self, *_):
        self.close()

    def __del__(self):
        self.close()
