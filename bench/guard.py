#!/usr/bin/env python3
"""What the guard costs: nothing when it is off, so much when it is on.

  bench/guard.py [--off | --on] [--slow MS] [MODEL...]

Off: instructions of one invoke (cachegrind, portable kernels), as built and with the guard left out
of src/run/invoke.c (BERTH_NO_GUARD). On: the shortest invoke under the guard, with all its checks,
divided by the shortest without, for models that take at least --slow (1) milliseconds. Models are
the reference data's, or the shipped ones where those are not there. Wants valgrind and build/berth.
"""
import argparse
import json
import math
import os
import pathlib
import re
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


def shortest(model, *options):
    run = subprocess.run([str(BERTH), "run", "--json", *options, str(model)], capture_output=True,
                         text=True)
    return json.loads(run.stdout)["min_ns"] / 1e6 if run.returncode == 0 else None


def measure_on(models, slow):
    ratios = []
    for model in models:
        plain = shortest(model, "--invokes", "5")
        if plain is None or plain < slow:
            continue
        guarded = shortest(model, "--invokes", "2", "--guard")
        ratios.append(guarded / plain)
        print(f"{name(model):44} {plain:9.3f} ms, guarded {guarded:9.3f} ms: {ratios[-1]:6.1f}",
              flush=True)
    if ratios:
        mean = math.exp(sum(map(math.log, ratios)) / len(ratios))
        print(f"{len(ratios)} models: geometric mean {mean:.1f}, largest {max(ratios):.1f}")


def name(model):
    return f"{model.parent.parent.name}/{model.parent.name}" if model.stem == "model" else model.stem


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--off", action="store_true")
    parser.add_argument("--on", action="store_true")
    parser.add_argument("--slow", type=float, default=1)
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
        measure_on(models, options.slow)
    return 0


if __name__ == "__main__":
    sys.exit(main())
