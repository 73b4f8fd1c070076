#!/bin/sh
# build.sh FLAT.LD SRC OUTPUT WORK CC FLAGS... -- SOURCES...: the runtime's flat image. Its own flags only: what the build sets for
# hosted code (sanitizers, coverage, hardening) has no place in it. What of the models is only called for a buffer of the access stream may use
# vector registers (stream/run.c keeps the program's).
# Among the flags: --anew=FILE --others=WORK: only that file is compiled with these flags, the other objects are those of another image;
# --depfile=FILE: the headers that were read are written there, for ninja.
set -e
script=$1 src=$2 output=$3 work=$4 cc=$5
shift 5
flags= anew= others= depfile=
while [ "$1" != -- ]; do
	case $1 in
	--anew=*) anew=${1#*=} ;;
	--others=*) others=${1#*=} ;;
	--depfile=*) depfile=${1#*=} ;;
	*) flags="$flags $1" ;;
	esac
	shift
done
shift
# as meson does where it is installed
ccache=$(command -v ccache || :)
compile() { $ccache "$cc" -MD -MF "$dependencies" "$@"; }
mkdir -p "$work"
# struct thread's offsets, and other numbers of C's, for entry.S
if [ -z "$others" ]; then
	dependencies=$work/offsets.d
	compile $flags -I"$src" -S "$src/engine/runtime/offsets.c" -o "$work/offsets.s"
	sed -n 's/^[[:space:]]*\.ascii "\(#define [A-Z_]* \)\(-\{0,1\}[0-9]*\)".*/\1\2/p' "$work/offsets.s" >"$work/offsets.h"
fi
objects= read=$work/offsets.d
for source; do
	name=$(basename "$(dirname "$source")")-${source##*/}.o how=plain
	case $source in
	*.S) how=assembly ;;
	*/model/core/predict/branch.c | */model/core/predict/tage.c | */model/core/predict/perceptron.c | */model/core/fast/branch_run.c | */model/core/fast/tage_batch.c | */model/core/fast/vectors.c | */model/core/fast/batch.c | */model/core/fast/inlined_batch.c)
		name=vector-${source##*/}.o how=vector ;;
	*/model/core/fast/inline_vectors.c) name=vector-${source##*/}.o ;; # gives back what it uses
	esac
	if [ -n "$others" ] && [ "${source##*/}" != "$anew" ]; then
		objects="$objects $others/$name"
		continue
	fi
	object=$work/$name dependencies=$work/$name.d
	case $how in
	assembly) compile -I"$src" -include "$work/offsets.h" -c "$source" -o "$object" ;;
	vector) compile $(echo "$flags" | sed 's/ -mgeneral-regs-only//') -I"$src" -c "$source" -o "$object" ;;
	plain) compile $flags -I"$src" -c "$source" -o "$object" ;;
	esac
	objects="$objects $object" read="$read $dependencies"
done
if [ -n "$depfile" ]; then
	for dependencies in $read; do sed -e '1s/^[^:]*://' -e 's/\\$//' "$dependencies"; done | tr -s ' \n' ' ' | sed "s|^|$output:|" >"$depfile"
fi
ld -static -pie --no-dynamic-linker --no-warn-rwx-segments -z noexecstack -T "$script" -o "$work/runtime.elf" $objects
objcopy -O binary --set-section-flags .image=alloc,load,contents,code "$work/runtime.elf" "$output"
"$(dirname "$0")/../../../tools/check-freestanding" "$work/runtime.elf" $objects
