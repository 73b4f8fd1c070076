#!/bin/sh
# syscall_names.sh CC: the system calls' names by number, as the kernel's header has them, as a C table.
set -e
echo '/* made by syscall_names.sh */'
echo '#include "backend/exact/syscalls.h"'
echo 'const char *const exact_syscall_names[EXACT_SYSCALL_NAMES] = {'
echo '#include <asm/unistd_64.h>' | "$1" -E -dM - | sed -n 's/^#define __NR_\([a-z0-9_]*\) \([0-9]*\)$/\t[\2] = "\1",/p' | sort -t '[' -k 2n
echo '};'
