"""Completion scripts in the shells that they are for: each shell is driven as a user does, by keys on a terminal (bash, zsh), or asked for what
it would offer (fish). The line behind each Tab is what the shell itself writes into a pipe, so nothing here depends on time."""
import select
import sqlite3

from cli import *

os.mkdir("bin")
os.symlink(TARE, "bin/tare")
STORE = os.path.abspath("store.db")
ENV = environment(PATH=f"{os.getcwd()}/bin:{os.environ['PATH']}", TARE_STORE=STORE, TERM="dumb", HOME=os.getcwd(), XDG_CONFIG_HOME=os.getcwd(),
                  XDG_DATA_HOME=os.getcwd(), XDG_CACHE_HOME=os.getcwd(), INPUTRC="/dev/null")
ran = tare("count", "-e", "task-clock", "--name", "first-run", "--", "true", env=ENV)
if ran.code:
    tare("count", "-e", "task-clock", "--", "true", env=ENV)
    ran = tare("name", "@last", "first-run", env=ENV)
equal(ran.code, 0, "a run is kept and named")
write("sums.costs", "")
# regions of kept runs; a store may be from elsewhere: no name of it is a command
FUNCTION, CODE, LIBRARY = range(3)
with sqlite3.connect(STORE) as store:
    for position, (name, place, kind) in enumerate((("parse_line", "parse_line", FUNCTION), ("hot", "sort.c:10-20", CODE), ("ns::next", "ns::next", FUNCTION),
                                                    ("marked_by_itself", "libtare", LIBRARY), ("$(touch called)", "$(touch called)", FUNCTION))):
        store.execute("INSERT INTO regions (run, part, position, name, text, kind, entries, exits, unbalanced, threads, least)"
                      " VALUES ((SELECT max(id) FROM runs), 0, ?, ?, ?, ?, 1, 1, 0, 1, 0)", (position, name, place, kind))
store.close()

# What is typed, and what stands there behind a Tab: of words that only one value begins with.
TYPED = [
    ("tare annot", "tare annotate-asm"),
    ("tare count --program-outp", "tare count --program-output"),
    ("tare count --program-output n", "tare count --program-output none"),
    ("tare explain --by f", "tare explain --by function"),
    ("tare explain --by=f", "tare explain --by=function"),
    ("tare count -e page-f", "tare count -e page-faults"),
    ("tare count -e cycles,page-f", "tare count -e cycles,page-faults"),
    ("tare count --fail-if page-f", "tare count --fail-if page-faults"),
    ("tare compare -g page-f", "tare compare -g page-faults"),
    ("tare predict -e page-f", "tare predict -e page-faults"),
    ("tare verify -e page-f", "tare verify -e page-faults"),
    ("tare count -m l1d-hit", "tare count -m l1d-hit-rate"),
    ("tare count --on model:r100", "tare count --on model:r10000"),
    ("tare count --on=model:r100", "tare count --on=model:r10000"),
    ("tare explain --on model:pent", "tare explain --on model:pentium"),
    ("tare doctor --on ex", "tare doctor --on exact"),
    ("tare explain --costs pow", "tare explain --costs power3"),
    ("tare explain --costs sums", "tare explain --costs sums.costs"),
    ("tare profile --exp fcy", "tare profile --exp fcy_hwc"),
    ("tare profile --call-graph dw", "tare profile --call-graph dwarf"),
    ("tare report --format h", "tare report --format html"),
    ("tare report --as speed", "tare report --as speedscope"),
    ("tare report @fir", "tare report @first-run"),
    ("tare export @fir", "tare export @first-run"),
    ("tare compare @fir", "tare compare @first-run"),
    ("tare verify --kernels loop,conv", "tare verify --kernels loop,convolution"),
    ("tare verify --paper ni", "tare verify --paper nieto"),
    ("tare verify samp", "tare verify sampling"),
    ("tare calibrate --interfaces command,st", "tare calibrate --interfaces command,stubs"),
    ("tare count --region parse_l", "tare count --region parse_line"),
    ("tare count --region=parse_l", "tare count --region=parse_line"),
    ("tare count --region sort.c:1", "tare count --region sort.c:10-20"),
    ("tare count --region ns::n", "tare count --region ns::next"),
    ("tare compare --region parse_l", "tare compare --region parse_line"),
    ("tare profile --region parse_l", "tare profile --region parse_line"),
    ("tare profile --begin parse_l", "tare profile --begin parse_line"),
    ("tare profile --end parse_l", "tare profile --end parse_line"),
    ("tare count --region marked", "tare count --region marked"),
    ("tare list machi", "tare list machines"),
    ("tare list reg", "tare list regions"),
    ("tare list machines r100", "tare list machines r10000"),
    ("tare list kernels conv", "tare list kernels convolution"),
    ("tare annotate-asm --machine arm", "tare annotate-asm --machine arm64"),
    ("tare cache si", "tare cache size"),
    ("tare completion f", "tare completion fish"),
    ("tare help from-l", "tare help from-likwid"),
]


