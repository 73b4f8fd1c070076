"""tare.region: what is entered and left, by the engine's own account, which counts the program's marks and not this package."""
import asyncio

import package
from package import cli, counted, raised, tare

HEAD = "import sys, tare\n"


def passes(result):
    return {region.name: (region.entries, region.exits, region.threads, region.unbalanced_threads) for region in result.regions}


result = counted(HEAD + """
with tare.region("outer"):
    for _ in range(3):
        with tare.region("inner"):
            pass

def again(n):
    with tare.region("recursive"):
        return n and again(n - 1)
again(4)

for _ in range(2):
    try:
        with tare.region("raises"):
            raise KeyError
    except KeyError:
        pass

@tare.region("function")
def function(a, *, b):
    '''its text'''
    return a + b
assert (function(1, b=2), function.__name__, function.__doc__) == (3, "function", "its text")

a, b = tare.region("a"), tare.region("b")
a.__enter__(); b.__enter__(); a.__exit__(); b.__exit__()

with tare.region("naïve ☃"):
    pass
with tare.region("not left"):
    sys.exit(0)
""")
cli.equal(result.status, 0, "the program ends as without tare")
seen = passes(result)
cli.equal(seen.get("outer"), (1, 1, 1, 0), "'with' enters and leaves")
cli.equal(seen.get("inner"), (3, 3, 1, 0), "regions nest")
cli.equal(seen.get("recursive"), (1, 1, 1, 0), "recursion is one pass, as libtare defines it")
cli.equal(seen.get("raises"), (2, 2, 1, 0), "an exception leaves the region")
cli.equal(seen.get("function"), (1, 1, 1, 0), "a decorated function is a region, and stays the function that it was")
cli.equal((seen.get("a"), seen.get("b")), ((1, 1, 1, 0), (1, 1, 1, 0)), "regions overlap")
cli.equal(seen.get("naïve ☃"), (1, 1, 1, 0), "a name is any text")
cli.equal(seen.get("not left"), (1, 1, 1, 0), "sys.exit() leaves the regions it is in: it is an exception")
inner, outer = (result.regions[name]["instructions"].value for name in ("inner", "outer"))
cli.ok(0 < inner < outer, "what is in the inner region is in the outer one", (inner, outer))

GENERATORS = HEAD + """
import asyncio
@tare.region("generator")
def numbers():
    got = yield 1
    try:
        yield got + 1
    except KeyError:
        yield 7
    return 3
def through():
    return (yield from numbers())
i = through()
assert (next(i), i.send(5), i.throw(KeyError())) == (1, 6, 7)
try:
    next(i)
except StopIteration as end:
    assert end.value == 3

left = []
@tare.region("closed")
def closed():
    try:
        yield 1
    finally:
        left.append(1)
i = closed(); next(i); i.close()
assert left == [1]

@tare.region("coroutine")
async def twice(n):
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    return 2 * n
async def main():
    return await asyncio.gather(twice(1), twice(2))
assert asyncio.run(main()) == [2, 4]
"""
seen = passes(counted(GENERATORS))
cli.equal(seen.get("generator"), (4, 4, 1, 0), "a generator is in the region while it runs: next, send, throw, next")
cli.equal(seen.get("closed"), (2, 2, 1, 0), "closing a generator runs its end in the region")
cli.equal(seen.get("coroutine"), (6, 6, 1, 0), "a coroutine is in the region while it runs: two of three pieces each, which do not overlap")


async def numbers():
    yield 1

error = raised(TypeError, lambda: tare.region("async")(numbers))
cli.has(str(error), "asynchronous generator numbers()", "an asynchronous generator is refused, not counted by its creation alone")
cli.ok(asyncio.iscoroutinefunction(tare.region("co")(asyncio.sleep)), "a decorated coroutine function is one still")

WORK = """
def work(n):
    for i in itertools.repeat(None, n):
        pass
def one(n, inside):
    with inside:
        work(n)
warm = tare.region("warm")
kinds = [(n, tare.region(str(n))) for n in (10000, 20000, 30000)]
for n in range(100):  # the interpreter adapts its code to what it sees
    one(n, warm)
for n, inside in kinds:
    one(n, inside)
"""
first, second = (counted(HEAD + "import itertools\n" + WORK) for _ in range(2))
values = [[region["instructions"].value for region in result.regions] for result in (first, second)]
cli.equal(values[0], values[1], "regions of a deterministic program count the same each time, to the instruction")
at = {region.name: region["instructions"].value for region in first.regions}
cli.equal(at["20000"] - at["10000"], at["30000"] - at["20000"], "of a loop, 10000 iterations more count as many instructions each time")

THREADS = HEAD + """
import threading
def run(n):
    with tare.region("thread"):
        for _ in range(n):
            pass
threads = [threading.Thread(target=run, args=(100,)) for _ in range(3)]
with tare.region("main"):
    for thread in threads: thread.start()
    for thread in threads: thread.join()
"""
seen = passes(counted(THREADS))
cli.equal((seen.get("thread"), seen.get("main")), ((3, 3, 3, 0), (1, 1, 1, 0)), "each thread enters and leaves for itself")

FORK = HEAD + """
import os
with tare.region("parent"):
    pid = os.fork()
    if pid:
        os.waitpid(pid, 0)
if not pid:
    with tare.region("child"):
        pass
    os._exit(0)
"""
seen = passes(counted(FORK))
cli.equal((seen.get("parent", ())[:2], seen.get("child", ())[:2]), ((2, 2), (1, 1)),
          "a child that is forked in a region is inside of it, under the engine")

# libtare's own account, without the engine
cli.write("script.py", HEAD + """
with tare.region("once"):
    pass
""")
done = cli.subprocess.run([cli.sys.executable, "script.py"], stderr=cli.subprocess.PIPE, text=True, check=False,
                          env=dict(cli.os.environ, TARE_EVENTS="page-faults:u", TARE_FORMAT="csv"))
cli.has(done.stderr, "once", "with TARE_EVENTS, libtare reports the region at exit")

error = raised(tare.Error, lambda: tare.region("a\0b"))
cli.has(str(error), "0 byte", "a name with a 0 byte is refused")
cli.ok(raised(TypeError, lambda: tare.region(7)) is not None, "a name that is no text is refused")
error = raised(tare.Error, lambda: tare.region(""))
cli.ok(error is not None and error.code == 1, "an empty name is refused, with libtare's code", error)

done = cli.subprocess.run([cli.sys.executable, "-c", "import tare; tare.region('x')"], stderr=cli.subprocess.PIPE, text=True, check=False,
                          env=dict(cli.os.environ, TARE_LIBRARY="/nowhere/libtare.so.0"))
cli.has(done.stderr, "set TARE_LIBRARY to the path of libtare.so.0", "without libtare, a region is an error that says what to do")
cli.done()
