"""`tare verify sampling`: a program sampled at nine periods against its executed instructions."""
import json
import platform
import shutil
import subprocess

from cli import *

if platform.machine() != "x86_64":
    skip("the engine is for x86-64", "sampling is verified")
    done()
if not shutil.which("gcc"):
    skip("no gcc here", "sampling is verified")
    done()

write("work.c", """\
#include <stdio.h>
static volatile unsigned sink;
__attribute__((noinline)) static void hot(int n) { unsigned x = 1; for (int i = 0; i < n; i++) x = x * 1664525 + 1013904223; sink += x; }
__attribute__((noinline)) static void warm(int n) { unsigned x = 2; for (int i = 0; i < n; i++) x = x * 1664525 + 1013904223; sink += x; }
int main(void) {
    for (int i = 0; i < 400; i++) { hot(300000); warm(30000); }
    puts("done");
    return getchar() == EOF ? 0 : 1;
}
""")
subprocess.run(["gcc", "-O1", "-g", "work.c", "-o", "work"], check=True)

seen = tare("verify", "sampling", "--json", "--seed", "3", "-o", "study.json", "./work")
ok(seen.code == 0 and seen.out == "done\n" and seen.err == "", "the program runs ten times, its output is shown once, its input is empty", seen)
with open("study.json", encoding="utf-8") as file:
    study = json.load(file)
periods = study["periods"]
equal((study["version"], study["study"], study["seed"], study["command"]), (1, "sampling", 3, ["./work"]), "the JSON says what was asked")
equal([row["period"] // periods[0]["period"] for row in periods], [2 ** i for i in range(9)], "nine periods, each twice the one before")
ok(study["executed_instructions"] > 400 * 330000 * 3, "instructions are counted exactly", study["executed_instructions"])
first = periods[0]
ok(first["samples"] > 100 and first["lost"] == 0, "the shortest period has samples", first)
ok(0.8 < first["overlap"] <= 1 and first["top_chance"] > 0.99, "by function the samples are where the instructions are", first)
ok(first["elsewhere"] * 50 < first["samples"], "what was sampled was executed in the exact run, too", first)
ok(all(row["samples"] > next_row["samples"] for row, next_row in zip(periods, periods[1:]) if row["samples"] > 30),
   "longer periods have fewer samples", [row["samples"] for row in periods])
ok(all(0 <= row[key] <= 1 for row in periods for key in ("nrmse", "sample_coverage", "overlap", "total_variation", "key_matching_10")
       if row[key] is not None), "measures are within their bounds", periods)
ok(all(row["samples"] or row["nrmse"] is None for row in periods), "a period without samples has no error, rather than 0")
equal([row["measure"] for row in study["error_rises_with_period"]],
      ["nrmse", "sample_coverage", "order_deviation", "total_variation", "weight_matching_10", "key_matching_10", "kendall", "top_chance"],
      "the rule is tested for each measure")
ok(all(row["p"] is None or 0 <= row["p"] <= 1 for row in study["error_rises_with_period"]), "with its probability")

for words, what in ((("verify",), "no study is given"), (("verify", "cycles"), "'cycles' is not a study"), (("verify", "sampling"), "no program is given"),
                    (("verify", "sampling", "-c", "0", "./work"), "0"), (("verify", "sampling", "-e", "cpu-clock,page-faults", "./work"), "one event")):
    seen = tare(*words)
    ok(seen.code == 2 and what in seen.err and seen.out == "", f"'tare {' '.join(words)}' is refused", seen)
seen = tare("verify", "sampling", "sh", "-c", "[ -e was ] && exit 5; : > was")
ok(seen.code == 3 and "status 5, not 0" in seen.err, "a program that does not end as in its exact run is refused", seen)
seen = tare("verify", "sampling", "./not-there")
ok(seen.code != 0 and "not-there" in seen.err, "a program that is not there is named", seen)
done()
