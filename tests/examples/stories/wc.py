"""Safford 1997, sections 5.6 and 5.7's Table 5.7: the inner loop of wc has branches that are hard to predict; a table and additions need none."""
from stories import *

LINES, CHARACTERS = 4036, 105196
EVENTS = ["conditional-branches", "branch-misses"]
COLD = 200  # the function that fills the buffer, 26 times, and counters that begin

begin("wc")
# a predictor of today finds its counters by the branches' addresses, which are other ones each time
recordings("wc", within=0.1)
text = printed(build("../text.c", "text"))
write("text.txt", text)
words = len(text.split())
equal([text.count("\n"), len(text)], [LINES, CHARACTERS], "the text has the thesis's lines and characters")
before, after = build("before.c", "before"), build("after.c", "after")
for program in (before, after):
    with open("text.txt", "rb") as file:
        out = subprocess.run([program], stdin=file, capture_output=True, text=True, check=True).stdout
    equal(out, f"{LINES} {words} {CHARACTERS}\n", f"{program} counts right")
for name in ("pentium", "r10000", "host"):
    seen = [counts(program, f"model:{name}", EVENTS, ["count"], stdin="text.txt")["count"] for program in (before, after)]
    if name == "host" and machine("host")["predictor"] == "none":
        continue
    # where a word begins has no pattern: of each word and the space behind it one branch at least is mispredicted on average
    between(seen[0]["branch-misses"], words, 4 * words, f"{name}: a misprediction for each word at least")
    ok(seen[1]["branch-misses"] <= COLD + seen[1]["conditional-branches"] // 1000, f"{name}: none a word without those branches", seen)
# no paper says what a misprediction costs the Pentium: that they are one instruction of a hundred is said without a time
names_cause("unpredictable-branch", before, after, "model:pentium", ("before.c", "} else if (!in_word) {"), stdin="text.txt", costs="pentium")
done()
