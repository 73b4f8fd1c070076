#!/bin/sh
# syscall_names.sh CC...: the system calls' names by number, as the kernel's header has them, as a C table. CC may be several words (ccache cc).
set -e
header=$(echo '#include <asm/unistd_64.h>' | "$@" -E -dM -)
names=$(echo "$header" | sed -n 's/^#define __NR_\([a-z0-9_]*\) \([0-9]*\)$/\t[\2] = "\1",/p' | sort -t '[' -k 2n)
[ "$names" ] || { echo "syscall_names.sh: '$*' finds no names in <asm/unistd_64.h>" >&2; exit 1; }
echo '/* made by syscall_names.sh */'
echo '#include "backend/engine/syscalls.h"'
echo 'const char *const exact_syscall_names[EXACT_SYSCALL_NAMES] = {'
echo "$names"
echo '};'
