"""Counters that a program reads itself (libtare, libperfex's calls in C and Fortran) while tare's engine runs it: the engine answers, exactly,
and nothing of libtare is in the counts. Started with the built tare and the folder of libtare.so."""
import json
import shutil

from cli import *

HERE = os.path.dirname(os.path.abspath(__file__))
LIBTARE = os.path.abspath(sys.argv[2])
FLAGS = [f"-I{os.path.join(HERE, '../../include')}", f"-L{LIBTARE}", f"-Wl,-rpath,{LIBTARE}"]


def build(name, source, compiler, *flags):
    ran = subprocess.run([compiler, source, "-o", name, *FLAGS, *flags], capture_output=True, text=True)
    return os.path.join(os.getcwd(), name) if ok(ran.returncode == 0, f"{name} is built by {compiler}", ran.stderr) else None


def lines(*arguments, on="exact"):
    """{name: {event: (source, count)}} of a program's lines of four words; {name: text} of others; and the command"""
    ran = tare("count", "--on", on, "-e", "instructions", "-o", "report", "--", *arguments)
    seen = {}
    for line in ran.out.splitlines():
        words = line.split(" ")
        if len(words) == 4 and re.fullmatch(r"-?\d+", words[3]):
            seen.setdefault(words[0], {})[words[1]] = (words[2], int(words[3]))
        else:
            seen[words[0]] = " ".join(words[1:])
    return seen, ran


def counts(seen, name):
    return {event: value for event, (_, value) in seen[name].items()} if isinstance(seen.get(name), dict) else seen.get(name)


EVENTS = "instructions,loads,stores,conditional-branches,conditional-taken,branches,calls,returns,data-read-bytes:u"
PASS = {"instructions": 4001, "loads": 1000, "stores": 1000, "conditional-branches": 1000, "conditional-taken": 999, "branches": 1000,
        "calls": 0, "returns": 0, "data-read-bytes:u": 8000}
READS = {**dict.fromkeys(PASS, 0), "instructions": 102}
# and the mov between the second reading and the stop
SUM = {event: PASS[event] + READS[event] + (event == "instructions") for event in PASS}

for binding in ("lazy", "now"):
    program = build(f"answered-{binding}", f"{HERE}/../api/answered.c", "cc", "-O2", "-pthread", "-ltare", f"-Wl,-z,{binding}")
    for scope in ("thread", "process"):
        seen, ran = lines(program, EVENTS, scope)
        what = f"a {scope}'s set, bound {binding}"
        equal(ran.code, 0, f"{what}: the program's own status")
        for name in ("first", "second", "inner", "child", "parent", "behind-longjmp"):
            equal(counts(seen, name), PASS, f"{what}: {name}: what stands between the calls, to the instruction, and nothing of the calls")
        equal(counts(seen, "reads"), READS, f"{what}: readings of a set that runs cost it nothing")
        equal(counts(seen, "on"), SUM, f"{what}: a set that is started again goes on from where it was")
        equal(counts(seen, "stopped"), SUM, f"{what}: a set that is stopped keeps its counts")
        equal(counts(seen, "reset"), dict.fromkeys(PASS, 0), f"{what}: a reset sets to 0")
        equal({source for source, _ in seen["first"].values()}, {"exact"}, f"{what}: the source is named")
        equal(seen.get("outer"), "has it", f"{what}: a set around another one counts what that counts")
        equal(seen.get("overflow"), "refused", f"{what}: there are no handlers of overflows under the engine")
        equal(seen.get("threads"), "in" if scope == "process" else "out", f"{what}: other threads' instructions are those of a process's set alone")
        equal(seen.get("own-thread"), "its own", f"{what}: a thread's own set counts that thread")
        equal(seen.get("signal"), "in", f"{what}: a signal's handler is of the program")
        equal(seen.get("child-of-parents"), "refused", f"{what}: a forked child does not read its parent's set")
        if scope == "thread":
            has(seen.get("other-thread", ""), "another thread opened the set", f"{what}: another thread's reading is refused")

# the whole report is as without: no region of the engine's own is in it
has_not(read("report"), "region", "the engine's own regions are in no report")

