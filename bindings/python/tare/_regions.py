# SPDX-License-Identifier: MIT
"""Regions: named pieces of a program, counted by 'tare count' (engine), or by libtare where TARE_EVENTS asks for it.

A region belongs to the thread that entered it. A generator or coroutine that @region decorates is in the region only while it
runs: the region is left at each yield and await, and entered again when it goes on.
"""
import ctypes
import functools
import inspect
import types
from dataclasses import dataclass

from . import _library
from ._counters import event_list, reading_of, Readings
from ._library import CError, CPasses, CReading, Error, check

_handles = {}
_enter = _leave = _on = None


def _handle(name):
    """libtare's handle of the name, looked up once. It lives as long as the process."""
    global _enter, _leave, _on
    if name in _handles:
        return _handles[name]
    if not isinstance(name, str):
        raise TypeError(f"a region's name is a text, not {type(name).__name__}")
    if "\0" in name:
        raise Error(f"the region's name {name!r} has a 0 byte")
    library, error = _library.load(), CError()
    handle = library.tare_region(name.encode("utf-8", "surrogateescape"), ctypes.byref(error))
    check(handle is not None, error)
    _enter, _leave = library.tare_region_enter, library.tare_region_leave
    _on = ctypes.c_int.in_dll(library, "tare_regions_on")
    _handles[name] = ctypes.c_void_p(handle)
    return _handles[name]


class region:
    """`with tare.region("sort"):`, or `@tare.region("sort")` on a function, generator or coroutine.

    Nests, and may be entered again before it is left (one pass, from the outermost entry). An exception leaves it. Nothing is
    counted, and little is done, unless the program runs under 'tare count' or with TARE_EVENTS.
    """
    __slots__ = ("name", "_of")

    def __init__(self, name):
        self.name, self._of = name, _handle(name)

    def __enter__(self):
        if _on.value:
            _enter(self._of)
        return self

    def __exit__(self, *_):
        if _on.value:
            _leave(self._of)

    def __call__(self, function):
        if inspect.isasyncgenfunction(function):
            raise TypeError(f"tare.region({self.name!r}) cannot decorate the asynchronous generator {function.__qualname__}(); "
                            "use 'with tare.region(...)' around the lines in it that do not await")
        if inspect.iscoroutinefunction(function):
            @functools.wraps(function)
            async def coroutine(*arguments, **named):
                return await _resumed(self, function(*arguments, **named))
            return coroutine
        if inspect.isgeneratorfunction(function):
            @functools.wraps(function)
            def generator(*arguments, **named):
                return (yield from _resumed(self, function(*arguments, **named)))
            return generator

        @functools.wraps(function)
        def plain(*arguments, **named):
            with self:
                return function(*arguments, **named)
        return plain


@types.coroutine
def _resumed(inside, generator):
    """Runs a generator or coroutine to its end, each piece of it inside of the region."""
    resume, value = generator.send, None
    while True:
        with inside:
            try:
                yielded = resume(value)
            except StopIteration as end:
                return end.value
        try:
            resume, value = generator.send, (yield yielded)
        except GeneratorExit:
            with inside:
                generator.close()
            raise
        except BaseException as error:  # thrown in from outside: the generator's own to handle
            resume, value = generator.throw, error


def regions_start(events):
    """Begins to count regions in this process by the kernel's counters; region_read() reads them. Once in a process."""
    error, wanted = CError(), event_list(events)
    names = _names_of(wanted)
    check(_library.load().tare_regions_start(wanted, ctypes.byref(error)), error)
    _started[:] = names


_started = []


def _names_of(events):
    """Name, unit and source of each event, as a set of counters has them."""
    from ._counters import Counters
    counters = Counters(events.decode())
    try:
        return list(counters._names)
    finally:
        counters.close()


@dataclass(frozen=True)
class RegionReading:
    """What a region counted in its passes that have ended."""
    name: str
    entries: int
    exits: int
    threads: int
    unbalanced: int  # threads that left it not as they entered it
    readings: Readings


def region_read(name, scope="process"):
    """The region's counts so far: of all threads, or of the calling one (scope "thread"). After regions_start()."""
    if not _started:
        raise Error("regions are not counted in this process by regions_start()", "call tare.regions_start(events) first")
    if scope not in ("thread", "process"):
        raise Error(f"scope {scope!r} is not known", "it is 'thread' or 'process'")
    error, passes, raw = CError(), CPasses(), (CReading * len(_started))()
    check(_library.load().tare_region_read(_handle(name), 0 if scope == "thread" else 1, ctypes.byref(passes), raw,
                                           ctypes.byref(error)), error)
    return RegionReading(name, passes.entries, passes.exits, passes.threads, passes.unbalanced,
                         Readings(reading_of(raw[index], *names) for index, names in enumerate(_started)))
