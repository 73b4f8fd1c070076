"""CSV, the table on terminals and elsewhere, and the formats of run_p5mon and perfex."""
import csv
import io
import json
import os

from cli import *

# ---- CSV ----
COLUMNS = ("tare,kind,event,level,pid,tid,cpu,repetition,value,low,high,confidence,unit,runs,source,trust,share_running,"
           "why,note,machine,region,entries,exits,gross,overhead,bound,evidence,at_least,command").split(",")
seen = tare("count", "--csv", "-o", "out.csv", "-r", "3", "-e", "page-faults,task-clock", "true")
with open("out.csv", newline="", encoding="utf-8") as file:
    text = file.read()
ok(text.count("\r\n") == text.count("\n") == 3, "CSV: a header and a line an event, ended by CR LF", text)
rows = list(csv.DictReader(io.StringIO(text)))
equal(list(rows[0]), COLUMNS, "CSV: the documented columns")
equal([row["event"] for row in rows], ["page-faults", "task-clock"], "CSV: events in the order of asking")
ok(every(float(row["low"]) <= float(row["value"]) <= float(row["high"]) and row["runs"] == "3" for row in rows),
   "CSV: values lie in their intervals", text)
seen = tare("count", "--csv", "-o", "out.csv", "--all-repetitions", "-r", "2", "-e", "page-faults", "true")
with open("out.csv", newline="", encoding="utf-8") as file:
    rows = list(csv.DictReader(file))
equal([(row["kind"], row["repetition"]) for row in rows], [("event", ""), ("run", "1"), ("run", "2")],
      "CSV: --all-repetitions adds a line a run")
near_mean = sum(float(row["value"]) for row in rows[1:]) / 2
ok(abs(float(rows[0]["value"]) - near_mean) < 1e-6, "CSV: the value is the mean of the runs", rows)

# ---- the table ----
ESCAPE = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")
plain = tare("count", "-r", "2", "true").err
has_not(plain, "\x1b", "the table has no colours where there is no terminal")
ok(max(map(len, plain.splitlines())) <= 80, "the table has at most 80 columns where there is no terminal", plain)
for columns in (60, 80, 132):
    text = on_terminal(columns, "count", "-r", "2", "true").out
    has(text, "\x1b[1m", f"a terminal of {columns} columns has colours")
    lines = [ESCAPE.sub("", line).split("\r")[-1] for line in text.splitlines()]
    ok(max(map(len, lines)) <= columns, f"a terminal of {columns} columns: no line is longer", "\n".join(lines))
has_not(on_terminal(80, "count", "true", NO_COLOR="1").out, "\x1b", "NO_COLOR means no colours")
has(on_terminal(80, "count", "true", NO_COLOR="").out, "\x1b[1m", "an empty NO_COLOR does not")
has_not(on_terminal(80, "list", "events", NO_COLOR="1").out, "\x1b", "NO_COLOR holds for lists")
has_not(on_terminal(80, "doctor", NO_COLOR="1").out, "\x1b", "NO_COLOR holds for the doctor")

text = on_terminal(100, "count", "-r", "12", "-e", "page-faults", "sleep", "0.2").out
has(text, re.compile(r"tare: execution \d+ of 13, about \d+ s left"), "a terminal shows what is left")
has(text.split("tare count:")[0][-10:], "\r\x1b[K", "which is erased before the report")

header = [line for line in plain.splitlines() if line.startswith("  event ")]
ok(len(header) == 1 and all(word in header[0] for word in ("value", "95 %", "source")),
   "the table's columns have headings", plain)
start_of_source = header[0].index("source")
rows = [line for line in plain.splitlines() if re.match(r"  [a-z][a-z:-]+ +[0-9]", line)]
ok(len(rows) >= 5 and all(line[start_of_source - 1] == " " and line[start_of_source] != " " for line in rows),
   "the columns are aligned", plain)
verbose = tare("count", "-v", "true").err
has(verbose, "not counted: ", "what cannot be counted here is named") \
    if "no hardware counters" in " ".join(verbose.split()) else skip("this machine has hardware counters", "what cannot be counted is named")

# ---- run_p5mon ----
write("test.parms", """# as Figure C.1 has it
(p5mon
  command = sh -c "echo ran >> runs" ;
  repetitions = 3;
  user_events = yes;
  kernel_events = yes;
  output_all_results = no;
  conf_level_99 = no;
  output_file = p5mon_output;
  count_clocks = yes;
  data_read_miss = yes;
end)
""".replace('sh -c "echo ran >> runs" ', "echo ran >> runs"))
seen = tare("count", "-P", "test.parms", "--compat", "p5mon", "-o", "-")
equal(seen.code, 0, "a parameter file is enough: exit code 0")
runs = len(read("runs").splitlines())
result = seen.out
match = re.search(r"program executed (\d+) times", result)
ok(match and runs == int(match.group(1)) + 1, "the initialization run is executed and not counted", f"{runs}\n{result}")
has(result, re.compile(r"\Arun_p5mon started at \w{3} \w{3} [ \d]\d \d\d:\d\d:\d\d \d{4}\n current directory: /.*\n"
                       r" parameter file: test.parms\n arguments: \n command: echo ran >> runs\n"),
    "p5mon: the header of Figure 4.2")
