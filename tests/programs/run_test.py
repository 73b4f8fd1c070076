"""run tells apart what a tare can do wrong: made-up tares, each wrong in one way, on the row of `true`."""
import os
import subprocess
import sys
import tempfile

RUN = os.path.join(os.path.dirname(os.path.abspath(__file__)), "run")
START = '#!/bin/bash\nwhile [ $# -gt 0 ] && [ "$1" != -o ]; do shift; done; report=$2; shift 3\n'
KNOWN = """echo '{"results": [{"event": "instructions:u", "value": 97154, "source": "exact"}]}' > $report\n"""
UNKNOWN = """echo '{"results": [{"value": null, "why": "not exact: process 12 (x): it ended", "source": "none"}]}' > $report\n"""
CASES = [
    ("a count, and all as native, passes", KNOWN + '"$@"', True, "97154 instructions"),
    ("another exit status fails", KNOWN + '"$@"; exit 3', False, "# differs: ends with status 3, natively with status 0"),
    ("more output fails", KNOWN + '"$@"; echo more', False, "# differs: line 1: native '(nothing)', engine 'more'"),
    ("a signal fails", KNOWN + "kill -SEGV $$", False, "# crashed: ends with signal 11"),
    ("no end fails", KNOWN + "sleep 30", False, "# hung: no end after 1 s"),
    ("a reason in place of a count fails", UNKNOWN + '"$@"', False, "# not exact: process N (x): it ended"),
    ("no report fails", '"$@"', False, "# not exact: no report"),
    ("a report that is cut off fails", "echo '{\"results\": [' > $report\n\"$@\"", False, "# not exact: "),
    ("a count of 0 fails", KNOWN.replace("97154", "0") + '"$@"', False, "# not exact: value 0 of 'exact'"),
    ("a count from elsewhere fails", KNOWN.replace('"exact"', '"perf"') + '"$@"', False, "# not exact: value 97154 of 'perf'"),
    ("a refusal fails where none is expected", "echo 'tare: cannot' >&2; exit 125", False, "# refused: cannot"),
]

failed = 0
print("1..%d" % len(CASES))
with tempfile.TemporaryDirectory(prefix="tare-run-test-") as folder:
    for number, (fact, script, passes, says) in enumerate(CASES, 1):
        tare = os.path.join(folder, "tare")
        with open(tare, "w", encoding="utf-8") as file:
            file.write(START + script + "\n")
        os.chmod(tare, 0o755)
        # the others have a minute: a loaded machine may need some seconds of it
        factor = "0.02" if says.startswith("# hung") else "1"
        seen = subprocess.run([sys.executable, "-B", RUN, "--core", "--only", "true", "--timeout-factor", factor, "--tare", tare],
                              capture_output=True, text=True, timeout=600)
        right = (seen.returncode == 0) == passes and says in seen.stdout and seen.stdout.count("ok 1 - true") == 1
        failed += not right
        print("%sok %d - %s" % ("" if right else "not ", number, fact))
        if not right:
            print("\n".join("# " + line for line in (seen.stdout + seen.stderr).splitlines()))
sys.exit(1 if failed else 0)