program = os.path.join(os.getcwd(), "answered-lazy")
seen, ran = lines(program, "instructions,l1d-load-misses,r12000::data-accesses", on="model:r12000")
has(seen.get("error", ""), "cannot count 'l1d-load-misses'", "a model of which no event was asked for does not run: the program is told so")
ran = tare("count", "--on", "model:r12000", "-e", "branch-misses", "-o", "report", "--", program, "l1d-load-misses,dtlb-load-misses")
has(ran.out, "cannot count 'dtlb-load-misses' under tare's engine: this part of 'r12000' is not modelled in this run", "... nor a part of it")
has(ran.out, "also name it to tare count: -e dtlb-load-misses", "... and what to do")
ran = tare("count", "--on", "model:r12000", "-o", "report", "--", program, "r10000::l1d-load-misses")
has(ran.out, "the machine 'r10000' is not modelled in this run", "another machine's event is refused")
has(seen.get("error", ""), "-e l1d-load-misses", "... and what to do")
ran = tare("count", "--on", "model:r12000", "-o", "report", "--", program, "instructions,loads,l1d-load-misses,branch-misses")
first = [line.split() for line in ran.out.splitlines() if line.startswith(("second", "inner"))]
model = {(words[0], words[1]): (words[2], int(words[3])) for words in first}
equal(model.get(("second", "instructions")), ("exact", 4001), "with a machine: exact events stay exact")
equal(model.get(("second", "loads")), ("exact", 1000), "... all of them")
equal(model.get(("second", "l1d-load-misses")), ("model", 0), "a word that is in the cache does not miss, whatever the calls between did to it")
ok(model.get(("second", "branch-misses"), ("", 99))[1] <= 3, "a loop of 1000 is mispredicted at its ends only", str(model))
seen, ran = lines(program, "page-faults")
has(seen.get("error", ""), "cannot count 'page-faults' under tare's engine", "what the engine does not count is refused, by name")
seen, ran = lines(program, "instructions:k")
has(seen.get("error", ""), "user mode", "the kernel's instructions are refused")
seen, ran = lines(program, "l1d-load-misses")
has(seen.get("error", ""), "no machine is modelled in this run", "without a machine there are no misses")
has(seen.get("error", ""), "tare count --on model:host", "... and the hint says how there are")
seen, ran = lines(program, "nonsense")
has(seen.get("error", ""), "nonsense", "an unknown event is refused by its name")
seen, ran = lines(program, "basic-blocks")
has(seen.get("error", ""), "known when the program has ended", "blocks are not known while the program runs")

PERFEX = r"""
#include <stdio.h>
#include <tare_perfex.h>
__attribute__((used, visibility("hidden"))) long long c0, c1;
int pass(int e0, int e1);
__asm__(".text\npass: push %rbx\n push %r12\n push %r13\n mov %edi, %r12d\n mov %esi, %r13d\n call start_counters@PLT\n"
        " mov $1000, %ebx\n1: fldz\n fadd %st(0), %st\n fstp %st(0)\n dec %ebx\n jnz 1b\n"
        " mov %r12d, %edi\n lea c0(%rip), %rsi\n mov %r13d, %edx\n lea c1(%rip), %rcx\n call read_counters@PLT\n pop %r13\n pop %r12\n pop %rbx\n ret\n");
int main(void)
{
	for (int i = 0; i < 2; i++) {
		int started = pass(15, 21);
		printf("%d %lld %lld %s\n", started, c0, c1, tare_perfex_error());
	}
	int started = pass(0, 17);
	printf("%d %lld %lld %s\n", started, c0, c1, tare_perfex_error());
	printf("%d %s\n", start_counters(0, 16), tare_perfex_error());
	printf("%d %s\n", start_counters(15, 32), tare_perfex_error());
	printf("%d %s\n", start_counters(15, 14), tare_perfex_error());
	return 0;
}
"""
program = build("perfex", write("perfex.c", PERFEX), "cc", "-ltare-perfex", "-Wl,-z,lazy")
for on in ("exact", "model:r10000"):
    out = tare("count", "--on", on, "-o", "report", "--", program).out.splitlines()
    # mov and 1000 × (fldz, fadd, fstp, dec, jnz)
    equal(out[:2], ["1 5001 1000 ", "2 5001 1000 "], f"{on}: libperfex's calls count what is between them, to the instruction")
    has(out[2], "3 -1 5001 cannot count 'r10000:Cycles:u' under tare's engine", f"{on}: beside cycles, which are not counted, instructions are")
    has(out[2], "its count is -1", f"{on}: and it is said what the program gets")
    has(out[3], "-1 cannot count 'r10000:Cycles:u' under tare's engine", f"{on}: cycles alone are refused")
    has(out[4], "-1 there is no event 32", f"{on}: a number out of range")
    has(out[5], "-1 conflicting counters", f"{on}: two events of one counter")
