"""`tare report --browse`, as a user sees it: by its keys, in a terminal (tmux), and on a pseudo-terminal whose every byte is looked at."""
import html.parser
import platform
import select
import shlex
import time
import xml.etree.ElementTree as tree

from cli import *

if platform.machine() != "x86_64" or not shutil.which("gcc") or not shutil.which("objcopy"):
    skip("the engine is for x86-64, and gcc and binutils are needed", "browsing a profile")
    done()
    raise SystemExit
LONG = "long_" + "x" * 10000
write("prog.s", """\
	.globl _start
	.type seven, @function
seven:
	mov $3499, %ecx
1:	dec %ecx
	jnz 1b
	ret # \x1b]0;acted\x07\x1b[2J
	.size seven, . - seven
	.type two, @function
two:
	mov $999, %ecx
1:	dec %ecx
	jnz 1b
	ret
	.size two, . - two
	.type one, @function
one:
	mov $499, %ecx
1:	dec %ecx
	jnz 1b
	ret
	.size one, . - one
	.type _start, @function
_start:
	call seven
	call two
	call one
	mov $60, %eax
	mov $7, %edi
	syscall
	.size _start, . - _start
""")
subprocess.run(["gcc", "-g", "-nostdlib", "-static", "prog.s", "-o", "prog"], check=True)
tare("profile", "--on", "exact", "-e", "instructions,conditional-branches", "-o", "kept", "./prog")

# ---- where it does not work ----
for arguments, message in ((["report", "--browse", "kept"], "--browse needs a terminal"), (["report", "--browse", "--dis", "kept"], "--browse shows everything itself"),
                           (["profile", "--browse", "true"], "--browse needs a terminal")):
    seen = tare(*arguments)
    ok(seen.code == 2 and message in seen.err and seen.out == "", f"{' '.join(arguments)} is refused", seen)
WAIT_S = TIME_OUT_S  # of what hangs


