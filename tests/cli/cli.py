"""What the tests of the command share: running it as a user does, and TAP.

Each test is started with the path of the built tare as its only argument. Nothing here depends on how long
something takes: what must happen first is waited for.
"""
import ctypes
import fcntl
import json
import os
import pty
import re
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import termios

TARE = os.path.abspath(sys.argv[1]) if len(sys.argv) > 1 else "tare"
TIME_OUT_S = 600
try:
    import jsonschema
except ImportError:
    jsonschema = None
with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../docs/result.schema.json"),
          encoding="utf-8") as _file:
    SCHEMA = json.load(_file)

_run = _failed = 0
_folder = tempfile.mkdtemp(prefix="tare-cli-")
os.chdir(_folder)


class Done:
    """How a command ended: code (negative: the signal that ended it), out, err."""

    def __init__(self, code, out, err):
        self.code, self.out, self.err = code, out, err

    def __str__(self):
        return f"code {self.code}\nout: {self.out[-3000:]}\nerr: {self.err[-3000:]}"


def environment(**changes):
    """The tests' own environment: no colours, messages in English, and what is changed (None: removed)."""
    env = dict(os.environ, LC_ALL="C.UTF-8", TZ="UTC", TARE_CALIBRATION="none", TARE_COSTS="none", TARE_STORE="none")
    env.pop("NO_COLOR", None)
    for name, value in changes.items():
        if value is None:
            env.pop(name, None)
        else:
            env[name] = value
    return env


def silent_tracing(**changes):
    """An environment in which this kernel's tracing seems not to answer: a note says that this process waits for it."""
    folder = os.path.abspath("silent")
    os.makedirs(folder, exist_ok=True)
    with open("/proc/sys/kernel/random/boot_id", encoding="ascii") as boot, open("/proc/self/stat", encoding="utf-8") as stat, \
            open(f"{folder}/tare-tracing-{boot.read().strip()}", "w", encoding="ascii") as note:
        note.write(f"{os.getpid()} {stat.read().rpartition(')')[2].split()[19]}\n")
    return environment(XDG_RUNTIME_DIR=folder, **changes)


def tare(*arguments, stdin=b"", env=None, stdout=subprocess.PIPE, stderr=subprocess.PIPE, **more):
    """Runs tare to its end; stdin is bytes, or a file."""
    source = {"input": stdin} if isinstance(stdin, bytes) else {"stdin": stdin}
    done = subprocess.run([TARE, *arguments], stdout=stdout, stderr=stderr, env=env or environment(),
                          timeout=TIME_OUT_S, **source, **more)
    return Done(done.returncode, (done.stdout or b"").decode("utf-8", "surrogateescape"),
                (done.stderr or b"").decode("utf-8", "surrogateescape"))


def refuse(number, error=1):
    """In the child, before its exec: this call has EPERM, or another error, from now on, in all that it starts."""
    libc = ctypes.CDLL(None, use_errno=True)
    load, equal, give = 0x20, 0x15, 0x06
    rules = struct.pack("<" + 4 * "HBBI", load, 0, 0, 0, equal, 0, 1, number, give, 0, 0, 0x00050000 | error, give, 0, 0, 0x7fff0000)
    text = ctypes.create_string_buffer(rules)
    filter_ = ctypes.create_string_buffer(struct.pack("<HxxxxxxQ", 4, ctypes.addressof(text)))
    if libc.prctl(38, 1, 0, 0, 0) or libc.prctl(22, 2, filter_, 0, 0):
        raise OSError(ctypes.get_errno(), "no filter")


def start(*arguments, **more):
    more = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE,
            "env": environment(), **more}
    return subprocess.Popen([TARE, *arguments], **more)


def finish(process):
    out, err = process.communicate(timeout=TIME_OUT_S)
    return Done(process.returncode, (out or b"").decode(errors="replace"), (err or b"").decode(errors="replace"))


def on_terminal(columns, *arguments, stdin=subprocess.DEVNULL, stdout=None, **env):
    """All that tare writes to a terminal of that width, which is its standard error and, unless stdout says otherwise, its output."""
    terminal, other = pty.openpty()
    fcntl.ioctl(other, termios.TIOCSWINSZ, struct.pack("HHHH", 40, columns, 0, 0))
    run = start(*arguments, stdin=stdin, stdout=other if stdout is None else stdout, stderr=other,
                env=environment(**{"TERM": "xterm-256color", **env}))
    os.close(other)
    text = b""
    while True:
        try:
            part = os.read(terminal, 65536)
        except OSError:  # EIO: nobody has the other end any more
            break
        if not part:
            break
        text += part
    os.close(terminal)
    return Done(run.wait(TIME_OUT_S), text.decode(errors="replace").replace("\r\n", "\n"), "")


def shown_on_terminal(columns, *arguments, **env):
    """What stays on it: without escape sequences and lines that were written over."""
    text = on_terminal(columns, *arguments, **{"TERM": "dumb", **env}).out
    return re.sub(r"\x1b\[[0-9;]*[A-Za-z]", "", text).split("\r")[-1]


def write(name, text, mode=0o644):
    """A file in the test's folder; its path."""
    with open(name, "wb") as file:
        file.write(text if isinstance(text, bytes) else text.encode())
    os.chmod(name, mode)
    return os.path.join(_folder, name)


def read(name):
    with open(name, encoding="utf-8", errors="replace") as file:
        return file.read()


def ok(holds, fact, seen=None):
    global _run, _failed
    _run += 1
    print(f"{'' if holds else 'not '}ok {_run} - {fact}", flush=True)
    if not holds:
        _failed += 1
        if seen is not None:
            print("# seen: " + str(seen).replace("\n", "\n# "), flush=True)
    return bool(holds)


def every(facts):
    """As all(), but of nothing nothing is true."""
    facts = list(facts)
    return bool(facts) and all(facts)


def equal(seen, expected, fact):
    return ok(seen == expected, fact, f"{seen!r}\nexpected: {expected!r}")


def has(text, part, fact):
    """part is a text, or a compiled pattern. Every text has the empty one."""
    assert part, fact
    found = part.search(text) if isinstance(part, re.Pattern) else part in text
    return ok(found, fact, f"{text}\nexpected in it: {part}")


def has_not(text, part, fact):
    found = part.search(text) if isinstance(part, re.Pattern) else part in text
    return ok(not found, fact, f"{text}\nexpected not in it: {part}")


def skip(reason, fact):
    global _run
    _run += 1
    print(f"ok {_run} - {fact} # SKIP {reason}", flush=True)


def no_constant(name):
    raise ValueError(f"{name} is not JSON")


def parsed(text, fact):
    """The result in text, checked against docs/result.schema.json."""
    try:
        result = json.loads(text, parse_constant=no_constant)
    except ValueError as error:
        ok(False, f"{fact}: is JSON", f"{error}\n{text}")
        return None
    if jsonschema:
        errors = [f"{list(error.absolute_path)}: {error.message}"
                  for error in jsonschema.Draft202012Validator(SCHEMA).iter_errors(result)]
        ok(not errors, f"{fact}: obeys the schema", "\n".join(errors) + "\n" + text)
    else:
        skip("python3-jsonschema is not installed", f"{fact}: obeys the schema")
    return result


def done():
    os.chdir("/")
    shutil.rmtree(_folder, ignore_errors=True)
    print(f"1..{_run}")
    sys.exit(1 if _failed else 0)