alone = subprocess.run([program], capture_output=True, text=True)
if not alone.stdout.startswith("1 "):
    has(tare("count", "-e", "r10000:Graduated instructions:u", "--on", "exact", "--", "true").err, "exact", "perfex's name is the engine's event")

# costs that were kept: of this CPU and kernel alone, and of the program's own instructions, which are those of this machine
COSTS = r"""
#include <stdio.h>
#include <tare_perfex.h>
int main(void)
{
	int status = print_costs(15, 1000000, 25, 100);
	printf("%d %s\n", status, tare_perfex_error());
	return 0;
}
"""


def kept(cpu, kernel):
    text = f"""[costs]
machine = host
title = This machine
cpu = {cpu}
kernel = {kernel}
tare = 0
made = 1
seconds = 1
confidence = 0.95

[cost]
of = instruction
unit = ns
typical = 3
n = 1
source = planted

"""
    value = 0xcbf29ce484222325
    for byte in text.encode():
        value = (value ^ byte) * 0x100000001b3 % 2**64
    return os.path.abspath(write("kept.costs", f"{text}[end]\nsum = {value:016x}\n"))


def costs(path):
    ran = subprocess.run([program], capture_output=True, text=True, env=environment(TARE_COSTS=path))
    return Done(ran.returncode, ran.stdout, ran.stderr)


program = build("kept", write("kept.c", COSTS), "cc", "-ltare-perfex")
machine = json.loads(tare("count", "-e", "task-clock", "--json", "--", "true").err)["machine"]
ran = costs(kept(machine["cpu"], machine["kernel"]))
equal(ran.out, "0 \n", "print_costs takes the costs that 'tare calibrate --costs' kept")
has(ran.err, "Graduated instructions.......................................... %15d     0.003000            -            -\n" % 1000000, "... the time of instructions")
has(ran.err, "Primary data cache misses....................................... %15d            -            -            -\nCosts: This machine\n" % 100,
    "... and none for what they do not give")
ran = costs(kept("Another CPU", machine["kernel"]))
ok(ran.out.startswith("-1 measured on 'Another CPU', this is '") and "run 'tare calibrate --costs'" in ran.out and "1000000            -            -            -\n" in ran.err,
   "... but not those of another CPU", ran)
ran = costs(kept(machine["cpu"], "Linux 0.0"))
ok(ran.out.startswith("-1 measured under kernel 'Linux 0.0', this is '"), "... nor of another kernel", ran)

