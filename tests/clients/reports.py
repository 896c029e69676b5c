# SPDX-License-Identifier: MIT
# reports.py NAME JSON TEXT: what 'belfry trace' says of a program is the truth about it.
import json
import sys

# Of each program: frames that it presents; submissions without command buffers for each frame; queues
# that submit; and whose waits for whom its report must have, by the beginnings of their names.
PROGRAMS = {
    "vkcube": (30, 0, 1, []),
    "vkd3d-gears": (30, 1, 1, []),
    "vkd3d-triangle": (1, 1, 1, []),
    "async": (0, 0, 2, [("3D", "compute")]),
    "engines": (0, 0, 3, [("compute", "3D"), ("3D", "copy"), ("3D", "compute")]),
    "streaming": (0, 0, 2, [("copy", "3D"), ("3D", "copy")]),
    "training": (0, 0, 1, []),
    "pipelined": (0, 0, 2, [("graphics", "compute"), ("compute", "graphics")]),
}

name, trace, report = sys.argv[1], json.load(open(sys.argv[2])), open(sys.argv[3]).read()
presented, empty, submitting, waits = PROGRAMS[name]
queues = trace["queues"]
wrong = []


def check(right, what):
    if not right:
        wrong.append(what)


def total(member):
    return sum(queue[member] for queue in queues)


length = trace["end_ns"] - trace["begin_ns"]
check(trace["program"] == name, "it is another program's")
check(trace["driver"] and "0x" not in trace["driver"], "the driver isn't named as its vendor does")
check(sum(queue["submissions"] > 0 for queue in queues) == submitting, "other queues submit")

# Every submission is timed, or it is said why not.
check(total("submissions") == total("executed") + total("untimed"), "submissions are missing")
check(sum(reason["count"] for reason in trace["untimed"]) == total("untimed"), "reasons are missing")
untimed = {reason["why"]: reason["count"] for reason in trace["untimed"]}
check(set(untimed) <= {"no command buffers"}, f"untimed: {untimed}")
check(untimed.get("no command buffers", 0) >= empty * presented, "empty submissions are missing")
check(total("unfinished") == 0 and total("dropped") == 0, "submissions have no end")
check(all(0 < queue["busy_ns"] <= length for queue in queues if queue["executed"]), "busy for ever")

# Presents: what their calls took, and for whom.
presents = [queue["presents"] for queue in queues if queue["presents"]["count"]]
check(sum(p["count"] for p in presents) == presented, "presents are missing")
check(all(p["called_ns"] >= p["waiting_ns"] and p["called_ns"] >= p["longest_ns"] > 0 for p in presents),
      "calls of presents")
check(sum(p["called_ns"] for p in presents) <= length, "presents took longer than the program")
check((" presents of " in report) == bool(presented), "the table of presents")

# Whole frames, explained without a gap.
frame = trace["frame"]
check(trace["frames"]["count"] == presented if presented else trace["frames"]["count"] > 1, "frames")
path = frame["critical_path"]
check(not frame["critical_path_cut"] and path[0]["end_ns"] == frame["end_ns"] and
      path[-1]["begin_ns"] == frame["begin_ns"] and
      all(a["begin_ns"] == b["end_ns"] for a, b in zip(path, path[1:])), "the path has gaps")
kinds = {hop["kind"] for hop in path}
check("unknown" not in kinds and ("execution" in kinds or presented), f"the path leads through {kinds}")
check(("present" in kinds) == bool(presented), "presents are not on the path")

for queue, cause in waits:
    check(any(row["queue"].startswith(queue) and row["released_by"].startswith(cause) and
              row["lost_ns"] <= length for row in trace["waits"]), f"no wait of {queue} for {cause}")
check(bool(waits) == bool(trace["waits"]), "waits")
allowed = ("uncalibrated",) if presented else ("uncalibrated", "of fence operations")
check(all(any(word in line for word in allowed) for line in trace["missing"]), trace["missing"])

print("\n".join(str(what) for what in wrong))
sys.exit(1 if wrong else 0)
