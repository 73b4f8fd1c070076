"""What the tests of the Python package share: the package of this tree with this build's command and library, and the facts of tests/cli/cli.py."""
import json
import os
import sys

LIBRARY, PACKAGE = map(os.path.abspath, sys.argv[2:4])  # before tests/cli/cli.py goes to a folder of its own
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../cli"))
import cli  # noqa: E402

sys.path.insert(0, PACKAGE)
os.environ.update(PYTHONPATH=PACKAGE, TARE_COMMAND=cli.TARE, TARE_LIBRARY=LIBRARY, TARE_STORE="none", TARE_CALIBRATION="none",
                  PYTHONDONTWRITEBYTECODE="1", LC_ALL="C.UTF-8")
for _name in ("TARE_EVENTS", "TARE_OUTPUT", "PYTHONHASHSEED", "PYTEST_ADDOPTS", "PYTEST_PLUGINS", "PYTEST_DISABLE_PLUGIN_AUTOLOAD"):
    os.environ.pop(_name, None)

import tare  # noqa: E402

ENGINE = os.uname().machine == "x86_64"


def counted(script, *options, events="instructions"):
    """The Count of a script, by the engine, all alike."""
    cli.write("script.py", script)
    return tare.count([sys.executable, "script.py"], events=events, on="exact", reproducible=True, options=options,
                      env=dict(os.environ, PYTHONHASHSEED="0"))


def raised(kind, call):
    """The exception of this kind that a call raises; None if it raises none."""
    try:
        call()
    except kind as error:
        return error
    return None


def copy(data):
    return json.loads(json.dumps(data))
