"""`tare report --browse`, as a user sees it: in a terminal (tmux), by its keys."""
import platform
import shlex
import time

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
	ret
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
if not shutil.which("tmux"):
    skip("tmux is not installed", "browsing a profile")
    done()
    raise SystemExit
WAIT_S = 30
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
ok(all(len(line) <= 60 for line in text.splitlines()), "within its width", text)
keys("?")
screen(r"keys", "? lists the keys")
tmux("resize-window", "-x", "200", "-y", "50")
keys("Space", "z", "F5", "Q")
screen(r"^status=0", "Q ends it; keys that mean nothing do nothing")
for _ in range(200):
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
subprocess.run([b"objcopy", b"--redefine-sym", b"seven=\x1b]0;acted\x07\x1b[2J\x1b[31mred<b>", b"--redefine-sym", f"two={LONG}".encode(), b"--redefine-sym", b"one=bad\xff\xc3(", b"prog", b"hostile"], check=True)
tare("profile", "--on", "exact", "-e", "instructions", "-o", "kept2", "./hostile")
for arguments in ((), ("--dis",), ("--butterfly",), ("--annotate",), ("--prof",), ("--format", "csv"), ("--format", "json"), ("--before", "kept")):
    seen = tare("report", *arguments, "kept2")
    bad = re.findall(r"[\x00-\x09\x0b-\x0c\x0e-\x1f\x7f-\x9f]", seen.out)
    ok(seen.code == 0 and not bad and "\udcff" not in seen.out, f"names that would act do not in a report {' '.join(arguments)}", bad[:5])
browse("kept2")
text = screen(r"\\x1b\]0;acted\\x07\\x1b\[2J\\x1b\[31mred<b>", "nor in the browser")
ok("xxx…xxx" in text and "bad\\xff\\xc3(" in text, "a name of 10 kB is shortened", text)
ok("acted" not in tmux("display-message", "-p", "#{pane_title}"), "the terminal's title is as it was")
keys("d")
screen(r"instructions of \\x1b\]0;", "its instructions are shown")
keys("Q")
screen(r"^status=0", "and it ends")
tmux("kill-server")
done()