class Terminal:
    """The browser on a pseudo-terminal: what it wrote (all), and the frame that it drew last, as lines of text."""

    def __init__(self, columns, *arguments):
        self.pid, self.fd = pty.fork()
        if not self.pid:
            fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", LINES, columns, 0, 0))
            os.execve(TARE, [TARE, *arguments], environment(TERM="xterm-256color"))
        self.all = b""

    def frame(self):
        return self.all.decode(errors="surrogateescape").rpartition("\x1b[H")[2].split("\r\n")

    def lines(self):
        return [re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", line).rstrip() for line in self.frame()]

    def selected(self):
        return next((line for line in self.frame() if line.startswith("\x1b[7m")), "")

    def more(self):
        """False: it has ended, or writes nothing more."""
        if not select.select([self.fd], [], [], WAIT_S)[0]:
            return False
        try:
            part = os.read(self.fd, 65536)
        except OSError:  # EIO: it has ended
            return False
        self.all += part
        return bool(part)

    def press(self, keys, row, last, fact):
        """… until the selected row and the last line of a whole frame are as they must be (regular expressions)."""
        os.write(self.fd, keys)
        while not (len(self.frame()) == LINES and "\x1b[0m" in self.frame()[-1] and re.search(row, self.selected()) and re.match(last, self.lines()[-1])):
            if not self.more():
                return ok(False, fact, "\n".join(self.lines()))
        return ok(True, fact)

    def ends(self, keys, fact):
        os.write(self.fd, keys)
        while self.more():
            pass
        equal(os.waitpid(self.pid, 0)[1], 0, fact)
        os.close(self.fd)


LINES = 16
KEYS = r"\?: keys"  # the last line, as it is at rest
OFFERS = ["?: keys", "Q: end", "Enter: source", "/: search", "d: instructions", "c: callers", "l: other list", "s: sort", "e: next event", "n, N: next, previous match"]

# ---- searching ----
seen = Terminal(80, "report", "--browse", "kept")
seen.press(b"", r" seven \(", KEYS, "the cursor is on the first row")
seen.press(b"n", r" seven \(", "nothing to search for", "n without a search says so")
seen.press(b"/PROG\r", r" two \(", KEYS, "/ goes to the next row that has the text, in upper or lower case")
seen.press(b"n", r" one \(", KEYS, "n goes to the next one")
seen.press(b"N", r" two \(", KEYS, "N goes to the previous one")
seen.press(b"N", r" seven \(", KEYS, "and further up")
seen.press(b"N", r" _start \(", KEYS, "from the first one to the last one")
seen.press(b"n", r" seven \(", KEYS, "n from the last one to the first one")
seen.press(b"/e", r" seven \(", "search: e_$", "the cursor stays while a text is typed")
seen.press(b"\r", r" one \(", KEYS, "rows without the text are passed over")
seen.press(b"n", r" seven \(", KEYS, "at the list's end, too")
seen.press(b"/two\x7f\x7f\x7fonex\x7f\r", r" one \(", KEYS, "Backspace takes back")
seen.press(b"/zz", r" one \(", "search: zz_$", "another text is typed")
seen.press(b"\x1b", r" one \(", KEYS, "Escape leaves the cursor")
seen.press(b"k", r" two \(", KEYS, "it goes up")
seen.press(b"n", r" one \(", KEYS, "and n still finds what was found before")
seen.press(b"k", r" two \(", KEYS, "up again")
seen.press(b"/\r", r" one \(", KEYS, "/ with nothing typed searches for the same again")
seen.press(b"/nowhere\r", r" one \(", "not found", "a text that no row has is said, and the cursor stays")
seen.press(b"j", r" _start \(", KEYS, "until the next key")
seen.press(b"N", r" _start \(", "not found", "N says it, too")
for query in (r".*", r"[\(", "%s%n%n", "<script>acted()</script>", "'; true \"$(true)`true`", "gr\u00f6\u00dfe"):
    seen.press(b"/" + query.encode(), r" _start \(", re.escape(f"search: {query}_") + "$", f"{query} is shown as it is typed")
    seen.press(b"\r", r" _start \(", "not found", "and is a text like others")
    seen.press(b"k", r" one \(", KEYS, "the browser goes on")
    seen.press(b"j", r" _start \(", KEYS, "as before")
seen.press(b"/\x9b2J\x01\x02\x07\xff\xe2\x80\xae", r" _start \(", re.escape(r"search: \x9b2J\xff\xe2\x80\xae_") + "$", "bytes that would act on the terminal do not")
seen.press(b"\r", r" _start \(", "not found", "and are not found")
seen.press(b"/" + b"y" * 1000 + b"z" * 1000, r" _start \(", r"search: y{71}_$", "of a text that is too long the end is shown")
ok(not any("\x1b[J" in line for line in seen.frame()), "and nothing is cleared behind the last character of a full screen", seen.frame())
seen.press(b"\r", r" _start \(", "not found", "it is not found")
seen.press(b"/seven\rd", r" dec %ecx", KEYS, "another view")
seen.press(b"/jnz\r", r" jnz ", KEYS, "instructions are searched, too")
seen.press(b"qa/ret\r", r" ret # \\x1b\]0;acted\\x07\\x1b\[2J", KEYS, "and source; what would act in a source line does not")
seen.ends(b"Q", "Q ends it")
written = [seen.all]

# ---- widths ----
helps = {}
for columns, offered in ((60, 5), (80, 6), (200, 10)):
    seen = Terminal(columns, "report", "--browse", "kept")
    seen.press(b"", r" seven \(", KEYS, f"{columns} columns")
    equal(seen.lines()[-1].split("  "), OFFERS[:offered], "the last line has what fits, and cuts nothing")
    has(seen.lines()[0], re.compile(r"^instructions:u: .*functions by own count  \(event 1 of 2\)$"), "the first line is whole")
    seen.press(b"c", r" no callers and callees", KEYS, "a view that is empty")
    has(" ".join(" ".join(seen.lines()[2:-1]).split()), "no callers and callees: record call stacks by tare profile -g or --call-graph dwarf", "says why in full")
    seen.press(b"qd", r"dec %ecx", KEYS, "a function's instructions")
    has(seen.lines()[0], re.compile(r"^instructions:u: .*instructions of seven \(prog:prog\.s:4\)"), "the first line names it in full")
    os.write(seen.fd, b"?")
    while len(seen.frame()) < LINES or "keys" not in seen.lines()[0]:
        if not seen.more():
            break
    helps[columns] = seen.lines()[:LINES - 1]
    ok(every(len(line) <= columns for frame in seen.all.decode().split("\x1b[H") for line in re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", frame).split("\r\n")), "no line is wider")
    seen.ends(b"xQ", "it ends")
    written.append(seen.all)
ok(helps[60] == helps[80] == helps[200] and "  any key goes on" in helps[60], "the list of keys is whole on each", helps)

if not shutil.which("tmux"):
    skip("tmux is not installed", "browsing a profile")
    done()
    raise SystemExit
servers = 0


def tmux(*arguments):
    return subprocess.run(["tmux", "-S", os.path.join(os.getcwd(), f"tmux{servers}"), "-f", "/dev/null", *arguments], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env=environment(), timeout=TIME_OUT_S).stdout.decode(errors="replace")


def screen(wanted, fact, absent="\0"):
    """The screen, as soon as it has what is wanted (a regular expression) and not what is not."""
    end = time.monotonic() + WAIT_S
    while True:
        text = tmux("capture-pane", "-p")
        good = re.search(wanted, text, re.M) and absent not in text
        if good or time.monotonic() > end:
            break
        time.sleep(0.05)
    ok(good, fact, text)
    return text


def keys(*names):
    tmux("send-keys", *names)


def browse(*arguments, columns=80, lines=20, term="xterm-256color"):
    global servers
    tmux("kill-server")
    servers += 1  # one that ends may still be there for a moment
    tmux("new-session", "-d", "-x", str(columns), "-y", str(lines), f"stty -a >before; TERM={term} {shlex.quote(TARE)} report {' '.join(arguments)} --browse; echo status=$?; stty -a >after; exec cat")


browse("kept")
text = screen(r"70\.0% +7,000  seven \(prog:prog\.s:4\)", "the functions are listed, the largest first")
ok(text.startswith("instructions:u: 10,006 counts  functions by own count  (event 1 of 2)"), "the first line says what is shown", text)
keys("Enter")
screen(r"^ +35\.0% +3,499 +5  1: +dec %ecx", "Enter shows the source, with what took place in each line")
keys("d")
screen(r"3,499 +401005  dec %ecx", "d shows the instructions")
keys("Escape")
screen(r"^ +35\.0% +3,499 +5  1: ", "Escape goes back")
keys("Left")
screen(r"functions by own count", "so does the left arrow key")
keys("Down", "d")
screen(r"instructions of two", "the arrow keys choose a function")
keys("q")
screen(r"functions by own count", "q goes back")
keys("/", "s", "t", "a", "r", "t", "Enter")
keys("d")
screen(r"instructions of _start.*\n(.*\n)*.*syscall", "/ searches")
keys("q")
keys("c")
screen(r"callers and callees of _start|no callers and callees", "c shows callers and callees")
keys("q")
keys("l")
screen(r"3,499 +.*prog\.s:5 \(prog\)", "l lists source lines")
keys("Home", "Enter")
screen(r"dec %ecx", "and leads into the source from there")
keys("l")
screen(r"functions by", "l goes back to functions")
keys("e")
screen(r"^conditional-branches:u: .*\(event 2 of 2\)", "e shows the next event")
keys("s", "s")
text = screen(r"functions by name", "s sorts")
names = re.findall(r"^ .* (\w+) \(prog:", text, re.M)
ok(names == sorted(names) and len(names) >= 3, "by name", names)
tmux("resize-window", "-x", "60", "-y", "6")
text = screen(r"functions by name", "a terminal that gets smaller is drawn anew")
ok(every(len(line) <= 60 for line in text.splitlines()), "within its width", text)
keys("?")
screen(r"keys", "? lists the keys")
tmux("resize-window", "-x", "200", "-y", "50")
keys("Space", "z", "F5", "Q")
screen(r"^status=0", "Q ends it; keys that mean nothing do nothing")
for _ in range(20 * WAIT_S):
    if os.path.exists("after") and read("after"):
        break
    time.sleep(0.05)
equal(re.sub(r"rows \d+; columns \d+", "", read("after")), re.sub(r"rows \d+; columns \d+", "", read("before")), "the terminal is as it was")

# ---- signals ----
browse("kept")
screen(r"seven", "it runs again")
keys("C-c")
screen(r"^status=0", "Ctrl-C ends it")
browse("kept", term="dumb")
screen(r"needs a terminal that can be drawn on|status=[23]", "a terminal that cannot be drawn on is refused")

# ---- names that would act ----
subprocess.run([b"objcopy", b"--redefine-sym", b"seven=\x1b]0;acted\x07\x1b[2J\x1b[31mred<b>", b"--redefine-sym", f"two={LONG}".encode(), b"--redefine-sym", b"one=bad\xff\xc3(", b"--redefine-sym", b"_start=]]></script><script>acted()</script>", b"prog", b"hostile"], check=True)
tare("profile", "--on", "exact", "-e", "instructions", "-o", "kept2", "./hostile")
for arguments in ((), ("--dis",), ("--butterfly",), ("--annotate",), ("--prof",), ("--format", "csv"), ("--format", "json"), ("--before", "kept")):
    seen = tare("report", *arguments, "kept2")
    bad = re.findall(r"[\x00-\x09\x0b-\x0c\x0e-\x1f\x7f-\x9f]", seen.out)
    ok(seen.code == 0 and not bad and "\udcff" not in seen.out, f"names that would act do not in a report {' '.join(arguments)}", bad[:5])
    if "--format" not in arguments:
        most = 49 + 200 if "--prof" in arguments else 80 # prof's listing is searched: names of templates stay whole in a pipe
        ok(max(map(len, seen.out.splitlines())) <= most, "and one of 10 kB is shortened everywhere", [line[:200] for line in seen.out.splitlines() if len(line) > 80])
for columns in (60, 200):
    lines = shown_on_terminal(columns, "report", "--prof", "kept2").splitlines()
    ok(len([line for line in lines if re.match(r" *\d+\(", line)]) >= 4 and max(map(len, lines)) <= columns, f"prof's listing fits a terminal of {columns} columns", [line[:200] for line in lines])
deep = os.path.join(*["directory"] * 9)
os.makedirs(deep)
write(os.path.join(deep, "prog.s"), read("prog.s"))
subprocess.run(["gcc", "-g", "-nostdlib", "-static", os.path.join(deep, "prog.s"), "-o", "deep"], check=True)
tare("profile", "--on", "exact", "-e", "instructions", "-o", "kept3", "./deep")
for columns in (60, 200):
    lines = shown_on_terminal(columns, "report", "--annotate", "kept3").splitlines()
    headings = [line for line in lines if "prog.s" in line and "directory" in line]
    ok(headings and max(map(len, lines)) <= columns, f"source below a long path fits a terminal of {columns} columns", lines)


class Elements(html.parser.HTMLParser):
    def __init__(self, text):
        super().__init__()
        self.kinds, self.scripts = set(), 0
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.kinds.add(tag)
        self.scripts += tag == "script"


def inert(name, harmless, fact):
    """A file with hostile names has no control characters, and no element that one with harmless names has not."""
    with open(name, "rb") as file:
        text = file.read().replace(b"\r\n", b"\n").decode("utf-8", "surrogateescape")
    ok("acted" in text and not re.search(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\udc80-\udcff]", text), fact, text[:300])
    if harmless:
        elements, others = Elements(text), Elements(read(harmless))
        ok(elements.kinds <= others.kinds and elements.scripts == others.scripts == 1, "names are no elements there", (elements.kinds, elements.scripts, others.kinds, others.scripts))


for form in ("flamegraph", "html", "json", "csv", "folded", "callgrind", "speedscope", "firefox"):
    for kept in ("kept", "kept2"):
        seen = tare("report", "--as", form, "-o", f"{kept}.{form}", kept)
        equal(seen.code, 0, f"{kept} is written as {form}")
    inert(f"kept2.{form}", f"kept.{form}" if form in ("flamegraph", "html") else None, f"names that would act do not in a file {form}")
tree.fromstring(read("kept2.flamegraph"))  # or it is an error
for program in ("prog", "hostile"):
    tare("count", "--on", "exact", "-e", "instructions", "--by", "function", "--html", "-o", f"{program}.html", f"./{program}")
inert("hostile.html", "prog.html", "nor in a page of tare count")
seen = tare("count", "--on", "exact", "-e", "instructions", "--by", "function", "./hostile")
ok("acted" in seen.err + seen.out and not re.search(r"[\x00-\x09\x0b-\x1f\x7f-\x9f]", seen.err + seen.out), "nor in its text", seen)
browse("kept2")
text = screen(r"\\x1b\]0;acted\\x07\\x1b\[2J\\x1b\[31mred<b>", "nor in the browser")
ok("xxx…xxx" in text and "bad\\xff\\xc3(" in text, "a name of 10 kB is shortened", text)
ok("acted" not in tmux("display-message", "-p", "#{pane_title}"), "the terminal's title is as it was")
keys("d")
screen(r"instructions of \\x1b\]0;", "its instructions are shown")
keys("Q")
screen(r"^status=0", "and it ends")
tmux("kill-server")
for columns in (60, 80, 200):
    seen = Terminal(columns, "report", "--browse", "kept2")
    seen.press(b"", r"red<b>", KEYS, f"{columns} columns")
    seen.press(b"G", r" \]\]></script>", KEYS, "the last row")
    seen.press(b"/x1b]0;ACTED\r", r" \\x1b\]0;a", KEYS, "a name that would act is found as it is shown")
    seen.press(b"/xxxxx\r", r" long_x", KEYS, "so is one of 10 kB")
    seen.press(b"d", r" dec %ecx", KEYS, "its instructions are shown")
    seen.press(b"/jnz\r", r" jnz ", KEYS, "and searched")
    ok(every(len(line) <= columns for line in seen.lines()), "no line is wider", seen.lines())
    seen.ends(b"Q", "it ends")
    written.append(seen.all)
own = re.compile(rb"\x1b\[(?:H|J|K|[012347]*m|\?1049[hl]|\?25[hl])|\r\n")
foreign = [re.findall(r"[\x00-\x1f\x7f-\x9f\u202e\udc80-\udcff]", own.sub(b"", data).decode("utf-8", "surrogateescape")) for data in written]
equal(foreign, [[]] * 7, "of all that was written, nothing but the browser's own sequences can act")
done()