PAPI = r"""
#include <stdio.h>
#include <string.h>
#include <tare_papi.h>
#include <tare_papi_hl.h>
#define DO(call) do { int code_ = (call); if (code_ != PAPI_OK) printf("%s: %d %s\\n", #call, code_, PAPI_strerror(code_)); } while (0)
__attribute__((used, visibility("hidden"))) long long values[3];
__attribute__((used, visibility("hidden"))) int set = PAPI_NULL;
int pass(void), pass_read(void), pass_accum(void);
#define PASS(name, call) __asm__(".text\n" name ": push %rbx\n mov set(%rip), %edi\n call tare_papi_start@PLT\n" \
        " mov $1000, %ebx\n1: mov set(%rip), %eax\n dec %ebx\n jnz 1b\n" \
        " mov set(%rip), %edi\n lea values(%rip), %rsi\n call " call "@PLT\n pop %rbx\n ret\n")
PASS("pass", "tare_papi_stop");
PASS("pass_read", "tare_papi_read");
PASS("pass_accum", "tare_papi_accum");
int main(void)
{
	int other = PAPI_NULL, code = 0, n = 8, codes[8], state;
	char name[PAPI_MAX_STR_LEN];
	printf("before: %d %d\n", PAPI_create_eventset(&set), PAPI_is_initialized());
	int wrong = PAPI_library_init(1), right = PAPI_library_init(PAPI_VER_CURRENT) == PAPI_VER_CURRENT;
	printf("init: %d %d %d\n", wrong, right, PAPI_is_initialized());
	DO(PAPI_create_eventset(&set));
	printf("again: %d\n", PAPI_create_eventset(&set));
	DO(PAPI_add_event(set, PAPI_TOT_INS));
	DO(PAPI_add_named_event(set, "PAPI_LD_INS"));
	DO(PAPI_event_name_to_code("conditional-branches", &code));
	DO(PAPI_add_event(set, code));
	DO(PAPI_event_code_to_name(code, name));
	printf("name: %s\n", name);
	DO(PAPI_event_code_to_name(PAPI_TOT_INS, name));
	printf("name: %s\n", name);
	DO(PAPI_list_events(set, codes, &n));
	printf("events: %d %d %d\n", PAPI_num_events(set), n, codes[0] == PAPI_TOT_INS && codes[2] == code);
	DO(pass());
	printf("stop: %lld %lld %lld\n", values[0], values[1], values[2]);
	DO(pass());
	printf("stop: %lld %lld %lld\n", values[0], values[1], values[2]);
	DO(pass_read());
	printf("read: %lld %lld %lld\n", values[0], values[1], values[2]);
	DO(PAPI_state(set, &state));
	printf("running: %d %d %d %d %d\n", state == PAPI_RUNNING, PAPI_start(set), PAPI_add_event(set, PAPI_SR_INS), PAPI_cleanup_eventset(set), PAPI_destroy_eventset(&set));
	DO(PAPI_stop(set, NULL));
	values[0] = values[1] = values[2] = 100;
	DO(pass_accum());
	printf("accum: %lld %lld %lld\n", values[0], values[1], values[2]);
	DO(PAPI_stop(set, NULL));
	DO(PAPI_reset(set));
	DO(PAPI_read(set, values));
	printf("reset: %lld %lld %lld\n", values[0], values[1], values[2]);
	printf("errors: %d %d %d %d %d %d %d\n", PAPI_stop(set, values), PAPI_add_event(set, PAPI_TOT_INS), PAPI_add_event(99, PAPI_TOT_INS),
	       PAPI_add_event(set, PAPI_PRESET_MASK | 0x7f), PAPI_event_name_to_code("PAPI_NONSENSE", &code), PAPI_add_event(set, PAPI_TOT_CYC), PAPI_destroy_eventset(&set));
	DO(PAPI_create_eventset(&other));
	printf("empty: %d %d\n", PAPI_start(other), PAPI_num_cmp_hwctrs(1));
	DO(PAPI_cleanup_eventset(set));
	DO(PAPI_destroy_eventset(&set));
	printf("destroyed: %d %s\n", set, PAPI_strerror(PAPI_ENOEVST));
	printf("unknown: %d\n", PAPI_strerror(-99) == NULL);
	PAPI_shutdown();
	printf("shut down: %d\n", PAPI_start(other));
	return 0;
}
"""
program = build("papi", write("papi.c", PAPI), "cc", "-ltare", "-Wl,-z,lazy")
for on in ("exact", "model:r12000"):
    ran = tare("count", "--on", on, "-o", "report", "--", program)
    equal(ran.out.splitlines(), [
        "before: -16 0", "init: -1 1 1", "again: -1", "name: conditional-branches", "name: PAPI_TOT_INS", "events: 3 3 1",
        # mov and 1000 × (mov, dec, jnz)
        "stop: 3001 1000 1000", "stop: 3001 1000 1000", "read: 3001 1000 1000", "running: 1 -10 -10 -10 -10", "accum: 3101 1100 1100",
        "reset: 0 0 0", "errors: -9 -8 -11 -7 -7 -7 -1", "empty: -1 -17", "destroyed: -1 No such EventSet available", "unknown: 1", "shut down: -16"],
        f"{on}: PAPI's event sets, counted to the instruction, and its codes of what is wrong")

# the two libraries' regions: what stands between begin and end
REGIONS = r"""
#include <tare_papi_hl.h>
#include <tare_hpm.h>
#define LOOP(n) __asm__ volatile("mov %0, %%ebx\n1: dec %%ebx\n jnz 1b" : : "i"(n) : "ebx", "cc")
int main(void)
{
	hpmInit(0, "program");
	for (int i = 0; i < 3; i++) {
		PAPI_hl_region_begin("papi");
		LOOP(1000);
		PAPI_hl_region_end("papi");
		hpmStart(1, "hpm");
		LOOP(100);
		hpmStop(1);
	}
	hpmTstart(2, "thread");
	LOOP(50);
	hpmTstop(2);
	hpmTerminate(0);
	return PAPI_hl_stop();
}
"""
program = build("regions", write("regions.c", REGIONS), "cc", "-O2", "-ltare")
for on in ("exact", "model:r12000"):
    ran = tare("count", "--on", on, "-e", "instructions,conditional-branches", "--json", "-o", "-", "--", program)
    seen = {region["name"]: {row["event"]: row["value"] for row in region["results"]} for region in json.loads(ran.out)["regions"]} if ok(ran.code == 0, f"{on}: regions of PAPI and libhpm", ran) else {}
    equal(seen.get("papi"), {"instructions:u": 3 * 2001, "conditional-branches:u": 3 * 1000}, f"{on}: PAPI_hl_region_begin() and _end(): mov and 1000 × (dec, jnz), three times")
    for name, passes, turns in (("hpm", 3, 100), ("thread", 1, 50)):
        equal(seen.get(name, {}).get("conditional-branches:u"), passes * turns, f"{on}: libhpm's {name}: its branches, exactly")
        # hpmStop() loads the region's address before the mark that ends it, as the compiler does that: an instruction or two
        ok(passes * (2 * turns + 1) <= seen.get(name, {}).get("instructions:u", 0) <= passes * (2 * turns + 3), f"{on}: libhpm's {name}: its instructions, and hpmStop()'s own", seen)
