#!/usr/bin/env python3
"""What the guard costs: nothing when it is off, so much when it is on.

  bench/guard.py [--off | --on] [--slow MS] [--rounds N] [MODEL...]

Off: instructions of one invoke (cachegrind, portable kernels), as built and with the guard left out
of src/run/invoke.c (BERTH_NO_GUARD). On: for models that take at least --slow (1) milliseconds of
processor time, an invoke the fast way and with all checks, each divided by one without; "program" is
the whole program with one invoke, the fast way, divided by that without. Ways take turns, and the
least of --rounds (5) counts. Models are the reference data's, or the shipped ones where those are not
there. Wants valgrind and build/berth.
"""
import argparse
import json
import math
import os
import pathlib
import re
import resource
import shlex
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
BUILD = ROOT / "build"
BERTH = BUILD / "berth"
CORPUS = pathlib.Path(os.environ.get("BERTH_SHARED", ROOT.parent / "shared")) / "corpus"


def without_guard(folder):
    """A berth like build/berth, but for a src/run/invoke.c that doesn't know of guards."""
    commands = json.loads((BUILD / "compile_commands.json").read_text())
    command = next(c for c in commands if c["file"].endswith("src/run/invoke.c"))
    words = shlex.split(command["command"])
    output = words.index("-o")
    words[output + 1] = str(folder / "invoke.o")
    subprocess.run(words + ["-DBERTH_NO_GUARD"], cwd=command["directory"], check=True)
    link = shlex.split((BUILD / "CMakeFiles" / "berth.dir" / "link.txt").read_text())
    link[link.index("-o") + 1] = str(folder / "berth")
    first_library = next(i for i, word in enumerate(link) if word.endswith(".a"))
    link.insert(first_library, str(folder / "invoke.o"))
    subprocess.run(link, cwd=BUILD, check=True)
    return folder / "berth"


def instructions(program, model):
    """Of one invoke: the difference between runs of 4 and of 2 invokes, halved."""
    counts = []
    for invokes in (2, 4):
        run = subprocess.run(["valgrind", "--tool=cachegrind", "--cache-sim=no",
                              "--cachegrind-out-file=/dev/null", str(program), "run", "--portable",
                              "--invokes", str(invokes), str(model)], capture_output=True, text=True)
        counts.append(int(re.search(r"I\s+refs:\s+([\d,]+)", run.stderr).group(1).replace(",", "")))
    return (counts[1] - counts[0]) / 2


def measure_off(models):
    with tempfile.TemporaryDirectory() as folder:
        other = without_guard(pathlib.Path(folder))
        for model in models:
            built, bare = instructions(BERTH, model), instructions(other, model)
            print(f"{name(model):44} {built:14,.0f} instructions, {bare:14,.0f} without: "
                  f"{(built - bare) / bare * 100:+.4f} %", flush=True)


def cpu_ms(model, invokes, *options):
    """Processor time of the whole program."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    run = subprocess.run([str(BERTH), "run", "--json", "--invokes", str(invokes), *options, str(model)],
                         capture_output=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if run.returncode != 0:
        return math.inf
    return (after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime) * 1e3


WAYS = [], ["--guard=fast"], ["--guard"]


def take_turns(model, invokes, rounds):
    """The least processor time of the whole program with one invoke, and of an invoke after the
    first, for each way."""
    one, many = [math.inf] * 3, [math.inf] * 3
    for turn in range(rounds):
        for way, options in enumerate(WAYS):
            if way == 2 and turn > 0:
                continue # slow, and clear enough
            one[way] = min(one[way], cpu_ms(model, 1, *options))
            count = invokes if way < 2 else 2
            many[way] = min(many[way], cpu_ms(model, 1 + count, *options) / count)
    return one, [many[way] - one[way] / (invokes if way < 2 else 2) for way in range(3)]


def summary(what, ratios):
    mean = math.exp(sum(map(math.log, ratios)) / len(ratios))
    print(f"{what:14} geometric mean {mean:6.2f}, largest {max(ratios):6.2f} of {len(ratios)} models")


def measure_on(models, slow, rounds):
    ratios = {"fast": [], "fast, program": [], "full": []}
    print(f"{'':56} {'plain ms':>9} {'fast':>6} {'program':>7} {'full':>6}")
    for model in models:
        plain = (cpu_ms(model, 5) - cpu_ms(model, 1)) / 4
        if not plain > slow / 2:
            continue
        one, each = take_turns(model, max(3, min(100, int(300 / plain))), rounds)
        if each[0] < slow:
            continue
        row = each[1] / each[0], one[1] / one[0], each[2] / each[0]
        for ratio, kept in zip(row, ratios.values()):
            kept.append(ratio)
        print(f"{name(model):56} {each[0]:9.3f} {row[0]:6.2f} {row[1]:7.2f} {row[2]:6.1f}", flush=True)
    for what, kept in ratios.items():
        if kept:
            summary(what, kept)


def name(model):
    return f"{model.parent.parent.name}/{model.parent.name}" if model.stem == "model" else model.stem


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--off", action="store_true")
    parser.add_argument("--on", action="store_true")
    parser.add_argument("--slow", type=float, default=1)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("models", nargs="*", help="only those whose name contains one of these")
    options = parser.parse_args()
    everything = sorted(CORPUS.glob("*/*/model.tflite")) or sorted((ROOT / "models").glob("*.tflite"))
    models = [m for m in everything
              if not options.models or any(part in str(m) for part in options.models)]
    if not options.on:
        if shutil.which("valgrind"):
            small = ("ad01_int8", "kws_ref_model/", "hello_world_int8", "person_detect")
            measure_off(models if options.models else
                        [m for m in models if any(part in str(m) for part in small)] or models[:4])
        else:
            print("off: skipped, valgrind is not installed")
    if not options.off:
        measure_on(models, options.slow, options.rounds)
    return 0


if __name__ == "__main__":
    sys.exit(main())
