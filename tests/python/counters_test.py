"""tare.Counters, regions_start() and region_read(): counting inside of the process, by the kernel's own events."""
import mmap
import os

import package
from package import cli, raised, tare

PAGES = 64


def touch(pages):
    """As many page faults, if small pages alone are used."""
    with mmap.mmap(-1, pages * mmap.PAGESIZE) as memory:
        memory.madvise(mmap.MADV_NOHUGEPAGE)
        for page in range(pages):
            memory[page * mmap.PAGESIZE] = 1


touch(1)
with tare.Counters("page-faults:u,task-clock") as counters:
    before = counters.read()
    touch(PAGES)
    after = counters.read()
    faults = after["page-faults:u"].value - before["page-faults:u"].value
    cli.ok(PAGES <= faults < PAGES + 16, f"{PAGES} pages touched are {PAGES} faults, and a few of Python's", faults)
    cli.equal(counters.events, ("page-faults:u", "task-clock"), "events are in the order of asking")
    cli.equal([(r.unit, r.source, r.why) for r in after], [("faults", "os", None), ("ns", "os", None)], "each has its unit and source")
    cli.equal(after["page-faults"], after[0], "an event is found without its level")
    cli.has(str(raised(KeyError, lambda: after["cycles"])), "names 0 of the events", "an event that was not asked for is a KeyError")
    counters.lap()
    touch(PAGES)
    lap = counters.lap()["page-faults:u"].value
    cli.ok(PAGES <= lap < PAGES + 16, "lap() is what came since the last one", lap)
    counters.reset()
    cli.ok(counters.read()["page-faults:u"].value < PAGES, "reset() begins at 0 again")
    pid = os.fork()
    if pid == 0:
        error = raised(tare.Error, counters.read)
        os._exit(0 if error is not None and error.code == 1 else 1)
    cli.equal(os.waitpid(pid, 0)[1], 0, "in a forked child the set is refused, with libtare's error")
    stopped = counters.stop()
    touch(PAGES)
    cli.equal(counters.read()["page-faults:u"].value, stopped["page-faults:u"].value, "nothing is counted after stop()")
cli.has(str(raised(tare.Error, counters.read)), "the counters are closed", "after 'with' the set is closed")

cli.equal(tare.Counters(["page-faults:u"], scope="process").start().read()[0].source, "os", "a process's set opens")
cli.has(str(raised(tare.Error, lambda: tare.Counters("page-faults", scope="cpu"))), "'thread' or 'process'", "another scope is refused")
error = raised(tare.Error, lambda: tare.Counters("nonsense"))
cli.ok(error is not None and "'nonsense'" in error.text and error.hint and error.code == 1, "an unknown event is libtare's error, with its hint", error)
cli.has(str(raised(tare.Error, lambda: tare.Counters(""))), "no events", "no events are refused")
cli.has(str(raised(tare.Error, lambda: tare.Counters(["", ""]))), "no events", "a list of nothing is no events")

# states that the kernel does not make to order
raw = tare._library.CReading(count=0, enabled_ns=100, running_ns=0, state=2, flags=0)
reading = tare._counters.reading_of(raw, "cycles", "cycles", "hw")
cli.equal((reading.value, reading.source, reading.counted), (None, "none", False), "an event that was never on a counter is None, not 0")
cli.has(reading.why, "never on a counter", "... and says why")
cli.has(str(raised(tare.NotCounted, reading.required)), "'cycles' was not counted", "required() raises where there is no count")
raw = tare._library.CReading(count=7, enabled_ns=100, running_ns=100, state=2, flags=1)
cli.has(tare._counters.reading_of(raw, "cycles", "cycles", "hw").why, "some of the CPUs", "... of another kind of core, too")
raw.flags = 2
cli.has(tare._counters.reading_of(raw, "cycles", "cycles", "hw").why, "taken away", "... and of a counter that was taken away")
raw = tare._library.CReading(count=50, enabled_ns=100, running_ns=25, state=1, flags=0)
reading = tare._counters.reading_of(raw, "cycles", "cycles", "hw")
cli.equal((reading.value, reading.source), (200.0, "scaled"), "a part of the time is extrapolated, and called scaled")
raw = tare._library.CReading(count=0, enabled_ns=100, running_ns=100, state=0, flags=0)
cli.equal(tare._counters.reading_of(raw, "cycles", "cycles", "hw").value, 0, "0 that was counted is 0")

cli.has(str(raised(tare.Error, lambda: tare.region_read("touch"))), "regions_start", "regions are read after regions_start()")
tare.regions_start("page-faults:u")
for _ in range(2):
    with tare.region("touch"):
        touch(PAGES)
read = tare.region_read("touch")
cli.equal((read.entries, read.exits, read.threads, read.unbalanced), (2, 2, 1, 0), "region_read() has the passes")
cli.ok(2 * PAGES <= read.readings["page-faults"].value < 2 * PAGES + 16, "... and their counts", read)
cli.ok(raised(tare.Error, lambda: tare.regions_start("page-faults:u")) is not None, "a second regions_start() is an error")
cli.done()
