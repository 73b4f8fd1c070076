"""libp5mon (Safford, chapters 3 to 5): the thesis's own listings, compiled, linked and run under the engine. Started with the built tare and
the folder of libtare.so and libp5mon."""
import shutil

from cli import *

HERE = os.path.dirname(os.path.abspath(__file__))
LIBRARIES = os.path.abspath(sys.argv[2])
FLAGS = [f"-I{os.path.join(HERE, '../../include')}", f"-L{LIBRARIES}", f"-Wl,-rpath,{LIBRARIES}"]
if not shutil.which("gcc"):
    skip("no gcc here", "libp5mon's calls")
    done()
os.symlink(TARE, "run_p5mon")


def build(name, source, *flags):
    ran = subprocess.run(["gcc", source, "-o", name, *FLAGS, *flags, "-lp5mon"], capture_output=True, text=True)
    return ok(ran.returncode == 0, f"{name} is built, by -lp5mon", ran.stderr)


# Figure 3.6, as printed, but for what the printed one lacks to be C: two semicolons (behind results[0] and results[1])
# and the brace that ends the first if
FIGURE_3_6 = """
#include "libp5mon.h"
int main() {
      CNT_CONFIG p5mon_cfg; /* configuration structure */
      unsigned long long results[3]; /* array for results */
      double temp1, temp2; /* temp values */
      /* initialize the p5mon device */
      if(p5mon_init()) {
           printf("Unable to initialize p5mon device\\n");
            exit(-1);
      }
      /* Build up the configuration structure */
     p5mon_cfg.event0 = data_read_miss;
      p5mon_cfg.ctrl0 = evt_user;
      p5mon_cfg.init0 = (unsigned long long) 0x0;
      p5mon_cfg.event1 = data_read;
      p5mon_cfg.ctrl1 = evt_user;
      p5mon_cfg.init1 = (unsigned long long) 0x0;
      p5mon_cfg.clr = init_0_1;
     p5mon_config(&p5mon_cfg); /* Configure PMCs */
      p5mon_read(results); /* Read PMCs */
      /* Convert the unsigned long longs into 40-bit doubles */
      temp1 = (double) results[0];
      temp2 = (double) results[1];
      printf("Counter 0 value: %f\\n", temp1);
      printf("Counter 1 value: %f\\n", temp2);
      printf("Ratio: %f\\n", temp1/temp2);
      p5mon_close(); /* close the device */
      exit(0);
}
"""
# alone: counted by this machine's counters, or the command that would is named
ALONE = """
#include "libp5mon.h"
int main(void)
{
	CNT_CONFIG config = {.event0 = data_read_miss, .ctrl0 = evt_user, .event1 = data_read, .ctrl1 = evt_user, .clr = clr_0_1};
	int done = p5mon_init() || p5mon_config(&config);
	printf("%d %s\\n", done, done ? p5mon_error() : "");
	return 0;
}
"""
if build("alone", write("alone.c", ALONE), "-O1"):
    ran = subprocess.run(["./alone"], capture_output=True, text=True)
    ok(ran.stdout == "0 \n" or "'tare count --on model:pentium ./alone' answers these calls" in ran.stdout,
       "libp5mon alone: its events are counted, or the command that would is named", ran.stdout)
if build("figure", write("figure.c", FIGURE_3_6), "-O1", "-w"):
    ran = tare("count", "--on", "model:pentium", "-o", "report", "--", "./figure")
    seen = re.fullmatch(r"Counter 0 value: (\S+)\nCounter 1 value: (\S+)\nRatio: (\S+)\n", ran.out)
    ok(seen and float(seen[2]) <= 3, "Figure 3.6 runs: between configuring and reading there are a few instructions, and nothing of the calls", ran)

