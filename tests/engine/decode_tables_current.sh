#!/bin/sh
# The committed tables are what the generator makes of the installed Zydis. TAP.
#   decode_tables_current.sh GENERATOR TABLES
echo 1..1
made=$(mktemp) || exit 1
trap 'rm -f "$made"' EXIT
if "$1" >"$made" 2>/dev/null && cmp -s "$made" "$2"; then
	echo "ok 1 - decode_tables.h is what tools/x86_decode_gen makes"
else
	echo "not ok 1 - decode_tables.h is what tools/x86_decode_gen makes"
	exit 1
fi
