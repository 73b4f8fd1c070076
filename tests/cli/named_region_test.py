"""Regions that a program names itself (libtare), counted by the engine: what is in them, to the instruction, and what is said when a pass
does not end. Started with the built tare, the folder of libtare.so, and that of the Fortran module or ''."""
import shutil

from cli import *

LIBTARE, MODULE = (os.path.abspath(path) if path else "" for path in sys.argv[2:4])
INCLUDE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../include")
FLAGS = [f"-I{INCLUDE}", f"-L{LIBTARE}", "-ltare", f"-Wl,-rpath,{LIBTARE}"]


def build(name, source, compiler, *flags):
    write(name, source)
    program = re.sub(r"\W", "_", name + "".join(flags))
    done = subprocess.run([compiler, *flags, name, "-o", program, *FLAGS], capture_output=True, text=True)
    return os.path.join(os.getcwd(), program) if ok(done.returncode == 0, f"{name} is built by {' '.join((compiler, *flags))}", done.stderr) else None


def regions(program, *arguments, event="instructions:u"):
    """{name: (entries, exits, count or None)}, and the result"""
    done = tare("count", "--on", "exact", "-e", "instructions", "--json", "-o", "out.json", *arguments, "--", program)
    with open("out.json", encoding="utf-8") as file:
        result = json.load(file)
    return {r["name"]: (r["entries"], r["exits"], r["results"][0]["value"]) for r in result["regions"]}, result, done


NOPS = '__asm__ volatile(".rept 7; nop; .endr");'
C = """
#include <tare.h>
#include <tare_hpm.h>
#include <tare_papi_hl.h>
int main(void)
{
	for (int i = 0; i < 10; i++) {
		TARE_REGION_BEGIN("empty");
		TARE_REGION_END("empty");
		PAPI_hl_region_begin("papi");
		PAPI_hl_region_end("papi");
		TARE_REGION_BEGIN("seven");
		NOPS
		TARE_REGION_END("seven");
		PAPI_hl_region_begin("papi seven");
		NOPS
		PAPI_hl_region_end("papi seven");
	}
	TARE_REGION_BEGIN("once");
	TARE_REGION_END("once");
	TARE_REGION_BEGIN("once seven");
	NOPS
	TARE_REGION_END("once seven");
	PAPI_hl_region_begin("papi once");
	PAPI_hl_region_end("papi once");
	struct tare_region *handle = tare_region("handle", NULL);
	tare_region_begin(handle);
	tare_region_end(handle);
	return 0;
}
""".replace("NOPS", NOPS)
CXX = """
#include <tare.h>
int main()
{
	struct tare_region *handle = tare_region("handle", nullptr);
	for (int i = 0; i < 10; i++) {
		{ tare::region inside("raii"); }
		{ tare::region inside(handle); NOPS }
	}
	{ tare::region inside("once"); }
	{ tare::region inside("once seven"); NOPS }
}
""".replace("NOPS", NOPS)
FORTRAN = """
program p
  use tare
  integer :: i
  do i = 1, 10
    call tare_region_begin("empty   ")
    call tare_region_end("empty")
  end do
end program
"""
EMPTY, SEVEN = (10, 10, 0), (10, 10, 70)
CS = {"empty": EMPTY, "papi": EMPTY, "seven": SEVEN, "papi seven": SEVEN, "once": (1, 1, 0), "once seven": (1, 1, 7),
      "papi once": (1, 1, 0), "handle": (1, 1, 0)}
for compiler in ("gcc", "clang"):
    if not shutil.which(compiler):
        skip(f"no {compiler} here", f"regions by name under {compiler}")
        continue
    for flags in ("-O1",), ("-O2",), ("-O2", "-masm=intel"), ("-O2", "-fPIC", "-pie"), ("-O2", "-no-pie"), ("-std=c99", "-Os"):
        if compiler == "clang" and "-masm=intel" in flags:
            continue # clang 14 reads inline assembly as AT&T's all the same, and so it is built; nothing differs
        program = build("named.c", C if "-std=c99" not in flags else C.replace("__asm__ volatile", "__asm__ __volatile__"), compiler, *flags)
        if program:
            equal(regions(program)[0], CS, f"by name: nothing of libtare is in a region ({compiler} {' '.join(flags)})")