class Shell:
    """A shell on a terminal. line(): what it has on its line when keys were typed."""

    def __init__(self, *command):
        os.mkfifo("lines")
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            os.execvpe(command[0], command, ENV)
        self.shown = ""
        self.lines = os.open("lines", os.O_RDWR | os.O_NONBLOCK)  # for writing too, so that it never ends
        while "READY> " not in self.shown:
            self.look()

    def look(self):
        """Reads what there is: of the terminal into shown; returns what is in the pipe."""
        ready = select.select([self.fd, self.lines], [], [], 200)[0]
        if not ready:
            raise SystemExit(f"Bail out! the shell is silent: {self.shown[-2000:]!r}")
        if self.fd in ready:
            self.shown += os.read(self.fd, 65536).decode(errors="replace")
        return os.read(self.lines, 4096) if self.lines in ready else b""

    def line(self, keys):
        # Ctrl-G writes the line and empties it
        os.write(self.fd, keys.encode() + b"\t\x07")
        seen = b""
        while not seen.endswith(b"\n"):
            seen += self.look()
        return seen.decode().rstrip(" =\n")  # some shells put what comes next

    def close(self):
        os.kill(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)
        os.close(self.fd)
        os.close(self.lines)
        os.unlink("lines")


def judge(name, shell):
    for typed, expected in TYPED:
        equal(shell.line(typed), expected, f"{name}: '{typed}'")
    shell.close()


if shutil.which("bash"):
    write("bashrc", "PS1='READY> '\nbind 'set completion-query-items 0'\nbind 'set page-completions off'\nbind 'set bell-style none'\n"
                    "bind 'set enable-bracketed-paste off'\nbind -x '\"\\C-g\": echo \"$READLINE_LINE\" >$HOME/lines; READLINE_LINE=; READLINE_POINT=0'\nsource <(tare completion bash)\n")
    judge("bash", Shell("bash", "--noprofile", "--rcfile", "bashrc", "-i"))
else:
    skip("bash is not installed", "bash")
if shutil.which("zsh"):
    write("_tare", tare("completion", "zsh").out)
    write(".zshrc", "PS1='READY> '\nfpath=($HOME $fpath)\nautoload -Uz compinit\ncompinit -u -D\nLISTMAX=100000\nunsetopt auto_menu beep prompt_sp\n"
                    "show() { print -r -- \"$BUFFER\" >$HOME/lines; BUFFER= }\nzle -N show\nbindkey '^G' show\nbindkey '^I' complete-word\n")
    ENV["ZDOTDIR"] = os.getcwd()
    judge("zsh", Shell("zsh", "-d", "-i"))
else:
    skip("zsh is not installed", "zsh")
if shutil.which("fish"):
    write("tare.fish", tare("completion", "fish").out)
    for typed, expected in TYPED:
        offered = subprocess.run(["fish", "--no-config", "-c", "source tare.fish; complete -C $argv[1]", typed], capture_output=True, text=True, env=ENV)
        # what stands in the place of the last word
        words = {typed[:typed.rindex(" ") + 1] + line.split("\t")[0] for line in offered.stdout.splitlines()}
        equal([word for word in sorted(words) if word.startswith(typed)] or [typed], [expected], f"fish: '{typed}'")
else:
    skip("fish is not installed", "fish")
ok(not os.path.exists("called"), "a region's name is not executed")
done()
