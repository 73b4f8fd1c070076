"""`tare count --openmetrics`: text by the specification (read here by a parser of its own, and by Prometheus's where they are
installed), to a file, at each interval, and served while counting."""
import os
import re
import shutil
import signal
import socket
import subprocess
import time
import urllib.request

from cli import *

LABEL = r'([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\["\\n])*)"'
SAMPLE = re.compile(r'([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{((?:%s)(?:,%s)*)?\})? (\S+)' % (LABEL, LABEL))
SUFFIX = {"counter": "_total", "gauge": "", "info": "_info"}


def exposition(text, fact):
    """The samples, [(name, labels, value)], of a text that keeps OpenMetrics 1.0's grammar and rules."""
    families, samples, wrong, current, seen = {}, [], [], None, set()
    lines = text.split("\n")
    if lines[-2:] != ["# EOF", ""]:
        wrong.append("it does not end in # EOF")
    for line in lines[:-2]:
        if line.startswith("# "):
            kind, name, rest = (line[2:].split(" ", 2) + [""])[:3]
            if name != current and name in families:
                wrong.append(f"{name}: its lines are not together")
            if name != current and kind != "TYPE":
                wrong.append(f"{name}: begins with {kind}")
            current = name
            about = families.setdefault(name, {})
            if kind in about or about.get("samples"):
                wrong.append(f"{name}: {kind} twice, or behind its samples")
            about[kind] = rest
            if kind == "UNIT" and not name.endswith("_" + rest):
                wrong.append(f"{name} does not end in its unit {rest}")
            continue
        match = SAMPLE.fullmatch(line)
        if not match:
            wrong.append(f"no sample: {line}")
            continue
        name, labels, value = match[1], match[2] or "", match[match.lastindex]
        about = families.get(current, {})
        if name != (current or "") + SUFFIX.get(about.get("TYPE"), "?"):
            wrong.append(f"{name} in the family {current} of type {about.get('TYPE')}")
        if "HELP" not in about:
            wrong.append(f"{name}: no HELP")
        if (name, labels) in seen:
            wrong.append(f"twice: {line}")
        seen.add((name, labels))
        about["samples"] = True
        if about.get("TYPE") == "counter" and float(value) < 0:
            wrong.append(f"below 0: {line}")
        samples.append((name, dict(re.findall(LABEL, labels)), float(value)))
    ok(not wrong, f"{fact}: OpenMetrics", wrong)
    return samples


def values(samples, name):
    return [value for is_name, _, value in samples if is_name == name]


def states(samples):
    return {labels["event"]: (value, labels.get("why")) for name, labels, value in samples if name == "tare_event_counted"}


# ---- a file ----
seen = tare("count", "--json", "--openmetrics", "counts.om", "-e", "page-faults,task-clock,major-faults,returns-far-away-from-here", "true")
ok(seen.code == 2, "an unknown event is refused as ever", seen)
ok(not os.path.exists("counts.om"), "and leaves no file")
seen = tare("count", "--json", "--openmetrics", "counts.om", "-e", "page-faults,task-clock,major-faults,cycles", "true")
rows = {row["event"]: row for row in parsed(seen.err, "beside JSON")["results"]}
samples = exposition(read("counts.om"), "a program's counts")
equal(values(samples, "tare_page_faults_total"), [rows["page-faults"]["value"]], "the file has the report's count")
equal(values(samples, "tare_task_clock_seconds_total"), [rows["task-clock"]["value"] / 1e9], "a time in seconds")
equal(values(samples, "tare_major_faults_total"), [rows["major-faults"]["value"]], "a small count, mostly 0, too")
known = rows["cycles"]["value"] is not None
equal(len(values(samples, "tare_cycles_total")), int(known), "what is not counted has no sample")
ok(states(samples)["cycles"][0] == known and (known or states(samples)["cycles"][1]), "and says why", states(samples))
equal(states(samples)["page-faults"], (1, None), "what is counted is marked so")
equal(os.listdir(".").count("counts.om"), 1, "no temporary file is left")
equal([name for name in os.listdir(".") if name.startswith("counts.om.")], [], "none at all")

seen = tare("count", "-q", "--openmetrics", "-", "-e", "page-faults", "true")
ok(values(exposition(seen.out, "standard output"), "tare_page_faults_total"), "-: standard output", seen)
os.symlink("/proc/self/fd/1", "to-stdout")
seen = tare("count", "-q", "--openmetrics", "to-stdout", "-e", "page-faults", "true")
ok(os.path.islink("to-stdout") and values(exposition(seen.out, "a link to it"), "tare_page_faults_total"), "a link such as /dev/stdout stays, and is written to", seen)
write('odd "name\\\n', "#!/bin/sh\n", 0o755)
seen = tare("count", "--openmetrics", "-", "-e", "page-faults", './odd "name\\\n')
labels = [labels for name, labels, _ in exposition(seen.out, "a program of an odd name") if name == "tare_info"][0]
equal(labels["target"], './odd \\"name\\\\\\n', "its name is escaped")
equal(labels["version"], tare("version").out.split()[1], "tare's version")
seen = tare("count", "--openmetrics", "-", "-r", "3", "-e", "page-faults", "true")
ok("# TYPE tare_page_faults gauge" in seen.out, "a mean of repetitions is a gauge")
seen = tare("count", "--openmetrics", "-", "--per-cpu", "-a", "--for", "0.1", "-e", "cpu-clock")
samples = [labels for name, labels, _ in exposition(seen.out, "CPUs") if name == "tare_cpu_clock_seconds_total"]
equal([int(labels["cpu"]) for labels in samples], sorted(os.sched_getaffinity(0)) if len(samples) == len(os.sched_getaffinity(0)) else
      sorted(int(labels["cpu"]) for labels in samples), "a sample for each CPU, and none of all")