# alone, where nothing counts them
SUGGESTED = r"""
#include <stdio.h>
#include <tare_papi.h>
int main(void)
{
	static const int codes[] = {PAPI_TOT_INS, PAPI_L1_DCM};
	PAPI_library_init(PAPI_VER_CURRENT);
	for (int i = 0; i < 2; i++) {
		int set = PAPI_NULL;
		PAPI_create_eventset(&set);
		printf("%d %s\n", PAPI_add_event(set, codes[i]) == PAPI_OK, tare_papi_error());
	}
	return 0;
}
"""
# libperfex's calls alone
perfex = build("perfex-alone", write("perfex-alone.c", '#include <stdio.h>\n#include <tare_perfex.h>\nint main(void)\n{\n\tint started = start_counters(15, 25);\n'
               '\tprintf("%d %s\\n", started >= 0, started < 0 ? tare_perfex_error() : "");\n}\n'), "cc", "-ltare-perfex")
ran = subprocess.run([perfex], capture_output=True, text=True)
ok(ran.stdout == "1 \n" or f"'tare count --on model:r10000 {perfex}' answers these calls" in ran.stdout, "libperfex alone: its events are counted, or the command that would is named", ran.stdout)
# libhpm's regions alone, by an event that a model counts
hpm = build("hpm", write("hpm.c", '#include <tare_hpm.h>\nint main(void)\n{\n\thpmInit(0, "hpm");\n\thpmStart(1, "work");\n\thpmStop(1);\n\thpmTerminate(0);\n}\n'), "cc", "-ltare")
ran = subprocess.run([hpm], capture_output=True, text=True, env=environment(TARE_EVENTS="l1d-misses:u", TARE_FORMAT="text"))
ok("are not counted" not in ran.stderr or f"'tare count -e l1d-misses:u {hpm}' counts these regions" in ran.stderr,
   "libhpm alone: its regions are counted, or the command that would is named", ran.stderr)
program = build("suggested", write("suggested.c", SUGGESTED), "cc", "-ltare")
ran = subprocess.run([program], capture_output=True, text=True)
for line, on in zip(ran.stdout.splitlines(), ("exact", "model:host")):
    ok(line == "1 " or f"'tare count --on {on} {program}' answers these calls" in line, f"PAPI alone: an event is counted, or the command that would is named ({on})", line)

