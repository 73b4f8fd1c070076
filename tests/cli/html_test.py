"""Reports as a page: `tare report --html`. What it says, how a browser shows it (light, dark, phone, paper), sorting by mouse and keyboard, that it asks the network for nothing, and that
hostile names are text. The pictures stay in the build folder, in html/ beside the test's log."""
import base64
import hashlib
import html.parser

import browser
from cli import *

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
        ok(all(word in page.said for word in words), f"the page has what the text has of {words[0]}", (words, page.said))
has(page.said, "6 repetitions", "and its notes")
has(page.said, "printf '<script>alert(1)</script>'", "an argument is text")
equal(page.elements.get("script"), 1, "the page has its own script alone")

if not browser.PROGRAM:
    skip("chromium is not installed", "a browser shows the pages")
    done()

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
    equal([line for line in shown.logged if line], [], "the console is empty")
    equal([a for a in shown.asked if not a.startswith("file://" + os.getcwd())], [], "nothing but the file itself was asked for")
done()