seen = tare("count", "--openmetrics", "no/such/folder/x.om", "true")
ok(seen.code == 3 and "no/such/folder" in seen.err and "no such file" in seen.err, "a file that cannot be written is said before anything runs", seen)

# ---- so far, at each interval ----
write("wait.sh", "while [ ! -e go-on ]; do sleep 0.02; done\n")
process = start("count", "-I", "20", "--json", "--openmetrics", "far.om", "-e", "page-faults,task-clock,elapsed-time", "sh", "wait.sh")
before, times = 0, 0
while times < 5:
    text = read("far.om") if os.path.exists("far.om") else ""
    faults = re.search(r"^tare_page_faults_total\{.*\} (\d+)$", text, re.M)
    if faults and int(faults[1]) > before:
        ok(text.endswith("# EOF\n"), "the file is whole while it is replaced")
        before, times = int(faults[1]), times + 1
    time.sleep(0.005)
write("go-on", "")
done_ = finish(process)
rows = [json.loads(line) for line in done_.err.splitlines()]
samples = exposition(read("far.om"), "so far")
equal(values(samples, "tare_page_faults_total"), [sum(row["counts"][0]["value"] for row in rows[:-1])], "the last one is the sum of all intervals")
equal(states(samples)["elapsed-time"], (0, "its count is known at the end only"), "what no interval has says why")

# ---- served ----
def serving(process):
    """Where it serves: said before anything is counted."""
    line = process.stderr.readline().decode()
    match = re.search(r"http://\S+/metrics", line)
    ok(bool(match), "it says where it serves", line)
    return match[0]


def ask(url, accept=None):
    request = urllib.request.Request(url, headers={"Accept": accept} if accept else {})
    with urllib.request.urlopen(request, timeout=TIME_OUT_S) as answer:
        return answer.headers["Content-Type"], answer.read().decode()


def ask_until(url, accept=None):
    """Its first answers may be that nothing has been read yet (503)."""
    while True:
        try:
            return ask(url, accept)
        except urllib.error.HTTPError as error:
            if error.code != 503:
                raise
            time.sleep(0.02)


OPEN = "application/openmetrics-text;version=1.0.0,text/plain;version=0.0.4;q=0.5"
process = start("count", "-I", "30", "-a", "--openmetrics", ":0", "-e", "page-faults,cpu-clock,cycles", "-o", "served.txt")
url = serving(process)
ok(url.startswith("http://127.0.0.1:"), "on this machine alone", url)
kind, text = ask_until(url, OPEN)
equal(kind, "application/openmetrics-text; version=1.0.0; charset=utf-8", "who accepts OpenMetrics gets it")
first = values(exposition(text, "served"), "tare_cpu_clock_seconds_total")[0]
while True:
    later = values(exposition(ask(url, OPEN)[1], "served again"), "tare_cpu_clock_seconds_total")[0]
    if later != first:
        break
    time.sleep(0.02)
ok(later > first, "counts so far grow", (first, later))
kind, older = ask(url)
equal(kind, "text/plain; version=0.0.4; charset=utf-8", "everybody else gets the older format")
ok("# EOF" not in older and "# TYPE tare_cpu_clock_seconds_total counter\n" in older, "which has no EOF", older)
host, port = re.search(r"//(.*):(\d+)/", url).groups()


def raw(request, shut=True):
    with socket.create_connection((host, int(port)), timeout=TIME_OUT_S) as connection:
        connection.sendall(request)
        got = b""
        while part := connection.recv(65536):
            got += part
        return got.decode()


for request, status in ((b"GET /other HTTP/1.1\r\n\r\n", "404"), (b"POST /metrics HTTP/1.1\r\n\r\n", "405"), (b"nonsense\r\n\r\n", "400"),
                        (b"GET / HTTP/1.0\r\n\r\n", "200"), (b"GET /" + b"x" * 9000, "431")):
    try:
        got = raw(request)
    except ConnectionError:
        got = "HTTP/1.1 431" if status == "431" else ""  # closed while it was still being sent to
    ok(got.startswith(f"HTTP/1.1 {status}"), f"{request[:20]}: {status}", got)
