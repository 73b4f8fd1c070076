"""Where a modelled run's time goes: samples of perf by the function of the runtime that they are in, grouped by its file."""
import collections
import glob
import os
import re
import shutil
import subprocess
from bisect import bisect

import programs

# which part of the work a file of the runtime or of the models does; a function that was inlined counts as its caller's
PARTS = {
    "run loop": "fast vectors run plan model",
    "not found inline": "inline inline_vectors inline_run",
    "caches": "hierarchy lines coherence classify deferred",
    "TLBs, steps": "tlb step hits",
    "branches": "branch branch_run headers tage tage_batch targets direction perceptron",
    "streaming": "stream_run stream_plan stream_follow stream_code stream_objects",
}
REST, CODE, KERNEL, OTHER = "translating, rest", "program and emission", "kernel", "tare itself"
SAMPLES_PER_SECOND = 1000


def functions(build):
    """The runtime's functions by address, each with its part of the work; None when the build keeps no such file."""
    work = os.path.join(build, "src/engine/runtime/engine_runtime.bin.p")
    elf = os.path.join(work, "runtime.elf")
    if not os.path.exists(elf):
        return None
    part_of = {name: part for part, names in PARTS.items() for name in names.split()}
    source, found = {}, []
    for path in glob.glob(os.path.join(work, "*.o")):
        name = re.sub(r"^[a-z0-9]+-|\.[cS]\.o$", "", os.path.basename(path))
        for line in subprocess.run(["nm", path], capture_output=True, text=True).stdout.splitlines():
            fields = line.split()
            if len(fields) == 3 and fields[1] in "tT":
                source[fields[2]] = name
    for line in subprocess.run(["nm", "-n", elf], check=True, capture_output=True, text=True).stdout.splitlines():
        fields = line.split()
        if len(fields) == 3 and fields[1] in "tT":
            # the copies for CPUs with vectors have a prefix or a suffix of their own
            file = source.get(fields[2]) or source.get(re.sub(r"^vector_|_vector$", "", fields[2]), "")
            found.append((int(fields[0], 16), fields[2], part_of.get(file, REST)))
    return found


def sample(command, stdin, data):
    """Lines of perf script, of one run of the command; None when perf cannot."""
    with open(stdin or "/dev/null", "rb") as file:
        done = subprocess.run(["perf", "record", "-q", "-e", "cpu-clock", "-F", str(SAMPLES_PER_SECOND), "-o", data, "--"] + command, stdin=file,
                              stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=programs.ENVIRONMENT)
    if done.returncode != 0:
        return None
    shown = subprocess.run(["perf", "script", "-i", data, "-F", "pid,ip,dso", "--show-mmap-events"], capture_output=True, text=True)
    return shown.stdout.splitlines() if shown.returncode == 0 else None


def attribute(lines, symbols):
    """{part: samples}, {function: samples}. The runtime's image is the one executable mapping of the record in each process."""
    bases, parts, names = {}, collections.Counter(), collections.Counter()
    starts = [s[0] for s in symbols]
    for line in lines:
        mapped = re.search(r"PERF_RECORD_MMAP2? (\d+)/\d+: \[0x([0-9a-f]+)\(0x([0-9a-f]+)\).*rwxp /memfd:tare-engine", line)
        if mapped:
            bases[mapped[1]] = int(mapped[2], 16), int(mapped[3], 16)
            continue
        hit = re.match(r"\s*(\d+)\s+([0-9a-f]+) \((.*)\)$", line)
        if not hit:
            continue
        ip, (base, size) = int(hit[2], 16), bases.get(hit[1], (0, 0))
        if "tare-engine" in hit[3] and base <= ip < base + size:
            at = bisect(starts, ip - base) - 1
            parts[symbols[at][2] if at >= 0 else REST] += 1
            names[symbols[at][1] if at >= 0 else "?"] += 1
        elif "kernel" in hit[3]:
            parts[KERNEL] += 1
        elif hit[1] in bases:
            parts[CODE] += 1
        else:
            parts[OTHER] += 1
    return parts, names


def where_the_time_goes(build, work, nine, prefix):
    """A table of shares, and the functions that take most of the samples of all programs together."""
    symbols = functions(build)
    if not shutil.which("perf") or not symbols:
        return "Where the time goes: not shown, there is no %s." % ("perf here" if symbols else "runtime.elf in the build")
    heads = [CODE] + list(PARTS) + [REST, KERNEL, OTHER]
    rows, all_names = [["of the CPU time, %"] + heads + ["samples"]], collections.Counter()
    for p, (command, stdin) in nine.items():
        lines = sample(prefix + command, stdin, os.path.join(work, "perf.data"))
        if lines is None:
            return "Where the time goes: not shown, perf record cannot sample cpu-clock here."
        parts, names = attribute(lines, symbols)
        total = sum(parts.values())
        all_names.update(names)
        rows.append([p] + ["%.1f" % (100 * parts[h] / total) for h in heads] + [f"{total:,}"])
    total = sum(all_names.values())
    most = ", ".join("%s %.1f %%" % (name, 100 * n / total) for name, n in all_names.most_common(12))
    return "Where the time of `host` goes (samples of perf; a function by its file, what was inlined into it included):\n\n" + \
        programs.table(rows) + "\n\nOf the runtime's samples, all programs: " + most + "."