if shutil.which("g++") and (program := build("scoped.cc", CXX, "g++", "-O2")):
    equal(regions(program)[0], {"raii": EMPTY, "handle": SEVEN, "once": (1, 1, 0), "once seven": (1, 1, 7)},
          "scoped regions of C++: nothing of libtare is in one")
if MODULE and shutil.which("gfortran"):
    program = build("named.f90", FORTRAN, "gfortran", "-O2", "-fno-plt", f"-I{MODULE}/libtare-fortran.a.p")
    if program:
        equal(regions(program)[0], {"empty": EMPTY}, "Fortran, by name: nothing of libtare is in a region; blanks at its end are not of a name")
else:
    skip("no Fortran compiler or module here", "Fortran, by name: nothing of libtare is in a region")

UNBALANCED = """
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <tare.h>
static jmp_buf out;
static void work(int n) { __asm__ volatile("1: dec %0; jnz 1b" : "+r"(n)); }
__attribute__((noinline)) static void jumps(void)
{
	TARE_REGION_BEGIN("region");
	work(10);
	longjmp(out, 1);
}
int main(int argc, char **argv)
{
	const char *mode = argv[1];
	struct tare_region *region = tare_region("region", 0);
	for (int i = 0; i < 4; i++) {
		TARE_REGION_BEGIN("balanced");
		work(10);
		TARE_REGION_END("balanced");
	}
	if (!strcmp(mode, "four")) {
		for (int i = 0; i < 4; i++) {
			tare_region_begin(region);
			work(100);
			if (i != 2)
				tare_region_end(region);
		}
		work(100000);
	} else if (!strcmp(mode, "longjmp")) {
		if (!setjmp(out))
			jumps();
		work(100000);
	} else if (!strcmp(mode, "exit")) {
		tare_region_begin(region);
		exit(0);
	} else if (!strcmp(mode, "stray")) {
		for (int i = 0; i < 3; i++) {
			TARE_REGION_BEGIN("region");
			work(10);
			TARE_REGION_END("region");
		}
		TARE_REGION_END("region");
	} else if (!strcmp(mode, "fork")) {
		TARE_REGION_BEGIN("region");
		if (!fork()) {
			work(50);
			_exit(0);
		}
		wait(0);
		TARE_REGION_END("region");
	}
	return 0;
}
"""
program = build("unbalanced.c", UNBALANCED, "gcc", "-O1") if shutil.which("gcc") else None
if program:
    def of(mode, *arguments):
        done = tare("count", "--on", "exact", "-e", "instructions", "--json", "-o", "out.json", *arguments, "--", program, mode)
        with open("out.json", encoding="utf-8") as file:
            result = json.load(file)
        return {r["name"]: r for r in result["regions"]}, result

    for mode, what in ("four", "is entered four times and left three times"), ("longjmp", "is left by a longjmp, before a long loop"), ("exit", "is not left: the program ends"):
        of_mode, result = of(mode)
        row = of_mode["region"]["results"][0]
        ok(row["value"] is None and row["source"] == "none", f"a region that {what} is not counted", row)
        ok("more often than left" in row.get("why", ""), "… and the reason is said", row)
        ok(of_mode["balanced"]["results"][0]["value"] == 4 * (1 + 2 * 10) and (of_mode["balanced"]["entries"], of_mode["balanced"]["exits"]) == (4, 4),
           "… while other regions are counted", of_mode["balanced"])
        text = tare("count", "--on", "exact", "-e", "instructions", "--", program, mode)
        ok(re.search(r"region region .*\n\s*instructions:u\s+not counted", text.err) and "what it did up to there" not in text.err,
           "… which the report shows", text.err)
    of_mode, result = of("stray")
    equal((of_mode["region"]["entries"], of_mode["region"]["exits"], of_mode["region"]["results"][0]["value"]), (3, 4, 3 * (1 + 2 * 10)),
          "a region that is left once more than entered has the counts of its passes")
    text = tare("count", "--on", "exact", "-e", "instructions", "--", program, "stray").err
    ok("! region region: it was left more often than it was entered" in text and "longjmp" not in text, "… and the report says so", text)
    text = tare("count", "--on", "exact", "-e", "instructions", "--", program, "fork").err
    ok("more often than it was entered" not in text, "… not of a region that a forked child ends", text)
    of_mode, result = of("fork")
    value = of_mode["region"]["results"][0]["value"]
    ok(value is not None and value > 100, "a forked child may end in the region that it was born in: that is counted", of_mode["region"])

