"""Under a seccomp filter that refuses one system call, as a container's may: tare counts right, or says which call it is, and
always ends. Each call that tare and its engine make is refused in turn."""
import os
import re
import signal
import struct
import subprocess

from cli import *

NUMBERS = {
    "write": 1, "close": 3, "poll": 7, "lseek": 8, "mprotect": 10, "munmap": 11, "brk": 12, "rt_sigaction": 13, "rt_sigprocmask": 14, "ioctl": 16,
    "pread64": 17, "pwrite64": 18, "access": 21, "mremap": 25, "madvise": 28, "getpid": 39, "sendto": 44, "recvfrom": 45, "sendmsg": 46, "recvmsg": 47,
    "socketpair": 53, "clone": 56, "exit": 60, "wait4": 61, "kill": 62, "uname": 63, "fcntl": 72, "ftruncate": 77, "readlink": 89, "getrusage": 98,
    "ptrace": 101, "sigaltstack": 131, "personality": 135, "statfs": 137, "prctl": 157, "arch_prctl": 158, "gettid": 186, "futex": 202,
    "sched_getaffinity": 204, "getdents64": 217, "set_tid_address": 218, "clock_gettime": 228, "exit_group": 231, "tgkill": 234, "openat": 257,
    "newfstatat": 262, "readlinkat": 267, "ppoll": 271, "set_robust_list": 273, "prlimit64": 302, "process_vm_readv": 310, "process_vm_writev": 311,
    "getrandom": 318, "memfd_create": 319, "statx": 332, "rseq": 334, "close_range": 436, "faccessat2": 439}
# Not here: execve and mmap, without which nothing is started, and rt_sigreturn, without which the kernel ends each program at the end
# of a signal's handler.


def program():
    """An executable of 2,004 instructions without libc: 1 and 1,000 turns of two, then exit_group(0) in three. Where a filter refuses that,
    the engine ends the program all the same."""
    code = (b"\xb9" + struct.pack("<I", 1000) + b"\xff\xc9\x75\xfc" + b"\xb8" + struct.pack("<I", NUMBERS["exit_group"]) + b"\x31\xff\x0f\x05" +
            b"\xf4")
    base, head = 0x400000, 64 + 56
    elf = b"\x7fELF\x02\x01\x01" + bytes(9) + struct.pack("<HHIQQQIHHHHHH", 2, 62, 1, base + head, 64, 0, 0, 64, 56, 1, 0, 0, 0)
    return elf + struct.pack("<IIQQQQQQ", 1, 5, 0, base, base, head + len(code), head + len(code), 4096) + code


def refused(number, *arguments):
    """tare's end (None: it had to be ended), and what it said."""
    with open("said", "w+b") as said:
        process = subprocess.Popen([TARE, *arguments], stdin=subprocess.DEVNULL, stdout=said, stderr=said, env=environment(),
                                   start_new_session=True, preexec_fn=lambda: refuse(number) if number is not None else None)
        try:
            code = process.wait(TIME_OUT_S / 10)
        except subprocess.TimeoutExpired:
            code = None
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        said.seek(0)
        return code, said.read().decode("utf-8", "replace")


def counted(text):
    found = re.search(r"^1,event,instructions[^,]*,[^,]*,,,,,(\d*),", text, re.M)
    return found and found[1]


with open("program", "wb") as file:
    file.write(program())
os.chmod("program", 0o755)
COUNT = ("count", "--on", "exact", "--csv", "-e", "instructions", "--", "./program")

code, text = refused(None, *COUNT)
if not counted(text):
    skip("the engine does not work here", "a refused system call is named, or the count is right")
else:
    equal((code, counted(text)), (0, "2004"), "without a filter: 2,004 instructions")
    for name, number in NUMBERS.items():
        code, text = refused(number, *COUNT)
        starts = refused(number, "version")[0] == 0  # else its loader, or writing, has failed already
        if counted(text):
            ok(code == 0 and counted(text) == "2004", f"without {name}: 2,004 instructions", f"{code}: {text}")
        elif starts:
            call = re.sub("64$", "", name)
            ok(code is not None and re.search(rf"\b{call}\(2\)", text), f"without {name}: no count, and it is said why", f"{code}: {text}")
        else:
            ok(code is not None, f"without {name}: tare ends", text)
done()
