#!/bin/sh
# The committed tables are what the generator makes of the Zydis that they name (another one knows more, or says it otherwise). TAP.
#   decode_tables_current.sh GENERATOR TABLES
echo 1..1
fact="decode_tables.h is what tools/x86_decode_gen makes"
made=$(mktemp) || exit 1
trap 'rm -f "$made"' EXIT
if ! "$1" >"$made" 2>/dev/null; then
	echo "not ok 1 - $fact"
	exit 1
fi
if [ "$(head -1 "$made")" != "$(head -1 "$2")" ]; then
	echo "ok 1 - $fact # SKIP they are of another Zydis: $(head -1 "$2" | sed 's/.*from \(Zydis [0-9.]*\).*/\1/'), here is $(head -1 "$made" | sed 's/.*from \(Zydis [0-9.]*\).*/\1/')"
elif cmp -s "$made" "$2"; then
	echo "ok 1 - $fact"
else
	diff "$2" "$made" | head -20 | sed 's/^/# /'
	echo "not ok 1 - $fact"
	exit 1
fi
