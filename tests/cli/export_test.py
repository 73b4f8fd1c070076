"""Profiles as files of other tools: planted profiles (tests/unit/export_planted.c), read back by readers that share no code with the writers."""
import collections
import os
import sys
import xml.etree.ElementTree as tree

PLANTED = os.path.abspath(sys.argv[2])  # before cli goes elsewhere

from cli import *

SVG = "{http://www.w3.org/2000/svg}"


def planted(*arguments):
    """A file's bytes."""
    done_ = subprocess.run([PLANTED, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=TIME_OUT_S)
    if done_.returncode or done_.stderr:
        ok(False, f"export_planted {' '.join(arguments)} writes", done_)
    return done_.stdout


def inert(data, fact):
    """UTF-8 whose only control character is the line's end."""
    text = data.decode("utf-8", "surrogateescape")
    bad = [c for c in text if 0xDC80 <= ord(c) <= 0xDCFF or (ord(c) < 32 and c not in "\n\t") or 0x7F <= ord(c) < 0xA0 or ord(c) == 0x202E]
    ok(not bad, fact, repr(bad[:20]))
    return text


# ---- folded stacks ----
STACKS = {"main;work": 100, "main;work;inl1;inl2": 40, "main;work;work": 30, "main;work;lib_f": 20, "[kernel]": 10}


def folded(data):
    lines = [line.rpartition(" ") for line in data.decode().splitlines()]
    return {path: int(count) for path, _, count in lines}, len(lines)


seen, n = folded(planted("shares", "folded"))
equal((seen, n), (STACKS, 5), "folded stacks: a line for each path, inlined functions and recursion are levels, threads are added up")
seen, n = folded(planted("counted", "folded"))
equal(seen, {"work": 7000, "work;inl1;inl2": 2000, "main": 1000}, "folded stacks of a profile without stacks have one level, and what was inlined")
text = inert(planted("hostile", "folded"), "folded stacks: hostile names are UTF-8 without control characters")
seen, n = folded(text.encode())
equal((sum(seen.values()), n), (55, 10), "… no name makes a line or a count of its own")
ok(any(path == r"a:b 7\x0ac 8" for path in seen) and any(len(path) == 10000 for path in seen), "… ';' is ':', line ends are escaped, 10 kB stay whole", list(seen)[:9])


# ---- flame graph: the drawing ----
def flame(data):
    """(frames as (name, depth, left, total, self, rest, rect), parents by containment) of a flame graph."""
    root = tree.fromstring(data)
    group = next(g for g in root.iter(SVG + "g") if g.get("id") == "frames")
    names = [t.text or "" for t in next(g for g in root.iter(SVG + "g") if g.get("id") == "names")]
    frames = []
    for rect in group.iter(SVG + "rect"):
        number, left, total, own, *rest = rect.get("data-f").split(",")
        frames.append((names[int(number)], int(rect.get("data-d")), int(left), int(total), int(own), rest, rect))
    return frames, root


def paths(frames):
    found = collections.Counter()
    for name, depth, left, total, own, *_ in frames:
        if not own:
            continue
        above = [f for f in frames if 0 < f[1] < depth and f[2] <= left and left + total <= f[2] + f[3]]
        found[";".join([f[0] for f in sorted(above, key=lambda f: f[1])] + ([name] if depth else []))] += own
    return dict(found)


frames, root = flame(planted("shares", "flamegraph"))
equal(paths(frames), STACKS, "flame graph: the frames' counts are the profile's")
equal([(f[0], f[3]) for f in frames][0], ("all", 200), "the lowest frame is all")
ok(every(abs(float(f[6].get("width")) - 1184 * f[3] / 200) < 0.06 for f in frames), "a frame's width is its share")
ok(every(a[1] != b[1] or a[2] + a[3] <= b[2] for a, b in zip(frames, frames[1:])) and len({f[1] for f in frames}) == 5, "frames of one level are beside each other")
main = next(f for f in frames if f[0] == "main")
equal(main[5], ["91.04", "97.26"], "a share of samples with exponential gaps has Wilson's interval: of 190 in 200")
y = {f[0]: int(f[6].get("y")) for f in frames}
ok(y["main"] < y["all"] and y["inl2"] < y["inl1"] < y["main"], "callers are below")
frames, _ = flame(planted("shares", "flamegraph", "inverted"))
y = {f[0]: int(f[6].get("y")) for f in frames}
ok(y["main"] > y["all"] and y["inl2"] > y["inl1"] > y["main"], "inverted, they are above")
colour = {f[0]: f[6].get("class") for f in frames}
frames, root = flame(planted("before", "flamegraph"))
equal({f[0]: f[6].get("class") for f in frames}, colour, "a function has the same colour in another profile")
frames, root = flame(planted("counted", "flamegraph"))
ok(every(not any(f[5]) for f in frames), "what is counted has no interval")
has("".join(root.itertext()), "no call stacks were recorded", "a graph without stacks says so")
frames, root = flame(planted("shares", "flamegraph", "before"))
changes = {(f[0], f[1]): (f[6].get("class"), f[5][2:]) for f in frames}
equal(changes[("work", 2)], ("r8", ["200", "70"]), "a differential graph: more of its own is red, with the counts before")
equal(changes[("lib_f", 3)], ("b8", ["60", "50"]), "less is blue")
equal(changes[("inl2", 4)], ("cp", ["40", "40"]), "as much is grey")
data = planted("hostile", "flamegraph")
text = inert(data, "flame graph: hostile names are UTF-8 without control characters")
frames, root = flame(data)
equal((len(frames), sum(f[4] for f in frames)), (11, 55), "… each is one frame")
kinds = collections.Counter(e.tag.replace(SVG, "") for e in root.iter())
ok(kinds["script"] == 1 and not any(name.startswith("on") or "href" in name for e in root.iter() for name in e.attrib), "… no element or handler comes of a name", kinds)
has_not(re.sub("http://www.w3.org/(2000/svg|1999/xhtml)", "", text), re.compile("https?://|@import|url\\("), "nothing is fetched")
big = planted("100000", "flamegraph")
frames, root = flame(big)
ok(len(big) <= 1500000, "100,000 stacks of 20 levels make at most 1.5 MB", len(big))
every_parent = {(f[1], f[2]) for f in frames}
ok(len(frames) > 5000 and "too thin to be drawn" in big.decode(), "… with the widest frames, and a text that says how many are left out", len(frames))

# ---- flame graph: what it does ----
SCRIPT = """
<script><![CDATA[
(function () {
	const rects = Array.from(document.querySelectorAll("#frames rect")), out = {}, names = Array.from(document.querySelectorAll("#names text"), (t) => t.textContent);
	const named = (name, depth) => rects.find((r) => names[+r.getAttribute("data-f").split(",")[0]] === name && (!depth || r.getAttribute("data-d") === depth));
	const shown = () => rects.filter((r) => r.style.display !== "none").map((r) => names[+r.getAttribute("data-f").split(",")[0]]).sort();
	const press = (key) => document.dispatchEvent(new KeyboardEvent("keydown", { key }));
	const hover = () => document.getElementById("hover1").textContent + " | " + document.getElementById("hover2").textContent;
	try {
		const main = named("main");
		if (main) {
			out.all = shown();
			main.dispatchEvent(new MouseEvent("mouseover", { bubbles: true }));
			out.hover = hover();
			out.tip = main.querySelector("title").textContent;
			named("lib_f").dispatchEvent(new MouseEvent("click", { bubbles: true }));
			out.zoomed = shown();
			out.wide = Math.round(Number(named("lib_f").getAttribute("width"))) === window.innerWidth - 16;
			press("Escape");
			out.reset = shown();
			window.prompt = () => "^(work|inl1)$";
			press("/");
			out.found = document.getElementById("found").textContent;
			out.hits = document.querySelectorAll("#frames rect.hit").length;
			window.prompt = () => "work(";
			document.getElementById("search").dispatchEvent(new MouseEvent("click"));
			out.literal = document.getElementById("found").textContent;
			press("Escape");
			press("ArrowUp");
			out.up = hover();
			press("ArrowUp");
			press("Enter");
			out.entered = shown();
			document.getElementById("reset").dispatchEvent(new MouseEvent("click"));
			out.again = shown();
			const y = Number(main.getAttribute("y"));
			press("i");
			out.flipped = Number(main.getAttribute("y")) !== y;
		} else {
			rects.forEach((r) => ["mouseover", "click"].forEach((kind) => r.dispatchEvent(new MouseEvent(kind, { bubbles: true }))));
			out.rects = rects.length;
			out.scripts = document.querySelectorAll("script").length;
		}
		out.acted = String(window.acted);
	} catch (error) {
		out.error = String(error);
	}
	document.documentElement.setAttribute("data-result", encodeURIComponent(JSON.stringify(out)));
})();
]]></script>
</svg>"""
browser = next((b for b in ("chromium", "chromium-browser", "google-chrome") if shutil.which(b)), None)


def browse(data, name):
    """What SCRIPT finds when a browser has opened the drawing."""
    path = write(name, data.decode().replace("</svg>", SCRIPT))
    done_ = subprocess.run([browser, "--headless", "--no-sandbox", "--disable-gpu", "--user-data-dir=" + os.path.abspath("browser"), "--window-size=1000,700",
                            "--dump-dom", "file://" + path], stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=TIME_OUT_S)
    from urllib.parse import unquote
    found = re.search(r'data-result="([^"]*)"', done_.stdout.decode(errors="replace"))
    return json.loads(unquote(found.group(1))) if found else {"error": done_.stderr.decode(errors="replace")[-1000:]}


if browser:
    result = browse(planted("shares", "flamegraph"), "shares.svg")
    ok("error" not in result, "a browser runs the drawing's script", result)
    equal(result.get("hover"), "main (prog) | 190 samples, 95.0 % (91.04\u201397.26 % at 95 %), self 0", "hovering shows count, share and interval")
    has(result.get("tip", ""), "main (prog)", "a frame has a tip")
    equal(result.get("zoomed"), ["all", "lib_f", "main", "work"], "a click shows a frame and its callers")
    ok(result.get("wide"), "… as wide as the window", result)
    ok(result.get("all") == result.get("reset") == result.get("again") and len(result["all"]) == 8, "Escape and the button show all again", result)
    equal((result.get("found"), result.get("hits")), ("3 frames, 95.0 %", 3), "search: what matches within a match counts once")
    equal(result.get("literal"), "0 frames, 0.0 %", "what is not a regular expression is a text")
    has(result.get("up", ""), "main (prog) | 190 samples", "arrow keys go from frame to frame")
    equal(result.get("entered"), ["all", "inl1", "inl2", "lib_f", "main", "work", "work"], "Enter zooms")
    ok(result.get("flipped"), "'i' turns it upside down", result)
    # a drawing that is higher than the window shows its root without scrolling, however it is opened
    for arguments in ((), ("inverted",)):
        path = write("deep.svg", planted("3000", "flamegraph", *arguments).decode().replace("</svg>", """<script><![CDATA[
window.addEventListener("load", () => setTimeout(() => {
	const root = document.querySelector("#frames rect[data-d='0']").getBoundingClientRect();
	document.documentElement.setAttribute("data-seen", root.top >= 0 && root.bottom <= window.innerHeight ? "yes" : root.top + " of " + window.innerHeight);
}, 0));
]]></script></svg>"""))
        dom = subprocess.run([browser, "--headless", "--no-sandbox", "--disable-gpu", "--user-data-dir=" + os.path.abspath("browser"), "--window-size=1000,300",
                              "--virtual-time-budget=2000", "--dump-dom", "file://" + path], stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=TIME_OUT_S)
        found = re.search(r'data-seen="([^"]*)"', dom.stdout.decode(errors="replace"))
        equal(found and found.group(1), "yes", f"a drawing that is higher than the window opens at its root {arguments}")
    result = browse(planted("hostile", "flamegraph"), "hostile.svg")
    equal(result, {"rects": 11, "scripts": 2, "acted": "undefined"}, "hostile names do nothing in a browser")
else:
    skip("chromium is not installed", "a browser opens the flame graph")

# ---- callgrind ----
def callgrind(data):
    """(own counts by (function, file, line), calls by (caller, callee), head) by the format's grammar."""
    names, at, own, calls, head = {"ob": {}, "fl": {}, "fn": {}}, {}, collections.Counter(), {}, {}
    line, callee = 0, None
    for text in data.decode().splitlines():
        found = re.fullmatch(r"(c?)(ob|fl|fi|fe|fn)=\((\d+)\)(?: (.*))?", text)
        if found:
            call, key, number, name = found.groups()
            key_ = "fl" if key in ("fi", "fe") else key
            if name is not None:
                assert number not in names[key_], text
                names[key_][number] = name
            at[call + key_] = names[key_][number]
        elif text.startswith("calls="):
            callee = at["cfn"]
        elif found := re.fullmatch(r"([+-]\d+|\*)((?: \d+)+)", text):
            line += 0 if found[1] == "*" else int(found[1])
            counts = tuple(int(count) for count in found[2].split())
            if callee:
                key = (at["fn"], callee)
                calls[key] = tuple(map(sum, zip(calls.get(key, (0,) * len(counts)), counts)))
            else:
                key = (at["fn"], os.path.basename(at["fl"]), line)
                assert key not in own, text
                own[key] = counts
            callee = None
        elif text and not text.startswith("#"):
            key, _, value = text.partition(": ")
            assert re.fullmatch("[a-z]+", key), text
            head.setdefault(key, []).append(value)
    return dict(own), calls, head


own, calls, head = callgrind(planted("shares", "callgrind"))
equal(own, {("work", "deep.h", 5): (40, 0), ("work", "prog.c", 20): (130, 5), ("lib_f", "libx.c", 3): (20, 0), ("[kernel]", "???", 0): (10, 0)},
      "callgrind: each line has its own counts of all events, what was inlined at its own file and line")
equal(calls, {("main", "work"): (190, 5), ("work", "work"): (30, 0), ("work", "lib_f"): (20, 0)}, "calls have what took place in them, of each stack once")
equal((head["events"], head["summary"], head["totals"]), (["cyclesU pageFaults"], ["200 5"], ["200 5"]), "events have names of letters and digits, and sums")
own, calls, head = callgrind(planted("recursion", "callgrind"))
equal((own, calls), ({("work", "prog.c", 20): (8,)}, {("main", "work"): (8,), ("work", "work"): (8,)}), "a call that a stack has three times counts once")
own, calls, head = callgrind(planted("counted", "callgrind"))
equal((sum(c[0] for c in own.values()), calls, head["summary"]), (10000, {}, ["10000 12"]), "without stacks there are no calls")
text = inert(planted("hostile", "callgrind"), "callgrind: hostile names are UTF-8 without control characters")
own, calls, head = callgrind(text.encode())
equal((sum(c[0] for c in own.values()), len(own), len(head["summary"])), (55, 10, 1), "… and make no lines of their own")
if shutil.which("callgrind_annotate"):
    for options, expected in (("--inclusive=no", {"work": 130, "lib_f": 20, "[kernel]": 10}), ("--inclusive=yes", {"main": 190, "lib_f": 20})):
        with open("shares.callgrind", "wb") as file:
            file.write(planted("shares", "callgrind"))
        done_ = subprocess.run(["callgrind_annotate", options, "--threshold=100", "--auto=no", "shares.callgrind"], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        text = done_.stdout.decode()
        rows = {name: int(count.replace(",", "")) for count, name in re.findall(r"^ *([\d,]+) +\([^)]*\).*:([^ :]+) \[", text, re.M)}
        ok(not done_.stderr and "200 (100.0%)" in text and every(rows.get(name) == count for name, count in expected.items()) and ("main" in rows) == ("main" in expected),
           f"callgrind_annotate {options} reads it", f"{done_.stderr.decode()}\n{text}\n{rows}")
else:
    skip("valgrind is not installed", "callgrind_annotate reads it")


# ---- speedscope ----
def speedscope(data):
    """[(name, {stack: weight})], checked against what the published schema asks."""
    file = json.loads(data, parse_constant=no_constant)
    frames = file["shared"]["frames"]
    profiles = []
    for p in file["profiles"]:
        assert p["type"] == "sampled" and p["unit"] in ("none", "nanoseconds", "microseconds", "milliseconds", "seconds", "bytes")
        assert len(p["samples"]) == len(p["weights"]) and p["startValue"] == 0 and p["endValue"] == sum(p["weights"])
        stacks = {";".join(frames[i]["name"] for i in sample): weight for sample, weight in zip(p["samples"], p["weights"])}
        profiles.append((p["name"], stacks))
    assert file["$schema"] == "https://www.speedscope.app/file-format-schema.json" and every(set(f) <= {"name", "file", "line", "col"} and f["name"] for f in frames)
    return profiles


equal(speedscope(planted("shares", "speedscope")),
      [("cycles:u (samples), prog 10", {"main;work": 60, "main;work;inl1;inl2": 40, "main;work;work": 30, "[kernel]": 10}),
       ("cycles:u (samples), wor<k>er 11", {"main;work": 40, "main;work;lib_f": 20}), ("page-faults (samples), prog 10", {"main;work": 5})],
      "speedscope: a profile of each event and thread, with its stacks")
text = inert(planted("hostile", "speedscope"), "speedscope: hostile names are UTF-8 without control characters")
equal(sum(speedscope(text)[0][1].values()), 55, "… and it is JSON with all counts")


# ---- Firefox Profiler ----
def firefox(data):
    """{(thread, pid, tid): {stack: weight}} of a processed profile, and the profile."""
    p = json.loads(data, parse_constant=no_constant)
    shared, threads = p["shared"], {}
    tables = [shared[name] for name in ("stackTable", "frameTable", "funcTable", "resourceTable", "nativeSymbols", "sources")] + [t["samples"] for t in p["threads"]]
    ok(every(len(column) == table["length"] for table in tables for column in table.values() if isinstance(column, list)), "columns are as long as their table")
    stacks, frames = shared["stackTable"], shared["frameTable"]
    ok(every(prefix is None or prefix < i for i, prefix in enumerate(stacks["prefix"])), "stacks come after their callers")
    for t in p["threads"]:
        found = collections.Counter()
        for stack, weight in zip(t["samples"]["stack"], t["samples"]["weight"]):
            path = []
            while stack is not None:
                path.insert(0, shared["stringArray"][shared["funcTable"]["name"][frames["func"][stacks["frame"][stack]]]])
                stack = stacks["prefix"][stack]
            found[";".join(path)] += weight
        threads[t["name"], t["pid"], t["tid"]] = dict(found)
    return threads, p


threads, p = firefox(planted("shares", "firefox"))
equal(threads, {("prog, cycles:u (samples)", "10", 10): {"main;work": 60, "main;work;inl1;inl2": 40, "main;work;work": 30, "[kernel]": 10},
                ("wor<k>er, cycles:u (samples)", "10", 11): {"main;work": 40, "main;work;lib_f": 20}, ("prog, page-faults (samples)", "10.1", 10): {"main;work": 5}},
      "Firefox Profiler: a thread of each event and thread, with its stacks")
equal(p["meta"]["preprocessedProfileVersion"], 60, "its format has the version that tare-report(1) names")
frames = p["shared"]["frameTable"]
equal(list(zip(frames["address"], frames["inlineDepth"], frames["line"]))[2:5], [(2, 2, 5), (2, 1, 7), (2, 0, 21)], "inlined frames have the address of their place, a depth and their line")
equal([lib["codeId"] for lib in p["libs"]], ["abcd12", None, None], "libraries have build ids")
ok(every(time == 0 for t in p["threads"] for time in t["samples"]["time"]), "no times are invented")
text = inert(planted("hostile", "firefox"), "Firefox Profiler: hostile names are UTF-8 without control characters")
threads, _ = firefox(text)
equal([sum(t.values()) for t in threads.values()], [55], "… and it is JSON with all counts")


# ---- pprof ----
def message(data):
    """Protocol Buffers: {field: [number or bytes]}."""
    at, fields = 0, collections.defaultdict(list)

    def varint():
        nonlocal at
        value = shift = 0
        while True:
            byte = data[at]
            at += 1
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value
    while at < len(data):
        key = varint()
        if key & 7 == 0:
            fields[key >> 3].append(varint())
        else:
            assert key & 7 == 2, key
            n = varint()
            assert at + n <= len(data)
            fields[key >> 3].append(data[at:at + n])
            at += n
    return fields


def numbers(data):
    values, value, shift = [], 0, 0
    for byte in data:
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            values.append(value)
            value = shift = 0
    return values


def pprof(data):
    """(sample types, {(stack, thread): values}, mappings, locations' lines, period)"""
    import gzip
    profile = message(gzip.decompress(data))
    texts = [text.decode() for text in profile[6]]
    assert texts[0] == ""
    one = lambda fields, number: fields[number][0] if fields[number] else 0
    types = [(texts[one(m, 1)], texts[one(m, 2)]) for m in map(message, profile[1])]
    functions = {one(m, 1): (texts[one(m, 2)], os.path.basename(texts[one(m, 4)])) for m in map(message, profile[5])}
    locations = {}
    for m in map(message, profile[4]):
        locations[one(m, 1)] = [functions[one(line, 1)] + (one(line, 2),) for line in map(message, m[4])]
    mappings = [(texts[one(m, 5)], texts[one(m, 6)]) for m in map(message, profile[3])]
    samples = collections.Counter()
    seen = {}
    for m in map(message, profile[2]):
        stack = [line[0] for location in numbers(one(m, 1)) for line in locations[location]]
        labels = {texts[one(label, 1)]: texts[one(label, 2)] or one(label, 3) for label in map(message, m[3])}
        key = (";".join(reversed(stack)), labels.get("tid"))
        assert len(numbers(one(m, 2))) == len(types)
        seen[key] = tuple(map(sum, zip(seen.get(key, (0,) * len(types)), numbers(one(m, 2)))))
    return types, seen, mappings, locations, one(profile, 12), texts


types, samples, mappings, locations, period, _ = pprof(planted("shares", "pprof"))
equal(types, [("cycles:u samples", "count"), ("cycles:u", "cycles"), ("page-faults samples", "count"), ("page-faults", "faults")], "pprof: of each event the samples and what they stand for, with units")
equal(samples, {("main;work", 10): (60, 60000, 5, 35), ("main;work", 11): (40, 40000, 0, 0), ("main;work;inl1;inl2", 10): (40, 40000, 0, 0), ("main;work;work", 10): (30, 30000, 0, 0),
                ("main;work;lib_f", 11): (20, 20000, 0, 0), ("[kernel]", 10): (10, 10000, 0, 0)}, "samples by stack and thread have both")
equal(mappings, [("/opt/prog", "abcd12"), ("/lib/libx.so", ""), ("[kernel]", "")], "mappings have build ids")
ok([("inl2", "deep.h", 5), ("inl1", "util.h", 7), ("work", "prog.c", 21)] in locations.values(), "a location's lines are the inlined ones, the deepest first", locations)
equal(period, 1000, "the period is the gap")
types, samples, *_ = pprof(planted("counted", "pprof"))
equal((types, sum(v[0] for v in samples.values()), sum(v[1] for v in samples.values())), ([("instructions:u", "instructions"), ("l1d-misses", "misses")], 10000, 12), "what was counted has its counts alone")
types, samples, _, _, _, texts = pprof(planted("hostile", "pprof"))
inert("\n".join(texts).encode(), "pprof: hostile names are UTF-8 without control characters")
equal(sum(v[0] for v in samples.values()), 55, "… and all counts are there")

# ---- the command ----
for arguments, message in ((["report", "--as", "odd", "kept"], "'odd' is not a format"),
                           (["report", "--inverted", "kept"], "--inverted is for --as flamegraph"),
                           (["report", "--as", "folded", "--before", "x", "kept"], "--before is for --as flamegraph"),
                           (["profile", "--as", "folded", "true"], "--as writes a file: give -o FILE")):
    seen = tare(*arguments)
    ok(seen.code == 2 and message in seen.err, f"'tare {' '.join(arguments)}' is wrong usage", seen)
if os.uname().machine == "x86_64" and shutil.which("gcc"):
    write("ten.s", "\t.globl _start\n\t.type _start, @function\n_start:\n\tmov $3, %ecx\n1:\tdec %ecx\n\tjnz 1b\n\tmov $60, %eax\n\tmov $7, %edi\n\tsyscall\n\t.size _start, . - _start\n")
    subprocess.run(["gcc", "-g", "-nostdlib", "-static", "ten.s", "-o", "ten"], check=True)
    seen = tare("profile", "--on", "exact", "--as", "folded", "-o", "ten.folded", "./ten")
    ok(seen.code == 7 and read("ten.folded") == "_start 10\n" and "no call stacks were recorded" in seen.err, "'tare profile --as' writes the file, says what is not in it, and has the program's status", seen)
    tare("profile", "--on", "exact", "-e", "instructions,conditional-taken", "-o", "ten.tare", "./ten")
    seen = tare("report", "--as", "folded", "ten.tare")
    ok(seen.code == 0 and seen.out == "_start 10\n" and "has 'instructions:u' alone" in seen.err, "'tare report --as' writes a kept profile's first event, and says so", seen)
    equal(tare("report", "--as", "folded", "--event", "conditional-taken:u", "ten.tare").out, "_start 2\n", "--event chooses another")
    seen = tare("report", "--as", "folded", "--event", "odd", "ten.tare")
    ok(seen.code == 2 or seen.code == 3, "an event that is not there is an error", seen)
    has(seen.err, "the profile has no event 'odd'", "… that names it")
    seen = tare("report", "--as", "flamegraph", "--before", "ten.tare", "-o", "ten.svg", "ten.tare")
    ok(seen.code == 0 and flame(read("ten.svg").encode())[0][1][5] == ["", "", "10", "10"], "a differential flame graph of two files", seen)
    seen = tare("report", "--as", "flamegraph", "-o", "/dev/full", "ten.tare")
    ok(seen.code == 3 and "cannot write '/dev/full'" in seen.err, "a full disk is found", seen)
done()
