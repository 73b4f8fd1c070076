"""`--region 'parse_*'`: a pattern of functions' names is a region for each function that fits."""
import json
import platform
import shutil
import subprocess

from cli import *

FACT = "patterns name regions"
if platform.machine() != "x86_64" or not shutil.which("g++"):
    skip("no engine or no g++ here", FACT)
    done()

write("parse.cc", """\
#include <cstdio>
#define APART __attribute__((noipa))
namespace ns {
APART int read(int n) { volatile int sum = n; return sum; }
APART int read(char c) { volatile int sum = c; return sum; }
APART int peek() { return 1; }
}
extern "C" {
APART int parse_line(int n) { return ns::read(n) + 1; }
APART int parse_word(int n) { return ns::read('c') + n; }
APART int unparsed(int n) { return n + ns::peek(); }
}
static inline __attribute__((always_inline)) int parse_inlined(int n) { return n + 2; }
struct number { int n; APART int operator*(int other) const { return n * other; } };
template <typename T> APART int sized(int n) { return n + sizeof(T); }
int main()
{
	number two{2};
	int sum = 0;
	for (int i = 0; i < 10; i++)
		sum += parse_line(i) + parse_word(i) + parse_inlined(i) + unparsed(i) + two * 3 + sized<char *>(i);
	std::printf("%d\\n", sum);
}
""")
subprocess.run(["g++", "-O1", "-g", "-o", "parse", "parse.cc"], check=True)


def regions(*places, program="./parse", on="exact"):
    """{region: (entries, instructions)}"""
    options = [word for place in places for word in ("--region", place)]
    seen = tare("count", "--on", on, "-e", "instructions", *options, "--json", "-o", "report.json", program)
    ok(seen.code == 0, f"{places}: exit code 0", seen)
    report = parsed(read("report.json"), f"{places}") if seen.code == 0 else {"regions": []}
    return {region["name"]: (region["entries"], region["results"][0]["value"]) for region in report["regions"]}


alone = {}
for name in ("parse_line", "parse_word", "ns::read", "ns::peek", "number::operator*"):
    alone.update(regions(name))
equal(alone["parse_line"][0], 10, "the program works as the test means")
equal(regions("parse_*"), {name: alone[name] for name in ("parse_line", "parse_word")}, "each function that fits is a region, counted as when it is named")
equal(regions("parse_?ord"), {"parse_word": alone["parse_word"]}, "? is one character")
equal(regions("ns::*"), {name: alone[name] for name in ("ns::read", "ns::peek")}, "overloads are one region, as without a pattern")
equal(alone["ns::read"][0], 20, "... of all of them")
equal(regions("parse.cc:parse_*"), {"parse.cc:" + name: alone[name] for name in ("parse_line", "parse_word")}, "of a file's functions")
equal(regions("number::operator*"), {"number::operator*": alone["number::operator*"]}, "a function that is called as the pattern is written is meant")
equal(regions("parse_line", "parse_*"), regions("parse_*", "parse_line"), "a function that is named and fits as well is one region")
equal(sorted(regions("parse_*", "*_line")), ["parse_line", "parse_word"], "as one that fits two patterns")
ok({"parse_line", "unparsed", "main"} <= set(regions("*")), "all functions")
library = regions("libc.so.6!printf*")
ok("libc.so.6!printf" in library and library["libc.so.6!printf"][0] == 1 and every(name.startswith("libc.so.6!printf") for name in library),
   "a library's functions", library)
modelled = regions("parse_*", on="model:lab")
equal(modelled, {name: alone[name] for name in ("parse_line", "parse_word")}, "under a model as well")
for place, code, text in (("nothing_*", 2, "no function's name fits the pattern 'nothing_*'"), ("x=parse_*", 2, "a pattern is a region for each function"),
                          ("libc.so.6!zzz*", 2, "no function's name fits"), ("nolib.so!f*", 2, "neither the program nor one of its libraries"),
                          ("parse_inl*", 2, "no function's name fits")):
    seen = tare("count", "--on", "exact", "-e", "instructions", "--region", place, "./parse")
    ok(seen.code == code and text in seen.err, f"{place}: {text}", seen)
seen = tare("count", "--on", "exact", "-e", "instructions", "--region", "main", "--region", "main", "./parse")
ok(seen.code == 2 and "two regions are named 'main'" in seen.err, "a region that is named twice is an error", seen)
seen = tare("profile", "--on", "exact", "--region", "parse_*", "./parse")
ok(seen.code == 0 and "parse_line: entered 10 times; parse_word: entered 10 times" in re.sub(r"\s+", " ", seen.err), "a counted profile of them", seen)
seen = tare("profile", "--on", "perf", "-e", "task-clock", "--region", "parse_*", "./parse")
ok(seen.code == 2 and "named one by one" in seen.err or seen.code == 3, "samples are not taken by a pattern", seen)
compared = tare("compare", "--on", "exact", "-e", "instructions", "--region", "parse_*", "-r", "2", "./parse", "./parse")
ok(compared.code == 0 and "parse_line" in compared.err + compared.out and "parse_word" in compared.err + compared.out, "tare compare takes patterns as well", compared)

# ---- regions of kept runs, as completions offer them ----
KEPT = environment(TARE_STORE=os.path.abspath("kept.db"))
equal(tare("list", "regions", env=KEPT).out, "no run with regions was kept yet\n", "without a store, the list of regions says so")
for places in (("parse_*", "ns::read"), ("first=parse_line", "--exclusive", "ns::peek")):
    words = [word for place in places for word in (("--region", place) if not place.startswith("--") else (place,))]
    equal(tare("count", "--on", "exact", "-e", "instructions", *words, "./parse", env=KEPT).code, 0, f"{places}: counted, and kept")
equal(tare("list", "regions", "--names", env=KEPT).out.split(), ["parse_line", "ns::peek", "parse_word", "ns::read"],
      "places of kept regions, those of the newest run first, each once, and no exclusive one")
listed = json.loads(tare("list", "regions", "--json", "parse_line", env=KEPT).out)["regions"]
equal([(row["region"], row["place"], row["kind"], row["run"]) for row in listed],
      [("first", "parse_line", "function", 2), ("parse_line", "parse_line", "function", 1)], "a name of one's own is a region of its own")
has(tare("list", "regions", env=KEPT).out, "first       parse_line", "the table has name and place")
LONG = "a_name_of_" + "many_words_" * 9
equal(tare("count", "--on", "exact", "-e", "instructions", "--region", LONG + "=parse_line", "./parse", env=KEPT).code, 0, "a region of a long name")
equal(tare("list", "regions", "--names", "first", env=KEPT).out, "parse_line\n", "a place that another region has, too, is one of those that words choose")
tare("name", "@last", LONG[:100], env=KEPT)
for columns in (60, 80, 200):
    for what in ("regions", "runs"):
        text = shown_on_terminal(columns, "list", what, TARE_STORE=KEPT["TARE_STORE"])
        ok(max(map(len, text.splitlines())) <= columns and "a_name" in text, f"{columns} columns: no line of tare list {what} is longer, whatever its names", text)
    ok("  parse_line" in shown_on_terminal(columns, "list", "regions", TARE_STORE=KEPT["TARE_STORE"]), f"{columns} columns: and places stay whole as long as they fit")
done()
