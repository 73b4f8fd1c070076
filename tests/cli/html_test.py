"""Reports as a page: `tare report --html`. What it says, how a browser shows it (light, dark, phone, paper), sorting by mouse and keyboard, that it asks the network for nothing, and that
hostile names are text. The pictures stay in the build folder, in html/ beside the test's log."""
import base64
import hashlib
import html.parser
import os
import sys

PLANTED = os.path.abspath(sys.argv[2]) # before the folder changes
import browser
from cli import *

MOST_BYTES = 1500000 # of a profile of a million samples
STORE = os.path.join(os.getcwd(), "store.db")
ENV = environment(TARE_STORE=STORE)
PICTURES = os.path.join(os.path.dirname(os.path.dirname(os.path.dirname(TARE))), "tests", "cli", "html")
WIDTHS = (360, 800, 1400)
VOID = {"meta", "br", "hr", "img", "input", "link", "col", "wbr", "base", "area", "embed", "source", "track", "param"}
os.makedirs(PICTURES, exist_ok=True)


class Page(html.parser.HTMLParser):
    """Well-formed: each element that is opened is closed, in order. `texts`: the visible text; `elements`: how often each element is there."""

    def __init__(self, text):
        super().__init__()
        self.open, self.faults, self.texts, self.elements, self.attributes, self.ids = [], [], [], {}, [], []
        self.feed(text)
        self.close()
        self.faults += [f"<{name}> is not closed" for name in self.open]
        self.faults += [f"two elements have the id {i}" for i in set(self.ids) if self.ids.count(i) > 1]

    def handle_starttag(self, name, attributes):
        self.elements[name] = self.elements.get(name, 0) + 1
        self.attributes += [(name, *a) for a in attributes]
        self.ids += [value for key, value in attributes if key == "id"]
        if name not in VOID:
            self.open.append(name)

    def handle_startendtag(self, name, attributes):
        self.handle_starttag(name, attributes)
        if name not in VOID:
            self.open.pop()

    def handle_endtag(self, name):
        self.texts.append(" ")
        if not self.open or self.open.pop() != name:
            self.faults.append(f"</{name}> at {self.getpos()}")

    def handle_data(self, data):
        if not self.open or self.open[-1] not in ("script", "style"):
            self.texts.append(data)


def page_of(name):
    """The file's page, with what holds of all pages."""
    text = read(name)
    page = Page(text)
    equal(page.faults, [], f"{name}: well formed")
    policy = re.search(r'http-equiv="Content-Security-Policy" content="([^"]*)"', text)
    said = policy.group(1) if policy else ""
    for kind in ("script", "style"):
        inside = re.findall(rf"<{kind}>(.*?)</{kind}>", text, re.S)
        sums = [base64.b64encode(hashlib.sha256(i.encode()).digest()).decode() for i in inside]
        has(said, f"{kind}-src " + " ".join(f"'sha256-{s}'" for s in sums), f"{name}: the policy allows its own {kind} alone, by its sum")
    ok(said.startswith("default-src 'none';") and "unsafe" not in said and "http:" not in said and "https:" not in said, f"{name}: and nothing else", said)
    bad = [a for a in page.attributes if a[1] in ("src", "style", "srcset", "action", "background") or a[1].startswith("on") or (a[1].endswith("href") and not a[2].startswith("#"))]
    equal(bad, [], f"{name}: no attribute fetches or acts")
    page.said = re.sub(r"\s+", " ", "".join(page.texts))
    return page


def tidy(name):
    if not shutil.which("tidy"):
        skip("tidy is not installed", "tidy finds the pages valid")
        return
    found = subprocess.run(["tidy", "-q", "-e", "--drop-empty-elements", "no", name], capture_output=True, text=True, timeout=TIME_OUT_S)
    ok(found.returncode == 0, f"{name}: tidy has no complaint", found.stderr)


def kept(*arguments):
    return tare(*arguments, env=ENV)


# ---- a count ----
counted = kept("count", "-r", "6", "-e", "page-faults,task-clock,elapsed-time", "--", "printf", "<script>alert(1)</script>")
equal(counted.code, 0, "a count is kept")
shown = kept("report", "--html", "@last")
equal((shown.code, shown.err), (0, ""), "it is shown as a page")
done_ = kept("report", "@last", "--html", "-o", "count.html")
equal((done_.code, done_.out, done_.err, read("count.html")), (0, "", "", shown.out), "-o writes the same to a file")
equal(kept("report", "--format", "html", "@last").out, shown.out, "and --format html is the same")
page = page_of("count.html")
tidy("count.html")
for line in kept("report", "@last").out.splitlines():
    words = line.split()
    if words and words[0] in ("page-faults", "task-clock", "elapsed-time"):
        ok(every(word in page.said for word in words), f"the page has what the text has of {words[0]}", (words, page.said))