head = raw(b"HEAD /metrics HTTP/1.1\r\n\r\n")
ok(head.startswith("HTTP/1.1 200") and head.endswith("\r\n\r\n") and "Content-Length: " in head, "HEAD: no body", head)
slow = [socket.create_connection((host, int(port)), timeout=TIME_OUT_S) for _ in range(20)]
for connection in slow:
    connection.sendall(b"GET /met")
ok("tare_cpu_clock" in ask(url)[1], "clients that send nothing hold nobody up")
for connection in slow:
    connection.close()
second = tare("count", "--openmetrics", f":{port}", "-a", "--for", "0.1")
ok(second.code == 3 and f":{port}" in second.err and "in use" in second.err, "a port that is taken: said, with what to do", second)

tare("count", "--openmetrics", "counts.prom", "-m", "faults-per-second", "-e", "page-faults,task-clock,peak-memory,cycles", "true")
ok("# EOF" not in read("counts.prom") and "# TYPE tare_page_faults_total counter" in read("counts.prom"), "a .prom file has the older format", read("counts.prom"))
if shutil.which("promtool"):
    for name, text in (("served", older), ("a .prom file", read("counts.prom"))):
        checked = subprocess.run(["promtool", "check", "metrics"], input=text.encode(), stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        ok(checked.returncode == 0 and not checked.stdout, f"promtool check metrics: {name}", checked.stdout.decode())
else:
    skip("prometheus is not installed", "promtool check metrics")
try:
    from prometheus_client.openmetrics.parser import text_string_to_metric_families
    families = {family.name: family for family in text_string_to_metric_families(ask(url, OPEN)[1])}
    ok(families["tare_cpu_clock_seconds"].type == "counter" and families["tare_cpu_clock_seconds"].unit == "seconds",
       "Python's prometheus_client reads it", families)
except ImportError:
    skip("python3-prometheus-client is not installed", "Python's prometheus_client reads it")

if shutil.which("prometheus"):
    write("prometheus.yml", f"""\
global: {{scrape_interval: 200ms, scrape_timeout: 200ms}}
scrape_configs:
  - job_name: tare
    static_configs: [{{targets: ["{host}:{port}"]}}]
""")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        own = free.getsockname()[1]
    with open("prometheus.log", "w") as log:
        server = subprocess.Popen(["prometheus", "--config.file=prometheus.yml", "--storage.tsdb.path=tsdb", f"--web.listen-address=127.0.0.1:{own}"],
                                  stdout=log, stderr=log)

    def query(what):
        """[{metric, value}], once Prometheus has some."""
        until = time.monotonic() + TIME_OUT_S / 2
        while time.monotonic() < until and server.poll() is None:
            try:
                found = json.loads(ask(f"http://127.0.0.1:{own}/api/v1/query?query={what}")[1])["data"]["result"]
                if found:
                    return found
            except OSError:
                pass
            time.sleep(0.1)
        return []

    try:
        found = query("tare_cpu_clock_seconds_total")
        ok(len(found) == 1 and float(found[0]["value"][1]) >= later and found[0]["metric"]["source"] == "os", "Prometheus scrapes it", (found, read("prometheus.log")))
        found = query("max_over_time(up[1h])")  # that a scrape took longer than it may on a loaded machine is another scrape's
        ok(found and found[0]["value"][1] == "1", "and finds it up", found)
        metadata = json.loads(ask(f"http://127.0.0.1:{own}/api/v1/metadata")[1])["data"]
        ok(metadata.get("tare_cpu_clock_seconds", [{}])[0].get("type") == "counter" and metadata["tare_cpu_clock_seconds"][0]["unit"] == "seconds",
           "TYPE and UNIT arrive", metadata)
        if not known:
            ok(query("tare_event_counted == 0".replace(" ", "%20"))[0]["metric"]["event"] == "cycles", "so does what is not counted, and why")
            equal(json.loads(ask(f"http://127.0.0.1:{own}/api/v1/query?query=tare_cycles_total")[1])["data"]["result"], [], "which has no value there")
    finally:
        server.terminate()
        server.wait()
else:
    skip("prometheus is not installed", "Prometheus scrapes it")

process.send_signal(signal.SIGINT)
ended = finish(process)
equal(ended.code, 0, "Ctrl-C ends it")
has(read("served.txt"), "cpu-clock", "its report follows")
try:
    ask(url)
    ok(False, "nobody answers any more")
except OSError:
    ok(True, "nobody answers any more")

# ---- what contradicts itself ----
for arguments, words in ((["--openmetrics", ":0", "-r", "3", "true"], "does not go with repetitions"), (["--openmetrics", ":99999", "true"], "[HOST]:PORT")):
    seen = tare("count", *arguments)
    ok(seen.code in (2, 3) and words in seen.err, f"{' '.join(arguments)}: refused", seen)
ranks = environment(TARE_RANK="0", TARE_RANKS="2", TARE_JOB="x")
seen = tare("count", "--openmetrics", "same.om", "true", env=ranks)
ok(seen.code == 2 and "%r" in seen.err, "ranks do not write one file over each other's", seen)

done()
