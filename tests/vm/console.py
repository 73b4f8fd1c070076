"""A guest's console, read while it speaks: what tests/vm/run and tests/vm/cpu/run share.

A guest says `@begin NAME`, what the test prints (TAP), `@end NAME STATUS`, and `@done` when all have run.
"""
import os
import re
import selectors
import subprocess
import time

LAST_LINES = 40


class Tap:
    """Joins the TAP of several programs into one stream: numbers anew, every fact behind its program's name."""

    def __init__(self):
        self.results = self.failed = 0
        self.held = None

    def result(self, passed, fact):
        self.release()
        self.results += 1
        self.failed += not passed
        if passed:
            print(f"ok {self.results} - {fact}", flush=True)
        else:
            self.held = f"not ok {self.results} - {fact}"

    def note(self, text):
        print(f"# {text}", flush=True)

    def release(self):
        """A failure waits for the notes behind it: readers of this stream (tools/run-tests) show those before it."""
        if self.held:
            print(self.held, flush=True)
        self.held = None

    def end(self):
        self.release()
        print(f"1..{self.results}", flush=True)
        return 1 if self.failed or not self.results else 0


class Joiner:
    """Follows the console: which test is running, what it reported, what is still missing."""

    def __init__(self, tap):
        self.tap = tap
        self.test = None       # the one that runs
        self.planned = self.reported = 0
        self.bad = 0
        self.done = False      # the guest said that all tests have run
        self.tests = 0
        self.began = 0.0

    def line(self, line):
        if line.startswith("@"):
            self.tap.release()
        if begin := re.fullmatch(r"@begin (\S+)", line):
            self.test, self.planned, self.reported, self.bad = begin.group(1), None, 0, 0
            self.tests += 1
            self.began = time.monotonic()
        elif end := re.fullmatch(r"@end (\S+) (\d+)", line):
            if not self.planned or self.planned != self.reported:
                self.tap.result(False, f"{self.test}: reports every result (plan {self.planned}, {self.reported} reported, "
                                       f"exit status {end.group(2)})")
            elif int(end.group(2)) and not self.bad:
                self.tap.result(False, f"{self.test}: ends well (exit status {end.group(2)})")
            self.tap.note(f"{self.test}: {self.reported} results in {time.monotonic() - self.began:.1f} s")
            self.test = None
        elif line == "@done":
            self.done = True
        elif result := re.match(r"(not )?ok\b(?: \d+)?(?: - )?(.*)", line):
            self.reported += 1
            self.bad += bool(result.group(1))
            self.tap.result(not result.group(1), f"{self.test}: {result.group(2)}")
        elif plan := re.fullmatch(r"1\.\.(\d+)", line):
            self.planned = int(plan.group(1))
        elif line.strip():
            self.tap.note(line[2:] if line.startswith("# ") else line)


def follow(command, time_out_s, joiner):
    """Runs a machine whose console is its standard output. Returns why it failed, or None; and its last lines."""
    machine = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    last, rest, ends = [], b"", time.monotonic() + time_out_s
    why = None
    with selectors.DefaultSelector() as selector:
        selector.register(machine.stdout, selectors.EVENT_READ)
        while True:
            if not selector.select(max(0, ends - time.monotonic())):
                why = f"not ended after {time_out_s} s"
                break
            data = os.read(machine.stdout.fileno(), 65536)
            if not data:
                break
            *lines, rest = (rest + data).split(b"\n")
            for raw in lines:
                line = raw.decode(errors="replace").rstrip("\r")
                last = [*last, line][-LAST_LINES:]
                joiner.line(line)
    if why:
        machine.kill()
    status = machine.wait()
    if rest:
        last.append(rest.decode(errors="replace"))
    if not why and not joiner.done:
        why = f"it ended before its tests had (qemu's exit status {status})"
    return why, last


def report(tap, joiner, why, last):
    """One more failure when the guest did not live until its tests were done."""
    if not why:
        return
    tap.note(f"the guest's last {len(last)} lines:")
    for line in last:
        tap.note(f"  | {line}")
    where = f" in {joiner.test}" if joiner.test else ""
    tap.result(False, f"the guest lives until its tests are done: {why}{where}")


def prepare(tap, command):
    """Prepares a guest; if that fails, one failed result with the last lines."""
    done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          errors="replace", check=False)
    if done.returncode:
        for line in done.stdout.splitlines()[-LAST_LINES:]:
            tap.note(line)
        tap.result(False, "the test guest can be prepared (without network: TARE_NO_GUEST=1 leaves its tests out)")
    return done.returncode == 0
