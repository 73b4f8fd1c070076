"""A service in Python: `in` of a list costs a comparison for each element that stands before, of a set none of it."""
from stories import *

REQUESTS = 1000


def comparisons(blocked):
    """Each of the 1000 senders asks once: those of the list are found at their place, the others are compared with all."""
    return blocked * (blocked + 1) // 2 + (REQUESTS - blocked) * blocked


def instructions(script, blocked):
    return counts(f"/usr/bin/python3 -IS {script} {blocked}", "exact", ["instructions"], [], "--reproducible")[None]["instructions"]


if not os.path.exists("/usr/bin/python3"):
    skip("the engine does not work here", "the story 'python-service'")
    done()
begin("python-service")
version = printed("/usr/bin/python3 --version").split()[1]
# another Python executes other instructions. The last two commands are explain naming the comparisons, and no longer: their shapes are compared
recordings("python-service", within=0.05 if version.startswith("3.11.") else None)
seen = {script: [instructions(f"{script}.py", blocked) for blocked in (0, 250, 500)] for script in ("before", "after")}
grown = {script: [count - found[0] for count in found[1:]] for script, found in seen.items()}
each = [(more - less) / comparisons(blocked) for more, less, blocked in zip(grown["before"], grown["after"], (250, 500))]
ok(every(20 <= one <= 500 for one in each), "a comparison is some dozens of instructions", each)
ok(abs(each[0] - each[1]) <= 0.2 * each[1], "as many with 250 blocked senders as with 500: the work grows with the comparisons", each)
ok(grown["after"][1] < 0.1 * grown["before"][1], "with a set it grows by less than a tenth", grown)
done()