has(result, "Results (for 3 repetitions with a 95% confidence level):\n", "p5mon: the results' heading of Figure 4.3")
has(result, re.compile(r"^  Clock cycles: (\d+\.\d \+/- \d+\.\d \(\d+\.\d{3}%\)|not counted \(.*\))$", re.M),
    "p5mon: a line an event, or why not")
has(result, re.compile(r"^  Data Read Miss: ", re.M), "p5mon: with the thesis's names")
has(result, re.compile(r"^Total elapsed time: \d+\.\d seconds\n\(program executed", re.M), "p5mon: the last lines")
text = read("p5mon_output")
has(text, "# run_p5mon results file\n# Results (3 repetitions, 95% confidence level):\n"
          "# Event Repetition Value [conf.int] [percentage]\n", "p5mon: the parseable file's header is Figure 4.7's")
ok(every(line.startswith("#") or re.fullmatch(r"\S+ (-1 \d+\.\d \d+\.\d (\d+\.\d{3}|NaN)|\d+ \d+)", line)
       for line in text.splitlines()), "p5mon: the parseable file has comments, values and summaries", text)
os.remove("runs")
seen = tare("count", "-P", "test.parms", "-Frepetitions=2", "-Fskip_initialization_run=yes", "--compat", "p5mon",
            "-o", "-")
has(seen.out, " arguments: -Frepetitions=2 -Fskip_initialization_run=yes\n", "p5mon: -F is in the header")
has(seen.out, "Results (for 2 repetitions", "p5mon: -F overrides the file")
ok(len(read("runs").splitlines()) == int(re.search(r"executed (\d+) times", seen.out).group(1)),
   "p5mon: without the initialization run every execution counts", seen)
write("warn.parms", "(p5mon\n command = true;\n repetitions = 2; repetitions = 3; colour = red; count_clocks = yes;\nend)")
seen = tare("count", "-P", "warn.parms", "-o", "report")
has(seen.err, "warn.parms:3:19: parameter 'repetitions' is defined twice", "p5mon: a double definition is warned of")
has(seen.err, "parameter 'colour' is not used", "p5mon: an unknown parameter is warned of")
seen = tare("count", "-Fuser_events=no", "-Fcount_clocks=yes", "-o", "report", "true")
has(seen.err, "no event is counted", "p5mon: neither level is warned of")
has(read("report"), "user_events and kernel_events are both no", "p5mon: and not counted is not 0")
seen = tare("count", "-Fdump_parms=yes", "-Fparm_dump_file_name=dump.parms", "-Fcount_clocks=yes", "-o", "report",
            "true")
has(read("dump.parms"), "\tcount_clocks = yes;\n", "p5mon: parameters are dumped")
equal(tare("count", "-P", "dump.parms", "-o", "report", "true").code, 0, "p5mon: and read again")
seen = tare("count", "-P", "test.parms", "-Frepetitions=4", "-r", "2", "--compat", "p5mon", "-o", "-", "true")
has(seen.out, "Results (for 2 repetitions", "options of the command line win over parameters")
has(seen.out, "command: true\n", "and so does the program")

seen = tare("count", "-Frepetitions=2", "--json", "-o", "report", "true")
ok(seen.code == 0 and parsed(read("report"), "-F without events")["repetitions"] == 2,
   "-F without events is for the default ones", seen)

# ---- perfex ----
seen = tare("count", "--compat", "perfex", "-a", "-o", "-", "true")
lines = [line for line in seen.out.splitlines() if "....." in line]
equal(len(lines), 32, "perfex: -a lists all 32 events")
equal([line.split("..")[0] for line in lines[14:18]],
      ["Virtual coherency conditions", "Graduated instructions", "Cycles", "Graduated instructions"],
      "perfex: counter 0's events, then counter 1's")
ok(every(re.fullmatch(r"[A-Z][A-Za-z/ ]*[a-z]\.{5,} +(\d+|not counted: .+)", line) for line in lines),
   "perfex: dotted lines with a count or the reason", seen.out)
ok(len({len(line[:line.index(". ") + 1]) for line in lines}) == 1, "perfex: the dots end in one column", seen.out)
seen = tare("count", "--compat", "perfex", "-e", "15", "-e", "21", "-o", "-", "true")
equal([line.split("..")[0] for line in seen.out.splitlines() if "....." in line],
      ["Graduated instructions", "Graduated floating point instructions"], "perfex: -e takes one number a counter")
seen = tare("count", "--compat", "perfex", "-e", "0", "-e", "15", "true")
ok(seen.code == 2 and "conflicting counters" in seen.err, "perfex: two events of one counter are conflicting", seen)
seen = tare("count", "--compat", "perfex", "-e", "32", "true")
ok(seen.code == 2 and "0 to 31" in seen.err, "perfex: there are events 0 to 31", seen)

done()
