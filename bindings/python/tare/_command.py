# SPDX-License-Identifier: MIT
"""Running the command 'tare' and reading what it wrote."""
import os
import shutil
import subprocess
import tempfile

from . import _results
from ._library import Error

try:
    from . import _installed
except ImportError:  # run from the source tree
    _installed = None


def command():
    """The path of the command: TARE_COMMAND if it is set, else that which was installed with this package, else that of PATH."""
    asked = os.environ.get("TARE_COMMAND")
    for path in [asked] if asked else ([_installed.COMMAND] if _installed else []) + ["tare"]:
        found = shutil.which(path)
        if found:
            return os.path.abspath(found)
    raise Error(f"cannot find the command '{asked or 'tare'}'", "install tare, or set TARE_COMMAND to the command's path")


def _listed(option, value):
    if value is None:
        return []
    text = value if isinstance(value, str) else ",".join(value)
    return [option, text]


def count_arguments(events=None, metrics=None, on=None, repeat=None, reproducible=False, options=()):
    """The options of 'tare count' for these."""
    arguments = _listed("-e", events) + _listed("-m", metrics) + _listed("--on", on)
    if repeat is not None:
        arguments += ["-r", str(int(repeat))]
    return arguments + (["--reproducible"] if reproducible else []) + [str(option) for option in options]


def wrote(file):
    """Whether tare came to write a result: what fails at the start leaves no file, or an empty one."""
    return os.path.exists(file) and os.path.getsize(file) > 0


def _text_of(output):
    return (output.decode(errors="replace") if isinstance(output, bytes) else output or "").strip()


def _where_message(run):
    """What to do for tare's message where it was not captured."""
    stream = run.get("stdout") if run.get("stderr") == subprocess.STDOUT else run.get("stderr")
    if stream == subprocess.DEVNULL:
        return "its message was discarded: with stderr=subprocess.PIPE it is in this error"
    return "its message is where standard error goes: with stderr=subprocess.PIPE it is in this error"


def count(program, events=None, metrics=None, on=None, repeat=None, reproducible=False, options=(), **run):
    """Counts events of a program: a list of the program and its arguments. Returns a Count.

    events, metrics: a list of names, or a text with commas. on: "auto", "perf", "exact", "model:host" ... repeat: -r N.
    options: further options of 'tare count'. Other parameters are subprocess.run()'s: cwd, env, stdin, stdout, stderr, timeout.

    The program keeps its standard streams. Its exit status is in the result and raises nothing. Error: tare could not count at
    all; tare's message is on standard error, or in the exception with stderr=subprocess.PIPE. An event that was not counted
    raises nothing either: its value is None.
    """
    if isinstance(program, (str, bytes)):
        raise TypeError("program is a list, such as ['ls', '-l']; for a command line: shlex.split(text)")
    with tempfile.TemporaryDirectory(prefix="tare-") as folder:
        file = os.path.join(folder, "result.json")
        done = subprocess.run([command(), "count", *count_arguments(events, metrics, on, repeat, reproducible, options),
                               "--json", "-o", file, "--", *map(os.fspath, program)], check=False, **run)
        if not wrote(file):
            said = _text_of(done.stdout if run.get("stderr") == subprocess.STDOUT else done.stderr)
            raise Error(f"'tare count' ended with status {done.returncode} and wrote no result"
                        + (f": {said}" if said else ""), "" if said else _where_message(run), done.returncode)
        return _results.read_count(file)