# ---- a program that counts its regions itself when nobody else does, and forks ----
STARTS = """
#include <stdlib.h>
#include <sys/wait.h>
#include <tare.h>
#include <tare_hpm.h>
static void child(void)
{
	hpmStart(1, "hpm");
	NOPS
	hpmStop(1);
	TARE_REGION_BEGIN("marks");
	NOPS
	TARE_REGION_END("marks");
	struct tare_region *region = tare_region("handle", NULL);
	tare_region_begin(region);
	NOPS
	tare_region_end(region);
}
int main(void)
{
	int status;
	if (!tare_regions_start("task-clock", NULL))
		return 77;
	pid_t pid = fork();
	if (!pid) {
		child();
		exit(!tare_regions_counted());
	}
	waitpid(pid, &status, 0);
	return WEXITSTATUS(status);
}
""".replace("NOPS", NOPS)
program = build("starts.c", STARTS, "gcc", "-O1")
if program:
    of_child, result, done_ = regions(program)
    if done_.code == 77:
        skip("the kernel counts no task-clock here", "a forked child of a program that called tare_regions_start() names its regions")
    else:
        ok(done_.code == 0 and {name: row[:2] for name, row in of_child.items()} == {"hpm": (1, 1), "marks": (1, 1), "handle": (1, 1)},
           "a forked child of a program that called tare_regions_start() names its regions to the engine", (of_child, done_))
        counts = {name: row[2] for name, row in of_child.items()}
        ok(counts.get("marks") == 7 and all(counts.get(name) in (7, 8, 9) for name in ("handle", "hpm")),
           "… which are counted to the instruction, but for what loads the handle", of_child)

# ---- an end that no jump or call leads to: what led there cannot be taken out of the region ----
RETURNS = """
	.globl _start, asked
	.macro magic code
	.byte 0x66, 0x0f, 0x1f, 0x84, 0
	.long \\code
	.endm
	.text
_start:	lea named(%rip), %rdi
	call enter
	call asked
	lea named(%rip), %rdi
	lea 1f(%rip), %rax
	push %rax
	lea leave(%rip), %rax
	push %rax
	ret
1:	mov $231, %eax
	xor %edi, %edi
	syscall
	.type asked, @function
asked:	nop
	ret
	.size asked, .-asked
enter:	magic 0x54415202
	ret
leave:	magic 0x54415203
	ret
	.data
named:	.quad 1f
1:	.asciz "by a return"
"""
program = build("returns.S", RETURNS, "gcc", "-nostdlib", "-no-pie", "-Wl,--as-needed") if shutil.which("gcc") and os.uname().machine == "x86_64" else None
if program:
    of_regions, result, _ = regions(program, "--region", "asked")
    rows = {r["name"]: r["results"][0] for r in result["regions"]}
    ok(of_regions["by a return"] == (1, 1, None) and "reached the end of a region in a way" in rows["by a return"].get("why", ""),
       "a region whose end is reached by a return is not counted, and the reason is said", rows)
    equal(of_regions["asked"], (1, 1, 2), "… while one that was asked for is counted, to the instruction")

# ---- run_p5mon's regions of assembly ----
program = build("assembly.c", """
#include <tare.h>
void tare_asm_begin_7(void);
void tare_asm_end_7(void);
int main(void)
{
	for (int i = 0; i < 3; i++) {
		tare_asm_begin_7();
		NOPS
		tare_asm_end_7();
	}
	return 0;
}
""".replace("NOPS", NOPS), "gcc", "-O1")
if program:
    write("regions.parms", "(p5mon\n command = " + program + ";\n repetitions = 1; skip_initialization_run = yes; use_assembly_regions = yes;\n"
          " user_events = yes; kernel_events = no; instructions_executed = yes;\nend)\n")
    seen = tare("count", "-P", "regions.parms", "--compat", "p5mon", "-o", "-")
    ok(seen.code == 0 and "\n    Region 7, entered 3 times and exited 3 times:\n        Instructions Executed: 21.0 +/- unknown [7.0]\n" in seen.out,
       "use_assembly_regions = yes: the regions of assembly stubs are counted, to the instruction", seen)
done()
