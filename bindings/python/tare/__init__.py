# SPDX-License-Identifier: MIT
"""Performance counters whose numbers can be trusted: tare for Python.

    with tare.region("sort"):          # then: tare count ./prog.py   or   TARE_EVENTS=task-clock ./prog.py
        work()

    result = tare.count(["gzip", "-k", "file"], events=["instructions"], on="exact")
    print(result["instructions"].value)

    with tare.Counters("task-clock,page-faults") as counters:
        work()
        print(counters.read()["page-faults"].value)

A number that was not counted is None, with the reason in `why`; never 0. See tare-python(3).
"""
from ._command import command, count
from ._comparisons import Comparison, read_comparison
from ._counters import Counters, Reading, Readings
from ._library import Error, NotCounted, version
from ._profiles import Profile, read_profile
from ._regions import RegionReading, region, region_read, regions_start
from ._results import Count, Estimate, Region, read_count

__all__ = ["Comparison", "Count", "Counters", "Error", "Estimate", "NotCounted", "Profile", "Reading", "Readings", "Region", "RegionReading", "command",
           "count", "read_comparison", "read_count", "read_profile", "region", "region_read", "regions_start", "version"]