# What is counted is between the calls, in one piece of assembly: 1 + 1000 * 4 instructions, 1000 reads and writes
COUNTS = """
#include <string.h>
#include "libp5mon.h"
CNT_CONFIG config;
unsigned long long values[3];
unsigned long long word;
#define WORK "mov $1000, %%ebx\\n1:\\tmov word(%%rip), %%rax\\n\\tmov %%rax, word(%%rip)\\n\\tdec %%ebx\\n\\tjnz 1b\\n\\t"
int pass(void);
__asm__(".text\\n.globl pass\\npass: push %rbx\\n\\tlea config(%rip), %rdi\\n\\tcall p5mon_config@PLT\\n\\t"
	"mov $1000, %ebx\\n1:\\tmov word(%rip), %rax\\n\\tmov %rax, word(%rip)\\n\\tdec %ebx\\n\\tjnz 1b\\n\\t"
	"lea values(%rip), %rdi\\n\\tcall p5mon_read@PLT\\n\\tpop %rbx\\n\\tret\\n");
static void show(const char *name, int done)
{
	printf("%s %d %llu %llu %llx %s\\n", name, done, values[0], values[1], values[2], done ? p5mon_error() : "");
	memset(values, 0, sizeof values);
}
int main(void)
{
	CNT_CONFIG read_back;
	int done;
	printf("early %d %s\\n", p5mon_read(values), p5mon_error());
	if (p5mon_init())
		return 1;
	config = (CNT_CONFIG){.event0 = instructions_executed, .ctrl0 = evt_user, .event1 = data_read, .ctrl1 = evt_user, .clr = clr_0_1};
	done = pass(), show("cleared", done);
	config.clr = init_0_1, config.init0 = 1ull << 32, config.init1 = (1ull << 40) - 100;
	done = pass(), show("preset", done);
	config.clr = init_0_clr_1, config.init0 = 7;
	done = pass(), show("first", done);
	config.clr = init_1_clr_0, config.init1 = 9;
	done = pass(), show("second", done);
	config.event0 = data_write, config.event1 = branches, config.clr = clr_0_1;
	done = pass(), show("others", done);
	config.event0 = event_disable, config.event1 = data_write, config.clr = init_0_clr_1, config.init0 = 5;
	done = pass(), show("disabled", done);
	config.event0 = data_read, config.event1 = data_read, config.clr = clr_0_1;
	done = pass(), show("same", done);
	done = p5mon_clear() || p5mon_clear(), show("clear", done);
	config.event0 = count_clocks;
	done = p5mon_config(&config), show("clocks", done);
	config.event0 = (EVENT)0x11;
	done = p5mon_config(&config), show("unknown", done);
	p5mon_gen_config(0x160083, &read_back);
	printf("gen %s %d %s %d\\n", p5mon_event_name(read_back.event0), read_back.ctrl0, p5mon_event_name(read_back.event1), read_back.ctrl1);
	done = p5mon_close();
	printf("closed %d %d\\n", done, p5mon_read(values));
	return 0;
}
"""
if build("counts", write("counts.c", COUNTS), "-O1"):
    ran = tare("count", "--on", "exact", "-o", "report", "--", "./counts")
    seen = {line.split()[0]: line.split()[1:] for line in ran.out.splitlines()}
    equal(seen.get("cleared"), ["0", "4001", "1000", "800096"], "counters from 0, and the control register as Figure 2.1 has it")
    equal(seen.get("preset"), ["0", str((1 << 32) + 4001), "900", "800096"], "counters are preset, and have 40 bits")
    equal(seen.get("first"), ["0", "4008", "1000", "800096"], "counter 0 preset, counter 1 cleared")
    equal(seen.get("second"), ["0", "4001", "1009", "800096"], "counter 1 preset, counter 0 cleared")
    equal(seen.get("others"), ["0", "1000", "1000", "920081"], "other events")
    equal(seen.get("disabled"), ["0", "5", "1000", "810000"], "a disabled counter keeps its value")
    equal(seen.get("same"), ["0", "1000", "1000", "800080"], "the same event twice")
    ok(seen.get("clear", [""])[0] == "0", "p5mon_clear()", ran)
    ok(seen.get("clocks", [""])[0] == "-1" and "cannot count 'p5mon:count_clocks" in ran.out, "clocks are not 0: the call fails, and says why", ran)
    ok(seen.get("unknown", [""])[0] == "-1" and "the event or its control is unknown" in ran.out, "a code of no event is an error", ran)
    equal(seen.get("gen"), ["data_read_miss", "2", "event_disable", "0"], "p5mon_gen_config(): 0x16 without a control counts nothing")
    equal(seen.get("closed"), ["0", "-1"], "closed counters are not read")
    ok("early -1 this thread has not called p5mon_init()" in ran.out, "nothing is read before p5mon_init()", ran)

# Figure 5.4 (the thesis's hello program, optimised, with two regions), in registers of 64 bits; the commands are those of Figure 5.5
HELLO = """
        .section .rodata
.LC0:
        .string "Hello World!\\n"
.LC1:
        .string "j is: %d\\n"
        .text
        .globl main
        .type main, @function
main:
        subq $8,%rsp
        call p5mon_asm_init
        call p5mon_asm_begreg_0
        pushq %rbp
        movq %rsp,%rbp
        pushq %rbx
        pushq %rbx
        leaq .LC0(%rip),%rdi
        xorl %eax,%eax
        call printf@PLT
        xorl %ebx,%ebx
        movl $999999,%eax
        .align 4
.L11:
        addl $2,%ebx
        decl %eax
        jns .L11
        call p5mon_asm_begreg_1
        movl %ebx,%esi
        leaq .LC1(%rip),%rdi
        xorl %eax,%eax
        call printf@PLT
        call p5mon_asm_endreg_1
        xorl %eax,%eax
        movq -8(%rbp),%rbx
        leave
        call p5mon_asm_endreg_0
        addq $8,%rsp
        ret
        .section .note.GNU-stack, "", @progbits
"""
write("STD_PARMS", """(p5mon
      repetitions = 2;
      user_events = yes;
      kernel_events = no;
      branches = yes;
      instructions_executed = yes;
end)
""")
if build("hello_mod", write("hello_mod.s", HELLO)):
    ran = subprocess.run(["./run_p5mon", "-Fcommand=hello_mod", "-Fuse_assembly_regions=yes"], capture_output=True, text=True,
                         env=environment(TARE_ON="exact"), timeout=TIME_OUT_S)
    ran = Done(ran.returncode, ran.stdout, ran.stderr)
    has(ran.out, "Hello World!\nj is: 2000000\n", "run_p5mon -Fcommand=hello_mod -Fuse_assembly_regions=yes runs it (Figure 5.5)")
    regions = {name: dict(re.findall(r"^        (.*?): ([\d.]+) \+/-", text, re.M))
               for name, text in re.findall(r"^    Region (\d+), entered 1 times and exited 1 times:\n((?:        .*\n)+)", ran.out, re.M)}
    has(ran.out, "\nResults (for 2 regions, 2 repetitions, 95% confidence level):\n    Region 0, entered", "the report is that of Figure 4.5")
    ok(set(regions) == {"0", "1"}, "the regions have the thesis's numbers", ran)
    branches, instructions = (float(regions.get("0", {}).get(name, 0)) for name in ("Branches", "Instructions Executed"))
    ok(1000000 < branches < 1005000 and 3000000 < instructions < 3015000, "a million branches, three million instructions (Table 5.2: 1,000,970 and 3,004,899)", ran.out)
done()