has(page.said, "6 repetitions", "and its notes")
has(page.said, "printf '<script>alert(1)</script>'", "an argument is text")
equal(page.elements.get("script"), 1, "the page has its own script alone")

ok("os:" in page.said and "by the kernel" in page.said, "and what its numbers' source is")
has(page.said, "Where it was measured run 1 measured by tare", "and where the run comes from")
equal(page.elements.get("circle", 0) >= 3 * (6 + 1), True, "each repetition of each event is a point, and so is each mean")
equal(os.stat("count.html").st_mode & 0o777, 0o600, "the file is its owner's alone")
direct = kept("count", "--html", "-o", "direct.html", "-r", "2", "-e", "page-faults", "true")
equal(direct.code, 0, "tare count writes a page at once")
page_of("direct.html")
equal(os.stat("direct.html").st_mode & 0o777, 0o600, "likewise its owner's alone")
seen = kept("count", "--html", "--json", "true")
ok(seen.code == 2 and "one format" in seen.err, "a report has one format", seen)

# ---- secrets ----
SECRETS = {"AWS_SECRET_ACCESS_KEY": "secret-1", "GITHUB_TOKEN": "secret-2", "PGPASSWORD": "secret-3", "MY_API_KEY": "secret-4", "SSH_AUTH_SOCK": "secret-5", "http_proxy": "http://u:secret-6@h/",
           "JAVA_TOOL_OPTIONS": "-Dpassword=secret-7", "LD_LIBRARY_PATH_X": "secret-8"}
private = environment(TARE_STORE=os.path.join(os.getcwd(), "private", "tare.db"), OMP_NUM_THREADS="3", **SECRETS)
equal(tare("count", "-e", "page-faults", "true", env=private).code, 0, "a run with secrets in its environment is kept")
tare("report", "@last", "--html", "-o", "private.html", env=private)
tare("compare", "-r", "2", "-e", "page-faults", "--export-html", "private-2.html", "true", "true", env=private)
tare("count", "--html", "-o", "private-3.html", "-e", "page-faults", "true", env=private)
for name in ("private.html", "private-2.html", "private-3.html"):
    has(read(name), "OMP_NUM_THREADS=3", f"{name}: what programs are steered by is in it")
    equal([v for v in SECRETS.values() if v in read(name)], [], f"{name}: no secret is")
    equal(os.stat(name).st_mode & 0o777, 0o600, f"{name}: its owner's alone")
for name in os.listdir("private"):
    with open(os.path.join("private", name), "rb") as file:
        data = file.read()
    equal([v for v in SECRETS.values() if v.encode() in data], [], f"the store's file {name}: no secret is in it")
    equal(os.stat(os.path.join("private", name)).st_mode & 0o777, 0o600, f"the store's file {name} is its owner's alone")
equal(os.stat("private").st_mode & 0o777, 0o700, "and so is its folder")

# ---- a comparison ----
compared = kept("compare", "-r", "5", "-e", "page-faults,task-clock", "--gate", "page-faults<1e9", "--html", "-o", "compare.html", "-n", "a<b>", "-n", "c&d", "true", "ls /")
equal((compared.code, compared.err), (0, ""), "tare compare writes a page")
page = page_of("compare.html")
tidy("compare.html")
ok("a<b> is the baseline" in page.said and "c&d" in page.said, "names are texts", page.said[:300])
ok(re.search(r"c&d: .*(more|less|equal|without)", page.said), "the answer is there", page.said[:300])
has(page.said, re.compile(r"page-faults<1e9 of c&d: passed"), "and what the gate found")
equal(page.attributes.count(("svg", "class", "range")) + sum(a in page.attributes for a in (("svg", "class", "range more"), ("svg", "class", "range less"))) >= 1, True, "and a drawing of differences")
seen = kept("compare", "-r", "2", "-e", "page-faults", "--export-html", "beside.html", "true", "true")
ok(seen.code == 0 and "baseline" in seen.out, "--export-html writes it beside the text", seen)
page_of("beside.html")

