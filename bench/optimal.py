#!/usr/bin/env python3
"""Plans every model of the reference data and every problem recorded from stock TFLM.

  bench/optimal.py [--limit MS] [PROGRAM]

With the default planner, each in a process of its own. Says how many plans are proven optimal and
how much CPU time the slowest took, all of the program included (reading, planning, verifying,
printing JSON). Exit status 3 if a plan is not proven or took more than --limit (50) milliseconds.
"""
import argparse
import csv
import json
import os
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
CORPUS = pathlib.Path(os.environ.get("BERTH_SHARED", ROOT.parent / "shared")) / "corpus"


def plan(program, path):
    """(milliseconds of CPU, proven optimal?) of one run."""
    child = subprocess.Popen([str(program), "plan", "--json", str(path)], stdout=subprocess.PIPE)
    text = child.stdout.read()
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = status
    optimal = status == 0 and json.loads(text)["optimal"]
    return (usage.ru_utime + usage.ru_stime) * 1000, optimal


def as_problem(recorded, path):
    """Writes the columns of a recorded plan that make the problem: its steps are inclusive."""
    with recorded.open() as source, path.open("w") as target:
        target.write("id,lower,upper,size,fixed\n")
        for row in csv.DictReader(source):
            fixed = "" if row["offline_offset"] == "-1" else row["offline_offset"]
            target.write(f"{row['id']},{row['first']},{int(row['last']) + 1},{row['size']},{fixed}\n")
    return path


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--limit", type=float, default=50)
    parser.add_argument("program", nargs="?", default=ROOT / "build" / "berth")
    options = parser.parse_args()
    if not CORPUS.is_dir():
        print("skipped: the reference data (../shared) are not there")
        return 0
    failed = 0
    problem = pathlib.Path(tempfile.mkdtemp()) / "problem.csv"
    for what, pattern in (("models", "*/*/model.tflite"), ("recorded problems", "*/*/tflm/plan.csv")):
        paths = sorted(CORPUS.glob(pattern))
        slowest, proven = (0, None), 0
        for path in paths:
            given = path if path.suffix == ".tflite" else as_problem(path, problem)
            milliseconds, optimal = plan(options.program, given)
            slowest = max(slowest, (milliseconds, str(path.relative_to(CORPUS))))
            proven += optimal
            if not optimal or milliseconds > options.limit:
                print(f"{path}: {'proven' if optimal else 'NOT PROVEN'}, {milliseconds:.1f} ms")
                failed += 1
        print(f"{len(paths)} {what}: {proven} proven optimal; the slowest took {slowest[0]:.1f} ms "
              f"of CPU ({slowest[1]})")
    problem.unlink(missing_ok=True)
    problem.parent.rmdir()
    return 3 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