FORTRAN = """
program fortran
  implicit none
  integer(4), external :: start_counters, read_counters
  integer(8) :: c0, c1, d0, d1
  real(8), volatile :: x
  integer :: i, started, n
  do n = 1000, 2000, 1000
    started = start_counters(15, 21)
    do i = 1, n
      x = x + 1.0d0
    end do
    if (read_counters(15, d0, 21, d1) /= started) error stop 1
    if (n == 1000) then
      c0 = d0
      c1 = d1
    end if
  end do
  print '(4(i0,1x))', c0, c1, d0, d1
end program
"""
SWEPT = 40000
FORTRAN_MODELLED = f"""
subroutine sweep(x, n)
  implicit none
  integer, intent(in) :: n
  real(8), intent(in) :: x(n)
  real(8), volatile :: sum
  integer :: i
  do i = 1, n
    sum = sum + x(i)
  end do
end subroutine
program modelled
  implicit none
  interface
    subroutine sweep(x, n)
      integer, intent(in) :: n
      real(8), intent(in) :: x(n)
    end subroutine
  end interface
  integer(4), external :: start_counters, read_counters
  integer(8) :: c0, c1
  integer, parameter :: n = {SWEPT}
  real(8), save :: x(n)
  integer :: started
  started = start_counters(15, 25)
  call sweep(x, n)
  if (read_counters(15, c0, 25, c1) /= started) error stop 1
  print '(2(i0,1x))', c0, c1
end program
"""
FORTRAN_COSTS = """
program costs
  implicit none
  integer(4), external :: start_counters, read_counters, print_costs, load_costs
  external :: tare_perfex_message
  integer(8) :: c0, c1
  integer :: started
  character(len=200) :: why
  character(len=40) :: name = 'planted.costs'
  started = start_counters(15, 25)
  if (started < 0 .or. read_counters(15, c0, 25, c1) /= started) error stop 1
  call tell('without:', print_costs(15, 2000000_8, 25, 300000_8))
  call tell('missing:', load_costs('nowhere.costs   '))
  call tell('loaded:', load_costs(name))
  call tell('printed:', print_costs(15, 2000000_8, 25, 300000_8))
contains
  subroutine tell(what, status)
    character(len=*), intent(in) :: what
    integer, intent(in) :: status
    call tare_perfex_message(why)
    print '(a, i4, 1x, a)', what, status, trim(why)
  end subroutine
end program
"""
fortran = shutil.which("gfortran")
if fortran:
    # the model's own counts, beside those of the same execution that tare reports
    program = build("modelled", write("modelled.f90", FORTRAN_MODELLED), fortran, "-O1", "-ltare-perfex")
    ran = tare("count", "--on", "model:r10000", "-e", "instructions,l1d-misses", "--region", "sweep_", "--json", "-o", "report.json", "--", program)
    region = {row["event"].removesuffix(":u"): row["value"] for row in json.loads(read("report.json"))["regions"][0]["results"]} if ok(ran.code == 0, "a Fortran program's sweep is modelled", ran) else {}
    seen = [int(word) for word in ran.out.split()]
    misses = SWEPT * 8 // 32  # lines of 32 bytes, each for the first time
    ok(misses <= region.get("l1d-misses", 0) <= misses + 10, "an R10000 misses once a line of the array", region)
    ok(len(seen) == 2 and 0 <= seen[0] - region["instructions"] <= 20 and 0 <= seen[1] - region["l1d-misses"] <= 10,
       "start_counters(15, 25) has the model's counts: what the sweep has, and a few of the call", f"{seen} {region}")
    program = build("fortran", write("fortran.f90", FORTRAN), fortran, "-O1", "-ltare-perfex")
    for on in ("exact", "model:r10000"):
        ran = tare("count", "--on", on, "-o", "report", "--", program)
        numbers = [int(word) for word in ran.out.split()]
        equal(numbers[1::2], [1000, 2000], f"{on}: a Fortran program's additions, counted between its own calls")
        ok(numbers[0] % 1000 < 20 and numbers[2] - numbers[0] == 1000 * (numbers[0] // 1000),
           f"{on}: its instructions are those of the loop", str(numbers))

    # of costs: counts of a modelled machine are not multiplied by this machine's
    write("planted.costs", """[costs]
machine = planted
title = Planted
source = planted
[cost]
of = instruction
unit = ns
typical = 2
source = planted
[cost]
of = l2-hit
unit = ns
typical = 10
source = planted
""")
    program = build("costs", write("costs.f90", FORTRAN_COSTS), fortran, "-O1", "-ltare-perfex")
    ran = tare("count", "--on", "model:r10000", "-o", "report", "--", program)
    equal(ran.code, 0, "print_costs and load_costs from Fortran")
    out = ran.out.splitlines()
    equal(out[:1], ["without:  -1 the counts are of a machine that tare models, not of this one; load_costs() takes that machine's costs"],
          "print_costs: a modelled machine's counts are not multiplied by the costs of this machine")
    ok(out[1:2] and out[1].startswith("missing:  -1 ") and "nowhere.costs" in out[1], "load_costs: a file that is not there is named, without its blanks", ran.out)
    equal(out[2:], ["loaded:   0 ", "printed:   0 "], "... a file with blanks behind its name is loaded")
    has(ran.err, "Graduated instructions.......................................... %15d     0.004000            -            -\n" % 2000000,
        "print_costs: the time of instructions")
    has(ran.err, "Primary data cache misses....................................... %15d     0.003000            -            -\nCosts: Planted\n" % 300000,
        "... and of misses, and whose costs they are")
else:
    skip("libperfex's calls from Fortran", "no gfortran")
    skip("libperfex's costs from Fortran", "no gfortran")

done()
