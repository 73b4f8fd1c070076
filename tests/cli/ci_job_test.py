"""README's CI job of three lines gates a small C library with two git revisions, as it is printed."""
import xml.dom.minidom

import ci_job
from cli import *

with open("/proc/cpuinfo", encoding="ascii", errors="replace") as file:
    FLAGS = set(re.search(r"(?m)^(?:flags|Features)\s*: (.*)", file.read() + "\nflags : ")[1].split())
LEVEL = None if {"avx2", "bmi1", "bmi2", "f16c", "fma", "movbe", "abm", "xsave"} <= FLAGS else "x86-64-v2"
WHY = next((f"{name} is not installed" for name in ("git", "make", "cc") if not shutil.which(name)), None)
if not WHY and ",exact," not in tare("count", "--on", "exact", "-e", "instructions:u", "--csv", "true").err:
    WHY = "the engine does not work here"

# as in a hook of somebody's repository, who calls remotes otherwise
os.environ.update(GIT_DIR=os.path.abspath("elsewhere"), GIT_CONFIG_GLOBAL=write("gitconfig", "[clone]\n\tdefaultRemoteName = upstream\n"))
GATE = {code: f"| instructions&#60;+1% | HEAD | {word} |" for code, word in enumerate(("passed", "FAILED"))}

for revision, code in ci_job.CODES.items():
    fact = f"the job of a commit that is {revision} ends with {code}"
    if WHY:
        skip(WHY, fact)
        continue
    work = ci_job.make(revision, revision)
    ended, markdown, junit = ci_job.run(work, TARE, LEVEL)
    text = f"{ended.stdout}\n{ended.stderr}\n{markdown}\n{junit}"
    ok(ended.returncode == code, fact, text)
    seen = ci_job.counts(markdown)
    ok(len(seen) == 2 and all(re.fullmatch(r"[\d,]+ ± 0", count) for count in seen), f"{revision}: the Markdown has both counts, which are exact", text)
    ok((seen[0] == seen[1]) == (code == 0), f"{revision}: they are {'equal' if code == 0 else 'different'}", text)
    ok(GATE[code] in markdown, f"{revision}: the Markdown says what the gate found", text)
    suite = xml.dom.minidom.parseString(junit).documentElement
    equal([suite.getAttribute(name) for name in ("tests", "failures", "errors")], ["1", str(code), "0"], f"{revision}: JUnit has one test")
    again, other_markdown, other_junit = ci_job.run(work, TARE, LEVEL)
    equal((again.returncode, other_markdown, other_junit), (code, markdown, junit), f"{revision}: the job says the same when it runs again")
    summary = os.path.abspath("summary.md")
    ci_job.run(work, TARE, LEVEL, GITHUB_STEP_SUMMARY=summary)
    ok(GATE[code] in read(summary), f"{revision}: on GitHub that is in the job's summary", read(summary))
    equal(ci_job.git(work, "status", "--porcelain", "--untracked-files=no"), "", f"{revision}: the work tree is as it was")
ok(not os.path.exists("elsewhere"), "the repository of a hook is left alone")
done()
