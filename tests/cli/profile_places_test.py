"""`tare profile --region, --begin, --end`: samples of parts of a program. Each touch of a page is a fault and, at gap 1, a sample: the
samples of each part are known by counting."""
import platform
import shutil
import subprocess

from cli import *

FACT = "samples are taken in places of code"
if platform.machine() != "x86_64":
    skip("registers of probes are read on x86-64", FACT)
    done()
if not shutil.which("gcc"):
    skip("no gcc here", FACT)
    done()
write("parts.c", """\
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#define APART __attribute__((noinline))
static char *memory;
static int at;
APART void touch(int n) { for (int i = 0; i < n; i++) memory[4096L * __atomic_fetch_add(&at, 1, 5)] = 1; }
APART void outside(int n) { touch(n); __asm__ volatile(""); }
APART void helper(int n) { touch(n); __asm__ volatile(""); }
APART void inside(int n) { touch(10); helper(n); touch(1); __asm__ volatile(""); }
APART void recurses(int n) { touch(3); if (n) recurses(n - 1); touch(2); __asm__ volatile(""); }
static jmp_buf back;
APART void jumps(int n) { touch(5); if (n) longjmp(back, 1); __asm__ volatile(""); }
APART void handler(int number) { touch(7); __asm__ volatile(""); }
APART void raises(void) { touch(1); raise(SIGUSR1); touch(1); __asm__ volatile(""); }
APART void start(void) { __asm__ volatile(""); }
APART void stop(void) { __asm__ volatile(""); }
APART void never(void) { __asm__ volatile(""); }
APART void forks(void) { touch(4); pid_t child = fork(); touch(6); if (!child) _exit(0); waitpid(child, 0, 0); touch(2); __asm__ volatile(""); }
static void *thread(void *data) { outside(20); inside(30); outside(5); return data; }
int main(int argc, char **argv)
{
	pthread_t other;
	memory = mmap(0, 4096L * 4000, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	madvise(memory, 4096L * 4000, MADV_NOHUGEPAGE);
	signal(SIGUSR1, handler);
	if (argc > 9)
		never();
	outside(100);
	inside(50);
	outside(30);
	inside(20);
	recurses(4);
	if (!setjmp(back))
		jumps(1);
	outside(11);
	jumps(0);
	raises();
	start();
	outside(13);
	stop();
	outside(17);
	start();
	start();
	outside(2);
	stop();
	stop();
	pthread_create(&other, 0, thread, 0);
	pthread_join(other, 0);
	if (argc > 1)
		forks();
	return 3;
}
""")
subprocess.run(["gcc", "-g", "-O1", "-fno-omit-frame-pointer", "parts.c", "-o", "parts", "-pthread"], check=True)


def profiled(*arguments, program=("./parts",)):
    return tare("profile", "-e", "page-faults:u@1", *arguments, *program)


def touched(seen):
    """The samples in touch()."""
    found = re.search(r"^ +([\d,]+) .* touch \(parts", seen.err, re.M)
    return int(found[1].replace(",", "")) if found else 0


def flat(seen):
    return " ".join(seen.err.split())


first = profiled("--region", "inside")
if first.code == 3 and "cannot" in first.err:
    skip("probes cannot be placed here", FACT)
else:
    ok(first.code == 3 and touched(first) == 61 + 31 + 41, "a region has what it and what it calls touch, in each thread", first)
    has(flat(first), "inside: entered 3 times; ", "how often it was entered is said")
    has_not(first.err, "in all", "the event's count of the whole program is not said to be the region's")
    for arguments, faults, said in (
            (["--region", "recurses"], 25, "recurses: entered once; "),
            (["--region", "inside", "--region", "recurses"], 158, "inside, recurses: entered 4 times; "),
            (["--region", "raises"], 9, "raises: entered once; "),
            (["--region", "handler"], 7, "handler: entered once; "),
            (["--region", "outside"], 198, "outside: entered 8 times; "),
            (["--begin", "start", "--end", "stop"], 15, "sampling began at start 2 times, and ended at stop 2 times; "),
            (["--begin", "start", "--end", "never"], 15 + 17 + 66, "sampling began at start once, and ended at never never: it went on to the program's end; "),
            (["--end", "start"], 277, "sampling ended at start once; "),
            (["--end", "never"], 375, "never: never reached, so that sampling did not end there; "),
            (["--begin", "recurses", "--end", "helper"], 117, "sampling began at recurses once, and ended at helper once; "),
            (["--begin", "start", "--region", "inside"], 41, "inside: entered 3 times; sampling began at start once; ")):
        seen = profiled(*arguments)
        equal(touched(seen), faults, f"faults {' '.join(arguments)}")
        has(flat(seen), said, f"what is said {' '.join(arguments)}")
    line = next(number for number, text in enumerate(read("parts.c").splitlines(), 1) if "outside(13)" in text)
    equal(touched(profiled("--region", f"parts.c:{line}-{line}")), 13, "a line is a region")
    equal(touched(profiled("--begin", f"parts.c:{line}-{line}", "--end", "stop")), 13, "sampling begins at a line")
    for arguments, said in ((["--region", "never"], "never: never entered, so that nothing was sampled"), (["--begin", "never"], "never: never reached, so that nothing was sampled")):
        seen = profiled(*arguments)
        ok(seen.code == 3 and touched(seen) == 0 and said in flat(seen) and "less often" not in seen.err, f"nothing is sampled, and why: {' '.join(arguments)}", seen)
    jumped = profiled("--region", "jumps")
    ok(touched(jumped) == 5 + 11 + 5 and "16 samples are of passes that did not end by a return" in flat(jumped), "samples after a longjmp out of it are told", jumped)
    forked = profiled("--region", "forks", program=("./parts", "more"))
    has(flat(forked), "forks: entered once; ", "a forked process is in its parent's region, and did not enter it")
    # 18 pages, and a copy of the page with the number of the next one in each process, if it is written to before the other has ended
    ok(18 <= touched(forked) <= 20, "which goes on in it", forked)
    kept = profiled("--region", "inside", "-o", "kept")
    ok("inside: entered 3 times" in " ".join(tare("report", "kept").out.split()), "a kept profile says it, too", kept)
    twice = subprocess.run([TARE, "profile", "--no-store", "-p", "1", "--begin", "no_such_function", "--for", "0.1"], capture_output=True, text=True)
    ok(twice.returncode in (2, 3) and "tare: " in twice.stderr, "a place that the process does not have is an error", twice)
for arguments, message in ((["--region", "nosuch", "./parts"], "no function 'nosuch'"), (["--begin", "", "./parts"], "tare: "), (["-a", "--for", "0.1", "--end", "main"], "places of a program, and none is given"),
                           (["--region", "inside", "--begin", "inside", "./parts"], "two regions are named 'inside'")):
    seen = tare("profile", *arguments)
    ok(seen.code in (2, 3) and message in seen.err, f"refused: {' '.join(arguments)}", seen)
done()
