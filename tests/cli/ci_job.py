"""README's CI job of three lines, as printed there, on a small C library with two git revisions that are made here.

The library is a repository `origin` and its clone `work`: the job runs in the clone, whose HEAD is one revision further than origin/main.
"""
import os
import re
import subprocess

README = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../README.md")
LIBRARY = {
    "Makefile": "prog: main.c words.c\n\tcc -O1 -o $@ main.c words.c\n",
    "words.c": """unsigned long letters(const char *text)
{
\tunsigned long n = 0;
\tfor (volatile const char *at = text; *at; at++)
\t\tn += *at >= 'a' && *at <= 'z';
\treturn n;
}
""",
    "main.c": """#include <stdio.h>

unsigned long letters(const char *text);

int main(int argc, char **argv)
{
\tchar line[256];
\tunsigned long n = 0;
\tFILE *in = argc > 1 ? fopen(argv[1], "r") : NULL;
\twhile (in && fgets(line, sizeof line, in))
\t\tn += letters(line);
\treturn printf("%lu\\n", n) < 0;
}
""",
    "input": "".join(f"line {i} of the input, which has some words in it\n" for i in range(100)),
}
# What HEAD has otherwise: as many instructions as before, and more for each letter.
REVISIONS = {
    "renamed": {"main.c": ("*text", "*words"), "words.c": ("unsigned long n = 0;", "unsigned long n = 0; /* letters */")},
    "slower": {"words.c": ("*at <= 'z';", "*at <= 'z' && *at != 'x' && *at != 'q';")},
}
CODES = {"renamed": 0, "slower": 1} # exit codes of the job


def lines():
    """The job, as README prints it."""
    with open(README, encoding="utf-8") as file:
        job = re.search(r"(?ms)^A CI job .*?^```\n(.*?)^```$", file.read())[1]
    assert job.count("\n") == 3 and job.startswith("git fetch") and "\ntare compare" in job, job
    return job


def git(folder, *words):
    settings = [word for name, value in (("user.name", "a"), ("user.email", "a@b"), ("commit.gpgsign", "false"), ("core.hooksPath", "/dev/null"))
                for word in ("-c", f"{name}={value}")]
    # neither the repository of a hook that runs this, nor the user's own settings
    own = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    return subprocess.run(["git", "-C", folder, *settings, *words], check=True, stdin=subprocess.DEVNULL, capture_output=True, text=True,
                          env={**own, "GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_SYSTEM": "/dev/null"}).stdout


def commit(folder, files):
    for name, text in files.items():
        with open(f"{folder}/{name}", "w", encoding="ascii") as file:
            file.write(text)
    git(folder, "add", "-A")
    git(folder, "commit", "-qm", "a change")


def make(folder, revision):
    """The library in a new folder; the clone's path."""
    os.makedirs(f"{folder}/origin")
    git(f"{folder}/origin", "init", "-q")
    git(f"{folder}/origin", "checkout", "-q", "-b", "main")
    commit(f"{folder}/origin", LIBRARY)
    git(folder, "clone", "-q", "origin", "work")
    # a job's clone may be older than what is there: the first line fetches it
    git(f"{folder}/work", "update-ref", "-d", "refs/remotes/origin/main")
    commit(f"{folder}/work", {name: LIBRARY[name].replace(*change) for name, change in REVISIONS[revision].items()})
    return f"{folder}/work"


def run(work, tare, level=None, **environment):
    """The job's end, and what it wrote for CI: its Markdown and its JUnit."""
    os.makedirs(f"{work}/../bin", exist_ok=True)
    if not os.path.lexists(f"{work}/../bin/tare"):
        os.symlink(os.path.abspath(tare), f"{work}/../bin/tare")
    job = lines() if level is None else lines().replace("--reproducible", f"--reproducible --cpu {level}")
    environment = {"PATH": os.path.abspath(f"{work}/../bin") + ":/usr/local/bin:/usr/bin:/bin", "HOME": os.path.abspath(work), "LC_ALL": "C",
                   "TARE_CALIBRATION": "none", "TARE_STORE": "none", **environment}
    done = subprocess.run(["sh", "-e", "-c", job], cwd=work, env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    written = []
    for name in "tare.md", "tare.xml":
        written.append(open(f"{work}/{name}", encoding="utf-8").read() if os.path.exists(f"{work}/{name}") else "")
    return done, *written


def counts(markdown):
    """The instructions of both revisions, as the Markdown has them: "285,293 ± 0"."""
    return re.findall(r"(?m)^\| (?:instructions:u)? \| [^|]+ \| ([^|]*?) \|", markdown)