# ---- profiles ----
def planted(name, *arguments):
    done_ = subprocess.run([PLANTED, *arguments, "html"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=TIME_OUT_S)
    ok(done_.returncode == 0 and not done_.stderr, f"the profile {arguments} is written", done_.stderr)
    with open(name, "wb") as out:
        out.write(done_.stdout)
    return len(done_.stdout)


planted("shares.html", "shares")
page = page_of("shares.html")
tidy("shares.html")
has(page.said, "Flame graph", "a profile has its flame graph")
ok(page.said.index("TOTAL") < page.said.index("Flame graph"), "below the listing", page.said[:500])
planted("hostile.html", "hostile")
page = page_of("hostile.html")
tidy("hostile.html")
equal((page.elements.get("script"), page.elements.get("style"), page.elements.get("img"), page.elements.get("iframe")), (1, 1, None, None), "hostile names are no elements")
ok(not re.search("[\x00-\x08\x0b-\x1f\x7f\u0080-\u009f\u202a-\u202e\u2066-\u2069]", read("hostile.html")), "no control characters, and nothing that turns the writing round")
size = planted("million.html", "120000")
ok(re.search(r"1,0\d\d,\d{3} samples", read("million.html")), "a profile of a million samples")
ok(size <= MOST_BYTES, f"is a page of at most {MOST_BYTES} bytes", size)
page_of("million.html")
if kept("profile", "-e", "task-clock:u", "-c", "100000", "-g", "--", "sh", "-c", "i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done").code == 0:
    equal(kept("report", "--html", "@last", "-o", "profile.html").code, 0, "a kept profile is shown as a page")
    has(page_of("profile.html").said, "measured by tare", "with where it comes from")
# ---- annotated source ----
write("hot.c", """int main(void)
{
\tvolatile unsigned n = 0;
\tfor (unsigned i = 0; i < 200000; i++)
\t\tn += i < 7; /* <b>the line</b> & its comment, which is quite long, as lines of programs are, so that a phone is narrower than it is */
\treturn n != 7;
}
""")
annotated = ",exact," in tare("count", "--on", "exact", "-e", "instructions:u", "--csv", "true").err and shutil.which("cc")
if annotated:
    subprocess.run(["cc", "-g", "-O1", "hot.c", "-o", "hot"], check=True)
    kept("profile", "--on", "exact", "-e", "instructions:u", "./hot")
    equal(kept("report", "--html", "@last", "-o", "annotated.html").code, 0, "a profile of a program whose source is there is shown as a page")
    said = page_of("annotated.html").said
    lines = re.search(r" hot\.c \(hot\) .*? ([\d,]+) [\d.]+% 5 n \+= i < 7; /\* <b>the line</b> & its comment", said.replace(os.getcwd() + "/", ""))
    ok(lines and int(lines[1].replace(",", "")) >= 200000, "the page has its lines, each with its count", said)
else:
    skip("the engine does not work here", "the page has its lines, each with its count")

if not browser.PROGRAM:
    skip("chromium is not installed", "a browser shows the pages")
    done()

RECTANGLES = "['#look', 'h1', '.what'].map((s) => { const b = document.querySelector(s).getBoundingClientRect(); return [b.left, b.top, b.right, b.bottom].map(Math.round); })"
BUTTON_APART = """(() => { const [look, title, what] = ['#look', 'h1', '.what'].map((s) => document.querySelector(s)), button = look.getBoundingClientRect(), text = document.createRange();
 text.selectNodeContents(what); return title.getBoundingClientRect().top >= button.bottom && text.getBoundingClientRect().right <= button.left; })()"""
NAMES = "Array.from(document.querySelectorAll('table.counts tbody th.name'), (n) => n.textContent)"
VALUES = "Array.from(document.querySelectorAll('table.counts tbody td.value'), (n) => Number(n.dataset.v))"
with browser.Browser() as shown:
    def look_at(name):
        """Opens it at all widths, light and dark, and keeps the pictures."""
        for width in WIDTHS:
            for dark in (False, True):
                shown.look(width, dark=dark)
                shown.open(name)
                shown.picture(os.path.join(PICTURES, f"{name[:-5]}-{width}-{'dark' if dark else 'light'}.png"))
                ok(shown.run("document.documentElement.scrollWidth") <= width, f"{name}: {width} pixels are wide enough", width)
                ok(shown.run(BUTTON_APART), f"{name}: {width} pixels: the look's button touches no text", shown.run(RECTANGLES))
                colours = shown.run("[getComputedStyle(document.body).color, getComputedStyle(document.body).backgroundColor].map((c) => c.match(/\\d+/g).slice(0, 3).reduce((a, b) => a + Number(b), 0))")
                ok((colours[0] > 600 and colours[1] < 100) if dark else (colours[0] < 120 and colours[1] > 700), f"{name}: its colours are those of the {'dark' if dark else 'light'} look", colours)
        shown.look(800, media="print", dark=True)
        shown.open(name)
        equal(shown.run("getComputedStyle(document.body).backgroundColor"), "rgb(255, 255, 255)", f"{name}: paper is white")
        ok(len(base64.b64decode(shown.call("Page.printToPDF")["data"])) > 1000, f"{name}: it can be printed")
        shown.look(1000)
        shown.open(name)

    look_at("count.html")
    before = shown.run(NAMES)
    equal(before, ["page-faults", "task-clock", "elapsed-time"], "rows come in the order that was asked for")
    shown.click("table.counts th.value button")
    values = shown.run(VALUES)
    equal(values, sorted(values, reverse=True), "a click on a number's heading puts the largest first")
    equal(shown.run("document.querySelector('table.counts th.value').getAttribute('aria-sort')"), "descending", "and says so")
    shown.click("table.counts th.value button")
    equal(shown.run(VALUES), sorted(values), "another one the smallest")
    shown.open("count.html")
    for _ in range(2): # the look's button is the first
        shown.key("Tab", 9)
    equal(shown.run("document.activeElement.textContent"), "event", "Tab goes to the headings")
    shown.key("Enter", 13, "\r")
    equal(shown.run(NAMES), sorted(before), "Enter sorts by name")
    shown.key("Enter", 13, "\r")
    equal(shown.run(NAMES), sorted(before, reverse=True), "again: the other way round")
    shown.look(1000, dark=False)
    shown.open("count.html")
    equal(shown.run("document.getElementById('look').textContent"), "Dark", "a button offers the other look")
    shown.key("Tab", 9)
    shown.key("Enter", 13, "\r")
    equal(shown.run("[getComputedStyle(document.body).backgroundColor, document.getElementById('look').textContent]"), ["rgb(21, 23, 27)", "Light"], "and switches to it")
    # ---- a comparison ----
    look_at("compare.html")
    order = "Array.from(document.querySelectorAll('table.forest tbody'), (b) => Array.from(b.rows, (r) => r.cells[0].textContent))"
    equal(shown.run(order), [["page-faults", "c&d"], ["task-clock", "c&d"]], "each event has the other commands' rows below it")
    shown.click("table.forest th.name button")
    shown.click("table.forest th.name button")
    equal(shown.run(order), [["task-clock", "c&d"], ["page-faults", "c&d"]], "sorted, they stay together")
    # ---- profiles ----
    look_at("shares.html")
    shown.run("document.querySelector('#frames rect[data-d=\"0\"]').focus()")
    shown.key("ArrowDown", 40)
    main = shown.run("document.getElementById('hover1').textContent")
    equal(main, "main (prog)", "the flame graph takes the focus, and says what a frame is")
    shown.key("Enter", 13, "\r")
    equal(shown.run("Array.from(document.querySelectorAll('#frames rect.above')).length"), 1, "Enter zooms")
    shown.key("Escape", 27)
    equal(shown.run("Array.from(document.querySelectorAll('#frames rect.above')).length"), 0, "Escape shows all again")
    last = "Array.from(document.querySelectorAll('table.list')[0].tBodies).at(-1).rows"
    shown.click("table.list th.n button")
    shown.click("table.list th.n button")
    ok(shown.run(f"Array.from({last}, (r) => r.textContent).at(-1)").endswith("TOTAL"), "sums stay at the end, however the table is sorted")
    if annotated:
        look_at("annotated.html")
    look_at("hostile.html")
    equal(shown.run("[document.scripts.length, document.querySelectorAll('style').length, String(window.acted), document.querySelectorAll('[onload],[onerror],img,iframe,a[href^=javascript]').length]"),
          [1, 1, "undefined", 0], "hostile names do nothing in a browser")
    shown.look(360)
    shown.open("million.html")
    ok(shown.run("document.querySelectorAll('#frames rect').length") > 1000, "a page of a million samples draws")
    shown.open("direct.html")
    # what went past the escaping would not run
    logged = len(shown.logged)
    with open("injected.html", "w", encoding="utf-8") as file:
        file.write(read("count.html").replace("<h1>", "<h1><script>window.acted = 1</script><img src=http://127.0.0.1:9/x onerror='window.acted = 2'>"))
    shown.open("injected.html")
    equal(shown.run("String(window.acted)"), "undefined", "the policy runs no script but the page's own")
    ok(any("Content Security Policy" in line for line in shown.logged[logged:]), "and says so", shown.logged)
    del shown.logged[logged:]
    shown.asked = [a for a in shown.asked if "127.0.0.1:9" not in a]
    equal([line for line in shown.logged if line], [], "the console is empty")
    equal([a for a in shown.asked if not a.startswith("file://" + os.getcwd())], [], "nothing but the file itself was asked for")
done()
