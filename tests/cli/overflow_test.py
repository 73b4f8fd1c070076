"""`tare profile --on model:M -c N --skid K`: a simulated counter that overflows, on programs whose misses are known."""
import platform
import shutil
import subprocess

from cli import *

if platform.machine() != "x86_64":
    skip("the engine is for x86-64", "simulated counters")
    done()
if not shutil.which("gcc"):
    skip("no gcc here", "simulated counters")
    done()

TURNS, NOPS = 6000, 20
LOOP = NOPS + 4  # instructions: the load, nops, add, dec, jnz
LOAD = 6         # its line
write("loads.s", "\n".join([
    "\t.globl _start", "\t.type _start, @function", "_start:",
    f"\tmov ${TURNS}, %ecx", "\tlea buffer(%rip), %rdi",
    "1:\tmov (%rdi), %eax", *["\tnop"] * NOPS, "\tadd $64, %rdi", "\tdec %ecx", "\tjnz 1b",
    *["\tnop"] * 4, "\tmov $60, %eax", "\txor %edi, %edi", "\tsyscall", "\t.size _start, . - _start",
    f"\t.bss\n\t.balign 4096\nbuffer:\t.skip {TURNS * 64}", ""]))
subprocess.run(["gcc", "-g", "-nostdlib", "-static", "-no-pie", "loads.s", "-o", "loads"], check=True)


def lines(program, *arguments):
    """{line: count} and the listing."""
    seen = tare("profile", "--on", "model:r12000", "--lines", "--top", "1000", *arguments, f"./{program}")
    found = re.findall(rf"^ +([\d,]+) +[\d.]+% +(?:[\d.]+% +)?{program}\.[cs]:(\d+) ", seen.err, re.M)
    return {int(line): int(count.replace(",", "")) for count, line in found}, seen


def earth_mover(one, other):
    """The least mean distance, in lines, that makes one of the other."""
    def shares(counts):
        return [counts.get(line, 0) / sum(counts.values()) for line in range(0, 60)]
    moved, carry = 0, 0
    for a, b in zip(shares(one), shares(other)):
        carry += a - b
        moved += abs(carry)
    return moved


exact, seen = lines("loads", "-e", "l1d-misses")
equal(exact, {LOAD: TURNS}, "each load misses: known by counting")
sampled, seen = lines("loads", "-e", "l1d-misses", "-c", "1")
equal(sampled, exact, "at period 1 the samples are the exact profile")
has(" ".join(seen.err.split()), f"{TURNS:,} samples, one each time; in all {TURNS:,} misses", "the heading says that they are samples")
sampled, seen = lines("loads", "-e", "l1d-misses", "-c", "100")
equal(sampled, {LOAD: TURNS // 100}, "at period 100 each hundredth is one")
has(" ".join(seen.err.split()), "60 samples, one each 100 misses (fixed gaps); in all 6,000 misses, for which 60 samples are expected", "with the gap and the count")
equal(lines("loads", "-e", "l1d-misses", "-c", "7")[0], {LOAD: TURNS // 7}, "what is left of a period is no sample")
for skid in (1, 7, LOOP - 1):
    sampled, seen = lines("loads", "-e", "l1d-misses", "-c", "100", "--skid", str(skid))
    equal(sampled, {LOAD + skid: TURNS // 100}, f"with a skid of {skid} they are found so many instructions later")
    ok(abs(earth_mover(sampled, exact) - skid) < 1e-9, f"the earth mover's distance recovers the skid of {skid}", sampled)
sampled, _ = lines("loads", "-e", "l1d-misses", "-c", "100", "--skid", str(LOOP + 3))
# the last one is in flight: behind the loop are seven instructions more
equal(sampled, {LOAD + 3: TURNS // 100 - 1, LOAD + LOOP + 3: 1}, "a skid longer than the loop goes around it, or out of it")
sampled, _ = lines("loads", "-e", "l1d-misses", "-c", "100", "--skid", "1000")
equal(sum(sampled.values()), TURNS // 100 - 1, "a sample whose instruction never came is none")
sampled, seen = lines("loads", "-e", "l1d-misses", "-c", "1", "--skid", "3000")
ok(" samples were lost" in " ".join(seen.err.split()), "overflows that a counter has no room for are lost, and told", seen)

# calls, branches that depend on data, string instructions: period 1 is the exact profile, for any event
write("mixed.s", """\
	.globl _start
	.type step, @function
step:
	imul $1103515245, %ebx, %ebx
	add $12345, %ebx
	test $0x10000, %ebx
	jz 1f
	incl counters(%rip)
	ret
1:	mov %ebx, %eax
	and $0xffff8, %eax
	addl $1, buffer(%rax)
	ret
	.size step, . - step
	.type _start, @function
_start:
	lea counters+4096(%rip), %rsp # the kernel's stack is at another address in each run, and so in other sets
	mov $3000, %r12d
	mov $1, %ebx
1:	call step
	dec %r12d
	jnz 1b
	lea buffer(%rip), %rsi
	lea buffer+100000(%rip), %rdi
	mov $50000, %ecx
	rep movsb
	mov $60, %eax
	xor %edi, %edi
	syscall
	.size _start, . - _start
	.bss
	.balign 4096
counters:	.skip 4096
buffer:	.skip 1100000
""")
subprocess.run(["gcc", "-g", "-nostdlib", "-static", "-no-pie", "mixed.s", "-o", "mixed"], check=True)
for event in ("l1d-misses", "l2-misses", "dtlb-misses", "branch-misses", "l1i-misses"):
    exact, seen = lines("mixed", "-e", event)
    if not exact and "not" in seen.err and seen.code:
        ok(False, f"{event} is modelled", seen)
        continue
    sampled, again = lines("mixed", "-e", event, "-c", "1")
    ok(sampled == exact and sum(exact.values()) > 0, f"{event}: at period 1 the samples are the exact profile", (exact, sampled, seen.err))
    twice = [lines("mixed", "-e", event, "-c", "13", "--skid", "5")[0] for _ in range(2)]
    ok(twice[0] == twice[1], f"{event}: the same samples in each run", twice)
    equal(sum(lines("mixed", "-e", event, "-c", "13")[0].values()), sum(exact.values()) // 13, f"{event}: as many as periods fit into the count")

seen = tare("profile", "--on", "model:r12000", "-e", "l1d-misses", "-c", "100", "--skid", "7", "-o", "kept", "./loads")
ok(seen.code == 0 and re.search(r"^ +60 +100\.0%", tare("report", "kept").out, re.M), "a file keeps the samples", seen)

seen = tare("profile", "--on", "model:r12000", "-e", "l1d-misses,l2-misses", "-c", "100", "./loads")
has(" ".join(seen.err.split()), "a simulated counter overflows on one event at a time", "two events have no samples, and why")
seen = tare("profile", "--on", "exact", "-c", "100", "./loads")
has(" ".join(seen.err.split()), "overflows on events that are sums of the model's counts", "nor have the engine's own")
for arguments, message in ((["--skid", "3", "-c", "100", "./loads"], "--skid is of a simulated counter"),
                           (["--skid", "3", "--on", "model:r12000", "./loads"], "--skid needs a period")):
    seen = tare("profile", *arguments)
    ok(seen.code == 2 and message in seen.err, f"'tare profile {' '.join(arguments)}' is wrong usage", seen)
done()
